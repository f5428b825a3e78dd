//! `purlin logs`: the last output of an action.

use super::Context;
use super::run::{clusters, detected, open, opening};
use crate::invocation::Exit;
use crate::run_args::LogsFlags;
use purlin_run::engine::Project;
use purlin_run::event::Cause;
use purlin_run::open::{Forest, Purpose, Room};
use purlin_run::select::no_action;
use purlin_run::stop::Stop;
use purlin_run::store::{Key, Store};
use purlin_run::work::{Doing, Work};

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &LogsFlags) -> Result<Exit, Exit> {
    let (session, request, row) = detected(cx, "logs", &flags.path, &flags.target)?;
    let opening = opening(cx, Purpose::Look, false, clusters(cx, &flags.target, &flags.cluster, false));
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    last_output(cx, project.as_ref(), flags)
}

/// The action of an id, or of a name that only one action has.
fn named(project: &dyn Project, name: &str) -> Result<usize, String> {
    let nodes = project.nodes();
    if let Some(at) = nodes.iter().position(|node| node.id == name) {
        return Ok(at);
    }
    let own = |id: &str| id.split_once('.').is_some_and(|(_, own)| own == name);
    let mut found = nodes.iter().enumerate().filter(|(_, node)| own(&node.id));
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        _ => Err(no_action(name, nodes.iter().map(|node| node.id.as_str()))),
    }
}

/// The last output of an action: of the pods that it deployed, or of its commands.
fn last_output(cx: &mut Context<'_, '_>, project: &dyn Project, flags: &LogsFlags) -> Result<Exit, Exit> {
    let at = named(project, &flags.node).map_err(|message| cx.usage(&message))?;
    let id = project.nodes().get(at).map(|node| node.id.clone()).unwrap_or_default();
    // An action that cannot be prepared has at least a log of its last run.
    let prepared = project.prepare(at);
    let work = prepared.as_ref().ok().and_then(|action| action.work.as_ref());
    if let Some(work) = work.filter(|work| work.has_own_logs()) {
        return of_cluster(cx, work.as_ref(), &id, flags.tail.unwrap_or(USUAL_LINES));
    }
    let store = Store::open(&project.root(), &Key::of_user(&cx.invocation.env));
    let subject = project.subject(at);
    let store = store.map_err(|error| cx.io(&format!("could not read the results of earlier runs: {error}")))?;
    let text = match store.log(&subject).read() {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) if store.last(&subject).is_some() => String::new(),
        Err(_) => {
            let why = prepared.err().map(|failure| failure.cause).filter(|cause| *cause != Cause::Unresolved);
            let why = why.map_or_else(|| format!("`{id}` has not run yet"), |why| format!("`{id}` has no logs: {why}"));
            let _ = writeln!(cx.invocation.stderr, "error: {why}");
            return Err(Exit::Failed);
        }
    };
    let lines: Vec<&str> = text.lines().collect();
    let first = flags.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let shown: String = lines.iter().skip(first).map(|line| format!("{line}\n")).collect();
    Ok(cx.print(&shown, None))
}

/// Default number of lines per container.
const USUAL_LINES: usize = 1_000;

/// The last lines of the containers of a deploy.
fn of_cluster(cx: &mut Context<'_, '_>, deploy: &dyn Work, id: &str, lines: usize) -> Result<Exit, Exit> {
    let stop = Stop::new().map_err(|_| Exit::Io)?;
    match deploy.logs(lines, Doing::looking(&stop)) {
        Ok(found) => {
            let text: String = found.iter().map(|line| format!("{line}\n")).collect();
            Ok(cx.print(&text, None))
        }
        Err(trouble) => {
            let _ = writeln!(cx.invocation.stderr, "error: could not read the logs of `{id}`: {}", trouble.cause);
            Err(Exit::Failed)
        }
    }
}
