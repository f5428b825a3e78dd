//! State left by earlier runs: which actions are done, outdated, failed or running; and how to take it down.
//!
//! Runs nothing unless status commands are asked; clusters are asked for their state. Outputs of finished actions are
//! known, so actions that refer to them are resolved, too.

use crate::action::{Action, Kind, Reuse};
use crate::engine::{Need, Node, Project};
use crate::event::{End, Event, Failure, Reporter, Summary};
use crate::executor::Executor;
use crate::local::persistent::Started;
use crate::mask::Mask;
use crate::perform::{Performer, Report};
use crate::select::{dependants, patterns};
use crate::stop::Stop;
use crate::store::{Ending, Store};
use crate::work::Doing;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The state of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateOf {
    /// It is disabled.
    Disabled,
    /// It never ran.
    NeverRun,
    /// Its last result is of this version.
    Done,
    /// Its process runs, at this version.
    Running,
    /// Its last result is of another version; the known difference.
    Outdated(String),
    /// It failed the last time; the reason.
    Failed(String),
    /// Actions that it refers to have not run; their names.
    Waits(Vec<String>),
    /// It could not be resolved; the reason.
    Unknown(String),
}

impl StateOf {
    /// The same without secrets: a reason may come from a cluster and quote the request.
    fn masked(self, mask: &Mask) -> Self {
        match self {
            StateOf::Failed(why) => StateOf::Failed(mask.text(&why)),
            StateOf::Unknown(why) => StateOf::Unknown(mask.text(&why)),
            StateOf::Outdated(why) => StateOf::Outdated(mask.text(&why)),
            other => other,
        }
    }
}

/// Maximum number of awaited actions that are named.
const NAMED: usize = 3;

/// The names of actions that another one waits for.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

impl StateOf {
    /// The reason for this state, in half a sentence.
    pub fn reason(&self) -> String {
        match self {
            StateOf::Disabled => "it is disabled".to_owned(),
            StateOf::NeverRun => "it never ran".to_owned(),
            StateOf::Done => "its last result is of this version".to_owned(),
            StateOf::Running => "its process runs at this version".to_owned(),
            StateOf::Waits(names) if names.is_empty() => "it refers to outputs that are not known".to_owned(),
            StateOf::Waits(names) => format!("it uses outputs of {}", listed(names)),
            StateOf::Outdated(why) | StateOf::Failed(why) | StateOf::Unknown(why) => why.clone(),
        }
    }
}

impl std::fmt::Display for StateOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateOf::Disabled => f.write_str("disabled"),
            StateOf::NeverRun => f.write_str("never run"),
            StateOf::Done => f.write_str("done"),
            StateOf::Running => f.write_str("running"),
            StateOf::Outdated(why) => write!(f, "outdated: {why}"),
            StateOf::Failed(why) => write!(f, "failed: {why}"),
            StateOf::Waits(names) if names.is_empty() => f.write_str("waits for what it refers to"),
            StateOf::Waits(names) => write!(f, "waits for {}", listed(names)),
            StateOf::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// An action and its state.
#[derive(Clone, Debug)]
pub struct Status {
    /// The action.
    pub id: String,
    /// Its state.
    pub state: StateOf,
    /// Its version now.
    pub version: Option<String>,
    /// The key that a result must have to be reused.
    key: Option<String>,
    /// Whether its outputs are known: those that contained a secret were not kept.
    pub has_outputs: bool,
    /// When a run repeats it although it is done.
    pub rerun: Rerun,
    /// Whether the state is what was found, for example in a cluster, and not only what a result says.
    pub is_seen: bool,
}

/// When a run repeats an action although its last result is of this version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rerun {
    /// Never, unless it is forced.
    #[default]
    Never,
    /// Always: its effect cannot be checked.
    Always,
    /// If its status command says so, which is executed only in a run.
    Asked,
}

impl Status {
    fn new(id: &str, state: StateOf) -> Self {
        Status {
            id: id.to_owned(),
            state,
            version: None,
            key: None,
            has_outputs: false,
            rerun: Rerun::Never,
            is_seen: false,
        }
    }
}

