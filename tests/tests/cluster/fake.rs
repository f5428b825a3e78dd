//! A Kubernetes API in this process, as far as deploys need it: discovery, server-side apply with field managers,
//! delete, events, logs, users with and without rights, and controllers that make workloads ready at once.

use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// `apiVersion`, kind, plural, whether it is namespaced.
const KINDS: &[(&str, &str, &str, bool)] = &[
    ("v1", "Namespace", "namespaces", false),
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Secret", "secrets", true),
    ("v1", "Service", "services", true),
    ("v1", "ServiceAccount", "serviceaccounts", true),
    ("v1", "Pod", "pods", true),
    ("v1", "Event", "events", true),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("batch/v1", "Job", "jobs", true),
    ("networking.k8s.io/v1", "Ingress", "ingresses", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
];

/// An object with the fields each manager has set.
#[derive(Clone, Debug, Default)]
struct Stored {
    body: Json,
    managers: BTreeMap<String, BTreeSet<String>>,
}

/// An answer given instead of the regular one.
#[derive(Clone, Debug)]
pub struct Trick {
    /// Method and part of the path.
    pub of: (&'static str, &'static str),
    /// The status; the connection is closed without an answer if 0.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<u32>,
    /// How often it is given.
    pub times: usize,
    /// The delay.
    pub delay: Duration,
}

/// The state of the server.
#[derive(Default)]
pub struct State {
    objects: BTreeMap<String, Stored>,
    kinds: Vec<(String, String, String, bool)>,
    clock: u64,
    /// Every request: method, path and query.
    pub seen: Vec<String>,
    pub tricks: Vec<Trick>,
    /// Whether discovery uses the old format.
    pub old: bool,
    pub logs: BTreeMap<String, String>,
    pub streams: crate::live::Streams,
}

/// A running server.
pub struct Fake {
    pub address: String,
    pub state: Arc<Mutex<State>>,
}

impl Fake {
    pub fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let kinds = KINDS.iter().map(|(v, k, p, n)| (v.to_string(), k.to_string(), p.to_string(), *n)).collect();
        let state = Arc::new(Mutex::new(State { kinds, ..State::default() }));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        let fake = Fake { address, state };
        fake.put("v1", "Namespace", "", "default", json!({ "status": { "phase": "Active" } }));
        fake
    }

    /// A kubeconfig file for it, with a user that may do everything and one that may not.
    pub fn kubeconfig(&self, folder: &std::path::Path) -> std::path::PathBuf {
        let file = folder.join("kubeconfig");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n- name: fake\n  cluster: {{server: '{}'}}\n\
             contexts:\n- name: test\n  context: {{cluster: fake, user: admin}}\n\
             - name: limited\n  context: {{cluster: fake, user: limited}}\n\
             - name: stranger\n  context: {{cluster: fake, user: stranger}}\n\
             users:\n- name: admin\n  user: {{token: admin-token-4711}}\n- name: limited\n  user: {{token: limited}}\n\
             - name: stranger\n  user: {{token: expired}}\n",
            self.address
        );
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Creates an object as if by another manager.
    pub fn put(&self, version: &str, kind: &str, namespace: &str, name: &str, rest: Json) {
        let mut body = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name } });
        if !namespace.is_empty() {
            body["metadata"]["namespace"] = namespace.into();
        }
        merge(&mut body, &rest);
        let mut state = self.state.lock().unwrap();
        let key = state.key(version, kind, namespace, name);
        let fields = leaves(&body);
        state.clock += 1;
        body["metadata"]["uid"] = format!("uid-{}", state.clock).into();
        body["metadata"]["resourceVersion"] = state.clock.to_string().into();
        state.objects.insert(key, Stored { body, managers: BTreeMap::from([("other".to_owned(), fields)]) });
    }

    /// An object, if it is there.
    pub fn object(&self, version: &str, kind: &str, namespace: &str, name: &str) -> Option<Json> {
        let state = self.state.lock().unwrap();
        state.objects.get(&state.key(version, kind, namespace, name)).map(|stored| stored.body.clone())
    }

    /// The names of all objects of a kind.
    pub fn names(&self, kind: &str) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let of_kind = state.objects.values().filter(|stored| stored.body["kind"] == kind);
        of_kind.map(|stored| stored.body["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    pub fn trick(&self, trick: Trick) {
        self.state.lock().unwrap().tricks.push(trick);
    }

    /// The modifying requests since the last call.
    pub fn changes(&self) -> Vec<String> {
        let seen = std::mem::take(&mut self.state.lock().unwrap().seen);
        seen.into_iter().filter(|line| !line.starts_with("GET")).collect()
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut length, mut token, mut accept, mut form) = (0, String::new(), String::new(), String::new());
        let (mut key, mut protocols) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap_or(0);
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap_or(0),
                "authorization" => token = value.trim_start_matches("Bearer ").to_owned(),
                "accept" => accept = value.to_owned(),
                "content-type" => form = value.to_owned(),
                "sec-websocket-key" => key = value.to_owned(),
                "sec-websocket-protocol" => protocols = value.to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if let Some(pod) = streams_of(state, &target, &token) {
            state.lock().unwrap().seen.push(format!("{method} {target}"));
            return match key.is_empty() {
                true => crate::live::follow(out, state, &pod, &target),
                false => crate::live::upgrade(out, state, &target, &key, &protocols),
            };
        }
        let trick = take_trick(state, &method, &target);
        let (status, answer) = match &trick {
            Some(trick) => {
                std::thread::sleep(trick.delay);
                match trick.status {
                    0 => return,
                    200 => answer(&mut state.lock().unwrap(), &method, &target, &token, (&accept, &form), &body),
                    status => (status, failure(status, "busy", json!([]))),
                }
            }
            None => answer(&mut state.lock().unwrap(), &method, &target, &token, (&accept, &form), &body),
        };
        let text = match &answer {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let retry = trick.and_then(|t| t.retry_after).map(|s| format!("Retry-After: {s}\r\n")).unwrap_or_default();
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{retry}\r\n", text.len());
        if out.write_all((head + &text).as_bytes()).is_err() {
            return;
        }
    }
}

