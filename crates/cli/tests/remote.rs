//! Runs with a server of the Remote Execution API: the program as a process, the server in this one.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_remote_suite::trial::Dice;
use purlin_remote_suite::{Fault, Nature, Server};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HEAD: &str =
    "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}]\nproviders: [{name: exec}]\n";

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A project in a folder of its own, with a home of its own.
struct Project {
    top: PathBuf,
}

impl Project {
    fn new(actions: &str) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let top = std::env::temp_dir().join(format!("purlin-remote-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        let project = Project { top };
        fs::create_dir_all(project.top.join("home")).unwrap();
        project.write("garden.yml", &format!("{HEAD}{actions}"));
        project
    }

    /// The same files, as another machine has them.
    fn copy(&self, actions: &str) -> Self {
        let other = Project::new(actions);
        for entry in fs::read_dir(self.folder()).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), other.folder().join(entry.file_name())).unwrap();
            }
        }
        other
    }

    fn folder(&self) -> PathBuf {
        self.top.join("shop")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(self.folder()).env("CI", "1").env("HOME", self.top.join("home"));
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn built(&self, name: &str, path: &str) -> Option<Vec<u8>> {
        fs::read(self.folder().join(".garden/build").join(name).join(path)).ok()
    }

    /// Whether the name of an execution is noted.
    fn has_note(&self) -> bool {
        let notes = fs::read_dir(self.folder().join(".purlin/deploys")).into_iter().flatten().flatten();
        notes.map(|note| note.path()).any(|path| path.extension().is_some_and(|end| end == "remote"))
    }

    /// Everything in the folders of this project, as one.
    fn all(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut open = vec![self.top.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => open.push(entry.path()),
                    false => all.extend(fs::read(entry.path()).unwrap_or_default()),
                }
            }
        }
        all
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.top);
    }
}

/// How a run ended.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn good(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in:\n{}", self.err);
        self
    }

    fn events(&self) -> Vec<Json> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Waits until a condition is true; the limit only ends a broken run.
fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn action(kind: &str, name: &str, more: &str, script: &str) -> String {
    format!(
        "---\nkind: {kind}\ntype: exec\nname: {name}\n{more}spec: {{shell: true, command: [{}]}}\n",
        Json::from(script)
    )
}

fn contains(all: &[u8], needle: &str) -> bool {
    all.windows(needle.len()).any(|window| window == needle.as_bytes())
}

/// A Build that makes a file, and a Test that reads it.
fn pair() -> String {
    action("Build", "site", "include: [page]\n", "tr a-z A-Z < page > made; chmod +x made")
        + &action("Test", "site", "build: site\n", "test -x made && grep -q PRODUCT made && echo it is there")
}

#[test]
fn a_second_run_elsewhere_is_all_hits() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&pair());
    project.write("page", "the product\n");
    let first = project.run(&["test", "--remote", &server.address()]).good();
    first.says("build.site: built on worker-1").says("test.site: passed on worker-1").says("it is there");
    assert_eq!(server.runs(), 2);
    let other = project.copy(&pair());
    let again = other.run(&["test", "--remote", &server.address()]).good();
    again.says("build.site: cached (remote)").says("test.site: cached (remote)").says("2 remote cached");
    assert_eq!(server.runs(), 2);
    // What is done here needs no server.
    drop(server);
    other.run(&["test", "--remote", "grpc://127.0.0.1:1", "--remote-only"]).good().says("test.site: cached (v-");
}

#[test]
fn a_test_reads_a_build_without_its_bytes_coming_here() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&pair());
    project.write("page", "the product\n");
    project.run(&["test", "--remote", &server.address()]).good();
    assert!(!server.was_read(b"THE PRODUCT\n"));
    assert!(!contains(&project.all(), "THE PRODUCT"));
    // Whoever asks for the Build gets it.
    project.run(&["build", "--remote", &server.address()]).good();
    assert_eq!(project.built("site", "made").unwrap(), b"THE PRODUCT\n");
    project.run(&["build"]).good().says("build.site: cached (v-");
}

