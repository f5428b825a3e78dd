//! Artifacts with operations of their own, which must be installed before they are used. An instance that holds the
//! artifact is created for each, and its operations, which are the artifact's, run first.

use super::operation::{Configurator, Operation, is_users};
use super::{Job, Request};
use crate::ensemble::{ARTIFACT_PREFIX, Ensemble};
use crate::tree::{self, Attribute, Node, NodeId, NodeKind, Status, Tree};
use crate::val::{MapKey, Val, ValMap};
use ecow::{EcoString, eco_format};
use std::collections::HashSet;
use std::rc::Rc;

/// Their type.
const INSTALLER: &str = "unfurl.nodes.ArtifactInstaller";

/// The name of the artifact there.
const INSTALL: &str = "install";

/// The type of nodes whose artifacts all others may use.
const STORE: &str = "unfurl.nodes.LocalRepository";

/// Instances whose artifacts the operations of all others may use.
pub(super) fn stores(tree: &Tree) -> Vec<NodeId> {
    let is_store = |id: &NodeId| tree.node(*id).types.iter().any(|name| name == STORE);
    tree.named().map(|(_, id)| id).filter(is_store).collect()
}

/// An artifact to install, the name of its instance, and the local repository it is part of.
struct Wanted {
    artifact: NodeId,
    name: EcoString,
    store: Option<EcoString>,
}

/// A step of collecting artifacts.
enum Visit {
    /// An artifact with its user: those that it needs come first.
    Enter(NodeId, NodeId),
    Leave(Wanted),
}

/// The operations that install an artifact.
const INSTALLING: &[(&str, &str)] = &[("Standard", "create"), ("Standard", "configure"), ("Install", "discover")];

impl Ensemble {
    /// The artifact of an installing instance.
    pub(super) fn installed(&self, id: NodeId) -> Option<NodeId> {
        let node = self.tree.node(id);
        if node.kind != NodeKind::Node || node.type_name() != INSTALLER {
            return None;
        }
        node.artifacts.iter().copied().find(|artifact| self.tree.node(*artifact).name == INSTALL)
    }

    /// The operation that hands one over to the artifact, if that has it.
    pub(super) fn installing(&self, artifact: NodeId, interface: &str, name: &str, depth: usize) -> Option<Operation> {
        let own = self.find_operation(artifact, interface, name, depth)?;
        let query = Val::record([("eval", Val::str(eco_format!(".artifacts::{INSTALL}")))]);
        let inputs = [("target", query), ("inputs", Val::map(ValMap::default()))];
        Some(Operation {
            configurator: Configurator::Delegate,
            is_line: false,
            inputs: inputs.into_iter().map(|(key, value)| (MapKey::from(key), value)).collect(),
            outputs: Vec::new(),
            timeout: None,
            environment: None,
            artifacts: Vec::new(),
            ..own
        })
    }

    /// The artifacts that the operations use which install an artifact.
    fn artifacts_for_installing(&self, artifact: NodeId) -> Vec<NodeId> {
        let operations = INSTALLING.iter().filter_map(|(interface, name)| self.operation(artifact, interface, name));
        operations.flat_map(|operation| operation.artifacts).filter(|needed| *needed != artifact).collect()
    }

    /// Whether an artifact has operations that install it, written by the user.
    fn is_installed_by_operations(&self, artifact: NodeId) -> bool {
        let (service, owners) = self.owners(artifact);
        let interfaces = owners.iter().flat_map(|owner| owner.entries("interfaces"));
        let mut operations = interfaces
            .filter(|(name, _)| matches!(name.as_str(), "Standard" | "Install"))
            .flat_map(|(_, interface)| interface.entries("operations"));
        operations.any(|(name, operation)| {
            INSTALLING.iter().any(|(_, installing)| name == installing) && is_users(service, operation)
        })
    }

