//! Output on terminals of 80, 100 and 120 columns, created by `script`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: a}]\n---\nkind: Run\n\
                       type: exec\nname: bad\ninclude: []\nspec: {shell: true, command: [\"echo one; exit 3\"]}\n---\nkind: Run\n\
                       type: exec\nname: slow\ninclude: []\nspec: {shell: true, command: [\"echo begun; sleep 60\"]}\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Option<Self> {
        if Command::new("script").arg("--version").output().is_err() {
            purlin_skipped::skipped("terminal");
            return None;
        }
        let path = std::env::temp_dir().join(format!("purlin-terminal-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("garden.yml"), PROJECT).unwrap();
        Some(Folder(path))
    }

    /// Runs a command line on a terminal with `columns` columns.
    fn on_terminal(&self, columns: usize, arguments: &str) -> Command {
        let line = format!("stty cols {columns} rows 40; {} {arguments}", env!("CARGO_BIN_EXE_purlin"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env_remove("CI").env_remove("NO_COLOR").env("TERM", "xterm").env("PAGER", "cat");
        command
    }

    fn shown(&self, columns: usize, arguments: &str) -> String {
        let out = self.on_terminal(columns, arguments).output().unwrap();
        String::from_utf8_lossy(&out.stdout).replace("\r\n", "\n")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A text without its colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &after[end + 1..]);
    }
    out + rest
}

#[test]
fn answers_have_colours_and_fit() {
    let Some(folder) = Folder::new("answers") else { return };
    for columns in [80, 100, 120] {
        for arguments in ["explain tosca-constraint", "explain action-failed", "deploy -h", "check --help", "status"] {
            let shown = folder.shown(columns, arguments);
            assert!(shown.contains("\u{1b}["), "{arguments} has no colours: {shown}");
            let code = |line: &&str| !line.starts_with("    ") && !line.contains("purlin ");
            let plain = plain(&shown);
            let long = plain.lines().filter(code).find(|line| line.chars().count() > columns);
            assert_eq!(long, None, "{arguments} at {columns}");
        }
        let check = folder.shown(columns, "check");
        assert!(check.contains("\u{1b}[32mno errors\u{1b}[0m"), "{check}");
        let resolved = folder.shown(columns, "resolve run.bad");
        assert!(resolved.contains("\u{1b}[36mspec\u{1b}[0m:"), "{resolved}");
        let plan = folder.shown(columns, "run bad --dry-run");
        assert!(plan.contains("\u{1b}[33mnew: it never ran\u{1b}[0m"), "{plan}");
    }
}

#[test]
fn a_failure_is_told_once() {
    let Some(folder) = Folder::new("failure") else { return };
    let shown = plain(&folder.shown(100, "run bad"));
    assert_eq!(shown.matches("exit code 3").count(), 1, "{shown}");
    assert_eq!(shown.matches("last output").count(), 0, "{shown}");
}

/// The final screen: lines that were not overwritten.
fn screen(output: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let (mut row, mut rest) = (0usize, output);
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\u{1b}[") {
            let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
            let count = after[..end].parse().unwrap_or(1);
            match &after[end..=end] {
                "A" => row = row.saturating_sub(count),
                "B" => row = (row + count).min(lines.len() - 1),
                "K" => lines[row].clear(),
                _ => {}
            }
            rest = &after[end + 1..];
            continue;
        }
        match c {
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            '\r' => {}
            c => lines[row].push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn no_spinner_stays_after_an_interrupt() {
    use std::io::Write;
    let Some(folder) = Folder::new("interrupt") else { return };
    let mut child = folder.on_terminal(100, "run slow").spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let log = |folder: &Path| {
        std::fs::read_dir(folder.join(".purlin/logs"))
            .into_iter()
            .flatten()
            .flatten()
            .any(|file| std::fs::read_to_string(file.path()).is_ok_and(|text| text.contains("begun")))
    };
    while !log(&folder.0) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"\x03").unwrap();
    input.flush().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    drop(input);
    let out = child.wait_with_output().unwrap();
    let raw = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(!raw.contains("^C"), "{raw:?}");
    let shown = screen(&raw);
    assert!(shown.iter().any(|line| line.contains("stopped")), "{shown:?}");
    assert!(shown.iter().all(|line| !line.contains("running")), "{shown:?}");
}
