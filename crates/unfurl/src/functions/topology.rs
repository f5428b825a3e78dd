//! Functions that read the topology: inputs, attributes, properties, instances, artifacts.

use super::{Call, images};
use crate::error::{Error, Kind, Result, missing, type_error};
use crate::eval::Ctx;
use crate::eval::path::{as_one, by_name, is_list, list_items, place};
use crate::eval::special::{ancestors, hosted_on, named_on};
use crate::eval::status::target;
use crate::external::{External, Kind as Handle};
use crate::lookup::{Found, Lookup, When, part_of};
use crate::python;
use crate::tree::{Attribute, NodeId, NodeKind, Tree};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_syntax::what;

/// `get_input`
pub fn get_input(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (name, default) = match &call.arg.data {
        Data::List(items) => (items.first(), items.get(1)),
        _ => (Some(call.arg), None),
    };
    let Some(name) = name.and_then(Val::as_str) else {
        return type_error("`get_input` needs the name of an input");
    };
    if let Some(value) = input(ctx, name)? {
        return Ok(value);
    }
    match default {
        Some(default) => call.evaluated(ctx, default),
        None => {
            let error = Error::new(Kind::Missing, what::unknown("input", name));
            let tree = ctx.engine.tree;
            let inputs = tree.node(tree.topology_of(ctx.instance()).inputs).attributes.keys().map(EcoString::as_str);
            Err(match purlin_syntax::suggest::nearest(name, inputs) {
                Some(near) => error.hint(Hint::meant(name, near)),
                None => error,
            })
        }
    }
}

/// The value of an input, evaluated once; none if it does not exist.
pub fn input(ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
    let value = ctx.engine.attribute(ctx.engine.tree.inputs_for(ctx.instance(), name), name)?;
    value.map(|value| ctx.engine.force(value)).transpose()
}

