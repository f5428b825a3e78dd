//! What the variants of a project share: files, configurations brought into shape, and parts that were judged before.
//!
//! Profiles change few parts of a configuration, and copies share the parts that none of them has changed. A part is
//! recognised by its address: those that are looked for are kept here, so that no other part gets the same. It must not
//! know what is done with parts.

use crate::item::{Data, Item, View};
use crate::load::File;
use ecow::EcoString;
use purlin_model::schema::Kind;
use purlin_syntax::{Diagnostic, Sink};
use purlin_value::world::Stat;
use purlin_value::{FastMap, FastSet, Session, Value, WorldError};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The files that some variant has read, each with the problems that were found in it.
#[derive(Default)]
pub(crate) struct Shelf<'f> {
    files: RefCell<FastMap<EcoString, Shelved<'f>>>,
    /// Number of documents in them.
    documents: Cell<usize>,
    /// What is known of their contents.
    pub(crate) known: Rc<Known<'f>>,
}

/// A file, unless it could not be used.
#[derive(Clone)]
pub(crate) struct Shelved<'f> {
    pub(crate) file: Option<Rc<File<'f>>>,
    pub(crate) problems: Rc<[Diagnostic]>,
}

impl<'f> Shelf<'f> {
    pub(crate) fn get(&self, path: &str) -> Option<Shelved<'f>> {
        self.files.borrow().get(path).cloned()
    }

    pub(crate) fn keep(&self, path: &str, file: &Shelved<'f>) {
        self.files.borrow_mut().insert(path.into(), file.clone());
    }

    /// Numbers for so many documents. Returns the first.
    pub(crate) fn number(&self, documents: usize) -> usize {
        self.documents.replace(self.documents.get() + documents)
    }
}

/// What is known of the contents of files, whichever profiles are active.
#[derive(Default)]
pub(crate) struct Known<'f> {
    /// Documents without profiles in the shape that patches work on, by their numbers.
    normal: RefCell<FastMap<usize, Item<'f>>>,
    /// Their numbers of values.
    values: RefCell<FastMap<usize, u64>>,
    /// Artifacts with their defaults; whether images are built in a cluster decides about these.
    filled: RefCell<FastMap<(Part, bool), Item<'f>>>,
    pub(crate) marks: Marks,
}

impl<'f> Known<'f> {
    /// The number of values of a document without profiles.
    pub(crate) fn values(&self, document: usize, count: impl FnOnce() -> u64) -> u64 {
        *self.values.borrow_mut().entry(document).or_insert_with(count)
    }

    /// A document without profiles as patches see it.
    pub(crate) fn normal(&self, document: usize, shape: impl FnOnce() -> Item<'f>) -> Item<'f> {
        if let Some(known) = self.normal.borrow().get(&document) {
            return known.clone();
        }
        let shaped = shape();
        self.marks.keep_lists(shaped.view());
        self.normal.borrow_mut().insert(document, shaped.clone());
        shaped
    }

    /// Fills in the defaults of an artifact.
    pub(crate) fn fill(&self, artifact: &mut Item<'f>, in_cluster: bool, fill: impl FnOnce(&mut Item<'f>)) {
        let Some(part) = self.marks.part(artifact.view()) else { return fill(artifact) };
        if let Some(known) = self.filled.borrow().get(&(part, in_cluster)) {
            return artifact.clone_from(known);
        }
        fill(artifact);
        self.marks.keep(artifact.view());
        self.filled.borrow_mut().insert((part, in_cluster), artifact.clone());
    }
}

/// A part of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// As written: the number of a node.
    Node(u32),
    /// Opened for changes: the address of its entries.
    Entries(usize),
}

/// A question about a part whose answer depends on nothing else but what is named here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Judgement {
    /// Its keys and values have the right shape, for the rows of its kind in an edition.
    Keys(Kind, u16),
    /// Required and exclusive keys.
    Structure(Kind),
    /// The templates in it can be parsed.
    Templates(Kind),
    /// An artifact can be built in an environment.
    Builder(Option<&'static str>),
    /// The folder of an artifact is there, or named like none that is, from a place.
    Folder(Spot),
    /// The folder of an artifact is there, from a place.
    Context(Spot),
    /// The Dockerfile of an artifact is there, from a place, and its hooks can run.
    Dockerfile(Spot),
}

