//! Opens TOSCA services and Unfurl ensembles.

use super::{Refused, Site};
use crate::engine::Project;
use crate::service::{Place, ServiceProject};
use purlin_value::{Value, path};
use std::path::PathBuf;

pub(super) fn open_service<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    Ok(open(site, "deploy.service", false))
}

pub(super) fn open_ensemble<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    Ok(open(site, "deploy.ensemble", true))
}

fn open<'p>(site: &Site<'p, '_>, id: &str, is_ensemble: bool) -> Box<dyn Project + 'p> {
    let (session, request) = (site.session, site.request);
    let file = request.found.clone().unwrap_or_else(|| request.path.clone());
    let place = Place {
        id: id.to_owned(),
        world: session.world.clone(),
        limits: session.limits.clone(),
        asked: request.clone(),
        inputs: Value::null(),
        environment: String::new(),
        state: PathBuf::from(path::join(session.world.root(), path::parent(&file))),
        path: file,
        key: site.opening.key(),
        secrets: Vec::new(),
    };
    Box::new(ServiceProject::new(session, place, is_ensemble))
}
