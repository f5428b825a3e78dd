//! Charts: hooks by weight and moment, their delete policies, and failing hooks.

use crate::{Bench, object};

fn hook(name: &str, moments: &str, rest: &str) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    \"helm.sh/hook\": {moments}\n{rest}\
         spec: {{ template: {{ spec: {{ restartPolicy: Never, containers: [] }} }} }}\n"
    )
}

fn chart(bench: &Bench, templates: &str) {
    bench.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    bench.write("web/templates/all.yaml", templates);
    bench.write("web.garden.yml", "kind: Deploy\nname: web\ntype: helm\nspec:\n  chart: { path: web }\n  timeout: 2\n");
}

fn jobs(changes: &[String]) -> Vec<String> {
    let made = changes.iter().filter(|line| line.contains("/jobs/") || line.contains("/configmaps/settings"));
    let short = |line: &String| {
        let (method, path) = line.split_once(' ').unwrap();
        format!("{method} {}", path.split('?').next().unwrap().rsplit('/').next().unwrap())
    };
    made.map(short).collect()
}

#[test]
fn hooks_run_at_their_moment_by_weight() {
    let bench = Bench::new("hooks");
    let templates = hook("second", "pre-install", "    \"helm.sh/hook-weight\": \"5\"\n")
        + &hook("first", "pre-install,pre-upgrade", "    \"helm.sh/hook-weight\": \"-5\"\n")
        + &hook("after", "post-install", "    \"helm.sh/hook-delete-policy\": hook-succeeded\n")
        + &hook("upgraded", "post-upgrade", "")
        + &hook("last", "pre-delete", "")
        + &hook("never", "test", "")
        + &object("v1", "ConfigMap", "settings", "data: { version: {{ .Values.version | default 1 | quote }} }\n");
    chart(&bench, &templates);
    bench.good(&["deploy"]);
    let done = jobs(&bench.fake.changes());
    let expected = [
        "DELETE first",
        "PATCH first",
        "DELETE second",
        "PATCH second",
        "PATCH settings",
        "PATCH after",
        "DELETE after",
    ];
    assert_eq!(done, expected);
    assert_eq!(bench.fake.names("Job"), ["first", "second"]);

    bench.write("web/values.yaml", "version: 2\n");
    bench.good(&["deploy"]);
    let done = jobs(&bench.fake.changes());
    assert_eq!(done, ["DELETE first", "PATCH first", "PATCH settings", "DELETE upgraded", "PATCH upgraded"]);

    bench.good(&["cleanup", "--yes"]);
    let done = jobs(&bench.fake.changes());
    assert_eq!(done, ["DELETE last", "PATCH last", "DELETE settings"]);
}

#[test]
fn definitions_of_a_chart_are_made_once_and_stay() {
    let bench = Bench::new("crds");
    let definition = object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "widgets.shop.example",
        "spec:\n  group: shop.example\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets }\n  \
         versions: [{ name: v1, served: true, storage: true }]\n",
    );
    bench.write("web/crds/widgets.yaml", &definition);
    chart(&bench, &object("shop.example/v1", "Widget", "one", ""));
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.names("Widget"), ["one"]);
    bench.fake.changes();
    bench.good(&["deploy", "--force"]);
    let changes = bench.fake.changes();
    assert!(!changes.iter().any(|line| line.contains("customresourcedefinitions")), "{changes:#?}");
    bench.good(&["cleanup", "--yes"]);
    assert!(bench.fake.names("Widget").is_empty());
    assert_eq!(bench.fake.names("CustomResourceDefinition"), ["widgets.shop.example"]);
}

