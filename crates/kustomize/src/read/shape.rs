//! The check of a kustomization file against its table.
//!
//! Kustomize reads the file strictly: a key it does not know and a value of another kind end the build. Case does not
//! matter in keys, and words are only judged where they are used.

use crate::entities::rows;
use crate::rules;
use purlin_model::schema::{Kind, Shape};
use purlin_syntax::scalar::Scalar;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node};
use purlin_value::{Data, Value};
use std::sync::Arc;

/// Checks a mapping. Whether a key is written in other case than the table's is the answer.
pub fn check(node: Node<'_>, kind: Kind) -> Result<bool, Diagnostic> {
    let mut differs = false;
    for entry in node.entries() {
        let key = entry.key.text();
        let Some(row) = rows(kind).find(|row| row.key.eq_ignore_ascii_case(key)) else {
            let message = what::unknown("key", key).and(" in a kustomization");
            let hint = did_you_mean(key, rows(kind).map(|row| row.key));
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, entry.key.span(), message).maybe_hint(hint));
        };
        differs |= row.key != key;
        differs |= check_value(entry.value, row.key, &row.shape)?;
    }
    Ok(differs)
}

fn check_value(node: Node<'_>, key: &str, shape: &Shape) -> Result<bool, Diagnostic> {
    if node.is_null() {
        return Ok(false);
    }
    let is_text = |node: Node<'_>| node.as_str().is_some();
    let expected = match shape {
        Shape::Text | Shape::Choice(_) if is_text(node) => return Ok(false),
        Shape::Text | Shape::Choice(_) => "a string",
        Shape::Bool if node.as_bool().is_some() => return Ok(false),
        Shape::Bool => "a boolean",
        Shape::Integer if node.as_int().is_some() => return Ok(false),
        Shape::Integer => "an integer",
        Shape::ListOf(item) if node.is_list() => {
            return node
                .items()
                .filter(|item| !item.is_null())
                .try_fold(false, |_, value| check_value(value, key, item));
        }
        Shape::ListOf(_) => "a list of strings",
        Shape::MapOf(item) if node.is_map() => {
            return node.entries().try_fold(false, |_, entry| check_value(entry.value, entry.key.text(), item));
        }
        Shape::MapOf(_) => "a mapping of strings",
        Shape::One(kind) if node.is_map() => return check(node, *kind),
        Shape::One(_) => "a mapping",
        Shape::List(kind) if node.is_list() => {
            let mut differs = false;
            for item in node.items().filter(|item| !item.is_null()) {
                match item.is_map() {
                    true => differs |= check(item, *kind)?,
                    false => return Err(unexpected(item, key, "a mapping")),
                }
            }
            return Ok(differs);
        }
        Shape::List(_) => "a list of mappings",
        _ => return Ok(false),
    };
    Err(unexpected(node, key, expected))
}

fn unexpected(node: Node<'_>, key: &str, expected: &str) -> Diagnostic {
    let found = match node.scalar() {
        _ if node.is_list() => "a list",
        _ if node.is_map() => "a mapping",
        Scalar::Bool(_) => "a boolean",
        Scalar::Int(_) | Scalar::BigInt => "an integer",
        Scalar::Float(_) => "a number",
        _ => "a string",
    };
    let message = what::expected(expected, found).under(format!("`{key}`: "));
    let is_scalar = !node.is_list() && !node.is_map();
    let hint = (expected == "a string" && is_scalar).then(|| format!("write `\"{}\"`", node.text()));
    Diagnostic::at(&rules::KUSTOMIZATION, node.span(), message).maybe_hint(hint)
}

/// The value with all keys in the table's case. Of keys that differ in case alone the last one counts.
pub fn in_known_case(value: &Value, kind: Kind) -> Value {
    let Data::Map(map) = &value.data else { return value.clone() };
    let renamed = map.iter().map(|(key, value)| {
        let Some(row) = rows(kind).find(|row| row.key.eq_ignore_ascii_case(key)) else {
            return (key.clone(), value.clone());
        };
        let value = match (&row.shape, value.as_list()) {
            (Shape::One(kind), _) => in_known_case(value, *kind),
            (Shape::List(kind), Some(list)) => {
                let items: Vec<Value> = list.iter().map(|item| in_known_case(item, *kind)).collect();
                value.clone().with(Data::List(Arc::new(items.into())))
            }
            _ => value.clone(),
        };
        (row.key.into(), value)
    });
    value.clone().with(Data::Map(Arc::new(renamed.collect())))
}
