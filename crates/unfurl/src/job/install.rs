//! Artifacts with operations of their own, which must be installed before they are used. An instance that holds the
//! artifact is created for each, and its operations, which are the artifact's, run first.

use super::operation::{Configurator, Operation, is_users};
use super::{Job, Request};
use crate::ensemble::{ARTIFACT_PREFIX, Ensemble};
use crate::rules;
use crate::tree::{self, Attribute, Node, NodeId, NodeKind, Status, Tree};
use crate::val::{MapKey, Val, ValMap};
use ecow::{EcoString, eco_format};
use purlin_syntax::{Diagnostic, Span};
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

/// An instance that was made for an artifact.
pub(super) struct Installer {
    /// The instance.
    pub id: NodeId,
    /// The artifact's name where it is used.
    name: EcoString,
    /// Its user, and the location of the use.
    user: EcoString,
    at: Span,
}

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

    /// Whether an artifact has operations that install it, written by the user.
    fn is_installed_by_operations(&self, artifact: NodeId) -> bool {
        let (service, owners) = self.owners(artifact);
        let interfaces = owners.iter().flat_map(|owner| owner.entries("interfaces"));
        let mut operations = interfaces
            .filter(|(name, _)| matches!(name.as_str(), "Standard" | "Install"))
            .flat_map(|(_, interface)| interface.entries("operations"));
        operations.any(|(name, operation)| {
            matches!(name.as_str(), "create" | "configure" | "discover") && is_users(service, operation)
        })
    }

    /// The local repository that an artifact is part of, if an instance uses it that is not that.
    fn store_of(&self, artifact: NodeId, user: NodeId) -> Option<&EcoString> {
        let owner = self.tree.node(artifact).parent.filter(|owner| *owner != user)?;
        Some(&self.tree.node(owner).name)
    }
}

impl Job<'_> {
    /// Creates an instance for every artifact that operations use and that has operations itself, unless one exists.
    pub(super) fn add_installers(&mut self, requests: &[Request]) -> Vec<Installer> {
        let mut made = Vec::new();
        for request in requests {
            for artifact in &request.operation.artifacts {
                made.extend(self.add_installer(request, *artifact));
            }
        }
        made
    }

    /// Whether installations are possible: their results cannot be stored yet.
    pub(super) fn can_install(&self, installers: &[Installer]) -> bool {
        if self.options.dry_run || self.options.plan_only {
            return true;
        }
        for installer in installers {
            let (name, user) = (&installer.name, &installer.user);
            let message = format!("`{user}` needs the artifact `{name}` installed, which is not supported");
            let diagnostic = Diagnostic::at(&rules::CONFIGURATOR, installer.at, message);
            self.session
                .sink
                .push(diagnostic.hint(
                    "install it yourself and remove it from the operation, or look at a dry run with `--dryrun`",
                ));
        }
        installers.is_empty()
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

    fn add_installer(&mut self, request: &Request, artifact: NodeId) -> Option<Installer> {
        if !self.ensemble.is_installed_by_operations(artifact) {
            return None;
        }
        let store = self.ensemble.store_of(artifact, request.target).cloned();
        let name = installer_name(self.ensemble.tree.node(artifact), store.as_ref());
        if self.ensemble.tree.by_name(&name).is_some() {
            return None;
        }
        let host = self.host_of(request);
        let mut node = Node::new(name.clone(), NodeKind::Node);
        node.parent = Some(host);
        node.template = name;
        node.types = Rc::new(vec![INSTALLER.into(), "tosca.nodes.Root".into()]);
        node.local_status = Some(Status::Unknown);
        node.has_operations = true;
        let held = self.ensemble.tree.node(artifact);
        node.source_dir = held.source_dir.clone();
        let properties = held.attributes.iter().filter(|(_, attribute)| attribute.property);
        node.attributes = properties.map(|(name, attribute)| (name.clone(), copy_of(attribute))).collect();
        let id = self.ensemble.tree.add_to(host, node);
        self.hold(id, artifact, store);
        self.put_on(id, host);
        let user = self.ensemble.tree.node(request.target).name.clone();
        Some(Installer { id, name: self.ensemble.tree.node(artifact).name.clone(), user, at: request.operation.span })
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
