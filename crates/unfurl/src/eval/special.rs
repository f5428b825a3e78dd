//! The values of the built-in keys.

use super::engine::{Ctx, Engine};
use super::frame::Mode;
use super::status::{effective, target};
use crate::error::{Error, Kind, Result};
use crate::special::{SPECIAL_KEYS, Special};
use crate::tree::{Node, NodeId, NodeKind, Priority, Status, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_value::path;
use std::collections::HashSet;

/// An error for a key that starts with a dot and is not a special key.
pub fn unknown(text: &str) -> Box<Error> {
    let error = Error::new(Kind::Missing, format!("unknown built-in key `{text}`"));
    match nearest(text) {
        Some(near) => error.hint(Hint::meant(text, near)),
        None => error,
    }
}

/// The built-in key with the most similar spelling.
pub fn nearest(text: &str) -> Option<&'static str> {
    purlin_syntax::suggest::nearest(text, SPECIAL_KEYS.iter().map(|row| row.text))
}

/// A built-in key of an instance.
pub fn get(ctx: &Ctx<'_, '_>, id: NodeId, key: Special) -> Result<Val> {
    let tree = ctx.engine.tree;
    let node = tree.node(id);
    Ok(match key {
        Special::Itself => Val::node(id),
        Special::Up | Special::Parent => node.parent.map_or_else(Val::null, Val::node),
        Special::Name => Val::str(node.name.clone()),
        Special::Type => Val::str(node.type_name()),
        Special::Id | Special::NestedKey => Val::str(key_of(tree, id)),
        Special::ToscaName => Val::str(node.template.clone()),
        Special::NestedName => Val::str(tree.full_name(id)),
        Special::Uri => Val::str(format!("{}#{}", tree.uri, key_of(tree, id))),
        Special::Deployment => Val::str(tree.deployment.clone()),
        Special::Status => Data::Status(effective(tree, id)).into(),
        Special::LocalStatus => node.local_status.map_or_else(Val::null, |status| Data::Status(status).into()),
        Special::State => node.state.map_or_else(Val::null, |state| Data::State(state).into()),
        Special::Priority => Data::Priority(node.priority).into(),
        Special::Required => Val::bool(node.priority >= Priority::Required),
        Special::Operational => Val::bool(effective(tree, id).is_operational()),
        Special::Present => Val::bool(is_present(effective(tree, id))),
        Special::Missing => Val::bool(matches!(effective(tree, id), Status::Pending | Status::Absent)),
        Special::Active => Val::bool(is_active(tree, id)),
        Special::Parents => {
            let mut parents = ancestors(tree, id);
            parents.remove(0);
            parents.reverse();
            Val::nodes(&parents)
        }
        Special::Ancestors => Val::nodes(&ancestors(tree, id)),
        Special::Root | Special::Apex => ancestors(tree, id).last().map_or_else(Val::null, |id| Val::node(*id)),
        Special::Owner => Val::node(owner(tree, id)),
        Special::Super => match &node.defaults {
            Some(defaults) => {
                let mode = Mode { attribute: true, ..Mode::default() };
                ctx.engine.context_with(id, Vec::new(), mode).evaluate(defaults)?
            }
            None => Val::map(ValMap::default()),
        },
        Special::Instances => Val::nodes(&node.children),
        Special::Descendants => {
            let mut out = Vec::new();
            descendants(tree, id, &mut out);
            ctx.engine.spend(out.len())?;
            Val::nodes(&out)
        }
        Special::All => Data::AllNodes(id).into(),
        Special::Attributes => Data::Attributes(id).into(),
        Special::Template => Data::Template(id).into(),
        Special::BaseDir if tree.uri.is_empty() => Val::str(tree.base_dir.clone()),
        Special::BaseDir => Val::str(path::join(ctx.engine.session.world.root(), &tree.base_dir)),
        Special::Readonly => Val::bool(false),
        Special::Imported => field(node, "imported"),
        Special::Shadow => field(node, "shadow"),
        Special::Created => field(node, "created"),
        Special::Protected => field(node, "protected"),
        Special::LastChange => field(node, "last_change"),
        Special::Repository => field(node, "repository_definition"),
        _ => return of_kind(ctx, id, key),
    })
}

