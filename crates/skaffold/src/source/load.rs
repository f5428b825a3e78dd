//! Reads files: each one once, whatever the number of references to it, parsed, checked and upgraded.
//!
//! The first phase. It knows files, documents and editions; it must not know profiles or dependencies between files.

use crate::again::{Known, Shelf, Shelved};
use crate::check::Check;
use crate::editions::{self, Edition, LATEST};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::forest::Forest;
use crate::item::{Data, Entry, Form, Item, View};
use crate::modules::{self, ModuleEntry};
use crate::{rules, upgrade};
use ecow::EcoString;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, MergeKeys, Node, Severity, Sink, Source, Span, Tree, sources, tree};
use purlin_value::world::FileKind;
use purlin_value::{FastMap, Session, Text, WorldError, path};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Support for the founding design's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// As the tool shipped: `modules` is refused.
    Shipped,
    /// As the tool shipped, and the founding design.
    Native,
}

/// A file with its documents.
pub struct File<'f> {
    /// Number of its first document among all documents of the run; no other file has the same.
    pub first: usize,
    /// Full path; `-` for standard input.
    pub path: EcoString,
    /// Full path of the folder that relative paths start from.
    pub folder: EcoString,
    /// The text.
    pub source: Arc<Source>,
    /// Its documents, in order; fewer than written if some could not be read.
    pub documents: Vec<Document<'f>>,
    /// What other variants of the project have found out, if there are any.
    pub(crate) known: Option<Rc<Known<'f>>>,
    /// The positions of documents by name, computed on first use for a file of many documents.
    by_name: OnceCell<FastMap<EcoString, Vec<usize>>>,
    /// The names of all profiles of its documents, computed on first use.
    profiles: OnceCell<BTreeSet<EcoString>>,
}

/// Up to this number, documents are searched one by one.
const FEW_DOCUMENTS: usize = 8;

/// The places of some documents of a file, in order.
#[derive(Clone)]
pub enum Picked {
    /// A row of neighbours.
    Range(std::ops::Range<usize>),
    /// Others.
    List(std::vec::IntoIter<usize>),
}

impl Iterator for Picked {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Picked::Range(range) => range.next(),
            Picked::List(list) => list.next(),
        }
    }
}

impl<'f> File<'f> {
    /// The documents selected by a list of names. An empty list selects all of a file, except modules written inside a
    /// document: those are reached through it.
    pub fn picked(&self, names: &[EcoString]) -> Picked {
        let all = || self.documents.iter().map(|document| document.index);
        match names {
            [] if self.documents.iter().all(|document| document.owner.is_none()) => {
                Picked::Range(0..self.documents.len())
            }
            [] => list(self.documents.iter().filter(|d| d.owner.is_none()).map(|d| d.index).collect()),
            // One name of a file with one document is by far the most common.
            [name] if self.documents.len() == 1 => Picked::Range(0..usize::from(self.has(name))),
            _ if self.documents.len() <= FEW_DOCUMENTS => {
                list(all().filter(|&at| self.documents.get(at).is_some_and(|d| names.contains(&d.name))).collect())
            }
            _ => {
                let mut places: Vec<usize> =
                    names.iter().filter_map(|name| self.names().get(name)).flatten().copied().collect();
                places.sort_unstable();
                places.dedup();
                list(places)
            }
        }
    }

    /// Whether a document has this name.
    pub fn has(&self, name: &EcoString) -> bool {
        if self.documents.len() <= FEW_DOCUMENTS {
            return self.documents.iter().any(|document| document.name == *name);
        }
        self.names().contains_key(name)
    }

    /// The names of all profiles of its documents.
    pub fn profile_names(&self) -> &BTreeSet<EcoString> {
        self.profiles.get_or_init(|| {
            let lists = self.documents.iter().filter_map(|document| document.item.view().get("profiles"));
            lists.flat_map(View::items).map(|profile| profile.text_of("name").as_ref().into()).collect()
        })
    }

    fn names(&self) -> &FastMap<EcoString, Vec<usize>> {
        self.by_name.get_or_init(|| {
            let mut names: FastMap<EcoString, Vec<usize>> = FastMap::default();
            for document in &self.documents {
                names.entry(document.name.clone()).or_default().push(document.index);
            }
            names
        })
    }
}

fn list(places: Vec<usize>) -> Picked {
    Picked::List(places.into_iter())
}

