//! Checks that Garden makes late: specs of actions, which are resolved to run, and workflows and the user's own
//! commands, which are read to run them. A mistake there does not concern a command that stops before.

use crate::config::{ActionKind, ConfigKind};
use crate::resolve::Resolution;
use crate::rules;
use purlin_syntax::{Diagnostic, Node, Severity, Span};

/// How far a command goes that runs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It reads configurations, and makes no action of them.
    Configurations,
    /// It makes the graph of actions.
    Graph,
    /// It makes the graph, and resolves workflows.
    Workflows,
}

/// Turns errors into warnings in parts that a command does not reach.
pub fn spare(resolution: &Resolution<'_>, found: &mut [Diagnostic], reach: Reach) {
    if reach == Reach::Configurations {
        let unread = made_of(resolution);
        let is_inside = |span: Span| unread.iter().any(|part| part.contains(span));
        for problem in found.iter_mut().filter(|problem| problem.is_error() && problem.span.is_some_and(is_inside)) {
            problem.severity = Severity::Warning;
        }
        return;
    }
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
            ConfigKind::Workflow if reach != Reach::Workflows => late.push(node.span()),
            _ => {}
        }
    }
    for problem in found.iter_mut().filter(|problem| is_late(problem, &late)) {
        problem.severity = Severity::Warning;
    }
}

/// The configurations that are looked at to make actions of them, and those that are read to run them.
fn made_of(resolution: &Resolution<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    for document in &resolution.making.scanned.documents {
        let Some(node) = document.node.get() else { continue };
        match document.kind {
            ConfigKind::Action(_) | ConfigKind::Module | ConfigKind::Command | ConfigKind::Workflow => {
                found.push(node.span());
            }
            ConfigKind::ConfigTemplate => {
                let configs = node.get("configs").into_iter().flat_map(Node::items);
                found.extend(configs.filter(|config| is_action(*config)).map(Node::span));
            }
            _ => {}
        }
    }
    found
}

/// Errors in the specs of actions, in workflows and in commands: they concern a command that runs actions only if one of
/// these is among them. The rest stays. Actions made from templates count as one that is.
pub fn held_back(resolution: &Resolution<'_>, found: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let late = parts(resolution, &|_| true);
    found.into_iter().partition(|problem| is_late(problem, &late))
}

/// Whether an error that was held back concerns one of these actions, by their keys.
pub fn concerns(resolution: &Resolution<'_>, problem: &Diagnostic, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let of_others = parts(resolution, &|key| !key.is_some_and(is_wanted));
    !is_late(problem, &of_others)
}

/// The parts that are checked late, of the actions and other configurations that are chosen by their key; others have
/// none.
fn parts(resolution: &Resolution<'_>, is_chosen: &dyn Fn(Option<&str>) -> bool) -> Vec<Span> {
    let mut found = Vec::new();
    for document in &resolution.making.scanned.documents {
        let Some(node) = document.node.get() else { continue };
        match document.kind {
            ConfigKind::Action(kind) => {
                let key = format!("{}.{}", kind.lower(), document.plain("name").unwrap_or_default());
                found.extend(spec_of(node).filter(|_| is_chosen(Some(&key))));
            }
            ConfigKind::Command | ConfigKind::Workflow if is_chosen(None) => found.push(node.span()),
            _ => {}
        }
    }
    found
}

/// Whether a problem is an error of a row's check within some parts. References are checked with the graph.
fn is_late(problem: &Diagnostic, parts: &[Span]) -> bool {
    let is_of_row = purlin_model::rules::RULES.iter().any(|rule| rule.name == problem.rule.name)
        || problem.rule.name == rules::INVALID_VALUE.name;
    let is_inside = |span: Span| parts.iter().any(|part| part.contains(span));
    problem.is_error() && is_of_row && problem.span.is_some_and(is_inside)
}

fn is_action(config: Node<'_>) -> bool {
    config.get("kind").is_some_and(|kind| ActionKind::ALL.iter().any(|known| kind.text() == known.name()))
}

/// The spec of an action with its key, which is the location of missing keys.
fn spec_of(node: Node<'_>) -> Option<Span> {
    let entry = node.entry("spec")?;
    Some(entry.key.span().to(entry.value.span()))
}
