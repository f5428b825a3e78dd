//! The table as a JSON Schema, for editors and for `schema get`.
//!
//! It accepts the same input as the reader: scalars of any kind for strings, keys without a value, and the keys of the
//! founding design.

use crate::editions::{Edition, api_version};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::entities::{Entity, Field, Holds, holds, is_open, section_of};
use purlin_model::json_schema::{object, texts};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{Secrets, to_json};
use purlin_value::{EcoString, Map, Value};

/// The draft that the original's own schemas are written in.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The schema of one edition, as text.
pub fn write(edition: Edition) -> String {
    to_json(&json_schema(edition), Secrets::Hide, JsonLayout::Pretty).unwrap_or_default() + "\n"
}

/// The schema of one edition.
pub fn json_schema(edition: Edition) -> Value {
    let entities = reachable(edition);
    let definitions = entities.iter().map(|entity| (EcoString::from(entity.label), definition(entity, edition)));
    object([
        ("$schema", Value::str(DRAFT)),
        ("title", Value::str(api_version(edition))),
        ("$ref", Value::str("#/definitions/SkaffoldConfig")),
        ("definitions", Value::map(definitions.collect())),
    ])
}

/// The section that a row holds, if its keys are known.
fn held(row: &Field) -> Option<&'static Entity> {
    section_of(row).filter(|entity| !is_open(entity))
}

/// All entities an edition uses, in the order they are met.
fn reachable(edition: Edition) -> Vec<&'static Entity> {
    let mut found: Vec<&'static Entity> = vec![&SKAFFOLD_CONFIG];
    let mut next = 0;
    while let Some(entity) = found.get(next).copied() {
        next += 1;
        for inner in entity.fields(edition).filter_map(held) {
            if !found.iter().any(|known| known.kind == inner.kind) {
                found.push(inner);
            }
        }
    }
    found
}

fn definition(entity: &'static Entity, edition: Edition) -> Value {
    let properties: Map = entity.fields(edition).map(|row| (EcoString::from(row.key), property(row))).collect();
    let required: Vec<&str> =
        entity.fields(edition).filter(|row| row.is_required(edition)).map(|row| row.key).collect();
    let mut map = Map::new();
    map.insert("type".into(), texts(["object", "null"]));
    map.insert("properties".into(), Value::map(properties));
    map.insert("additionalProperties".into(), Value::from(false));
    if !required.is_empty() {
        map.insert("required".into(), texts(required));
    }
    Value::map(map)
}

fn property(row: &Field) -> Value {
    let mut map = Map::new();
    map.insert("description".into(), Value::str(row.doc));
    if let Some(default) = row.default {
        map.insert("default".into(), default.value());
    }
    if let Some(shape) = shape(row).as_map() {
        map.extend(shape.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Value::map(map)
}

fn shape(row: &Field) -> Value {
    let refer = |entity: &Entity| object([("$ref", Value::str(format!("#/definitions/{}", entity.label)))]);
    let typed = |name: &str| object([("type", texts([name, "null"]))]);
    let scalar = || object([("type", texts(["string", "number", "boolean", "null"]))]);
    let list = |items: Value| object([("type", texts(["array", "null"])), ("items", items)]);
    match holds(row) {
        Holds::Text | Holds::Port => scalar(),
        Holds::Bool => typed("boolean"),
        Holds::Int => typed("integer"),
        Holds::Texts => list(scalar()),
        Holds::TextMap | Holds::NullableMap => {
            object([("type", texts(["object", "null"])), ("additionalProperties", scalar())])
        }
        Holds::Flat => typed("object"),
        Holds::Any => object([]),
        // Old drafts ignore keys beside a reference; `allOf` keeps the description.
        Holds::One(entity) => match is_open(entity) {
            true => typed("object"),
            false => object([("allOf", Value::list(vec![refer(entity)]))]),
        },
        Holds::Many(entity) => match is_open(entity) {
            true => list(object([])),
            false => list(refer(entity)),
        },
    }
}
