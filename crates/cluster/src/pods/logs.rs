//! Logs of a deployment's pods.

use crate::client::{Client, GoOn, JSON};
use crate::deploy::Deployment;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::explain::{is_ready, pods, tail};
use crate::inventory::Inventory;
use crate::path::{below, escape};
use crate::stream::follow::{Pods, Seen, follow};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Kinds that have pods.
pub const WORKLOADS: &[&str] =
    &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "Pod"];

/// Which lines are wanted.
pub struct Wish<'w> {
    /// The last lines of each container.
    pub tail: Option<usize>,
    /// Lines of this time before now.
    pub since: Option<Duration>,
    /// Which containers.
    pub is_meant: &'w (dyn Fn(&Source) -> bool + Sync),
}

impl Wish<'_> {
    /// The parameters of a request.
    pub(crate) fn limits(&self) -> String {
        let tail = self.tail.map(|lines| format!("&tailLines={lines}")).unwrap_or_default();
        // Less than a second is one: zero means everything.
        let since = self.since.map(|time| time.as_millis().div_ceil(1_000).max(1));
        tail + &since.map(|seconds| format!("&sinceSeconds={seconds}")).unwrap_or_default()
    }
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The namespace of its pod.
    pub namespace: String,
    /// Its pod.
    pub pod: String,
    /// Its name.
    pub container: String,
}

impl Source {
    /// How often it has restarted, and whether it runs; `None` if this is not its pod, or if it has not started yet.
    pub(crate) fn instance(&self, pod: &Json) -> Option<(i64, bool)> {
        let is_own = |key: &str, own: &str| pod.pointer(key).and_then(Json::as_str) == Some(own);
        if !is_own("/metadata/name", &self.pod) || !is_own("/metadata/namespace", &self.namespace) {
            return None;
        }
        let keys = ["/status/initContainerStatuses", "/status/containerStatuses"].into_iter();
        let mut statuses = keys.filter_map(|key| pod.pointer(key).and_then(Json::as_array)).flatten();
        let own = statuses.find(|one| one.get("name").and_then(Json::as_str) == Some(self.container.as_str()))?;
        let is_running = own.pointer("/state/running").is_some();
        let has_started = is_running || own.pointer("/state/terminated").is_some();
        has_started.then(|| (own.get("restartCount").and_then(Json::as_i64).unwrap_or(0), is_running))
    }
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its pod.
    pub pod: String,
    /// Its container.
    pub container: String,
    /// When it was written, as the server notes it.
    pub time: String,
    /// The line.
    pub text: String,
}

impl Line {
    pub(crate) fn of(source: &Source, time: &str, text: &str) -> Line {
        let Source { pod, container, .. } = source.clone();
        Line { pod, container, time: time.to_owned(), text: text.to_owned() }
    }

    /// A remark about the log itself.
    pub(crate) fn note(source: &Source, text: &str) -> Line {
        Line::of(source, "", &format!("warning: {text}"))
    }
}

/// The workloads of a deployment.
struct Workloads {
    discovery: Discovery,
    inventory: Inventory,
}

impl Workloads {
    fn read(client: &Client, deployment: &Deployment, go_on: GoOn<'_>) -> Result<Option<Workloads>, ApiError> {
        let namespace = if deployment.namespace.is_empty() { client.namespace() } else { &deployment.namespace };
        let Some(inventory) = Inventory::read(client, namespace, &deployment.name, go_on)? else { return Ok(None) };
        let needed = inventory.items.iter().map(|item| item.id.api_version.clone()).collect();
        Ok(Some(Workloads { discovery: Discovery::read(client, &needed, go_on)?, inventory }))
    }
}

impl Pods for Workloads {
    fn list(&self, client: &Client, go_on: GoOn<'_>) -> Result<Vec<Json>, ApiError> {
        let mut found: Vec<Json> = Vec::new();
        let mut known = BTreeSet::new();
        for item in self.inventory.items.iter().filter(|item| WORKLOADS.contains(&item.id.kind.as_str())) {
            let Some(resource) = self.discovery.find_any(&item.id.api_version, &item.id.kind) else { continue };
            let path = resource.path(&item.id.namespace, Some(&item.id.name));
            let Some(live) = client.find(&path, JSON, &item.id.to_string(), go_on)? else { continue };
            for mut pod in pods(client, &live, go_on) {
                if pod.pointer("/metadata/namespace").is_none() {
                    pod["metadata"]["namespace"] = item.id.namespace.as_str().into();
                }
                // Selectors of two workloads may select one pod.
                let name = ["/metadata/namespace", "/metadata/name"].map(|key| pod.pointer(key).cloned());
                if known.insert(format!("{name:?}")) {
                    found.push(pod);
                }
            }
        }
        Ok(found)
    }
}

/// The pods of a deployment; `None` if nothing is deployed.
pub(crate) fn pods_of(
    client: &Client,
    deployment: &Deployment,
    go_on: GoOn<'_>,
) -> Result<Option<Vec<Json>>, ApiError> {
    let workloads = Workloads::read(client, deployment, go_on)?;
    workloads.map(|workloads| workloads.list(client, go_on)).transpose()
}

