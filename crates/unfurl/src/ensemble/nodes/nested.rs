//! Topologies that replace a node of another one: the directive `substitute`.
//!
//! The node's values are given to the inner node that represents it (one that the topology names, or one of the mapped
//! type made for it), its relationships start there too, and its attributes are those of the inner node.

use crate::ensemble::build::{Builder, Instances, root_node};
use crate::ensemble::manifest::Manifest;
use crate::ensemble::service::{self, Service};
use crate::ensemble::stored::saved_instances;
use crate::rules;
use crate::tree::{Attribute, Node, NodeId, NodeKind, Tree};
use crate::val::Val;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::{Diagnostic, what};
use purlin_tosca::entities;
use purlin_tosca::entity::{Content, Defs, Entity};
use purlin_tosca::load::File;
use purlin_tosca::model::Model;
use purlin_tosca::names::DeclId;
use purlin_tosca::problem::Problems;
use purlin_tosca::read::Role;
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::topology::{self, Given, Prop, Props};
use purlin_tosca::val::{self as tosca, Text};
use purlin_value::Session;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The key of a saved instance with the instances of the topology in its place.
pub(crate) const SAVED: &str = "substitution";

/// The directive.
pub(crate) const SUBSTITUTE: &str = "substitute";
/// The name of the node made of the mapped type, where the topology names none.
pub(in crate::ensemble) const MADE: &str = "_substitution_mapping";

/// A topology that is built already, and whose nodes may be substituted.
pub(in crate::ensemble) struct Outer<'a> {
    /// Its service.
    pub service: &'a Service,
    /// The ensemble's own service, whose imported topologies may replace nodes at every level.
    pub whole: &'a Service,
    /// The first instance of each template.
    pub ids: Vec<Option<NodeId>>,
    /// The prefix of its nodes outside of it.
    pub prefix: EcoString,
    /// The files of the topologies it is in.
    pub within: Vec<EcoString>,
    /// The instances to build.
    pub which: Instances,
    /// The instances that jobs have saved of it.
    pub stored: Option<&'a Val>,
}

/// Adds the topologies that replace nodes of one that is built already. Their services are listed in the same order.
pub(in crate::ensemble) fn add(
    session: &Session,
    manifest: &Manifest,
    outer: &Outer<'_>,
    mut tree: Tree,
    services: &mut Vec<Rc<Service>>,
) -> Tree {
    for (index, (name, node)) in outer.service.topology.nodes.iter().enumerate() {
        let words = node.template.texts("directives");
        let Some(directive) = words.iter().find(|word| word.text == SUBSTITUTE) else { continue };
        let Some(id) = outer.ids.get(index).copied().flatten() else { continue };
        let Some(path) = outer.fitting(node) else {
            let message = format!("no imported topology can substitute `{name}`");
            let hint = "import a file whose `substitution_mappings` are for nodes of its type";
            session.sink.push(Diagnostic::at(&rules::SUBSTITUTION, directive.span, message).hint(hint));
            continue;
        };
        let nested = Nested { session, manifest, outer, name, node, id, path };
        tree = nested.add(tree, services);
    }
    tree
}

impl Outer<'_> {
    /// The file whose topology can replace a node: one that its own file imports, or else one of the ensemble.
    fn fitting(&self, node: &topology::Node) -> Option<EcoString> {
        let own = fitting(&self.service.model, node.node_type, &self.within);
        let elsewhere = || {
            let type_name = node.template.text("type")?;
            let path = self.service.model.files.of(type_name.span.file)?;
            let path = &self.service.model.files.list.get(path)?.path;
            let model = &self.whole.model;
            let file = model.files.list.iter().find(|file| file.path == *path)?;
            fitting(model, model.names.find(file.id, entities::NODE_TYPE, &type_name.text)?, &self.within)
        };
        own.or_else(elsewhere).map(|file| file.path.clone())
    }
}

