//! Why an object does not come up: its conditions, its events, the state of its pods and their last output.
//!
//! Nothing here may fail: unreadable parts are left out, since an error is being reported already.

use crate::client::{Client, GoOn, JSON};
use crate::discovery::Discovery;
use crate::object::Object;
use crate::path::{below, escape};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;

/// Maximum numbers of pods, events, and lines of a log.
const MOST_PODS: usize = 3;
const MOST_EVENTS: usize = 5;
const LAST_LINES: usize = 10;

/// Lines with reasons.
pub fn explain(client: &Client, discovery: &Discovery, object: &Object, go_on: GoOn<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let resource = discovery.find(&object.id.api_version, &object.id.kind);
    let live = resource.and_then(|resource| {
        let path = resource.path(&object.id.namespace, Some(&object.id.name));
        client.find(&path, JSON, "", go_on).ok().flatten()
    });
    if let Some(live) = &live {
        lines.extend(conditions(live));
    }
    lines.extend(events(client, &object.id.namespace, &object.id.kind, &object.id.name, go_on));
    let found = live.as_ref().map(|live| pods(client, live, go_on)).unwrap_or_default();
    for pod in found.iter().filter(|pod| !is_well(pod)).take(MOST_PODS) {
        lines.extend(pod_lines(client, pod, &object.id.namespace, go_on));
    }
    lines
}

fn text<'j>(value: &'j Json, pointer: &str) -> &'j str {
    value.pointer(pointer).and_then(Json::as_str).unwrap_or("")
}

fn list<'j>(value: &'j Json, pointer: &str) -> impl Iterator<Item = &'j Json> {
    value.pointer(pointer).and_then(Json::as_array).into_iter().flatten()
}

/// Conditions that indicate a problem.
fn conditions(object: &Json) -> Vec<String> {
    let is_bad = |condition: &&Json| {
        let kind = text(condition, "/type");
        let is_negative = ["Failed", "Failure", "Pressure", "Stalled", "Error"].iter().any(|word| kind.ends_with(word));
        (text(condition, "/status") == "True") == is_negative
    };
    let line = |condition: &Json| {
        let (kind, reason, message) =
            (text(condition, "/type"), text(condition, "/reason"), text(condition, "/message"));
        format!("condition {kind}={}: {reason} {message}", text(condition, "/status")).trim_end().to_owned()
    };
    list(object, "/status/conditions").filter(is_bad).map(line).collect()
}

/// The last warnings about an object.
fn events(client: &Client, namespace: &str, kind: &str, name: &str, go_on: GoOn<'_>) -> Vec<String> {
    let namespace = if namespace.is_empty() { "default" } else { namespace };
    let selector = escape(&format!("involvedObject.kind={kind},involvedObject.name={name}"));
    let path = format!("{}?fieldSelector={selector}", below(namespace, &["events"]));
    let Ok(found) = client.get(&path, "", go_on) else { return Vec::new() };
    let mut all: Vec<&Json> = list(&found, "/items").filter(|event| text(event, "/type") != "Normal").collect();
    all.sort_by_key(|event| text(event, "/lastTimestamp"));
    let line = |event: &&Json| {
        let count = event.pointer("/count").and_then(Json::as_i64).filter(|count| *count > 1);
        let times = count.map(|count| format!(" (×{count})")).unwrap_or_default();
        format!("event {kind}/{name} {}: {}{times}", text(event, "/reason"), text(event, "/message").trim())
    };
    all.iter().skip(all.len().saturating_sub(MOST_EVENTS)).map(line).collect()
}

/// The pods of a workload, or the pod itself.
pub fn pods(client: &Client, object: &Json, go_on: GoOn<'_>) -> Vec<Json> {
    if text(object, "/kind") == "Pod" {
        return vec![object.clone()];
    }
    selected(client, text(object, "/metadata/namespace"), object.pointer("/spec/selector"), go_on)
}

