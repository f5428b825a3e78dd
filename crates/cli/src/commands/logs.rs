//! `purlin logs`: the last output of an action.

use super::Context;
use super::run::{clusters, detected, only_garden};
use crate::invocation::Exit;
use crate::run_args::LogsFlags;
use purlin_garden::resolve::resolve;
use purlin_run::cluster::ClusterDeploy;
use purlin_run::engine::Project;
use purlin_run::garden::GardenProject;
use purlin_run::mask::Mask;
use purlin_run::stop::Stop;
use purlin_run::store::Store;
use purlin_run::work::{Doing, Work};
use purlin_syntax::suggest;

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &LogsFlags) -> Result<Exit, Exit> {
    let (session, request, dialect) = detected(cx, "logs", &flags.path, &flags.target)?;
    let clusters = clusters(cx, &flags.target, &flags.cluster, false);
    if let Some(found) = super::objects::project(cx, &session, &request, dialect, clusters.clone()) {
        return super::objects::logs(cx, &found?.0, &flags.node, flags.tail.unwrap_or(USUAL_LINES));
    }
    only_garden(cx, "logs", dialect)?;
    let Some(project) = resolve(&session, &request, &[]).map(GardenProject::new) else {
        return Err(cx.report(&session));
    };
    let project = project.on(clusters);
    let ids = project.nodes().iter().map(|node| node.id.as_str());
    let Some(id) = ids.clone().find(|id| *id == flags.node) else {
        let hint = suggest::did_you_mean(&flags.node, ids).map(|hint| format!("; {hint}")).unwrap_or_default();
        return Err(cx.usage(&format!("there is no action `{}`{hint}", flags.node)));
    };
    if let Some(found) = cluster_logs(cx, &project, id, flags.tail) {
        return found;
    }
    let store = match Store::open(&project.root()) {
        Ok(store) => store,
        Err(error) => {
            let _ = writeln!(cx.invocation.stderr, "error: could not read the results of earlier runs: {error}");
            return Err(Exit::Io);
        }
    };
    let text = match std::fs::read(store.log(id)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) if store.last(id).is_some() => String::new(),
        Err(_) => {
            let _ = writeln!(cx.invocation.stderr, "error: `{id}` has not run yet");
            return Err(Exit::Failed);
        }
    };
    // A process that keeps running writes its output itself, unmasked.
    let text = Mask::new(project.secrets().iter().map(String::as_str)).text(&text);
    let lines: Vec<&str> = text.lines().collect();
    let first = flags.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let shown: String = lines.iter().skip(first).map(|line| format!("{line}\n")).collect();
    Ok(cx.print(&shown, None))
}

/// How many lines of each container are shown if nothing else is asked for.
const USUAL_LINES: usize = 1_000;

/// What the pods of a deploy printed; nothing if the action does not deploy to a cluster.
fn cluster_logs(
    cx: &mut Context<'_, '_>,
    project: &GardenProject<'_>,
    id: &str,
    tail: Option<usize>,
) -> Option<Result<Exit, Exit>> {
    let node = project.nodes().iter().position(|node| node.id == id)?;
    // What cannot be prepared has at least a log of its last run.
    project.prepare(node).ok()?;
    let deploy = project.deploy(id)?;
    Some(of_cluster(cx, &deploy, id, project.secrets(), tail.unwrap_or(USUAL_LINES)))
}

/// The last lines of the containers of a deploy.
pub(super) fn of_cluster(
    cx: &mut Context<'_, '_>,
    deploy: &ClusterDeploy,
    id: &str,
    secrets: &[String],
    lines: usize,
) -> Result<Exit, Exit> {
    let stop = Stop::new().map_err(|_| Exit::Io)?;
    match deploy.logs(lines, Doing::looking(&stop)) {
        Ok(found) => {
            let mask = Mask::new(secrets.iter().map(String::as_str));
            let text: String = found.iter().map(|line| mask.text(line) + "\n").collect();
            Ok(cx.print(&text, None))
        }
        Err(trouble) => {
            let _ = writeln!(cx.invocation.stderr, "error: could not read the logs of `{id}`: {}", trouble.cause);
            Err(Exit::Failed)
        }
    }
}
