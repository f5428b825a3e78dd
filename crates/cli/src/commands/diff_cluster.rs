//! `purlin diff --cluster`: shows the changes that `deploy` would make in the cluster. The server does a dry run.

use super::Context;
use super::files::difference;
use super::run::{Place, clusters, detected, garden_project, only_garden};
use crate::args::{DiffOutput, Target};
use crate::invocation::Exit;
use crate::run_args::ClusterFlags;
use purlin_compiler::rules;
use purlin_run::action::Kind;
use purlin_run::cluster::{Change, ClusterDeploy};
use purlin_run::engine::Project;
use purlin_run::event::{Cause, Failure};
use purlin_run::garden::plain_value;
use purlin_run::past::statuses;
use purlin_run::work::Doing;
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use purlin_value::emit::{Secrets, to_yaml};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

/// Errors exit with 2 or more here, since 1 means that there are differences.
pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    access: &ClusterFlags,
    target: &Target,
    output: DiffOutput,
) -> Result<Exit, Exit> {
    if !matches!(output, DiffOutput::Text | DiffOutput::Json) {
        return Err(cx.usage("`diff --cluster` prints text or JSON"));
    }
    let (session, request, dialect) = detected(cx, "deploy", path, target)?;
    let clusters = clusters(cx, target, access, false);
    let compared = match super::objects::project(cx, &session, &request, dialect, clusters.clone()) {
        Some(project) => {
            let (project, root) = project.map_err(as_error)?;
            let place = Place::new(cx.invocation, &root)?;
            let deploy = |_: usize, _: &str| project.deploy();
            let locate = |failure: &mut Failure| project.locate_one(&session, failure);
            compare(cx, &session, &place, &project, &deploy, &locate)
        }
        None => {
            only_garden(cx, "diff --cluster", dialect)?;
            let Some(project) = garden_project(cx.invocation, &session, &request) else {
                return Err(as_error(cx.report(&session)));
            };
            let project = project.on(clusters);
            let place = Place::new(cx.invocation, &project.root())?;
            // Learns the outputs of finished actions, which others may refer to.
            statuses(&project, &place.store, &place.stop);
            let deploy = |_: usize, id: &str| project.deploy(id);
            compare(cx, &session, &place, &project, &deploy, &|failure| project.locate_one(failure))
        }
    };
    let Compared { changes: found, has_failed } = compared;
    match cx.report(&session) {
        exit @ (Exit::Limit | Exit::Denied | Exit::Io) => return Err(exit),
        exit @ Exit::Invalid if !has_failed => return Err(as_error(exit)),
        _ => {}
    }
    let text = match output {
        DiffOutput::Json => {
            let all: Vec<Json> = found.iter().map(|(id, change)| entry(id, change)).collect();
            serde_json::to_string_pretty(&json!({ "changes": all })).unwrap_or_default() + "\n"
        }
        _ => found.iter().map(|(id, change)| told(id, change)).collect(),
    };
    let printed = cx.print(&text, None);
    Ok(match printed {
        Exit::Ok if has_failed => Exit::Failed,
        Exit::Ok if !found.is_empty() => Exit::Invalid,
        printed => printed,
    })
}

/// The changes, and whether something could not be compared.
struct Compared {
    changes: Vec<(String, Change)>,
    has_failed: bool,
}

/// Compares every Deploy of a project with its cluster.
fn compare(
    cx: &mut Context<'_, '_>,
    session: &Session,
    place: &Place,
    project: &dyn Project,
    deploy: &dyn Fn(usize, &str) -> Option<Arc<ClusterDeploy>>,
    locate: &dyn Fn(&mut Failure),
) -> Compared {
    let mut compared = Compared { changes: Vec::new(), has_failed: false };
    let deploys = project.nodes().iter().enumerate().filter(|(_, node)| node.kind == Kind::Deploy && !node.disabled);
    for (index, node) in deploys {
        let id = &node.id;
        if let Err(failure) = project.prepare(index) {
            if failure.cause != Cause::Unresolved {
                let _ = writeln!(cx.invocation.stderr, "warning: `{id}` is not compared: {}", failure.cause);
            }
            continue;
        }
        let Some(deploy) = deploy(index, id) else { continue };
        match deploy.changes(Doing::looking(&place.stop)) {
            Ok(changes) => compared.changes.extend(changes.into_iter().map(|change| (id.clone(), change))),
            // The other changes are still worth showing.
            Err(trouble) => {
                let message = format!("could not compare `{id}`: {}", trouble.cause);
                let span = node.span;
                let mut failure =
                    Failure { id: id.clone(), cause: trouble.cause, command: None, tail: Vec::new(), span };
                locate(&mut failure);
                let mut diagnostic = Diagnostic::nowhere(&rules::ACTION_FAILED, message);
                diagnostic.span = failure.span;
                session.sink.push(diagnostic);
                compared.has_failed = true;
            }
        }
    }
    compared
}

fn as_error(exit: Exit) -> Exit {
    if exit == Exit::Invalid { Exit::Other(2) } else { exit }
}

fn word(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    }
}

fn entry(id: &str, change: &Change) -> Json {
    json!({
        "deploy": id,
        "kind": change.id.kind,
        "name": change.id.name,
        "namespace": change.id.namespace,
        "change": word(change),
        "before": change.before,
        "after": change.after,
    })
}

/// A change as text: its effect on the object, and the different lines.
fn told(id: &str, change: &Change) -> String {
    let yaml = |object: &Option<Json>| {
        object
            .as_ref()
            .map(|object| to_yaml(&plain_value(object), Secrets::Hide).unwrap_or_default())
            .unwrap_or_default()
    };
    let namespace = match change.id.namespace.as_str() {
        "" => String::new(),
        name => format!(" in {name}"),
    };
    let name = format!("{id}/{}", change.id);
    format!("{name}{namespace}: {}\n{}", word(change), difference(&name, &yaml(&change.before), &yaml(&change.after)))
}
