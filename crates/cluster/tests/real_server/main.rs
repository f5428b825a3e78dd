//! Deploys to a real `kube-apiserver` with a real `etcd`, if both are on `PATH`: tests that a fake cannot replace.
//!
//! No controllers run; a small status writer replaces them.

#![cfg(all(feature = "net", target_os = "linux"))]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod server;

use purlin_cluster::client::JSON;
use purlin_cluster::deploy::{Deployed, Observer, undeploy};
use purlin_cluster::diff::changes;
use purlin_cluster::state::{Standing, standing};
use purlin_cluster::wire::{Ask, Method};
use purlin_cluster::{ApiError, Client, Deployment, Object, deploy};
use serde_json::{Value as Json, json};
use server::{Server, access, is_installed};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Instructs the child process that is killed.
const CHILD: &str = "PURLIN_REAL_SERVER_CHILD";

/// Pauses the status writer while processor time is measured.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

fn go_on() -> bool {
    true
}

fn run(client: &Client, deployment: &Deployment) -> Result<Deployed, ApiError> {
    deploy(client, deployment, Observer { go_on: &go_on, say: &|_| () }).map_err(|failed| failed.error)
}

/// An object of a kind by number.
fn object(number: usize) -> Json {
    let name = |kind: &str| json!({ "name": format!("{kind}-{number}"), "labels": { "number": number.to_string() } });
    let labels = json!({ "app": format!("app-{number}") });
    match number % 10 {
        0..=4 => {
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": name("cm"), "data": { "a": "b", "c": "d\ne\n" } })
        }
        5..=6 => {
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": name("secret"), "stringData": { "password": "x" } })
        }
        7 => json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": name("account") }),
        8 => json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": name("role"),
            "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }] }),
        _ => json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": name("web"), "spec": {
            "replicas": 2, "selector": { "matchLabels": labels }, "template": { "metadata": { "labels": labels }, "spec": {
                "containers": [{ "name": "main", "image": "nginx:1", "ports": [{ "containerPort": 80 }],
                    "resources": { "limits": { "cpu": "500m", "memory": "64Mi" } } }] } } } }),
    }
}

fn deployment(name: &str, namespace: &str, bodies: impl IntoIterator<Item = Json>) -> Deployment {
    let objects = bodies.into_iter().enumerate().flat_map(|(n, body)| Object::of_json(body, n).unwrap());
    Deployment {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        new_namespace: Some(json!({})),
        version: "v1".to_owned(),
        objects: objects.collect(),
        timeout: Duration::from_secs(60),
        ..Deployment::default()
    }
}

/// The objects of a kind in a namespace, without the fields that differ between objects.
fn contents(client: &Client, root: &str, namespace: &str, plural: &str) -> BTreeMap<String, Json> {
    let list = client.get(&format!("{root}/namespaces/{namespace}/{plural}"), "", &go_on).unwrap();
    let plain = |mut item: Json| {
        let name = item["metadata"]["name"].as_str().unwrap().to_owned();
        let metadata = item["metadata"].as_object_mut().unwrap();
        for key in ["managedFields", "uid", "resourceVersion", "creationTimestamp", "namespace"] {
            metadata.remove(key);
        }
        item.as_object_mut().unwrap().remove("status");
        (name, item)
    };
    let items = list["items"].as_array().unwrap().iter().cloned().map(plain);
    items.filter(|(name, _)| !name.starts_with("purlin.")).collect()
}

/// Processor time of this process and of its finished children, in ticks.
fn ticks() -> (u64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<u64> =
        stat.rsplit(") ").next().unwrap().split(' ').skip(11).take(4).map(|field| field.parse().unwrap()).collect();
    (fields[0] + fields[1], fields[2] + fields[3])
}

