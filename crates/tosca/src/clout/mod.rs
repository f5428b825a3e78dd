//! Emission: the service as a Clout, the graph format of the original tool.
//!
//! Ids are made from names, so that two runs give the same text. Values are either coerced (plain results) or raw
//! (calls, with what is known about types).

mod out;
mod raw;

pub use out::Out;

use crate::compile::Compiled;
use crate::entity::Entity;
use crate::evaluate::{Evaluator, Key, Owner, Scope};
use crate::names::DeclId;
use crate::topology::{
    Activity, Artifact, Capability, Given, Group, Interface, Node, Operation, Part, Policy, Props, Relationship,
    Requirement, Target, Workflow,
};
use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use out::key_text;
use purlin_syntax::Span;
use purlin_syntax::write::Emit;
use std::collections::HashMap;
use std::sync::Arc;

/// In which form values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Evaluated and coerced.
    Coerced,
    /// As calls, with what is known about their types.
    Raw,
}

/// What goes into the Clout.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The form of values.
    pub form: Form,
    /// Whether requirements are followed to the nodes that meet them.
    pub resolved: bool,
}

/// Writes the Clout of a compiled service.
pub fn write(compiled: &Compiled, options: Options, emit: &mut dyn Emit) {
    let mut writer = Writer::new(compiled, options);
    emit.begin_map(4);
    emit.key("version");
    emit.string("1.0");
    emit.key("metadata");
    writer.metadata().emit(emit);
    emit.key("properties");
    writer.service().emit(emit);
    emit.key("vertexes");
    writer.vertexes(emit);
    emit.end_map();
}

struct Writer<'a> {
    compiled: &'a Compiled,
    evaluator: Evaluator<'a>,
    options: Options,
    types: HashMap<DeclId, Arc<Out>>,
    interfaces: HashMap<usize, Arc<Out>>,
    /// Properties and attributes of capabilities that hold no calls, by capability.
    capabilities: HashMap<usize, (Arc<Out>, Arc<Out>)>,
    root: EcoString,
    /// The last place that was looked up; a node's parts share the node's.
    last: std::cell::Cell<(Span, (i64, i64))>,
}

impl<'a> Writer<'a> {
    fn new(compiled: &'a Compiled, options: Options) -> Self {
        let evaluator = Evaluator::with_resolution(&compiled.model, &compiled.topology, &compiled.resolution);
        let root = if compiled.model.edition().is_2() { "service_template" } else { "topology_template" };
        Writer {
            compiled,
            evaluator,
            options,
            types: HashMap::new(),
            interfaces: HashMap::new(),
            capabilities: HashMap::new(),
            root: root.into(),
            last: std::cell::Cell::new((Span::new(purlin_syntax::FileId(u32::MAX), 0, 0), (-1, -1))),
        }
    }

    fn metadata(&self) -> Out {
        let mut steps = vec!["compile"];
        steps.extend(self.options.resolved.then_some("resolve"));
        steps.extend((self.options.form == Form::Coerced).then_some("coerce"));
        let history = steps.into_iter().map(|step| Out::map([("description", Out::str(step))])).collect();
        Out::map([("puccini", Out::map([("version", Out::str("1.0"))])), ("history", Out::List(history))])
    }

    fn service(&mut self) -> Out {
        let model = &self.compiled.model;
        let file = model.files.root().map(|file| &file.entity);
        let descriptions: Vec<EcoString> = file
            .into_iter()
            .chain(model.service().map(|service| service.as_ref()))
            .filter_map(|entity| entity.text("description"))
            .map(|text| text.text.clone())
            .collect();
        let metadata = self.file_metadata(file.and_then(|file| file.value("metadata")));
        let mut inputs = Vec::new();
        let definitions = model
            .service()
            .and_then(|service| service.map("inputs"))
            .map(|defs| defs.flat().clone())
            .unwrap_or_default();
        for (name, definition) in &definitions {
            let path = eco_format!("{}.inputs[\"{name}\"]", self.root);
            match self.compiled.topology.inputs.get(name) {
                Some(prop) => {
                    let prop = prop.clone();
                    inputs.push((name.clone(), self.keyed(Owner::Service, false, name, &prop, &path)));
                }
                None if self.mapped_input(name) => inputs.push((name.clone(), self.nothing(definition, &path))),
                None => {}
            }
        }
        let outputs =
            self.props(&self.compiled.topology.outputs, &Scope::default(), &eco_format!("{}.outputs", self.root));
        let tosca = Out::map([
            ("description", Out::Str(descriptions.join("\n\n").into())),
            ("metadata", metadata),
            ("inputs", Out::Map(inputs)),
            ("outputs", outputs),
        ]);
        Out::map([("tosca", tosca)])
    }

