//! The connections between a node and the service that replaces it.

use super::Substituted;
use crate::compile::Compiled;
use crate::evaluate::{Evaluator, Key, Owner, Scope};
use crate::resolve::Resolution;
use crate::topology::{Given, Mapping, Of, Part, Prop, Props, Target, Topology, Which};
use crate::val::Val;
use ecow::EcoString;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A requirement inside that one of the node's own requirements meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outward {
    /// The node inside.
    pub node: usize,
    /// Its requirement; none if the inner node itself represents the target.
    pub requirement: Option<usize>,
    /// The requirement of the node outside.
    pub by: usize,
}

/// An inner capability mapped to one of the node's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inward {
    /// The capability of the node outside.
    pub capability: usize,
    /// The node inside.
    pub node: usize,
    /// The capability of that one.
    pub target: usize,
}

/// Connects requirements and capabilities.
pub(super) fn connect(
    outer: &Topology,
    place: usize,
    service: &Compiled,
    resolution: &Resolution,
) -> (Vec<Outward>, Vec<Inward>) {
    let Some((_, node)) = outer.nodes.get_index(place) else { return (Vec::new(), Vec::new()) };
    let inner = &service.topology;
    let mut inward = Vec::new();
    for mapping in of_part(inner, Part::Capability) {
        let Some(capability) = node.capabilities.get_index_of(&mapping.name) else { continue };
        let Target::Node(inside, member) = &mapping.target else { continue };
        for at in inner.places(inside) {
            let found = inner.nodes.get_index(at).and_then(|(_, node)| node.capabilities.get_index_of(member));
            inward.extend(found.map(|target| Inward { capability, node: at, target }));
        }
    }
    let mut outward = Vec::new();
    let mut used: HashMap<(EcoString, EcoString), usize> = HashMap::new();
    for (mapping, by) in assigned(inner, &met(node, place, resolution)) {
        match &mapping.target {
            Target::Node(inside, member) => {
                let nth = used.entry((inside.clone(), member.clone())).or_default();
                if *nth >= most(service, inside, member) {
                    continue; // no more of them are wanted inside
                }
                outward.extend(nth_requirement(inner, inside, member, *nth).map(|(node, requirement)| Outward {
                    node,
                    requirement,
                    by,
                }));
                *nth += 1;
            }
            Target::Selected(inside) => {
                outward.extend(inner.places(inside).map(|node| Outward { node, requirement: None, by }));
            }
            _ => {}
        }
    }
    (outward, inward)
}

/// The node's requirements that are met, by name.
pub(super) fn met(
    node: &crate::topology::Node,
    place: usize,
    resolution: &Resolution,
) -> HashMap<EcoString, Vec<usize>> {
    let mut out: HashMap<EcoString, Vec<usize>> = HashMap::new();
    for edge in resolution.edges.get(place).map(Vec::as_slice).unwrap_or(&[]) {
        if let Some(requirement) = node.requirements.get(edge.requirement) {
            out.entry(requirement.name.clone()).or_default().push(edge.requirement);
        }
    }
    out
}

/// Assigns requirements to mappings: a single mapping of a name takes all of them, several take them in turn. Mappings
/// to mandatory inner requirements come first.
fn assigned<'t>(inner: &'t Topology, met: &HashMap<EcoString, Vec<usize>>) -> Vec<(&'t Mapping, usize)> {
    let mappings: Vec<&Mapping> = of_part(inner, Part::Requirement).collect();
    let mut entries: Vec<&[&Mapping]> = mappings.chunk_by(|a, b| a.entry == b.entry).collect();
    entries.sort_by_key(|entry| {
        let unbounded = entry.iter().any(|mapping| mapping.repeat == Some(u64::MAX));
        unbounded || !entry.iter().any(|mapping| is_firm(inner, &mapping.target))
    });
    let mut out = Vec::new();
    let mut next: HashMap<&str, usize> = HashMap::new();
    for entry in &entries {
        let Some(first) = entry.first() else { continue };
        let all = met.get(&first.name).map(Vec::as_slice).unwrap_or(&[]);
        let alone = mappings.iter().all(|other| other.name != first.name || other.entry == first.entry);
        let from = next.entry(&first.name).or_default();
        let most = match first.repeat {
            None if alone => usize::MAX,
            None => 1,
            Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        };
        let taken: Vec<usize> = all.iter().skip(*from).take(most).copied().collect();
        *from += taken.len();
        for by in taken {
            out.extend(entry.iter().map(|mapping| (*mapping, by)));
        }
    }
    out.sort_by_key(|(mapping, _)| mapping.entry);
    out
}

/// Whether a mapping leads to a mandatory inner requirement.
fn is_firm(inner: &Topology, target: &Target) -> bool {
    let Target::Node(inside, member) = target else { return false };
    let nodes = inner.places(inside).filter_map(|place| inner.nodes.get_index(place));
    nodes.flat_map(|(_, node)| &node.requirements).any(|found| found.name == *member && !found.optional)
}