/// The pod of a request that keeps its connection open.
fn streams_of(state: &Mutex<State>, target: &str, token: &str) -> Option<String> {
    let (path, query) = target.split_once('?')?;
    let parts: Vec<&str> = path.split('/').collect();
    let [.., namespace, "pods", name, what] = parts.as_slice() else { return None };
    let is_stream = matches!(*what, "exec" | "portforward") || (*what == "log" && query.contains("follow=true"));
    let state = state.lock().unwrap();
    let is_there = state.objects.contains_key(&state.key("v1", "Pod", namespace, name));
    (is_stream && is_there && token == "admin-token-4711").then(|| (*name).to_owned())
}

fn take_trick(state: &Mutex<State>, method: &str, target: &str) -> Option<Trick> {
    let mut state = state.lock().unwrap();
    let found =
        state.tricks.iter_mut().find(|trick| trick.times > 0 && trick.of.0 == method && target.contains(trick.of.1))?;
    found.times -= 1;
    Some(found.clone())
}

fn failure(code: u16, message: &str, causes: Json) -> Json {
    json!({ "kind": "Status", "status": "Failure", "code": code, "message": message, "details": { "causes": causes } })
}

fn answer(
    state: &mut State,
    method: &str,
    target: &str,
    token: &str,
    (accept, form): (&str, &str),
    body: &[u8],
) -> (u16, Json) {
    state.seen.push(format!("{method} {target}"));
    if !["admin-token-4711", "limited"].contains(&token) {
        return (401, failure(401, "Unauthorized", json!([])));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if path == "/version" {
        return (200, json!({ "major": "1", "minor": "33", "gitVersion": "v1.33.2" }));
    }
    if path == "/api" || path == "/apis" {
        return (200, state.discover(path, accept));
    }
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return (404, failure(404, "the server could not find the requested resource", json!([]))),
    };
    if rest.is_empty() {
        return state.old_list(&version);
    }
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        rest => ("", rest),
    };
    let Some(kind) = state.kinds.iter().find(|(v, _, p, _)| *v == version && *p == rest[0]).cloned() else {
        return (404, failure(404, "the server could not find the requested resource", json!([])));
    };
    if token == "limited" && method != "GET" && rest[0] != "configmaps" {
        let message = format!(
            "{} is forbidden: User \"limited\" cannot {} resource \"{}\" in namespace \"{namespace}\"",
            rest[0],
            method.to_lowercase(),
            rest[0]
        );
        return (403, failure(403, &message, json!([])));
    }
    match (method, rest) {
        ("GET", [_, name, "log"]) if state.streams.logs.contains_key(*name) => {
            (200, Json::String(crate::live::written(&crate::live::selected(&state.streams.logs[*name], target))))
        }
        ("GET", [_, name, "exec" | "portforward"]) => {
            (404, failure(404, &format!("pods \"{name}\" not found"), json!([])))
        }
        ("GET", [_, name, "log"]) => match state.logs.get(*name) {
            Some(text) if query.contains("timestamps=true") => (200, Json::String(timed(text))),
            Some(text) => (200, Json::String(text.clone())),
            None => (400, failure(400, "no logs", json!([]))),
        },
        ("GET", [_]) => (200, state.list(&kind.1, namespace, query)),
        ("GET", [_, name]) => state.get(&version, &kind.1, namespace, name),
        ("POST", [_]) => state.create(&version, &kind.1, namespace, query, body),
        ("PUT", [_, name]) => state.replace(&version, &kind.1, namespace, name, body),
        ("PATCH", [_, name]) if form.contains("merge-patch") => state.patch(&version, &kind.1, namespace, name, body),
        ("PATCH", [_, name]) => state.apply(&version, &kind.1, namespace, name, query, body),
        ("DELETE", [_, name]) => state.delete(&version, &kind.1, namespace, name),
        _ => (405, failure(405, "method not allowed", json!([]))),
    }
}

