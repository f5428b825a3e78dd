//! Resolves the arguments of `get_property` and `get_attribute`. TOSCA's functions read templates: a requirement means
//! the capability of its own name at the target node, and `HOST` the nearest node along requirements that declares the
//! name. Must not evaluate anything.

use crate::eval::form::Form;
use crate::eval::status::target;
use crate::tree::{Node, NodeId, NodeKind, Tree};
use crate::val::{Data, MapKey, Val};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_syntax::Message;
use purlin_syntax::what;
use std::collections::HashSet;

/// The time of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// While the service template is read: a requirement that only a type declares has no target yet.
    Read,
    /// While an expression is evaluated.
    Evaluated,
}

/// The result of `get_property`.
#[derive(Debug)]
pub enum Found {
    /// A property of a node or of a capability, and how many arguments led to it.
    Property(NodeId, EcoString, usize),
    /// A property that is declared and has no value.
    Unset,
    /// Templates do not determine it.
    Unknown,
}

/// Why a lookup fails: the wrong argument, and a hint.
#[derive(Debug)]
pub struct Missing {
    pub argument: usize,
    pub message: Message,
    pub hint: Option<Hint>,
}

type Looked<T> = Result<T, Box<Missing>>;

fn missing<T>(argument: usize, message: impl Into<Message>, hint: Option<Hint>) -> Looked<T> {
    Err(Box::new(Missing { argument, message: message.into(), hint }))
}

/// An argument as a name; null and numbers become names that do not exist.
fn word(argument: &Val) -> Option<EcoString> {
    match &argument.data {
        Data::Str(text) => Some(text.as_str().into()),
        Data::Null => Some("None".into()),
        Data::Int(number) => Some(ecow::eco_format!("{number}")),
        _ => None,
    }
}

/// A function call being checked: its owner, its arguments, and when.
#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    pub tree: &'a Tree,
    pub here: NodeId,
    pub arguments: &'a [Val],
    pub when: When,
}

impl<'a> Lookup<'a> {
    /// The result of `get_property`.
    pub fn property(&self) -> Looked<Found> {
        let [entity, name, rest @ ..] = self.arguments else { return Ok(Found::Unknown) };
        let (Some(entity), Some(name)) = (entity.as_str(), word(name)) else { return Ok(Found::Unknown) };
        let name = name.as_str();
        let Some(id) = self.node(entity, &|lookup, node| lookup.has_property(node, name, rest.first()))? else {
            return Ok(Found::Unknown);
        };
        let node = self.tree.node(id);
        let Some(declared) = node.declared.as_ref().filter(|_| is_complete(node)) else { return Ok(Found::Unknown) };
        if set_property(node, name).is_some() {
            return self.inside(id, name, 2);
        }
        let Some(part) = rest.first() else {
            if declared.properties.iter().any(|known| known == name) {
                return Ok(Found::Unset);
            }
            let is_attribute = declared.attributes.iter().any(|(known, _)| known == name);
            let hint = is_attribute.then(|| "it is an attribute: write `get_attribute`".into());
            let names = node.attributes.iter().filter(|(_, attribute)| attribute.property).map(|(name, _)| name);
            return missing(
                1,
                what::lacking(format!("`{}`", node.name), "property", name),
                hint.or_else(|| near(name, names)),
            );
        };
        let Some(part) = word(part) else { return Ok(Found::Unknown) };
        let part = part.as_str();
        let (capability, owner) = self.capability(id, name)?;
        let found = self.tree.node(capability);
        if set_property(found, part).is_some() {
            return self.inside(capability, part, 3);
        }
        if found.declared.as_ref().is_some_and(|declared| declared.properties.iter().any(|known| known == part)) {
            let message = format!("`{part}` of the capability `{name}` is not set");
            return missing(2, message, Some("assign it, or give it a default".into()));
        }
        let message = what::lacking(format!("the capability `{name}` of `{owner}`"), "property", part);
        missing(2, message, near(part, found.attributes.keys()))
    }

