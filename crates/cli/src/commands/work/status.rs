//! `purlin status` and `purlin cleanup`: the state left by earlier runs.

use crate::args::{AnswerFormat, Target};
use crate::commands::Context;
use crate::commands::run::{Place, clusters, conclude, detected, open, opening};
use crate::invocation::{Exit, Invocation};
use crate::paint::Answer;
use crate::report::Style;
use crate::run_args::{ClusterFlags, StatusFlags};
use purlin_run::engine::Project;
use purlin_run::open::{Forest, Purpose, Room};
use purlin_run::past::{Removal, Status, clean_up, statuses};
use purlin_run::report::{Look, Plain};
use purlin_value::Session;
use std::path::Path;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, flags: &StatusFlags) -> Result<Exit, Exit> {
    let (path, names) = cx.split(&flags.places, &flags.target);
    if let Some(address) = &flags.remote {
        return crate::commands::server::run(cx, &path, address, flags.output);
    }
    let found = collect(cx, &path, &flags.target, &flags.cluster)?;
    let found = meant(found, &names).map_err(|message| cx.usage(&message))?;
    Ok(show(cx, &found, flags.output))
}

/// The states of all actions of a project.
pub(in crate::commands) fn collect(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    cluster: &ClusterFlags,
) -> Result<Vec<Status>, Exit> {
    let (session, request, row) = detected(cx, "status", path, target)?;
    let opening = opening(cx, Purpose::Look, false, clusters(cx, target, cluster, false));
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    let place = Place::new(cx.invocation, &project.root())?;
    let found = statuses(project.as_ref(), &place.store, &place.stop);
    match cx.report(&session) {
        exit @ (Exit::Invalid | Exit::Limit | Exit::Denied | Exit::Io) => Err(exit),
        _ => Ok(found),
    }
}

/// The requested actions; all if none are named.
fn meant(found: Vec<Status>, names: &[String]) -> Result<Vec<Status>, String> {
    let ids = found.iter().map(|status| status.id.as_str());
    let globs = purlin_run::select::patterns(ids, names)?;
    let is_meant = |status: &Status| globs.is_empty() || globs.iter().any(|glob| glob.matches(&status.id));
    Ok(found.into_iter().filter(is_meant).collect())
}

fn show(cx: &mut Context<'_, '_>, found: &[Status], format: AnswerFormat) -> Exit {
    let text = match format {
        AnswerFormat::Json => purlin_run::past::to_json(found) + "\n",
        AnswerFormat::Text => {
            let width = found.iter().map(|status| status.id.len()).max().unwrap_or(0);
            found.iter().map(|status| format!("{:width$}  {}\n", status.id, status.state)).collect()
        }
    };
    cx.print_answer(&text, (format == AnswerFormat::Text).then_some(Answer::Actions))
}

/// Takes down the deployments of a project, and removes results.
pub(crate) fn take_down(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &dyn Project,
    wanted: &Removal,
    style: Style,
) -> Result<Exit, Exit> {
    let place = Place::new(invocation, &project.root())?;
    let look = Look { colour: style.colour, times: false, quiet: style.quiet };
    let summary = {
        let mut reporter = Plain::new(invocation.stderr, look);
        clean_up(project, &place.store, &place.executor, &place.stop, wanted, &mut reporter)
    };
    let summary = summary.map_err(|message| invocation.refuse(&message, Exit::Usage))?;
    Ok(conclude(invocation, session, &summary, style))
}
