//! Logs of a deployment's pods.

use crate::client::{Client, GoOn, JSON};
use crate::deploy::Deployment;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::explain::{pods, tail};
use crate::inventory::Inventory;
use serde_json::Value as Json;

/// Kinds that have pods.
const WORKLOADS: &[&str] =
    &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "Pod"];

/// The last lines of all containers, each after the name of its pod and container; `None` if nothing is deployed.
pub fn logs(
    client: &Client,
    deployment: &Deployment,
    lines: usize,
    go_on: GoOn<'_>,
) -> Result<Option<Vec<String>>, ApiError> {
    let namespace = if deployment.namespace.is_empty() { client.namespace() } else { &deployment.namespace };
    let Some(inventory) = Inventory::read(client, namespace, &deployment.name, go_on)? else { return Ok(None) };
    let needed = inventory.items.iter().map(|item| item.id.api_version.clone()).collect();
    let discovery = Discovery::read(client, &needed, go_on)?;
    let mut found = Vec::new();
    for item in inventory.items.iter().filter(|item| WORKLOADS.contains(&item.id.kind.as_str())) {
        let Some(resource) = discovery.find_any(&item.id.api_version, &item.id.kind) else { continue };
        let path = resource.path(&item.id.namespace, Some(&item.id.name));
        let Some(live) = client.find(&path, JSON, &item.id.to_string(), go_on)? else { continue };
        for pod in pods(client, &live, go_on) {
            found.extend(output(client, &pod, &item.id.namespace, lines, go_on));
        }
    }
    Ok(Some(found))
}

/// The last lines of the containers of one pod.
pub(crate) fn output(client: &Client, pod: &Json, namespace: &str, lines: usize, go_on: GoOn<'_>) -> Vec<String> {
    let name = pod.pointer("/metadata/name").and_then(Json::as_str).unwrap_or("");
    let containers = ["/spec/initContainers", "/spec/containers"].into_iter();
    let containers = containers.filter_map(|key| pod.pointer(key).and_then(Json::as_array)).flatten();
    let mut found = Vec::new();
    for container in containers.filter_map(|container| container.get("name").and_then(Json::as_str)) {
        let text = tail(client, namespace, name, container, lines, false, go_on).unwrap_or_default();
        found.extend(text.lines().map(|line| format!("{name} {container} | {line}")));
    }
    found
}
