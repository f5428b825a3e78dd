//! Files that commands read in place, checked before a command runs and after it. A file counts by its content.

use super::GardenProject;
use crate::action::{Kind, Sources};
use crate::touched::Since;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Hashed;
use purlin_host::{named, native};
use purlin_syntax::Limits;
use purlin_value::world::World;
use purlin_value::{Session, Value};
use std::path::PathBuf;
use std::sync::Arc;

impl GardenProject<'_> {
    /// The files that an action reads in place. A Build works on a copy, unless it is configured to build in place.
    pub(super) fn sources(&self, action: &GardenAction, kind: Kind) -> Option<Arc<dyn Sources>> {
        let at_source = action.fields.get("buildAtSource").and_then(Value::as_bool).unwrap_or(false);
        let is_read = matches!(kind, Kind::Run | Kind::Test) || (kind == Kind::Build && at_source);
        let hashed = is_read.then(|| self.resolution.live.hashed(self.session(), action))??;
        let session = self.session();
        Some(Arc::new(Found { hashed, world: session.world.clone(), limits: session.limits.clone() }))
    }
}

/// The files of an action.
struct Found {
    hashed: Hashed,
    world: Arc<dyn World>,
    limits: Limits,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("folder", &self.hashed.folder).finish_non_exhaustive()
    }
}

impl Found {
    fn full(&self, file: &str) -> PathBuf {
        native::system_path(self.world.root()).join(native::system_path(file))
    }
}

impl Sources for Found {
    fn changed(&self) -> Option<String> {
        let session = std::cell::OnceCell::new();
        let session = || session.get_or_init(|| Session::with_limits(self.world.clone(), self.limits.clone(), 1));
        let since = Since::begun();
        for (at, file) in self.hashed.files.iter().enumerate() {
            let full = self.full(file);
            let is_there = named::itself(&full).is_ok();
            if !is_there || (since.has(&full) && !self.hashed.is_same(session(), at)) {
                return Some(file.clone());
            }
        }
        let files = self.hashed.files.iter().map(|file| self.full(file));
        since.has_below(&self.full(&self.hashed.folder), files).then(|| self.hashed.new_file(session())).flatten()
    }
}
