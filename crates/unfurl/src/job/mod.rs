//! Jobs: the operations to run on instances, their order, and the effects of their results on the instances.
//!
//! A job does no work itself: [`Job::next_command`] returns the next command to run, [`Job::finish`] takes its result.
//! Everything that needs no process happens in between. Stored files are made by [`store`]; nothing here does I/O.

mod evaluate;
mod finish;
mod install;
pub mod operation;
pub mod options;
mod plan;
mod prepare;
mod progress;
pub mod report;
mod result;
mod saved;
mod select;
pub mod task;

pub use saved::{change, record, store};

use crate::check;
use crate::ensemble::build::Instances;
use crate::ensemble::overlooked::{HOST, HOSTED_ON, unconnected};
use crate::ensemble::service::Service;
use crate::ensemble::{self, Ensemble};
use crate::eval::status::{effective, target};
use crate::rules;
use crate::tree::{NodeId, NodeKind, State, Status};
use crate::val::{Val, ValMap};
use ecow::EcoString;
use operation::{Configurator, Operation};
use options::{Options, Workflow};
use purlin_model::project::Request as Asked;
use purlin_syntax::{Diagnostic, Hint, Severity, suggest, what};
use purlin_tosca::rules as tosca_rules;
use purlin_value::world::Moment;
use purlin_value::{Session, Value};
use record::{Record, Records};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use store::Log;
use task::Task;

/// An operation that is to run on an instance.
#[derive(Clone, Debug)]
pub struct Request {
    /// The instance.
    pub target: NodeId,
    /// The operation.
    pub operation: Rc<Operation>,
    /// Why it runs.
    pub reason: EcoString,
    /// The workflow of its group; none if it changes nothing.
    workflow: Option<Workflow>,
    /// The operations that must all succeed.
    group: Option<usize>,
    /// The state the instance is in while it runs.
    start_state: Option<State>,
    /// Whether it is the last one for its target.
    is_final: bool,
    /// Whether it turned out not to be necessary.
    is_skipped: bool,
    /// The task that was made of it.
    task: Option<usize>,
    /// Whether it is finished.
    is_complete: bool,
    /// The task that waits for this one.
    parent: Option<usize>,
    /// The instance's status before the job.
    planned: Status,
    /// Whether it installs an artifact that others need.
    installs: bool,
}

impl Request {
    /// Whether it is finished or skipped.
    pub fn is_done(&self) -> bool {
        self.is_complete || self.is_skipped
    }
}

/// A job.
pub struct Job<'s> {
    session: &'s Session,
    /// The ensemble; its instances change while the job runs.
    pub ensemble: Ensemble,
    /// The requested options.
    pub options: Options,
    /// Its id.
    pub id: EcoString,
    /// The job before it.
    pub previous: Option<EcoString>,
    /// When it began.
    pub started: Moment,
    /// The finished tasks, in order.
    pub tasks: Vec<Task>,
    records: Records,
    log: Log,
    requests: Vec<Request>,
    /// Requests that may run now, and those that wait for values set by others.
    ready: VecDeque<usize>,
    waiting: Vec<usize>,
    /// Whether a task has finished since waiting requests were last tried.
    has_progress: bool,
    /// How many tasks have finished.
    count: u32,
    /// The effects of the current task on the tree.
    current: Option<progress::Current>,
    /// Requests whose operation delegated to another one.
    delegating: Vec<usize>,
    /// Whether waiting requests are run without the values they wait for.
    is_last_round: bool,
    /// The attributes read by the last failed evaluation.
    failed_reads: Vec<task::Dependency>,
    /// Installation tasks.
    installed: Vec<Task>,
    /// Instances by their topology and the template they are made from.
    by_template: HashMap<(usize, EcoString), Vec<NodeId>>,
    /// Inputs and outputs of nested topologies, as they are stored.
    nested_values: HashMap<NodeId, ValMap>,
}

/// The directive of nodes that may exist already: a job checks before it creates one.
const CHECK: &str = "check";

impl<'s> Job<'s> {
    /// Opens the ensemble a request means, for a job. Problems go to the session's sink.
    pub fn open(session: &'s Session, asked: &Asked, options: Options) -> Option<Self> {
        Job::open_given(session, asked, &Value::null(), options)
    }

