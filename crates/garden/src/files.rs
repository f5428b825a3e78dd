//! The files of a project, with everything ignored left out.
//!
//! One walk serves the scan for configuration files and the versions of all actions.

use crate::glob::{Glob, Ignore};
use purlin_value::world::FileKind;
use purlin_value::{Session, WorldError, path};
use std::sync::Arc;

/// Never part of a project: repositories, our own files and reports.
const FIXED_EXCLUDES: &[&str] = &[".git", ".gitmodules", ".garden/**/*", "debug-info*/**"];

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
}

/// An ignore file and the folder it is about.
type Rules = (String, Ignore);

impl FileTree {
    /// Lists the files below a folder.
    pub fn walk(session: &Session, root: &str, ignore_file: &str) -> Self {
        let names = [".gitignore", ignore_file];
        let fixed: Vec<Glob> = FIXED_EXCLUDES.iter().map(|pattern| Glob::new(pattern)).collect();
        let mut files = Vec::new();
        let mut open: Vec<(String, Arc<Vec<Rules>>, usize)> = vec![(root.to_owned(), above(session, root), 0)];
        while let Some((folder, inherited, depth)) = open.pop() {
            let entries = match session.world.list(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    report(session, &error, &folder);
                    continue;
                }
            };
            let here: Vec<Rules> = names
                .iter()
                .filter(|name| entries.iter().any(|entry| entry.name == **name))
                .filter_map(|name| read_rules(session, &folder, name))
                .collect();
            let rules =
                if here.is_empty() { inherited } else { Arc::new(inherited.iter().cloned().chain(here).collect()) };
            for entry in entries {
                let full = path::join(&folder, &entry.name);
                let is_folder = entry.kind == FileKind::Folder;
                let within = relative(root, &full);
                if fixed.iter().any(|glob| glob.covers(within)) || is_ignored(&rules, &full, is_folder) {
                    continue;
                }
                if !is_folder {
                    files.push(File { path: full, is_link: entry.kind == FileKind::Link });
                } else if depth < MAX_DEPTH {
                    open.push((full, rules.clone(), depth + 1));
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        FileTree { files }
    }

    /// All files.
    pub fn all(&self) -> &[File] {
        &self.files
    }

    /// The files below a folder.
    pub fn under(&self, folder: &str) -> impl Iterator<Item = &File> {
        let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
        let start = self.files.partition_point(|file| file.path < prefix);
        self.files.iter().skip(start).take_while(move |file| file.path.starts_with(&prefix))
    }
}

fn report(session: &Session, error: &WorldError, folder: &str) {
    session.report_world(error, folder, None);
}

/// Ignore files of the repository above the project.
fn above(session: &Session, root: &str) -> Arc<Vec<Rules>> {
    let mut rules = Vec::new();
    let mut folder = root;
    while folder != "." && !path::is_absolute(folder) {
        folder = path::parent(folder);
        if session.world.exists(&path::join(folder, ".gitignore")) {
            rules.extend(read_rules(session, folder, ".gitignore"));
        }
    }
    rules.reverse();
    Arc::new(rules)
}

fn read_rules(session: &Session, folder: &str, name: &str) -> Option<Rules> {
    let bytes = session.world.read(&path::join(folder, name)).ok()?;
    let rules = Ignore::new(&String::from_utf8_lossy(&bytes));
    (!rules.is_empty()).then(|| (folder.to_owned(), rules))
}

/// The nearest ignore file that says something decides.
fn is_ignored(rules: &[Rules], full: &str, is_folder: bool) -> bool {
    rules.iter().rev().find_map(|(folder, ignore)| ignore.verdict(relative(folder, full), is_folder)).unwrap_or(false)
}

/// A path as seen from a folder that contains it.
pub fn relative<'p>(folder: &str, full: &'p str) -> &'p str {
    if folder == "." {
        return full;
    }
    full.strip_prefix(folder).map_or(full, |rest| rest.trim_start_matches('/'))
}

/// Whether a name is that of a configuration file.
pub fn is_config_file(name: &str) -> bool {
    matches!(name, "garden.yml" | "garden.yaml") || name.ends_with(".garden.yml") || name.ends_with(".garden.yaml")
}

/// What `include` and `exclude` leave of the files below a folder.
pub struct Selection {
    include: Option<Vec<Glob>>,
    exclude: Vec<Glob>,
}

impl Selection {
    /// No `include` means all files.
    pub fn new(include: Option<&[String]>, exclude: &[String]) -> Self {
        let globs = |patterns: &[String]| patterns.iter().map(|p| Glob::new(p.trim_end_matches('/'))).collect();
        Selection { include: include.map(globs), exclude: globs(exclude) }
    }

    /// Whether a path, relative to the folder, is selected.
    pub fn takes(&self, path: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.covers(path)));
        included && !self.exclude.iter().any(|glob| glob.covers(path))
    }
}
