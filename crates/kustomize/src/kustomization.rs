//! A kustomization file: where it is, which fields it may have, and how they are read.

use crate::{rules, shape};
use purlin_syntax::{Diagnostic, Flavor, Node, Span};
use purlin_value::world::WorldError;
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// Names of the file, in the order they are looked for.
pub const FILES: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

const VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// Fields that say what a file is, and nothing else.
const HEAD: &[&str] = &["apiVersion", "kind"];

/// Fields that need the installed tool.
const ELSEWHERE: &[&str] = &["helmChartInflationGenerator", "helmCharts", "helmGlobals", "validators"];

/// Why a kustomization is not built.
pub enum Problem {
    /// It is wrong.
    Wrong(Diagnostic),
    /// It uses what is not built natively.
    Elsewhere {
        /// What that is.
        what: String,
        /// Where it is written.
        span: Option<Span>,
    },
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Problem::Wrong(diagnostic)
    }
}

/// A kustomization.
pub struct Kustomization {
    /// The folder it is in.
    pub folder: String,
    /// Its file.
    pub file: String,
    /// Its fields.
    pub value: Value,
    reads_anywhere: bool,
}

impl Kustomization {
    /// Reads the kustomization of a folder.
    pub fn read(session: &Session, folder: &str, reads_anywhere: bool) -> Result<Kustomization, Problem> {
        let mut files = FILES.iter().map(|name| path::join(folder, name)).filter(|file| session.world.exists(file));
        let (file, another) = (files.next(), files.next());
        if let (Some(file), Some(another)) = (&file, another) {
            let message = format!("both `{file}` and `{another}` are there: expected one kustomization file");
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        }
        let Some(file) = file else {
            if let Err(error @ WorldError::Denied(_)) = session.world.stat(folder) {
                return Err(error.diagnostic(folder).into());
            }
            let message = format!("`{folder}` has no `kustomization.yaml`");
            return Err(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).into());
        };
        let tree = session.read_yaml(&file, Flavor::Go)?;
        let Some(root) = tree.root().filter(|root| root.is_map()) else {
            let message = format!("`{file}` is empty: expected a mapping with `resources`");
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, tree.source().span(0, 0), message).into());
        };
        let value = value_of(root, MergeKeys::Apply);
        let value = match shape::check(root, shape::KUSTOMIZATION)? {
            true => shape::in_known_case(&value, shape::KUSTOMIZATION),
            false => value,
        };
        let kustomization = Kustomization { folder: folder.to_owned(), file, value, reads_anywhere };
        kustomization.check(root)?;
        Ok(kustomization)
    }

    /// What the original refuses besides keys and kinds of values, and what only an installed tool can build.
    fn check(&self, root: Node<'_>) -> Result<(), Problem> {
        let is_set = |key: &&str| self.value.get(key).is_some_and(|value| !is_empty(value));
        let span = |key: &str| {
            let entry = root.entries().find(|entry| entry.key.text().eq_ignore_ascii_case(key));
            entry.map(|entry| entry.key.span())
        };
        let wrong = |key: &str, message: String| {
            let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
            diagnostic.span = span(key).or(Some(root.span()));
            diagnostic
        };
        let (kind, version) = (self.text("kind"), self.text("apiVersion"));
        if !matches!(kind, "" | "Kustomization" | "Component") {
            let message = format!("`kind`: expected `Kustomization` or `Component`, found `{kind}`");
            return Err(wrong("kind", message).into());
        }
        let known = if kind == "Component" { COMPONENT_VERSION } else { VERSION };
        if !version.is_empty() && version != known {
            let message = format!("`apiVersion`: expected `{known}`, found `{version}`");
            return Err(wrong("apiVersion", message).into());
        }
        let has_content = shape::KUSTOMIZATION.iter().map(|(key, _)| *key).filter(|key| !HEAD.contains(key));
        if !has_content.clone().any(|key| self.value.get(key).is_some_and(|value| !value.is_null())) {
            let message = format!("`{}` is empty: expected a mapping with `resources`", self.file);
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, root.span(), message).into());
        }
        if let Some(key) = ELSEWHERE.iter().copied().find(is_set) {
            return Err(Problem::Elsewhere { what: format!("`{key}`"), span: span(key) });
        }
        if self.value.get("openapi").is_some_and(|openapi| openapi.get("path").is_some()) {
            return Err(Problem::Elsewhere { what: "`openapi.path`".to_owned(), span: span("openapi") });
        }
        Ok(())
    }

    /// The place of a file that it names. Kustomize takes only those of its folder; other folders are bases.
    pub fn own_file(&self, session: &Session, item: &Value, written: &str) -> Result<String, Problem> {
        let place = path::normalize(&path::join(&self.folder, written));
        let folder = path::normalize(&self.folder);
        let is_inside = match folder.as_str() {
            "." => !place.starts_with("../") && !place.starts_with('/'),
            folder => place.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        };
        if is_inside || self.reads_anywhere {
            return Ok(place);
        }
        let message = format!("`{written}` is not below the folder of its kustomization, and Kustomize refuses that");
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message)
            .hint("name a folder with a kustomization of its own, or pass `--load-restrictor=LoadRestrictionsNone`");
        diagnostic.span = session.origins.span(item.origin, &session.sources);
        Err(diagnostic.into())
    }

    /// The items of a list; a single value counts as one.
    pub fn list(&self, key: &str) -> Vec<Value> {
        match self.value.get(key) {
            Some(value) if value.is_null() => Vec::new(),
            Some(value) => value.as_list().map_or_else(|| vec![value.clone()], <[Value]>::to_vec),
            None => Vec::new(),
        }
    }

    /// The text of a field; empty if it is not set.
    pub fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is a component, which changes what the kustomization that names it has gathered.
    pub fn is_component(&self) -> bool {
        self.text("kind") == "Component"
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_list().is_some_and(<[Value]>::is_empty)
        || value.as_map().is_some_and(|map| map.is_empty())
}
