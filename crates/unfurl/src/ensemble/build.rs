//! The tree of instances, from a rendered service and the status that is stored in the manifest.

use super::manifest::{Manifest, standing_node};
use super::nested::{self, MADE};
use super::places::Reading;
use super::select::{self, External, Found, SELECT, Wanted};
use super::service::{Service, from_tosca, is_open_node};
use super::stored::{Stored, stored_instances, stored_status};
use super::validate;
use crate::eval::status::effective;
use crate::job::operation::is_declined;
use crate::rules;
use crate::tree::{self, Attribute, Declared, Node, NodeId, NodeKind, Priority, Schema, Status, Tree};
use crate::val::{Data, MapKey, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Diagnostic;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_tosca::entities;
use purlin_tosca::entity::Entity;
use purlin_tosca::model::Model;
use purlin_tosca::names::DeclId;
use purlin_tosca::read::Role;
use purlin_tosca::topology::{self, Given, Prop, Props};
use purlin_tosca::val::Text;
use purlin_tosca::values::Stance;
use purlin_value::{Session, path};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Attributes of every node that are built-in keys here.
const BUILT_IN: &[&str] = &["tosca_id", "tosca_name", "state"];

/// The relationship of a node to its host.
const HOSTED_ON: &str = "tosca.relationships.HostedOn";

/// The relationship template for the provider of machines.
const PROVIDER: &str = "primary_provider";

/// The type of connections to a provider of machines, and its parent.
const MACHINES: &str = "unfurl.relationships.ConnectsTo.ComputeMachines";
const CONNECTS_TO: &str = "tosca.relationships.ConnectsTo";

/// The interface with the default implementation of all operations.
const DEFAULTS: &str = "defaults";

/// Fields of an artifact in addition to its properties, null if not set.
const ARTIFACT_FIELDS: &[&str] = &[
    "checksum",
    "checksum_algorithm",
    "contents",
    "deploy_path",
    "intent",
    "mime_type",
    "order",
    "permissions",
    "repository",
    "target",
    "version",
];

/// Makes the instances of one topology.
pub(super) struct Builder<'a> {
    session: &'a Session,
    pub(super) service: &'a Rc<Service>,
    reading: Reading<'a>,
    /// The resulting tree.
    pub(super) tree: Tree,
    /// The root of the topology.
    pub(super) root: NodeId,
    /// The first instance of each template.
    pub(super) ids: Vec<Option<NodeId>>,
    /// Instances of templates after the first of each.
    further: Vec<(usize, NodeId)>,
    /// The instances that the manifest stores, in its order.
    instances: Vec<Stored>,
    /// The given inputs.
    given: &'a IndexMap<EcoString, Val>,
    which: Instances,
    /// Ensembles whose instances templates may select.
    externals: &'a [External],
    /// Templates replaced by nodes of the outer topology.
    pub(super) replaced: HashMap<usize, NodeId>,
    types: HashMap<DeclId, Rc<Vec<EcoString>>>,
    schemas: HashMap<*const Entity, Rc<Schema>>,
    defaults: HashMap<DeclId, Val>,
    declared: HashMap<DeclId, Rc<Declared>>,
}

/// The instances to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Instances {
    /// Those of a deployment, in addition to stored ones.
    #[default]
    Planned,
    /// The same for a job that creates them, which refuses what cannot be deployed.
    Deployed,
    /// Those stored in the manifest.
    Stored,
}

impl Instances {
    /// Whether templates without stored instances get new ones.
    pub(super) fn are_made(self) -> bool {
        self != Instances::Stored
    }
}

/// Templates with one of these directives are not instantiated: another instance replaces them, or a job creates them.
pub(super) const ABSTRACT: &[&str] = &[SELECT, "dependent"];
/// Templates with this directive are instantiated only where others require them.
const VIRTUAL: &str = "virtual";

/// A step of adding a template, by its index.
#[derive(Clone, Copy)]
enum Visit {
    /// Visits its dependencies first.
    Enter(usize),
    Leave(usize),
}

