//! Results that do not count: of another environment or cluster, of a run that failed since, of a repository that
//! brings them; and files outside that links of a repository point to.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HEAD: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}, {name: prod}]\n\
                    providers: [{name: exec}]\n";

/// A project, a folder outside it, and a home.
struct Place {
    top: PathBuf,
    project: PathBuf,
}

impl Place {
    fn new(name: &str, actions: &str) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-results-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let project = top.join("project");
        std::fs::create_dir_all(&project).unwrap();
        let place = Place { project, top };
        place.reset();
        place.write("garden.yml", &format!("{HEAD}{}", actions.replace("OUT", &place.top.to_string_lossy())));
        place
    }

    /// Restores the files outside.
    fn reset(&self) {
        let victim = self.top.join("victim");
        let _ = std::fs::remove_dir_all(&victim);
        std::fs::create_dir_all(victim.join("photos")).unwrap();
        std::fs::write(victim.join("photos/1.jpg"), "precious").unwrap();
        std::fs::write(victim.join("notes"), "precious").unwrap();
    }

    fn is_whole(&self) -> bool {
        let read = |name: &str| std::fs::read_to_string(self.top.join("victim").join(name)).unwrap_or_default();
        let names = std::fs::read_dir(self.top.join("victim")).unwrap().count();
        read("photos/1.jpg") == "precious" && read("notes") == "precious" && names == 2
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.project.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn in_folder(&self, folder: &Path, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(folder).env("CI", "1").env("HOME", self.top.join("home"));
        command.env_remove("XDG_STATE_HOME").output().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.in_folder(&self.project, args)
    }

    fn told(&self, args: &[&str]) -> String {
        let output = self.run(args);
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@a"]).args(args).current_dir(&self.project);
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{args:?}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const KINDS: &str = "---\nkind: Run\ntype: exec\nname: migrate\ninclude: []\nspec: {command: [echo, hello]}\n\
                     ---\nkind: Test\ntype: exec\nname: smoke\ninclude: []\nspec: {command: [echo, hello]}\n\
                     ---\nkind: Build\ntype: exec\nname: site\ninclude: []\nspec: {command: [echo, hello]}\n";

#[test]
fn a_result_of_one_environment_is_none_of_another() {
    let place = Place::new("environments", KINDS);
    for args in [["run", "migrate"], ["test", "smoke"]] {
        let in_environment = |environment: &str| place.told(&[args[0], args[1], "-e", environment]);
        assert!(!in_environment("local").contains("cached"));
        assert!(!in_environment("prod").contains("cached"), "{args:?}");
        assert!(in_environment("local").contains("cached") && in_environment("prod").contains("cached"), "{args:?}");
    }
    place.told(&["run", "migrate", "-e", "prod", "--force"]);
    assert!(place.told(&["status", "-e", "local.prod"]).contains("never run"));
    // The files that a Build makes are the same everywhere.
    assert!(!place.told(&["build", "-e", "local"]).contains("cached"));
    assert!(place.told(&["build", "-e", "prod"]).contains("cached"));
}

#[test]
fn a_forced_run_that_fails_leaves_the_action_failed() {
    let place = Place::new(
        "forced",
        "---\nkind: Test\ntype: exec\nname: t\ninclude: []\nspec: {shell: true, command: ['test ! -e OUT/broken']}\n",
    );
    assert!(place.run(&["test"]).status.success());
    std::fs::write(place.top.join("broken"), "").unwrap();
    assert!(!place.run(&["test", "--force"]).status.success());
    assert!(place.told(&["status"]).contains("failed"));
    assert!(!place.run(&["test"]).status.success(), "it is not cached");
    std::fs::remove_file(place.top.join("broken")).unwrap();
    assert!(place.run(&["test"]).status.success());
    assert!(place.told(&["test"]).contains("cached"));
}

#[test]
fn results_of_another_checkout_or_user_are_ignored_and_said_once() {
    let place = Place::new("copied", KINDS);
    assert!(place.run(&["test"]).status.success());
    let copy = place.top.join("copy");
    let copied = Command::new("cp").arg("-a").arg(&place.project).arg(&copy).status().unwrap();
    assert!(copied.success());
    let first = text(&place.in_folder(&copy, &["test"]).stderr);
    assert!(first.contains("are ignored") && !first.contains("cached"), "{first}");
    let again = text(&place.in_folder(&copy, &["test"]).stderr);
    assert!(!again.contains("are ignored") && again.contains("cached"), "{again}");
    assert!(place.told(&["test"]).contains("cached"), "those of this one count");
}

#[test]
fn state_that_is_part_of_the_repository_is_refused() {
    for (file, folder) in [(".purlin/journal", ".purlin/journal"), (".garden/build/site/out", ".garden/build")] {
        let place = Place::new("tracked", KINDS);
        assert!(place.run(&["build"]).status.success() && place.run(&["test"]).status.success());
        place.write(file, "x");
        place.git(&["init", "-q", "."]);
        place.git(&["add", "-f", file, "garden.yml"]);
        for command in [
            &["test"][..],
            &["status"],
            &["build"],
            &["run", "migrate"],
            &["cleanup", "--yes"],
            &["logs", "test.smoke"],
        ] {
            let output = place.run(command);
            let told = text(&output.stderr);
            assert!(!output.status.success(), "{command:?}: {told}");
            assert!(told.contains(&format!("git rm -r --cached {folder}")), "{command:?}: {told}");
        }
    }
}

#[test]
fn links_that_a_repository_brings_lead_nowhere() {
    let place = Place::new(
        "links",
        "---\nkind: Build\ntype: exec\nname: site\ninclude: [pages/**]\nspec: {command: ['true']}\n\
         ---\nkind: Run\ntype: exec\nname: hello\ninclude: []\nspec: {shell: true, command: ['echo hello; echo x > o'], artifacts: [{source: o}]}\n\
         ---\nkind: Deploy\ntype: exec\nname: d\ninclude: []\nspec: {deployCommand: [echo, up], cleanupCommand: [echo, down]}\n\
         ---\nkind: Deploy\ntype: exec\nname: p\ninclude: []\nspec: {persistent: true, deployCommand: [sleep, '1']}\n",
    );
    place.write("pages/a", "x");
    let links = [
        ".purlin",
        ".purlin/tmp",
        ".purlin/logs",
        ".purlin/locks",
        ".purlin/deploys",
        ".purlin/objects",
        ".purlin/journal",
        ".purlin/.gitignore",
        ".garden",
        ".garden/build",
        ".garden/build/site",
        ".garden/artifacts",
        ".garden/artifacts/o",
        ".garden/build/site/pages",
        ".garden/build/site/pages/a",
    ];
    let commands: [&[&str]; 7] = [
        &["run", "hello"],
        &["build", "site"],
        &["deploy"],
        &["test"],
        &["cleanup", "--yes"],
        &["status"],
        &["logs", "run.hello"],
    ];
    for link in links {
        for to in ["victim", "victim/notes"] {
            let at = place.project.join(link);
            for state in [".purlin", ".garden"] {
                let state = place.project.join(state);
                let _ = std::fs::remove_file(&state);
                let _ = std::fs::remove_dir_all(&state);
            }
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(place.top.join(to), &at).unwrap();
            for args in commands {
                let told = place.told(args);
                assert!(place.is_whole(), "{link} -> {to}: {args:?}: {told}");
                assert!(!told.contains("precious"), "{link} -> {to}: {args:?}: {told}");
            }
        }
    }
}

#[test]
fn pipes_in_the_place_of_results_are_not_waited_for() {
    let place = Place::new("pipes", KINDS);
    assert!(place.run(&["run", "migrate"]).status.success());
    let state = place.project.join(".purlin");
    let mut files = vec![state.join("journal")];
    for part in ["locks", "logs"] {
        files.extend(std::fs::read_dir(state.join(part)).unwrap().map(|entry| entry.unwrap().path()));
    }
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        std::fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        for args in [&["run", "migrate", "--force"][..], &["status"], &["logs", "run.migrate"]] {
            // It ends, successfully or not.
            place.run(args);
        }
        let _ = std::fs::remove_file(&file);
    }
}

/// Notes that a repository brings, tested in a separate PID namespace, where no other process can be hit.
#[test]
fn a_note_that_a_repository_brings_ends_no_process() {
    let place = Place::new(
        "notes",
        "---\nkind: Deploy\ntype: exec\nname: d\ninclude: []\nspec: {persistent: true, deployCommand: [sleep, '1']}\n",
    );
    let script = format!(
        "sleep 60 & V=$!; P={}; cd {}; export HOME={} CI=1\n\
         note() {{ mkdir -p .purlin/deploys; echo \"{{\\\"pid\\\": $1, \\\"version\\\": \\\"x\\\"}}\" > .purlin/deploys/$2; }}\n\
         $P deploy >/dev/null 2>&1; own=$(ls .purlin/deploys); sleep 1.2\n\
         for name in deploy.d.json $own; do for pid in $V 1; do for command in status cleanup deploy; do\n\
         note $pid $name; timeout 20 $P $command >/dev/null 2>&1; kill -0 $V 2>/dev/null || {{ echo killed by $command; exit 1; }}\n\
         done; done; done; echo alive",
        env!("CARGO_BIN_EXE_purlin"),
        place.project.display(),
        place.top.join("home").display(),
    );
    let output = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "sh", "-c", &script]).output();
    let output = output.unwrap();
    if text(&output.stderr).contains("unshare") {
        purlin_skipped::skipped("process namespaces");
        return;
    }
    assert_eq!(text(&output.stdout).trim(), "alive", "{}", text(&output.stderr));
}

