//! Folders in which recorded cases are run: writable copies, removed when dropped.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of one case, below the system's folder for temporary files.
pub struct Scratch {
    /// The folder, by its real path.
    pub folder: PathBuf,
}

impl Scratch {
    /// An empty folder for a case.
    pub fn new(suite: &str, id: &str) -> std::io::Result<Scratch> {
        let name = id.replace(['/', '@'], "-");
        let folder = std::env::temp_dir().join(format!("purlin-{suite}-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        Ok(Scratch { folder: folder.canonicalize()? })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Copies a folder with everything below it.
pub fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            std::fs::write(&target, std::fs::read(&source)?)?;
        }
    }
    Ok(())
}

/// Changes the texts of all files below a folder.
pub fn fill_in(folder: &Path, place: &dyn Fn(&str) -> String) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            fill_in(&path, place)?;
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let placed = place(&text);
        if placed != text {
            std::fs::write(&path, placed)?;
        }
    }
    Ok(())
}

/// Runs a line of a case's `setup` in a shell, with an author for the commits it makes.
pub fn set_up(line: &str, folder: &Path) {
    let identity = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(folder);
    identity.iter().for_each(|name| {
        command.env(name, "case@example.com");
    });
    let _ = command.output();
}

/// Makes a folder a git repository with one commit: the one in which projects were recorded, so that its id is the
/// same.
pub fn commit_all(folder: &Path) {
    let line = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a; \
        export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z; \
        git init -q -b main . && git add -A && git commit -q --allow-empty -m x";
    set_up(line, folder);
}
