//! Which node meets which requirement, where Unfurl's rules differ from TOSCA's: filters choose by literal values, a
//! named node counts whatever its type, and what types require without being assigned may stay open.

use super::build::has_operations;
use purlin_syntax::{Diagnostic, Severity};
use purlin_tosca::entities;
use purlin_tosca::model::Model;
use purlin_tosca::problem::Problems;
use purlin_tosca::resolve::{self, Edge, Resolution};
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::topology::{Node, Props, Requirement, Topology};
use purlin_tosca::val::{Data, Val};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The capability that every node has.
const FEATURE: &str = "feature";

/// Matches requirements with capabilities.
pub fn resolve(model: &Model, topology: &Topology, problems: &mut Problems) -> Resolution {
    let mut unresolved = Problems::new();
    let mut resolution = resolve::resolve(model, topology, &mut unresolved);
    let mut told: HashMap<_, &Diagnostic> = HashMap::new();
    for problem in unresolved.list() {
        told.insert(problem.diagnostic.span, &problem.diagnostic);
    }
    for (source, node) in topology.nodes.values().enumerate() {
        let mut edges = resolution.edges.get(source).cloned().unwrap_or_default();
        for (at, requirement) in node.requirements.iter().enumerate() {
            let found = edges.iter().position(|edge| edge.requirement == at);
            if is_unassigned_standard(model, requirement) {
                edges.retain(|edge| edge.requirement != at);
            } else if let Some(filter) = filter_of(requirement) {
                if filter.get("match").is_some() {
                    let message = format!("`match` of the requirement `{}` is not evaluated", requirement.name);
                    problems.push(Diagnostic::at(&tosca_rules::UNRESOLVED, requirement.at, message).warning());
                }
                let chosen = choose(model, topology, source, at, requirement, filter);
                if chosen.is_none() && !requirement.optional {
                    problems.push(open(node, requirement, "no node passes its filter"));
                }
                edges.retain(|edge| edge.requirement != at);
                edges.extend(chosen);
            } else if let Some(edge) = found.and_then(|found| edges.get_mut(found)) {
                let open_choice = requirement.capability_name.is_none() && requirement.capability_type.is_none();
                let Some(target) = topology.nodes.get_index(edge.target).filter(|_| open_choice) else { continue };
                if let Some(capability) = capability_of(model, target.1, requirement) {
                    edge.capability = capability;
                }
            } else {
                match by_name(model, topology, source, at, requirement) {
                    Some(edge) => edges.push(edge),
                    None => report(model, node, requirement, told.get(&Some(requirement.at)).copied(), problems),
                }
            }
        }
        edges.sort_by_key(|edge| edge.requirement);
        if let Some(slot) = resolution.edges.get_mut(source) {
            *slot = edges;
        }
    }
    resolution
}

/// Whether a requirement is only declared, by one of TOSCA's own types: then it may stay open without a word.
fn is_unassigned_standard(model: &Model, requirement: &Requirement) -> bool {
    let (None, Some(definition)) = (&requirement.assignment, &requirement.definition) else {
        return false;
    };
    let file = model.files.of(definition.at.file).and_then(|file| model.files.list.get(file));
    file.is_some_and(|file| file.path.starts_with("purlin:"))
}

fn filter_of(requirement: &Requirement) -> Option<&Val> {
    let written = [requirement.assignment.as_ref(), requirement.definition.as_ref()];
    let filter = written.into_iter().flatten().find_map(|entity| entity.value("node_filter"))?;
    let decides = ["properties", "capabilities", "match"].iter().any(|key| filter.get(key).is_some());
    (decides && requirement.node_template.is_none()).then_some(filter)
}

/// The first node that fits and passes a filter.
fn choose(
    model: &Model,
    topology: &Topology,
    source: usize,
    at: usize,
    requirement: &Requirement,
    filter: &Val,
) -> Option<Edge> {
    topology.nodes.values().enumerate().filter(|(target, _)| *target != source).find_map(|(target, node)| {
        let typed = requirement.node_type.is_none_or(|wanted| model.hierarchy.is_a(node.node_type, wanted));
        let capability = capability_of(model, node, requirement).filter(|_| typed && passes(node, filter))?;
        Some(Edge { source, requirement: at, target, capability })
    })
}

/// The capability a requirement leads to: the one that is named or of the type, one that the relationship may lead to,
/// or the one that every node has.
fn capability_of(model: &Model, node: &Node, requirement: &Requirement) -> Option<usize> {
    let position = |fits: &dyn Fn(&str, Option<_>) -> bool| {
        node.capabilities.iter().position(|(name, capability)| fits(name, capability.capability_type))
    };
    if let Some(named) = &requirement.capability_name {
        return position(&|name, _| name == named.text);
    }
    if let Some(wanted) = requirement.capability_type {
        return position(&|_, found| found.is_some_and(|found| model.hierarchy.is_a(found, wanted)));
    }
    let relationship = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
    let complete = relationship.and_then(|id| model.complete(id));
    let valid: Vec<_> = complete.map(|complete| complete.texts("valid_capability_types")).unwrap_or(&[]).to_vec();
    let valid: Vec<_> = valid.iter().filter_map(|name| model.find(entities::CAPABILITY_TYPE, name)).collect();
    let feature = position(&|name, _| name == FEATURE);
    let allowed = |found: Option<_>| found.is_some_and(|found| valid.iter().any(|id| model.hierarchy.is_a(found, *id)));
    if valid.is_empty() { feature.or(Some(0)) } else { position(&|_, found| allowed(found)) }
}