/// Which results are taken for the current outputs of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Those of its version.
    SameVersion,
    /// The last one: what it brought up is taken down with it.
    Last,
}

/// The states of all actions, in the order of the project.
pub fn statuses(project: &dyn Project, store: &Store, stop: &Stop) -> Vec<Status> {
    look(project, store, stop, Trust::SameVersion)
}

fn look(project: &dyn Project, store: &Store, stop: &Stop, trust: Trust) -> Vec<Status> {
    let nodes = project.nodes();
    let mut found: Vec<Option<Status>> = nodes.iter().map(|_| None).collect();
    // Whether the outputs of each action are known.
    let mut known = vec![false; nodes.len()];
    for index in dependencies_first(nodes) {
        let Some(node) = nodes.get(index) else { continue };
        let is_known = |other: usize| known.get(other).copied().unwrap_or(false);
        let is_open = |need: &&Need| {
            let state = found.get(need.node).and_then(Option::as_ref).map(|status| &status.state);
            (need.is_runtime && !is_known(need.node)) || matches!(state, Some(StateOf::Waits(_) | StateOf::Unknown(_)))
        };
        let open = node.needs.iter().filter(is_open);
        let mut waits: Vec<String> = open.filter_map(|need| Some(nodes.get(need.node)?.id.clone())).collect();
        waits.sort();
        waits.dedup();
        let mut status = match (node.disabled, waits.is_empty()) {
            (true, _) => Status::new(&node.id, StateOf::Disabled),
            (false, false) => Status::new(&node.id, StateOf::Waits(waits)),
            (false, true) => status(project, store, stop, index, node),
        };
        if let Some(slot) = known.get_mut(index) {
            *slot = learn(project, store, index, &status, trust);
            status.has_outputs = *slot;
        }
        if let Some(slot) = found.get_mut(index) {
            *slot = Some(status);
        }
    }
    found.into_iter().flatten().collect()
}

/// Runs the status commands of the actions that have one and can be resolved. Gives their ids, and whether the command
/// found them done. Results of earlier runs stay as they are.
pub fn asked(project: &dyn Project, store: &Store, executor: &dyn Executor, stop: &Stop) -> Vec<(String, bool)> {
    // Learns the outputs that others refer to.
    let states = statuses(project, store, stop);
    let performer = Performer::new(store, executor, stop);
    let mut found = Vec::new();
    for (index, status) in states.iter().enumerate() {
        if matches!(status.state, StateOf::Disabled | StateOf::Waits(_) | StateOf::Unknown(_)) {
            continue;
        }
        let Ok(action) = project.prepare(index) else { continue };
        if action.status.is_none() || stop.level() != crate::stop::Level::Going {
            continue;
        }
        if let Ok(done) = performer.is_done(&action, &|_| {}) {
            found.push((status.id.clone(), done.is_some()));
        }
    }
    found
}

fn status(project: &dyn Project, store: &Store, stop: &Stop, index: usize, node: &Node) -> Status {
    let id = node.id.clone();
    let _outside = stop.outside();
    let action = match project.prepare(index) {
        Ok(action) => action,
        Err(failure) => {
            return Status::new(&id, StateOf::Unknown(failure.cause.to_string()));
        }
    };
    let state = state_of(store, &action, stop).masked(&Mask::new(action.secrets.iter().map(String::as_str)));
    let rerun = match &action {
        Action { status: Some(_), .. } => Rerun::Asked,
        Action { work: None, persistent: None, image: None, reuse: Reuse::Never, .. } => Rerun::Always,
        _ => Rerun::Never,
    };
    let is_seen = action.work.is_some();
    Status { version: Some(action.version), key: Some(action.key), rerun, is_seen, ..Status::new(&id, state) }
}