/// The containers of a pod.
pub(crate) fn sources(pod: &Json) -> Vec<Source> {
    let text = |key: &str| pod.pointer(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let lists = ["/spec/initContainers", "/spec/containers"].into_iter();
    let containers = lists.filter_map(|key| pod.pointer(key).and_then(Json::as_array)).flatten();
    let names = containers.filter_map(|container| container.get("name").and_then(Json::as_str));
    names
        .map(|container| Source { namespace: namespace.clone(), pod: name.clone(), container: container.to_owned() })
        .collect()
}

/// Lines of all containers as they are now; `None` if nothing is deployed.
pub fn logs(
    client: &Client,
    deployment: &Deployment,
    wish: &Wish<'_>,
    go_on: GoOn<'_>,
) -> Result<Option<Vec<Line>>, ApiError> {
    let Some(pods) = pods_of(client, deployment, go_on)? else { return Ok(None) };
    let mut found = Vec::new();
    for source in pods.iter().flat_map(sources).filter(|source| (wish.is_meant)(source)) {
        let text = text(client, &source, &wish.limits(), go_on).unwrap_or_default();
        let mut seen = Seen::default();
        found.extend(text.lines().filter_map(|line| seen.line(&source, line)));
    }
    Ok(Some(found))
}

/// Passes on the lines of all containers until it is stopped. Returns whether anything is deployed.
pub fn follow_logs(
    client: &Client,
    deployment: &Deployment,
    wish: &Wish<'_>,
    go_on: GoOn<'_>,
    say: &mut dyn FnMut(&Line),
) -> Result<bool, ApiError> {
    match Workloads::read(client, deployment, go_on)? {
        Some(workloads) => follow(client, &workloads, wish, go_on, say).map(|()| true),
        None => Ok(false),
    }
}

/// What the instance of a container before its present one has printed.
pub(crate) fn previous(client: &Client, source: &Source, since: &str, go_on: GoOn<'_>) -> Option<String> {
    text(client, source, &format!("&previous=true{since}"), go_on)
}

fn text(client: &Client, source: &Source, more: &str, go_on: GoOn<'_>) -> Option<String> {
    let path = format!(
        "{}?container={}&timestamps=true{more}",
        below(&source.namespace, &["pods", &source.pod, "log"]),
        escape(&source.container)
    );
    let ask = Ask { method: Method::Get, path: &path, accept: "*/*", body: None };
    client.ask(&ask, "", go_on).ok().map(|answer| String::from_utf8_lossy(&answer.body).into_owned())
}

/// The last lines of the containers of one pod.
pub(crate) fn output(client: &Client, pod: &Json, namespace: &str, lines: usize, go_on: GoOn<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for Source { pod, container, .. } in sources(pod) {
        let text = tail(client, namespace, &pod, &container, lines, false, go_on).unwrap_or_default();
        found.extend(text.lines().map(|line| format!("{pod} {container} | {line}")));
    }
    found
}

/// The annotation of a pod that names the container which commands run in.
const MAIN: &str = "/metadata/annotations/kubectl.kubernetes.io~1default-container";

/// The container of a deployment in which commands run: of a pod that is ready if there is one, the one that is named,
/// otherwise the one that the pod names, otherwise the first.
pub fn container(
    client: &Client,
    deployment: &Deployment,
    name: Option<&str>,
    go_on: GoOn<'_>,
) -> Result<Source, ApiError> {
    let Some(pods) = pods_of(client, deployment, go_on)? else {
        return Err(ApiError::Other("it is not deployed".to_owned()));
    };
    let is_running = |pod: &&Json| {
        let is_leaving = pod.pointer("/metadata/deletionTimestamp").is_some();
        !is_leaving && pod.pointer("/status/phase").and_then(Json::as_str) == Some("Running")
    };
    let has_it = |pod: &&Json| name.is_none_or(|name| running_in(pod).any(|known| known == name));
    let running: Vec<&Json> = pods.iter().filter(is_running).collect();
    let chosen = running.iter().filter(|pod| has_it(pod)).copied();
    let pod = chosen.clone().find(|pod| is_ready(pod)).or_else(|| chosen.clone().next());
    let Some(pod) = pod else {
        let names: BTreeSet<&str> = running.iter().flat_map(|pod| running_in(pod)).collect();
        return Err(ApiError::Other(match (name, names.is_empty()) {
            (Some(name), false) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("it has no container `{name}`; its containers are {}", names.join(", "))
            }
            _ => "it has no running pod".to_owned(),
        }));
    };
    let main = pod.pointer(MAIN).and_then(Json::as_str).filter(|main| running_in(pod).any(|known| known == *main));
    let container = name.or(main).or_else(|| running_in(pod).next()).unwrap_or_default().to_owned();
    let text = |key: &str| pod.pointer(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(Source { namespace: text("/metadata/namespace"), pod: text("/metadata/name"), container })
}

/// The names of the containers of a pod that keep running.
fn running_in(pod: &Json) -> impl Iterator<Item = &str> {
    let containers = pod.pointer("/spec/containers").and_then(Json::as_array).into_iter().flatten();
    containers.filter_map(|container| container.get("name").and_then(Json::as_str))
}