    fn mapped_input(&self, name: &str) -> bool {
        let mappings = self.compiled.topology.substitution.iter().flat_map(|substitution| &substitution.mappings);
        mappings.into_iter().any(|mapping| matches!(&mapping.target, Target::Input(input) if input == name))
    }

    fn file_metadata(&self, notes: Option<&Val>) -> Out {
        let entries = notes
            .map(Val::entries)
            .unwrap_or(&[])
            .iter()
            .filter(|(key, _)| !key.as_str().is_some_and(|key| key.starts_with("puccini.scriptlet")));
        let mut out: Vec<(EcoString, Out)> = entries.map(|(key, value)| (key_text(key), Out::from(value))).collect();
        let quirks = self.compiled.model.quirks.names();
        if !quirks.is_empty() {
            out.push(("puccini.quirks".into(), Out::Str(quirks.join(",").into())));
        }
        Out::Map(out)
    }

    fn vertexes(&mut self, emit: &mut dyn Emit) {
        let topology = &self.compiled.topology;
        let operations: usize = topology.policies.values().map(|policy| self.trigger_operations(policy).len()).sum();
        let steps: usize = topology.workflows.values().map(|workflow| workflow.steps.len()).sum();
        let activities: usize = topology
            .workflows
            .values()
            .flat_map(|workflow| workflow.steps.values())
            .map(|step| step.activities.len())
            .sum();
        let singles = topology.nodes.len() + topology.groups.len() + topology.policies.len() + topology.workflows.len();
        emit.begin_map(singles + operations + steps + activities + usize::from(topology.substitution.is_some()));
        for (index, (name, node)) in topology.nodes.iter().enumerate() {
            emit.key(&id("NodeTemplate", name));
            let properties = self.node(index, name, node);
            let edges = self.relationships(index, node);
            vertex("NodeTemplate", properties, edges).emit(emit);
        }
        for (name, group) in &topology.groups {
            emit.key(&id("Group", name));
            let edges = group
                .members
                .iter()
                .map(|member| edge("Member", Out::Map(Vec::new()), &id("NodeTemplate", &member.text)))
                .collect();
            vertex("Group", self.group(name, group), edges).emit(emit);
        }
        for (name, policy) in &topology.policies {
            self.policy(name, policy, emit);
        }
        for (name, workflow) in &topology.workflows {
            self.workflow(name, workflow, emit);
        }
        if topology.substitution.is_some() {
            emit.key("Substitution");
            self.substitution().emit(emit);
        }
        emit.end_map();
    }

    /// The type of something and all it derives from, by canonical name.
    fn types(&mut self, id: Option<DeclId>) -> Out {
        let Some(id) = id else { return Out::Map(Vec::new()) };
        if let Some(known) = self.types.get(&id) {
            return Out::Shared(known.clone());
        }
        let model = &self.compiled.model;
        let mut out = Vec::new();
        for id in model.hierarchy.lineage(id) {
            let Some(decl) = model.names.decl(id) else { continue };
            let mut entry = Vec::new();
            if let Some(description) = decl.entity.text("description") {
                entry.push(("description".into(), Out::Str(description.text.clone())));
            }
            if let Some(metadata) = decl.entity.value("metadata") {
                entry.push(("metadata".into(), Out::from(metadata)));
            }
            if let Some(parent) = model.hierarchy.parent(id) {
                entry.push(("parent".into(), Out::Str(model.canonical(parent))));
            }
            out.push((decl.canonical.clone(), Out::Map(entry)));
        }
        let shared = Arc::new(Out::Map(out));
        self.types.insert(id, shared.clone());
        Out::Shared(shared)
    }

