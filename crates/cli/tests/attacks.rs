//! Attacks combined from three lists: a name that Purlin reads or writes, a hostile entry in its place, and a command
//! that uses it. Whatever the command answers, nothing outside changes, no outside content is shown, nothing hangs.
//!
//! A sample runs by default; `PURLIN_ATTACKS=all` runs every combination, `PURLIN=FILE` takes another binary.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A text outside the repository that must never be shown.
const CANARY: &str = "0UTS1DE-canary";

/// By default one of this many combinations is run.
const SAMPLE: usize = 9;

/// A project of each kind.
const FILES: &[(&str, &str)] = &[
    (
        "g/project.garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: d}]\nvarfile: vars.yaml\nproviders: [{name: exec}]\n---\n\
         kind: Build\ntype: exec\nname: b\ninclude: [src/**]\nspec: {command: [\"true\"]}\n---\n\
         kind: Run\ntype: exec\nname: r\ndependencies: [build.b]\ninclude: []\nartifacts: [{source: a.txt, target: out}]\n\
         spec: {shell: true, command: [\"echo x > a.txt\"]}\n---\n\
         kind: Test\ntype: exec\nname: t\ninclude: [src/**]\nspec: {command: [cat, src/a]}\n---\n\
         kind: Deploy\ntype: exec\nname: d\ninclude: []\nspec: {deployCommand: [\"true\"], cleanupCommand: [\"true\"]}\n",
    ),
    ("g/src/a", "inside\n"),
    ("g/vars.yaml", "a: 1\n"),
    (
        "c/Chart.yaml",
        "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: o, version: 1.0.0, repository: 'file://../o'}]\n",
    ),
    ("c/values.yaml", "a: 1\n"),
    ("c/values.schema.json", "{}"),
    ("c/files/a.txt", "inside"),
    (
        "c/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: {{ .Files.Get \"files/a.txt\" | quote }}}\n",
    ),
    ("o/Chart.yaml", "apiVersion: v2\nname: o\nversion: 1.0.0\n"),
    ("s/skaffold.yaml", "apiVersion: skaffold/v4beta13\nkind: Config\nmanifests: {rawYaml: [m/*.yaml]}\n"),
    ("s/m/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
    ("k/kustomization.yaml", "resources: [r.yaml]\nconfigMapGenerator: [{name: f, files: [f.txt]}]\n"),
    ("k/r.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
    ("k/f.txt", "inside"),
    (
        "e/ensemble.yaml",
        "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    \
         node_types:\n      N: {derived_from: tosca.nodes.Root, interfaces: {Standard: {operations: {configure: echo done}}}}\n    \
         topology_template: {node_templates: {n: {type: N}}}\n",
    ),
    (
        "t/service.yaml",
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [more.yaml]\ntopology_template: {}\n",
    ),
    ("t/more.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n"),
];

const GARDEN: &[&str] = &[
    "check",
    "resolve",
    "build",
    "run r",
    "test --force",
    "deploy",
    "status",
    "logs",
    "cleanup",
    "fmt",
    "fix",
    "graph --out g.svg -o svg",
];
const CHART: &[&str] = &["check", "render", "fmt", "fix", "helm dependency update .", "helm template .", "helm lint ."];
const SKAFFOLD: &[&str] = &["check", "resolve", "render", "skaffold render", "fmt", "status"];
const KUSTOMIZE: &[&str] = &["check", "render", "fmt"];
const UNFURL: &[&str] = &["check", "resolve", "unfurl deploy --approve", "unfurl plan", "fmt"];
const TOSCA: &[&str] = &["check", "resolve", "csar create out.csar .", "fmt", "fix", "resolve --out out.yaml"];

/// A folder, names in it, and the commands that use them.
const PLACES: &[(&str, &[&str], &[&str])] = &[
    (
        "g",
        &[
            ".purlin",
            ".purlin/tmp",
            ".purlin/logs",
            ".purlin/journal",
            ".purlin/lock",
            ".purlin/deploys",
            ".garden",
            ".garden/build",
            ".garden/build/b",
            ".garden/artifacts",
            "purlin.toml",
            "purlin.lock",
            ".gardenignore",
            "vars.yaml",
            "src",
            "src/a",
            "g.svg",
            "project.garden.yml",
        ],
        GARDEN,
    ),
    (
        "c",
        &[
            "charts",
            "charts/o",
            "Chart.lock",
            "values.yaml",
            "values.schema.json",
            ".helmignore",
            "templates",
            "templates/a.yaml",
            "files",
            "files/a.txt",
            "crds",
            "Chart.yaml",
        ],
        CHART,
    ),
    ("s", &["skaffold.env", "m", "m/a.yaml", "skaffold.yaml", ".purlin"], SKAFFOLD),
    ("k", &["r.yaml", "f.txt", "kustomization.yaml"], KUSTOMIZE),
    ("e", &["jobs", "jobs.tsv", "changes", "tasks", "ensemble.yaml", ".purlin", "unfurl.yaml"], UNFURL),
    ("t", &["more.yaml", "service.yaml", "out.csar", "out.yaml", "TOSCA-Metadata"], TOSCA),
];

/// The hostile entry in the place of a name.
#[derive(Clone, Copy, Debug)]
enum Bait {
    /// A link to a file or folder outside, as a full path.
    Absolute(&'static str),
    /// The same, relative, as a repository stores it.
    Relative(&'static str),
    /// A link to a name outside that does not exist yet.
    Dangling,
    /// The environment of the program.
    Environment,
    /// A pipe without a writer.
    Pipe,
}

const BAITS: &[Bait] = &[
    Bait::Absolute("file"),
    Bait::Absolute("folder"),
    Bait::Relative("file"),
    Bait::Relative("folder"),
    Bait::Dangling,
    Bait::Environment,
    Bait::Pipe,
];

/// A repository, a folder outside it and a home; removed at the end.
struct Ground(PathBuf);

impl Ground {
    fn new() -> Self {
        let top = std::env::temp_dir().join(format!("purlin-attacks-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("home")).unwrap();
        Ground(top.canonicalize().unwrap())
    }

    /// Restores the initial state.
    fn lay_out(&self) {
        for folder in ["repo", "outside"] {
            let _ = std::fs::remove_dir_all(self.0.join(folder));
        }
        std::fs::create_dir_all(self.0.join("repo/.git")).unwrap();
        std::fs::create_dir_all(self.0.join("outside/folder/deep")).unwrap();
        for (file, text) in FILES {
            let file = self.0.join("repo").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        for file in ["file", "folder/a", "folder/a.yaml", "folder/deep/a.txt"] {
            std::fs::write(self.0.join("outside").join(file), format!("k:   {CANARY}\n")).unwrap();
        }
    }

    fn bait(&self, folder: &str, name: &str, bait: Bait) {
        let place = self.0.join("repo").join(folder).join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = std::fs::remove_dir_all(&place);
        let _ = std::fs::remove_file(&place);
        let up = "../".repeat(1 + Path::new(folder).join(name).components().count() - 1);
        match bait {
            Bait::Absolute(target) => symlink(self.0.join("outside").join(target), place).unwrap(),
            Bait::Relative(target) => symlink(format!("{up}../outside/{target}"), place).unwrap(),
            Bait::Dangling => symlink(self.0.join("outside/new"), place).unwrap(),
            Bait::Environment => symlink("/proc/self/environ", place).unwrap(),
            Bait::Pipe => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
        }
    }

    /// All files outside with their contents.
    fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.0.join("outside")];
        while let Some(next) = open.pop() {
            for entry in std::fs::read_dir(&next).unwrap().flatten() {
                let is_folder = entry.file_type().unwrap().is_dir();
                found.push((entry.path(), if is_folder { Vec::new() } else { std::fs::read(entry.path()).unwrap() }));
                open.extend(is_folder.then(|| entry.path()));
            }
        }
        found.sort();
        found
    }

    /// The exit code and output of a command; `None` if it does not end.
    fn run(&self, folder: &str, command: &str) -> Option<(Option<i32>, String)> {
        let binary = std::env::var("PURLIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_purlin").to_owned());
        let said = self.0.join("said");
        let out = std::fs::File::create(&said).unwrap();
        let mut child = Command::new(binary)
            .args(command.split(' '))
            .current_dir(self.0.join("repo").join(folder))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.0.join("home"))
            .env("CI_TOKEN", CANARY)
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return Some((status.code(), String::from_utf8_lossy(&std::fs::read(&said).unwrap()).into_owned()));
            }
            // A blocked command waits for a pipe and does not end at all; a busy machine only takes longer.
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn nothing_outside_is_touched_or_shown_whatever_a_repository_puts_in_a_place() {
    let ground = Ground::new();
    ground.lay_out();
    let before = ground.outside();
    let all = std::env::var("PURLIN_ATTACKS").is_ok_and(|wanted| wanted == "all");
    let (mut number, mut runs, mut broken) = (0, 0, Vec::new());
    for (folder, names, commands) in PLACES {
        for name in *names {
            for bait in BAITS {
                for command in *commands {
                    number += 1;
                    if !all && number % SAMPLE != 0 {
                        continue;
                    }
                    runs += 1;
                    ground.lay_out();
                    ground.bait(folder, name, *bait);
                    let ended = ground.run(folder, command);
                    let why = match &ended {
                        None => "does not end",
                        Some((_, said)) if said.contains(CANARY) => "shows what is outside",
                        Some((None | Some(101 | 134), _)) => "ends without an answer",
                        _ if ground.outside() != before => "changes what is outside",
                        _ => continue,
                    };
                    let said: String = ended.map(|(_, said)| said.chars().take(300).collect()).unwrap_or_default();
                    broken.push(format!("{folder}/{name} as {bait:?}: `{command}` {why}\n{said}"));
                }
            }
        }
    }
    eprintln!("{runs} of {number} attacks");
    assert!(runs > 100 && broken.is_empty(), "{} of {runs} attacks:\n{}", broken.len(), broken.join("\n"));
}
