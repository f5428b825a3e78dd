//! Runs that are killed, stopped, parallel and with very large output: the program as a process, with real commands.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const HEAD: &str =
    "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}]\nproviders: [{name: exec}]\n";

/// A project in a folder of its own; its actions write to a second folder, which is not part of it.
struct Project {
    folder: PathBuf,
    out: PathBuf,
}

impl Project {
    fn new(name: &str, actions: &str) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let (folder, out) = (top.join("project"), top.join("out"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&out).unwrap();
        let text = format!("{HEAD}{}", actions.replace("OUT", &out.to_string_lossy()));
        std::fs::write(folder.join("garden.yml"), text).unwrap();
        Project { folder, out }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(&self.folder).env("CI", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.out.join(name)).unwrap_or_default()
    }

    /// How often each action ran.
    fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in self.read("ran").lines() {
            *counts.entry(line.to_owned()).or_insert(0) += 1;
        }
        counts
    }

    /// Whether there is a note of a running process for an action.
    fn has_note(&self, id: &str) -> bool {
        self.state_file("deploys", id).is_some()
    }

    /// The file of an action in a part of the folder of results.
    fn state_file(&self, part: &str, id: &str) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.folder.join(".purlin").join(part)).ok()?;
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        entries.map(|entry| entry.unwrap().path()).find(|path| name(path).starts_with(&format!("{id}_default.local~")))
    }

    /// The actions that have a result in the journal.
    fn done(&self) -> BTreeSet<String> {
        let journal = std::fs::read_to_string(self.folder.join(".purlin/journal")).unwrap_or_default();
        let records = journal.lines().filter_map(|line| line.split_once(' '));
        let records = records.filter_map(|(_, json)| serde_json::from_str::<serde_json::Value>(json).ok());
        let done = records.filter(|record| record["state"] == "done");
        done.map(|record| record["id"].as_str().unwrap().trim_end_matches("@default.local").to_owned()).collect()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder.parent().unwrap());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Deterministic pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// Actions that record their runs, each depending on some before it.
fn noting(count: usize, numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for index in 0..count {
        let needs: BTreeSet<u64> = match index {
            0 => BTreeSet::new(),
            _ => (0..numbers.next(3)).map(|_| numbers.next(index as u64)).collect(),
        };
        let needs: Vec<String> = needs.iter().map(|need| format!("run.a{need}")).collect();
        text.push_str(&format!(
            "---\nkind: Run\ntype: exec\nname: a{index}\ninclude: []\ndependencies: [{}]\nspec: {{shell: true, command: \
             [\"echo run.a{index} >> OUT/ran; echo {index}\"]}}\n",
            needs.join(", ")
        ));
    }
    text
}

