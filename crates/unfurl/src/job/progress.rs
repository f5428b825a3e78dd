//! Drives a job: the next operation, whether it has to run, its command, its result.

use super::change;
use super::operation::{Configurator, RESULT_TEMPLATE};
use super::options::Workflow;
use super::plan::{self, state};
use super::result::{Outcome, Update};
use super::task::{Dependency, Digest, Shell, Task};
use super::{Job, Request};
use crate::ensemble::report::diagnostic;
use crate::error::{Error, Kind};
use crate::rules;
use crate::tree::{NodeId, NodeKind, Priority, State, Status, Tree};
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_syntax::what::What;

/// The task that runs now.
#[derive(Default)]
pub(super) struct Current {
    pub request: usize,
    pub task: usize,
    pub start_status: Option<Status>,
    pub start_state: Option<State>,
    pub reads: Vec<Dependency>,
    pub inputs: ValMap,
    pub secrets: Vec<String>,
    pub changes: Vec<(NodeId, ValMap)>,
    pub command: Val,
    pub line: String,
    /// Whether it has done anything yet.
    pub is_started: bool,
}

/// A prepared operation.
pub(super) enum Prepared {
    Command(Box<Shell>, Val, String),
    Computed(Outcome, Vec<Update>),
    Delegated(Request),
    Nothing(Outcome),
    /// It is left out, with the reason.
    LeftOut(String),
    /// It cannot start, with the reason.
    Refused(String),
}

