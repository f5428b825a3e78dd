//! A project with secrets in it, and what to ask of it.

use std::path::{Path, PathBuf};

/// A project with secrets in it.
#[derive(Default)]
pub struct Project {
    /// Its files.
    pub files: Vec<(String, String)>,
    /// What every command is given.
    pub options: Vec<String>,
    /// The secrets.
    pub canaries: Vec<String>,
    /// How many values are made from secrets.
    pub values: usize,
    /// Nodes and fields to be explained.
    pub fields: Vec<(String, String)>,
    /// Expressions to be evaluated, each with the node it is evaluated on.
    pub expressions: Vec<(Option<String>, String)>,
    /// Commands of the original tool that do not print what is secret there.
    pub originals: Vec<Vec<String>>,
    /// Whether it has problems, so that nothing needs to be resolved.
    pub broken: bool,
}

impl Project {
    pub fn file(&mut self, path: &str, text: impl Into<String>) {
        self.files.push((path.to_owned(), text.into()));
    }

    /// Writes it down, with a copy beside it whose secrets are others.
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

/// A folder that is removed when it is done with.
pub struct Folder(PathBuf);

impl Folder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A left-over folder in the system's scratch space harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
