//! The files of a project, with everything ignored left out.
//!
//! One walk serves the scan for configuration files and the versions of all actions.

use purlin_value::glob::Glob;
use purlin_value::ignore::Ignores;
use purlin_value::path::within;
use purlin_value::world::FileKind;
use purlin_value::{Session, path};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Never part of a project: repositories, data of Garden and Purlin, and reports.
const FIXED_EXCLUDES: &[&str] = &[".git", ".gitmodules", ".garden/**/*", ".purlin/**/*", "debug-info*/**"];

/// Name of ignore files.
const GARDEN_IGNORE: &str = ".gardenignore";

/// Steps that asking a folder for a name counts for: the time that it takes.
const LIST_STEPS: u64 = 100;

/// How deep folders may nest.
const MAX_DEPTH: usize = 200;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path from the world's root.
    pub path: String,
    /// Whether it is a link.
    pub is_link: bool,
}

/// The files of a project, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct FileTree {
    files: Vec<File>,
    /// Name of ignore files, besides git's.
    ignore_file: String,
    /// Repositories, each walked when its files are first asked for.
    remote: Arc<Mutex<BTreeMap<String, Arc<FileTree>>>>,
}

impl FileTree {
    /// Lists the files below a folder.
    pub fn walk(session: &Session, root: &str, ignore_file: &str) -> Self {
        Self::walk_where(session, root, ignore_file, &|_| true)
    }

    /// The same, entering only some folders.
    pub fn walk_where(session: &Session, root: &str, ignore_file: &str, enters: &dyn Fn(&str) -> bool) -> Self {
        let names = [".gitignore", ignore_file];
        let fixed: Vec<Glob> = FIXED_EXCLUDES.iter().map(|pattern| Glob::new(pattern)).collect();
        let mut files = Vec::new();
        let mut open = vec![(root.to_owned(), Ignores::above(&*session.world, root), 0)];
        while let Some((folder, inherited, depth)) = open.pop() {
            let entries = match session.world.list(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    session.report_world(&error, &folder, None);
                    continue;
                }
            };
            let ignores = inherited.enter(&*session.world, &folder, &entries, &names);
            for entry in entries {
                let full = path::join(&folder, &entry.name);
                let is_folder = entry.kind == FileKind::Folder;
                let fixed = fixed.iter().any(|glob| glob.covers(within(root, &full)));
                if fixed || ignores.hides(&full, is_folder) {
                    continue;
                }
                if !is_folder {
                    files.push(File { path: full, is_link: entry.kind == FileKind::Link });
                } else if depth < MAX_DEPTH && enters(&full) {
                    open.push((full, ignores.clone(), depth + 1));
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        FileTree { files, ignore_file: ignore_file.to_owned(), remote: Arc::default() }
    }

    /// Name of ignore files, besides git's.
    pub fn ignore_file(&self) -> &str {
        &self.ignore_file
    }

    /// The files of a repository that was fetched to a folder.
    pub fn remote(&self, session: &Session, folder: &str) -> Arc<FileTree> {
        let mut known = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        let walk = || Arc::new(FileTree::walk(session, folder, GARDEN_IGNORE));
        known.entry(folder.to_owned()).or_insert_with(walk).clone()
    }

    /// All files.
    pub fn all(&self) -> &[File] {
        &self.files
    }

    /// The files below a folder.
    pub fn under(&self, folder: &str) -> &[File] {
        self.beginning(&prefix_of(folder)).map_or(&[], |range| self.files.get(range).unwrap_or_default())
    }

    /// The files below a folder that a selection may take. Only those are looked at whose paths begin as its patterns
    /// do, so that many actions with patterns of their own in one folder cost what they select.
    pub fn candidates(&self, folder: &str, selection: &Selection) -> Vec<&File> {
        let prefix = prefix_of(folder);
        let mut ranges: Vec<Range<usize>> = match selection.starts() {
            None => self.beginning(&prefix).into_iter().collect(),
            Some(starts) => starts.filter_map(|start| self.beginning(&format!("{prefix}{start}"))).collect(),
        };
        ranges.sort_by_key(|range| range.start);
        let mut next = 0;
        let mut found = Vec::new();
        for range in ranges {
            found.extend(self.files.get(range.start.max(next)..range.end).unwrap_or_default());
            next = next.max(range.end);
        }
        found
    }

    /// The positions of the files whose paths begin with a text; `None` if there are none.
    fn beginning(&self, prefix: &str) -> Option<Range<usize>> {
        let start = self.files.partition_point(|file| file.path.as_str() < prefix);
        let rest = self.files.get(start..)?;
        let count = rest.partition_point(|file| file.path.starts_with(prefix));
        (count > 0).then_some(start..start + count)
    }
}

/// The beginning of the paths of all files in a folder.
fn prefix_of(folder: &str) -> String {
    if folder == "." { String::new() } else { format!("{folder}/") }
}

/// The files that match a pattern, from a folder; ignored files can be named explicitly.
///
/// A pattern without a fixed start (`**/*.yaml`) matches only files of the project.
pub(crate) fn matching(session: &Session, tree: &FileTree, folder: &str, pattern: &str) -> Vec<String> {
    let selection = Selection::new(Some(&[pattern.to_owned()]), &[]);
    let pattern = path::normalize(pattern);
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', ']', '{', '}', '(', ')', '!']);
    let plain: Vec<&str> = pattern.split('/').take_while(is_plain).collect();
    let rest = pattern.split('/').count() - plain.len();
    let is_deep = pattern.contains("**");
    let start = path::join(folder, &plain.join("/"));
    if rest == 0 && session.world.stat(&start).is_ok_and(|stat| stat.kind == FileKind::File) {
        return vec![start];
    }
    if rest == 0 || (is_deep && plain.is_empty()) {
        let files = tree.candidates(folder, &selection);
        if !pays(session, files.len() as u64) {
            return Vec::new();
        }
        let files = files.into_iter().filter(|file| selection.takes(within(folder, &file.path)));
        return files.map(|file| file.path.clone()).collect();
    }
    let levels = if is_deep { MAX_DEPTH } else { rest };
    // The last part of the pattern alone excludes nearly all names.
    let last = Glob::new(pattern.rsplit('/').next().unwrap_or_default());
    let has_choices = is_deep || pattern.contains(['{', '(', '!']);
    let may_match = |name: &str| has_choices || last.covers(name);
    let mut found = Vec::new();
    let mut open = vec![(start, 1)];
    while let Some((folder_of_it, level)) = open.pop() {
        // Once a limit is reached, no more folders are listed.
        if !pays(session, LIST_STEPS) {
            return Vec::new();
        }
        let entries = session.world.list(&folder_of_it).unwrap_or_default();
        if !pays(session, (entries.len() as u64).saturating_mul(LIST_STEPS)) {
            return Vec::new();
        }
        for entry in entries {
            if entry.kind == FileKind::Folder {
                if level < levels && entry.name != ".git" {
                    open.push((path::join(&folder_of_it, &entry.name), level + 1));
                }
            } else if may_match(&entry.name) {
                let full = path::join(&folder_of_it, &entry.name);
                found.extend(Some(full).filter(|full| selection.takes(within(folder, full))));
            }
        }
    }
    found.sort();
    found
}

/// Charges steps for looking at files; reports a limit and returns false if there are too many.
pub(crate) fn pays(session: &Session, steps: u64) -> bool {
    let paid = session.meter.charge(steps, 0);
    paid.map_err(|exceeded| session.report_exceeded(exceeded, None)).is_ok()
}

/// Whether a name is that of a configuration file.
pub fn is_config_file(name: &str) -> bool {
    matches!(name, "garden.yml" | "garden.yaml") || name.ends_with(".garden.yml") || name.ends_with(".garden.yaml")
}

/// Files below a folder selected by `include` and `exclude`.
pub struct Selection {
    include: Option<Vec<Glob>>,
    exclude: Vec<Glob>,
}

impl Selection {
    /// No `include` means all files.
    pub fn new(include: Option<&[String]>, exclude: &[String]) -> Self {
        let glob = |pattern: &String| match path::normalize(pattern).as_str() {
            "." => Glob::new("**/*"),
            pattern => Glob::new(pattern.trim_end_matches('/')),
        };
        let globs = |patterns: &[String]| patterns.iter().map(glob).collect();
        Selection { include: include.map(globs), exclude: globs(exclude) }
    }

