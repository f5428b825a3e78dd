//! The rows as a JSON Schema (draft 2020-12), for editors and other tools.
//!
//! It describes files as they are written: every notation is allowed, and keys that can be inherited are not
//! required. Facts that JSON Schema cannot express are in keywords that begin with `x-purlin-`, which validators
//! ignore.

use crate::check::UNBOUNDED;
use crate::kinds::{held_kinds, referred_kinds};
use crate::schema::{Edition, Entity, Field, Kind, Merge, Schema, Shape, Written};
use purlin_value::{EcoString, Map, Value};

/// The draft of the generated schemas.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The kinds of entities that the names under a key refer to.
pub const NAMES: &str = "x-purlin-names";
/// The kind of entities that the keys of a mapping declare.
pub(crate) const DECLARES: &str = "x-purlin-declares";
/// The expected value, in the words of the table.
pub const TAKES: &str = "x-purlin-takes";
/// The definition that values resemble, without having to match it.
pub const LIKE: &str = "x-purlin-like";

/// The definition of expressions, which are evaluated before they have a shape.
const EXPRESSION: &str = "Expression";

/// The schema of the entities of a kind in one edition, with all nested ones.
pub fn json_schema(schema: &Schema, kind: Kind, edition: Edition) -> Value {
    object([
        ("$schema", Value::str(DRAFT)),
        ("title", Value::str(schema.full_name(edition))),
        ("$ref", reference_text(schema, kind)),
        ("$defs", Value::map(definitions(schema, &[kind], edition))),
    ])
}

/// The definitions of some kinds in one edition, with all nested ones, sorted by name.
pub fn definitions(schema: &Schema, kinds: &[Kind], edition: Edition) -> Map {
    let export = Export { schema, edition };
    let mut definitions = Map::new();
    let mut open = kinds.to_vec();
    let mut seen = kinds.to_vec();
    while let Some(kind) = open.pop() {
        let Some(entity) = schema.entity(kind) else { continue };
        definitions.insert(EcoString::from(definition_name(schema, entity)), export.entity(entity));
        for field in entity.fields(edition).chain(entity.rest_in(edition)) {
            for held in held_kinds(&field.shape) {
                if !seen.contains(&held) {
                    seen.push(held);
                    open.push(held);
                }
            }
        }
    }
    if let Some(forms) = export.expression_forms() {
        definitions.insert(EXPRESSION.into(), any_of(forms));
    }
    definitions.sort_keys();
    definitions
}

/// A reference to the definition of a kind.
pub fn reference(schema: &Schema, kind: Kind) -> Value {
    object([("$ref", reference_text(schema, kind))])
}

fn reference_text(schema: &Schema, kind: Kind) -> Value {
    let name = schema.entity(kind).map(|entity| definition_name(schema, entity)).unwrap_or_default();
    Value::str(format!("#/$defs/{name}"))
}

/// The name of an entity's definition: its label in camel case, with a number where earlier rows have the same label.
fn definition_name(schema: &Schema, entity: &Entity) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    };
    let name: String = entity.label.split(' ').map(word).collect();
    let earlier = schema.entities.iter().filter(|other| other.label == entity.label && other.kind < entity.kind);
    match earlier.count() {
        0 => name,
        count => format!("{name}{}", count + 1),
    }
}

/// An object of a schema.
pub fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect())
}

/// A list of strings.
pub fn texts<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    Value::list(words.into_iter().map(Value::str).collect())
}

fn typed(name: &str) -> Value {
    object([("type", Value::str(name))])
}

fn any_of(alternatives: Vec<Value>) -> Value {
    object([("anyOf", Value::list(alternatives))])
}

/// A schema with further keywords.
fn with_notes(schema: Value, notes: Vec<(&'static str, Value)>) -> Value {
    let mut map = schema.as_map().cloned().unwrap_or_default();
    map.extend(notes.into_iter().map(|(key, value)| (EcoString::from(key), value)));
    Value::map(map)
}

/// The approximate shape, for schemas.
fn outline(shape: &Shape) -> &Shape {
    match shape {
        Shape::Special(special) => &special.outline,
        shape => shape,
    }
}

struct Export<'a> {
    schema: &'a Schema,
    edition: Edition,
}

