//! Entities as values, with the defaults of their rows filled in.
//!
//! Used where a result is shown or compared. Every default has the row as its origin, so that `why` can name it.

use crate::check::with_article;
use crate::handle::NodeRef;
use crate::instance::{Content, Instance, Slot};
use crate::schema::{Entity, Field, Literal, Schema};
use purlin_value::{EcoString, Map, Origin, Origins, Value};

/// Whether defaults are filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defaults {
    /// Keys that are not there have the value their row gives them.
    Fill,
    /// Only what is written or inherited is there.
    Leave,
}

/// The value of a literal, all of it with one origin.
pub fn literal_value(literal: &Literal, origin: Origin) -> Value {
    // Nested as deep as somebody typed it into a table.
    let value = match literal {
        Literal::Null => Value::null(),
        Literal::Bool(value) => Value::from(*value),
        Literal::Int(value) => Value::from(*value),
        Literal::Float(value) => Value::from(*value),
        Literal::Text(text) => Value::str(*text),
        Literal::List(items) => Value::list(items.iter().map(|item| literal_value(item, origin)).collect()),
        Literal::Map(entries) => {
            let entry = |(key, value): &(&'static str, Literal)| (EcoString::from(*key), literal_value(value, origin));
            Value::map(entries.iter().map(entry).collect())
        }
    };
    value.with_origin(origin)
}

/// Makes values of entities.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The dialect's tables.
    pub schema: &'a Schema,
    /// Takes the origins of defaults and inherited values.
    pub origins: &'a Origins,
    /// Whether defaults are filled in.
    pub defaults: Defaults,
}

impl Values<'_> {
    /// The default of a key.
    pub fn default_of(&self, entity: &Entity, field: &Field) -> Option<Value> {
        let literal = field.default.as_ref()?;
        let detail = format!("`{}` of {} unless it is written", field.key, with_article(entity.label));
        Some(literal_value(literal, self.origins.fallback(detail, None)))
    }

    /// The value under a key, or its default.
    pub fn get(&self, instance: &Instance, key: &str) -> Option<Value> {
        if let Some(slot) = instance.slot(key) {
            return Some(self.slot(slot));
        }
        let entity = self.schema.entity(instance.kind).filter(|_| self.defaults == Defaults::Fill)?;
        self.default_of(entity, entity.field_of(key, instance.edition)?)
    }

    /// An entity as a mapping: what is written in its order, what is inherited, then defaults in the order of rows.
    pub fn entity(&self, instance: &Instance) -> Value {
        if instance.is_broken && instance.slots.is_empty() {
            return Value::poison();
        }
        let mut entries = Map::new();
        for slot in &instance.slots {
            entries.insert(EcoString::from(slot.field.key), self.slot(slot));
        }
        if let Some(entity) = self.schema.entity(instance.kind).filter(|_| self.defaults == Defaults::Fill) {
            for field in entity.fields(instance.edition).filter(|field| !instance.has(field.slot)) {
                if let Some(value) = self.default_of(entity, field) {
                    entries.insert(EcoString::from(field.key), value);
                }
            }
        }
        Value::map(entries).with_origin(instance.node.node().map_or(Origin::NONE, Origin::node))
    }

    fn slot(&self, slot: &Slot) -> Value {
        if let Some(value) = slot.value(self.schema.merge_keys, self.origins) {
            return value;
        }
        let value = match slot.content.generations().as_slice() {
            [only] => self.content(only),
            generations => Value::list(generations.iter().flat_map(|content| self.items(content)).collect()),
        };
        if value.origin.is_known() { value } else { value.with_origin(slot.key_origin()) }
    }

    /// A content as the items it adds to a list.
    fn items(&self, content: &Content) -> Vec<Value> {
        let value = self.content(content);
        match value.as_list() {
            Some(items) => items.to_vec(),
            None => vec![value],
        }
    }

    /// Entities are nested no deeper than `read` allows, and so is this.
    fn content(&self, content: &Content) -> Value {
        let simple = |node: &NodeRef| node.value(self.schema.merge_keys);
        match content {
            Content::Value(node) => simple(node),
            Content::Values(nodes) => Value::list(nodes.iter().map(simple).collect()),
            Content::Entries(entries) => {
                Value::map(entries.iter().map(|(key, value)| (key.eco_text(), simple(value))).collect())
            }
            Content::One(instance) => self.entity(instance),
            Content::List(list) => Value::list(list.iter().map(|one| self.entity(one)).collect()),
            Content::Map(map) => {
                Value::map(map.iter().map(|named| (named.name.clone(), self.entity(&named.instance))).collect())
            }
            Content::Pairs(pairs) => {
                let pair = |named: &crate::named::Named| {
                    Value::map([(named.name.clone(), self.entity(&named.instance))].into_iter().collect())
                };
                Value::list(pairs.iter().map(pair).collect())
            }
            Content::Chain(_) | Content::Broken => Value::poison(),
        }
    }
}