    /// Whether `get_attribute` names a member of its template.
    pub fn attribute(&self) -> Looked<()> {
        let [entity, name, rest @ ..] = self.arguments else { return Ok(()) };
        let (Some(entity), Some(name)) = (entity.as_str(), name.as_str()) else { return Ok(()) };
        let Some(id) = self.node(entity, &|lookup, node| lookup.has_attribute(node, name, rest.first()))? else {
            return Ok(());
        };
        let node = self.tree.node(id);
        let Some(declared) = node.declared.as_ref().filter(|_| is_complete(node)) else { return Ok(()) };
        let known = declared.attributes.iter().find(|(known, _)| known == name);
        let Some(part) = rest.first() else {
            if known.is_some() || set_property(node, name).is_some() {
                return Ok(());
            }
            let is_property = declared.properties.iter().any(|known| known == name);
            let hint = is_property.then(|| "it is a property that is not set: assign it".into());
            let hint = hint.or_else(|| near(name, node.attributes.keys()));
            return missing(1, what::lacking(format!("`{}`", node.name), "attribute", name), hint);
        };
        if let Some((_, kind)) = known {
            return indexed(kind, name, part, 2);
        }
        if set_property(node, name).is_some() {
            let message = format!("`{name}` is a property, and `get_attribute` reads parts of attributes only");
            return missing(1, message, Some("write `get_property`".into()));
        }
        let Some(part) = part.as_str() else { return Ok(()) };
        let (capability, owner) = self.capability(id, name)?;
        let found = self.tree.node(capability);
        let attributes = found.declared.as_ref().map(|declared| declared.attributes.as_slice()).unwrap_or_default();
        match attributes.iter().find(|(known, _)| known == part) {
            Some((_, kind)) => rest.get(1).map_or(Ok(()), |next| indexed(kind, part, next, 3)),
            None => {
                let is_property = set_property(found, part).is_some();
                let hint = is_property.then(|| "it is a property: write `get_property`".into());
                let hint = hint.or_else(|| near(part, attributes.iter().map(|(name, _)| name)));
                missing(2, what::lacking(format!("the capability `{name}` of `{owner}`"), "attribute", part), hint)
            }
        }
    }

    /// The node that the first argument means; none if templates do not determine it.
    fn node(&self, entity: &str, declares: &dyn Fn(&Self, &Node) -> bool) -> Looked<Option<NodeId>> {
        let node = self.tree.node(self.here);
        let owner = match node.kind {
            NodeKind::Capability | NodeKind::Artifact => node.parent.unwrap_or(self.here),
            _ => self.here,
        };
        Ok(match entity {
            // Evaluated, it is what has the value, which may be a capability.
            "SELF" if self.when == When::Evaluated => Some(self.here),
            "SELF" => Some(owner),
            "SOURCE" | "TARGET" if node.kind == NodeKind::Node && self.when == When::Read => {
                let message = format!("`{entity}` means something on a relationship only");
                return missing(0, message, Some("use `SELF`, or the name of a node".into()));
            }
            "SOURCE" if node.kind == NodeKind::Relationship => node.source,
            "TARGET" if node.kind == NodeKind::Relationship => target(self.tree, self.here),
            "HOST" if self.tree.node(owner).kind == NodeKind::Node => self.host(owner, declares)?,
            "HOST" | "SOURCE" | "TARGET" | "ORCHESTRATOR" | "OPERATION_HOST" => None,
            name => self.tree.find(self.here, name).or_else(|| self.of_template(name)).or_else(|| self.of_type(name)),
        })
    }

    /// The first instance of a template, which may have another name.
    fn of_template(&self, name: &str) -> Option<NodeId> {
        let mut nodes = self.tree.named_in(self.here).map(|(_, id)| id);
        nodes.find(|id| {
            let node = self.tree.node(*id);
            node.kind == NodeKind::Node && node.template == name
        })
    }

