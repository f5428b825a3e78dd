//! Garden projects for the engine: the graph of their actions, each resolved when everything it refers to has run.

mod container;
mod exec;
mod key;
mod kubernetes;
mod pod;
pub(crate) mod service;
mod skaffold;
mod sources;
pub mod workflow;

pub use key::{Keys, subject};
pub use kubernetes::cluster_state;

use crate::action::{Action, Command, Kind};
use crate::cluster::{ClusterDeploy, Clusters, point_at};
use crate::engine::{Need, Node, Project, reachable};
use crate::event::{Cause, Failure};
use crate::executor::Executor;
use crate::open::Past;
use crate::outputs::Outputs;
use crate::since::Content;
use crate::stop::Stop;
use crate::store::{Key, hex};
use crate::tool::Tools;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::config::ActionKind;
use purlin_garden::late;
use purlin_garden::resolve::{Resolution, resolve};
use purlin_garden::unapplied::unapplied;
use purlin_garden::versions::Version;
use purlin_host::native;
use purlin_syntax::Diagnostic;
use purlin_value::{Map, Secrets, Session, Value, emit};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A project whose actions can be run.
pub struct GardenProject<'s> {
    resolution: Resolution<'s>,
    nodes: Vec<Node>,
    /// Secrets that must never be shown, whatever prints them.
    secrets: Vec<String>,
    /// Whether built images are pushed under their published names.
    push: bool,
    /// The tag of published images, if not their version or what their names say.
    tag: Option<String>,
    clusters: Arc<Clusters>,
    /// The key that marks results as the user's own.
    key: Key,
    keys: Keys,
    tools: Tools,
    /// Artifacts of Builds, whose nodes follow those of the actions.
    parts: Vec<skaffold::Part>,
    /// Information about them, by the index of the Build.
    known: RefCell<HashMap<usize, skaffold::Known>>,
    /// Prepared deploys to clusters, by id.
    deploys: RefCell<HashMap<String, Arc<ClusterDeploy>>>,
    /// Nodes in which errors were found during preparation.
    broken: RefCell<HashSet<usize>>,
    /// Errors that matter only if their action runs.
    held: RefCell<Vec<Diagnostic>>,
}

/// The time limit of an action.
fn timeout(action: &GardenAction) -> Option<Duration> {
    seconds(action.fields.get("timeout"))
}

/// A time in seconds, if the value is one.
fn seconds(value: Option<&Value>) -> Option<Duration> {
    let seconds = value.and_then(Value::as_number).filter(|seconds| *seconds > 0.0)?;
    Some(Duration::from_secs_f64(seconds.min(1e9)))
}

fn kind_of(kind: ActionKind) -> Kind {
    match kind {
        ActionKind::Build => Kind::Build,
        ActionKind::Deploy => Kind::Deploy,
        ActionKind::Run => Kind::Run,
        ActionKind::Test => Kind::Test,
    }
}

impl<'s> GardenProject<'s> {
    /// A project in its initial state.
    pub fn new(resolution: Resolution<'s>, key: Key) -> Self {
        let graph = resolution.graph();
        let numbers: HashMap<&str, usize> =
            graph.actions.keys().enumerate().map(|(number, key)| (key.as_str(), number)).collect();
        let node = |action: &purlin_garden::action::Action| {
            let needs = graph.needs(&action.key).iter().filter_map(|need| {
                let node = *numbers.get(need.key.as_str())?;
                Some(Need { node, is_runtime: need.needs_executed, is_explicit: need.explicit })
            });
            Node {
                id: action.key.to_string(),
                kind: kind_of(action.kind),
                disabled: action.disabled,
                needs: needs.collect(),
                span: action.span(),
            }
        };
        let mut nodes = graph.actions.values().map(|action| node(action)).collect();
        let parts = skaffold::add_parts(&resolution, &mut nodes);
        let mut secrets = Vec::new();
        collect_secrets(&resolution.secrets(), &mut secrets);
        collect_secrets(&resolution.variables(), &mut secrets);
        if let Some(provider) = graph.actions.keys().next().and_then(|key| resolution.cluster(key)) {
            collect_secrets(provider.config(), &mut secrets);
        }
        GardenProject {
            resolution,
            nodes,
            secrets,
            push: false,
            tag: None,
            clusters: Arc::default(),
            key,
            keys: Keys::default(),
            tools: Tools::default(),
            parts,
            known: RefCell::default(),
            deploys: RefCell::default(),
            broken: RefCell::default(),
            held: RefCell::default(),
        }
    }

