//! Messages of failed deploys, and recovery by the next one.

use crate::fake::Trick;
use crate::{Bench, deployment, object};
use serde_json::json;
use std::time::Duration;

fn trick(method: &'static str, part: &'static str, status: u16, times: usize) -> Trick {
    Trick { of: (method, part), status, retry_after: None, times, delay: Duration::ZERO }
}

#[test]
fn conflicts_name_the_field_and_its_manager() {
    let bench = Bench::new("conflict");
    bench.deploy_of("web", &deployment("web", 2, ""));
    bench.fake.put("v1", "Namespace", "", "shop-dev", json!({}));
    bench.fake.put("apps/v1", "Deployment", "shop-dev", "web", json!({ "spec": { "replicas": 5 } }));
    let ran = bench.purlin(&["deploy"]);
    assert_eq!(ran.code, 6);
    assert!(
        ran.stderr.contains("Deployment/web: other managers have set `spec.replicas` (set by `other`)"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("--force-conflicts"), "{}", ran.stderr);
    assert!(ran.stderr.contains("web.yaml:8:13"), "the place of the field: {}", ran.stderr);
    bench.good(&["deploy", "--force-conflicts"]);
    assert_eq!(bench.fake.object("apps/v1", "Deployment", "shop-dev", "web").unwrap()["spec"]["replicas"], 2);
}

#[test]
fn a_rejected_field_is_shown_in_its_file() {
    let bench = Bench::new("invalid");
    bench.deploy_of("web", &deployment("web", -1, ""));
    let ran = bench.purlin(&["deploy"]);
    assert_eq!(ran.code, 6);
    assert!(
        ran.stderr.contains("the cluster rejects Deployment/web: `spec.replicas`: Invalid value: -1"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("web.yaml:8:13"), "{}", ran.stderr);
}

#[test]
fn an_unknown_kind_is_told_before_anything_changes() {
    let bench = Bench::new("unknown-kind");
    bench.deploy_of("web", &(object("v1", "ConfigMap", "a", "") + &object("no.example/v1", "Gadget", "b", "")));
    let ran = bench.purlin(&["deploy"]);
    assert!(ran.stderr.contains("the cluster does not know the kind `Gadget` (no.example/v1)"), "{}", ran.stderr);
    assert_eq!(bench.fake.changes(), Vec::<String>::new());
}

#[test]
fn who_may_not_is_told_what() {
    let bench = Bench::new("forbidden");
    bench.deploy_of("web", &deployment("web", 1, ""));
    bench.fake.put("v1", "Namespace", "", "shop-dev", json!({}));
    let ran = bench.purlin(&["deploy", "--kube-context", "limited"]);
    assert_eq!(ran.code, 6);
    assert!(ran.stderr.contains("User \"limited\" cannot patch resource \"deployments\""), "{}", ran.stderr);
    let ran = bench.purlin(&["deploy", "--kube-context", "stranger"]);
    assert!(ran.stderr.contains("does not accept the credentials of user `stranger`"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("expired"), "{}", ran.stderr);
}

#[test]
fn a_busy_server_is_asked_again() {
    let bench = Bench::new("busy");
    bench.deploy_of("web", &deployment("web", 1, ""));
    bench.fake.trick(trick("PATCH", "deployments/web", 429, 2));
    bench.fake.trick(trick("GET", "/apis", 503, 1));
    bench.fake.trick(trick("PATCH", "configmaps/", 0, 1));
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.names("Deployment"), ["web"]);
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let bench = Bench::new("unreachable");
    bench.deploy_of("web", &deployment("web", 1, ""));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(
        "current-context: test\ncontexts: [{{name: test, context: {{cluster: gone}}}}]\n\
         clusters: [{{name: gone, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]\n"
    );
    bench.write("gone", &text);
    let ran = bench.purlin(&["deploy", "--kubeconfig", "gone"]);
    assert_eq!(ran.code, 6);
    let expected = format!("could not reach the cluster at http://127.0.0.1:{port}: connection refused");
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
}

#[test]
fn what_does_not_come_up_is_explained() {
    let bench = Bench::new("stuck");
    bench.deploy_of("web", &deployment("web", 1, "stuck"));
    let pod = json!({
        "metadata": { "labels": { "app": "web" } },
        "status": { "phase": "Running", "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 4,
            "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 40s" } } }] },
    });
    bench.fake.put("v1", "Pod", "shop-dev", "web-1", pod);
    let event = json!({ "type": "Warning", "reason": "BackOff", "message": "Back-off restarting failed container",
        "count": 7, "involvedObject": { "kind": "Pod", "name": "web-1" } });
    bench.fake.put("v1", "Event", "shop-dev", "e1", event);
    bench.fake.state.lock().unwrap().logs.insert("web-1".to_owned(), "panic: no database\n".to_owned());
    let ran = bench.purlin(&["deploy"]);
    assert_eq!(ran.code, 6);
    for part in [
        "Deployment/web is not ready after 1 s: 0 of 1 updated replicas are available",
        "condition Available=False: MinimumReplicasUnavailable",
        "BackOff: Back-off restarting failed container (×7)",
        "container main: CrashLoopBackOff back-off 40s",
        "web-1 main | panic: no database",
    ] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
    let status = bench.good(&["status"]).stdout;
    assert!(status.contains("failed: its last deploy did not come to its end"), "{status}");
}

