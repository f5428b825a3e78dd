//! Charts, kustomizations and plain files with objects, deployed without a project around them.

use crate::{Bench, deployment, object};

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    std::fs::remove_file(bench.scratch.path().join("project.garden.yml")).unwrap();
    bench
}

#[test]
fn a_chart_is_a_release() {
    let bench = bench("bare-chart");
    bench.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    bench.write("web/values.yaml", "count: 1\n");
    let template = deployment("{{ .Release.Name }}", 1, "").replace("replicas: 1", "replicas: {{ .Values.count }}");
    bench.write("web/templates/web.yaml", &template);
    let hook = object("v1", "ConfigMap", "gone", "  annotations: { helm.sh/hook: pre-delete }\n");
    bench.write("web/templates/hook.yaml", &hook);
    let args = ["--path", "web", "--namespace", "team"];
    let with = |command: &'static str, more: &[&'static str]| [&[command], &args[..], more].concat();

    bench.good(&with("deploy", &["--set", "count=3", "--release-name", "shop"]));
    let shop = bench.fake.object("apps/v1", "Deployment", "team", "shop").unwrap();
    assert_eq!(shop["spec"]["replicas"], 3);
    bench.good(&with("deploy", &[]));
    assert!(bench.fake.object("apps/v1", "Deployment", "team", "web").is_some(), "its own name");
    let status =
        bench.good(&["status", "web", "--namespace", "team", "--set", "count=3", "--release-name", "shop"]).stdout;
    assert!(status.contains("deploy.shop  done"), "{status}");
    let status = bench.good(&["status", "web", "--namespace", "team", "--release-name", "shop"]).stdout;
    assert!(status.contains("deploy.shop  outdated"), "{status}");
    let logs = bench.purlin(&["logs", "deploy.web", "--path", "web", "--namespace", "team"]);
    assert_eq!(logs.code, 0, "{}", logs.stderr);
    bench.fake.changes();
    bench.good(&with("cleanup", &["--yes", "--release-name", "shop"]));
    assert!(bench.fake.changes().iter().any(|line| line.contains("configmaps/gone")), "its hook ran");
    assert_eq!(bench.fake.names("Deployment"), ["web"]);
}

#[test]
fn a_kustomization_and_its_neighbour_do_not_meet() {
    let bench = bench("bare-kustomization");
    // Files in the same repository may be used.
    bench.write(".git/HEAD", "ref: refs/heads/main\n");
    bench.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    bench.write("base/web.yaml", &deployment("web", 1, ""));
    for overlay in ["dev", "prod"] {
        bench.write(
            &format!("{overlay}/kustomization.yaml"),
            &format!("namePrefix: {overlay}-\nresources: [../base]\n"),
        );
        bench.good(&["deploy", "--path", overlay]);
    }
    assert_eq!(bench.fake.names("Deployment"), ["dev-web", "prod-web"]);
    bench.good(&["cleanup", "--yes", "--path", "dev"]);
    assert_eq!(bench.fake.names("Deployment"), ["prod-web"]);
}

#[test]
fn files_are_what_kubectl_takes() {
    let bench = bench("bare-files");
    bench.write("k8s/a.yaml", &(deployment("web", 1, "") + &object("v1", "ConfigMap", "one", "")));
    bench.write("k8s/b.yml", &object("v1", "ConfigMap", "two", ""));
    bench.write("k8s/deeper/c.yaml", &object("v1", "ConfigMap", "three", ""));
    bench.good(&["deploy", "--path", "k8s"]);
    let names = bench.fake.names("ConfigMap");
    assert!(names.contains(&"one".to_owned()) && names.contains(&"two".to_owned()), "{names:?}");
    assert!(!names.contains(&"three".to_owned()), "{names:?}");
    std::fs::remove_file(bench.scratch.path().join("k8s/b.yml")).unwrap();
    let ran = bench.good(&["deploy", "--path", "k8s"]);
    assert!(ran.stderr.contains("ConfigMap/two is removed"), "{}", ran.stderr);
    let test = bench.purlin(&["test", "--path", "k8s"]);
    assert_eq!((test.code, test.stderr.contains("use `purlin deploy`")), (2, true), "{}", test.stderr);
    bench.write("k8s/b.yml", "hello: world\n");
    let wrong = bench.purlin(&["deploy", "--path", "k8s"]);
    assert_ne!(wrong.code, 0);
    assert!(wrong.stderr.contains("it is not a Kubernetes object: `kind` is missing"), "{}", wrong.stderr);
    bench.good(&["deploy", "--path", "k8s/a.yaml"]);
}

/// Objects without a project are compared with the cluster as well; items of a typed list have its kind.
#[test]
fn objects_are_compared_with_the_cluster() {
    let bench = bench("objects-diff");
    bench.write(
        "manifests/all.yaml",
        "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: { name: one }\n  data: { a: b }\n",
    );
    let compared = bench.purlin(&["diff", "--cluster", "manifests"]);
    assert_eq!(compared.code, 1, "{}", compared.stderr);
    assert!(compared.stdout.contains("ConfigMap/one in default: added"), "{}", compared.stdout);
    bench.good(&["deploy", "--path", "manifests"]);
    let compared = bench.good(&["diff", "--cluster", "manifests"]);
    assert_eq!(compared.stdout, "");
}
