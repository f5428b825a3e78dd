//! Follows requirements from the root file and collects the configurations of a run, in order.
//!
//! Post-order: requirements come first, documents of a file in their order. Every file is read once and every
//! (document, profiles) is resolved once, however many edges lead there. Uses an explicit stack, so that chains of any
//! length work. It must not know what configurations contain besides `requires` and `profiles`.

mod config;
mod founding;
mod names;
mod reasons;
mod report;

pub use config::{Bases, Config, Wanted, as_written};

use crate::defaults::{self, Surround};
use crate::load::{File, Format, Loader, Picked, missing};
use crate::profile::activation::Surroundings;
use crate::profile::family::{Member, Patched};
use crate::profile::{self, Application, Profiles};
use crate::remote::Fetch;
use crate::requires::{Choice, Edge, Named, Place};
use crate::{modules, remote};
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::{FastMap, FastSet, path};
use std::rc::Rc;

/// One visit of a document; visits point back to the one that led there.
struct Visit {
    profiles: Vec<EcoString>,
    from: Option<usize>,
    edge: Option<Span>,
    /// Whether it was reached as the module of a required image.
    for_artifact: bool,
    open: bool,
}

/// State of a document in the walk.
#[derive(Clone, Default)]
struct Known {
    /// Whether its file was entered; kept with the file's first document.
    entered: bool,
    /// Its profiles; inner `None` if their conditions cannot be read, which was reported.
    profiles: Option<Option<Rc<Profiles>>>,
    /// Its visit as a document that was not selected itself, and as a selected one.
    visits: [Option<usize>; 2],
}

enum Frame<'f> {
    File(FileFrame<'f>),
    Config(Box<ConfigFrame<'f>>),
}

struct FileFrame<'f> {
    file: Rc<File<'f>>,
    /// The documents of this file that are left to be visited.
    documents: Picked,
    /// Requested profiles.
    asked: Rc<[EcoString]>,
    required: bool,
    dependency: bool,
    remote: bool,
    entered: bool,
    /// Profiles requested in modules of some names.
    named: Rc<[Named]>,
    /// The requesting visit, its location, and whether it is for an artifact.
    from: Option<usize>,
    edge: Option<Span>,
    for_artifact: bool,
}

struct ConfigFrame<'f> {
    config: Config<'f>,
    required: bool,
    visit: usize,
    edges: std::vec::IntoIter<Edge>,
    /// Profiles requested for its file.
    asked: Rc<[EcoString]>,
    named: Rc<[Named]>,
}

