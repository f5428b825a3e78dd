//! The instances of a workflow, and their order.

use super::Job;
use super::change::is_change_id;
use super::options::Workflow;
use crate::tree::{NodeId, NodeKind, Priority, Status};
use std::collections::{HashMap, HashSet};

/// Instances of templates, each after those it requires. A topology comes before the node that it replaces, which has
/// no operations of its own.
pub(super) fn instances(job: &Job<'_>) -> Vec<NodeId> {
    let tree = &job.ensemble.tree;
    let standing = tree.topologies().iter().enumerate().filter_map(|(at, topology)| Some((topology.outer?, at)));
    let standing: HashMap<NodeId, usize> = standing.collect();
    let mut out = Vec::new();
    let wanted = job.options.template.as_ref().map(|template| with_targets(job, template));
    let ordered = |topology: usize| {
        let service = job.ensemble.service_at(topology);
        let order = service.resolution.order(service.topology.nodes.len());
        let is_wanted = |index: &usize| topology > 0 || wanted.as_ref().is_none_or(|wanted| wanted.contains(index));
        let order = order.into_iter().filter(is_wanted);
        order.flat_map(move |index| of_template(job, topology, index)).collect::<Vec<_>>().into_iter()
    };
    let mut open = vec![ordered(0)];
    while let Some(last) = open.last_mut() {
        match last.next() {
            Some(id) => match standing.get(&id) {
                Some(nested) => open.push(ordered(*nested)),
                None => out.push(id),
            },
            None => {
                open.pop();
            }
        }
    }
    out
}

/// A template and all that it requires, directly or indirectly.
fn with_targets(job: &Job<'_>, template: &str) -> HashSet<usize> {
    let service = job.ensemble.service_at(0);
    let mut open: Vec<usize> = service.topology.nodes.get_index_of(template).into_iter().collect();
    let mut out = HashSet::new();
    while let Some(index) = open.pop() {
        if out.insert(index) {
            open.extend(service.resolution.edges.get(index).into_iter().flatten().map(|edge| edge.target));
        }
    }
    out
}

/// The instances of a template that count.
fn of_template(job: &Job<'_>, topology: usize, index: usize) -> Vec<NodeId> {
    let service = job.ensemble.service_at(topology);
    let Some((name, node)) = service.topology.nodes.get_index(index) else { return Vec::new() };
    let has = |directive: &str| node.template.texts("directives").iter().any(|word| word.text == directive);
    if has("virtual") || has("select") {
        return Vec::new();
    }
    let all = job.by_template.get(&(topology, name.clone())).cloned().unwrap_or_default();
    // Instances that nothing requires, such as those of default templates, are not created.
    let is_filtered = !job.options.instances.is_empty() || job.options.template.is_some();
    let must = job.options.workflow != Workflow::Deploy || is_filtered;
    all.into_iter().filter(|id| must || is_required(job, *id)).collect()
}

/// Whether an instance is required, and so is its outer node: a topology that replaces a node is required with it.
fn is_required(job: &Job<'_>, id: NodeId) -> bool {
    let tree = &job.ensemble.tree;
    let mut next = Some(id);
    while let Some(id) = next {
        if tree.node(id).priority < Priority::Required {
            return false;
        }
        next = tree.topology_of(id).outer;
    }
    true
}

/// Instances to delete with the reason, each after those that depend on it. Dependencies of kept instances are kept.
pub(super) fn to_delete<'r>(job: &Job<'_>, include: impl Fn(NodeId) -> Option<&'r str>) -> Vec<(NodeId, &'r str)> {
    let root = job.ensemble.tree.root();
    let mut out = Vec::new();
    let mut kept: HashMap<NodeId, bool> = HashMap::new();
    let mut open = vec![(root, false)];
    while let Some((id, is_left)) = open.pop() {
        if !is_left {
            if kept.contains_key(&id) {
                continue;
            }
            kept.insert(id, false);
            open.push((id, true));
            open.extend(dependents(job, id).into_iter().rev().map(|dependent| (dependent, false)));
            continue;
        }
        let is_needed = dependents(job, id).iter().any(|dependent| kept.get(dependent).copied().unwrap_or(false));
        match verdict(job, id, &include) {
            _ if is_needed => {
                kept.insert(id, true);
            }
            Verdict::Delete(reason) => out.push((id, reason)),
            Verdict::Keep => {
                kept.insert(id, true);
            }
            Verdict::Ignore => {}
        }
    }
    out
}

enum Verdict<'r> {
    Delete(&'r str),
    Keep,
    Ignore,
}

fn verdict<'r>(job: &Job<'_>, id: NodeId, include: impl Fn(NodeId) -> Option<&'r str>) -> Verdict<'r> {
    let node = job.ensemble.tree.node(id);
    if node.kind == NodeKind::Root {
        return Verdict::Ignore;
    }
    let record = job.record(id);
    let is_virtual = !node.has_operations || job.has_directive(id, "virtual");
    let is_others = record.created.as_ref().is_some_and(|created| created.as_str().is_some() && !is_change_id(created));
    let is_protected = record.protected.as_ref().is_some_and(crate::python::truthy);
    let skips = record.imported.is_some()
        || job.has_directive(id, "select")
        || job.has_directive(id, "protected")
        || is_protected
        || is_virtual
        || (!record.is_created() && !job.options.destroy_unmanaged)
        || is_others
        || matches!(node.local_status, Some(Status::Absent | Status::Pending));
    match include(id).filter(|_| !skips) {
        Some(reason) => Verdict::Delete(reason),
        None if is_virtual || job.options.force => Verdict::Ignore,
        None if job.status(id).is_operational() && node.priority == Priority::Required => Verdict::Keep,
        None => Verdict::Ignore,
    }
}

/// The dependents of an instance: sources of its incoming requirements, and instances it hosts.
fn dependents(job: &Job<'_>, id: NodeId) -> Vec<NodeId> {
    let tree = &job.ensemble.tree;
    let node = tree.node(id);
    let mut out: Vec<NodeId> = Vec::new();
    let capabilities = node.capabilities.iter();
    let relationships = capabilities.flat_map(|capability| tree.node(*capability).relationships.iter());
    let sources = relationships.filter_map(|relationship| tree.node(*relationship).source);
    // Topologies in the place of instances have roots of their own.
    let nested = tree.topologies().iter().skip(1).filter(|_| id == tree.root());
    let nested = nested.flat_map(|topology| tree.node(topology.root).children.iter().copied());
    let all = sources.chain(node.children.iter().copied()).chain(nested);
    // What depends on the outer node depends on the one that represents it.
    let represented = tree.topologies().iter().find(|topology| topology.substitution_node == Some(id));
    let of_outer = represented.and_then(|topology| topology.outer).map(|outer| dependents(job, outer));
    for dependent in all.chain(of_outer.into_iter().flatten()) {
        let dependent = tree.node(dependent).shadow.unwrap_or(dependent);
        if dependent != id && !out.contains(&dependent) {
            out.push(dependent);
        }
    }
    out
}
