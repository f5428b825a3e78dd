//! Layout of the cache of fetched files.
//!
//! ```text
//! git/<address>/<commit>/…            the files of a commit
//! git/<address>/revisions/<revision>  the last known commit of a branch or tag
//! files/<address>/<content>/<name>    a file
//! files/<address>/latest              the last known content
//! ```
//!
//! Addresses and revisions are hashed, addresses with the credentials in them: two addresses share nothing, and nothing
//! leaks. An entry is complete or absent.

use super::unpack::hash_bytes;
use crate::border::write_atomically;
use purlin_value::world::WorldError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of all fetched things.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// A folder that is removed when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover only costs disk space.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A name for any text.
fn name_of(text: &str) -> String {
    hash_bytes(text.as_bytes()).chars().skip("sha256:".len()).take(40).collect()
}

fn failure(error: &std::io::Error) -> WorldError {
    WorldError::FetchFailed(format!("the cache cannot be used: {error}"))
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Cache { folder }
    }

    /// The cache of the user that this environment belongs to.
    pub(super) fn of(env: &BTreeMap<String, String>) -> Result<Self, WorldError> {
        let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let cache = folder("XDG_CACHE_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".cache")))
            // The folder for reproducible data on Windows.
            .or_else(|| folder("LOCALAPPDATA"));
        let none = || WorldError::FetchFailed("there is no folder to keep it in: `HOME` is not set".to_owned());
        cache.map(|folder| Cache::new(folder.join("purlin"))).ok_or_else(none)
    }

    /// Creates the folder, accessible only to the user: addresses and contents may be private.
    fn prepare(&self) -> Result<(), WorldError> {
        std::fs::create_dir_all(&self.folder).and_then(|()| make_private(&self.folder)).map_err(|error| failure(&error))
    }

    /// A fresh folder on the same disk.
    pub(super) fn scratch(&self) -> Result<Scratch, WorldError> {
        self.prepare()?;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = self.folder.join("tmp").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| failure(&error))?;
        Ok(Scratch(folder))
    }

    /// The folder of a commit, whether it exists or not.
    pub(super) fn commit(&self, address: &str, commit: &str) -> PathBuf {
        self.folder.join("git").join(name_of(address)).join(commit)
    }

    /// The path of a file with a given content.
    pub(super) fn file(&self, address: &str, hash: &str) -> PathBuf {
        let bare = address.split(['?', '#']).next().unwrap_or(address);
        // Only from the path: the part before the host may contain a password.
        let (_, path) = bare.split_once("://").unwrap_or(("", bare)).1.split_once('/').unwrap_or_default();
        let name: String = path.rsplit('/').next().unwrap_or("").chars().filter(|c| is_tame(*c)).take(100).collect();
        let name = if name.trim_matches('.').is_empty() { "file".to_owned() } else { name };
        let content = hash.trim_start_matches("sha256:");
        self.folder.join("files").join(name_of(address)).join(content).join(name)
    }

    /// The commit that a revision led to last.
    pub(super) fn last_commit(&self, address: &str, revision: &str) -> Option<String> {
        std::fs::read_to_string(self.revision(address, revision)).ok()
    }

    /// Records the commit of a revision.
    pub(super) fn set_last_commit(&self, address: &str, revision: &str, commit: &str) -> Result<(), WorldError> {
        self.prepare()?;
        write_atomically(&self.revision(address, revision), commit.as_bytes()).map_err(|error| failure(&error))
    }

    fn revision(&self, address: &str, revision: &str) -> PathBuf {
        self.folder.join("git").join(name_of(address)).join("revisions").join(name_of(revision))
    }

    /// The last known hash of the file at an address.
    pub(super) fn last_hash(&self, address: &str) -> Option<String> {
        std::fs::read_to_string(self.latest(address)).ok()
    }

    fn latest(&self, address: &str) -> PathBuf {
        self.folder.join("files").join(name_of(address)).join("latest")
    }

    /// Keeps a file.
    pub(super) fn keep_file(&self, address: &str, hash: &str, bytes: &[u8]) -> Result<PathBuf, WorldError> {
        self.prepare()?;
        let place = self.file(address, hash);
        write_atomically(&place, bytes)
            .and_then(|()| write_atomically(&self.latest(address), hash.as_bytes()))
            .map_err(|error| failure(&error))?;
        Ok(place)
    }

    /// Moves a finished folder to its place. If another run was faster, its copy is as good.
    pub(super) fn keep_folder(&self, from: &Path, place: &Path) -> Result<(), WorldError> {
        let parent = place.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(parent).map_err(|error| failure(&error))?;
        match std::fs::rename(from, place) {
            Err(error) if !place.is_dir() => Err(failure(&error)),
            _ => Ok(()),
        }
    }
}

/// Makes a folder of the user accessible only to the user.
#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = folder.metadata()?.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_private(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}

fn is_tame(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}
