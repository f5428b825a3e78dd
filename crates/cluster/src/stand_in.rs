//! An API server of Kubernetes in memory, for trying things out without a cluster: it stores what is applied, and
//! reports every workload as ready. It runs no container. Knows nothing of connections.

use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// `apiVersion`, kind, plural, whether it is namespaced.
const KINDS: &[(&str, &str, &str, bool)] = &[
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Endpoints", "endpoints", true),
    ("v1", "Event", "events", true),
    ("v1", "LimitRange", "limitranges", true),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "PersistentVolume", "persistentvolumes", false),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("v1", "Pod", "pods", true),
    ("v1", "ResourceQuota", "resourcequotas", true),
    ("v1", "Secret", "secrets", true),
    ("v1", "Service", "services", true),
    ("v1", "ServiceAccount", "serviceaccounts", true),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ("batch/v1", "CronJob", "cronjobs", true),
    ("batch/v1", "Job", "jobs", true),
    ("networking.k8s.io/v1", "Ingress", "ingresses", true),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", false),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", true),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", true),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", false),
];

/// The server.
#[derive(Clone, Debug, Default)]
pub struct StandIn {
    /// By group, kind, namespace and name.
    objects: BTreeMap<String, Stored>,
    /// What pods that ran once have printed, by name.
    logs: BTreeMap<String, String>,
    clock: u64,
}

/// An object, and what each manager has applied.
#[derive(Clone, Debug, Default)]
struct Stored {
    body: Json,
    applied: BTreeMap<String, Json>,
}

/// The object that a request is about.
struct About<'r> {
    version: String,
    kind: &'static str,
    namespace: &'r str,
    name: &'r str,
    query: &'r str,
}

impl About<'_> {
    fn key(&self) -> String {
        key(&self.version, self.kind, self.namespace, self.name)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|part| part.split_once('=').filter(|(key, _)| *key == name)).map(|(_, v)| v)
    }
}

fn key(version: &str, kind: &str, namespace: &str, name: &str) -> String {
    let group = version.split_once('/').map_or("", |(group, _)| group);
    format!("{group}|{kind}|{namespace}|{name}")
}

/// A status and its content.
type Answer = (u16, Json);

fn failure(code: u16, message: &str) -> Answer {
    (code, json!({ "kind": "Status", "status": "Failure", "code": code, "message": message }))
}

fn unknown() -> Answer {
    failure(404, "the server could not find the requested resource")
}

impl StandIn {
    /// A cluster with the namespace `default`.
    pub fn new() -> Self {
        let mut cluster = StandIn::default();
        let body = br#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}"#;
        cluster.answer("POST", "/api/v1/namespaces", "", body);
        cluster
    }

    /// What was stored by [`StandIn::stored`].
    pub fn restored(stored: &Json) -> Self {
        let mut cluster = StandIn::new();
        cluster.clock = stored.get("clock").and_then(Json::as_u64).unwrap_or(cluster.clock);
        for (key, one) in stored.get("objects").and_then(Json::as_object).into_iter().flatten() {
            let applied = one.get("applied").and_then(Json::as_object).cloned().unwrap_or_default();
            let body = one.get("body").cloned().unwrap_or_default();
            cluster.objects.insert(key.clone(), Stored { body, applied: applied.into_iter().collect() });
        }
        for (name, text) in stored.get("logs").and_then(Json::as_object).into_iter().flatten() {
            cluster.logs.insert(name.clone(), text.as_str().unwrap_or_default().to_owned());
        }
        cluster
    }

    /// Everything in it as data, for a later run.
    pub fn stored(&self) -> Json {
        let object =
            |(key, one): (&String, &Stored)| (key.clone(), json!({ "body": one.body, "applied": one.applied }));
        let objects: Map<String, Json> = self.objects.iter().map(object).collect();
        json!({ "clock": self.clock, "objects": objects, "logs": self.logs })
    }

    /// Answers a request with a status and its content.
    pub fn answer(&mut self, method: &str, target: &str, accept: &str, body: &[u8]) -> (u16, String) {
        let (status, content) = self.answered(method, target, accept, body);
        match content {
            Json::String(text) => (status, text),
            other => (status, other.to_string()),
        }
    }

