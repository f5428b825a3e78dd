//! Inputs of node templates' operations, checked before a job runs them: a configurator or a filter whose name is
//! close to that of an existing one. Unfurl reports it only when the operation runs, or runs something else.

use crate::ensemble::report;
use crate::ensemble::service::Service;
use crate::jinja;
use crate::job::operation::near_configurator;
use crate::rules;
use purlin_syntax::suggest::is_slip;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use purlin_tosca::entity::Entity;
use purlin_tosca::topology::Node;
use purlin_tosca::val::{Data, Val};
use purlin_value::Session;
use std::collections::HashSet;

/// Most levels of a value that are searched.
const DEEPEST: usize = 100;

/// Warns about all inputs.
pub(in crate::ensemble) fn report(session: &Session, service: &Service) {
    // Declarations of a type are checked once for all its nodes.
    let mut seen = HashSet::new();
    for node in service.topology.nodes.values() {
        let of_type = service.model.complete(node.node_type).map(AsRef::as_ref);
        for owner in [Some(node.template.as_ref()), of_type].into_iter().flatten() {
            for (_, interface) in owner.entries("interfaces").filter(|(_, interface)| seen.insert(interface.span)) {
                inputs(session, service, interface);
                for (_, operation) in interface.entries("operations") {
                    implementation(session, service, node, operation);
                    command(session, service, operation);
                    inputs(session, service, operation);
                }
            }
        }
    }
}

fn implementation(session: &Session, service: &Service, node: &Node, operation: &Entity) {
    let Some(own) = operation.one("implementation") else { return };
    let Some(primary) = own.value("primary").or_else(|| own.value("className")) else { return };
    let Some(name) = primary.as_str().filter(|name| !node.artifacts.contains_key(*name)) else { return };
    let Some(near) = near_configurator(name) else { return };
    let message = what::unknown("configurator", name);
    let span = service.places.span(primary.span);
    session.sink.push(Diagnostic::at(&rules::SUSPICIOUS, span, message).hint(Hint::meant(name, near)));
}

/// The inputs that hold a command.
const COMMANDS: &[&str] = &["command", "cmd"];

/// Reports a command configurator without a command but with an input of a similar name.
fn command(session: &Session, service: &Service, operation: &Entity) {
    let primary = operation.one("implementation").and_then(|own| own.value("primary"));
    let given = operation.values("inputs");
    let is_given = || given.iter().any(|(name, _)| COMMANDS.contains(&name.text.as_str()));
    if !primary.and_then(Val::as_str).is_some_and(|name| matches!(name, "Cmd" | "Shell")) || is_given() {
        return;
    }
    for (name, _) in given {
        let Some(near) = COMMANDS.iter().find(|known| is_slip(&name.text, known)) else { continue };
        let message = what::unknown("input", &name.text).under("there is no command to run: ");
        let span = service.places.span(name.span);
        session
            .sink
            .push(Diagnostic::at(&rules::SUSPICIOUS, span, message).hint(Hint::meant(name.text.as_str(), *near)));
    }
}

fn inputs(session: &Session, service: &Service, entity: &Entity) {
    entity.values("inputs").iter().for_each(|(_, value)| templates(session, service, value, 0));
}

fn templates(session: &Session, service: &Service, value: &Val, depth: usize) {
    match &value.data {
        _ if depth > DEEPEST => {}
        Data::Str(text) if jinja::is_template(text) => template(session, service.places.span(value.span), text),
        Data::List(items) => items.iter().for_each(|item| templates(session, service, item, depth + 1)),
        Data::Map(entries) => entries.iter().for_each(|(_, item)| templates(session, service, item, depth + 1)),
        Data::Call(call) => call.args.iter().for_each(|item| templates(session, service, item, depth + 1)),
        _ => {}
    }
}

fn template(session: &Session, whole: Span, text: &str) {
    for (name, start, end) in jinja::unknown_filters(text) {
        // Further filters may come from installed Ansible collections.
        let Some(near) = jinja::all_filters().map(|filter| filter.name).find(|known| is_slip(&name, known)) else {
            continue;
        };
        let span = report::within(session, whole, text, start, end).unwrap_or(whole);
        let message = what::unknown("filter", &name);
        session.sink.push(Diagnostic::at(&rules::SUSPICIOUS, span, message).hint(Hint::meant(name.as_str(), near)));
    }
}