/// Passes the outputs of an action to those that refer to it. Returns whether they are known.
fn learn(project: &dyn Project, store: &Store, index: usize, status: &Status, trust: Trust) -> bool {
    let is_done = matches!(status.state, StateOf::Done | StateOf::Running);
    if !is_done && trust == Trust::SameVersion {
        return false;
    }
    let subject = project.subject(index);
    let of_version = status.key.as_ref().and_then(|key| store.find(&subject, key));
    let record = of_version.or_else(|| store.last(&subject));
    let outputs = record.as_ref().and_then(|record| store.outputs(record));
    // Outputs that contained a secret were used, and not kept.
    let is_lost = outputs.is_none() && record.is_some_and(|record| record.ending == Ending::Done);
    let is_known = !is_lost && (is_done || outputs.is_some());
    if is_known {
        project.learn(index, &outputs.unwrap_or_default(), &[]);
    }
    is_known
}

fn state_of(store: &Store, action: &Action, stop: &Stop) -> StateOf {
    // Actions that run once are known by their last result alone.
    if let Some(work) = action.work.as_ref().filter(|_| !matches!(action.kind, Kind::Run | Kind::Test)) {
        let _outside = work.is_remote().then(|| stop.outside());
        let state = work.state(Doing::looking(stop));
        if state != StateOf::Done || !work.leaves_nothing(Doing::looking(stop)) {
            return state;
        }
    }
    if action.persistent.is_some()
        && let Some(started) = Started::read(&store.deploy_note(&action.subject))
        && started.is_alive()
    {
        let is_same = started.version == action.key;
        return if is_same {
            StateOf::Running
        } else {
            StateOf::Outdated("its process runs another version".to_owned())
        };
    }
    if action.reuse == Reuse::Version && store.find(&action.subject, &action.key).is_some() {
        return StateOf::Done;
    }
    match store.last(&action.subject) {
        None => StateOf::NeverRun,
        Some(last) => match &last.ending {
            Ending::Failed(why) => StateOf::Failed(why.clone()),
            _ if last.version != action.key => {
                StateOf::Outdated("its files, values or dependencies changed since its last result".to_owned())
            }
            _ if action.persistent.is_some() => StateOf::Outdated("its process has ended".to_owned()),
            _ => StateOf::Done,
        },
    }
}

/// The states as JSON.
pub fn to_json(statuses: &[Status]) -> String {
    let word = |state: &StateOf| match state {
        StateOf::Disabled => "disabled",
        StateOf::NeverRun => "never-run",
        StateOf::Done => "done",
        StateOf::Running => "running",
        StateOf::Outdated(_) => "outdated",
        StateOf::Failed(_) => "failed",
        StateOf::Waits(_) => "waits",
        StateOf::Unknown(_) => "unknown",
    };
    let entry = |status: &Status| {
        let reason = status.state.reason();
        let value = json!({ "state": word(&status.state), "version": status.version, "reason": reason });
        (status.id.clone(), value)
    };
    let all: serde_json::Map<String, serde_json::Value> = statuses.iter().map(entry).collect();
    serde_json::to_string_pretty(&json!({ "actions": all })).unwrap_or_default()
}

/// All actions, each after its dependencies. Cycles were reported earlier.
pub(crate) fn dependencies_first(nodes: &[Node]) -> Vec<usize> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut done = vec![false; nodes.len()];
    for start in 0..nodes.len() {
        let mut open = vec![(start, false)];
        while let Some((next, is_left)) = open.pop() {
            let Some(node) = nodes.get(next) else { continue };
            if is_left {
                order.push(next);
            } else if !std::mem::replace(&mut done[next], true) {
                open.push((next, true));
                open.extend(node.needs.iter().map(|need| (need.node, false)));
            }
        }
    }
    order
}

/// The selection of actions to take down.
#[derive(Clone, Debug, Default)]
pub struct Removal {
    /// Ids or patterns of them; all Deploys if empty.
    pub names: Vec<String>,
    /// Also actions that are marked to be kept.
    pub force: bool,
    /// Also Deploys that depend on the named ones.
    pub with_dependants: bool,
}

