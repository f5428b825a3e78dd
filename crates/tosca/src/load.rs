//! Phase 1, across files: the root and everything it imports, each file once.
//!
//! Files come from the world or from an archive in memory. Nothing is looked up yet; import rings are found on the
//! finished import graph, without recursion.

use crate::archive::Archive;
use crate::entity::Entity;
use crate::problem::Problems;
use crate::profile::{self, Embedded, Version};
use crate::quirks::{self, Quirks};
use crate::read::{Reader, Role};
use crate::rules;
use crate::schema::Edition;
use crate::val::{self, Data};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::{Diagnostic, FileId, Flavor, Node, Source, Span, Tree, yaml};
use purlin_value::world::{FileKind, Remote};
use purlin_value::{Session, WorldError, path};
use std::collections::HashMap;
use std::sync::Arc;

/// What a caller may ask of loading.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Departures from the strict reading.
    pub quirks: Quirks,
    /// Folders to look for imports in, after the importing file's own.
    pub bases: Vec<String>,
    /// Which template of an archive to take: empty for its entry, a number, or a path.
    pub template: String,
    /// Further version keywords that a host understands, read as this edition.
    pub versions: Vec<(&'static str, Edition)>,
    /// The edition of a file that does not say one, where a host knows it.
    pub unversioned: Option<Edition>,
    /// What a host adds to the notation of values.
    pub host: Option<&'static crate::host::Host>,
    /// Files whose text a host has already, by path: they are not read again.
    pub texts: Vec<(String, Arc<str>)>,
    /// Further files that every file imports without saying so, from a host.
    pub profiles: &'static [Embedded],
}

/// One file of the run.
#[derive(Debug)]
pub struct File {
    /// Its id, as spans have it.
    pub id: FileId,
    /// Where it lies.
    pub path: EcoString,
    /// What it is in this run.
    pub role: Role,
    /// The edition it is read in.
    pub edition: Edition,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// What it says.
    pub entity: Entity,
    /// The files it imports.
    pub imports: Vec<Import>,
    /// Prefixes of imports that were not allowed to be fetched: what they declare is not known.
    pub unfetched: Vec<EcoString>,
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
#[derive(Debug, Default)]
pub struct Files {
    /// The files; the root comes first, those of the profile last.
    pub list: Vec<File>,
    /// The files of the profile that every file imports.
    pub implicit: Vec<usize>,
    /// The edition of the root file.
    pub edition: Option<Edition>,
    /// Where imported files lie that are templates of services, which may be substituted for nodes.
    pub templates: Vec<String>,
    by_id: HashMap<FileId, usize>,
}

impl Files {
    /// The file a span lies in.
    pub fn of(&self, id: FileId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The root file.
    pub fn root(&self) -> Option<&File> {
        self.list.first()
    }
}

/// Where a file lies: in the world, or in an archive.
#[derive(Clone)]
struct Place {
    archive: Option<Arc<Archive>>,
    path: String,
}

impl Place {
    fn folder(&self) -> String {
        path::parent(&self.path).to_owned()
    }

    fn beside(&self, relative: &str) -> Place {
        Place { archive: self.archive.clone(), path: path::join(&self.folder(), relative) }
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
    profiles: HashMap<String, IndexMap<String, String>>,
    root: Place,
}

/// Loads a file or archive and everything it imports.
pub fn load(session: &Session, path: &str, options: &Options, problems: &mut Problems) -> Files {
    let root = Place { archive: None, path: path.to_owned() };
    let mut loader = Loader {
        session,
        options,
        problems,
        files: Files::default(),
        known: HashMap::new(),
        places: Vec::new(),
        profiles: HashMap::new(),
        root: root.clone(),
    };
    loader.run(root);
    loader.files
}

impl Loader<'_> {
    fn run(&mut self, place: Place) {
        let Some(place) = self.enter_archive(place) else { return };
        self.root = place.clone();
        let Some((tree, version)) = self.root_file(&place) else { return };
        let edition = version.edition;
        self.files.edition = Some(edition);
        self.add(place, tree, edition, Role::Root);
        let mut next = 0;
        while next < self.files.list.len() {
            self.imports_of(next);
            next += 1;
        }
        self.report_rings();
        if !self.options.quirks.has(quirks::IMPLICIT_DISABLE) {
            for embedded in version.profile {
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

    fn enter_archive(&mut self, mut place: Place) -> Option<Place> {
        // A file inside an archive is named by both.
        let inside = place.path.split_once("!/").map(|(archive, inside)| (archive.to_owned(), inside.to_owned()));
        let inside = inside.map(|(archive, inside)| {
            place.path = archive;
            inside
        });
        if !Archive::is_archive(&place.path) {
            return Some(place);
        }
        let bytes = match self.session.world.read(&place.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.problems.push(error.diagnostic(&place.path));
                return None;
            }
        };
        let archive = match Archive::open(&place.path, &bytes, &self.session.limits) {
            Ok(archive) => Arc::new(archive),
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                return None;
            }
        };
        if let Some(path) = inside {
            return Some(Place { archive: Some(archive), path });
        }
        match archive.entry(&self.options.template) {
            Ok(path) => Some(Place { archive: Some(archive), path }),
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                None
            }
        }
    }