/// The first imported file with a topology that can replace nodes of a type.
fn fitting<'m>(model: &'m Model, wanted: DeclId, within: &[EcoString]) -> Option<&'m File> {
    let imported = model.files.list.iter().filter(|file| file.role == Role::Imported && !within.contains(&file.path));
    imported.into_iter().find(|file| {
        let topology = file.tree.root().and_then(|root| root.get("topology_template"));
        let mappings = topology.and_then(|topology| topology.get("substitution_mappings"));
        let named = || {
            let node = mappings?.get("node")?;
            topology?.get("node_templates")?.get(node.text())?.get("type")
        };
        let type_name = named().or_else(|| mappings?.get("node_type"));
        let found = type_name.and_then(|name| model.names.find(file.id, entities::NODE_TYPE, name.text()));
        found.is_some_and(|found| model.hierarchy.is_a(wanted, found))
    })
}

/// A topology that replaces a node.
struct Nested<'a> {
    session: &'a Session,
    manifest: &'a Manifest,
    outer: &'a Outer<'a>,
    name: &'a EcoString,
    node: &'a topology::Node,
    id: NodeId,
    path: EcoString,
}

impl Nested<'_> {
    fn add(&self, mut tree: Tree, services: &mut Vec<Rc<Service>>) -> Tree {
        let prepare = |model: &mut Model| make_mapped(model, &self.node.properties);
        let Some(mut service) = service::compile_imported(self.session, self.manifest, &self.path, &prepare) else {
            return tree;
        };
        if service.broken {
            return tree;
        }
        let named = service.model.service().and_then(|service| service.one("substitution_mappings"));
        let named = named.and_then(|mappings| mappings.text("node")).map_or(MADE.into(), |name| name.text.clone());
        self.refuse_outputs(&service, &named);
        if let Some(inner) = service.topology.nodes.get_mut(&named) {
            take_over(&service.model, Arc::make_mut(inner), &self.node.properties);
        }
        let prefix = eco_format!("{}{}:", self.outer.prefix, self.name);
        let root = tree.begin_topology(root_node(), prefix.clone());
        let (service, given) = (Rc::new(service), IndexMap::new());
        services.push(Rc::clone(&service));
        let replaced = self.replaced(&service, &tree);
        let stored = self.stored();
        let saved = saved_instances(stored);
        let mut builder =
            Builder::new(self.session, self.manifest, &service, &given, self.outer.which, tree, root, saved);
        builder.replaced = replaced;
        builder.nodes();
        builder.values();
        builder.priorities(Some(&named));
        if let Some(stored) = stored {
            builder.saved_below(stored, root, true, 0);
        }
        let Builder { mut tree, ids, .. } = builder;
        let inner = service.topology.nodes.get_index_of(&named).and_then(|at| ids.get(at).copied().flatten());
        if let Some(inner) = inner {
            tree.set_substitution_node(root, Some(inner), Some(self.id));
            move_relationships(&mut tree, self.id, inner);
            self.stand_for(&mut tree, inner, eco_format!(":{prefix}{named}"));
        }
        let within = self.outer.within.iter().chain([&self.path]).cloned().collect();
        add(
            self.session,
            self.manifest,
            &Outer { service: &service, whole: self.outer.whole, ids, prefix, within, which: self.outer.which, stored },
            tree,
            services,
        )
    }

    /// The saved instances of the topology.
    fn stored(&self) -> Option<&Val> {
        saved_entry(self.outer.stored?, self.name, 0)?.get(SAVED)?.get("instances")
    }

    /// Placeholders: nodes of the topology named like a requirement of the replaced node. The target of that
    /// requirement takes their place.
    fn replaced(&self, service: &Service, tree: &Tree) -> HashMap<usize, NodeId> {
        let mut out = HashMap::new();
        for id in &tree.node(self.id).requirements {
            let Some(requirement) = &tree.node(*id).requirement else { continue };
            let place = service.topology.nodes.get_index_of(&requirement.name);
            if let (Some(place), Some(target)) = (place, crate::eval::status::target(tree, *id)) {
                out.entry(place).or_insert(target);
            }
        }
        out
    }

    /// Outputs of the topology must be attributes of the node.
    fn refuse_outputs(&self, service: &Service, named: &str) {
        let inner = service.topology.nodes.get(named).and_then(|node| service.model.complete(node.node_type));
        let Some(complete) = inner else { return };
        for (output, prop) in &service.topology.outputs {
            if complete.named("attributes", output).is_none() {
                let message = format!(
                    "the output `{output}` is not an attribute of `{}`, which this topology substitutes",
                    complete.name
                );
                self.session.sink.push(Diagnostic::at(&rules::SUBSTITUTION, prop.at, message));
            }
        }
    }

    /// The outer node takes the values of the inner one.
    fn stand_for(&self, tree: &mut Tree, inner: NodeId, address: EcoString) {
        let names: Vec<(EcoString, Attribute)> = copies(tree.node(inner));
        if let Some(outer) = tree.node_mut(self.id) {
            outer.attributes = names.into_iter().collect();
            outer.shadow = Some(inner);
            outer.fields.push(("imported", Val::str(address)));
        }
    }
}

