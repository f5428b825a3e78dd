//! Files that commands read where they lie, looked at again: before a command runs, and after it.
//!
//! A file counts by its content. The time of its last change of any kind, which only the system sets, says which files need
//! not be read again.

use super::GardenProject;
use crate::action::{Kind, Sources};
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Hashed;
use purlin_host::named;
use purlin_syntax::Limits;
use purlin_value::world::World;
use purlin_value::{Session, Value};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// When this process began, in seconds since 1970, and a second before: clocks of file systems are coarse. Whatever was
/// read was read after that.
static BEGUN: LazyLock<i64> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).unwrap_or(i64::MAX) - 1
});

/// Notes the time; to be called before anything is read.
pub fn begin() {
    LazyLock::force(&BEGUN);
}

impl GardenProject<'_> {
    /// What an action reads where it lies. A Build works on a copy, unless it is told to build where its files are.
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
        PathBuf::from(self.world.root()).join(file)
    }

    fn is_touched(path: &Path) -> bool {
        named::itself(path).is_ok_and(|found| found.ctime() >= *BEGUN)
    }

    /// Whether a file may have come since: every folder that holds files notes that.
    fn may_have_more(&self) -> bool {
        let top = self.full(&self.hashed.folder);
        let mut seen = BTreeSet::from([top.clone()]);
        if Self::is_touched(&top) {
            return true;
        }
        for file in self.hashed.files.iter() {
            let full = self.full(file);
            let inside = full.ancestors().skip(1).take_while(|folder| folder.starts_with(&top));
            for folder in inside {
                if !seen.insert(folder.to_owned()) {
                    break;
                }
                if Self::is_touched(folder) {
                    return true;
                }
            }
        }
        false
    }
}

impl Sources for Found {
    fn changed(&self) -> Option<String> {
        let session = std::cell::OnceCell::new();
        let session = || session.get_or_init(|| Session::with_limits(self.world.clone(), self.limits.clone(), 1));
        for (at, file) in self.hashed.files.iter().enumerate() {
            let full = self.full(file);
            let is_there = named::itself(&full).is_ok();
            if !is_there || (Self::is_touched(&full) && !self.hashed.is_same(session(), at)) {
                return Some(file.clone());
            }
        }
        self.may_have_more().then(|| self.hashed.new_file(session())).flatten()
    }
}
