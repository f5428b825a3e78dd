//! Lays out the files of a Build: a copy of its sources, nothing more and nothing less, with what others made on top.

use crate::action::{Artifact, Copy, Stage};
use purlin_value::glob::Glob;
use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Something that went wrong with a file.
#[derive(Debug)]
pub struct StageError {
    /// What was tried, and with which file.
    pub what: String,
    /// Why it failed.
    pub error: io::Error,
}

impl std::fmt::Display for StageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.error)
    }
}

type Staged<T> = Result<T, StageError>;

fn failed<'p>(what: &str, path: &'p Path) -> impl FnOnce(io::Error) -> StageError + 'p {
    let what = format!("could not {what} `{}`", path.display());
    move |error| StageError { what, error }
}

/// Lays out files. Says what was asked for and not found.
pub fn stage(stage: &Stage) -> Staged<Vec<String>> {
    std::fs::create_dir_all(&stage.target).map_err(failed("create", &stage.target))?;
    if stage.source != stage.target {
        let wanted: BTreeSet<&Path> = stage.files.iter().map(PathBuf::as_path).collect();
        remove_others(&stage.target, &wanted)?;
        for file in &stage.files {
            copy_file(&stage.source.join(file), &stage.target.join(file))?;
        }
    }
    let mut missing = Vec::new();
    for copy in &stage.copies {
        copy_from(copy, &stage.target, &mut missing)?;
    }
    Ok(missing)
}

/// Removes every file below a folder that is not wanted, and folders that are empty then.
fn remove_others(target: &Path, wanted: &BTreeSet<&Path>) -> Staged<()> {
    let mut folders = Vec::new();
    for path in below(target)? {
        let within = path.strip_prefix(target).unwrap_or(&path);
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_folder {
            folders.push(path);
        } else if !wanted.contains(within) {
            std::fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
    }
    // Deepest first; those that hold something stay.
    for folder in folders.into_iter().rev() {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// All files and folders below a folder, folders before what is in them. Links are not followed.
fn below(folder: &Path) -> Staged<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&next).map_err(failed("read", &next))? {
            entries.push(entry.map_err(failed("read", &next))?.path());
        }
        entries.sort();
        for path in entries {
            if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    Ok(found)
}

/// Copies a file or a link, unless the copy is already the same by size and time.
fn copy_file(from: &Path, to: &Path) -> Staged<()> {
    let found = from.symlink_metadata().map_err(failed("read", from))?;
    if let Some(folder) = to.parent() {
        make_folder(folder)?;
    }
    let there = to.symlink_metadata().ok();
    if found.is_symlink() {
        let target = std::fs::read_link(from).map_err(failed("read", from))?;
        if there.is_some() {
            remove(to)?;
        }
        return std::os::unix::fs::symlink(&target, to).map_err(failed("create", to));
    }
    let modified = found.modified().ok();
    let is_same = there.as_ref().is_some_and(|there| {
        there.is_file()
            && there.len() == found.len()
            && there.modified().ok() == modified
            && there.permissions() == found.permissions()
    });
    if is_same {
        return Ok(());
    }
    if there.is_some_and(|there| !there.is_file()) {
        remove(to)?;
    }
    // Written beside and renamed: a program that runs from there keeps what it has, and nothing is ever half there.
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let beside = to.with_file_name(format!(".{name}.purlin-{}", std::process::id()));
    let copied = std::fs::copy(from, &beside).and_then(|_| {
        if let Some(modified) = modified {
            std::fs::File::options().append(true).open(&beside)?.set_modified(modified)?;
        }
        std::fs::rename(&beside, to)
    });
    copied.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        failed("copy", from)(error)
    })
}

/// Makes a folder; a file in its place gives way, as it comes from an earlier layout.
fn make_folder(folder: &Path) -> Staged<()> {
    match std::fs::create_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) => {
            remove(folder)?;
            std::fs::create_dir_all(folder).map_err(failed("create", folder))
        }
        Err(error) => Err(failed("create", folder)(error)),
    }
}

fn remove(path: &Path) -> Staged<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.map_err(failed("remove", path))
}

