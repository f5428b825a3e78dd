//! The program as a process: streams, exit codes, signals, threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-process-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn purlin(cwd: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_purlin")).args(args).current_dir(cwd).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_codes_and_streams() {
    let folder = Folder::new("codes");
    folder.write("good/Chart.yaml", "apiVersion: v2\nname: good\nversion: 1.0.0\n");
    folder.write("bad/skaffold.yaml", "apiVersion: skaffold/v4beta14\nkind: Config\nkind: Config\n");
    folder.write("none/a.yaml", "a: 1\n");
    let code = |args: &[&str]| purlin(&folder.0, args).status.code();
    assert_eq!(code(&["check", "good"]), Some(0));
    assert_eq!(code(&["check", "bad"]), Some(1));
    assert_eq!(code(&["check", "none"]), Some(1), "nothing found is not success");
    assert_eq!(code(&["chek"]), Some(2));
    assert_eq!(code(&["check", "good", "--limit", "file-size=2"]), Some(3));
    assert_eq!(code(&["check", "missing"]), Some(5));
    let bad = purlin(&folder.0, &["check", "bad"]);
    assert_eq!(text(&bad.stdout), "", "problems are not data");
    assert!(text(&bad.stderr).contains("duplicate-key"));
    let moved = purlin(&folder.0, &["-C", "good", "check", "-o", "json"]);
    assert!(text(&moved.stdout).contains("\"errors\":0,\"warnings\":0"), "{}", text(&moved.stdout));
}

/// Evaluation and the allocator reserve address space: if the system grants less, that is reported.
#[cfg(unix)]
#[test]
fn too_little_address_space_is_said() {
    let folder = Folder::new("space");
    folder.write("Chart.yaml", "apiVersion: v2\nname: good\nversion: 1.0.0\n");
    let mut refused = 0;
    // Where the program itself does not fit, the system's loader fails before it begins.
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_purlin")).unwrap().len() / 1024;
    for kib in [1_200_000, 600_000, 300_000, 200_000, 100_000].into_iter().filter(|kib| *kib > program) {
        let line = format!("ulimit -v {kib} && exec {} check", env!("CARGO_BIN_EXE_purlin"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(&folder.0).output().unwrap();
        let said = text(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(5) if said.contains("gives no stack of 256 MiB") => refused += 1,
            other => panic!("with {kib} KiB: {other:?} {said}"),
        }
    }
    assert!(refused > 0, "256 MiB do not fit into the smallest of these");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = Folder::new("colours");
    folder.write("a.yaml", "a: 1\na: 2\n");
    let has_colour = |args: &[&str]| text(&purlin(&folder.0, args).stderr).contains('\u{1b}');
    assert!(!has_colour(&["check"]), "a pipe is no terminal");
    assert!(has_colour(&["check", "--color", "always"]));
    assert!(!has_colour(&["check", "--color", "never"]));
}

#[test]
fn terminal_escapes_from_input_are_spelled_out() {
    let folder = Folder::new("escapes");
    folder.write("a.yaml", "\"\\e[31mx\": 1\n\"\\e[31mx\": 2\n");
    let out = purlin(&folder.0, &["check"]);
    assert!(!text(&out.stderr).contains('\u{1b}'), "{}", text(&out.stderr));
}

#[test]
fn any_number_of_threads_says_the_same() {
    let folder = Folder::new("threads");
    for at in 0..200 {
        let name = format!("{}/{at}.yaml", at % 7);
        folder.write(&name, &format!("a: {at}\nb: [1, 2\n---\nc: 1\nc: {at}\n"));
    }
    let one = purlin(&folder.0, &["check", "--threads", "1"]);
    for threads in ["2", "8"] {
        let many = purlin(&folder.0, &["check", "--threads", threads]);
        assert_eq!(text(&one.stderr), text(&many.stderr));
        assert_eq!(one.status.code(), many.status.code());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new("pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(["completions", "bash"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(!text(&out.stderr).contains("panicked"), "{}", text(&out.stderr));
}

#[cfg(unix)]
#[test]
fn signals_stop_it_at_once() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new("signals");
    for at in 0..3_000 {
        folder.write(&format!("{at}.yaml"), &"a: [{b: c}, \"d\", &x e, *x]\n".repeat(60).replace("a:", "- a:"));
    }
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        let child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(["check", "--threads", "1"])
            .current_dir(&folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let out = child.wait_with_output().unwrap();
        // The program does not handle the signal, so the system ends it: shells show 130 or 143.
        assert_eq!(out.status.signal(), Some(number));
    }
}
