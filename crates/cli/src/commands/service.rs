//! `purlin deploy`, `status` and `cleanup` on TOSCA services and Unfurl ensembles.

use super::Context;
use super::run::{Order, Place, execute};
use crate::invocation::Exit;
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::engine::Project;
use purlin_run::past::{Status, statuses};
use purlin_run::select::select;
use purlin_run::service::{self, ServiceProject};
use purlin_run::store::Key;
use purlin_value::{Session, path};
use std::path::PathBuf;

/// The project of a service or an ensemble, and the folder of its results; `None` for other dialects.
pub(super) fn project(
    cx: &Context<'_, '_>,
    session: &Session,
    request: &Request,
    dialect: &str,
) -> Option<(ServiceProject, PathBuf)> {
    let (id, is_ensemble) = match dialect {
        "tosca" => ("deploy.service", false),
        "unfurl" => ("deploy.ensemble", true),
        _ => return None,
    };
    let file = request.found.clone().unwrap_or_else(|| request.path.clone());
    let root = PathBuf::from(path::join(session.world.root(), path::parent(&file)));
    let place = service::Place {
        id: id.to_owned(),
        world: session.world.clone(),
        limits: session.limits.clone(),
        path: file,
        asked: request.clone(),
        inputs: purlin_value::Value::null(),
        environment: String::new(),
        state: root.clone(),
        key: Key::of_user(&cx.invocation.env),
        secrets: Vec::new(),
    };
    Some((ServiceProject::new(place, is_ensemble), root))
}

/// Brings a service up.
pub(super) fn deploy(
    cx: &mut Context<'_, '_>,
    session: &Session,
    (project, root): (ServiceProject, PathBuf),
    order: &Order,
) -> Result<Exit, Exit> {
    if order.kind != Kind::Deploy {
        return Err(
            cx.usage(&format!("`purlin {}` has nothing to do on a service; use `purlin deploy`", order.kind.name()))
        );
    }
    let style = cx.style;
    project.check(session);
    if session.sink.has_errors() {
        return Err(cx.report(session));
    }
    let requested = select(project.nodes(), order.kind, &order.wanted).map_err(|message| cx.usage(&message))?;
    let (exit, _) = execute(cx.invocation, session, &project, &root, &requested, order, &|_| (), style)?;
    Ok(exit)
}

/// Prints the state of a service.
pub(super) fn status(
    cx: &mut Context<'_, '_>,
    (project, root): (ServiceProject, PathBuf),
) -> Result<Vec<Status>, Exit> {
    let place = Place::new(cx.invocation, &root)?;
    Ok(statuses(&project, &place.store, &place.stop))
}
