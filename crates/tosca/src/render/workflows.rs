//! Workflows: steps, their activities, and whether the names in them exist.

use super::Renderer;
use super::props::{Place, Sort};
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::rules;
use crate::suggest;
use crate::topology::{Activity, Interface, Prop, Props, Step, Workflow};
use crate::val::{Data, Text, Val};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use std::sync::Arc;

impl Renderer<'_> {
    pub(super) fn workflows(&mut self, service: &Arc<Entity>) {
        for (name, template) in service.entries("workflows") {
            let mut steps = IndexMap::new();
            for (name, entity) in template.entries("steps") {
                self.successors(entity, template);
                let activities = self.activities(entity, template, service);
                steps.insert(name.clone(), Step { entity: entity.clone(), activities });
            }
            self.topology.workflows.insert(name.clone(), Workflow { template: template.clone(), steps });
        }
    }

    /// Steps that follow must exist.
    fn successors(&mut self, step: &Entity, workflow: &Entity) {
        for next in step.texts("on_success").iter().chain(step.texts("on_failure")) {
            if workflow.named("steps", &next.text).is_none() {
                let near = suggest::nearest(&next.text, workflow.entries("steps").map(|(name, _)| name.as_str()));
                let message = what::lacking("the workflow", "step", &next.text);
                self.problems.push(
                    Diagnostic::at(&rules::UNKNOWN_NAME, next.span, message)
                        .maybe_hint(near.map(|near| Hint::meant(next.text.as_str(), near))),
                );
            }
        }
    }

    fn activities(&mut self, step: &Entity, workflow: &Entity, service: &Arc<Entity>) -> Vec<Activity> {
        let mut out = Vec::new();
        for item in step.value("activities").map(Val::items).unwrap_or(&[]) {
            let Some((name, argument)) = crate::clause::single(item) else { continue };
            let key = item.entries().first().map_or(item.span, |(key, _)| key.span);
            let text = argument
                .as_str()
                .or_else(|| argument.get("workflow")?.as_str())
                .map(|text| Text { text: text.into(), span: argument.span });
            let activity = match (name, text) {
                ("set_state", Some(text)) => Some(Activity::SetState(text)),
                ("delegate" | "inline", Some(text)) => {
                    // A host has workflows of its own.
                    let known = service.named("workflows", &text.text).is_some() || self.model.host.is_some();
                    if !known {
                        let near =
                            suggest::nearest(&text.text, service.entries("workflows").map(|(name, _)| name.as_str()));
                        let message = format!("`{name}` names a workflow `{}` that does not exist", text.text);
                        self.problems.push(
                            Diagnostic::at(&rules::UNKNOWN_NAME, key, message)
                                .maybe_hint(near.map(|near| Hint::meant(text.text.as_str(), near))),
                        );
                        None
                    } else if name == "delegate" {
                        Some(Activity::Delegate(text))
                    } else {
                        Some(Activity::Inline(text))
                    }
                }
                ("call_operation", _) => self.call(argument, key, step, workflow),
                _ => None,
            };
            out.extend(activity);
        }
        out
    }

    fn call(&mut self, argument: &Val, key: Span, step: &Entity, workflow: &Entity) -> Option<Activity> {
        let named = argument
            .as_str()
            .map(|text| (text, argument.span))
            .or_else(|| argument.get("operation").and_then(|v| Some((v.as_str()?, v.span))));
        let Some((operation, span)) = named else {
            self.problems.beyond(
                &rules::MISSING_KEY,
                key,
                ".operation",
                what::missing("key", "operation").words("an operation call needs `operation`"),
            );
            return None;
        };
        let at = if argument.as_str().is_some() { key } else { span };
        let Some((interface_name, operation_name)) = operation.rsplit_once('.') else {
            self.problems.at(&rules::MALFORMED, at, format!("`{operation}` must be written as `interface.operation`"));
            return None;
        };
        let target = step.text("target")?;
        let interfaces = self.interfaces_of_target(&target.text)?;
        let found = interfaces.get(interface_name).cloned();
        let unknown = |what: &str, name: &str, near: Option<&str>| {
            let diagnostic =
                Diagnostic::at(&rules::UNKNOWN_NAME, at, what::lacking(format!("`{}`", target.text), what, name));
            crate::problem::Problem {
                diagnostic: diagnostic.maybe_hint(near.map(|near| Hint::meant(name, near))),
                beyond: if argument.as_str().is_some() { ".operation".into() } else { EcoString::new() },
            }
        };
        let Some(interface) = found else {
            let near = suggest::nearest(interface_name, interfaces.keys().map(|name| name.as_str()));
            self.problems.add(unknown("interface", interface_name, near));
            return None;
        };
        let Some(definition) = interface.definition.named("operations", operation_name).cloned() else {
            let near = suggest::nearest(
                operation_name,
                interface.definition.entries("operations").map(|(name, _)| name.as_str()),
            );
            self.problems.add(unknown("operation", operation_name, near));
            return None;
        };
        let assigned: Vec<(Text, Val)> = argument
            .get("inputs")
            .map(Val::entries)
            .unwrap_or(&[])
            .iter()
            .filter_map(|(name, value)| Some((Text { text: name.as_str()?.into(), span: name.span }, value.clone())))
            .collect();
        let inputs = if self.model.edition().is_2() {
            self.call_inputs(&interface, &definition, &assigned, workflow, key)
        } else {
            let path = eco_format!(".call_operation.inputs");
            self.props(
                Sort::Input,
                &definition,
                &Place { owner: &"the operation call", at: key, path, assigned: &assigned, elsewhere: &[] },
            )
        };
        Some(Activity::Call { interface: interface_name.into(), operation: operation_name.into(), inputs })
    }

    fn interfaces_of_target(&self, target: &str) -> Option<IndexMap<EcoString, Arc<Interface>>> {
        if let Some(node) = self.topology.nodes.get(target) {
            return Some(node.interfaces.clone());
        }
        self.topology.groups.get(target).map(|group| group.interfaces.clone())
    }

    /// TOSCA 2.0: a call gives every required input, only declared ones, with fitting types.
    fn call_inputs(
        &mut self,
        interface: &Interface,
        operation: &Entity,
        assigned: &[(Text, Val)],
        workflow: &Entity,
        key: Span,
    ) -> Props {
        let mut out = Props::default();
        let declared =
            |name: &str| operation.named("inputs", name).or_else(|| interface.definition.named("inputs", name));
        for (name, value) in assigned {
            let Some(definition) = declared(&name.text) else {
                self.problems.at(&rules::UNDECLARED, name.span, what::undeclared("the operation", "input", &name.text));
                continue;
            };
            self.workflow_input(name, value, definition, workflow);
            let value = self.checker().value(value, definition, name.span);
            let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
            let prop = Prop {
                value,
                definition: Some(definition.clone()),
                data_type,
                at: name.span,
                given: crate::topology::Given::Assigned,
            };
            out.insert(name.text.clone(), prop);
        }
        let given = |name: &str| {
            let operation_has = |props: &Props| props.contains_key(name);
            assigned.iter().any(|(known, _)| known.text == name)
                || operation_has(&interface.inputs)
                || interface.operations.get(&operation.name).is_some_and(|operation| operation_has(&operation.inputs))
        };
        for (name, definition) in operation.entries("inputs").chain(interface.definition.entries("inputs")) {
            let required = definition.bool("required").unwrap_or(true)
                && definition.value("default").or(definition.value("value")).is_none();
            if required && !given(name) {
                let words = format!("the operation call needs a value for the input `{name}`");
                let message = what::missing("input", name).words(words);
                self.problems.beyond(&rules::UNASSIGNED, key, eco_format!(".inputs[\"{name}\"]"), message);
            }
        }
        out
    }

    /// An input passed on from the workflow must have a fitting type, and be there if it is required.
    fn workflow_input(&mut self, name: &Text, value: &Val, definition: &Entity, workflow: &Entity) {
        let Data::Call(call) = &value.data else { return };
        let input = call.args.first().and_then(|arg| arg.as_str()).filter(|_| call.name == "get_input");
        let Some(source) = input.and_then(|input| workflow.named("inputs", input)) else { return };
        let types = (
            self.model.type_of(source, "type", entities::DATA_TYPE),
            self.model.type_of(definition, "type", entities::DATA_TYPE),
        );
        if let (Some(from), Some(to)) = types
            && !self.model.hierarchy.is_a(from, to)
        {
            let message = format!(
                "`{}` is a `{}`, but the workflow's input is a `{}`",
                name.text,
                self.model.name(to),
                self.model.name(from)
            );
            self.problems.at(&rules::WRONG_TYPE, name.span, message);
        }
        let optional = !source.bool("required").unwrap_or(true) && source.value("default").is_none();
        if optional && definition.bool("required").unwrap_or(true) {
            let words = format!("`{}` is required, but the workflow's input may be absent", name.text);
            let message = what::missing("input", &name.text).words(words);
            self.problems.at(&rules::UNASSIGNED, name.span, message);
        }
    }
}
