//! `--since REVISION`: the differences from the project at a git revision.

use crate::args::Target;
use crate::commands::Context;
use crate::commands::run::{clusters, opening};
use crate::fetch::lay_out;
use crate::invocation::Exit;
use crate::native;
use crate::project::repository_of;
use crate::run_args::ClusterFlags;
use purlin_compiler::{Compiled, Difference, compile, diff, place_text};
use purlin_host::named;
use purlin_model::Request;
use purlin_run::engine::Node;
use purlin_run::open::{Forest, Purpose, Room, find};
use purlin_run::since::{Content, Since};
use purlin_value::Session;
use std::collections::HashMap;
use std::path::Path;

/// The differences since a revision. A project that did not exist, or had errors, is new as a whole.
pub(in crate::commands) fn since(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    revision: &str,
) -> Result<Since, Exit> {
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
pub(in crate::commands) fn was_there(cx: &mut Context<'_, '_>, path: &Path, revision: &str) -> Result<bool, Exit> {
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
        let mut request = self.request.clone();
        let row = find(&session, &mut request, self.request.skaffold.kube_context.as_deref())?;
        let none = clusters(cx, target, &ClusterFlags::default(), false);
        let opening = opening(cx, Purpose::Compare, false, none);
        let forest = Forest::new();
        let room = Room::new(&forest);
        let project = row.open(&room, (&session, &request), &opening).ok()?;
        cx.invocation.veil.hide(project.secrets());
        let content = |(index, node): (usize, &Node)| (node.id.clone(), project.content(index));
        Some(project.nodes().iter().enumerate().map(content).collect())
    }
}