/// The saved instance of a name, however deep it is hosted.
fn saved_entry<'v>(instances: &'v Val, name: &str, depth: usize) -> Option<&'v Val> {
    if let Some(found) = instances.get(name) {
        return Some(found);
    }
    let below = instances.as_map()?.values().filter_map(|said| said.get("instances"));
    below.into_iter().find_map(|inner| saved_entry(inner, name, depth + 1).filter(|_| depth < crate::limits::MAX_DEPTH))
}

/// Adds a node of the mapped type to a topology that names none, with the values of the node that it replaces.
pub(in crate::ensemble) fn make_mapped(model: &mut Model, declared: &Props) {
    let Some(service) = model.service().cloned() else { return };
    let Some(mappings) = service.one("substitution_mappings").filter(|mappings| mappings.text("node").is_none()) else {
        return;
    };
    let Some(type_name) = mappings.text("node_type").cloned() else { return };
    let at = mappings.at;
    let mut made =
        Entity { name: MADE.into(), kind: entities::NODE_TEMPLATE, slots: Vec::new(), ..(**mappings).clone() };
    made.set("type", at, Content::Text(type_name));
    let mut values: Vec<(Text, tosca::Val)> = Vec::new();
    let text = |name: &str| Text { text: name.into(), span: at };
    let set = declared.iter().filter(|(_, prop)| prop.given != Given::Nothing);
    values.extend(set.map(|(name, prop)| (text(name), prop.value.clone())));
    for (name, input) in mapped(mappings, &service) {
        let default = service.named("inputs", &input).and_then(|input| input.value("default"));
        if let Some(default) = default.filter(|_| !declared.contains_key(name.as_str())) {
            values.push((text(&name), default.clone()));
        }
    }
    made.set("properties", at, Content::Values(Arc::new(values)));
    let templates = IndexMap::from([(MADE.into(), Arc::new(made))]);
    let templates = match service.map("node_templates") {
        Some(known) => Defs::over(templates, Arc::clone(known)),
        None => Defs::new(templates),
    };
    let mut changed = (*service).clone();
    changed.set("node_templates", at, Content::Map(Arc::new(templates)));
    model.set_apart();
    if let Some(root) = Arc::make_mut(&mut model.files).list.first_mut() {
        let place = root.entity.place("service_template");
        Arc::make_mut(&mut root.entity).set("service_template", place, Content::One(Arc::new(changed)));
    }
}

/// Rejects a mapping for a type that every service has: Unfurl searches only types defined in files of the service.
pub(in crate::ensemble) fn refuse_common_type(model: &Model, problems: &mut Problems) {
    let mappings = model.service().and_then(|service| service.one("substitution_mappings"));
    let mapped = mappings.filter(|mappings| mappings.text("node").is_none());
    let Some(mappings) = mapped else { return };
    let Some(name) = mappings.text("node_type") else {
        // What is there and could not be read was reported.
        if !mappings.slots.is_empty() && mappings.slot("node_type").is_none() && mappings.slot("node").is_none() {
            let message = what::needed("`substitution_mappings`", "node_type");
            let hint = "add `node_type`, or the `node` of the topology that the service is about";
            problems.push(Diagnostic::at(&tosca_rules::MISSING_KEY, mappings.at, message).hint(hint));
        }
        return;
    };
    let Some(found) = model.find(entities::NODE_TYPE, name).and_then(|id| model.names.decl(id)) else { return };
    let file = model.files.of(found.entity.at.file).and_then(|file| model.files.list.get(file));
    if file.is_some_and(|file| file.path.starts_with("purlin:")) {
        let message = format!("`{}` cannot be substituted: the service does not define this type", name.text);
        let hint = "define a type that derives from it, or name the `node` of the topology";
        problems.push(Diagnostic::at(&rules::SUBSTITUTION, name.span, message).hint(hint));
    }
}

