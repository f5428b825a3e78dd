//! The operations of a workflow and their order: an instance's dependencies come before it, or after it when instances
//! are taken down.

use super::options::{ChangeDetection, Repair, Workflow};
use super::select;
use super::{Job, Request};
use crate::eval::status::target;
use crate::tree::{NodeId, Priority, State, Status};
use ecow::EcoString;
use std::rc::Rc;

/// States of a node's life, by name.
pub(super) fn state(name: &str) -> Option<State> {
    State::parse(name)
}

/// Operations of an interface in the order in which they run, for creating and for removing instances.
const UP: &[(&str, &[&str])] = &[
    ("Standard", &["create", "configure", "start"]),
    ("Configure", &["pre_configure_target", "pre_configure_source", "post_configure_target", "post_configure_source"]),
];
const DOWN: &[(&str, &[&str])] =
    &[("Standard", &["stop", "delete"]), ("Configure", &["remove_target", "remove_source"])];
const STOP: &[(&str, &[&str])] = &[("Standard", &["stop"]), ("Configure", &["remove_target", "remove_source"])];

/// The requests that install artifacts, by the instances that hold them. Groups are numbered from `groups`.
pub(super) fn installation(job: &Job<'_>, instances: &[NodeId], groups: usize) -> Vec<Request> {
    let mut planner = Planner { job, out: Vec::new(), groups, installs: true };
    instances.iter().for_each(|instance| planner.deploy(*instance));
    planner.out
}

/// All requests of a job, and their number of groups.
pub(super) fn requests(job: &Job<'_>) -> (Vec<Request>, usize) {
    let mut planner = Planner { job, out: Vec::new(), groups: 0, installs: false };
    match job.options.workflow {
        Workflow::Undeploy | Workflow::Stop => {
            let reason = job.options.workflow.name();
            for (instance, reason) in select::to_delete(job, |id| planner.is_meant_for_deletion(id).then_some(reason)) {
                planner.workflow(instance, reason, job.options.workflow);
            }
        }
        workflow => {
            for instance in select::instances(job) {
                match workflow {
                    Workflow::Deploy => planner.deploy(instance),
                    other => planner.workflow(instance, other.name(), other),
                }
            }
            if job.options.prune {
                let kept = select::instances(job);
                let unused = select::to_delete(job, |id| (!kept.contains(&id)).then_some("prune"));
                for (instance, reason) in unused {
                    planner.workflow(instance, reason, Workflow::Undeploy);
                }
            }
        }
    }
    (planner.out, planner.groups)
}

struct Planner<'j, 's> {
    job: &'j Job<'s>,
    out: Vec<Request>,
    groups: usize,
    /// Whether this plans the installation of artifacts.
    installs: bool,
}

impl Planner<'_, '_> {
    fn is_meant_for_deletion(&self, id: NodeId) -> bool {
        let template = &self.job.ensemble.tree.node(id).template;
        self.job.options.template.as_ref().is_none_or(|wanted| wanted == template.as_str())
    }

    /// Whether a name filter leaves an instance in.
    fn is_wanted(&self, id: NodeId) -> bool {
        let wanted = &self.job.options.instances;
        self.installs
            || wanted.is_empty()
            || wanted.iter().any(|name| name == self.job.ensemble.tree.node(id).name.as_str())
    }

    /// One operation, if it has an implementation.
    fn operation(
        &mut self,
        id: NodeId,
        interface: &str,
        name: &str,
        reason: &str,
        start: Option<&str>,
        group: Option<(usize, Workflow)>,
    ) -> bool {
        let job = self.job;
        let Some(mut operation) = job.ensemble.operation(id, interface, name) else { return false };
        let mocked = (job.options.dry_run && !operation.is_line)
            || job.session.world.env("UNFURL_MOCK_DEPLOY").is_some_and(|on| !on.is_empty());
        if mocked && let Some(mock) = job.ensemble.mock(id, name) {
            operation = super::operation::Operation { interface: interface.into(), ..mock };
        }
        // Operations excluded by a filter count as run.
        if !self.is_wanted(id) {
            return true;
        }
        let start_state = start.and_then(state).or(operation.entry_state);
        let is_final = group.is_some_and(|(_, workflow)| self.is_last(id, interface, name, workflow));
        self.out.push(Request {
            target: id,
            operation: Rc::new(operation),
            reason: if reason.is_empty() { name.into() } else { reason.into() },
            workflow: group.map(|(_, workflow)| workflow),
            group: group.map(|(group, _)| group),
            start_state,
            is_final,
            is_skipped: false,
            task: None,
            is_complete: false,
            parent: None,
            planned: job.status(id),
            installs: self.installs,
        });
        true
    }

