//! The registry of all files of a run: append-only, shared by all threads.
//!
//! It assigns file ids, and numbers the nodes of all trees consecutively, so that a global node number identifies a
//! location in four bytes.

use crate::diagnostic::Diagnostic;
use crate::rules;
use crate::source::{FileId, Source, Span, clamp};
use crate::tree::Tree;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

#[derive(Default, Debug)]
struct Inner {
    sources: Vec<Option<Arc<Source>>>,
    /// Sorted by base, since bases only grow.
    trees: Vec<Arc<Tree>>,
    /// The last tree of each file.
    by_file: HashMap<FileId, Arc<Tree>>,
    by_path: ByPath,
    next: u32,
    /// Parts of files that are secrets.
    hidden: Vec<Span>,
    /// Files that registries apart begin with.
    shared: Vec<Arc<Tree>>,
    /// Those of them that were asked for: only they count as read.
    asked: HashSet<FileId>,
    /// Number of places at the start that belong to the registry this one is apart from.
    mirrored: usize,
}

impl Inner {
    /// A source of another registry, moved to this one; a released one stays an empty slot.
    fn adopt_source(
        &mut self,
        source: Option<Arc<Source>>,
        known: &HashMap<FileId, Arc<Source>>,
    ) -> Option<Arc<Source>> {
        let here = source.as_ref().and_then(|source| known.get(&source.id()).cloned());
        if here.is_some() {
            return here;
        }
        let id = FileId(clamp(self.sources.len()));
        let source = source.map(|source| Arc::new(source.with_id(id)));
        self.sources.push(source.clone());
        source
    }

    /// A tree of another registry, moved to this one; for a file that was parsed here as well, the tree of this one.
    fn adopt_tree(&mut self, tree: Arc<Tree>, source: Arc<Source>) -> Arc<Tree> {
        let here = self.by_file.get(&source.id()).filter(|here| here.flavor() == tree.flavor());
        if let Some(here) = here {
            return here.clone();
        }
        let mut tree = Arc::try_unwrap(tree).unwrap_or_else(|shared| Tree::clone(&shared));
        tree.move_to(source);
        self.add(tree)
    }

    /// Registers a tree, numbering its nodes.
    fn add(&mut self, mut tree: Tree) -> Arc<Tree> {
        tree.base = self.next;
        self.next = self.next.saturating_add(clamp(tree.len()));
        let tree = Arc::new(tree);
        self.trees.push(tree.clone());
        self.by_file.insert(tree.file(), tree.clone());
        tree
    }
}

/// Index from paths to files, over the files registered so far that were indexed.
#[derive(Default, Debug)]
struct ByPath {
    ids: HashMap<String, Vec<FileId>>,
    seen: usize,
}

/// A point in the history of a registry.
#[derive(Clone, Debug)]
pub struct Mark {
    sources: usize,
    trees: usize,
}

/// Maps a source's path to the one shown in messages; `None` if it is the same.
type Shown = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The new locations of the files of a registry that was merged into another one.
#[derive(Default, Debug)]
pub struct Moved {
    /// By their number in the other registry; `None` for a released file.
    sources: Vec<Option<Arc<Source>>>,
    /// Trees that were moved along, each with its file in the other registry.
    trees: Vec<(FileId, Arc<Tree>)>,
}

impl Moved {
    /// The file here for one of the other registry.
    pub fn source(&self, id: FileId) -> Option<&Arc<Source>> {
        self.sources.get(id.0 as usize)?.as_ref()
    }

    /// The trees that were moved along, each with its file in the other registry.
    pub fn trees(&self) -> &[(FileId, Arc<Tree>)] {
        &self.trees
    }

    /// The same bytes in the file here.
    pub fn span(&self, span: Span) -> Span {
        self.source(span.file).map_or(span, |source| Span { file: source.id(), ..span })
    }
}