impl Export<'_> {
    fn reference(&self, kind: Kind) -> Value {
        reference(self.schema, kind)
    }

    fn entity(&self, entity: &'static Entity) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in entity.fields(self.edition) {
            properties.insert(EcoString::from(field.key), self.property(entity, field));
            for alias in field.aliases {
                let old = self.property(entity, &field.deprecated(field.key));
                properties.insert(EcoString::from(*alias), old);
            }
            // An older name is accepted as well, and an inheritable key need not be written.
            if field.is_required(self.edition) && field.aliases.is_empty() && matches!(field.merge, Merge::Own) {
                required.push(field.key);
            }
        }
        let mut written = Map::new();
        written.insert("type".into(), Value::str("object"));
        written.insert("properties".into(), Value::map(properties));
        if !required.is_empty() {
            written.insert("required".into(), texts(required));
        }
        let others = entity.rest_in(self.edition).map(|rest| self.rest(rest));
        written.insert("additionalProperties".into(), others.unwrap_or_else(|| Value::from(false)));
        if let Some(Shape::Map(kind)) = entity.rest_in(self.edition).map(|rest| rest.shape) {
            written.insert(DECLARES.into(), Value::str(self.schema.label(kind)));
        }
        let groups = self.groups(entity);
        if !groups.is_empty() {
            written.insert("allOf".into(), Value::list(groups));
        }
        self.with_notations(entity, Value::map(written))
    }

    /// The written-out form of an entity, its short notations, and null where allowed.
    fn with_notations(&self, entity: &'static Entity, written: Value) -> Value {
        let mut forms = vec![written];
        for short in entity.short.iter().filter(|short| short.window.has(self.edition)) {
            if let Some(field) = entity.field_of(short.slot, self.edition) {
                let shape = match (short.written, outline(&field.shape)) {
                    (Written::Scalar, Shape::Any) => &Shape::Scalar,
                    (Written::Text, Shape::Any) => &Shape::Text,
                    (Written::List, Shape::Any) => &Shape::ListOf(&Shape::Any),
                    (_, shape) => shape,
                };
                forms.push(with_notes(self.shape(shape), self.notes(entity, field)));
            }
        }
        forms.extend(self.expression());
        forms.push(typed("null"));
        let description = ("description", Value::str(entity.doc));
        object([description, ("anyOf", Value::list(forms))])
    }

    /// A reference to the definition of expressions, if the dialect has any.
    fn expression(&self) -> Option<Value> {
        let has_any = self.schema.expression_pattern.or(self.schema.operator_pattern).is_some();
        has_any.then(|| object([("$ref", Value::str(format!("#/$defs/{EXPRESSION}")))]))
    }

    /// Text with expressions in it, mappings with a key that is an operator, lists with such mappings.
    fn expression_forms(&self) -> Option<Vec<Value>> {
        let mut forms = Vec::new();
        if let Some(pattern) = self.schema.expression_pattern {
            forms.push(object([("type", Value::str("string")), ("pattern", Value::str(pattern))]));
        }
        if let Some(pattern) = self.schema.operator_pattern {
            // JSON Schema cannot require a matching key directly: not all keys may fail to match.
            let unlike = object([("not", object([("pattern", Value::str(pattern))]))]);
            let none = object([("propertyNames", unlike)]);
            let operator = object([("type", Value::str("object")), ("not", none)]);
            forms.push(object([("type", Value::str("array")), ("contains", operator.clone())]));
            forms.push(operator);
        }
        (!forms.is_empty()).then_some(forms)
    }

    /// Facts of a row that JSON Schema cannot express.
    fn notes(&self, entity: &Entity, field: &Field) -> Vec<(&'static str, Value)> {
        let labels = |kinds: &[Kind]| texts(kinds.iter().map(|kind| self.schema.label(*kind)));
        let mut notes = Vec::new();
        if let Some(kinds) = referred_kinds(outline(&field.shape), &[entity.kind]) {
            notes.push((NAMES, labels(kinds)));
        }
        if let Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) = field.shape {
            notes.push((DECLARES, Value::str(self.schema.label(kind))));
        }
        if let Shape::Special(special) = field.shape {
            notes.push((TAKES, Value::str(special.label)));
        }
        notes
    }

    /// The schema of keys without a row.
    fn rest(&self, rest: &Field) -> Value {
        match rest.shape {
            Shape::Map(kind) => self.reference(kind),
            Shape::MapOf(inner) => self.value(inner),
            _ => Value::from(true),
        }
    }

    /// Keys that exclude each other.
    fn groups(&self, entity: &Entity) -> Vec<Value> {
        let mut names: Vec<&str> = Vec::new();
        for group in entity.fields(self.edition).filter_map(|field| field.one_of) {
            if !names.contains(&group) {
                names.push(group);
            }
        }
        let requires = |key: &str| object([("required", texts([key]))]);
        let mut rules = Vec::new();
        for group in names {
            let members = entity.fields(self.edition).filter(|field| field.one_of == Some(group));
            let keys: Vec<&str> = members.map(|field| field.key).collect();
            let mut choices: Vec<Value> = keys.iter().map(|key| requires(key)).collect();
            if !entity.exactly_one.contains(&group) {
                let none = object([("anyOf", Value::list(choices.clone()))]);
                choices.push(object([("not", none)]));
            }
            rules.push(object([("oneOf", Value::list(choices))]));
        }
        rules
    }

    fn property(&self, entity: &Entity, field: &Field) -> Value {
        let mut property = Map::new();
        property.insert("description".into(), Value::str(field.doc));
        if let Some(literal) = &field.default {
            property.insert("default".into(), literal.value());
        }
        if field.deprecated.is_some() {
            property.insert("deprecated".into(), Value::from(true));
        }
        if let Some(shape) = self.value_or_nothing(&field.shape).as_map() {
            property.extend(shape.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        with_notes(Value::map(property), self.notes(entity, field))
    }

    /// A shape, an expression, or null, which counts as absent.
    fn value_or_nothing(&self, shape: &Shape) -> Value {
        if *outline(shape) == Shape::Any {
            return self.shape(shape);
        }
        let mut forms = vec![self.shape(shape)];
        forms.extend(self.expression());
        forms.push(typed("null"));
        any_of(forms)
    }

    /// A shape, or an expression.
    fn value(&self, shape: &Shape) -> Value {
        match self.expression() {
            Some(expression) if *outline(shape) != Shape::Any => any_of(vec![self.shape(shape), expression]),
            _ => self.shape(shape),
        }
    }

    fn shape(&self, shape: &Shape) -> Value {
        match shape {
            Shape::Text | Shape::Reference(_) | Shape::Parent => typed("string"),
            Shape::Scalar => object([("type", texts(["string", "number", "boolean"]))]),
            Shape::Bool => typed("boolean"),
            Shape::Integer => typed("integer"),
            Shape::Number => typed("number"),
            Shape::Range => self.range(),
            Shape::Any => Value::map(Map::new()),
            Shape::Choice(words) => object([("enum", texts(words.iter().copied()))]),
            Shape::Names(_) => object([("type", Value::str("array")), ("items", self.value(&Shape::Text))]),
            Shape::One(kind) => self.reference(*kind),
            Shape::List(kind) => object([("type", Value::str("array")), ("items", self.reference(*kind))]),
            Shape::Map(kind) => self.map_of(self.reference(*kind)),
            Shape::Sequence(kind) | Shape::Repeating(kind) => {
                let one = object([
                    ("type", Value::str("object")),
                    ("minProperties", Value::from(1)),
                    ("maxProperties", Value::from(1)),
                    ("additionalProperties", self.reference(*kind)),
                ]);
                let list = object([("type", Value::str("array")), ("items", one)]);
                any_of(vec![list, self.map_of(self.reference(*kind))])
            }
            Shape::ListOf(inner) => object([("type", Value::str("array")), ("items", self.value(inner))]),
            Shape::MapOf(inner) => self.map_of(self.value(inner)),
            Shape::Union(shapes) => any_of(shapes.iter().map(|shape| self.shape(shape)).collect()),
            Shape::Special(special) => self.shape(&special.outline),
        }
    }

    fn map_of(&self, values: Value) -> Value {
        object([("type", Value::str("object")), ("additionalProperties", values)])
    }

    fn range(&self) -> Value {
        let unbounded = object([("const", Value::str(UNBOUNDED))]);
        let bounds = vec![typed("integer"), any_of(vec![typed("integer"), unbounded])];
        object([
            ("type", Value::str("array")),
            ("prefixItems", Value::list(bounds)),
            ("minItems", Value::from(2)),
            ("maxItems", Value::from(2)),
        ])
    }
}
