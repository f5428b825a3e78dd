//! `--since REVISION`: the differences from the project at a git revision.

use super::Context;
use super::objects::{self, OBJECTS};
use super::run::clusters;
use super::{service, skaffold};
use crate::args::Target;
use crate::fetch::lay_out;
use crate::invocation::Exit;
use crate::native;
use crate::project::repository_of;
use crate::run_args::ClusterFlags;
use purlin_compiler::{Compiled, Difference, ENGINES, compile, detect, diff, loose_objects, place_text};
use purlin_host::named;
use purlin_model::{Detection, Request};
use purlin_run::engine::Project;
use purlin_run::since::{Content, Since};
use purlin_value::Session;
use std::collections::HashMap;
use std::path::Path;

/// The differences since a revision. A project that did not exist, or had errors, is new as a whole.
pub(super) fn since(cx: &mut Context<'_, '_>, path: &Path, target: &Target, revision: &str) -> Result<Since, Exit> {
    let new = Since { revision: revision.to_owned(), ..Since::default() };
    if !was_there(cx, path, revision)? {
        return Ok(new);
    }
    let now = State::at(cx, path, target)?;
    let then = State::at(cx, path, &Target { rev: Some(revision.to_owned()), ..target.clone() })?;
    let (Some(before), Some(after)) = (&then.compiled, &now.compiled) else { return Ok(new) };
    let Some(contents) = then.contents(cx, target) else { return Ok(new) };
    let mut since = Since { before: Some(contents), ..new };
    for difference in diff((&then.session, &before.resolved), (&now.session, &after.resolved)) {
        let at = reason(&difference);
        // A nested node is part of its action.
        let own = difference.node.split('/').next().unwrap_or_default();
        since.changed.entry(own.to_owned()).or_insert_with(|| at.clone());
        since.around.get_or_insert(at);
    }
    Ok(since)
}

/// The location of a difference, in short.
fn reason(difference: &Difference) -> String {
    let causes = difference.after_causes.iter().chain(&difference.before_causes);
    let place = causes.filter_map(|cause| cause.place.as_ref()).map(place_text).next();
    place.unwrap_or_else(|| format!("{} {}", difference.node, difference.field).trim_end().to_owned())
}

/// Whether a path existed at a revision.
pub(super) fn was_there(cx: &mut Context<'_, '_>, path: &Path, revision: &str) -> Result<bool, Exit> {
    let full = native::canonical_or_same(cx.invocation.cwd.join(path));
    let repository = repository_of(&full);
    let root = lay_out(&cx.invocation.env, &repository, revision)
        .map_err(|why| cx.io(&format!("cannot read `{}` at `{revision}`: {}", path.display(), why.reason())))?;
    let inside = full.strip_prefix(&repository).unwrap_or(Path::new(""));
    Ok(named::exists(&root.join(inside)))
}

/// A state of a project.
struct State {
    session: Session,
    request: Request,
    /// Its resolution; `None` if it has errors. They are reported when it is run.
    compiled: Option<Compiled>,
}

impl State {
    fn at(cx: &mut Context<'_, '_>, path: &Path, target: &Target) -> Result<State, Exit> {
        let (session, mut request) = cx.open_any(path, target, &[])?;
        "resolve".clone_into(&mut request.command);
        request.manifests = true;
        let compiled = compile(&session, &request).filter(|_| !session.sink.has_errors());
        Ok(State { session, request, compiled })
    }

    /// The contents of its actions.
    fn contents(&self, cx: &mut Context<'_, '_>, target: &Target) -> Option<HashMap<String, Content>> {
        let session = self.session.sibling();
        let mut request = Request { engines: ENGINES, ..self.request.clone() };
        request.chart.include_crds = true;
        let detection = detect(&session, &request);
        let dialect = match (loose_objects(&session, &request, &detection), &detection) {
            (Some(found), _) => {
                request.found = Some(found);
                OBJECTS
            }
            (None, Detection::Project(file, dialect)) => {
                request.found = Some(file.clone());
                dialect.name
            }
            _ => return None,
        };
        let none = clusters(cx, target, &ClusterFlags::default(), false);
        match dialect {
            "garden" => {
                let project = super::run::garden_project(cx.invocation, &session, &request)?;
                Some(contents(&project))
            }
            "skaffold" => skaffold::whole(cx, &session, &request, none, |_, project| Ok(contents(project))).ok(),
            _ => match service::project(cx, &session, &request, dialect) {
                Some((project, _)) => Some(contents(&project)),
                None => {
                    let (project, _) = objects::project(cx, &session, &request, dialect, none)?.ok()?;
                    Some(contents(&project))
                }
            },
        }
    }
}

fn contents(project: &dyn Project) -> HashMap<String, Content> {
    project.nodes().iter().enumerate().map(|(index, node)| (node.id.clone(), project.content(index))).collect()
}
