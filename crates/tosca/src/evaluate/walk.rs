//! Paths of TOSCA 2.0: from a node or relationship, along capabilities and relationships, to where a value stands.
//!
//! An index may be `ALL`: the path then leads to several places of one kind, in a fixed order. Phase: evaluation; what
//! stands at a place is looked up elsewhere.

use super::{Evaluator, Scope};
use crate::val::{Data, Val};
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

/// What a path has led to so far.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Node(usize),
    /// The relationship of a requirement: by the node that has it, and which one it is.
    Relationship(usize, usize),
    /// A capability of a node.
    Capability(usize, usize),
}

/// Why a path leads nowhere.
#[derive(Clone, Debug)]
pub(super) enum Astray {
    /// It never will: something is misspelt or not there.
    Never(String),
    /// It may, once requirements are met or the service runs.
    NotYet(String),
}

impl Astray {
    /// The reason.
    pub fn message(self) -> String {
        match self {
            Astray::Never(message) | Astray::NotYet(message) => message,
        }
    }
}

/// What kind of place a path has led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Node,
    Relationship,
    Capability,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Walk {
    /// The places; for `ALL` there may be none.
    pub places: Vec<Place>,
    /// The kind of all of them.
    pub kind: Kind,
    /// Whether there may be any number of them, so that what is found is a list.
    pub listed: bool,
    /// How many arguments the path takes.
    pub used: usize,
}

/// The relationships of one node.
#[derive(Debug, Default)]
pub(super) struct Relationships {
    /// By the name of the requirement.
    pub by_name: HashMap<EcoString, OfName, foldhash::fast::RandomState>,
    /// Per requirement, which of those of its name it is.
    pub index: Vec<usize>,
}

/// The relationships of one node for requirements of one name.
#[derive(Debug, Default)]
pub(super) struct OfName {
    /// How many are asked for.
    pub assigned: usize,
    /// The requirements that are met.
    pub made: Vec<usize>,
}

/// A path may lead to so many places; `ALL` upon `ALL` could lead to any number.
const MAX_PLACES: usize = 100_000;

/// Which of several.
#[derive(Clone, Copy)]
enum Index {
    At(usize),
    All,
}

