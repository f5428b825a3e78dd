//! The effects of a finished task on its instance: its status, its state, its attributes, the stored change.

use super::change;
use super::options::Workflow;
use super::plan::state;
use super::progress::{Current, excluded};
use super::result::{Outcome, Update};
use super::task::{Dependency, Digest, Ran};
use super::{Job, Request};
use crate::convert::key_text;
use crate::eval::special::full_key_of;
use crate::tree::{NodeId, NodeKind, Priority, State, Status};
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;

impl Job<'_> {
    /// Takes the result of the command returned by [`Job::next_command`].
    pub fn finish(&mut self, ran: Ran) {
        let Some(index) = self.current.as_ref().map(|current| current.request) else { return };
        let Some(request) = self.requests.get(index).cloned() else { return };
        let success = ran.code == Some(0) && ran.error.is_none() && !ran.timed_out;
        let result = self.ran_value(&ran, &request);
        let mut vars = result.clone();
        vars.insert(MapKey::from("success"), Val::bool(success));
        let before = self.ensemble.tree.node(request.target).local_status;
        let (updates, reads) = self.result_template(index, &request, vars);
        let mut outcome = Outcome { success: Some(success), result: Val::map(result), ..Outcome::default() };
        match updates {
            Ok(updates) => {
                if !self.update_all(index, updates) {
                    outcome.success = Some(false);
                }
            }
            Err(error) => {
                self.tell(index, &error);
                self.mark_reported();
                outcome.success = Some(false);
            }
        }
        let after = self.ensemble.tree.node(request.target).local_status;
        outcome.status = after.filter(|_| after != before);
        let done = self.evaluate(index, Vec::new(), |inputs| inputs.given("done"));
        if let Some(current) = &mut self.current {
            current.reads.extend(reads);
        }
        match done {
            Ok((Some(done), reads)) => {
                if let Some(current) = &mut self.current {
                    current.reads.extend(reads.attributes);
                    current.inputs.extend(reads.inputs);
                }
                outcome.take_done(&done);
            }
            Ok((None, _)) => {}
            Err(error) => {
                self.tell(index, &error);
                self.mark_reported();
                outcome.success = Some(false);
            }
        }
        self.conclude(outcome);
    }

    /// The result of a command, as expressions see it. Values with a secret in them are secret.
    fn ran_value(&self, ran: &Ran, request: &Request) -> ValMap {
        let current = self.current.as_ref();
        let secrets = current.map(|current| current.secrets.as_slice()).unwrap_or(&[]);
        let secret = |text: &str| secrets.iter().any(|secret| !secret.is_empty() && text.contains(secret.as_str()));
        let text = |text: &str| Val::str(text).taint_if(secret(text));
        let line = current.map(|current| current.line.clone()).unwrap_or_default();
        let args = current.map(|current| current.command.clone()).unwrap_or_default();
        let timeout = request.operation.timeout.filter(|_| ran.timed_out).map_or_else(Val::null, Val::int);
        let entries = [
            ("args", args),
            ("returncode", ran.code.map_or_else(Val::null, |code| Val::int(code.into()))),
            ("stdout", text(&without_escapes(&ran.stdout))),
            ("stderr", text(&without_escapes(&ran.stderr))),
            ("cmd", text(&line)),
            ("timeout", timeout),
            ("error", ran.error.as_ref().map_or_else(Val::null, |error| text(error))),
        ];
        entries.into_iter().map(|(key, value)| (MapKey::from(key), value)).collect()
    }

    pub(super) fn apply(&mut self, mut outcome: Outcome, updates: Vec<Update>) -> Outcome {
        let Some(index) = self.current.as_ref().map(|current| current.request) else { return outcome };
        let Some(target) = self.requests.get(index).map(|request| request.target) else { return outcome };
        let before = self.ensemble.tree.node(target).local_status;
        if !self.update_all(index, updates) {
            outcome.success = Some(false);
        }
        let after = self.ensemble.tree.node(target).local_status;
        if after != before {
            outcome.status = after;
        }
        outcome
    }

    /// Applies the changes in a result to instances; returns whether all succeeded.
    fn update_all(&mut self, index: usize, updates: Vec<Update>) -> bool {
        let mut is_good = true;
        for update in updates {
            match self.update(index, update) {
                Ok(changes) => {
                    if let Some(current) = &mut self.current {
                        current.changes.extend(changes);
                    }
                }
                Err(why) => {
                    is_good = false;
                    let span = self.requests.get(index).map(|request| request.operation.span);
                    let mut problem = purlin_syntax::Diagnostic::nowhere(&crate::rules::RESULT, why);
                    problem.span = span;
                    self.session.sink.push(problem);
                    self.mark_reported();
                }
            }
        }
        is_good
    }

    /// Ends the present task with its outcome.
    pub(super) fn conclude(&mut self, outcome: Outcome) {
        let Some(mut current) = self.current.take() else { return };
        let index = current.request;
        let Some(request) = self.requests.get(index).cloned() else { return };
        if !outcome.outputs.is_empty() {
            let changes = self.take_outputs(&request, &outcome.outputs);
            current.changes.extend(changes);
        }
        let success = outcome.success.unwrap_or(true);
        self.count += 1;
        let change_id = change::task_id(&self.id, self.count);
        let status_before = if current.is_started { self.status(request.target) } else { request.planned };
        for (id, _) in &current.changes {
            if *id != request.target {
                self.records.edit(*id).last_config_change = Some(change_id.clone());
            }
        }
        self.settle_status(&request, &outcome, success, &change_id);
        let (is_changed, previous) = self.settle_change(&request, &outcome, &current, &change_id);
        if success {
            self.advance_state(&request, &current);
        }
        let digest = self.digest(&request, &current);
        self.keep_reads(&current.reads);
        let (target_status, target_state) =
            (self.status(request.target), self.ensemble.tree.node(request.target).state);
        let set =
            current.changes.iter().flat_map(|(id, values)| values.iter().map(move |(name, value)| (*id, name, value)));
        let tree = &self.ensemble.tree;
        let set: Vec<Dependency> = set
            .map(|(id, name, value)| Dependency {
                instance: id,
                query: ecow::eco_format!("{}::{}", full_key_of(tree, id), key_text(name)),
                value: value.clone(),
                is_set: true,
                is_live: true,
            })
            .collect();
        if let Some(task) = self.tasks.get_mut(current.task) {
            task.change_id = change_id;
            task.previous = previous;
            task.status = Some(if success { Status::Ok } else { Status::Error });
            task.is_changed = is_changed || target_status != status_before;
            task.target_status = target_status;
            task.target_state = target_state;
            task.result = outcome.result;
            task.outputs = outcome.outputs;
            task.inputs = current.inputs;
            task.dependencies = current.reads;
            task.dependencies.extend(set);
            task.changes = current.changes;
            task.digest = digest;
            task.explicit = outcome.status;
            task.is_reported |= outcome.is_reported;
        }
        self.complete(index);
        self.has_progress = true;
        if request.is_final {
            self.finish_workflow(current.task);
        }
        self.resume(index, success);
    }

    /// The task that waited for a subtask ends with it.
    fn resume(&mut self, index: usize, success: bool) {
        let Some(parent) = self.requests.get(index).and_then(|request| request.parent) else { return };
        if self.delegating.last() != Some(&parent) {
            return;
        }
        self.delegating.pop();
        let subtask = self.requests.get(index).and_then(|request| request.task);
        let explicit = subtask.and_then(|task| self.tasks.get(task)?.explicit);
        let Some((request, task)) =
            self.requests.get(parent).and_then(|request| Some((request.clone(), request.task?)))
        else {
            return;
        };
        let node = self.ensemble.tree.node(request.target);
        let (start_status, start_state) = (node.local_status, node.state);
        let found = self.tasks.get(task);
        let inputs = found.map(|task| task.inputs.clone()).unwrap_or_default();
        let reads = found.map(|task| task.dependencies.clone()).unwrap_or_default();
        self.current =
            Some(Current { request: parent, task, start_status, start_state, reads, inputs, ..Current::default() });
        self.conclude(Outcome { success: Some(success), status: explicit, ..Outcome::default() });
    }

    /// An operation that never runs, because one before it failed.
    pub(super) fn block(&mut self, index: usize, why: &str) {
        self.never_begin(index, true, Outcome { status: Some(Status::Error), ..Outcome::not_run(why) });
    }

    /// Refuses an operation that never runs, because its inputs are wrong.
    pub(super) fn refuse(&mut self, index: usize, why: &str) {
        self.never_begin(index, false, Outcome::not_run(why));
    }

    fn never_begin(&mut self, index: usize, is_blocked: bool, outcome: Outcome) {
        let Some(request) = self.requests.get(index).cloned() else { return };
        let task = self.new_task(index);
        self.tasks.push(task);
        let at = self.tasks.len() - 1;
        if let Some(task) = self.tasks.get_mut(at) {
            task.is_blocked = is_blocked;
        }
        if let Some(request) = self.requests.get_mut(index) {
            request.task = Some(at);
        }
        let node = self.ensemble.tree.node(request.target);
        self.current = Some(Current {
            request: index,
            task: at,
            start_status: node.local_status,
            start_state: node.state,
            ..Current::default()
        });
        self.conclude(outcome);
    }

    fn set_status(&mut self, id: NodeId, status: Status) {
        if let Some(node) = self.ensemble.tree.node_mut(id) {
            node.local_status = Some(status);
        }
    }

    /// Updates the instance's status from a result.
    fn settle_status(&mut self, request: &Request, outcome: &Outcome, success: bool, change: &EcoString) {
        let id = request.target;
        let made = |job: &mut Self| {
            let record = job.records.edit(id);
            if record.created.is_none() {
                record.created = Some(Val::str(change.clone()));
            }
        };
        if let Some(status) = outcome.status {
            self.set_status(id, status);
            let now = self.status(id);
            let is_present = now.is_operational() || now == Status::Error;
            if is_present && !matches!(request.operation.name.as_str(), "check" | "discover") {
                made(self);
            }
        } else if !success {
            match outcome.modified {
                Some(true) => {
                    let required = self.ensemble.tree.node(id).priority == Priority::Required;
                    self.set_status(id, if required { Status::Error } else { Status::Degraded });
                    made(self);
                }
                // The effects of a failed command are unknown.
                None => self.set_status(id, Status::Unknown),
                Some(false) => {}
            }
        } else if outcome.modified == Some(true) && self.ensemble.tree.node(id).kind == NodeKind::Relationship {
            let status = match self.options.workflow {
                Workflow::Deploy => Status::Ok,
                Workflow::Stop => Status::Pending,
                Workflow::Undeploy => Status::Absent,
                _ => return,
            };
            self.set_status(id, status);
        }
    }

    /// Whether a task changed its instance, and which change was before it.
    fn settle_change(
        &mut self,
        request: &Request,
        outcome: &Outcome,
        current: &Current,
        change: &EcoString,
    ) -> (bool, Option<EcoString>) {
        let id = request.target;
        let last = self.record(id).last_change().cloned();
        let status = self.status(id);
        if last.is_none() && status != Status::Pending {
            self.records.edit(id).last_config_change = Some(change.clone());
            return (true, None);
        }
        let is_set = current.changes.iter().any(|(changed, _)| *changed == id);
        if outcome.modified == Some(true) || is_set {
            self.records.edit(id).last_config_change = Some(change.clone());
            return (true, last.filter(|last| last != change));
        }
        (false, None)
    }

    /// Sets the state after a successful operation that did not set one.
    fn advance_state(&mut self, request: &Request, current: &Current) {
        let node = self.ensemble.tree.node(request.target);
        if node.state != current.start_state {
            return;
        }
        let next = match request.start_state {
            Some(start) => Some(State(start.0 + 1)),
            None if request.operation.name == "check" && node.local_status != current.start_status => {
                let is_ours = node.state.is_some() && node.state != state("initial");
                match node.local_status {
                    Some(Status::Ok) => state("started"),
                    Some(Status::Error) => state("error"),
                    Some(Status::Absent) if is_ours => state("deleted"),
                    Some(Status::Absent | Status::Pending) => state("initial"),
                    _ => None,
                }
            }
            None => None,
        };
        if let (Some(next), Some(node)) = (next, self.ensemble.tree.node_mut(request.target)) {
            node.state = Some(next);
        }
    }

    /// The last operation of a workflow succeeded: its instance has the workflow's state.
    pub(super) fn finish_workflow(&mut self, task: usize) {
        let Some((request, status)) =
            self.tasks.get(task).and_then(|task| Some((self.requests.get(task.request)?.clone(), task.status?)))
        else {
            return;
        };
        let Some(workflow) = request.workflow.filter(|_| status != Status::Error) else { return };
        let explicit = self.tasks.get(task).and_then(|task| task.explicit);
        let wanted = explicit.or(match workflow {
            Workflow::Deploy => Some(Status::Ok),
            Workflow::Stop => Some(Status::Pending),
            Workflow::Undeploy => Some(Status::Absent),
            _ => None,
        });
        let Some(wanted) = wanted else { return };
        self.set_status(request.target, wanted);
        let change = self.tasks.get(task).map(|task| task.change_id.clone()).unwrap_or_default();
        let last = self.record(request.target).last_change().cloned();
        let record = self.records.edit(request.target);
        record.last_config_change = Some(change.clone());
        if workflow == Workflow::Deploy && wanted == Status::Ok && record.created.is_none() {
            record.created = Some(Val::str(change.clone()));
        }
        if let Some(task) = self.tasks.get_mut(task) {
            task.is_changed = true;
            task.target_status = wanted;
            if last.as_ref() != Some(&change) {
                task.previous = last;
            }
        }
    }

    /// The values that a later job compares with.
    fn digest(&self, request: &Request, current: &Current) -> Digest {
        let excluded = excluded(&request.operation.configurator);
        let mut keys: Vec<String> = Vec::new();
        let mut values: Vec<&Val> = Vec::new();
        for (name, value) in &current.inputs {
            let name = key_text(name);
            if !excluded.contains(&name.as_str()) && !value.tainted_within() {
                keys.push(name.to_string());
                values.push(value);
            }
        }
        let tree = &self.ensemble.tree;
        for read in current.reads.iter().filter(|read| !read.value.tainted_within()) {
            let query = read.query.to_string();
            if !keys.contains(&query) {
                keys.push(query);
                values.push(&read.value);
            }
        }
        let mut put: Vec<String> = Vec::new();
        for (id, values) in &current.changes {
            let key = full_key_of(tree, *id);
            put.extend(values.keys().map(|name| format!("{key}::{}", key_text(name))));
        }
        let value = if keys.is_empty() { String::new() } else { change::digest(values, tree) };
        Digest { keys: keys.join(","), value, put: put.join(",") }
    }
}

/// A text without terminal escape sequences.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => while chars.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {},
            Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_for_terminals_are_taken_out() {
        assert_eq!(without_escapes("a\u{1b}[1;31mred\u{1b}[0m\u{1b}]0;title\u{7}b"), "aredb");
    }
}