/// All files read so far.
#[derive(Default)]
pub struct Sources {
    inner: RwLock<Inner>,
    shown: OnceLock<Arc<Shown>>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Sources {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry with nothing but the shared files, which shows paths as this one does, for work that may be adopted
    /// later.
    pub fn apart(&self) -> Self {
        let apart = Sources { inner: RwLock::new(self.shared_alone()), shown: OnceLock::new() };
        if let Some(shown) = self.shown.get() {
            let _ = apart.shown.set(shown.clone());
        }
        apart
    }

    /// The shared files at the same places, and their trees with the same numbers.
    fn shared_alone(&self) -> Inner {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let mut alone = Inner { shared: inner.shared.clone(), ..Inner::default() };
        for tree in &inner.shared {
            let place = tree.file().0 as usize;
            alone.mirrored = alone.mirrored.max(place + 1);
            alone.sources.resize(alone.mirrored, None);
            if let Some(slot) = alone.sources.get_mut(place) {
                *slot = Some(tree.source().clone());
            }
            alone.by_file.insert(tree.file(), tree.clone());
            alone.next = alone.next.max(tree.base().saturating_add(clamp(tree.len())));
        }
        alone.trees.clone_from(&inner.shared);
        alone
    }

    /// Shares the tree of a file of this registry, for good: registries apart begin with it, so that what was read from
    /// it holds for all of them. To be called before there are any. `tree` comes from [`Sources::add`].
    pub fn share(&self, tree: &Arc<Tree>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if !inner.shared.iter().any(|known| known.file() == tree.file()) {
            inner.shared.push(tree.clone());
            inner.shared.sort_by_key(|tree| tree.base());
        }
    }

    /// The shared tree of the file at a path, which counts as read from now on.
    pub fn shared(&self, path: &str) -> Option<Arc<Tree>> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let tree = inner.shared.iter().find(|tree| tree.source().path() == path).cloned()?;
        inner.asked.insert(tree.file());
        Some(tree)
    }

    /// Whether the file at a path is shared.
    pub fn has_shared(&self, path: &str) -> bool {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.shared.iter().any(|tree| tree.source().path() == path)
    }

    /// Whether a file is shared.
    pub fn is_shared(&self, file: FileId) -> bool {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.shared.iter().any(|tree| tree.file() == file)
    }

    /// Takes over everything in another registry, in its order, as if it had been registered here. `known` maps files
    /// of the other registry to identical ones here.
    pub fn adopt(&self, other: &Sources, known: &HashMap<FileId, Arc<Source>>) -> Moved {
        let other = std::mem::take(&mut *other.inner.write().unwrap_or_else(PoisonError::into_inner));
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let mut moved = Moved { sources: Vec::with_capacity(other.sources.len()), trees: Vec::new() };
        for (place, source) in other.sources.into_iter().enumerate() {
            let is_here = place < other.mirrored;
            moved.sources.push(if is_here { source } else { inner.adopt_source(source, known) });
        }
        // Only the list of trees refers to them now, so that they are moved and not copied.
        drop((other.by_file, other.shared));
        for tree in other.trees {
            let from = tree.file();
            if (from.0 as usize) < other.mirrored {
                moved.trees.push((from, tree));
                continue;
            }
            let Some(source) = moved.source(from).cloned() else { continue };
            let tree = inner.adopt_tree(tree, source);
            moved.trees.push((from, tree));
        }
        inner.hidden.extend(other.hidden.into_iter().map(|span| moved.span(span)));
        inner.asked.extend(other.asked);
        moved
    }

    /// Sets how messages name sources, for all printers. The first call wins.
    pub fn show_as(&self, shown: impl Fn(&str) -> Option<String> + Send + Sync + 'static) {
        let _ = self.shown.set(Arc::new(shown));
    }

    /// A path as messages show it.
    pub fn shown(&self, path: &str) -> String {
        self.shown.get().and_then(|shown| shown(path)).unwrap_or_else(|| path.to_owned())
    }

