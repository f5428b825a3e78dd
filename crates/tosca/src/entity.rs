//! Entities as they are stored: a kind, a location and the slots of its table row.
//!
//! They are `purlin_model`'s instances with parsed contents: a template is looked at many times, and its ranges, clauses
//! and calls are read once.
//!
//! Types and definitions share what they inherit: a map of definitions is a layer over its parent's map, so a thousand
//! derived types cost a thousand layers, not a thousand copies.

use crate::edition::Edition;
use crate::val::{Text, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_model::Kind;
use purlin_syntax::Span;
use std::sync::{Arc, OnceLock};

/// One entity.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Which rows describe it.
    pub kind: Kind,
    /// The edition it is written in.
    pub edition: Edition,
    /// Its name, or empty.
    pub name: EcoString,
    /// The key or list item that introduces it; where problems of the whole are shown.
    pub at: Span,
    /// The entity itself.
    pub span: Span,
    /// The slots, in source order.
    pub slots: Vec<Slot>,
    /// Whether its values are secrets: `sensitive` in its metadata, or in that of a definition it refines.
    pub sensitive: bool,
}

/// One thing an entity has.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The slot's name in the table.
    pub name: &'static str,
    /// The key it is written with.
    pub at: Span,
    /// The content.
    pub content: Content,
}

/// The content of a slot, by shape.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(Text),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Texts or names.
    Texts(Arc<Vec<Text>>),
    /// Any value.
    Value(Val),
    /// Values by name.
    Values(Arc<Vec<(Text, Val)>>),
    /// A range.
    Range(Range),
    /// One entity.
    One(Arc<Entity>),
    /// Entities by name.
    Map(Arc<Defs>),
    /// Entities in order.
    List(Arc<Vec<Arc<Entity>>>),
    /// Clauses, all of which must hold, the inherited ones first.
    Clauses(Arc<Vec<Val>>),
}

/// Two bounds; no upper one means unbounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The lower bound.
    pub lower: u64,
    /// The upper bound.
    pub upper: Option<u64>,
}

impl Range {
    /// From zero to unbounded.
    pub const ANY: Range = Range { lower: 0, upper: None };
    /// Exactly one.
    pub const ONE: Range = Range { lower: 1, upper: Some(1) };

    /// Whether a number is within the range.
    pub fn contains(&self, number: u64) -> bool {
        self.lower <= number && self.upper.is_none_or(|upper| number <= upper)
    }

    /// Whether another range is within this one.
    pub fn covers(&self, other: &Range) -> bool {
        self.lower <= other.lower
            && match (self.upper, other.upper) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(mine), Some(theirs)) => theirs <= mine,
            }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.upper {
            Some(upper) => write!(f, "[{}, {upper}]", self.lower),
            None => write!(f, "[{}, UNBOUNDED]", self.lower),
        }
    }
}