#[test]
fn a_local_action_gets_what_was_built_elsewhere() {
    let server = Server::start(Nature::default()).unwrap();
    let text = pair() + &action("Run", "local", "build: site\nvariables: {}\n", "cat made");
    let text = text.replace("name: local\nbuild", "name: local\ndependencies: [build.site]\nbuild");
    let project = Project::new(&text);
    project.write("page", "the product\n");
    project.write("purlin.toml", &format!("[remote]\naddress = \"{}\"\nstay = [\"run.*\"]\n", server.address()));
    let ran = project.run(&["run", "local", "--trust"]).good().says("THE PRODUCT");
    ran.says("run.local: done here (`[remote] stay` in the settings names it)");
    assert_eq!(server.runs(), 1);
}

#[test]
fn failures_time_limits_and_force_are_those_of_this_machine() {
    let server = Server::start(Nature::default()).unwrap();
    let text = action("Test", "bad", "include: []\n", "echo why; exit 7")
        + &action("Test", "slow", "include: []\ntimeout: 1\n", "echo begun; sleep 100")
        + &action("Test", "good", "include: []\n", "echo fine");
    let project = Project::new(&text);
    let remote = project.run(&["test", "--remote", &server.address()]);
    let local = project.copy(&text).run(&["test"]);
    assert_eq!((remote.code, local.code), (6, 6));
    for text in [
        "`test.bad` failed: exit code 7",
        "test.bad | why",
        "`test.slow` failed: timed out after 1 s",
        "test.good | fine",
    ] {
        assert!(remote.err.contains(text) && local.err.contains(text), "{text}: {} {}", remote.err, local.err);
    }
    assert_eq!(server.runs(), 3);
    project.run(&["test", "good", "--remote", &server.address()]).good().says("cached (v-");
    project.run(&["test", "good", "--force", "--remote", &server.address()]).good().says("passed on worker-1");
    // A failure is tried again.
    project.run(&["test", "bad", "--remote", &server.address()]);
    assert_eq!(server.runs(), 5);
}

#[test]
fn what_stays_says_why() {
    let server = Server::start(Nature::default()).unwrap();
    let text = "---\nkind: Deploy\ntype: exec\nname: up\ninclude: []\nspec: {shell: true, deployCommand: ['echo up']}\n"
        .to_owned()
        + "---\nkind: Build\ntype: exec\nname: inside\ninclude: []\nbuildAtSource: true\nspec: {shell: true, command: ['echo here']}\n"
        + "---\nkind: Run\ntype: exec\nname: asks\ninclude: []\nspec: {shell: true, command: ['echo run'], statusCommand: ['false']}\n";
    let project = Project::new(&text);
    let deployed = project.run(&["deploy", "--remote", &server.address()]).good();
    deployed.says("deploy.up: deployed here (its effects are outside of its files)");
    let built = project.run(&["build", "--remote", &server.address(), "-o", "json"]).good();
    let placed = built.events().into_iter().find(|event| event["event"] == "placed").unwrap();
    assert_eq!(
        (&placed["where"], &placed["reason"]),
        (&Json::from("here"), &Json::from("it builds in the folder of its sources"))
    );
    project
        .run(&["run", "asks", "--remote", &server.address()])
        .good()
        .says("its `statusCommand` looks at this machine");
    assert_eq!(server.runs(), 0);
}

