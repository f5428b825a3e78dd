//! Neovim's own client, where Neovim is installed: every dialect, headless.

use crate::{SMALL, folder, projects};
use std::process::Command;

#[test]
fn neovim() {
    if Command::new("nvim").arg("--version").output().is_err() {
        purlin_skipped::skipped("neovim");
        return;
    }
    let root = folder("lsp-neovim");
    projects::write(&root, &SMALL);
    let root = root.canonicalize().unwrap();
    let out = root.with_extension("txt");
    let _ = std::fs::remove_file(&out);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lsp/neovim.lua");
    let run = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-n", "-c", &format!("luafile {script}"), "-c", "qall!"])
        .env("PURLIN", env!("CARGO_BIN_EXE_purlin"))
        .env("PURLIN_ROOT", &root)
        .env("PURLIN_OUT", &out)
        .env("HOME", &root)
        .current_dir(&root)
        .output()
        .unwrap();
    let told = std::fs::read_to_string(&out).unwrap_or_default();
    let wrong: Vec<&str> = told.lines().filter(|line| !line.starts_with("ok ")).collect();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(wrong.is_empty(), "{wrong:#?}\n{said}");
    // Six checks in each of five dialects.
    assert_eq!(told.lines().count(), 30, "{told}\n{said}");
}
