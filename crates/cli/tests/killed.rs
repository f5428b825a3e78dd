//! Runs that are killed at random moments, many at once, and disks that are full or read-only: reported results are
//! kept, no action runs twice at one version, and no process is left running.
//!
//! Everything happens in a separate PID namespace, so that all processes in it are ours. `PURLIN_KILLS` sets the number
//! of killed runs, `PURLIN_SEED` the seed, `PURLIN` another binary.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Set in the process within the namespace.
const INNER: &str = "PURLIN_KILLED_INNER";

/// Number of actions of each kind.
const COUNT: usize = 6;

/// Marks the process that outlives its run.
const PERSISTENT: &str = "87654";

struct Project {
    top: PathBuf,
    random: u64,
}

impl Project {
    fn new(top: PathBuf, seed: u64) -> Self {
        std::fs::create_dir_all(top.join("shop/src")).unwrap();
        std::fs::create_dir_all(top.join("home")).unwrap();
        let project = Project { top, random: seed.wrapping_mul(2).wrapping_add(1) };
        let mut text = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}]\nproviders: [{name: exec}]\n".to_owned();
        let ledger = project.top.join("ledger");
        let mut add = |kind: &str, name: &str, needs: &str, key: &str, more: &str| {
            let id = format!("{}.{name}", kind.to_lowercase());
            let work = format!("sleep 0.0{}; echo out > $GARDEN_ACTION_OUTPUTS_PATH/v", 1 + name.len() % 7);
            let line = format!("echo B-{id}-$ROUND >> {0}; {work}; echo E-{id}-$ROUND >> {0}", ledger.display());
            write!(
                text,
                "---\nkind: {kind}\ntype: exec\nname: {name}\ninclude: [src/**]\ndependencies: [{needs}]\nspec: {{shell: true, {key}: ['{line}']{more}}}\n"
            )
            .unwrap();
        };
        for number in 0..COUNT {
            let before = if number > 2 { format!("build.b{}", number - 3) } else { String::new() };
            add("Build", &format!("b{number}"), &before, "command", "");
            add("Run", &format!("r{number}"), &format!("build.b{number}"), "command", "");
            add("Test", &format!("t{number}"), &format!("run.r{}", number / 2), "command", "");
        }
        add("Deploy", "d", "build.b0", "deployCommand", ", statusCommand: ['false'], cleanupCommand: ['true']");
        write!(text, "---\nkind: Deploy\ntype: exec\nname: p\ninclude: []\nspec: {{shell: true, persistent: true, deployCommand: ['exec sleep {PERSISTENT}']}}\n").unwrap();
        std::fs::write(project.top.join("shop/garden.yml"), text).unwrap();
        std::fs::write(project.top.join("shop/src/a"), "0").unwrap();
        project
    }

    fn draw(&mut self, most: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.random >> 33).unwrap() % most
    }

    fn start(&self, args: &[&str], round: &str, out: &str) -> Child {
        let binary = std::env::var("PURLIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_purlin").to_owned());
        let out = File::create(self.top.join(out)).unwrap();
        let mut command = Command::new(binary);
        command.args(args).current_dir(self.top.join("shop")).env("HOME", self.top.join("home")).env("ROUND", round);
        command.env_remove("XDG_STATE_HOME").stdin(Stdio::null()).stderr(out.try_clone().unwrap()).stdout(out);
        command.spawn().unwrap()
    }

    /// Runs to the end; returns whether it succeeded, and its output.
    fn run(&self, args: &[&str], round: &str) -> (bool, String) {
        let status = self.start(args, round, "out").wait().unwrap();
        (status.success(), std::fs::read_to_string(self.top.join("out")).unwrap())
    }

    /// The actions that began in a round, with their counts.
    fn begun(&self, round: &str) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        for line in std::fs::read_to_string(self.top.join("ledger")).unwrap_or_default().lines() {
            if let Some(id) = line.strip_prefix("B-").and_then(|rest| rest.strip_suffix(&format!("-{round}"))) {
                *found.entry(id.to_owned()).or_default() += 1;
            }
        }
        found
    }

    /// The actions that a run reported as done.
    fn reported(&self, out: &str) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.top.join(out)).unwrap();
        let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let is_done = |event: &serde_json::Value| event["event"] == "ended" && event["state"] == "done";
        events.filter(is_done).filter_map(|event| Some(event["id"].as_str()?.to_owned())).collect()
    }

    /// Waits until only the persistent process runs: the guard of a killed run needs a moment.
    fn until_quiet(&self, why: &str) {
        let begun = Instant::now();
        loop {
            let (left, persistent) = processes();
            if left.is_empty() && persistent <= 1 {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{why}: left running: {left:?}, {persistent} of `p`");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The other running processes, and the number of persistent ones.
fn processes() -> (Vec<String>, usize) {
    let (mut found, mut persistent) = (Vec::new(), 0);
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // A zombie has no arguments any more.
        if pid == std::process::id() || line.is_empty() {
            continue;
        }
        match line.contains(PERSISTENT) {
            true => persistent += 1,
            false => found.push(format!("{pid} {line}")),
        }
    }
    (found, persistent)
}

const COMMANDS: &[&[&str]] = &[
    &["build", "-o", "json"],
    &["test", "-o", "json"],
    &["run", "*", "-o", "json"],
    &["deploy", "-o", "json"],
    &["dev"],
    &["cleanup", "--yes"],
    &["test", "--force", "-o", "json"],
];

/// Kills one run after a while, and checks the result.
fn kill_one(project: &mut Project, number: usize) {
    let args = COMMANDS[project.draw(COMMANDS.len())];
    if project.draw(2) == 0 {
        std::fs::write(project.top.join("shop/src/a"), number.to_string()).unwrap();
    }
    let mut child = project.start(args, &number.to_string(), "killed");
    // At a random time, or after a number of reported results; a busy machine takes long to report any.
    match project.draw(2) {
        0 => {
            let most = [20, 100, 400][project.draw(3)];
            std::thread::sleep(Duration::from_millis(project.draw(most) as u64));
        }
        _ => {
            let (count, begun) = (1 + project.draw(COUNT), Instant::now());
            while project.reported("killed").len() < count
                && child.try_wait().unwrap().is_none()
                && begun.elapsed() < Duration::from_secs(5)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
    let reported = project.reported("killed");
    project.until_quiet(&format!("{number}, {args:?}"));
    let (is_good, told) = project.run(&["status", "-o", "json"], "status");
    assert!(is_good, "{number}, {args:?}: status: {told}");
    if matches!(args[0], "build" | "test" | "run") {
        let again: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--force").collect();
        let round = format!("{number}again");
        let (is_good, told) = project.run(&again, &round);
        assert!(is_good, "{number}, {args:?}: the next run: {told}");
        let twice: Vec<String> = project.begun(&round).into_keys().filter(|id| reported.contains(id)).collect();
        assert!(twice.is_empty(), "{number}, {args:?}: reported as done, and run again: {twice:?}");
    }
}

/// Eight runs at once: every action runs once, and all of them end well. If one is killed, the others go on.
fn run_eight(project: &mut Project, number: usize) {
    std::fs::write(project.top.join("shop/src/a"), format!("eight {number}")).unwrap();
    let is_killed = project.draw(2) == 0;
    let round = format!("{number}eight");
    let mut all: Vec<Child> =
        (0..8).map(|at| project.start(&["test", "-o", "json"], &round, &format!("out{at}"))).collect();
    if is_killed {
        std::thread::sleep(Duration::from_millis(project.draw(300) as u64));
        let mut one = all.remove(project.draw(8));
        one.kill().unwrap();
        one.wait().unwrap();
    }
    let ends: Vec<bool> = all.iter_mut().map(|child| child.wait().unwrap().success()).collect();
    assert!(ends.iter().all(|is_good| *is_good), "{number}: {ends:?}");
    let begun = project.begun(&round);
    let twice: Vec<_> = begun.iter().filter(|(_, count)| **count > 1).collect();
    // Actions that a killed run had begun and not reported are begun once more.
    assert!(twice.len() <= if is_killed { 8 } else { 0 }, "{number}: {twice:?}");
    // All Tests, the Runs that two of them share, and their Builds.
    assert_eq!(begun.len(), COUNT + COUNT / 2 + COUNT / 2, "{begun:?}");
    project.until_quiet("eight at once");
}

/// A disk without space, and a read-only one: an error, and later everything continues.
fn fill_the_disk(project: &Project) {
    let state = project.top.join("shop/.purlin");
    let mount =
        |args: &[&str]| Command::new("mount").args(args).arg(&state).status().is_ok_and(|status| status.success());
    if !mount(&["-t", "tmpfs", "-o", "size=128k,mode=0700", "tmpfs"]) {
        purlin_skipped::skipped("mounts");
        return;
    }
    assert!(project.run(&["run", "r0"], "small").0);
    let _ = std::fs::write(state.join("fill"), vec![0_u8; 1 << 20]);
    std::fs::write(project.top.join("shop/src/a"), "full").unwrap();
    let (is_good, told) = project.run(&["run", "*", "-o", "json"], "full");
    let done = project.reported("out");
    assert!(!is_good || done.len() == COUNT * 2, "{told}");
    std::fs::remove_file(state.join("fill")).unwrap();
    let (is_good, told) = project.run(&["run", "*"], "room");
    assert!(is_good, "{told}");
    let twice: Vec<String> = project.begun("room").into_keys().filter(|id| done.contains(id)).collect();
    assert!(twice.is_empty(), "reported as done on a full disk, and run again: {twice:?}");
    assert!(mount(&["-o", "remount,ro"]));
    let (is_good, told) = project.run(&["run", "*", "--force"], "read-only");
    assert!(!is_good && project.begun("read-only").is_empty(), "{told}");
    assert!(mount(&["-o", "remount,rw"]));
    let (is_good, told) = project.run(&["run", "*"], "writable");
    assert!(is_good && project.begun("writable").is_empty(), "{told}");
    let _ = Command::new("umount").arg(&state).status();
}

/// Runs in the namespace, where the test below starts it; on its own it does nothing.
#[test]
fn inner() {
    let Some(top) = std::env::var_os(INNER) else { return };
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let mut project = Project::new(PathBuf::from(top), number("PURLIN_SEED", 1));
    let kills = usize::try_from(number("PURLIN_KILLS", 16)).unwrap();
    for at in 0..kills {
        kill_one(&mut project, at);
        if at % 8 == 0 {
            run_eight(&mut project, at);
        }
    }
    let (is_good, told) = project.run(&["test"], "last");
    assert!(is_good, "{told}");
    assert!(project.run(&["cleanup", "--yes"], "cleanup").0);
    project.until_quiet("cleanup");
    assert_eq!(processes().1, 0, "a process is left after cleanup");
    let tmp = std::fs::read_dir(project.top.join("shop/.purlin/tmp")).map_or(0, Iterator::count);
    assert_eq!(tmp, 0, "folders of killed runs are left");
    fill_the_disk(&project);
    eprintln!("{kills} runs killed");
}

fn has_namespaces() -> bool {
    let status = Command::new("unshare").args(["-pfm", "--mount-proc", "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn killed_runs_lose_nothing_repeat_nothing_and_leave_nothing_running() {
    if !has_namespaces() {
        purlin_skipped::skipped("process namespaces");
        return;
    }
    let top = std::env::temp_dir().join(format!("purlin-killed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&top);
    std::fs::create_dir_all(&top).unwrap();
    let own = std::env::current_exe().unwrap();
    let run = |top: &Path| {
        let mut command = Command::new("unshare");
        command.args(["-pfm", "--mount-proc", "--kill-child"]).arg(&own);
        command.args(["--exact", "inner", "--nocapture", "--test-threads=1"]).env(INNER, top);
        command.output().unwrap()
    };
    let output = run(&top);
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let _ = std::fs::remove_dir_all(&top);
    assert!(output.status.success(), "{told}");
}
