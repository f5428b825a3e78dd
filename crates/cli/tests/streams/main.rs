//! Streams of a cluster as a process: logs that are followed, input of commands, forwarded ports. Ctrl-C ends them all
//! within a second and leaves no connection behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, dead_code)]

#[path = "../../../../tests/tests/cluster/fake.rs"]
mod fake;
#[path = "../../../../tests/tests/cluster/live.rs"]
mod live;

use fake::Fake;
use live::Live;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{ name: dev }]\n\
    providers: [{ name: kubernetes, context: test, namespace: shop-dev }]\n---\n\
    kind: Deploy\nname: web\ntype: kubernetes\nspec: { manifestFiles: [web.yaml], timeout: 5 }\n";

const OBJECTS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n  replicas: 1\n  \
    selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    \
    spec: { containers: [{ name: main, image: 'nginx:1' }] }\n---\n\
    apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { selector: { app: web }, ports: [{ port: 18080, targetPort: http }] }\n---\n\
    apiVersion: v1\nkind: Service\nmetadata: { name: bye }\nspec: { selector: { app: web }, ports: [{ port: 18081, targetPort: 8081 }] }\n---\n\
    apiVersion: v1\nkind: Service\nmetadata: { name: dead }\nspec: { selector: { app: web }, ports: [{ port: 18082, targetPort: 9999 }] }\n";

/// Time within which something is expected; far above what it takes.
const PATIENCE: Duration = Duration::from_secs(30);

