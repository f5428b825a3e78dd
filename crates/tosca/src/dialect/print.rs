//! Turns compiled services into the nodes that native commands show.
//!
//! A service that replaces a node gives nodes of its own, called `node/inner`; the connections between the two are
//! shown as dependencies.

use crate::compile::Compiled;
use crate::evaluate::{Evaluator, Key, Owner, Scope, text_of};
use crate::resolve::Edge;
use crate::substitute::Substituted;
use crate::topology::{Capability, Given, Node, Operation, Prop, Props, Requirement};
use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
use purlin_model::{Dependency, Node as GraphNode, Resolved};
use purlin_syntax::Span;
use purlin_value::{FastMap, Map, Origin, Piece, Session, Value};
use std::sync::Arc;

/// Turns evaluated values into results.
pub(crate) struct Printer<'a> {
    pub session: &'a Session,
    pub compiled: &'a Compiled,
    pub evaluator: Evaluator<'a>,
    /// The prefix of node names: the node that the service replaces.
    prefix: EcoString,
    /// The origins of the names of capabilities, by where they are declared: nodes of a type share them.
    declared: FastMap<Span, Origin>,
    /// Defaults by their definition and where they are written: every node that assigns nothing shows the same.
    defaults: FastMap<(usize, Span), Value>,
    /// Values that owners of a type share, where all are defaults.
    unassigned: FastMap<usize, Value>,
}

/// The displayed parts of a node.
#[derive(Debug)]
pub(crate) struct Printed {
    properties: Part,
    attributes: Part,
    capabilities: Part,
    requirements: Part,
    interfaces: Part,
    /// The targets of the requirements.
    dependencies: Vec<Dependency>,
}

/// A part of a node, and whether inputs were read for it.
#[derive(Clone, Debug)]
struct Part {
    value: Value,
    varies: bool,
}

/// Requirements of a service that are met outside of it: by its node and requirement, the node that meets it.
type Outside = Vec<(usize, Option<usize>, EcoString)>;

impl<'a> Printer<'a> {
    pub fn new(session: &'a Session, compiled: &'a Compiled) -> Self {
        let Compiled { model, topology, resolution, values, .. } = compiled;
        // Only expressions from outside and allocations of relationships remain to be evaluated.
        let mut evaluator = Evaluator::after(model, topology, resolution, values).refuelled();
        evaluator.origins = Some(&session.origins);
        Printer {
            session,
            compiled,
            evaluator,
            prefix: EcoString::new(),
            declared: FastMap::default(),
            defaults: FastMap::default(),
            unassigned: FastMap::default(),
        }
    }

    /// Adds all nodes of the service and of nested services.
    pub fn service(&mut self, out: &mut Resolved, outside: &Outside) {
        out.trees.extend(self.compiled.model.files.list.iter().map(|file| file.tree.clone()));
        let compiled = self.compiled;
        // Parts printed for the first variant of a project hold for the others where they read no input.
        let is_whole = self.prefix.is_empty() && outside.is_empty() && compiled.substituted.is_empty();
        let frame = compiled.model.frame().filter(|frame| is_whole && frame.values.get().is_some());
        let frame = frame.filter(|frame| frame.holds(&compiled.topology, &compiled.resolution));
        let known = frame.and_then(|frame| frame.printed.get());
        let mut printed = Vec::new();
        for (index, (name, node)) in compiled.topology.nodes.iter().enumerate() {
            let parts = self.parts(index, node, outside, known.and_then(|known| known.get(index)));
            let mut shown = self.node(index, name, node, outside, &parts);
            if frame.is_some() && known.is_none() {
                printed.push(parts);
            }
            let inside = compiled.substituted.iter().find(|substituted| substituted.node == index);
            if let Some(substituted) = inside {
                self.decompose(&mut shown, substituted, node.template.at);
            }
            let id = shown.id.clone();
            out.nodes.push(shown);
            if let Some(substituted) = inside {
                let mut printer = Printer::new(self.session, &substituted.service);
                printer.prefix = eco_format!("{id}/");
                printer.service(out, &self.met_outside(substituted));
            }
        }
        if let Some(frame) = frame.filter(|_| known.is_none()) {
            frame.printed.get_or_init(|| printed);
        }
    }

    /// A replaced node depends on the nodes of the service that replaces it.
    fn decompose(&self, shown: &mut GraphNode, substituted: &Substituted, at: Span) {
        for name in substituted.service.topology.nodes.keys() {
            shown.dependencies.push(dependency(eco_format!("{}/{name}", shown.id), Some(at), false));
        }
        let origin = self.session.origins.file(at);
        let template = Value::str(substituted.path.as_str()).with_origin(origin);
        if let Some(resolved) = shown.resolved.as_map() {
            let mut resolved = resolved.clone();
            resolved.insert("substituted_by".into(), template);
            shown.resolved = Value::map(resolved);
        }
    }

