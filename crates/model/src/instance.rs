//! Entities as they are stored: generically, as a kind and the slots that are filled.
//!
//! The result of `read`. Slots hold handles to nodes; values are made from them only where needed.
//! Dialects put thin typed views over this where their code reads it a lot.

use crate::handle::NodeRef;
use crate::schema::{Edition, Field, Kind};
use purlin_syntax::{Node, Span};
use purlin_value::{EcoString, MergeKeys, Value};
use std::sync::Arc;

/// An entity.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is.
    pub kind: Kind,
    /// The edition it is written in.
    pub edition: Edition,
    /// The key it stands under, if it has a name.
    pub name: Option<NodeRef>,
    /// The node it was read from.
    pub node: NodeRef,
    /// What is filled, in the order in which it is written.
    pub slots: Vec<Slot>,
    /// Whether it could not be read as what it should be. That was reported; what is missing in it says nothing.
    pub is_broken: bool,
}

/// A key with what stands under it.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its row.
    pub field: &'static Field,
    /// The key as it is written; absent in short notations.
    pub key: Option<NodeRef>,
    /// What stands under it.
    pub content: Content,
}

/// What stands under a key, every notation normalised.
#[derive(Clone, Debug)]
pub enum Content {
    /// Something simple, or an expression: the node.
    Value(NodeRef),
    /// Names of entities, or other simple things, one after the other.
    Values(Arc<[NodeRef]>),
    /// Keys that have no row of their own, with what stands under them.
    Entries(Arc<[(NodeRef, NodeRef)]>),
    /// An entity.
    One(Arc<Instance>),
    /// Entities without names.
    List(Arc<[Arc<Instance>]>),
    /// Entities by name; where the row allows it, names may repeat.
    Map(Arc<[Named]>),
    /// Something of the wrong shape, which was reported.
    Broken,
}

/// An entity and the name it stands under.
#[derive(Clone, Debug)]
pub struct Named {
    /// The key as it is written.
    pub key: NodeRef,
    /// Its text.
    pub name: EcoString,
    /// The entity.
    pub instance: Arc<Instance>,
}

impl Slot {
    /// Where it is written: the key, or what a short notation says.
    pub fn span(&self) -> Option<Span> {
        self.key.as_ref().or_else(|| self.node()).map(NodeRef::span)
    }

    /// The node, if something simple stands here.
    pub fn node(&self) -> Option<&NodeRef> {
        match &self.content {
            Content::Value(node) => Some(node),
            _ => None,
        }
    }

    /// Its value, if something simple stands here.
    pub fn value(&self, merge_keys: MergeKeys) -> Option<Value> {
        Some(self.node()?.value(merge_keys))
    }
}

impl Instance {
    /// Where it is written.
    pub fn span(&self) -> Span {
        self.node.span()
    }

    /// Where its name is written, or else it itself.
    pub(crate) fn name_span(&self) -> Span {
        self.name.as_ref().unwrap_or(&self.node).span()
    }

    /// Its name; empty if it has none.
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or("", NodeRef::text)
    }

    /// The slot of a key.
    pub fn slot(&self, key: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.field.slot == key)
    }

    /// Whether a key is filled, with something right or wrong.
    pub fn has(&self, key: &str) -> bool {
        self.slot(key).is_some()
    }

    /// The node under a key, where something simple stands.
    pub fn node(&self, key: &str) -> Option<Node<'_>> {
        self.slot(key)?.node()?.node()
    }

    /// The text under a key, any scalar being taken as it is written.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.node(key).filter(|node| node.is_scalar()).map(|node| node.text())
    }

    /// The truth value under a key.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.node(key)?.as_bool()
    }

    /// The whole number under a key.
    pub fn int(&self, key: &str) -> Option<i64> {
        self.node(key)?.as_int()
    }

    /// The simple things under a key: the items of a list, or a single one.
    pub fn values(&self, key: &str) -> &[NodeRef] {
        match self.slot(key).map(|slot| &slot.content) {
            Some(Content::Values(items)) => items,
            Some(Content::Value(value)) => std::slice::from_ref(value),
            _ => &[],
        }
    }

    /// The keys and values of the mapping of simple things under a key, merge keys applied.
    pub fn entries(&self, key: &str) -> Vec<(NodeRef, NodeRef)> {
        self.slot(key).map_or_else(Vec::new, |slot| slot.content.entries())
    }

    /// The entity under a key.
    pub fn one(&self, key: &str) -> Option<&Arc<Instance>> {
        match &self.slot(key)?.content {
            Content::One(instance) => Some(instance),
            _ => None,
        }
    }

    /// The entities without names under a key; also a single one.
    pub fn list(&self, key: &str) -> &[Arc<Instance>] {
        match self.slot(key).map(|slot| &slot.content) {
            Some(Content::List(items)) => items,
            Some(Content::One(instance)) => std::slice::from_ref(instance),
            _ => &[],
        }
    }

    /// The entities by name under a key, in order.
    pub fn map(&self, key: &str) -> &[Named] {
        match self.slot(key).map(|slot| &slot.content) {
            Some(Content::Map(named)) => named,
            _ => &[],
        }
    }

    /// The entity with a name under a key.
    pub fn member(&self, key: &str, name: &str) -> Option<&Arc<Instance>> {
        self.map(key).iter().find(|named| named.name == name).map(|named| &named.instance)
    }
}

impl Content {
    /// The keys and values of a mapping of simple things.
    pub fn entries(&self) -> Vec<(NodeRef, NodeRef)> {
        match self {
            Content::Entries(entries) => entries.to_vec(),
            Content::Value(map) => map.entries(),
            _ => Vec::new(),
        }
    }
}
