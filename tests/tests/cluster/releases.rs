//! `purlin helm` on a cluster: a release from its installation to its end, and what each option changes.

use crate::{Bench, deployment, object};
use purlin_suite::Ran;
use serde_json::{Value as Json, json};

/// A chart with one of each: an object with a value, a workload, hooks, a test and notes.
fn chart(bench: &Bench) {
    bench.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: \"4.5\"\n");
    bench.write("web/values.yaml", "color: blue\nreplicas: 1\nwish: ''\nmore: { a: 1 }\nextra: false\n");
    let settings = object(
        "v1",
        "ConfigMap",
        "{{ .Release.Name }}-settings",
        "data:\n  color: {{ .Values.color }}\n  revision: \"{{ .Release.Revision }}\"\n",
    );
    bench.write("web/templates/settings.yaml", &settings);
    let workload =
        deployment("web", 1, "{{ .Values.wish }}").replace("replicas: 1", "replicas: {{ .Values.replicas }}");
    bench.write("web/templates/web.yaml", &workload);
    let extra = object("v1", "ConfigMap", "extra", "data: { a: b }\n");
    bench.write("web/templates/extra.yaml", &format!("{{{{ if .Values.extra }}}}\n{extra}{{{{ end }}}}\n"));
    bench.write("web/templates/NOTES.txt", "Thank you for installing {{ .Release.Name }}.\n");
}

fn job(name: &str, event: &str, more: &str) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    \"helm.sh/hook\": {event}\n{more}\
         spec: {{ template: {{ spec: {{ restartPolicy: Never, containers: [] }} }} }}\n"
    )
}

impl Bench {
    fn helm(&self, args: &[&str]) -> Ran {
        let all: Vec<&str> = ["helm"].into_iter().chain(args.iter().copied()).collect();
        self.purlin(&all)
    }

