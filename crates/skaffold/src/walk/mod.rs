//! Follows requirements from the root file and collects the configurations a run is about, in order.
//!
//! Post-order: what is required comes first, documents of a file in their order. Every file is read once and every
//! (document, profiles) is worked out once, however many edges lead there. An explicit stack, so that a chain may be
//! as long as it likes. It must not know what configurations contain besides `requires` and `profiles`.

mod report;

pub use report::did_you_mean;

use crate::defaults::{self, Surround};
use crate::item::{Item, View};
use crate::load::{Document, File, Format, Loader, missing};
use crate::profile::activation::Surroundings;
use crate::profile::{self, Application, Profiles};
use crate::remote::Fetch;
use crate::requires::{Choice, Edge, Place};
use crate::{modules, remote, rules};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::path;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Which folder relative paths of a configuration start from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bases {
    /// Paths stay as they are written.
    None,
    /// Only required files' paths become absolute, from their own folder.
    Dependencies,
    /// All paths become absolute; those of the root file start where the user stands.
    All,
    /// All paths become relative to the project, from their own file's folder.
    Project,
}

/// What the user asked for.
pub struct Wanted {
    /// The root file, as given.
    pub file: String,
    /// Profiles, in order; `-name` switches one off.
    pub profiles: Vec<String>,
    /// Configurations; all if empty.
    pub modules: Vec<String>,
    /// Whether profiles may switch themselves on.
    pub auto_activation: bool,
    /// Whether asked-for profiles reach required configurations.
    pub propagate: bool,
    /// Whether defaults are filled in.
    pub defaults: bool,
    /// How paths become absolute.
    pub bases: Bases,
    /// Whether `--kube-context` was given.
    pub context_given: bool,
    /// Namespace of the current kube-context.
    pub namespace: String,
    /// The user's home folder.
    pub home: String,
    /// How copies of remote repositories are kept up to date.
    pub sync: remote::Sync,
    /// Which keys are known, and how strictly names are taken.
    pub format: Format,
}

/// A configuration of the result.
#[derive(Clone)]
pub struct Config<'f> {
    /// The file it is in.
    pub file: Rc<File<'f>>,
    /// Its place among the file's documents.
    pub index: usize,
    /// Its name as written, before profiles.
    pub name: EcoString,
    /// The configuration with its profiles and defaults.
    pub item: Item<'f>,
    /// Folder that relative paths start from; `None` if they stay as written.
    pub base: Option<EcoString>,
    /// Its active profiles, in order.
    pub profiles: Vec<EcoString>,
    /// Whether it was reached through another file.
    pub is_dependency: bool,
    /// Whether it comes from a remote repository.
    pub is_remote: bool,
    /// Whether it is a module written inside another document.
    pub is_inline: bool,
    /// What it requires: file and place of each document.
    pub requires: Vec<(usize, usize)>,
    /// Where it starts.
    pub span: Span,
    /// Full path of where the user stands.
    pub here: Rc<str>,
}

impl Config<'_> {
    /// The name, or a description where there is none.
    pub fn label(&self) -> String {
        if self.name.is_empty() { format!("index {}", self.index) } else { self.name.to_string() }
    }
}

/// One visit of a document; visits point back to the one that led there.
struct Visit {
    profiles: Vec<EcoString>,
    from: Option<usize>,
    edge: Option<Span>,
    open: bool,
}

type Key = (usize, usize, bool);

enum Frame<'f> {
    File(FileFrame<'f>),
    Config(Box<ConfigFrame<'f>>),
}

struct FileFrame<'f> {
    file: Rc<File<'f>>,
    /// Names wanted of this file; all if empty.
    names: Vec<EcoString>,
    /// Profiles asked for.
    asked: Rc<[EcoString]>,
    required: bool,
    dependency: bool,
    remote: bool,
    next: usize,
    /// The visit that asked, and where.
    from: Option<usize>,
    edge: Option<Span>,
}

struct ConfigFrame<'f> {
    config: Config<'f>,
    required: bool,
    visit: usize,
    edges: std::vec::IntoIter<Edge>,
    /// Profiles its file was asked for.
    asked: Rc<[EcoString]>,
}

