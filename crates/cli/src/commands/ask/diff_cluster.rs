//! `purlin diff --cluster`: shows the changes that `deploy` would make in the cluster. The server does a dry run.

use crate::args::{DiffOutput, Target};
use crate::commands::Context;
use crate::commands::files::difference;
use crate::commands::run::{Place, clusters, detected, open, opening};
use crate::invocation::Exit;
use crate::run_args::ClusterFlags;
use purlin_compiler::rules;
use purlin_run::action::Kind;
use purlin_run::cluster::Change;
use purlin_run::engine::Project;
use purlin_run::event::{Cause, Failure};
use purlin_run::garden::plain_value;
use purlin_run::open::{Forest, Purpose, Room};
use purlin_run::past::{StateOf, statuses};
use purlin_run::work::Doing;
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use purlin_value::emit::{Secrets, to_yaml};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Errors exit with 2 or more here, since 1 means that there are differences.
pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    access: &ClusterFlags,
    target: &Target,
    output: DiffOutput,
) -> Result<Exit, Exit> {
    if !matches!(output, DiffOutput::Text | DiffOutput::Json) {
        return Err(cx.usage("`diff --cluster` prints text or JSON"));
    }
    let (session, request, row) = detected(cx, "deploy", path, target)?;
    if !row.has_objects {
        return Err(cx.usage(&format!("`purlin diff --cluster` has nothing to compare on {}", row.noun)));
    }
    let opening = opening(cx, Purpose::Compare, false, clusters(cx, target, access, false));
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening).map_err(as_error)?;
    let place = Place::new(cx.invocation, &project.root())?;
    let compared = compare(cx, &session, &place, project.as_ref());
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
fn compare(cx: &mut Context<'_, '_>, session: &Session, place: &Place, project: &dyn Project) -> Compared {
    let mut compared = Compared { changes: Vec::new(), has_failed: false };
    // Learns the outputs of finished actions, which others may refer to.
    let known = statuses(project, &place.store, &place.stop);
    let deploys = project.nodes().iter().enumerate().filter(|(_, node)| node.kind == Kind::Deploy && !node.disabled);
    for (index, node) in deploys {
        let id = &node.id;
        let waits = known.iter().find(|status| status.id == *id).map(|status| &status.state);
        let unknown = match (project.prepare(index), waits) {
            (Err(failure), _) => Some(failure.cause),
            (Ok(_), Some(state @ StateOf::Waits(_))) => Some(Cause::Other(state.reason())),
            (Ok(_), _) => None,
        };
        if let Some(cause) = unknown {
            if cause != Cause::Unresolved {
                let _ = writeln!(cx.invocation.stderr, "warning: `{id}` is not compared: {cause}");
            }
            continue;
        }
        let Some(deploy) = project.cluster_deploy(index) else { continue };
        match deploy.changes(Doing::looking(&place.stop)) {
            Ok(changes) => compared.changes.extend(changes.into_iter().map(|change| (id.clone(), change))),
            // The other changes are still worth showing.
            Err(trouble) => {
                let message = format!("could not compare `{id}`: {}", trouble.cause);
                let span = node.span;
                let mut failure =
                    Failure { id: id.clone(), cause: trouble.cause, command: None, tail: Vec::new(), span };
                project.locate(&mut failure);
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
