//! Paths of TOSCA 2.0: from a node or relationship, along capabilities and relationships, to the owner of a value.
//!
//! An index may be `ALL`: the path then leads to several places of one kind, in a fixed order. Phase: evaluation; the
//! values at a place are looked up elsewhere.

use super::{Evaluator, Scope};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A place reached so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    Node(usize),
    /// The relationship of a requirement: by its node, and its index there.
    Relationship(usize, usize),
    /// A capability of a node.
    Capability(usize, usize),
}

/// The reasons for a path to fail.
#[derive(Clone, Debug)]
pub(super) enum Astray {
    /// It always fails: a name is misspelt or missing.
    Never(Message),
    /// It may succeed, once requirements are met or the service runs.
    NotYet(Message),
}

impl Astray {
    /// The reason.
    pub fn message(self) -> Message {
        match self {
            Astray::Never(message) | Astray::NotYet(message) => message,
        }
    }
}

/// The kind of place reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Node,
    Relationship,
    Capability,
}

/// The result of a path.
#[derive(Debug)]
pub(super) struct Walk {
    /// The places; with `ALL` possibly none.
    pub places: Vec<Place>,
    /// The kind of all of them.
    pub kind: Kind,
    /// Whether the path uses `ALL`, so that the result is a list.
    pub listed: bool,
    /// The number of arguments used.
    pub used: usize,
}

/// The relationships of one node.
#[derive(Debug, Default)]
pub(super) struct Relationships {
    /// By the name of the requirement.
    pub by_name: HashMap<EcoString, OfName, foldhash::fast::RandomState>,
    /// Per requirement, its index among those of the same name.
    pub index: Vec<usize>,
}

/// The relationships of one node for requirements of one name.
#[derive(Debug, Default)]
pub(super) struct OfName {
    /// The number of assigned requirements.
    pub assigned: usize,
    /// The requirements that are met.
    pub made: Vec<usize>,
}

/// Most places of a path; `ALL` upon `ALL` could lead to any number.
const MAX_PLACES: usize = 100_000;
/// Steps of evaluation per place, including the lookup of its value.
const STEPS_PER_PLACE: u64 = 2;

/// An index.
#[derive(Clone, Copy)]
enum Index {
    At(usize),
    All,
}