#[test]
fn a_deploy_that_broke_off_is_completed_by_the_next() {
    let bench = Bench::new("broken-off");
    let many: String = (0..20).map(|n| object("v1", "Secret", &format!("s{n}"), "")).collect();
    bench.deploy_of("web", &(many + &object("v1", "Service", "web", "")));
    // All Secrets exist, the rest does not: the connection broke.
    bench.fake.trick(trick("PATCH", "services/web", 500, 1));
    let ran = bench.purlin(&["deploy"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert_eq!(bench.fake.names("Secret").len(), 20);
    // The next version has fewer objects; those of the broken run are known and removed.
    bench.deploy_of("web", &(object("v1", "Secret", "s3", "") + &object("v1", "Service", "web", "")));
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.names("Secret"), ["s3"]);
    assert_eq!(bench.fake.names("Service"), ["web"]);
}

#[test]
fn secrets_stay_secret() {
    let bench = Bench::new("secrets");
    let project = crate::PROJECT.to_owned() + "variables: { password: hunter2hunter2 }\n";
    bench.write("project.garden.yml", &project);
    bench.write("secret.env", "PASSWORD=hunter2hunter2\n");
    let text = "kind: Deploy\nname: web\ntype: kubernetes\nspec:\n  manifests:\n  - apiVersion: v1\n    kind: Secret\n    \
                metadata: { name: s }\n    stringData: { password: '${secrets.PASSWORD}' }\n";
    bench.write("web.garden.yml", text);
    let ran = bench.good(&["deploy", "--secret-file", "secret.env"]);
    assert!(!(ran.stdout.clone() + &ran.stderr).contains("hunter2"), "{}", ran.stderr);
    let stored = bench.fake.object("v1", "Secret", "shop-dev", "s").unwrap();
    assert_eq!(stored["stringData"]["password"], "hunter2hunter2");
    let inventory = bench.fake.object("v1", "ConfigMap", "shop-dev", "purlin.shop.web").unwrap().to_string();
    assert!(!inventory.contains("hunter2"), "{inventory}");
}

#[test]
fn credential_commands_need_leave() {
    let bench = Bench::new("exec");
    bench.deploy_of("web", &object("v1", "ConfigMap", "settings", ""));
    let script = "#!/bin/sh\nprintf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\
                  \"status\":{\"token\":\"%s\"}}' \"$TOKEN\"\n";
    bench.write("home/login", script);
    let text = format!(
        "current-context: test\ncontexts: [{{name: test, context: {{cluster: fake, user: me}}}}]\n\
         clusters: [{{name: fake, cluster: {{server: '{}'}}}}]\nusers:\n- name: me\n  user:\n    exec:\n      \
         apiVersion: client.authentication.k8s.io/v1\n      command: sh\n      args: [{}]\n      \
         env: [{{name: TOKEN, value: admin-token-4711}}]\n      interactiveMode: Never\n",
        bench.fake.address,
        bench.scratch.path().join("home/login").display()
    );
    bench.write("home/with-exec", &text);
    let refused = bench.purlin(&["deploy", "--kubeconfig", "home/with-exec"]);
    assert!(refused.stderr.contains("add `--allow-exec` to run it"), "{}", refused.stderr);
    let ran =
        bench.purlin_with(&["deploy", "--kubeconfig", "home/with-exec", "--allow-exec"], &[("PATH", "/usr/bin:/bin")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("4711"), "{}", ran.stderr);
}