/// Builds the tree.
pub(super) fn build(
    session: &Session,
    manifest: &Manifest,
    service: &Rc<Service>,
    inputs: &IndexMap<EcoString, Val>,
    which: Instances,
    externals: &[External],
) -> (Tree, Vec<Rc<Service>>) {
    let mut root = root_node();
    root.local_status = match which {
        Instances::Planned | Instances::Deployed => Some(Status::Ok),
        Instances::Stored => stored_status(manifest.document.get("status")),
    };
    let mut tree = Tree::new(root);
    tree.base_dir = if manifest.folder == "." { EcoString::new() } else { manifest.folder.as_str().into() };
    let metadata = manifest.document.get("metadata");
    let uri = metadata.and_then(|metadata| metadata.get("uri")).and_then(Val::as_str);
    tree.uri = uri.unwrap_or(&manifest.path).into();
    tree.deployment = path::file_name(&manifest.folder).into();
    let root = tree.root();
    let stored = stored_instances(&manifest.document);
    let mut builder = Builder::new(session, manifest, service, inputs, which, tree, root, stored);
    builder.externals = externals;
    builder.connections();
    builder.nodes();
    builder.values();
    let made = service.topology.nodes.contains_key(MADE).then_some(MADE);
    let named = standing_node(&manifest.document).or(made);
    let standing = named.and_then(|name| builder.tree.by_name(name));
    builder.tree.set_substitution_node(root, standing, None);
    builder.priorities(named);
    builder.stored(&manifest.document);
    let Builder { mut tree, ids, .. } = builder;
    let mut nested = Vec::new();
    let stored = manifest.document.get("status").and_then(|status| status.get("instances"));
    let (prefix, within) = (EcoString::new(), Vec::new());
    let outer = nested::Outer { service, whole: service, ids, prefix, within, which, stored };
    tree = nested::add(session, manifest, &outer, tree, &mut nested);
    tree.put_hosts_first();
    (tree, nested)
}

/// The names of a type and its ancestors, nearest first. An ancestor that a type derives from under a prefixed name
/// has that name, too.
fn lineage_names(model: &Model, id: DeclId) -> Vec<EcoString> {
    let mut names = Vec::new();
    let mut written: Option<EcoString> = None;
    for id in model.hierarchy.lineage(id) {
        let name = model.name(id);
        names.extend(written.take().filter(|written| has_prefix(written, &name)));
        names.push(name);
        let own = model.names.decl(id).and_then(|decl| decl.entity.text("derived_from"));
        written = own.map(|parent| parent.text.clone());
    }
    names
}

/// Whether a name is another one behind a prefix.
fn has_prefix(written: &str, name: &str) -> bool {
    written.strip_suffix(name).is_some_and(|prefix| prefix.ends_with('.'))
}

/// Properties of an artifact that a type declares: assignments of the declaration, then the defaults of its own type.
fn declared_properties(model: &Model, entity: &Entity, artifact_type: Option<DeclId>) -> Props {
    let complete = artifact_type.and_then(|id| model.complete(id));
    let mut out = Props::default();
    for (name, definition) in complete.into_iter().flat_map(|complete| complete.entries("properties")) {
        let assigned = entity.values("properties").iter().find(|(known, _)| known.text == *name);
        let (value, given) = match (assigned, definition.value("default")) {
            (Some((_, value)), _) => (value.clone(), Given::Assigned),
            (None, Some(value)) => (value.clone(), Given::Default),
            (None, None) => continue,
        };
        let data_type = model.type_of(definition, "type", entities::DATA_TYPE);
        let at = value.span;
        out.insert(name.clone(), Prop { value, definition: Some(definition.clone()), data_type, at, given });
    }
    out
}

/// The root of a topology.
pub(super) fn root_node() -> Node {
    let mut root = Node::new("root", NodeKind::Root);
    root.types = Rc::new(["~topology", "unfurl.nodes.Root", "tosca.nodes.Root"].map(EcoString::from).to_vec());
    root.template = "root".into();
    root.local_status = Some(Status::Ok);
    root
}

