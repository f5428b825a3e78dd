//! What goes on after a deploy until it is stopped: forwarded ports, and the lines of logs.

use crate::commands::logs::Reading;
use crate::commands::run::Place;
use crate::invocation::{Exit, Invocation};
use purlin_run::action::Kind;
use purlin_run::cluster::ClusterDeploy;
use purlin_run::engine::Project;
use purlin_run::forwards::Forwards;
use purlin_run::stop::Level;
use purlin_run::tails::Tails;
use std::sync::Arc;
use std::time::Duration;

/// How often the request to stop is looked at.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The number of the signal that Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// Forwards the ports of those actions that are deploys to a cluster.
pub(crate) fn forward(
    invocation: &mut Invocation<'_>,
    project: &dyn Project,
    nodes: &[usize],
    forwards: &mut Forwards,
) -> Result<(), Exit> {
    for (node, deploy) in nodes.iter().filter_map(|node| Some((*node, deploy_of(project, *node)?))) {
        let id = project.nodes().get(node).map(|node| node.id.as_str()).unwrap_or_default();
        let lines = forwards.add(id, &deploy).map_err(|trouble| {
            invocation.refuse(&format!("could not forward the ports of `{id}`: {}", trouble.cause), Exit::Failed)
        })?;
        for line in lines {
            let _ = writeln!(invocation.stderr, "{line}");
        }
    }
    Ok(())
}

/// Follows the logs of those actions that are deploys to a cluster.
pub(crate) fn tail(invocation: &Invocation<'_>, project: &dyn Project, nodes: &[usize], tails: &mut Tails) {
    for (node, deploy) in nodes.iter().filter_map(|node| Some((*node, deploy_of(project, *node)?))) {
        // Containers may print what they were deployed with.
        if let Ok(action) = project.prepare(node) {
            invocation.veil.hide(&action.secrets);
        }
        tails.add(project.nodes().get(node).map(|node| node.id.as_str()).unwrap_or_default(), &deploy);
    }
}

/// The deploy of an action; it is prepared if no run has done that.
fn deploy_of(project: &dyn Project, node: usize) -> Option<Arc<ClusterDeploy>> {
    let is_deploy = project.nodes().get(node).is_some_and(|node| node.kind == Kind::Deploy && !node.disabled);
    let found = || project.cluster_deploy(node);
    is_deploy.then_some(())?;
    found().or_else(|| project.prepare(node).ok().and_then(|_| found()))
}

/// Shows what forwards report.
pub(crate) fn show(invocation: &mut Invocation<'_>, forwards: &Forwards) {
    for line in forwards.messages() {
        let _ = writeln!(invocation.stderr, "warning: {line}");
    }
}

/// Forwards ports and follows logs, as they are asked for, until the run is stopped.
pub(crate) fn stay(
    invocation: &mut Invocation<'_>,
    project: &dyn Project,
    nodes: &[usize],
    (forwards, reading): (bool, Option<&Reading<'_>>),
) -> Result<Exit, Exit> {
    let place = Place::new(invocation, &project.root())?;
    let mut open = Forwards::default();
    if forwards {
        forward(invocation, project, nodes, &mut open)?;
        let what = match open.is_empty() {
            true => "there are no ports to forward",
            false => "ports are forwarded; Ctrl-C ends",
        };
        let _ = writeln!(invocation.stderr, "{what}");
    }
    if let Some(reading) = reading {
        let deploys: Vec<usize> = nodes.iter().copied().filter(|node| deploy_of(project, *node).is_some()).collect();
        return reading.read(invocation, project, &deploys, &place);
    }
    if open.is_empty() {
        return Ok(Exit::Ok);
    }
    while place.stop.level() == Level::Going {
        show(invocation, &open);
        std::thread::sleep(LOOK_UP);
    }
    Ok(match place.stop.signal() {
        // Ctrl-C is the normal end.
        None | Some(INTERRUPT) => Exit::Ok,
        Some(signal) => Exit::Other(128 + signal),
    })
}
