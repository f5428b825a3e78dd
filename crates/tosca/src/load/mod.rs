//! Phase 1, across files: the root and everything it imports, each file once.
//!
//! Files come from the world or from an archive in memory. Names are not resolved yet; import cycles are found on the
//! finished import graph, without recursion.

mod ahead;
pub mod built_in;
mod missing;
mod places;
mod profiles;
mod reading;
mod rings;
mod root;
mod share;
mod unread;

use crate::archive::Archive;
use crate::edition::{Edition, Standard};
use crate::entity::Entity;
use crate::problem::Problems;
use crate::profile::{self, Embedded, Version};
use crate::quirks::{self, Quirks};
use crate::read::{Reader, Role};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, FileId, Flavor, Hint, Node, Source, Span, Tree};
use purlin_value::{Session, path};
use reading::Reading;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The options of loading.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Departures from the strict reading.
    pub quirks: Quirks,
    /// Folders searched for imports, after the importing file's own.
    pub bases: Vec<String>,
    /// Folders searched for profiles, in addition to the project.
    pub profile_paths: Vec<String>,
    /// The template of an archive: empty for its entry, a number, or a path.
    pub template: String,
    /// Further version keywords that a host understands, read as this edition.
    pub versions: Vec<(&'static str, Edition)>,
    /// The edition of files without one, if a host sets it.
    pub unversioned: Option<Edition>,
    /// The host's extensions to the notation of values.
    pub host: Option<&'static crate::host::Host>,
    /// Repositories known to a host, by name, with their folders: a file need not declare them.
    pub repositories: Vec<(String, String)>,
    /// The root file, if a host has read it already.
    pub given: Option<Given>,
    /// Files parsed already, for another service of the same run.
    pub trees: Trees,
    /// Whether a part of the root file could not be read, so that its declarations are not known.
    pub unread: bool,
    /// Further implicit imports of every file, set by a host.
    pub profiles: &'static [Embedded],
    /// The condition for conditional imports, if a host supports them.
    pub condition: Option<Condition>,
}

/// Decides whether a conditional import is loaded.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The host's data that conditions depend on.
    pub about: String,
    /// Whether a condition holds, given that.
    pub holds: fn(&str, &str) -> bool,
}

impl Options {
    /// A text that distinguishes this loading from others in the same run.
    pub(crate) fn identity(&self, path: &str) -> String {
        let given = self.given.as_ref().map(|given| (&given.path, given.tree.file(), given.root));
        let host = self.host.is_some();
        let about = self.condition.as_ref().map(|condition| &condition.about);
        let Options { quirks, bases, profile_paths, template, repositories, unread, .. } = self;
        format!(
            "{path:?} {given:?} {host} {unread} {quirks:?} {bases:?} {profile_paths:?} {template:?} {repositories:?} {about:?}"
        )
    }
}

/// A service template read by a host: a part of a file of its own, or a merged tree.
#[derive(Clone, Debug)]
pub struct Given {
    /// The path that its imports are relative to.
    pub path: String,
    /// The tree that contains it; the host has reported its errors.
    pub tree: Arc<Tree>,
    /// The node that is the template.
    pub root: u32,
}

impl Given {
    /// The node of the template; none if it could not be read.
    pub fn node(&self) -> Option<Node<'_>> {
        let root = self.tree.node(self.root)?;
        let whole = root.span();
        let within = |span: Span| whole.start <= span.start && span.start <= whole.end;
        let mut errors = self.tree.diagnostics().iter().filter(|diagnostic| diagnostic.is_error());
        (!errors.any(|error| error.span.is_none_or(within))).then_some(root)
    }
}

/// Parsed files, by path.
pub type Trees = Arc<HashMap<String, Arc<Tree>>>;

/// One file of the run.
#[derive(Clone, Debug)]
pub struct File {
    /// Its id, as spans have it.
    pub id: FileId,
    /// The path.
    pub path: EcoString,
    /// The role in this run.
    pub role: Role,
    /// The edition it is read in.
    pub edition: Edition,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The content; services of one run share imported files.
    pub entity: Arc<Entity>,
    /// The files it imports.
    pub imports: Vec<Import>,
    /// Prefixes of imports that could not be read, its own and those of its imports: their declarations are not known.
    pub unread: Vec<EcoString>,
}

