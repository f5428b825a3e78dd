//! A project with secrets, and the commands to run on it.

use std::path::{Path, PathBuf};

/// A project with secrets in it.
#[derive(Default)]
pub struct Project {
    /// Its files.
    pub files: Vec<(String, String)>,
    /// Options of every command.
    pub options: Vec<String>,
    /// The secrets.
    pub canaries: Vec<String>,
    /// Number of values computed from secrets.
    pub values: usize,
    /// Nodes and fields to explain.
    pub fields: Vec<(String, String)>,
    /// Expressions to evaluate, each with its node.
    pub expressions: Vec<(Option<String>, String)>,
    /// Commands of the original tool that hide these secrets.
    pub originals: Vec<Vec<String>>,
    /// Whether it has problems, so that nothing needs to be resolved.
    pub broken: bool,
}

impl Project {
    pub fn file(&mut self, path: &str, text: impl Into<String>) {
        self.files.push((path.to_owned(), text.into()));
    }

    /// Writes it to disk, with a second copy that has other secrets.
    pub fn lay_out(&self, name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("purlin-canaries-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for side in ["one", "two"] {
            for (path, text) in &self.files {
                let text = if side == "one" { text.clone() } else { self.swapped(text) };
                let path = folder.join(side).join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
        }
        Folder(folder.canonicalize().unwrap())
    }

    /// The other side of a comparison: each secret with its end changed.
    fn swapped(&self, text: &str) -> String {
        let plain = self.canaries.iter().filter(|canary| canary.starts_with('Q'));
        plain.fold(text.to_owned(), |text, canary| text.replace(canary.as_str(), &canary[..canary.len() - 1]))
    }
}

/// A folder that is removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder in the system's temporary files is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
