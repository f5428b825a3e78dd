//! The `git` of this machine, for tests that make repositories on the spot.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder, without the settings of this machine and user; returns its output.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let run = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"])
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).trim().to_owned()
}

/// Whether git is installed for the tests; its absence is reported, not hidden.
pub fn has_git() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok();
    if !found {
        println!("note: `git` is not installed, so this test does nothing");
    }
    found
}