/// Marks every Deployment in a namespace as ready, as its controller would.
fn bring_up(client: &Client, namespace: &str) {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments");
    let Ok(list) = client.get(&path, "", &go_on) else { return };
    for item in list["items"].as_array().unwrap() {
        let generation = &item["metadata"]["generation"];
        let is_doomed = item["metadata"]["annotations"]["test/stuck"] == "true";
        if item["status"]["observedGeneration"] == *generation || is_doomed {
            continue;
        }
        let count = &item["spec"]["replicas"];
        let status = json!({ "status": { "observedGeneration": generation, "replicas": count, "updatedReplicas": count,
            "availableReplicas": count, "readyReplicas": count } });
        let body = status.to_string();
        let path = format!("{path}/{}/status", item["metadata"]["name"].as_str().unwrap());
        let body = Some(("application/merge-patch+json", body.as_bytes()));
        let written = client.ask(&Ask { method: Method::Patch, path: &path, accept: JSON, body }, "", &go_on);
        // A Deployment may be deleted after it was listed.
        assert!(matches!(written, Ok(_) | Err(ApiError::NotFound(_))), "{written:?}");
    }
}

/// Marks every Job in a namespace as completed, unless it waits for something else.
fn complete_jobs(client: &Client, namespace: &str) {
    let path = format!("/apis/batch/v1/namespaces/{namespace}/jobs");
    let Ok(list) = client.get(&path, "", &go_on) else { return };
    for item in list["items"].as_array().unwrap() {
        let is_over = !item["status"]["completionTime"].is_null() || item["spec"]["suspend"] == true;
        if is_over {
            continue;
        }
        let time = "2026-01-01T00:00:00Z";
        let condition = |kind: &str| {
            json!({ "type": kind, "status": "True", "lastProbeTime": time, "lastTransitionTime": time,
            "reason": "CompletionsReached", "message": "done" })
        };
        let status = json!({ "status": { "startTime": time, "completionTime": time, "succeeded": 1,
            "conditions": [condition("SuccessCriteriaMet"), condition("Complete")] } });
        let body = status.to_string();
        let path = format!("{path}/{}/status", item["metadata"]["name"].as_str().unwrap());
        let body = Some(("application/merge-patch+json", body.as_bytes()));
        // The hook may have been removed already.
        let _ = client.ask(&Ask { method: Method::Patch, path: &path, accept: JSON, body }, "", &go_on);
    }
}

#[test]
fn a_real_server() {
    if !is_installed() {
        purlin_skipped::skipped("real cluster");
        return;
    }
    let server = Server::start();
    let client = Client::new(&server.access("admin")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = Client::new(&server.access("certificate")).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                for namespace in ["large", "small", "killed"].into_iter().filter(|_| !IS_QUIET.load(Ordering::Relaxed))
                {
                    bring_up(&writer, namespace);
                    complete_jobs(&writer, namespace);
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ways_in(&server);
            a_thousand_objects(&server, &client);
            definitions_come_first(&client);
            managers_conflict(&client);
            hooks_of_a_chart(&client);
            places_and_names(&client);
            what_cannot_change(&client);
            rights_are_missing(&server);
            slow_and_gone(&server);
            killed_in_the_middle(&server, &client);
            something_does_not_come_up(&client);
        }));
        is_over.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Token, certificate, another name in the certificate, no check of it; and rejected credentials.
fn ways_in(server: &Server) {
    let ask = |context: &str| {
        let client = Client::new(&server.access(context)).unwrap();
        client.get("/api/v1/namespaces/default", "", &go_on).map(|_| ())
    };
    for context in ["admin", "certificate", "named", "loose"] {
        assert_eq!(ask(context), Ok(()), "{context}");
    }
    for context in ["strange", "misnamed"] {
        assert!(matches!(ask(context), Err(ApiError::Unreachable { .. })), "{context}: {:?}", ask(context));
    }
    assert!(matches!(ask("wrong"), Err(ApiError::Unauthorized { .. })), "{:?}", ask("wrong"));
}

