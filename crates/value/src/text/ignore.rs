//! Ignore files in `.gitignore` syntax, and the chain of them that applies to a folder.
//!
//! Reads through the `World`. The caller decides which names are ignore files.

use crate::FastMap;
use crate::glob::{Glob, Notation};
use crate::path;
use crate::world::{Entry, World};
use std::sync::Arc;

/// The ignore files that apply to one folder: its own, and those of the folders above it.
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

    /// Whether a path is ignored, or a folder above it.
    pub fn covers(&self, place: &str) -> bool {
        let mut folders = place.match_indices('/').filter_map(|(at, _)| place.get(..at));
        self.hides(place, false) || self.hides(place, true) || folders.any(|folder| self.hides(folder, true))
    }

    /// The ignore files of a folder with these entries, `self` being those of its parent. The last of `names` has the
    /// highest precedence.
    pub fn enter(&self, world: &dyn World, folder: &str, entries: &[Entry], names: &[&str]) -> Self {
        let present = names.iter().filter(|name| entries.iter().any(|entry| entry.name == **name));
        present.fold(self.clone(), |chain, name| chain.with(world, folder, name))
    }

    /// Whether a path is ignored: the nearest file with a matching rule decides.
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

    /// An unreadable ignore file hides nothing: the files it would ignore are then read, and reported if bad.
    fn with(self, world: &dyn World, folder: &str, name: &str) -> Self {
        let Ok(bytes) = world.read(&path::join(folder, name)) else { return self };
        let rules = Ignore::new(&String::from_utf8_lossy(&bytes));
        if rules.rules.is_empty() {
            return self;
        }
        Ignores { nearest: Some(Arc::new(Link { folder: folder.to_owned(), rules, further: self.nearest })) }
    }
}

/// The rules of one ignore file. Most are a name or start with one, and are looked up by it.
#[derive(Debug, Default)]
struct Ignore {
    rules: Vec<IgnoreRule>,
    /// The rules for paths whose first part is this one.
    by_first: FastMap<String, Vec<usize>>,
    /// The rules for paths whose last part is this one.
    by_last: FastMap<String, Vec<usize>>,
    /// All other rules.
    others: Vec<usize>,
}

#[derive(Debug)]
struct IgnoreRule {
    glob: Glob,
    negated: bool,
    directory_only: bool,
}

/// The part that all matching paths of a rule have in common.
enum Part {
    First(String),
    Last(String),
    None,
}

impl Ignore {
    /// Reads ignore rules, one per line.
    fn new(text: &str) -> Self {
        let mut ignore = Ignore::default();
        for (rule, part) in text.lines().filter_map(ignore_rule) {
            let at = ignore.rules.len();
            ignore.rules.push(rule);
            match part {
                Part::First(name) => ignore.by_first.entry(name).or_default().push(at),
                Part::Last(name) => ignore.by_last.entry(name).or_default().push(at),
                Part::None => ignore.others.push(at),
            }
        }
        ignore
    }

    /// The result of the last rule that matches a path relative to the file's directory; `None` if there is no match.
    fn verdict(&self, path: &str, is_directory: bool) -> Option<bool> {
        let first = path.split('/').next().and_then(|name| self.by_first.get(name));
        let last = path.rsplit('/').next().and_then(|name| self.by_last.get(name));
        let fits = |rule: &IgnoreRule| (is_directory || !rule.directory_only) && rule.glob.matches(path);
        let last_of = |list: &Vec<usize>| list.iter().rev().find(|at| self.rules.get(**at).is_some_and(fits)).copied();
        let found = [first, last, Some(&self.others)].into_iter().flatten().filter_map(last_of).max();
        found.and_then(|at| self.rules.get(at)).map(|rule| !rule.negated)
    }
}

fn ignore_rule(line: &str) -> Option<(IgnoreRule, Part)> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directory_only, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
    let anchored = pattern.trim_end_matches("/**").contains('/') || pattern.ends_with("/**");
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let whole = if anchored { pattern.to_string() } else { format!("**/{pattern}") };
    let part = match pattern.split('/').next() {
        Some(name) if name.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) => Part::None,
        Some(name) if anchored => Part::First(name.to_owned()),
        Some(name) => Part::Last(name.to_owned()),
        None => Part::None,
    };
    Some((IgnoreRule { glob: Glob::read(&whole, Notation::GIT)?, negated, directory_only }, part))
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

    /// Looking rules up by name gives the same answers as trying all rules.
    #[test]
    fn found_rules_are_all_that_fit() {
        let text = "a\n/a\nb/\n!b\na/b\n/a/*.x\n**/c\n*.x\n!keep.x\na/**\n!a/b/c\n\\!d\n[ab]\n/[ab]/c\n{a,b}\n";
        let ignore = Ignore::new(text);
        let names = ["a", "b", "c", "d", "!d", "keep.x", "y.x", "{a,b}"];
        let mut paths: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        for _ in 0..2 {
            paths = paths
                .iter()
                .flat_map(|path| names.iter().map(move |name| format!("{path}/{name}")))
                .chain(paths.clone())
                .collect();
        }
        for (path, is_folder) in paths.iter().flat_map(|path| [(path, false), (path, true)]) {
            let fits = |rule: &&IgnoreRule| (is_folder || !rule.directory_only) && rule.glob.matches(path);
            let expected = ignore.rules.iter().rev().find(fits).map(|rule| !rule.negated);
            assert_eq!(ignore.verdict(path, is_folder), expected, "{path}");
        }
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