    /// Whether an operation is the last of its interface that has an implementation, even one that cannot be found.
    fn is_last(&self, id: NodeId, interface: &str, name: &str, workflow: Workflow) -> bool {
        let table = match workflow {
            Workflow::Deploy => UP,
            Workflow::Stop => STOP,
            Workflow::Undeploy => DOWN,
            _ => return false,
        };
        let Some((_, order)) = table.iter().find(|(known, _)| *known == interface) else { return false };
        let last = order.iter().rev().find(|name| self.job.ensemble.is_implemented(id, interface, name));
        last == Some(&name)
    }

    /// Plans the deployment of an instance.
    fn deploy(&mut self, id: NodeId) {
        let record = self.job.record(id);
        let status = self.job.status(id);
        let reason = match record.stored {
            true => match self.why_deploy(id, status) {
                Some(reason) => reason,
                None => return,
            },
            false if self.job.options.skip_new && !self.job.options.force => return,
            false => "add",
        };
        let discovers = self.job.has_directive(id, "discover");
        let first =
            if self.job.ensemble.tree.node(id).local_status == Some(Status::Unknown) || status == Status::Unknown {
                Some(Workflow::Check)
            } else if discovers && !status.is_operational() {
                Some(Workflow::Discover)
            } else {
                None
            };
        if let Some(first) = first {
            self.workflow(id, first.name(), first);
            if discovers {
                return;
            }
        }
        match reason {
            "reconfigure" if discovers => {
                self.operation(id, "Install", "discover", reason, None, None);
            }
            "reconfigure" => {
                self.operation(id, "Standard", "configure", reason, Some("configuring"), None);
            }
            _ => self.workflow(id, reason, Workflow::Deploy),
        }
    }

