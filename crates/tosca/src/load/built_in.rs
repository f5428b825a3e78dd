//! Built-in profiles, read once for all services of a repository.
//!
//! Each service is checked in a branch of the run, with files of its own; profiles are the same for all of them, and
//! longer than most services. Must not know what the files of a service say beside their version.

use super::embedded_source;
use super::root::standard;
use crate::edition::Edition;
use crate::profile::{self, Embedded};
use purlin_model::Glance;
use purlin_syntax::Flavor;
use purlin_value::Session;

/// Shares the profiles of the versions that files name.
pub(crate) fn share_profiles(session: &Session, files: &[&str]) {
    for file in files {
        let glance = Glance::found(session, file);
        let keyword = glance.head().get(crate::dialect::VERSION);
        let version =
            keyword.and_then(|keyword| profile::version(keyword).or_else(|| profile::spelt_otherwise(keyword)));
        share(session, version.map_or(&[], |version| version.profile));
    }
}

/// Shares the profile of an edition, and built-in files of a host.
pub fn share_edition(session: &Session, edition: Edition, files: &[Embedded]) {
    share(session, standard(edition).map_or(&[], |version| version.profile));
    share(session, files);
}

fn share(session: &Session, files: &[Embedded]) {
    for embedded in files {
        if session.sources.has_shared(embedded.path) {
            continue;
        }
        let tree = session.load_tree(&embedded_source(session, *embedded), Flavor::CoreGo);
        // Limits of the run may cut it short, which each service reports.
        if tree.is_sound() {
            session.sources.share(&tree);
        }
    }
}