/// One import of one file.
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported file's index.
    pub file: usize,
    /// Put before every name.
    pub prefix: EcoString,
    /// The import's place.
    pub at: Span,
}

/// All files of a run.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The files; the root comes first, those of the profile last.
    pub list: Vec<File>,
    /// The files of the profile that every file imports.
    pub implicit: Vec<usize>,
    /// The edition of the root file.
    pub edition: Option<Edition>,
    /// Paths of imported service templates, which may be substituted for nodes.
    pub templates: Vec<String>,
    /// Imports that close a cycle, by the importing file. All others are free of cycles.
    pub closing: Vec<(usize, Import)>,
    /// Names of node templates in imported files that are no part of the service.
    left_out: HashSet<EcoString>,
    /// Whether some import could not be read.
    pub any_unread: bool,
    by_id: HashMap<FileId, usize>,
}

impl Files {
    /// The file of a span.
    pub fn of(&self, id: FileId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Whether a file imports another one, directly or indirectly.
    pub fn imports_anyhow(&self, from: usize, to: usize) -> bool {
        let mut reached = HashSet::new();
        let mut waiting = vec![from];
        while let Some(index) = waiting.pop() {
            let imports = self.list.get(index).map_or(&[][..], |file| &file.imports);
            waiting.extend(imports.iter().map(|import| import.file).filter(|file| reached.insert(*file)));
        }
        reached.contains(&to)
    }

    /// Adds the trees of all files to others.
    pub fn trees(&self, trees: &mut HashMap<String, Arc<Tree>>) {
        for file in &self.list {
            trees.entry(path::normalize(&file.path)).or_insert_with(|| file.tree.clone());
        }
    }

    /// The root file.
    pub fn root(&self) -> Option<&File> {
        self.list.first()
    }
}

/// The location of a file: in the world, in an archive, or in a fetched copy.
#[derive(Clone)]
struct Place {
    archive: Option<Arc<Archive>>,
    path: String,
    /// The address it was fetched from, which its own imports are relative to.
    address: Option<Arc<str>>,
}

impl Place {
    fn at(path: impl Into<String>) -> Place {
        Place { archive: None, path: path.into(), address: None }
    }

    fn inside(archive: Arc<Archive>, path: impl Into<String>) -> Place {
        Place { archive: Some(archive), path: path.into(), address: None }
    }

    fn fetched(path: impl Into<String>, address: &str) -> Place {
        Place { archive: None, path: path.into(), address: Some(address.into()) }
    }

    fn folder(&self) -> String {
        path::parent(&self.path).to_owned()
    }

    fn beside(&self, relative: &str) -> Place {
        Place { archive: self.archive.clone(), path: path::join(&self.folder(), relative), address: None }
    }

    fn key(&self) -> String {
        let base = self.archive.as_ref().map(|archive| format!("{}!/", archive.path)).unwrap_or_default();
        format!("{base}{}", path::normalize(&self.path))
    }
}

struct Loader<'a> {
    session: &'a Session,
    options: &'a Options,
    problems: &'a mut Problems,
    files: Files,
    known: HashMap<String, Option<usize>>,
    places: Vec<Place>,
    /// For each file the root that led to it; some addresses are relative to it.
    homes: Vec<Place>,
    /// Files read in advance, and their trees if they were parsed too.
    ahead: HashMap<String, (Arc<Source>, Option<Tree>)>,
    missing: missing::Missing,
    /// The root that led to the file whose imports are being read.
    root: Place,
}

/// Whether a root file is named by an address on the network instead of a path.
pub fn is_remote(path: &str) -> bool {
    path.starts_with("https://") || path.starts_with("http://")
}

/// Loads a file or archive and everything it imports.
pub fn load(session: &Session, path: &str, options: &Options, problems: &mut Problems) -> Files {
    load_all(session, &[path], options, problems)
}

