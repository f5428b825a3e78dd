//! The dialect for the native commands: recognises service templates and archives, and resolves them into nodes.
//!
//! Node templates become nodes, requirements their dependencies. It must not know how commands print.

use crate::archive::Archive;
use crate::compile::{Compiled, Settings, compile, is_invalid, unknown_quirk};
use crate::evaluate::{Evaluator, Key, Owner, Scope, text_of};
use crate::inputs;
use crate::problem::Problems;
use crate::profile;
use crate::quirks::Quirks;
use crate::render::MissingInputs;
use crate::rules::RULES;
use crate::schema::Edition;
use crate::topology::{Given, Node, Prop, Props};
use crate::val::{self, Data, Val};
use ecow::{EcoString, eco_format};
use purlin_model::{Answer, Dependency, Dialect, Node as GraphNode, Question, Recognised, Request, Resolved};
use purlin_syntax::{Flavor, yaml};
use purlin_value::world::FileKind;
use purlin_value::{Map, Origin, Session, Value, path};

/// The TOSCA dialect.
pub const DIALECT: Dialect = Dialect {
    name: "tosca",
    summary: "TOSCA service templates and CSAR archives, 1.0 to 2.0.",
    detect,
    resolve,
    eval,
    rules: RULES,
};

/// What a folder's service template is usually called, the surest first.
const NAMES: &[&str] =
    &["service.yaml", "service-template.yaml", "service_template.yaml", "main.yaml", "topology.yaml"];
/// How sure a named file with a known version is, and one with an unknown version.
const SURE: u8 = 60;
const UNSURE: u8 = 20;
/// Folders with more files than this are not searched for templates.
const MAX_SEARCHED: usize = 500;

fn detect(session: &Session, request: &Request) -> Option<Recognised> {
    let start = if request.path.is_empty() { "." } else { request.path.as_str() };
    let world = session.world.as_ref();
    let is_folder = world.stat(start).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if !is_folder {
        return strength_of(session, start).map(|strength| Recognised { file: start.to_owned(), strength });
    }
    if let Some(named) = &request.file {
        let full = path::join(start, named);
        return strength_of(session, &full).map(|strength| Recognised { file: full, strength });
    }
    let usual = NAMES.iter().map(|name| path::join(start, name)).find(|full| has_service(session, full));
    if let Some(file) = usual {
        return Some(Recognised { file, strength: 45 });
    }
    let entries = world.list(start).ok().filter(|entries| entries.len() <= MAX_SEARCHED)?;
    let is_candidate = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml") || Archive::is_archive(name);
    let candidates = entries.iter().filter(|entry| entry.kind != FileKind::Folder && is_candidate(&entry.name));
    let mut found = candidates.map(|entry| path::join(start, &entry.name)).filter(|full| has_service(session, full));
    let file = found.next()?;
    // With several templates in a folder, the user must say which is meant.
    found.next().is_none().then_some(Recognised { file, strength: 40 })
}

/// The version keyword of a file's text.
fn keyword(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("tosca_definitions_version:"))?;
    Some(line.split(" #").next()?.trim().trim_matches(['"', '\'']))
}

