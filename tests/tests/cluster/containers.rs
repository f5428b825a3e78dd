//! Actions of type `container`: workloads with their services and ingresses, and pods that run once.

use crate::Bench;
use serde_json::json;

const WEB: &str = "kind: Deploy\nname: web\ntype: container\nspec:\n  image: nginx:1\n  timeout: 1\n  replicas: 2\n  \
                   ports: [{ name: http, containerPort: 8080, servicePort: 80 }]\n  \
                   ingresses: [{ port: http, hostname: shop.example }]\n";

#[test]
fn a_container_is_a_workload_a_service_and_an_ingress() {
    let bench = Bench::new("container");
    bench.write("web.garden.yml", WEB);
    let ran = bench.good(&["deploy"]);
    assert!(ran.stderr.contains("3 objects applied"), "{}", ran.stderr);
    let web = bench.fake.object("apps/v1", "Deployment", "shop-dev", "web").unwrap();
    assert_eq!(web["spec"]["replicas"], 2);
    assert_eq!(web["metadata"]["labels"]["garden.io/service"], "web");
    let service = bench.fake.object("v1", "Service", "shop-dev", "web").unwrap();
    assert_eq!(service["spec"]["selector"], json!({ "garden.io/action": "deploy.web" }));
    let ingress = bench.fake.object("networking.k8s.io/v1", "Ingress", "shop-dev", "web-0").unwrap();
    assert_eq!(ingress["spec"]["rules"][0]["host"], "shop.example");
    assert!(bench.good(&["status"]).stdout.contains("deploy.web  done"));
    bench.fake.changes();
    bench.good(&["deploy"]);
    assert_eq!(bench.fake.changes(), Vec::<String>::new(), "a second run changes nothing");

    bench.write("web.garden.yml", &WEB.replace("  replicas: 2\n", "  daemon: true\n"));
    let ran = bench.good(&["deploy"]);
    assert!(ran.stderr.contains("Deployment/web is removed"), "{}", ran.stderr);
    assert_eq!(bench.fake.names("DaemonSet"), ["web"]);
    bench.good(&["cleanup", "--yes"]);
    assert!(bench.fake.names("DaemonSet").is_empty() && bench.fake.names("Ingress").is_empty());
}

#[test]
fn secrets_of_the_provider_are_copied() {
    let bench = Bench::new("container-secrets");
    let provider = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{ name: dev }]\nproviders:\n\
                    - name: kubernetes\n  context: test\n  namespace: shop-dev\n  imagePullSecrets: [{ name: pull, namespace: default }]\n";
    bench.write("project.garden.yml", provider);
    bench.write("web.garden.yml", WEB);
    let failed = bench.purlin(&["deploy"]);
    assert_eq!(failed.code, 6);
    let said = "the Secret `pull` to copy does not exist in namespace `default`";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    bench.fake.put("v1", "Secret", "default", "pull", json!({ "type": "x", "data": { "key": "c2VjcmV0" } }));
    bench.good(&["deploy"]);
    let copy = bench.fake.object("v1", "Secret", "shop-dev", "pull").unwrap();
    assert_eq!((&copy["type"], &copy["data"]["key"]), (&json!("x"), &json!("c2VjcmV0")));
    let web = bench.fake.object("apps/v1", "Deployment", "shop-dev", "web").unwrap();
    assert_eq!(web["spec"]["template"]["spec"]["imagePullSecrets"], json!([{ "name": "pull" }]));
}

fn test(rest: &str) -> String {
    format!("kind: Test\nname: smoke\ntype: container\ntimeout: 2\nspec:\n  image: busybox\n{rest}")
}

#[test]
fn a_test_is_a_pod_whose_exit_code_is_the_result() {
    let bench = Bench::new("pod");
    bench.write("smoke.garden.yml", &test("  command: [say]\n  args: [hello, world]\n"));
    let ran = bench.good(&["test"]);
    assert!(ran.stderr.contains("hello") && ran.stderr.contains("world"), "{}", ran.stderr);
    assert!(bench.fake.names("Pod").is_empty(), "the pod is removed");
    assert_eq!(bench.fake.names("Namespace"), ["default", "shop-dev"]);
    let again = bench.good(&["test"]);
    assert!(again.stderr.contains("cached"), "{}", again.stderr);
    assert!(bench.good(&["logs", "test.smoke"]).stdout.contains("hello\nworld"));

    bench.write("smoke.garden.yml", &test("  command: [say]\n  args: [oh]\n  env: { CODE: 3 }\n"));
    let failed = bench.purlin(&["test"]);
    assert_eq!((failed.code, failed.stderr.contains("exit code 3")), (6, true), "{}", failed.stderr);
    assert!(bench.good(&["status"]).stdout.contains("failed: exit code 3"));

    bench.write("smoke.garden.yml", &test("  command: [sleep]\n"));
    let slow = bench.purlin(&["test"]);
    assert!(slow.stderr.contains("timed out after 2"), "{}", slow.stderr);
    bench.write("smoke.garden.yml", &test("").replace("busybox", "missing"));
    let missing = bench.purlin(&["test"]);
    assert!(missing.stderr.contains("did not start: ErrImagePull no such image"), "{}", missing.stderr);
    assert!(bench.fake.names("Pod").is_empty(), "pods that failed are removed, too");
}

#[test]
fn a_pod_may_be_that_of_a_workload() {
    let bench = Bench::new("pod-of");
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: api }\nspec:\n  template:\n    spec:\n      \
                    serviceAccountName: robot\n      containers:\n      - name: api\n        image: shop/api\n        \
                    env: [{ name: DB, value: here }]\n        livenessProbe: { tcpSocket: { port: 1 } }\n";
    bench.write("api.yaml", manifest);
    let run = "kind: Run\nname: migrate\ntype: kubernetes-pod\nspec:\n  resource: { kind: Deployment, name: api }\n  \
               manifestFiles: [api.yaml]\n  command: [sleep]\ntimeout: 1\n";
    bench.write("migrate.garden.yml", run);
    bench.fake.changes();
    let ran = bench.purlin(&["run", "migrate"]);
    assert!(ran.stderr.contains("timed out after 1"), "{}", ran.stderr);
    let made: Vec<String> = bench.fake.changes();
    assert!(made.iter().any(|line| line.starts_with("POST /api/v1/namespaces/shop-dev/pods")), "{made:?}");
    assert!(
        made.iter().any(|line| line.starts_with("DELETE /api/v1/namespaces/shop-dev/pods/run-migrate-")),
        "{made:?}"
    );
    bench.write("migrate.garden.yml", &run.replace("name: api }", "name: apy }"));
    let wrong = bench.purlin(&["run", "migrate"]);
    assert!(wrong.stderr.contains("`run.migrate` has no Deployment `apy` to take a pod from"), "{}", wrong.stderr);
}
