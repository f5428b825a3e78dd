//! TOSCA's types as JSON Schemas, in the dialect of Unfurl's exports: properties whose values users give, and constraints.

use super::expressions::{is_computed, is_for_server};
use crate::ensemble::places::Reading;
use crate::ensemble::service::from_tosca;
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_tosca::clause;
use purlin_tosca::entities;
use purlin_tosca::entity::Entity;
use purlin_tosca::model::{Model, Primitive};
use purlin_tosca::names::DeclId;
use purlin_tosca::special::units;
use purlin_tosca::val as tosca;
use std::sync::Arc;

/// Types within types are followed this far.
const MAX_DEPTH: usize = 32;

/// Types that have the same name on both sides.
const SAME: &[&str] = &["string", "boolean", "map", "list"];

/// The largest port.
const LAST_PORT: i64 = 65_535;

/// A declaration with its name.
pub(super) type Named = (EcoString, Arc<Entity>);

/// The sources of schemas.
pub(super) struct Schemas<'a> {
    pub model: &'a Model,
    pub reading: Reading<'a>,
}

/// Entries of a map in order.
pub(super) fn put(map: &mut ValMap, key: &str, value: Val) {
    map.insert(MapKey::from(key), value);
}

fn object(properties: ValMap) -> Val {
    Val::record([("type", Val::str("object")), ("properties", Val::map(properties))])
}

/// Definitions of a slot, those of the type itself before those of its ancestors.
pub(super) fn declared(model: &Model, id: DeclId, slot: &str) -> Vec<Named> {
    let Some(complete) = model.complete(id) else { return Vec::new() };
    let mut out: Vec<Named> = Vec::new();
    for id in model.hierarchy.lineage(id) {
        let Some(decl) = model.names.decl(id) else { continue };
        let listed = decl.entity.list(slot).iter().map(|entity| entity.name.clone());
        for name in decl.entity.entries(slot).map(|(name, _)| name.clone()).chain(listed) {
            let known = out.iter().any(|(known, _)| *known == name);
            if let (false, Some(full)) = (known, complete.named(slot, &name)) {
                out.push((name, full.clone()));
            }
        }
    }
    out
}

/// Whether users may set a property.
pub(super) fn is_settable(name: &str, definition: &Entity) -> bool {
    let metadata = definition.value("metadata");
    if let Some(settable) = metadata.and_then(|metadata| metadata.get("user_settable")) {
        return matches!(settable.data, tosca::Data::Bool(true));
    }
    let default = definition.value("default").filter(|default| !matches!(default.data, tosca::Data::Null));
    default.is_none() && !is_computed(name, definition, None)
}

