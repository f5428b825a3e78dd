//! What references mean: from `[SELF, requirement, property]` to the value that is meant.

use super::{Evaluator, Key, Owner, Scope};
use crate::resolve::Edge;
use crate::topology::{Node, Prop, Props};
use crate::val::{Call, Data, Val};
use ecow::EcoString;

/// What a path has led to so far.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Node(usize),
    Relationship(usize, usize),
}

/// Where a reference leads: a value, and how many arguments it took to name it.
pub(super) type Found = Result<(Key, usize), String>;

impl Evaluator<'_> {
    /// A value that can be referred to, and its scope.
    pub(super) fn find(&self, key: &Key) -> Option<(Prop, Scope)> {
        let pick = |properties: &Props, attributes: &Props| {
            if key.attribute { attributes.get(&key.name).cloned() } else { properties.get(&key.name).cloned() }
        };
        match key.owner {
            Owner::Service => Some((self.topology.inputs.get(&key.name)?.clone(), Scope::default())),
            Owner::Node(index) => {
                let node = self.node_at(index)?;
                Some((pick(&node.properties, &node.attributes)?, Scope::node(index)))
            }
            Owner::Capability(index, capability) => {
                let (_, capability) = self.node_at(index)?.capabilities.get_index(capability)?;
                Some((pick(&capability.properties, &capability.attributes)?, Scope::node(index)))
            }
            Owner::Relationship(source, requirement) => {
                let relationship = self.node_at(source)?.requirements.get(requirement)?.relationship.as_ref()?;
                Some((
                    pick(&relationship.properties, &relationship.attributes)?,
                    Scope::relationship(source, requirement),
                ))
            }
        }
    }

    /// Whether there is such a value.
    pub(crate) fn exists(&self, key: &Key) -> bool {
        self.find(key).is_some()
    }

    fn node_at(&self, index: usize) -> Option<&Node> {
        self.topology.nodes.get_index(index).map(|(_, node)| node)
    }

    /// What people call a value.
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

    /// Where a call that refers to something leads; nothing for other calls and for arguments that must be computed.
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
        let name = args.first().and_then(Val::as_str).ok_or("`get_input` needs the name of an input")?;
        Ok((Key { owner: Owner::Service, attribute: false, name: name.into() }, 1))
    }

    fn path(&self, args: &[Val], attribute: bool, scope: &Scope) -> Found {
        let noun = if attribute { "attribute" } else { "property" };
        let function = if attribute { "get_attribute" } else { "get_property" };
        let [entity, rest @ ..] = args else { return Err(format!("`{function}` needs at least two arguments")) };
        let Some(name) = entity.as_str() else {
            return Err(format!("the first argument of `{function}` must be a name"));
        };
        if rest.is_empty() {
            return Err(format!("`{function}` needs at least two arguments"));
        }
        let mut place = self.entity(name, scope)?;
        let mut used = 1;
        if let (Place::Node(first), Some(Data::Int(index)), true) =
            (place, args.get(1).map(|arg| &arg.data), self.model.edition().is_2())
        {
            let places = self.topology.places(name);
            place = usize::try_from(*index)
                .ok()
                .filter(|index| *index < places.len())
                .map(|index| Place::Node(first + index))
                .ok_or_else(|| {
                    format!("{} nodes are made from `{name}`, so none has the index {index}", places.len())
                })?;
            used = 2;
        }
        // TOSCA 2.0 spells out the way: through capabilities, and along or against relationships.
        while let Some(step) = args.get(used).and_then(Val::as_str).filter(|_| self.model.edition().is_2()) {
            match (step, place) {
                ("CAPABILITY", Place::Node(index)) => {
                    let name = args.get(used + 1).and_then(Val::as_str).unwrap_or("");
                    let capability = self.node_at(index).and_then(|node| node.capabilities.get_index_of(name));
                    let capability = capability.ok_or_else(|| format!("there is no capability `{name}`"))?;
                    if args.get(used + 2).and_then(Val::as_str) == Some("RELATIONSHIP") {
                        let position = index_in(args, used + 3);
                        place = self
                            .leading_to(index, capability, position.unwrap_or(0))
                            .ok_or_else(|| format!("no such relationship leads to the capability `{name}`"))?;
                        used += 3 + usize::from(position.is_some());
                        continue;
                    }
                    let property = args.get(used + 2).and_then(Val::as_str).unwrap_or("");
                    let owner = Owner::Capability(index, capability);
                    return self.existing(Key { owner, attribute, name: property.into() }, used + 3);
                }
                ("RELATIONSHIP", Place::Node(index)) => {
                    let name = args.get(used + 1).and_then(Val::as_str).unwrap_or("");
                    let position = index_in(args, used + 2);
                    place = self
                        .relationship(index, name, position.unwrap_or(0))
                        .ok_or_else(|| format!("there is no relationship for `{name}`"))?;
                    used += 2 + usize::from(position.is_some());
                }
                ("CAPABILITY", Place::Relationship(source, requirement)) => {
                    let edge = self.edge(source, requirement).ok_or("the relationship has no target")?;
                    let property = args.get(used + 1).and_then(Val::as_str).unwrap_or("");
                    let owner = Owner::Capability(edge.target, edge.capability);
                    return self.existing(Key { owner, attribute, name: property.into() }, used + 2);
                }
                ("TARGET", Place::Relationship(source, requirement)) => {
                    place = self.target(source, requirement).ok_or("the relationship has no target")?;
                    used += 1;
                }
                ("SOURCE", Place::Relationship(source, _)) => {
                    place = Place::Node(source);
                    used += 1;
                }
                _ => break,
            }
        }
        let Some(first) = args.get(used).and_then(Val::as_str) else {
            return Err(format!("`{function}` needs the name of a {noun}"));
        };
        let found = match place {
            Place::Relationship(source, requirement) => {
                (Key { owner: Owner::Relationship(source, requirement), attribute, name: first.into() }, used + 1)
            }
            Place::Node(index) => self
                .in_node(index, args, used, attribute)
                .unwrap_or((Key { owner: Owner::Node(index), attribute, name: first.into() }, used + 1)),
        };
        self.existing(found.0, found.1)
    }

    /// A value that is there.
    fn existing(&self, key: Key, used: usize) -> Found {
        if self.find(&key).is_some() {
            return Ok((key, used));
        }
        let noun = if key.attribute { "attribute" } else { "property" };
        let title = self.title(&key);
        let owner = title.rsplit_once('.').map_or("", |(owner, _)| owner);
        Err(format!("there is no {noun} `{}` in `{owner}`", key.name))
    }

    /// A value in a capability, or in the relationship of a requirement.
    fn in_node(&self, index: usize, args: &[Val], used: usize, attribute: bool) -> Option<(Key, usize)> {
        let node = self.node_at(index)?;
        let first = args.get(used)?.as_str()?;
        if let Some(capability) = node.capabilities.get_index_of(first)
            && let Some(name) = args.get(used + 1).and_then(Val::as_str)
        {
            return Some((Key { owner: Owner::Capability(index, capability), attribute, name: name.into() }, used + 2));
        }
        let (position, after) = match args.get(used + 1).map(|arg| &arg.data) {
            Some(Data::Int(number)) => (usize::try_from(*number).ok()?, used + 2),
            _ => (0, used + 1),
        };
        let name = args.get(after)?.as_str()?;
        match self.relationship(index, first, position)? {
            Place::Relationship(source, requirement) => {
                Some((Key { owner: Owner::Relationship(source, requirement), attribute, name: name.into() }, after + 1))
            }
            Place::Node(_) => None,
        }
    }

    /// The n-th resolved relationship of a requirement.
    fn relationship(&self, index: usize, name: &str, position: usize) -> Option<Place> {
        let node = self.node_at(index)?;
        let edges = self.resolution?.edges.get(index)?;
        let mut named =
            edges.iter().filter(|edge| node.requirements.get(edge.requirement).is_some_and(|r| r.name == name));
        let edge = named.nth(position)?;
        Some(Place::Relationship(index, edge.requirement))
    }

    fn target(&self, source: usize, requirement: usize) -> Option<Place> {
        Some(Place::Node(self.edge(source, requirement)?.target))
    }

    /// The edge that meets a requirement, or would.
    fn edge(&self, source: usize, requirement: usize) -> Option<&Edge> {
        let considered = self.considered.as_ref();
        considered
            .filter(|edge| edge.source == source && edge.requirement == requirement)
            .or_else(|| self.resolution?.edge(source, requirement))
    }

    /// The n-th relationship that leads to a capability, by the order of sources.
    fn leading_to(&self, node: usize, capability: usize, position: usize) -> Option<Place> {
        let resolution = self.resolution?;
        let incoming = self.incoming.get_or_init(|| {
            let mut out = super::Incoming::default();
            for edge in resolution.edges.iter().flatten() {
                out.entry((edge.target, edge.capability)).or_default().push((edge.source, edge.requirement));
            }
            out
        });
        let (source, requirement) = incoming.get(&(node, capability))?.get(position)?;
        Some(Place::Relationship(*source, *requirement))
    }

    /// Which of the relationships of one requirement this is.
    pub(super) fn relationship_index(&self, source: usize, requirement: usize) -> Option<usize> {
        let all = &self.node_at(source)?.requirements;
        let name = &all.get(requirement)?.name;
        Some(all.iter().take(requirement).filter(|other| other.name == *name).count())
    }

    /// What the first argument of a reference names.
    pub(super) fn entity(&self, name: &str, scope: &Scope) -> Result<Place, String> {
        match (name, scope.node, scope.relationship) {
            ("SELF", _, Some((source, requirement))) => Ok(Place::Relationship(source, requirement)),
            ("SELF", Some(node), None) => Ok(Place::Node(node)),
            ("SOURCE", _, Some((source, _))) => Ok(Place::Node(source)),
            ("TARGET", _, Some((source, requirement))) => {
                self.target(source, requirement).ok_or_else(|| "the relationship has no target yet".to_owned())
            }
            ("HOST", Some(node), _) => {
                self.host(node).map(Place::Node).ok_or_else(|| format!("`{}` has no host", self.node_name(node)))
            }
            ("SELF" | "SOURCE" | "TARGET" | "HOST", ..) => Err(format!("`{name}` means nothing here")),
            _ => {
                let node = self.topology.places(name).next();
                node.map(Place::Node).ok_or_else(|| {
                    let near = crate::suggest::nearest(name, self.topology.nodes.keys().map(|name| name.as_str()));
                    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    format!("there is no node template `{name}`{hint}")
                })
            }
        }
    }

    fn node_name(&self, index: usize) -> EcoString {
        self.topology.nodes.get_index(index).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// The node that a node lives on.
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

/// The index at a place in a path, if there is one.
fn index_in(args: &[Val], at: usize) -> Option<usize> {
    match args.get(at).map(|arg| &arg.data) {
        Some(Data::Int(number)) => usize::try_from(*number).ok(),
        _ => None,
    }
}
