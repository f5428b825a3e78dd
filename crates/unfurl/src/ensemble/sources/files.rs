//! The files of an ensemble and its project, each read once.

use indexmap::IndexMap;
use purlin_syntax::{Flavor, Tree};
use purlin_value::{Origin, Session, path};
use std::cell::RefCell;
use std::sync::Arc;

/// Files read so far, in the order of requests.
pub struct Files<'s> {
    /// The session they are read in.
    pub session: &'s Session,
    trees: RefCell<IndexMap<String, Option<Arc<Tree>>>>,
    /// Whether problems of a file are left for later.
    quiet: bool,
}

impl<'s> Files<'s> {
    /// No files yet.
    pub fn new(session: &'s Session) -> Self {
        Files { session, trees: RefCell::default(), quiet: false }
    }

    /// No files yet; reports nothing, for a first look at a project.
    pub fn quiet(session: &'s Session) -> Self {
        Files { quiet: true, ..Files::new(session) }
    }

    /// A file as a tree; a file that cannot be read is reported. None if it does not exist.
    pub fn tree(&self, file: &str) -> Option<Arc<Tree>> {
        let file = path::normalize(file);
        if let Some(known) = self.trees.borrow().get(&file) {
            return known.clone();
        }
        let tree = self.session.world.exists(&file).then(|| self.read(&file)).flatten();
        self.trees.borrow_mut().insert(file, tree.clone());
        tree
    }

    fn read(&self, file: &str) -> Option<Arc<Tree>> {
        let session = self.session;
        if self.quiet {
            let source = session.read_text(file).ok()?;
            return Some(session.sources.add(purlin_syntax::yaml::parse(source, Flavor::Core, &session.limits)));
        }
        session.read_yaml(file, Flavor::Core).map_err(|diagnostic| session.sink.push(diagnostic)).ok()
    }

    /// A named text from another source, as a tree.
    pub fn text(&self, name: &str, text: &str) -> Arc<Tree> {
        if let Some(Some(known)) = self.trees.borrow().get(name) {
            return known.clone();
        }
        let source = self.session.sources.insert(name, text);
        let tree = self.session.parse_yaml(source, Flavor::Core);
        self.trees.borrow_mut().insert(name.to_owned(), Some(tree.clone()));
        tree
    }

    /// All that were read.
    pub fn trees(&self) -> Vec<Arc<Tree>> {
        self.trees.borrow().values().flatten().cloned().collect()
    }

    /// The folder of the file a value is written in.
    pub fn folder_of(&self, origin: Origin) -> Option<String> {
        let span = self.session.origins.span(origin, &self.session.sources)?;
        Some(path::parent(self.session.sources.get(span.file)?.path()).to_owned())
    }
}
