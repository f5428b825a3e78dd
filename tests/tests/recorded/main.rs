//! The terminal session on the front page, recorded from the program itself, so that it is always correct.
//!
//! `UPDATE=1` records it again. The shop of `examples/storefront` is copied into a repository of its own, and changed
//! there.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod picture;

use picture::Scene;
use purlin_suite::{Scratch, environment, run, top, updating};
use std::path::Path;
use std::process::Command;

/// One command of the session, with the change made before it.
struct Step {
    remark: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    command: &'static str,
}

#[rustfmt::skip]
const STEPS: &[Step] = &[
    Step {
        remark: "Why does the API run twelve times in production?",
        file: "", from: "", to: "",
        command: "why deploy.api/Deployment/api-api spec.replicas -e production",
    },
    Step {
        remark: "production.yml now says `replicas: 8`. What does that change?",
        file: "production.yml", from: "replicas: 6", to: "replicas: 8",
        command: "diff --rev HEAD",
    },
    Step {
        remark: "production.yml now says `database: huge`. Is that all right?",
        file: "production.yml", from: "database: large", to: "database: huge",
        command: "check",
    },
];

#[test]
fn the_session_on_the_front_page_is_what_the_program_prints() {
    if Command::new("git").arg("--version").output().is_err() {
        return purlin_skipped::skipped("git");
    }
    let (scratch, home) = (Scratch::new("recorded").unwrap(), Scratch::new("recorded-home").unwrap());
    copy(&top().join("examples/storefront"), scratch.path());
    commit(scratch.path());
    let scenes: Vec<Scene> = STEPS.iter().map(|step| play(step, scratch.path(), home.path())).collect();
    let picture = picture::drawn(&scenes);
    let file = top().join("docs/session.svg");
    if updating() {
        std::fs::write(&file, &picture).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == picture, "docs/session.svg is not what the program prints: UPDATE=1 records it anew");
}

fn play(step: &Step, folder: &Path, home: &Path) -> Scene {
    if !step.file.is_empty() {
        let file = folder.join(step.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(step.from), "{}: {text}", step.file);
        std::fs::write(file, text.replace(step.from, step.to)).unwrap();
    }
    let args: Vec<String> = format!("--color always {}", step.command).split(' ').map(str::to_owned).collect();
    let ran = run(&args, folder, &environment(&format!("HOME={}", home.display())));
    Scene { remark: step.remark, command: format!("purlin {}", step.command), output: ran.stdout + &ran.stderr }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if name.to_string_lossy().starts_with('.') => {}
            true => copy(&path, &to.join(name)),
            false => drop(std::fs::copy(path, to.join(name)).unwrap()),
        }
    }
}

fn commit(folder: &Path) {
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "the shop"]] {
        let options = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").args(options).args(args).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
