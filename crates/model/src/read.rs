//! Reads a node as an entity: keys become slots, and every accepted notation is normalised once.
//!
//! The phase after `parse`. It reports what is wrong with what is written and reads on; it never copies a subtree and
//! never looks a name up.

use crate::check::{looks_like, notation};
use crate::handle::NodeRef;
use crate::instance::{Content, Instance, Named, Slot};
use crate::rules;
use crate::schema::{Edition, Entity, Field, Kind, Nulls, Schema, Shape};
use purlin_syntax::tree::Entry;
use purlin_syntax::{Diagnostic, Kind as NodeKind, Node, Sink, Span, Tree};
use std::collections::HashMap;
use std::sync::Arc;

/// Entities inside one another, at most. Real ones are nested a handful deep.
pub(crate) const ENTITY_DEPTH: u32 = 100;

/// Which entity is being looked at, for the rules of its row.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The dialect's tables.
    pub schema: &'a Schema,
    /// The row of the entity.
    pub entity: &'static Entity,
    /// The edition it is written in.
    pub edition: Edition,
    /// Takes problems.
    pub sink: &'a Sink,
}

/// Reads nodes of one tree.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The dialect's tables.
    pub schema: &'a Schema,
    /// The edition the file is written in.
    pub edition: Edition,
    /// The tree that the nodes belong to.
    pub tree: &'a Arc<Tree>,
    /// Takes problems.
    pub sink: &'a Sink,
}

impl<'a> Reader<'a> {
    /// Reads a node as an entity of a kind. The result is there whatever is wrong with it.
    pub fn read(&self, node: Node<'_>, kind: Kind) -> Arc<Instance> {
        self.entity(node, kind, None, 0)
    }

    fn keep(&self, node: Node<'_>) -> NodeRef {
        NodeRef::new(self.tree, node)
    }

    fn named(&self, key: Node<'_>, value: Node<'_>, kind: Kind, depth: u32) -> Named {
        let key = self.keep(key);
        Named { name: key.eco_text(), instance: self.entity(value, kind, Some(key.clone()), depth), key }
    }

    fn entity(&self, node: Node<'_>, kind: Kind, name: Option<NodeRef>, depth: u32) -> Arc<Instance> {
        let (slots, is_broken) = match self.schema.entity(kind) {
            Some(entity) => self.slots(node, entity, depth).map_or((Vec::new(), true), |slots| (slots, false)),
            None => (Vec::new(), true),
        };
        let instance = Instance { kind, edition: self.edition, name, node: self.keep(node), slots, is_broken };
        if let Some(entity) = self.schema.entity(kind) {
            self.place(entity).check_written(&instance);
        }
        Arc::new(instance)
    }