    /// Registers a text under a path.
    pub fn insert(&self, path: &str, text: impl Into<Arc<str>>) -> Arc<Source> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let id = FileId(clamp(inner.sources.len()));
        let source = Arc::new(Source::new(id, path, text));
        inner.sources.push(Some(source.clone()));
        source
    }

    /// A text that was registered under a path before. The index of paths is built on first use.
    pub fn known(&self, path: &str, text: &str) -> Option<Arc<Source>> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let Inner { sources, by_path, .. } = &mut *inner;
        for source in sources.get(by_path.seen..).unwrap_or_default().iter().flatten() {
            by_path.ids.entry(source.path().to_owned()).or_default().push(source.id());
        }
        by_path.seen = sources.len();
        let ids = by_path.ids.get(path)?;
        let all = ids.iter().filter_map(|id| sources.get(id.0 as usize)?.as_ref());
        all.into_iter().find(|source| source.text() == text).cloned()
    }

    /// Location of a value's key, which is right before it: `key: value`, or `KEY=value` in a `.env` file.
    pub fn key_before(&self, key: &str, value: Span) -> Option<Span> {
        let source = self.get(value.file)?;
        let before = source.text().get(..value.start as usize)?;
        let start = before.rfind(key)?;
        let end = start + key.len();
        let is_key = before.get(end..)?.trim_start_matches(['"', '\'']).trim_start().starts_with([':', '=']);
        is_key.then(|| source.span(start, end))
    }

    /// All texts, in order of registration.
    pub fn all(&self) -> Vec<Arc<Source>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.sources.iter().flatten().cloned().collect()
    }

    /// Reserves ids for sources that several threads will read; returns the first of them.
    pub fn reserve(&self, count: usize) -> FileId {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let first = inner.sources.len();
        inner.sources.resize(first + count, None);
        FileId(clamp(first))
    }

    /// Registers the tree of a source, numbering its nodes.
    pub fn add(&self, tree: Tree) -> Arc<Tree> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner).add(tree)
    }

    /// Releases files that are no longer needed. Their ids are not reused; lookups treat them as unknown files.
    pub fn release(&self, ids: &HashSet<FileId>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if let Some(place) = inner.sources.get_mut(id.0 as usize) {
                *place = None;
            }
        }
        inner.trees.retain(|tree| !ids.contains(&tree.file()));
        inner.by_file.retain(|file, _| !ids.contains(file));
        inner.hidden.retain(|span| !ids.contains(&span.file));
    }

    /// The current size, for [`Sources::release_since`].
    pub fn mark(&self) -> Mark {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        Mark { sources: inner.sources.len(), trees: inner.trees.len() }
    }

    /// The texts that came after a mark.
    pub fn since(&self, mark: &Mark) -> Vec<Arc<Source>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.sources.iter().skip(mark.sources).flatten().cloned().collect()
    }

    /// Like [`Sources::release`] for files that came after a mark, at the cost of what came since.
    pub fn release_since(&self, mark: &Mark, gone: &HashSet<FileId>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        for place in inner.sources.iter_mut().skip(mark.sources) {
            place.take_if(|source| gone.contains(&source.id()));
        }
        gone.iter().for_each(|id| drop(inner.by_file.remove(id)));
        let first = mark.trees.min(inner.trees.len());
        let late = inner.trees.split_off(first);
        inner.trees.extend(late.into_iter().filter(|tree| !gone.contains(&tree.file())));
    }

    /// Number of nodes numbered so far.
    pub fn numbered(&self) -> u32 {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Marks a part of a file as secret, so that no excerpt shows it.
    pub fn hide(&self, span: Span) {
        self.inner.write().unwrap_or_else(PoisonError::into_inner).hidden.push(span);
    }

    /// The parts of a file that are secrets.
    pub fn hidden(&self, id: FileId) -> Vec<Span> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.hidden.iter().filter(|span| span.file == id).copied().collect()
    }

    /// The source with an id.
    pub fn get(&self, id: FileId) -> Option<Arc<Source>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.sources.get(id.0 as usize).cloned().flatten()
    }

    /// The span of the node with a number, as [`crate::tree::Node::number`] gave it.
    pub fn node_span(&self, number: u32) -> Option<Span> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let at = inner.trees.partition_point(|tree| tree.base() <= number).checked_sub(1)?;
        // Empty trees share their base with the next one; the last tree whose base is not above the number is the
        // right one.
        let tree = inner.trees.get(at)?;
        tree.node(number - tree.base()).map(|node| node.span())
    }

    /// Applies a function to the tree of a file, if it was parsed.
    pub fn with_tree<T>(&self, file: FileId, read: impl FnOnce(&Tree) -> T) -> Option<T> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let tree = inner.by_file.get(&file).cloned();
        drop(inner);
        tree.map(|tree| read(&tree))
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).sources.len()
    }

    /// Number of paths: a text made from a file is registered under the path of the file.
    pub fn paths(&self) -> usize {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let is_unread = |id: FileId| inner.shared.iter().any(|tree| tree.file() == id) && !inner.asked.contains(&id);
        let read = inner.sources.iter().flatten().filter(|source| !is_unread(source.id()));
        let paths: HashSet<&str> = read.map(|source| source.path()).collect();
        paths.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Decodes the bytes of a file. Invalid UTF-8 is reported and replaced.
pub fn decode(bytes: &[u8]) -> (String, Option<(usize, &'static str)>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(error) => {
            let what = match bytes {
                [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "this file is UTF-16; only UTF-8 is read",
                _ => "this byte is not UTF-8",
            };
            (String::from_utf8_lossy(bytes).into_owned(), Some((error.valid_up_to(), what)))
        }
    }
}

/// The diagnostic for a problem found by [`decode`].
pub fn encoding_problem(source: &Source, at: usize, what: &str) -> Diagnostic {
    Diagnostic::at(&rules::ENCODING, source.span(at, at + 1), what).hint("save the file as UTF-8")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::scalar::Flavor;
    use crate::{Limits, yaml};

    fn read(sources: &Sources, path: &str, text: &str) -> Arc<Tree> {
        let source = sources.insert(path, text);
        sources.add(yaml::parse(source, Flavor::Core, &Limits::default()))
    }

    #[test]
    fn shared_files_are_the_same_in_all_registries() {
        let trunk = Sources::new();
        read(&trunk, "first.yaml", "a: 1\n");
        let shared = read(&trunk, "shared.yaml", "b: [2, 3]\n");
        trunk.share(&shared);
        read(&trunk, "later.yaml", "c: 4\n");
        let branches = [trunk.apart(), trunk.apart().apart()];
        for (number, branch) in branches.iter().enumerate() {
            let seen = branch.shared("shared.yaml").unwrap();
            assert!(Arc::ptr_eq(&seen, &shared) && branch.is_shared(shared.file()));
            assert!(branch.shared("first.yaml").is_none() && branch.get(FileId(0)).is_none());
            let own = read(branch, &format!("own-{number}.yaml"), "d: 5\n");
            // Numbers of nodes and files mean the same in both.
            let item = shared.root().unwrap().get("b").unwrap();
            assert_eq!(branch.node_span(item.number()), Some(item.span()));
            assert_eq!(branch.node_span(own.root().unwrap().number()), own.root().map(|root| root.span()));
        }
        let places = trunk.len();
        assert_eq!(trunk.paths(), 2, "nobody has asked for the shared file");
        for (number, branch) in branches.iter().enumerate() {
            let moved = trunk.adopt(branch, &HashMap::new());
            assert_eq!(moved.source(shared.file()).map(|source| source.id()), Some(shared.file()));
            // Places before the shared file are not taken over.
            assert_eq!(trunk.len(), places + number + 1);
            let own = trunk.known(&format!("own-{number}.yaml"), "d: 5\n").unwrap();
            assert_eq!(own.id(), FileId(clamp(places + number)));
        }
        assert_eq!(trunk.paths(), 5);
        assert_eq!(trunk.all().iter().filter(|source| source.path() == "shared.yaml").count(), 1);
    }
}
