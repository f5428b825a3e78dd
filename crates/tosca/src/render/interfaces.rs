//! Interfaces, operations and notifications of nodes, relationships and groups.

use super::props::{Place, Sort};
use super::{Renderer, identity};
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::quirks;
use crate::rules;
use crate::suggest;
use crate::topology::{Interface, Operation};
use crate::val::{Data, Text, Val};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_model::Kind;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use std::sync::Arc;

type Interfaces = IndexMap<EcoString, Arc<Interface>>;

/// The owner of an interface, which decides where its operations may run.
#[derive(Clone, Copy)]
struct Owner<'a> {
    kind: Kind,
    /// The complete type, for output mappings to `SELF`.
    complete: &'a Entity,
    at: Span,
    path: &'a str,
}

impl Renderer<'_> {
    /// The interfaces of a template.
    pub(super) fn interfaces(&mut self, template: &Arc<Entity>, complete: &Entity, path: &str) -> Interfaces {
        self.interfaces_of(Some((template, None)), complete, template.at, path)
    }

    /// The interfaces that a type or definition declares, with the additions of an assignment (and then a template).
    pub(super) fn interfaces_of(
        &mut self,
        own: Option<(&Arc<Entity>, Option<&Arc<Entity>>)>,
        declared: &Entity,
        at: Span,
        path: &str,
    ) -> Interfaces {
        let mut out = Interfaces::new();
        let kind = own.map_or(entities::RELATIONSHIP_ASSIGNMENT, |(own, _)| own.kind);
        let owner = Owner { kind, complete: declared, at, path };
        for (name, definition) in declared.entries("interfaces") {
            let assignment = own.and_then(|(own, template)| {
                own.named("interfaces", name).or_else(|| template?.named("interfaces", name))
            });
            let interface = match assignment {
                Some(assignment) => Arc::new(self.interface(definition, Some(assignment), owner)),
                None => self.shared_interface(definition, owner),
            };
            out.insert(name.clone(), interface);
        }
        for (name, assignment) in own.into_iter().flat_map(|(own, _)| own.entries("interfaces")) {
            // TOSCA 2.0's own examples give relationships interfaces that their types do not have.
            let tolerated = self.partial || (self.model.edition().is_2() && kind != entities::NODE_TEMPLATE);
            if declared.named("interfaces", name).is_none()
                && let Some(common) = self.model.host.and_then(|host| host.interface(name))
            {
                let found =
                    common.and_then(|name| self.model.names.find(assignment.at.file, entities::INTERFACE_TYPE, name));
                if let Some(definition) = found.and_then(|id| self.model.complete(id)).cloned() {
                    out.insert(name.clone(), Arc::new(self.interface(&definition, Some(assignment), owner)));
                }
                continue;
            }
            if declared.named("interfaces", name).is_none() && !tolerated {
                self.undeclared(assignment, "interface", declared.entries("interfaces").map(|(name, _)| name.as_str()));
            }
        }
        out
    }

    fn undeclared<'n>(&mut self, assignment: &Entity, what: &str, known: impl Iterator<Item = &'n str>) {
        let near = suggest::did_you_mean(&assignment.name, known);
        let message = what::undeclared("the type", what, &assignment.name);
        self.problems.push(Diagnostic::at(&rules::UNDECLARED, assignment.at, message).maybe_hint(near));
    }

    /// An interface without an assignment: the same for all templates, unless a required part is missing.
    fn shared_interface(&mut self, definition: &Arc<Entity>, owner: Owner<'_>) -> Arc<Interface> {
        if let Some(known) = self.interfaces.get(&identity(definition)) {
            return known.clone();
        }
        let before = self.problems.len();
        let interface = Arc::new(self.interface(definition, None, owner));
        if self.problems.len() == before && self.demanding {
            self.interfaces.insert(identity(definition), interface.clone());
        }
        interface
    }

    fn interface(&mut self, definition: &Arc<Entity>, assignment: Option<&Arc<Entity>>, owner: Owner<'_>) -> Interface {
        let name = &definition.name;
        let place = match assignment {
            Some(assignment) => (assignment.at, EcoString::new()),
            None => (owner.at, eco_format!("{}[\"{name}\"]", owner.path)),
        };
        let what = format!("the interface `{name}`");
        let elsewhere = match assignment.filter(|_| self.model.allows(quirks::INTERFACE_INPUTS_PERMISSIVE)) {
            Some(assignment) => given_to_operations(assignment),
            None => Vec::new(),
        };
        let inputs = self.props(
            Sort::Input,
            definition,
            &Place {
                owner: &what,
                at: place.0,
                path: eco_format!("{}.inputs", place.1),
                assigned: assignment.map(|a| a.values("inputs")).unwrap_or(&[]),
                elsewhere: &elsewhere,
            },
        );
        let mut parts = [IndexMap::new(), IndexMap::new()];
        for ((slot, noun), out) in
            [("operations", "operation"), ("notifications", "notification")].into_iter().zip(&mut parts)
        {
            for (name, part) in definition.entries(slot) {
                let own = assignment.and_then(|assignment| assignment.named(slot, name));
                let operation = self.operation(part, own, owner, (place.0, &eco_format!("{}.{slot}", place.1)));
                out.insert(name.clone(), operation);
            }
            for (name, own) in assignment.into_iter().flat_map(|assignment| assignment.entries(slot)) {
                let any =
                    self.partial || self.model.host.is_some_and(|host| host.interface(&definition.name) == Some(None));
                if definition.named(slot, name).is_none() && !any {
                    self.undeclared(own, noun, definition.entries(slot).map(|(name, _)| name.as_str()));
                }
            }
        }
        let [operations, notifications] = parts;
        let interface_type = self.model.type_of(definition, "type", entities::INTERFACE_TYPE);
        Interface { definition: definition.clone(), interface_type, inputs, operations, notifications }
    }

    fn operation(
        &mut self,
        definition: &Arc<Entity>,
        own: Option<&Arc<Entity>>,
        owner: Owner<'_>,
        place: (Span, &str),
    ) -> Operation {
        let both: [Option<&Arc<Entity>>; 2] = [own, Some(definition)];
        let implementations: Vec<&Arc<Entity>> =
            both.into_iter().flatten().filter_map(|entity| entity.one("implementation")).collect();
        let first = |slot: &str| implementations.iter().find_map(|implementation| implementation.value(slot));
        let host = implementations.iter().find_map(|implementation| implementation.text("operation_host"));
        if let Some(host) = host {
            self.operation_host(host, owner);
        }
        let what = format!("the operation `{}`", definition.name);
        let (at, path) = match own {
            Some(own) => (own.at, eco_format!(".inputs")),
            None => (place.0, eco_format!("{}[\"{}\"].inputs", place.1, definition.name)),
        };
        let inputs = self.props(
            Sort::Input,
            definition,
            &Place {
                owner: &what,
                at,
                path,
                assigned: own.map(|own| own.values("inputs")).unwrap_or(&[]),
                elsewhere: &[],
            },
        );
        let outputs: Vec<(Text, Val)> = match own.map(|own| own.values("outputs")) {
            Some(outputs) if !outputs.is_empty() => outputs.to_vec(),
            _ => definition.values("outputs").to_vec(),
        };
        for (name, mapping) in &outputs {
            self.output_mapping(name, mapping, owner);
        }
        Operation {
            description: both
                .into_iter()
                .flatten()
                .find_map(|entity| entity.text("description"))
                .map(|text| text.text.clone())
                .unwrap_or_default(),
            primary: first("primary").cloned(),
            implemented: implementations.iter().any(|implementation| {
                let written =
                    |slot: &str| implementation.value(slot).is_some_and(|value| !matches!(value.data, Data::Null));
                written("primary") || written("className")
            }),
            dependencies: first("dependencies").map(|value| value.items().to_vec()).unwrap_or_default(),
            timeout: implementations.iter().find_map(|implementation| implementation.int("timeout")),
            host: host.map(|host| host.text.clone()).unwrap_or_default(),
            inputs,
            outputs,
        }
    }

    fn operation_host(&mut self, host: &Text, owner: Owner<'_>) {
        let allowed: &[&str] = match owner.kind {
            entities::NODE_TEMPLATE => &["ORCHESTRATOR", "SELF", "HOST"],
            entities::RELATIONSHIP_TEMPLATE | entities::RELATIONSHIP_ASSIGNMENT => {
                &["ORCHESTRATOR", "SOURCE", "TARGET"]
            }
            _ => &["ORCHESTRATOR"],
        };
        // A host may have nodes of its own to run operations on.
        if !allowed.contains(&host.text.as_str()) && !self.model.edition().is_extended() {
            let message =
                format!("an operation cannot run on `{}` here; it can run on {}", host.text, allowed.join(", "));
            self.problems.at(&rules::MALFORMED, host.span, message);
        }
    }

    /// An output must go to an attribute that exists.
    fn output_mapping(&mut self, name: &Text, mapping: &Val, owner: Owner<'_>) {
        let [entity, path @ ..] = mapping.items() else { return };
        let (Some(entity_name), Some(first)) = (entity.as_str(), path.first()) else { return };
        let Some(attribute) = first.as_str() else { return };
        let complete = match (entity_name, owner.kind) {
            ("SELF", entities::NODE_TEMPLATE) => Some(Arc::new(owner.complete.clone())),
            ("SELF" | "SOURCE" | "TARGET" | "HOST", _) => None, // known only once requirements are met
            (node, _) => {
                let template = self.model.service().and_then(|service| service.named("node_templates", node)).cloned();
                if template.is_none() {
                    let message =
                        format!("the output `{}` goes to a node template `{node}` that does not exist", name.text);
                    self.problems.at(&rules::UNKNOWN_NAME, entity.span, message);
                }
                template
                    .and_then(|template| self.model.type_of(&template, "type", entities::NODE_TYPE))
                    .and_then(|id| self.model.complete(id))
                    .cloned()
            }
        };
        let Some(complete) = complete else { return };
        let by_capability = complete.named("capabilities", attribute).is_some_and(|capability| {
            path.get(1)
                .and_then(|value| value.as_str())
                .is_some_and(|name| capability.named("attributes", name).is_some())
        });
        if complete.named("attributes", attribute).is_none() && !by_capability {
            let near = suggest::nearest(attribute, complete.entries("attributes").map(|(name, _)| name.as_str()));
            let message = format!("the output `{}` goes to an attribute `{attribute}` that does not exist", name.text);
            let mut diagnostic = Diagnostic::at(&rules::UNKNOWN_NAME, first.span, message)
                .maybe_hint(near.map(|near| Hint::meant(attribute, near)));
            if self.model.edition().is_extended() {
                diagnostic = diagnostic.warning(); // a host's operations set attributes by themselves
            }
            self.problems.push(diagnostic);
        }
    }
}

/// The inputs that the operations of an interface are given.
fn given_to_operations(assignment: &Entity) -> Vec<EcoString> {
    let inputs = assignment.entries("operations").flat_map(|(_, operation)| operation.values("inputs"));
    inputs.map(|(name, _)| name.text.clone()).collect()
}

/// The text of an artifact that implements an operation.
pub fn artifact_text(value: &Val) -> EcoString {
    match &value.data {
        Data::Str(text) => text.clone(),
        Data::Map(_) => value.get("file").and_then(|file| file.as_str()).unwrap_or("").into(),
        _ => "".into(),
    }
}