    fn place(&self, entity: &'static Entity) -> Place<'a> {
        Place { schema: self.schema, entity, edition: self.edition, sink: self.sink }
    }

    /// The slots of an entity in whatever notation; `None` if it is unreadable, or not known yet.
    fn slots(&self, node: Node<'_>, entity: &'static Entity, depth: u32) -> Option<Vec<Slot>> {
        if depth > ENTITY_DEPTH {
            let message = format!("entities are nested more than {ENTITY_DEPTH} deep");
            self.sink.push(Diagnostic::at(&purlin_syntax::rules::LIMIT_DEPTH, node.span(), message));
            return None;
        }
        if node.is_map() {
            let is_known = !(self.schema.is_expression)(node);
            return is_known.then(|| self.written_out(node, entity, depth));
        }
        if node.kind() == NodeKind::Error {
            return None;
        }
        if node.is_null() && self.schema.nulls == Nulls::Absent {
            return Some(Vec::new());
        }
        if let Some(field) = notation(entity, self.edition, node).and_then(|slot| entity.field_of(slot, self.edition)) {
            let content = self.content(self.place(entity), field, &field.shape, node, depth);
            return Some(vec![Slot { field, key: None, content }]);
        }
        if !(self.schema.is_expression)(node) {
            self.place(entity).wrong_entity(node);
        }
        None
    }

    /// The slots of an entity that is written as a mapping.
    fn written_out(&self, node: Node<'_>, entity: &'static Entity, depth: u32) -> Vec<Slot> {
        let place = self.place(entity);
        let mut slots: Vec<Slot> = Vec::new();
        let mut rest: Vec<Entry<'_>> = Vec::new();
        for entry in self.entries(node) {
            let Some(field) = entity.field_or_alias(entry.name(), self.edition) else {
                match entity.rest_in(self.edition) {
                    Some(_) => rest.push(entry),
                    None => place.unknown_key(entry.key),
                }
                continue;
            };
            if let Some(first) = slots.iter().find(|slot| slot.field.slot == field.slot) {
                place.same_key_twice(entry.key, first);
                continue;
            }
            place.deprecated_key(entry.key, field);
            if self.is_absent(field, entry.value) {
                continue;
            }
            let content = self.content(place, field, &field.shape, entry.value, depth);
            slots.push(Slot { field, key: Some(self.keep(entry.key)), content });
        }
        if let Some(field) = entity.rest_in(self.edition).filter(|_| !rest.is_empty()) {
            let content = self.rest(place, field, &rest, depth);
            // What is written under the key itself stands; the keys beside it are then not that key's.
            match slots.iter().find(|slot| slot.field.slot == field.slot) {
                Some(_) => rest.iter().for_each(|entry| place.unknown_key(entry.key)),
                None => slots.push(Slot { field, key: None, content }),
            }
        }
        slots
    }

    fn is_absent(&self, field: &Field, value: Node<'_>) -> bool {
        self.schema.nulls == Nulls::Absent && value.is_null() && field.shape != Shape::Any
    }

    /// Keys without a row, as the mapping they form.
    fn rest(&self, place: Place<'_>, field: &'static Field, rest: &[Entry<'_>], depth: u32) -> Content {
        if let Shape::Map(kind) = field.shape {
            let named = rest.iter().map(|entry| self.named(entry.key, entry.value, kind, depth + 1));
            return Content::Map(named.collect());
        }
        let inner = if let Shape::MapOf(inner) = field.shape { inner } else { &Shape::Any };
        let fitting = rest.iter().filter(|entry| self.simple(place, field, inner, entry.value, depth));
        Content::Entries(fitting.map(|entry| (self.keep(entry.key), self.keep(entry.value))).collect())
    }

    /// What stands under a key, normalised.
    fn content(&self, place: Place<'_>, field: &'static Field, shape: &Shape, node: Node<'_>, depth: u32) -> Content {
        if node.kind() == NodeKind::Error {
            return Content::Broken;
        }
        if *shape != Shape::Any && (self.schema.is_expression)(node) && !self.is_short(shape, node) {
            return Content::Value(self.keep(node));
        }
        match shape {
            Shape::One(kind) => Content::One(self.entity(node, *kind, None, depth + 1)),
            Shape::List(kind) if node.is_list() => {
                Content::List(self.items(node).map(|item| self.entity(item, *kind, None, depth + 1)).collect())
            }
            Shape::Map(kind) if node.is_map() => {
                let named = self.entries(node).into_iter().filter(|entry| self.has_name(place, field, entry));
                let named = named.map(|entry| self.named(entry.key, entry.value, *kind, depth + 1));
                Content::Map(named.collect())
            }
            Shape::Sequence(kind) if node.is_list() || node.is_map() => {
                let mut pairs = self.pairs(place, field, node, *kind, depth);
                self.drop_repeated(place, &mut pairs);
                Content::Map(pairs.into())
            }
            Shape::Repeating(kind) if node.is_list() || node.is_map() => {
                Content::Map(self.pairs(place, field, node, *kind, depth).into())
            }
            Shape::Names(_) if node.is_list() => self.values(place, field, &Shape::Text, node, depth),
            Shape::ListOf(inner) if node.is_list() => self.values(place, field, inner, node, depth),
            Shape::Special(special) => self.content(place, field, &special.outline, node, depth),
            Shape::Union(shapes) => {
                let fitting = shapes.iter().find(|shape| looks_like(self.schema, self.edition, shape, node));
                match fitting {
                    Some(shape) => self.content(place, field, shape, node, depth),
                    None => self.wrong(place, field, shape, node),
                }
            }
            _ if self.simple(place, field, shape, node, depth) => Content::Value(self.keep(node)),
            _ => Content::Broken,
        }
    }

    /// Whether a scalar stands for an entity, which may itself hold the expression.
    fn is_short(&self, shape: &Shape, node: Node<'_>) -> bool {
        let Shape::One(kind) = shape else { return false };
        self.schema.entity(*kind).is_some_and(|entity| notation(entity, self.edition, node).is_some())
    }

    fn wrong(&self, place: Place<'_>, field: &Field, shape: &Shape, node: Node<'_>) -> Content {
        place.wrong_shape(&format!("`{}`", field.key), shape, node);
        Content::Broken
    }

    /// The items of a list, those that fit.
    fn values(&self, place: Place<'_>, field: &Field, inner: &Shape, node: Node<'_>, depth: u32) -> Content {
        let items = self.items(node).filter(|item| self.simple(place, field, inner, *item, depth + 1));
        Content::Values(items.map(|item| self.keep(item)).collect())
    }

    /// The items of a list; where a key without a value counts as absent, so does an item.
    fn items<'t>(&self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> + use<'t> {
        let sparse = self.schema.nulls == Nulls::Absent;
        node.items().filter(move |item| !(sparse && item.is_null()))
    }

    /// Checks something simple and all below it.
    fn simple(&self, place: Place<'_>, field: &Field, shape: &Shape, node: Node<'_>, depth: u32) -> bool {
        if node.kind() == NodeKind::Error {
            return false;
        }
        if (self.schema.is_expression)(node) {
            return true;
        }
        if !looks_like(self.schema, self.edition, shape, node) {
            place.wrong_shape(&format!("`{}`", field.key), shape, node);
            return false;
        }
        match shape {
            Shape::Special(special) => self.simple(place, field, &special.outline, node, depth),
            Shape::Choice(words) if !words.contains(&node.text()) => {
                place.unknown_choice(field.key, words, node);
                false
            }
            // Shapes in a table are nested a few deep; the bound is for a table that is wrong.
            Shape::ListOf(inner) if depth < ENTITY_DEPTH => {
                self.items(node).filter(|item| !self.simple(place, field, inner, *item, depth + 1)).count() == 0
            }
            Shape::MapOf(inner) if depth < ENTITY_DEPTH => {
                let entries = self.entries(node);
                entries.iter().filter(|entry| !self.simple(place, field, inner, entry.value, depth + 1)).count() == 0
            }
            _ => true,
        }
    }

    /// Names with their entities: a list of one-key mappings, or a mapping.
    fn pairs(&self, place: Place<'_>, field: &'static Field, node: Node<'_>, kind: Kind, depth: u32) -> Vec<Named> {
        if node.is_map() {
            let entries = self.entries(node).into_iter().filter(|entry| self.has_name(place, field, entry));
            return entries.map(|entry| self.named(entry.key, entry.value, kind, depth + 1)).collect();
        }
        let mut pairs = Vec::new();
        for item in node.items() {
            let entries = self.entries(item);
            match entries.as_slice() {
                [entry] if self.has_name(place, field, entry) => {
                    pairs.push(self.named(entry.key, entry.value, kind, depth + 1));
                }
                [_] => {}
                _ if item.kind() == NodeKind::Error => {}
                _ => place.not_one_key(field.key, item),
            }
        }
        pairs
    }

    fn has_name(&self, place: Place<'_>, field: &Field, entry: &Entry<'_>) -> bool {
        if !entry.key.is_scalar() {
            place.wrong_shape(&format!("a name in `{}`", field.key), &Shape::Text, entry.key);
        }
        entry.key.is_scalar()
    }

    fn drop_repeated(&self, place: Place<'_>, pairs: &mut Vec<Named>) {
        let mut seen: HashMap<purlin_value::EcoString, Span> = HashMap::new();
        pairs.retain(|named| {
            let span = named.key.span();
            let Some(first) = seen.get(&named.name) else {
                seen.insert(named.name.clone(), span);
                return true;
            };
            let label = self.schema.label(named.instance.kind);
            let message = format!("there are two of {label} `{}` in {}", named.name, place.subject());
            let diagnostic = Diagnostic::at(&rules::DUPLICATE_NAME, span, message);
            self.sink.push(diagnostic.label(*first, "the first one is here").hint("give one of them another name"));
            false
        });
    }

    fn entries<'t>(&self, node: Node<'t>) -> Vec<Entry<'t>> {
        node.merged_entries(self.schema.merge_keys).collect()
    }
}
