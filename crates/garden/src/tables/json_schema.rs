//! The tables as one JSON Schema for documents of any kind: `kind`, `type` and `name` decide which rows apply.

use crate::check::row;
use crate::config::{ConfigKind, KIND_NAMES};
use crate::entities::{self, MODULE_TYPES, PROVIDERS, SCHEMA, SPEC_TYPES};
use purlin_model::json_schema::{DRAFT, LIKE, definitions, object, reference, texts};
use purlin_model::schema::{Edition, Kind};
use purlin_value::{EcoString, Map, Value};

const EDITION: Edition = Edition(0);

/// The definition of a document of any kind.
const CONFIGURATION: &str = "Configuration";

/// The schema of one document of a configuration file.
pub fn json_schema() -> Value {
    let kinds = KIND_NAMES.iter().map(|(_, kind)| row(*kind));
    let types = MODULE_TYPES.iter().map(|(_, kind, _)| *kind).chain(SPEC_TYPES.iter().map(|spec| spec.row));
    let rows: Vec<Kind> = kinds.chain(types).chain(PROVIDERS.iter().map(|(_, kind, _)| *kind)).collect();
    let mut all = definitions(&SCHEMA, &rows, EDITION);
    refine_providers(&mut all);
    refine_templates(&mut all);
    all.insert(CONFIGURATION.into(), configuration());
    all.sort_keys();
    object([
        ("$schema", Value::str(DRAFT)),
        ("title", Value::str(SCHEMA.full_name(EDITION))),
        ("$ref", Value::str(format!("#/$defs/{CONFIGURATION}"))),
        ("$defs", Value::map(all)),
    ])
}

/// A document: its kind selects its shape, its type that of its spec.
fn configuration() -> Value {
    let names = texts(KIND_NAMES.iter().map(|(name, _)| *name));
    let kind = object([("description", Value::str("What this configuration is.")), ("enum", names)]);
    let branches = KIND_NAMES.iter().map(|(name, kind)| when(&[("kind", name)], document(*kind)));
    object([
        // A document without anything in it is passed over.
        ("type", texts(["object", "null"])),
        ("properties", object([("kind", kind)])),
        ("required", texts(["kind"])),
        ("allOf", Value::list(branches.collect())),
    ])
}

/// The shape of a document of a kind.
fn document(kind: ConfigKind) -> Value {
    match kind {
        ConfigKind::Module => {
            let known = || MODULE_TYPES.iter().map(|(name, _, _)| *name);
            let mut parts: Vec<Value> =
                MODULE_TYPES.iter().map(|(name, row, _)| when(&[("type", name)], refer(*row))).collect();
            let is_known = object([("properties", object([("type", object([("enum", texts(known()))]))]))]);
            parts.push(object([("if", is_known), ("then", Value::from(true)), ("else", refer(entities::MODULE))]));
            parts.push(refer_type(known()));
            all_of(parts)
        }
        ConfigKind::Action(action) => {
            let specs: Vec<_> = SPEC_TYPES.iter().filter(|spec| spec.kind == action).collect();
            let mut parts = vec![refer(row(kind)), refer_type(specs.iter().map(|spec| spec.type_name))];
            parts.extend(specs.iter().map(|spec| {
                let inside = object([("properties", object([("spec", refer(spec.row))]))]);
                when(&[("type", spec.type_name)], inside)
            }));
            all_of(parts)
        }
        kind => refer(row(kind)),
    }
}

/// The types that are known; others may come from plugins.
fn refer_type<'n>(names: impl Iterator<Item = &'n str>) -> Value {
    object([("properties", object([("type", object([("examples", texts(names))]))]))])
}

fn refer(kind: Kind) -> Value {
    reference(&SCHEMA, kind)
}

fn all_of(parts: Vec<Value>) -> Value {
    object([("allOf", Value::list(parts))])
}

/// A schema that applies where keys have certain values.
fn when(keys: &[(&str, &str)], then: Value) -> Value {
    let constant = |(key, value): &(&str, &str)| (EcoString::from(*key), object([("const", Value::str(*value))]));
    let properties = Value::map(keys.iter().map(constant).collect());
    let required = texts(keys.iter().map(|(key, _)| *key));
    object([("if", object([("properties", properties), ("required", required)])), ("then", then)])
}

/// The settings of a provider are those of its plugin.
fn refine_providers(all: &mut Map) {
    let Some(Definition { name, value }) = named(all, entities::PROVIDER) else { return };
    let mut branches = Vec::new();
    for (plugin, kind, _) in PROVIDERS.iter().filter(|(_, kind, _)| *kind != entities::PROVIDER) {
        branches.push(when(&[("name", plugin)], refer(*kind)));
    }
    let names = object([("examples", texts(PROVIDERS.iter().map(|(plugin, _, _)| *plugin)))]);
    branches.push(object([("properties", object([("name", names)]))]));
    all.insert(name, extended(value, "allOf", Value::list(branches)));
}

/// A template's result has the shape of any configuration; its names and values are known only in use.
fn refine_templates(all: &mut Map) {
    let Some(Definition { name, value }) = named(all, entities::CONFIG_TEMPLATE) else { return };
    let like = object([("items", object([(LIKE, Value::str(format!("#/$defs/{CONFIGURATION}")))]))]);
    let inside = object([("properties", object([("configs", like.clone()), ("modules", like)]))]);
    all.insert(name, extended(value, "allOf", Value::list(vec![inside])));
}

/// A definition and its name.
struct Definition {
    name: EcoString,
    value: Value,
}

fn named(all: &Map, kind: Kind) -> Option<Definition> {
    let reference = refer(kind);
    let name = reference.get("$ref")?.as_str()?.rsplit('/').next()?;
    Some(Definition { name: name.into(), value: all.get(name)?.clone() })
}

fn extended(definition: Value, key: &str, value: Value) -> Value {
    let mut map = definition.as_map().cloned().unwrap_or_default();
    map.insert(key.into(), value);
    Value::map(map)
}