impl Job<'_> {
    /// The next command to run; none when the job is done. Operations without a command are completed on the way.
    pub fn next_command(&mut self) -> Option<Shell> {
        loop {
            let request = self.pick()?;
            if let Some(shell) = self.begin(request) {
                return Some(shell);
            }
        }
    }

    /// Evaluates the inputs of all commands before any of them runs, so that a misspelt name does not fail after an
    /// hour of work. Values that do not exist yet are not errors. Returns whether no error was found.
    pub fn rehearse(&mut self) -> bool {
        let mut is_good = true;
        for index in 0..self.requests.len() {
            let Some(request) = self.requests.get(index).filter(|request| !request.is_done()).cloned() else {
                continue;
            };
            self.failed_reads.clear();
            let rehearsed = match request.operation.configurator {
                Configurator::Shell => self.prepare(index, &request).map(|_| ()),
                Configurator::Template => self.try_template(index),
                Configurator::Delegate => self.prepare(index, &request).map(|_| ()),
                _ => Ok(()),
            };
            if let Err(error) = rehearsed
                && self.is_mistake(index, &request, &error)
            {
                self.tell(index, &error);
                is_good = false;
            }
        }
        is_good
    }

    /// Leaves out operations that are handed over to ones that do not exist.
    pub(super) fn leave_out_delegates(&mut self) {
        for index in 0..self.requests.len() {
            let Some(request) = self.requests.get(index).cloned() else { continue };
            if request.operation.configurator == Configurator::Delegate
                && let Ok((Prepared::LeftOut(why), _)) = self.prepare(index, &request)
            {
                self.leave_out(index, &request, &why);
            }
        }
    }

    /// Whether an error is independent of earlier operations: none of them sets a value that it read.
    fn is_mistake(&self, index: usize, request: &Request, error: &Error) -> bool {
        match error.kind {
            Kind::Syntax | Kind::Missing | Kind::Refused => true,
            Kind::Undefined | Kind::Type | Kind::Value | Kind::Invalid => {
                let is_near = |other: &Request| {
                    other.target == request.target || (request.group.is_some() && other.group == request.group)
                };
                let missing = error.plain.as_ref().and_then(|message| match message.what() {
                    What::Unknown { name, .. } => Some(name.as_str()),
                    _ => None,
                });
                let may_set = |(at, other): (usize, &Request)| {
                    at < index && !other.is_done() && is_near(other) && other.operation.may_set(missing)
                };
                let is_set_before = self.requests.iter().enumerate().any(may_set);
                !is_set_before && !self.waits_for_others(request, &self.failed_reads)
            }
            _ => false,
        }
    }

    /// Reports an error at its location, otherwise at the operation.
    pub(super) fn tell(&self, index: usize, error: &Error) {
        let mut problem = diagnostic(self.session, error);
        if problem.span.is_none() {
            problem.span = self.requests.get(index).map(|request| request.operation.span);
        }
        self.session.sink.push(problem);
    }

    /// The present task failed for a reason that was reported.
    pub(super) fn mark_reported(&mut self) {
        if let Some(task) = self.current.as_ref().and_then(|current| self.tasks.get_mut(current.task)) {
            task.is_reported = true;
        }
    }

    fn pick(&mut self) -> Option<usize> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Some(next);
            }
            if self.waiting.is_empty() {
                return None;
            }
            if !std::mem::take(&mut self.has_progress) {
                if self.is_last_round {
                    return None;
                }
                // No remaining operation can change the values they wait for.
                self.is_last_round = true;
            }
            self.ready = std::mem::take(&mut self.waiting).into();
        }
    }

    fn begin(&mut self, index: usize) -> Option<Shell> {
        let request = self.requests.get(index)?.clone();
        if request.is_complete || request.is_skipped {
            return None;
        }
        // Without their artifacts the other operations are not started.
        if !request.installs && self.installation_failed() {
            return None;
        }
        if self.group_failed(&request) {
            self.block(index, "previous operation failed");
            return None;
        }
        if self.earlier_waits(index, &request) {
            self.waiting.push(index);
            return None;
        }
        if let Some(why) = self.need_not_run(index, &request) {
            if why {
                self.skip(index);
            }
            self.complete(index);
            self.hand_over_final(index);
            return None;
        }
        self.failed_reads.clear();
        let prepared = self.prepare(index, &request);
        let read = prepared.as_ref().map_or(&self.failed_reads, |(_, reads)| &reads.attributes);
        if !self.is_last_round && self.waits_for_others(&request, read) {
            self.waiting.push(index);
            return None;
        }
        match &prepared {
            Ok((Prepared::LeftOut(why), _)) => {
                self.leave_out(index, &request, why);
                return None;
            }
            Ok((Prepared::Refused(why), _)) => {
                self.refuse(index, why);
                return None;
            }
            _ => {}
        }
        self.start(index, &request);
        let missing =
            self.missing(&request, prepared.as_ref().map(|(_, reads)| reads.attributes.as_slice()).unwrap_or(&[]));
        let (prepared, reads) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                self.tell(index, &error);
                self.mark_reported();
                self.conclude(Outcome::not_run(&format!("render failed: {}", error.message)));
                return None;
            }
        };
        if let Some(current) = &mut self.current {
            current.secrets = reads.secrets;
            current.inputs = reads.inputs;
            current.reads = reads.attributes;
        }
        if let Some(why) = missing {
            if let Some(task) = self.current.as_ref().and_then(|current| self.tasks.get_mut(current.task)) {
                task.is_blocked = true;
            }
            self.conclude(Outcome::not_run(&format!("could not run: {why}")));
            return None;
        }
        self.carry_out(index, prepared)
    }

    fn carry_out(&mut self, index: usize, prepared: Prepared) -> Option<Shell> {
        if let Some(current) = &mut self.current {
            current.is_started = true;
        }
        match prepared {
            Prepared::Command(mut shell, command, line) => {
                let current = self.current.as_mut()?;
                current.command = command;
                current.line = line;
                shell.secrets.append(&mut current.secrets.clone());
                shell.secrets.extend(self.session.sink.secrets());
                Some(*shell)
            }
            Prepared::Computed(outcome, updates) => {
                let outcome = self.apply(outcome, updates);
                self.conclude(outcome);
                None
            }
            Prepared::Nothing(outcome) => {
                self.conclude(outcome);
                None
            }
            // They were left out before they began.
            Prepared::LeftOut(_) | Prepared::Refused(_) => None,
            Prepared::Delegated(mut request) => {
                // The subtask runs now, and its result is this task's.
                request.parent = self.current.as_ref().map(|current| current.request);
                self.delegating.push(index);
                self.suspend();
                self.requests.push(request);
                self.ready.push_front(self.requests.len() - 1);
                None
            }
        }
    }

    /// Skips an operation that turned out to have nothing to do.
    fn leave_out(&mut self, index: usize, request: &Request, why: &str) {
        let target = &self.ensemble.tree.node(request.target).name;
        let message = format!("`{}` of `{target}` is left out: {why}", request.operation.name);
        self.session.sink.push(Diagnostic::at(&rules::SUSPICIOUS, request.operation.span, message));
        self.complete(index);
        self.hand_over_final(index);
    }

    /// Whether an operation of the same group has failed.
    fn group_failed(&self, request: &Request) -> bool {
        let Some(group) = request.group else { return false };
        let failed = |task: &Task| {
            task.status == Some(Status::Error)
                && self.requests.get(task.request).is_some_and(|other| other.group == Some(group))
        };
        // The tasks of a group are near each other, at the end.
        self.tasks.iter().rev().any(failed)
    }

    /// Whether an operation of the same group that comes before it waits.
    fn earlier_waits(&self, index: usize, request: &Request) -> bool {
        let same = |other: &usize| self.requests.get(*other).is_some_and(|other| other.group == request.group);
        request.group.is_some() && self.waiting.iter().any(|other| *other < index && same(other))
    }

    /// Whether an operation is left out, and if so, whether it is recorded as skipped.
    fn need_not_run(&mut self, index: usize, request: &Request) -> Option<bool> {
        if request.reason == "reconfigure" && !self.has_changed(index, request) {
            return Some(true);
        }
        let node = self.ensemble.tree.node(request.target);
        let status = self.status(request.target);
        if request.operation.name == "check" && request.operation.interface == "Install" {
            return None;
        }
        if self.options.force || request.parent.is_some() {
            return None;
        }
        let wanted = match request.workflow {
            Some(Workflow::Deploy) => Some(Status::Ok),
            Some(Workflow::Stop) => Some(Status::Pending),
            Some(Workflow::Undeploy) => Some(Status::Absent),
            _ => None,
        };
        if wanted == Some(status)
            && node.kind != NodeKind::Relationship
            && !(status == Status::Pending && node.state != state("stopped"))
        {
            return Some(false);
        }
        if let (Some(start), Some(now), Some(Workflow::Deploy)) = (request.start_state, node.state, request.workflow)
            && node.kind == NodeKind::Node
        {
            let reached = State(start.0 + 1);
            if Some(now) > state("started") {
                let can_start = Some(now) <= state("stopped");
                return (request.operation.name == "start" && !can_start).then_some(false);
            }
            if now > reached {
                return Some(false);
            }
        }
        None
    }

    /// Whether the inputs of an operation have changed since the last time.
    pub(super) fn has_changed(&mut self, index: usize, request: &Request) -> bool {
        let key = crate::eval::special::full_key_of(&self.ensemble.tree, request.target);
        let Some(earlier) = self.log.find(&key, &request.operation.name).cloned() else { return false };
        let excluded = excluded(&request.operation.configurator);
        let given = request.operation.inputs.keys().filter_map(MapKey::as_str);
        let given: Vec<&str> = given.filter(|name| !excluded.contains(name)).collect();
        if earlier.keys.is_empty() {
            return !given.is_empty();
        }
        let keys: Vec<&str> = earlier.keys.split(',').collect();
        if keys.iter().any(|key| !key.contains("::") && !given.contains(key)) {
            return true;
        }
        let read = self.evaluate(index, Vec::new(), |inputs| {
            let mut values = Vec::new();
            for key in &keys {
                match key.contains("::") {
                    true => match within_topology(inputs.ctx.engine.tree, key) {
                        Some((id, name)) => {
                            let value = inputs.ctx.engine.attribute(id, name)?.unwrap_or_default();
                            values.push(inputs.ctx.engine.force(value)?);
                        }
                        None => {
                            for value in inputs.ctx.query(key)? {
                                values.push(inputs.ctx.engine.force(value)?);
                            }
                        }
                    },
                    false => values.extend(inputs.get(key)?),
                }
            }
            Ok(values)
        });
        match read {
            Ok((values, _)) => change::digest(&values, &self.ensemble.tree) != earlier.value,
            // A value that cannot be evaluated any more has changed; running the operation shows why.
            Err(_) => true,
        }
    }

    /// Records that an operation did not have to run.
    pub(super) fn skip(&mut self, index: usize) {
        let Some(request) = self.requests.get_mut(index) else { return };
        request.is_skipped = true;
        let task = self.new_task(index);
        self.tasks.push(task);
    }

    pub(super) fn new_task(&self, request: usize) -> Task {
        let target = self.requests.get(request).map_or(self.ensemble.tree.root(), |request| request.target);
        Task {
            request,
            change_id: self.id.clone(),
            previous: None,
            status: None,
            is_blocked: false,
            is_changed: false,
            target_status: self.status(target),
            target_state: self.ensemble.tree.node(target).state,
            result: Val::null(),
            outputs: ValMap::default(),
            inputs: ValMap::default(),
            dependencies: Vec::new(),
            changes: Vec::new(),
            digest: Digest::default(),
            explicit: None,
            is_reported: false,
        }
    }

    pub(super) fn complete(&mut self, index: usize) {
        if let Some(request) = self.requests.get_mut(index) {
            request.is_complete = true;
        }
    }

    /// An operation that does not have to run leaves the end of its workflow to the one before it.
    fn hand_over_final(&mut self, index: usize) {
        let Some(request) = self.requests.get(index).filter(|request| request.is_final).cloned() else { return };
        let before = self.requests.iter().take(index).enumerate().rev();
        let mut before = before
            .filter(|(_, other)| other.group == request.group && other.target == request.target && !other.is_skipped);
        let Some((last, task)) = before.next().and_then(|(at, other)| Some((at, other.task?))) else { return };
        if let Some(last) = self.requests.get_mut(last) {
            last.is_final = true;
        }
        self.finish_workflow(task);
    }

    /// Whether an operation reads values that other operations may still set.
    fn waits_for_others(&self, request: &Request, reads: &[Dependency]) -> bool {
        if request.workflow == Some(Workflow::Undeploy) {
            return false;
        }
        let is_open = |id: NodeId| {
            id != request.target
                && self.requests.iter().any(|other| other.target == id && !other.is_complete && !other.is_skipped)
        };
        reads.iter().any(|read| read.is_live && is_open(read.instance))
    }

    /// A dependency that must work before an operation can run, but does not.
    fn missing(&self, request: &Request, reads: &[Dependency]) -> Option<String> {
        let name = request.operation.name.as_str();
        if matches!(name, "check" | "delete") || matches!(request.reason.as_str(), "force" | "run") {
            return None;
        }
        let tree = &self.ensemble.tree;
        let works = |id: NodeId| {
            let node = tree.node(tree.node(id).shadow.unwrap_or(id));
            let is_up = matches!(node.local_status, Some(Status::Ok | Status::Degraded));
            node.local_status != Some(Status::Error) && (is_up || !node.has_operations || node.kind != NodeKind::Node)
        };
        let required = |id: &NodeId| tree.node(*id).priority == Priority::Required;
        let mut needed: Vec<(String, NodeId)> = Vec::new();
        for read in reads.iter().filter(|read| read.is_live && read.instance != request.target) {
            needed.push((read.query.to_string(), read.instance));
        }
        let node = tree.node(request.target);
        if let Some(host) =
            node.parent.filter(|host| tree.node(*host).kind == NodeKind::Node && node.kind == NodeKind::Node)
        {
            needed.push((tree.node(host).name.to_string(), host));
        }
        let missing: Vec<String> = needed
            .into_iter()
            .filter(|(_, id)| required(id) && !works(*id))
            .map(|(name, id)| match self.status(id) {
                Status::Pending => format!("{name} is not created yet"),
                status => format!("{name} is {}", status.name()),
            })
            .collect();
        (!missing.is_empty()).then(|| format!("required dependencies not ready: {}", missing.join(", ")))
    }

    /// A task begins: its instance is in the state that belongs to it.
    fn start(&mut self, index: usize, request: &Request) {
        let task = self.new_task(index);
        self.tasks.push(task);
        let at = self.tasks.len() - 1;
        if let Some(request) = self.requests.get_mut(index) {
            request.task = Some(at);
        }
        let start_status = self.ensemble.tree.node(request.target).local_status;
        if let (Some(start), Some(node)) = (request.start_state, self.ensemble.tree.node_mut(request.target)) {
            node.state = Some(start);
        }
        let start_state = self.ensemble.tree.node(request.target).state;
        self.current = Some(Current { request: index, task: at, start_status, start_state, ..Current::default() });
    }

    /// A task waits for the one that it delegated to.
    fn suspend(&mut self) {
        let Some(current) = self.current.take() else { return };
        if let Some(task) = self.tasks.get_mut(current.task) {
            task.inputs = current.inputs;
            task.dependencies = current.reads;
        }
    }

    /// The name of a request's configuration.
    pub(super) fn config_name(&self, request: usize) -> String {
        let Some(request) = self.requests.get(request) else { return String::new() };
        let operation = &request.operation;
        match request.reason.is_empty() {
            true => format!("{}.{}", operation.interface, operation.name),
            false => format!("for {}: {}.{}", request.reason, operation.interface, operation.name),
        }
    }

    /// The name of a request in plans.
    pub fn label(&self, request: &Request) -> EcoString {
        plan::label(request)
    }
}

/// The instance of a topology in the place of a node, and its attribute, that a stored key names.
fn within_topology<'k>(tree: &Tree, key: &'k str) -> Option<(NodeId, &'k str)> {
    let (name, attribute) = key.strip_prefix("::")?.split_once("::")?;
    let is_nested = name.contains(':') && !attribute.contains("::");
    tree.by_name(name).filter(|_| is_nested).map(|id| (id, attribute))
}

/// Inputs that do not count as configuration.
pub(super) fn excluded(configurator: &Configurator) -> &'static [&'static str] {
    match configurator {
        Configurator::Shell => &[RESULT_TEMPLATE, "done", "cwd", "echo"],
        Configurator::Template => &[RESULT_TEMPLATE, "done"],
        _ => &[],
    }
}
