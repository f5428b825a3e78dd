//! Plans a run without executing it: which actions would run, and why.
//!
//! Runs nothing, so the results of status commands are not known; clusters are asked for their state.

use crate::engine::{Options, Project, reachable};
use crate::past::{Rerun, StateOf, dependencies_first, statuses};
use crate::stop::Stop;
use crate::store::Store;
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Why an action would run, or would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is forced.
    Forced,
    /// It never ran.
    New,
    /// Its last result is of another version; the known difference.
    Changed(String),
    /// Changes since an earlier state of the project affect it; the state, and the change.
    Affected(String, String),
    /// It failed the last time; the reason.
    Failed(String),
    /// It uses the result of another action that would run.
    Dependency(String),
    /// Its effect cannot be checked.
    Always,
    /// Its status command decides.
    Asked,
    /// It could not be resolved; the reason.
    Unknown(String),
    /// Its last result is of this version, or its process runs.
    Done,
}

impl Reason {
    fn word(&self) -> &'static str {
        match self {
            Reason::Forced => "forced",
            Reason::New => "new",
            Reason::Changed(_) => "changed",
            Reason::Affected(..) => "affected",
            Reason::Failed(_) => "failed",
            Reason::Dependency(_) => "dependency",
            Reason::Always => "always",
            Reason::Asked => "status-command",
            Reason::Unknown(_) => "unknown",
            Reason::Done => "done",
        }
    }

    /// Whether the action would run.
    pub fn is_run(&self) -> bool {
        !matches!(self, Reason::Done)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Forced => f.write_str("forced"),
            Reason::New => f.write_str("new: it never ran"),
            Reason::Changed(why) => write!(f, "changed: {why}"),
            Reason::Affected(revision, why) => write!(f, "changed since {revision}: {why}"),
            Reason::Failed(why) => write!(f, "it failed the last time: {why}"),
            Reason::Dependency(id) => write!(f, "dependency: {id} runs"),
            Reason::Always => f.write_str("always: it has no `statusCommand`"),
            Reason::Asked => f.write_str("its `statusCommand` decides"),
            Reason::Unknown(why) => write!(f, "not known: {why}"),
            Reason::Done => f.write_str("up to date"),
        }
    }
}

/// An action of a plan.
#[derive(Clone, Debug)]
pub struct Step {
    /// The action.
    pub id: String,
    /// Why it would run, or would not.
    pub reason: Reason,
}

/// Actions affected by changes since an earlier state: the name of the state, and the reason for each.
pub type Affected<'a> = (&'a str, &'a HashMap<usize, String>);

/// The plan of a run of some actions, dependencies first. Disabled actions are left out.
pub fn plan(
    project: &dyn Project,
    store: &Store,
    stop: &Stop,
    (requested, affected): (&[usize], Option<Affected<'_>>),
    options: &Options,
) -> Vec<Step> {
    let nodes = project.nodes();
    let known: HashMap<String, _> =
        statuses(project, store, stop).into_iter().map(|status| (status.id.clone(), status)).collect();
    let reached: BTreeSet<usize> = reachable(nodes, requested).into_iter().collect();
    let mut running: BTreeSet<usize> = BTreeSet::new();
    let mut steps = Vec::new();
    for index in dependencies_first(nodes).into_iter().filter(|index| reached.contains(index)) {
        let Some(node) = nodes.get(index) else { continue };
        let Some(status) = known.get(&node.id) else { continue };
        let is_asked = requested.contains(&index);
        let is_build = node.kind == crate::action::Kind::Build;
        if status.state == StateOf::Disabled || (options.skip_dependencies && !is_asked && !is_build) {
            continue;
        }
        let after = node.needs.iter().find(|need| running.contains(&need.node)).and_then(|need| nodes.get(need.node));
        let is_forced = (options.force && is_asked) || (options.force_builds && is_build);
        let reason = match (&status.state, after) {
            _ if is_forced => Reason::Forced,
            (StateOf::NeverRun, _) => Reason::New,
            (StateOf::Unknown(why), _) => Reason::Unknown(why.clone()),
            (StateOf::Failed(why), _) => Reason::Failed(why.clone()),
            (StateOf::Waits(_) | StateOf::Outdated(_), Some(after)) => Reason::Dependency(after.id.clone()),
            (StateOf::Waits(names), None) => Reason::Dependency(names.join(", ")),
            (StateOf::Outdated(why), None) => Reason::Changed(why.clone()),
            (StateOf::Done | StateOf::Running, _) if status.rerun == Rerun::Always => Reason::Always,
            (StateOf::Done | StateOf::Running, _) if status.rerun == Rerun::Asked => Reason::Asked,
            (StateOf::Done | StateOf::Running | StateOf::Disabled, _) => Reason::Done,
        };
        let since = affected.and_then(|(revision, reasons)| Some((revision, reasons.get(&index)?)));
        let reason = match (reason, since) {
            (
                Reason::New | Reason::Changed(_) | Reason::Dependency(_) | Reason::Always | Reason::Asked,
                Some((revision, why)),
            ) => Reason::Affected(revision.to_owned(), why.clone()),
            (reason, _) => reason,
        };
        if reason.is_run() {
            running.insert(index);
        }
        steps.push(Step { id: node.id.clone(), reason });
    }
    steps
}

/// The plan as text: the actions to run, and how many are up to date.
pub fn to_text(steps: &[Step]) -> String {
    let width = steps.iter().map(|step| step.id.len()).max().unwrap_or(0);
    let line = |step: &Step| format!("{:width$}  {}\n", step.id, step.reason);
    let runs = steps.iter().filter(|step| step.reason.is_run()).count();
    let lines: String = steps.iter().map(line).collect();
    format!("{lines}{runs} of {} would run; nothing was run\n", steps.len())
}

/// The plan as JSON.
pub fn to_json(steps: &[Step]) -> String {
    let entry = |step: &Step| {
        json!({
            "id": step.id, "runs": step.reason.is_run(), "reason": step.reason.word(), "text": step.reason.to_string(),
        })
    };
    let all: Vec<serde_json::Value> = steps.iter().map(entry).collect();
    serde_json::to_string_pretty(&json!({ "plan": all })).unwrap_or_default() + "\n"
}