    fn answered(&mut self, method: &str, target: &str, accept: &str, body: &[u8]) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (version, rest) = match parts.as_slice() {
            ["version"] => return (200, json!({ "major": "1", "minor": "34", "gitVersion": "v1.34.0-stand-in" })),
            ["api" | "apis"] => return discovery(path, accept),
            ["api", version, rest @ ..] => ((*version).to_owned(), rest),
            ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
            _ => return unknown(),
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let Some(plural) = rest.first() else { return unknown() };
        let Some((_, kind, _, _)) = KINDS.iter().find(|row| row.0 == version && row.2 == *plural) else {
            return unknown();
        };
        let name = rest.get(1).copied().unwrap_or_default();
        let about = About { version, kind, namespace, name, query };
        match (method, rest) {
            ("GET", [_]) => (200, self.list(&about)),
            ("GET", [_, _]) => self.get(&about),
            ("GET", [_, name, "log"]) => self.log(name, query),
            ("POST", [_]) => self.create(&about, body),
            ("PATCH" | "PUT", [_, _]) => self.apply(&about, body),
            ("DELETE", [_, _]) => self.delete(&about),
            _ => failure(405, "the stand-in for a cluster does not support this"),
        }
    }

    fn missing(about: &About<'_>) -> Answer {
        failure(404, &format!("{} \"{}\" not found", about.kind, about.name))
    }

    fn get(&self, about: &About<'_>) -> Answer {
        self.objects.get(&about.key()).map_or_else(|| Self::missing(about), |one| (200, one.body.clone()))
    }

    fn log(&self, name: &str, query: &str) -> Answer {
        let Some(text) = self.logs.get(name) else { return failure(400, "the stand-in for a cluster has no logs") };
        let with_times = query.contains("timestamps=true");
        let line = |(at, line): (usize, &str)| match with_times {
            true => format!("2026-01-01T00:00:00.{at:09}Z {line}\n"),
            false => format!("{line}\n"),
        };
        (200, Json::String(text.lines().enumerate().map(line).collect()))
    }

    fn list(&self, about: &About<'_>) -> Json {
        let wanted = about.parameter("labelSelector").map(decoded).unwrap_or_default();
        let labels: Vec<(&str, &str)> = wanted.split(',').filter_map(|label| label.split_once('=')).collect();
        let is_meant = |one: &&Stored| {
            let metadata = |pointer: &str| one.body.pointer(pointer).and_then(Json::as_str);
            let label = |name: &str| one.body.pointer("/metadata/labels")?.get(name)?.as_str();
            metadata("/kind") == Some(about.kind)
                && (about.namespace.is_empty() || metadata("/metadata/namespace") == Some(about.namespace))
                && labels.iter().all(|(name, value)| label(name) == Some(value.trim_start_matches('=')))
        };
        let items: Vec<Json> = self.objects.values().filter(is_meant).map(|one| one.body.clone()).collect();
        json!({ "kind": format!("{}List", about.kind), "apiVersion": about.version, "metadata": {}, "items": items })
    }

    fn create(&mut self, about: &About<'_>, body: &[u8]) -> Answer {
        let Ok(mut body) = serde_json::from_slice::<Json>(body) else { return failure(400, "this is not JSON") };
        let text = |body: &Json, pointer: &str| body.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
        let made = || text(&body, "/metadata/generateName").map(|beginning| format!("{beginning}{}", self.clock));
        let Some(name) = text(&body, "/metadata/name").or_else(made) else {
            return failure(422, "name or generateName is required");
        };
        let about = About { version: about.version.clone(), name: &name, ..*about };
        if self.objects.contains_key(&about.key()) {
            return failure(409, &format!("{} \"{name}\" already exists", about.kind));
        }
        set(&mut body, &["metadata", "name"], name.as_str().into());
        self.apply(&about, body.to_string().as_bytes())
    }

    fn apply(&mut self, about: &About<'_>, body: &[u8]) -> Answer {
        let Ok(given) = serde_json::from_slice::<Json>(body) else { return failure(400, "this is not JSON") };
        let namespace = key("v1", "Namespace", "", about.namespace);
        if !about.namespace.is_empty() && !self.objects.contains_key(&namespace) {
            return failure(404, &format!("namespaces \"{}\" not found", about.namespace));
        }
        let key = about.key();
        let mut stored = self.objects.get(&key).cloned().unwrap_or_default();
        let (is_new, before) = (stored.body.is_null(), stored.body.clone());
        let manager = about.parameter("fieldManager").unwrap_or_default().to_owned();
        if let Some(earlier) = stored.applied.get(&manager) {
            subtract(&mut stored.body, earlier, &given);
        }
        merge(&mut stored.body, &given);
        if !about.namespace.is_empty() {
            set(&mut stored.body, &["metadata", "namespace"], about.namespace.into());
        }
        if about.parameter("dryRun").is_some() {
            return (200, stored.body);
        }
        stored.applied.insert(manager, given);
        if is_new || stored.body != before {
            self.clock += 1;
            if is_new {
                set(&mut stored.body, &["metadata", "uid"], format!("stand-in-{}", self.clock).into());
            }
            set(&mut stored.body, &["metadata", "resourceVersion"], self.clock.to_string().into());
            let generation = before.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
            let is_changed = i64::from(stored.body.get("spec") != before.get("spec"));
            set(&mut stored.body, &["metadata", "generation"], (generation + is_changed).into());
        }
        self.settle(about, &mut stored.body);
        let body = stored.body.clone();
        self.objects.insert(key, stored);
        (if is_new { 201 } else { 200 }, body)
    }

