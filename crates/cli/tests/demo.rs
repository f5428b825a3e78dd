//! `purlin demo` without a container builder and without a cluster, and runs in folders whose names are not UTF-8.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An empty folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("purlin-demo-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("home")).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The exit code and both streams.
fn purlin(folder: &Folder, cwd: &Path, words: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
    command.args(words).current_dir(cwd).stdin(Stdio::null());
    let home = folder.0.join("home");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home);
    let ran = command.output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (ran.status.code().unwrap_or(-1), text)
}

fn good(folder: &Folder, words: &[&str]) -> String {
    let (code, text) = purlin(folder, &folder.0, words);
    assert_eq!(code, 0, "{words:?}\n{text}");
    text
}

#[test]
fn the_tour_checks_explains_builds_deploys_and_tests() {
    let folder = Folder::new("tour");
    let text = good(&folder, &["demo"]);
    for said in [
        "no container is built and no cluster is used",
        "$ purlin check\nstorefront (garden)",
        "spec.replicas = 12",
        "stand-in builder: these steps are shown, not run",
        "deploy.api: deployed",
        "storefront.localhost/health",
        "build.images/web: cached",
        "Now yours:",
    ] {
        assert!(text.contains(said), "`{said}` in\n{text}");
    }
    // A second process finds what the first has left, at an address of its own if need be.
    let status = good(&folder, &["demo", "purlin-demo", "--", "status"]);
    assert!(status.contains("deploy.web"), "{status}");
    let kept = std::fs::read_to_string(folder.0.join("purlin-demo/.purlin-demo/cluster.json")).unwrap();
    assert!(kept.contains("api-settings"), "{kept}");
    good(&folder, &["demo", "purlin-demo", "--", "cleanup", "--yes"]);
    let kept = std::fs::read_to_string(folder.0.join("purlin-demo/.purlin-demo/cluster.json")).unwrap();
    assert!(!kept.contains("api-settings"), "{kept}");
}

#[test]
fn a_folder_of_the_user_is_left_alone() {
    let folder = Folder::new("own");
    std::fs::create_dir_all(folder.0.join("own")).unwrap();
    std::fs::write(folder.0.join("own/notes.txt"), "mine").unwrap();
    let (code, text) = purlin(&folder, &folder.0, &["demo", "own"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("`own` is not empty"), "{text}");
    assert_eq!(std::fs::read_dir(folder.0.join("own")).unwrap().count(), 1);
    let (code, text) = purlin(&folder, &folder.0, &["demo", "new", "--", "statsu"]);
    assert_eq!(code, 2, "{text}");
}

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{ name: local }]\n\
                       providers: [{ name: exec }]\n---\nkind: Build\ntype: exec\nname: api\nsource: { path: src }\n\
                       include: [\"**\"]\nspec: { command: [sh, -c, \"cat *.txt | wc -c\"] }\n";

#[test]
fn names_that_are_not_utf_8_are_files_like_others() {
    let folder = Folder::new("names");
    let project = folder.0.join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir_all(project.join("src")).unwrap();
    std::fs::write(project.join("project.garden.yml"), PROJECT).unwrap();
    let source = project.join("src").join(OsStr::from_bytes(b"\xff.txt"));
    std::fs::write(&source, "12345").unwrap();
    let run = |words: &[&str]| {
        let (code, text) = purlin(&folder, &project, words);
        assert_eq!(code, 0, "{words:?}\n{text}");
        text
    };
    run(&["check"]);
    assert!(run(&["build"]).contains("| 5"));
    assert!(run(&["build"]).contains("1 cached"), "nothing has changed");
    std::fs::write(&source, "123").unwrap();
    assert!(run(&["build"]).contains("| 3"), "the content of the file counts");
    assert!(run(&["status"]).contains("build.api  done"));
}
