//! Findings: each input in a separate file, and a line about its effect.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A folder of findings.
pub struct Findings {
    folder: PathBuf,
    told: HashSet<String>,
}

impl Findings {
    /// Uses a folder, created if missing.
    pub fn new(folder: &Path) -> Self {
        let _ = std::fs::create_dir_all(folder);
        Findings { folder: folder.to_owned(), told: HashSet::new() }
    }

    /// Whether this was not seen before; equal descriptions are the same finding.
    pub fn is_new(&mut self, what: &str) -> bool {
        self.told.insert(what.to_owned())
    }

    /// Keeps an input and reports its effect.
    pub fn keep(&self, target: &str, what: &str, input: &[u8]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        let name = format!("{target}-{:016x}", hasher.finish());
        let place = self.folder.join(format!("{name}.input"));
        let written = std::fs::write(&place, input)
            .and_then(|()| std::fs::write(self.folder.join(format!("{name}.txt")), format!("{what}\n")));
        if let Err(error) = written {
            eprintln!("cannot keep a finding in {}: {error}", self.folder.display());
        }
        place
    }

    /// The file of a worker's current input.
    pub fn current(&self, target: &str) -> PathBuf {
        self.folder.join(format!(".current-{target}"))
    }
}
