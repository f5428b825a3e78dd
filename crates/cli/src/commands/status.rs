//! `purlin status` and `purlin cleanup`: the state left by earlier runs.

use super::Context;
use super::run::{Place, clusters, conclude, detected, garden_project, only_garden};
use crate::args::{AnswerFormat, Target};
use crate::invocation::{Exit, Invocation};
use crate::paint::Answer;
use crate::report::Style;
use crate::run_args::{ClusterFlags, StatusFlags};
use purlin_model::Request;
use purlin_run::cluster::Clusters;
use purlin_run::engine::Project;
use purlin_run::past::{Removal, Status, clean_up, statuses};
use purlin_run::report::{Look, Plain};
use purlin_value::Session;
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(cx: &mut Context<'_, '_>, flags: &StatusFlags) -> Result<Exit, Exit> {
    let (path, names) = cx.split(&flags.places, &flags.target);
    let found = collect(cx, &path, &flags.target, &flags.cluster)?;
    let found = meant(found, &names).map_err(|message| cx.usage(&message))?;
    Ok(show(cx, &found, flags.output))
}

/// The states of all actions of a project.
pub(super) fn collect(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    cluster: &ClusterFlags,
) -> Result<Vec<Status>, Exit> {
    let (session, request, dialect) = detected(cx, "status", path, target)?;
    if let Some(found) = super::service::project(cx, &session, &request, dialect) {
        return super::service::status(cx, found);
    }
    let clusters = clusters(cx, target, cluster, false);
    if let Some(found) = super::objects::project(cx, &session, &request, dialect, clusters.clone()) {
        let (project, root) = found?;
        let place = Place::new(cx.invocation, &root)?;
        return Ok(statuses(&project, &place.store, &place.stop));
    }
    if dialect == "skaffold" {
        return super::skaffold::deployed(cx, &session, &request, clusters, |cx, project| {
            let place = Place::new(cx.invocation, project.root())?;
            Ok(statuses(project, &place.store, &place.stop))
        });
    }
    only_garden(cx, "status", dialect)?;
    let Some(project) = garden_project(cx.invocation, &session, &request) else {
        return Err(cx.report(&session));
    };
    let project = project.on(clusters);
    let place = Place::new(cx.invocation, &project.root())?;
    let found = statuses(&project, &place.store, &place.stop);
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

/// Takes down Deploys and removes results.
pub(crate) fn clean(
    invocation: &mut Invocation<'_>,
    session: &Session,
    request: &Request,
    wanted: &Removal,
    clusters: Arc<Clusters>,
    style: Style,
) -> Result<Exit, Exit> {
    let Some(project) = garden_project(invocation, session, request) else {
        return Err(crate::report::report(invocation, session, style));
    };
    let project = project.on(clusters);
    take_down(invocation, session, &project, &project.root(), wanted, style)
}

/// Takes down the deployments of a project, and removes results.
pub(super) fn take_down(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &dyn Project,
    root: &Path,
    wanted: &Removal,
    style: Style,
) -> Result<Exit, Exit> {
    let place = Place::new(invocation, root)?;
    let look = Look { colour: style.colour, times: false, quiet: style.quiet };
    let summary = {
        let mut reporter = Plain::new(invocation.stderr, look);
        clean_up(project, &place.store, &place.executor, &place.stop, wanted, &mut reporter)
    };
    let summary = summary.map_err(|message| invocation.refuse(&message, Exit::Usage))?;
    Ok(conclude(invocation, session, &summary, style))
}
