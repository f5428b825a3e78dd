//! A world in which open texts of editors replace files, and no file on disk is read twice.
//!
//! The editor reports changes; until then, answers of the underlying world are cached.

use purlin_value::Seed;
use purlin_value::path;
use purlin_value::world::{Bounds, Command, Entry, Fetched, FileKind, Moment, Output, Remote, Stat, World, WorldError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The open texts by path.
#[derive(Default, Debug)]
pub struct Buffers {
    open: RwLock<HashMap<String, Arc<str>>>,
}

impl Buffers {
    /// The text that is open under a path.
    pub fn get(&self, path: &str) -> Option<Arc<str>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(&path::normalize(path)).cloned()
    }

    /// Opens or changes a text.
    pub fn set(&self, path: &str, text: &str) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(path::normalize(path), text.into());
    }

    /// Closes a text; the file on disk counts again.
    pub fn close(&self, path: &str) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&path::normalize(path));
    }

    /// All paths with an open text, sorted.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.open.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        paths.sort();
        paths
    }
}

type Answers<T> = Mutex<HashMap<String, Result<T, WorldError>>>;

/// A world with open texts on top.
pub struct Desk {
    below: Arc<dyn World>,
    buffers: Arc<Buffers>,
    reads: Answers<Arc<[u8]>>,
    heads: Answers<Arc<[u8]>>,
    lists: Answers<Vec<Entry>>,
    stats: Answers<Stat>,
}

/// Files up to this size are cached; larger ones are read again each time.
const KEPT_BYTES: usize = 256 << 10;

impl Desk {
    /// A world with these open texts on top.
    pub fn new(below: Arc<dyn World>, buffers: Arc<Buffers>) -> Self {
        let (reads, heads) = (Answers::default(), Answers::default());
        Desk { below, buffers, reads, heads, lists: Answers::default(), stats: Answers::default() }
    }

    /// Forgets a path and its parent folders.
    pub fn forget(&self, path: &str) {
        let path = self.key(path);
        lock(&self.reads).remove(&path);
        lock(&self.heads).remove(&path);
        let mut folder = path.as_str();
        loop {
            lock(&self.stats).remove(folder);
            lock(&self.lists).remove(folder);
            let parent = path::parent(folder);
            if parent == folder || folder.is_empty() {
                break;
            }
            folder = parent;
        }
    }

    /// Forgets all cached answers.
    pub fn forget_all(&self) {
        lock(&self.reads).clear();
        lock(&self.heads).clear();
        lock(&self.lists).clear();
        lock(&self.stats).clear();
    }

    fn key(&self, path: &str) -> String {
        let inside = path.strip_prefix(self.below.root()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        path::normalize(inside.map_or(path, |rest| rest.trim_start_matches('/')))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kept<T: Clone>(
    answers: &Answers<T>,
    key: String,
    ask: impl FnOnce() -> Result<T, WorldError>,
) -> Result<T, WorldError> {
    if let Some(answer) = lock(answers).get(&key) {
        return answer.clone();
    }
    let answer = ask();
    lock(answers).insert(key, answer.clone());
    answer
}

impl World for Desk {
    fn root(&self) -> &str {
        self.below.root()
    }

    fn here(&self) -> &str {
        self.below.here()
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        let key = self.key(path);
        if let Some(text) = self.buffers.get(&key) {
            return Ok(text.as_bytes().into());
        }
        if let Some(answer) = lock(&self.reads).get(&key) {
            return answer.clone();
        }
        let answer = self.below.read(path);
        if answer.as_ref().is_ok_and(|bytes| bytes.len() <= KEPT_BYTES) {
            lock(&self.reads).insert(key, answer.clone());
        }
        answer
    }

    fn head(&self, path: &str, most: usize) -> Result<Arc<[u8]>, WorldError> {
        let key = self.key(path);
        if let Some(text) = self.buffers.get(&key) {
            let bytes = text.as_bytes();
            return Ok(bytes.get(..most).unwrap_or(bytes).into());
        }
        kept(&self.heads, key, || self.below.head(path, most))
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        let key = self.key(path);
        let mut entries = kept(&self.lists, key.clone(), || self.below.list(path))?;
        // A text that was never saved exists nevertheless.
        for open in self.buffers.paths().iter().filter(|open| path::parent(open) == key) {
            let name = path::file_name(open);
            if !entries.iter().any(|entry| entry.name == name) {
                entries.push(Entry { name: name.to_owned(), kind: FileKind::File });
                entries.sort_by(|a, b| a.name.cmp(&b.name));
            }
        }
        Ok(entries)
    }

    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        let key = self.key(path);
        if let Some(text) = self.buffers.get(&key) {
            return Ok(Stat { kind: FileKind::File, size: text.len() as u64, executable: false });
        }
        kept(&self.stats, key, || self.below.stat(path))
    }

    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        self.below.read_link(path)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.below.env(name)
    }

    fn env_all(&self) -> Vec<(String, String)> {
        self.below.env_all()
    }

    fn user(&self) -> String {
        self.below.user()
    }

    fn program(&self, name: &str) -> Option<String> {
        self.below.program(name)
    }

    fn now(&self) -> Moment {
        self.below.now()
    }

    fn seed(&self) -> Seed {
        self.below.seed()
    }

    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        self.below.run(command)
    }

    fn run_within(&self, command: &Command, bounds: Bounds) -> Result<Output, WorldError> {
        self.below.run_within(command, bounds)
    }

    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.below.fetch(remote)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.below.write(path, bytes)?;
        self.forget(path);
        Ok(())
    }
}
