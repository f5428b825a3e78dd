//! `--rev` and `--to-rev`: a project as it was at a git revision.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod git;

use git::{git, has_git};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository with a project in a folder, and a cache; removed at the end.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-revisions-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("repository/shop")).unwrap();
        let repository = Repository(folder);
        git(&repository.path(), &["init", "--quiet"]);
        repository
    }

    fn path(&self) -> PathBuf {
        self.0.join("repository")
    }

    /// A project with one action that prints a word.
    fn say(&self, word: &str) {
        let text = format!(
            "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{{name: local}}]\n---\n\
             kind: Run\ntype: exec\nname: hello\nspec:\n  command: [echo, {word}]\n"
        );
        std::fs::write(self.path().join("shop/garden.yml"), text).unwrap();
    }

    fn commit(&self) {
        git(&self.path(), &["add", "."]);
        git(&self.path(), &["commit", "--quiet", "-m", "x"]);
    }

    fn purlin(&self, args: &[&str]) -> Output {
        let cache = self.0.join("cache");
        let purlin = Path::new(env!("CARGO_BIN_EXE_purlin"));
        Command::new(purlin).args(args).current_dir(self.path()).env("XDG_CACHE_HOME", cache).output().unwrap()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_changed_since_a_revision() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("diff");
    for word in ["one", "two"] {
        repository.say(word);
        repository.commit();
    }
    repository.say("three");
    for (args, before, after) in [
        (&["diff", "shop", "--rev", "HEAD"][..], "two", "three"),
        (&["diff", "shop", "--rev", "HEAD~1", "--to-rev", "HEAD"], "one", "two"),
        (&["diff", "shop", "--to-rev", "HEAD~1"], "three", "one"),
    ] {
        let out = repository.purlin(args);
        assert_eq!(out.status.code(), Some(1), "{args:?} {}", text(&out.stderr));
        let told = text(&out.stdout);
        let place = "shop/garden.yml:10:19\n  run.hello spec.command.1\n";
        assert_eq!(told, format!("{place}    - \"{before}\"\n    + \"{after}\"\n"));
    }
    let same = repository.purlin(&["diff", "shop", "--rev", "HEAD", "--to-rev", "HEAD"]);
    assert_eq!((same.status.code(), text(&same.stdout)), (Some(0), String::new()));
}

#[test]
fn every_command_reads_a_revision() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("resolve");
    repository.say("one");
    repository.commit();
    repository.say("two");
    let out = repository.purlin(&["resolve", "shop", "--rev", "HEAD"]);
    assert!(text(&out.stdout).contains("- one"), "{}", text(&out.stderr));
    assert!(text(&repository.purlin(&["resolve", "shop"]).stdout).contains("- two"));
}

#[test]
fn what_is_not_there_is_said() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("missing");
    repository.say("one");
    repository.commit();
    std::fs::create_dir_all(repository.path().join("new")).unwrap();
    for (args, why) in [
        (["resolve", "shop", "--rev", "v9"], "cannot read `shop` at `v9`: it has no revision `v9`"),
        (["resolve", "new", "--rev", "HEAD"], "cannot read `new` at `HEAD`: it is not in that revision"),
        (["resolve", "shop", "--rev", "a..b"], "cannot read `shop` at `a..b`: `a..b` is not a branch, tag or commit"),
    ] {
        let out = repository.purlin(&args);
        assert_eq!(out.status.code(), Some(5), "{args:?}");
        assert_eq!(text(&out.stderr), format!("error: {why}\n"));
        assert_eq!(text(&out.stdout), "");
    }
}

#[test]
fn nothing_of_a_repository_is_run_to_read_it() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("hostile");
    repository.say("one");
    std::fs::write(repository.path().join("shop/other.txt"), "missing").unwrap();
    repository.commit();
    // A partial clone that would fetch a blob from its origin, by a command of its own.
    let canary = repository.0.join("canary");
    let command = format!("touch {}; git-upload-pack", canary.display());
    for (key, value) in [
        ("protocol.file.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("remote.origin.url", &format!("file://{}", repository.path().display())),
        ("remote.origin.uploadpack", &command),
    ] {
        git(&repository.path(), &["config", key, value]);
    }
    let id = Command::new("git").args(["rev-parse", "HEAD:shop/other.txt"]).current_dir(repository.path()).output();
    let id = text(&id.unwrap().stdout).trim().to_owned();
    std::fs::remove_file(repository.path().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let out = repository.purlin(&["resolve", "shop", "--rev", "HEAD"]);
    assert!(!canary.exists(), "{}", text(&out.stderr));
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stderr));
}

/// Files named in a repository's settings are not even opened: reading a pipe would block.
#[test]
#[cfg(unix)]
fn settings_of_a_repository_are_not_read() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("settings");
    for word in ["one", "two"] {
        repository.say(word);
        repository.commit();
    }
    let pipe = repository.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let settings = repository.path().join(".git/config");
    let text_before = std::fs::read_to_string(&settings).unwrap();
    let include = format!("{text_before}[include]\n\tpath = {}\n", pipe.display());
    std::fs::write(&settings, include).unwrap();
    for name in ["attributes", "alternates"] {
        let _ = std::fs::create_dir_all(repository.path().join(".git/info"));
        let _ = std::os::unix::fs::symlink(&pipe, repository.path().join(".git/info").join(name));
    }
    for (revision, word) in [("HEAD", "two"), ("HEAD~1", "one"), ("HEAD@{1}", "one")] {
        let out = repository.purlin(&["resolve", "shop", "--rev", revision]);
        assert!(text(&out.stdout).contains(&format!("- {word}")), "{revision}: {}", text(&out.stderr));
    }
}

