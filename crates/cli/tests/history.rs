//! `why --blame` and `--since`: answers from the history of the user's repository.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod git;

use git::{git, has_git};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository in a folder that is removed at the end.
struct Repository(PathBuf);

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Repository {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-history-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("repository")).unwrap();
        let repository = Repository(folder);
        git(&repository.path(), &["init", "--quiet"]);
        repository
    }

    fn path(&self) -> PathBuf {
        self.0.join("repository")
    }

    fn write(&self, file: &str, text: &str) {
        let place = self.path().join(file);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    fn commit(&self, author: &str, date: &str, message: &str) {
        git(&self.path(), &["add", "."]);
        let author = format!("{author} <someone@example.com>");
        git(&self.path(), &["commit", "--quiet", "--author", &author, "--date", date, "-m", message]);
    }

    fn purlin_in(&self, folder: &Path, args: &[&str]) -> (String, String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(folder).env("XDG_CACHE_HOME", self.0.join("cache"));
        let out = command.env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&out.stdout), text(&out.stderr), out.status.code())
    }

    fn purlin(&self, args: &[&str]) -> (String, String, Option<i32>) {
        self.purlin_in(&self.path(), args)
    }

    /// The output of a command that must succeed.
    fn told(&self, args: &[&str]) -> String {
        let (out, err, code) = self.purlin(args);
        assert_eq!(code, Some(0), "{args:?}: {err}");
        out
    }
}

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}]\n\
                       variables:\n  size: 3\n";
const ACTIONS: &str = "kind: Build\nname: api\ntype: exec\ninclude: [api/*]\n---\nkind: Run\nname: scale\ntype: exec\n\
                       include: []\nspec: {command: [echo], env: {SIZE: \"${string(var.size * 2)}\"}}\n---\nkind: Test\nname: unit\n\
                       type: exec\ninclude: []\ndependencies: [build.api]\nspec: {command: [echo, unit]}\n---\n\
                       kind: Test\nname: other\ntype: exec\ninclude: [other/*]\nspec: {command: [echo, other]}\n";

fn shop(name: &str) -> Option<Repository> {
    if !has_git() {
        purlin_skipped::skipped("git");
        return None;
    }
    let repository = Repository::new(name);
    repository.write(".gitignore", ".garden\n.purlin\n");
    repository.write("project.garden.yml", PROJECT);
    repository.write("garden.yml", ACTIONS);
    repository.write("api/main.py", "one\n");
    repository.write("other/main.py", "one\n");
    repository.commit("Ada", "2024-03-01T23:30:00+0200", "first");
    repository.write("project.garden.yml", &PROJECT.replace("size: 3", "size: 4"));
    repository.commit("Grace", "2025-11-18T00:30:00+0900", "more \u{1b}[31mof it");
    Some(repository)
}

/// The digits of a commit id depend on the clock: only its length counts.
fn without_commits(text: &str) -> String {
    let is_commit = |word: &str| word.len() == 9 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        if is_commit(word.trim_end_matches(':')) { word.replacen(&word[..9], "*", 1) } else { word.to_owned() }
    };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn who_wrote_each_line() {
    let Some(repository) = shop("blame") else { return };
    let told = repository.told(&["why", "run.scale", "spec.env.SIZE", "--blame"]);
    assert_eq!(
        without_commits(&told),
        "run.scale spec.env.SIZE = \"8\"  (local)\n\
         \u{20} 8 = var.size * 2  garden.yml:10         * 2024-03-01 Ada    spec: {command: [echo], env: {SIZE: \"${string(var.size * 2)}\"}}\n\
         \u{20}  └ 4              project.garden.yml:6  * 2025-11-18 Grace  size: 4\n\
         \u{20} last change: project.garden.yml:6 by Grace on 2025-11-18, *: more \\u{1b}[31mof it\n"
    );
    // An uncommitted line has no author, and does not affect other lines.
    repository
        .write("project.garden.yml", &PROJECT.replace("variables:\n  size: 3", "variables:\n  # more\n  size: 5"));
    let told = repository.told(&["why", "run.scale", "spec.env.SIZE", "--blame"]);
    assert!(told.contains("project.garden.yml:7  not committed"), "{told}");
    assert!(told.contains("last change: project.garden.yml:7 is not committed"), "{told}");
    let told: Value =
        serde_json::from_str(&repository.told(&["why", "run.scale", "spec.env.SIZE", "--blame", "-o", "json"]))
            .unwrap();
    assert_eq!(told["made"]["blame"]["author"], "Ada");
    assert_eq!(told["made"]["inputs"][0]["blame"], Value::Null);
    assert!(told["made"]["inputs"][0].as_object().unwrap().contains_key("blame"));
    // Without the option there is no authorship, and a revision has the lines of its time.
    let plain: Value =
        serde_json::from_str(&repository.told(&["why", "run.scale", "spec.env.SIZE", "-o", "json"])).unwrap();
    assert!(plain["made"].get("blame").is_none());
    let told = repository.told(&["why", "run.scale", "spec.env.SIZE", "--blame", "--rev", "HEAD~1"]);
    assert!(told.contains("= \"6\"") && told.contains("Ada") && !told.contains("Grace"), "{told}");
    // All fields of a node, each with its author.
    let all = repository.told(&["why", "test.unit", "--blame"]);
    assert!(all.lines().any(|line| line.starts_with("spec.command.1 ") && line.ends_with("2024-03-01 Ada")), "{all}");
}