/// One document of a file, brought up to date.
pub struct Document<'f> {
    /// Place among the file's documents.
    pub index: usize,
    /// Its name; empty if it has none.
    pub name: EcoString,
    /// The edition it is written in.
    pub edition: Edition,
    /// The configuration in the newest edition.
    pub item: Item<'f>,
    /// Its start.
    pub span: Span,
    /// The document as written.
    pub root: Node<'f>,
    /// The document this one is a module of, if it is written inside another.
    pub owner: Option<usize>,
    /// The modules it names, here or elsewhere (founding design).
    pub modules: Vec<ModuleEntry>,
}

/// Reason why a file is missing.
#[derive(Clone, Debug)]
pub enum Missing {
    /// Neither file nor folder.
    NotFound,
    /// A folder without a configuration.
    NoConfiguration,
    /// The world refused or failed.
    World(WorldError),
}

/// Reads files for one run.
pub struct Loader<'f> {
    session: &'f Session,
    forest: &'f Forest,
    format: Format,
    /// Contents of standard input, for the path `-`.
    stdin: Option<Arc<[u8]>>,
    files: RefCell<FastMap<EcoString, Option<Rc<File<'f>>>>>,
    /// The files of required paths: most are required more than once.
    targets: RefCell<FastMap<EcoString, Rc<File<'f>>>>,
    /// Number of documents read.
    documents: Cell<usize>,
    /// The files that other variants of the project have read.
    shelf: Option<Rc<Shelf<'f>>>,
    here: String,
}

impl<'f> Loader<'f> {
    /// A loader for one run.
    pub fn new(session: &'f Session, forest: &'f Forest, format: Format, stdin: Option<Arc<[u8]>>) -> Self {
        let here = path::join(session.world.root(), session.world.here());
        Loader {
            session,
            forest,
            format,
            stdin,
            files: RefCell::default(),
            targets: RefCell::default(),
            documents: Cell::new(0),
            shelf: None,
            here,
        }
    }

    /// The same with the files of other variants of the project.
    pub(crate) fn over(self, shelf: Option<Rc<Shelf<'f>>>) -> Self {
        Loader { shelf, ..self }
    }