    fn done(&self, args: &[&str]) -> String {
        let ran = self.helm(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    fn not_done(&self, args: &[&str]) -> String {
        let ran = self.helm(args);
        assert_eq!(ran.code, 1, "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stderr
    }

    fn read(&self, args: &[&str]) -> Json {
        serde_json::from_str(&self.done(args)).unwrap()
    }

    /// The revisions of a release with their states.
    fn states(&self, name: &str) -> Vec<String> {
        let all = self.read(&["history", name, "-o", "json"]);
        let all = all.as_array().unwrap().iter();
        all.map(|one| format!("{} {}", one["revision"], one["status"].as_str().unwrap())).collect()
    }

    fn config(&self, name: &str) -> Json {
        self.fake.object("v1", "ConfigMap", "default", name).map_or(Json::Null, |found| found["data"].clone())
    }
}

fn ready(name: &str) -> Bench {
    let bench = Bench::new(name);
    chart(&bench);
    bench
}

#[test]
fn a_release_from_the_beginning_to_the_end() {
    let bench = ready("release");
    let out = bench.done(&["install", "shop", "web"]);
    assert!(out.starts_with("NAME: shop\nLAST DEPLOYED: "), "{out}");
    let end = "NAMESPACE: default\nSTATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete\nTEST SUITE: None\nNOTES:\nThank you for installing shop.\n";
    assert!(out.ends_with(end), "{out}");
    let live = bench.fake.object("v1", "ConfigMap", "default", "shop-settings").unwrap();
    assert_eq!(live["metadata"]["labels"]["app.kubernetes.io/managed-by"], "Helm");
    assert_eq!(live["metadata"]["annotations"]["meta.helm.sh/release-name"], "shop");
    assert_eq!(live["metadata"]["annotations"]["meta.helm.sh/release-namespace"], "default");

    let out = bench.done(&["upgrade", "shop", "web", "--set", "color=red"]);
    assert!(out.starts_with("Release \"shop\" has been upgraded. Happy Helming!\nNAME: shop\n"), "{out}");
    assert_eq!(bench.config("shop-settings"), json!({ "color": "red", "revision": "2" }));
    assert_eq!(bench.states("shop"), ["1 superseded", "2 deployed"]);

    assert_eq!(bench.done(&["rollback", "shop", "1"]), "Rollback was a success! Happy Helming!\n");
    assert_eq!(bench.config("shop-settings"), json!({ "color": "blue", "revision": "1" }));
    assert_eq!(bench.states("shop"), ["1 superseded", "2 superseded", "3 deployed"]);
    let all = bench.read(&["history", "shop", "-o", "json"]);
    assert_eq!(all[2]["description"], "Rollback to 1");
    assert_eq!((all[2]["chart"].as_str(), all[2]["app_version"].as_str()), (Some("web-1.2.3"), Some("4.5")));

    assert_eq!(bench.done(&["uninstall", "shop"]), "release \"shop\" uninstalled\n");
    assert_eq!(bench.fake.names("ConfigMap").len() + bench.fake.names("Deployment").len(), 0);
    assert_eq!(bench.fake.names("Secret").len(), 0);
    assert_eq!(bench.not_done(&["status", "shop"]), "Error: release: not found\n");
    let error = bench.not_done(&["uninstall", "shop"]);
    assert_eq!(error, "Error: uninstall: Release not loaded: shop: release: not found\n");
    bench.done(&["uninstall", "shop", "--ignore-not-found"]);
    assert_eq!(
        bench.not_done(&["upgrade", "shop", "web"]),
        "Error: UPGRADE FAILED: \"shop\" has no deployed releases\n"
    );
}

#[test]
fn the_record_is_helms() {
    let bench = ready("record");
    bench.done(&["install", "shop", "web", "--set", "color=red", "--labels", "team=one"]);
    let secret = bench.fake.object("v1", "Secret", "default", "sh.helm.release.v1.shop.v1").unwrap();
    assert_eq!(secret["type"], "helm.sh/release.v1");
    let labels = &secret["metadata"]["labels"];
    let expected = [("name", "shop"), ("owner", "helm"), ("status", "deployed"), ("version", "1"), ("team", "one")];
    for (key, value) in expected {
        assert_eq!(labels[key], value, "{labels}");
    }
    assert!(labels["modifiedAt"].is_string() && labels["createdAt"].is_null(), "{labels}");
    let packed = secret["data"]["release"].as_str().unwrap();
    let inner = purlin_value::encoding::from_base64(packed.as_bytes()).unwrap();
    let gzip = purlin_value::encoding::from_base64(&inner).unwrap();
    let limits = purlin_syntax::Limits::default();
    let record: Json = serde_json::from_slice(&purlin_value::archive::gunzip(&gzip, &limits).unwrap()).unwrap();
    let keys: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["apply_method", "chart", "config", "info", "manifest", "name", "namespace", "version"]);
    assert_eq!(record["apply_method"], "ssa");
    assert_eq!(record["config"], json!({ "color": "red" }));
    assert_eq!(record["info"]["status"], "deployed");
    assert_eq!(record["chart"]["metadata"]["name"], "web");
    assert_eq!(record["chart"]["values"]["color"], "blue");
    assert!(record["chart"]["templates"][0]["data"].is_string());
    assert!(
        record["manifest"]
            .as_str()
            .unwrap()
            .starts_with("---\n# Source: web/templates/settings.yaml\napiVersion: v1\n")
    );
}

#[test]
fn what_is_recorded_is_shown() {
    let bench = ready("get");
    bench.done(&["install", "shop", "web", "--set", "more.b=2", "--description", "first", "-l", "team=one"]);
    assert_eq!(bench.done(&["get", "values", "shop"]), "USER-SUPPLIED VALUES:\nmore:\n  b: 2\n");
    assert_eq!(bench.read(&["get", "values", "shop", "-o", "json"]), json!({ "more": { "b": 2 } }));
    assert_eq!(bench.read(&["get", "values", "shop", "-a", "-o", "json"])["more"], json!({ "a": 1, "b": 2 }));
    assert_eq!(bench.done(&["get", "notes", "shop"]), "NOTES:\nThank you for installing shop.\n\n");
    assert!(bench.done(&["get", "manifest", "shop"]).contains("kind: Deployment"));
    assert_eq!(bench.done(&["get", "hooks", "shop"]), "");
    let data = bench.read(&["get", "metadata", "shop", "-o", "json"]);
    assert_eq!((&data["chart"], &data["version"], &data["revision"]), (&json!("web"), &json!("1.2.3"), &json!(1)));
    assert_eq!((&data["labels"], &data["applyMethod"]), (&json!({ "team": "one" }), &json!("ssa")));
    assert!(bench.done(&["get", "metadata", "shop"]).contains("APPLY_METHOD: server-side apply\n"));
    let all = bench.done(&["get", "all", "shop"]);
    for part in [
        "CHART: web\nVERSION: 1.2.3\nAPP_VERSION: 4.5\n",
        "COMPUTED VALUES:\n",
        "HOOKS:\nMANIFEST:\n---\n",
        "DESCRIPTION: first\n",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    let status = bench.done(&["status", "shop"]);
    assert!(status.contains("DESCRIPTION: first\nRESOURCES:\n==> v1/ConfigMap\n"), "{status}");
    let status = bench.read(&["status", "shop", "-o", "json"]);
    assert!(
        status["chart"].is_null() && status["info"]["resources"]["v1/Deployment"][0]["kind"] == "Deployment",
        "{status}"
    );
    assert_eq!(bench.not_done(&["get", "values", "shop", "--revision", "9"]), "Error: release: not found\n");
}

#[test]
fn lists_are_selected_and_sorted() {
    let bench = ready("list");
    bench.fake.put("v1", "Namespace", "", "other", json!({ "status": { "phase": "Active" } }));
    bench.write("web/templates/web.yaml", "");
    bench.done(&["install", "b", "web", "-l", "team=two"]);
    bench.done(&["install", "a", "web"]);
    bench.done(&["install", "c", "web", "-n", "other"]);
    bench.done(&["upgrade", "b", "web"]);
    bench.done(&["uninstall", "a", "--keep-history"]);
    assert_eq!(bench.done(&["list", "-q"]), "a\nb\n");
    assert_eq!(bench.done(&["list", "-q", "-A"]), "a\nb\nc\n");
    assert_eq!(bench.done(&["list", "-qr"]), "b\na\n");
    assert_eq!(bench.done(&["list", "-qd"]), "a\nb\n");
    assert_eq!(bench.done(&["list", "-q", "--deployed"]), "b\n");
    assert_eq!(bench.done(&["list", "-q", "--uninstalled"]), "a\n");
    assert_eq!(bench.done(&["list", "-q", "--superseded"]), "b\n");
    assert_eq!(bench.done(&["list", "-q", "-l", "team=two"]), "b\n");
    assert_eq!(bench.done(&["list", "-q", "-f", "^[a]$"]), "a\n");
    assert_eq!(bench.done(&["list", "-q", "-m", "1", "--offset", "1"]), "b\n");
    assert_eq!(bench.read(&["list", "-q", "-o", "json"]), json!(["a", "b"]));
    let list = bench.read(&["list", "-o", "json", "--time-format", "2006"]);
    assert_eq!((&list[1]["revision"], &list[1]["chart"]), (&json!("2"), &json!("web-1.2.3")));
    assert_eq!(list[1]["updated"].as_str().unwrap().len(), 4);
    assert!(bench.done(&["list"]).starts_with("NAME\tNAMESPACE\tREVISION\tUPDATED"));
    assert!(bench.done(&["list", "--no-headers"]).starts_with("a\tdefault\t"));
    assert_eq!(bench.done(&["--helm-version", "3", "list", "-q"]), "b\n");
    assert_eq!(bench.done(&["--helm-version", "3", "list", "-qa"]), "a\nb\n");
}

#[test]
fn hooks_run_by_weight_and_are_removed_by_policy() {
    let bench = ready("release-hooks");
    let hooks = job("second", "pre-install", "    \"helm.sh/hook-weight\": \"5\"\n")
        + &job("first", "pre-install,pre-upgrade", "    \"helm.sh/hook-weight\": \"-5\"\n")
        + &job("after", "post-install", "    \"helm.sh/hook-delete-policy\": hook-succeeded\n")
        + &job("back", "pre-rollback", "")
        + &job("last", "pre-delete", "");
    bench.write("web/templates/hooks.yaml", &hooks);
    bench.done(&["install", "shop", "web"]);
    assert_eq!(bench.fake.names("Job"), ["first", "second"]);
    let secret = bench.done(&["get", "hooks", "shop"]);
    assert!(secret.contains("name: after"), "{secret}");
    bench.fake.changes();
    bench.done(&["upgrade", "shop", "web"]);
    assert!(bench.fake.changes().iter().any(|line| line.starts_with("PATCH") && line.contains("/jobs/first")));
    bench.done(&["upgrade", "shop", "web", "--no-hooks"]);
    assert!(!bench.fake.changes().iter().any(|line| line.contains("/jobs/")));
    bench.done(&["rollback", "shop"]);
    bench.done(&["uninstall", "shop"]);
    assert_eq!(bench.fake.names("Job"), ["back", "first", "last", "second"]);
}

#[test]
fn a_failed_hook_fails_the_release() {
    let bench = ready("bad-hook");
    let annotations = "    \"test/wish\": fails\n    \"helm.sh/hook-delete-policy\": hook-failed\n";
    bench.write("web/templates/hooks.yaml", &job("check", "pre-install", annotations));
    let error = bench.not_done(&["install", "shop", "web"]);
    assert!(error.contains("Error: INSTALLATION FAILED: failed pre-install: "), "{error}");
    assert_eq!(bench.states("shop"), ["1 failed"]);
    assert_eq!((bench.fake.names("Job").len(), bench.fake.names("Deployment").len()), (0, 0));
    let error = bench.not_done(&["install", "shop", "web"]);
    assert!(error.contains("release name check failed: cannot reuse a name that is still in use"), "{error}");
    bench.write("web/templates/hooks.yaml", "");
    bench.done(&["install", "shop", "web", "--replace"]);
    assert_eq!(bench.states("shop"), ["1 failed", "2 deployed"]);
}

#[test]
fn tests_of_a_release() {
    let bench = ready("release-tests");
    let pod = |name: &str, code: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  annotations: {{ \"helm.sh/hook\": test }}\nspec:\n  restartPolicy: Never\n  \
             containers: [{{ name: main, image: ok, command: [echo], args: [it, works], env: [{{ name: CODE, value: '{code}' }}] }}]\n"
        )
    };
    bench.write("web/templates/tests.yaml", &(pod("smoke", "0") + &pod("load", "0")));
    bench.done(&["install", "shop", "web"]);
    assert_eq!(bench.fake.names("Pod").len(), 0);
    let out = bench.done(&["test", "shop", "--filter", "name=smoke", "--logs", "--timeout", "5s"]);
    assert!(
        out.contains("TEST SUITE:     smoke\nLast Started:   ") && out.contains("Phase:          Succeeded\n"),
        "{out}"
    );
    assert!(out.contains("\nPOD LOGS: smoke (main)\nit\nworks\n"), "{out}");
    assert_eq!(bench.fake.names("Pod"), ["smoke"]);
    bench.write("web/templates/tests.yaml", &(pod("smoke", "0") + &pod("load", "1")));
    bench.done(&["upgrade", "shop", "web"]);
    let ran = bench.helm(&["test", "shop", "--filter", "!name=smoke", "--timeout", "5s"]);
    assert!(ran.code == 1 && ran.stdout.contains("Phase:          Failed\n"), "{}", ran.stdout);
    assert_eq!(bench.fake.names("Pod"), ["load", "smoke"]);
    assert!(bench.done(&["status", "shop"]).contains("TEST SUITE:     load\n"));
}

#[test]
fn names_are_given_generated_or_made() {
    let bench = ready("names");
    let error = bench.not_done(&["install", "web"]);
    assert_eq!(error, "Error: INSTALLATION FAILED: must either provide a name or specify --generate-name\n");
    let all = bench.read(&["install", "web", "-g", "-o", "json"]);
    assert!(all["name"].as_str().unwrap().starts_with("web-"), "{all}");
    bench.done(&["install", "web", "--name-template", "made-{{ add 1 2 }}", "--take-ownership"]);
    assert_eq!(bench.states("made-3"), ["1 deployed"]);
    let error = bench.not_done(&["install", "Shop_1", "web"]);
    assert!(error.contains("Shop_1"), "{error}");
}

#[test]
fn objects_of_others_are_not_taken_unless_asked_to() {
    let bench = ready("ownership");
    bench.fake.put("v1", "ConfigMap", "default", "shop-settings", json!({ "data": { "color": "green", "own": "x" } }));
    let error = bench.not_done(&["install", "shop", "web"]);
    assert!(error.contains("unable to continue with install: ConfigMap \"shop-settings\" in namespace \"default\" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\""), "{error}");
    assert_eq!(bench.fake.names("Secret").len(), 0);
    bench.done(&["install", "shop", "web", "--take-ownership", "--force-conflicts"]);
    assert_eq!(bench.config("shop-settings"), json!({ "color": "blue", "own": "x", "revision": "1" }));
}

#[test]
fn namespaces_are_made_on_request() {
    let bench = ready("namespaces");
    let error = bench.not_done(&["install", "shop", "web", "-n", "new"]);
    assert!(error.contains("namespaces \"new\" not found"), "{error}");
    bench.done(&["install", "shop", "web", "-n", "new", "--create-namespace"]);
    let made = bench.fake.object("v1", "Namespace", "", "new").unwrap();
    assert_eq!(made["metadata"]["labels"]["name"], "new");
    assert_eq!(bench.done(&["list", "-q", "-n", "new"]), "shop\n");
    assert_eq!(bench.done(&["list", "-q"]), "");
}

#[test]
fn definitions_come_first_and_stay() {
    let bench = ready("release-crds");
    let definition = object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "widgets.shop.example",
        "spec:\n  group: shop.example\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets }\n  \
         versions: [{ name: v1, served: true, storage: true }]\n",
    );
    bench.write("web/crds/widgets.yaml", &definition);
    let widget = object("shop.example/v1", "Widget", "one", "");
    bench.write(
        "web/templates/widget.yaml",
        &format!("{{{{ if .Capabilities.APIVersions.Has \"shop.example/v1/Widget\" }}}}\n{widget}{{{{ end }}}}\n"),
    );
    bench.done(&["install", "bare", "web", "--skip-crds", "--set", "extra=false"]);
    assert_eq!((bench.fake.names("Widget").len(), bench.fake.names("CustomResourceDefinition").len()), (0, 0));
    bench.done(&["uninstall", "bare"]);
    bench.done(&["install", "shop", "web"]);
    assert_eq!(bench.fake.names("Widget"), ["one"]);
    bench.done(&["uninstall", "shop"]);
    assert_eq!((bench.fake.names("Widget").len(), bench.fake.names("CustomResourceDefinition").len()), (0, 1));
}

#[test]
fn templates_may_look_objects_up() {
    let bench = ready("lookup");
    bench.fake.put("v1", "ConfigMap", "default", "seed", json!({ "data": { "color": "violet" } }));
    let text = "color: {{ with lookup \"v1\" \"ConfigMap\" \"default\" \"seed\" }}{{ .data.color }}{{ else }}none{{ end }}\n  \
                absent: \"{{ lookup \"v1\" \"ConfigMap\" \"default\" \"nothing\" | len }}\"\n  count: \"{{ dig \"items\" list (lookup \"v1\" \"ConfigMap\" \"default\" \"\") | len }}\"\n";
    bench.write("web/templates/found.yaml", &object("v1", "ConfigMap", "found", &format!("data:\n  {text}")));
    bench.done(&["install", "shop", "web"]);
    assert_eq!(bench.config("found"), json!({ "color": "violet", "absent": "0", "count": "1" }));
    let dry = bench.done(&["install", "other", "web", "--dry-run=client"]);
    assert!(dry.contains("color: none"), "{dry}");
}

#[test]
fn dry_runs_change_nothing() {
    let bench = ready("dry");
    let secret = object("v1", "Secret", "key", "stringData: { password: hunter2 }\n");
    bench.write("web/templates/key.yaml", &secret);
    bench.fake.changes();
    let out = bench.done(&["install", "shop", "web", "--dry-run=server", "--hide-secret"]);
    assert!(out.contains("STATUS: pending-install\nREVISION: 1\nDESCRIPTION: Dry run complete\n"), "{out}");
    assert!(out.contains("# HIDDEN: The Secret output has been suppressed") && !out.contains("hunter2"), "{out}");
    assert_eq!(bench.fake.changes(), Vec::<String>::new());
    let ran = bench.helm(&["install", "shop", "web", "--dry-run"]);
    assert!(
        ran.stdout.contains("HOOKS:\nMANIFEST:\n---\n") && ran.stderr.contains("--dry-run is deprecated"),
        "{}",
        ran.stderr
    );
    bench.done(&["install", "shop", "web"]);
    bench.fake.changes();
    for kind in ["client", "server"] {
        let out = bench.done(&["upgrade", "shop", "web", "--set", "color=red", &format!("--dry-run={kind}")]);
        assert!(out.contains("REVISION: 2\n") && out.contains("color: red"), "{out}");
    }
    bench.done(&["rollback", "shop", "1", "--dry-run=client"]);
    bench.done(&["uninstall", "shop", "--dry-run"]);
    assert_eq!(bench.fake.changes(), Vec::<String>::new());
    assert_eq!(
        bench.not_done(&["install", "a", "web", "--hide-secret"]),
        "Error: hiding Kubernetes secrets requires a dry-run mode\n"
    );
}

#[test]
fn values_of_the_revision_before_are_reused() {
    let bench = ready("reuse");
    bench.done(&["install", "shop", "web", "--set", "color=red"]);
    let values = |bench: &Bench| bench.read(&["get", "values", "shop", "-o", "json"]);
    bench.done(&["upgrade", "shop", "web"]);
    assert_eq!(values(&bench), json!({ "color": "red" }), "the user's values are kept if none are given");
    bench.done(&["upgrade", "shop", "web", "--set", "replicas=2"]);
    assert_eq!(values(&bench), json!({ "replicas": 2 }));
    bench.write("web/values.yaml", "color: yellow\nreplicas: 1\nwish: ''\nmore: { a: 5 }\nextra: false\n");
    bench.done(&["upgrade", "shop", "web", "--reuse-values", "--set", "more.b=1"]);
    assert_eq!(values(&bench), json!({ "more": { "b": 1 }, "replicas": 2 }));
    assert_eq!(bench.config("shop-settings")["color"], "blue", "the defaults are those of the chart before");
    bench.done(&["upgrade", "shop", "web", "--reset-then-reuse-values"]);
    assert_eq!(values(&bench), json!({ "more": { "b": 1 }, "replicas": 2 }));
    assert_eq!(bench.config("shop-settings")["color"], "yellow");
    bench.done(&["upgrade", "shop", "web", "--reset-values"]);
    assert_eq!(values(&bench), Json::Null);
}

#[test]
fn failures_are_rolled_back_on_request() {
    let bench = ready("atomic");
    let error = bench.not_done(&["install", "shop", "web", "--set", "wish=stuck", "--wait", "--timeout", "1s"]);
    assert!(error.contains("Error: INSTALLATION FAILED: "), "{error}");
    assert_eq!(bench.states("shop"), ["1 failed"]);
    bench.done(&["uninstall", "shop"]);
    for flag in ["--atomic", "--rollback-on-failure"] {
        let error = bench.not_done(&["install", "shop", "web", "--set", "wish=stuck", flag, "--timeout", "1s"]);
        assert!(
            error.contains("release shop failed, and has been uninstalled due to rollback-on-failure being set: "),
            "{error}"
        );
        assert_eq!((bench.fake.names("Deployment").len(), bench.fake.names("Secret").len()), (0, 0));
    }
    bench.done(&["install", "shop", "web", "--wait"]);
    let error =
        bench.not_done(&["upgrade", "shop", "web", "--set", "wish=stuck,color=red", "--atomic", "--timeout", "1s"]);
    assert!(
        error.contains("release shop failed, and has been rolled back due to rollback-on-failure being set: "),
        "{error}"
    );
    assert_eq!(bench.states("shop"), ["1 superseded", "2 failed", "3 deployed"]);
    assert_eq!(bench.config("shop-settings")["color"], "blue");
}

#[test]
fn what_a_failed_upgrade_created_is_removed_on_request() {
    let bench = ready("cleanup-on-fail");
    bench.done(&["install", "shop", "web"]);
    let args = ["upgrade", "shop", "web", "--set", "wish=stuck,extra=true", "--wait", "--timeout", "1s"];
    bench.not_done(&args);
    assert_eq!(bench.fake.names("ConfigMap"), ["extra", "shop-settings"]);
    bench.done(&["rollback", "shop", "1"]);
    assert_eq!(bench.fake.names("ConfigMap"), ["shop-settings"]);
    bench.not_done(&[&args[..], &["--cleanup-on-fail"]].concat());
    assert_eq!(bench.fake.names("ConfigMap"), ["shop-settings"]);
}
