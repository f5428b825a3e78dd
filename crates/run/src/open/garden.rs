//! Opens Garden projects.

use super::{Opening, Purpose, Refused, Site};
use crate::engine::Project;
use crate::garden::GardenProject;
use purlin_garden::follow::resolve_first;
use purlin_garden::resolve::{Resolution, resolve};

pub(super) fn open<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    let find = || match site.opening.purpose {
        Purpose::Dev => resolve_first(site.session, site.request),
        _ => resolve(site.session, site.request),
    };
    let (resolution, is_sound) = site.session.sink.succeeds(find);
    // What was brought up can be seen and taken down although something else is wrong.
    let is_enough = is_sound || site.opening.purpose == Purpose::Look;
    let resolution = resolution.filter(|_| is_enough).ok_or(Refused::Invalid)?;
    Ok(project(resolution, site.opening))
}

pub(super) fn project<'p>(resolution: Resolution<'p>, opening: &Opening) -> Box<dyn Project + 'p> {
    let project = GardenProject::new(resolution, opening.key());
    Box::new(project.pushing(opening.push).on(opening.clusters.clone()))
}