/// The result equals that of `kubectl apply --server-side`, with less work; nothing to do the second time; prune; all
/// gone at the end.
fn a_thousand_objects(server: &Server, client: &Client) {
    let mut wanted = deployment("large", "large", (0..1_000).map(object));
    IS_QUIET.store(true, Ordering::Relaxed);
    let before = ticks();
    let applied = run(client, &Deployment { wait: false, ..wanted.clone() }).unwrap();
    let own = ticks().0 - before.0;
    IS_QUIET.store(false, Ordering::Relaxed);
    assert_eq!(applied.applied, 1_000);
    assert_eq!(run(client, &wanted).unwrap().applied, 1_000);
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Ready);
    assert_eq!(changes(client, &wanted, &go_on).unwrap(), Vec::new(), "nothing would change");
    compare_with_kubectl(server, client, own);

    wanted.objects.truncate(900);
    let pruned = run(client, &wanted).unwrap().pruned;
    assert_eq!(pruned.len(), 100);
    assert_eq!(contents(client, "/api/v1", "large", "configmaps").len(), 450);
    let removed = undeploy(client, &wanted, Observer { go_on: &go_on, say: &|_| () }).unwrap();
    assert_eq!(removed.len(), 900);
    assert_eq!(contents(client, "/api/v1", "large", "configmaps").len(), 0);
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Missing);
}

fn compare_with_kubectl(server: &Server, client: &Client, own: u64) {
    let kubectl = |args: &[&str]| {
        let run = Command::new("kubectl").arg("--kubeconfig").arg(server.kubeconfig()).args(args).output();
        run.map(|done| assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)))
    };
    if kubectl(&["create", "namespace", "compared"]).is_err() {
        purlin_skipped::skipped("kubectl");
        return;
    }
    let all: Vec<Json> = (0..1_000).map(object).collect();
    let file = server.folder.join("all.json");
    std::fs::write(&file, json!({ "apiVersion": "v1", "kind": "List", "items": all }).to_string()).unwrap();
    let before = ticks().1;
    kubectl(&["-n", "compared", "apply", "--server-side", "-f", &file.display().to_string()]).unwrap();
    let theirs = ticks().1 - before;
    eprintln!("1,000 objects: {own} ticks of processor time here, {theirs} with kubectl");
    for (root, plural) in [
        ("/api/v1", "configmaps"),
        ("/api/v1", "secrets"),
        ("/api/v1", "serviceaccounts"),
        ("/apis/rbac.authorization.k8s.io/v1", "roles"),
        ("/apis/apps/v1", "deployments"),
    ] {
        let (ours, other) = (contents(client, root, "large", plural), contents(client, root, "compared", plural));
        assert!(!ours.is_empty());
        assert_eq!(ours, other, "{plural}");
    }
    // Without optimisation, the measurement is meaningless.
    assert!(cfg!(debug_assertions) || own * 5 <= theirs, "{own} ticks here, {theirs} with kubectl");
}

fn definitions_come_first(client: &Client) {
    let definition = json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.shop.example" }, "spec": { "group": "shop.example", "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget" }, "versions": [{ "name": "v1",
                "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true } } }] } });
    let widget = json!({ "apiVersion": "shop.example/v1", "kind": "Widget", "metadata": { "name": "one" }, "size": 3 });
    let wanted = deployment("widgets", "small", [widget, definition]);
    assert_eq!(run(client, &wanted).unwrap().applied, 2);
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Ready);
    undeploy(client, &wanted, Observer { go_on: &go_on, say: &|_| () }).unwrap();
}