/// Loads several files of one edition and everything they import, each once. Where only one file can be the root, it
/// is the first.
pub fn load_all(session: &Session, paths: &[&str], options: &Options, problems: &mut Problems) -> Files {
    let mut loader = Loader {
        session,
        options,
        problems,
        files: Files::default(),
        known: HashMap::new(),
        places: Vec::new(),
        homes: Vec::new(),
        ahead: HashMap::new(),
        missing: missing::Missing::default(),
        root: Place::at(paths.first().copied().unwrap_or_default()),
    };
    loader.run(paths);
    loader.files
}

impl Loader<'_> {
    fn run(&mut self, paths: &[&str]) {
        let mut profile: &[Embedded] = &[];
        for path in paths {
            if let Some(version) = self.add_root(Place::at(*path)) {
                profile = version.profile;
            }
        }
        if self.files.edition.is_none() {
            return;
        }
        let mut next = 0;
        while next < self.files.list.len() {
            if let Some(home) = self.homes.get(next) {
                self.root = home.clone();
            }
            self.parse_ahead(next);
            self.imports_of(next);
            next += 1;
        }
        self.report_missing();
        self.report_rings();
        self.files.share_templates();
        self.files.spread_unread();
        if !self.options.quirks.has(quirks::IMPLICIT_DISABLE) {
            for embedded in profile {
                if let Some(index) = self.embedded(*embedded) {
                    self.files.implicit.push(index);
                }
            }
        }
        for embedded in self.options.profiles {
            if let Some(index) = self.embedded(*embedded) {
                self.files.implicit.push(index);
            }
        }
    }

    /// Reads a file that was asked for, or the entry of an archive.
    fn add_root(&mut self, place: Place) -> Option<Version> {
        let place = self.brought_here(place)?;
        let place = self.enter_archive(place)?;
        self.root = place.clone();
        let tree = self.root_tree(&place)?;
        let root = self.template(&place, &tree)?;
        let version = self.version(root)?;
        self.files.edition = Some(version.edition);
        let key = place.key();
        let index = self.add(place, &tree, root, version.edition, Role::Root);
        self.known.insert(key, index);
        if let Some(file) = self.files.list.last_mut().filter(|_| self.options.unread) {
            file.unread.push(EcoString::new());
        }
        Some(version)
    }

    /// The tree of a file that was parsed already; such a file is sound. The parser's problems are reported again,
    /// since earlier reports may have been discarded.
    fn known_tree(&mut self, place: &Place) -> Option<Arc<Tree>> {
        if let Some(given) = self.given(place) {
            given.node()?;
            let tree = given.tree.clone();
            crate::val::secrets(&tree).for_each(|span| self.problems.hide(span));
            return Some(tree);
        }
        let tree = self.options.trees.get(&place.key()).cloned()?;
        tree.diagnostics().iter().for_each(|diagnostic| self.problems.push(diagnostic.clone()));
        Some(tree)
    }

    /// The file at a place, if a host has given it.
    fn given(&self, place: &Place) -> Option<&Given> {
        self.options.given.as_ref().filter(|given| place.archive.is_none() && given.path == place.path)
    }

    /// The part of a tree that belongs to a place.
    fn whole<'t>(&self, place: &Place, tree: &'t Tree) -> Option<Node<'t>> {
        match self.given(place) {
            Some(given) => tree.node(given.root),
            None => tree.root(),
        }
    }

    fn source(&self, place: &Place) -> Result<Arc<Source>, Diagnostic> {
        match &place.archive {
            None if place.address.is_some() => self.fetched_source(place),
            None => self.session.read_text(&place.path),
            Some(archive) => {
                let bytes = archive.bytes(&path::normalize(&place.path))?;
                let (text, problem) = purlin_syntax::sources::decode(bytes);
                let source = self.session.sources.insert(&place.key(), text);
                if let Some((at, what)) = problem {
                    self.session.sink.push(purlin_syntax::sources::encoding_problem(&source, at, what));
                }
                Ok(source)
            }
        }
    }

    /// Parses a file; one with syntax errors is not processed further, to avoid follow-up errors about missing parts.
    fn parse(&mut self, source: Arc<Source>) -> Option<Arc<Tree>> {
        let tree = self.session.load_tree(&source, Flavor::CoreGo);
        self.sound(tree)
    }

    fn parsed(&mut self, tree: Tree) -> Option<Arc<Tree>> {
        let tree = self.session.keep_tree(tree, Flavor::CoreGo);
        self.sound(tree)
    }

    /// The tree if it is sound; its problems are reported each time, since earlier reports may have been discarded.
    fn sound(&mut self, tree: Arc<Tree>) -> Option<Arc<Tree>> {
        crate::val::secrets(&tree).for_each(|span| self.problems.hide(span));
        let sound = tree.is_sound();
        for diagnostic in tree.diagnostics() {
            self.problems.push(diagnostic.clone());
        }
        sound.then_some(tree)
    }

    fn add(&mut self, place: Place, tree: &Arc<Tree>, root: Node<'_>, edition: Edition, role: Role) -> Option<usize> {
        let substitutes = self.files.root().is_some_and(|root| substitutes(&root.entity));
        let reading = Reading { edition, role, substitutes, quirks: &self.options.quirks, host: self.options.host };
        let entity = reading.entity(self.session, tree.file(), root, self.problems)?;
        if role == Role::Imported && substitutes && Reader::can_substitute(root) {
            self.files.templates.push(place.key());
        }
        let index = self.files.list.len();
        let id = tree.file();
        let path = tree.source().path().into();
        self.files.by_id.entry(id).or_insert(index);
        self.places.push(place);
        self.homes.push(self.root.clone());
        self.files.list.push(File {
            id,
            path,
            role,
            edition,
            tree: tree.clone(),
            entity,
            imports: Vec::new(),
            unread: Vec::new(),
        });
        Some(index)
    }

    fn embedded(&mut self, embedded: Embedded) -> Option<usize> {
        if let Some(known) = self.known.get(embedded.path) {
            return *known;
        }
        let known = self.options.trees.get(embedded.path).cloned();
        let known = known.or_else(|| self.session.sources.shared(embedded.path));
        let tree = match known {
            Some(tree) => tree,
            None => self.parse(embedded_source(self.session, embedded))?,
        };
        let keyword = tree.root()?.get("tosca_definitions_version")?.text().to_owned();
        let edition = self.find_version(&keyword)?.edition;
        let place = Place::at(embedded.path);
        let key = place.key();
        let index = self.add(place, &tree, tree.root()?, edition, Role::Profile)?;
        self.known.insert(key, Some(index));
        Some(index)
    }

    fn imports_of(&mut self, index: usize) {
        let Some(file) = self.files.list.get(index) else { return };
        for import in file.entity.list("imports").to_vec() {
            if !self.is_wanted(&import) {
                continue;
            }
            let prefix = import.text("namespace").map(|text| text.text.clone()).unwrap_or_default();
            let target = self.import(index, &import);
            let Some(file) = self.files.list.get_mut(index) else { return };
            match target {
                Some(target) => file.imports.push(Import { file: target, prefix, at: import.at }),
                None => file.unread.push(prefix),
            }
        }
    }

    /// Whether the condition of an import holds, if it has one that the host understands.
    fn is_wanted(&self, import: &Entity) -> bool {
        let when = import.value("when").and_then(crate::val::Val::as_str);
        let decided = self.options.condition.as_ref().zip(when);
        decided.is_none_or(|(condition, when)| (condition.holds)(when, &condition.about))
    }

    fn import(&mut self, importer: usize, import: &Entity) -> Option<usize> {
        let from = self.places.get(importer)?.clone();
        if let Some(name) = import.text("profile") {
            if let Some((_, embedded)) = profile::NAMED.iter().find(|(known, _)| *known == name.text) {
                return self.embedded(*embedded);
            }
            let Some(place) = self.find_profile(&from, &name.text) else {
                let message = what::unknown("profile", &name.text);
                let known = self.known_profiles(&from);
                let near = crate::suggest::nearest(&name.text, known.iter().map(String::as_str));
                let hint = near.map_or_else(
                    || "profiles are looked for in the project; name other folders with `--profile-path DIR`".into(),
                    |near| Hint::meant(name.text.as_str(), near),
                );
                self.problems.push(Diagnostic::at(&rules::IMPORT, name.span, message).hint(hint));
                return None;
            };
            return self.file_at(place, "", import.at);
        }
        let url = import.text("url")?;
        if let Some(found) = self.built_in(importer, import, &url.text) {
            return found;
        }
        let (url, pointer) = match url.text.split_once('#') {
            Some((url, pointer)) if self.files.edition.is_some_and(|edition| edition.is_extended()) => (url, pointer),
            _ => (url.text.as_str(), ""),
        };
        let place = match self.locate(importer, &from, import, url) {
            Ok(place) => place,
            Err(diagnostic) => {
                self.not_found(&from, url, *diagnostic);
                return None;
            }
        };
        self.file_at(place, pointer, import.at)
    }

    /// Reads and parses a file, unless that was done in advance.
    fn new_tree(&mut self, place: &Place, at: Span) -> Option<Arc<Tree>> {
        let source = match self.ahead.remove(&place.key()) {
            Some(ahead) => Ok(ahead),
            None => self.source(place).map(|source| (source, None)),
        };
        match source {
            Ok((_, Some(tree))) => self.parsed(tree),
            Ok((source, None)) => self.parse(source),
            Err(mut diagnostic) => {
                diagnostic.span = Some(at);
                self.problems.push(diagnostic);
                None
            }
        }
    }

    /// A file, or the part of it at a pointer.
    fn file_at(&mut self, place: Place, pointer: &str, at: Span) -> Option<usize> {
        let key = if pointer.is_empty() { place.key() } else { format!("{}#{pointer}", place.key()) };
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.known.insert(key.clone(), None); // a file that cannot be read is reported once
        let tree = match self.known_tree(&place) {
            Some(tree) => tree,
            None => self.new_tree(&place, at)?,
        };
        let edition = self.files.edition?;
        let Some(root) = self.whole(&place, &tree).filter(|root| edition.is_extended() || !root.is_null()) else {
            if !edition.is_extended() {
                self.problems.at(&rules::IMPORT, at, format!("`{}` is empty", tree.source().path()));
            }
            return None;
        };
        if let Some(version) = root.get("tosca_definitions_version").filter(|node| node.is_scalar()) {
            let found = self.find_version(version.text());
            if found.is_some_and(|found| found.edition != edition)
                && !self.options.quirks.has(quirks::VERSION_PERMISSIVE)
            {
                let path = tree.source().path();
                let message = format!(
                    "`{path}` is written in TOSCA {}, but it is imported into TOSCA {}",
                    found.map_or("?", |f| f.edition.number()),
                    edition.number()
                );
                self.problems
                    .push(Diagnostic::at(&rules::IMPORT_EDITION, at, message).label(version.span(), "it says so here"));
                return None;
            }
        }
        let Some(part) = follow(root, pointer) else {
            let message = format!("`{}` has nothing at `{pointer}`", tree.source().path());
            self.problems.at(&rules::IMPORT, at, message);
            return None;
        };
        let index = self.add(place, &tree, part, edition, Role::Imported)?;
        self.known.insert(key, Some(index));
        Some(index)
    }
}

/// The text of a built-in file, registered once for all services of a run.
fn embedded_source(session: &Session, embedded: Embedded) -> Arc<Source> {
    let registered = session.finding(embedded.path, || session.sources.insert(embedded.path, embedded.text));
    Arc::clone(&registered)
}

/// The part of a file at a pointer such as `/types/A`.
fn follow<'t>(root: Node<'t>, pointer: &str) -> Option<Node<'t>> {
    let mut parts = pointer.split('/').filter(|part| !part.is_empty());
    parts.try_fold(root, |here, part| {
        let name = part.replace("~1", "/").replace("~0", "~");
        here.get(&name).or_else(|| here.items().nth(part.parse().ok()?))
    })
}

/// Whether some node of a service is to be replaced by another service.
fn substitutes(root: &Entity) -> bool {
    let service = root.one("service_template");
    service
        .is_some_and(|service| service.entries("node_templates").any(|(_, node)| crate::substitute::asks_for_it(node)))
}
