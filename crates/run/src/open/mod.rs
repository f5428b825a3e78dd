//! The list of what can be run: for each dialect how its projects are opened for the engine, and which commands have
//! something to do on them.
//!
//! Commands ask for a project and get one, whatever its dialect. Opening resolves, and runs nothing.

mod garden;
mod objects;
mod service;
mod skaffold;

use crate::action::Kind;
use crate::cluster::Clusters;
use crate::engine::Project;
use crate::store::Key;
use purlin_compiler::{ENGINES, detect, loose_objects};
use purlin_garden::scripts::Script;
use purlin_model::{Detection, Request};
pub use purlin_skaffold::forest::Forest;
use purlin_skaffold::walk::Config;
use purlin_value::Session;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What can be run.
pub struct Runnable {
    /// The name of its dialect.
    pub name: &'static str,
    /// What its projects are, for messages: "purlin test has nothing to do on …".
    pub noun: &'static str,
    /// The kinds of actions that its projects may have.
    pub kinds: &'static [Kind],
    /// Whether its Deploys bring objects to a cluster.
    pub has_objects: bool,
    /// Whether the cluster context that a command names decides the configuration.
    takes_context: bool,
    /// Scripts that run before the project is resolved.
    pub scripts: fn(&Session, &Request) -> Vec<Script>,
    open: Open,
}

type Open = for<'p, 'f> fn(&Site<'p, 'f>) -> Result<Box<dyn Project + 'p>, Refused>;

const DEPLOY_ONLY: &[Kind] = &[Kind::Deploy];

const fn deploys(name: &'static str, noun: &'static str, open: Open) -> Runnable {
    Runnable {
        name,
        noun,
        kinds: DEPLOY_ONLY,
        has_objects: true,
        takes_context: false,
        scripts: |_, _| Vec::new(),
        open,
    }
}

/// Everything that can be run. Plain objects belong to no dialect.
pub const RUNNABLE: &[Runnable] = &[
    Runnable {
        name: purlin_garden::DIALECT.name,
        noun: "a Garden project",
        kinds: &[Kind::Build, Kind::Deploy, Kind::Run, Kind::Test],
        has_objects: true,
        takes_context: false,
        scripts: purlin_garden::scripts::scripts,
        open: garden::open,
    },
    Runnable {
        kinds: &[Kind::Build, Kind::Deploy, Kind::Test],
        takes_context: true,
        ..deploys(purlin_skaffold::DIALECT.name, "a Skaffold configuration", skaffold::open)
    },
    Runnable { has_objects: false, ..deploys(purlin_tosca::DIALECT.name, "a service", service::open_service) },
    Runnable { has_objects: false, ..deploys(purlin_unfurl::DIALECT.name, "an ensemble", service::open_ensemble) },
    deploys("charts", "Kubernetes objects", objects::open_chart),
    deploys("kustomize", "Kubernetes objects", objects::open),
    OBJECTS,
];

/// Files with Kubernetes objects that belong to no project.
const OBJECTS: Runnable = deploys("objects", "Kubernetes objects", objects::open);

/// What a project is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To run actions of a kind and their dependencies.
    Run(Kind),
    /// To run the steps of a workflow.
    Steps,
    /// To run actions of all kinds again and again.
    Dev,
    /// To compare its actions with those of another state of the project.
    Compare,
    /// To look at what was brought up, and to take it down.
    Look,
}

impl Purpose {
    /// The kind of the actions that are run.
    fn kind(self) -> Option<Kind> {
        match self {
            Purpose::Run(kind) => Some(kind),
            Purpose::Steps => Some(Kind::Run),
            Purpose::Dev | Purpose::Compare | Purpose::Look => None,
        }
    }
}

/// The user's options about opening a project.
#[derive(Debug)]
pub struct Opening {
    /// What it is opened for.
    pub purpose: Purpose,
    /// Whether built images are pushed.
    pub push: bool,
    /// The user's cluster options.
    pub clusters: Arc<Clusters>,
    /// The environment of commands.
    pub env: BTreeMap<String, String>,
}

impl Opening {
    /// The key that marks results as the user's own.
    fn key(&self) -> Key {
        Key::of_user(&self.clusters.env)
    }
}

/// Why a project was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has errors; they are in the session's sink.
    Invalid,
    /// The command cannot be used on it; the reason.
    Usage(String),
}

/// What opened projects borrow from beside their session and request.
pub struct Room<'f> {
    forest: &'f Forest,
    configs: OnceCell<Vec<Config<'f>>>,
}

impl<'f> Room<'f> {
    /// Room for one project.
    pub fn new(forest: &'f Forest) -> Self {
        Room { forest, configs: OnceCell::new() }
    }
}

/// A project before it is opened.
pub(crate) struct Site<'p, 'f> {
    room: &'p Room<'f>,
    session: &'f Session,
    request: &'f Request,
    opening: &'p Opening,
}

/// Detects what a request names, completes the request, and returns its row. `None` if nothing that can be run was
/// found.
pub fn find(session: &Session, request: &mut Request, context: Option<&str>) -> Option<&'static Runnable> {
    request.engines = ENGINES;
    request.chart.include_crds = true;
    let detection = detect(session, request);
    if let Some(found) = loose_objects(session, request, &detection) {
        request.found = Some(found);
        return Some(&OBJECTS);
    }
    let Detection::Project(file, dialect) = detection else { return None };
    let row = RUNNABLE.iter().find(|row| row.name == dialect.name)?;
    request.found = Some(file);
    if row.takes_context {
        request.skaffold.kube_context = context.map(str::to_owned);
    }
    Some(row)
}

impl Runnable {
    /// Whether its projects can have actions of a kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The message that a command of a kind has nothing to do, with the commands that have.
    pub fn nothing_to_do(&self, kind: Kind) -> String {
        let others: Vec<String> = self.kinds.iter().map(|kind| format!("`purlin {}`", kind.name())).collect();
        let others = match others.as_slice() {
            [only] => only.clone(),
            [most @ .., last] => format!("{} or {last}", most.join(", ")),
            [] => String::new(),
        };
        format!("`purlin {}` has nothing to do on {}; use {others}", kind.name(), self.noun)
    }

    /// Opens a project that was found as this. Errors go to the session's sink.
    pub fn open<'p, 'f>(
        &self,
        room: &'p Room<'f>,
        (session, request): (&'f Session, &'f Request),
        opening: &'p Opening,
    ) -> Result<Box<dyn Project + 'p>, Refused> {
        if let Some(kind) = opening.purpose.kind()
            && !self.has(kind)
        {
            return Err(Refused::Usage(self.nothing_to_do(kind)));
        }
        (self.open)(&Site { room, session, request, opening })
    }
}

/// What one resolution leaves for the next one after files have changed.
pub struct Past(pub(crate) purlin_garden::follow::Past);

impl Past {
    /// Opens the project again after only the content of these files has changed, in a session that continues the one
    /// before. `None` if all of it must be resolved.
    pub fn follow<'p>(
        self,
        (session, request): (&'p Session, &'p Request),
        opening: &Opening,
        changed: &[String],
    ) -> Option<Box<dyn Project + 'p>> {
        let resolution = self.0.follow(session, request, changed)?;
        Some(garden::project(resolution, opening))
    }
}