    fn root_file(&mut self, place: &Place) -> Option<(Arc<Tree>, Version)> {
        let source = match self.source(place) {
            Ok(source) => source,
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                return None;
            }
        };
        let tree = self.parse(source)?;
        let Some(root) = tree.root() else {
            let start = Span::new(tree.file(), 0, 0);
            self.problems.at(&rules::VERSION, start, "the file is empty");
            return None;
        };
        if root.is_null() {
            self.problems.at(&rules::VERSION, root.span(), "the file is empty");
            return None;
        }
        if !root.is_map() {
            let message = format!("a TOSCA file must be a map, but it is {}", crate::read::noun(root));
            self.problems.at(&rules::WRONG_SHAPE, root.span(), message);
            return None;
        }
        let version = self.version(root)?;
        Some((tree, version))
    }

    /// The version of the root file.
    fn version(&mut self, root: Node<'_>) -> Option<Version> {
        for (key, what) in [("heat_template_version", "OpenStack Heat templates (HOT)")] {
            if let Some(entry) = root.entry(key) {
                let message = format!("{what} are recognised, but not read yet");
                self.problems.at(&rules::UNSUPPORTED, entry.key.span(), message);
                return None;
            }
        }
        let Some(entry) = root.entry("tosca_definitions_version") else {
            if let Some(edition) = self.options.unversioned {
                return profile::VERSIONS.iter().find(|version| version.edition == edition).copied();
            }
            let message = "the file does not say which edition of TOSCA it is written in";
            let mut diagnostic =
                Diagnostic::at(&rules::VERSION, Span { end: root.span().start, ..root.span() }, message);
            diagnostic = diagnostic.hint("begin it with `tosca_definitions_version: tosca_2_0`");
            self.problems.push(diagnostic);
            return None;
        };
        let at = entry.key.span();
        let Data::Str(keyword) = val::scalar_data(entry.value) else {
            let message =
                format!("`tosca_definitions_version` must be a string, but it is {}", crate::read::noun(entry.value));
            self.problems.at(&rules::VERSION, at, message);
            return None;
        };
        if keyword.starts_with("cloudify_dsl_") {
            self.problems.at(&rules::UNSUPPORTED, at, "Cloudify blueprints are recognised, but not read yet");
            return None;
        }
        let found = self.find_version(&keyword);
        if found.is_none() {
            let near = crate::suggest::nearest(&keyword, profile::VERSIONS.iter().map(|version| version.keyword));
            let diagnostic = Diagnostic::at(&rules::VERSION, at, format!("there is no version `{keyword}` of TOSCA"));
            self.problems.push(diagnostic.maybe_hint(near.map(|near| format!("did you mean `{near}`?"))));
        }
        found
    }

    fn find_version(&self, keyword: &str) -> Option<Version> {
        if let Some(version) = profile::version(keyword) {
            return Some(*version);
        }
        let (keyword, edition) = self.options.versions.iter().find(|(known, _)| *known == keyword)?;
        let standard = profile::VERSIONS.iter().find(|version| version.edition == *edition)?;
        Some(Version { keyword, ..*standard })
    }