impl State {
    /// Removes an object without a request.
    pub fn remove(&mut self, version: &str, kind: &str, namespace: &str, name: &str) {
        let key = self.key(version, kind, namespace, name);
        self.objects.remove(&key);
    }

    fn key(&self, version: &str, kind: &str, namespace: &str, name: &str) -> String {
        let group = version.split_once('/').map_or("", |(group, _)| group);
        format!("{group}|{kind}|{namespace}|{name}")
    }

    fn discover(&self, path: &str, accept: &str) -> Json {
        if self.old || !accept.contains("APIGroupDiscoveryList") {
            return json!({ "kind": if path == "/api" { "APIVersions" } else { "APIGroupList" } });
        }
        let mine = self.kinds.iter().filter(|(version, ..)| version.contains('/') == (path == "/apis"));
        let item = |(version, kind, plural, namespaced): &(String, String, String, bool)| {
            let (group, version) = version.split_once('/').unwrap_or(("", version));
            json!({ "metadata": { "name": group }, "versions": [{ "version": version, "resources": [{
                "resource": plural,
                "responseKind": { "group": "", "version": "", "kind": kind },
                "scope": if *namespaced { "Namespaced" } else { "Cluster" },
            }] }] })
        };
        json!({ "kind": "APIGroupDiscoveryList", "items": mine.map(item).collect::<Vec<_>>() })
    }

    fn old_list(&self, version: &str) -> (u16, Json) {
        let mine: Vec<Json> = self
            .kinds
            .iter()
            .filter(|(v, ..)| v == version)
            .map(|(_, kind, plural, namespaced)| json!({ "name": plural, "kind": kind, "namespaced": namespaced }))
            .collect();
        match mine.is_empty() {
            true => (404, failure(404, "not found", json!([]))),
            false => (200, json!({ "kind": "APIResourceList", "resources": mine })),
        }
    }

    fn get(&self, version: &str, kind: &str, namespace: &str, name: &str) -> (u16, Json) {
        match self.objects.get(&self.key(version, kind, namespace, name)) {
            Some(stored) => (200, stored.body.clone()),
            None => (404, failure(404, &format!("{kind} \"{name}\" not found"), json!([]))),
        }
    }