    /// The same with inputs that another dialect gives.
    pub fn open_given(session: &'s Session, asked: &Asked, inputs: &Value, options: Options) -> Option<Self> {
        let which = if options.workflow.makes_instances() { Instances::Deployed } else { Instances::Stored };
        let mut ensemble = ensemble::open_with_given(session, asked, which, inputs)?;
        check::refusals(session, &ensemble).into_iter().for_each(|refusal| session.sink.push(refusal));
        ensemble.stores = install::stores(&ensemble.tree);
        let document = &ensemble.manifest.document;
        let records = Records::read(&ensemble.tree, document);
        let previous = document.get("lastJob").and_then(|job| job.get("changeId")).and_then(Val::as_str);
        let previous = previous.map(EcoString::from);
        let started = session.world.now();
        let id = change::job_id(started, previous.as_deref());
        let log = Log::read(session, &ensemble.manifest);
        let is_checked = |service: &Service, template: &EcoString| {
            let directives = service.topology.nodes.get(template).map(|node| node.template.texts("directives"));
            options.check || directives.is_some_and(|words| words.iter().any(|word| word.text == CHECK))
        };
        let mut by_template: HashMap<(usize, EcoString), Vec<NodeId>> = HashMap::new();
        let root = ensemble.tree.root();
        if let Some(root) = ensemble.tree.node_mut(root) {
            root.local_status = None;
        }
        let ids: Vec<NodeId> = ensemble.tree.ids().collect();
        for id in ids {
            let is_stored = records.get(id).is_some_and(|record| record.stored);
            let topology = ensemble.tree.topology_index(id);
            let service = Rc::clone(ensemble.service_at(topology));
            let Some(node) = ensemble.tree.node_mut(id) else { continue };
            match node.kind {
                NodeKind::Node => {
                    by_template.entry((topology, node.template.clone())).or_default().push(id);
                }
                NodeKind::Relationship => node.local_status = Some(Status::Pending),
                _ => {}
            }
            if node.kind == NodeKind::Node && !is_stored {
                node.local_status =
                    Some(if is_checked(&service, &node.template) { Status::Unknown } else { Status::Pending });
            }
        }
        Some(Job {
            session,
            ensemble,
            options,
            id,
            previous,
            started,
            tasks: Vec::new(),
            records,
            log,
            requests: Vec::new(),
            ready: VecDeque::new(),
            waiting: Vec::new(),
            has_progress: false,
            failed_reads: Vec::new(),
            count: 0,
            current: None,
            delegating: Vec::new(),
            is_last_round: false,
            installed: Vec::new(),
            by_template,
            nested_values: HashMap::new(),
        })
    }

    /// Decides the operations to run. Returns whether all of them can be run here; others are reported.
    pub fn plan(&mut self) -> bool {
        self.report_unknown_names();
        let (requests, groups) = plan::requests(self);
        let installers = self.add_installers(&requests);
        self.report_late_hosts();
        if self.options.workflow.makes_instances() {
            unconnected(self.session, &self.ensemble);
        }
        let mut is_good = true;
        self.requests = plan::installation(self, &installers, groups);
        self.requests.extend(requests);
        self.ready = (0..self.requests.len()).collect();
        self.leave_out_delegates();
        self.report_unmet();
        let mut told: Vec<purlin_syntax::Span> = Vec::new();
        for request in &self.requests {
            let Configurator::Unsupported(name) = &request.operation.configurator else { continue };
            is_good = false;
            if told.contains(&request.operation.span) {
                continue;
            }
            told.push(request.operation.span);
            let target = &self.ensemble.tree.node(request.target).name;
            let message = format!(
                "`{}` of `{target}` needs the configurator `{name}`, which is not supported",
                request.operation.name
            );
            let diagnostic = Diagnostic::at(&rules::CONFIGURATOR, request.operation.span, message);
            let hint = "operations can run commands (`Cmd`, `Shell`) and compute results (`Template`)";
            self.session.sink.push(diagnostic.hint(hint));
        }
        is_good
    }