    /// Why an existing instance is deployed again.
    fn why_deploy(&self, id: NodeId, status: Status) -> Option<&'static str> {
        let options = &self.job.options;
        let record = self.job.record(id);
        if options.force {
            return Some("force");
        }
        if !options.skip_new && status != Status::Ok {
            if record.last_change().is_none() {
                return Some("add");
            }
            if matches!(status, Status::Unknown | Status::Pending | Status::Absent) {
                return Some("missing");
            }
        }
        if let Some(reason) = self.why_repair(id, status) {
            return Some(reason);
        }
        let looks = options.change_detection != ChangeDetection::Skip && record.last_config_change.is_some();
        let always = options.change_detection == ChangeDetection::Always;
        (looks && (record.customized.is_none() || always)).then_some("reconfigure")
    }

    fn why_repair(&self, id: NodeId, status: Status) -> Option<&'static str> {
        let is_required = self.job.ensemble.tree.node(id).priority == Priority::Required;
        let status = match status {
            Status::Unknown | Status::Pending if is_required => Status::Error,
            other => other,
        };
        match (self.job.options.repair, status) {
            (Repair::None, _) => None,
            (Repair::Degraded, Status::Degraded | Status::Error) => Some("degraded"),
            (Repair::Error, Status::Error) => Some("error"),
            _ => None,
        }
    }

    /// The operations that a workflow runs on one instance.
    fn workflow(&mut self, id: NodeId, reason: &str, workflow: Workflow) {
        let group = self.groups;
        self.groups += 1;
        match workflow {
            Workflow::Deploy => self.bring_up(id, reason, group),
            Workflow::Undeploy | Workflow::Stop => self.take_down(id, reason, workflow, group),
            Workflow::Check => {
                self.operation(id, "Install", "check", reason, None, None);
            }
            Workflow::Discover | Workflow::Connect => {
                let group = Some((group, workflow));
                self.operation(id, "Install", workflow.name(), reason, None, group);
                for relationship in self.requirements(id) {
                    self.operation(relationship, "Configure", "add_source", reason, None, group);
                }
                for relationship in self.relationships(id) {
                    self.operation(relationship, "Configure", "add_target", reason, None, group);
                }
            }
        }
    }

    fn bring_up(&mut self, id: NodeId, reason: &str, group: usize) {
        let group = Some((group, Workflow::Deploy));
        let node = self.job.ensemble.tree.node(id);
        let (status, now, force) = (self.job.status(id), node.state, self.job.options.force);
        let is = |name: &str| now == state(name);
        let is_missing = matches!(status, Status::Unknown | Status::Absent | Status::Pending) && !is("stopped");
        let mut is_new = now.is_none() || is("creating");
        if is_missing || force || (status == Status::Error && is_new) {
            // Without `create` the next operation creates the instance.
            is_new |= !self.operation(id, "Standard", "create", reason, Some("creating"), group);
        }
        let is_unconfigured = now.is_none() || now < state("configured");
        if is_new || is_unconfigured || (force && !is("started")) || status == Status::Error {
            self.configure(id, reason, group);
        }
        if is_new || !is("started") || force {
            self.operation(id, "Standard", "start", reason, Some("starting"), group);
        }
    }

    /// A node is configured between the pre- and post-operations of its relationships.
    fn configure(&mut self, id: NodeId, reason: &str, group: Option<(usize, Workflow)>) {
        let (targets, sources) = (self.relationships(id), self.requirements(id));
        let mut each = |all: &[NodeId], name: &str| {
            for relationship in all {
                self.operation(*relationship, "Configure", name, reason, Some("configuring"), group);
            }
        };
        each(&targets, "pre_configure_target");
        each(&sources, "pre_configure_source");
        self.operation(id, "Standard", "configure", reason, Some("configuring"), group);
        let mut each = |all: &[NodeId], name: &str| {
            for relationship in all {
                self.operation(*relationship, "Configure", name, reason, Some("configuring"), group);
            }
        };
        each(&sources, "post_configure_source");
        each(&targets, "post_configure_target");
    }

    fn take_down(&mut self, id: NodeId, reason: &str, workflow: Workflow, group: usize) {
        let group = Some((group, workflow));
        let now = self.job.ensemble.tree.node(id).state;
        let is_running = now == state("starting") || now == state("started");
        if is_running || workflow == Workflow::Stop {
            self.operation(id, "Standard", "stop", reason, Some("stopping"), group);
        }
        if workflow == Workflow::Stop {
            return;
        }
        for relationship in self.relationships(id) {
            self.operation(relationship, "Configure", "remove_target", reason, Some("configuring"), group);
        }
        for relationship in self.requirements(id) {
            self.operation(relationship, "Configure", "remove_source", reason, Some("configuring"), group);
        }
        if self.job.record(id).is_created() || self.job.options.destroy_unmanaged {
            self.operation(id, "Standard", "delete", reason, Some("deleting"), group);
        } else {
            self.operation(id, "Install", "revert", reason, None, group);
        }
    }

    /// Relationships whose source is an instance.
    fn requirements(&self, id: NodeId) -> Vec<NodeId> {
        self.job.ensemble.tree.node(id).requirements.clone()
    }

    /// Relationships whose target is an instance.
    fn relationships(&self, id: NodeId) -> Vec<NodeId> {
        let tree = &self.job.ensemble.tree;
        let capabilities = tree.node(id).capabilities.iter();
        let all = capabilities.flat_map(|capability| tree.node(*capability).relationships.iter().copied());
        all.filter(|relationship| target(tree, *relationship) == Some(id)).collect()
    }
}

/// The name of an operation in plans and messages.
pub(super) fn label(request: &Request) -> EcoString {
    let name = &request.operation.name;
    match request.reason.is_empty() || name.contains(request.reason.as_str()) {
        true => name.clone(),
        false => ecow::eco_format!("{name} (reason: {})", request.reason),
    }
}
