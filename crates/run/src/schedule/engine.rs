//! Runs actions in dependency order: checks whether an action is done; if not, runs its dependencies, then its command.
//!
//! An action is resolved only after everything it refers to has run, on the thread that owns the project. Commands run
//! on the threads of the solver.

use crate::action::{Action, Kind};
use crate::apart::product;
use crate::cluster::ClusterDeploy;
use crate::event::{Cause, End, Event, Failure, Reporter, ResultOf, Summary};
use crate::executor::Executor;
use crate::garden::workflow::{Steps, Surface};
use crate::open::Past;
use crate::outputs::Outputs;
use crate::perform::{How, Performed, Performer};
use crate::select::dependants;
use crate::since::Content;
use crate::stop::{Level, Stop};
use crate::store::Store;
use purlin_graph::{Deps, Solver, State, Step};
use purlin_syntax::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the thread that owns the project checks whether the run has to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// A dependency of one action on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The dependency.
    pub node: usize,
    /// It must be done before this one is resolved: its outputs are used.
    pub is_runtime: bool,
    /// It must be done before this one begins.
    pub is_explicit: bool,
}

/// An action before it is resolved.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Whether it is disabled.
    pub disabled: bool,
    /// Its dependencies.
    pub needs: Vec<Need>,
    /// Its source location.
    pub span: Option<Span>,
}

/// The project whose actions are run.
pub trait Project {
    /// All actions.
    fn nodes(&self) -> &[Node];
    /// The folder that results are kept below.
    fn root(&self) -> PathBuf;
    /// The resolved action, after everything it refers to has run.
    fn prepare(&self, node: usize) -> Result<Action, Failure>;
    /// For an action that cannot be resolved: what can be taken down without resolving it.
    fn remains(&self, _node: usize) -> Option<Action> {
        None
    }
    /// The key of an action's results, logs and notes; known without resolving it.
    fn subject(&self, node: usize) -> String {
        self.nodes().get(node).map(|node| node.id.clone()).unwrap_or_default()
    }
    /// The contents of an action, apart from its resolved configuration.
    fn content(&self, _node: usize) -> Content {
        Content::default()
    }
    /// Whether an action uses the whole project, so that any change may affect it.
    fn takes_all(&self, _node: usize) -> bool {
        false
    }
    /// Whether an action is kept when everything is taken down.
    fn is_kept(&self, _node: usize) -> bool {
        false
    }
    /// Records the outputs of an action; those in `secret` must not be shown.
    fn learn(&self, node: usize, outputs: &Outputs, secret: &[String]);
    /// Secrets that must never be shown, whatever prints them.
    fn secrets(&self) -> &[String] {
        &[]
    }
    /// Mistakes that running some actions would only find on the way. Empty if there is no error.
    fn check(&self, _requested: &[usize]) -> Vec<Diagnostic> {
        Vec::new()
    }
    /// The action whose every run this one accompanies, such as the hooks around a deploy.
    fn accompanies(&self, _node: usize) -> Option<usize> {
        None
    }
    /// The deploy to a cluster that a prepared action is.
    fn cluster_deploy(&self, _node: usize) -> Option<Arc<ClusterDeploy>> {
        None
    }
    /// Points a failure at the field of a manifest that the cluster names.
    fn locate(&self, _failure: &mut Failure) {}
    /// The names of its workflows.
    fn workflows(&self) -> Vec<String> {
        Vec::new()
    }
    /// Runs the steps of a workflow; `None` if there is none of this name.
    fn run_workflow(&self, _name: &str, _with: (&dyn Executor, &Stop), _surface: &mut dyn Surface) -> Option<Steps> {
        None
    }
    /// What the next resolution can reuse after files have changed; `is_sound` if this one led to no error.
    fn into_past(self: Box<Self>, _is_sound: bool) -> Option<Past> {
        None
    }
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Number of commands that run at once.
    pub jobs: usize,
    /// Number of actions that run on this machine at once, if others run elsewhere.
    pub local_jobs: Option<usize>,
    /// Run the requested actions even if they are done.
    pub force: bool,
    /// Run Builds even if they are up to date.
    pub force_builds: bool,
    /// Start nothing more once something has failed.
    pub fail_fast: bool,
    /// Leave out dependencies that are not Builds.
    pub skip_dependencies: bool,
    /// Actions that stay as they are; their outputs are known already.
    pub settled: BTreeSet<usize>,
}