impl Entity {
    /// The slot of this name.
    pub fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// The text in a slot.
    pub fn text(&self, name: &str) -> Option<&Text> {
        match &self.slot(name)?.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text in a slot, or an empty one.
    pub fn str(&self, name: &str) -> &str {
        self.text(name).map_or("", |text| text.text.as_str())
    }

    /// The boolean in a slot.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.slot(name)?.content {
            Content::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number in a slot.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.slot(name)?.content {
            Content::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The value in a slot.
    pub fn value(&self, name: &str) -> Option<&Val> {
        match &self.slot(name)?.content {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The texts or names in a slot.
    pub fn texts(&self, name: &str) -> &[Text] {
        match self.slot(name).map(|slot| &slot.content) {
            Some(Content::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// The values by name in a slot.
    pub fn values(&self, name: &str) -> &[(Text, Val)] {
        match self.slot(name).map(|slot| &slot.content) {
            Some(Content::Values(values)) => values,
            _ => &[],
        }
    }

    /// The range in a slot.
    pub fn range(&self, name: &str) -> Option<Range> {
        match self.slot(name)?.content {
            Content::Range(range) => Some(range),
            _ => None,
        }
    }

    /// The entity in a slot.
    pub fn one(&self, name: &str) -> Option<&Arc<Entity>> {
        match &self.slot(name)?.content {
            Content::One(entity) => Some(entity),
            _ => None,
        }
    }

    /// The entities by name in a slot.
    pub fn map(&self, name: &str) -> Option<&Arc<Defs>> {
        match &self.slot(name)?.content {
            Content::Map(defs) => Some(defs),
            _ => None,
        }
    }

    /// All entities by name in a slot, inherited ones first.
    pub fn entries(&self, name: &str) -> impl Iterator<Item = (&EcoString, &Arc<Entity>)> {
        self.map(name).map(|defs| defs.flat()).into_iter().flat_map(|map| map.iter())
    }

    /// The entity with a name in a slot.
    pub fn named(&self, slot: &str, name: &str) -> Option<&Arc<Entity>> {
        self.map(slot)?.get(name)
    }

    /// The entities in order in a slot.
    pub fn list(&self, name: &str) -> &[Arc<Entity>] {
        match self.slot(name).map(|slot| &slot.content) {
            Some(Content::List(entities)) => entities,
            _ => &[],
        }
    }

    /// The clauses in a slot.
    pub fn clauses(&self, name: &str) -> &[Val] {
        match self.slot(name).map(|slot| &slot.content) {
            Some(Content::Clauses(clauses)) => clauses,
            _ => &[],
        }
    }

    /// The location to report for a slot: its key, or the entity if it has none.
    pub fn place(&self, name: &str) -> Span {
        self.slot(name).map_or(self.at, |slot| slot.at)
    }

    /// Sets a slot, replacing its content.
    pub fn set(&mut self, name: &'static str, at: Span, content: Content) {
        match self.slots.iter_mut().find(|slot| slot.name == name) {
            Some(slot) => *slot = Slot { name, at, content },
            None => self.slots.push(Slot { name, at, content }),
        }
    }
}

/// A map is flattened after this many layers, so that lookups stay cheap in deep type hierarchies.
const FLATTEN_EVERY: u32 = 32;

/// Definitions by name: own ones in a layer over inherited ones.
#[derive(Debug, Default)]
pub struct Defs {
    own: IndexMap<EcoString, Arc<Entity>>,
    base: Option<Arc<Defs>>,
    depth: u32,
    flat: OnceLock<IndexMap<EcoString, Arc<Entity>>>,
}

impl Defs {
    /// Definitions without a layer below.
    pub fn new(own: IndexMap<EcoString, Arc<Entity>>) -> Self {
        Defs { own, base: None, depth: 0, flat: OnceLock::new() }
    }

    /// Definitions over inherited ones.
    pub fn over(own: IndexMap<EcoString, Arc<Entity>>, base: Arc<Defs>) -> Self {
        let depth = base.depth + 1;
        Defs { own, base: Some(base), depth, flat: OnceLock::new() }
    }

    /// The definitions of this layer alone.
    pub fn own(&self) -> &IndexMap<EcoString, Arc<Entity>> {
        &self.own
    }

    /// The definition with a name, in this layer or below.
    pub fn get(&self, name: &str) -> Option<&Arc<Entity>> {
        let mut layer = self;
        loop {
            if let Some(flat) = layer.flat.get() {
                return flat.get(name);
            }
            if let Some(found) = layer.own.get(name) {
                return Some(found);
            }
            layer = layer.base.as_deref()?;
            if layer.depth > 0 && layer.depth.is_multiple_of(FLATTEN_EVERY) {
                return layer.flat().get(name);
            }
        }
    }

    /// All definitions, inherited ones first, each name where it first appeared.
    pub fn flat(&self) -> &IndexMap<EcoString, Arc<Entity>> {
        if self.base.is_none() {
            return &self.own;
        }
        self.flat.get_or_init(|| {
            let mut layers = vec![self];
            let mut start: IndexMap<EcoString, Arc<Entity>> = IndexMap::new();
            while let Some(base) = layers.last().and_then(|layer| layer.base.as_deref()) {
                if let Some(flat) = base.flat.get() {
                    start = flat.clone();
                    break;
                }
                layers.push(base);
            }
            for layer in layers.into_iter().rev() {
                start.extend(layer.own.iter().map(|(name, entity)| (name.clone(), entity.clone())));
            }
            start
        })
    }
}

/// Layers are dropped one after the other: a long chain must not use the machine stack.
impl Drop for Defs {
    fn drop(&mut self) {
        let mut next = self.base.take();
        while let Some(mut base) = next.and_then(Arc::into_inner) {
            next = base.base.take();
        }
    }
}
