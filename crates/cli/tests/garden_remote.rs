//! Files of Garden projects in other repositories: listed, hashed, there when commands run, and newer ones on request.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod git;

use git::{git, has_git};
use purlin_cli::Invocation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project, two repositories next to it, and a home; removed at the end.
struct Place(PathBuf);

const PROJECT: &str = "\
apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
providers: [{name: exec}]
";

impl Place {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-garden-remote-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for part in ["project/.git", "lib/sub", "other", "home"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        let place = Place(folder.canonicalize().unwrap());
        for part in ["lib", "other"] {
            git(&place.0.join(part), &["init", "--quiet"]);
            place.commit(part, "file.txt", part);
        }
        place.commit("lib", "sub/deep.txt", "deep");
        place.write("project/project.garden.yml", PROJECT);
        files.iter().for_each(|(file, text)| place.write(file, text));
        place
    }

    fn write(&self, file: &str, text: &str) {
        let text = text.replace("LIB", &self.address("lib")).replace("OTHER", &self.address("other"));
        std::fs::write(self.0.join(file), text).unwrap();
    }

    fn address(&self, repository: &str) -> String {
        format!("file://{}#main", self.0.join(repository).display())
    }

    fn commit(&self, repository: &str, file: &str, text: &str) {
        let folder = self.0.join(repository);
        std::fs::write(folder.join(file), format!("{text}\n")).unwrap();
        git(&folder, &["add", "--all"]);
        git(&folder, &["commit", "--quiet", "--message", text]);
    }

    /// Runs a command with permission to read the repositories; returns what it prints.
    fn run(&self, args: &[&str]) -> String {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let env = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", self.text("home"))];
        let paths = [self.text("lib"), self.text("other")];
        let allowed = ["--allow-exec", "--allow-path", &paths[0], "--allow-path", &paths[1]];
        let code = purlin_cli::run(Invocation {
            args: allowed.iter().chain(args).map(|arg| (*arg).to_owned()).collect(),
            cwd: self.0.join("project"),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>(),
            stdin: None,
            stdout: &mut out,
            stderr: &mut errors,
            terminal: false,
            project_env: BTreeMap::default(),
            given: None,
            last: false,
            veil: purlin_cli::Veil::default(),
        });
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (out, errors) = (text(out), text(errors));
        assert_eq!(code, 0, "{args:?}: {out}{errors}");
        out + &errors
    }

    fn text(&self, below: &str) -> String {
        self.0.join(below).to_string_lossy().into_owned()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str::<Value>(&self.run(args)).unwrap()["result"].take()
    }

    /// The files of an action, below the project.
    fn files(&self, action: &str) -> Vec<String> {
        let all = self.json(&["garden", "get", "files", "-o", "json"]);
        let root = self.0.join("project");
        let below = |file: &Value| {
            let file = Path::new(file.as_str().unwrap()).strip_prefix(&root).unwrap();
            file.to_string_lossy().into_owned()
        };
        all[action].as_array().unwrap().iter().map(below).collect()
    }

    fn version(&self, action: &str) -> String {
        let all = self.json(&["garden", "get", "actions", "--detail", "-o", "json"]);
        let (kind, name) = action.split_once('.').unwrap();
        let is_it = |one: &&Value| one["name"] == name && one["kind"].as_str().unwrap().eq_ignore_ascii_case(kind);
        let found = all["actions"].as_array().unwrap().iter().find(is_it).unwrap();
        found["version"]["versionString"].as_str().unwrap().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const BUILD: &str = "\
kind: Build
type: exec
name: b
source: {repository: {url: 'LIB'}}
spec: {command: [cat, file.txt]}
---
kind: Run
type: exec
name: r
build: b
spec: {command: [cat, sub/deep.txt]}
";

#[test]
fn a_build_runs_again_once_its_repository_has_moved() {
    if !has_git() {
        return;
    }
    let place = Place::new("moved", &[("project/garden.yml", BUILD)]);
    assert!(place.run(&["garden", "build"]).contains("build.b | lib"));
    assert!(place.run(&["garden", "build"]).contains("build.b: cached"));
    assert!(place.run(&["garden", "run", "r"]).contains("run.r | deep"));
    let before = place.version("build.b");

    place.commit("lib", "file.txt", "newer");
    assert!(place.run(&["garden", "build"]).contains("build.b: cached"), "the lock holds it");
    let updated = place.run(&["--update", "garden", "build"]);
    assert!(updated.contains("build.b | newer"), "{updated}");
    assert_ne!(place.version("build.b"), before);
    assert!(place.run(&["garden", "build"]).contains("build.b: cached"));
}

const TWO: &str = "\
kind: Build
type: exec
name: a
source: {repository: {url: 'LIB'}}
spec: {command: [ls]}
---
kind: Build
type: exec
name: b
source: {repository: {url: 'LIB'}}
spec: {command: [ls]}
---
kind: Run
type: exec
name: r
source: {repository: {url: 'LIB'}, path: sub}
spec: {command: [ls]}
---
kind: Module
type: exec
name: m
repositoryUrl: 'LIB'
include: [sub/deep.txt]
build: {command: [ls]}
tasks: [{name: t, command: [ls]}]
";

#[test]
fn each_action_has_a_clone_of_its_own() {
    if !has_git() {
        return;
    }
    let place = Place::new("clones", &[("project/garden.yml", TWO)]);
    let of = |action: &str| place.files(action).join(" ");
    let first = of("build.a");
    let (folder, _) = first.split_once("/file.txt").unwrap();
    assert!(folder.starts_with(".garden/sources/action/build.a--"), "{first}");
    let hash = folder.rsplit_once("--").unwrap().1;
    let clone = |kind: &str, name: &str| format!(".garden/sources/{kind}/{name}--{hash}");
    let b = clone("action", "build.b");
    assert_eq!(of("build.b"), format!("{b}/file.txt {b}/sub/deep.txt"));
    assert_eq!(of("run.r"), format!("{}/sub/deep.txt", clone("action", "run.r")));
    assert_eq!(of("build.m"), format!("{}/sub/deep.txt", clone("module", "m")));
}

const INSIDE: &str = "\
kind: Build
type: exec
name: own
spec: {command: [cat, file.txt]}
---
kind: Build
type: exec
name: away
source: {repository: {url: 'OTHER'}}
spec: {command: [cat, file.txt]}
";

#[test]
fn an_action_in_a_source_may_name_another_repository() {
    if !has_git() {
        return;
    }
    let place = Place::new("inside", &[("lib/garden.yml", INSIDE)]);
    git(&place.0.join("lib"), &["add", "--all"]);
    git(&place.0.join("lib"), &["commit", "--quiet", "--message", "actions"]);
    place.write("project/project.garden.yml", &format!("{PROJECT}sources: [{{name: lib, repositoryUrl: 'LIB'}}]\n"));
    let built = place.run(&["garden", "build"]);
    assert!(built.contains("build.own | lib") && built.contains("build.away | other"), "{built}");
    let (own, away) = (place.files("build.own").join(" "), place.files("build.away").join(" "));
    assert!(own.starts_with(".garden/sources/project/lib--"), "{own}");
    assert!(away.starts_with(".garden/sources/action/build.away--") && !away.contains(' '), "{away}");
}