/// Keys that only some kinds of instances have.
fn of_kind(ctx: &Ctx<'_, '_>, id: NodeId, key: Special) -> Result<Val> {
    let tree = ctx.engine.tree;
    let node = tree.node(id);
    let found = match (node.kind, key) {
        (NodeKind::Root | NodeKind::Node, Special::Capabilities) => Some(Val::nodes(&node.capabilities)),
        (NodeKind::Root | NodeKind::Node, Special::Requirements) => Some(Val::nodes(&node.requirements)),
        (NodeKind::Root | NodeKind::Node, Special::Targets) => Some(targets(tree, node)),
        (NodeKind::Root | NodeKind::Node, Special::Sources) => Some(sources(tree, node)),
        (NodeKind::Root | NodeKind::Node, Special::HostedOn) => Some(Val::nodes(&hosted_on(tree, id))),
        (NodeKind::Root | NodeKind::Node, Special::ConfiguredBy) => Some(Val::nodes(&configured_by(tree, id))),
        (NodeKind::Root | NodeKind::Node, Special::Artifacts) => Some(named(tree, &node.artifacts)),
        (NodeKind::Root | NodeKind::Node, Special::Names) => Some(Data::Names(id).into()),
        (NodeKind::Capability, Special::Relationships) => Some(Val::nodes(&node.relationships)),
        // A connection of the whole ensemble has neither.
        (NodeKind::Relationship, Special::Source) => Some(node.source.map_or_else(Val::null, Val::node)),
        (NodeKind::Relationship, Special::Target) => Some(target(tree, id).map_or_else(Val::null, Val::node)),
        (NodeKind::Relationship, Special::Capability) => node.parent.map(Val::node),
        (NodeKind::Artifact, Special::File) => Some(field(node, "file")),
        (NodeKind::Artifact, Special::DeployPath) => Some(field(node, "deploy_path")),
        (NodeKind::Artifact, Special::Intent) => Some(field(node, "intent")),
        (NodeKind::Artifact, Special::Target) => Some(field(node, "target")),
        (NodeKind::Artifact, Special::Order) => Some(field(node, "order")),
        (NodeKind::Artifact, Special::Permissions) => Some(field(node, "permissions")),
        (NodeKind::Artifact, Special::Contents) => Some(field(node, "contents")),
        _ => None,
    };
    found.ok_or_else(|| {
        let text = SPECIAL_KEYS.iter().find(|row| row.key == key).map_or("", |row| row.text);
        let kind = match node.kind {
            NodeKind::Root => "the root instance",
            NodeKind::Node => "a node instance",
            NodeKind::Capability => "a capability",
            NodeKind::Relationship => "a relationship",
            NodeKind::Artifact => "an artifact",
            NodeKind::Values => "the root instance",
        };
        Error::new(Kind::Missing, format!("{kind} has no `{text}`"))
    })
}

fn field(node: &Node, name: &str) -> Val {
    node.fields.iter().find(|(key, _)| *key == name).map_or_else(Val::null, |(_, value)| value.clone())
}

/// A field of a template, for `.template::name`.
pub(crate) fn template_field(ctx: &Ctx<'_, '_>, id: NodeId, name: &str) -> Option<Val> {
    let node = ctx.engine.tree.node(id);
    match name {
        "name" => Some(Val::str(node.template.clone())),
        "type" => Some(Val::str(node.type_name())),
        _ => None,
    }
}

/// The same with the prefix of the instance's topology, so that it is found from every topology.
pub fn full_key_of(tree: &Tree, id: NodeId) -> EcoString {
    let node = tree.node(id);
    let owner = match node.kind {
        NodeKind::Node => id,
        _ => node.source.or(node.parent).unwrap_or(id),
    };
    let (key, name) = (key_of(tree, id), &tree.node(owner).name);
    match key.strip_prefix("::").and_then(|rest| rest.strip_prefix(name.as_str())) {
        Some(rest) if tree.node(owner).kind == NodeKind::Node => ecow::eco_format!("::{}{rest}", tree.full_name(owner)),
        _ => key,
    }
}

/// The query that finds an instance.
pub fn key_of(tree: &Tree, id: NodeId) -> EcoString {
    let node = tree.node(id);
    match node.kind {
        NodeKind::Root | NodeKind::Node => ecow::eco_format!("::{}", node.name),
        NodeKind::Values => ecow::eco_format!("::root::{}", node.name),
        NodeKind::Capability => {
            let owner = node.parent.map_or("", |owner| tree.node(owner).name.as_str());
            ecow::eco_format!("::{owner}::.capabilities::[.name={}]", node.name)
        }
        NodeKind::Relationship => {
            let owner = node.source.map(|owner| tree.node(owner).name.as_str());
            match owner {
                Some(owner) => ecow::eco_format!("::{owner}::.requirements::[.name={}]", node.name),
                None => ecow::eco_format!("::.requirements::[.name={}]", node.name),
            }
        }
        NodeKind::Artifact => {
            let owner = node.parent.map_or("", |owner| tree.node(owner).name.as_str());
            ecow::eco_format!("::{owner}::.artifacts::{}", node.name)
        }
    }
}

fn is_present(status: Status) -> bool {
    status.is_operational() || status == Status::Error
}

/// Created and not deleted; without a state, present.
fn is_active(tree: &Tree, id: NodeId) -> bool {
    match tree.node(id).state {
        Some(state) => (3..=10).contains(&state.0),
        None => is_present(effective(tree, id)),
    }
}

/// The instance and its parents.
pub fn ancestors(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    let mut out = vec![id];
    let mut next = tree.node(id).parent;
    while let Some(id) = next {
        if out.contains(&id) {
            break;
        }
        out.push(id);
        next = tree.node(id).parent;
    }
    out
}