/// The pods that a selector selects.
pub(crate) fn selected(client: &Client, namespace: &str, written: Option<&Json>, go_on: GoOn<'_>) -> Vec<Json> {
    let Some(selector) = written.and_then(selector) else { return Vec::new() };
    let path = format!("{}?labelSelector={}", below(namespace, &["pods"]), escape(&selector));
    let found = client.get(&path, "", go_on).unwrap_or(Json::Null);
    list(&found, "/items").cloned().collect()
}

/// A selector as a query.
fn selector(written: &Json) -> Option<String> {
    let labels = written.get("matchLabels").unwrap_or(written).as_object()?;
    let mut parts: Vec<String> =
        labels.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    for expression in list(written, "/matchExpressions") {
        let values: Vec<&str> = list(expression, "/values").filter_map(Json::as_str).collect();
        let (key, values) = (text(expression, "/key"), values.join(","));
        parts.push(match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => continue,
        });
    }
    (!parts.is_empty()).then(|| parts.join(","))
}

/// Whether a pod takes connections.
pub(crate) fn is_ready(pod: &Json) -> bool {
    list(pod, "/status/conditions")
        .any(|condition| text(condition, "/type") == "Ready" && text(condition, "/status") == "True")
}

fn is_well(pod: &Json) -> bool {
    is_ready(pod) || text(pod, "/status/phase") == "Succeeded"
}

fn pod_lines(client: &Client, pod: &Json, namespace: &str, go_on: GoOn<'_>) -> Vec<String> {
    let name = text(pod, "/metadata/name");
    let mut lines = Vec::new();
    let phase = text(pod, "/status/phase");
    lines.push(format!("Pod/{name}: {}", if phase.is_empty() { "Pending" } else { phase }));
    for condition in list(pod, "/status/conditions").filter(|c| text(c, "/type") == "PodScheduled") {
        if text(condition, "/status") != "True" {
            lines.push(format!("Pod/{name} {}: {}", text(condition, "/reason"), text(condition, "/message")));
        }
    }
    lines.extend(events(client, namespace, "Pod", name, go_on));
    let statuses = list(pod, "/status/initContainerStatuses").chain(list(pod, "/status/containerStatuses"));
    for status in statuses.filter(|status| status.get("ready").and_then(Json::as_bool) != Some(true)) {
        let container = text(status, "/name");
        for state in ["/state/waiting", "/state/terminated", "/lastState/terminated"] {
            if status.pointer(state).is_none() {
                continue;
            }
            let code = status.pointer(&format!("{state}/exitCode")).and_then(Json::as_i64);
            let code = code.map(|code| format!(", exit code {code}")).unwrap_or_default();
            let (reason, message) =
                (text(status, &format!("{state}/reason")), text(status, &format!("{state}/message")));
            lines.push(format!("container {container}: {reason}{code} {message}").trim_end().to_owned());
        }
        let restarts = status.get("restartCount").and_then(Json::as_i64).unwrap_or(0);
        let log = tail(client, namespace, name, container, LAST_LINES, restarts > 0, go_on).unwrap_or_default();
        lines.extend(log.lines().map(|line| format!("{name} {container} | {line}")));
    }
    lines
}

/// The last lines of a container's log.
pub(crate) fn tail(
    client: &Client,
    namespace: &str,
    pod: &str,
    container: &str,
    lines: usize,
    previous: bool,
    go_on: GoOn<'_>,
) -> Option<String> {
    let read = |previous: bool| {
        let path = format!(
            "{}?container={}&tailLines={lines}&previous={previous}",
            below(namespace, &["pods", pod, "log"]),
            escape(container)
        );
        let ask = Ask { method: Method::Get, path: &path, accept: "*/*", body: None };
        client.ask(&ask, "", go_on).ok().map(|answer| String::from_utf8_lossy(&answer.body).into_owned())
    };
    // The current container may not have printed anything yet; the previous one shows why it ended.
    let now = read(false).filter(|text| !text.trim().is_empty());
    if previous { now.or_else(|| read(true)) } else { now }
}