struct Bench {
    top: PathBuf,
    fake: Fake,
    kubeconfig: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let top = std::env::temp_dir().join(format!("purlin-streams-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("project")).unwrap();
        std::fs::write(top.join("project/garden.yml"), PROJECT).unwrap();
        std::fs::write(top.join("project/web.yaml"), OBJECTS).unwrap();
        let fake = Fake::start();
        let kubeconfig = fake.kubeconfig(&top);
        let bench = Bench { top, fake, kubeconfig };
        let done = bench.purlin(&["deploy"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        bench.pod("web-1", 0);
        bench
    }

    fn pod(&self, name: &str, restarts: u64) {
        let rest = json!({
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "main", "ports": [{ "name": "http", "containerPort": 8080 }] }] },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }], "containerStatuses": [
                { "name": "main", "restartCount": restarts, "state": { "running": {} } }] },
        });
        self.fake.put("v1", "Pod", "shop-dev", name, rest);
    }

    fn purlin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(self.top.join("project"));
        command.env("KUBECONFIG", &self.kubeconfig).env("CI", "1").env("HOME", &self.top).env_remove("PURLIN_BUILDER");
        command.stdin(Stdio::null());
        command
    }

    fn start(&self, args: &[&str]) -> Running {
        let mut child = self.purlin(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        for stream in
            [Box::new(child.stdout.take().unwrap()) as Box<dyn Read + Send>, Box::new(child.stderr.take().unwrap())]
        {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Running { child, lines }
    }

    fn says(&self, pod: &str, at: &str, text: &str) {
        let mut state = self.fake.state.lock().unwrap();
        let live = state.streams.logs.entry(pod.to_owned()).or_default();
        live.lines.push((format!("2026-01-01T00:00:{at}Z"), text.to_owned()));
    }

    /// The container begins again, and has printed this.
    fn restarts(&self, pod: &str, at: &str, text: &str) {
        {
            let mut state = self.fake.state.lock().unwrap();
            let live = state.streams.logs.entry(pod.to_owned()).or_default();
            let lines = vec![(format!("2026-01-01T00:00:{at}Z"), text.to_owned())];
            *live = Live { previous: std::mem::take(&mut live.lines), lines, instance: live.instance + 1 };
        }
        let instance = self.fake.state.lock().unwrap().streams.logs[pod].instance;
        self.pod(pod, instance);
    }

    fn open(&self) -> usize {
        self.fake.state.lock().unwrap().streams.open
    }

    fn until(&self, what: &str, is_so: impl Fn(&Bench) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    /// The next line that contains a text; others are passed over.
    fn line(&self, part: &str) -> String {
        let begun = Instant::now();
        let mut seen = Vec::new();
        while let Some(left) = PATIENCE.checked_sub(begun.elapsed()) {
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => seen.push(line),
                Err(_) => break,
            }
        }
        panic!("no line with `{part}` in {seen:?}");
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Ends it as Ctrl-C does. Returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        self.signal("-INT");
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn logs_are_followed_across_restarts_and_pods() {
    let bench = Bench::new("follow");
    bench.says("web-1", "01.1", "one");
    let logs = bench.start(&["logs", "deploy.web", "--follow"]);
    assert_eq!(logs.next(), "web-1 main | one");
    bench.says("web-1", "01.2", "two");
    bench.says("web-1", "01.2", "three");
    assert_eq!((logs.next(), logs.next()), ("web-1 main | two".into(), "web-1 main | three".into()));
    bench.restarts("web-1", "02.0", "after the restart");
    assert_eq!(logs.next(), "web-1 main | after the restart");
    bench.pod("web-2", 0);
    bench.says("web-2", "03.0", "a second pod");
    assert_eq!(logs.next(), "web-2 main | a second pod");
    bench.says("web-1", "04.0", "still there");
    assert_eq!(logs.next(), "web-1 main | still there");
    assert_eq!(logs.interrupt(), Some(0));
    bench.until("connections stay open", |bench| bench.open() == 0);
}

#[test]
fn a_closed_reader_ends_what_follows() {
    let bench = Bench::new("closed");
    bench.says("web-1", "01.0", "one");
    let line = format!("{} logs deploy.web --follow --tail 1 | head -n 1", env!("CARGO_BIN_EXE_purlin"));
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .current_dir(bench.top.join("project"))
        .env("KUBECONFIG", &bench.kubeconfig)
        .env("HOME", &bench.top);
    let child = shell.stdout(Stdio::piped()).spawn().unwrap();
    bench.until("it is not followed", |bench| bench.open() == 1);
    // The second line is written to a reader that is gone.
    std::thread::scope(|scope| {
        let done = scope.spawn(|| child.wait_with_output().unwrap());
        let mut count = 2;
        while !done.is_finished() {
            bench.says("web-1", &format!("{count:02}.0"), "more");
            count = (count + 1).min(59);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(String::from_utf8_lossy(&done.join().unwrap().stdout), "web-1 main | one\n");
    });
}

#[test]
fn commands_get_input_and_end_with_ctrl_c() {
    let bench = Bench::new("input");
    let text = "ä line\n".repeat(40_000);
    let mut command = bench.purlin(&["exec", "web", "-i", "--", "cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let sent = text.clone();
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(status.success() && stdout == text.as_bytes(), "{status} {} of {} bytes", stdout.len(), text.len());
    let waiting = bench.start(&["exec", "web", "--", "wait"]);
    assert_eq!(waiting.line("waiting"), "waiting");
    assert_eq!(waiting.interrupt(), Some(130));
    bench.until("the connection stays open", |bench| bench.open() == 0);
}

fn ask(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = vec![0; 1024];
    let count = stream.read(&mut answer).unwrap();
    String::from_utf8(answer[..count].to_vec()).unwrap()
}

#[test]
fn ports_are_forwarded_until_ctrl_c() {
    let bench = Bench::new("forward");
    let deploy = bench.start(&["deploy", "--forward"]);
    let port = |service: &str| -> u16 {
        let line = deploy.line(&format!("→ Service/{service}:"));
        line.split("localhost:").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let (web, bye, dead) = (port("web"), port("bye"), port("dead"));
    deploy.line("Ctrl-C ends");
    for _ in 0..3 {
        assert_eq!(ask(web, "hello"), "HELLO");
    }
    let at_once: Vec<_> = (0..8).map(|at| std::thread::spawn(move || ask(web, &format!("a{at}")))).collect();
    let answers: Vec<String> = at_once.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(answers, (0..8).map(|at| format!("A{at}")).collect::<Vec<_>>());
    let mut text = String::new();
    TcpStream::connect(("127.0.0.1", bye)).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "goodbye");
    let _ = TcpStream::connect(("127.0.0.1", dead)).unwrap().read_to_string(&mut text);
    deploy.line("the pod does not accept the connection: dial tcp4 127.0.0.1: connection refused");
    // Pods are found anew for every connection.
    bench.fake.state.lock().unwrap().remove("v1", "Pod", "shop-dev", "web-1");
    bench.pod("web-2", 0);
    assert_eq!(ask(web, "again"), "AGAIN");
    let open = TcpStream::connect(("127.0.0.1", web)).unwrap();
    bench.until("it is not forwarded", |bench| bench.open() > 0);
    assert_eq!(deploy.interrupt(), Some(0));
    drop(open);
    bench.until("connections stay open", |bench| bench.open() == 0);
    assert!(TcpStream::connect(("127.0.0.1", web)).is_err(), "the port is still open");
}
