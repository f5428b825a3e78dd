//! Operations of a service: the scripts that bring its nodes up and take them down, their order, their inputs, and the
//! attributes made from their outputs. Runs nothing.

use crate::compile::{Compiled, is_invalid};
use crate::dialect::print::Printer;
use crate::dialect::{compiled, resolved};
use crate::evaluate::{Evaluator, Scope};
use crate::finish;
use crate::render::interfaces::artifact_text;
use crate::rules;
use crate::topology::{Given, Interface, Node, Operation};
use crate::val::{Data, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_model::{Ask, Resolved};
use purlin_syntax::{Diagnostic, Span};
use purlin_value::{Session, Value, path};
use std::sync::Arc;

/// Operations of a node that bring it up, in order, and those that take it down.
const UP: &[&str] = &["create", "configure", "start"];
const DOWN: &[&str] = &["stop", "delete"];

/// Operations of the relationships of a node, before and after it is configured, and once it runs.
const BEFORE: &[&str] = &["pre_configure_target", "pre_configure_source"];
const AFTER: &[&str] = &["post_configure_source", "post_configure_target"];
const LINKED: &[&str] = &["add_target", "add_source"];
const UNLINKED: &[&str] = &["remove_target", "remove_source"];

/// Extensions of files that are not programs.
const NO_PROGRAMS: &[&str] = &[".yaml", ".yml", ".tf", ".json", ".zip", ".tar", ".gz", ".tgz"];

/// A compiled service whose operations can be run.
pub struct Service {
    compiled: Compiled,
    file: String,
}

/// One operation of a node, or of a relationship that leads from it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The node and the operation: `db.create`, `web.db.add_target`.
    pub id: String,
    /// The operation.
    pub operation: EcoString,
    /// The script, as the world names it.
    pub file: String,
    /// Seconds after which it has failed.
    pub timeout: Option<u64>,
    /// Where it is written.
    pub span: Span,
    /// Names of its node or relationship, as environment variables.
    pub names: Vec<(&'static str, String)>,
    node: usize,
    relationship: Option<usize>,
}

impl Service {
    /// Opens the service that another dialect, or a command, asks for. Problems go to the session's sink.
    pub fn open(session: &Session, ask: &Ask<'_>) -> Option<Service> {
        let compiled = compiled(session, ask.path, &ask.request, crate::inner::inputs(session, ask), ask.span);
        (!is_invalid(&compiled.problems)).then(|| Service { compiled, file: ask.path.to_owned() })
    }

    /// Registers the secrets of the service with the session, so that no output of its operations shows them: values
    /// of inputs and nodes, and every part that they were composed of.
    pub fn hide_secrets(&self, session: &Session) {
        let mut printer = Printer::new(session, &self.compiled);
        let inputs = printer.loose(&self.compiled.topology.inputs, &Scope::default());
        let nodes = self.resolved(session).nodes;
        for value in nodes.iter().map(|node| &node.resolved).chain([&inputs]) {
            value.each_secret(&mut |secret| secret.as_str().into_iter().for_each(|text| session.sink.hide(text)));
        }
        let computed = self.compiled.values.secrets.iter().chain(&printer.evaluator.secrets);
        computed.for_each(|text| session.sink.hide(text));
    }

    /// The steps that bring the service up: nodes after those they require.
    pub fn up(&self, session: &Session) -> Vec<Step> {
        let mut out = Vec::new();
        for index in self.order() {
            self.own(session, index, &UP[..1], &mut out);
            self.linked(session, index, BEFORE, &mut out);
            self.own(session, index, &UP[1..2], &mut out);
            self.linked(session, index, AFTER, &mut out);
            self.own(session, index, &UP[2..], &mut out);
            self.linked(session, index, LINKED, &mut out);
        }
        out
    }

    /// The steps that take the service down: nodes before those they require.
    pub fn down(&self, session: &Session) -> Vec<Step> {
        let mut out = Vec::new();
        for index in self.order().into_iter().rev() {
            self.linked(session, index, UNLINKED, &mut out);
            self.own(session, index, DOWN, &mut out);
        }
        out
    }

    /// The name of a step's node.
    pub fn node(&self, step: &Step) -> &str {
        self.compiled.topology.nodes.get_index(step.node).map_or("", |(name, _)| name)
    }

    /// Nodes, each after those it requires.
    fn order(&self) -> Vec<usize> {
        self.compiled.resolution.order(self.compiled.topology.nodes.len())
    }

    fn own(&self, session: &Session, index: usize, names: &[&str], out: &mut Vec<Step>) {
        let Some((name, node)) = self.compiled.topology.nodes.get_index(index) else { return };
        for wanted in names {
            let Some(operation) = find(&node.interfaces, "Standard", wanted) else { continue };
            let id = format!("{name}.{wanted}");
            let names = vec![("NODE", name.to_string())];
            out.extend(self.step(session, node, operation, (index, None), id, wanted, names));
        }
    }

    /// The operations of relationships that start at a node.
    fn linked(&self, session: &Session, index: usize, wanted: &[&str], out: &mut Vec<Step>) {
        let Some((name, node)) = self.compiled.topology.nodes.get_index(index) else { return };
        for edge in self.compiled.resolution.edges.get(index).into_iter().flatten() {
            let Some(requirement) = node.requirements.get(edge.requirement) else { continue };
            let Some(relationship) = &requirement.relationship else { continue };
            let target = self.compiled.topology.nodes.get_index(edge.target).map_or("", |(name, _)| name);
            for wanted in wanted {
                let Some(operation) = find(&relationship.interfaces, "Configure", wanted) else { continue };
                let id = format!("{name}.{}.{wanted}", requirement.name);
                let names = vec![("SOURCE", name.to_string()), ("TARGET", target.to_owned())];
                out.extend(self.step(session, node, operation, (index, Some(edge.requirement)), id, wanted, names));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn step(
        &self,
        session: &Session,
        node: &Node,
        operation: &Operation,
        (index, relationship): (usize, Option<usize>),
        id: String,
        name: &str,
        names: Vec<(&'static str, String)>,
    ) -> Option<Step> {
        let primary = operation.primary.as_ref()?;
        let named = artifact_text(primary);
        let artifact = node.artifacts.get(&named);
        let file = artifact.map(|artifact| artifact.entity.str("file").to_owned()).unwrap_or_else(|| named.to_string());
        let written = artifact.map_or(primary.span, |artifact| artifact.entity.span);
        let folder = session.sources.get(written.file).map(|source| path::parent(source.path()).to_owned());
        let refused = |why: String| {
            let problem = Diagnostic::at(&rules::OPERATION, primary.span, format!("`{id}` cannot be run: {why}"));
            session.sink.push(problem.hint("an operation that runs here is a script beside the template"));
        };
        let full = [folder.unwrap_or_default(), path::parent(&self.file).to_owned()]
            .into_iter()
            .map(|folder| path::join(&folder, &file))
            .find(|full| session.world.exists(full));
        let Some(full) = full else {
            refused(format!("file `{file}` not found"));
            return None;
        };
        if NO_PROGRAMS.iter().any(|ending| file.ends_with(ending)) {
            refused(format!("`{file}` is not a program"));
            return None;
        }
        Some(Step {
            id: id.clone(),
            operation: name.into(),
            file: full,
            timeout: operation.timeout.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0),
            span: primary.span,
            names,
            node: index,
            relationship,
        })
    }

    /// The current inputs of an operation: those of its interface, overridden by its own.
    pub fn inputs(&self, session: &Session, step: &Step) -> Vec<(EcoString, Value)> {
        let Some((_, node)) = self.compiled.topology.nodes.get_index(step.node) else { return Vec::new() };
        let (interfaces, wanted, scope) = match step.relationship {
            None => (Some(&node.interfaces), "Standard", Scope::node(step.node)),
            Some(requirement) => {
                let relationship = node.requirements.get(requirement).and_then(|found| found.relationship.as_ref());
                let scope = Scope::relationship(step.node, requirement);
                (relationship.map(|found| &found.interfaces), "Configure", scope)
            }
        };
        let Some(interface) = interfaces.and_then(|all| interface(all, wanted, &step.operation)) else {
            return Vec::new();
        };
        let mut printer = Printer::new(session, &self.compiled);
        let mut out: IndexMap<EcoString, Value> = IndexMap::new();
        let operation = interface.operations.get(&step.operation);
        for props in [Some(&interface.inputs), operation.map(|operation| &operation.inputs)].into_iter().flatten() {
            let values = printer.loose(props, &scope);
            out.extend(
                values
                    .as_map()
                    .into_iter()
                    .flat_map(|map| map.iter())
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        out.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Records the outputs of an operation in the attributes they are mapped to.
    pub fn learn(&mut self, session: &Session, step: &Step, outputs: &[(String, Value)]) {
        let mappings: Vec<(String, Vec<EcoString>)> = self.mappings(step);
        let mut is_changed = false;
        for (output, mapping) in mappings {
            let Some((_, value)) = outputs.iter().find(|(name, _)| *name == output) else { continue };
            let [owner, attribute] = mapping.as_slice() else { continue };
            let place = match owner.as_str() {
                "SELF" | "SOURCE" => Some(step.node),
                other => self.compiled.topology.nodes.get_index_of(other),
            };
            let node = place.and_then(|place| self.compiled.topology.nodes.get_index_mut(place)).map(|(_, node)| node);
            let Some(prop) = node.and_then(|node| Arc::make_mut(node).attributes.get_mut(attribute)) else { continue };
            prop.value = crate::inner::input(session, value, step.span, 0);
            prop.given = Given::Assigned;
            is_changed = true;
        }
        if is_changed {
            self.evaluate(session);
        }
    }

    fn mappings(&self, step: &Step) -> Vec<(String, Vec<EcoString>)> {
        let Some((_, node)) = self.compiled.topology.nodes.get_index(step.node) else { return Vec::new() };
        let interfaces = match step.relationship {
            None => Some((&node.interfaces, "Standard")),
            Some(requirement) => {
                let found = node.requirements.get(requirement).and_then(|found| found.relationship.as_ref());
                found.map(|found| (&found.interfaces, "Configure"))
            }
        };
        let operation = interfaces.and_then(|(all, name)| find(all, name, &step.operation));
        let words = |mapping: &Val| match &mapping.data {
            Data::Str(attribute) => vec!["SELF".into(), attribute.clone()],
            _ => mapping.items().iter().filter_map(Val::as_str).map(EcoString::from).collect(),
        };
        let outputs = operation.map(|operation| operation.outputs.as_slice()).unwrap_or(&[]);
        outputs.iter().map(|(name, mapping)| (name.text.to_string(), words(mapping))).collect()
    }

    fn evaluate(&mut self, session: &Session) {
        let compiled = &mut self.compiled;
        let mut evaluator = Evaluator::with_resolution(&compiled.model, &compiled.topology, &compiled.resolution);
        evaluator.origins = Some(&session.origins);
        finish::check_all(&mut evaluator, &compiled.topology);
        let values = evaluator.into_values();
        compiled.values = Arc::new(values);
    }

    /// The current state of the service.
    pub fn resolved(&self, session: &Session) -> Resolved {
        resolved(session, &self.compiled, &self.file)
    }
}

/// The interface of this name that has an operation, or one of a type of that name.
fn interface<'i>(
    all: &'i IndexMap<EcoString, Arc<Interface>>,
    name: &str,
    operation: &str,
) -> Option<&'i Arc<Interface>> {
    let has = |interface: &&Arc<Interface>| interface.operations.get(operation).is_some_and(|found| found.implemented);
    let named = all.get(name).filter(has);
    named.or_else(|| all.values().filter(|interface| interface.definition.str("type").ends_with(name)).find(has))
}

fn find<'i>(all: &'i IndexMap<EcoString, Arc<Interface>>, name: &str, operation: &str) -> Option<&'i Operation> {
    interface(all, name, operation)?.operations.get(operation)
}