impl Evaluator<'_> {
    /// Follows a path as far as its words go; at least one argument remains for the name of a value.
    pub(super) fn walk(&self, args: &[Val], scope: &Scope) -> Result<Walk, Astray> {
        let mut walk = self.start(args, scope)?;
        while let (Some(word), true) = (args.get(walk.used).and_then(Val::as_str), walk.used + 1 < args.len()) {
            match (word, walk.kind) {
                ("RELATIONSHIP", Kind::Node) => {
                    let name = args.get(walk.used + 1).and_then(Val::as_str).unwrap_or("");
                    let index = walk.index(args, 2)?;
                    self.step(&mut walk, Kind::Relationship, |place, out| self.outgoing(place, name, index, out))?;
                }
                ("RELATIONSHIP", Kind::Capability) => {
                    let index = walk.index(args, 1)?;
                    self.step(&mut walk, Kind::Relationship, |place, out| self.leading_to(place, index, out))?;
                }
                ("CAPABILITY", Kind::Node) => {
                    let name = args.get(walk.used + 1).and_then(Val::as_str).unwrap_or("");
                    walk.used += 2;
                    self.step(&mut walk, Kind::Capability, |place, out| {
                        out.push(self.capability_of(place, name)?);
                        Ok(())
                    })?;
                }
                ("CAPABILITY" | "TARGET" | "SOURCE", Kind::Relationship) => {
                    walk.used += 1;
                    let kind = if word == "CAPABILITY" { Kind::Capability } else { Kind::Node };
                    self.step(&mut walk, kind, |place, out| {
                        out.push(self.end(place, word)?);
                        Ok(())
                    })?;
                }
                _ => return Ok(walk),
            }
        }
        Ok(walk)
    }

    /// Advances from every place. Duplicates in the list are visited once.
    fn step(
        &self,
        walk: &mut Walk,
        kind: Kind,
        next: impl Fn(Place, &mut Vec<Place>) -> Result<(), Astray>,
    ) -> Result<(), Astray> {
        let mut places = Vec::with_capacity(walk.places.len());
        let mut known: HashMap<Place, Range<usize>, foldhash::fast::RandomState> = HashMap::default();
        for place in &walk.places {
            let before = places.len();
            match known.get(place) {
                Some(again) => places.extend_from_within(again.clone()),
                None => next(*place, &mut places)?,
            }
            if walk.places.len() > 1 {
                known.insert(*place, before..places.len());
            }
            let made = (places.len() - before) as u64;
            self.spend((made + 1) * STEPS_PER_PLACE).map_err(Astray::Never)?;
            if places.len() > MAX_PLACES {
                return Err(Astray::Never(format!("the path leads to more than {MAX_PLACES} places").into()));
            }
        }
        self.afford_list(places.len()).map_err(Astray::Never)?;
        walk.places = places;
        walk.kind = kind;
        Ok(())
    }

    fn start(&self, args: &[Val], scope: &Scope) -> Result<Walk, Astray> {
        let Some(name) = args.first().and_then(Val::as_str) else {
            return Err(Astray::Never("a path begins with a name or `SELF`".into()));
        };
        let mut walk = Walk { places: Vec::new(), kind: Kind::Node, listed: false, used: 0 };
        if matches!(name, "SELF" | "SOURCE" | "TARGET" | "HOST") {
            let place = self.entity(name, scope)?;
            if matches!(place, Place::Relationship(..)) {
                walk.kind = Kind::Relationship;
            }
            walk.places.push(place);
            walk.used = 1;
            return Ok(walk);
        }
        let index = walk.index(args, 1)?;
        if !self.topology.nodes.contains_key(name) && !self.topology.multiplied.contains_key(name) {
            let made = self.made_from(name).ok_or_else(|| self.no_such_node(name))?;
            let what = || format!("the relationship template `{name}`");
            let made = made.iter().map(|(source, at)| Place::Relationship(*source, *at));
            walk.kind = Kind::Relationship;
            chosen(made, index, what, &mut walk.places)?;
            self.afford_list(walk.places.len()).map_err(Astray::Never)?;
            return Ok(walk);
        }
        let nodes = self.topology.places(name);
        walk.places = match index {
            Index::All => nodes.map(Place::Node).collect(),
            Index::At(at) if at < nodes.len() => vec![Place::Node(nodes.start + at)],
            Index::At(at) => {
                let count = nodes.len();
                let words = format!("{count} nodes are made from `{name}`, so none has the index {at}");
                return Err(Astray::Never(what::about([name], words)));
            }
        };
        self.afford_list(walk.places.len()).map_err(Astray::Never)?;
        Ok(walk)
    }

    /// The relationships that use a relationship template, if it exists.
    pub(super) fn made_from(&self, name: &str) -> Option<&[(usize, usize)]> {
        self.model.service()?.named("relationship_templates", name)?;
        let by_template = self.by_template.get_or_init(|| {
            let mut out = super::ByTemplate::default();
            for (source, node) in self.topology.nodes.values().enumerate() {
                for (at, requirement) in node.requirements.iter().enumerate() {
                    let template = requirement.relationship.as_ref().and_then(|found| found.template.as_ref());
                    if let Some(template) = template {
                        out.entry(template.name.clone()).or_default().push((source, at));
                    }
                }
            }
            out
        });
        Some(by_template.get(name).map(Vec::as_slice).unwrap_or(&[]))
    }

    /// The relationships of a node's requirement.
    fn outgoing(&self, place: Place, name: &str, index: Index, out: &mut Vec<Place>) -> Result<(), Astray> {
        let Place::Node(node) = place else { return Ok(()) };
        let Some(found) = self.node_at(node) else { return Ok(()) };
        let declared = || self.model.complete(found.node_type).is_some_and(|t| t.named("requirements", name).is_some());
        let own = self.relationships_of(node);
        let (assigned, made) = own.by_name.get(name).map_or((0, &[][..]), |of| (of.assigned, of.made.as_slice()));
        if assigned == 0 && !declared() {
            let known = self.model.complete(found.node_type);
            let known =
                known.iter().flat_map(|complete| complete.entries("requirements")).map(|(name, _)| name.as_str());
            let hint = super::path::hint(name, known);
            return Err(Astray::Never(
                what::lacking(format!("`{}`", self.node_name(node)), "requirement", name).hint(hint),
            ));
        }
        let what = || format!("the requirement `{name}` of `{}`", self.node_name(node));
        if self.resolution.is_none() {
            return Err(not_made(&what()));
        }
        // A requirement not met here may be met elsewhere.
        if let Index::At(at) = index
            && at >= made.len()
            && (at < assigned || assigned == 0)
        {
            return Err(not_made(&what()));
        }
        chosen(made.iter().map(|which| Place::Relationship(node, *which)), index, what, out)
    }

    /// The relationships of a node by the names of its requirements; put in order once.
    pub(super) fn relationships_of(&self, node: usize) -> Arc<Relationships> {
        if let Some(known) = self.relationships.borrow().get(&node) {
            return known.clone();
        }
        let mut out = Relationships::default();
        let requirements = self.node_at(node).map(|node| node.requirements.as_slice()).unwrap_or(&[]);
        for requirement in requirements {
            let of = out.by_name.entry(requirement.name.clone()).or_default();
            out.index.push(of.assigned);
            of.assigned += 1;
        }
        let edges = self.resolution.and_then(|resolution| resolution.edges.get(node)).map(Vec::as_slice).unwrap_or(&[]);
        for edge in edges {
            let name = requirements.get(edge.requirement).map(|requirement| requirement.name.clone());
            if let Some(of) = name.and_then(|name| out.by_name.get_mut(&name)) {
                of.made.push(edge.requirement);
            }
        }
        let out = Arc::new(out);
        self.relationships.borrow_mut().insert(node, out.clone());
        out
    }

    /// The incoming relationships of a capability, in the order of sources.
    fn leading_to(&self, place: Place, index: Index, out: &mut Vec<Place>) -> Result<(), Astray> {
        let Place::Capability(node, capability) = place else { return Ok(()) };
        let what = || format!("the capability `{}`", self.capability_name(node, capability));
        let Some(resolution) = self.resolution else { return Err(not_made(&what())) };
        let incoming = self.incoming.get_or_init(|| {
            let mut out = super::Incoming::default();
            for edge in resolution.edges.iter().flatten() {
                out.entry((edge.target, edge.capability)).or_default().push((edge.source, edge.requirement));
            }
            out
        });
        let all = incoming.get(&(node, capability)).map(Vec::as_slice).unwrap_or(&[]);
        if let Index::At(at) = index
            && at >= all.len()
        {
            let message = format!("a relationship {at} that leads to {}; there are {}", what(), all.len());
            return Err(Astray::NotYet(message.into()));
        }
        chosen(all.iter().map(|(source, which)| Place::Relationship(*source, *which)), index, what, out)
    }

    fn capability_of(&self, place: Place, name: &str) -> Result<Place, Astray> {
        let Place::Node(node) = place else { return Ok(place) };
        let capabilities = self.node_at(node).map(|node| &node.capabilities);
        match capabilities.and_then(|capabilities| capabilities.get_index_of(name)) {
            Some(capability) => Ok(Place::Capability(node, capability)),
            None => {
                let known = capabilities.into_iter().flat_map(|all| all.keys()).map(|name| name.as_str());
                let hint = super::path::hint(name, known);
                let message = what::lacking(format!("`{}`", self.node_name(node)), "capability", name).hint(hint);
                Err(Astray::Never(message))
            }
        }
    }

    /// An end of a relationship.
    fn end(&self, place: Place, word: &str) -> Result<Place, Astray> {
        let Place::Relationship(source, requirement) = place else { return Ok(place) };
        if word == "SOURCE" {
            return Ok(Place::Node(source));
        }
        let edge = self.edge(source, requirement).ok_or_else(|| self.no_target(source, requirement))?;
        Ok(if word == "TARGET" { Place::Node(edge.target) } else { Place::Capability(edge.target, edge.capability) })
    }

    pub(super) fn no_target(&self, source: usize, requirement: usize) -> Astray {
        let name = self.node_at(source).and_then(|node| node.requirements.get(requirement)).map(|r| r.name.clone());
        let what = format!("the requirement `{}` of `{}`", name.unwrap_or_default(), self.node_name(source));
        not_made(&what)
    }
}

