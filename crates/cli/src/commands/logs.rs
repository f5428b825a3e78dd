//! `purlin logs`: the last output of an action.

use super::Context;
use super::run::{clusters, detected, garden_project, only_garden};
use crate::invocation::Exit;
use crate::run_args::LogsFlags;
use purlin_run::engine::Project;
use purlin_run::select::no_action;
use purlin_run::stop::Stop;
use purlin_run::store::{Key, Store};
use purlin_run::work::{Doing, Work};
use std::path::Path;

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &LogsFlags) -> Result<Exit, Exit> {
    let (session, request, dialect) = detected(cx, "logs", &flags.path, &flags.target)?;
    let clusters = clusters(cx, &flags.target, &flags.cluster, false);
    if let Some(found) = super::objects::project(cx, &session, &request, dialect, clusters.clone()) {
        return super::objects::logs(cx, &found?.0, &flags.node, flags.tail.unwrap_or(USUAL_LINES));
    }
    if dialect == "skaffold" {
        return super::skaffold::deployed(cx, &session, &request, clusters, |cx, project| {
            last_output(cx, project, project.root(), flags)
        });
    }
    if let Some((project, root)) = super::service::project(cx, &session, &request, dialect) {
        return last_output(cx, &project, &root, flags);
    }
    only_garden(cx, "logs", dialect)?;
    let Some(project) = garden_project(cx.invocation, &session, &request) else {
        return Err(cx.report(&session));
    };
    let project = project.on(clusters);
    last_output(cx, &project, &project.root(), flags)
}

/// The last output of an action: of the pods that it deployed, or of its commands.
fn last_output(cx: &mut Context<'_, '_>, project: &dyn Project, root: &Path, flags: &LogsFlags) -> Result<Exit, Exit> {
    let nodes = project.nodes();
    let Some(at) = nodes.iter().position(|node| node.id == flags.node) else {
        return Err(cx.usage(&no_action(&flags.node, nodes.iter().map(|node| node.id.as_str()))));
    };
    let id = flags.node.as_str();
    // An action that cannot be prepared has at least a log of its last run.
    let work = project.prepare(at).ok().and_then(|action| action.work);
    if let Some(work) = work.filter(|work| work.has_own_logs()) {
        return of_cluster(cx, work.as_ref(), id, flags.tail.unwrap_or(USUAL_LINES));
    }
    let store = Store::open(root, &Key::of_user(&cx.invocation.env));
    let subject = project.subject(at);
    let store = store.map_err(|error| cx.io(&format!("could not read the results of earlier runs: {error}")))?;
    let text = match store.log(&subject).read() {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) if store.last(&subject).is_some() => String::new(),
        Err(_) => {
            let _ = writeln!(cx.invocation.stderr, "error: `{id}` has not run yet");
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
pub(super) fn of_cluster(cx: &mut Context<'_, '_>, deploy: &dyn Work, id: &str, lines: usize) -> Result<Exit, Exit> {
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
