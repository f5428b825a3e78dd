//! References: from `[SELF, requirement, property]` to the values they mean.

use super::walk::{Astray, Place};
use super::{Evaluator, Key, Owner, Scope};
use crate::edition::Standard;
use crate::quirks;
use crate::resolve::Edge;
use crate::topology::{Node, Prop, Props};
use crate::val::{Call, Data, Val};
use ecow::EcoString;
use purlin_syntax::what;

/// The target of a reference.
#[derive(Debug)]
pub(super) struct Reference {
    /// The values: one, unless it is a list.
    pub keys: Vec<Key>,
    /// Whether the result is a list, even of a single value.
    pub listed: bool,
    /// The number of arguments used.
    pub used: usize,
}

pub(super) type Found = Result<Reference, Astray>;

impl Reference {
    fn one(key: Key, used: usize) -> Self {
        Reference { keys: vec![key], listed: false, used }
    }
}

impl<'a> Evaluator<'a> {
    /// A value that can be referred to, and its scope.
    pub(super) fn find(&self, key: &Key) -> Option<(Prop, Scope)> {
        let scope = match key.owner {
            Owner::Service => Scope::default(),
            Owner::Node(index) | Owner::Capability(index, _) => Scope::node(index),
            Owner::Relationship(source, requirement) => Scope::relationship(source, requirement),
        };
        Some((self.standing(key)?.clone(), scope))
    }

    /// A value that can be referred to, as written in the service.
    pub(super) fn standing(&self, key: &Key) -> Option<&Prop> {
        let pick = |properties: &'a Props, attributes: &'a Props| {
            if key.attribute { attributes.get(&key.name) } else { properties.get(&key.name) }
        };
        match key.owner {
            Owner::Service => {
                self.varies.set(true);
                self.topology.inputs.get(&key.name)
            }
            Owner::Node(index) => {
                let node = self.node_at(index)?;
                pick(&node.properties, &node.attributes)
            }
            Owner::Capability(index, capability) => {
                let (_, capability) = self.node_at(index)?.capabilities.get_index(capability)?;
                pick(&capability.properties, &capability.attributes)
            }
            Owner::Relationship(source, requirement) => {
                let relationship = self.node_at(source)?.requirements.get(requirement)?.relationship.as_ref()?;
                pick(&relationship.properties, &relationship.attributes)
            }
        }
    }

    /// Whether the value exists.
    pub(crate) fn exists(&self, key: &Key) -> bool {
        self.standing(key).is_some()
    }

