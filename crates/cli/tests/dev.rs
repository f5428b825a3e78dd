//! `purlin dev` as a process: an edit reruns exactly its dependents, and Ctrl-C leaves nothing behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROJECT: &str = "\
apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: local}]
providers: [{name: exec}]
---
kind: Build
type: exec
name: lib
include: [lib/**]
spec: {shell: true, command: ['echo build.lib >> OUT']}
---
kind: Build
type: exec
name: other
include: [other/**]
spec: {shell: true, command: ['echo build.other >> OUT']}
---
kind: Deploy
type: exec
name: server
build: lib
spec: {shell: true, persistent: true, deployCommand: ['echo deploy.server >> OUT; echo serving; exec sleep SLEEP']}
---
kind: Deploy
type: exec
name: once
include: []
dependencies: [build.other]
spec: {shell: true, deployCommand: ['echo deploy.once >> OUT']}
---
kind: Run
type: exec
name: token
include: [token/**]
spec: {shell: true, command: ['echo run.token >> OUT; cat token/t']}
---
kind: Test
type: exec
name: unit
build: lib
spec: {shell: true, command: ['echo test.unit ${actions.run.token.outputs.log} >> OUT']}
---
kind: Test
type: exec
name: broken
include: [broken/**]
spec: {shell: true, command: ['echo test.broken >> OUT; test -f broken/fixed']}
";

/// How long the server sleeps: a number that no other process uses.
fn server() -> String {
    format!("1000.{:07}", std::process::id())
}

struct Dev {
    top: PathBuf,
    child: Child,
}

impl Dev {
    fn start() -> Self {
        let top = std::env::temp_dir().join(format!("purlin-dev-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        for folder in ["lib", "other", "token", "broken"] {
            std::fs::create_dir_all(top.join("project").join(folder)).unwrap();
        }
        let text = PROJECT.replace("OUT", &top.join("ran").to_string_lossy()).replace("SLEEP", &server());
        std::fs::write(top.join("project/garden.yml"), text).unwrap();
        for (file, text) in [("lib/a", "1"), ("other/a", "1"), ("token/t", "x"), ("broken/a", "1")] {
            std::fs::write(top.join("project").join(file), text).unwrap();
        }
        // Times of files are not exact: what was written just before counts as changed since.
        std::thread::sleep(Duration::from_millis(100));
        let log = std::fs::File::create(top.join("log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(["dev", "-j", "2"])
            .current_dir(top.join("project"))
            .env("CI", "1")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Dev { top, child }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.top.join("log")).unwrap_or_default()
    }

    /// The actions that ran in the round that ends with the `count`th time it watches. A server counts as deployed when
    /// it is started, which may be before it has written its line: waits for the expected number of lines.
    fn round(&self, count: usize, expected: usize) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.log().lines().filter(|line| line.starts_with("watching")).count() < count {
            assert!(Instant::now() < deadline, "{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        let file = self.top.join("ran");
        let lines = || std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned).collect();
        let mut ran: Vec<String> = lines();
        while ran.len() < expected && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            ran = lines();
        }
        let _ = std::fs::remove_file(&file);
        ran.sort();
        ran
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.top.join("project").join(file), text).unwrap();
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // Gently first, so that a test that fails leaves no server behind.
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        std::thread::sleep(Duration::from_millis(500));
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

fn processes(needle: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(needle)).count()
}

#[test]
fn an_edit_runs_again_exactly_what_depends_on_it() {
    let mut dev = Dev::start();
    let all = ["build.lib", "build.other", "deploy.once", "deploy.server", "run.token", "test.broken", "test.unit x"];
    assert_eq!(dev.round(1, all.len()), all, "{}", dev.log());
    assert_eq!(processes(&format!("sleep {}", server())), 1);

    dev.write("lib/a", "2");
    assert_eq!(dev.round(2, 3), ["build.lib", "deploy.server", "test.unit x"], "{}", dev.log());
    assert!(dev.log().contains("changed: lib/a; affected: build.lib, deploy.server, test.unit"), "{}", dev.log());
    assert_eq!(processes(&format!("sleep {}", server())), 1);

    dev.write("other/a", "2");
    assert_eq!(dev.round(3, 2), ["build.other", "deploy.once"], "{}", dev.log());

    dev.write("token/t", "y");
    assert_eq!(dev.round(4, 2), ["run.token", "test.unit y"], "{}", dev.log());

    // A new file counts, and a failed action is tried again when it changes.
    dev.write("broken/fixed", "");
    assert_eq!(dev.round(5, 1), ["test.broken"], "{}", dev.log());

    // A mistake is reported, and its correction takes effect.
    let text = std::fs::read_to_string(dev.top.join("project/garden.yml")).unwrap();
    dev.write("garden.yml", &text.replace("name: other\n", "nmae: other\n"));
    assert_eq!(dev.round(6, 0), [] as [&str; 0], "{}", dev.log());
    assert!(dev.log().contains("error"), "{}", dev.log());
    dev.write("garden.yml", &text);
    assert_eq!(dev.round(7, 0), [] as [&str; 0], "{}", dev.log());

    // Both servers have printed it, each once.
    assert_eq!(dev.log().matches("deploy.server | serving").count(), 2, "{}", dev.log());
    assert_eq!(dev.log().matches("Ctrl-C ends").count(), 1, "{}", dev.log());
    let pid = dev.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(dev.child.wait().unwrap().code(), Some(0), "{}", dev.log());
    assert_eq!(processes(&format!("sleep {}", server())), 0);
}