    /// The texts of which one begins every path that is selected; `None` if all paths may be.
    fn starts(&self) -> Option<impl Iterator<Item = String>> {
        Some(self.include.as_ref()?.iter().flat_map(Glob::fixed_starts))
    }

    /// Whether a folder, relative to that of the selection, may hold selected files.
    pub fn may_be_below(&self, folder: &str) -> bool {
        let inside = format!("{folder}/");
        let leads = |start: String| start.starts_with(&inside) || inside.starts_with(&start);
        self.starts().is_none_or(|mut starts| starts.any(leads))
    }

    /// Whether a path, relative to the folder, is selected.
    pub fn takes(&self, path: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.covers(path)));
        included && !self.exclude.iter().any(|glob| glob.covers(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> FileTree {
        let mut files: Vec<File> = paths.iter().map(|path| File { path: (*path).to_owned(), is_link: false }).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        FileTree { files, ..FileTree::default() }
    }

    /// Candidates are few, and none that is selected is missing.
    #[test]
    fn candidates_hold_everything_that_is_selected() {
        let paths = ["a/f", "a/g/h", "a1/f", "a1-x", "a10/f", "b/a1/f", "b/c", "ab", "z"];
        let tree = tree(&paths);
        let patterns: [&[&str]; 9] = [
            &["a1"],
            &["a1/*"],
            &["a/**", "a/g/*"],
            &["**/f"],
            &["a1*"],
            &["{a,b}/*"],
            &["b/c", "b"],
            &["?/f"],
            &["none/x"],
        ];
        for include in patterns {
            let include: Vec<String> = include.iter().map(|pattern| (*pattern).to_owned()).collect();
            let selection = Selection::new(Some(&include), &[]);
            for folder in [".", "a", "b"] {
                let taken = |file: &&File| selection.takes(within(folder, &file.path));
                let all: Vec<&File> = tree.under(folder).iter().filter(taken).collect();
                let found: Vec<&File> = tree.candidates(folder, &selection).into_iter().filter(taken).collect();
                assert_eq!(found, all, "{include:?} in {folder}");
                for file in all {
                    let parent = path::parent(within(folder, &file.path));
                    assert!(parent == "." || selection.may_be_below(parent), "{include:?} in {parent}");
                }
            }
        }
        let few = Selection::new(Some(&["a1/*".to_owned()]), &[]);
        assert_eq!(tree.candidates(".", &few).len(), 1);
        assert!(!few.may_be_below("a") && !few.may_be_below("b") && few.may_be_below("a1"));
    }
}