fn managers_conflict(client: &Client) {
    let theirs =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "shared" }, "data": { "a": "theirs" } });
    let path = "/api/v1/namespaces/small/configmaps/shared?fieldManager=somebody";
    let body = theirs.to_string();
    let body = Some(("application/apply-patch+yaml", body.as_bytes()));
    client.ask(&Ask { method: Method::Patch, path, accept: JSON, body }, "", &go_on).unwrap();
    let mut ours = theirs.clone();
    ours["data"]["a"] = "ours".into();
    let wanted = deployment("conflict", "small", [ours]);
    match run(client, &wanted) {
        Err(ApiError::Conflict { object, fields }) => {
            assert_eq!(object, "ConfigMap/shared");
            assert_eq!(fields, [("data.a".to_owned(), "set by `somebody`".to_owned())]);
        }
        other => panic!("{other:?}"),
    }
    run(client, &Deployment { force: true, ..wanted.clone() }).unwrap();
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Ready);
    let merge = |body: &str| {
        let path = "/api/v1/namespaces/small/configmaps/shared?fieldManager=editor";
        let body = Some(("application/merge-patch+json", body.as_bytes()));
        client.ask(&Ask { method: Method::Patch, path, accept: JSON, body }, "", &go_on).unwrap();
    };
    merge(r#"{"data":{"more":"is not ours"}}"#);
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Ready, "what others add is theirs");
    merge(r#"{"data":{"a":"edited"}}"#);
    let changed = Standing::Outdated("ConfigMap/shared was changed since".to_owned());
    assert_eq!(standing(client, &wanted, &go_on).unwrap(), changed);
    let invalid = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" },
        "spec": { "ports": [{ "port": 99_999 }] } });
    match run(client, &deployment("invalid", "small", [invalid])) {
        Err(ApiError::Invalid { fields, .. }) => assert_eq!(fields[0].0, "spec.ports[0].port"),
        other => panic!("{other:?}"),
    }
    let unknown = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" },
        "spec": { "prots": [], "ports": [{ "port": 80 }] } });
    match run(client, &deployment("unknown", "small", [unknown])) {
        Err(ApiError::Invalid { fields, .. }) => {
            assert_eq!(fields, [("spec.prots".to_owned(), "unknown field".to_owned())])
        }
        other => panic!("{other:?}"),
    }
}

fn job(name: &Json, annotations: Json, image: &str) -> Json {
    let mut body = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": name, "spec": { "template": { "spec": {
        "restartPolicy": "Never", "containers": [{ "name": "main", "image": image }] } } } });
    body["metadata"]["annotations"] = annotations;
    body
}

fn names(client: &Client, root: &str, namespace: &str, plural: &str) -> Vec<String> {
    contents(client, root, namespace, plural).into_keys().collect()
}

/// Hooks run before everything else, and each is removed by its generated name.
fn hooks_of_a_chart(client: &Client) {
    let bystander = job(&json!({ "name": "bystander" }), json!({}), "busybox");
    run(client, &deployment("bystander", "small", [bystander])).unwrap();
    let once = json!({ "helm.sh/hook": "pre-install", "helm.sh/hook-delete-policy": "hook-succeeded" });
    let kept = json!({ "helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "-1" });
    let wanted = Deployment {
        hooks: true,
        ..deployment(
            "chart",
            "small",
            [
                job(&json!({ "generateName": "migrate-" }), once, "busybox"),
                job(&json!({ "name": "first" }), kept, "busybox"),
                object(0),
            ],
        )
    };
    assert_eq!(run(client, &wanted).unwrap().applied, 1);
    assert_eq!(names(client, "/apis/batch/v1", "small", "jobs"), ["bystander", "first"]);
    assert_eq!(run(client, &wanted).unwrap().applied, 1, "an upgrade replaces the hook");
    undeploy(client, &wanted, Observer { go_on: &go_on, say: &|_| () }).unwrap();
}

/// A namespace of the same deploy comes first, and cluster-wide objects are found without one.
fn places_and_names(client: &Client) {
    let inside = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "in", "namespace": "fresh" } });
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "fresh" } });
    let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "watcher", "namespace": "ignored" }, "rules": [] });
    let wanted = deployment("places", "small", [inside, role, namespace]);
    assert_eq!(changes(client, &wanted, &go_on).unwrap().len(), 3, "all of it is new");
    assert_eq!(run(client, &wanted).unwrap().applied, 3);
    assert_eq!(changes(client, &wanted, &go_on).unwrap(), Vec::new());
    assert_eq!(names(client, "/api/v1", "fresh", "configmaps"), ["in"]);
    let unnamed = job(&json!({ "generateName": "run-" }), json!({}), "busybox");
    match run(client, &deployment("unnamed", "small", [unnamed])) {
        Err(ApiError::Other(message)) => assert!(message.contains("generateName"), "{message}"),
        other => panic!("{other:?}"),
    }
}

