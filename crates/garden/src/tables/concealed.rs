//! Fields of specs that Garden always treats as secrets: they are tainted, and only their names count in versions.
//!
//! It must not know where a secret is shown; tainted values are hidden everywhere.

use crate::entities::CONTAINER_BUILD;
use purlin_model::schema::Kind;
use purlin_value::{Map, Taint, Value};

/// Rows with a mapping whose values are secrets.
const CONCEALED: &[(Kind, &str)] = &[(CONTAINER_BUILD, "secrets")];

/// Hashed by Garden in place of a secret.
const HASHED: &str = "***";

/// A spec whose secrets are tainted.
pub(crate) fn tainted(row: Kind, spec: Value) -> Value {
    replaced(row, spec, |value| value.clone().tainted_by(Taint::SECRET))
}

/// A spec as it counts in versions.
pub(crate) fn counted(row: Kind, spec: Value) -> Value {
    replaced(row, spec, |value| if value.as_str().is_some() { Value::str(HASHED) } else { value.clone() })
}

fn replaced(row: Kind, spec: Value, with: impl Fn(&Value) -> Value) -> Value {
    let Some((_, key)) = CONCEALED.iter().find(|(kind, _)| *kind == row) else { return spec };
    let Some((whole, secrets)) = spec.as_map().and_then(|whole| Some((whole, whole.get(*key)?))) else { return spec };
    let Some(named) = secrets.as_map() else { return spec };
    let named: Map = named.iter().map(|(name, value)| (name.clone(), with(value))).collect();
    let mut whole = whole.clone();
    whole.insert((*key).into(), secrets.clone().with(named.into()));
    spec.with(whole.into())
}