/// The node that a requirement names, whatever its type.
fn by_name(model: &Model, topology: &Topology, source: usize, at: usize, requirement: &Requirement) -> Option<Edge> {
    let named = requirement.node_template.as_ref()?;
    let (target, _, node) = topology.nodes.get_full(&named.text)?;
    let capability = capability_of(model, node, requirement)?;
    Some(Edge { source, requirement: at, target, capability })
}

/// What is written must be met; what only a type declares may stay open, unless operations are to be carried out.
fn report(model: &Model, node: &Node, requirement: &Requirement, told: Option<&Diagnostic>, problems: &mut Problems) {
    let left_out = requirement.node_template.as_ref().filter(|name| model.files.is_left_out(&name.text));
    match (told, left_out) {
        (_, Some(name)) => {
            let why = format!("`{}` of an imported file is no part of this ensemble", name.text);
            problems.push(open(node, requirement, &why).hint("add the directive `default` there to make it one"));
        }
        (Some(diagnostic), _) if requirement.node_template.is_some() => problems.push(diagnostic.clone()),
        (Some(_), _) if !requirement.optional => {
            let mut diagnostic = open(node, requirement, "no node meets it");
            if has_operations(model, node) {
                diagnostic.severity = Severity::Error;
            }
            problems.push(diagnostic);
        }
        _ => {}
    }
}

fn open(node: &Node, requirement: &Requirement, why: &str) -> Diagnostic {
    let message = format!("the requirement `{}` of `{}` stays open: {why}", requirement.name, node.template.name);
    Diagnostic::at(&tosca_rules::UNRESOLVED, requirement.at, message).warning()
}

/// Whether a node passes a filter. Conditions with expressions decide nothing.
fn passes(node: &Node, filter: &Val) -> bool {
    let conditions = |part: &Val, props: &Props| {
        let listed = part.get("properties").map(entries_of).unwrap_or_default();
        listed.into_iter().all(|(name, condition)| match props.get(name) {
            Some(prop) => holds(&prop.value, condition),
            None => condition.is_call(),
        })
    };
    let capabilities = filter.get("capabilities").map(entries_of).unwrap_or_default();
    conditions(filter, &node.properties)
        && capabilities.into_iter().all(|(name, part)| {
            node.capabilities.get(name).is_some_and(|capability| conditions(part, &capability.properties))
        })
}

/// The entries of a map, or of the maps of a list.
fn entries_of(value: &Val) -> Vec<(&str, &Val)> {
    match &value.data {
        Data::Map(entries) => entries.iter().filter_map(|(key, item)| Some((key.as_str()?, item))).collect(),
        Data::List(items) => items.iter().flat_map(entries_of).collect(),
        _ => Vec::new(),
    }
}

fn holds(value: &Val, condition: &Val) -> bool {
    if condition.is_call() {
        return true;
    }
    let clauses = match &condition.data {
        Data::Map(_) => entries_of(condition),
        Data::List(items) if items.iter().all(|item| matches!(item.data, Data::Map(_))) => entries_of(condition),
        _ => return same(value, condition),
    };
    clauses.into_iter().all(|(clause, operand)| match (clause, &operand.data) {
        ("equal", _) => same(value, operand),
        ("valid_values", Data::List(allowed)) => allowed.iter().any(|allowed| same(value, allowed)),
        ("greater_than", _) => order(value, operand) == Some(Ordering::Greater),
        ("less_than", _) => order(value, operand) == Some(Ordering::Less),
        ("greater_or_equal", _) => matches!(order(value, operand), Some(Ordering::Greater | Ordering::Equal)),
        ("less_or_equal", _) => matches!(order(value, operand), Some(Ordering::Less | Ordering::Equal)),
        ("in_range", Data::List(bounds)) => match bounds.as_slice() {
            [low, high] => {
                let unbounded = |bound: &Val| bound.as_str() == Some("UNBOUNDED");
                (unbounded(low) || matches!(order(value, low), Some(Ordering::Greater | Ordering::Equal)))
                    && (unbounded(high) || matches!(order(value, high), Some(Ordering::Less | Ordering::Equal)))
            }
            _ => false,
        },
        _ => true,
    })
}

fn same(left: &Val, right: &Val) -> bool {
    match (&left.data, &right.data) {
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Null, Data::Null) => true,
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

fn order(left: &Val, right: &Val) -> Option<Ordering> {
    let number = |value: &Val| match &value.data {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        _ => None,
    };
    match (number(left), number(right)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(left.as_str()?.cmp(right.as_str()?)),
    }
}