    /// The same, with a tag for all published images.
    pub fn tagged(self, tag: Option<String>) -> Self {
        GardenProject { tag, ..self }
    }

    /// The same, with images pushed under their published names.
    pub fn pushing(self, push: bool) -> Self {
        GardenProject { push, ..self }
    }

    /// The same, with errors that matter only if their action runs ([`late::held_back`]).
    #[must_use]
    pub fn holding(self, held: Vec<Diagnostic>) -> Self {
        GardenProject { held: RefCell::new(held), ..self }
    }

    /// The same, with those among what was found so far; the rest is handed back.
    pub fn holding_back(self, found: Vec<Diagnostic>) -> (Self, Vec<Diagnostic>) {
        let (held, found) = late::held_back(&self.resolution, found);
        (self.holding(held), found)
    }

    /// Gives the errors held back to the session, where something else is wrong, too.
    pub fn let_go(&self) {
        self.session().sink.extend(self.held.take());
    }

    /// The errors held back that concern some actions. Those of others become warnings.
    fn held_for(&self, nodes: &[&Node]) -> Vec<Diagnostic> {
        let (own, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
            self.held.take().into_iter().partition(|problem| self.concerns(nodes, problem));
        self.session().sink.extend(others.into_iter().map(Diagnostic::warning));
        own
    }

    fn concerns(&self, nodes: &[&Node], problem: &Diagnostic) -> bool {
        late::concerns(&self.resolution, problem, &|key| nodes.iter().any(|node| node.id == key))
    }

    /// The same, with the user's cluster options.
    pub fn on(mut self, clusters: Arc<Clusters>) -> Self {
        self.clusters = clusters;
        self
    }

    /// The cluster deploy of an action, if it has been prepared and is one.
    fn deploy(&self, id: &str) -> Option<Arc<ClusterDeploy>> {
        self.deploys.borrow().get(id).cloned()
    }

    /// The resolution.
    pub fn resolution(&self) -> &Resolution<'s> {
        &self.resolution
    }

    /// Secrets that must never be shown, with those of an action's spec, and with values computed from secrets while it was resolved.
    fn secrets_with(&self, spec: &Value) -> Vec<String> {
        let mut secrets = self.secrets.clone();
        collect_secrets(spec, &mut secrets);
        secrets.extend(self.session().sink.secrets());
        secrets
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        root_of(&self.resolution)
    }

    fn full(&self, path: &str) -> PathBuf {
        native::system_path(&self.resolution.ground.full_path(path))
    }

    /// The key of an action's results.
    fn subject(&self, action: &GardenAction) -> String {
        subject(&self.resolution, action)
    }

    /// An action that does nothing yet; `parts` decide what it does, in addition to its version.
    fn blank(&self, action: &GardenAction, version: &Version, parts: &[String]) -> Action {
        let told = self.told(action);
        let parts: Vec<&str> = parts.iter().chain(&told).map(String::as_str).collect();
        let key = self.keys.key(&self.resolution, action, version, &parts);
        let blank = Action::new(action.key.as_str(), kind_of(action.kind), version.full.as_str(), action.span());
        Action { subject: self.subject(action), key, ..blank }
    }

    /// A digest of the spec of an action that refers to outputs of others: a version covers how outputs are made, but
    /// not their values.
    fn told(&self, action: &GardenAction) -> Option<String> {
        let mut needs = self.resolution.graph().needs(&action.key).iter();
        let spec = needs.any(|need| need.needs_executed).then(|| self.resolution.spec(&action.key))??;
        let text = emit::to_yaml(&spec, Secrets::Reveal).ok()?;
        Some(crate::store::hex(&Sha256::digest(text)))
    }

    /// Identifies the program of a command.
    fn tool(&self, command: &Command) -> String {
        self.tools.of(command, self.clusters.env.get("PATH").map(String::as_str))
    }