/// Whether a path stays inside the folder it is joined to.
pub fn stays_inside(path: &str) -> bool {
    let mut depth = 0_i64;
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

/// The rules are those of rsync, as Garden applies them: a folder is copied *to* the target, a file *into* a target
/// that is a folder or ends in a slash, and the target `.` keeps the name.
fn copy_from(copy: &Copy, root: &Path, missing: &mut Vec<String>) -> Staged<()> {
    if !stays_inside(&copy.source) || !stays_inside(&copy.target) {
        missing.push(format!("`copyFrom` leaves its folder: `{}` to `{}`", copy.source, copy.target));
        return Ok(());
    }
    if is_pattern(&copy.source) {
        let target = if copy.target == "." { root.to_owned() } else { root.join(&copy.target) };
        return copy_matches(copy, &target, missing);
    }
    let source = copy.from.join(copy.source.trim_end_matches('/'));
    let Ok(found) = std::fs::metadata(&source) else {
        missing.push(format!("`copyFrom` finds no `{}` in `{}`", copy.source, copy.from.display()));
        return Ok(());
    };
    let name = source.file_name().unwrap_or_default().to_owned();
    let target = match copy.target.as_str() {
        "." if copy.source == "." || copy.source.is_empty() => root.to_owned(),
        "." => root.join(&name),
        other => root.join(other),
    };
    if found.is_dir() {
        make_folder(&target)?;
        for path in below(&source)? {
            let within = path.strip_prefix(&source).unwrap_or(&path);
            if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                make_folder(&target.join(within))?;
            } else {
                copy_file(&path, &target.join(within))?;
            }
        }
        return Ok(());
    }
    let into = copy.target.ends_with('/') || target.is_dir();
    copy_file(&source, &if into { target.join(name) } else { target })
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Copies what a pattern matches: a file under its own name, a folder with everything in it.
fn copy_matches(copy: &Copy, target: &Path, missing: &mut Vec<String>) -> Staged<()> {
    let glob = Glob::new(copy.source.trim_start_matches("./").trim_end_matches('/'));
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut found = false;
    let mut all = below(&copy.from)?;
    all.sort();
    for path in all {
        let within = path.strip_prefix(&copy.from).unwrap_or(&path).to_owned();
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let is_matched = glob.matches(&within.to_string_lossy());
        if is_folder {
            folders.extend(is_matched.then_some(within));
            continue;
        }
        for folder in folders.iter().filter(|folder| within.starts_with(folder)) {
            let kept = within.strip_prefix(folder.parent().unwrap_or(Path::new(""))).unwrap_or(&within);
            copy_file(&path, &target.join(kept))?;
            found = true;
        }
        if is_matched {
            copy_file(&path, &target.join(within.file_name().unwrap_or_default()))?;
            found = true;
        }
    }
    if !found {
        missing.push(format!("`copyFrom` finds no `{}` in `{}`", copy.source, copy.from.display()));
    }
    Ok(())
}

/// The files below a folder that a pattern matches.
fn matches(folder: &Path, pattern: &str) -> Staged<Vec<PathBuf>> {
    let glob = Glob::new(pattern.trim_start_matches("./"));
    let files = below(folder)?.into_iter().filter(|path| !path.is_dir());
    let matched = files.filter(|path| {
        let within = path.strip_prefix(folder).unwrap_or(path);
        glob.covers(&within.to_string_lossy())
    });
    Ok(matched.collect())
}

/// Copies what an action leaves for people. Says which patterns matched nothing.
pub fn keep_artifacts(artifacts: &[Artifact], folder: &Path) -> Staged<Vec<String>> {
    let mut missing = Vec::new();
    for artifact in artifacts {
        let source = artifact.source.trim_start_matches("./").trim_end_matches('/');
        // The part without a pattern is not repeated in the target, as `cp` does.
        let fixed = source.split('/').take_while(|part| !is_pattern(part)).collect::<Vec<_>>();
        let is_plain = fixed.len() == source.split('/').count();
        let base = match (is_plain, folder.join(source)) {
            (true, full) if full.is_dir() => full,
            (true, full) => full.parent().unwrap_or(folder).to_owned(),
            (false, _) => folder.join(fixed.join("/")),
        };
        let found = matches(folder, source)?;
        if found.is_empty() {
            missing.push(format!("no file matches the artifact `{}`", artifact.source));
        }
        for path in found {
            copy_file(&path, &artifact.target.join(path.strip_prefix(&base).unwrap_or(&path)))?;
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("purlin-stage-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_target_holds_the_files_and_nothing_else() {
        let top = folder("exact");
        write(&top.join("src/a/b.txt"), "b");
        write(&top.join("src/c.txt"), "c");
        write(&top.join("out/old/stale.txt"), "x");
        write(&top.join("out/a"), "a file where a folder goes");
        let files = vec![PathBuf::from("a/b.txt"), PathBuf::from("c.txt")];
        let plan = Stage { source: top.join("src"), files, target: top.join("out"), copies: Vec::new() };
        stage(&plan).unwrap();
        stage(&plan).unwrap();
        let found: Vec<_> = below(&top.join("out")).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(top.join("out")).unwrap().to_owned()).collect();
        assert_eq!(names, [PathBuf::from("a"), PathBuf::from("c.txt"), PathBuf::from("a/b.txt")]);
    }

    #[test]
    fn copies_follow_the_rules_of_rsync() {
        let top = folder("copies");
        write(&top.join("dep/dist/x.js"), "x");
        write(&top.join("dep/dist/sub/y.js"), "y");
        write(&top.join("dep/file"), "f");
        let copy = |source: &str, target: &str| Copy {
            from: top.join("dep"),
            source: source.to_owned(),
            target: target.to_owned(),
        };
        let copies = vec![
            copy("dist", "dist"),
            copy("file", "into/"),
            copy("file", "renamed"),
            copy("dist", "."),
            copy("dist/*.js", "flat"),
            copy("d*", "all"),
            copy("nothing", "x"),
            copy("../outside", "x"),
        ];
        let target = top.join("out");
        let plan = Stage { source: target.clone(), files: Vec::new(), target: target.clone(), copies };
        let missing = stage(&plan).unwrap();
        assert_eq!(missing.len(), 2, "{missing:?}");
        for file in ["dist/x.js", "dist/sub/y.js", "into/file", "renamed", "flat/x.js", "all/dist/sub/y.js"] {
            assert!(target.join(file).is_file(), "{file}");
        }
    }
}