#[test]
fn events_and_traces_name_workers() {
    let server = Server::start(Nature { queue: Duration::from_millis(50), ..Nature::default() }).unwrap();
    let project = Project::new(&pair());
    project.write("page", "the product\n");
    let ran = project.run(&["test", "--remote", &server.address(), "-o", "json", "--timings", "trace.json"]).good();
    let states: Vec<String> = ran
        .events()
        .iter()
        .filter(|event| event["id"] == "build.site")
        .map(|event| {
            let state = event["state"].as_str().unwrap_or_default();
            format!("{} {state}{}", event["event"].as_str().unwrap(), event["worker"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        states,
        [
            "started ",
            "progress uploading",
            "progress queued",
            "progress runningworker-1",
            "placed worker-1",
            "ended done"
        ]
    );
    let trace = fs::read_to_string(project.folder().join("trace.json")).unwrap();
    assert!(trace.contains("\"where\":\"worker-1\""), "{trace}");
}

#[test]
fn an_interrupted_run_cancels_what_runs_elsewhere() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&action("Test", "slow", "include: []\n", "sleep 1000"));
    let mut child = project.start(&["test", "--remote", &server.address()]);
    eventually("it begins", || server.runs() == 1);
    let pid = child.id();
    Command::new("/bin/sh").args(["-c", &format!("kill -INT {pid}")]).status().unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    eventually("the command ends", || server.under_way() == 0);
}

#[test]
fn a_killed_run_is_taken_up_again() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&action("Test", "slow", "include: []\n", "sleep 3; echo finished"));
    let mut child = project.start(&["test", "--remote", &server.address()]);
    eventually("it begins", || server.runs() == 1);
    eventually("its name is noted", || project.has_note());
    child.kill().unwrap();
    child.wait().unwrap();
    project.run(&["test", "--remote", &server.address()]).good().says("finished");
    assert_eq!(server.runs(), 1);
    // Where the server has forgotten it as well, it runs again, and has one result.
    let mut child = project.start(&["test", "--force", "--remote", &server.address()]);
    eventually("it begins", || server.runs() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    server.restart();
    server.forget_results();
    project.run(&["test", "--force", "--remote", &server.address()]).good().says("finished");
    assert_eq!((server.runs(), server.results()), (3, 1));
}

const CANARY: &str = "canary-0b4fd5a1-secret";

fn secretive(project: &Project) -> Vec<String> {
    project.write("secrets.env", &format!("TOKEN={CANARY}\n"));
    ["--secret-file", "secrets.env"].map(str::to_owned).to_vec()
}

#[test]
fn secrets_do_not_leave_this_machine_unless_their_action_is_named() {
    let server = Server::start(Nature::default()).unwrap();
    let secret = "---\nkind: Test\ntype: exec\nname: secret\ninclude: []\nspec: {shell: true, command: ['test -n \"$TOKEN\" && echo has $TOKEN'], env: {TOKEN: '${secrets.TOKEN}'}}\n";
    let word = "---\nkind: Test\ntype: exec\nname: word\ninclude: []\nspec: {shell: true, command: ['echo ${secrets.TOKEN} > /dev/null']}\n";
    let file = "---\nkind: Test\ntype: exec\nname: file\ninclude: [carries]\nspec: {shell: true, command: ['wc -c < carries; : $EMPTY'], env: {EMPTY: 'x'}}\n";
    let project =
        Project::new(&format!("{secret}{word}{file}{}", action("Test", "plain", "include: []\n", "echo plain")));
    project.write("carries", &format!("token = {CANARY}\n"));
    let given = secretive(&project);
    let address = server.address();
    let with = |more: &[&str]| {
        let mut args = vec!["test", "--remote", &address, "--timings", "trace.json"];
        args.extend(given.iter().map(String::as_str));
        args.extend(more);
        project.run(&args)
    };
    let ran = with(&[]).good().says(
        "test.secret: passed here (it uses a secret (`spec.env.TOKEN`), and `--remote-secrets` does not name it)",
    );
    let ran = ran.says("test.word: passed here (it uses a secret (`spec.command");
    let ran = ran.says("test.plain: passed on worker-1");
    let has_secret = || server.contents().iter().any(|bytes| contains(bytes, CANARY));
    assert!(!has_secret(), "the store has the secret");
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(CANARY), "{text}");
    }
    fs::remove_file(project.folder().join("secrets.env")).unwrap();
    fs::remove_file(project.folder().join("carries")).unwrap();
    assert!(!contains(&project.all(), CANARY), "the folder of results has the secret");
    // Named, it travels; its result is not cached, and its output is hidden all the same.
    project.write("carries", "nothing\n");
    secretive(&project);
    let results = server.results();
    let ran = with(&["--force", "--remote-secrets", "test.secret"]).good().says("test.secret: passed on worker-1");
    assert!(!ran.err.contains(CANARY), "{}", ran.err);
    assert!(has_secret());
    assert_eq!(server.results(), results + 1, "only the result of `test.file` is new");
}

