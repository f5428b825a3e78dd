//! The files of a run, kept so that each is read, decoded and parsed once, and the record of everything that was asked
//! of the world.
//!
//! Runs that follow each other share it: what an earlier one has read need not be read again. It knows nothing of what
//! files mean.

use crate::path;
use crate::world::WorldError;
use foldhash::fast::RandomState;
use purlin_syntax::{Diagnostic, FileId, Flavor, Limits, Source, Tree};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The text of a file, and what is wrong with its encoding.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text, registered under the file's path.
    pub source: Arc<Source>,
    /// Why it is not the whole truth; it has not been reported.
    pub problem: Option<Diagnostic>,
}

/// Something that an answer depends on. A path that leaves the root is absolute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Read {
    /// The content of a file.
    File(String),
    /// The names in a folder.
    Folder(String),
    /// That something is there, and what it is.
    Present(String),
    /// That nothing is there.
    Absent(String),
    /// An environment variable.
    Variable(String),
    /// The whole environment.
    Environment,
}

type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
type HashSet<T> = std::collections::HashSet<T, RandomState>;

#[derive(Default, Debug)]
struct Kept {
    texts: HashMap<String, Text>,
    bytes: HashMap<String, Weak<[u8]>>,
    trees: HashMap<(FileId, Flavor), Arc<Tree>>,
    /// Files whose bytes count already.
    counted: HashSet<String>,
    total: u64,
}

/// The files of one or several runs.
#[derive(Default, Debug)]
pub(crate) struct Files {
    root: String,
    kept: Mutex<Kept>,
    reads: Mutex<HashSet<Read>>,
}

impl Files {
    /// Nothing read yet, in a world with this root.
    pub(crate) fn new(root: &str) -> Self {
        Files { root: root.to_owned(), ..Files::default() }
    }

    /// The one spelling of a path: relative to the root where it lies there.
    pub(crate) fn key(&self, path: &str) -> String {
        let inside = path.strip_prefix(&self.root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        path::normalize(inside.map_or(path, |rest| rest.trim_start_matches('/')))
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text> {
        self.kept().texts.get(key).cloned()
    }

    pub(crate) fn keep_text(&self, key: String, text: Text) {
        self.kept().texts.insert(key, text);
    }

    pub(crate) fn bytes(&self, key: &str) -> Option<Arc<[u8]>> {
        self.kept().bytes.get(key).and_then(Weak::upgrade)
    }

    pub(crate) fn keep_bytes(&self, key: String, bytes: &Arc<[u8]>) {
        self.kept().bytes.insert(key, Arc::downgrade(bytes));
    }

    pub(crate) fn tree(&self, id: FileId, flavor: Flavor) -> Option<Arc<Tree>> {
        self.kept().trees.get(&(id, flavor)).cloned()
    }

    pub(crate) fn keep_tree(&self, flavor: Flavor, tree: &Arc<Tree>) {
        self.kept().trees.insert((tree.file(), flavor), tree.clone());
    }

    /// Counts a file's bytes against the limits, once.
    pub(crate) fn account(&self, key: &str, bytes: u64, limits: &Limits) -> Result<(), WorldError> {
        if bytes > limits.file_bytes {
            let allowed = limits.file_bytes;
            return Err(WorldError::TooLarge(format!("has {bytes} bytes, more than the {allowed} allowed")));
        }
        let mut kept = self.kept();
        if kept.counted.insert(key.to_owned()) {
            kept.total = kept.total.saturating_add(bytes);
        }
        if kept.total > limits.total_bytes {
            let allowed = limits.total_bytes;
            return Err(WorldError::TooMuch(format!("all files together have more than the {allowed} bytes allowed")));
        }
        Ok(())
    }

    /// Forgets what was read of a file that is written now.
    pub(crate) fn forget(&self, path: &str) {
        let key = self.key(path);
        let mut kept = self.kept();
        kept.bytes.remove(&key);
        kept.texts.remove(&key);
    }

    /// Notes that something was asked.
    pub(crate) fn note(&self, read: Read) {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).insert(read);
    }

    /// Everything that was asked so far, sorted.
    pub(crate) fn reads(&self) -> BTreeSet<Read> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