    fn node(&mut self, index: usize, name: &EcoString, node: &Node) -> Out {
        let template = &node.template;
        let path = eco_format!("{}.node_templates[\"{name}\"]", self.root);
        let mut capabilities = Vec::with_capacity(node.capabilities.len());
        for (at, (capability_name, capability)) in node.capabilities.iter().enumerate() {
            let path = eco_format!("{path}.capabilities[\"{capability_name}\"]");
            capabilities.push((capability_name.clone(), self.capability(index, at, node, capability, &path)));
        }
        let scope = Scope::node(index);
        let requirements = self.requirements(index, node, &path);
        Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(template)),
            ("description", description(template)),
            ("types", self.types(Some(node.node_type))),
            (
                "directives",
                Out::List(template.texts("directives").iter().map(|text| Out::Str(text.text.clone())).collect()),
            ),
            ("properties", self.owned(Owner::Node(index), false, &node.properties, &eco_format!("{path}.properties"))),
            ("attributes", self.owned(Owner::Node(index), true, &node.attributes, &eco_format!("{path}.attributes"))),
            ("requirements", Out::List(requirements)),
            ("capabilities", Out::Map(capabilities)),
            ("interfaces", self.interfaces(&node.interfaces, &scope, &eco_format!("{path}.interfaces"))),
            ("artifacts", self.artifacts(node, &scope, &path)),
        ])
    }

    /// Values that can be referred to; they are evaluated once.
    fn owned(&mut self, owner: Owner, attribute: bool, props: &Props, path: &str) -> Out {
        let mut out = Vec::with_capacity(props.len());
        for (name, prop) in props {
            let path =
                if self.options.form == Form::Raw { eco_format!("{path}[\"{name}\"]") } else { EcoString::new() };
            out.push((name.clone(), self.keyed(owner, attribute, name, prop, &path)));
        }
        Out::Map(out)
    }

    fn keyed(
        &mut self,
        owner: Owner,
        attribute: bool,
        name: &EcoString,
        prop: &crate::topology::Prop,
        path: &str,
    ) -> Out {
        if self.options.form == Form::Raw {
            return self.raw(prop, path);
        }
        if !prop.value.has_call() && is_settled(self, prop) {
            return Out::from(&prop.value);
        }
        Out::from(&self.evaluator.force(Key { owner, attribute, name: name.clone() }))
    }

    /// Values that nothing can refer to.
    fn props(&mut self, props: &Props, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::with_capacity(props.len());
        for (name, prop) in props {
            let value = match self.options.form {
                Form::Raw => self.raw(prop, &eco_format!("{path}[\"{name}\"]")),
                Form::Coerced => Out::from(&self.evaluator.settle(prop, scope)),
            };
            out.push((name.clone(), value));
        }
        Out::Map(out)
    }

    fn nothing(&mut self, definition: &Arc<Entity>, path: &str) -> Out {
        if self.options.form == Form::Coerced {
            return Out::Null;
        }
        let data_type = self.compiled.model.type_of(definition, "type", crate::schema::Kind::DataType);
        let value = Val::new(Data::Null, definition.at);
        let prop = crate::topology::Prop {
            value,
            definition: Some(definition.clone()),
            data_type,
            at: definition.at,
            given: Given::Nothing,
        };
        self.raw(&prop, path)
    }

    fn capability(&mut self, index: usize, at: usize, node: &Node, capability: &Arc<Capability>, path: &str) -> Out {
        let identity = Arc::as_ptr(capability) as usize;
        let owner = Owner::Capability(index, at);
        let values = match self.capabilities.get(&identity) {
            Some((properties, attributes)) => (Out::Shared(properties.clone()), Out::Shared(attributes.clone())),
            None => {
                let properties =
                    Arc::new(self.owned(owner, false, &capability.properties, &eco_format!("{path}.properties")));
                let attributes =
                    Arc::new(self.owned(owner, true, &capability.attributes, &eco_format!("{path}.attributes")));
                let constant = capability
                    .properties
                    .values()
                    .chain(capability.attributes.values())
                    .all(|prop| !prop.value.has_call());
                // What the template says nothing about is the same for every node, unless it holds calls or paths.
                if capability.at.is_none() && constant && self.options.form == Form::Coerced {
                    self.capabilities.insert(identity, (properties.clone(), attributes.clone()));
                }
                (Out::Shared(properties), Out::Shared(attributes))
            }
        };
        let range = capability.occurrences;
        let count =
            |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok()).map_or(Out::Int(-1), Out::Int);
        Out::map([
            ("description", description(&capability.definition)),
            ("types", self.types(capability.capability_type)),
            ("properties", values.0),
            ("attributes", values.1),
            ("minRelationshipCount", count(Some(range.lower))),
            ("maxRelationshipCount", count(range.upper)),
            ("location", self.location(path.into(), capability.at.unwrap_or(node.template.place("capabilities")))),
        ])
    }

    fn location(&self, path: EcoString, at: Span) -> Out {
        let position = self.position(at);
        Out::map([("path", Out::Str(path)), ("row", Out::Int(position.0)), ("column", Out::Int(position.1))])
    }

    fn position(&self, at: Span) -> (i64, i64) {
        let (known, position) = self.last.get();
        if known == at {
            return position;
        }
        let files = &self.compiled.model.files;
        let file = files.of(at.file).and_then(|index| files.list.get(index));
        let position = file.map(|file| file.tree.source().position(at.start));
        let found = position.map_or((-1, -1), |position| (i64::from(position.line), i64::from(position.column)));
        self.last.set((at, found));
        found
    }

    fn requirements(&mut self, index: usize, node: &Node, path: &str) -> Vec<Out> {
        let mut out = Vec::with_capacity(node.requirements.len());
        for (at, requirement) in node.requirements.iter().enumerate() {
            let path = eco_format!("{path}.requirements{{{}}}", requirement.index);
            out.push(self.requirement(index, at, node, requirement, path));
        }
        out
    }

    fn requirement(&mut self, index: usize, at: usize, node: &Node, requirement: &Requirement, path: EcoString) -> Out {
        let model = &self.compiled.model;
        let name = |id: Option<DeclId>| Out::Str(id.map(|id| model.canonical(id)).unwrap_or_default());
        let text =
            |text: &Option<crate::val::Text>| Out::Str(text.as_ref().map(|text| text.text.clone()).unwrap_or_default());
        let (capability_type, node_type) = (name(requirement.capability_type), name(requirement.node_type));
        let (by_node, by_capability) = self.filters(node, requirement, &path);
        let relationship = match &requirement.relationship {
            Some(relationship) => {
                // What no node meets yet cannot be evaluated: its relationship stays as it is written.
                let form = self.options.form;
                if self.options.resolved && self.compiled.resolution.edge(index, at).is_none() {
                    self.options.form = Form::Raw;
                }
                let out = self.relationship(index, at, relationship, &eco_format!("{path}.relationship"));
                self.options.form = form;
                out
            }
            None => Out::Null,
        };
        let directives =
            requirement.assignment.as_ref().map(|assignment| assignment.texts("directives")).unwrap_or(&[]);
        let directives = if directives.is_empty() {
            Out::Null
        } else {
            Out::List(directives.iter().map(|text| Out::Str(text.text.clone())).collect())
        };
        Out::map([
            ("name", Out::Str(requirement.name.clone())),
            ("nodeTypeName", node_type),
            ("nodeTemplateName", text(&requirement.node_template)),
            ("nodeTemplatePropertyValidators", by_node),
            ("capabilityTypeName", capability_type),
            ("capabilityName", text(&requirement.capability_name)),
            ("capabilityPropertyValidators", by_capability),
            ("relationship", relationship),
            ("directives", directives),
            ("optional", Out::Bool(requirement.optional)),
            (
                "location",
                self.location(
                    path,
                    requirement.assignment.as_ref().map_or(node.template.place("requirements"), |_| requirement.at),
                ),
            ),
        ])
    }

    fn relationship(&mut self, source: usize, at: usize, relationship: &Relationship, path: &str) -> Out {
        let owner = Owner::Relationship(source, at);
        let scope = Scope::relationship(source, at);
        let template = relationship.template.as_deref();
        Out::map([
            ("metadata", template.map_or(Out::Map(Vec::new()), metadata)),
            ("description", template.map_or(Out::str(""), description)),
            ("types", self.types(relationship.relationship_type)),
            ("properties", self.owned(owner, false, &relationship.properties, &eco_format!("{path}.properties"))),
            ("attributes", self.owned(owner, true, &relationship.attributes, &eco_format!("{path}.attributes"))),
            ("interfaces", self.interfaces(&relationship.interfaces, &scope, &eco_format!("{path}.interfaces"))),
        ])
    }

    /// The edges to the nodes that meet a node's requirements.
    fn relationships(&mut self, index: usize, node: &Node) -> Vec<Out> {
        let mut out = Vec::new();
        if !self.options.resolved {
            return out;
        }
        let edges = self.compiled.resolution.edges.get(index).cloned().unwrap_or_default();
        for resolved in edges {
            let Some(requirement) = node.requirements.get(resolved.requirement) else { continue };
            let Some((target, target_node)) = self.compiled.topology.nodes.get_index(resolved.target) else { continue };
            let capability = target_node
                .capabilities
                .get_index(resolved.capability)
                .map(|(name, _)| name.clone())
                .unwrap_or_default();
            let path = eco_format!(
                "{}.node_templates[\"{}\"].requirements{{{}}}.relationship",
                self.root,
                node.template.name,
                requirement.index
            );
            let (types, properties, attributes, interfaces, words) = match &requirement.relationship {
                Some(relationship) => {
                    let owner = Owner::Relationship(index, resolved.requirement);
                    let scope = Scope::relationship(index, resolved.requirement);
                    (
                        self.types(relationship.relationship_type),
                        self.owned(owner, false, &relationship.properties, &eco_format!("{path}.properties")),
                        self.owned(owner, true, &relationship.attributes, &eco_format!("{path}.attributes")),
                        self.interfaces(&relationship.interfaces, &scope, &eco_format!("{path}.interfaces")),
                        relationship.template.as_deref().map_or(Out::str(""), description),
                    )
                }
                None => (
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::str(""),
                ),
            };
            let properties = Out::map([
                ("name", Out::Str(requirement.name.clone())),
                ("description", words),
                ("types", types),
                ("properties", properties),
                ("attributes", attributes),
                ("interfaces", interfaces),
                ("capability", Out::Str(capability)),
            ]);
            out.push(edge("Relationship", properties, &id("NodeTemplate", target)));
        }
        out
    }

    fn interfaces(&mut self, interfaces: &IndexMap<EcoString, Arc<Interface>>, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::with_capacity(interfaces.len());
        for (name, interface) in interfaces {
            out.push((name.clone(), self.interface(interface, scope, &eco_format!("{path}[\"{name}\"]"))));
        }
        Out::Map(out)
    }

    fn interface(&mut self, interface: &Arc<Interface>, scope: &Scope, path: &str) -> Out {
        let identity = Arc::as_ptr(interface) as usize;
        if let Some(known) = self.interfaces.get(&identity) {
            return Out::Shared(known.clone());
        }
        let inputs = self.props(&interface.inputs, scope, &eco_format!("{path}.inputs"));
        let operations = self.operations(&interface.operations, scope, &eco_format!("{path}.operations"));
        let notifications = self.notifications(&interface.notifications);
        let model = &self.compiled.model;
        let of_type =
            interface.interface_type.and_then(|id| model.names.decl(id)).map(|decl| description(&decl.entity));
        let words = match description(&interface.definition) {
            Out::Str(text) if text.is_empty() => of_type.unwrap_or(Out::str("")),
            words => words,
        };
        let out = Out::map([
            ("description", words),
            ("types", self.types(interface.interface_type)),
            ("inputs", inputs),
            ("operations", operations),
            ("notifications", notifications),
        ]);
        let constant = interface.inputs.is_empty()
            && interface
                .operations
                .values()
                .all(|operation| operation.inputs.is_empty() && operation.outputs.is_empty());
        if !constant {
            return out;
        }
        let shared = Arc::new(out);
        self.interfaces.insert(identity, shared.clone());
        Out::Shared(shared)
    }

    fn operations(&mut self, operations: &IndexMap<EcoString, Operation>, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::with_capacity(operations.len());
        for (name, operation) in operations {
            let inputs = self.props(&operation.inputs, scope, &eco_format!("{path}[\"{name}\"].inputs"));
            let mut out_operation = operation_out(operation, Some(inputs));
            self.name_ends(&mut out_operation, scope);
            out.push((name.clone(), out_operation));
        }
        Out::Map(out)
    }

    /// Outputs that go to the source or target of a relationship name it.
    fn name_ends(&self, operation: &mut Out, scope: &Scope) {
        let Some((source, requirement)) = scope.relationship else { return };
        let nodes = &self.compiled.topology.nodes;
        let target = self.compiled.resolution.edge(source, requirement).and_then(|edge| nodes.get_index(edge.target));
        let Out::Map(entries) = operation else { return };
        let outputs = entries.iter_mut().filter(|(key, _)| key == "outputs").filter_map(|(_, outputs)| match outputs {
            Out::Map(outputs) => Some(outputs),
            _ => None,
        });
        for (_, mapping) in outputs.flatten() {
            let Out::List(path) = mapping else { continue };
            let Some(Out::Str(first)) = path.first_mut() else { continue };
            let end = match first.as_str() {
                "SOURCE" => nodes.get_index(source).map(|(name, _)| name),
                "TARGET" => target.map(|(name, _)| name),
                _ => None,
            };
            if let Some(name) = end {
                *first = name.clone();
            }
        }
    }

    fn notifications(&self, notifications: &IndexMap<EcoString, Operation>) -> Out {
        Out::Map(
            notifications
                .iter()
                .map(|(name, notification)| (name.clone(), operation_out(notification, None)))
                .collect(),
        )
    }

    fn artifacts(&mut self, node: &Node, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::new();
        for (name, artifact) in &node.artifacts {
            out.push((name.clone(), self.artifact(artifact, scope, &eco_format!("{path}.artifacts[\"{name}\"]"))));
        }
        Out::Map(out)
    }

    fn artifact(&mut self, artifact: &Artifact, scope: &Scope, path: &str) -> Out {
        let entity = &artifact.entity;
        let text = |slot: &str| Out::Str(entity.str(slot).into());
        let file = entity.str("file");
        let repository = entity.text("repository").and_then(|name| {
            let id = self.compiled.model.find(crate::schema::Kind::Repository, name)?;
            self.compiled.model.names.decl(id).map(|decl| decl.entity.clone())
        });
        let credential = repository.as_ref().and_then(|repository| repository.value("credential").cloned());
        let credential = credential.map_or(Out::Null, |value| self.credential(&value));
        let source = if repository.is_some() { EcoString::new() } else { self.beside(entity.span, file) };
        Out::map([
            ("description", description(entity)),
            ("types", self.types(artifact.artifact_type)),
            ("properties", self.props(&artifact.properties, scope, &eco_format!("{path}.properties"))),
            ("filename", Out::str(file.rsplit('/').next().unwrap_or(""))),
            ("sourcePath", Out::Str(source)),
            ("targetPath", text("deploy_path")),
            ("version", text("artifact_version")),
            ("checksumAlgorithm", text("checksum_algorithm")),
            ("checksum", text("checksum")),
            ("credential", credential),
        ])
    }

    /// A repository's credential, completed as its data type wants it.
    fn credential(&mut self, value: &Val) -> Out {
        let Some(id) = self.compiled.model.built_in("tosca.datatypes.Credential") else { return Out::from(value) };
        let mut problems = crate::problem::Problems::new();
        let Some(definition) = self.compiled.model.complete(id).cloned() else { return Out::from(value) };
        let declared = crate::values::Declared { data_type: id, definition: &definition };
        let completed =
            crate::values::Checker::new(&self.compiled.model, &mut problems).typed(value, declared, value.span, 0);
        match self.options.form {
            Form::Coerced => Out::from(&completed),
            Form::Raw => self.raw_typed(&completed, Some(id), None, ""),
        }
    }

    /// A file as seen from the file that names it.
    fn beside(&self, span: Span, file: &str) -> EcoString {
        let files = &self.compiled.model.files;
        let owner = files
            .of(span.file)
            .and_then(|index| files.list.get(index))
            .map(|file| file.path.clone())
            .unwrap_or_default();
        purlin_value::path::join(purlin_value::path::parent(&owner), file).into()
    }

    fn group(&mut self, name: &EcoString, group: &Group) -> Out {
        let path = eco_format!("{}.groups[\"{name}\"]", self.root);
        Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(&group.template)),
            ("description", description(&group.template)),
            ("types", self.types(Some(group.group_type))),
            ("properties", self.props(&group.properties, &Scope::default(), &eco_format!("{path}.properties"))),
            ("interfaces", self.interfaces(&group.interfaces, &Scope::default(), &eco_format!("{path}.interfaces"))),
        ])
    }

    fn policy(&mut self, name: &EcoString, policy: &Policy, emit: &mut dyn Emit) {
        let path = eco_format!(
            "{}.policies{{{}}}",
            self.root,
            self.compiled.topology.policies.get_index_of(name).unwrap_or(0)
        );
        let properties = Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(&policy.template)),
            ("description", description(&policy.template)),
            ("types", self.types(Some(policy.policy_type))),
            ("properties", self.props(&policy.properties, &Scope::default(), &eco_format!("{path}.properties"))),
        ]);
        let mut edges = Vec::new();
        for target in &policy.targets {
            let is_group = !self.compiled.topology.nodes.contains_key(&target.text);
            let (kind, vertex) =
                if is_group { ("GroupTarget", "Group") } else { ("NodeTemplateTarget", "NodeTemplate") };
            edges.push(edge(kind, Out::Map(Vec::new()), &id(vertex, &target.text)));
        }
        let mut made = Vec::new();
        for (trigger, action) in self.trigger_operations(policy) {
            let id = eco_format!("Operation:{name}/{trigger}");
            edges.push(edge("PolicyTriggerOperation", Out::Map(Vec::new()), &id));
            made.push((id, self.trigger_operation(&action)));
        }
        for (_, trigger) in &policy.triggers {
            if let Some(workflow) = trigger.value("action").and_then(Val::as_str) {
                edges.push(edge("PolicyTriggerWorkflow", Out::Map(Vec::new()), &id("Workflow", workflow)));
            }
        }
        emit.key(&id("Policy", name));
        vertex("Policy", properties, edges).emit(emit);
        for (id, operation) in made {
            emit.key(&id);
            vertex("Operation", operation, Vec::new()).emit(emit);
        }
    }

    /// Triggers of TOSCA 1.1 and 1.2 whose action is an operation of its own.
    fn trigger_operations(&self, policy: &Policy) -> Vec<(EcoString, Val)> {
        let actions =
            policy.triggers.iter().filter_map(|(name, trigger)| Some((name.clone(), trigger.value("action")?.clone())));
        actions.filter(|(_, action)| matches!(action.data, Data::Map(_))).collect()
    }

    fn trigger_operation(&mut self, action: &Val) -> Out {
        // The action is an operation under any name; its notation is that of an operation assignment.
        let body = match action.entries() {
            [(key, value)]
                if key.as_str().is_some_and(|key| !matches!(key, "implementation" | "inputs" | "description")) =>
            {
                value.clone()
            }
            _ => action.clone(),
        };
        let implementation = body.get("implementation").cloned().or_else(|| body.as_str().map(|_| body.clone()));
        let primary = implementation
            .as_ref()
            .and_then(|i| i.as_str().map(EcoString::from).or_else(|| i.get("primary")?.as_str().map(EcoString::from)));
        let dependencies = implementation
            .as_ref()
            .and_then(|i| i.get("dependencies"))
            .map(|list| list.items().iter().map(Out::from).collect());
        let inputs = body.get("inputs").map(|inputs| match self.options.form {
            Form::Coerced => Out::from(inputs),
            Form::Raw => Out::Map(
                inputs
                    .entries()
                    .iter()
                    .map(|(key, value)| (key_text(key), self.raw_typed(value, None, None, "")))
                    .collect(),
            ),
        });
        Out::map([
            ("description", Out::Str(body.get("description").and_then(Val::as_str).unwrap_or("").into())),
            ("implementation", Out::Str(primary.unwrap_or_default())),
            ("dependencies", Out::List(dependencies.unwrap_or_default())),
            ("inputs", inputs.unwrap_or(Out::Map(Vec::new()))),
        ])
    }

    fn workflow(&mut self, name: &EcoString, workflow: &Workflow, emit: &mut dyn Emit) {
        let step_id = |step: &str| eco_format!("WorkflowStep:{name}/{step}");
        let edges =
            workflow.steps.keys().map(|step| edge("WorkflowStep", Out::Map(Vec::new()), &step_id(step))).collect();
        let properties = Out::map([("name", Out::Str(name.clone())), ("description", description(&workflow.template))]);
        emit.key(&id("Workflow", name));
        vertex("Workflow", properties, edges).emit(emit);
        for (step_name, step) in &workflow.steps {
            let mut edges = Vec::new();
            if let Some(target) = step.entity.text("target") {
                let is_group = !self.compiled.topology.nodes.contains_key(&target.text);
                let (kind, vertex) =
                    if is_group { ("GroupTarget", "Group") } else { ("NodeTemplateTarget", "NodeTemplate") };
                edges.push(edge(kind, Out::Map(Vec::new()), &id(vertex, &target.text)));
            }
            for (slot, kind) in [("on_success", "OnSuccess"), ("on_failure", "OnFailure")] {
                edges.extend(
                    step.entity.texts(slot).iter().map(|next| edge(kind, Out::Map(Vec::new()), &step_id(&next.text))),
                );
            }
            let activity_id = |at: usize| eco_format!("WorkflowActivity:{name}/{step_name}/{at}");
            for at in 0..step.activities.len() {
                let sequence = Out::map([("sequence", Out::Int(i64::try_from(at).unwrap_or(0)))]);
                edges.push(edge("WorkflowActivity", sequence, &activity_id(at)));
            }
            emit.key(&step_id(step_name));
            vertex("WorkflowStep", Out::map([("name", Out::Str(step_name.clone()))]), edges).emit(emit);
            for (at, activity) in step.activities.iter().enumerate() {
                emit.key(&activity_id(at));
                let path = eco_format!(
                    "{}.workflows[\"{name}\"].steps[\"{step_name}\"].activities[{at}].call_operation.inputs",
                    self.root
                );
                self.activity(activity, &path).emit(emit);
            }
        }
    }

    fn activity(&mut self, activity: &Activity, path: &str) -> Out {
        let (properties, edges) = match activity {
            Activity::SetState(state) => (Out::map([("setNodeState", Out::Str(state.text.clone()))]), Vec::new()),
            Activity::Delegate(workflow) => (
                Out::Map(Vec::new()),
                vec![edge("DelegateWorkflow", Out::Map(Vec::new()), &id("Workflow", &workflow.text))],
            ),
            Activity::Inline(workflow) => (
                Out::Map(Vec::new()),
                vec![edge("InlineWorkflow", Out::Map(Vec::new()), &id("Workflow", &workflow.text))],
            ),
            Activity::Call { interface, operation, inputs } => {
                // Inputs of calls stay raw: they are evaluated when the workflow runs.
                let inputs = inputs
                    .iter()
                    .map(|(name, prop)| (name.clone(), self.raw(prop, &eco_format!("{path}[\"{name}\"]"))))
                    .collect();
                let call = Out::map([
                    ("interface", Out::Str(interface.clone())),
                    ("operation", Out::Str(operation.clone())),
                    ("inputs", Out::Map(inputs)),
                ]);
                (Out::map([("callOperation", call)]), Vec::new())
            }
        };
        vertex("WorkflowActivity", properties, edges)
    }

    fn substitution(&mut self) -> Out {
        let Some(substitution) = &self.compiled.topology.substitution else { return Out::Null };
        let model = &self.compiled.model;
        let (mut inputs, mut constants, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let complete = model.complete(substitution.node_type).cloned();
        for mapping in &substitution.mappings {
            let kind = match mapping.part {
                Part::Property => "PropertyPointer",
                Part::Attribute => "AttributePointer",
                Part::Capability => "CapabilityPointer",
                Part::Requirement => "RequirementPointer",
                Part::Interface => "InterfacePointer",
            };
            match &mapping.target {
                Target::Node(node, target) => {
                    let properties =
                        Out::map([("name", Out::Str(mapping.name.clone())), ("target", Out::Str(target.clone()))]);
                    edges.push(edge(kind, properties, &id("NodeTemplate", node)));
                }
                Target::Input(input) => inputs.push((mapping.name.clone(), Out::Str(input.clone()))),
                Target::Value(value) => {
                    let definition =
                        complete.as_ref().and_then(|complete| complete.named("properties", &mapping.name)).cloned();
                    let data_type =
                        definition.as_ref().and_then(|d| model.type_of(d, "type", crate::schema::Kind::DataType));
                    let out = match self.options.form {
                        Form::Coerced => {
                            Out::from(&crate::coerce::coerce(model, value, data_type, definition.as_deref()))
                        }
                        Form::Raw => self.raw_typed(value, data_type, definition.as_deref(), ""),
                    };
                    constants.push((mapping.name.clone(), out));
                }
                Target::Other => {}
            }
        }
        let decl = model.names.decl(substitution.node_type);
        let notes = decl.and_then(|decl| decl.entity.value("metadata")).map_or(Out::Map(Vec::new()), Out::from);
        let properties = Out::map([
            ("type", Out::Str(model.canonical(substitution.node_type))),
            ("typeMetadata", notes),
            ("inputs", Out::Map(inputs)),
            ("properties", Out::Map(constants)),
        ]);
        vertex("Substitution", properties, edges)
    }
}

