//! Field specifications: the field of some kinds that a value is written to, and the walk to it.
//!
//! It must not know the values.

use crate::edit::{as_list, map, text};
use crate::identity::Gvk;
use ecow::EcoString;
use purlin_value::{Data, FastMap, Value};

/// A field of resources of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The kinds.
    pub of: Gvk,
    /// The keys of its path. Lists on the path have no key of their own.
    pub path: Vec<EcoString>,
    /// Whether it is created if missing.
    pub create: bool,
}

impl FieldSpec {
    /// A field by its path, with kinds given as `kind`, `group:kind` or `:version:kind`.
    pub fn new(of: Gvk, path: &str, create: bool) -> FieldSpec {
        FieldSpec { of, path: split(path, '/'), create }
    }

    /// Reads `{group, version, kind, path, create}`.
    pub fn read(value: &Value) -> FieldSpec {
        let create = value.get("create").and_then(Value::as_bool).unwrap_or(false);
        FieldSpec::new(Gvk::read(value), text(value, &["path"]), create)
    }

    /// Whether it has this path.
    pub fn is_at(&self, path: &[&str]) -> bool {
        self.path.iter().map(EcoString::as_str).eq(path.iter().copied())
    }
}

/// Reads a list of field specifications.
pub fn read_all(value: Option<&Value>) -> Vec<FieldSpec> {
    value.and_then(Value::as_list).unwrap_or_default().iter().map(FieldSpec::read).collect()
}

/// The steps to add `new` specifications to others. Those with the same path are compared with each other.
pub fn merging(known: u64, new: u64) -> u64 {
    known + new + (known + new).saturating_mul(new) / COMPARED_PER_STEP
}

/// Number of specifications compared in one step.
const COMPARED_PER_STEP: u64 = 8;

/// Adds specifications unless there is one for the same field. Both must agree on whether it is made.
pub fn merge_all(specs: &mut Vec<FieldSpec>, new: &[FieldSpec]) -> Result<(), String> {
    if new.is_empty() {
        return Ok(());
    }
    let mut places: FastMap<Vec<EcoString>, Vec<usize>> = FastMap::default();
    for (at, spec) in specs.iter().enumerate() {
        places.entry(spec.path.clone()).or_default().push(at);
    }
    for new in new {
        let same_path = places.entry(new.path.clone()).or_default();
        let known = same_path.iter().filter_map(|at| specs.get(*at)).find(|known| new.of.selects(&known.of));
        match known {
            Some(known) if known.create != new.create => {
                return Err(format!("field specifications of `{}` differ in `create`", new.path.join("/")));
            }
            Some(_) => {}
            None => {
                same_path.push(specs.len());
                specs.push(new.clone());
            }
        }
    }
    Ok(())
}

/// The parts of a path; a delimiter behind a backslash belongs to its part.
pub fn split(path: &str, delimiter: char) -> Vec<EcoString> {
    let mut parts: Vec<String> = Vec::new();
    let path = path.strip_prefix(delimiter).unwrap_or(path);
    for part in path.split(delimiter) {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts.into_iter().map(EcoString::from).collect()
}

/// The change of a found field. The error is the reason why it is not possible.
pub type Change<'c> = dyn FnMut(&mut Value) -> Result<(), String> + 'c;

/// Calls a function with each value a path leads to: lists are gone through, and missing keys are made if that is
/// wanted, except for lists (`containers[]`). Depth is that of the path and of the reader's limit.
pub fn visit(value: &mut Value, path: &[EcoString], create: bool, change: &mut Change<'_>) -> Result<(), String> {
    let [key, rest @ ..] = path else { return change(value) };
    if value.is_null() {
        return Ok(());
    }
    if let Some(list) = as_list(value) {
        return list.iter_mut().try_for_each(|item| visit(item, path, create, change));
    }
    if !matches!(value.data, Data::Map(_)) {
        return Err(format!("expected a list or a mapping before `{key}`, found {}", value.kind_name()));
    }
    let (key, makes) = match key.strip_suffix("[]") {
        Some(list) => (list, false),
        None => (key.as_str(), create),
    };
    if value.get(key).is_none_or(Value::is_null) && !makes {
        return Ok(());
    }
    let inner = map(value).entry(EcoString::from(key)).or_insert_with(Value::null);
    if inner.is_null() && !rest.is_empty() {
        map(inner);
    }
    visit(inner, rest, create, change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(split("/a/b\\/c/d", '/'), ["a", "b/c", "d"]);
        assert_eq!(split("metadata.name", '.'), ["metadata", "name"]);
    }
}
