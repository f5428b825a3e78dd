//! Validates Kubernetes objects before a cluster sees them: what it would reject, and what would silently not work.
//!
//! Tables of all built-in kinds are in [`table`]; [`judge`] checks objects, each alone and all together. Objects are
//! values with origins, so that a finding is located where a value was written. It must not know dialects, files, or
//! the outside.

mod custom;
mod docs;
mod facts;
mod finding;
mod here;
pub mod json_schema;
mod object;
mod pods;
mod policies;
pub mod rules;
mod scalars;
mod set;
mod shape;
mod structure;
pub mod table;
mod values;

pub use finding::{Route, Spot, route};
pub use object::minor;
pub use policies::{POLICIES, Policy};
pub use rules::RULES;

use purlin_syntax::Diagnostic;
use purlin_value::{Data, FastMap, Session, Value};
use std::sync::Arc;

/// An object and its id.
#[derive(Clone, Debug)]
pub struct Object<'v> {
    /// `Deployment/web`.
    pub id: String,
    /// Its content.
    pub value: &'v Value,
}

impl<'v> Object<'v> {
    /// An object with its kind and name, as far as these may be shown; `None` if it is not an object.
    pub fn of(value: &'v Value) -> Option<Self> {
        let text = |value: Option<&'v Value>| value.and_then(here::known).and_then(Value::as_str);
        text(value.get("apiVersion"))?;
        let kind = text(value.get("kind"))?;
        let name = text(value.get("metadata").and_then(|metadata| metadata.get("name")));
        let id = name.map_or_else(|| kind.to_owned(), |name| format!("{kind}/{name}"));
        Some(Object { id, value })
    }
}

/// Settings of validation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<'t> {
    /// The minor version of Kubernetes; the newest known one if not set.
    pub version: Option<table::Minor>,
    /// Definitions of custom resources in addition to those among the objects.
    pub definitions: &'t [Value],
    /// Whether some objects of the environment may be missing, so that missing references are not reported.
    pub is_partial: bool,
    /// Enabled built-in policies.
    pub policies: &'t [Policy],
}

/// Objects of built-in kinds that were validated without a finding, by their ids: equal ones of other environments need
/// not be. For one set of terms, apart from definitions.
#[derive(Debug, Default)]
pub struct Sound(FastMap<String, Vec<Value>>);

/// Maximum number of forms kept of one object.
const MOST_FORMS: usize = 3;

impl Sound {
    /// Whether this very object was kept: environments share what they do not change.
    fn holds(&self, object: &Object<'_>) -> bool {
        let is_it = |form: &Value| match (&form.data, &object.value.data) {
            (Data::Map(one), Data::Map(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        self.0.get(&object.id).is_some_and(|forms| forms.iter().any(is_it))
    }

    fn has(&self, object: &Object<'_>) -> bool {
        self.0.get(&object.id).is_some_and(|forms| forms.iter().any(|form| form == object.value))
    }

    /// Keeps an object of a built-in kind in which everything is known: equal values may differ in what is secret.
    fn keep(&mut self, object: &Object<'_>, table: &table::Table) {
        let text = |key: &str| object.value.get(key).and_then(Value::as_str);
        let is_built_in =
            text("apiVersion").zip(text("kind")).is_some_and(|(api, kind)| table.kind(api, kind).is_some());
        if is_built_in && !object.value.any(|value| here::known(value).is_none()) {
            let forms = self.0.entry(object.id.clone()).or_default();
            if forms.len() < MOST_FORMS {
                forms.push(object.value.clone());
            }
        }
    }
}

/// Whether the first keys of a document are those of an object of a built-in kind, though one may be misspelt or missing.
pub fn is_built_in(version: Option<&str>, kind: Option<&str>, has_metadata: bool) -> bool {
    object::is_built_in(table::table(), version, kind, has_metadata)
}

/// Whether a document is an object without its version or its kind: it has the other one, and metadata.
pub fn is_incomplete(value: &Value) -> bool {
    object::missing_part(value).is_some()
}

/// The problems of documents that are objects without a version or a kind.
pub fn judge_incomplete<'v>(session: &Session, values: impl Iterator<Item = &'v Value>) -> Vec<Diagnostic> {
    finding::diagnostics(session, values.filter_map(object::check_complete).collect())
}

/// The problems of the objects of one environment.
pub fn judge(session: &Session, objects: &[Object<'_>], terms: Terms<'_>) -> Vec<Diagnostic> {
    judge_beside(session, objects, terms, &mut Sound::default())
}

/// The same for one of several environments under the same terms.
pub fn judge_beside(session: &Session, objects: &[Object<'_>], terms: Terms<'_>, sound: &mut Sound) -> Vec<Diagnostic> {
    if objects.is_empty() {
        return Vec::new();
    }
    let table = table::table();
    let at = terms.version.unwrap_or(table.versions.last);
    let mut schemas = custom::Schemas::default();
    objects.iter().map(|object| object.value).chain(terms.definitions).for_each(|value| schemas.add(value));
    let mut found = Vec::new();
    for object in objects.iter().filter(|object| here::known(object.value).is_some()) {
        if sound.holds(object) {
            continue;
        }
        if sound.has(object) && !object.value.any(|value| here::known(value).is_none()) {
            continue;
        }
        let before = found.len();
        let mut judge = shape::Judge { table, at, object: &object.id, found: std::mem::take(&mut found) };
        object::check(&mut judge, object.value, &schemas);
        found = judge.found;
        policies::check(object, terms.policies, &mut found);
        if found.len() == before {
            sound.keep(object, table);
        }
    }
    if !terms.is_partial {
        set::Set::of(objects).check(objects, &mut found);
    }
    finding::diagnostics(session, found)
}