/// The immutable field is named.
fn what_cannot_change(client: &Client) {
    let with = |image: &str| deployment("fixed", "small", [job(&json!({ "name": "fixed" }), json!({}), image)]);
    run(client, &with("busybox")).unwrap();
    match run(client, &with("alpine")) {
        Err(ApiError::Invalid { fields, object, .. }) => {
            assert_eq!(object, "Job/fixed");
            assert_eq!(fields[0].0, "spec.template");
            assert!(fields[0].1.contains("immutable") && fields[0].1.len() < 300, "{}", fields[0].1);
        }
        other => panic!("{other:?}"),
    }
}

fn rights_are_missing(server: &Server) {
    let client = Client::new(&server.access("reader")).unwrap();
    match run(&client, &deployment("denied", "small", [object(0)])) {
        Err(ApiError::Forbidden(message)) => {
            assert!(message.contains("User \"reader\" cannot"), "{message}");
            assert!(message.contains("\"configmaps\""), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

fn slow_and_gone(server: &Server) {
    // It accepts connections, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut slow = server.access("loose");
    slow.server = format!("http://{}", silent.local_addr().unwrap());
    slow.request_timeout = Some(Duration::from_millis(300));
    let answer = Client::new(&slow).unwrap().get("/api", "", &go_on);
    assert!(matches!(answer, Err(ApiError::TimedOut { .. })), "{answer:?}");
    let mut gone = slow.clone();
    drop(silent);
    gone.request_timeout = None;
    let answer = Client::new(&gone).unwrap().get("/api", "", &go_on);
    assert!(matches!(answer, Err(ApiError::Unreachable { .. })), "{answer:?}");
}

/// The child that is killed; in other runs there is nothing to do.
#[test]
fn a_child() {
    let Ok(kubeconfig) = std::env::var(CHILD) else { return };
    let client = Client::new(&access(kubeconfig.as_ref(), "admin")).unwrap();
    let _ = run(&client, &deployment("killed", "killed", (0..400).map(object)));
}

/// However far a killed run came, the next one knows its objects.
fn killed_in_the_middle(server: &Server, client: &Client) {
    let mut cut_off = 0;
    for round in 0..8_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["a_child", "--exact"])
            .env(CHILD, server.kubeconfig())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(50 + 120 * round));
        cut_off += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        // The next run deploys other objects, so that leftovers become visible.
        let wanted = deployment("killed", "killed", (390..410).map(object));
        run(client, &wanted).unwrap();
        assert_eq!(contents(client, "/api/v1", "killed", "configmaps").len(), 10, "round {round}");
        assert_eq!(contents(client, "/apis/apps/v1", "killed", "deployments").len(), 2, "round {round}");
        assert_eq!(standing(client, &wanted, &go_on).unwrap(), Standing::Ready);
    }
    assert!(cut_off >= 3, "only {cut_off} of 8 runs were cut off");
}

fn something_does_not_come_up(client: &Client) {
    let mut stuck = object(9);
    stuck["metadata"]["annotations"] = json!({ "test/stuck": "true" });
    let wanted = Deployment { timeout: Duration::from_secs(1), ..deployment("stuck", "small", [stuck]) };
    match run(client, &wanted) {
        Err(ApiError::NotReady(lines)) => {
            assert!(lines[0].contains("Deployment/web-9 is not ready after 1 s"), "{lines:?}")
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(standing(client, &wanted, &go_on).unwrap(), Standing::NotReady(_)));
}