impl<'a> Builder<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        session: &'a Session,
        manifest: &'a Manifest,
        service: &'a Rc<Service>,
        given: &'a IndexMap<EcoString, Val>,
        which: Instances,
        tree: Tree,
        root: NodeId,
        instances: Vec<Stored>,
    ) -> Self {
        Builder {
            session,
            service,
            reading: Reading { secrets: &manifest.settings.vault, places: &service.places },
            tree,
            root,
            ids: vec![None; service.topology.nodes.len()],
            further: Vec::new(),
            instances,
            given,
            which,
            externals: &[],
            replaced: HashMap::new(),
            types: HashMap::new(),
            schemas: HashMap::new(),
            defaults: HashMap::new(),
            declared: HashMap::new(),
        }
    }

    /// All nodes of the topology, with their relationships.
    pub(super) fn nodes(&mut self) {
        let service = Rc::clone(self.service);
        self.add_stored();
        let mut visited = vec![false; service.topology.nodes.len()];
        for (index, (_, node)) in service.topology.nodes.iter().enumerate() {
            let is_virtual = node.template.texts("directives").iter().any(|word| word.text == VIRTUAL);
            if !is_virtual && self.is_connected(node) {
                self.add_with_targets(index, &mut visited);
            }
        }
        for index in 0..service.topology.nodes.len() {
            if let Some(owner) = self.ids.get(index).copied().flatten() {
                self.relationships(index, owner);
            }
        }
        for (index, owner) in std::mem::take(&mut self.further) {
            self.relationships(index, owner);
        }
    }

    /// Whether connections exist that a node's interfaces require. A node without them is not made, unless another one
    /// requires it.
    fn is_connected(&self, node: &topology::Node) -> bool {
        let model = &self.service.model;
        let full = |name: &Text| match model.find(entities::RELATIONSHIP_TYPE, name) {
            Some(id) => model.name(id),
            None => name.text.clone(),
        };
        required_connections(model, node).all(|wanted| {
            let wanted = full(wanted);
            self.connection_types().any(|known| known == wanted)
        })
    }

    /// The types of the connections of the whole ensemble, with their ancestors.
    fn connection_types(&self) -> impl Iterator<Item = EcoString> {
        let connections = self.tree.node(self.tree.root()).requirements.iter();
        let types = connections.flat_map(|id| self.tree.node(*id).types.iter().cloned());
        types.collect::<Vec<_>>().into_iter()
    }

    /// Adds a node after its targets, since one of them may host it. Each is visited once, from its first source; the
    /// edge that closes a cycle is ignored.
    fn add_with_targets(&mut self, start: usize, visited: &mut [bool]) {
        let mut stack = vec![Visit::Enter(start)];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Leave(index) => self.add(index),
                Visit::Enter(index) => {
                    let Some(known @ false) = visited.get_mut(index) else { continue };
                    *known = true;
                    stack.push(Visit::Leave(index));
                    let edges = self.service.resolution.edges.get(index).into_iter().flatten();
                    stack.extend(edges.rev().map(|edge| Visit::Enter(edge.target)));
                }
            }
        }
    }

    /// The priority of each node: a node's failure is ignored unless the node that represents the whole requires it.
    pub(super) fn priorities(&mut self, standing: Option<&str>) {
        let required = self.service.required(standing);
        for (index, _) in required.iter().enumerate().filter(|(_, required)| !**required) {
            let Some(id) = self.ids.get(index).copied().flatten() else { continue };
            if let Some(node) = self.tree.node_mut(id) {
                node.priority = Priority::Ignore;
            }
        }
    }

    /// Adds the instances that are stored, in the order in which they are stored.
    fn add_stored(&mut self) {
        let service = Rc::clone(self.service);
        for stored in std::mem::take(&mut self.instances) {
            let Some(index) = service.topology.nodes.get_index_of(&stored.template) else { continue };
            if self.replaced.contains_key(&index) || self.tree.find(self.root, &stored.name).is_some() {
                continue;
            }
            let host = self.host(index).filter(|_| !stored.is_saved);
            self.add_instance(index, &stored.name, host);
        }
    }

    /// Adds the instance of a template, unless instances of it are stored.
    fn add(&mut self, index: usize) {
        let service = Rc::clone(self.service);
        let Some((template, source)) = service.topology.nodes.get_index(index) else { return };
        let is_there = self.replaced.contains_key(&index) || self.ids.get(index).is_some_and(Option::is_some);
        if is_there || !self.which.are_made() {
            return;
        }
        let directive = |named: &str| source.template.texts("directives").iter().find(|word| word.text == named);
        if directive(SELECT).is_some() || imported(&source.template).is_some() {
            return self.add_selected(index, directive(SELECT));
        }
        if !ABSTRACT.iter().any(|named| directive(named).is_some()) {
            let host = self.host(index);
            self.add_instance(index, template, host);
        }
    }

    /// Adds the selection of a template: an instance with the values and the status from another ensemble.
    fn add_selected(&mut self, index: usize, directive: Option<&Text>) {
        let service = Rc::clone(self.service);
        let Some((template, source)) = service.topology.nodes.get_index(index) else { return };
        let wanted = service.model.name(source.node_type);
        let filter = source.template.value("node_filter");
        let address = imported(&source.template);
        match select::find(self.externals, &Wanted { template, type_name: &wanted, filter, address }) {
            Found::Instance(external, found) => {
                let host = self.host(index);
                self.add_instance(index, template, host);
                let values = super::shown_attributes(self.session, &external.ensemble, found);
                let status = effective(&external.ensemble.tree, found);
                let Some(id) = self.ids.get(index).copied().flatten() else { return };
                self.tree.move_to(id, self.root);
                let Some(node) = self.tree.node_mut(id) else { return };
                let entries = values.as_map().into_iter().flatten();
                let named = entries.filter_map(|(name, value)| Some((name.as_str()?.into(), value.clone())));
                node.attributes = named.map(|(name, value)| (name, Attribute::new(value))).collect();
                node.local_status = Some(status);
                node.fields.push(("imported", Val::str(external.address(found))));
            }
            Found::OtherType(external, found) => {
                let other = external.ensemble.tree.node(found).type_name().to_owned();
                let message = format!(
                    "the instance `{}` that `{template}` selects is of type `{other}`, expected `{wanted}`",
                    external.address(found)
                );
                self.report_selection(directive, message, "give the template the type of that instance", true);
            }
            Found::Nothing => {
                let message = match address {
                    Some(address) => what::unknown("external instance", address)
                        .and(format!(", so the node `{template}` is missing")),
                    None => {
                        format!("no external ensemble has an instance of `{template}`, so the node is missing").into()
                    }
                };
                let hint = "name an ensemble that has one under `external` of the environment, and deploy it first";
                self.report_selection(directive, message, hint, false);
            }
        }
    }

    fn report_selection(&self, directive: Option<&Text>, message: impl Into<Message>, hint: &str, is_error: bool) {
        let mut diagnostic = Diagnostic::nowhere(&rules::SELECTION, message).hint(hint);
        diagnostic.span = directive.map(|word| self.reading.places.span(word.span));
        self.session.sink.push(if is_error { diagnostic } else { diagnostic.warning() });
    }

    fn add_instance(&mut self, index: usize, name: &EcoString, host: Option<NodeId>) {
        let service = Rc::clone(self.service);
        let Some((template, source)) = service.topology.nodes.get_index(index) else { return };
        let mut node = Node::new(name.clone(), NodeKind::Node);
        node.template = template.clone();
        node.types = self.named_lineage(source.node_type, source.template.text("type"));
        node.source_dir = self.folder_of(&source.template);
        node.has_operations = has_operations(&service.model, source);
        node.local_status = Some(if node.has_operations { Status::Pending } else { Status::Ok });
        node.parent = Some(host.unwrap_or(self.root));
        self.props(&mut node, &source.properties, false);
        self.open_properties(&mut node, source);
        self.props(&mut node, &source.attributes, true);
        node.defaults = Some(self.defaults_of(source.node_type));
        node.declared = Some(self.declared_by(source.node_type));
        let id = self.tree.add_to(self.root, node);
        self.capabilities(id, source);
        self.artifacts(id, source);
        match self.ids.get_mut(index) {
            Some(slot @ None) => *slot = Some(id),
            _ => self.further.push((index, id)),
        }
    }

    /// The instance a node is hosted on.
    fn host(&mut self, index: usize) -> Option<NodeId> {
        let service = Rc::clone(self.service);
        let node = service.topology.nodes.get_index(index)?.1;
        let hosting = service.resolution.edges.get(index)?.iter().find(|edge| {
            let Some(requirement) = node.requirements.get(edge.requirement) else { return false };
            let kind = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
            requirement.name == "host"
                || kind.is_some_and(|kind| self.lineage(kind).iter().any(|name| name == HOSTED_ON))
        })?;
        self.ids.get(hosting.target).copied().flatten()
    }

    pub(super) fn lineage(&mut self, id: DeclId) -> Rc<Vec<EcoString>> {
        let model = &self.service.model;
        Rc::clone(self.types.entry(id).or_insert_with(|| Rc::new(lineage_names(model, id))))
    }

    /// The same, where the first name has the prefix that the template's file gives it.
    fn named_lineage(&mut self, id: DeclId, written: Option<&Text>) -> Rc<Vec<EcoString>> {
        let names = self.lineage(id);
        let prefixed = written.filter(|written| names.first().is_some_and(|name| has_prefix(&written.text, name)));
        match prefixed {
            Some(written) => Rc::new(std::iter::once(&written.text).chain(names.iter()).cloned().collect()),
            None => names,
        }
    }

    /// Defaults of a type's properties, as written, for `.super`.
    fn defaults_of(&mut self, id: DeclId) -> Val {
        if let Some(known) = self.defaults.get(&id) {
            return known.clone();
        }
        let complete = self.service.model.complete(id);
        let definitions = complete.into_iter().flat_map(|complete| complete.entries("properties"));
        let entries = definitions.filter_map(|(name, definition)| {
            Some((MapKey::Str(name.clone()), from_tosca(definition.value("default")?, self.reading)))
        });
        let value = Val::map(entries.collect());
        self.defaults.insert(id, value.clone());
        value
    }

    /// Names of a type's declarations.
    fn declared_by(&mut self, id: DeclId) -> Rc<Declared> {
        let complete = self.service.model.complete(id);
        let entries = |slot: &'static str| complete.into_iter().flat_map(move |complete| complete.entries(slot));
        let type_of = |definition: &Entity| definition.text("type").map(|name| name.text.clone()).unwrap_or_default();
        let declared = || Declared {
            properties: entries("properties").map(|(name, _)| name.clone()).collect(),
            attributes: entries("attributes").map(|(name, definition)| (name.clone(), type_of(definition))).collect(),
        };
        Rc::clone(self.declared.entry(id).or_insert_with(|| Rc::new(declared())))
    }

    fn folder_of(&self, entity: &Entity) -> EcoString {
        let file = self.service.model.files.of(entity.at.file);
        let file = file.and_then(|file| self.service.model.files.list.get(file));
        let folder = file.map_or(".", |file| path::parent(&file.path));
        path::join(self.session.world.root(), folder).into()
    }

    fn props(&mut self, node: &mut Node, props: &Props, attributes: bool) {
        for (name, prop) in props {
            let nothing = prop.given == Given::Nothing;
            if attributes && (BUILT_IN.contains(&name.as_str()) || node.attributes.contains_key(name)) {
                continue;
            }
            let raw = if nothing { Val::null() } else { from_tosca(&prop.value, self.reading) };
            let schema = self.schema(prop, if attributes { Stance::Kept } else { Stance::Property });
            let sensitive = schema.as_ref().is_some_and(|schema| schema.sensitive);
            let mut attribute = Attribute::new(raw);
            attribute.sensitive = sensitive;
            attribute.schema = schema;
            attribute.property = !attributes;
            attribute.dir = self.default_dir(prop, node);
            node.attributes.insert(name.clone(), attribute);
        }
    }

    /// The location of a type's default, if it differs from the node's.
    fn default_dir(&self, prop: &Prop, node: &Node) -> Option<EcoString> {
        let definition = prop.definition.as_ref().filter(|_| prop.given == Given::Default && prop.value.is_call())?;
        let file = self.service.model.files.of(definition.at.file)?;
        let imported = self.service.model.files.list.get(file).is_some_and(|file| file.role == Role::Imported);
        let folder = imported.then(|| self.folder_of(definition))?;
        (folder != node.source_dir).then_some(folder)
    }

    /// Properties of a type that allows any.
    fn open_properties(&mut self, node: &mut Node, source: &topology::Node) {
        if !is_open_node(&self.service.model, source) {
            return;
        }
        for (name, value) in source.template.values("properties") {
            if !node.attributes.contains_key(&name.text) {
                let mut attribute = Attribute::new(from_tosca(value, self.reading));
                attribute.property = true;
                node.attributes.insert(name.text.clone(), attribute);
            }
        }
    }

    fn schema(&mut self, prop: &Prop, stance: Stance) -> Option<Rc<Schema>> {
        let definition = prop.definition.as_ref()?;
        let key = Arc::as_ptr(definition);
        if let Some(known) = self.schemas.get(&key) {
            return Some(Rc::clone(known));
        }
        let metadata = definition.value("metadata");
        let of_type = prop.data_type.and_then(|id| self.service.model.names.decl(id)).map(|decl| &decl.entity);
        let of_type = of_type.and_then(|entity| entity.value("metadata"));
        let written = |name: &str| metadata.and_then(|all| all.get(name)).or_else(|| of_type?.get(name));
        let read = |name: &str| written(name).map(|value| from_tosca(value, self.reading));
        let schema = Schema {
            type_name: definition.text("type").map(|name| name.text.clone()).unwrap_or_default(),
            required: definition.bool("required").unwrap_or(true),
            transform: read("transform"),
            part_transforms: self.part_transforms(prop.data_type),
            validation: read("validation"),
            attribute: stance != Stance::Property,
            sensitive: definition.sensitive,
            sensitive_parts: self.sensitive_parts(prop.data_type),
            check: validate::check(self.service, prop, stance),
        };
        let schema = Rc::new(schema);
        self.schemas.insert(key, Rc::clone(&schema));
        Some(schema)
    }

    /// Expressions applied to parts of values of a data type. A recursive type is visited once.
    fn part_transforms(&self, data_type: Option<DeclId>) -> Vec<(Vec<EcoString>, Val)> {
        let model = &self.service.model;
        let mut out = Vec::new();
        let mut waiting: Vec<(DeclId, Vec<EcoString>)> = data_type.map(|id| (id, Vec::new())).into_iter().collect();
        let mut seen: HashSet<DeclId> = waiting.iter().map(|(id, _)| *id).collect();
        while let Some((id, path)) = waiting.pop() {
            for (name, part) in model.complete(id).into_iter().flat_map(|complete| complete.entries("properties")) {
                let kind = model.type_of(part, "type", entities::DATA_TYPE);
                let of_type = kind.and_then(|id| model.names.decl(id)).and_then(|decl| decl.entity.value("metadata"));
                let metadata = [part.value("metadata"), of_type].into_iter().flatten();
                let transform = metadata.filter_map(|metadata| metadata.get("transform")).next();
                let path: Vec<EcoString> = path.iter().chain([name]).cloned().collect();
                out.extend(transform.map(|transform| (path.clone(), from_tosca(transform, self.reading))));
                if let Some(kind) = kind.filter(|kind| seen.insert(*kind)) {
                    waiting.push((kind, path));
                }
            }
        }
        out.reverse();
        out
    }

    /// Parts of a data type that are secrets.
    fn sensitive_parts(&self, data_type: Option<DeclId>) -> Vec<EcoString> {
        let complete = data_type.and_then(|id| self.service.model.complete(id));
        let parts = complete.into_iter().flat_map(|complete| complete.entries("properties"));
        let secret = parts.filter(|(_, part)| part.sensitive);
        secret.map(|(name, _)| name.clone()).collect()
    }

    fn capabilities(&mut self, owner: NodeId, source: &topology::Node) {
        // A type's own capabilities come before those of its parents.
        let model = &self.service.model;
        let written = |id: DeclId| model.names.decl(id).map(|declared| &declared.entity);
        let lineage: Vec<&Arc<Entity>> = model.hierarchy.lineage(source.node_type).filter_map(written).collect();
        let depth = |name: &str| lineage.iter().position(|written| written.named("capabilities", name).is_some());
        let mut all: Vec<_> = source.capabilities.iter().map(|entry| (depth(entry.0), entry)).collect();
        all.sort_by_key(|(depth, _)| *depth);
        for (_, (name, capability)) in all {
            let mut node = Node::new(name.clone(), NodeKind::Capability);
            node.parent = Some(owner);
            node.template = name.clone();
            node.local_status = Some(Status::Ok);
            node.types = capability.capability_type.map_or_else(Default::default, |id| self.lineage(id));
            node.source_dir = self.tree.node(owner).source_dir.clone();
            node.declared = capability.capability_type.map(|id| self.declared_by(id));
            self.props(&mut node, &capability.properties, false);
            self.props(&mut node, &capability.attributes, true);
            let id = self.tree.add_to(self.root, node);
            if let Some(owner) = self.tree.node_mut(owner) {
                owner.capabilities.push(id);
            }
        }
    }

    /// Artifacts that the type declares, then those the template adds.
    fn artifacts(&mut self, owner: NodeId, source: &topology::Node) {
        let service = Rc::clone(self.service);
        let declared = service.model.complete(source.node_type);
        for (name, entity) in declared.iter().flat_map(|declared| declared.entries("artifacts")) {
            match source.artifacts.get(name) {
                Some(artifact) => self.artifact(owner, name, artifact),
                // Without a file a type only requests an artifact.
                None if entity.text("file").is_none() => {}
                None => {
                    let artifact_type = service.model.type_of(entity, "type", entities::ARTIFACT_TYPE);
                    let properties = declared_properties(&service.model, entity, artifact_type);
                    let artifact = topology::Artifact { entity: entity.clone(), artifact_type, properties };
                    self.artifact(owner, name, &artifact);
                }
            }
        }
        let is_declared = |name: &str| declared.is_some_and(|declared| declared.named("artifacts", name).is_some());
        for (name, artifact) in source.artifacts.iter().filter(|(name, _)| !is_declared(name)) {
            self.artifact(owner, name, artifact);
        }
    }

    fn artifact(&mut self, owner: NodeId, name: &EcoString, artifact: &topology::Artifact) {
        let mut node = Node::new(name.clone(), NodeKind::Artifact);
        node.parent = Some(owner);
        node.template = name.clone();
        node.local_status = Some(Status::Ok);
        node.types = match artifact.artifact_type {
            Some(id) => self.lineage(id),
            None => Rc::new(vec!["tosca.artifacts.Root".into()]),
        };
        node.source_dir = self.folder_of(&artifact.entity);
        let said = artifact.artifact_type.and_then(|id| self.service.model.complete(id));
        let text = |entity: &Entity, key: &str| entity.text(key).map(|text| Val::str(text.text.clone()));
        for field in ARTIFACT_FIELDS {
            let of_type = said.filter(|_| *field == "mime_type").and_then(|said| text(said, field));
            let written = artifact.entity.value(field).map(|value| from_tosca(value, self.reading));
            let value = text(&artifact.entity, field).or(written).or(of_type).unwrap_or_else(Val::null);
            node.attributes.insert((*field).into(), Attribute::new(value.clone()));
            node.fields.push((field, value));
        }
        let extensions =
            said.into_iter().flat_map(|said| said.texts("file_ext")).map(|text| Val::str(text.text.clone()));
        let file = text(&artifact.entity, "file").unwrap_or_else(Val::null);
        node.attributes.insert("file".into(), Attribute::new(file.clone()));
        node.attributes.insert("file_extensions".into(), Attribute::new(Val::list(extensions.collect())));
        node.fields.push(("file", file));
        node.fields.push(("base", Val::str(node.source_dir.clone())));
        node.fields.push(("repository_definition", self.repository(&artifact.entity)));
        self.props(&mut node, &artifact.properties, false);
        let id = self.tree.add_to(self.root, node);
        if let Some(owner) = self.tree.node_mut(owner) {
            owner.artifacts.push(id);
        }
    }

    /// The declaration of the repository that an artifact names, in its file or in the ensemble's own. Its credentials
    /// are secret.
    fn repository(&self, artifact: &Entity) -> Val {
        let files = &self.service.model.files;
        let here = files.of(artifact.at.file).and_then(|index| files.list.get(index));
        let found = artifact.text("repository").and_then(|name| {
            let declared = here.into_iter().chain(files.list.first());
            declared.filter_map(|file| file.entity.named("repositories", &name.text)).next()
        });
        let Some(found) = found else { return Val::null() };
        let text = |slot: &'static str| Some((slot, Val::str(found.text(slot)?.text.clone())));
        let credential = found.value("credential").map(|value| from_tosca(value, self.reading).taint());
        let parts = [text("description"), text("url"), credential.map(|value| ("credential", value))];
        Val::record(parts.into_iter().flatten())
    }

    fn relationships(&mut self, index: usize, owner: NodeId) {
        let service = Rc::clone(self.service);
        let Some((_, source)) = service.topology.nodes.get_index(index) else { return };
        for edge in service.resolution.edges.get(index).into_iter().flatten() {
            let Some(requirement) = source.requirements.get(edge.requirement) else { continue };
            let Some(capability) = self.capability_of(edge.target, edge.capability) else { continue };
            let relationship = requirement.relationship.clone().unwrap_or_default();
            let named =
                relationship.template.as_ref().filter(|template| template.kind == entities::RELATIONSHIP_TEMPLATE);
            let name = named.map_or_else(|| requirement.name.clone(), |template| template.name.clone());
            let mut node = Node::new(name.clone(), NodeKind::Relationship);
            node.parent = Some(capability);
            node.source = Some(owner);
            let assigned = requirement.assignment.is_some();
            node.requirement = Some(tree::Requirement { name: requirement.name.clone(), assigned });
            node.template = name;
            node.local_status = Some(Status::Ok);
            node.types = match relationship.relationship_type {
                Some(id) => self.lineage(id),
                None => Rc::new(vec!["tosca.relationships.Root".into()]),
            };
            node.source_dir = self.tree.node(owner).source_dir.clone();
            self.props(&mut node, &relationship.properties, false);
            let complete = relationship.relationship_type.and_then(|id| service.model.complete(id));
            let declares = |name: &str| complete.is_some_and(|complete| complete.named("properties", name).is_some());
            // An optional property that is also declared as an attribute is missing until it has a value.
            let is_shown = |name: &str, prop: &Prop| prop.given != Given::Nothing || !declares(name);
            match relationship.attributes.iter().all(|(name, prop)| is_shown(name, prop)) {
                true => self.props(&mut node, &relationship.attributes, true),
                false => {
                    let mut shown = relationship.attributes.clone();
                    shown.retain(|name, prop| is_shown(name, prop));
                    self.props(&mut node, &shown, true);
                }
            }
            let id = self.tree.add_to(self.root, node);
            if let Some(owner) = self.tree.node_mut(owner) {
                owner.requirements.push(id);
            }
            if let Some(capability) = self.tree.node_mut(capability) {
                capability.relationships.push(id);
            }
        }
    }

    /// The connections of the ensemble as a whole: relationships of the root without a target yet. Unless a template
    /// sets a provider of machines, a common one is assumed.
    fn connections(&mut self) {
        let service = Rc::clone(self.service);
        for (name, relationship) in &service.topology.connections {
            let mut node = Node::new(name.clone(), NodeKind::Relationship);
            node.types = match relationship.relationship_type {
                Some(id) => self.lineage(id),
                None => Rc::new(vec!["tosca.relationships.Root".into()]),
            };
            node.source_dir = relationship.template.as_ref().map(|own| self.folder_of(own)).unwrap_or_default();
            self.props(&mut node, &relationship.properties, false);
            self.props(&mut node, &relationship.attributes, true);
            self.connection(node);
        }
        let templates = service.model.service();
        if templates.is_none_or(|service| service.named("relationship_templates", PROVIDER).is_none()) {
            let mut node = Node::new("_default_provider", NodeKind::Relationship);
            node.types = Rc::new([MACHINES, CONNECTS_TO, "tosca.relationships.Root"].map(EcoString::from).to_vec());
            self.connection(node);
        }
    }

    fn connection(&mut self, mut node: Node) {
        node.parent = Some(self.root);
        node.template = node.name.clone();
        node.local_status = Some(Status::Ok);
        node.requirement = Some(tree::Requirement { name: node.name.clone(), assigned: true });
        let id = self.tree.add_to(self.root, node);
        if let Some(root) = self.tree.node_mut(self.root) {
            root.requirements.push(id);
        }
    }

    /// The capability instance at a place of a node template. A node whose type has none gets the common one.
    fn capability_of(&mut self, target: usize, place: usize) -> Option<NodeId> {
        let service = Rc::clone(self.service);
        let owner = self.replaced.get(&target).copied().or_else(|| self.ids.get(target).copied().flatten())?;
        let Some((name, _)) = service.topology.nodes.get_index(target)?.1.capabilities.get_index(place) else {
            return Some(self.feature(owner));
        };
        let node = self.tree.node(owner);
        node.capabilities.iter().copied().find(|capability| self.tree.node(*capability).name == *name)
    }

    /// The capability that every node has, on a node whose type does not derive from the type of all nodes.
    fn feature(&mut self, owner: NodeId) -> NodeId {
        if let Some(known) = self.tree.node(owner).capabilities.first() {
            return *known;
        }
        let mut node = Node::new("feature", NodeKind::Capability);
        node.parent = Some(owner);
        node.template = "feature".into();
        node.local_status = Some(Status::Ok);
        node.types = Rc::new(vec!["tosca.capabilities.Node".into(), "tosca.capabilities.Root".into()]);
        node.source_dir = self.tree.node(owner).source_dir.clone();
        let id = self.tree.add_to(self.root, node);
        if let Some(owner) = self.tree.node_mut(owner) {
            owner.capabilities.push(id);
        }
        id
    }

    /// Inputs and outputs of the topology.
    pub(super) fn values(&mut self) {
        let service = Rc::clone(self.service);
        for (outputs, props) in [(false, &service.topology.inputs), (true, &service.topology.outputs)] {
            for (name, prop) in props {
                // A given value may be an expression, which TOSCA does not see.
                let given = self.given.get(name).filter(|_| !outputs).cloned();
                let mut attribute = Attribute::new(given.unwrap_or_else(|| from_tosca(&prop.value, self.reading)));
                let schema = self.schema(prop, if outputs { Stance::Kept } else { Stance::Input });
                attribute.sensitive = schema.as_ref().is_some_and(|schema| schema.sensitive);
                attribute.schema = schema.filter(|_| !outputs);
                let topology = self.tree.topology_of(self.root);
                let id = if outputs { topology.outputs } else { topology.inputs };
                if let Some(values) = self.tree.node_mut(id) {
                    values.attributes.insert(name.clone(), attribute);
                }
            }
        }
        self.missing_inputs();
        let topology = self.tree.topology_of(self.root);
        for (name, id) in [("inputs", topology.inputs), ("outputs", topology.outputs)] {
            if let Some(root) = self.tree.node_mut(self.root) {
                root.attributes.insert(name.into(), Attribute::new(Data::Attributes(id).into()));
            }
        }
    }

    /// Declared optional inputs without a value are null. In a topology that replaces a node all are optional.
    fn missing_inputs(&mut self) {
        let service = Rc::clone(self.service);
        let is_nested = self.root != self.tree.root();
        let inputs = self.tree.topology_of(self.root).inputs;
        let Some(values) = self.tree.node_mut(inputs) else { return };
        for (name, definition) in service.model.service().into_iter().flat_map(|service| service.entries("inputs")) {
            let optional = is_nested || definition.bool("required") == Some(false);
            if optional && !values.attributes.contains_key(name) {
                values.attributes.insert(name.clone(), Attribute::new(Val::null()));
            }
        }
    }
}

