//! Walks an entity along the rows of its table, and reports mismatches.
//!
//! The phase after `parse`. It reports and continues; it keeps no state, and never resolves names.

use crate::check::{looks_like, notation};
use crate::schema::{Edition, Entity, Field, Kind, Schema, Shape};
use purlin_syntax::tree::Entry;
use purlin_syntax::{Diagnostic, Kind as NodeKind, Node, Sink, Span};
use purlin_value::MergeKeys;

/// Maximum nesting of entities. Real ones are nested a few levels deep.
pub(crate) const ENTITY_DEPTH: u32 = 100;

/// The current entity, for the rules of its row.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The dialect's tables.
    pub schema: &'a Schema,
    /// The row of the entity.
    pub entity: &'static Entity,
    /// The edition it is written in.
    pub edition: Edition,
    /// Receives problems.
    pub sink: &'a Sink,
}

/// An entity as it is written.
pub struct Instance<'t> {
    /// The node it is read from.
    pub node: Node<'t>,
    /// Its key, if it has a name.
    pub name: Option<Node<'t>>,
    /// The filled slots, in the order in which they are written.
    pub slots: Vec<Slot<'t>>,
}

/// A key with its value.
pub struct Slot<'t> {
    /// Its row.
    pub field: &'static Field,
    /// The key as it is written; absent in short notations.
    pub key: Option<Node<'t>>,
    /// Its value, if that is a matching simple value, or an expression.
    pub value: Option<Node<'t>>,
}

impl Slot<'_> {
    /// Its location: the key, or the value of a short notation.
    pub fn span(&self) -> Option<Span> {
        self.key.or(self.value).map(Node::span)
    }
}

impl<'t> Instance<'t> {
    /// The slot of a key, filled with a valid or invalid value.
    pub fn slot(&self, key: &str) -> Option<&Slot<'t>> {
        self.slots.iter().find(|slot| slot.field.slot == key)
    }

    /// Location of its name, or else of itself.
    pub(crate) fn name_span(&self) -> Span {
        self.name.unwrap_or(self.node).span()
    }
}

/// Checks a node as an entity of a kind, with all nested entities.
pub fn check(schema: &Schema, edition: Edition, node: Node<'_>, kind: Kind, sink: &Sink) {
    if let Some(entity) = schema.entity(kind) {
        Place { schema, entity, edition, sink }.look(node, None, 0);
    }
}

