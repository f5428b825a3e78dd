//! Deploys to Kubernetes as work of actions. Selects the cluster; the crate of that name communicates with it.

use crate::event::{Cause, Failure};
use crate::forwards::{Port, ports_of};
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::work::{Doing, Trouble, Work};
use purlin_cluster::apply::Failed;
use purlin_cluster::deploy::{Observer, undeploy};
pub use purlin_cluster::diff::Change;
use purlin_cluster::diff::changes;
use purlin_cluster::logs::{self, Line, Source, Wish};
use purlin_cluster::state::{Standing, standing};
use purlin_cluster::stream::exec::{self, Command, Ends};
use purlin_cluster::stream::forward::{Forward, Say};
use purlin_cluster::{Access, ApiError, Client, Deployment, Object, Wanted, deploy};
use purlin_model::Manifest;
use purlin_syntax::Span;
use purlin_value::emit::to_yaml;
use purlin_value::{Secrets, Session, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The user's cluster options, for a whole run.
#[derive(Debug, Default)]
pub struct Clusters {
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--kube-context`
    pub context: Option<String>,
    /// `--allow-exec`
    pub allow_exec: bool,
    /// Whether a kubeconfig that the project brings is used.
    pub trust: bool,
    /// `--force-conflicts`
    pub force_conflicts: bool,
    /// Clients opened so far.
    pub opened: Opened,
    /// Addresses looked up so far.
    pub addresses: Mutex<BTreeMap<Place, String>>,
}

/// Clients by kubeconfig and context: deploys to one cluster share connections.
#[derive(Default)]
pub struct Opened(Mutex<BTreeMap<Place, Result<Arc<Client>, String>>>);

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened")
    }
}

/// The cluster named by the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub kubeconfig: Option<PathBuf>,
    /// The context.
    pub context: Option<String>,
}

impl Clusters {
    /// The user's options override the configuration.
    fn meant(&self, place: &Place) -> Place {
        Place {
            kubeconfig: self.kubeconfig.clone().or_else(|| place.kubeconfig.clone()),
            context: self.context.clone().or_else(|| place.context.clone()),
        }
    }

    fn access(&self, place: &Place) -> Result<Access, String> {
        Access::find(&Wanted {
            env: self.env.clone(),
            kubeconfig: place.kubeconfig.clone(),
            context: place.context.clone(),
            allow_exec: self.allow_exec,
            by_project: self.kubeconfig.is_none() && place.kubeconfig.is_some(),
            trust: self.trust,
        })
    }

    /// Identifies the cluster and the user without contacting it; empty if no cluster is configured. Contexts can be
    /// pointed at another server, so their names alone do not suffice.
    pub fn address(&self, place: &Place) -> String {
        let place = self.meant(place);
        let mut known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || {
            let found = self.access(&place).ok();
            let parts = |access: Access| {
                let Access { context, server, user, namespace, impersonate, .. } = access;
                format!("{context} {server} {user} {namespace:?} {impersonate:?}")
            };
            found.map(parts).unwrap_or_default()
        };
        known.entry(place.clone()).or_insert_with(find).clone()
    }

    /// A client for a cluster; the user's options override the configuration.
    pub fn client(&self, place: &Place) -> Result<Arc<Client>, ApiError> {
        let place = self.meant(place);
        let mut opened = self.opened.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            let access = self.access(&place)?;
            Client::new(&access).map(Arc::new).map_err(|error| error.to_string())
        };
        let found = opened.entry(place.clone()).or_insert_with(open).clone();
        found.map_err(ApiError::Other)
    }
}

/// A deploy to a cluster.
#[derive(Debug)]
pub struct ClusterDeploy {
    clusters: Arc<Clusters>,
    place: Place,
    deployment: Deployment,
    /// The ports to forward that the project chooses; if it does not, those of the objects.
    ports: Option<Result<Vec<Port>, Cause>>,
    /// The subject of the last failure: a manifest and a field of it.
    blamed: Mutex<Option<(usize, Option<String>)>>,
}

impl ClusterDeploy {
    /// A deploy that has not been checked yet.
    pub fn new(clusters: Arc<Clusters>, place: Place, deployment: Deployment) -> Self {
        let deployment = Deployment { force: clusters.force_conflicts || deployment.force, ..deployment };
        ClusterDeploy { clusters, place, deployment, ports: None, blamed: Mutex::default() }
    }

    /// The manifest that the last failure concerns, and the field if one is known.
    pub fn blamed(&self) -> Option<(usize, Option<String>)> {
        self.blamed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The changes that a deploy would make.
    pub fn changes(&self, doing: Doing<'_>) -> Result<Vec<Change>, Trouble> {
        self.with(doing, |client| changes(client, &self.deployment, &|| doing.goes_on()))
    }

    /// Lines of its containers as they are now.
    pub fn logs(&self, wish: &Wish<'_>, doing: Doing<'_>) -> Result<Vec<Line>, Trouble> {
        let found = self.with(doing, |client| Ok(logs::logs(client, &self.deployment, wish, &|| doing.goes_on())?))?;
        found.ok_or_else(not_deployed)
    }

    /// Passes on the lines of its containers until the run is stopped.
    pub fn follow_logs(&self, wish: &Wish<'_>, doing: Doing<'_>, say: &mut dyn FnMut(&Line)) -> Result<(), Trouble> {
        let follow =
            |client: &Client| Ok(logs::follow_logs(client, &self.deployment, wish, &|| doing.goes_on(), &mut *say)?);
        if self.with(doing, follow)? { Ok(()) } else { Err(not_deployed()) }
    }

    /// What has pods, by kind and name.
    pub fn workloads(&self) -> Vec<String> {
        let has_pods = |object: &&Object| logs::WORKLOADS.contains(&object.id.kind.as_str());
        let mut found: Vec<String> =
            self.deployment.objects.iter().filter(has_pods).map(|object| object.id.to_string()).collect();
        found.sort();
        found
    }

    /// The ports that are forwarded to this machine.
    pub fn ports(&self) -> Result<Vec<Port>, Trouble> {
        match &self.ports {
            Some(ports) => ports.clone().map_err(|cause| Trouble { cause, tail: Vec::new() }),
            None => Ok(ports_of(&self.deployment.objects)),
        }
    }

    /// The same with ports that the project chooses. What is wrong with them matters only to who forwards them.
    pub fn forwarding(self, ports: Result<Vec<Port>, Cause>) -> Self {
        ClusterDeploy { ports: Some(ports), ..self }
    }

    /// Forwards a port until the result is dropped.
    pub fn forward(&self, port: &Port, say: Say) -> Result<Forward, Trouble> {
        let client = self.clusters.client(&self.place).map_err(|error| trouble(&error))?;
        let mut target = port.target.clone();
        if target.id.namespace.is_empty() {
            let own = &self.deployment.namespace;
            target.id.namespace = if own.is_empty() { client.namespace().to_owned() } else { own.clone() };
        }
        let local = port.local.or_else(|| target.port.parse().ok()).unwrap_or(0);
        Forward::start(client, target, local, say).map_err(|error| trouble(&error))
    }

    /// Runs a command in one of its containers, and returns the exit code.
    pub fn exec(&self, command: &Command, ends: Ends<'_>, doing: Doing<'_>) -> Result<i32, Trouble> {
        let go_on = || doing.goes_on();
        self.with(doing, |client| {
            let name = Some(command.container.as_str()).filter(|name| !name.is_empty());
            let source = logs::container(client, &self.deployment, name, &go_on)?;
            let Source { namespace, pod, container } = source;
            let command = Command { namespace, pod, container, ..command.clone() };
            Ok(exec::exec(client, &command, ends, &go_on)?)
        })
    }

    /// Sends requests to the cluster; a signal does not have to wait for the answer.
    fn with<T>(&self, doing: Doing<'_>, work: impl FnOnce(&Client) -> Result<T, Failed>) -> Result<T, Trouble> {
        let _outside = doing.stop.outside();
        let client = self.clusters.client(&self.place).map_err(Failed::from);
        let done = client.and_then(|client| work(&client));
        done.map_err(|failed| {
            let field = failed.error.fields().first().map(|(field, _)| field.clone());
            let blamed = failed.manifest.map(|manifest| (manifest, field));
            *self.blamed.lock().unwrap_or_else(PoisonError::into_inner) = blamed;
            trouble(&failed.error)
        })
    }
}

fn not_deployed() -> Trouble {
    Trouble { cause: Cause::Other("it is not deployed".to_owned()), tail: Vec::new() }
}

pub(crate) fn trouble(error: &ApiError) -> Trouble {
    let cause = match error {
        ApiError::Stopped => Cause::Stopped,
        error => Cause::Other(error.to_string()),
    };
    Trouble { cause, tail: error.details().to_vec() }
}

impl Work for ClusterDeploy {
    fn is_done(&self, doing: Doing<'_>) -> Result<Option<Outputs>, Trouble> {
        let found = self.with(doing, |client| Ok(standing(client, &self.deployment, &|| doing.goes_on())?))?;
        Ok((found == Standing::Ready).then(Outputs::new))
    }

    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble> {
        let observer = Observer { go_on: &|| doing.goes_on(), say: doing.say };
        let deployed = self.with(doing, |client| deploy(client, &self.deployment, observer))?;
        let pruned = match deployed.pruned.len() {
            0 => String::new(),
            count => format!(", {count} removed"),
        };
        (doing.say)(&format!("{} objects applied{pruned}", deployed.applied));
        Ok(Outputs::new())
    }

    fn undo(&self, doing: Doing<'_>) -> Result<bool, Trouble> {
        let observer = Observer { go_on: &|| doing.goes_on(), say: doing.say };
        let removed = self.with(doing, |client| undeploy(client, &self.deployment, observer))?;
        (doing.say)(&format!("{} objects removed", removed.len()));
        Ok(true)
    }

    fn state(&self, doing: Doing<'_>) -> StateOf {
        match self.with(doing, |client| Ok(standing(client, &self.deployment, &|| doing.goes_on())?)) {
            Ok(Standing::Missing) => StateOf::NeverRun,
            Ok(Standing::Outdated(why)) => StateOf::Outdated(why),
            Ok(Standing::NotReady(why)) => StateOf::Failed(why),
            Ok(Standing::Ready) => StateOf::Done,
            Err(trouble) => StateOf::Unknown(trouble.cause.to_string()),
        }
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// A digest of all manifests.
pub(crate) fn digest(manifests: &[Manifest]) -> String {
    let mut digest = Sha256::new();
    for manifest in manifests {
        digest.update(to_yaml(&manifest.value, Secrets::Reveal).unwrap_or_default());
        digest.update([0]);
    }
    crate::store::hex(&digest.finalize())
}

/// Points a failure at the field of a manifest that the cluster names.
pub(crate) fn point_at(session: &Session, manifests: &[Manifest], deploy: &ClusterDeploy, failure: &mut Failure) {
    let Some((manifest, field)) = deploy.blamed() else { return };
    let Some(value) = manifests.get(manifest).map(|manifest| &manifest.value) else { return };
    let place = |value: &Value| session.origins.span(value.origin, &session.sources);
    let part = field.and_then(|field| nearest(value, &field, place));
    failure.span = part.or_else(|| place(value)).or(failure.span);
}

/// The location of a field of a manifest, or of the innermost part around it that has one.
fn nearest(value: &Value, field: &str, place: impl Fn(&Value) -> Option<Span>) -> Option<Span> {
    let ends = field.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
    let mut cuts: Vec<usize> = ends.collect();
    cuts.push(field.len());
    cuts.iter().rev().filter_map(|end| field.get(..*end)).find_map(|path| value.at(path).as_ref().and_then(&place))
}

/// The objects of manifests: those that are created once, and the rest.
pub fn objects(manifests: &[Manifest]) -> Result<(Vec<Object>, Vec<Object>), Cause> {
    let (mut once, mut rest) = (Vec::new(), Vec::new());
    for (index, manifest) in manifests.iter().enumerate() {
        if let Some((path, _)) = manifest.value.leaves().find(|(_, value)| value.is_pending()) {
            let name = if manifest.node.is_empty() { &manifest.source } else { &manifest.node };
            return Err(Cause::Other(format!("`{path}` of `{name}` is not known when it is deployed")));
        }
        let found = Object::of(&manifest.value, index);
        let found = found.map_err(|why| Cause::Other(format!("`{}`: {why}", manifest.source)))?;
        if is_brought_along(manifest) { &mut once } else { &mut rest }.extend(found);
    }
    Ok((once, rest))
}

/// Definitions in the `crds` folder of a chart are installed once and never changed, as Helm does it.
fn is_brought_along(manifest: &Manifest) -> bool {
    manifest.source.split('/').any(|part| part == "crds") && manifest.node.starts_with("CustomResourceDefinition/")
}