impl Walk {
    /// Reads the index that follows after this many words, if present, and moves past it.
    fn index(&mut self, args: &[Val], words: usize) -> Result<Index, Astray> {
        self.used += words;
        let Some(arg) = args.get(self.used) else { return Ok(Index::At(0)) };
        match &arg.data {
            Data::Int(number) => {
                self.used += 1;
                let at = usize::try_from(*number);
                at.map(Index::At).map_err(|_| Astray::Never(format!("an index cannot be {number}").into()))
            }
            Data::Str(text) if text == "ALL" => {
                self.used += 1;
                self.listed = true;
                Ok(Index::All)
            }
            _ => Ok(Index::At(0)),
        }
    }
}

fn not_made(what: &str) -> Astray {
    Astray::NotYet(format!("the relationship of {what}, which is not made yet").into())
}

/// Adds one of some places, or all of them.
fn chosen(
    all: impl ExactSizeIterator<Item = Place>,
    index: Index,
    what: impl Fn() -> String,
    out: &mut Vec<Place>,
) -> Result<(), Astray> {
    match index {
        Index::All => out.extend(all),
        Index::At(at) if at < all.len() => out.extend(all.skip(at).take(1)),
        Index::At(at) => {
            let count = all.len();
            let message = format!("{} makes {count} relationships, so none has the index {at}", what());
            return Err(Astray::Never(message.into()));
        }
    }
    Ok(())
}