#[test]
fn a_proof_is_sent_to_its_server_and_shown_to_nobody() {
    let token = format!("Bearer {CANARY}");
    let server = Server::start(Nature { token: Some(token.clone()), ..Nature::default() }).unwrap();
    let open = Server::start(Nature::default()).unwrap();
    let project = Project::new(&action("Test", "plain", "include: []\n", "echo plain"));
    let settings = project.top.join("home/.config/purlin/purlin.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let with = |from: &str| {
        fs::write(&settings, format!("[remote]\naddress = \"{}\"\nheaders-from = {from}\n", server.address())).unwrap();
        let mut command = project.command(&["test", "--force"]);
        Ran::of(command.env("HEADERS", format!("authorization: {token}\n")).output().unwrap())
    };
    with("{ env = \"HEADERS\" }").good().says("passed on worker-1");
    let helper = project.top.join("helper");
    fs::write(&helper, format!("#!/bin/sh\ncat >&2\necho '{{\"headers\": {{\"Authorization\": [\"{token}\"]}}}}'\n"))
        .unwrap();
    Command::new("chmod").arg("+x").arg(&helper).status().unwrap();
    with(&format!("{{ command = [{:?}, \"get\"] }}", helper.to_str().unwrap())).good().says("passed on worker-1");
    let wrong = with("{ env = \"HOME\" }");
    assert_eq!(wrong.code, 6);
    let wrong = wrong.says("`HOME`: a header is not a line `name: value`");
    let missing = with("{ env = \"NOT_SET\" }");
    let missing = missing.says("`NOT_SET`, which `[remote] headers-from` names, is not set");
    let failing = with("{ command = [\"false\"] }").says("failed with exit code 1");
    // Another server gets none of it.
    fs::write(
        &settings,
        format!("[remote]\naddress = \"{}\"\nheaders-from = {{ env = \"HEADERS\" }}\n", server.address()),
    )
    .unwrap();
    let mut command = project.command(&["test", "--force", "--remote", &open.address()]);
    Ran::of(command.env("HEADERS", format!("authorization: {token}\n")).output().unwrap())
        .good()
        .says("passed on worker-1");
    assert!(!open.headers().iter().any(|line| line.contains(CANARY)));
    assert!(server.headers().iter().any(|line| line.contains(CANARY)));
    for ran in [wrong, missing, failing] {
        assert!(!ran.err.contains(CANARY), "{}", ran.err);
    }
    fs::remove_file(&settings).unwrap();
    let refused = project.run(&["test", "--force", "--remote", &server.address()]);
    let refused = refused.says("not authenticated: the token is missing or has expired");
    assert_eq!(refused.code, 6, "a refused proof is not answered by running here");
    assert!(!contains(&project.all(), &format!("echo {CANARY}")));
}

#[test]
fn a_server_that_is_away_is_named_and_replaced_by_this_machine() {
    let project = Project::new(&action("Test", "plain", "include: []\n", "echo plain"));
    let args = ["test", "--force", "--remote", "grpc://127.0.0.1:1"];
    let ran = project.run(&args).good().says("test.plain | plain");
    ran.says("grpc://127.0.0.1:1: could not connect: connection refused; it runs on this machine instead");
    let refused = project.run(&[&args[..], &["--remote-only"]].concat());
    assert_eq!(refused.code, 6);
    refused.says("`test.plain` failed: grpc://127.0.0.1:1: could not connect: connection refused");
}

#[test]
fn a_project_cannot_choose_where_its_files_go() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&action("Test", "plain", "include: []\n", "echo plain"));
    project.write("purlin.toml", &format!("[remote]\naddress = \"{}\"\n", server.address()));
    let ran = project.run(&["test"]).good();
    ran.says(&format!("`[remote]` is not used: it asks to send files of this project to `{}`", server.address()));
    assert_eq!((server.runs(), server.calls("GetCapabilities")), (0, 0));
    project.run(&["test", "--force", "--trust"]).good().says("passed on worker-1");
    project.run(&["test", "--force", "--trust", "--no-remote"]).good().says("test.plain: passed in");
    let offline = project.run(&["test", "--force", "--trust", "--offline"]);
    assert_eq!(offline.code, 2);
    offline.says("cannot be used with `--offline`: add `--no-remote`");
    assert_eq!(server.runs(), 1);
}

