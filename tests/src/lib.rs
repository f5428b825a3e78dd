//! Finds and runs the cases of the suite.
//!
//! A case is a folder with inputs and an `expect` folder, or a page with files and console sessions. See README.md next
//! to this crate's manifest. `UPDATE=1` rewrites expectations.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

pub mod bounded;
pub mod edits;
mod folder;
mod page;
pub mod projects;
mod transcript;

pub use folder::folder_cases;
pub use page::{page_cases, section_cases, section_files, walk_cases};
pub use transcript::{Ran, as_program, environment, run};

use std::path::{Path, PathBuf};

/// One case: its name and a function that runs it and returns problems.
pub struct Case {
    /// `area/topic/case`.
    pub name: String,
    /// Runs it.
    pub run: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

/// The top of the checkout.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether expectations are rewritten.
pub fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

/// A fresh folder for one case, removed when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A fresh folder.
    pub fn new(name: &str) -> std::io::Result<Self> {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = std::env::temp_dir().join(format!("purlin-suite-{}-{name}", std::process::id()));
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(Scratch(folder.canonicalize()?))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder in the system's temporary files is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A readable difference: the first line that differs, and both texts around it.
pub(crate) fn difference(what: &str, expected: &str, found: &str) -> String {
    let at = expected.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    let show = |text: &str| {
        text.lines().skip(at.saturating_sub(2)).take(12).map(|line| format!("    {line}\n")).collect::<String>()
    };
    format!("{what} differs from line {} on\n  expected:\n{}  found:\n{}", at + 1, show(expected), show(found))
}

/// Compares with the expectation, or rewrites it.
pub(crate) fn compare_file(path: &Path, found: &str) -> Result<(), String> {
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    if updating() {
        return std::fs::write(path, found).map_err(|error| format!("{}: {error}", path.display()));
    }
    Err(difference(&path.display().to_string(), &expected, found) + "  (UPDATE=1 rewrites it)")
}