    /// Reports open requirements: errors of instances that the job works on, warnings of others.
    fn report_unmet(&self) {
        let tree = &self.ensemble.tree;
        let mut planned: HashSet<(usize, &str)> = HashSet::new();
        for request in self.requests.iter().filter(|request| !request.is_done()) {
            let of_node = [Some(request.target), tree.node(request.target).source].into_iter().flatten();
            planned.extend(of_node.map(|id| (tree.topology_index(id), tree.node(id).template.as_str())));
        }
        for topology in 0..tree.topologies().len() {
            for (node, diagnostic) in &self.ensemble.service_at(topology).unmet {
                let mut diagnostic = diagnostic.clone();
                if planned.contains(&(topology, node.as_str())) {
                    diagnostic.severity = Severity::Error;
                }
                self.session.sink.push(diagnostic);
            }
        }
    }

    /// Refuses a template or an instance that an option names and the ensemble does not have.
    fn report_unknown_names(&self) {
        let tree = &self.ensemble.tree;
        let templates = &self.ensemble.service.topology.nodes;
        let unknown = |kind: &str, name: &str, hint: Option<Hint>| {
            let diagnostic = Diagnostic::nowhere(&rules::UNKNOWN, what::unknown(kind, name));
            self.session.sink.push(diagnostic.maybe_hint(hint));
        };
        if let Some(name) = self.options.template.as_deref().filter(|name| !templates.contains_key(*name)) {
            unknown("node template", name, suggest::did_you_mean(name, templates.keys().map(EcoString::as_str)));
        }
        for name in self.options.instances.iter().filter(|name| tree.by_name(name).is_none()) {
            let known = tree.named_in(tree.root()).map(|(known, _)| known.as_str());
            unknown("instance", name, suggest::did_you_mean(name, known));
        }
    }

    /// Refuses new instances whose host would be made after them, because it depends on them.
    fn report_late_hosts(&self) {
        if self.options.workflow != Workflow::Deploy {
            return;
        }
        let tree = &self.ensemble.tree;
        let order = select::instances(self);
        let places: HashMap<NodeId, usize> = order.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        for (at, id) in order.iter().enumerate() {
            let hosts = tree.node(*id).requirements.iter().filter(|relationship| {
                let relationship = tree.node(**relationship);
                relationship.name == HOST || relationship.types.iter().any(|name| name == HOSTED_ON)
            });
            let host = hosts.filter_map(|relationship| target(tree, *relationship)).next();
            let host = host.filter(|host| places.get(host).is_some_and(|place| *place > at));
            let Some(host) = host.filter(|_| !self.record(*id).stored) else { continue };
            let service = self.ensemble.service_of(*id);
            let (name, host) = (&tree.node(*id).name, &tree.node(host).name);
            let message = format!("`{host}` is the host of `{name}` and depends on it");
            let mut diagnostic = Diagnostic::nowhere(&tosca_rules::UNRESOLVED, message);
            let template = service.topology.nodes.get(&tree.node(*id).template);
            diagnostic.span = template.map(|node| service.places.span(node.template.at));
            self.session.sink.push(diagnostic.hint("remove one of the two requirements, or name another node in it"));
        }
    }

    /// The planned requests, in order.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// An instance's status, including its dependencies.
    pub fn status(&self, id: NodeId) -> Status {
        effective(&self.ensemble.tree, id)
    }

    fn record(&self, id: NodeId) -> Record {
        self.records.of(id)
    }

    fn directives(&self, id: NodeId) -> Vec<EcoString> {
        let node = self.ensemble.tree.node(id);
        let template = self.ensemble.service_of(id).topology.nodes.get(&node.template);
        let words = template.map(|template| template.template.texts("directives")).unwrap_or(&[]);
        words.iter().map(|word| word.text.clone()).collect()
    }

    fn has_directive(&self, id: NodeId, directive: &str) -> bool {
        self.directives(id).iter().any(|word| word == directive)
    }

    /// Whether all tasks succeeded.
    pub fn job_status(&self) -> Status {
        let failed = self.tasks.iter().chain(&self.installed).any(|task| task.status == Some(Status::Error));
        if failed { Status::Error } else { Status::Ok }
    }

    /// The topology's inputs or outputs, evaluated. A value that cannot be evaluated is null, and its error is
    /// reported.
    fn values(&mut self, outputs: bool) -> ValMap {
        let tree = &self.ensemble.tree;
        let id = if outputs { tree.outputs() } else { tree.inputs() };
        let names: Vec<EcoString> = tree.node(id).attributes.keys().cloned().collect();
        self.read_values(id, &names)
    }
}
