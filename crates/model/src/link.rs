//! Finds what names refer to.
//!
//! The phase after `read`. A dialect declares its named entities in a [`Registry`], fills a [`Namespace`] per file (or
//! one for all) and has every reference of every row looked up; problems are reported with what was probably meant.

use crate::check::with_article;
use crate::handle::NodeRef;
use crate::instance::{Content, Instance};
use crate::rules;
use crate::schema::{Kind, Schema, Shape};
use indexmap::IndexMap;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::{Diagnostic, FileId, Sink, Span};
use purlin_value::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

/// The number of an entity in a [`Registry`], in order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EntityId(pub u32);

/// All entities that can be referred to or inherited from.
#[derive(Default, Debug)]
pub struct Registry {
    entities: Vec<Arc<Instance>>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entity.
    pub fn add(&mut self, instance: Arc<Instance>) -> EntityId {
        let id = EntityId(u32::try_from(self.entities.len()).unwrap_or(u32::MAX));
        self.entities.push(instance);
        id
    }

    /// The entity with a number.
    pub fn get(&self, id: EntityId) -> Option<&Arc<Instance>> {
        self.entities.get(id.0 as usize)
    }

    /// All of them with their numbers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (EntityId, &Arc<Instance>)> {
        (0..).map(EntityId).zip(&self.entities).collect::<Vec<_>>().into_iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    id: EntityId,
    span: Span,
    /// Another entity that came under the same name.
    rival: Option<Span>,
}

/// What a lookup finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// One entity.
    One(EntityId),
    /// Several have the name; the places of two of them, the first declared first.
    Several(Span, Span),
    /// Nobody has it.
    Nothing,
}

/// Names and what they stand for, separately for each kind.
#[derive(Clone, Default, Debug)]
pub struct Namespace {
    kinds: HashMap<Kind, IndexMap<EcoString, Meaning>>,
}

impl Namespace {
    /// A namespace without names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a name to an entity. Another entity that has it already keeps it, and the name becomes ambiguous.
    pub fn declare(&mut self, kind: Kind, name: EcoString, id: EntityId, span: Span) {
        let names = self.kinds.entry(kind).or_default();
        match names.get_mut(&name) {
            None => {
                names.insert(name, Meaning { id, span, rival: None });
            }
            Some(meaning) if meaning.id != id => meaning.rival = meaning.rival.or(Some(span)),
            Some(_) => {}
        }
    }

    /// Takes over all names of another namespace, each under what `rename` makes of it.
    pub fn import(&mut self, other: &Namespace, rename: impl Fn(Kind, &str) -> EcoString) {
        let mut kinds: Vec<Kind> = other.kinds.keys().copied().collect();
        kinds.sort_unstable();
        for kind in kinds {
            for (name, meaning) in other.kinds.get(&kind).into_iter().flatten() {
                self.declare(kind, rename(kind, name), meaning.id, meaning.span);
            }
        }
    }

    /// Reports every ambiguous name and settles it: from now on the first that had it has it.
    pub fn settle(&mut self, schema: &Schema, sink: &Sink) {
        for (kind, names) in &mut self.kinds {
            for (name, meaning) in names {
                if let Some(rival) = meaning.rival.take() {
                    let label = schema.label(*kind);
                    let message = format!("there is another {label} `{name}`");
                    let diagnostic = Diagnostic::at(&rules::AMBIGUOUS_NAME, rival, message);
                    sink.push(diagnostic.label(meaning.span, "the first one is here").hint("rename one of them"));
                }
            }
        }
    }

    /// What a name stands for among some kinds; an earlier kind goes before a later one.
    pub fn find(&self, kinds: &[Kind], name: &str) -> Found {
        let mut meanings = kinds.iter().filter_map(|kind| self.kinds.get(kind)?.get(name));
        match meanings.next() {
            Some(Meaning { id, rival: None, .. }) => Found::One(*id),
            Some(Meaning { span, rival: Some(rival), .. }) => Found::Several(*span, *rival),
            None => Found::Nothing,
        }
    }

    /// The names of some kinds, in order of declaration.
    pub fn names(&self, kinds: &[Kind]) -> impl Iterator<Item = &str> {
        kinds.iter().filter_map(|kind| self.kinds.get(kind)).flat_map(|names| names.keys().map(EcoString::as_str))
    }