#[test]
fn results_are_shared_where_the_user_wants_it() {
    let server = Server::start(Nature { is_cache_only: true, ..Nature::default() }).unwrap();
    let project = Project::new(&pair());
    project.write("page", "the product\n");
    let address = server.address();
    project.run(&["test", "--remote-cache", &address]).good();
    assert_eq!((server.results(), server.calls("UpdateActionResult")), (0, 0), "nothing is shared unasked");
    project.copy(&pair()).run(&["test", "--remote-cache", &address, "--remote-upload"]).good();
    assert_eq!(server.results(), 2);
    let other = project.copy(&pair());
    let hit = other.run(&["test", "--remote-cache", &address]).good().says("build.site: cached (remote)");
    hit.says("test.site: cached (remote)").says("it is there");
    other.run(&["build", "--remote-cache", &address]).good();
    assert_eq!(other.built("site", "made").unwrap(), b"THE PRODUCT\n");
    let wrong = other.run(&["test", "--force", "--remote", &address]);
    assert_eq!(wrong.code, 6);
    wrong.says("use `--remote-cache` instead of `--remote`");
}

#[test]
fn a_lost_product_is_made_again() {
    let server = Server::start(Nature::default()).unwrap();
    let project = Project::new(&(pair() + &action("Run", "reads", "build: site\n", "cat made")));
    project.write("page", "the product\n");
    let address = server.address();
    // It is lost between the Build and whoever reads it.
    for has_lost_all in [false, true] {
        server.nature().add("Execute", Fault::Late(Duration::from_millis(1)), 1);
        server.nature().forgets_outputs = if has_lost_all { u32::MAX } else { 1 };
        let ran = project.run(&["build", "--force", "--remote", &address]).good();
        assert_eq!(project.built("site", "made").unwrap(), b"THE PRODUCT\n", "{}", ran.err);
        if has_lost_all {
            ran.says("it runs on this machine instead");
        }
        server.nature().forgets_outputs = 0;
        server.forget_results();
        fs::remove_dir_all(project.folder().join(".garden")).unwrap();
    }
    let refused = {
        server.nature().forgets_outputs = u32::MAX;
        project.run(&["build", "--force", "--remote", &address, "--remote-only"])
    };
    assert_eq!(refused.code, 6, "{}", refused.err);
}

#[test]
fn a_lying_store_is_found() {
    let server = Server::start(Nature { lies: u32::MAX, ..Nature::default() }).unwrap();
    let project = Project::new(&pair());
    project.write("page", "the product\n");
    let ran = project.run(&["build", "--remote", &server.address()]).good();
    ran.says("it sent bytes that do not match the digest").says("it runs on this machine instead");
    assert_eq!(project.built("site", "made").unwrap(), b"THE PRODUCT\n");
    let refused = project.run(&["build", "--force", "--remote", &server.address(), "--remote-only"]);
    assert_eq!(refused.code, 6, "{}", refused.err);
    // A lie about a file shows only when the file is fetched.
    let server = Server::start(Nature { lies_about: Some("THE PRODUCT"), ..Nature::default() }).unwrap();
    let other = project.copy(&pair());
    let ran = other.run(&["build", "--remote", &server.address()]).good();
    ran.says("it is made again").says("it sent bytes that do not match").says("it runs on this machine instead");
    assert_eq!(other.built("site", "made").unwrap(), b"THE PRODUCT\n");
    let third = project.copy(&pair());
    let refused = third.run(&["build", "--remote", &server.address(), "--remote-only"]);
    assert_eq!(refused.code, 6, "{}", refused.err);
    assert_eq!(third.built("site", "made"), None);
}