/// A server that accepts connections and never answers.
#[test]
fn a_signal_ends_the_wait_for_a_server_within_a_second() {
    use std::time::{Duration, Instant};
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let place = Place::new("silent", "");
    std::fs::remove_file(place.project.join("garden.yml")).unwrap();
    place.write("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n");
    let kubeconfig = place.top.join("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
    );
    std::fs::write(&kubeconfig, text).unwrap();
    for (command, signal) in [("deploy", "INT"), ("status", "TERM"), ("cleanup", "HUP"), ("diff", "INT")] {
        let args: &[&str] = match command {
            "diff" => &["--cluster", "--path", "m.yaml"],
            "cleanup" => &["--yes", "--path", "m.yaml"],
            _ => &["--path", "m.yaml"],
        };
        let mut purlin = Command::new(env!("CARGO_BIN_EXE_purlin"));
        purlin.arg(command).args(args).current_dir(&place.project).env("KUBECONFIG", &kubeconfig);
        purlin.env("HOME", place.top.join("home")).env_remove("XDG_STATE_HOME").env("CI", "1");
        let mut child = purlin.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        // After the connection, the program waits for an answer.
        let connection = silent.accept().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let asked = Instant::now();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success()
        );
        let code = child.wait().unwrap().code();
        // The time limit of a request is thirty seconds; a busy machine may need some time, too.
        assert!(asked.elapsed() < Duration::from_secs(10), "{command}: {:?}", asked.elapsed());
        assert!(code.is_some_and(|code| code > 128), "{command}: {code:?}");
        drop(connection);
    }
}
