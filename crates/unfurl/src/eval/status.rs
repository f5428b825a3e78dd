//! The status of an instance, considering its dependencies. The rule is documented in
//! `docs/reference/unfurl-expressions.md`.

use crate::tree::{NodeId, NodeKind, Priority, Status, Tree};

/// The effective status.
pub fn effective(tree: &Tree, id: NodeId) -> Status {
    effective_of(tree, id, &mut Vec::new())
}

fn effective_of(tree: &Tree, id: NodeId, visited: &mut Vec<NodeId>) -> Status {
    let node = tree.node(id);
    if let Some(inner) = node.shadow.filter(|_| visited.len() < crate::limits::MAX_DEPTH) {
        return effective_of(tree, inner, visited);
    }
    let local = match node.local_status {
        None | Some(Status::Unknown) => return Status::Unknown,
        Some(status @ (Status::Error | Status::Absent)) => return status,
        Some(status) => status,
    };
    visited.push(id);
    let combined = aggregate(tree, &dependencies(tree, id), visited);
    let local = if node.has_operations { local } else { Status::Ok };
    combined.map_or(local, |combined| local.max(combined))
}

/// The dependencies of an instance's status: its host and the targets of its requirements; for the root, its children.
fn dependencies(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    let node = tree.node(id);
    if node.kind == NodeKind::Root {
        return node.children.clone();
    }
    let host = node.parent.filter(|parent| {
        let parent = tree.node(*parent);
        parent.kind != NodeKind::Root && parent.parent.is_some()
    });
    let mut out: Vec<NodeId> = host.into_iter().collect();
    // Where a node represents the whole, capabilities do not matter, and relationships lead through them.
    if tree.topology_of(id).substitution_node.is_some() {
        return out;
    }
    for relationship in &node.requirements {
        if let Some(target) = target(tree, *relationship)
            && Some(target) != node.parent
            && !out.contains(&target)
        {
            out.push(target);
        }
    }
    out
}

/// The target of a relationship.
pub fn target(tree: &Tree, relationship: NodeId) -> Option<NodeId> {
    let capability = tree.node(relationship).parent?;
    match tree.node(capability).kind {
        // A connection of the whole ensemble.
        NodeKind::Root => None,
        NodeKind::Capability => tree.node(capability).parent,
        _ => Some(capability),
    }
}

fn aggregate(tree: &Tree, dependencies: &[NodeId], visited: &mut Vec<NodeId>) -> Option<Status> {
    let mut result = None;
    for id in dependencies {
        let node = tree.node(*id);
        if node.priority == Priority::Ignore || visited.contains(id) || visited.len() > crate::limits::MAX_DEPTH {
            continue;
        }
        let status = effective_of(tree, *id, visited);
        let so_far = result.get_or_insert(Status::Ok);
        if !status.is_operational() && node.priority == Priority::Required {
            return Some(if status == Status::Pending { Status::Pending } else { Status::Error });
        }
        if status != Status::Ok {
            *so_far = Status::Degraded;
        }
    }
    result
}
