//! The world outside: the only way to files, environment, clock, commands and the network.
//!
//! Layers above hold a `dyn World` and cannot tell a disk from a test. Paths are relative to the world's root (or
//! absolute and inside it); any other path is refused unless the user allowed it. Writes go to an overlay.

use crate::path;
use crate::rules;
use crate::seed::Seed;
use purlin_syntax::Diagnostic;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Variables that hold the user's name, the first that is set.
pub const USER_VARIABLES: &[&str] = &["USER", "LOGNAME", "USERNAME"];

/// Why the world refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldError {
    /// The file or folder does not exist.
    NotFound,
    /// It is of the wrong kind: a folder instead of a file, or the reverse.
    WrongKind(&'static str),
    /// It is not allowed; the text names what would allow it.
    Denied(String),
    /// It is larger than a limit allows; the text names the limit.
    TooLarge(String),
    /// All files read together are larger than a limit allows; the text names the limit.
    TooMuch(String),
    /// A remote resource could not be fetched; the text has the reason.
    FetchFailed(String),
    /// A remote resource differs from `purlin.lock`; the text has the difference.
    LockMismatch(String),
    /// Any other system error.
    Failed(String),
}

impl WorldError {
    /// The reason alone, in words.
    pub fn reason(&self) -> &str {
        match self {
            WorldError::NotFound => "it does not exist",
            WorldError::WrongKind(what) => what,
            WorldError::Denied(why)
            | WorldError::TooLarge(why)
            | WorldError::TooMuch(why)
            | WorldError::FetchFailed(why)
            | WorldError::LockMismatch(why)
            | WorldError::Failed(why) => why,
        }
    }

    /// The diagnostic for it, without a location.
    pub fn diagnostic(&self, path: &str) -> Diagnostic {
        match self {
            WorldError::NotFound => Diagnostic::nowhere(&rules::FILE_NOT_FOUND, format!("`{path}` does not exist")),
            WorldError::WrongKind(what) => Diagnostic::nowhere(&rules::UNREADABLE, format!("`{path}` is {what}")),
            WorldError::Denied(hint) => {
                Diagnostic::nowhere(&rules::NOT_ALLOWED, format!("reading `{path}` is not allowed")).hint(hint.clone())
            }
            WorldError::TooMuch(why) => Diagnostic::nowhere(&purlin_syntax::rules::LIMIT_TOTAL, why.clone()),
            WorldError::TooLarge(why) => {
                Diagnostic::nowhere(&purlin_syntax::rules::LIMIT_FILE, format!("`{path}` {why}"))
            }
            WorldError::FetchFailed(why) => {
                Diagnostic::nowhere(&rules::FETCH_FAILED, format!("`{path}` could not be fetched: {why}"))
            }
            WorldError::LockMismatch(why) => {
                let message = format!("`{path}` does not agree with `{}`: {why}", crate::lock::LOCK_FILE);
                let hint = "if the change is intended, remove its entry and run again";
                Diagnostic::nowhere(&rules::LOCK_MISMATCH, message).hint(hint)
            }
            WorldError::Failed(why) => Diagnostic::nowhere(&rules::UNREADABLE, format!("`{path}`: {why}")),
        }
    }
}

/// The kind of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link; [`World::stat`] follows it, [`World::list`] does not.
    Link,
}

/// Metadata of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Its kind.
    pub kind: FileKind,
    /// Bytes of a file.
    pub size: u64,
    /// Whether a file may be executed.
    pub executable: bool,
}

/// One name in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The bare name.
    pub name: String,
    /// Its kind; links are not followed.
    pub kind: FileKind,
}

/// A moment, as nanoseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(pub i128);

/// A command to run. Arguments are passed verbatim, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment of the process.
    pub env: Vec<(String, String)>,
    /// Folder to run in, relative to the root.
    pub folder: String,
    /// Its standard input.
    pub stdin: Vec<u8>,
}

/// What a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of bytes that it prints, on each of its two streams.
    pub bytes: u64,
    /// Maximum number of seconds.
    pub seconds: u64,
}

/// The result of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Exit code.
    pub code: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// A remote resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Remote {
    /// A git repository at a revision (branch, tag or commit).
    Git {
        /// Address: https, ssh, or an allowed local path.
        address: String,
        /// Branch, tag or commit; the default branch if empty.
        revision: String,
        /// Whether to look for something newer than the local copy and the record in `purlin.lock`.
        refresh: bool,
    },
    /// One file by address.
    File {
        /// Address: https, or an allowed local path.
        address: String,
    },
    /// The versions of a chart in a registry, a line each.
    Versions {
        /// `oci://HOST/PATH`
        address: String,
    },
    /// The archive of a chart in a registry.
    Chart {
        /// `oci://HOST/PATH`
        address: String,
        /// The version, which equals the tag except for `+`.
        version: String,
    },
}

