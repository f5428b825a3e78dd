//! Plans and results of jobs for people and programs.

use super::options::Workflow;
use super::task::Task;
use super::{Job, Request};
use crate::convert::{self, JsonStyle};
use crate::tree::{NodeId, NodeKind, Status};
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;

/// The number of tasks by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// All of them.
    pub total: usize,
    /// Successful tasks.
    pub ok: usize,
    /// Tasks that failed, or left their instance with an error.
    pub error: usize,
    /// Tasks with an unknown result.
    pub unknown: usize,
    /// Tasks that did not have to run.
    pub skipped: usize,
    /// Tasks that could not run.
    pub blocked: usize,
    /// Tasks that changed their instance.
    pub changed: usize,
}

impl std::fmt::Display for Stats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stats { total, ok, error, unknown, skipped, blocked, changed } = self;
        write!(
            f,
            "{total} tasks ({changed} changed, {ok} ok, {error} failed, {blocked} blocked, {unknown} unknown, {skipped} skipped)"
        )
    }
}

impl Job<'_> {
    /// The number of tasks by result.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats { total: self.tasks.len(), ..Stats::default() };
        for task in &self.tasks {
            let slot = match task {
                task if task.is_blocked => &mut stats.blocked,
                task if task.target_status == Status::Error => &mut stats.error,
                Task { status: Some(Status::Ok), .. } => &mut stats.ok,
                Task { status: Some(Status::Error), .. } => &mut stats.error,
                Task { status: None, .. } => &mut stats.skipped,
                _ => &mut stats.unknown,
            };
            *slot += 1;
            stats.changed += usize::from(task.is_changed);
        }
        stats
    }

    /// The name of an instance in reports, with the prefix of its topology.
    fn shown_name(&self, id: NodeId) -> EcoString {
        let tree = &self.ensemble.tree;
        if tree.node(id).kind == NodeKind::Node { tree.full_name(id) } else { tree.node(id).name.clone() }
    }

    /// The instance and the operation of a task.
    pub fn task_names(&self, task: &Task) -> (EcoString, EcoString, EcoString) {
        match self.requests.get(task.request) {
            Some(request) => (self.shown_name(request.target), request.operation.name.clone(), request.reason.clone()),
            None => Default::default(),
        }
    }

    /// Where the operation of a task is written.
    pub fn span(&self, task: &Task) -> Option<purlin_syntax::Span> {
        self.requests.get(task.request).map(|request| request.operation.span)
    }

    /// The plan, for people.
    pub fn plan_text(&self) -> String {
        let options: Vec<String> = self
            .options
            .stored
            .iter()
            .map(|(name, value)| format!("{name} = {}", crate::python::to_text(value, &self.ensemble.tree)))
            .collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(",")) };
        let mut out = format!("Plan for {}{options}:\n\n", self.options.workflow.name());
        let mut last = None;
        for request in self.requests.iter().filter(|request| !request.is_skipped && !request.is_complete) {
            if last != Some(request.target) {
                last = Some(request.target);
                out.push_str(&format!("Node \"{}\" ({}):\n", self.shown_name(request.target), self.words(request)));
            }
            out.push_str(&format!("- operation {}\n", self.label(request)));
        }
        if last.is_none() {
            out.push_str("Nothing to do.\n");
        }
        out
    }

    /// Status, state and whether this ensemble made an instance, as far as is known.
    fn words(&self, request: &Request) -> String {
        let id = request.target;
        let state = self.ensemble.tree.node(id).state.map(|state| state.name());
        let managed = self.record(id).is_created().then_some("managed");
        let words = [Some(self.status(id).name()), state, managed];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Marks requests that need not run because their inputs have not changed.
    pub fn sift(&mut self) {
        for index in 0..self.requests.len() {
            let Some(request) = self.requests.get(index).cloned() else { continue };
            if request.reason == "reconfigure" && !self.has_changed(index, &request) {
                self.skip(index);
                self.complete(index);
            }
        }
    }

    /// The number of requests that are left.
    pub fn pending(&self) -> usize {
        self.requests.iter().filter(|request| !request.is_complete).count()
    }

    /// The plan, for programs.
    pub fn plan_json(&self) -> String {
        let mut nodes: Vec<Val> = Vec::new();
        let mut at = 0;
        let pending: Vec<&Request> = self.requests.iter().filter(|request| !request.is_complete).collect();
        while let Some(first) = pending.get(at) {
            let same: Vec<&&Request> =
                pending.get(at..).unwrap_or(&[]).iter().take_while(|other| other.target == first.target).collect();
            at += same.len().max(1);
            let id = first.target;
            let operation = |request: &&&Request| {
                Val::record([
                    ("operation", Val::str(request.operation.name.clone())),
                    ("reason", Val::str(request.reason.clone())),
                    ("rendered", Val::map(ValMap::default())),
                ])
            };
            let sequence = Val::list(same.iter().map(operation).collect());
            let workflow = first.workflow.unwrap_or(Workflow::Check).name();
            let plan = match first.group.is_some() {
                true => Val::list(vec![Val::record([("workflow", Val::str(workflow)), ("sequence", sequence)])]),
                false => sequence,
            };
            let state = self.ensemble.tree.node(id).state;
            nodes.push(Val::record([
                ("instance", Val::str(self.ensemble.tree.node(id).name.clone())),
                ("status", Val::str(format!("Status.{}", self.status(id).name()))),
                ("state", Val::str(state.map_or("None".to_owned(), |state| format!("NodeState.{}", state.name())))),
                ("managed", self.record(id).created.unwrap_or_default()),
                ("plan", plan),
            ]));
        }
        self.json(&Val::list(nodes))
    }

    fn json(&self, value: &Val) -> String {
        let style = JsonStyle { indent: Some(2), sorted: false, ascii: true };
        convert::to_json(value, &self.ensemble.tree, style).unwrap_or_default() + "\n"
    }

    /// The result of the job, for programs.
    pub fn json_summary(&mut self, elapsed: f64) -> String {
        let stats = self.stats();
        let count = |number: usize| Val::int(i64::try_from(number).unwrap_or(i64::MAX));
        let mut job: Vec<(&str, Val)> = vec![
            ("id", Val::str(self.id.clone())),
            ("status", Val::str(self.job_status().name())),
            ("total", count(stats.total)),
            ("ok", count(stats.ok)),
            ("error", count(stats.error)),
            ("unknown", count(stats.unknown)),
            ("skipped", count(stats.skipped)),
        ];
        if stats.blocked > 0 {
            job.push(("blocked", count(stats.blocked)));
        }
        job.push(("changed", count(stats.changed)));
        job.push(("timeElapsed", Val::float(elapsed)));
        let outputs = self.values(true);
        let outputs =
            outputs.into_iter().map(|(name, value)| (name, super::store::stored(&value, &self.ensemble.tree)));
        let outputs = Val::map(outputs.collect());
        let tasks = self.tasks.iter().map(|task| self.task_summary(task)).collect();
        let summary = Val::record([("job", Val::record(job)), ("outputs", outputs), ("tasks", Val::list(tasks))]);
        self.json(&summary)
    }

    fn task_summary(&self, task: &Task) -> Val {
        let Some(request) = self.requests.get(task.request) else { return Val::null() };
        let node = self.ensemble.tree.node(request.target);
        let text = |text: &str| Val::str(text);
        // Several topologies may have an instance of the same name.
        let full = self.ensemble.tree.full_name(request.target);
        let nested = Some(full).filter(|full| node.kind == NodeKind::Node && *full != node.name);
        let entries = [
            ("status", task.status.map_or_else(Val::null, |status| text(status.name()))),
            ("target", text(&node.name)),
            ("operation", text(&request.operation.name)),
            ("template", text(&node.template)),
            ("type", text(node.type_name())),
            ("targetStatus", text(task.target_status.name())),
            ("targetState", task.target_state.map_or_else(Val::null, |state| text(state.name()))),
            ("changed", Val::bool(task.is_changed)),
            ("configurator", text(request.operation.configurator.class())),
            ("priority", text("required")),
            ("reason", text(&request.reason)),
        ];
        Val::record(entries.into_iter().chain(nested.map(|full| ("nestedName", Val::str(full)))))
    }

    /// The result of a task, in one line.
    pub(super) fn sentence(&self, task: &Task) -> String {
        let Some(request) = self.requests.get(task.request) else { return String::new() };
        let node = self.ensemble.tree.node(request.target);
        let name = match node.name == node.template || node.kind != NodeKind::Node {
            true => node.name.to_string(),
            false => format!("{} ({})", node.name, node.template),
        };
        format!(
            "{} on instance {name} (type {}, status {}) using configurator {} ({}), priority: required, reason: {}",
            request.operation.name,
            node.type_name(),
            task.target_status.name(),
            self.config_name(task.request),
            request.operation.configurator.class(),
            request.reason
        )
    }

    /// The result of the job, for people: one line per task.
    pub fn summary(&self) -> String {
        let mut rows =
            vec![["Task", "Resource", "Operation", "Reason", "Status", "State", "Changed"].map(str::to_owned)];
        for (number, task) in self.tasks.iter().enumerate() {
            let (target, operation, reason) = self.task_names(task);
            let end = match task {
                task if task.is_blocked => "blocked",
                Task { status: None, .. } => "skipped",
                Task { status: Some(Status::Ok), .. } => "success",
                _ => "failed",
            };
            rows.push([
                format!("{} ({end})", number + 1),
                target.to_string(),
                operation.to_string(),
                reason.to_string(),
                task.status.map_or(String::new(), |status| status.name().to_uppercase()),
                task.target_state.map_or(String::new(), |state| state.name().to_owned()),
                if task.is_changed { "Yes" } else { "No" }.to_owned(),
            ]);
        }
        let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..7).map(width).collect();
        let line = |row: &[String; 7]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        rows.iter().map(line).collect()
    }

    /// Skipped tasks are kept only if no other task ran.
    pub fn drop_skipped(&mut self) {
        self.set_installed_aside();
        if self.tasks.iter().any(|task| task.status.is_some()) {
            let kept: Vec<Task> = self.tasks.iter().filter(|task| task.status.is_some()).cloned().collect();
            // Requests refer to tasks by place.
            for (at, task) in kept.iter().enumerate() {
                if let Some(request) = self.requests.get_mut(task.request) {
                    request.task = Some(at);
                }
            }
            self.tasks = kept;
        }
    }
}

/// A record from pairs.
pub(super) fn mapping(entries: Vec<(&str, Val)>) -> Val {
    Val::map(entries.into_iter().map(|(key, value)| (MapKey::from(key), value)).collect())
}
