//! `purlin.lock` on disk: read at the first remote request, written after a new fetch.

use crate::border::write_atomically;
use purlin_value::lock::{LOCK_FILE, Lock, Locked};
use purlin_value::world::WorldError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A lock file larger than this was not written by us.
const MOST_BYTES: u64 = 16 << 20;

/// The lock file of a project.
pub(super) struct Ledger {
    path: PathBuf,
    /// Makes reading, comparing and writing one step.
    turn: Mutex<()>,
}

impl Ledger {
    pub(super) fn new(root: &Path) -> Self {
        Ledger { path: root.join(LOCK_FILE), turn: Mutex::new(()) }
    }

    /// The recorded entry.
    pub(super) fn expected(&self, address: &str, revision: &str) -> Result<Option<Locked>, WorldError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.read()?.get(address, revision).cloned())
    }

    /// Records an entry if it is new. The file is read again: another run may have added to it.
    pub(super) fn record(&self, address: &str, revision: &str, locked: Locked) -> Result<(), WorldError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lock = self.read()?;
        if !lock.record(address, revision, locked) {
            return Ok(());
        }
        write_atomically(&self.path, lock.write().as_bytes())
            .map_err(|error| WorldError::FetchFailed(format!("`{LOCK_FILE}` cannot be written: {error}")))
    }

    /// The file as it is now. An existing file that cannot be parsed must not be ignored.
    fn read(&self) -> Result<Lock, WorldError> {
        let refuse = |why: &str| WorldError::LockMismatch(format!("the file cannot be used, {why}"));
        let metadata = match self.path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Lock::default()),
            Err(error) => return Err(refuse(&error.to_string())),
        };
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return Err(refuse("it is not a regular file, or too large"));
        }
        let text = std::fs::read_to_string(&self.path).map_err(|error| refuse(&error.to_string()))?;
        Lock::read(&text).map_err(|why| refuse(&why))
    }
}
