//! Finds files that may have changed since this process began: only those need to be read again.
//!
//! The change time of a file is set only by the system. It shows which files to check, never that a file is unchanged.

use purlin_host::named;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Granularity of file system clocks.
const COARSE: Duration = Duration::from_secs(1);

/// When this process began, by two clocks. All files were read after that.
static BEGUN: LazyLock<(SystemTime, Instant)> = LazyLock::new(|| (SystemTime::now(), Instant::now()));

/// Records the time; call it before any file is read.
pub fn begin() {
    LazyLock::force(&BEGUN);
}

/// The time after which files count as changed during this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(Option<i64>);

impl Since {
    /// Since this process began. If the system clock was set back meanwhile, every file may have changed.
    pub(crate) fn begun() -> Self {
        let (system, steady) = *BEGUN;
        let is_set_back = SystemTime::now() + COARSE < system + steady.elapsed();
        let seconds = system.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(COARSE).as_secs();
        Since(i64::try_from(seconds).ok().filter(|_| !is_set_back))
    }

    /// Whether a file or folder may have changed.
    pub(crate) fn has(self, path: &Path) -> bool {
        named::itself(path).is_ok_and(|found| self.0.is_none_or(|begun| found.ctime() >= begun))
    }

    /// Whether files may have been added to a folder, or to one that contains a known file: the times of folders show
    /// that.
    pub(crate) fn has_below(self, top: &Path, files: impl Iterator<Item = PathBuf>) -> bool {
        if self.has(top) {
            return true;
        }
        let mut seen = BTreeSet::from([top.to_owned()]);
        for file in files {
            for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
                if !seen.insert(folder.to_owned()) {
                    break;
                }
                if self.has(folder) {
                    return true;
                }
            }
        }
        false
    }
}