    fn met_outside(&self, substituted: &Substituted) -> Outside {
        let target = |by: usize| {
            let edge = self.compiled.resolution.edge(substituted.node, by)?;
            self.compiled.topology.nodes.get_index(edge.target).map(|(name, _)| eco_format!("{}{name}", self.prefix))
        };
        let all = substituted.outward.iter();
        all.filter_map(|outward| Some((outward.node, outward.requirement, target(outward.by)?))).collect()
    }

    /// The parts of a node; those that do not depend on inputs are reused from another variant.
    fn parts(&mut self, index: usize, node: &Node, outside: &Outside, known: Option<&Printed>) -> Printed {
        let own = Owner::Node(index);
        let steady = |part: fn(&Printed) -> &Part| known.map(part).filter(|part| !part.varies);
        let attributes =
            self.part(steady(|known| &known.attributes), |printer| printer.owned(own, true, &node.attributes));
        let properties =
            self.part(steady(|known| &known.properties), |printer| printer.owned(own, false, &node.properties));
        let capabilities = self.part(steady(|known| &known.capabilities), |printer| {
            let mut capabilities = Map::new();
            for (at, (name, capability)) in node.capabilities.iter().enumerate() {
                let owner = Owner::Capability(index, at);
                let mut parts = Map::new();
                parts.insert("properties".into(), printer.shared(owner, false, &capability.properties));
                parts.insert("attributes".into(), printer.shared(owner, true, &capability.attributes));
                let origins = &printer.session.origins;
                let at = capability.definition.at;
                let origin = *printer.declared.entry(at).or_insert_with(|| origins.file(at));
                capabilities.insert(name.clone(), Value::map(parts).with_origin(origin));
            }
            Value::map(capabilities)
        });
        let mut dependencies = known.map(|known| known.dependencies.clone()).unwrap_or_default();
        let requirements = self.part(steady(|known| &known.requirements), |printer| {
            dependencies.clear();
            Value::list(printer.requirements(index, node, outside, &mut dependencies))
        });
        let interfaces =
            self.part(steady(|known| &known.interfaces), |printer| printer.interfaces(node, &Scope::node(index)));
        Printed { properties, attributes, capabilities, requirements, interfaces, dependencies }
    }

    fn part(&mut self, steady: Option<&Part>, print: impl FnOnce(&mut Self) -> Value) -> Part {
        if let Some(part) = steady {
            return part.clone();
        }
        self.evaluator.forget_reads();
        let value = print(self);
        Part { value, varies: self.evaluator.has_read_inputs() }
    }

    fn node(&self, index: usize, name: &EcoString, node: &Node, outside: &Outside, parts: &Printed) -> GraphNode {
        let mut out = GraphNode::new(eco_format!("{}{name}", self.prefix), "node template", "tosca");
        out.type_name = self.compiled.model.name(node.node_type);
        out.source = Some(node.template.at);
        let mut resolved = Map::with_capacity(5);
        resolved.insert("properties".into(), parts.properties.value.clone());
        resolved.insert("attributes".into(), parts.attributes.value.clone());
        resolved.insert("capabilities".into(), parts.capabilities.value.clone());
        resolved.insert("requirements".into(), parts.requirements.value.clone());
        resolved.insert("interfaces".into(), parts.interfaces.value.clone());
        out.resolved = Value::map(resolved);
        out.outputs = parts.attributes.value.clone();
        out.dependencies.clone_from(&parts.dependencies);
        // A selected node is the same node as the one outside.
        let same = outside.iter().filter(|(inner, requirement, _)| *inner == index && requirement.is_none());
        out.dependencies.extend(same.map(|(_, _, met)| dependency(met.clone(), Some(node.template.at), false)));
        out
    }