/// A fetched resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its location, as a path this world reads. A folder for a repository.
    pub path: String,
    /// The exact revision, for repositories.
    pub revision: String,
    /// `sha256:…` of the content.
    pub hash: String,
}

/// The world.
pub trait World: Send + Sync {
    /// The root folder's full path, for messages and for values that show it.
    fn root(&self) -> &str;

    /// The user's working directory, relative to the root.
    fn here(&self) -> &str {
        "."
    }

    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError>;

    /// Passes a file to a callback piece by piece, whatever its size, with its whole length each time: for hashes,
    /// which need no limit because they keep nothing. An empty file is one empty piece.
    fn read_in_pieces(&self, path: &str, each: &mut dyn FnMut(u64, &[u8])) -> Result<(), WorldError> {
        let bytes = self.read(path)?;
        each(bytes.len() as u64, &bytes);
        Ok(())
    }

    /// The first bytes of a file, at most `most`.
    fn head(&self, path: &str, most: usize) -> Result<Arc<[u8]>, WorldError> {
        let bytes = self.read(path)?;
        Ok(bytes.get(..most).map_or_else(|| bytes.clone(), Into::into))
    }

    /// The names in a folder, sorted.
    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError>;

    /// Metadata of a path; links are followed.
    fn stat(&self, path: &str) -> Result<Stat, WorldError>;

    /// The target of a link, as it is written.
    fn read_link(&self, path: &str) -> Result<String, WorldError>;

    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;

    /// The user's name in the system; empty if unknown. Like [`World::env_table`], it does not count as a read.
    fn user(&self) -> String {
        USER_VARIABLES.iter().find_map(|name| self.env(name)).unwrap_or_default()
    }

    /// All environment variables, sorted by name, for what uses them as a whole.
    fn env_all(&self) -> Vec<(String, String)>;

    /// The same for looking names up: who uses one of them asks for it with [`World::env`], so that it is recorded.
    fn env_table(&self) -> Vec<(String, String)> {
        self.env_all()
    }

    /// The file of a program on the `PATH` of the run, or of one that is named by a path. It is looked for, not run.
    fn program(&self, _name: &str) -> Option<String> {
        None
    }

    /// The one clock reading of this run.
    fn now(&self) -> Moment;

    /// The seed of everything random in this run.
    fn seed(&self) -> Seed;

    /// Runs a command, if allowed.
    fn run(&self, command: &Command) -> Result<Output, WorldError>;

    /// The same within bounds: a command that prints more or takes longer is ended, and that is an error.
    fn run_within(&self, command: &Command, _bounds: Bounds) -> Result<Output, WorldError> {
        self.run(command)
    }

    /// Fetches something remote, if allowed.
    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError>;

    /// Writes a file: into an overlay that later reads of this run see, or to the disk if allowed.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError>;

    /// Writes a file that only this run sees, whatever is allowed: for files that must not remain.
    fn write_temporary(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.write(path, bytes)
    }

    /// Makes a folder and its parents, if writing is allowed; otherwise nothing happens.
    fn create_folder(&self, _path: &str) -> Result<(), WorldError> {
        Ok(())
    }

    /// Whether written files persist after the run.
    fn keeps_writes(&self) -> bool {
        true
    }

    /// Whether a file or folder exists.
    fn exists(&self, path: &str) -> bool {
        self.stat(path).is_ok()
    }
}

/// Files written during a run that do not reach the disk.
#[derive(Default, Debug)]
pub struct Overlay {
    files: Mutex<BTreeMap<String, Arc<[u8]>>>,
}

impl Overlay {
    /// Keeps a file.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        self.lock().insert(path::normalize(path), bytes.into());
    }

    /// A file written before.
    pub fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        self.lock().get(&path::normalize(path)).cloned()
    }

    /// Whether no file was written.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Names of written files and folders directly in a folder, with their kinds.
    pub fn names(&self, folder: &str) -> Vec<Entry> {
        names_in(self.lock().keys(), folder)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names_in<'p>(paths: impl Iterator<Item = &'p String>, folder: &str) -> Vec<Entry> {
    let folder = path::normalize(folder);
    let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
    let mut found: BTreeMap<String, FileKind> = BTreeMap::new();
    for path in paths {
        let Some(rest) = path.strip_prefix(&prefix) else { continue };
        match rest.split_once('/') {
            Some((name, _)) => found.insert(name.to_owned(), FileKind::Folder),
            None => found.insert(rest.to_owned(), FileKind::File),
        };
    }
    found.into_iter().map(|(name, kind)| Entry { name, kind }).collect()
}