    /// The session everything is read in.
    pub fn session(&self) -> &'f Session {
        self.session
    }

    /// The target of problems.
    pub fn sink(&self) -> &'f Sink {
        &self.session.sink
    }

    /// The world's full path of the user's working folder.
    pub fn here(&self) -> &str {
        &self.here
    }

    /// A full path as seen from the project's root.
    pub fn in_project(&self, full: &str) -> EcoString {
        let root = self.session.world.root();
        let inside = full.strip_prefix(root).map(|rest| rest.trim_start_matches('/'));
        match inside {
            Some("") => ".".into(),
            Some(inside) => inside.into(),
            None => full.into(),
        }
    }

    /// The files that were read so far.
    pub(crate) fn files(&self) -> Vec<Rc<File<'f>>> {
        let mut files: Vec<_> = self.files.borrow().values().flatten().cloned().collect();
        files.sort_by_key(|file| file.first);
        files
    }

    /// The file of a required path. Problems inside it are reported once, when it is first read.
    pub fn required(&self, target: &str) -> Result<Option<Rc<File<'f>>>, Missing> {
        if let Some(known) = self.targets.borrow().get(target) {
            return Ok(Some(known.clone()));
        }
        let found = self.file(&self.locate(target)?)?;
        if let Some(file) = &found {
            self.targets.borrow_mut().insert(target.into(), file.clone());
        }
        Ok(found)
    }

    /// The configuration file of a path: itself, or the one in the folder it names.
    fn locate(&self, target: &str) -> Result<EcoString, Missing> {
        if self.files.borrow().contains_key(target) {
            return Ok(target.into());
        }
        let names_file = target.ends_with(".yaml") || target.ends_with(".yml");
        if !names_file {
            // Most requirements name a folder; asking for the file in it at once saves a question.
            let inside = format!("{target}/skaffold.yaml");
            if self.files.borrow().contains_key(inside.as_str()) || self.fetch(&inside).is_ok() {
                return Ok(inside.into());
            }
        }
        match self.session.world.stat(target) {
            Ok(stat) if stat.kind == FileKind::Folder => {
                let inside = format!("{target}/skaffold.yaml");
                if self.files.borrow().contains_key(inside.as_str()) || self.fetch(&inside).is_ok() {
                    Ok(inside.into())
                } else {
                    Err(Missing::NoConfiguration)
                }
            }
            Ok(_) => Ok(target.into()),
            Err(WorldError::NotFound) => Err(Missing::NotFound),
            Err(error) => Err(Missing::World(error)),
        }
    }

    /// The file at a full path. Problems inside it are reported once, when it is first read.
    pub fn file(&self, path: &str) -> Result<Option<Rc<File<'f>>>, Missing> {
        if let Some(known) = self.files.borrow().get(path) {
            return Ok(known.clone());
        }
        self.fetch(path)?;
        Ok(self.files.borrow().get(path).cloned().flatten())
    }

    fn fetch(&self, path: &str) -> Result<(), Missing> {
        let file = match &self.shelf {
            Some(shelf) => self.shelved(shelf, path)?,
            None => self.parse(path, self.text(path)?),
        };
        self.files.borrow_mut().insert(path.into(), file);
        Ok(())
    }

    /// A file that variants share. Each reports the problems in it.
    fn shelved(&self, shelf: &Shelf<'f>, path: &str) -> Result<Option<Rc<File<'f>>>, Missing> {
        let known = match shelf.get(path) {
            Some(known) => known,
            None => {
                let text = self.text(path)?;
                let (file, problems) = self.sink().apart(|| self.parse(path, text));
                let read = Shelved { file, problems: problems.into_iter().collect() };
                shelf.keep(path, &read);
                read
            }
        };
        self.sink().extend(known.problems.iter().cloned());
        Ok(known.file)
    }

    /// The text of a file; `skaffold.yaml` may also be called `skaffold.yml`.
    fn text(&self, path: &str) -> Result<Text, Missing> {
        if path == "-" {
            let bytes = self.stdin.clone().ok_or(Missing::NotFound)?;
            let (text, problem) = sources::decode(&bytes);
            let source = self.session.sources.insert(path, text);
            let problem = problem.map(|(at, what)| sources::encoding_problem(&source, at, what));
            return Ok(Text { source, problem });
        }
        let load = |path: &str| self.session.load_text(path, &self.shown(path));
        match load(path) {
            Ok(text) => Ok(text),
            Err(error) => {
                let sibling = path.strip_suffix("skaffold.yaml").map(|stem| format!("{stem}skaffold.yml"));
                match sibling.map(|sibling| load(&sibling)) {
                    Some(Ok(text)) => Ok(text),
                    _ => Err(match error {
                        WorldError::NotFound => Missing::NotFound,
                        error => Missing::World(error),
                    }),
                }
            }
        }
    }

    fn parse(&self, path: &str, text: Text) -> Option<Rc<File<'f>>> {
        let source = text.source;
        if let Some(problem) = text.problem {
            self.sink().push(problem);
            return None;
        }
        let tree = self.session.load_tree(&source, Flavor::CoreGo);
        self.sink().extend(tree.diagnostics().iter().cloned());
        if !tree.is_sound() {
            return None;
        }
        let tree = self.forest.add(tree)?;
        let documents = self.documents(tree)?;
        let folder: EcoString = if path == "-" { self.here().into() } else { path::parent(path).into() };
        let first = match &self.shelf {
            Some(shelf) => shelf.number(documents.len()),
            None => self.documents.replace(self.documents.get() + documents.len()),
        };
        Some(Rc::new(File {
            first,
            path: path.into(),
            folder,
            source,
            documents,
            known: self.shelf.as_ref().map(|shelf| shelf.known.clone()),
            by_name: OnceCell::new(),
            profiles: OnceCell::new(),
        }))
    }

    /// The path as messages show it: relative to the user's working folder.
    pub fn shown(&self, path: &str) -> String {
        let inside = path.strip_prefix(self.here()).and_then(|rest| rest.strip_prefix('/'));
        inside.unwrap_or(path).to_owned()
    }

    /// The documents of a tree; `None` if one of them cannot be used.
    fn documents(&self, tree: &'f Tree) -> Option<Vec<Document<'f>>> {
        let file = tree.source();
        if !file.text().contains("apiVersion") {
            let message = "this file has no `apiVersion`";
            let hint = format!("start with `apiVersion: {}`", editions::api_version(LATEST));
            self.sink().push(Diagnostic::at(&rules::VERSION, file.span(0, 0), message).hint(hint));
            return None;
        }
        let mut documents = Vec::with_capacity(tree.roots().len());
        let mut sound = true;
        for root in tree.roots().filter(|root| !root.is_null()) {
            match self.document(root, documents.len()) {
                Some(document) => sound &= modules::push(document, &mut documents, self.sink()),
                None => sound = false,
            }
        }
        modules::complete(&mut documents, self.sink());
        if sound && documents.is_empty() {
            let message = "this file holds no configuration";
            let hint = format!("start with `apiVersion: {}`", editions::api_version(LATEST));
            self.sink().push(Diagnostic::at(&rules::EMPTY, file.span(0, 0), message).hint(hint));
            return None;
        }
        sound.then_some(documents)
    }

    fn document(&self, root: Node<'f>, index: usize) -> Option<Document<'f>> {
        let view = View::Node(root);
        if view.form() != Form::Map {
            let message = what::must_be("a configuration", "a map with `apiVersion` and `kind`");
            self.sink().push(Diagnostic::at(&rules::WRONG_TYPE, root.span(), message));
            return None;
        }
        let edition = self.edition(root)?;
        let mut item = self.prepared(root);
        let check = Check {
            edition,
            founding: self.format == Format::Native,
            sink: self.sink(),
            fallback: root.span(),
            marks: None,
        };
        let before = self.sink().len();
        check.section(item.view(), &SKAFFOLD_CONFIG);
        if self.sink().since(before).iter().any(Diagnostic::is_error) {
            return None;
        }
        if edition < LATEST && !upgrade::upgrade(&mut item, edition, LATEST, self.sink(), root.span()) {
            return None;
        }
        let name = item.view().at(&["metadata", "name"]).map(View::eco).unwrap_or_default();
        Some(Document { index, name, edition, item, span: root.span(), root, owner: None, modules: Vec::new() })
    }

    fn edition(&self, root: Node<'f>) -> Option<Edition> {
        let written = root.get("apiVersion");
        let text = written.map_or("", |node| node.text());
        if let Some(edition) = editions::parse(text) {
            return Some(edition);
        }
        let span = written.map_or(root.span(), |node| node.span());
        let (message, hint) = if written.is_none() {
            let hint = format!("start with `apiVersion: {}`", editions::api_version(LATEST));
            ("this document has no `apiVersion` (\"\")".to_owned(), hint.into())
        } else {
            // Of equally near ones the newest.
            let mut versions: Vec<String> = editions::all().map(editions::api_version).collect();
            versions.reverse();
            let hint = did_you_mean(text, versions.iter().map(String::as_str))
                .unwrap_or_else(|| format!("the newest one is `{}`", editions::api_version(LATEST)).into());
            (format!("`{text}` is not a known `apiVersion` of Skaffold"), hint)
        };
        self.sink().push(Diagnostic::at(&rules::VERSION, span, message).hint(hint));
        None
    }

    /// The document as it is read: keys with a leading dot only hold anchors, and merge keys are applied.
    fn prepared(&self, root: Node<'f>) -> Item<'f> {
        let tree = root.tree();
        let mut item = if tree.symbol("<<").is_some() { merged(root) } else { Item::node(root) };
        if root.entries().any(|entry| entry.key.text().starts_with('.')) {
            item.map().retain(|entry| !entry.key.starts_with('.'));
        }
        item
    }
}

/// A copy of a node in which merge keys are applied. The size is bounded by the tree's own limit on aliases.
fn merged<'f>(node: Node<'f>) -> Item<'f> {
    match View::Node(node).form() {
        Form::Map => {
            let entry = |entry: tree::Entry<'f>| Entry {
                key: entry.key.eco_text(),
                written: Some(entry.key),
                value: merged(entry.value),
            };
            Data::map(node.merged_entries(MergeKeys::Apply).map(entry).collect()).into()
        }
        Form::List => Data::list(node.items().map(merged).collect()).into(),
        _ => Item::node(node),
    }
}

