//! Instances that a manifest stores or specifies: which there are, and their status, state and saved attributes.

use crate::ensemble::build::Builder;
use crate::tree::{Attribute, Node, NodeId, NodeKind, Priority, State, Status};
use crate::val::Val;
use ecow::EcoString;
use purlin_tosca::entities;
use std::rc::Rc;

impl Builder<'_> {
    /// The manifest's data of instances: their status, state and saved attributes.
    pub(in crate::ensemble) fn stored(&mut self, document: &Val) {
        let status = document.get("status").and_then(|status| status.get("instances"));
        let spec = document.get("spec").and_then(|spec| spec.get("instances"));
        for (instances, saved) in [(spec, false), (status, true)] {
            if let Some(instances) = instances {
                self.saved_below(instances, self.root, saved, 0);
            }
        }
        self.named_parents(spec);
    }

    /// An instance that is specified may name its parent.
    fn named_parents(&mut self, spec: Option<&Val>) {
        for (name, said) in spec.and_then(Val::as_map).into_iter().flatten() {
            let named = |value: Option<&str>| value.and_then(|name| self.tree.by_name(name));
            let (id, parent) = (named(name.as_str()), named(said.get("parent").and_then(Val::as_str)));
            if let (Some(id), Some(parent)) = (id, parent)
                && !self.is_within(parent, id)
            {
                self.tree.move_to(id, parent);
            }
        }
    }

    /// Whether an instance is another one, or below it.
    fn is_within(&self, id: NodeId, outer: NodeId) -> bool {
        std::iter::successors(Some(id), |id| self.tree.node(*id).parent).take(self.ids.len() + 2).any(|id| id == outer)
    }

    pub(in crate::ensemble) fn saved_below(&mut self, instances: &Val, parent: NodeId, saved: bool, depth: usize) {
        if depth > crate::limits::MAX_DEPTH {
            return;
        }
        for (name, said) in instances.as_map().into_iter().flatten() {
            let Some(name) = name.as_str() else { continue };
            let id = match self.tree.find(self.root, name) {
                Some(id) => id,
                None => {
                    let mut node = Node::new(name, NodeKind::Node);
                    node.parent = Some(parent);
                    node.local_status = Some(Status::Ok);
                    node.template = name.into();
                    node.types = self.inline_type(said.get("template"));
                    self.tree.add_to(self.root, node)
                }
            };
            self.describe(id, said);
            // An instance stored by a job without a status can be in any state; one specified by a user exists.
            if let Some(node) = self.tree.node_mut(id).filter(|_| said.get("readyState").is_none()) {
                node.local_status = if saved { None } else { Some(Status::Ok) };
            }
            if depth > 0 {
                self.tree.move_to(id, parent);
            }
            if let Some(inner) = said.get("instances").filter(|_| saved) {
                self.saved_below(inner, id, saved, depth + 1);
            }
        }
    }

    /// The type of an instance without a template of its own: the one written with it, or the common one.
    fn inline_type(&mut self, template: Option<&Val>) -> Rc<Vec<EcoString>> {
        let service = Rc::clone(self.service);
        let file = service.model.files.root().map(|root| root.id);
        let named = template.and_then(|template| template.get("type")).and_then(Val::as_str);
        let found = named.and_then(|name| service.model.names.find(file?, entities::NODE_TYPE, name));
        match found {
            Some(id) => self.lineage(id),
            None => Rc::new(vec!["unfurl.nodes.Default".into(), "tosca.nodes.Root".into()]),
        }
    }

    fn describe(&mut self, id: NodeId, said: &Val) {
        let Some(node) = self.tree.node_mut(id) else { return };
        let ready = said.get("readyState");
        let word = |name: &str| ready.and_then(|ready| ready.get(name)).and_then(Val::as_str);
        let local = word("local").or_else(|| ready.and_then(Val::as_str));
        if let Some(status) = local.and_then(Status::parse) {
            node.local_status = Some(status);
        }
        if let Some(state) = word("state").and_then(State::parse) {
            node.state = Some(state);
        }
        if let Some(priority) = said.get("priority").and_then(Val::as_str).and_then(Priority::parse) {
            node.priority = priority;
        }
        for field in ["created", "protected", "imported"] {
            if let Some(value) = said.get(field) {
                node.fields.push((field, value.clone()));
            }
        }
        for section in ["properties", "attributes"] {
            for (name, value) in said.get(section).and_then(Val::as_map).into_iter().flatten() {
                // A secret saved as redacted is computed again, and so is a property set by the template.
                let redacted = value.as_str() == Some(crate::eval::show::REDACTED);
                let written =
                    section == "properties" && name.as_str().is_some_and(|name| node.attributes.contains_key(name));
                if let (Some(name), false) = (name.as_str(), redacted || written) {
                    let known = node.attributes.get(name).and_then(|attribute| attribute.schema.clone());
                    let mut attribute = Attribute::new(value.clone());
                    attribute.template = node.attributes.get(name).and_then(Attribute::written).cloned().map(Box::new);
                    attribute.sensitive = known.as_ref().is_some_and(|schema| schema.sensitive);
                    attribute.schema = known;
                    node.attributes.insert(name.into(), attribute);
                }
            }
        }
    }
}

/// The stored status of the whole.
pub(in crate::ensemble) fn stored_status(status: Option<&Val>) -> Option<Status> {
    let ready = status?.get("readyState")?;
    ready.get("local").unwrap_or(ready).as_str().and_then(Status::parse)
}

/// An instance that a manifest stores.
pub(in crate::ensemble) struct Stored {
    pub name: EcoString,
    /// The template it was made from.
    pub template: EcoString,
    /// Whether a job has saved it; otherwise it is specified.
    pub is_saved: bool,
}

/// The instances of a manifest, in its order: each before those that it hosts, saved ones before specified ones.
pub(in crate::ensemble) fn stored_instances(document: &Val) -> Vec<Stored> {
    let mut out = Vec::new();
    for (section, is_saved) in [("status", true), ("spec", false)] {
        if let Some(instances) = document.get(section).and_then(|section| section.get("instances")) {
            collect_stored(instances, is_saved, 0, &mut out);
        }
    }
    out
}

/// The instances that a job has saved of a topology in the place of a node.
pub(in crate::ensemble) fn saved_instances(instances: Option<&Val>) -> Vec<Stored> {
    let mut out = Vec::new();
    if let Some(instances) = instances {
        collect_stored(instances, true, 0, &mut out);
    }
    out
}

fn collect_stored(instances: &Val, is_saved: bool, depth: usize, out: &mut Vec<Stored>) {
    for (name, said) in instances.as_map().into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        let template = said.get("template").and_then(Val::as_str).unwrap_or(name);
        out.push(Stored { name: name.into(), template: template.into(), is_saved });
        if let Some(inner) = said.get("instances").filter(|_| depth < crate::limits::MAX_DEPTH) {
            collect_stored(inner, is_saved, depth + 1, out);
        }
    }
}