/// The types of connections that the interfaces of a node require.
pub(super) fn required_connections<'a>(model: &'a Model, node: &'a topology::Node) -> impl Iterator<Item = &'a Text> {
    let written = [Some(&node.template), model.complete(node.node_type)].into_iter().flatten();
    let interfaces = written.flat_map(|entity| entity.entries("interfaces"));
    interfaces.flat_map(|(_, interface)| interface.texts("requirements"))
}

/// The external instance that a template names: `ENSEMBLE:INSTANCE`.
fn imported(template: &Entity) -> Option<&str> {
    template.text("imported").map(|address| address.text.as_str())
}

/// Whether a template has an operation that makes, finds or deletes it.
pub(crate) fn has_operations(model: &Model, node: &topology::Node) -> bool {
    carries_out(model, node, &counts)
}

/// Whether a template has an operation that a deployment runs.
pub(super) fn is_deployed(model: &Model, node: &topology::Node) -> bool {
    let is_run = |interface: &str, operation: &str| {
        counts(interface, operation) && !matches!(operation, "stop" | "delete" | "remove_target" | "remove_source")
    };
    carries_out(model, node, &is_run)
}

/// Whether one of a template's operations is implemented: by itself, by its interface, or by the interface `defaults`.
fn carries_out(model: &Model, node: &topology::Node, counts: &dyn Fn(&str, &str) -> bool) -> bool {
    let own = node.interfaces.iter().flat_map(|(name, interface)| {
        interface.operations.iter().map(move |(operation, done)| (name, operation, done))
    });
    if own
        .filter(|(name, operation, _)| counts(name, operation))
        .any(|(_, _, operation)| operation.implemented && !is_declined(operation.primary.as_ref()))
    {
        return true;
    }
    let written = || [Some(&node.template), model.complete(node.node_type)].into_iter().flatten();
    let carried_out = |interface: &Entity| interface.slot("implementation").is_some();
    let by_default =
        written().filter_map(|entity| entity.named("interfaces", DEFAULTS)).any(|defaults| carried_out(defaults));
    let is_users = |operation: &Entity| {
        let file = model.files.of(operation.at.file).and_then(|file| model.files.list.get(file));
        file.is_some_and(|file| !file.path.starts_with("purlin:"))
    };
    let interfaces = written().flat_map(|entity| entity.entries("interfaces"));
    interfaces.filter(|(_, interface)| by_default || carried_out(interface)).any(|(name, interface)| {
        interface.entries("operations").any(|(operation, entity)| counts(name, operation) && is_users(entity))
    })
}

/// Whether an operation makes, finds or deletes an instance.
fn counts(interface: &str, operation: &str) -> bool {
    match interface {
        "Standard" | "Configure" => true,
        "Install" => operation == "discover",
        _ => false,
    }
}