/// Most relationships of an inner requirement, on all nodes of its template together.
fn most(service: &Compiled, inside: &str, member: &str) -> usize {
    let places = service.topology.places(inside);
    let node = places.clone().next().and_then(|place| service.topology.nodes.get_index(place));
    let complete = node.and_then(|(_, node)| service.model.complete(node.node_type));
    let range = complete.and_then(|complete| complete.named("requirements", member)?.range("count_range"));
    let upper = range.and_then(|range| range.upper).and_then(|upper| usize::try_from(upper).ok());
    upper.map_or(usize::MAX, |upper| upper.saturating_mul(places.len()))
}

/// A mandatory inner requirement that only the outer node could meet, and that is not met there: the node has fewer
/// such requirements than the service needs.
pub(super) fn lacking(
    outer: &Topology,
    place: usize,
    inner: &Topology,
    outward: &[Outward],
    resolution: &Resolution,
) -> Option<String> {
    let (_, node) = outer.nodes.get_index(place)?;
    let met = met(node, place, resolution);
    let reached: HashSet<(usize, Option<usize>)> = outward.iter().map(|out| (out.node, out.requirement)).collect();
    for mapping in of_part(inner, Part::Requirement) {
        let Target::Node(inside, member) = &mapping.target else { continue };
        let own = node.requirements.iter().filter(|found| found.name == mapping.name).count();
        if own > met.get(&mapping.name).map_or(0, Vec::len) {
            continue; // what is open outside stays open inside
        }
        for at in inner.places(inside) {
            let Some((name, found)) = inner.nodes.get_index(at) else { continue };
            let firm = found.requirements.iter().enumerate().filter(|(_, r)| r.name == *member && !r.optional);
            for (which, _) in firm {
                if !reached.contains(&(at, Some(which))) {
                    let title = &mapping.name;
                    return Some(format!("its `{name}` needs `{member}`, and the node has only {own} of `{title}`"));
                }
            }
        }
    }
    None
}

fn nth_requirement(inner: &Topology, node: &str, member: &str, nth: usize) -> Option<(usize, Option<usize>)> {
    let mut all = inner.places(node).flat_map(|place| {
        let requirements = inner.nodes.get_index(place).map(|(_, node)| node.requirements.as_slice()).unwrap_or(&[]);
        requirements
            .iter()
            .enumerate()
            .filter(|(_, requirement)| requirement.name == member)
            .map(move |(at, _)| (place, Some(at)))
    });
    all.nth(nth).or_else(|| inner.places(node).next().map(|place| (place, None)))
}

/// The mappings of one part.
fn of_part(inner: &Topology, part: Part) -> impl Iterator<Item = &Mapping> {
    let mappings = inner.substitution.iter().flat_map(|substitution| &substitution.mappings);
    mappings.filter(move |mapping| mapping.part == part)
}

/// Puts the attributes that come from inside into the node, its capabilities and its relationships.
pub(super) fn attributes(outer: &mut Topology, substituted: &Substituted, resolution: &Resolution) {
    let service = &substituted.service;
    let mut evaluator = Evaluator::with_resolution(&service.model, &service.topology, &service.resolution);
    let Some((_, node)) = outer.nodes.get_index_mut(substituted.node) else { return };
    let node = Arc::make_mut(node);
    for mapping in of_part(&service.topology, Part::Attribute) {
        let Some(value) = inside(&mut evaluator, &service.topology, &mapping.target) else { continue };
        let value = crate::coerce::written(&value);
        match &mapping.of {
            Of::Node => put(&mut node.attributes, &mapping.name, value),
            Of::Capability(name) => {
                if let Some(capability) = node.capabilities.get_mut(name) {
                    put(Arc::make_mut(&mut Arc::make_mut(capability).attributes), &mapping.name, value);
                }
            }
            Of::Relationship(name, which) => {
                let met = met(node, substituted.node, resolution).remove(name).unwrap_or_default();
                for (nth, at) in which.of(&met).iter().enumerate() {
                    // For all relationships, a list gives each its own.
                    let own = match which {
                        Which::All => value.items().get(nth).cloned(),
                        Which::At(_) => Some(value.clone()),
                    };
                    let relationship = node.requirements.get_mut(*at).and_then(|found| found.relationship.as_mut());
                    if let (Some(own), Some(relationship)) = (own, relationship) {
                        put(&mut Arc::make_mut(relationship).attributes, &mapping.name, own);
                    }
                }
            }
        }
    }
}

fn put(attributes: &mut Props, name: &EcoString, value: Val) {
    if let Some(attribute) = attributes.get_mut(name) {
        attribute.value = value;
        attribute.given = Given::Assigned;
    }
}

fn inside(evaluator: &mut Evaluator<'_>, inner: &Topology, target: &Target) -> Option<Val> {
    match target {
        Target::Output(output) => {
            let prop: &Prop = inner.outputs.get(output)?;
            Some(evaluator.settle(prop, &Scope::default()))
        }
        Target::Node(node, attribute) => {
            let place = inner.places(node).next()?;
            let key = Key { owner: Owner::Node(place), attribute: true, name: attribute.clone() };
            evaluator.exists(&key).then(|| evaluator.force(key))
        }
        _ => None,
    }
}