    pub(super) fn node_at(&self, index: usize) -> Option<&'a Node> {
        self.topology.nodes.get_index(index).map(|(_, node)| &**node)
    }

    /// The display name of a value.
    pub(super) fn title(&self, key: &Key) -> String {
        let node = |index: usize| self.topology.nodes.get_index(index).map(|(name, _)| name.as_str()).unwrap_or("?");
        match key.owner {
            Owner::Service => key.name.to_string(),
            Owner::Node(index) => format!("{}.{}", node(index), key.name),
            Owner::Capability(index, capability) => {
                let capability = self
                    .node_at(index)
                    .and_then(|node| node.capabilities.get_index(capability))
                    .map(|(name, _)| name.as_str());
                format!("{}.{}.{}", node(index), capability.unwrap_or("?"), key.name)
            }
            Owner::Relationship(source, requirement) => {
                let requirement =
                    self.node_at(source).and_then(|node| node.requirements.get(requirement)).map(|r| r.name.as_str());
                format!("{}.{}.{}", node(source), requirement.unwrap_or("?"), key.name)
            }
        }
    }

    /// The target of a reference call; none for other calls and for computed arguments.
    pub(super) fn reference(&self, call: &Call, scope: &Scope) -> Option<Found> {
        if call.args.iter().any(Val::has_call) {
            return None;
        }
        self.reference_of(&call.name, &call.args, scope)
    }

    pub(super) fn reference_of(&self, name: &str, args: &[Val], scope: &Scope) -> Option<Found> {
        match name {
            "get_input" => Some(self.input(args)),
            "get_property" => Some(self.path(args, false, scope)),
            "get_attribute" => Some(self.path(args, true, scope)),
            _ => None,
        }
    }

    fn input(&self, args: &[Val]) -> Found {
        let name = args.first().and_then(Val::as_str);
        let name =
            name.ok_or_else(|| Astray::Never(what::called("get_input", "`get_input` needs the name of an input")))?;
        Ok(Reference::one(Key { owner: Owner::Service, attribute: false, name: name.into() }, 1))
    }

    fn path(&self, args: &[Val], attribute: bool, scope: &Scope) -> Found {
        let noun = if attribute { "attribute" } else { "property" };
        let function = if attribute { "get_attribute" } else { "get_property" };
        let [entity, _, ..] = args else {
            return Err(Astray::Never(what::called(function, format!("`{function}` needs at least two arguments"))));
        };
        let Some(name) = entity.as_str() else {
            return Err(Astray::Never(what::must_be(format!("the first argument of `{function}`"), "a name")));
        };
        let needs_name = || Astray::Never(what::called(function, format!("`{function}` needs the name of a {noun}")));
        if !self.model.edition().is_2() {
            let first = args.get(1).and_then(Val::as_str).ok_or_else(needs_name)?;
            let place = self.entity(name, scope)?;
            return self.in_place(place, args, 1, attribute, first);
        }
        let walk = self.walk(args, scope)?;
        let first = args.get(walk.used).and_then(Val::as_str).ok_or_else(needs_name)?;
        if let ([place], false) = (walk.places.as_slice(), walk.listed) {
            return self.in_place(*place, args, walk.used, attribute, first);
        }
        let mut keys = Vec::with_capacity(walk.places.len());
        let mut used = walk.used + 1;
        for place in &walk.places {
            let found = self.in_place(*place, args, walk.used, attribute, first)?;
            used = found.used;
            keys.extend(found.keys);
        }
        Ok(Reference { keys, listed: true, used })
    }

    /// A value of the place that a path has led to.
    fn in_place(&self, place: Place, args: &[Val], used: usize, attribute: bool, name: &str) -> Found {
        let own = |owner: Owner| (Key { owner, attribute, name: name.into() }, used + 1);
        let (key, used) = match place {
            Place::Relationship(source, requirement) => own(Owner::Relationship(source, requirement)),
            Place::Capability(node, capability) => own(Owner::Capability(node, capability)),
            Place::Node(index) => self.in_node(index, args, used, attribute).unwrap_or_else(|| own(Owner::Node(index))),
        };
        self.existing(key, used)
    }

    /// An existing value. Every property is also an attribute, with the same initial value.
    fn existing(&self, key: Key, used: usize) -> Found {
        if self.exists(&key) {
            return Ok(Reference::one(key, used));
        }
        let reflects = self.model.edition().is_2() || self.model.allows(quirks::ATTRIBUTES_REFLECT);
        if key.attribute && reflects {
            let reflected = Key { attribute: false, ..key.clone() };
            if self.exists(&reflected) {
                return Ok(Reference::one(reflected, used));
            }
        }
        let noun = if key.attribute { "attribute" } else { "property" };
        let title = self.title(&key);
        let owner = title.rsplit_once('.').map_or("", |(owner, _)| owner);
        // A declared attribute may still get a value.
        Err(if self.is_declared(&key) {
            Astray::NotYet(what::about([&key.name], format!("the {noun} `{}` of `{owner}` is not set", key.name)))
        } else {
            Astray::Never(what::unknown(noun, &key.name).and(format!(" in `{owner}`")))
        })
    }

    /// Whether the type of its owner declares a value, or is not known well enough to decide.
    fn is_declared(&self, key: &Key) -> bool {
        let node = |index: usize| self.node_at(index);
        let declares = |id: Option<crate::names::DeclId>| {
            let complete = id.and_then(|id| self.model.complete(id));
            complete.is_none_or(|complete| {
                ["properties", "attributes"].iter().any(|slot| complete.named(slot, &key.name).is_some())
            })
        };
        match key.owner {
            Owner::Service => false,
            Owner::Node(index) => node(index).is_none_or(|node| node.partial || declares(Some(node.node_type))),
            Owner::Capability(index, capability) => {
                let found = node(index).and_then(|node| node.capabilities.get_index(capability));
                found.is_none_or(|(_, capability)| declares(capability.capability_type))
            }
            Owner::Relationship(source, requirement) => {
                let found = node(source).and_then(|node| node.requirements.get(requirement));
                let relationship = found.and_then(|requirement| requirement.relationship.as_ref());
                relationship.is_some_and(|relationship| declares(relationship.relationship_type))
            }
        }
    }

    /// A value in a capability, or in the relationship of a requirement.
    fn in_node(&self, index: usize, args: &[Val], used: usize, attribute: bool) -> Option<(Key, usize)> {
        let node = self.node_at(index)?;
        let first = args.get(used)?.as_str()?;
        if let Some(capability) = node.capabilities.get_index_of(first)
            && let Some(name) = args.get(used + 1).and_then(Val::as_str)
        {
            let key = Key { owner: Owner::Capability(index, capability), attribute, name: name.into() };
            // A requirement of that name is meant if it leads to the value and the capability cannot have it.
            let required = || self.beyond_requirement(index, args, used, attribute);
            let is_wanted =
                self.model.allows(quirks::REACH) && !self.is_declared(&key) && self.existing(key.clone(), 0).is_err();
            let found = is_wanted.then(required).flatten().filter(|(key, _)| self.existing(key.clone(), 0).is_ok());
            return Some(found.unwrap_or((key, used + 2)));
        }
        self.beyond_requirement(index, args, used, attribute)
    }

    /// A value in the relationship of a requirement, or at its other end.
    fn beyond_requirement(&self, index: usize, args: &[Val], used: usize, attribute: bool) -> Option<(Key, usize)> {
        let first = args.get(used)?.as_str()?;
        let (position, after) = match args.get(used + 1).map(|arg| &arg.data) {
            Some(Data::Int(number)) => (usize::try_from(*number).ok()?, used + 2),
            _ => (0, used + 1),
        };
        let name = args.get(after)?.as_str()?;
        let requirement = self.relationship(index, first, position)?;
        let of_relationship = Owner::Relationship(index, requirement);
        // A value missing in the relationship may be that of the capability at its other end, or of the node.
        let edge = self.edge(index, requirement).filter(|_| self.model.allows(quirks::REACH));
        let beyond = edge.map(|edge| [Owner::Capability(edge.target, edge.capability), Owner::Node(edge.target)]);
        let key = |owner: Owner| Key { owner, attribute, name: name.into() };
        let found = beyond.into_iter().flatten().find(|owner| self.existing(key(*owner), 0).is_ok());
        let has_it = self.existing(key(of_relationship), 0).is_ok();
        Some((key(found.filter(|_| !has_it).unwrap_or(of_relationship)), after + 1))
    }

    /// The n-th resolved relationship of a requirement.
    fn relationship(&self, index: usize, name: &str, position: usize) -> Option<usize> {
        self.relationships_of(index).by_name.get(name)?.made.get(position).copied()
    }

    fn target(&self, source: usize, requirement: usize) -> Option<Place> {
        Some(Place::Node(self.edge(source, requirement)?.target))
    }

    /// The edge that meets a requirement, or would.
    pub(super) fn edge(&self, source: usize, requirement: usize) -> Option<&Edge> {
        let considered = self.considered.as_ref();
        if let Some(edge) = considered.filter(|edge| edge.source == source && edge.requirement == requirement) {
            self.tentative.set(true);
            return Some(edge);
        }
        self.resolution?.edge(source, requirement)
    }

    /// The index among the relationships of one requirement.
    pub(super) fn relationship_index(&self, source: usize, requirement: usize) -> Option<usize> {
        self.relationships_of(source).index.get(requirement).copied()
    }

    /// The entity named by the first argument of a reference.
    pub(super) fn entity(&self, name: &str, scope: &Scope) -> Result<Place, Astray> {
        match (name, scope.node, scope.relationship) {
            ("SELF", _, Some((source, requirement))) => Ok(Place::Relationship(source, requirement)),
            ("SELF", Some(node), None) => Ok(Place::Node(node)),
            ("SOURCE", _, Some((source, _))) => Ok(Place::Node(source)),
            ("TARGET", _, Some((source, requirement))) => {
                self.target(source, requirement).ok_or_else(|| self.no_target(source, requirement))
            }
            ("HOST", Some(node), _) => {
                let none = || Astray::NotYet(format!("`{}` has no host", self.node_name(node)).into());
                let edges = self.resolution.and_then(|resolution| resolution.edges.get(node)).map_or(0, Vec::len);
                self.spend(edges as u64).map_err(Astray::Never)?;
                self.host(node).map(Place::Node).ok_or_else(none)
            }
            ("SELF" | "SOURCE" | "TARGET" | "HOST", ..) => {
                Err(Astray::NotYet(format!("`{name}` means nothing here").into()))
            }
            _ => {
                let node = self.topology.places(name).next().map(Place::Node);
                let made = || self.made_from(name)?.first().map(|(source, at)| Place::Relationship(*source, *at));
                node.or_else(made).ok_or_else(|| self.no_such_node(name))
            }
        }
    }

    pub(super) fn no_such_node(&self, name: &str) -> Astray {
        if self.made_from(name).is_some() {
            return Astray::Never(what::about(
                [name],
                format!("no requirement uses the relationship template `{name}`"),
            ));
        }
        let hint = hint(name, self.topology.nodes.keys().map(|name| name.as_str()));
        Astray::Never(what::unknown("node template", name).hint(hint))
    }

    pub(super) fn node_name(&self, index: usize) -> EcoString {
        self.topology.nodes.get_index(index).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// The display name of a capability of a node.
    pub(super) fn capability_name(&self, node: usize, capability: usize) -> String {
        let name = self.node_at(node).and_then(|node| node.capabilities.get_index(capability)).map(|(name, _)| name);
        format!("{}.{}", self.node_name(node), name.map_or("?", |name| name.as_str()))
    }

    /// The host of a node.
    fn host(&self, node: usize) -> Option<usize> {
        let requirements = &self.node_at(node)?.requirements;
        self.resolution?
            .edges
            .get(node)?
            .iter()
            .find(|edge| {
                let relationship =
                    requirements.get(edge.requirement).and_then(|requirement| requirement.relationship.as_ref());
                relationship
                    .and_then(|relationship| relationship.relationship_type)
                    .is_some_and(|id| self.is_hosting(id))
            })
            .map(|edge| edge.target)
    }

    fn is_hosting(&self, id: crate::names::DeclId) -> bool {
        self.model.hierarchy.lineage(id).any(|id| {
            let notes = self.model.names.decl(id).and_then(|decl| decl.entity.value("metadata"));
            notes.and_then(|notes| notes.get("role")).and_then(Val::as_str) == Some("host")
        })
    }
}

/// A similar name that may have been meant.
pub(super) fn hint<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<purlin_syntax::Hint> {
    crate::suggest::did_you_mean(name, known)
}
