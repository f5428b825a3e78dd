//! The JSON Schema of a built-in kind, made from the table, for editors. It must not know files.

use crate::docs::sentence;
use crate::table::{Field, Kind, Shape, Table, TypeId, table};
use purlin_value::{EcoString, Map, Value};
use std::collections::BTreeSet;

/// A built-in kind of the newest version, by `apiVersion` and `kind`.
pub fn kind(version: &str, name: &str) -> Option<(&'static str, &'static str)> {
    table().kind(version, name).map(|kind| (kind.version, kind.name))
}

/// The schema of a kind.
pub fn schema(version: &str, name: &str) -> Option<Value> {
    let table = table();
    let kind = table.kind(version, name)?;
    let mut types = BTreeSet::new();
    reached(table, kind.of, &mut types);
    let definitions: Map =
        types.iter().filter_map(|id| Some((table.get(*id)?.name.into(), definition(table, kind, *id)?))).collect();
    let mut schema = Map::new();
    schema.insert("$ref".into(), reference(table, kind.of)?);
    schema.insert("$defs".into(), Value::map(definitions));
    Some(Value::map(schema))
}

/// All types that a type refers to.
fn reached(table: &Table, from: TypeId, found: &mut BTreeSet<TypeId>) {
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let fields = table.get(id).map(|of| of.fields.as_slice()).unwrap_or_default();
        open.extend(fields.iter().filter_map(|field| inner(&field.shape)));
    }
}

/// The type in a shape.
fn inner(shape: &Shape) -> Option<TypeId> {
    match shape {
        Shape::Type(id) => Some(*id),
        Shape::List(of, _) | Shape::Map(of) => inner(of),
        _ => None,
    }
}

fn reference(table: &Table, id: TypeId) -> Option<Value> {
    Some(Value::str(format!("#/$defs/{}", table.get(id)?.name)))
}

fn definition(table: &Table, kind: &Kind, id: TypeId) -> Option<Value> {
    let of = table.get(id)?;
    let newest = table.versions.last;
    let is_there = |field: &&Field| field.range.holds(newest);
    let is_top = id == kind.of;
    let properties: Map = of
        .fields
        .iter()
        .filter(is_there)
        .map(|field| {
            let mut property = property(table, &field.shape);
            let about = sentence(of.short(), field.name).map_or_else(|| fallback(of.short()), str::to_owned);
            property.insert("description".into(), Value::str(about));
            if is_top && let Some(only) = constant(kind, field.name) {
                property.insert("enum".into(), Value::list(vec![Value::str(only)]));
            }
            (EcoString::from(field.name), Value::map(property))
        })
        .collect();
    let required: Vec<Value> = of
        .fields
        .iter()
        .filter(is_there)
        .filter(|field| field.is_required)
        .map(|field| Value::str(field.name))
        .collect();
    let mut map = one("type", "object");
    map.insert("properties".into(), Value::map(properties));
    if !required.is_empty() {
        map.insert("required".into(), Value::list(required));
    }
    Some(Value::map(map))
}

/// The only value of a field of the object itself.
fn constant(kind: &Kind, field: &str) -> Option<&'static str> {
    match field {
        "apiVersion" => Some(kind.version),
        "kind" => Some(kind.name),
        _ => None,
    }
}

fn fallback(of: &str) -> String {
    format!("A field of `{of}`.")
}

fn one(key: &str, text: &str) -> Map {
    [(EcoString::from(key), Value::str(text))].into_iter().collect()
}

fn property(table: &Table, shape: &Shape) -> Map {
    let of = |shape: &Shape| Value::map(property(table, shape));
    match shape {
        Shape::Text(None) | Shape::Bytes | Shape::Time => one("type", "string"),
        Shape::Text(Some(id)) => {
            let mut map = one("type", "string");
            map.insert("enum".into(), Value::list(table.values(*id).map(Value::str).collect()));
            map
        }
        Shape::Integer { .. } => one("type", "integer"),
        Shape::Number => one("type", "number"),
        Shape::Boolean => one("type", "boolean"),
        Shape::Quantity | Shape::IntOrString => {
            let types = ["string", "number"].map(Value::str).to_vec();
            [(EcoString::from("type"), Value::list(types))].into_iter().collect()
        }
        Shape::Any => Map::new(),
        Shape::List(item, _) => {
            let mut map = one("type", "array");
            map.insert("items".into(), of(item));
            map
        }
        Shape::Map(item) => {
            let mut map = one("type", "object");
            map.insert("additionalProperties".into(), of(item));
            map
        }
        Shape::Type(id) => reference(table, *id)
            .map(|target| [(EcoString::from("$ref"), target)].into_iter().collect())
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_is_about_a_field() {
        let table = table();
        let mut ids = BTreeSet::new();
        table.kinds(table.versions.last).for_each(|kind| reached(table, kind.of, &mut ids));
        for (of, field, text) in crate::docs::rows() {
            let has = |id: &TypeId| {
                table.get(*id).is_some_and(|one| (of.is_empty() || one.short() == *of) && one.field(field).is_some())
            };
            assert!(ids.iter().any(has), "{of}.{field}");
            assert!(text.ends_with('.') && text.len() < 130, "{of}.{field}: {text}");
        }
    }

    #[test]
    fn a_schema_refers_to_all_its_types() {
        let schema = schema("apps/v1", "Deployment").unwrap_or_default();
        let container = schema.get("$defs").and_then(|types| types.get("core.v1.Container"));
        let image = container.and_then(|one| one.at("properties.image.description"));
        assert_eq!(image.as_ref().and_then(Value::as_str), Some("The image, with a tag or digest."));
        assert!(super::schema("apps/v1", "Nothing").is_none());
    }
}