/// Waits until a condition is true; the limit only ends a broken run.
fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes whose command line contains a text.
fn processes(needle: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = line.split(|byte| *byte == 0);
        words.map(|word| String::from_utf8_lossy(word).into_owned()).any(|word| word == needle)
    };
    numbers.filter(has).collect()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_taken_up_again() {
    let kills: usize = std::env::var("PURLIN_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut numbers = Numbers(7);
    let mut killed = 0;
    let mut round = 0;
    while killed < kills {
        round += 1;
        let project = Project::new(&format!("kill-{round}"), &noting(100, &mut numbers));
        loop {
            let (before, done) = (project.counts(), project.done());
            let mut child = project.start(&["run", "*", "-j", "4"]);
            std::thread::sleep(Duration::from_millis(numbers.next(250)));
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            // Actions recorded before this run are not run again by it.
            std::thread::sleep(Duration::from_millis(20));
            let after = project.counts();
            for id in &done {
                assert_eq!(before.get(id), after.get(id), "{id} was done and ran again");
            }
            if ended.is_some() || killed >= kills {
                break;
            }
            killed += 1;
        }
        let last = project.run(&["run", "*", "-j", "4", "-o", "json"]);
        assert!(last.status.success(), "{}", text(&last.stderr));
        assert_eq!(project.done().len(), 100);
        let again = project.run(&["run", "*", "-j", "4"]);
        assert!(text(&again.stderr).contains("100 cached"), "{}", text(&again.stderr));
        assert!(std::fs::read_dir(project.folder.join(".purlin/tmp")).unwrap().next().is_none());
    }
}

#[test]
fn children_of_a_killed_run_are_ended_and_persistent_ones_live_on() {
    let number = std::process::id();
    let (child, hidden, kept) = (format!("60{number}"), format!("61{number}"), format!("62{number}"));
    let actions = format!(
        "---\nkind: Deploy\ntype: exec\nname: kept\ninclude: []\nspec: {{command: [], persistent: true, deployCommand: [sleep, \"{kept}\"]}}\n\
         ---\nkind: Run\ntype: exec\nname: long\ninclude: []\nspec: {{shell: true, command: [\"setsid sleep {hidden} & sleep {child}\"]}}\n"
    );
    let project = Project::new("children", &actions);
    assert!(project.run(&["deploy"]).status.success());
    let first = processes(&kept);
    assert_eq!(first.len(), 1);
    let mut run = project.start(&["run", "long"]);
    eventually("the children run", || !processes(&child).is_empty() && !processes(&hidden).is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    eventually("the children are gone", || processes(&child).is_empty() && processes(&hidden).is_empty());
    assert_eq!(processes(&kept), first, "a persistent Deploy lives on");
    let again = project.run(&["deploy"]);
    assert!(text(&again.stderr).contains("deploy.kept: nothing to do"), "{}", text(&again.stderr));
    assert_eq!(processes(&kept), first, "and is found again");
    assert!(project.run(&["cleanup", "--yes"]).status.success());
    eventually("cleanup ends it", || processes(&kept).is_empty());
}

#[test]
fn a_deploy_that_is_killed_while_it_starts_a_process_leaves_at_most_the_one_that_is_found_again() {
    let kept = format!("63{}", std::process::id());
    let action = format!(
        "---\nkind: Deploy\ntype: exec\nname: kept\ninclude: []\nspec: {{persistent: true, deployCommand: [sleep, \"{kept}\"]}}\n"
    );
    let project = Project::new("starting", &action);
    let mut numbers = Numbers(11);
    for round in 0..12 {
        let mut run = project.start(&["deploy"]);
        std::thread::sleep(Duration::from_millis(numbers.next(150)));
        run.kill().unwrap();
        run.wait().unwrap();
        eventually("what is not noted is ended", || {
            processes(&kept).len() <= usize::from(project.has_note("deploy.kept"))
        });
        assert!(project.run(&["deploy"]).status.success());
        assert_eq!(processes(&kept).len(), 1, "round {round}");
        if round % 3 == 0 {
            assert!(project.run(&["cleanup", "--yes"]).status.success());
            eventually("cleanup ends it", || processes(&kept).is_empty());
        }
    }
    assert!(project.run(&["cleanup", "--yes"]).status.success());
    eventually("cleanup ends it", || processes(&kept).is_empty());
}

#[test]
fn what_a_persistent_process_has_started_ends_with_it() {
    let number = std::process::id();
    let (kept, hidden) = (format!("64{number}"), format!("65{number}"));
    let action = format!(
        "---\nkind: Deploy\ntype: exec\nname: kept\ninclude: []\nspec: {{persistent: true, shell: true, deployCommand: [\"setsid \
         sleep {hidden} & sleep {kept}\"]}}\n"
    );
    let project = Project::new("started", &action);
    assert!(project.run(&["deploy"]).status.success());
    eventually("both run", || !processes(&kept).is_empty() && !processes(&hidden).is_empty());
    assert!(project.run(&["cleanup", "--yes"]).status.success());
    eventually("both are gone", || processes(&kept).is_empty() && processes(&hidden).is_empty());
}

/// A TOSCA service whose one operation starts a process that detaches itself and one that does not.
fn service(hidden: &str, child: &str) -> Vec<(&'static str, String)> {
    let template = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Box:\n    derived_from: tosca.nodes.Root\n    \
                    interfaces:\n      Standard:\n        type: tosca.interfaces.node.lifecycle.Standard\n        \
                    operations: {create: create.sh}\ntopology_template:\n  node_templates: {box: {type: Box}}\n";
    vec![
        ("service/service.yaml", template.to_owned()),
        ("service/create.sh", format!("setsid sleep {hidden} &\nsleep {child}\n")),
    ]
}

/// An ensemble that does the same.
fn ensemble(hidden: &str, child: &str) -> Vec<(&'static str, String)> {
    let text = format!(
        "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    \
         topology_template:\n      node_templates:\n        box:\n          type: tosca.nodes.Root\n          \
         interfaces: {{Standard: {{operations: {{create: 'setsid sleep {hidden} & sleep {child}'}}}}}}\n"
    );
    vec![("ensemble/ensemble.yaml", text)]
}

#[test]
fn commands_of_jobs_that_are_killed_are_ended() {
    let number = std::process::id();
    let cases: [(&str, &[&str]); 4] = [
        ("service", &["deploy", "--path", "service"]),
        ("service in a project", &["deploy", "service"]),
        ("ensemble", &["deploy", "--path", "ensemble"]),
        ("ensemble by its own command", &["unfurl", "deploy", "--approve", "ensemble"]),
    ];
    for (index, (what, args)) in cases.iter().enumerate() {
        let (child, hidden) = (format!("9{index}0{number}"), format!("9{index}1{number}"));
        let action = "---\nkind: Deploy\ntype: tosca\nname: service\nspec: {template: service/service.yaml}\n";
        let project = Project::new(&format!("job-{index}"), action);
        for (file, text) in service(&hidden, &child).into_iter().chain(ensemble(&hidden, &child)) {
            let file = project.folder.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let mut run = project.start(args);
        eventually(&format!("the children of the {what} run"), || {
            !processes(&child).is_empty() && !processes(&hidden).is_empty()
        });
        run.kill().unwrap();
        run.wait().unwrap();
        let killed = Instant::now();
        eventually(&format!("the children of the {what} are gone"), || {
            processes(&child).is_empty() && processes(&hidden).is_empty()
        });
        eprintln!("{what}: gone after {:?}", killed.elapsed());
    }
}

#[test]
fn eight_processes_run_each_action_once() {
    let project = Project::new("eight", &noting(40, &mut Numbers(3)));
    let children: Vec<Child> = (0..8).map(|_| project.start(&["run", "*", "-j", "3"])).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let counts = project.counts();
    assert_eq!(counts.len(), 40);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn signals_end_a_run_and_everything_in_it() {
    let number = std::process::id();
    let (soft, hard) = (format!("70{number}"), format!("71{number}"));
    let actions = format!(
        "---\nkind: Run\ntype: exec\nname: soft\ninclude: []\nspec: {{command: [sleep, \"{soft}\"]}}\n\
         ---\nkind: Run\ntype: exec\nname: hard\ninclude: []\nspec: {{shell: true, command: [\"trap '' TERM; sleep {hard}; sleep {hard}\"]}}\n\
         ---\nkind: Run\ntype: exec\nname: after\ninclude: []\ndependencies: [run.soft]\nspec: {{command: [echo]}}\n"
    );
    let project = Project::new("signals", &actions);
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let child = project.command(&["run", "after"]).stderr(Stdio::piped()).spawn().unwrap();
        eventually("it runs", || !processes(&soft).is_empty());
        signal(&child, name);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
        assert!(processes(&soft).is_empty());
        let told = text(&ended.stderr);
        assert!(told.contains("run.soft: stopped") && told.contains("run.after: "), "{told}");
    }
    // A process that ignores the first signal does not survive the second.
    let mut child = project.start(&["run", "hard"]);
    eventually("it runs", || !processes(&hard).is_empty());
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it has five seconds");
    let asked = Instant::now();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(4), "the second signal is immediate");
    eventually("nothing is left", || processes(&hard).is_empty());
}

#[test]
fn a_time_limit_ends_what_hides_and_what_does_not_listen() {
    let number = std::process::id();
    let (deaf, hidden) = (format!("80{number}"), format!("81{number}"));
    let actions = format!(
        "---\nkind: Run\ntype: exec\nname: slow\ninclude: []\ntimeout: 1\nspec: {{shell: true, command: [\"(trap '' TERM; sleep {deaf}) & setsid sleep {hidden} & wait\"]}}\n"
    );
    let project = Project::new("timeout", &actions);
    let run = project.run(&["run", "slow"]);
    assert_eq!(run.status.code(), Some(6));
    assert!(text(&run.stderr).contains("timed out after 1 s"), "{}", text(&run.stderr));
    eventually("all of it is gone", || processes(&deaf).is_empty() && processes(&hidden).is_empty());
}

#[test]
fn a_flood_of_output_needs_little_memory() {
    let actions = "---\nkind: Run\ntype: exec\nname: flood\ninclude: []\nspec: {shell: true, command: [\"yes 0123456789012345678901234567890123456789 | head -c 1000000000\"]}\n";
    let project = Project::new("flood", actions);
    // The stack of the evaluator is 256 MiB of addresses, hardly any of which are used.
    let line = format!("ulimit -v 900000; exec {} run flood 2>/dev/null", env!("CARGO_BIN_EXE_purlin"));
    let run = Command::new("sh").args(["-c", &line]).current_dir(&project.folder).output().unwrap();
    assert!(run.status.success());
    let log = std::fs::metadata(project.state_file("logs", "run.flood").unwrap()).unwrap().len();
    assert!(log < 20 << 20, "the log is cut: {log}");
}

#[test]
fn results_that_cannot_be_written_are_an_error_with_a_reason() {
    let actions = "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {command: [echo, hello]}\n";
    let project = Project::new("state", actions);
    std::fs::write(project.folder.join(".purlin"), "in the way").unwrap();
    let run = project.run(&["run", "a"]);
    assert_eq!(run.status.code(), Some(5), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains(".purlin"), "{}", text(&run.stderr));
}

#[test]
fn a_state_folder_that_is_read_only_is_an_error_with_a_reason() {
    let actions = "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {command: [echo, hello]}\n";
    let project = Project::new("read-only", actions);
    let state = project.folder.join(".purlin");
    std::fs::create_dir(&state).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "ro,size=64k", "tmpfs"]).arg(&state).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        purlin_skipped::skipped("mounts");
        return;
    }
    let run = project.run(&["run", "a"]);
    let unmounted = Command::new("umount").arg("-l").arg(&state).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    let told = text(&run.stderr);
    assert_eq!(run.status.code(), Some(6), "{told}");
    assert!(told.contains("could not write to") && told.contains("Read-only file system"), "{told}");
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let actions = "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {command: [no-such-program-here, hello]}\n";
    let run = Project::new("missing", actions).run(&["run", "a"]);
    assert_eq!(run.status.code(), Some(6));
    assert!(text(&run.stderr).contains("command `no-such-program-here` not found"), "{}", text(&run.stderr));
}