    /// Reports what the controllers of a cluster would: everything is ready at once.
    fn settle(&mut self, about: &About<'_>, body: &mut Json) {
        let generation = body.pointer("/metadata/generation").cloned().unwrap_or_default();
        let count = body.pointer("/spec/replicas").and_then(Json::as_i64).unwrap_or(1);
        let status = match about.kind {
            "Deployment" | "ReplicaSet" => json!({ "observedGeneration": generation, "replicas": count,
                "updatedReplicas": count, "availableReplicas": count, "readyReplicas": count }),
            "StatefulSet" => json!({ "observedGeneration": generation, "replicas": count, "updatedReplicas": count,
                "availableReplicas": count, "readyReplicas": count, "currentReplicas": count,
                "currentRevision": "stand-in", "updateRevision": "stand-in" }),
            "DaemonSet" => json!({ "observedGeneration": generation, "desiredNumberScheduled": 1,
                "updatedNumberScheduled": 1, "numberAvailable": 1, "numberReady": 1 }),
            "Job" => json!({ "succeeded": 1, "conditions": [{ "type": "Complete", "status": "True" }] }),
            "Namespace" => json!({ "phase": "Active" }),
            "PersistentVolumeClaim" => json!({ "phase": "Bound" }),
            "Ingress" => json!({ "loadBalancer": { "ingress": [{ "ip": "127.0.0.1" }] } }),
            "Pod" => self.pod_status(about.name, body),
            _ => return,
        };
        set(body, &["status"], status);
    }

    /// A pod that runs once prints its command line and succeeds; any other is ready.
    fn pod_status(&mut self, name: &str, body: &Json) -> Json {
        let container = body.pointer("/spec/containers/0").cloned().unwrap_or_default();
        let named = container.get("name").cloned().unwrap_or_default();
        if body.pointer("/spec/restartPolicy").and_then(Json::as_str) != Some("Never") {
            return json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }],
                "containerStatuses": [{ "name": named, "ready": true, "state": { "running": {} } }] });
        }
        let words = |key: &str| container.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let line: Vec<String> = ["command", "args"]
            .iter()
            .flat_map(|key| words(key))
            .filter_map(|w| Some(w.as_str()?.to_owned()))
            .collect();
        self.logs.insert(name.to_owned(), format!("stand-in cluster: not run: {}\n", line.join(" ")));
        let state = json!({ "terminated": { "exitCode": 0, "reason": "Completed" } });
        json!({ "phase": "Succeeded", "containerStatuses": [{ "name": named, "state": state }] })
    }

    fn delete(&mut self, about: &About<'_>) -> Answer {
        if about.parameter("dryRun").is_some() {
            return self.get(about);
        }
        let Some(gone) = self.objects.remove(&about.key()) else { return Self::missing(about) };
        if about.kind == "Namespace" {
            self.objects
                .retain(|_, one| one.body.pointer("/metadata/namespace").and_then(Json::as_str) != Some(about.name));
        }
        (200, gone.body)
    }
}

fn discovery(path: &str, accept: &str) -> Answer {
    if !accept.contains("APIGroupDiscoveryList") {
        return failure(406, "the stand-in for a cluster has aggregated discovery only");
    }
    let is_core = path.trim_matches('/') == "api";
    let item = |(version, kind, plural, is_namespaced): &(&str, &str, &str, bool)| {
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let scope = if *is_namespaced { "Namespaced" } else { "Cluster" };
        let resource = json!({ "resource": plural, "scope": scope,
            "responseKind": { "group": "", "version": "", "kind": kind } });
        json!({ "metadata": { "name": group }, "versions": [{ "version": version, "resources": [resource] }] })
    };
    let items: Vec<Json> = KINDS.iter().filter(|row| row.0.contains('/') != is_core).map(item).collect();
    (200, json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items }))
}