    fn requirements(
        &mut self,
        index: usize,
        node: &Node,
        outside: &Outside,
        dependencies: &mut Vec<Dependency>,
    ) -> Vec<Value> {
        let mut out = Vec::new();
        for (at, requirement) in node.requirements.iter().enumerate() {
            let mut entry = Map::new();
            let origin = self.session.origins.file(requirement.at);
            let edge = self.compiled.resolution.edge(index, at).cloned();
            let target = edge.as_ref().and_then(|edge| self.compiled.topology.nodes.get_index(edge.target));
            if let (Some(edge), Some((name, target))) = (&edge, target) {
                let id = eco_format!("{}{name}", self.prefix);
                let node = self.target_origin(requirement, target.template.at);
                entry.insert("node".into(), Value::str(id.clone()).with_origin(node));
                let capability = self.capability_name(requirement, target.capabilities.get_index(edge.capability));
                entry.insert("capability".into(), capability);
                let explicit = requirement.node_template.is_some();
                dependencies.push(self.required(id.clone(), requirement, explicit));
                for inner in self.behind(edge) {
                    dependencies.push(self.required(eco_format!("{id}/{inner}"), requirement, explicit));
                }
            }
            let met = outside.iter().find(|(inner, which, _)| *inner == index && *which == Some(at));
            if let Some((_, _, met)) = met {
                entry.insert("node".into(), Value::str(met.clone()).with_origin(origin));
                dependencies.push(self.required(met.clone(), requirement, false));
            }
            if !requirement.allocation().is_empty() {
                entry.insert("allocation".into(), self.allocation(index, at, requirement));
            }
            if let Some(relationship) = &requirement.relationship {
                let owner = Owner::Relationship(index, at);
                let mut parts = Map::new();
                if let Some(id) = relationship.relationship_type {
                    let origin = self.declared_origin(requirement, "relationship");
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

    /// A dependency by a requirement: its name, and the type of its relationship.
    fn required(&self, node: EcoString, requirement: &Requirement, is_explicit: bool) -> Dependency {
        let kind = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
        let relationship = kind.map(|id| self.compiled.model.name(id)).unwrap_or_default();
        let names = vec![requirement.name.clone()];
        Dependency { names, relationship, ..dependency(node, Some(requirement.at), is_explicit) }
    }

    /// The origin of a target's name: the requirement, or the template chosen for it.
    fn target_origin(&self, requirement: &Requirement, target: Span) -> Origin {
        let origins = &self.session.origins;
        match &requirement.node_template {
            Some(name) => origins.file(name.span),
            None => origins.derived("chosen target", Some(requirement.at), vec![Piece::whole(origins.file(target))]),
        }
    }

    /// The target capability of a requirement: the named one, or a suitable one of the target.
    fn capability_name(&self, requirement: &Requirement, found: Option<(&EcoString, &Arc<Capability>)>) -> Value {
        let origins = &self.session.origins;
        let Some((name, capability)) = found else { return Value::str("").with_origin(origins.file(requirement.at)) };
        let origin = match &requirement.capability_name {
            Some(name) => origins.file(name.span),
            None if requirement.node_template.is_some() => origins.file(capability.definition.at),
            None => {
                let declared = Piece::whole(origins.file(capability.definition.at));
                origins.derived("chosen capability", Some(requirement.at), vec![declared])
            }
        };
        Value::str(name.clone()).with_origin(origin)
    }

    /// The location of a part of a requirement: where it is assigned, or else where it is declared.
    fn declared_origin(&self, requirement: &Requirement, part: &str) -> Origin {
        let written = [&requirement.assignment, &requirement.definition].into_iter().flatten();
        let slot = written.filter_map(|entity| entity.slot(part)).next();
        self.session.origins.file(slot.map_or(requirement.at, |slot| slot.at))
    }

    /// The allocation of a relationship.
    fn allocation(&mut self, source: usize, at: usize, requirement: &Requirement) -> Value {
        let recorded = self.compiled.resolution.allocations.get(&(source, at));
        let mut out = Map::new();
        for (name, value) in requirement.allocation() {
            // It was computed when the relationship was made; it is computed again here for its origins.
            let mut computed =
                self.evaluator.in_relationship(source, at, value).unwrap_or_else(|| value.with(Data::Null));
            let taken = recorded.and_then(|all| all.iter().find(|(known, _)| *known == name.text));
            if let Some((_, taken)) = taken {
                computed = computed.with(taken.data.clone()).tainted_by(taken.taint());
            }
            let mut shown = self.value(&computed);
            shown.origin = computed.origin;
            out.insert(name.text.clone(), shown);
        }
        Value::map(out)
    }

    /// The inner nodes behind a capability.
    fn behind(&self, edge: &Edge) -> Vec<EcoString> {
        let substituted = self.compiled.substituted.iter().find(|substituted| substituted.node == edge.target);
        let Some(substituted) = substituted else { return Vec::new() };
        let inward = substituted.inward.iter().filter(|inward| inward.capability == edge.capability);
        let inner = &substituted.service.topology.nodes;
        inward.filter_map(|inward| inner.get_index(inward.node)).map(|(name, _)| name.clone()).collect()
    }

    /// Interfaces with their inputs and all their operations, unless they are empty.
    fn interfaces(&mut self, node: &Node, scope: &Scope) -> Value {
        let mut out = Map::new();
        for (name, interface) in &node.interfaces {
            let says = |operation: &Operation| operation.primary.is_some() || !operation.inputs.is_empty();
            if interface.inputs.is_empty() && !interface.operations.values().any(says) {
                continue;
            }
            let mut entries = Map::new();
            if !interface.inputs.is_empty() {
                entries.insert("inputs".into(), self.loose(&interface.inputs, scope));
            }
            for (operation_name, operation) in &interface.operations {
                let mut parts = Map::new();
                if let Some(primary) = &operation.primary {
                    parts.insert("implementation".into(), self.value(primary));
                }
                parts.insert("inputs".into(), self.loose(&operation.inputs, scope));
                entries.insert(operation_name.clone(), Value::map(parts));
            }
            out.insert(name.clone(), Value::map(entries));
        }
        Value::map(out)
    }

    /// Values that may be shared with other owners.
    fn shared(&mut self, owner: Owner, attribute: bool, props: &Arc<Props>) -> Value {
        let identity = Arc::as_ptr(props) as usize;
        if let Some(known) = self.unassigned.get(&identity) {
            return known.clone();
        }
        let value = self.owned(owner, attribute, props);
        if props.values().all(|prop| default_of(prop).is_some()) {
            self.unassigned.insert(identity, value.clone());
        }
        value
    }

    pub fn owned(&mut self, owner: Owner, attribute: bool, props: &Props) -> Value {
        let mut out = Map::with_capacity(props.len());
        for (name, prop) in props {
            let default = default_of(prop);
            if let Some(known) = default.and_then(|default| self.defaults.get(&default)) {
                out.insert(name.clone(), known.clone());
                continue;
            }
            let value = self.evaluator.force(Key { owner, attribute, name: name.clone() });
            let value = self.given(name, prop, &value);
            if let Some(default) = default {
                self.defaults.insert(default, value.clone());
            }
            out.insert(name.clone(), value);
        }
        Value::map(out)
    }

    pub fn loose(&mut self, props: &Props, scope: &Scope) -> Value {
        let mut out = Map::new();
        for (name, prop) in props {
            let value = self.evaluator.settle_once(name, prop, scope);
            out.insert(name.clone(), self.given(name, prop, &value));
        }
        Value::map(out)
    }

    /// A value with how it was given.
    fn given(&self, name: &EcoString, prop: &Prop, value: &Val) -> Value {
        let mut out = self.value(value);
        let default = prop.definition.as_ref().filter(|definition| definition.slot("default").is_some());
        match (prop.given, default) {
            (Given::Default, _) if !prop.value.has_call() => {
                let written = self.session.origins.span(out.origin, &self.session.sources).unwrap_or(prop.at);
                out.origin = self.session.origins.fallback(eco_format!("default of `{name}`"), Some(written));
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
    pub fn value(&self, value: &Val) -> Value {
        let mut taint = value.taint();
        let data = match &value.data {
            Data::Null | Data::Call(_) => purlin_value::Data::Null,
            Data::Poison => purlin_value::Data::Poison,
            Data::Pending(what) => Value::pending("input", what.clone()).data,
            Data::Bool(value) => purlin_value::Data::Bool(*value),
            Data::Int(value) => purlin_value::Data::Int(*value),
            Data::Float(value) => purlin_value::Data::Float(*value),
            Data::Str(text) | Data::Timestamp(text) => purlin_value::Data::Str(text.clone()),
            Data::List(items) => {
                purlin_value::Data::from(items.iter().map(|item| self.value(item)).collect::<Vec<_>>())
            }
            Data::Map(entries) => {
                if let Some(original) = value.get(crate::coerce::ORIGINAL) {
                    return self.value(original).tainted_by(value.taint());
                }
                // A key has no taint of its own, so the map gets it.
                taint |= entries.iter().map(|(key, _)| key.taint_within()).collect();
                let entries = entries.iter().map(|(key, item)| (text_of(key).unwrap_or_default(), self.value(item)));
                purlin_value::Data::from(entries.collect::<Map>())
            }
        };
        Value::of(data, value.origin, taint)
    }
}

/// Identifies a default that is the same for every owner: one without calls.
fn default_of(prop: &Prop) -> Option<(usize, Span)> {
    let definition = prop.definition.as_ref().filter(|_| prop.given == Given::Default && !prop.value.has_call())?;
    Some((Arc::as_ptr(definition) as usize, prop.value.span))
}

fn dependency(node: EcoString, span: Option<Span>, is_explicit: bool) -> Dependency {
    let (names, relationship) = (Vec::new(), EcoString::new());
    Dependency { node, is_static: false, is_runtime: true, is_explicit, span, names, relationship }
}