/// A problem in the words of the original command line, for paths that lead nowhere.
pub fn missing(missing: &Missing, path: &str, span: Option<Span>, from: Option<&str>) -> Diagnostic {
    let mut diagnostic = match (missing, from) {
        (Missing::NotFound, Some(from)) => {
            let message = what::unknown("configuration", path)
                .words(format!("no configuration found at `{path}`, which `{from}` requires"));
            Diagnostic::nowhere(&rules::REQUIRES, message).hint("correct the `path` under `requires`")
        }
        (Missing::NotFound, None) => {
            Diagnostic::nowhere(&rules::FILE, format!("configuration file `{path}` not found"))
                .hint("name another one with `-f`")
        }
        (Missing::NoConfiguration, _) => {
            let words = format!("the folder `{path}` has no `skaffold.yaml` (looked for `{path}/skaffold.yaml`)");
            let message = what::about([path], words);
            Diagnostic::nowhere(&rules::REQUIRES, message).hint("correct the `path` under `requires`")
        }
        (Missing::World(WorldError::Denied(_)), _) => {
            let message = format!("`{path}` is outside the project");
            Diagnostic::nowhere(&rules::OUTSIDE, message).hint("allow its folder with `--allow-path DIR`")
        }
        (Missing::World(error), _) => error.diagnostic(path),
    };
    diagnostic.span = span;
    debug_assert!(diagnostic.severity == Severity::Error);
    diagnostic
}