/// How surely a file is ours: by a version we know, or by one that nobody knows and somebody should complain about.
fn strength_of(session: &Session, full: &str) -> Option<u8> {
    if full.to_ascii_lowercase().ends_with(".csar") {
        return Some(SURE);
    }
    let bytes = session.world.read(full).ok()?;
    if Archive::is_archive(full) {
        let archive = Archive::open(full, &bytes, &session.limits).ok()?;
        return archive.entry("").is_ok().then_some(SURE);
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    match keyword(text) {
        Some(keyword) if profile::version(keyword).is_some() => Some(SURE),
        Some(keyword) if keyword.contains("unfurl") => None,
        Some(_) => Some(UNSURE),
        None => text.lines().any(|line| line.starts_with("heat_template_version:")).then_some(UNSURE),
    }
}

fn has_service(session: &Session, full: &str) -> bool {
    if Archive::is_archive(full) {
        return strength_of(session, full) == Some(SURE);
    }
    let Ok(bytes) = session.world.read(full) else { return false };
    let Ok(text) = std::str::from_utf8(&bytes) else { return false };
    let service = |line: &str| line.starts_with("topology_template:") || line.starts_with("service_template:");
    keyword(text).and_then(profile::version).is_some() && text.lines().any(service)
}

/// What a request asks of the compiler.
fn settings(session: &Session, request: &Request, problems: &mut Problems) -> Settings {
    let mut settings = Settings::default();
    let wanted: Vec<&str> =
        request.extra.iter().filter(|(name, _)| name == "quirk").map(|(_, value)| value.as_str()).collect();
    let (quirks, unknown) = Quirks::parse(wanted);
    unknown.into_iter().for_each(|name| problems.push(unknown_quirk(name)));
    settings.options.quirks = quirks;
    settings.options.template = request.extra("template").unwrap_or("").to_owned();
    let given = !request.inputs.is_empty() || !request.input_files.is_empty();
    settings.inputs = inputs::read(session, &request.input_files, &request.inputs, problems);
    settings.missing = given.then_some(MissingInputs::Refuse);
    settings
}

fn compiled(session: &Session, request: &Request) -> Option<(Compiled, String)> {
    let file = detect(session, request)?.file;
    let mut problems = Problems::new();
    let settings = settings(session, request, &mut problems);
    let compiled = compile(session, &file, &settings);
    let all = problems.list().iter().chain(compiled.problems.list());
    session.sink.extend(all.map(|problem| problem.diagnostic.clone()));
    Some((compiled, file))
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let (compiled, file) = compiled(session, request)?;
    let mut evaluator = Evaluator::with_resolution(&compiled.model, &compiled.topology, &compiled.resolution);
    evaluator.origins = Some(&session.origins);
    let mut out = Resolved::new(project_name(&compiled, &file));
    out.trees = compiled.model.files.list.iter().map(|file| file.tree.clone()).collect();
    if is_invalid(&compiled.problems) {
        return Some(out);
    }
    let mut printer = Printer { session, compiled: &compiled, evaluator };
    out.variables = printer.owned(Owner::Service, false, &compiled.topology.inputs);
    for (index, (name, node)) in compiled.topology.nodes.iter().enumerate() {
        out.nodes.push(printer.node(index, name, node));
    }
    out.outputs = printer.loose(&compiled.topology.outputs, &Scope::default());
    Some(out)
}

fn project_name(compiled: &Compiled, file: &str) -> EcoString {
    let notes = compiled.model.files.root().and_then(|file| file.entity.value("metadata"));
    let named = notes.and_then(|notes| notes.get("template_name")).and_then(Val::as_str);
    let stem = path::file_name(file).split('.').next().unwrap_or(file);
    named.unwrap_or(stem).into()
}

/// Turns evaluated values into results.
struct Printer<'a> {
    session: &'a Session,
    compiled: &'a Compiled,
    evaluator: Evaluator<'a>,
}