/// Undoes actions, dependents first, and forgets their results. `Err` reports a wrong name.
pub fn clean_up(
    project: &dyn Project,
    store: &Store,
    executor: &dyn Executor,
    stop: &Stop,
    wanted: &Removal,
    reporter: &mut dyn Reporter,
) -> Result<Summary, String> {
    let nodes = project.nodes();
    let begun = Instant::now();
    let names = &wanted.names;
    let globs = patterns(nodes.iter().map(|node| node.id.as_str()), names)?;
    let is_named = |node: &Node| match globs.is_empty() {
        true => node.kind == Kind::Deploy && !node.disabled,
        false => globs.iter().any(|glob| glob.matches(&node.id)),
    };
    let mut meant: BTreeSet<usize> =
        nodes.iter().enumerate().filter(|(_, node)| is_named(node)).map(|(index, _)| index).collect();
    if wanted.with_dependants {
        let is_deploy = |index: &usize| nodes.get(*index).is_some_and(|node| node.kind == Kind::Deploy);
        meant.extend(dependants(nodes, &meant).into_iter().filter(is_deploy));
    }
    // Also learns the outputs that the cleanup of others may refer to.
    let known = look(project, store, stop, Trust::Last);
    let performer = Performer::new(store, executor, stop);
    let reporter = Mutex::new(reporter);
    let report = |event: &Event<'_>| reporter.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    let mut ends = Vec::new();
    for index in dependencies_first(nodes).into_iter().rev() {
        let Some(node) = nodes.get(index).filter(|_| meant.contains(&index)) else { continue };
        if !wanted.force && project.is_kept(index) {
            let text = "`removeOnCleanup` is false, so it stays; `--force` takes it down as well";
            report(&Event::Warning { id: &node.id, text });
            continue;
        }
        if stop.level() != crate::stop::Level::Going {
            ends.push((node.id.clone(), End::NotStarted, Duration::ZERO));
            continue;
        }
        let began = Instant::now();
        let waits = known.iter().any(|status| status.id == node.id && matches!(status.state, StateOf::Waits(_)));
        let undone = match waits {
            true => undo_unresolved(project, &performer, index, node, &report),
            false => project.prepare(index).and_then(|action| undo(&performer, &action, &report)),
        };
        let end = undone.map_or_else(End::Failed, |()| End::Removed);
        report(&Event::Ended { id: &node.id, version: "", end: &end, at: begun.elapsed(), took: began.elapsed() });
        ends.push((node.id.clone(), end, began.elapsed()));
    }
    let summary = Summary { ends, results: Default::default(), took: begun.elapsed(), signal: stop.signal() };
    let _ = store.sync();
    reporter.into_inner().unwrap_or_else(PoisonError::into_inner).finish(&summary);
    Ok(summary)
}

fn undo(performer: &Performer<'_>, action: &Action, report: Report<'_>) -> Result<(), Failure> {
    let undone = performer.undo(action, report)?;
    if !undone && action.kind == Kind::Deploy {
        report(&Event::Warning { id: &action.id, text: "it has no `cleanupCommand`, so nothing was taken down" });
    }
    Ok(())
}

/// Takes down what is left of an action that refers to outputs that were not kept: the processes it started, or its
/// objects in a cluster. Does nothing for an action that never ran.
fn undo_unresolved(
    project: &dyn Project,
    performer: &Performer<'_>,
    index: usize,
    node: &Node,
    report: Report<'_>,
) -> Result<(), Failure> {
    let subject = project.subject(index);
    let has_run = performer.store.last(&subject).is_some();
    let remains = project.remains(index);
    let is_known = remains.is_some();
    let blank = || Action { subject, ..Action::new(node.id.as_str(), node.kind, "", node.span) };
    let action = remains.unwrap_or_else(blank);
    let undone = performer.undo(&action, report)?;
    if has_run && !is_known && !undone {
        let text = "it refers to outputs that are not known, so its `cleanupCommand` was not run";
        report(&Event::Warning { id: &node.id, text });
    }
    Ok(())
}