    fn source(&self, place: &Place) -> Result<Arc<Source>, Diagnostic> {
        if let Some((path, text)) = self.options.texts.iter().find(|(path, _)| *path == place.path) {
            return Ok(self.session.sources.insert(path, text.clone()));
        }
        match &place.archive {
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

    /// Parses a file; one with syntax errors is not looked at further, since what is missing would be reported too.
    fn parse(&mut self, source: Arc<Source>) -> Option<Arc<Tree>> {
        let tree = self.session.sources.add(yaml::parse(source, Flavor::CoreGo, &self.session.limits));
        let sound = tree.is_sound();
        for diagnostic in tree.diagnostics() {
            self.problems.push(diagnostic.clone());
        }
        sound.then_some(tree)
    }

    fn add(&mut self, place: Place, tree: Arc<Tree>, edition: Edition, role: Role) -> Option<usize> {
        let root = tree.root()?;
        let mut reader = Reader {
            edition,
            role,
            substitutes: self.files.root().is_some_and(|root| substitutes(&root.entity)),
            quirks: &self.options.quirks,
            host: self.options.host,
            problems: self.problems,
        };
        let entity = reader.file(root)?;
        if role == Role::Imported && reader.substitutes && Reader::can_substitute(root) {
            self.files.templates.push(place.key());
        }
        let index = self.files.list.len();
        let id = tree.file();
        let path = tree.source().path().into();
        self.files.by_id.insert(id, index);
        self.known.insert(place.key(), Some(index));
        self.places.push(place);
        self.files.list.push(File {
            id,
            path,
            role,
            edition,
            tree,
            entity,
            imports: Vec::new(),
            unfetched: Vec::new(),
        });
        Some(index)
    }

    fn embedded(&mut self, embedded: Embedded) -> Option<usize> {
        if let Some(known) = self.known.get(embedded.path) {
            return *known;
        }
        let source = self.session.sources.insert(embedded.path, embedded.text);
        let tree = self.parse(source)?;
        let keyword = tree.root()?.get("tosca_definitions_version")?.text().to_owned();
        let edition = profile::version(&keyword)?.edition;
        self.add(Place { archive: None, path: embedded.path.to_owned() }, tree, edition, Role::Profile)
    }

    fn imports_of(&mut self, index: usize) {
        let Some(file) = self.files.list.get(index) else { return };
        if file.role == Role::Profile {
            return;
        }
        for import in file.entity.list("imports").to_vec() {
            if let Some(target) = self.import(index, &import) {
                let prefix = import.text("namespace").map(|text| text.text.clone()).unwrap_or_default();
                if let Some(file) = self.files.list.get_mut(index) {
                    file.imports.push(Import { file: target, prefix, at: import.at });
                }
            }
        }
    }

    fn import(&mut self, importer: usize, import: &Entity) -> Option<usize> {
        let from = self.places.get(importer)?.clone();
        if let Some(name) = import.text("profile") {
            if let Some((_, embedded)) = profile::NAMED.iter().find(|(known, _)| *known == name.text) {
                return self.embedded(*embedded);
            }
            let Some(place) = self.find_profile(&from, &name.text) else {
                let message = format!("no profile `{}` was found", name.text);
                let hint = "a profile is looked for among the files beside this one, by their `profile` key";
                self.problems.push(Diagnostic::at(&rules::IMPORT, import.at, message).hint(hint));
                return None;
            };
            return self.file_at(place, import.at);
        }
        let url = import.text("url")?;
        let place = match self.locate(importer, &from, import, &url.text) {
            Ok(place) => place,
            Err(diagnostic) => {
                let unfetched = [&rules::IMPORT_DENIED, &rules::UNSUPPORTED, &purlin_value::rules::FETCH_FAILED];
                if unfetched.contains(&diagnostic.rule)
                    && let Some(file) = self.files.list.get_mut(importer)
                {
                    file.unfetched.push(import.text("namespace").map(|text| text.text.clone()).unwrap_or_default());
                }
                self.problems.push(*diagnostic);
                return None;
            }
        };
        self.file_at(place, import.at)
    }

    /// Where an import's file lies.
    fn locate(&mut self, importer: usize, from: &Place, import: &Entity, url: &str) -> Result<Place, Box<Diagnostic>> {
        let repository = import.text("repository").and_then(|name| {
            let file = self.files.list.get(importer)?;
            Some(file.entity.named("repositories", &name.text)?.str("url").to_owned())
        });
        let address = match (&repository, import.slot("repository")) {
            (Some(base), _) => format!("{}/{}", base.trim_end_matches('/'), url.trim_start_matches('/')),
            (None, Some(_)) => {
                return Err(Box::new(Diagnostic::at(
                    &rules::IMPORT,
                    import.at,
                    "this import's repository is not declared in this file",
                )));
            }
            (None, None) => url.to_owned(),
        };
        if address.ends_with(".py") {
            let message = format!("`{url}` is written in Python, which is not run to see what it declares");
            let hint = "write it as YAML (`unfurl export` does) and import that";
            return Err(Box::new(Diagnostic::at(&rules::UNSUPPORTED, import.at, message).hint(hint)));
        }
        let fail = |message: String| Box::new(Diagnostic::at(&rules::IMPORT, import.at, message));
        if let Some((scheme, rest)) = scheme(&address) {
            return match scheme {
                "file" => {
                    let path = rest.strip_prefix("//").unwrap_or(rest);
                    self.local(from, path).ok_or_else(|| self.missing(from, path, import.at))
                }
                "http" | "https" => self.remote(&address, import.at),
                _ => Err(fail(format!("addresses that begin with `{scheme}:` cannot be imported"))),
            };
        }
        self.local(from, &address).ok_or_else(|| self.missing(from, &address, import.at))
    }

    /// The first existing place for a relative or absolute path.
    fn local(&self, from: &Place, address: &str) -> Option<Place> {
        let mut candidates = vec![from.beside(address)];
        if let Some(rooted) = address.strip_prefix('/') {
            // A leading slash means the root of what was given: the archive, or the root file's folder.
            candidates = vec![Place { archive: None, path: address.to_owned() }, self.root.beside(rooted)];
            if from.archive.is_some() {
                candidates = vec![Place { archive: from.archive.clone(), path: rooted.to_owned() }];
            }
        }
        if self.files.edition.is_some_and(Edition::is_2) {
            // As in any relative address, going up beyond the root stays at the root.
            let clamped = path::normalize(address);
            candidates.push(self.root.beside(clamped.trim_start_matches("../")));
        }
        let bases = self.options.bases.iter().map(|base| Place { archive: None, path: path::join(base, address) });
        candidates.into_iter().chain(bases).find(|place| self.is_file(place))
    }

    /// Why a local file cannot be imported: it may be there and not be allowed.
    fn missing(&self, from: &Place, address: &str, at: Span) -> Box<Diagnostic> {
        let place = from.beside(address);
        let denied = match self.session.world.stat(&place.path) {
            Err(error @ WorldError::Denied(_)) if place.archive.is_none() => Some(error.diagnostic(address)),
            _ => None,
        };
        let mut diagnostic =
            denied.unwrap_or_else(|| Diagnostic::at(&rules::IMPORT, at, format!("`{address}` does not exist")));
        diagnostic.span = Some(at);
        Box::new(diagnostic)
    }

    fn is_file(&self, place: &Place) -> bool {
        match &place.archive {
            Some(archive) => archive.contains(&path::normalize(&place.path)),
            None => self.session.world.stat(&place.path).is_ok_and(|stat| stat.kind != FileKind::Folder),
        }
    }

    fn remote(&self, address: &str, at: Span) -> Result<Place, Box<Diagnostic>> {
        match self.session.world.fetch(&Remote::File { address: address.to_owned() }) {
            Ok(fetched) => Ok(Place { archive: None, path: fetched.path }),
            Err(error) => {
                let denied = matches!(error, WorldError::Denied(_));
                let rule = if denied { &rules::IMPORT_DENIED } else { &purlin_value::rules::FETCH_FAILED };
                let mut diagnostic = Diagnostic::at(rule, at, format!("`{address}` could not be fetched"));
                diagnostic.hints = error.diagnostic(address).hints;
                if !denied {
                    diagnostic.hints.push(error.diagnostic(address).message);
                }
                Err(Box::new(diagnostic))
            }
        }
    }

    /// The file that defines a profile: beside the importing file, or in a search folder.
    fn find_profile(&mut self, from: &Place, name: &str) -> Option<Place> {
        if from.archive.is_some() {
            let archive = from.archive.clone()?;
            let path =
                archive.names().find(|path| archive.read(path).is_some_and(|bytes| defines(bytes, name)))?.to_owned();
            return Some(Place { archive: Some(archive), path });
        }
        let folders: Vec<String> = std::iter::once(from.folder()).chain(self.options.bases.iter().cloned()).collect();
        for folder in folders {
            let session = self.session;
            let bare = Place { archive: None, path: path::join(&folder, name.split(':').next().unwrap_or(name)) };
            if self.is_file(&bare) {
                return Some(bare);
            }
            let index = self.profiles.entry(folder.clone()).or_insert_with(|| profiles_in(session, &folder));
            if let Some(path) = index.get(name) {
                return Some(Place { archive: None, path: path.clone() });
            }
        }
        None
    }

    fn file_at(&mut self, place: Place, at: Span) -> Option<usize> {
        if let Some(known) = self.known.get(&place.key()) {
            return *known;
        }
        self.known.insert(place.key(), None); // a file that cannot be read is reported once
        let source = match self.source(&place) {
            Ok(source) => source,
            Err(mut diagnostic) => {
                diagnostic.span = Some(at);
                self.problems.push(diagnostic);
                return None;
            }
        };
        let tree = self.parse(source)?;
        let edition = self.files.edition?;
        let root = tree.root()?;
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
        self.add(place, tree, edition, Role::Imported)
    }

    /// Finds rings among imports, each reported where it closes.
    fn report_rings(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.files.list.len()];
        let mut stack: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((file, next)) = stack.last().copied() {
            if let Some(state) = states.get_mut(file) {
                *state = State::Open;
            }
            let Some(import) = self.files.list.get(file).and_then(|file| file.imports.get(next)).cloned() else {
                if let Some(state) = states.get_mut(file) {
                    *state = State::Done;
                }
                stack.pop();
                continue;
            };
            if let Some(top) = stack.last_mut() {
                top.1 += 1;
            }
            match states.get(import.file) {
                Some(State::New) => stack.push((import.file, 0)),
                Some(State::Open) => self.report_ring(&stack, &import),
                _ => {}
            }
        }
        // A ring's closing import is dropped, so that later phases see no ring.
        for (index, file) in self.files.list.iter_mut().enumerate() {
            file.imports.retain(|import| import.file != index && import.file != usize::MAX);
        }
    }

    fn report_ring(&mut self, stack: &[(usize, usize)], import: &Import) {
        let start = stack.iter().position(|(file, _)| *file == import.file).unwrap_or(0);
        let members = stack.get(start..).unwrap_or(&[]).iter().map(|(file, _)| *file).chain([import.file]);
        let names: Vec<String> =
            members.filter_map(|file| self.files.list.get(file)).map(|file| format!("`{}`", file.path)).collect();
        let message = format!("these files import each other in a ring: {}", names.join(" → "));
        self.problems.push(Diagnostic::at(&rules::IMPORT_LOOP, import.at, message));
        let closing =
            stack.last().and_then(|(file, next)| self.files.list.get_mut(*file)?.imports.get_mut(next.checked_sub(1)?));
        if let Some(closing) = closing {
            closing.file = usize::MAX;
        }
    }
}

/// Whether some node of a service is to be made by another service.
fn substitutes(root: &Entity) -> bool {
    let service = root.one("service_template");
    service
        .is_some_and(|service| service.entries("node_templates").any(|(_, node)| crate::substitute::asks_for_it(node)))
}

/// The scheme of an address, if it has one.
fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let plausible = scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    (plausible && (rest.starts_with("//") || scheme == "file")).then_some((scheme, rest))
}

/// Whether a file's text declares a profile of this name.
fn defines(bytes: &[u8], name: &str) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| profile_of(text).is_some_and(|found| found == name))
}

fn profile_of(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("profile:"))?;
    Some(line.split(" #").next()?.trim().trim_matches(['"', '\'']))
}

/// The profiles that the files of a folder define.
fn profiles_in(session: &Session, folder: &str) -> IndexMap<String, String> {
    let mut found = IndexMap::new();
    for entry in session.world.list(folder).unwrap_or_default() {
        let yaml = entry.name.ends_with(".yaml") || entry.name.ends_with(".yml");
        if !yaml || entry.kind == FileKind::Folder {
            continue;
        }
        let path = path::join(folder, &entry.name);
        if let Ok(bytes) = session.world.read(&path)
            && let Ok(text) = std::str::from_utf8(&bytes)
            && let Some(name) = profile_of(text)
        {
            found.entry(name.to_owned()).or_insert(path);
        }
    }
    found
}