    fn session(&self) -> &'s Session {
        self.resolution.ground.session
    }

    /// Prepares a node on its own: errors found on the way are reported as its own. Another node may have found errors
    /// before, or this one when it was prepared for another purpose; values are evaluated once, so the latter is
    /// remembered here.
    fn on_its_own(&self, node: usize, work: impl FnOnce() -> Result<Action, Cause>) -> Result<Action, Cause> {
        let (action, is_sound) = self.session().sink.succeeds(work);
        if !is_sound {
            self.broken.borrow_mut().insert(node);
        }
        match self.broken.borrow().contains(&node) {
            true => Err(Cause::Unresolved),
            false => action,
        }
    }

    fn action(&self, key: &str) -> Result<Action, Cause> {
        let graph = self.resolution.graph();
        let action = graph.actions.get(key).ok_or(Cause::Unresolved)?;
        let spec = self.resolution.spec(key).ok_or(Cause::Unresolved)?;
        // A mistake in a variable of the action's own counts, whether the spec reads it or not.
        let variables = self.resolution.own_variables(key);
        if spec.any(Value::is_poison) || variables.any(Value::is_poison) {
            return Err(Cause::Unresolved);
        }
        if let Some((path, _)) = spec.leaves().find(|(_, value)| value.is_pending()) {
            return Err(Cause::Other(format!("`spec.{path}` refers to something that is not known when it runs")));
        }
        let version = self.resolution.live.resolved_version(self.session(), key).ok_or(Cause::Unresolved)?;
        match action.type_name.as_str() {
            "exec" => exec::action(self, action, &spec, &version),
            "container" if action.kind == ActionKind::Build => container::build(self, action, &spec, &version),
            name if kubernetes::TYPES.contains(&name) && action.kind == ActionKind::Deploy => {
                let (prepared, work) = kubernetes::action(self, action, &spec, &version)?;
                self.deploys.borrow_mut().insert(key.to_owned(), work);
                Ok(prepared)
            }
            name if pod::TYPES.contains(&name) => pod::action(self, action, &spec, &version),
            skaffold::TYPE => skaffold::action(self, action, &spec, &version),
            "ensemble" | "tosca" if action.kind == ActionKind::Deploy => service::action(self, action, &spec, &version),
            other => Err(Cause::Other(format!("running actions of type `{other}` is not supported yet"))),
        }
    }
}