/// A successfully finished action.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its outputs.
    pub outputs: Arc<Outputs>,
    /// The names of outputs that must not be shown.
    pub secret: Vec<String>,
    /// Whether it used files that do not match its version.
    pub is_unsure: bool,
}

/// The tasks of the solver: resolving an action, or finishing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Resolve(usize),
    Execute(usize),
}

/// Messages from workers to the thread that owns the project.
enum Message {
    Prepare(usize, Sender<Result<Arc<Action>, Failure>>),
    Learn(usize, Arc<Outputs>, Vec<String>),
}

/// Everything a run needs.
pub struct Run<'r> {
    /// The actions.
    pub project: &'r dyn Project,
    /// Earlier results.
    pub store: &'r Store,
    /// Runs commands.
    pub executor: &'r dyn Executor,
    /// The request to stop.
    pub stop: &'r Stop,
    /// Options of the run.
    pub options: &'r Options,
}

impl Run<'_> {
    /// Runs some actions and their dependencies.
    pub fn run(&self, requested: &[usize], reporter: &mut dyn Reporter) -> Summary {
        let nodes = self.project.nodes();
        self.store.sweep();
        let shared = Shared {
            nodes,
            requested: requested.iter().copied().collect(),
            options: self.options,
            stop: self.stop,
            performer: Performer::new(self.store, self.executor, self.stop).limited(self.options.local_jobs),
            reporter: Mutex::new(reporter),
            begun: Instant::now(),
            slots: nodes.iter().map(|_| Slot::default()).collect(),
            is_late: late(nodes),
        };
        let is_open = |node: &&usize| !self.options.settled.contains(node);
        shared.report(&Event::Begin { total: reachable(nodes, requested).iter().filter(is_open).count() });
        let mut results = BTreeMap::new();
        let mut ends = match self.prepare_early(&shared, requested) {
            true => self.solve(&shared, requested, &mut results),
            // A mistake in the configuration is reported before anything runs.
            false => requested.iter().map(|node| shared.conclude(*node, &State::Cancelled)).collect(),
        };
        ends.sort_by(|a, b| a.0.cmp(&b.0));
        let summary = Summary { ends, results, took: shared.begun.elapsed(), signal: self.stop.signal() };
        if let Err(error) = self.store.sync() {
            shared.report(&Event::Warning { id: "", text: &format!("could not write the journal to disk: {error}") });
        }
        shared.reporter.into_inner().unwrap_or_else(PoisonError::into_inner).finish(&summary);
        summary
    }

    fn solve(
        &self,
        shared: &Shared<'_>,
        requested: &[usize],
        results: &mut BTreeMap<String, ResultOf>,
    ) -> Vec<(String, End, Duration)> {
        let outcome = std::thread::scope(|scope| {
            let (asks, asked) = channel();
            let solving = scope.spawn(|| shared.solve(requested, asks));
            self.serve(shared, &asked);
            solving.join()
        });
        let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut ends = Vec::new();
        for (key, state) in outcome.iter() {
            let Key::Execute(node) = *key else { continue };
            if self.options.settled.contains(&node) {
                continue;
            }
            if let State::Done(finished) = state {
                let version = shared.version(node);
                let Finished { outputs, secret, .. } = &**finished;
                let result = ResultOf { version, outputs: outputs.clone(), secret: secret.clone() };
                results.insert(shared.id(node).to_owned(), result);
            }
            ends.push(shared.conclude(node, state));
        }
        ends
    }

    /// Resolves actions that do not refer to running ones right away: no thread has to wait for them later. Returns
    /// whether all of them could be resolved.
    fn prepare_early(&self, shared: &Shared<'_>, requested: &[usize]) -> bool {
        let mut all_good = true;
        for node in reachable(shared.nodes, requested) {
            if !shared.is_late.get(node).copied().unwrap_or(true)
                && !self.options.settled.contains(&node)
                && let Some(slot) = shared.slots.get(node)
            {
                let _outside = self.stop.outside();
                let prepared = self.project.prepare(node).map(Arc::new);
                if let Err(failure) = &prepared
                    && failure.cause == Cause::Unresolved
                {
                    all_good = false;
                }
                let _ = slot.action.set(prepared);
            }
        }
        all_good
    }

    /// Answers workers until they are gone.
    fn serve(&self, shared: &Shared<'_>, asked: &Receiver<Message>) {
        let mut told = false;
        loop {
            let message = match asked.recv_timeout(LOOK_UP) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    if self.stop.level() != Level::Going && !std::mem::replace(&mut told, true) {
                        shared.report(&Event::Stopping);
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            match message {
                Message::Prepare(node, reply) => {
                    // Fetching for it may hang, and the requester may have been stopped.
                    let _outside = self.stop.outside();
                    let _ = reply.send(self.project.prepare(node).map(Arc::new));
                }
                Message::Learn(node, outputs, secret) => self.project.learn(node, &outputs, &secret),
            }
        }
    }
}