    fn of_type(&self, name: &str) -> Option<NodeId> {
        let mut nodes = self.tree.named_in(self.here).map(|(_, id)| id);
        nodes.find(|id| {
            let node = self.tree.node(*id);
            node.kind == NodeKind::Node && node.types.iter().any(|known| known == name)
        })
    }

    /// The nearest node along first requirements that declares the requested name.
    fn host(&self, start: NodeId, declares: &dyn Fn(&Self, &Node) -> bool) -> Looked<Option<NodeId>> {
        let mut seen = HashSet::from([start]);
        let mut at = start;
        while let Some(next) = self.requirements(at).find_map(|(_, target)| target) {
            if self.tree.node(next).declared.is_none() {
                return Ok(None);
            }
            if declares(self, self.tree.node(next)) {
                return Ok(Some(next));
            }
            if !seen.insert(next) {
                break;
            }
            at = next;
        }
        if self.tree.node(start).declared.is_none() {
            return Ok(None);
        }
        let start = &self.tree.node(start).name;
        let asked = self.arguments.get(1).and_then(Val::as_str).unwrap_or_default();
        missing(0, format!("no node that `{start}` requires has `{asked}`, so `HOST` means nothing here"), None)
    }

    fn has_property(&self, node: &Node, name: &str, part: Option<&Val>) -> bool {
        let declared = node.declared.as_ref();
        declared.is_some_and(|declared| declared.properties.iter().any(|known| known == name))
            || part.and_then(Val::as_str).is_some_and(|part| {
                self.own_capability(node, name).is_some_and(|id| set_property(self.tree.node(id), part).is_some())
            })
    }

    fn has_attribute(&self, node: &Node, name: &str, part: Option<&Val>) -> bool {
        let has = |node: &Node, name: &str| {
            let declared = node.declared.as_ref();
            declared.is_some_and(|declared| declared.attributes.iter().any(|(known, _)| known == name))
        };
        has(node, name)
            || part
                .and_then(Val::as_str)
                .is_some_and(|part| self.own_capability(node, name).is_some_and(|id| has(self.tree.node(id), part)))
    }

    /// Requirements of a node with a target so far, and their targets.
    fn requirements(&self, id: NodeId) -> impl Iterator<Item = (&'a EcoString, Option<NodeId>)> {
        let (tree, when) = (self.tree, self.when);
        tree.node(id).requirements.iter().filter_map(move |relationship| {
            let requirement = tree.node(*relationship).requirement.as_ref()?;
            (when == When::Evaluated || requirement.assigned).then(|| (&requirement.name, target(tree, *relationship)))
        })
    }

    fn own_capability(&self, node: &Node, name: &str) -> Option<NodeId> {
        node.capabilities.iter().copied().find(|capability| self.tree.node(*capability).name == name)
    }

    /// The capability that a requirement or capability of a node means, and the name of its node.
    fn capability(&self, id: NodeId, name: &str) -> Looked<(NodeId, EcoString)> {
        let node = self.tree.node(id);
        let leads = self.requirements(id).find(|(known, _)| *known == name);
        let owner = match leads {
            Some((_, Some(target))) => self.tree.node(target),
            _ => node,
        };
        if let Some(capability) = self.own_capability(owner, name) {
            return Ok((capability, owner.name.clone()));
        }
        if leads.is_some() {
            let message =
                format!("the requirement `{name}` leads to `{}`, which has no capability of that name", owner.name);
            let part = self.arguments.get(2).and_then(Val::as_str).unwrap_or_default();
            let whose = if id == self.here { String::new() } else { format!("::{}::", node.name) };
            let hint = format!("to read the node itself, write `eval: {whose}.targets::{name}::{part}`");
            return missing(1, message, Some(hint.into()));
        }
        let requirements = node.requirements.iter().filter_map(|id| self.tree.node(*id).requirement.as_ref());
        if self.when == When::Read && requirements.into_iter().any(|requirement| requirement.name == name) {
            let message = format!("`{}` does not assign the requirement `{name}`", node.name);
            return missing(1, message, Some("assign it under `requirements`".into()));
        }
        let message = format!("`{}` has no property, capability or assigned requirement `{name}`", node.name);
        let capabilities = node.capabilities.iter().map(|id| &self.tree.node(*id).name);
        missing(1, message, near(name, node.attributes.keys().chain(capabilities)))
    }