    /// The local repository that an artifact is part of, if an instance uses it that is not that.
    fn store_of(&self, artifact: NodeId, user: NodeId) -> Option<&EcoString> {
        let user = match self.tree.node(user).kind {
            NodeKind::Artifact => self.tree.node(user).parent.unwrap_or(user),
            _ => user,
        };
        let owner = self.tree.node(artifact).parent.filter(|owner| *owner != user)?;
        Some(&self.tree.node(owner).name)
    }
}

impl Job<'_> {
    /// Creates an instance for every artifact that operations use and that has operations itself, unless it is
    /// installed. Artifacts that an installation uses come before it.
    pub(super) fn add_installers(&mut self, requests: &[Request]) -> Vec<NodeId> {
        let (mut made, mut seen) = (Vec::new(), HashSet::new());
        for request in requests {
            let host = self.host_of(request);
            let used = request.operation.artifacts.iter().rev();
            let mut open: Vec<Visit> = used.map(|artifact| Visit::Enter(request.target, *artifact)).collect();
            while let Some(visit) = open.pop() {
                match visit {
                    Visit::Leave(wanted) => made.push(self.add_installer(host, wanted)),
                    Visit::Enter(user, artifact) => {
                        let Some(wanted) =
                            self.wanted(user, artifact).filter(|wanted| seen.insert(wanted.name.clone()))
                        else {
                            continue;
                        };
                        open.push(Visit::Leave(wanted));
                        let needed = self.ensemble.artifacts_for_installing(artifact);
                        open.extend(needed.into_iter().rev().map(|needed| Visit::Enter(artifact, needed)));
                    }
                }
            }
        }
        made
    }

    /// An artifact that must be installed for its user; none if it is, or needs no installation.
    fn wanted(&self, user: NodeId, artifact: NodeId) -> Option<Wanted> {
        if !self.ensemble.is_installed_by_operations(artifact) {
            return None;
        }
        let store = self.ensemble.store_of(artifact, user).cloned();
        let name = installer_name(self.ensemble.tree.node(artifact), store.as_ref());
        let known = self.ensemble.tree.by_name(&name);
        let is_installed = known.is_some_and(|known| self.status(known).is_operational());
        (!is_installed).then_some(Wanted { artifact, name, store })
    }

    /// Whether an installation failed. Such tasks come before all others.
    pub(super) fn installation_failed(&self) -> bool {
        let first = self.tasks.iter().take_while(|task| self.installs(task.request));
        first.into_iter().any(|task| task.status == Some(Status::Error))
    }

    /// Installation tasks are left out of a job's report.
    pub(super) fn set_installed_aside(&mut self) {
        let count = self.tasks.iter().take_while(|task| self.installs(task.request)).count();
        self.installed.extend(self.tasks.drain(..count));
        for (at, task) in self.tasks.iter().enumerate() {
            if let Some(request) = self.requests.get_mut(task.request) {
                request.task = Some(at);
            }
        }
    }

    fn installs(&self, request: usize) -> bool {
        self.requests.get(request).is_some_and(|request| request.installs)
    }

    fn add_installer(&mut self, host: NodeId, wanted: Wanted) -> NodeId {
        let Wanted { artifact, name, store } = wanted;
        let held = self.ensemble.tree.node(artifact);
        let properties = held.attributes.iter().filter(|(_, attribute)| attribute.property);
        let attributes = properties.map(|(name, attribute)| (name.clone(), copy_of(attribute))).collect();
        let source_dir = held.source_dir.clone();
        let tree = &mut self.ensemble.tree;
        // One that an earlier job could not install is stored.
        let id = tree.by_name(&name).unwrap_or_else(|| {
            let mut node = Node::new(name.clone(), NodeKind::Node);
            node.parent = Some(host);
            node.local_status = Some(Status::Unknown);
            tree.add_to(host, node)
        });
        if let Some(node) = tree.node_mut(id) {
            node.template = name;
            node.types = Rc::new(vec![INSTALLER.into(), "tosca.nodes.Root".into()]);
            node.has_operations = true;
            node.source_dir = source_dir;
            node.attributes = attributes;
        }
        self.hold(id, artifact, store);
        self.put_on(id, host);
        id
    }

    /// Gives an instance a copy of an artifact.
    fn hold(&mut self, installer: NodeId, artifact: NodeId, store: Option<EcoString>) {
        let held = self.ensemble.tree.node(artifact);
        let mut node = Node::new(INSTALL, NodeKind::Artifact);
        node.parent = Some(installer);
        node.template = INSTALL.into();
        node.local_status = Some(Status::Ok);
        node.types = Rc::clone(&held.types);
        node.source_dir = held.source_dir.clone();
        node.fields = held.fields.clone();
        node.attributes = held.attributes.iter().map(|(name, value)| (name.clone(), copy_of(value))).collect();
        if let Some(store) = store {
            node.attributes.insert("repository".into(), Attribute::new(Val::str(store.clone())));
            node.fields.retain(|(field, _)| *field != "repository");
            node.fields.push(("repository", Val::str(store)));
        }
        let id = self.ensemble.tree.add_to(installer, node);
        self.ensemble.copies.insert(id, artifact);
        if let Some(installer) = self.ensemble.tree.node_mut(installer) {
            installer.artifacts.push(id);
        }
    }

    /// An installed artifact requires its instance as its host.
    fn put_on(&mut self, installer: NodeId, host: NodeId) {
        let tree = &mut self.ensemble.tree;
        let Some(capability) = tree.node(host).capabilities.first().copied() else { return };
        let mut node = Node::new("host", NodeKind::Relationship);
        node.parent = Some(capability);
        node.source = Some(installer);
        node.requirement = Some(tree::Requirement { name: "host".into(), assigned: true });
        node.template = "host".into();
        node.local_status = Some(Status::Ok);
        node.types = Rc::new(vec!["tosca.relationships.Root".into()]);
        let id = tree.add_to(installer, node);
        if let Some(installer) = tree.node_mut(installer) {
            installer.requirements.push(id);
        }
        if let Some(capability) = tree.node_mut(capability) {
            capability.relationships.push(id);
        }
    }

    /// The instance that an operation runs on: the one it names, otherwise `localhost`, or the root.
    fn host_of(&self, request: &Request) -> NodeId {
        let tree = &self.ensemble.tree;
        let target = tree.node(request.target);
        let found = match request.operation.host.as_deref() {
            None | Some("localhost" | "ORCHESTRATOR") => tree.by_name("localhost"),
            Some("SELF") => Some(request.target),
            Some("HOST") => target.parent,
            Some("SOURCE") => target.source,
            Some("TARGET") => crate::eval::status::target(tree, request.target),
            Some(name) => tree.by_name(name),
        };
        let holds = |id: &NodeId| matches!(tree.node(*id).kind, NodeKind::Node | NodeKind::Root);
        found.filter(holds).unwrap_or_else(|| tree.root())
    }
}

/// The same attribute, not evaluated yet.
fn copy_of(attribute: &Attribute) -> Attribute {
    Attribute {
        sensitive: attribute.sensitive,
        schema: attribute.schema.clone(),
        property: attribute.property,
        dir: attribute.dir.clone(),
        ..Attribute::new(attribute.raw.clone())
    }
}

/// The name of an artifact's instance: its repository and its file.
fn installer_name(artifact: &Node, store: Option<&EcoString>) -> EcoString {
    let text = |key: &str| artifact.attributes.get(key).and_then(|value| value.raw.as_str());
    let repository = store.map(EcoString::as_str).or_else(|| text("repository"));
    let file = encoded(text("file").unwrap_or_default());
    match repository {
        Some(repository) => eco_format!("{ARTIFACT_PREFIX}{repository}--{file}"),
        None => eco_format!("{ARTIFACT_PREFIX}{file}"),
    }
}

/// A file's name in a place for names: other characters are written as their numbers.
fn encoded(file: &str) -> EcoString {
    let mut out = EcoString::new();
    for c in file.chars() {
        match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | ':' | '-' => out.push(c),
            other => out.push_str(&eco_format!("-{}-", u32::from(other))),
        }
    }
    out
}
