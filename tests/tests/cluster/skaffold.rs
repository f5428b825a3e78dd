//! Skaffold configurations: built, tested, deployed with the built images, and taken down.

use crate::{Bench, object};

const CONFIG: &str = "\
apiVersion: skaffold/v4beta11
kind: Config
metadata: {name: shop}
build:
  artifacts: [{image: web, context: ., custom: {buildCommand: 'echo making $IMAGE'}}]
  tagPolicy: {envTemplate: {template: v1}}
  local: {push: false}
test: [{image: web, custom: [{command: 'echo testing $IMAGE'}]}]
manifests: {rawYaml: [k8s.yaml]}
deploy:
  kubectl:
    hooks:
      before: [{host: {command: [/bin/sh, -c, 'echo before in $SKAFFOLD_NAMESPACES']}}]
      after: [{host: {command: [/bin/sh, -c, 'echo after']}}]
";

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    std::fs::remove_file(bench.scratch.path().join("project.garden.yml")).unwrap();
    bench.fake.put("v1", "Namespace", "", "team", serde_json::json!({}));
    bench.write("skaffold.yaml", CONFIG);
    let pod = "spec: { containers: [{ name: web, image: web }] }\n";
    bench.write(
        "k8s.yaml",
        &(object("v1", "ConfigMap", "settings", "data: { a: b }\n") + &object("v1", "Pod", "web", pod)),
    );
    bench
}

/// No container builder is installed: a custom build command needs none.
const ALONE: &[(&str, &str)] = &[("PATH", "/nonexistent")];

#[test]
fn run_builds_tests_and_deploys_and_delete_takes_down() {
    let bench = bench("skaffold");
    let args = ["skaffold", "run", "-n", "team", "--status-check=false"];
    let ran = bench.purlin_with(&args, ALONE);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let wanted = [
        "making web:v1",
        "testing web:v1",
        "Tags used in deployment:\n - web -> web:v1",
        "before in team",
        "2 objects applied",
        "after",
    ];
    let places: Vec<Option<usize>> = wanted.iter().map(|line| ran.stdout.find(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", ran.stdout);
    let pod = bench.fake.object("v1", "Pod", "team", "web").unwrap();
    assert_eq!(pod["spec"]["containers"][0]["image"], "web:v1");
    assert!(bench.fake.object("v1", "ConfigMap", "team", "settings").is_some());

    let gone = bench.purlin_with(&["skaffold", "delete", "-n", "team"], ALONE);
    assert_eq!(gone.code, 0, "{}\n{}", gone.stdout, gone.stderr);
    assert!(bench.fake.object("v1", "Pod", "team", "web").is_none());
}

#[test]
fn deploy_takes_images_that_were_built_before() {
    let bench = bench("skaffold-deploy");
    let lacks = bench.purlin_with(&["skaffold", "deploy"], ALONE);
    assert_eq!(lacks.code, 1);
    assert!(lacks.stderr.contains("no tag provided for image [web]"), "{}", lacks.stderr);
    let args = ["skaffold", "deploy", "--images", "web=reg.example/web:v7", "-n", "team", "--status-check=false"];
    let ran = bench.purlin_with(&args, ALONE);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let pod = bench.fake.object("v1", "Pod", "team", "web").unwrap();
    assert_eq!(pod["spec"]["containers"][0]["image"], "reg.example/web:v7");
    bench.write("skaffold.yaml", &CONFIG.replace("kubectl:\n", "cloudrun: {region: x}\n  kubectl:\n"));
    let refused = bench.purlin_with(&args, ALONE);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("`cloudrun`"), "{}", refused.stderr);
}

#[test]
fn the_native_command_deploys_too() {
    let bench = bench("skaffold-native");
    bench.write("skaffold.yaml", &CONFIG.replace("deploy:\n", "deploy:\n  statusCheck: false\n"));
    let ran = bench.purlin_with(&["deploy", "--namespace", "team"], ALONE);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let pod = bench.fake.object("v1", "Pod", "team", "web").unwrap();
    assert_eq!(pod["spec"]["containers"][0]["image"], "web:v1");
}

#[test]
fn an_action_deploys_with_the_images_of_the_builds_it_depends_on() {
    let bench = bench("skaffold-action");
    let project = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{ name: dev }]\n\
                   providers:\n- name: kubernetes\n  context: test\n  namespace: shop-dev\n";
    let actions = "---\nkind: Build\ntype: skaffold\nname: images\n\
                   ---\nkind: Deploy\ntype: skaffold\nname: web\ndependencies: [build.images]\n";
    bench.write("project.garden.yml", &format!("{project}{actions}"));
    let config = CONFIG.split("deploy:\n").next().unwrap();
    bench.write("skaffold.yaml", &format!("{config}deploy: {{statusCheck: false}}\n"));
    let ran = bench.purlin_with(&["deploy"], ALONE);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let pod = bench.fake.object("v1", "Pod", "shop-dev", "web").unwrap();
    let image = pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned();
    assert!(image.starts_with("web:v-"), "{image}");
    let gone = bench.purlin_with(&["cleanup", "--yes"], ALONE);
    assert_eq!(gone.code, 0, "{}\n{}", gone.stdout, gone.stderr);
    assert!(bench.fake.object("v1", "Pod", "shop-dev", "web").is_none());
}

#[test]
fn releases_have_namespaces_of_their_own() {
    let bench = bench("skaffold-namespaces");
    bench.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n");
    bench.write("chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n");
    let config = "apiVersion: skaffold/v4beta13\nkind: Config\ndeploy:\n  helm:\n    releases:\n    \
                  - {name: one, chartPath: chart, namespace: team-one, createNamespace: true}\n    \
                  - {name: two, chartPath: chart}\n";
    bench.write("skaffold.yaml", config);
    let ran = bench.purlin_with(&["skaffold", "deploy"], ALONE);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(bench.fake.object("v1", "ConfigMap", "team-one", "one").is_some());
    assert!(bench.fake.object("v1", "ConfigMap", "default", "two").is_some());
    let gone = bench.purlin_with(&["skaffold", "delete"], ALONE);
    assert_eq!(gone.code, 0, "{}\n{}", gone.stdout, gone.stderr);
    assert!(bench.fake.object("v1", "ConfigMap", "team-one", "one").is_none());
}
