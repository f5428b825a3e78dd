//! The files of a run, kept so that each is read, decoded and parsed once, and the record of everything that was
//! requested from the world.
//!
//! Consecutive runs share it, so that files need not be read again. It knows nothing of the meaning of files.

use crate::meter::Allotment;
use crate::path;
use crate::world::WorldError;
use foldhash::fast::RandomState;
use purlin_syntax::{Diagnostic, FileId, Flavor, Limits, Moved, Source, Tree};
use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap as StdHashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The text of a file, and the problem with its encoding.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text, registered under the file's path.
    pub source: Arc<Source>,
    /// Why it is incomplete; not reported yet.
    pub problem: Option<Diagnostic>,
}

/// Something that a result depends on. A path outside the root is absolute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Read {
    /// The content of a file.
    File(String),
    /// The names in a folder.
    Folder(String),
    /// The existence and kind of a file or folder.
    Present(String),
    /// The absence of a file or folder.
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
    /// Number of entries in `bytes` from which on released ones are dropped.
    bytes_bound: usize,
    trees: HashMap<(FileId, Flavor), Arc<Tree>>,
    /// Files whose bytes are counted, with their sizes.
    counted: HashMap<String, u64>,
    total: u64,
    /// The highest total so far.
    peak: u64,
    /// Findings of searches through one text.
    findings: FileFindings,
}

/// With fewer entries, dropping released ones is not worth a search.
const FEW: usize = 64;

impl Kept {
    /// A `Weak` keeps the memory of its target: bytes are stored beside their counters. Released bytes no longer
    /// count, so that a repository may be larger than any of its projects.
    fn drop_unheld_bytes(&mut self) {
        let Kept { texts, bytes, counted, total, .. } = self;
        bytes.retain(|key, bytes| {
            let is_held = bytes.strong_count() > 0;
            if !is_held && !texts.contains_key(key) {
                *total = total.saturating_sub(counted.remove(key).unwrap_or(0));
            }
            is_held
        });
        self.bytes_bound = self.bytes.len().saturating_mul(2).max(FEW);
    }
}

/// By the kind of the finding, which is a type of its own, and the text.
type FileFindings = HashMap<(TypeId, FileId), Arc<dyn Any + Send + Sync>>;

/// Texts and trees that outlive a run, for programs that resolve the same projects again and again. Its owner must
/// report the files that have changed.
#[derive(Default, Debug)]
pub struct Shelf {
    texts: Mutex<HashMap<String, Text>>,
    trees: Mutex<HashMap<(FileId, Flavor), Arc<Tree>>>,
    findings: Mutex<FileFindings>,
}

impl Shelf {
    /// An empty shelf.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes a changed file. Runs that have read it keep the old content.
    pub fn forget(&self, path: &str) {
        let Some(text) = lock(&self.texts).remove(&path::normalize(path)) else { return };
        lock(&self.trees).retain(|(id, _), _| *id != text.source.id());
        lock(&self.findings).retain(|(_, id), _| *id != text.source.id());
    }

    fn has(&self, source: &Source) -> bool {
        lock(&self.texts).get(source.path()).is_some_and(|text| text.source.id() == source.id())
    }

    /// The files on it.
    pub fn ids(&self) -> HashSet<FileId> {
        lock(&self.texts).values().map(|text| text.source.id()).collect()
    }

    fn text(&self, key: &str) -> Option<Text> {
        lock(&self.texts).get(key).cloned()
    }