/// The arguments of `get_attribute` and `get_property`: an instance's name, then keys.
fn entity_and_keys(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<(EcoString, Vec<Val>)> {
    let value = call.value(ctx)?;
    let Some([entity, keys @ ..]) = value.as_list() else {
        return type_error(format!("`{}` needs a list of an instance and a name", call.name));
    };
    if keys.is_empty() {
        return type_error(format!("`{}` needs the name of what to get", call.name));
    }
    Ok((ctx.text(entity)?, keys.to_vec()))
}

/// Names of instances relative to the current one.
const KEYWORDS: [&str; 6] = ["SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "OPERATION_HOST"];

/// The instances that an entity's name means, nearest first.
fn entities(ctx: &Ctx<'_, '_>, name: &str) -> Result<Vec<NodeId>> {
    let tree = ctx.engine.tree;
    let current = ctx.instance();
    let node = tree.node(current);
    Ok(match name {
        "SELF" => vec![current],
        "SOURCE" | "TARGET" if node.kind != NodeKind::Relationship => {
            return missing(format!("`{name}` means something on a relationship only, and `{}` is none", node.name));
        }
        "SOURCE" => node.source.into_iter().collect(),
        "TARGET" => target(tree, current).into_iter().collect(),
        "HOST" => {
            let hosts = hosted_on(tree, owner(ctx, current));
            if hosts.is_empty() { ancestors(tree, current).into_iter().skip(1).collect() } else { hosts }
        }
        "ORCHESTRATOR" => tree.by_name("localhost").into_iter().collect(),
        "OPERATION_HOST" => match ctx.variable("OPERATION_HOST")? {
            Some(Val { data: Data::Node(id), .. }) => vec![id],
            _ => Vec::new(),
        },
        // A type means its first instance.
        _ => {
            let named = tree.find(current, name);
            let of_type = || tree.named_in(current).map(|(_, id)| id).find(|id| is_of(tree, *id, name));
            named.or_else(of_type).into_iter().collect()
        }
    })
}

/// Whether a node is of a type.
fn is_of(tree: &Tree, id: NodeId, name: &str) -> bool {
    tree.node(id).kind == NodeKind::Node && tree.node(id).types.iter().any(|known| known == name)
}

fn owner(ctx: &Ctx<'_, '_>, id: NodeId) -> NodeId {
    let node = ctx.engine.tree.node(id);
    match node.kind {
        NodeKind::Relationship => node.source.unwrap_or(id),
        NodeKind::Capability | NodeKind::Artifact => node.parent.unwrap_or(id),
        _ => id,
    }
}

/// Follows a key into a value. A capability that has no such attribute passes the question on to its node.
fn step(ctx: &Ctx<'_, '_>, value: &Val, key: &Val) -> Result<Option<Val>> {
    match (&value.data, &key.data) {
        (Data::Node(id), Data::Str(name)) => {
            if let Some(found) = named_on(ctx, *id, name)? {
                return Ok(Some(found));
            }
            match (ctx.engine.tree.node(*id).kind, ctx.engine.tree.node(*id).parent) {
                (NodeKind::Capability, Some(node)) => named_on(ctx, node, name),
                _ => Ok(None),
            }
        }
        (_, Data::Int(index)) if is_list(value) => {
            let items = list_items(ctx, value)?;
            Ok(place(*index, items.len()).and_then(|at| items.get(at)).cloned())
        }
        (Data::Str(text), Data::Int(index)) => {
            let at = place(*index, text.chars().count());
            Ok(at.and_then(|at| text.chars().nth(at)).map(|c| Val::str(c.to_string())))
        }
        (_, Data::Str(name)) if is_list(value) || matches!(value.data, Data::Str(_)) => match python::parse_int(name) {
            Some(index) => step(ctx, value, &Val::int(index)),
            None => by_name(ctx, value, name),
        },
        (_, Data::Str(name)) => by_name(ctx, value, name),
        _ => Ok(None),
    }
}

fn follow(ctx: &Ctx<'_, '_>, id: NodeId, keys: &[Val]) -> Result<Option<Val>> {
    let mut value = Val::node(id);
    for key in keys {
        match step(ctx, &value, key)? {
            Some(next) => value = next.taint_if(value.is_tainted() || key.is_tainted()),
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// `get_attribute`
pub fn get_attribute(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (entity, keys) = entity_and_keys(ctx, call)?;
    let tree = ctx.engine.tree;
    for id in entities(ctx, &entity)? {
        // Only instances are asked, not types.
        let is_named = tree.find(ctx.instance(), &entity) == Some(id) || KEYWORDS.contains(&entity.as_str());
        let found = match keys.as_slice() {
            _ if !is_named => None,
            // A name alone is an attribute; requirements and capabilities are steps on the way.
            [key] => ctx.engine.attribute(id, &ctx.text(key)?)?,
            keys => follow(ctx, id, keys)?,
        };
        if let Some(value) = found {
            return Ok(value);
        }
    }
    Ok(Val::null())
}

/// `get_property`
pub fn get_property(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let (entity, keys) = entity_and_keys(ctx, call)?;
    let arguments = value.as_list().unwrap_or_default();
    let lookup = Lookup { tree: ctx.engine.tree, here: ctx.instance(), arguments, when: When::Evaluated };
    match lookup.property() {
        Ok(Found::Property(owner, name, led)) => return written(ctx, owner, &name, arguments.get(led..), led),
        Ok(Found::Unset) => return Ok(Val::null()),
        Ok(Found::Unknown) => {}
        Err(missing) => {
            let error = Error::new(Kind::Missing, missing.message);
            return Err(match missing.hint {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
    }
    let name = keys.first().map(|key| ctx.text(key)).transpose()?.unwrap_or_default();
    let ids = entities(ctx, &entity)?;
    if ids.is_empty() {
        return missing(format!("`get_property` names `{entity}`, which is not there"));
    }
    for id in ids {
        let found = ctx.engine.tree.node(id).attributes.get(&name);
        // Attributes that only instances have are no properties; capabilities and requirements may be named.
        let readable = found.is_none_or(|attribute| attribute.property || attribute.schema.is_some());
        if readable && let Some(value) = follow(ctx, id, &keys)? {
            return Ok(value);
        }
    }
    missing(format!("`get_property` asks for `{name}`, which `{entity}` does not have"))
}

/// A property of a template. As in Unfurl it is evaluated at the location of the query, so a path in it starts there.
fn written(ctx: &Ctx<'_, '_>, owner: NodeId, name: &str, keys: Option<&[Val]>, led: usize) -> Result<Val> {
    let keys = keys.unwrap_or_default();
    let node = ctx.engine.tree.node(owner);
    let whose = if node.kind == NodeKind::Capability { node.parent.unwrap_or(owner) } else { owner };
    let elsewhere = |attribute: &&Attribute| whose != ctx.instance() || attribute.template.is_some();
    let Some(attribute) = node.attributes.get(name).filter(elsewhere) else {
        let mut path = vec![Val::str(name)];
        path.extend_from_slice(keys);
        return Ok(follow(ctx, owner, &path)?.unwrap_or_else(Val::null));
    };
    let part = match part_of(attribute.written().unwrap_or(&attribute.raw), keys, led, name) {
        Ok(part) => part,
        Err(lacking) => return missing(lacking.message),
    };
    if !needs_evaluation(part) && attribute.template.is_none() {
        let mut path = vec![Val::str(name)];
        path.extend_from_slice(keys);
        return Ok(follow(ctx, owner, &path)?.unwrap_or_else(Val::null));
    }
    Ok(ctx.map_value(part)?.taint_if(attribute.sensitive))
}

/// Whether an expression or a template is in a value.
fn needs_evaluation(value: &Val) -> bool {
    match &value.data {
        Data::Str(text) => crate::jinja::is_template(text),
        Data::List(items) => items.iter().any(needs_evaluation),
        Data::Map(entries) => crate::eval::form::Form::of(entries).is_some() || entries.values().any(needs_evaluation),
        _ => false,
    }
}

/// `get_nodes_of_type`
pub fn get_nodes_of_type(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let name = ctx.text(&value)?;
    let tree = ctx.engine.tree;
    let found = tree.named_in(ctx.instance()).filter(|(_, id)| is_of(tree, *id, &name));
    let found: Vec<Val> = found.map(|(_, id)| Val::node(id)).collect();
    if found.is_empty() { Ok(Val::null()) } else { Ok(as_one(found)) }
}

/// `get_artifact`
pub fn get_artifact(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let Some([entity, artifact, ..]) = value.as_list() else {
        return type_error("`get_artifact` needs a list of an instance and an artifact");
    };
    let name = ctx.text(artifact)?;
    if !python::truthy(entity) {
        return Ok(images::image(&name));
    }
    let entity = ctx.text(entity)?;
    let tree = ctx.engine.tree;
    for id in entities(ctx, &entity)? {
        let found = tree.node(id).artifacts.iter().find(|artifact| tree.node(**artifact).name == name);
        if let Some(artifact) = found {
            return handle(ctx, *artifact);
        }
    }
    Ok(Val::null())
}

fn named<'l>(list: &'l [(EcoString, EcoString)], name: &str) -> Option<&'l str> {
    list.iter().find(|(known, _)| known == name).map(|(_, found)| found.as_str())
}

/// An artifact's image, or the full path of its file.
fn handle(ctx: &Ctx<'_, '_>, id: NodeId) -> Result<Val> {
    let node = ctx.engine.tree.node(id);
    let field = |wanted: &str| node.fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    // It may be an expression, evaluated on the artifact.
    let written = field("file").map(|file| ctx.at(Val::node(id)).map_value(file)).transpose()?;
    let Some(file) = written.as_ref().and_then(Val::as_str) else {
        return Ok(Val::null());
    };
    let repository = field("repository").and_then(Val::as_str);
    let image = node.types.iter().any(|name| name.contains("Image.Container") || name.ends_with("ContainerImage"));
    if image {
        let address = repository.and_then(|name| named(&ctx.engine.settings.addresses, name));
        return Ok(match address.map(images::registry) {
            Some(registry) => images::image(&format!("{registry}/{file}")),
            None => images::image(file),
        });
    }
    let folder = repository.and_then(|name| named(&ctx.engine.settings.repositories, name));
    if let (None, Some(name)) = (folder, repository)
        && named(&ctx.engine.settings.addresses, name).is_some_and(|address| address.starts_with("http"))
    {
        let message = format!("the repository `{name}` of the artifact `{}` is not in this project", node.name);
        return Err(Error::new(Kind::Missing, message).hint("clone it, and let its `url` name the folder"));
    }
    let base = folder.or(field("base").and_then(Val::as_str)).unwrap_or("");
    let full = super::files::absolute(ctx, &purlin_value::path::join(base, file));
    let value = Val::str(full.as_str());
    let kind = Handle::File { path: full.into(), encoding: None };
    Ok(External { kind, key: value.clone(), value, select: Vec::new() }.into_val())
}
