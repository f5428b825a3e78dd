//! Opens Skaffold configurations.

use super::{Purpose, Refused, Site};
use crate::action::Kind;
use crate::engine::Project;
use crate::skaffold::{DEV, Deploying, Settings, SkaffoldProject, deploy_name};
use purlin_skaffold::dialect::configs_in;
use purlin_skaffold::validate::{Scope, Tags, validate};
use purlin_value::path;
use std::path::PathBuf;

pub(super) fn open<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    let (room, session, request, opening) = (site.room, site.session, site.request, site.opening);
    let read = || configs_in(session, request, room.forest);
    let (configs, is_sound) = session.sink.succeeds(read);
    let configs = room.configs.get_or_init(|| configs.unwrap_or_default()).as_slice();
    let (_, is_valid) = session.sink.succeeds(|| validate(session, configs, Scope::Project, Tags::Made));
    if !is_sound || !is_valid || configs.is_empty() {
        return Err(Refused::Invalid);
    }
    let file = request.found.clone().unwrap_or_else(|| request.path.clone());
    let root = PathBuf::from(path::join(session.world.root(), path::parent(&file)));
    let settings = Settings {
        env: opening.env.clone(),
        here: root.clone(),
        root,
        push: opening.push.then_some(true),
        mode: mode(opening.purpose),
        ..Settings::default()
    };
    let make = || {
        let project = SkaffoldProject::new(session, configs, settings);
        let name = deploy_name(project.root(), configs);
        let deploying = Deploying {
            name,
            engines: request.engines,
            clusters: opening.clusters.clone(),
            namespace: request.namespace.clone(),
            ..Deploying::default()
        };
        match opening.purpose {
            Purpose::Run(Kind::Deploy) | Purpose::Dev | Purpose::Compare => project.deploying(deploying, false),
            Purpose::Look => project.deploying(deploying, true),
            Purpose::Run(_) | Purpose::Steps => project,
        }
    };
    let (project, is_sound) = session.sink.succeeds(make);
    // What was brought up can be taken down although something else is wrong.
    match is_sound || opening.purpose == Purpose::Look {
        true => Ok(Box::new(project)),
        false => Err(Refused::Invalid),
    }
}

/// The mode of a run as Dockerfiles and hooks see it.
fn mode(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Run(kind) => kind.name(),
        Purpose::Dev => DEV,
        Purpose::Steps | Purpose::Compare | Purpose::Look => "build",
    }
}