/// The properties that are set from inputs: the mapped ones, or all inputs by their names.
fn mapped(mappings: &Entity, service: &Entity) -> Vec<(EcoString, EcoString)> {
    let Some(written) = mappings.value("properties") else {
        return service.entries("inputs").map(|(name, _)| (name.clone(), name.clone())).collect();
    };
    let input = |value: &tosca::Val| -> Option<EcoString> {
        let value = value.get("mapping").unwrap_or(value);
        Some(value.items().first().unwrap_or(value).as_str()?.into())
    };
    written.entries().iter().filter_map(|(name, value)| Some((name.as_str()?.into(), input(value)?))).collect()
}

/// Gives an inner node the values of the node it represents.
fn take_over(model: &Model, inner: &mut topology::Node, outer: &Props) {
    for (name, given) in outer.iter().filter(|(_, given)| given.given != Given::Nothing) {
        if let Some(prop) = inner.properties.get_mut(name) {
            prop.value = given.value.clone();
            prop.given = given.given;
            continue;
        }
        let complete = model.complete(inner.node_type);
        let Some(definition) = complete.and_then(|complete| complete.named("properties", name)) else { continue };
        let data_type = model.type_of(definition, "type", entities::DATA_TYPE);
        let definition = Some(definition.clone());
        let prop = Prop { value: given.value.clone(), definition, data_type, at: given.at, given: given.given };
        inner.properties.insert(name.clone(), prop);
    }
}

/// Attributes of a node, not evaluated yet.
fn copies(node: &Node) -> Vec<(EcoString, Attribute)> {
    let copy = |attribute: &Attribute| Attribute {
        sensitive: attribute.sensitive,
        schema: attribute.schema.clone(),
        property: attribute.property,
        dir: attribute.dir.clone(),
        ..Attribute::new(attribute.raw.clone())
    };
    node.attributes.iter().map(|(name, attribute)| (name.clone(), copy(attribute))).collect()
}

/// A node whose host comes from the outer topology has none in its own.
fn leave_host(tree: &mut Tree, node: NodeId, relationship: NodeId) {
    let host = crate::eval::status::target(tree, relationship);
    let (parent, root) = (tree.node(node).parent, tree.topology_of(node).root);
    if host.is_none() || host != parent {
        return;
    }
    tree.move_to(node, root);
}

/// The relationships of the outer node start at the inner one too, in the place of its own of the same names.
fn move_relationships(tree: &mut Tree, outer: NodeId, inner: NodeId) {
    let mut requirements = Vec::new();
    let mut names = HashSet::new();
    for id in tree.node(outer).requirements.clone() {
        let known = tree.node(id);
        let mut copy = Node::new(known.name.clone(), NodeKind::Relationship);
        copy.parent = known.parent;
        copy.source = Some(inner);
        copy.template = known.template.clone();
        copy.types = Rc::clone(&known.types);
        copy.requirement = known.requirement.clone();
        copy.local_status = known.local_status;
        copy.source_dir = known.source_dir.clone();
        copy.attributes = copies(known).into_iter().collect();
        names.insert(known.name.clone());
        requirements.push(tree.add_to(inner, copy));
    }
    for own in tree.node(inner).requirements.clone() {
        if !names.contains(&tree.node(own).name) {
            requirements.push(own);
            continue;
        }
        leave_host(tree, inner, own);
        let target = tree.node(own).parent;
        if let Some(capability) = target.and_then(|target| tree.node_mut(target)) {
            capability.relationships.retain(|known| *known != own);
        }
    }
    if let Some(inner) = tree.node_mut(inner) {
        inner.requirements = requirements;
    }
}