/// A `.git` file counts only if the folder that it names belongs to this one.
#[test]
fn a_work_tree_is_read_and_a_strangers_repository_is_not() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("worktree");
    repository.say("one");
    repository.commit();
    let tree = repository.0.join("tree");
    git(&repository.path(), &["worktree", "add", "--quiet", &tree.to_string_lossy()]);
    let run = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(["resolve", "shop", "--rev", "HEAD"]).current_dir(folder);
        command.env("XDG_CACHE_HOME", repository.0.join("cache")).output().unwrap()
    };
    let out = run(&tree);
    assert!(text(&out.stdout).contains("- one"), "{}", text(&out.stderr));
    let thief = repository.0.join("thief");
    std::fs::create_dir_all(thief.join("shop")).unwrap();
    // A folder of its own that names it in turn, and leads on to the repository.
    let own = thief.join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("HEAD"), "ref: refs/heads/tree\n").unwrap();
    std::fs::write(own.join("gitdir"), format!("{}\n", thief.join(".git").display())).unwrap();
    std::fs::write(own.join("commondir"), format!("{}\n", repository.path().join(".git").display())).unwrap();
    for named in [repository.path().join(".git"), repository.path().join(".git/worktrees/tree"), own] {
        std::fs::write(thief.join(".git"), format!("gitdir: {}\n", named.display())).unwrap();
        let out = run(&thief);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(5), String::new()), "{named:?}");
        assert!(text(&out.stderr).contains("names the repository of another folder"), "{}", text(&out.stderr));
    }
}

#[test]
fn a_revision_in_the_cache_stays_as_it_is() {
    if !has_git() {
        return;
    }
    let repository = Repository::new("cache");
    repository.say("one");
    repository.commit();
    // The cache's path contains a link.
    std::fs::create_dir_all(repository.0.join("elsewhere")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(repository.0.join("elsewhere"), repository.0.join("cache")).unwrap();
    let out = repository.purlin(&["resolve", "shop", "--rev", "HEAD", "--allow-write"]);
    assert!(text(&out.stdout).contains("- one"), "{}", text(&out.stderr));
    let again = repository.purlin(&["resolve", "shop", "--rev", "HEAD"]);
    assert_eq!(out.stdout, again.stdout);
}

/// A modified copy, or one that a crash left incomplete, is laid out again.
#[test]
fn a_damaged_copy_is_not_believed() {
    if !has_git() {
        purlin_skipped::skipped("git");
        return;
    }
    let repository = Repository::new("damaged");
    repository.say("one");
    repository.commit();
    let resolve = || text(&repository.purlin(&["resolve", "shop", "--rev", "HEAD"]).stdout);
    let first = resolve();
    assert!(first.contains("one"), "{first}");
    for damage in [
        |file: &Path| std::fs::write(file, std::fs::read_to_string(file).unwrap().replace("one", "two")).unwrap(),
        |file: &Path| std::fs::remove_file(file).unwrap(),
        |file: &Path| std::fs::write(file.with_file_name("more.garden.yml"), "kind: Run\n").unwrap(),
    ] {
        damage(&find(&repository.0.join("cache"), "garden.yml"));
        assert_eq!(resolve(), first);
    }
}

fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == name {
                return entry.path();
            }
        }
    }
    panic!("there is no {name} below {}", folder.display());
}

#[test]
fn suites_of_charts_that_have_not_changed_are_left_out() {
    if !has_git() {
        return purlin_skipped::skipped("git");
    }
    let repository = Repository::new("verify-since");
    let chart = |name: &str, dependency: &str| {
        let folder = repository.path().join(name);
        std::fs::create_dir_all(folder.join("templates")).unwrap();
        std::fs::create_dir_all(folder.join("tests")).unwrap();
        let meta = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n{dependency}");
        std::fs::write(folder.join("Chart.yaml"), meta).unwrap();
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n";
        std::fs::write(folder.join("templates/one.yaml"), map).unwrap();
        let suite = "templates: [one.yaml]\ntests:\n  - it: renders\n    asserts: [{ isKind: { of: ConfigMap } }]\n";
        std::fs::write(folder.join("tests/one_test.yaml"), suite).unwrap();
    };
    chart("base", "");
    chart("web", "dependencies: [{ name: base, version: 1.0.0, repository: file://../base }]\n");
    chart("other", "");
    repository.commit();
    let run = || text(&repository.purlin(&["verify", "--only-tests", "--since", "HEAD"]).stderr);
    let said = run();
    assert!(said.contains("3 charts unchanged"), "{said}");
    // A chart depends on those that it takes in.
    std::fs::write(repository.path().join("base/values.yaml"), "a: 1\n").unwrap();
    let said = run();
    assert!(said.contains("2 suites") && said.contains("1 chart unchanged"), "{said}");
    let all = text(&repository.purlin(&["verify", "--only-tests"]).stderr);
    assert!(all.contains("3 suites") && !all.contains("unchanged"), "{all}");
}
