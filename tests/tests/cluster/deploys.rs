//! Behaviour of deploys: order, inventory, prune, cleanup, status, logs.

use crate::{Bench, deployment, object};
use serde_json::json;

fn position(list: &[String], what: &str) -> usize {
    list.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what} in {list:#?}"))
}

const WIDGETS: &str = "spec:\n  group: shop.example\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets }\n  \
                       versions: [{ name: v1, served: true, storage: true }]\n";

#[test]
fn objects_are_applied_in_order_once() {
    let bench = Bench::new("order");
    let all = deployment("web", 2, "")
        + &object("v1", "Service", "web", "spec: { ports: [{ port: 80 }] }\n")
        + &object("shop.example/v1", "Widget", "one", "spec: { size: 3 }\n")
        + &object("rbac.authorization.k8s.io/v1", "ClusterRole", "reader", "rules: []\n")
        + &object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.shop.example", WIDGETS)
        + &object("v1", "ConfigMap", "settings", "data: { a: b }\n");
    bench.deploy_of("web", &all);
    let ran = bench.good(&["deploy"]);
    assert!(ran.stderr.contains("6 objects applied"), "{}", ran.stderr);
    let changes = bench.fake.changes();
    let order = [
        "POST /api/v1/namespaces",
        "configmaps/purlin.shop.web",
        "customresourcedefinitions/widgets.shop.example",
        "configmaps/settings",
        "clusterroles/reader",
        "services/web",
        "deployments/web",
        "widgets/one",
    ];
    let places: Vec<usize> = order.iter().map(|what| position(&changes, what)).collect();
    assert!(places.is_sorted(), "{changes:#?}");
    assert!(changes.iter().all(|line| !line.starts_with("PATCH") || line.contains("fieldManager=purlin")));
    assert!(bench.fake.object("v1", "Service", "shop-dev", "web").is_some());
    assert!(bench.fake.object("shop.example/v1", "Widget", "shop-dev", "one").is_some());

    let again = bench.good(&["deploy"]);
    assert!(again.stderr.contains("ready"), "{}", again.stderr);
    assert_eq!(bench.fake.changes(), Vec::<String>::new(), "a second run changes nothing");

    let forced = bench.good(&["deploy", "--force"]);
    assert!(forced.stderr.contains("6 objects applied"), "{}", forced.stderr);
}

#[test]
fn servers_without_aggregated_discovery_are_asked_per_group() {
    let bench = Bench::new("old-discovery");
    bench.fake.state.lock().unwrap().old = true;
    bench.deploy_of("web", &deployment("web", 1, ""));
    bench.good(&["deploy"]);
    bench.good(&["cleanup", "--yes"]);
    assert!(bench.fake.names("Deployment").is_empty());
}

#[test]
fn what_is_no_longer_there_is_removed() {
    let bench = Bench::new("prune");
    let kept = object("v1", "ConfigMap", "kept", "  annotations: { helm.sh/resource-policy: keep }\n");
    let one = object("v1", "ConfigMap", "one", "");
    let two = object("v1", "Secret", "two", "");
    bench.deploy_of("web", &format!("{one}{two}{kept}"));
    bench.fake.put("v1", "ConfigMap", "shop-dev", "of-somebody-else", json!({}));
    bench.good(&["deploy"]);
    bench.deploy_of("web", &one);
    let ran = bench.good(&["deploy"]);
    assert!(ran.stderr.contains("Secret/two is removed: it is no longer part of the deploy"), "{}", ran.stderr);
    assert!(ran.stderr.contains("ConfigMap/kept is kept"), "{}", ran.stderr);
    assert_eq!(bench.fake.names("ConfigMap"), ["kept", "of-somebody-else", "one", "purlin.shop.web"]);
    assert!(bench.fake.names("Secret").is_empty());
}

#[test]
fn a_change_in_the_cluster_is_noticed_and_put_right() {
    let bench = Bench::new("drift");
    bench.deploy_of("web", &(deployment("web", 2, "") + &object("v1", "ConfigMap", "settings", "data: { a: b }\n")));
    bench.good(&["deploy"]);
    assert!(bench.good(&["status"]).stdout.contains("deploy.web  done"));
    // An object is removed by another user.
    bench.fake.state.lock().unwrap().remove("v1", "ConfigMap", "shop-dev", "settings");
    assert!(bench.good(&["status"]).stdout.contains("deploy.web  outdated"));
    bench.good(&["deploy"]);
    assert!(bench.fake.object("v1", "ConfigMap", "shop-dev", "settings").is_some());
    assert!(bench.good(&["status"]).stdout.contains("deploy.web  done"));
}

#[test]
fn cleanup_removes_in_reverse_order_and_forgets() {
    let bench = Bench::new("cleanup");
    let all = deployment("web", 1, "")
        + &object("v1", "ConfigMap", "settings", "")
        + &object("v1", "Service", "web", "")
        + &object("v1", "Secret", "kept", "  annotations: { helm.sh/resource-policy: keep }\n");
    bench.deploy_of("web", &all);
    bench.good(&["deploy"]);
    bench.fake.changes();
    let ran = bench.good(&["cleanup", "--yes"]);
    assert!(ran.stderr.contains("3 objects removed"), "{}", ran.stderr);
    let changes = bench.fake.changes();
    let order = ["deployments/web", "services/web", "configmaps/settings", "configmaps/purlin.shop.web"];
    let places: Vec<usize> = order.iter().map(|what| position(&changes, what)).collect();
    assert!(places.is_sorted(), "{changes:#?}");
    assert!(changes.iter().all(|line| line.starts_with("DELETE")), "{changes:#?}");
    assert_eq!(bench.fake.names("Secret"), ["kept"]);
    assert!(bench.good(&["status"]).stdout.contains("never run"));
    bench.good(&["cleanup", "--yes"]);
}

