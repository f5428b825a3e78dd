//! Opens Garden projects.

use super::{Opening, Purpose, Refused, Site};
use crate::engine::Project;
use crate::garden::GardenProject;
use purlin_garden::follow::resolve_first;
use purlin_garden::late::held_back;
use purlin_garden::resolve::{Resolution, resolve};
use purlin_syntax::Diagnostic;

pub(super) fn open<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    let find = || match site.opening.purpose {
        Purpose::Dev => resolve_first(site.session, site.request),
        _ => resolve(site.session, site.request),
    };
    let (resolution, found) = site.session.sink.apart(find);
    let found = found.into_vec();
    let (held, found) = match (&resolution, site.opening.purpose) {
        (Some(resolution), Purpose::Run(_)) => held_back(resolution, found),
        _ => (Vec::new(), found),
    };
    let is_sound = !found.iter().any(Diagnostic::is_error);
    site.session.sink.extend(found);
    // What was brought up can be seen and taken down although something else is wrong.
    let is_enough = is_sound || site.opening.purpose == Purpose::Look;
    let Some(resolution) = resolution.filter(|_| is_enough) else {
        site.session.sink.extend(held);
        return Err(Refused::Invalid);
    };
    Ok(Box::new(opened(resolution, site.opening).holding(held)))
}

pub(super) fn project<'p>(resolution: Resolution<'p>, opening: &Opening) -> Box<dyn Project + 'p> {
    Box::new(opened(resolution, opening))
}

fn opened<'p>(resolution: Resolution<'p>, opening: &Opening) -> GardenProject<'p> {
    GardenProject::new(resolution, opening.key()).pushing(opening.push).on(opening.clusters.clone())
}