    fn keep_tree(&self, flavor: Flavor, tree: &Arc<Tree>) {
        // Only files that were read under a path can be reported as changed.
        if self.has(tree.source()) {
            lock(&self.trees).insert((tree.file(), flavor), tree.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files of one or several runs.
#[derive(Default, Debug)]
pub(crate) struct Files {
    root: String,
    shelf: Option<Arc<Shelf>>,
    /// For the files of a branch: those of its run.
    trunk: Option<Beside>,
    /// Bytes of files held by the branches of this run.
    beside: AtomicU64,
    kept: Mutex<Kept>,
    reads: Mutex<HashSet<Read>>,
    findings: Mutex<HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>>,
}

/// The files read by a branch.
pub(crate) struct HandedOver {
    texts: HashMap<String, Text>,
    counted: HashMap<String, u64>,
    trees: HashSet<(FileId, Flavor)>,
    reads: HashSet<Read>,
}

impl HandedOver {
    /// Whether a text is that of a registered file.
    pub(crate) fn is_file(&self, source: &Source) -> bool {
        self.texts.get(source.path()).is_some_and(|text| text.source.id() == source.id())
    }
}

/// Relation of a branch to its run.
#[derive(Debug)]
struct Beside {
    trunk: Arc<Files>,
    allotment: Arc<Allotment>,
    /// Bytes of files held by this branch, included in the total of all.
    held: AtomicU64,
}

impl Beside {
    /// Adds to the total bytes held by all branches; false if that is too much.
    fn count(&self, bytes: u64, limits: &Limits) -> bool {
        if self.allotment.is_for_one() {
            return true;
        }
        self.held.fetch_add(bytes, Ordering::Relaxed);
        let all = self.trunk.beside.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if all > limits.total_bytes {
            self.allotment.use_up();
        }
        all <= limits.total_bytes
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.trunk.beside.fetch_sub(*self.held.get_mut(), Ordering::Relaxed);
    }
}

impl Files {
    /// A finding of a search through files, computed once.
    pub(crate) fn finding<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), about.to_owned());
        let known = lock(&self.findings).get(&key).cloned();
        if let Some(found) = known.and_then(|known| known.downcast::<T>().ok()) {
            return found;
        }
        let found = Arc::new(find());
        lock(&self.findings).insert(key, found.clone());
        found
    }

    /// A finding of a search through files, computed once for a run and its branches.
    pub(crate) fn finding_of_trunk<T: Any + Send + Sync>(&self, about: &str, find: impl FnOnce() -> T) -> Arc<T> {
        self.trunk.as_ref().map_or(self, |beside| &beside.trunk).finding(about, find)
    }

    /// A finding of a search through one text, computed once.
    pub(crate) fn finding_in<T: Any + Send + Sync>(&self, source: &Source, find: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), source.id());
        let own = self.kept().findings.get(&key).cloned();
        let known = own.or_else(|| lock(&self.shelf.as_ref()?.findings).get(&key).cloned());
        if let Some(found) = known.and_then(|known| known.downcast::<T>().ok()) {
            return found;
        }
        let found = Arc::new(find());
        self.kept().findings.insert(key, found.clone());
        if let Some(shelf) = self.shelf.as_ref().filter(|shelf| shelf.has(source)) {
            lock(&shelf.findings).insert(key, found.clone());
        }
        found
    }

    /// No files yet, in a world with this root.
    pub(crate) fn new(root: &str) -> Self {
        Files { root: root.to_owned(), ..Files::default() }
    }

    /// The same, with the files read by earlier runs.
    pub(crate) fn with_shelf(root: &str, shelf: Arc<Shelf>) -> Self {
        Files { root: root.to_owned(), shelf: Some(shelf), ..Files::default() }
    }

    /// No files yet, for a branch of the run that owns these files.
    pub(crate) fn branch(self: &Arc<Self>, allotment: Arc<Allotment>) -> Self {
        let trunk = self.trunk.as_ref().map_or(self, |beside| &beside.trunk).clone();
        let trunk = Some(Beside { trunk, allotment, held: AtomicU64::new(0) });
        Files { root: self.root.clone(), trunk, ..Files::default() }
    }

    /// Whether they are those of a branch.
    pub(crate) fn is_branch(&self) -> bool {
        self.trunk.is_some()
    }

    /// Whether the highest total of a branch fits beside the bytes held here.
    pub(crate) fn has_room_for(&self, branch: &Files, limits: &Limits) -> bool {
        let peak = branch.kept().peak;
        self.kept().total.saturating_add(peak) <= limits.total_bytes
    }

    /// Releases everything, and returns the part that another run can take over.
    pub(crate) fn hand_over(&self) -> HandedOver {
        lock(&self.findings).clear();
        let Kept { texts, counted, trees, .. } = std::mem::take(&mut *self.kept());
        let reads = std::mem::take(&mut *lock(&self.reads));
        HandedOver { texts, counted, trees: trees.into_keys().collect(), reads }
    }

    /// The files here that are identical to those of a branch, by their ids in the branch.
    pub(crate) fn same_as(&self, branch: &HandedOver) -> StdHashMap<FileId, Arc<Source>> {
        let kept = self.kept();
        let same = branch.texts.iter().filter_map(|(key, text)| {
            let here = &kept.texts.get(key)?.source;
            (here.text() == text.source.text()).then(|| (text.source.id(), here.clone()))
        });
        same.collect()
    }

    /// Takes over the files read by a branch; its texts and trees have moved.
    pub(crate) fn adopt(&self, branch: HandedOver, moved: &Moved) {
        lock(&self.reads).extend(branch.reads);
        let mut kept = self.kept();
        for (key, Text { source, mut problem }) in branch.texts {
            if kept.texts.contains_key(&key) {
                continue;
            }
            let Some(source) = moved.source(source.id()).cloned() else { continue };
            if let Some(bytes) = branch.counted.get(&key).filter(|_| !kept.counted.contains_key(&key)) {
                kept.total = kept.total.saturating_add(*bytes);
                kept.counted.insert(key.clone(), *bytes);
            }
            problem.iter_mut().flat_map(Diagnostic::spans_mut).for_each(|span| *span = moved.span(*span));
            kept.texts.insert(key, Text { source, problem });
        }
        for (from, tree) in moved.trees() {
            if branch.trees.contains(&(*from, tree.flavor())) {
                kept.trees.insert((tree.file(), tree.flavor()), tree.clone());
            }
        }
    }

    /// The text of a file that an earlier run has read; from now on it counts as read by this one too.
    pub(crate) fn shelved(&self, key: &str) -> Option<Text> {
        let text = self.shelf.as_ref()?.text(key)?;
        self.note(Read::File(key.to_owned()));
        self.kept().texts.insert(key.to_owned(), text.clone());
        Some(text)
    }

    /// The files whose text was read.
    pub(crate) fn ids(&self) -> Vec<FileId> {
        self.kept().texts.values().map(|text| text.source.id()).collect()
    }

    /// The canonical spelling of a path: relative to the root if it is inside it.
    pub(crate) fn key(&self, path: &str) -> String {
        let inside = path.strip_prefix(&self.root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        path::normalize(inside.map_or(path, |rest| rest.trim_start_matches('/')))
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text> {
        self.kept().texts.get(key).cloned()
    }

    pub(crate) fn keep_text(&self, key: String, text: Text) {
        if let Some(shelf) = &self.shelf {
            lock(&shelf.texts).insert(key.clone(), text.clone());
        }
        self.kept().texts.insert(key, text);
    }

    pub(crate) fn bytes(&self, key: &str) -> Option<Arc<[u8]>> {
        self.kept().bytes.get(key).and_then(Weak::upgrade)
    }

    pub(crate) fn keep_bytes(&self, key: String, bytes: &Arc<[u8]>) {
        let mut kept = self.kept();
        if kept.bytes.len() >= kept.bytes_bound {
            kept.drop_unheld_bytes();
        }
        kept.bytes.insert(key, Arc::downgrade(bytes));
    }

    /// Frees the bytes of released files, and stops counting them.
    pub(crate) fn drop_unheld_bytes(&self) {
        self.kept().drop_unheld_bytes();
    }

    pub(crate) fn tree(&self, id: FileId, flavor: Flavor) -> Option<Arc<Tree>> {
        let own = self.kept().trees.get(&(id, flavor)).cloned();
        own.or_else(|| lock(&self.shelf.as_ref()?.trees).get(&(id, flavor)).cloned())
    }

    pub(crate) fn keep_tree(&self, flavor: Flavor, tree: &Arc<Tree>) {
        if let Some(shelf) = &self.shelf {
            shelf.keep_tree(flavor, tree);
        }
        self.kept().trees.insert((tree.file(), flavor), tree.clone());
    }

    /// Counts a file's bytes against the limits, once.
    pub(crate) fn account(&self, key: &str, bytes: u64, limits: &Limits) -> Result<(), WorldError> {
        if bytes > limits.file_bytes {
            let allowed = limits.file_bytes;
            return Err(WorldError::TooLarge(format!("has {bytes} bytes, more than the {allowed} allowed")));
        }
        let mut kept = self.kept();
        if !kept.counted.contains_key(key) {
            kept.counted.insert(key.to_owned(), bytes);
            kept.total = kept.total.saturating_add(bytes);
            kept.peak = kept.peak.max(kept.total);
            if self.trunk.as_ref().is_some_and(|beside| !beside.count(bytes, limits)) {
                return Err(WorldError::TooMuch("other projects hold too much at the same time".to_owned()));
            }
        }
        if kept.total > limits.total_bytes {
            let allowed = limits.total_bytes;
            return Err(WorldError::TooMuch(format!("all files together have more than the {allowed} bytes allowed")));
        }
        Ok(())
    }

    /// Drops the cached content of a file that is about to be written.
    pub(crate) fn forget(&self, path: &str) {
        let key = self.key(path);
        let mut kept = self.kept();
        kept.bytes.remove(&key);
        kept.texts.remove(&key);
    }

    /// Drops all cached content of a changed file; its size is counted with its next text.
    pub(crate) fn drop_content(&self, path: &str) {
        let key = self.key(path);
        let mut kept = self.kept();
        kept.bytes.remove(&key);
        if let Some(text) = kept.texts.remove(&key) {
            kept.trees.retain(|(id, _), _| *id != text.source.id());
            kept.findings.retain(|(_, id), _| *id != text.source.id());
        }
        if let Some(bytes) = kept.counted.remove(&key) {
            kept.total = kept.total.saturating_sub(bytes);
        }
    }

    /// Records a read.
    pub(crate) fn note(&self, read: Read) {
        lock(&self.reads).insert(read);
    }

    /// All reads so far, sorted.
    pub(crate) fn reads(&self) -> BTreeSet<Read> {
        lock(&self.reads).iter().cloned().collect()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_nobody_holds_are_freed() {
        let files = Files::new("/");
        let held: Arc<[u8]> = vec![0; 8].into();
        files.keep_bytes("held".to_owned(), &held);
        for number in 0..1_000 {
            files.keep_bytes(number.to_string(), &vec![0; 8].into());
        }
        assert!(files.kept().bytes.len() <= FEW + 1);
        files.drop_unheld_bytes();
        assert_eq!(files.kept().bytes.len(), 1);
        assert!(files.bytes("held").is_some());
    }

    #[test]
    fn only_what_is_held_counts() {
        let files = Files::new("/");
        let limits = Limits { total_bytes: 20, ..Limits::default() };
        let read = |key: &str| {
            let bytes: Arc<[u8]> = vec![0; 8].into();
            files.keep_bytes(key.to_owned(), &bytes);
            files.account(key, 8, &limits).map(|()| bytes)
        };
        let held = (read("a"), read("b"));
        assert!(held.0.is_ok() && held.1.is_ok() && read("c").is_err(), "three are more than allowed");
        drop(held);
        files.drop_unheld_bytes();
        assert!(read("d").is_ok(), "the first three are gone");
    }
}