#[test]
fn a_full_disk_is_an_error_with_a_reason() {
    let actions = "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {shell: true, command: [\"head -c 3000000 /dev/zero | tr '\\\\0' x\"]}\n";
    let project = Project::new("full", actions);
    let state = project.folder.join(".purlin");
    std::fs::create_dir(&state).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&state).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        purlin_skipped::skipped("mounts");
        return;
    }
    let run = project.run(&["run", "a"]);
    let unmounted = Command::new("umount").arg("-l").arg(&state).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    let told = text(&run.stderr);
    assert!(run.status.code().is_some_and(|code| code != 0), "{told}");
    assert!(told.contains("No space left on device"), "{told}");
}

#[test]
fn what_is_kept_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(
        "private",
        "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {shell: true, command: ['echo x; head -c 9000 /dev/zero']}\n",
    );
    assert!(project.run(&["run", "a"]).status.success());
    let mut open = vec![project.folder.join(".purlin")];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.permissions().mode() & 0o077, 0, "{}", path.display());
        seen += 1;
        if found.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen > 8, "{seen}");
}

#[test]
fn what_actions_draw_at_random_cannot_be_guessed_and_stays() {
    let project = Project::new(
        "random",
        "---\nkind: Run\ntype: exec\nname: a\ninclude: []\nspec: {shell: true, command: ['echo ${uuidv4()} >> OUT/drawn']}\n",
    );
    let run = |home: &str, options: &[&str]| {
        let args = [&["run", "a", "--force"], options].concat();
        let ended = project.command(&args).env("HOME", project.out.join(home)).env_remove("XDG_STATE_HOME").output();
        assert!(ended.unwrap().status.success());
    };
    run("one", &[]);
    run("one", &[]);
    run("other", &[]);
    run("one", &["--seed", "0"]);
    let drawn = project.read("drawn");
    let [first, again, other, known] = drawn.lines().collect::<Vec<_>>()[..] else { panic!("{drawn}") };
    assert_eq!(first, again, "the next run draws the same");
    assert_ne!(first, other, "each user has a secret of their own");
    let shown = text(&project.run(&["resolve"]).stdout);
    assert!(shown.contains(known) && !shown.contains(first), "{shown}");
}