/// Whether a value needs neither coercion nor validation that was not done before.
fn is_settled(writer: &Writer<'_>, prop: &crate::topology::Prop) -> bool {
    prop.data_type.is_none_or(|id| crate::coerce::is_plain(&writer.compiled.model, id))
}

fn id(kind: &str, name: &str) -> EcoString {
    eco_format!("{kind}:{name}")
}

fn kind_of(kind: &'static str) -> Out {
    Out::map([("puccini", Out::map([("version", Out::str("1.0")), ("kind", Out::str(kind))]))])
}

fn vertex(kind: &'static str, properties: Out, edges: Vec<Out>) -> Out {
    Out::map([("metadata", kind_of(kind)), ("properties", properties), ("edgesOut", Out::List(edges))])
}

fn edge(kind: &'static str, properties: Out, target: &str) -> Out {
    Out::map([("metadata", kind_of(kind)), ("properties", properties), ("targetID", Out::str(target))])
}

fn description(entity: &Entity) -> Out {
    Out::Str(entity.str("description").into())
}

fn metadata(entity: &Entity) -> Out {
    entity.value("metadata").map_or(Out::Null, Out::from)
}

fn operation_out(operation: &Operation, inputs: Option<Out>) -> Out {
    let texts =
        |values: &[Val]| Out::List(values.iter().map(|value| Out::Str(crate::render::artifact_text(value))).collect());
    let outputs = operation.outputs.iter().map(|(name, value)| (name.text.clone(), mapping(value))).collect();
    let mut out = vec![
        ("description".into(), Out::Str(operation.description.clone())),
        (
            "implementation".into(),
            Out::Str(operation.primary.as_ref().map(crate::render::artifact_text).unwrap_or_default()),
        ),
        ("dependencies".into(), texts(&operation.dependencies)),
        ("timeout".into(), Out::Int(operation.timeout.unwrap_or(if inputs.is_some() { -1 } else { 0 }))),
        ("outputs".into(), Out::Map(outputs)),
    ];
    if !operation.host.is_empty() {
        out.push(("host".into(), Out::Str(operation.host.clone())));
    }
    if let Some(inputs) = inputs {
        out.push(("inputs".into(), inputs));
    }
    Out::Map(out)
}

/// Where an output goes.
fn mapping(value: &Val) -> Out {
    Out::from(value)
}
