//! Several nodes from one template (TOSCA 2.0, `count`), and several relationships from one requirement.
//!
//! Phase: after rendering, before resolution. Counts may depend on inputs, so they are evaluated here. A template with
//! a count other than one gives nodes called `name[0]`, `name[1]` …; all other parts are shared or the same.

use crate::evaluate::{Evaluator, Scope};
use crate::model::Model;
use crate::problem::Problems;
use crate::rules;
use crate::topology::{Given, Node, Prop, Requirement, Topology};
use crate::val::{Data, Val};
use ecow::eco_format;
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// Most nodes of a service, and most relationships of a node, created by counts.
pub const MAX_COUNTED: u64 = 100_000;

/// Most relationships created by counts for all nodes of a service together, beyond those written.
pub const MAX_RELATIONSHIPS: u64 = 1_000_000;

/// The number of relationships created by counts so far.
#[derive(Default)]
pub(crate) struct Total(u64);

impl Total {
    /// Whether this many more can be created; the first time they cannot is reported.
    pub fn has_room(&mut self, more: u64, at: Span, problems: &mut Problems) -> bool {
        let before = self.0;
        self.0 = before.saturating_add(more);
        if before <= MAX_RELATIONSHIPS && self.is_exceeded() {
            let message = format!(
                "the counts of the service make {} relationships up to here, but at most {MAX_RELATIONSHIPS} are allowed",
                self.0
            );
            problems.at(&rules::COUNT, at, message);
        }
        !self.is_exceeded()
    }

    fn is_exceeded(&self) -> bool {
        self.0 > MAX_RELATIONSHIPS
    }
}

/// Creates the nodes and requirements of counts.
pub fn multiply(model: &Model, topology: Topology, problems: &mut Problems) -> Topology {
    let counts: Vec<Option<u64>> = topology
        .nodes
        .values()
        .map(|node| counted(model, &topology, node.template.value("count")?, node.template.place("count"), problems))
        .collect();
    let mut total = Total::default();
    let mut topology =
        if counts.iter().any(Option::is_some) { copied(topology, &counts, &mut total, problems) } else { topology };
    let requirements: Vec<Option<Vec<Requirement>>> = topology
        .nodes
        .values()
        .enumerate()
        .map(|(place, node)| repeated(model, &topology, place, node, &mut total, problems))
        .collect();
    if total.is_exceeded() {
        return topology;
    }
    for (node, requirements) in topology.nodes.values_mut().zip(requirements) {
        if let Some(requirements) = requirements {
            Arc::make_mut(node).requirements = requirements;
        }
    }
    for (place, at) in optional(model, &topology, problems) {
        let node = topology.nodes.get_index_mut(place).map(|(_, node)| node);
        if let Some(requirement) = node.and_then(|node| Arc::make_mut(node).requirements.get_mut(at)) {
            requirement.optional = true;
        }
    }
    topology
}

/// Requirements, by node and place, whose computed `optional` is true.
fn optional(model: &Model, topology: &Topology, problems: &mut Problems) -> Vec<(usize, usize)> {
    let computed = |requirement: &Requirement| {
        let optional = requirement.assignment.as_ref()?.value("optional")?;
        optional.is_call().then(|| optional.clone())
    };
    let mut evaluator = Evaluator::new(model, topology);
    let mut out = Vec::new();
    for (place, node) in topology.nodes.values().enumerate() {
        for (at, requirement) in node.requirements.iter().enumerate() {
            let Some(value) = computed(requirement).and_then(|call| evaluator.in_relationship(place, at, &call)) else {
                continue;
            };
            match value.data {
                Data::Bool(true) => out.push((place, at)),
                Data::Bool(false) | Data::Pending(_) | Data::Poison => {}
                _ => {
                    let message = what::expected("true or false", value.noun()).under("`optional`: ");
                    problems.at(&rules::WRONG_TYPE, requirement.at, message);
                }
            }
        }
    }
    out
}

/// A count of nodes; none if it is not known yet.
fn counted(model: &Model, topology: &Topology, count: &Val, at: Span, problems: &mut Problems) -> Option<u64> {
    let mut evaluator = Evaluator::new(model, topology);
    let prop = Prop { value: count.clone(), definition: None, data_type: None, at, given: Given::Assigned };
    let value = evaluator.settle(&prop, &Scope::default());
    problems.absorb(evaluator.problems());
    whole(&value, at, problems)
}