impl Schemas<'_> {
    /// The schema of a type with properties.
    pub(super) fn of_properties(&self, properties: &[Named], of: Option<&str>, depth: usize) -> Val {
        let mut out = ValMap::default();
        for (name, definition) in properties {
            put(&mut out, name, self.property(name, definition, depth));
        }
        if let Some(of) = of {
            put(&mut out, "$toscatype", Val::record([("const", Val::str(of))]));
        }
        object(out)
    }

    /// The schema of one property; `name` is empty for the entries of a list or map.
    pub(super) fn property(&self, name: &str, definition: &Entity, depth: usize) -> Val {
        let mut out = ValMap::default();
        let title = definition.text("title").map_or(name, |title| title.text.as_str());
        if !title.is_empty() {
            put(&mut out, "title", Val::str(title));
        }
        let default = definition.value("default").filter(|value| !matches!(value.data, tosca::Data::Null));
        if let Some(default) = default.filter(|value| !is_for_server(value)) {
            put(&mut out, "default", from_tosca(default, self.reading));
        }
        if definition.bool("required") != Some(false) {
            put(&mut out, "required", Val::bool(true));
        }
        if let Some(words) = definition.text("description").filter(|words| !words.text.is_empty()) {
            put(&mut out, "description", Val::str(words.text.clone()));
        }
        let metadata = definition.value("metadata").map(|metadata| from_tosca(metadata, self.reading));
        for (key, value) in metadata.as_ref().and_then(Val::as_map).into_iter().flatten() {
            out.insert(key.clone(), value.clone());
        }
        let written = definition.text("type").map_or("string", |name| name.text.as_str());
        if !SAME.contains(&written) {
            put(&mut out, "$toscatype", Val::str(written));
        }
        let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
        let unit = metadata.as_ref().and_then(|metadata| metadata.get("default_unit")).cloned();
        let base = self.base(written, data_type, unit.as_ref(), depth);
        let kind = base.get("type").and_then(Val::as_str).unwrap_or("string").to_owned();
        for (key, value) in base.as_map().into_iter().flatten() {
            out.insert(key.clone(), value.clone());
        }
        if let Some(entry) = definition.one("entry_schema").filter(|_| depth < MAX_DEPTH) {
            let key = if kind == "array" { "items" } else { "additionalProperties" };
            put(&mut out, key, self.property("", entry, depth + 1));
        }
        let family = data_type.and_then(|id| self.model.primitive(id)).and_then(Primitive::family);
        for (key, value) in self.constraints(definition.clauses("validation"), &kind, family).into_iter().flatten() {
            out.insert(key, value);
        }
        Val::map(out)
    }

    /// The schema of a type.
    fn base(&self, written: &str, id: Option<DeclId>, unit: Option<&Val>, depth: usize) -> Val {
        let of = |kind: &str| Val::record([("type", Val::str(kind))]);
        match written {
            "PortDef" | "tosca.datatypes.network.PortDef" => {
                let bounds = [("minimum", Val::int(1)), ("maximum", Val::int(LAST_PORT))];
                return Val::record([("type", Val::str("number"))].into_iter().chain(bounds));
            }
            "any" | "PortSpec" | "tosca.datatypes.network.PortSpec" => return of("string"),
            "number" => return of("number"),
            _ => {}
        }
        let Some(id) = id else { return of("string") };
        match self.model.primitive(id) {
            Some(Primitive::Integer | Primitive::Float) => of("number"),
            Some(Primitive::Boolean) => of("boolean"),
            Some(Primitive::Map) => of("object"),
            Some(Primitive::List) => of("array"),
            Some(Primitive::Range) => {
                let items = Val::record([("type", Val::str("integer")), ("maxItems", Val::int(2))]);
                Val::record([("type", Val::str("array")), ("items", items)])
            }
            Some(primitive) => match unit.filter(|_| primitive.is_quantity()) {
                Some(unit) => Val::record([("type", Val::str("number")), ("default_unit", unit.clone())]),
                None => of("string"),
            },
            None if depth >= MAX_DEPTH => of("object"),
            None => {
                let properties = declared(self.model, id, "properties");
                let settable: Vec<Named> =
                    properties.into_iter().filter(|(name, definition)| is_settable(name, definition)).collect();
                self.of_properties(&settable, Some(&self.model.name(id)), depth + 1)
            }
        }
    }

    /// Constraints as keys of a schema; several are joined by `allOf`.
    pub(super) fn constraints(
        &self,
        clauses: &[tosca::Val],
        kind: &str,
        family: Option<&'static units::Family>,
    ) -> Option<ValMap> {
        let mut each: Vec<ValMap> = clauses.iter().filter_map(|clause| self.constraint(clause, kind, family)).collect();
        if each.len() > 1 {
            let all = Val::list(each.into_iter().map(Val::map).collect());
            return Some([(MapKey::from("allOf"), all)].into_iter().collect());
        }
        each.pop()
    }

    fn constraint(&self, clause: &tosca::Val, kind: &str, family: Option<&'static units::Family>) -> Option<ValMap> {
        let (operator, arguments) = clause::constraint(clause)?;
        let argument = arguments.first()?;
        let plain = |value: &tosca::Val| {
            let amount = family.and_then(|family| {
                let (number, (_, factor)) = units::measure(value.as_str()?, family)?;
                Some(number * factor)
            });
            amount.map_or_else(|| from_tosca(value, self.reading), whole)
        };
        let suffix = match kind {
            "object" => "Properties",
            "array" => "Items",
            "number" => "imum",
            _ => "Length",
        };
        let mut out = ValMap::default();
        match operator {
            "pattern" => put(&mut out, "pattern", plain(argument)),
            "equal" => put(&mut out, "const", plain(argument)),
            "valid_values" => {
                let values = argument.items().iter().map(plain).collect::<Vec<_>>();
                put(&mut out, if values.len() == 1 { "const" } else { "enum" }, Val::list(values));
            }
            "greater_than" => put(&mut out, "exclusiveMinimum", plain(argument)),
            "greater_or_equal" => put(&mut out, "minimum", plain(argument)),
            "less_than" => put(&mut out, "exclusiveMaximum", plain(argument)),
            "less_or_equal" => put(&mut out, "maximum", plain(argument)),
            "min_length" => put(&mut out, &format!("min{suffix}"), plain(argument)),
            "max_length" => put(&mut out, &format!("max{suffix}"), plain(argument)),
            "length" => {
                put(&mut out, &format!("min{suffix}"), plain(argument));
                put(&mut out, &format!("max{suffix}"), plain(argument));
            }
            "in_range" => {
                if let [low, high] = argument.items() {
                    put(&mut out, &format!("min{suffix}"), plain(low));
                    put(&mut out, &format!("max{suffix}"), plain(high));
                }
            }
            _ => return None,
        }
        Some(out)
    }
}

/// A number without a fraction is an integer.
fn whole(number: f64) -> Val {
    if number.fract() == 0.0 && number.abs() < 9.0e15 { Val::int(number as i64) } else { Val::float(number) }
}