    /// Whether the remaining arguments lead into a property as written.
    fn inside(&self, id: NodeId, name: &str, led: usize) -> Looked<Found> {
        let Some(raw) = set_property(self.tree.node(id), name) else { return Ok(Found::Unknown) };
        part_of(raw, self.arguments.get(led..).unwrap_or_default(), led, name)?;
        Ok(Found::Property(id, name.into(), led))
    }
}

/// The part of a property, as written, at a path of keys.
pub fn part_of<'v>(raw: &'v Val, keys: &[Val], led: usize, name: &str) -> Looked<&'v Val> {
    let mut value = raw;
    for (at, key) in keys.iter().enumerate() {
        let argument = led + at;
        let shown = || key.as_str().map_or_else(|| int_of(key).unwrap_or_default().to_string(), str::to_owned);
        value = match &value.data {
            Data::List(items) => {
                let index = int_of(key).or_else(|| key.as_str()?.trim().parse().ok());
                let Some(index) = index else {
                    return missing(
                        argument,
                        what::expected("an index", format!("`{}`", shown())).under(format!("`{name}` is a list: ")),
                        None,
                    );
                };
                let place = if index < 0 { index + items.len() as i64 } else { index };
                let item = usize::try_from(place).ok().and_then(|place| items.get(place));
                match item {
                    Some(item) => item,
                    None => {
                        let message = format!("`{name}` has {} items, and no index `{index}`", items.len());
                        return missing(argument, message, Some("indexes count from 0".into()));
                    }
                }
            }
            Data::Map(entries) if Form::of(entries).is_none() => {
                match key.as_str().and_then(|key| entries.get(&MapKey::from(key))) {
                    Some(item) => item,
                    None => {
                        let names: Vec<EcoString> =
                            entries.keys().filter_map(|key| key.as_str().map(EcoString::from)).collect();
                        let message = what::lacking(format!("`{name}`"), "key", shown());
                        return missing(argument, message, near(&shown(), names.iter()));
                    }
                }
            }
            Data::Map(_) => {
                let message =
                    format!("`{name}` is an expression, and `get_property` reads parts of written values only");
                return missing(argument, message, Some("write `eval` with a path instead".into()));
            }
            _ => return missing(argument, format!("`{name}` is not a mapping, so it has no `{}`", shown()), None),
        };
    }
    Ok(value)
}

/// Whether keys may lead into an attribute of a type.
fn indexed(kind: &str, name: &str, key: &Val, argument: usize) -> Looked<()> {
    match kind {
        "list" if int_of(key).is_none() => missing(argument, format!("`{name}` is a list and needs an index"), None),
        "string" | "integer" | "float" | "boolean" | "timestamp" | "version" => {
            missing(argument, format!("`{name}` is of type `{kind}` and has no parts"), None)
        }
        _ => Ok(()),
    }
}

/// Whether the template declares all members of the node: not if another node replaces it or a job adds more.
fn is_complete(node: &Node) -> bool {
    node.shadow.is_none() && !node.attributes.contains_key(".interfaces")
}

/// A property that has a value, as written.
fn set_property<'t>(node: &'t Node, name: &str) -> Option<&'t Val> {
    node.attributes.get(name)?.written().filter(|raw| !raw.is_null())
}

fn int_of(value: &Val) -> Option<i64> {
    match value.data {
        Data::Int(number) => Some(number),
        _ => None,
    }
}

fn near<'n>(name: &str, known: impl Iterator<Item = &'n EcoString>) -> Option<Hint> {
    purlin_syntax::suggest::did_you_mean(name, known.map(EcoString::as_str))
}