impl Project for GardenProject<'_> {
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn root(&self) -> PathBuf {
        root_of(&self.resolution)
    }

    fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Only projects that refer to outputs have mistakes that are found late. This uses a separate resolution, because
    /// values that are still pending stay pending in it.
    fn check(&self, requested: &[usize]) -> Vec<Diagnostic> {
        let reached = reachable(&self.nodes, requested);
        let reached: Vec<&Node> = reached.iter().filter_map(|node| self.nodes.get(*node)).collect();
        let mistakes = self.held_for(&reached);
        if !mistakes.is_empty() {
            return mistakes;
        }
        let is_run = |key: &str| reached.iter().any(|node| node.id == key);
        self.session().sink.extend(unapplied(&self.resolution, &is_run));
        if !reached.iter().flat_map(|node| &node.needs).any(|need| need.is_runtime) {
            return Vec::new();
        }
        let sibling = self.session().sibling();
        let resolve_all = || {
            if let Some(resolution) = resolve(&sibling, self.resolution.ground.request) {
                reached.iter().for_each(|node| drop(resolution.action(&node.id)));
            }
        };
        match sibling.sink.succeeds(resolve_all) {
            ((), true) => Vec::new(),
            ((), false) => {
                let (mut others, mut found) = late::held_back(&self.resolution, sibling.sink.hand_on());
                others.retain(|problem| self.concerns(&reached, problem));
                found.extend(others);
                if found.iter().any(Diagnostic::is_error) { found } else { Vec::new() }
            }
        }
    }

    fn cluster_deploy(&self, node: usize) -> Option<Arc<ClusterDeploy>> {
        self.deploy(&self.nodes.get(node)?.id)
    }

    fn locate(&self, failure: &mut Failure) {
        let Some(deploy) = self.deploy(&failure.id) else { return };
        let manifests = self.resolution.manifests(&failure.id).unwrap_or_default();
        point_at(self.session(), &manifests, &deploy, failure);
    }

    fn workflows(&self) -> Vec<String> {
        self.workflow_names()
    }

    fn run_workflow(
        &self,
        name: &str,
        with: (&dyn Executor, &Stop),
        surface: &mut dyn workflow::Surface,
    ) -> Option<workflow::Steps> {
        self.run_steps_of(name, with, surface)
    }

    fn into_past(self: Box<Self>, is_sound: bool) -> Option<Past> {
        purlin_garden::follow::Past::of(self.resolution, is_sound).map(Past)
    }

    fn is_kept(&self, node: usize) -> bool {
        let id = self.nodes.get(node).map(|node| node.id.as_str()).unwrap_or_default();
        let action = self.resolution.graph().actions.get(id);
        let said = action.and_then(|action| action.fields.get("removeOnCleanup")?.as_bool());
        said == Some(false)
    }

    fn subject(&self, node: usize) -> String {
        let id = self.nodes.get(node).map(|node| node.id.as_str()).unwrap_or_default();
        let action = self.resolution.graph().actions.get(id);
        action.map_or_else(|| id.to_owned(), |action| GardenProject::subject(self, action))
    }

    fn content(&self, node: usize) -> Content {
        let id = self.nodes.get(node).map(|node| node.id.as_str()).unwrap_or_default();
        let action = self.resolution.graph().actions.get(id);
        let hashed = action.and_then(|action| self.resolution.live.hashed(self.session(), action));
        let files = hashed.iter().flat_map(|hashed| hashed.contents());
        Content { files: files.map(|(file, blob)| (file.to_owned(), hex(blob))).collect(), ..Content::default() }
    }

    fn remains(&self, node: usize) -> Option<Action> {
        let action = self.resolution.graph().actions.get(self.nodes.get(node)?.id.as_str())?;
        kubernetes::remains(self, action)
    }

    fn prepare(&self, node: usize) -> Result<Action, Failure> {
        let id = self.nodes.get(node).map(|node| node.id.clone()).unwrap_or_default();
        let prepare = || match self.part(node) {
            Some(part) => self.part_action(node, part),
            None => self.action(&id),
        };
        self.on_its_own(node, prepare).map_err(|cause| {
            let span = self.nodes.get(node).and_then(|node| node.span);
            Failure { id: id.clone(), cause, command: None, tail: Vec::new(), span }
        })
    }

    fn learn(&self, node: usize, outputs: &Outputs, secret: &[String]) {
        if let Some(part) = self.part(node) {
            return self.learn_part(part, outputs);
        }
        let Some(node) = self.nodes.get(node) else { return };
        let entry = |(name, json): (&String, &Json)| {
            (name.as_str().into(), plain_value(json).tainted_if(secret.contains(name)))
        };
        self.resolution.live.learn(&node.id, Value::map(outputs.iter().map(entry).collect::<Map>()));
    }
}

/// The folder of a project.
fn root_of(resolution: &Resolution<'_>) -> PathBuf {
    native::system_path(&resolution.ground.full_path(&resolution.ground.root))
}

/// Converts JSON to a value. Its depth is bounded by the JSON parser.
pub fn plain_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::null(),
        Json::Bool(truth) => Value::from(*truth),
        Json::String(text) => Value::str(text.as_str()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(float)) => Value::from(float),
            (None, None) => Value::str(number.to_string()),
        },
        Json::Array(items) => Value::list(items.iter().map(plain_value).collect()),
        Json::Object(entries) => {
            Value::map(entries.iter().map(|(key, item)| (key.as_str().into(), plain_value(item))).collect::<Map>())
        }
    }
}

/// The texts of all secrets in a value.
pub fn collect_secrets(value: &Value, found: &mut Vec<String>) {
    value.each_secret(&mut |secret| found.push(text(secret)));
}

/// A scalar as passed to a command.
fn text(value: &Value) -> String {
    purlin_garden::expr::text_of(value).to_string()
}