/// The walk of one run.
pub struct Walk<'w, 'f> {
    loader: &'w Loader<'f>,
    wanted: &'w Wanted,
    around: &'w Surroundings,
    visits: Vec<Visit>,
    /// By number of the document.
    known: Vec<Known>,
    names: FastMap<EcoString, EcoString>,
    profile_names: FastSet<EcoString>,
    result: Vec<Config<'f>>,
    here: Rc<str>,
    /// The profiles that reach required configurations.
    passed_on: Rc<[EcoString]>,
    nothing: Rc<[EcoString]>,
    patched: Patched,
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
            known: Vec::new(),
            names: FastMap::default(),
            profile_names: FastSet::default(),
            result: Vec::new(),
            here: loader.here().into(),
            passed_on: wanted.profiles.iter().filter(|_| wanted.propagate).map(EcoString::from).collect(),
            nothing: Rc::default(),
            patched: Patched::default(),
            fetch: None,
        }
    }

    /// The same with another way to repositories than the world's own.
    pub fn fetching(mut self, fetch: &'w Fetch<'w>) -> Self {
        self.fetch = Some(fetch);
        self
    }

    /// All configurations, in order. Problems are reported; the resolvable ones are returned anyway.
    pub fn run(mut self) -> Vec<Config<'f>> {
        let loader = self.loader;
        let (is_there, is_sound) = loader.sink().succeeds(|| self.enter_all());
        if is_there && is_sound {
            self.check_names();
        }
        self.result
    }

    /// Visits all files and configurations; false if the first file is missing.
    fn enter_all(&mut self) -> bool {
        let Some(root) = self.root() else { return false };
        let asked: Rc<[EcoString]> = self.wanted.profiles.iter().map(EcoString::from).collect();
        let mut stack = vec![Frame::File(FileFrame {
            documents: root.picked(&[]),
            file: root,
            asked,
            required: false,
            dependency: false,
            remote: false,
            entered: false,
            named: Rc::default(),
            from: None,
            edge: None,
            for_artifact: false,
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
        let patched = std::mem::take(&mut self.patched);
        patched.failed().into_iter().for_each(|problem| self.loader.sink().push(problem));
        true
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
        if !frame.entered && !self.enter(&frame.file) {
            return Next::Done;
        }
        frame.entered = true;
        match frame.documents.next() {
            Some(index) => self.visit(frame, index),
            None => Next::Done,
        }
    }

    /// The state of a document, by its number.
    fn known(&mut self, number: usize) -> &mut Known {
        if number >= self.known.len() {
            self.known.resize(number + 1, Known::default());
        }
        &mut self.known[number]
    }

    fn visit(&mut self, frame: &FileFrame<'f>, index: usize) -> Next<'f> {
        let Some(document) = frame.file.documents.get(index) else { return Next::Skip };
        let modules = &self.wanted.modules;
        let required =
            frame.required || modules.is_empty() || modules.iter().any(|wanted| *wanted == document.name.as_str());
        let Some(profiles) = self.survey(&frame.file, index) else { return Next::Skip };
        let mut active = profiles.active(frame.asked.iter().map(EcoString::as_str));
        if document.owner.is_some() {
            modules::add_mapped(document, &frame.file, &profiles, &mut active);
        }
        self.add_named(frame, document, &profiles, &mut active);
        let visit = self.visits.len();
        let first = self.known(frame.file.first + index).visits[usize::from(required)].get_or_insert(visit);
        if *first != visit {
            let first = *first;
            self.revisit(first, &active, frame, index);
            return Next::Skip;
        }
        let profiles_asked = report::sorted(&active);
        let (from, edge, for_artifact) = (frame.from, frame.edge, frame.for_artifact);
        self.visits.push(Visit { profiles: profiles_asked, from, edge, for_artifact, open: true });
        match self.configure(frame, index, &profiles, active) {
            Some((config, edges)) => {
                let edges = edges.into_iter();
                let (asked, named) = (frame.asked.clone(), frame.named.clone());
                Next::Enter(Frame::Config(Box::new(ConfigFrame { config, required, visit, edges, asked, named })))
            }
            None => {
                self.close(visit);
                Next::Skip
            }
        }
    }

    fn survey(&mut self, file: &Rc<File<'f>>, index: usize) -> Option<Rc<Profiles>> {
        if let Some(known) = &self.known(file.first + index).profiles {
            return known.clone();
        }
        let document = file.documents.get(index)?;
        let sink = self.loader.sink();
        let found = profile::survey(document.item.view(), self.around, self.wanted.auto_activation, sink).map(Rc::new);
        self.known(file.first + index).profiles = Some(found.clone());
        found
    }

    /// Applies profiles and defaults to a fresh copy of a document and reads its requirements.
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
        let reasons = match founding {
            true => self.reasons(frame, document, profiles, &active),
            false => FastMap::default(),
        };
        let member = Member::of(&frame.file, document);
        let patched = &mut self.patched;
        let meter = &self.loader.session().meter;
        let known = frame.file.known.as_deref().map(|known| (known, frame.file.first + index));
        let mut how = Application { sink, meter, fallback: document.span, founding, member, patched, reasons, known };
        if !profile::apply(&mut item, &active, &mut how) {
            return None;
        }
        if !self.context_agrees(&item, profiles, document.span) {
            return None;
        }
        if self.wanted.defaults {
            let (namespace, home) = (&self.wanted.namespace, &self.wanted.home);
            let around = Surround { namespace, home, sink, fallback: document.span, known: None };
            if !defaults::fill(&mut item, &around) {
                return None;
            }
        }
        let mut edges = crate::requires::read(item.view(), &active);
        if founding {
            modules::edges(document, item.view(), &active, &frame.file, &mut edges);
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
        let Some(file) = self.refer_on(file, &edge) else { return Next::Skip };
        let documents = file.picked(&edge.names);
        config.requires.extend(documents.clone().map(|index| file.first + index));
        self.check_edge(&file, &edge);
        let dependency = config.is_dependency || !Rc::ptr_eq(&file, &config.file);
        let remote = config.is_remote || is_remote;
        let asked = self.asked(frame, &edge);
        let named = match edge.choice {
            Choice::Shared => edge.named.iter().chain(&*frame.named).cloned().collect(),
            Choice::Own | Choice::Propagated => edge.named.clone(),
        };
        Next::Enter(Frame::File(FileFrame {
            file,
            documents,
            asked,
            required: frame.required,
            dependency,
            remote,
            entered: false,
            named,
            from: Some(frame.visit),
            edge: edge.span,
            for_artifact: edge.for_artifact,
        }))
    }

    /// The profiles requested for a required configuration.
    fn asked(&self, frame: &ConfigFrame<'f>, edge: &Edge) -> Rc<[EcoString]> {
        let passed_on = match edge.choice {
            Choice::Shared => return frame.asked.clone(),
            Choice::Propagated => &self.passed_on,
            Choice::Own => &self.nothing,
        };
        if edge.profiles.is_empty() {
            return passed_on.clone();
        }
        let further = passed_on.iter().filter(|name| !edge.profiles.contains(name));
        edge.profiles.iter().chain(further).cloned().collect()
    }

    /// The file of a requirement.
    fn target(&self, config: &Config<'f>, edge: &Edge) -> Option<(Rc<File<'f>>, bool)> {
        let (target, is_remote) = match &edge.place {
            Place::Same => return Some((config.file.clone(), false)),
            Place::Named(name) => return Some((self.named_file(config, name, edge)?, false)),
            Place::Path(written) => (path::join(&config.file.folder, written), false),
            Place::Git(git) => (remote::fetch(self.loader, git, self.wanted.sync, self.fetch)?, true),
            Place::Unsupported(source) => {
                self.report_unsupported(source, edge);
                return None;
            }
        };
        let found = self.loader.required(&target);
        match found {
            Ok(file) => file.map(|file| (file, is_remote)),
            Err(reason) => {
                let target = self.loader.shown(&target);
                self.loader.sink().push(missing(&reason, &target, edge.span, Some(config.file.source.path())));
                None
            }
        }
    }

    fn close(&mut self, visit: usize) {
        if let Some(visit) = self.visits.get_mut(visit) {
            visit.open = false;
        }
    }

    fn finish(&mut self, frame: ConfigFrame<'f>) {
        self.close(frame.visit);
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
