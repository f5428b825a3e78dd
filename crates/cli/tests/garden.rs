//! Invalid Garden projects, as a process: the exit code, and nothing on stdout.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::process::Command;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-garden-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        for (name, text) in files {
            let file = path.join("project").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Folder(path)
    }

    /// Runs a command on the project: its exit code, and its stderr. Stdout must be empty, except for an incomplete
    /// graph.
    fn fails(&self, command: &str) -> (Option<i32>, String) {
        let purlin =
            Command::new(env!("CARGO_BIN_EXE_purlin")).arg(command).current_dir(self.0.join("project")).output();
        let out = purlin.unwrap();
        assert!(out.stdout.is_empty() || command == "graph", "{command} prints nothing partial");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const COMMANDS: &[&str] = &["check", "resolve", "graph"];

#[test]
fn a_value_of_twenty_megabytes() {
    let action = format!("kind: Run\ntype: exec\nname: a\nspec: {{command: [echo, {}]}}\n", "x".repeat(20 << 20));
    let folder = Folder::new("big", &[("project.garden.yml", PROJECT), ("a/garden.yml", &action)]);
    for command in COMMANDS {
        let (code, said) = folder.fails(command);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.starts_with("error[limit-file-size]: `a/garden.yml` has 20971"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read() {
    let folder = Folder::new("link", &[("project.garden.yml", PROJECT)]);
    std::os::unix::fs::symlink("nowhere.yml", folder.0.join("project/a.garden.yml")).unwrap();
    for command in COMMANDS {
        let (code, said) = folder.fails(command);
        assert!(matches!(code, Some(1 | 5)), "{code:?} {said}");
        assert!(said.contains("a.garden.yml"), "{said}");
    }
}

#[test]
fn a_path_that_leads_out_of_the_project() {
    let action = "kind: Run\ntype: exec\nname: a\nsource: {path: ../../outside}\nvarfiles: [../../secret.env]\n\
                  spec: {command: [echo, \"${var.PASSWORD}\"]}\n";
    let folder = Folder::new("outside", &[("project.garden.yml", PROJECT), ("a.garden.yml", action)]);
    std::fs::write(folder.0.join("secret.env"), "PASSWORD=canary\n").unwrap();
    for command in COMMANDS {
        let (code, said) = folder.fails(command);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("a.garden.yml:4:16") && said.contains("a.garden.yml:5:12"), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }
}