/// All direct and indirect dependencies of a set of actions.
pub fn reachable(nodes: &[Node], from: &[usize]) -> Vec<usize> {
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut open: Vec<usize> = from.to_vec();
    while let Some(next) = open.pop() {
        if let Some(node) = nodes.get(next)
            && seen.insert(next)
        {
            open.extend(node.needs.iter().map(|need| need.node));
        }
    }
    seen.into_iter().collect()
}

/// Actions that accompany some actions.
pub fn accompanying(project: &dyn Project, of: &[usize]) -> Vec<usize> {
    let count = project.nodes().len();
    (0..count).filter(|node| project.accompanies(*node).is_some_and(|other| of.contains(&other))).collect()
}

/// Actions that can be resolved only during the run, because they or their dependencies use outputs.
fn late(nodes: &[Node]) -> Vec<bool> {
    let is_first = |(index, node): (usize, &Node)| node.needs.iter().any(|need| need.is_runtime).then_some(index);
    let first: BTreeSet<usize> = nodes.iter().enumerate().filter_map(is_first).collect();
    let late = &dependants(nodes, &first) | &first;
    (0..nodes.len()).map(|index| late.contains(&index)).collect()
}

/// State of one action during the run.
#[derive(Default)]
struct Slot {
    action: OnceLock<Result<Arc<Action>, Failure>>,
    /// Whether it must be run, once that was determined.
    must_run: OnceLock<bool>,
    end: OnceLock<(End, Duration)>,
}

/// State shared by the threads.
struct Shared<'r> {
    nodes: &'r [Node],
    requested: BTreeSet<usize>,
    options: &'r Options,
    stop: &'r Stop,
    performer: Performer<'r>,
    reporter: Mutex<&'r mut dyn Reporter>,
    begun: Instant,
    slots: Vec<Slot>,
    is_late: Vec<bool>,
}

type Answer = Step<Key, Finished, Cause>;