/// Where the relative paths of a configuration start: the number of its document, and whether another requires it.
pub(crate) type Spot = (usize, bool);

/// What is known of parts of configurations.
#[derive(Default)]
pub(crate) struct Marks {
    /// Addresses of parts that are kept.
    kept: RefCell<FastSet<usize>>,
    sound: RefCell<FastSet<(Judgement, Part)>>,
    values: RefCell<FastMap<(Part, Kind, usize), Value>>,
    stats: RefCell<FastMap<String, Result<Stat, WorldError>>>,
    /// Paths that are not there, each with one that is nearly the same.
    near: RefCell<FastMap<Spot, FastMap<String, Option<String>>>>,
}

impl Marks {
    /// A part that can be recognised: as it is written, or kept. What a profile has replaced is no such part.
    fn part(&self, view: View<'_, '_>) -> Option<Part> {
        match view {
            View::Node(node) => Some(Part::Node(node.number())),
            View::Item(_) => {
                let address = address(view)?;
                self.kept.borrow().contains(&address).then_some(Part::Entries(address))
            }
        }
    }

    /// The caller keeps the part.
    fn keep(&self, view: View<'_, '_>) {
        self.kept.borrow_mut().extend(address(view));
    }

    /// The items of all lists in a configuration, which the caller keeps.
    fn keep_lists(&self, root: View<'_, '_>) {
        let mut left = vec![root];
        while let Some(view) = left.pop() {
            left.extend(view.entries().map(|pair| pair.value));
            for item in view.all_items() {
                self.keep(item);
                left.push(item);
            }
        }
    }

    /// Judges a part, unless nothing was found in it before.
    pub(crate) fn judge(&self, question: Judgement, view: View<'_, '_>, sink: &Sink, judge: impl FnOnce()) {
        let Some(part) = self.part(view) else { return judge() };
        if self.sound.borrow().contains(&(question, part)) {
            return;
        }
        let before = sink.pushed();
        judge();
        if sink.pushed() == before {
            self.sound.borrow_mut().insert((question, part));
        }
    }

    /// The value of a part, if it was made before, with the paths in it from the same document.
    pub(crate) fn value(&self, view: View<'_, '_>, kind: Kind, document: usize) -> Option<Value> {
        self.values.borrow().get(&(self.part(view)?, kind, document)).cloned()
    }

    pub(crate) fn keep_value(&self, view: View<'_, '_>, kind: Kind, document: usize, value: &Value) {
        if let Some(part) = self.part(view) {
            self.values.borrow_mut().insert((part, kind, document), value.clone());
        }
    }

    /// The path that a missing one is nearly the same as: all variants are checked on one state of the disk.
    pub(crate) fn near(&self, spot: Spot, path: &str, find: impl FnOnce() -> Option<String>) -> Option<String> {
        if let Some(known) = self.near.borrow().get(&spot).and_then(|known| known.get(path)) {
            return known.clone();
        }
        let found = find();
        self.near.borrow_mut().entry(spot).or_default().insert(path.to_owned(), found.clone());
        found
    }

    fn stat(&self, session: &Session, path: &str) -> Result<Stat, WorldError> {
        if let Some(known) = self.stats.borrow().get(path) {
            return known.clone();
        }
        let stat = session.world.stat(path);
        self.stats.borrow_mut().insert(path.to_owned(), stat.clone());
        stat
    }
}

/// Judges a part, unless nothing was found in it in another variant.
pub(crate) fn judge(marks: Option<&Marks>, question: Judgement, view: View<'_, '_>, sink: &Sink, work: impl FnOnce()) {
    match marks {
        Some(marks) => marks.judge(question, view, sink, work),
        None => work(),
    }
}

/// What is at a path: all variants are checked on one state of the disk.
pub(crate) fn stat(marks: Option<&Marks>, session: &Session, path: &str) -> Result<Stat, WorldError> {
    match marks {
        Some(marks) => marks.stat(session, path),
        None => session.world.stat(path),
    }
}

/// The address of an opened map that was not replaced as a whole.
fn address(view: View<'_, '_>) -> Option<usize> {
    match view {
        View::Item(Item { data: Data::Map(entries), trail: None, .. }) => Some(Rc::as_ptr(entries).addr()),
        _ => None,
    }
}