fn descendants(tree: &Tree, id: NodeId, out: &mut Vec<NodeId>) {
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        out.push(id);
        todo.extend(tree.node(id).children.iter().rev());
    }
}

/// The node an instance belongs to.
fn owner(tree: &Tree, id: NodeId) -> NodeId {
    let node = tree.node(id);
    match node.kind {
        NodeKind::Root | NodeKind::Node | NodeKind::Values => id,
        NodeKind::Relationship => node.source.unwrap_or(id),
        NodeKind::Capability | NodeKind::Artifact => node.parent.unwrap_or(id),
    }
}

fn named(tree: &Tree, ids: &[NodeId]) -> Val {
    Val::map(ids.iter().map(|id| (MapKey::Str(tree.node(*id).name.clone()), Val::node(*id))).collect())
}

/// Adds under a name; a second value makes a list.
fn add(map: &mut ValMap, name: &EcoString, value: Val) {
    let key = MapKey::Str(name.clone());
    match map.get_mut(&key) {
        None => {
            map.insert(key, value);
        }
        Some(present) => {
            let mut items = present.as_list().map_or_else(|| vec![present.clone()], <[Val]>::to_vec);
            items.push(value);
            *present = Val::list(items);
        }
    }
}

fn targets(tree: &Tree, node: &Node) -> Val {
    let mut map = ValMap::default();
    for relationship in &node.requirements {
        if let Some(target) = target(tree, *relationship) {
            add(&mut map, &tree.node(*relationship).name, Val::node(target));
        }
    }
    Val::map(map)
}

fn sources(tree: &Tree, node: &Node) -> Val {
    let mut map = ValMap::default();
    for relationship in incoming(tree, node) {
        let relationship = tree.node(relationship);
        if let Some(source) = relationship.source {
            add(&mut map, &relationship.name, Val::node(source));
        }
    }
    Val::map(map)
}

fn incoming(tree: &Tree, node: &Node) -> Vec<NodeId> {
    node.capabilities.iter().flat_map(|capability| tree.node(*capability).relationships.iter().copied()).collect()
}

fn is_type(node: &Node, name: &str) -> bool {
    node.types.iter().any(|type_name| type_name == name || type_name.rsplit('.').next() == Some(name))
}

/// The hosts of an instance, nearest first: its own, or those of nodes that it requires in another way.
pub(crate) fn hosted_on(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    follow(id, |id| {
        let requirements = tree.node(id).requirements.iter();
        let step = |id: &NodeId| Some((target(tree, *id)?, is_type(tree.node(*id), "HostedOn")));
        requirements.filter_map(step).collect()
    })
}

fn configured_by(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    follow(id, |id| {
        let incoming = incoming(tree, tree.node(id)).into_iter();
        let step = |id: NodeId| Some((tree.node(id).source?, is_type(tree.node(id), "Configures")));
        incoming.filter_map(step).collect()
    })
}

/// The nodes reached by steps, depth first, each once; of them those that count.
fn follow(start: NodeId, steps: impl Fn(NodeId) -> Vec<(NodeId, bool)>) -> Vec<NodeId> {
    let mut out: Vec<NodeId> = Vec::new();
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut todo = steps(start);
    todo.reverse();
    while let Some((id, counts)) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        if counts {
            out.push(id);
        }
        todo.extend(steps(id).into_iter().rev());
    }
    out
}

/// The meaning of a name on an instance: an attribute, the target capability of a requirement, a capability of its
/// own.
pub(crate) fn named_on(ctx: &Ctx<'_, '_>, id: NodeId, name: &str) -> Result<Option<Val>> {
    if let Some(value) = ctx.engine.attribute(id, name)? {
        return Ok(Some(value));
    }
    let tree = ctx.engine.tree;
    let node = tree.node(id);
    let mut requirements = node.requirements.iter().filter(|_| node.kind != NodeKind::Root);
    let requirement = requirements.find(|relationship| tree.node(**relationship).name == name);
    if let Some(capability) = requirement.and_then(|relationship| tree.node(*relationship).parent) {
        return Ok(Some(Val::node(capability)));
    }
    let capability = node.capabilities.iter().find(|capability| tree.node(**capability).name == name);
    Ok(capability.map(|capability| Val::node(*capability)))
}

/// All names of an instance with their meanings.
pub fn names(engine: &Engine<'_>, id: NodeId) -> Result<Val> {
    let tree = engine.tree;
    let node = tree.node(id);
    let attributes = engine.all_attributes(id)?;
    let mut map = attributes.as_map().cloned().unwrap_or_default();
    for relationship in node.requirements.iter().filter(|_| node.kind != NodeKind::Root) {
        let relationship = tree.node(*relationship);
        if let Some(capability) = relationship.parent {
            map.entry(MapKey::Str(relationship.name.clone())).or_insert_with(|| Val::node(capability));
        }
    }
    for capability in &node.capabilities {
        map.entry(MapKey::Str(tree.node(*capability).name.clone())).or_insert_with(|| Val::node(*capability));
    }
    Ok(Val::map(map))
}
