//! `purlin build`, `test`, `deploy`, `status`, `logs` and `cleanup` on Skaffold projects.

use super::Context;
use super::run::{Order, execute};
use crate::invocation::Exit;
use crate::personality::skaffold::deploy_name;
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::Project;
use purlin_run::select::select;
use purlin_run::skaffold::{Deploying, Settings, SkaffoldProject};
use purlin_skaffold::dialect::with_configs;
use purlin_skaffold::validate::{Scope, Tags, validate};
use purlin_value::{Session, path};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn run(cx: &mut Context<'_, '_>, session: &Session, request: &Request, order: &Order) -> Result<Exit, Exit> {
    if order.kind == Kind::Run {
        return Err(
            cx.usage("Skaffold configurations have no Run actions; `purlin build`, `test` and `deploy` work on them")
        );
    }
    let style = cx.style;
    let settings = Settings { push: order.push.then_some(true), mode: order.kind.name(), ..Settings::default() };
    with_project(cx, session, request, settings, order.clusters.clone(), |cx, project, deploying| {
        let project = if order.kind == Kind::Deploy { project.deploying(deploying, false) } else { project };
        if session.sink.has_errors() {
            return Err(cx.report(session));
        }
        let requested = select(project.nodes(), order.kind, &order.wanted).map_err(|message| cx.usage(&message))?;
        // Hooks after the deploy are part of it.
        let hooks =
            (order.kind == Kind::Deploy && !requested.is_empty()).then(|| project.nodes().len().saturating_sub(1));
        let requested: Vec<usize> = requested.into_iter().chain(hooks).collect();
        let root = project.root().to_owned();
        let (exit, _) = execute(cx.invocation, session, &project, &root, &requested, order, &|_| (), style)?;
        Ok(exit)
    })
}

/// Does something with the project as it would be deployed.
pub(super) fn whole<T>(
    cx: &mut Context<'_, '_>,
    session: &Session,
    request: &Request,
    clusters: Arc<Clusters>,
    work: impl FnOnce(&mut Context<'_, '_>, &SkaffoldProject<'_, '_>) -> Result<T, Exit>,
) -> Result<T, Exit> {
    let settings = Settings { mode: "build", ..Settings::default() };
    with_project(cx, session, request, settings, clusters, |cx, project, deploying| {
        work(cx, &project.deploying(deploying, false))
    })
}

/// Does something with the project as it was deployed.
pub(super) fn deployed<T>(
    cx: &mut Context<'_, '_>,
    session: &Session,
    request: &Request,
    clusters: Arc<Clusters>,
    work: impl FnOnce(&mut Context<'_, '_>, &SkaffoldProject<'_, '_>) -> Result<T, Exit>,
) -> Result<T, Exit> {
    let settings = Settings { mode: "build", ..Settings::default() };
    with_project(cx, session, request, settings, clusters, |cx, project, deploying| {
        work(cx, &project.deploying(deploying, true))
    })
}

fn with_project<T>(
    cx: &mut Context<'_, '_>,
    session: &Session,
    request: &Request,
    settings: Settings,
    clusters: Arc<Clusters>,
    work: impl FnOnce(&mut Context<'_, '_>, SkaffoldProject<'_, '_>, Deploying) -> Result<T, Exit>,
) -> Result<T, Exit> {
    let file = request.found.clone().unwrap_or_else(|| request.path.clone());
    let root = PathBuf::from(path::join(session.world.root(), path::parent(&file)));
    let settings = Settings { env: cx.invocation.env.clone(), here: root.clone(), root, ..settings };
    let done = with_configs(session, request, |configs| {
        validate(session, configs, Scope::Project, Tags::Made);
        if session.sink.has_errors() {
            return Err(cx.report(session));
        }
        let project = SkaffoldProject::new(session, configs, settings);
        let deploying = Deploying {
            name: deploy_name(project.root(), configs),
            engines: request.engines,
            clusters,
            namespace: request.namespace.clone(),
            ..Deploying::default()
        };
        work(cx, project, deploying)
    });
    done.unwrap_or_else(|| Err(cx.report(session)))
}
