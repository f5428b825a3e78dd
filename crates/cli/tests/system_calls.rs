//! System calls of the process while it reads configuration: no program is run, no connection is opened, no file
//! outside the project is opened. Observed by `strace`, independently of our own code.
//!
//! Runs over the examples and a sample of the recorded projects; `PURLIN_STRACE=all` uses every recorded project, and
//! `PURLIN=PATH` another program.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Files that every Rust program opens when it starts: shared libraries, its own memory map, the number of processors.
const SYSTEM: &[&str] = &["/lib", "/usr/lib", "/etc/ld.so", "/proc/", "/sys/", "/dev/null", "pipe:", "/dev/pts"];

/// One of this many recorded projects is used.
const SAMPLE: usize = 80;

/// A command's arguments for a project.
type Arguments = fn(&str) -> Vec<String>;

const COMMANDS: &[Arguments] = &[
    |path| args(&["check", path]),
    |path| args(&["resolve", path]),
    |path| args(&["render", path]),
    |path| args(&["graph", path]),
    |path| args(&["eval", "1", path]),
    |path| args(&["why", "a", "b", "--path", path]),
    |path| args(&["diff", path, "-e", "a", "--to-env", "b"]),
];

fn args(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Folders below a folder that contain a project, by the name of a file in them.
fn projects(folder: &Path) -> Vec<PathBuf> {
    let is_project = |name: &str| {
        name == "Chart.yaml"
            || name.starts_with("skaffold.y")
            || name.starts_with("ensemble.y")
            || name.contains("garden.y")
            || name.starts_with("service")
    };
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let entries: Vec<_> = entries.flatten().collect();
        if entries.iter().any(|entry| is_project(&entry.file_name().to_string_lossy())) {
            found.push(folder);
        }
        let is_real = |entry: &&std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        folders.extend(entries.iter().filter(is_real).map(std::fs::DirEntry::path));
    }
    found.sort();
    found
}

/// The lines of a trace that are not allowed.
fn offences(trace: &str, allowed: &[&Path]) -> Vec<String> {
    let mut first_exec = true;
    let is_offence = |line: &&str| {
        if line.contains("execve(") {
            return !std::mem::replace(&mut first_exec, false);
        }
        if line.contains("connect(") || line.contains("socket(") {
            return true;
        }
        // `… = 3</where/it/really/is>`; a failed open reveals nothing.
        let Some((_, opened)) = line.rsplit_once("= ").and_then(|(_, end)| end.split_once('<')) else { return false };
        let is_ours = allowed.iter().any(|folder| Path::new(opened.trim_end_matches('>')).starts_with(folder));
        !is_ours && !SYSTEM.iter().any(|start| opened.starts_with(start))
    };
    trace.lines().filter(is_offence).map(str::to_owned).collect()
}

#[test]
fn reading_configuration_touches_nothing_else() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        purlin_skipped::skipped("system calls");
        return;
    }
    let checkout = checkout();
    let mut found = projects(&checkout.join("examples"));
    let recorded = checkout.join("../shared/conformance");
    match recorded.is_dir() {
        true => {
            let step = if std::env::var("PURLIN_STRACE").as_deref() == Ok("all") { 1 } else { SAMPLE };
            found.extend(projects(&recorded.canonicalize().unwrap()).into_iter().step_by(step));
        }
        false => eprintln!("skipped in part: there are no recorded projects beside the checkout"),
    }
    let program = std::env::var_os("PURLIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_purlin").into());
    let trace = std::env::temp_dir().join(format!("purlin-strace-{}", std::process::id()));
    let mut runs = 0;
    for project in &found {
        for command in COMMANDS {
            let status = Command::new("strace")
                .args(["-f", "-y", "-s", "4096", "-e", "trace=execve,connect,socket,open,openat,openat2,creat", "-o"])
                .arg(&trace)
                .arg(&program)
                .args(command(&project.to_string_lossy()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert_ne!(status.code(), Some(101), "{}", project.display());
            let text = String::from_utf8_lossy(&std::fs::read(&trace).unwrap()).into_owned();
            let told = offences(&text, &[&checkout, project, &recorded.canonicalize().unwrap_or_default()]);
            assert!(told.is_empty(), "{} {:?}:\n{}", project.display(), command("."), told.join("\n"));
            runs += 1;
        }
    }
    let _ = std::fs::remove_file(&trace);
    assert!(runs >= COMMANDS.len(), "no project was found");
    eprintln!("{runs} runs watched");
}

/// The check itself must detect violations.
#[test]
fn offences_are_seen() {
    let allowed = [Path::new("/project")];
    let clean = "1 execve(\"purlin\", [], 0x7 /* 1 var */) = 0\n\
                 1 openat2(3</project>, \"a.yaml\", {flags=O_RDONLY}, 24) = 4</project/a.yaml>\n\
                 1 openat(AT_FDCWD</x>, \"/etc/ld.so.cache\", O_RDONLY) = 3</etc/ld.so.cache>\n\
                 1 openat(AT_FDCWD</x>, \"/etc/passwd\", O_RDONLY) = -1 ENOENT (No such file)\n";
    assert!(offences(clean, &allowed).is_empty());
    for bad in [
        "1 openat(AT_FDCWD</x>, \"/etc/passwd\", O_RDONLY) = 3</etc/passwd>\n",
        "1 openat2(3</project>, \"link\", {flags=O_RDONLY}, 24) = 4</elsewhere>\n",
        "1 connect(3<TCP:[1]>, {sa_family=AF_INET}, 16) = 0\n",
        "1 execve(\"/bin/sh\", [], 0x7) = 0\n",
    ] {
        assert_eq!(offences(&format!("{clean}{bad}"), &allowed).len(), 1, "{bad}");
    }
}
