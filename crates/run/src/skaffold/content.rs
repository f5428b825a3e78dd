//! The files of an artifact, checked again before it is built and after it.

use super::SkaffoldProject;
use crate::action::Sources;
use crate::touched::Since;
use purlin_host::{named, native};
use purlin_skaffold::artifacts::Artifact;
use purlin_skaffold::keys::{Content, file_digest};
use purlin_value::world::World;
use std::path::PathBuf;
use std::sync::Arc;

impl SkaffoldProject<'_, '_> {
    /// The source files of an artifact.
    pub(super) fn sources(&self, artifact: &Artifact<'_, '_>) -> Option<Arc<dyn Sources>> {
        let content = self.keys.get(&artifact.image)?.clone();
        Some(Arc::new(Found { content, world: self.session.world.clone() }))
    }
}

/// Files as they went into a key.
struct Found {
    content: Arc<Content>,
    world: Arc<dyn World>,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("context", &self.content.listing.context).finish_non_exhaustive()
    }
}

impl Found {
    fn full(&self, file: &str) -> PathBuf {
        native::system_path(self.world.root()).join(native::system_path(file))
    }

    /// Whether a file may have changed. The status of a link does not show changes of its target.
    fn may_have_changed(&self, since: Since, file: &str) -> bool {
        let full = self.full(file);
        since.has(&full) || named::itself(&full).is_ok_and(|found| found.is_symlink())
    }
}

impl Sources for Found {
    fn changed(&self) -> Option<String> {
        let since = Since::begun();
        let Content { files, listing, .. } = self.content.as_ref();
        for (file, then) in files {
            let is_there = named::itself(&self.full(file)).is_ok();
            let is_other = || file_digest(self.world.as_ref(), file).ok().as_ref() != Some(then);
            if !is_there || (self.may_have_changed(since, file) && is_other()) {
                return Some(file.clone());
            }
        }
        if !since.has_below(&self.full(&listing.context), files.iter().map(|(file, _)| self.full(file))) {
            return None;
        }
        let is_known = |file: &String| files.binary_search_by(|(known, _)| known.cmp(file)).is_ok();
        listing.files(self.world.as_ref()).into_iter().find(|file| !is_known(file))
    }
}