impl Evaluator<'_> {
    /// Follows a path as far as its words go; at least one argument is left for the name of a value.
    pub(super) fn walk(&self, args: &[Val], scope: &Scope) -> Result<Walk, Astray> {
        let mut walk = self.start(args, scope)?;
        while let (Some(word), true) = (args.get(walk.used).and_then(Val::as_str), walk.used + 1 < args.len()) {
            match (word, walk.kind) {
                ("RELATIONSHIP", Kind::Node) => {
                    let name = args.get(walk.used + 1).and_then(Val::as_str).unwrap_or("");
                    let index = walk.index(args, 2)?;
                    walk.step(Kind::Relationship, |place| self.outgoing(place, name, index))?;
                }
                ("RELATIONSHIP", Kind::Capability) => {
                    let index = walk.index(args, 1)?;
                    walk.step(Kind::Relationship, |place| self.leading_to(place, index))?;
                }
                ("CAPABILITY", Kind::Node) => {
                    let name = args.get(walk.used + 1).and_then(Val::as_str).unwrap_or("");
                    walk.used += 2;
                    walk.step(Kind::Capability, |place| self.capability_of(place, name).map(|place| vec![place]))?;
                }
                ("CAPABILITY" | "TARGET" | "SOURCE", Kind::Relationship) => {
                    walk.used += 1;
                    let kind = if word == "CAPABILITY" { Kind::Capability } else { Kind::Node };
                    walk.step(kind, |place| self.end(place, word).map(|place| vec![place]))?;
                }
                _ => return Ok(walk),
            }
        }
        Ok(walk)
    }

    fn start(&self, args: &[Val], scope: &Scope) -> Result<Walk, Astray> {
        let Some(name) = args.first().and_then(Val::as_str) else {
            return Err(Astray::Never("a path begins with a name or `SELF`".to_owned()));
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
            let what = format!("the relationship template `{name}`");
            walk.kind = Kind::Relationship;
            walk.places =
                chosen(made.iter().map(|(source, at)| Place::Relationship(*source, *at)).collect(), index, &what)?;
            return Ok(walk);
        }
        let nodes = self.topology.places(name);
        walk.places = match index {
            Index::All => nodes.map(Place::Node).collect(),
            Index::At(at) if at < nodes.len() => vec![Place::Node(nodes.start + at)],
            Index::At(at) => {
                let count = nodes.len();
                let message = format!("{count} nodes are made from `{name}`, so none has the index {at}");
                return Err(Astray::Never(message));
            }
        };
        Ok(walk)
    }

    /// The relationships that a relationship template is used for, if there is such a template.
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
    fn outgoing(&self, place: Place, name: &str, index: Index) -> Result<Vec<Place>, Astray> {
        let Place::Node(node) = place else { return Ok(Vec::new()) };
        let title = self.node_name(node);
        let Some(found) = self.node_at(node) else { return Ok(Vec::new()) };
        let declared = self.model.complete(found.node_type).is_some_and(|t| t.named("requirements", name).is_some());
        let own = self.relationships_of(node);
        let (assigned, made) = own.by_name.get(name).map_or((0, &[][..]), |of| (of.assigned, of.made.as_slice()));
        if assigned == 0 && !declared {
            let known = self.model.complete(found.node_type);
            let known =
                known.iter().flat_map(|complete| complete.entries("requirements")).map(|(name, _)| name.as_str());
            let hint = super::path::hint(name, known);
            return Err(Astray::Never(format!("`{title}` has no requirement `{name}`{hint}")));
        }
        let what = format!("the requirement `{name}` of `{title}`");
        if self.resolution.is_none() {
            return Err(not_made(&what));
        }
        let made: Vec<Place> = match index {
            Index::At(at) if at < made.len() => {
                return Ok(made.get(at).map(|which| Place::Relationship(node, *which)).into_iter().collect());
            }
            _ => made.iter().map(|which| Place::Relationship(node, *which)).collect(),
        };
        // What is not met here may be met elsewhere.
        if let Index::At(at) = index
            && at >= made.len()
            && (at < assigned || assigned == 0)
        {
            return Err(not_made(&what));
        }
        chosen(made, index, &what)
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

    /// The relationships that lead to a capability, by the order of sources.
    fn leading_to(&self, place: Place, index: Index) -> Result<Vec<Place>, Astray> {
        let Place::Capability(node, capability) = place else { return Ok(Vec::new()) };
        let what = format!("the capability `{}`", self.capability_name(node, capability));
        let Some(resolution) = self.resolution else { return Err(not_made(&what)) };
        let incoming = self.incoming.get_or_init(|| {
            let mut out = super::Incoming::default();
            for edge in resolution.edges.iter().flatten() {
                out.entry((edge.target, edge.capability)).or_default().push((edge.source, edge.requirement));
            }
            out
        });
        let all = incoming.get(&(node, capability)).map(Vec::as_slice).unwrap_or(&[]);
        match index {
            Index::At(at) if at >= all.len() => {
                Err(Astray::NotYet(format!("a relationship {at} that leads to {what}; there are {}", all.len())))
            }
            Index::At(at) => {
                Ok(all.get(at).map(|(source, which)| Place::Relationship(*source, *which)).into_iter().collect())
            }
            Index::All => Ok(all.iter().map(|(source, which)| Place::Relationship(*source, *which)).collect()),
        }
    }

    fn capability_of(&self, place: Place, name: &str) -> Result<Place, Astray> {
        let Place::Node(node) = place else { return Ok(place) };
        let capabilities = self.node_at(node).map(|node| &node.capabilities);
        match capabilities.and_then(|capabilities| capabilities.get_index_of(name)) {
            Some(capability) => Ok(Place::Capability(node, capability)),
            None => {
                let known = capabilities.into_iter().flat_map(|all| all.keys()).map(|name| name.as_str());
                let hint = super::path::hint(name, known);
                let message = format!("`{}` has no capability `{name}`{hint}", self.node_name(node));
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
    /// Reads the index so many words further on, if there is one, and moves past it.
    fn index(&mut self, args: &[Val], words: usize) -> Result<Index, Astray> {
        self.used += words;
        let Some(arg) = args.get(self.used) else { return Ok(Index::At(0)) };
        match &arg.data {
            Data::Int(number) => {
                self.used += 1;
                let at = usize::try_from(*number);
                at.map(Index::At).map_err(|_| Astray::Never(format!("an index cannot be {number}")))
            }
            Data::Str(text) if text == "ALL" => {
                self.used += 1;
                self.listed = true;
                Ok(Index::All)
            }
            _ => Ok(Index::At(0)),
        }
    }

    fn step(&mut self, kind: Kind, next: impl Fn(Place) -> Result<Vec<Place>, Astray>) -> Result<(), Astray> {
        let mut places = Vec::with_capacity(self.places.len());
        for place in &self.places {
            places.extend(next(*place)?);
            if places.len() > MAX_PLACES {
                return Err(Astray::Never(format!("the path leads to more than {MAX_PLACES} places")));
            }
        }
        self.places = places;
        self.kind = kind;
        Ok(())
    }
}

fn not_made(what: &str) -> Astray {
    Astray::NotYet(format!("the relationship of {what}, which is not made yet"))
}

/// One of some places, or all of them.
fn chosen(all: Vec<Place>, index: Index, what: &str) -> Result<Vec<Place>, Astray> {
    match index {
        Index::All => Ok(all),
        Index::At(at) => match all.get(at) {
            Some(place) => Ok(vec![*place]),
            None => {
                let count = all.len();
                Err(Astray::Never(format!("{what} makes {count} relationships, so none has the index {at}")))
            }
        },
    }
}