#[test]
fn a_server_is_shown() {
    let server = Server::start(Nature { version: (2, 0), batch: 0, ..Nature::default() }).unwrap();
    let project = Project::new("");
    let shown = project.run(&["status", "--remote", &server.address()]).good();
    for text in [
        "server         grpc://",
        "version        2.0",
        "digests        SHA-256",
        "runs actions   yes",
        "round trip",
        "lacks          it is older",
    ] {
        assert!(shown.out.contains(text), "{text}: {}", shown.out);
    }
    let json: Json =
        serde_json::from_str(&project.run(&["status", "--remote", &server.address(), "-o", "json"]).good().out)
            .unwrap();
    assert_eq!(json["takesResults"], true);
    let none = project.run(&["status", "--remote"]);
    assert_eq!(none.code, 2);
    none.says("the settings have no `[remote] address`");
    let away = project.run(&["status", "--remote", "grpc://127.0.0.1:1"]);
    assert_eq!(away.code, 5);
    away.says("could not connect: connection refused");
}

#[test]
fn wrong_settings_are_located() {
    let project = Project::new(&action("Test", "plain", "include: []\n", "echo plain"));
    for (line, text) in [
        ("address = \"http://x\"", "does not begin with `grpc://` or `grpcs://`"),
        ("adress = \"grpc://x\"", "unknown key `adress`"),
        ("headers-from = \"x: y\"", "`headers-from` is a header, which is secret"),
        ("certificate = \"a.pem\"", "a client certificate needs `certificate` and `key`"),
        ("jobs = 0", "expected an integer from 1 to 1000, found 0"),
        ("platform = [1]", "expected a table, found a list"),
    ] {
        project.write("purlin.toml", &format!("[remote]\n{line}\n"));
        let ran = project.run(&["check", "--trust"]).says(text).says("purlin.toml");
        assert!(!ran.err.contains("x: y\""), "{}", ran.err);
    }
    let options: &[&[&str]] = &[
        &["--remote-only"],
        &["--remote", "http://x"],
        &["--remote-upload"],
        &["--remote", "grpc://a", "--no-remote"],
    ];
    project.write("purlin.toml", "");
    for options in options {
        let ran = project.run(&[&["test"][..], options].concat());
        assert_eq!(ran.code, 2, "{options:?}: {}", ran.err);
    }
}

/// A random action: its script makes files, links, modes and folders, prints, and may fail.
fn random_script(dice: &mut Dice) -> String {
    let mut script = String::new();
    for number in 0..1 + dice.roll(5) {
        let name = format!("'f{number} {}'", ["a", "ü", "-x", "$y"][dice.roll(4)]);
        match dice.roll(7) {
            0 => write!(script, "mkdir -p d{number}/e; ").unwrap(),
            1 => write!(script, "ln -sfn target l{number}; ").unwrap(),
            2 => write!(script, ": > ./{name}; ").unwrap(),
            3 => write!(script, "head -c {} /dev/zero > ./{name}; ", 1 + dice.roll(3_000_000)).unwrap(),
            4 => write!(script, "mkdir -p d{number}; echo {number} > d{number}/file; chmod 755 d{number}/file; ")
                .unwrap(),
            5 => write!(script, "printf 'value {number}' > \"$GARDEN_ACTION_OUTPUTS_PATH/o{number}\"; ").unwrap(),
            _ => write!(script, "echo printed {number}; echo error {number} >&2; cat in.txt; ").unwrap(),
        }
    }
    if dice.roll(5) == 0 { script + "exit 3" } else { script + "true" }
}

/// Everything in a folder, by path: kind, mode and content.
fn tree(top: &Path) -> BTreeMap<String, String> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let seen = if meta.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                open.push(path.clone());
                "folder".to_owned()
            } else {
                let is_executable = meta.permissions().mode() & 0o111 != 0;
                let bytes = fs::read(&path).unwrap();
                let sum = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
                format!("file {is_executable} {} {sum}", bytes.len())
            };
            found.insert(path.strip_prefix(top).unwrap().to_string_lossy().into_owned(), seen);
        }
    }
    found
}

