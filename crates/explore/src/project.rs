//! The data shown: a project in all its variants, with their problems.

use purlin_compiler::picture::Marks;
use purlin_compiler::{Place, compared, wholes};
use purlin_model::Resolved;
use purlin_syntax::Span;
use purlin_syntax::limits::MERGE_LEVELS;
use purlin_value::encoding::from_base64;
use purlin_value::{Data, Map, Session, Value};
use std::collections::HashSet;

/// A project in one of its variants.
pub struct Side {
    /// The variant's name; empty if it has none.
    pub name: String,
    /// The run that resolved it.
    pub session: Session,
    /// Its result, as far as it could be resolved.
    pub resolved: Resolved,
    /// Locations of its errors.
    pub errors: Vec<Span>,
    /// Whether it has errors.
    pub is_broken: bool,
    secrets: HashSet<String>,
}

/// A project in all its variants.
pub struct Project {
    /// The path that a user names it by.
    pub path: String,
    /// The name of its dialect.
    pub dialect: &'static str,
    /// The dialect's word for a variant: `environment`, `profile`.
    pub noun: &'static str,
    /// The variant that is shown first.
    pub chosen: usize,
    /// The variants that could be resolved.
    pub sides: Vec<Side>,
    /// The names of those that could not.
    pub missing: Vec<String>,
    /// Its problems, one JSON object each.
    pub problems: Vec<String>,
    /// Numbers of errors and warnings.
    pub counts: (usize, usize),
    /// Hides secrets in lines of files.
    pub mask: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// Source of projects.
pub trait Source {
    /// Resolves the project. `None` if there is nothing to show; the reason was reported.
    fn resolve(&mut self) -> Option<Project>;

    /// Its variants at a revision, or why they are not available.
    ///
    /// # Errors
    /// If there is no such revision, or nothing of the project in it.
    fn at_revision(&mut self, revision: &str) -> Result<Vec<Side>, String>;
}

impl Project {
    /// The variant of a name, or the one that is shown first.
    pub(crate) fn side(&self, name: Option<&str>) -> Option<&Side> {
        let named = name.and_then(|name| self.sides.iter().find(|side| side.name == name));
        named.or_else(|| self.sides.get(self.chosen)).or_else(|| self.sides.first())
    }
}

/// Minimum length of a part of a text that counts as a secret: shorter ones occur by chance.
const LEAST_PART: usize = 6;

impl Side {
    /// A resolved variant, with the locations of its errors.
    pub fn new(name: String, session: Session, resolved: Resolved, errors: Vec<Span>, is_broken: bool) -> Self {
        let secrets = secrets(&session, &resolved);
        Side { name, session, resolved, errors, is_broken, secrets }
    }

    /// The secret texts in it, plain and encoded: no line of a file may show them.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// All data of a node, or of the project's variables or outputs, by id. The contents of Kubernetes Secrets are
    /// hidden wherever they occur: pages are shown and sent around.
    pub(crate) fn whole(&self, id: &str) -> Option<Value> {
        let node = self.resolved.node(id).map(compared);
        let whole = node.or_else(|| wholes(&self.resolved).find(|(known, _)| *known == id).map(|(_, value)| value))?;
        Some(if self.secrets.is_empty() { whole } else { self.hidden(&whole, 0) })
    }

    /// A value in which copies of secrets are hidden. Very deep ones are hidden as a whole.
    fn hidden(&self, value: &Value, level: u32) -> Value {
        let is_secret = |text: &str| {
            let is_in = |secret: &&str| secret.len() >= LEAST_PART && text.contains(secret);
            self.secrets.contains(text) || self.secrets().any(|secret| is_in(&secret))
        };
        if value.is_tainted() || !value.any(|part| part.as_str().is_some_and(is_secret)) {
            return value.clone();
        }
        match &value.data {
            Data::Map(held) if level < MERGE_LEVELS => {
                let inner: Map = held.iter().map(|(key, part)| (key.clone(), self.hidden(part, level + 1))).collect();
                value.clone().with(Data::Map(inner.into()))
            }
            Data::List(held) if level < MERGE_LEVELS => {
                let inner: Vec<Value> = held.iter().map(|part| self.hidden(part, level + 1)).collect();
                value.clone().with(Data::from(inner))
            }
            _ => value.clone().tainted_if(true),
        }
    }

    /// Marks of its nodes.
    pub(crate) fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        marks.note_errors(&self.resolved, &self.errors);
        marks
    }

    /// The location where a node is declared.
    pub(crate) fn place(&self, span: Option<Span>) -> Option<Place> {
        Place::of(&self.session, span?)
    }
}

/// The secret texts, plain and in base64.
fn secrets(session: &Session, resolved: &Resolved) -> HashSet<String> {
    let mut found: HashSet<String> = session.sink.secrets().into_iter().collect();
    for whole in resolved.nodes.iter().map(compared).filter(Value::is_tainted_deep) {
        for text in whole.leaves().filter(|(_, leaf)| leaf.is_tainted()).filter_map(|(_, leaf)| leaf.as_str()) {
            found.extend(from_base64(text.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok()));
            found.insert(text.to_owned());
        }
    }
    found.retain(|text| !text.trim().is_empty());
    found
}
