//! Changing values in place, along paths of keys.
//!
//! Collections are shared; changed ones are copied on the way. It must not know resources.

use ecow::EcoString;
use purlin_value::{Data, List, Map, Origins, Value};
use std::sync::Arc;

/// The map of a value, created if missing.
pub fn map(value: &mut Value) -> &mut Map {
    if !matches!(value.data, Data::Map(_)) {
        value.data = Data::Map(Arc::default());
    }
    match &mut value.data {
        Data::Map(map) => Arc::make_mut(map),
        _ => unreachable!("the map was just stored"),
    }
}

/// The map of a value, if it is one.
pub fn as_map(value: &mut Value) -> Option<&mut Map> {
    match &mut value.data {
        Data::Map(map) => Some(Arc::make_mut(map)),
        _ => None,
    }
}

/// The list of a value, if it is one.
pub fn as_list(value: &mut Value) -> Option<&mut List> {
    match &mut value.data {
        Data::List(list) => Some(Arc::make_mut(list)),
        _ => None,
    }
}

/// Sets a key of a map.
pub fn set(value: &mut Value, key: &str, to: Value) {
    map(value).insert(EcoString::from(key), to);
}

/// A value in the place of another one, which its origin keeps.
pub fn over(origins: &Origins, new: Value, old: &Value, rule: &'static str) -> Value {
    let origin = origins.chosen(new.origin, rule, vec![old.origin]);
    new.with_origin(origin)
}

/// Removes a key from a map, keeping the order of the rest.
pub fn take(value: &mut Value, key: &str) -> Option<Value> {
    as_map(value)?.shift_remove(key)
}

/// Calls a function with every value at a path: lists are expanded, and missing keys are created on request.
pub fn visit(value: &mut Value, path: &[&str], create: bool, change: &mut dyn FnMut(&mut Value)) {
    let [key, rest @ ..] = path else { return change(value) };
    if let Some(list) = as_list(value) {
        return list.iter_mut().for_each(|item| visit(item, path, create, change));
    }
    let missing = value.get(key).is_none_or(Value::is_null);
    if missing && (!create || !(matches!(value.data, Data::Map(_)) || value.is_null())) {
        return;
    }
    let inner = map(value).entry(EcoString::from(*key)).or_insert_with(Value::null);
    visit(inner, rest, create, change);
}

/// The string at the end of a path of keys; empty if missing.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    path.iter().try_fold(value, |value, key| value.get(key)).and_then(Value::as_str).unwrap_or_default()
}
