//! A hostile repository: its settings, environment files, repositories, kubeconfigs and links. Each test runs the
//! program as a user would and looks for effects that must not occur.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod git;

use git::{git, has_git};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text outside the repository that must never be shown.
const CANARY: &str = "0UTS1DE-canary";

const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: d}]\n";

/// A repository, a folder outside it and a home; removed at the end.
struct Ground(PathBuf);

impl Ground {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-hostile-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for part in ["repo/.git", "outside", "home", "tools"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        Ground(folder.canonicalize().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn link(&self, below: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(below)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("tools").display());
        command.args(args).current_dir(self.path("repo")).env_clear().env("PATH", path).env("HOME", self.path("home"));
        command
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        ended(self.command(args))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The exit code and all output of a command.
fn ended(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn settings_that_lead_outside_are_not_read() {
    let ground = Ground::new("settings-link");
    ground.write("repo/project.garden.yml", GARDEN);
    ground.write("outside/secret.toml", &format!("{CANARY} = [\n"));
    let targets = [ground.path("outside/secret.toml"), "../outside/secret.toml".into(), "/proc/self/environ".into()];
    for target in targets {
        let _ = std::fs::remove_file(ground.path("repo/purlin.toml"));
        ground.link("repo/purlin.toml", &target);
        for args in [vec!["check"], vec!["resolve"], vec!["render"], vec!["graph"], vec!["diff", ".", "-e", "d"]] {
            let mut command = ground.command(&args);
            command.env("CI_TOKEN", CANARY);
            let (code, text) = ended(command);
            assert!(!text.contains(CANARY), "{target:?} {args:?}: {text}");
            assert_ne!(code, Some(0), "{target:?} {args:?}: {text}");
        }
        let (code, text) = ground.run(&["check"]);
        assert_eq!(code, Some(4), "{text}");
        assert!(text.contains("reading `purlin.toml` is not allowed"), "{text}");
    }
    // A link within the repository is a file like any other.
    std::fs::remove_file(ground.path("repo/purlin.toml")).unwrap();
    ground.write("repo/ci/settings.toml", "strict = true\n");
    ground.link("repo/purlin.toml", "ci/settings.toml");
    assert_eq!(ground.run(&["check"]).0, Some(0));
}

#[test]
fn settings_that_are_no_file_are_reported() {
    let ground = Ground::new("settings-pipe");
    ground.write("repo/project.garden.yml", GARDEN);
    assert!(Command::new("mkfifo").arg(ground.path("repo/purlin.toml")).status().unwrap().success());
    let (code, text) = ground.run(&["check"]);
    assert_eq!(code, Some(5), "{text}");
    std::fs::remove_file(ground.path("repo/purlin.toml")).unwrap();
    std::fs::write(ground.path("repo/purlin.toml"), b"a = \"\xff\"\n").unwrap();
    let (code, text) = ground.run(&["check"]);
    assert_eq!(code, Some(5), "{text}");
}

/// The line of `purlin limits` for a limit.
fn limit(ground: &Ground, args: &[&str], name: &str) -> String {
    let (_, text) = ground.run(&[&["limits"], args].concat());
    let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap_or("");
    line.split_whitespace().nth(1).unwrap_or("").to_owned()
}

#[test]
fn a_project_lowers_limits_and_raises_none() {
    let ground = Ground::new("limits");
    ground.write("repo/project.garden.yml", GARDEN);
    ground.write("repo/purlin.toml", "[limits]\nfuel = 9_223_372_036_854_775_807\nnodes = 1_000\n");
    let usual = limit(&ground, &["--limit", "depth=9", "-C", "/"], "fuel");
    assert_eq!(limit(&ground, &[], "fuel"), usual);
    assert_eq!(limit(&ground, &[], "nodes"), "1000");
    let (code, text) = ground.run(&["check"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("the limit `fuel` is not raised") && text.contains("purlin.toml:2:1"), "{text}");
    assert!(!text.contains("`nodes`"), "{text}");
    assert_eq!(limit(&ground, &["--trust"], "fuel"), "9223372036854775807");
    assert_eq!(limit(&ground, &["--limit", "fuel=77"], "fuel"), "77");
    // The user's own settings count for all projects, and list the trusted ones.
    ground.write("home/.config/purlin/purlin.toml", "[limits]\nfuel = 999_999_999_999\n");
    assert_eq!(limit(&ground, &[], "fuel"), "999999999999");
    ground.write("home/.config/purlin/purlin.toml", &format!("trust = [\"{}\"]\n", ground.path("repo").display()));
    assert_eq!(limit(&ground, &[], "fuel"), "9223372036854775807");
    assert!(!ground.run(&["check"]).1.contains("not raised"));
    ground.write("home/.config/purlin/purlin.toml", "trust = [\"repo\"]\ntrusst = 1\n");
    let (_, text) = ground.run(&["check"]);
    assert!(text.contains("expected an absolute folder") && text.contains("unknown key `trusst`"), "{text}");
}

const SKAFFOLD: &str = "apiVersion: skaffold/v4beta13\nkind: Config\nmanifests: {rawYaml: [m.yaml]}\n";

#[test]
fn an_environment_file_steers_templates_only() {
    let ground = Ground::new("skaffold-env");
    ground.write("repo/skaffold.yaml", SKAFFOLD);
    ground.write("repo/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let hostile = "KUBECONFIG=/proc/self/cwd/evil.kc\nXDG_STATE_HOME=/proc/self/cwd/state\nXDG_CACHE_HOME=/proc/self/cwd/cache\n\
                   GIT_SSH_COMMAND=touch x\nHTTPS_PROXY=http://127.0.0.1:1\nPATH=/proc/self/cwd/bin\nLD_PRELOAD=./x.so\n\
                   SKAFFOLD_ALLOW_PATH=/\nSKAFFOLD_ALLOW_EXEC=true\nSKAFFOLD_REMOTE_CACHE_DIR=/\nSKAFFOLD_OUTPUT=../outside/made\n\
                   WHO=me\n";
    ground.write("repo/skaffold.env", hostile);
    let (code, text) = ground.run(&["skaffold", "render"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("kind: ConfigMap"), "the output went somewhere else: {text}");
    for name in [
        "KUBECONFIG",
        "XDG_STATE_HOME",
        "GIT_SSH_COMMAND",
        "PATH",
        "LD_PRELOAD",
        "SKAFFOLD_ALLOW_PATH",
        "SKAFFOLD_OUTPUT",
    ] {
        // The process has a PATH, which takes precedence.
        let is_named = text.contains(&format!("`{name}`"));
        assert_eq!(is_named, name != "PATH", "{name}: {text}");
    }
    assert!(!text.contains("`WHO`"), "{text}");
    assert!(
        !ground.path("outside/made").exists()
            && !ground.path("repo/cache").exists()
            && !ground.path("repo/state").exists()
    );
}

#[test]
fn an_environment_file_that_leads_outside_is_not_read() {
    let ground = Ground::new("skaffold-env-link");
    ground.write(
        "repo/skaffold.yaml",
        &format!(
            "{SKAFFOLD}build: {{tagPolicy: {{envTemplate: {{template: '{{{{.K}}}}'}}}}, artifacts: [{{image: a}}]}}\n"
        ),
    );
    ground.write(
        "repo/m.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n",
    );
    ground.write("outside/env", &format!("K={CANARY}\n"));
    ground.link("repo/skaffold.env", ground.path("outside/env"));
    for args in [vec!["skaffold", "render", "--digest-source=tag"], vec!["skaffold", "diagnose", "--yaml-only"]] {
        let (code, text) = ground.run(&args);
        assert!(!text.contains(CANARY) && text.contains("`skaffold.env` is not allowed"), "{args:?}: {text}");
        assert_eq!(code, Some(4), "{args:?}: {text}");
    }
}

/// A repository within the project, with settings that would run or open something.
fn embedded(ground: &Ground) {
    let work = ground.path("work");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("skaffold.yaml"), "apiVersion: skaffold/v4beta13\nkind: Config\n").unwrap();
    git(&work, &["init", "--quiet"]);
    git(&work, &["add", "-A"]);
    git(&work, &["-c", "user.name=a", "-c", "user.email=a@a", "commit", "--quiet", "-m", "x"]);
    let target = ground.path("repo/emb.git");
    git(&work, &["clone", "--quiet", "--bare", ".", target.to_str().unwrap()]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = touch {0}\n\talternateRefsCommand = touch {0}\n\
         [include]\n\tpath = {1}\n[uploadpack]\n\tpackObjectsHook = touch {0}\n",
        ground.path("outside/ran").display(),
        ground.path("outside/settings").display(),
    );
    std::fs::write(target.join("config"), config).unwrap();
    ground.write("outside/settings", &format!("{CANARY}\n"));
    ground.write(
        "repo/skaffold.yaml",
        "apiVersion: skaffold/v4beta13\nkind: Config\nrequires: [{git: {repo: ./emb.git, path: skaffold.yaml}}]\n",
    );
}

#[test]
fn git_runs_with_permission_only_and_obeys_no_repository() {
    if !has_git() {
        return;
    }
    let ground = Ground::new("git");
    embedded(&ground);
    // A git that records that it was started.
    ground.write(
        "tools/git",
        &format!("#!/bin/sh\necho \"$@\" >> {}\nexec /usr/bin/git \"$@\"\n", ground.path("outside/git.log").display()),
    );
    std::fs::set_permissions(ground.path("tools/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for args in [vec!["check"], vec!["resolve"], vec!["graph"], vec!["skaffold", "diagnose", "--yaml-only"]] {
        let (code, text) = ground.run(&args);
        assert_ne!(code, Some(0), "{args:?}: {text}");
        assert!(text.contains("--allow-exec"), "{args:?}: {text}");
        assert!(!ground.path("outside/git.log").exists(), "{args:?} started git");
        assert!(!ground.path("home/.cache").exists(), "{args:?} wrote to the cache");
    }
    let (code, text) = ground.run(&["check", "--allow-exec"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(ground.path("outside/git.log").exists() && !ground.path("outside/ran").exists());
    assert!(!text.contains(CANARY), "{text}");
    let cache = ground.path("home/.cache/purlin").metadata().unwrap();
    assert_eq!(cache.permissions().mode() & 0o777, 0o700);
    // Links and alternates among its objects lead outside.
    for hostile in ["objects/info/alternates", "objects/pack/x.pack"] {
        let _ = std::fs::remove_dir_all(ground.path("home/.cache"));
        std::fs::create_dir_all(ground.path("repo/emb.git").join(hostile).parent().unwrap()).unwrap();
        ground.link(&format!("repo/emb.git/{hostile}"), ground.path("outside/settings"));
        let (code, text) = ground.run(&["check", "--allow-exec"]);
        assert_ne!(code, Some(0), "{hostile}: {text}");
        assert!(!text.contains(CANARY), "{hostile}: {text}");
        std::fs::remove_file(ground.path("repo/emb.git").join(hostile)).unwrap();
    }
}

/// A project with a provider that names a kubeconfig of the project, for a server.
fn clustered(ground: &Ground, server: &str, user: &str) {
    let action = "---\nkind: Deploy\ntype: kubernetes\nname: k\nspec: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}\n";
    let provider = "providers: [{name: kubernetes, kubeconfig: evil.kc, context: x}]\n";
    ground.write("repo/garden.yml", &format!("{GARDEN}{provider}{action}"));
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{server}', insecure-skip-tls-verify: true}}}}]\nusers: [{{name: u, user: {user}}}]\n"
    );
    ground.write("repo/evil.kc", &config);
}

#[test]
fn a_kubeconfig_of_a_project_connects_to_nothing() {
    let ground = Ground::new("kubeconfig");
    ground.write("home/.vault-token", CANARY);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let token = format!("{{tokenFile: {}}}", ground.path("home/.vault-token").display());
    let plugin = format!(
        "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: touch, args: [{}]}}}}",
        ground.path("outside/ran").display()
    );
    let commands =
        [vec!["status"], vec!["logs", "deploy.k"], vec!["diff", "--cluster"], vec!["deploy"], vec!["cleanup", "--yes"]];
    for (scheme, user) in [("http", "{token: t}"), ("https", token.as_str()), ("https", plugin.as_str())] {
        clustered(&ground, &format!("{scheme}://127.0.0.1:{port}"), user);
        for args in &commands {
            for more in [&[][..], &["--trust", "--allow-exec"]] {
                let (_, text) = ground.run(&[args.as_slice(), more].concat());
                assert!(listener.accept().is_err(), "{scheme} {args:?} {more:?} connected: {text}");
                assert!(!text.contains(CANARY), "{text}");
            }
        }
        assert!(!ground.path("outside/ran").exists());
    }
    let (_, text) = ground.run(&["deploy"]);
    assert!(text.contains("the project chooses the kubeconfig") && text.contains("--kubeconfig"), "{text}");
}

#[test]
fn ports_and_credentials_of_servers() {
    let ground = Ground::new("server");
    ground.write("repo/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    for (server, told) in [
        ("https://127.0.0.1:99999", "has the port `99999`"),
        ("https://127.0.0.1:0", "has the port `0`"),
        ("https://u:0UTS1DE-canary@127.0.0.1:1", "127.0.0.1:1"),
        ("http://u:0UTS1DE-canary@127.0.0.1:1/x?token=0UTS1DE-canary", "127.0.0.1:1"),
        ("ftp://u:0UTS1DE-canary@127.0.0.1", "is not an address"),
    ] {
        clustered(&ground, server, "{token: t}");
        std::fs::remove_file(ground.path("repo/garden.yml")).unwrap();
        let (code, text) = ground.run(&["status", "--path", "m.yaml", "--kubeconfig", "evil.kc"]);
        let (_, deployed) = ground.run(&["deploy", "--path", "m.yaml", "--kubeconfig", "evil.kc", "-o", "json"]);
        assert!(!text.contains(CANARY) && !deployed.contains(CANARY), "{server}: {text}{deployed}");
        assert!(text.contains(told) || deployed.contains(told), "{server} {code:?}: {text}{deployed}");
    }
}

/// Files outside, with contents.
fn outside(ground: &Ground) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![ground.path("outside")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push((path.clone(), std::fs::read_to_string(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_written_or_removed_through_a_link() {
    let ground = Ground::new("writers");
    for (file, text) in
        [("a.yaml", "k:   v\n"), ("d/b.yaml", "k:   v\n"), ("charts/old-1.0.0.tgz", "x"), ("t/generated/keep", "x")]
    {
        ground.write(&format!("outside/{file}"), text);
    }
    // The target folder of links may be a repository as well.
    std::fs::create_dir_all(ground.path("outside/.git")).unwrap();
    ground.write("repo/project.garden.yml", GARDEN);
    ground.write("repo/s/service.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {}\n");
    ground.write("repo/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: o, version: 1.0.0, repository: 'file://../o'}]\n");
    ground.write("repo/o/Chart.yaml", "apiVersion: v2\nname: o\nversion: 1.0.0\n");
    ground.link("repo/c/charts", ground.path("outside/charts"));
    ground.link("repo/out", "../outside");
    ground.link("repo/l.yaml", "../outside/a.yaml");
    std::fs::create_dir(ground.path("repo/m")).unwrap();
    let (code, text) = ground.run(&["metachart", "-r", "m", "init"]);
    assert_eq!(code, Some(0), "{text}");
    std::fs::remove_dir_all(ground.path("repo/m/templates")).unwrap();
    ground.link("repo/m/templates", ground.path("outside/t"));
    let before = outside(&ground);
    for args in [
        vec!["metachart", "-r", "m", "generate"],
        vec!["helm", "dependency", "update", "c"],
        vec!["csar", "create", "out/x.csar", "s"],
        vec!["graph", "-o", "svg", "--out", "out/g.svg"],
        vec!["resolve", "--out", "out/new/r.yaml"],
        vec!["fmt"],
        vec!["fmt", "l.yaml"],
        vec!["fix"],
    ] {
        let (code, text) = ground.run(&args);
        assert_eq!(outside(&ground), before, "{args:?} {code:?}: {text}");
    }
    let (code, text) = ground.run(&["graph", "-o", "svg", "--out", "out/g.svg"]);
    assert_eq!(code, Some(5), "{text}");
    let (code, text) = ground.run(&["graph", "-o", "svg", "--out", "new/g.svg"]);
    assert_eq!(code, Some(0), "{text}");
}