#[test]
fn logs_are_those_of_the_pods() {
    let bench = Bench::new("logs");
    bench.deploy_of("web", &deployment("web", 1, ""));
    let missing = bench.purlin(&["logs", "deploy.web"]);
    assert_eq!((missing.code, missing.stderr.contains("it is not deployed")), (6, true), "{}", missing.stderr);
    bench.good(&["deploy"]);
    let pod = json!({ "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "main" }] } });
    bench.fake.put("v1", "Pod", "shop-dev", "web-1", pod);
    bench.fake.state.lock().unwrap().logs.insert("web-1".to_owned(), "hello\nworld\n".to_owned());
    assert_eq!(bench.good(&["logs", "deploy.web"]).stdout, "web-1 main | hello\nweb-1 main | world\n");
    assert_eq!(bench.good(&["garden", "logs", "web"]).stdout, "web → hello\nweb → world\n");
}

#[test]
fn the_personality_deploys_and_takes_down() {
    let bench = Bench::new("personality");
    bench.deploy_of("web", &deployment("web", 1, ""));
    bench.good(&["garden", "deploy", "web"]);
    assert_eq!(bench.fake.names("Deployment"), ["web"]);
    bench.good(&["garden", "cleanup", "deploy", "web"]);
    assert!(bench.fake.names("Deployment").is_empty());
}

#[test]
fn differences_with_the_cluster_are_shown_without_secrets() {
    let bench = Bench::new("diff");
    let secret = |value: &str| object("v1", "Secret", "s", &format!("stringData: {{ password: {value} }}\n"));
    let settings = |value: &str| object("v1", "ConfigMap", "settings", &format!("data: {{ a: {value} }}\n"));
    bench.deploy_of("web", &(secret("hunter2") + &settings("b") + &object("v1", "Service", "old", "")));
    let new = bench.purlin(&["diff", "--cluster"]);
    assert_eq!(new.code, 1, "{}", new.stderr);
    assert!(new.stdout.contains("deploy.web/ConfigMap/settings in shop-dev: added"), "{}", new.stdout);
    bench.good(&["deploy"]);
    bench.fake.changes();
    let same = bench.good(&["diff", "--cluster"]);
    assert_eq!(same.stdout, "");
    bench.deploy_of("web", &(secret("hunter3") + &settings("c")));
    let ran = bench.purlin(&["diff", "--cluster"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for part in [
        "ConfigMap/settings in shop-dev: changed",
        "-  a: b\n+  a: c\n",
        "Service/old in shop-dev: removed",
        "(secret, changed)",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("hunter") && !ran.stdout.contains("resourceVersion"), "{}", ran.stdout);
    let trials = bench.fake.changes();
    assert!(trials.iter().all(|line| line.contains("dryRun=All")), "{trials:#?}");
    let json = bench.purlin(&["diff", "--cluster", "-o", "json"]);
    assert!(json.stdout.contains("\"change\": \"removed\""), "{}", json.stdout);
}

#[test]
fn the_context_of_the_command_line_overrides_the_provider() {
    let bench = Bench::new("context");
    bench.deploy_of("web", &object("v1", "ConfigMap", "settings", ""));
    let ran = bench.purlin(&["deploy", "--kube-context", "tset"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(ran.stderr.contains("unknown context `tset`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `test`"), "{}", ran.stderr);
    let elsewhere = bench.purlin(&["deploy", "--kubeconfig", "nowhere"]);
    assert!(elsewhere.stderr.contains("could not read `"), "{}", elsewhere.stderr);
}

#[test]
fn what_refers_to_actions_that_never_ran_is_taken_down() {
    let bench = Bench::new("cleanup-unresolved");
    let run = "kind: Run\nname: seed\ntype: exec\nspec: { command: [echo, one] }\n";
    let deploy = "kind: Deploy\nname: web\ntype: kubernetes\nspec:\n  timeout: 1\n  manifests:\n  - apiVersion: v1\n    \
                  kind: ConfigMap\n    metadata: { name: settings }\n    data: { seed: '${actions.run.seed.outputs.log}' }\n";
    let exec = "---\nkind: Deploy\nname: local\ntype: exec\nspec: { deployCommand: [echo, '${actions.run.seed.outputs.log}'], \
                cleanupCommand: [echo, 'bye-$WORD'] }\n";
    bench.write(
        "all.garden.yml",
        &format!("{run}---\n{deploy}{}", exec.replace("$WORD", "${actions.run.seed.outputs.log}")),
    );
    // Nothing ran, so there is nothing to take down.
    let ran = bench.good(&["cleanup", "--yes"]);
    assert!(!ran.stderr.contains("failed"), "{}", ran.stderr);
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.object("v1", "ConfigMap", "shop-dev", "settings").unwrap()["data"]["seed"], "one");
    // Its dependency has changed since: the last outputs are used.
    bench.write(
        "all.garden.yml",
        &format!(
            "{}---\n{deploy}{}",
            run.replace("one", "two"),
            exec.replace("$WORD", "${actions.run.seed.outputs.log}")
        ),
    );
    let ran = bench.good(&["cleanup", "deploy.local"]);
    assert!(ran.stderr.contains("bye-one"), "{}", ran.stderr);
    // All results are gone: the state of the cluster is enough.
    std::fs::remove_dir_all(bench.scratch.path().join(".purlin")).unwrap();
    let ran = bench.good(&["cleanup", "--yes"]);
    assert!(ran.stderr.contains("1 objects removed"), "{}", ran.stderr);
    assert!(bench.fake.object("v1", "ConfigMap", "shop-dev", "settings").is_none());
}