impl Shared<'_> {
    fn solve(&self, requested: &[usize], asks: Sender<Message>) -> purlin_graph::Outcome<Key, Finished, Cause> {
        // The solver shares the task between threads; a sender is cloned for each use.
        let asks = Mutex::new(asks);
        let task = |key: &Key, deps: &Deps<Key, Finished>| match *key {
            Key::Resolve(node) => match deps.missing(self.before_resolving(node)) {
                Some(missing) => Step::Needs(missing),
                None => Step::Done(Finished { outputs: Arc::default(), secret: Vec::new(), is_unsure: false }),
            },
            Key::Execute(node) => self.execute(node, deps, &asks),
        };
        Solver::new(task)
            .threads(self.options.jobs.max(1))
            .cancel(self.stop.cancel())
            .solve(requested.iter().map(|node| Key::Execute(*node)))
    }

    /// Tasks that must be finished before an action can be resolved.
    fn before_resolving(&self, node: usize) -> Vec<Key> {
        if !self.is_late.get(node).copied().unwrap_or(false) {
            return Vec::new();
        }
        let needs = self.nodes.get(node).map_or(&[][..], |node| &node.needs);
        let key = |need: &Need| if need.is_runtime { Key::Execute(need.node) } else { Key::Resolve(need.node) };
        needs.iter().map(key).collect()
    }

    /// Tasks that must be finished before an action begins.
    fn before_running(&self, node: usize) -> Vec<Key> {
        let needs = self.nodes.get(node).map_or(&[][..], |node| &node.needs);
        let is_wanted = |need: &&Need| {
            let Some(other) = self.nodes.get(need.node) else { return false };
            let is_build = other.kind == Kind::Build;
            need.is_runtime || (need.is_explicit && (is_build || (!other.disabled && !self.options.skip_dependencies)))
        };
        needs.iter().filter(is_wanted).map(|need| Key::Execute(need.node)).collect()
    }

    /// A disabled action never has outputs, unless it is a Build, which runs for its dependents.
    fn disabled_need(&self, node: usize) -> Option<&str> {
        let needs = self.nodes.get(node).map_or(&[][..], |node| &node.needs);
        let others = needs.iter().filter(|need| need.is_runtime).filter_map(|need| self.nodes.get(need.node));
        let mut disabled = others.filter(|other| other.disabled && other.kind != Kind::Build);
        disabled.next().map(|other| other.id.as_str())
    }

    fn execute(&self, node: usize, deps: &Deps<Key, Finished>, asks: &Mutex<Sender<Message>>) -> Answer {
        if self.options.settled.contains(&node) {
            return Step::Done(Finished { outputs: Arc::default(), secret: Vec::new(), is_unsure: false });
        }
        if let Some(other) = self.disabled_need(node) {
            let cause = Cause::Other(format!("it uses outputs of `{other}`, which is disabled"));
            let id = self.id(node).to_owned();
            let span = self.nodes.get(node).and_then(|node| node.span);
            return self.fail(node, Failure { id, cause, command: None, tail: Vec::new(), span }, Instant::now());
        }
        if let Some(missing) = deps.missing(self.before_resolving(node)) {
            return Step::Needs(missing);
        }
        if self.is_behind_broken(node, asks)
            && let Some(missing) = deps.missing(self.before_running(node))
        {
            return Step::Needs(missing);
        }
        let Some(slot) = self.slots.get(node) else { return Step::Fail(Cause::Other("no such action".into())) };
        let began = Instant::now();
        let action = match slot.action.get_or_init(|| self.ask(node, asks)) {
            Ok(action) => action.clone(),
            Err(failure) => return self.fail(node, failure.clone(), began),
        };
        if !slot.must_run.get().copied().unwrap_or(false) {
            if !self.is_forced(node) {
                match self.performer.is_done(&action, &|event| self.report(event)) {
                    Ok(Some((end, outputs, secret))) => {
                        return self.finish(node, &action, (end, outputs, secret), false, began, asks);
                    }
                    Ok(None) => {}
                    Err(failure) => return self.fail(node, failure, began),
                }
            }
            let _ = slot.must_run.set(true);
        }
        if let Some(missing) = deps.missing(self.before_running(node)) {
            return Step::Needs(missing);
        }
        if self.stop.level() != Level::Going {
            return self.fail(node, self.performer.failure(&action, Cause::Stopped), began);
        }
        let began = Instant::now();
        let needs = self.nodes.get(node).map_or(&[][..], |node| &node.needs);
        let is_unsure = |need: &Need| deps.get(&Key::Execute(need.node)).is_some_and(|done| done.is_unsure);
        let needed = || self.products_below(node);
        let how = How { force: self.is_forced(node), needs: &needed, is_unsure: needs.iter().any(is_unsure) };
        match self.performer.perform(&action, how, &|event| self.report(event)) {
            Ok((performed, is_unsure)) => {
                let is_requested = self.requested.contains(&node);
                match is_requested.then(|| self.performer.bring_own(&action, &|event| self.report(event))) {
                    Some(Err(failure)) => self.fail(node, failure, began),
                    _ => self.finish(node, &action, performed, is_unsure, began, asks),
                }
            }
            Err(failure) => self.fail(node, failure, began),
        }
    }

    /// The folders in which Builds that an action depends on, directly or not, leave their results.
    fn products_below(&self, node: usize) -> Vec<PathBuf> {
        let product = |node: usize| product(self.slots.get(node)?.action.get()?.as_ref().ok()?);
        reachable(self.nodes, &[node]).into_iter().filter(|other| *other != node).filter_map(product).collect()
    }

    /// Whether something that must run first cannot be resolved. A dependent action is aborted because of it, and is
    /// not resolved itself: values are evaluated once, and their errors belong to the action that contains them.
    fn is_behind_broken(&self, node: usize, asks: &Mutex<Sender<Message>>) -> bool {
        let is_broken = |key: &Key| match *key {
            Key::Execute(need) if !self.options.settled.contains(&need) => {
                let slot = self.slots.get(need);
                slot.is_some_and(|slot| slot.action.get_or_init(|| self.ask(need, asks)).is_err())
            }
            _ => false,
        };
        self.is_late.get(node).copied().unwrap_or(false) && self.before_running(node).iter().any(is_broken)
    }

    fn is_forced(&self, node: usize) -> bool {
        let is_build = || self.nodes.get(node).is_some_and(|node| node.kind == Kind::Build);
        (self.options.force && self.requested.contains(&node)) || (self.options.force_builds && is_build())
    }

    /// Lets the thread that owns the project resolve an action.
    fn ask(&self, node: usize, asks: &Mutex<Sender<Message>>) -> Result<Arc<Action>, Failure> {
        let (reply, answer) = channel();
        let sent = asks.lock().unwrap_or_else(PoisonError::into_inner).send(Message::Prepare(node, reply));
        let answer = sent.ok().and_then(|()| answer.recv().ok());
        answer.unwrap_or_else(|| {
            let id = self.id(node).to_owned();
            Err(Failure { id, cause: Cause::Stopped, command: None, tail: Vec::new(), span: None })
        })
    }

    /// The version of an action, if it was resolved.
    fn version(&self, node: usize) -> String {
        let action = self.slots.get(node).and_then(|slot| slot.action.get()?.as_ref().ok());
        action.map(|action| action.version.clone()).unwrap_or_default()
    }

    fn id(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", |node| node.id.as_str())
    }

    fn finish(
        &self,
        node: usize,
        action: &Action,
        (end, outputs, secret): Performed,
        is_unsure: bool,
        began: Instant,
        asks: &Mutex<Sender<Message>>,
    ) -> Answer {
        let outputs = Arc::new(outputs);
        // Sent before a dependent can be resolved.
        let _ = asks.lock().unwrap_or_else(PoisonError::into_inner).send(Message::Learn(
            node,
            outputs.clone(),
            secret.clone(),
        ));
        self.end(node, &action.version, end, began);
        Step::Done(Finished { outputs, secret, is_unsure })
    }

    fn fail(&self, node: usize, failure: Failure, began: Instant) -> Answer {
        let cause = failure.cause.clone();
        if self.options.fail_fast {
            self.stop.start_nothing();
        }
        self.end(node, &self.version(node), End::Failed(failure), began);
        Step::Fail(cause)
    }

    fn end(&self, node: usize, version: &str, end: End, began: Instant) {
        let took = began.elapsed();
        let at = began.saturating_duration_since(self.begun);
        self.report(&Event::Ended { id: self.id(node), version, end: &end, at, took });
        if let Some(slot) = self.slots.get(node) {
            let _ = slot.end.set((end, took));
        }
    }

    fn report(&self, event: &Event<'_>) {
        self.reporter.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }

    /// The end of an action; for those that never began it is reported only now.
    fn conclude(&self, node: usize, state: &State<Key, Finished, Cause>) -> (String, End, Duration) {
        let id = self.id(node).to_owned();
        if let Some((end, took)) = self.slots.get(node).and_then(|slot| slot.end.get()) {
            return (id, end.clone(), *took);
        }
        let named = |key: &Key| match key {
            Key::Resolve(node) | Key::Execute(node) => self.id(*node).to_owned(),
        };
        let end = match state {
            State::Aborted { roots } => End::Aborted(roots.iter().map(named).collect()),
            State::Cyclic(cycle) => End::Aborted(cycle.path.iter().map(named).collect()),
            _ => End::NotStarted,
        };
        self.report(&Event::Ended { id: &id, version: "", end: &end, at: self.begun.elapsed(), took: Duration::ZERO });
        (id, end, Duration::ZERO)
    }
}