/// A world in memory, for tests, editors and examples. It only allows reading its own files.
#[derive(Default, Debug)]
pub struct MemoryWorld {
    files: BTreeMap<String, Arc<[u8]>>,
    env: BTreeMap<String, String>,
    overlay: Overlay,
    here: Option<String>,
}

impl MemoryWorld {
    /// An empty world.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with a file.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path::normalize(path), text.as_bytes().into());
        self
    }

    /// The same with a file of bytes.
    pub fn bytes(mut self, path: &str, bytes: &[u8]) -> Self {
        self.files.insert(path::normalize(path), bytes.into());
        self
    }

    /// The same with an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn resolve(&self, path: &str) -> Result<String, WorldError> {
        let path = path
            .strip_prefix(self.root())
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .map_or(path, |rest| rest.trim_start_matches('/'));
        if path::is_absolute(path) || path::escapes(path) || path.contains('\0') {
            return Err(WorldError::Denied("it is outside the project; allow it with `--allow-path DIR`".to_owned()));
        }
        Ok(path::normalize(path))
    }
}

impl World for MemoryWorld {
    fn root(&self) -> &str {
        "/project"
    }

    fn here(&self) -> &str {
        self.here.as_deref().unwrap_or(".")
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        let path = self.resolve(path)?;
        if let Some(bytes) = self.overlay.read(&path) {
            return Ok(bytes);
        }
        if let Some(bytes) = self.files.get(&path) {
            return Ok(bytes.clone());
        }
        if !names_in(self.files.keys(), &path).is_empty() {
            return Err(WorldError::WrongKind("a folder, not a file"));
        }
        Err(WorldError::NotFound)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        let path = self.resolve(path)?;
        let mut found = names_in(self.files.keys(), &path);
        for entry in self.overlay.names(&path) {
            if !found.iter().any(|known| known.name == entry.name) {
                found.push(entry);
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        if found.is_empty() && path != "." { Err(WorldError::NotFound) } else { Ok(found) }
    }

    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        match self.read(path) {
            Ok(bytes) => Ok(Stat { kind: FileKind::File, size: bytes.len() as u64, executable: false }),
            Err(WorldError::Denied(hint)) => Err(WorldError::Denied(hint)),
            Err(_) => self.list(path).map(|_| Stat { kind: FileKind::Folder, size: 0, executable: false }),
        }
    }

    fn read_link(&self, _path: &str) -> Result<String, WorldError> {
        Err(WorldError::WrongKind("not a link"))
    }

    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn env_all(&self) -> Vec<(String, String)> {
        self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn now(&self) -> Moment {
        Moment(1_700_000_000_000_000_000)
    }

    fn seed(&self) -> Seed {
        Seed::default()
    }

    fn run(&self, _command: &Command) -> Result<Output, WorldError> {
        Err(WorldError::Denied("commands need `--allow-exec`".to_owned()))
    }

    fn fetch(&self, _remote: &Remote) -> Result<Fetched, WorldError> {
        Err(WorldError::Denied("the network needs `--allow-net HOST`".to_owned()))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        let path = self.resolve(path)?;
        self.overlay.write(&path, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn memory_worlds_refuse_to_leave() {
        let world = MemoryWorld::new().file("a/b.yaml", "x");
        assert_eq!(&*world.read("a/../a/b.yaml").unwrap(), b"x");
        assert_eq!(&*world.read("/project/a/b.yaml").unwrap(), b"x");
        for path in ["../x", "/etc/passwd", "a/../../x", "/projectile/x"] {
            assert!(matches!(world.read(path), Err(WorldError::Denied(_))), "{path}");
        }
        assert_eq!(world.read("a/c"), Err(WorldError::NotFound));
        assert!(matches!(world.read("a"), Err(WorldError::WrongKind(_))));
    }

    #[test]
    fn writes_are_seen_by_later_reads() {
        let world = MemoryWorld::new().file("a/b", "x");
        world.write("a/c", b"new").unwrap();
        assert_eq!(&*world.read("a/c").unwrap(), b"new");
        let names: Vec<_> = world.list("a").unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