/// The walk of one run.
pub struct Walk<'w, 'f> {
    loader: &'w Loader<'f>,
    wanted: &'w Wanted,
    around: &'w Surroundings,
    visits: Vec<Visit>,
    seen: HashMap<Key, usize>,
    surveys: HashMap<(usize, usize), Option<Rc<Profiles>>>,
    names: HashMap<EcoString, EcoString>,
    entered: HashSet<usize>,
    profile_names: HashSet<EcoString>,
    result: Vec<Config<'f>>,
    here: Rc<str>,
    fetch: Option<&'w Fetch<'w>>,
}

impl<'w, 'f> Walk<'w, 'f> {
    /// A walk that has not started.
    pub fn new(loader: &'w Loader<'f>, wanted: &'w Wanted, around: &'w Surroundings) -> Self {
        Walk {
            loader,
            wanted,
            around,
            visits: Vec::new(),
            seen: HashMap::new(),
            surveys: HashMap::new(),
            names: HashMap::new(),
            entered: HashSet::new(),
            profile_names: HashSet::new(),
            result: Vec::new(),
            here: loader.here().into(),
            fetch: None,
        }
    }

    /// The same with another way to repositories than the world's own.
    pub fn fetching(mut self, fetch: &'w Fetch<'w>) -> Self {
        self.fetch = Some(fetch);
        self
    }