    fn list(&self, kind: &str, namespace: &str, query: &str) -> Json {
        let wanted = query.split('&').find_map(|part| part.strip_prefix("labelSelector="));
        let labels: Vec<(String, String)> = wanted
            .map(|text| text.replace("%3D", "=").replace("%2C", ",").replace("%2F", "/"))
            .map(|text| text.split(',').filter_map(|p| p.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect())
            .unwrap_or_default();
        let is_meant = |stored: &&Stored| {
            let metadata = &stored.body["metadata"];
            stored.body["kind"] == kind
                && (namespace.is_empty() || metadata["namespace"] == namespace)
                && labels.iter().all(|(key, value)| metadata["labels"][key] == value.as_str())
        };
        json!({ "items": self.objects.values().filter(is_meant).map(|stored| stored.body.clone()).collect::<Vec<_>>() })
    }

    fn create(&mut self, version: &str, kind: &str, namespace: &str, query: &str, body: &[u8]) -> (u16, Json) {
        let mut body: Json = serde_json::from_slice(body).unwrap();
        if let Some(beginning) = body["metadata"]["generateName"].as_str() {
            body["metadata"]["name"] = format!("{beginning}x{}", self.clock).into();
        }
        let name = body["metadata"]["name"].as_str().unwrap().to_owned();
        if self.objects.contains_key(&self.key(version, kind, namespace, &name)) {
            let mut refusal = failure(409, &format!("{kind} \"{name}\" already exists"), json!([]));
            refusal["reason"] = "AlreadyExists".into();
            return (409, refusal);
        }
        let text = body.to_string();
        let manager = query.split('&').find(|part| part.starts_with("fieldManager=")).unwrap_or("fieldManager=creator");
        self.apply(version, kind, namespace, &name, &format!("{manager}&force=true"), text.as_bytes())
    }

    /// Replaces an object as a whole.
    fn replace(&mut self, version: &str, kind: &str, namespace: &str, name: &str, body: &[u8]) -> (u16, Json) {
        let key = self.key(version, kind, namespace, name);
        let Some(known) = self.objects.get(&key).cloned() else {
            return (404, failure(404, &format!("{kind} \"{name}\" not found"), json!([])));
        };
        let mut body: Json = serde_json::from_slice(body).unwrap();
        self.clock += 1;
        body["metadata"]["uid"] = known.body["metadata"]["uid"].clone();
        body["metadata"]["resourceVersion"] = self.clock.to_string().into();
        self.control(kind, &mut body);
        self.objects.insert(key, Stored { body: body.clone(), managers: known.managers });
        (200, body)
    }

    /// Merges a patch: lists of named items are joined, as in a strategic patch; directives are followed.
    fn patch(&mut self, version: &str, kind: &str, namespace: &str, name: &str, body: &[u8]) -> (u16, Json) {
        let key = self.key(version, kind, namespace, name);
        let Some(mut stored) = self.objects.get(&key).cloned() else {
            return (404, failure(404, &format!("{kind} \"{name}\" not found"), json!([])));
        };
        patched(&mut stored.body, &serde_json::from_slice(body).unwrap());
        self.clock += 1;
        stored.body["metadata"]["resourceVersion"] = self.clock.to_string().into();
        self.control(kind, &mut stored.body);
        let body = stored.body.clone();
        self.objects.insert(key, stored);
        (200, body)
    }

    fn apply(
        &mut self,
        version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
        query: &str,
        body: &[u8],
    ) -> (u16, Json) {
        let given: Json = serde_json::from_slice(body).unwrap();
        let parameter = |key: &str| query.split('&').find_map(|part| part.strip_prefix(&format!("{key}=")));
        let manager = parameter("fieldManager").unwrap_or("").to_owned();
        if !namespace.is_empty() && !self.objects.contains_key(&self.key("v1", "Namespace", "", namespace)) {
            return (404, failure(404, &format!("namespaces \"{namespace}\" not found"), json!([])));
        }
        if given["spec"]["replicas"].as_i64().is_some_and(|count| count < 0) {
            let causes = json!([{ "reason": "FieldValueInvalid", "field": "spec.replicas",
                "message": "Invalid value: -1: must be greater than or equal to 0" }]);
            return (422, failure(422, &format!("{kind} \"{name}\" is invalid"), causes));
        }
        let key = self.key(version, kind, namespace, name);
        let mut stored = self.objects.get(&key).cloned().unwrap_or_default();
        let is_new = stored.body.is_null();
        let mine = leaves(&given);
        let mut causes = Vec::new();
        for (other, fields) in stored.managers.iter().filter(|(other, _)| **other != manager) {
            let taken = fields.intersection(&mine).filter(|field| stored.body.pointer(field) != given.pointer(field));
            causes.extend(taken.map(|field| {
                json!({ "reason": "FieldManagerConflict", "field": field.replace('/', "."),
                    "message": format!("conflict with \"{other}\" using {version}") })
            }));
        }
        if !causes.is_empty() && parameter("force") != Some("true") {
            return (409, failure(409, "Apply failed with conflicts", Json::Array(causes)));
        }
        for (other, fields) in &mut stored.managers {
            if *other != manager {
                fields.retain(|field| !mine.contains(field) || stored.body.pointer(field) == given.pointer(field));
            }
        }
        let before = stored.body.clone();
        for field in stored.managers.get(&manager).cloned().unwrap_or_default().difference(&mine) {
            if !stored.managers.iter().any(|(other, fields)| *other != manager && fields.contains(field)) {
                remove(&mut stored.body, field);
            }
        }
        merge(&mut stored.body, &given);
        stored.managers.insert(manager, mine);
        if parameter("dryRun").is_some() {
            return (200, stored.body);
        }
        if is_new || stored.body != before {
            self.clock += 1;
            let metadata = &mut stored.body["metadata"];
            if is_new {
                metadata["uid"] = format!("uid-{}", self.clock).into();
            }
            metadata["resourceVersion"] = self.clock.to_string().into();
            if stored.body.get("spec").is_some() {
                let generation = before["metadata"]["generation"].as_i64().unwrap_or(0);
                let is_changed = stored.body["spec"] != before["spec"];
                stored.body["metadata"]["generation"] = (generation + i64::from(is_changed)).into();
            }
        }
        self.control(kind, &mut stored.body);
        let body = stored.body.clone();
        self.objects.insert(key, stored);
        (if is_new { 201 } else { 200 }, body)
    }

    /// Simulates the controllers of a cluster.
    fn control(&mut self, kind: &str, body: &mut Json) {
        let wish = body["metadata"]["annotations"]["test/wish"].as_str().unwrap_or("").to_owned();
        let generation = body["metadata"]["generation"].clone();
        let replicas = body["spec"]["replicas"].as_i64().unwrap_or(1);
        match (kind, wish.as_str()) {
            ("Deployment", "stuck") => {
                body["status"] = json!({ "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
                    "conditions": [{ "type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable",
                        "message": "Deployment does not have minimum availability." }] });
            }
            ("Deployment", _) => {
                body["status"] = json!({ "observedGeneration": generation, "replicas": replicas,
                    "updatedReplicas": replicas, "availableReplicas": replicas, "readyReplicas": replicas });
            }
            ("Job", "fails") => {
                body["status"] = json!({ "failed": 1, "conditions": [{ "type": "Failed", "status": "True",
                    "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit" }] });
            }
            ("Job", _) => {
                body["status"] = json!({ "succeeded": 1, "conditions": [{ "type": "Complete", "status": "True" }] });
            }
            ("DaemonSet", _) => {
                body["status"] = json!({ "observedGeneration": generation, "desiredNumberScheduled": 1,
                    "updatedNumberScheduled": 1, "numberAvailable": 1 });
            }
            ("Pod", _) if body["spec"]["restartPolicy"] == "Never" => self.run_pod(body),
            ("Namespace", _) => body["status"] = json!({ "phase": "Active" }),
            ("CustomResourceDefinition", _) => {
                body["status"] = json!({ "conditions": [{ "type": "Established", "status": "True" }] });
                let (group, names) = (body["spec"]["group"].as_str().unwrap(), &body["spec"]["names"]);
                for version in body["spec"]["versions"].as_array().unwrap() {
                    let version = format!("{group}/{}", version["name"].as_str().unwrap());
                    let text = |key: &str| names[key].as_str().unwrap().to_owned();
                    self.kinds.push((version, text("kind"), text("plural"), body["spec"]["scope"] != "Cluster"));
                }
            }
            _ => {}
        }
    }

    /// A pod that runs once: it prints its arguments and exits with the code of its variable `CODE`. Exceptions are
    /// `sleep`, which keeps running, and an image that does not exist.
    fn run_pod(&mut self, body: &mut Json) {
        let container = body["spec"]["containers"][0].clone();
        let words = |key: &str| container[key].as_array().into_iter().flatten().filter_map(Json::as_str);
        let variables = || container["env"].as_array().into_iter().flatten();
        let code: Option<i64> =
            variables().find(|one| one["name"] == "CODE").and_then(|one| one["value"].as_str()?.parse().ok());
        let state = match (container["image"].as_str(), words("command").next()) {
            (Some("missing"), _) => json!({ "waiting": { "reason": "ErrImagePull", "message": "no such image" } }),
            (_, Some("sleep")) => json!({ "running": {} }),
            _ => json!({ "terminated": { "exitCode": code.unwrap_or(0), "reason": "Completed" } }),
        };
        let name = body["metadata"]["name"].as_str().unwrap().to_owned();
        self.logs.insert(name, words("args").map(|word| format!("{word}\n")).collect());
        // A hook is over when its pod is; others are asked about their containers.
        let is_hook = body["metadata"]["annotations"]["helm.sh/hook"].is_string() && state["terminated"].is_object();
        let phase = match (is_hook, code.unwrap_or(0)) {
            (false, _) => "Running",
            (true, 0) => "Succeeded",
            (true, _) => "Failed",
        };
        body["status"] =
            json!({ "phase": phase, "containerStatuses": [{ "name": container["name"], "state": state }] });
    }

    fn delete(&mut self, version: &str, kind: &str, namespace: &str, name: &str) -> (u16, Json) {
        match self.objects.remove(&self.key(version, kind, namespace, name)) {
            Some(stored) => (200, stored.body),
            None => (404, failure(404, &format!("{kind} \"{name}\" not found"), json!([]))),
        }
    }
}

/// Lines with timestamps, as a server sends them on request.
fn timed(text: &str) -> String {
    let line = |(at, line): (usize, &str)| format!("2026-01-01T00:00:{:02}.{at:09}Z {line}\n", at / 2);
    text.lines().enumerate().map(line).collect()
}

/// The fields of an object, as pointers; lists count as a whole, and its name has no manager.
fn leaves(body: &Json) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(String::new(), body)];
    while let Some((path, value)) = open.pop() {
        match value.as_object().filter(|map| !map.is_empty()) {
            Some(map) => {
                let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
                open.extend(map.iter().map(|(key, value)| (format!("{path}/{}", escaped(key)), value)));
            }
            None => {
                found.insert(path);
            }
        }
    }
    for own in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"] {
        found.remove(own);
    }
    found
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

/// A merge patch; items of lists that have a `name` are found by it.
fn patched(into: &mut Json, patch: &Json) {
    let Some(patch) = patch.as_object() else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    let into = into.as_object_mut().unwrap();
    for (key, value) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
        let is_named = |value: &Json| value.as_array().is_some_and(|items| items.iter().all(|i| i["name"].is_string()));
        match value {
            Json::Null => {
                into.remove(key);
            }
            Json::Array(changes) if is_named(value) && into.get(key).is_some_and(is_named) => {
                let items = into.get_mut(key).unwrap().as_array_mut().unwrap();
                for change in changes {
                    let at = items.iter().position(|item| item["name"] == change["name"]);
                    match (at, change["$patch"] == "delete") {
                        (Some(at), true) => drop(items.remove(at)),
                        (Some(at), false) => patched(&mut items[at], change),
                        (None, true) => {}
                        (None, false) => items.push(change.clone()),
                    }
                }
            }
            value => patched(into.entry(key.clone()).or_insert(Json::Null), value),
        }
    }
}

fn remove(body: &mut Json, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(map) = body.pointer_mut(parent).and_then(Json::as_object_mut) {
        map.remove(&key.replace("~1", "/").replace("~0", "~"));
    }
}