fn whole(value: &Val, at: Span, problems: &mut Problems) -> Option<u64> {
    match value.data {
        Data::Int(number) if number >= 0 => {
            let number = u64::try_from(number).unwrap_or(0);
            if number > MAX_COUNTED {
                let message = format!("`count` is {number}, but at most {MAX_COUNTED} can be made");
                problems.at(&rules::COUNT, at, message);
                return None;
            }
            Some(number)
        }
        Data::Pending(_) | Data::Poison => None,
        _ => {
            let found = value.as_int().map_or_else(|| value.noun().to_string(), |number| number.to_string());
            let message = what::expected("an integer of at least 0", found).under("`count`: ");
            problems.at(&rules::WRONG_TYPE, at, message);
            None
        }
    }
}

fn copied(topology: Topology, counts: &[Option<u64>], relationships: &mut Total, problems: &mut Problems) -> Topology {
    let total: u64 = counts.iter().map(|count| count.unwrap_or(1)).sum();
    if total > MAX_COUNTED {
        let at = topology.nodes.values().find(|node| node.template.slot("count").is_some());
        if let Some(node) = at {
            let message =
                format!("the counts of all templates make {total} nodes, but at most {MAX_COUNTED} are allowed");
            problems.push(Diagnostic::at(&rules::COUNT, node.template.place("count"), message));
        }
        return topology;
    }
    let fits = topology.nodes.values().zip(counts).all(|(node, count)| {
        let more = count.unwrap_or(1).saturating_sub(1).saturating_mul(node.requirements.len() as u64);
        relationships.has_room(more, node.template.place("count"), problems)
    });
    if !fits {
        return topology;
    }
    let mut nodes: IndexMap<_, Arc<Node>> = IndexMap::with_capacity(usize::try_from(total).unwrap_or(0));
    let mut multiplied = IndexMap::new();
    for ((name, node), count) in topology.nodes.into_iter().zip(counts) {
        match count {
            None | Some(1) => {
                nodes.insert(name, node);
            }
            Some(count) => {
                let first = nodes.len();
                for index in 0..usize::try_from(*count).unwrap_or(0) {
                    nodes.insert(eco_format!("{name}[{index}]"), Arc::new(Node { index, ..(*node).clone() }));
                }
                multiplied.insert(name, first..nodes.len());
            }
        }
    }
    Topology { nodes, multiplied, ..topology }
}

/// The requirements of a node, expanded by computed counts.
fn repeated(
    model: &Model,
    topology: &Topology,
    place: usize,
    node: &Node,
    total: &mut Total,
    problems: &mut Problems,
) -> Option<Vec<Requirement>> {
    let computed = |requirement: &Requirement| {
        let count = requirement.assignment.as_ref()?.value("count")?;
        count.is_call().then(|| count.clone())
    };
    if !node.requirements.iter().any(|requirement| computed(requirement).is_some()) {
        return None;
    }
    let mut evaluator = Evaluator::new(model, topology);
    let mut out = Vec::new();
    for (at, requirement) in node.requirements.iter().enumerate() {
        let value = computed(requirement).and_then(|count| evaluator.in_relationship(place, at, &count));
        let written = requirement.assignment.as_ref().map_or(requirement.at, |assignment| assignment.place("count"));
        let count = value.and_then(|value| whole(&value, written, problems)).unwrap_or(1);
        if !total.has_room(count.saturating_sub(1), requirement.at, problems) {
            return None;
        }
        out.extend((0..count).map(|_| requirement.clone()));
    }
    check_ranges(node, &out, problems);
    Some(out)
}

fn check_ranges(node: &Node, requirements: &[Requirement], problems: &mut Problems) {
    let mut totals: IndexMap<_, (u64, u64, &Requirement)> = IndexMap::new();
    for requirement in &node.requirements {
        totals.insert(&requirement.name, (0, 0, requirement)); // a count may make none of it
    }
    for requirement in requirements {
        let (total, firm, _) = totals.entry(&requirement.name).or_insert((0, 0, requirement));
        *total += 1;
        *firm += u64::from(!requirement.optional);
    }
    for (name, (total, firm, requirement)) in totals {
        let range = requirement.definition.as_ref().and_then(|definition| definition.range("count_range"));
        if let Some(range) = range.filter(|range| !range.contains(total) || firm < range.lower) {
            let but = if range.contains(total) { format!(", {firm} of them not optional") } else { String::new() };
            let message = format!(
                "the counts of the requirement `{name}` of `{}` make {total}{but}; its type allows {range}",
                node.template.name
            );
            problems.at(&rules::COUNT, requirement.at, message);
        }
    }
}