impl Place<'_> {
    /// Checks an entity. Missing keys of an unreadable or unknown one are not reported.
    fn look<'t>(&self, node: Node<'t>, name: Option<Node<'t>>, depth: u32) {
        if let Some(slots) = self.slots(node, depth) {
            self.check_written(&Instance { node, name, slots });
        }
    }

    /// Checks an entity of a kind inside this one.
    fn inside(&self, kind: Kind, node: Node<'_>, name: Option<Node<'_>>, depth: u32) {
        if let Some(entity) = self.schema.entity(kind) {
            Place { entity, ..*self }.look(node, name, depth + 1);
        }
    }

    /// The slots of an entity in any notation; `None` if it is unreadable, or unknown.
    fn slots<'t>(&self, node: Node<'t>, depth: u32) -> Option<Vec<Slot<'t>>> {
        if depth > ENTITY_DEPTH {
            let message = format!("entities are nested more than {ENTITY_DEPTH} deep");
            self.sink.push(Diagnostic::at(&purlin_syntax::rules::LIMIT_DEPTH, node.span(), message));
            return None;
        }
        if node.is_map() {
            let is_known = !(self.schema.is_expression)(node);
            return is_known.then(|| self.written_out(node, depth));
        }
        if node.kind() == NodeKind::Error {
            return None;
        }
        if node.is_null() {
            return Some(Vec::new());
        }
        let short = notation(self.entity, self.edition, node);
        if let Some(field) = short.and_then(|slot| self.entity.field_of(slot, self.edition)) {
            let value = self.content(field, &field.shape, node, depth);
            return Some(vec![Slot { field, key: None, value }]);
        }
        if !(self.schema.is_expression)(node) {
            self.wrong_entity(node);
        }
        None
    }

    /// The slots of an entity that is written as a mapping.
    fn written_out<'t>(&self, node: Node<'t>, depth: u32) -> Vec<Slot<'t>> {
        let mut slots: Vec<Slot<'t>> = Vec::new();
        let mut rest: Vec<Entry<'t>> = Vec::new();
        for entry in entries(node) {
            let Some(field) = self.entity.field_or_alias(entry.name(), self.edition) else {
                match self.entity.rest_in(self.edition) {
                    Some(_) => rest.push(entry),
                    None => self.unknown_key(entry.key),
                }
                continue;
            };
            if let Some(first) = slots.iter().find(|slot| slot.field.slot == field.slot) {
                self.same_key_twice(entry.key, first);
                continue;
            }
            self.deprecated_key(entry.key, field);
            // A key without a value counts as absent.
            if entry.value.is_null() && field.shape != Shape::Any {
                continue;
            }
            let value = self.content(field, &field.shape, entry.value, depth);
            slots.push(Slot { field, key: Some(entry.key), value });
        }
        if let Some(field) = self.entity.rest_in(self.edition).filter(|_| !rest.is_empty()) {
            self.rest(field, &rest, depth);
            // An explicit value of the collecting key takes precedence; the keys beside it are then unknown.
            match slots.iter().any(|slot| slot.field.slot == field.slot) {
                true => rest.iter().for_each(|entry| self.unknown_key(entry.key)),
                false => slots.push(Slot { field, key: None, value: None }),
            }
        }
        slots
    }

    /// Keys without a row, as the mapping they form.
    fn rest(&self, field: &Field, rest: &[Entry<'_>], depth: u32) {
        for entry in rest {
            match field.shape {
                Shape::Map(kind) => self.inside(kind, entry.value, Some(entry.key), depth),
                Shape::MapOf(inner) => _ = self.simple(field, inner, entry.value, depth),
                _ => {}
            }
        }
    }

    /// Checks the value of a key; returns the node, if it is a matching simple value, or an expression.
    fn content<'t>(&self, field: &Field, shape: &Shape, node: Node<'t>, depth: u32) -> Option<Node<'t>> {
        if node.kind() == NodeKind::Error {
            return None;
        }
        if *shape != Shape::Any && (self.schema.is_expression)(node) && !self.is_short(shape, node) {
            return Some(node);
        }
        match shape {
            Shape::One(kind) => self.inside(*kind, node, None, depth),
            Shape::List(kind) if node.is_list() => {
                items(node).for_each(|item| self.inside(*kind, item, None, depth));
            }
            Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) if node.is_map() => {
                entries(node).iter().for_each(|entry| self.named(field, *kind, entry, depth));
            }
            Shape::Sequence(kind) | Shape::Repeating(kind) if node.is_list() => self.pairs(field, *kind, node, depth),
            Shape::Special(special) => return self.content(field, &special.outline, node, depth),
            Shape::Union(shapes) => {
                match shapes.iter().find(|shape| looks_like(self.schema, self.edition, shape, node)) {
                    Some(shape) => return self.content(field, shape, node, depth),
                    None => self.wrong_shape(&format!("`{}`", field.key), shape, node),
                }
            }
            _ => return self.simple(field, shape, node, depth).then_some(node),
        }
        None
    }

    /// Whether a scalar is short for an entity, which may itself hold the expression.
    fn is_short(&self, shape: &Shape, node: Node<'_>) -> bool {
        let Shape::One(kind) = shape else { return false };
        self.schema.entity(*kind).is_some_and(|entity| notation(entity, self.edition, node).is_some())
    }

    /// Checks a simple value and everything below it.
    fn simple(&self, field: &Field, shape: &Shape, node: Node<'_>, depth: u32) -> bool {
        if node.kind() == NodeKind::Error {
            return false;
        }
        if (self.schema.is_expression)(node) {
            return true;
        }
        if !looks_like(self.schema, self.edition, shape, node) {
            self.wrong_shape(&format!("`{}`", field.key), shape, node);
            return false;
        }
        let fits = |inner: &Shape, node: Node<'_>| self.simple(field, inner, node, depth + 1);
        match shape {
            Shape::Special(special) => self.simple(field, &special.outline, node, depth),
            Shape::Choice(words) if !words.contains(&node.text()) => {
                self.unknown_choice(field.key, words, node);
                false
            }
            Shape::Names(_) => items(node).filter(|item| !fits(&Shape::Text, *item)).count() == 0,
            // Shapes in a table are nested a few levels deep; the bound guards against a wrong table.
            Shape::ListOf(inner) if depth < ENTITY_DEPTH => items(node).filter(|item| !fits(inner, *item)).count() == 0,
            Shape::MapOf(inner) if depth < ENTITY_DEPTH => {
                entries(node).iter().filter(|entry| !fits(inner, entry.value)).count() == 0
            }
            _ => true,
        }
    }

    /// Names with their entities, as a list of one-key mappings.
    fn pairs(&self, field: &Field, kind: Kind, node: Node<'_>, depth: u32) {
        for item in node.items() {
            match entries(item).as_slice() {
                [entry] => self.named(field, kind, entry, depth),
                _ if item.kind() == NodeKind::Error => {}
                _ => self.not_one_key(field.key, item),
            }
        }
    }

    /// An entity under its name.
    fn named(&self, field: &Field, kind: Kind, entry: &Entry<'_>, depth: u32) {
        match entry.key.is_scalar() {
            true => self.inside(kind, entry.value, Some(entry.key), depth),
            false => self.wrong_shape(&format!("a name in `{}`", field.key), &Shape::Text, entry.key),
        }
    }
}

/// The items of a list except null ones, which count as absent.
fn items<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    node.items().filter(|item| !item.is_null())
}

fn entries<'t>(node: Node<'t>) -> Vec<Entry<'t>> {
    node.merged_entries(MergeKeys::Apply).collect()
}