/// Percent-decodes a parameter.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn set(body: &mut Json, path: &[&str], value: Json) {
    let Some((name, rest)) = path.split_first() else { return *body = value };
    if !body.is_object() {
        *body = json!({});
    }
    if let Some(map) = body.as_object_mut() {
        set(map.entry((*name).to_owned()).or_insert(Json::Null), rest, value);
    }
}

fn merge(into: &mut Json, from: &Json) {
    match (into.as_object_mut(), from.as_object()) {
        (Some(into), Some(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Json::Null), value);
            }
        }
        _ => *into = from.clone(),
    }
}

/// Removes the fields that were applied before and are not given any more.
fn subtract(body: &mut Json, before: &Json, given: &Json) {
    let (Some(body), Some(before)) = (body.as_object_mut(), before.as_object()) else { return };
    for (key, value) in before {
        match given.get(key) {
            None => drop(body.remove(key)),
            Some(given) => {
                if let Some(inner) = body.get_mut(key) {
                    subtract(inner, value, given);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ask(cluster: &mut StandIn, method: &str, target: &str, body: &Json) -> (u16, Json) {
        let (status, text) = cluster.answer(method, target, "APIGroupDiscoveryList", body.to_string().as_bytes());
        (status, serde_json::from_str(&text).unwrap_or(Json::String(text)))
    }

    #[test]
    fn what_is_applied_is_stored_and_ready() {
        let mut cluster = StandIn::new();
        let target = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=purlin";
        let web = json!({ "kind": "Deployment", "metadata": { "name": "web", "labels": { "a": "b" } },
            "spec": { "replicas": 3 } });
        assert_eq!(ask(&mut cluster, "PATCH", &format!("{target}&dryRun=All"), &web).0, 200);
        assert_eq!(ask(&mut cluster, "GET", target, &Json::Null).0, 404, "a dry run stores nothing");
        assert_eq!(ask(&mut cluster, "PATCH", target, &web).0, 201);
        let (status, found) = ask(&mut cluster, "GET", target, &Json::Null);
        assert_eq!((status, &found["status"]["availableReplicas"]), (200, &json!(3)));
        let less = json!({ "kind": "Deployment", "metadata": { "name": "web" }, "spec": {} });
        let (_, found) = ask(&mut cluster, "PATCH", target, &less);
        assert_eq!((found["spec"].get("replicas"), found["metadata"].get("labels")), (None, None));
        let mut again = StandIn::restored(&cluster.stored());
        assert_eq!(ask(&mut again, "GET", target, &Json::Null).0, 200);
        assert_eq!(ask(&mut again, "DELETE", target, &Json::Null).0, 200);
        assert_eq!(ask(&mut again, "GET", target, &Json::Null).0, 404);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let mut cluster = StandIn::new();
        for (method, target, status) in [
            ("GET", "/", 404),
            ("GET", "/api/v1", 404),
            ("GET", "/api/v1/unknown", 404),
            ("PATCH", "/api/v1/namespaces/none/pods/a", 404),
            ("POST", "/api/v1/namespaces/default/pods", 422),
            ("OPTIONS", "/api/v1/pods", 405),
            ("GET", "/api/v1/namespaces/default/pods/a/log", 400),
        ] {
            assert_eq!(ask(&mut cluster, method, target, &json!({})).0, status, "{method} {target}");
        }
        assert_eq!(cluster.answer("PATCH", "/api/v1/namespaces/a", "", b"{").0, 400);
    }

    #[test]
    fn lists_select_by_label() {
        let mut cluster = StandIn::new();
        for (name, app) in [("a", "x/y"), ("b", "z")] {
            let body = json!({ "kind": "Pod", "metadata": { "name": name, "labels": { "app": app } },
                "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "args": ["hi"] }] } });
            assert_eq!(ask(&mut cluster, "POST", "/api/v1/namespaces/default/pods", &body).0, 201);
        }
        let (_, found) = ask(&mut cluster, "GET", "/api/v1/pods?labelSelector=app%3Dx%2Fy", &Json::Null);
        assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
        let (_, log) = ask(&mut cluster, "GET", "/api/v1/namespaces/default/pods/a/log", &Json::Null);
        assert_eq!(log, json!("stand-in cluster: not run: hi\n"));
    }
}