#[test]
fn clones_and_work_trees_have_a_history_too() {
    let Some(repository) = shop("clones") else { return };
    let url = format!("file://{}", repository.path().display());
    git(&repository.0, &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    let ask = ["why", "run.scale", "spec.env.SIZE", "--blame"];
    let (told, err, code) = repository.purlin_in(&repository.0.join("shallow"), &ask);
    assert_eq!(code, Some(0), "{err}");
    // Every line seems to belong to the only available commit.
    assert!(told.lines().skip(1).take(2).all(|line| line.contains('^') && line.contains("Grace")), "{told}");
    git(&repository.path(), &["worktree", "add", "--quiet", "--detach", "../tree", "HEAD~1"]);
    let (told, err, code) = repository.purlin_in(&repository.0.join("tree"), &ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(told.contains("= \"6\"") && told.contains("Ada"), "{told}");
    // A file that only claims to belong to another repository is not followed.
    let liar = repository.0.join("liar");
    std::fs::create_dir_all(liar.join("fake")).unwrap();
    std::fs::copy(repository.path().join("garden.yml"), liar.join("garden.yml")).unwrap();
    std::fs::write(liar.join("project.garden.yml"), PROJECT).unwrap();
    std::fs::write(liar.join(".git"), "gitdir: fake\n").unwrap();
    std::fs::write(liar.join("fake/gitdir"), "../.git\n").unwrap();
    std::fs::write(liar.join("fake/commondir"), format!("{}\n", repository.path().join(".git").display())).unwrap();
    std::fs::write(liar.join("fake/HEAD"), "ref: refs/heads/main\n").unwrap();
    let (_, err, code) = repository.purlin_in(&liar, &ask);
    assert_eq!(
        (code, err.as_str()),
        (
            Some(5),
            "error: cannot read the history of `.`: its `.git` is a file that names the repository of another folder\n"
        )
    );
}

#[test]
fn nothing_of_the_repository_is_obeyed() {
    let Some(repository) = shop("hostile") else { return };
    let canary = repository.0.join("canary");
    let touch = format!("touch {}", canary.display());
    std::fs::write(repository.0.join("included"), format!("[core]\n\tfsmonitor = {touch}\n\tpager = {touch}\n"))
        .unwrap();
    let included = repository.0.join("included").display().to_string();
    for (key, value) in [
        ("include.path", included.as_str()),
        ("core.fsmonitor", &touch),
        ("core.pager", &touch),
        ("diff.x.textconv", &touch),
        ("filter.x.smudge", &touch),
        ("filter.x.clean", &touch),
        ("blame.ignoreRevsFile", "/dev/full"),
    ] {
        git(&repository.path(), &["-c", "core.fsmonitor=false", "config", key, value]);
    }
    repository.write(".gitattributes", "*.yml diff=x filter=x\n");
    std::fs::write(repository.path().join(".git/info/attributes"), "*.yml diff=x filter=x\n").unwrap();
    let told = repository.told(&["why", "run.scale", "spec.env.SIZE", "--blame"]);
    assert!(told.contains("Grace"), "{told}");
    assert!(!canary.exists());
}

#[test]
fn what_a_change_affects_is_run() {
    let Some(repository) = shop("since") else { return };
    let plan = |args: &[&str]| repository.told(&[args, &["--since", "HEAD", "--dry-run"]].concat());
    assert_eq!(plan(&["test"]), "0 of 0 would run; nothing was run\n");
    repository.write("api/main.py", "two\n");
    assert_eq!(
        plan(&["test"]),
        "build.api  changed since HEAD: api/main.py\n\
         test.unit  changed since HEAD: it depends on build.api\n2 of 2 would run; nothing was run\n"
    );
    repository.write("other/new.py", "two\n");
    let told = plan(&["test"]);
    assert!(told.contains("test.other  changed since HEAD: other/new.py\n"), "{told}");
    assert_eq!(plan(&["run", "scale"]), "0 of 0 would run; nothing was run\n");
    repository.write("project.garden.yml", &PROJECT.replace("size: 3", "size: 7"));
    assert!(plan(&["run", "*"]).starts_with("run.scale  changed since HEAD: project.garden.yml:6\n"));
    let json: Value = serde_json::from_str(&plan(&["run", "*", "-o", "json"])).unwrap();
    assert_eq!(json["plan"][0]["reason"], "affected");
    let (_, err, code) = repository.purlin(&["test", "unit", "other", "--since", "HEAD"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.starts_with(
            "test.unit: changed since HEAD: it depends on build.api\ntest.other: changed since HEAD: other/new.py\n"
        ),
        "{err}"
    );
    repository.commit("Ada", "2025-12-01T00:00:00+0000", "all");
    let (_, err, code) = repository.purlin(&["test", "--since", "HEAD"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.starts_with("no action is affected by changes since HEAD\n") && !err.contains("echo"), "{err}");
    // A revision without the project, and one that does not exist.
    repository.write("inner/project.garden.yml", &PROJECT.replace("shop", "inner"));
    repository.write("inner/garden.yml", "kind: Run\nname: new\ntype: exec\nspec: {command: [echo, new]}\n");
    let told = plan(&["run", "new", "--path", "inner"]);
    assert_eq!(told, "run.new  changed since HEAD: the project is new\n1 of 1 would run; nothing was run\n");
    let (_, err, code) = repository.purlin(&["test", "--since", "nowhere"]);
    assert_eq!((code, err.as_str()), (Some(5), "error: cannot read `.` at `nowhere`: it has no revision `nowhere`\n"));
}

#[test]
fn services_charts_and_skaffold_projects_know_what_changed() {
    if !has_git() {
        purlin_skipped::skipped("git");
        return;
    }
    let repository = Repository::new("kinds");
    let service = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    web:\n      \
                   type: tosca.nodes.Root\n      interfaces: {Standard: {operations: {create: up.sh}}}\n";
    repository.write("service/service.yaml", service);
    repository.write("service/up.sh", "echo up\n");
    let skaffold = "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {name: shop}\nbuild:\n  artifacts:\n    \
                    - {image: api, context: api}\n    - {image: web, context: web}\nmanifests: {rawYaml: [k8s.yaml]}\n";
    repository.write("skaffold/skaffold.yaml", skaffold);
    for image in ["api", "web"] {
        repository.write(&format!("skaffold/{image}/Dockerfile"), "FROM scratch\n");
    }
    repository.write("skaffold/k8s.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n");
    repository.commit("Ada", "2025-01-01T00:00:00+0000", "all");
    let plan = |command: &str, path: &str| repository.told(&[command, "--path", path, "--since", "HEAD", "--dry-run"]);
    assert!(plan("deploy", "service").starts_with("0 of 0"));
    repository.write("service/up.sh", "echo more\n");
    assert!(plan("deploy", "service").starts_with("deploy.service  changed since HEAD: service/up.sh\n"));
    assert!(plan("build", "skaffold").starts_with("0 of 0"));
    repository.write("skaffold/web/Dockerfile", "FROM scratch\nLABEL a=b\n");
    let told = plan("build", "skaffold");
    assert!(
        told.contains("build.web  changed since HEAD: skaffold/web/Dockerfile\n") && !told.contains("build.api"),
        "{told}"
    );
    repository.commit("Ada", "2025-01-02T00:00:00+0000", "web");
    repository.write(
        "skaffold/skaffold.yaml",
        &skaffold.replace("{image: api, context: api}", "{image: api, context: api, docker: {target: x}}"),
    );
    let told = plan("build", "skaffold");
    assert!(told.contains("build.api") && !told.contains("build.web"), "{told}");
}
