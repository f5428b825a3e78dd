//! Ignore files in `.gitignore` syntax, and the chain of them that holds in a folder.
//!
//! Reads through the `World`. Which names are ignore files is the caller's business.

use crate::glob::{Glob, Notation};
use crate::path;
use crate::world::{Entry, World};
use std::sync::Arc;

/// The ignore files that hold in one folder: its own, and those of the folders above it.
///
/// A folder without an ignore file shares the chain of its parent.
#[derive(Clone, Debug, Default)]
pub struct Ignores {
    nearest: Option<Arc<Link>>,
}

/// One ignore file, and the next further away.
#[derive(Debug)]
struct Link {
    folder: String,
    rules: Ignore,
    further: Option<Arc<Link>>,
}

impl Ignores {
    /// The `.gitignore` files of the folders above `folder`, up to the world's root.
    pub fn above(world: &dyn World, folder: &str) -> Self {
        let mut folders = Vec::new();
        let mut above = folder;
        while above != "." && !path::is_absolute(above) && !above.starts_with("..") {
            above = path::parent(above);
            folders.push(above);
        }
        folders.iter().rev().fold(Ignores::default(), |chain, folder| {
            let there = world.exists(&path::join(folder, ".gitignore"));
            if there { chain.with(world, folder, ".gitignore") } else { chain }
        })
    }

    /// Whether a path is ignored, or a folder that it is in.
    pub fn covers(&self, place: &str) -> bool {
        let mut folders = place.match_indices('/').filter_map(|(at, _)| place.get(..at));
        self.hides(place, false) || self.hides(place, true) || folders.any(|folder| self.hides(folder, true))
    }

    /// What holds in a folder with these entries, `self` being what holds in its parent. Of `names` the last is the
    /// strongest.
    pub fn enter(&self, world: &dyn World, folder: &str, entries: &[Entry], names: &[&str]) -> Self {
        let present = names.iter().filter(|name| entries.iter().any(|entry| entry.name == **name));
        present.fold(self.clone(), |chain, name| chain.with(world, folder, name))
    }

    /// Whether a path is left out: the nearest file that speaks of it decides.
    pub fn hides(&self, full: &str, is_folder: bool) -> bool {
        let mut next = self.nearest.as_deref();
        while let Some(link) = next {
            if let Some(verdict) = link.rules.verdict(path::within(&link.folder, full), is_folder) {
                return verdict;
            }
            next = link.further.as_deref();
        }
        false
    }

    /// An ignore file that cannot be read hides nothing: the files it meant are then seen, and reported if bad.
    fn with(self, world: &dyn World, folder: &str, name: &str) -> Self {
        let Ok(bytes) = world.read(&path::join(folder, name)) else { return self };
        let rules = Ignore::new(&String::from_utf8_lossy(&bytes));
        if rules.rules.is_empty() {
            return self;
        }
        Ignores { nearest: Some(Arc::new(Link { folder: folder.to_owned(), rules, further: self.nearest })) }
    }
}

/// The rules of one ignore file.
#[derive(Debug, Default)]
struct Ignore {
    rules: Vec<IgnoreRule>,
}

#[derive(Debug)]
struct IgnoreRule {
    glob: Glob,
    negated: bool,
    directory_only: bool,
}

impl Ignore {
    /// Reads ignore rules, one per line.
    fn new(text: &str) -> Self {
        Ignore { rules: text.lines().filter_map(ignore_rule).collect() }
    }

    /// What the last rule that fits says of a path relative to the file's directory; nothing if none fits.
    fn verdict(&self, path: &str, is_directory: bool) -> Option<bool> {
        let fits = |rule: &&IgnoreRule| (is_directory || !rule.directory_only) && rule.glob.matches(path);
        self.rules.iter().rev().find(fits).map(|rule| !rule.negated)
    }
}

fn ignore_rule(line: &str) -> Option<IgnoreRule> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directory_only, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
    let anchored = pattern.trim_end_matches("/**").contains('/') || pattern.ends_with("/**");
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let whole = if anchored { pattern.to_string() } else { format!("**/{pattern}") };
    Some(IgnoreRule { glob: Glob::read(&whole, Notation::GIT)?, negated, directory_only })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use crate::world::MemoryWorld;

    #[test]
    fn the_last_ignore_rule_wins() {
        let ignore = Ignore::new("*.log\n!keep.log\n/build\nout/\n# no\ndocs/*.md\n");
        assert_eq!(ignore.verdict("a/b.log", false), Some(true));
        assert_eq!(ignore.verdict("a/keep.log", false), Some(false));
        assert_eq!(ignore.verdict("build", true), Some(true));
        assert_eq!(ignore.verdict("a/build", true), None);
        assert_eq!(ignore.verdict("a/out", true), Some(true));
        assert_eq!(ignore.verdict("a/out", false), None);
        assert_eq!(ignore.verdict("docs/x.md", false), Some(true));
        assert_eq!(ignore.verdict("docs/a/x.md", false), None);
    }

    #[test]
    fn the_nearest_ignore_file_decides() {
        let world = MemoryWorld::new()
            .file(".gitignore", "*.yaml\n")
            .file("a/b/.gitignore", "!keep.yaml\n")
            .file("a/b/keep.yaml", "");
        let above = Ignores::above(&world, "a/b");
        assert!(above.hides("a/b/keep.yaml", false));
        let entries = world.list("a/b").unwrap_or_default();
        let here = above.enter(&world, "a/b", &entries, &[".gitignore"]);
        assert!(!here.hides("a/b/keep.yaml", false));
        assert!(here.hides("a/b/other.yaml", false));
        assert!(!here.hides("a/b/other.json", false));
    }

    #[test]
    fn what_git_leaves_out() {
        let world = MemoryWorld::new().file(".gitignore", "*.secret\n/made/\n").file(".git/HEAD", "");
        let session = Session::new(Arc::new(world));
        assert!(session.is_left_out("a/b.secret"));
        assert!(session.is_left_out("made/deep/file.yaml"));
        assert!(session.is_left_out("made"));
        assert!(!session.is_left_out("a/made/file.yaml"));
        assert!(!session.is_left_out("../b.secret"));
        let no_repository = MemoryWorld::new().file(".gitignore", "*.secret\n");
        assert!(!Session::new(Arc::new(no_repository)).is_left_out("b.secret"));
    }
}
