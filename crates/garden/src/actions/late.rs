//! Checks that Garden makes late: specs of actions, which are resolved to run, and workflows and the user's own
//! commands, which are read to run them. A mistake there does not concern a command that stops before.

use crate::config::{ActionKind, ConfigKind};
use crate::resolve::Resolution;
use crate::rules;
use purlin_syntax::{Diagnostic, Node, Severity, Span};

/// The late checks that a command requests anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Workflows are resolved.
    pub workflows: bool,
}

/// Turns errors into warnings in parts that a command does not reach.
pub fn spare(resolution: &Resolution<'_>, found: &mut [Diagnostic], asked: Asked) {
    let mut late = Vec::new();
    for document in &resolution.making.scanned.documents {
        let Some(node) = document.node.get() else { continue };
        match document.kind {
            ConfigKind::Action(_) => late.extend(spec_of(node)),
            ConfigKind::ConfigTemplate => {
                let configs = node.get("configs").into_iter().flat_map(Node::items);
                late.extend(configs.filter(|config| is_action(*config)).filter_map(spec_of));
            }
            ConfigKind::Command => late.push(node.span()),
            ConfigKind::Workflow if !asked.workflows => late.push(node.span()),
            _ => {}
        }
    }
    for problem in found.iter_mut().filter(|problem| problem.is_error()) {
        // References are checked with the graph.
        let is_of_row = purlin_model::rules::RULES.iter().any(|rule| rule.name == problem.rule.name)
            || problem.rule.name == rules::INVALID_VALUE.name;
        if is_of_row && problem.span.is_some_and(|span| late.iter().any(|part: &Span| part.contains(span))) {
            problem.severity = Severity::Warning;
        }
    }
}

fn is_action(config: Node<'_>) -> bool {
    config.get("kind").is_some_and(|kind| ActionKind::ALL.iter().any(|known| kind.text() == known.name()))
}

/// The spec of an action with its key, which is the location of missing keys.
fn spec_of(node: Node<'_>) -> Option<Span> {
    let entry = node.entry("spec")?;
    Some(entry.key.span().to(entry.value.span()))
}
