//! `purlin garden get run-result|test-result`: the last result of one action, by what earlier runs left; and what status
//! commands say.

use super::execute::{clusters, garden};
use super::{Flags, Format, open, succeeded, usage};
use crate::commands::run::Place;
use crate::invocation::{Exit, Invocation};
use crate::report::{Style, report};
use purlin_run::action::Kind;
use purlin_run::engine::Project;
use purlin_run::garden::plain_value;
use purlin_run::past::{self, StateOf, statuses};
use purlin_run::select::no_action;
use purlin_value::{Map, Value};

/// Runs the status commands of a project, if commands are allowed. Gives the ids of their actions, and whether each is
/// done.
pub(super) fn asked(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Option<Vec<(String, bool)>>, Exit> {
    if !invocation.given.as_ref().is_some_and(|given| given.permissions.exec) {
        return Ok(None);
    }
    let (session, request) = open(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    if session.sink.has_errors() {
        return Ok(Some(Vec::new()));
    }
    let place = Place::new(invocation, &project.root())?;
    Ok(Some(past::asked(&project, &place.store, &place.executor, &place.stop)))
}

/// Prints the result of an action, or null if its version has no result.
pub(super) fn run(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    kind: Kind,
    name: &str,
) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    if session.sink.has_errors() {
        return Err(report(invocation, &session, Style::default()));
    }
    let id = format!("{}.{name}", kind.name());
    let Some(at) = project.nodes().iter().position(|node| node.id == id) else {
        let ids = project.nodes().iter().filter(|node| node.kind == kind).map(|node| node.id.as_str());
        return Err(usage(invocation, &no_action(&id, ids)));
    };
    let place = Place::new(invocation, &project.root())?;
    // Learns the outputs of actions that this one refers to.
    let state = statuses(&project, &place.store, &place.stop).into_iter().find(|status| status.id == id);
    let subject = Project::subject(&project, at);
    let has_run = state.as_ref().is_some_and(|status| matches!(status.state, StateOf::Done | StateOf::Failed(_)));
    let last = place.store.last(&subject).filter(|_| has_run);
    let result = last.map(|last| {
        let outputs = place.store.outputs(&last).unwrap_or_default();
        let outputs = outputs.iter().map(|(name, json)| (name.as_str().into(), plain_value(json))).collect::<Map>();
        let log = place.store.log(&subject).read().unwrap_or_default();
        let is_good = state.as_ref().is_some_and(|status| status.state == StateOf::Done);
        let version = state.as_ref().and_then(|status| status.version.as_deref()).unwrap_or_default();
        let entries = [
            ("state".into(), Value::str(if is_good { "ready" } else { "failed" })),
            ("success".into(), Value::from(is_good)),
            ("version".into(), Value::str(version.get(..12).unwrap_or(version))),
            ("outputs".into(), Value::map(outputs)),
            ("log".into(), Value::str(String::from_utf8_lossy(&log).trim_end())),
        ];
        Value::map(Map::from_iter(entries))
    });
    report(invocation, &session, Style::default());
    if result.is_none() && format == Format::Plain {
        let _ = writeln!(invocation.stderr, "no result of `{id}` at its version was found");
    }
    let _ = write!(invocation.stdout, "{}", succeeded(&result.unwrap_or_else(Value::null), format));
    Ok(Exit::Ok)
}