    /// Looks up the name in a node, and reports it if that fails.
    pub fn resolve(&self, schema: &Schema, kinds: &[Kind], node: &NodeRef, sink: &Sink) -> Option<EntityId> {
        let name = node.text();
        let labels: Vec<&str> = kinds.iter().map(|kind| schema.label(*kind)).collect();
        let labels = labels.join(" or ");
        match self.find(kinds, name) {
            Found::One(id) => return Some(id),
            Found::Several(first, second) => {
                let message = format!("`{name}` is ambiguous: there are two of {labels} `{name}`");
                let diagnostic = Diagnostic::at(&rules::AMBIGUOUS_NAME, node.span(), message);
                let diagnostic = diagnostic.label(first, "one is here").label(second, "the other one is here");
                sink.push(diagnostic.hint("rename one of them, or import one of them under a prefix"));
            }
            Found::Nothing => {
                let hint = did_you_mean(name, self.names(kinds)).or_else(|| self.other_kind(schema, name));
                let message = format!("there is no {labels} `{name}`");
                sink.push(Diagnostic::at(&rules::UNKNOWN_NAME, node.span(), message).maybe_hint(hint));
            }
        }
        None
    }

    /// Where a name stands for something of another kind, which.
    fn other_kind(&self, schema: &Schema, name: &str) -> Option<String> {
        let kinds = self.kinds.iter().filter(|(_, names)| names.contains_key(name)).map(|(kind, _)| *kind);
        let kind = kinds.min()?;
        Some(format!("`{name}` is {}", with_article(schema.label(kind))))
    }
}

/// What references refer to, by the place where they are written and the kind that is looked for there.
#[derive(Default, Debug)]
pub struct Links {
    targets: HashMap<(FileId, u32, Option<Kind>), EntityId>,
}

impl Links {
    /// No links yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a reference refers to, if it was found.
    pub fn get(&self, node: &NodeRef, kinds: &[Kind]) -> Option<EntityId> {
        self.targets.get(&link_key(node, kinds)).copied()
    }

    /// Records what a reference refers to.
    pub fn insert(&mut self, node: &NodeRef, kinds: &[Kind], target: EntityId) {
        self.targets.insert(link_key(node, kinds), target);
    }

    /// Looks up every reference in an entity and all it holds.
    pub fn link(&mut self, schema: &Schema, instance: &Instance, namespace: &Namespace, sink: &Sink) {
        let mut open: Vec<&Instance> = vec![instance];
        while let Some(instance) = open.pop() {
            self.link_one(schema, instance, namespace, sink);
            open.extend(instance.parts().into_iter().rev().map(Arc::as_ref));
        }
    }

    fn link_one(&mut self, schema: &Schema, instance: &Instance, namespace: &Namespace, sink: &Sink) {
        let own = [instance.kind];
        for slot in &instance.slots {
            let Some(kinds) = referred_kinds(&slot.field.shape, &own) else { continue };
            let nodes: &[NodeRef] = match &slot.content {
                Content::Value(node) => std::slice::from_ref(node),
                Content::Values(nodes) => nodes,
                _ => continue,
            };
            for node in nodes.iter().filter(|node| is_name(schema, node)) {
                let target = if slot.field.is_loose {
                    match namespace.find(kinds, node.text()) {
                        Found::One(id) => Some(id),
                        _ => None,
                    }
                } else {
                    namespace.resolve(schema, kinds, node, sink)
                };
                if let Some(target) = target {
                    self.insert(node, kinds, target);
                }
            }
        }
    }
}

fn link_key(node: &NodeRef, kinds: &[Kind]) -> (FileId, u32, Option<Kind>) {
    (node.tree().file(), node.index(), kinds.first().copied())
}

/// Whether a node is a name, and not an expression that will be one.
fn is_name(schema: &Schema, node: &NodeRef) -> bool {
    node.node().is_some_and(|node| node.is_scalar() && !(schema.is_expression)(node))
}

/// The kinds that a name under a shape may refer to; `own` is the entity's own kind, for its parent.
pub fn referred_kinds<'k>(shape: &'k Shape, own: &'k [Kind]) -> Option<&'k [Kind]> {
    match shape {
        Shape::Reference(kinds) | Shape::Names(kinds) if !kinds.is_empty() => Some(kinds),
        Shape::Parent => Some(own),
        Shape::ListOf(inner) => referred_kinds(inner, own),
        Shape::Union(shapes) => shapes.iter().find_map(|shape| referred_kinds(shape, own)),
        _ => None,
    }
}