    /// All configurations, in order. Problems are reported; what could be resolved is there all the same.
    pub fn run(mut self) -> Vec<Config<'f>> {
        let Some(root) = self.root() else { return Vec::new() };
        let asked: Rc<[EcoString]> = self.wanted.profiles.iter().map(EcoString::from).collect();
        let mut stack = vec![Frame::File(FileFrame {
            file: root,
            names: Vec::new(),
            asked,
            required: false,
            dependency: false,
            remote: false,
            next: 0,
            from: None,
            edge: None,
        })];
        while let Some(frame) = stack.last_mut() {
            let next = match frame {
                Frame::File(file) => self.next_document(file),
                Frame::Config(config) => self.next_edge(config),
            };
            match next {
                Next::Enter(frame) => stack.push(frame),
                Next::Skip => {}
                Next::Done => {
                    if let Some(Frame::Config(frame)) = stack.pop() {
                        self.finish(*frame);
                    }
                }
            }
        }
        self.check_names();
        self.result
    }

    fn root(&self) -> Option<Rc<File<'f>>> {
        let given = self.wanted.file.as_str();
        let full = if given == "-" { given.to_owned() } else { path::join(self.loader.here(), given) };
        match self.loader.file(&full) {
            Ok(file) => file,
            Err(reason) => {
                self.loader.sink().push(missing(&reason, given, None, None));
                None
            }
        }
    }

    /// Moves on to the next document of a file.
    fn next_document(&mut self, frame: &mut FileFrame<'f>) -> Next<'f> {
        if frame.next == 0 && !self.enter(&frame.file) {
            return Next::Done;
        }
        if frame.next >= frame.file.documents.len() {
            return Next::Done;
        }
        let index = frame.next;
        frame.next += 1;
        self.visit(frame, index)
    }

    /// What is checked once per file: names are unique, in the file and in the run.
    fn enter(&mut self, file: &Rc<File<'f>>) -> bool {
        if !self.entered.insert(file.id) {
            return true;
        }
        let mut sound = true;
        let mut here: HashMap<&EcoString, Span> = HashMap::new();
        for document in &file.documents {
            modules::check_mappings(document, &file.folder, self.loader.sink());
            for profile in document.item.view().get("profiles").into_iter().flat_map(View::items) {
                self.profile_names.insert(profile.text_of("name").as_ref().into());
            }
            if document.name.is_empty() {
                continue;
            }
            let name = &document.name;
            let span = document.item.view().at(&["metadata", "name"]).and_then(View::span).unwrap_or(document.span);
            if let Some(first) = here.insert(name, span) {
                let message = format!("two configurations named `{name}` stand in `{}`", file.source.path());
                let diagnostic = Diagnostic::at(&rules::DUPLICATE_NAME, span, message);
                self.loader.sink().push(diagnostic.label(first, "the first one is here"));
                sound = false;
            }
            match self.names.get(name) {
                Some(other) if *other != file.path => {
                    let (other, own) = (self.loader.shown(other), file.source.path());
                    let message = format!("`{name}` is the name of a configuration in `{other}` and in `{own}`");
                    let hint = "names must be unique over all files of a run";
                    self.loader.sink().push(Diagnostic::at(&rules::DUPLICATE_NAME, span, message).hint(hint));
                    sound = false;
                }
                _ => {
                    self.names.insert(name.clone(), file.path.clone());
                }
            }
        }
        sound
    }

    fn visit(&mut self, frame: &FileFrame<'f>, index: usize) -> Next<'f> {
        let Some(document) = frame.file.documents.get(index) else { return Next::Skip };
        if !document.is_named_by(&frame.names) {
            return Next::Skip;
        }
        let modules = &self.wanted.modules;
        let required =
            frame.required || modules.is_empty() || modules.iter().any(|wanted| *wanted == document.name.as_str());
        let Some(profiles) = self.survey(&frame.file, index) else { return Next::Skip };
        let mut active = profiles.active(frame.asked.iter().map(EcoString::as_str));
        if document.owner.is_some() {
            modules::add_mapped(document, &profiles, &mut active);
        }
        let key = (frame.file.id, index, required);
        if let Some(&visit) = self.seen.get(&key) {
            self.revisit(visit, &active, frame, index);
            return Next::Skip;
        }
        let visit = self.visits.len();
        let mut sorted = active.clone();
        sorted.sort_unstable();
        self.visits.push(Visit { profiles: sorted, from: frame.from, edge: frame.edge, open: true });
        self.seen.insert(key, visit);
        match self.configure(frame, index, &profiles, active) {
            Some((config, edges)) => {
                let edges = edges.into_iter();
                let asked = frame.asked.clone();
                Next::Enter(Frame::Config(Box::new(ConfigFrame { config, required, visit, edges, asked })))
            }
            None => Next::Skip,
        }
    }

    fn survey(&mut self, file: &Rc<File<'f>>, index: usize) -> Option<Rc<Profiles>> {
        if let Some(known) = self.surveys.get(&(file.id, index)) {
            return known.clone();
        }
        let document = file.documents.get(index)?;
        let sink = self.loader.sink();
        let found = profile::survey(document.item.view(), self.around, self.wanted.auto_activation, sink).map(Rc::new);
        self.surveys.insert((file.id, index), found.clone());
        found
    }

    /// Applies profiles and defaults to a fresh copy of a document and reads what it requires.
    fn configure(
        &mut self,
        frame: &FileFrame<'f>,
        index: usize,
        profiles: &Profiles,
        active: Vec<EcoString>,
    ) -> Option<(Config<'f>, Vec<Edge>)> {
        let document = frame.file.documents.get(index)?;
        let sink = self.loader.sink();
        let mut item = document.item.clone();
        let founding = self.wanted.format == Format::Native;
        let how = Application { sink, fallback: document.span, founding, patches: !modules::is_bare(document) };
        if !profile::apply(&mut item, &active, &how) {
            return None;
        }
        if !self.context_agrees(&item, profiles, document.span) {
            return None;
        }
        if self.wanted.defaults {
            let (namespace, home) = (&self.wanted.namespace, &self.wanted.home);
            let around = Surround { namespace, home, sink, fallback: document.span };
            if !defaults::fill(&mut item, &around) {
                return None;
            }
        }
        let mut edges = crate::requires::read(item.view(), &active);
        if founding {
            edges.extend(modules::edges(document, item.view(), &active, &frame.file.folder));
        }
        let base = match self.wanted.bases {
            Bases::None => None,
            Bases::Dependencies => frame.dependency.then(|| frame.file.folder.clone()),
            Bases::Project => Some(self.loader.in_project(&frame.file.folder)),
            Bases::All if frame.dependency => Some(frame.file.folder.clone()),
            Bases::All => Some(EcoString::from(&*self.here)),
        };
        let config = Config {
            file: frame.file.clone(),
            index,
            name: document.name.clone(),
            item,
            base,
            profiles: active,
            is_dependency: frame.dependency,
            is_remote: frame.remote,
            is_inline: document.owner.is_some(),
            requires: Vec::new(),
            span: document.span,
            here: self.here.clone(),
        };
        Some((config, edges))
    }

    /// Follows the next requirement of a configuration.
    fn next_edge(&mut self, frame: &mut ConfigFrame<'f>) -> Next<'f> {
        let Some(edge) = frame.edges.next() else { return Next::Done };
        let config = &mut frame.config;
        let Some((file, is_remote)) = self.target(config, &edge) else { return Next::Skip };
        for document in &file.documents {
            if document.is_named_by(&edge.names) {
                config.requires.push((file.id, document.index));
            }
        }
        self.check_edge(&file, &edge);
        let dependency = config.is_dependency || !Rc::ptr_eq(&file, &config.file);
        let remote = config.is_remote || is_remote;
        let asked = self.asked(frame, &edge);
        Next::Enter(Frame::File(FileFrame {
            file,
            names: edge.names,
            asked,
            required: frame.required,
            dependency,
            remote,
            next: 0,
            from: Some(frame.visit),
            edge: edge.span,
        }))
    }

    /// The profiles a required configuration is asked for.
    fn asked(&self, frame: &ConfigFrame<'f>, edge: &Edge) -> Rc<[EcoString]> {
        if edge.choice == Choice::Shared {
            return frame.asked.clone();
        }
        let mut asked = edge.profiles.clone();
        if edge.choice == Choice::Propagated && self.wanted.propagate {
            for name in &self.wanted.profiles {
                if !asked.iter().any(|known| known == name.as_str()) {
                    asked.push(name.into());
                }
            }
        }
        asked.into()
    }

    /// The file a requirement leads to.
    fn target(&self, config: &Config<'f>, edge: &Edge) -> Option<(Rc<File<'f>>, bool)> {
        let (target, is_remote) = match &edge.place {
            Place::Same => return Some((config.file.clone(), false)),
            Place::Path(written) => (path::join(&config.file.folder, written), false),
            Place::Git(git) => (remote::fetch(self.loader, git, self.wanted.sync, self.fetch, edge.span)?, true),
            Place::Unsupported(kind) => {
                let message = format!("configurations cannot be required from `{kind}` yet");
                let mut diagnostic = Diagnostic::nowhere(&rules::REMOTE, message);
                diagnostic.span = edge.span;
                self.loader.sink().push(diagnostic.hint("copy it into the repository, or use `git`"));
                return None;
            }
        };
        let found = self.loader.locate(&target).and_then(|path| self.loader.file(&path));
        match found {
            Ok(file) => file.map(|file| (file, is_remote)),
            Err(reason) => {
                let target = self.loader.shown(&target);
                self.loader.sink().push(missing(&reason, &target, edge.span, Some(config.file.source.path())));
                None
            }
        }
    }

    fn finish(&mut self, frame: ConfigFrame<'f>) {
        if let Some(visit) = self.visits.get_mut(frame.visit) {
            visit.open = false;
        }
        if frame.required {
            self.result.push(frame.config);
        }
    }
}

enum Next<'f> {
    Enter(Frame<'f>),
    Skip,
    Done,
}

/// The documents of a file as they are written, for checks that look at one file alone.
pub fn as_written<'f>(file: &Rc<File<'f>>, here: &str) -> Vec<Config<'f>> {
    let here: Rc<str> = here.into();
    let config = |document: &Document<'f>| Config {
        file: file.clone(),
        index: document.index,
        name: document.name.clone(),
        item: document.item.clone(),
        base: None,
        profiles: Vec::new(),
        is_dependency: false,
        is_remote: false,
        is_inline: document.owner.is_some(),
        requires: Vec::new(),
        span: document.span,
        here: here.clone(),
    };
    file.documents.iter().map(config).collect()
}