#[test]
fn a_hook_that_fails_ends_the_deploy() {
    let bench = Bench::new("hook-fails");
    let templates =
        hook("migrate", "pre-install", "    test/wish: fails\n    \"helm.sh/hook-delete-policy\": hook-failed\n")
            + &object("v1", "ConfigMap", "settings", "");
    chart(&bench, &templates);
    let ran = bench.purlin(&["deploy"]);
    assert_eq!(ran.code, 6);
    assert!(ran.stderr.contains("Job/migrate failed: BackoffLimitExceeded"), "{}", ran.stderr);
    assert!(bench.fake.names("Job").is_empty(), "hook-failed removes it");
    assert!(!bench.fake.names("ConfigMap").contains(&"settings".to_owned()));
}

/// Hooks of equal weight are sorted by name, as in Helm; hooks that succeeded before a failure are removed if their
/// policy says so.
#[test]
fn hooks_of_one_weight_go_by_name_and_are_removed_when_a_later_one_fails() {
    let bench = Bench::new("hook-order");
    let templates = hook("c-fails", "pre-install", "    test/wish: fails\n")
        + &hook("b-stays", "pre-install", "")
        + &hook("a-goes", "pre-install", "    \"helm.sh/hook-delete-policy\": hook-succeeded\n")
        + &hook("d-never", "pre-install", "")
        + &object("v1", "ConfigMap", "settings", "");
    chart(&bench, &templates);
    assert_eq!(bench.purlin(&["deploy"]).code, 6);
    let done = jobs(&bench.fake.changes());
    let expected =
        ["PATCH a-goes", "DELETE b-stays", "PATCH b-stays", "DELETE c-fails", "PATCH c-fails", "DELETE a-goes"];
    assert_eq!(done, expected);
}

/// A hook with a generated name is removed by that name, and nothing else is.
#[test]
fn a_hook_with_a_generated_name_is_removed_by_the_name_it_got() {
    let bench = Bench::new("hook-name");
    bench.fake.put("batch/v1", "Job", "shop-dev", "of-somebody-else", serde_json::json!({}));
    let templates =
        hook("NAME", "pre-install", "    \"helm.sh/hook-delete-policy\": before-hook-creation,hook-succeeded\n")
            .replace("name: NAME", "generateName: migrate-");
    chart(&bench, &templates);
    bench.good(&["deploy"]);
    let done = jobs(&bench.fake.changes());
    assert!(matches!(done.as_slice(), [only] if only.starts_with("DELETE migrate-x")), "{done:?}");
    assert_eq!(bench.fake.names("Job"), ["of-somebody-else"]);
}

/// Definitions may be hooks, too: their kinds can be used afterwards, and they are never removed.
#[test]
fn a_definition_that_is_a_hook_comes_first_and_stays() {
    let bench = Bench::new("hook-definition");
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  \
                      name: widgets.shop.example\n  annotations: {\"helm.sh/hook\": \"pre-install,pre-upgrade\"}\n\
                      spec:\n  group: shop.example\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets }\n  \
                      versions: [{ name: v1, served: true, storage: true }]\n";
    chart(&bench, &(definition.to_owned() + &object("shop.example/v1", "Widget", "one", "")));
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.names("Widget"), ["one"]);
    bench.fake.changes();
    bench.good(&["deploy", "--force"]);
    let changes = bench.fake.changes();
    assert!(!changes.iter().any(|line| line.starts_with("DELETE")), "{changes:#?}");
}

/// The output of a hook is shown if its policy requests that.
#[test]
fn the_output_of_a_hook_is_shown_if_it_asks_for_that() {
    let bench = Bench::new("hook-output");
    let labels = serde_json::json!({ "metadata": { "labels": { "job-name": "migrate" } },
        "spec": { "containers": [{ "name": "main" }] } });
    bench.fake.put("v1", "Pod", "shop-dev", "migrate-1", labels);
    bench.fake.state.lock().unwrap().logs.insert("migrate-1".to_owned(), "12 tables\n".to_owned());
    chart(&bench, &hook("migrate", "pre-install", "    \"helm.sh/hook-output-log-policy\": hook-succeeded\n"));
    let ran = bench.good(&["deploy"]);
    assert!(ran.stderr.contains("migrate-1 main | 12 tables"), "{}", ran.stderr);
}
