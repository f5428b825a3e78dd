//! Entities as they are stored: generically, as a kind and the slots that are filled.
//!
//! The result of `read` and of `inherit`. Slots hold handles to nodes; values are made from them only where needed.
//! Dialects put thin typed views over this where their code reads it a lot.

use crate::handle::NodeRef;
use crate::named::{Named, NamedMap};
use crate::schema::{Edition, Field, Kind};
use purlin_syntax::{Node, Span};
use purlin_value::{EcoString, MergeKeys, Origin, OriginKind, Origins, Value};
use std::collections::HashSet;
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
    /// What is filled, in the order in which it is written; inherited slots follow.
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
    /// The parent it comes from, in a user's words, if it is inherited.
    pub inherited: Option<EcoString>,
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
    /// Entities by name.
    Map(Arc<NamedMap>),
    /// Entities by name, where names may repeat.
    Pairs(Arc<[Named]>),
    /// What was inherited and one's own, where both hold.
    Chain(Arc<Chain>),
    /// Something of the wrong shape, which was reported.
    Broken,
}

/// What was inherited, and what was added to it. Shared, so that a long line of parents costs what each adds.
#[derive(Debug)]
pub struct Chain {
    /// What was inherited, then what was added; either may be a chain itself. Empty only while it is dropped.
    links: Vec<Content>,
}

impl Chain {
    /// Adds to what was inherited.
    pub fn new(inherited: Content, own: Content) -> Self {
        Chain { links: vec![inherited, own] }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // One after the other: dropping generations inside one another would need a deep stack.
        let mut open = std::mem::take(&mut self.links);
        while let Some(content) = open.pop() {
            if let Content::Chain(chain) = content
                && let Some(mut chain) = Arc::into_inner(chain)
            {
                open.append(&mut chain.links);
            }
        }
    }
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

    /// The origin of the key itself, for what is made of several nodes.
    pub fn key_origin(&self) -> Origin {
        self.key.as_ref().and_then(NodeRef::node).map_or(Origin::NONE, Origin::node)
    }

    /// Where its value comes from.
    pub fn origin(&self, origins: &Origins) -> Origin {
        let Some(node) = self.node().and_then(NodeRef::node) else { return Origin::NONE };
        match &self.inherited {
            Some(detail) => origins.push(OriginKind::Parent { detail: detail.clone(), from: Origin::node(node) }),
            None => Origin::node(node),
        }
    }

    /// Its value, if something simple stands here.
    pub fn value(&self, merge_keys: MergeKeys, origins: &Origins) -> Option<Value> {
        let value = self.node()?.value(merge_keys);
        Some(if self.inherited.is_some() { value.with_origin(self.origin(origins)) } else { value })
    }
}

impl Instance {
    /// Where it is written.
    pub fn span(&self) -> Span {
        self.node.span()
    }

    /// Where its name is written, or else it itself.
    pub fn name_span(&self) -> Span {
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

    /// The simple things under a key: the items of a list, or a single one; inherited ones first.
    pub fn values(&self, key: &str) -> Vec<&NodeRef> {
        let mut values = Vec::new();
        for content in self.contents(key) {
            match content {
                Content::Values(items) => values.extend(items.iter()),
                Content::Value(value) => values.push(value),
                _ => {}
            }
        }
        values
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

    /// The entities without names under a key, inherited ones first; also a single one.
    pub fn list(&self, key: &str) -> Vec<&Arc<Instance>> {
        let mut instances = Vec::new();
        for content in self.contents(key) {
            match content {
                Content::List(items) => instances.extend(items.iter()),
                Content::One(instance) => instances.push(instance),
                _ => {}
            }
        }
        instances
    }

    /// The entities by name under a key, in order.
    pub fn map(&self, key: &str) -> std::vec::IntoIter<&Named> {
        match self.slot(key).map(|slot| &slot.content) {
            Some(Content::Map(map)) => map.iter(),
            Some(Content::Pairs(pairs)) => pairs.iter().collect::<Vec<_>>().into_iter(),
            _ => Vec::new().into_iter(),
        }
    }

    /// The entity with a name under a key.
    pub fn member(&self, key: &str, name: &str) -> Option<&Arc<Instance>> {
        match &self.slot(key)?.content {
            Content::Map(map) => map.get(name).map(|named| &named.instance),
            Content::Pairs(pairs) => pairs.iter().find(|named| named.name == name).map(|named| &named.instance),
            _ => None,
        }
    }

    /// The entities it holds directly, in order.
    pub fn parts(&self) -> Vec<&Arc<Instance>> {
        self.slots.iter().flat_map(|slot| slot.content.parts()).collect()
    }

    fn contents(&self, key: &str) -> Vec<&Content> {
        self.slot(key).map_or_else(Vec::new, |slot| slot.content.generations())
    }
}

impl Content {
    /// The content itself, or the generations of a chain, the oldest first. What came down on several ways is there
    /// once.
    pub fn generations(&self) -> Vec<&Content> {
        if !matches!(self, Content::Chain(_)) {
            return vec![self];
        }
        let mut generations = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![self];
        while let Some(content) = open.pop() {
            match content {
                content if !seen.insert(content.identity()) => {}
                Content::Chain(chain) => open.extend(chain.links.iter().rev()),
                content => generations.push(content),
            }
        }
        generations
    }

    /// The keys and values of a mapping of simple things.
    pub fn entries(&self) -> Vec<(NodeRef, NodeRef)> {
        match self {
            Content::Entries(entries) => entries.to_vec(),
            Content::Value(map) => map.entries(),
            _ => Vec::new(),
        }
    }

    /// The content itself, or what was added last to a chain.
    pub fn newest(&self) -> &Content {
        let mut content = self;
        while let Content::Chain(chain) = content {
            match chain.links.last() {
                Some(last) => content = last,
                None => break,
            }
        }
        content
    }

    /// What tells it from other contents: where it lies in memory, or in its file.
    fn identity(&self) -> (usize, u32) {
        match self {
            Content::Value(node) => (Arc::as_ptr(node.tree()).addr(), node.index()),
            Content::Values(values) => (values.as_ptr().addr(), u32::MAX),
            Content::Entries(entries) => (entries.as_ptr().addr(), u32::MAX),
            Content::One(instance) => (Arc::as_ptr(instance).addr(), u32::MAX),
            Content::List(list) => (list.as_ptr().addr(), u32::MAX),
            Content::Map(map) => (Arc::as_ptr(map).addr(), u32::MAX),
            Content::Pairs(pairs) => (pairs.as_ptr().addr(), u32::MAX),
            Content::Chain(chain) => (Arc::as_ptr(chain).addr(), u32::MAX),
            Content::Broken => (0, 0),
        }
    }

    /// The entities it holds directly, in order.
    pub fn parts(&self) -> Vec<&Arc<Instance>> {
        let mut parts: Vec<&Arc<Instance>> = Vec::new();
        for content in self.generations() {
            match content {
                Content::Value(_) | Content::Values(_) | Content::Entries(_) | Content::Chain(_) | Content::Broken => {}
                Content::One(instance) => parts.push(instance),
                Content::List(instances) => parts.extend(instances.iter()),
                Content::Map(map) => parts.extend(map.iter().map(|named| &named.instance)),
                Content::Pairs(pairs) => parts.extend(pairs.iter().map(|named| &named.instance)),
            }
        }
        parts
    }
}