/// The ends of all actions, with their outputs.
fn ends(ran: &Ran) -> BTreeMap<String, String> {
    let ended = ran.events().into_iter().filter(|event| event["event"] == "ended");
    let end = |event: Json| {
        let state = event["state"].as_str().unwrap_or_default().replace("remote-cached", "done");
        (event["id"].as_str().unwrap().to_owned(), format!("{state} {}", event["reason"]))
    };
    ended.map(end).collect()
}

fn printed(ran: &Ran) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in ran.events().into_iter().filter(|event| event["event"] == "output") {
        let key = format!("{} {}", event["id"], event["stream"]);
        found.entry(key).or_default().push(event["text"].to_string());
    }
    found
}

/// Compares random actions here and on a server. Returns how many there were.
fn compare(address: &str, count: usize, (seed, only): (u64, bool)) -> Ran {
    let mut dice = Dice::new(seed);
    let mut text = String::new();
    for number in 0..count {
        let script = random_script(&mut dice);
        text += &action("Build", &format!("b{number}"), "include: [in.txt]\n", &script);
        if number % 3 == 0 {
            let read = "ls -R | sort; cat in.txt 2>/dev/null; true";
            text += &action(
                "Build",
                &format!("c{number}"),
                &format!(
                    "dependencies: [build.b{number}]\ninclude: [in.txt]\ncopyFrom: [{{build: b{number}, sourcePath: '.', targetPath: sub/}}]\n"
                ),
                read,
            );
        }
    }
    let here = Project::new(&text);
    here.write("in.txt", "input of all\n");
    let there = here.copy(&text);
    let args = ["build", "-o", "json", "--jobs", "4"];
    let local = here.run(&args);
    let only: &[&str] = if only { &["--remote-only"] } else { &[] };
    let remote = there.run(&[&args[..], &["--remote", address], only].concat());
    assert_eq!(local.code, remote.code, "{}", remote.err);
    assert_eq!(ends(&local), ends(&remote), "{}", remote.err);
    assert_eq!(printed(&local), printed(&remote));
    let (own, other) = (tree(&here.folder().join(".garden/build")), tree(&there.folder().join(".garden/build")));
    let failed: Vec<String> =
        ends(&local).into_iter().filter(|(_, end)| end.starts_with("failed")).map(|(id, _)| id).collect();
    let is_of_failed = |path: &String| {
        failed.iter().any(|id| {
            let name = id.trim_start_matches("build.");
            path == name || path.starts_with(&format!("{name}/"))
        })
    };
    // What a failed Build leaves is not a result.
    let good = |tree: BTreeMap<String, String>| {
        tree.into_iter().filter(|(path, _)| !is_of_failed(path)).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(good(own), good(other));
    remote
}

#[test]
fn random_actions_end_the_same_here_and_there() {
    let server = Server::start(Nature::default()).unwrap();
    compare(&server.address(), 40, (1, true));
    let old = Nature { version: (2, 0), knows_old_outputs_only: true, batch: 64 << 10, ..Nature::default() };
    compare(&Server::start(old).unwrap().address(), 20, (2, true));
}

/// Servers that others wrote may refuse an action, which then runs here and says why.
#[test]
fn random_actions_end_the_same_on_real_servers() {
    let Ok(addresses) = std::env::var("PURLIN_REMOTE") else { return purlin_skipped::skipped("remote servers") };
    let count = std::env::var("PURLIN_REMOTE_ACTIONS").map_or(20, |count| count.parse().unwrap());
    for address in addresses.split_whitespace() {
        let began = Instant::now();
        let remote = compare(address, count, (3, false));
        let events = remote.events();
        let count = |what: &dyn Fn(&Json) -> bool| events.iter().filter(|event| what(event)).count();
        let there = count(&|event| event["event"] == "placed" && event["where"] != "here");
        let here =
            count(&|event| event["message"].as_str().is_some_and(|text| text.contains("on this machine instead")));
        println!("{address}: {there} actions there, {here} here after all, {:?}", began.elapsed());
    }
}
