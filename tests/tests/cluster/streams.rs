//! Logs and commands of what is deployed.

use super::{Bench, deployment, object};
use crate::fake::Fake;
use crate::live::Live;
use serde_json::json;

/// A pod of a workload, with two containers and an init container.
pub fn pod(fake: &Fake, name: &str, app: &str, restarts: u64) {
    let status = |name: &str| json!({ "name": name, "restartCount": restarts, "state": { "running": {} } });
    let rest = json!({
        "metadata": { "labels": { "app": app } },
        "spec": { "containers": [{ "name": "main", "ports": [{ "name": "http", "containerPort": 8080 }] }, { "name": "side" }] },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }],
            "containerStatuses": [status("main"), status("side")] },
    });
    fake.put("v1", "Pod", "shop-dev", name, rest);
}

fn lines(texts: &[&str]) -> Vec<(String, String)> {
    let time = |at: usize| format!("2026-01-01T00:00:{at:02}.5Z");
    texts.iter().enumerate().map(|(at, text)| (time(at), (*text).to_owned())).collect()
}

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    let service =
        object("v1", "Service", "web", "spec: { selector: { app: web }, ports: [{ port: 80, targetPort: http }] }\n");
    bench.deploy_of("web", &(deployment("web", 1, "") + &service));
    bench.good(&["deploy"]);
    pod(&bench.fake, "web-1", "web", 0);
    let live = Live { lines: lines(&["first", "second", "third"]), ..Live::default() };
    bench.fake.state.lock().unwrap().streams.logs.insert("web-1".to_owned(), live);
    bench
}

#[test]
fn logs_are_the_lines_that_are_wished_for() {
    let bench = bench("logs");
    let shown = |args: &[&str]| bench.good(&[&["logs", "deploy.web"], args].concat()).stdout;
    let all = ["first", "second", "third"].map(|line| format!("web-1 main | {line}\n")).concat();
    assert_eq!(shown(&["--container", "main"]), all);
    assert_eq!(shown(&["--container", "m*", "--tail", "1"]), "web-1 main | third\n");
    assert_eq!(
        shown(&["--container", "main", "--tail", "1", "--timestamps"]),
        "web-1 main | 2026-01-01T00:00:02.5Z third\n"
    );
    assert_eq!(shown(&[]).lines().count(), 6);
    assert_eq!(shown(&["--container", "none"]), "");
    bench.fake.changes();
    shown(&["--since", "1m30s"]);
    let state = bench.fake.state.lock().unwrap();
    let asked = state.seen.iter().filter(|line| line.contains("/log?"));
    assert!(
        asked.clone().all(|line| line.contains("&sinceSeconds=90") && !line.contains("tailLines")),
        "{:?}",
        state.seen
    );
}

#[test]
fn durations_and_times_of_processes_are_refused() {
    let bench = Bench::new("logs-process");
    bench.write("a.garden.yml", "kind: Build\nname: a\ntype: exec\nspec: { command: [echo, hello] }\n");
    bench.good(&["build"]);
    let ran = bench.good(&["logs", "build.a", "--since", "1m"]);
    assert_eq!(ran.stdout, "hello\n");
    assert!(ran.stderr.contains("warning: the lines of `build.a` have no times"), "{}", ran.stderr);
    let ran = bench.purlin(&["logs", "build.a", "--since", "soon"]);
    assert!(ran.code == 2 && ran.stderr.contains("`soon` is not a duration: write `90s`"), "{}", ran.stderr);
}

#[test]
fn commands_run_in_containers() {
    let bench = bench("exec");
    let exec = |args: &[&str]| bench.purlin(&[&["exec", "web"], args].concat());
    let ran = exec(&["--", "echo", "a b", "&x=1#"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "a b &x=1#\n", ""));
    let ran = exec(&["--", "both"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("to stdout\n", "to stderr\n"));
    assert_eq!(exec(&["--", "fail", "42"]).code, 42);
    assert_eq!(exec(&["--", "where"]).stdout, "main\n");
    assert_eq!(exec(&["--container", "side", "--", "where"]).stdout, "side\n");
    let ran = exec(&["--", "missing"]);
    assert!(ran.code == 6 && ran.stderr.contains("executable file not found in $PATH"), "{} {}", ran.code, ran.stderr);
    let ran = exec(&["--container", "nope", "--", "echo"]);
    assert!(ran.stderr.contains("no container `nope`; its containers are `main`, `side`"), "{}", ran.stderr);
    bench.fake.state.lock().unwrap().streams.old = true;
    assert_eq!(exec(&["--", "echo", "older"]).stdout, "older\n");
    assert_eq!(bench.fake.state.lock().unwrap().streams.open, 0);
}

#[test]
fn commands_need_a_running_pod() {
    let bench = bench("exec-none");
    bench.fake.state.lock().unwrap().remove("v1", "Pod", "shop-dev", "web-1");
    let ran = bench.purlin(&["exec", "deploy.web", "--", "echo"]);
    assert!(ran.code == 6 && ran.stderr.contains("it has no running pod"), "{} {}", ran.code, ran.stderr);
    bench.write("a.garden.yml", "kind: Deploy\nname: here\ntype: exec\nspec: { deployCommand: [echo, hello] }\n");
    let ran = bench.purlin(&["exec", "here", "--", "echo"]);
    assert!(ran.code == 2 && ran.stderr.contains("`deploy.here` runs no container"), "{} {}", ran.code, ran.stderr);
    let ran = bench.purlin(&["exec", "web", "--terminal", "--", "sh"]);
    assert!(ran.code == 2 && ran.stderr.contains("`--terminal` needs a terminal"), "{}", ran.stderr);
}

#[test]
fn secrets_are_hidden_in_logs_and_output_of_commands() {
    let bench = bench("streams-secret");
    bench.write("secret.env", "PASSWORD=canary-51f7\n");
    bench.write(
        "web.garden.yml",
        "kind: Deploy\nname: web\ntype: kubernetes\nspec:\n  manifestFiles: [web.yaml]\n  manifests:\n  - apiVersion: v1\n    \
         kind: Secret\n    metadata: { name: s }\n    stringData: { password: '${secrets.PASSWORD}' }\n  timeout: 1\n",
    );
    let known = ["--secret-file", "secret.env"];
    bench.good(&[&["deploy"][..], &known].concat());
    let leaking = Live { lines: lines(&["the password is canary-51f7"]), ..Live::default() };
    bench.fake.state.lock().unwrap().streams.logs.insert("web-1".to_owned(), leaking);
    let logs = [&["logs", "deploy.web"][..], &known].concat();
    let exec = [&["exec", "web"][..], &known, &["--", "echo", "canary-51f7"]].concat();
    for args in [logs, exec] {
        let ran = bench.good(&args);
        assert!(!ran.stdout.is_empty() && !(ran.stdout + &ran.stderr).contains("canary-51f7"), "{args:?}");
    }
}