impl Printer<'_> {
    fn node(&mut self, index: usize, name: &EcoString, node: &Node) -> GraphNode {
        let mut out = GraphNode::new(name.clone(), "node template", "tosca");
        out.type_name = self.compiled.model.name(node.node_type);
        out.source = Some(node.template.at);
        let mut resolved = Map::new();
        let attributes = self.owned(Owner::Node(index), true, &node.attributes);
        resolved.insert("properties".into(), self.owned(Owner::Node(index), false, &node.properties));
        resolved.insert("attributes".into(), attributes.clone());
        let mut capabilities = Map::new();
        for (at, (name, capability)) in node.capabilities.iter().enumerate() {
            let owner = Owner::Capability(index, at);
            let mut parts = Map::new();
            parts.insert("properties".into(), self.owned(owner, false, &capability.properties));
            parts.insert("attributes".into(), self.owned(owner, true, &capability.attributes));
            capabilities.insert(name.clone(), Value::map(parts));
        }
        resolved.insert("capabilities".into(), Value::map(capabilities));
        resolved.insert("requirements".into(), Value::list(self.requirements(index, node, &mut out.dependencies)));
        resolved.insert("interfaces".into(), self.interfaces(node, &Scope::node(index)));
        out.resolved = Value::map(resolved);
        out.outputs = attributes;
        out
    }

    fn requirements(&mut self, index: usize, node: &Node, dependencies: &mut Vec<Dependency>) -> Vec<Value> {
        let mut out = Vec::new();
        for (at, requirement) in node.requirements.iter().enumerate() {
            let mut entry = Map::new();
            let origin = self.session.origins.file(requirement.at);
            let edge = self.compiled.resolution.edge(index, at).cloned();
            let target = edge.as_ref().and_then(|edge| self.compiled.topology.nodes.get_index(edge.target));
            if let (Some(edge), Some((name, target))) = (&edge, target) {
                let capability =
                    target.capabilities.get_index(edge.capability).map(|(name, _)| name.clone()).unwrap_or_default();
                entry.insert("node".into(), Value::str(name.clone()).with_origin(origin));
                entry.insert("capability".into(), Value::str(capability).with_origin(origin));
                dependencies.push(Dependency {
                    node: name.clone(),
                    is_static: false,
                    is_runtime: true,
                    is_explicit: requirement.node_template.is_some(),
                    span: Some(requirement.at),
                });
            }
            if let Some(relationship) = &requirement.relationship {
                let owner = Owner::Relationship(index, at);
                let mut parts = Map::new();
                if let Some(id) = relationship.relationship_type {
                    parts.insert("type".into(), Value::str(self.compiled.model.name(id)).with_origin(origin));
                }
                parts.insert("properties".into(), self.owned(owner, false, &relationship.properties));
                parts.insert("attributes".into(), self.owned(owner, true, &relationship.attributes));
                entry.insert("relationship".into(), Value::map(parts));
            }
            out.push(Value::map(Map::from_iter([(requirement.name.clone(), Value::map(entry))])));
        }
        out
    }

    /// The operations that somebody implements, with their inputs.
    fn interfaces(&mut self, node: &Node, scope: &Scope) -> Value {
        let mut out = Map::new();
        for (name, interface) in &node.interfaces {
            let mut operations = Map::new();
            for (operation_name, operation) in &interface.operations {
                let Some(primary) = &operation.primary else { continue };
                let mut parts = Map::new();
                parts.insert("implementation".into(), self.value(primary));
                parts.insert("inputs".into(), self.loose(&operation.inputs, scope));
                operations.insert(operation_name.clone(), Value::map(parts));
            }
            if !operations.is_empty() {
                out.insert(name.clone(), Value::map(operations));
            }
        }
        Value::map(out)
    }

    fn owned(&mut self, owner: Owner, attribute: bool, props: &Props) -> Value {
        let mut out = Map::new();
        for (name, prop) in props {
            let value = self.evaluator.force(Key { owner, attribute, name: name.clone() });
            out.insert(name.clone(), self.given(name, prop, &value));
        }
        Value::map(out)
    }

    fn loose(&mut self, props: &Props, scope: &Scope) -> Value {
        let mut out = Map::new();
        for (name, prop) in props {
            let value = self.evaluator.settle(prop, scope);
            out.insert(name.clone(), self.given(name, prop, &value));
        }
        Value::map(out)
    }

    /// A value with what it says about how it was given.
    fn given(&self, name: &EcoString, prop: &Prop, value: &Val) -> Value {
        let mut out = self.value(value);
        let default = prop.definition.as_ref().filter(|definition| definition.slot("default").is_some());
        match (prop.given, default) {
            (Given::Default, _) if !prop.value.has_call() => {
                out.origin = self.session.origins.fallback(eco_format!("default of `{name}`"), Some(prop.at));
            }
            (Given::Assigned | Given::Input, Some(definition)) => {
                let overrode = self
                    .session
                    .origins
                    .fallback(eco_format!("default of `{name}`"), Some(definition.place("default")));
                out.origin = self.session.origins.chosen(out.origin, "assigned over default", vec![overrode]);
            }
            _ => {}
        }
        out
    }

    /// A value for people: quantities and the like as they are written.
    fn value(&self, value: &Val) -> Value {
        let data = match &value.data {
            Data::Null | Data::Call(_) => purlin_value::Data::Null,
            Data::Poison => purlin_value::Data::Poison,
            Data::Pending(what) => return Value::pending("input", what.clone()).with_origin(value.origin),
            Data::Bool(value) => purlin_value::Data::Bool(*value),
            Data::Int(value) => purlin_value::Data::Int(*value),
            Data::Float(value) => purlin_value::Data::Float(*value),
            Data::Str(text) | Data::Timestamp(text) => purlin_value::Data::Str(text.clone()),
            Data::List(items) => {
                return Value::list(items.iter().map(|item| self.value(item)).collect()).with_origin(value.origin);
            }
            Data::Map(entries) => {
                if let Some(original) = value.get(crate::coerce::ORIGINAL) {
                    return self.value(original);
                }
                let entries = entries.iter().map(|(key, item)| (text_of(key).unwrap_or_default(), self.value(item)));
                return Value::map(entries.collect()).with_origin(value.origin);
            }
        };
        Value { data, origin: value.origin, tainted: false }
    }
}

/// Evaluates a function call or value, written as YAML, on a node or on the service.
fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let (compiled, _) = compiled(session, request)?;
    if is_invalid(&compiled.problems) {
        return None;
    }
    let source = session.sources.insert("expression", question.expression.as_str());
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    session.sink.extend(tree.diagnostics().iter().cloned());
    let expression = val::read(tree.root()?, compiled.model.edition());
    let mut evaluator = Evaluator::with_resolution(&compiled.model, &compiled.topology, &compiled.resolution);
    evaluator.origins = Some(&session.origins);
    let node = question.on.as_ref().and_then(|name| compiled.topology.nodes.get_index_of(name.as_str()));
    let scope = node.map(Scope::node).unwrap_or_default();
    let prop =
        Prop { value: expression, definition: None, data_type: None, at: tree.root()?.span(), given: Given::Assigned };
    let value = evaluator.settle(&prop, &scope);
    session.sink.extend(evaluator.problems().list().iter().map(|problem| problem.diagnostic.clone()));
    let printer = Printer { session, compiled: &compiled, evaluator };
    let edition: Edition = compiled.model.edition();
    let trace = if question.trace { vec![format!("TOSCA {}", edition.number())] } else { Vec::new() };
    let value = printer.value(&value);
    let origin = if value.origin.is_known() { value.origin } else { Origin::NONE };
    Some(Answer { value: value.with_origin(origin), trace })
}
