//! Lays out the files of a Build: an exact copy of its sources, with outputs of others on top.
//!
//! Everything written or removed is reached below opened folders, never through a link. A copy is compared by content:
//! times and sizes of files do not prove equality.

use crate::action::{Artifact, Copy, Stage};
use purlin_host::folder::{Access, Folder, kind};
use purlin_host::named;
use purlin_value::glob::Glob;
use rustix::fs::FileType;
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Files are read and compared in pieces of this size.
const PIECE: usize = 64 << 10;

/// A failed operation on a file.
#[derive(Debug)]
pub struct StageError {
    /// The operation, with the path of the file.
    pub what: String,
    /// Why it failed.
    pub error: io::Error,
}

impl std::fmt::Display for StageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.error)
    }
}

type Tried<T> = Result<T, StageError>;

fn failed<'p>(what: &str, path: &'p Path) -> impl FnOnce(io::Error) -> StageError + use<'p> {
    let what = format!("could not {what} `{}`", path.display());
    move |error| StageError { what, error }
}

/// The result of laying out files.
#[derive(Clone, Debug, Default)]
pub struct Staged {
    /// Files that were not found.
    pub missing: Vec<String>,
    /// A file with unexpected content.
    pub changed: Option<String>,
}

/// The result of retrieving files.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// Patterns that matched nothing.
    pub missing: Vec<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// Opens a folder; the part of its path within the project is created and reached without following links.
pub(crate) fn open_below(root: &Path, folder: &Path) -> Tried<Folder> {
    let opened = match folder.strip_prefix(root) {
        Ok(inside) => Folder::open(root).and_then(|root| root.make_below(inside, Access::Usual)),
        Err(_) => named::create_folder(folder).and_then(|()| Folder::open(folder)),
    };
    opened.map_err(failed("create", folder))
}

/// Lays out files.
pub fn stage(stage: &Stage) -> Tried<Staged> {
    let mut staged = Staged::default();
    let is_apart = stage.source != stage.target;
    if !is_apart && stage.copies.is_empty() {
        return Ok(staged);
    }
    let target = open_below(&stage.root, &stage.target)?;
    if is_apart {
        let wanted: BTreeSet<&Path> = stage.files.iter().map(|(file, _)| file.as_path()).collect();
        remove_others(&target, &wanted)?;
        for (file, blob) in &stage.files {
            let found = copy_file(&stage.source.join(file), &target, file)?;
            if blob.is_some_and(|blob| blob != found) && staged.changed.is_none() {
                staged.changed = Some(file.to_string_lossy().into_owned());
            }
        }
    }
    for copy in &stage.copies {
        // A folder that is a link was not created by the other Build.
        if let Ok(inside) = copy.from.strip_prefix(&stage.root) {
            let opened = Folder::open(&stage.root).and_then(|root| root.below(inside));
            match opened {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("read", &copy.from)(error)),
                _ => {}
            }
        }
        copy_from(copy, &target, &mut staged.missing)?;
    }
    Ok(staged)
}

/// Removes every file below a folder that is not wanted, and folders that become empty.
pub(crate) fn remove_others(target: &Folder, wanted: &BTreeSet<&Path>) -> Tried<()> {
    let mut open = vec![PathBuf::new()];
    let mut folders = Vec::new();
    while let Some(inside) = open.pop() {
        let folder = target.below(&inside).map_err(failed("read", &inside))?;
        for name in folder.names().map_err(failed("read", &inside))? {
            let path = inside.join(&name);
            let is_folder = folder.stat(&name).is_ok_and(|found| kind(&found) == FileType::Directory);
            match is_folder {
                true if wanted.contains(path.as_path()) => folder.remove(&name).map_err(failed("remove", &path))?,
                true => open.push(path),
                false if wanted.contains(path.as_path()) => {}
                false => folder.remove(&name).map_err(failed("remove", &path))?,
            }
        }
        folders.push(inside);
    }
    // Deepest first; folders that are not empty stay.
    for inside in folders.into_iter().rev() {
        let (Some(parent), Some(name)) = (inside.parent(), inside.file_name()) else { continue };
        if let Ok(parent) = target.below(parent) {
            let _ = parent.remove_empty(name);
        }
    }
    Ok(())
}

/// All files and folders below a folder, folders before their contents. Links are not followed.
fn below(folder: &Path) -> Tried<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in named::list(&next).map_err(failed("read", &next))? {
            entries.push(entry.map_err(failed("read", &next))?.path());
        }
        entries.sort();
        for path in entries {
            if named::itself(&path).is_ok_and(|found| found.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    Ok(found)
}

/// Copies a file or a link to a path below a folder, unless the copy is already the same. Returns git's digest of it.
fn copy_file(from: &Path, target: &Folder, to: &Path) -> Tried<[u8; 20]> {
    let found = named::itself(from).map_err(failed("read", from))?;
    let folder = make_folder(target, to.parent().unwrap_or(Path::new("")))?;
    let name = to.file_name().unwrap_or_default();
    if found.is_symlink() {
        let leads = named::read_link(from).map_err(failed("read", from))?;
        copy_link(leads.as_os_str(), &folder, name).map_err(failed("create", to))?;
        return Ok(begin_blob(leads.as_os_str().len() as u64)
            .chain_update(leads.as_os_str().as_bytes())
            .finalize()
            .into());
    }
    copy_content(from, &folder, name).map_err(failed("copy", from))
}

fn begin_blob(size: u64) -> Sha1 {
    Sha1::new_with_prefix(format!("blob {size}\0").as_bytes())
}

fn copy_link(leads: &OsStr, folder: &Folder, name: &OsStr) -> io::Result<()> {
    if folder.read_link(name).is_ok_and(|there| there == leads) {
        return Ok(());
    }
    if folder.stat(name).is_ok() {
        folder.remove(name)?;
    }
    folder.link(leads, name)
}

/// Copies a regular file. An identical copy is left as it is, for tools that compare times.
fn copy_content(from: &Path, folder: &Folder, name: &OsStr) -> io::Result<[u8; 20]> {
    let mut source = named::open_itself(from)?;
    let found = source.metadata()?;
    let (mode, modified) = (found.permissions().mode() & 0o777, found.modified()?);
    let there = folder.open_file(name).ok();
    let there_modified = there.as_ref().and_then(|there| there.metadata().ok()?.modified().ok());
    let (digest, is_same) = compare(&mut source, found.len(), there)?;
    if is_same {
        let copy = folder.open_file(name)?;
        let now = copy.metadata()?;
        if now.permissions().mode() & 0o777 != mode {
            copy.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        if now.modified()? < modified {
            copy.set_modified(modified)?;
        }
        return Ok(digest);
    }
    if folder.stat(name).is_ok_and(|there| kind(&there) != FileType::RegularFile) {
        folder.remove(name)?;
    }
    source.seek(SeekFrom::Start(0))?;
    // Written under a temporary name and renamed: a running program keeps its file, and no file is ever incomplete.
    let mut beside = OsStr::new(".purlin-").to_owned();
    beside.push(std::process::id().to_string());
    let written = folder.create(&beside).and_then(|mut copy| {
        let mut copied = Copying { digest: begin_blob(found.len()), copy: &mut copy };
        io::copy(&mut source, &mut copied)?;
        let digest = copied.digest.finalize().into();
        copy.set_permissions(std::fs::Permissions::from_mode(mode))?;
        // If the content changed but the time did not, tools that compare times must still see a change.
        if there_modified.is_none_or(|there| there < modified) {
            copy.set_modified(modified)?;
        }
        folder.rename(&beside, name)?;
        Ok(digest)
    });
    written.inspect_err(|_| {
        let _ = folder.remove(&beside);
    })
}

/// Writes a copy and computes the digest of what is written.
struct Copying<'c> {
    digest: Sha1,
    copy: &'c mut File,
}

impl Write for Copying<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.copy.write(bytes)?;
        self.digest.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.copy.flush()
    }
}

/// The digest of a file, and whether another one has the same content.
fn compare(source: &mut File, size: u64, there: Option<File>) -> io::Result<([u8; 20], bool)> {
    let mut there = there.filter(|there| there.metadata().is_ok_and(|found| found.len() == size));
    let mut digest = begin_blob(size);
    let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let count = source.read(&mut ours)?;
        let piece = ours.get(..count).unwrap_or_default();
        digest.update(piece);
        if let Some(other) = &mut there {
            let same = other.read_exact(theirs.get_mut(..count).unwrap_or_default()).is_ok()
                && theirs.get(..count) == Some(piece);
            if !same {
                there = None;
            }
        }
        if count == 0 {
            return Ok((digest.finalize().into(), there.is_some()));
        }
    }
}

/// Creates a folder; a file or a link in its place is replaced, as it comes from an earlier layout.
pub(crate) fn make_folder(target: &Folder, inside: &Path) -> Tried<Folder> {
    let mut at = target.below(Path::new("")).map_err(failed("read", inside))?;
    for part in inside.components() {
        let Component::Normal(name) = part else { continue };
        let is_other = at.stat(name).is_ok_and(|found| kind(&found) != FileType::Directory);
        if is_other {
            at.remove(name).map_err(failed("remove", inside))?;
        }
        at = at.make_child(name, Access::Usual).map_err(failed("create", inside))?;
    }
    Ok(at)
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
fn copy_from(copy: &Copy, root: &Folder, missing: &mut Vec<String>) -> Tried<()> {
    if !stays_inside(&copy.source) || !stays_inside(&copy.target) {
        missing.push(format!("`copyFrom` leaves its folder: `{}` to `{}`", copy.source, copy.target));
        return Ok(());
    }
    if is_pattern(&copy.source) {
        return copy_matches(copy, root, &inside(&copy.target), missing);
    }
    let source = copy.from.join(copy.source.trim_end_matches('/'));
    let Ok(found) = named::metadata(&source) else {
        missing.push(format!("`copyFrom` finds no `{}` in `{}`", copy.source, copy.from.display()));
        return Ok(());
    };
    let name = source.file_name().unwrap_or_default().to_owned();
    let target = match copy.target.as_str() {
        "." if copy.source == "." || copy.source.is_empty() => PathBuf::new(),
        "." => PathBuf::from(&name),
        other => inside(other),
    };
    if found.is_dir() {
        make_folder(root, &target)?;
        for path in below(&source)? {
            let within = path.strip_prefix(&source).unwrap_or(&path);
            if named::itself(&path).is_ok_and(|found| found.is_dir()) {
                make_folder(root, &target.join(within))?;
            } else {
                copy_file(&path, root, &target.join(within))?;
            }
        }
        return Ok(());
    }
    let into = copy.target.ends_with('/') || root.below(&target).is_ok();
    copy_file(&source, root, &if into { target.join(name) } else { target })?;
    Ok(())
}

/// A path without `.` and `..`; it was checked to stay inside.
fn inside(path: &str) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::ParentDir => {
                parts.pop();
            }
            _ => {}
        }
    }
    parts
}

pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Copies the matches of a pattern: a file under its own name, a folder with its contents.
fn copy_matches(copy: &Copy, root: &Folder, target: &Path, missing: &mut Vec<String>) -> Tried<()> {
    let glob = Glob::new(copy.source.trim_start_matches("./").trim_end_matches('/'));
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut found = false;
    let mut all = below(&copy.from)?;
    all.sort();
    for path in all {
        let within = path.strip_prefix(&copy.from).unwrap_or(&path).to_owned();
        let is_folder = named::itself(&path).is_ok_and(|found| found.is_dir());
        let is_matched = glob.matches(&within.to_string_lossy());
        if is_folder {
            folders.extend(is_matched.then_some(within));
            continue;
        }
        for folder in folders.iter().filter(|folder| within.starts_with(folder)) {
            let kept = within.strip_prefix(folder.parent().unwrap_or(Path::new(""))).unwrap_or(&within);
            copy_file(&path, root, &target.join(kept))?;
            found = true;
        }
        if is_matched {
            copy_file(&path, root, &target.join(within.file_name().unwrap_or_default()))?;
            found = true;
        }
    }
    if !found {
        missing.push(format!("`copyFrom` finds no `{}` in `{}`", copy.source, copy.from.display()));
    }
    Ok(())
}

/// The files below a folder that a pattern matches.
fn matches(folder: &Path, pattern: &str) -> Tried<Vec<PathBuf>> {
    let glob = Glob::new(pattern.trim_start_matches("./"));
    let files = below(folder)?.into_iter().filter(|path| !named::is_folder(path));
    let matched = files.filter(|path| {
        let within = path.strip_prefix(folder).unwrap_or(path);
        glob.covers(&within.to_string_lossy())
    });
    Ok(matched.collect())
}

/// Copies the artifacts of an action. Returns the patterns that matched nothing.
pub fn keep_artifacts(artifacts: &[Artifact], folder: &Path) -> Tried<Fetched> {
    let mut fetched = Fetched::default();
    for artifact in artifacts {
        let source = artifact.source.trim_start_matches("./").trim_end_matches('/');
        // The fixed part before a pattern is not repeated in the target, as with `cp`.
        let fixed = source.split('/').take_while(|part| !is_pattern(part)).collect::<Vec<_>>();
        let is_plain = fixed.len() == source.split('/').count();
        let base = match (is_plain, folder.join(source)) {
            (true, full) if named::is_folder(&full) => full,
            (true, full) => full.parent().unwrap_or(folder).to_owned(),
            (false, _) => folder.join(fixed.join("/")),
        };
        let found = matches(folder, source)?;
        if found.is_empty() {
            fetched.missing.push(format!("no file matches the artifact `{}`", artifact.source));
            continue;
        }
        let target = open_below(&artifact.root, &artifact.root.join(&artifact.target))?;
        for path in found {
            let within = path.strip_prefix(&base).unwrap_or(&path);
            copy_file(&path, &target, within)?;
            fetched.files.push(target.path().join(within));
        }
    }
    Ok(fetched)
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
        let files = vec![(PathBuf::from("a/b.txt"), None), (PathBuf::from("c.txt"), None)];
        let (root, source, target) = (top.clone(), top.join("src"), top.join("out"));
        let plan = Stage { root, source, files, target, copies: Vec::new() };
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
        let plan =
            Stage { root: top.clone(), source: target.clone(), files: Vec::new(), target: target.clone(), copies };
        let missing = stage(&plan).unwrap().missing;
        assert_eq!(missing.len(), 2, "{missing:?}");
        for file in ["dist/x.js", "dist/sub/y.js", "into/file", "renamed", "flat/x.js", "all/dist/sub/y.js"] {
            assert!(target.join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn content_decides_and_not_size_or_time() {
        let top = folder("content");
        let (source, out) = (top.join("src/a"), top.join("out/a"));
        write(&source, "one");
        let then = std::fs::metadata(&source).unwrap().modified().unwrap();
        let set_back = || File::options().append(true).open(&source).unwrap().set_modified(then).unwrap();
        let blob = |text: &str| Some(begin_blob(text.len() as u64).chain_update(text.as_bytes()).finalize().into());
        let plan = |text: &str| {
            let files = vec![(PathBuf::from("a"), blob(text))];
            let (root, source, target) = (top.clone(), top.join("src"), top.join("out"));
            stage(&Stage { root, source, files, target, copies: Vec::new() }).unwrap()
        };
        assert_eq!(plan("one").changed, None);
        let kept = std::fs::metadata(&out).unwrap().modified().unwrap();
        assert_eq!(plan("one").changed, None);
        assert_eq!(std::fs::metadata(&out).unwrap().modified().unwrap(), kept, "what is the same stays as it is");
        write(&source, "two");
        set_back();
        assert_eq!(plan("two").changed, None);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "two");
        assert!(std::fs::metadata(&out).unwrap().modified().unwrap() > kept, "tools that go by times see the change");
        assert_eq!(plan("three").changed.as_deref(), Some("a"), "what is used is not what was hashed");
    }

    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        use std::os::unix::fs::symlink;
        for link in ["out", "out/b", "out/a", "out/b/c"] {
            let top = folder("links");
            write(&top.join("victim/precious"), "precious");
            write(&top.join("project/src/a"), "a");
            write(&top.join("project/src/b/c"), "c");
            let at = top.join("project").join(link);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(top.join("victim"), &at).unwrap();
            let files = vec![(PathBuf::from("a"), None), (PathBuf::from("b/c"), None)];
            let root = top.join("project");
            let (source, target) = (root.join("src"), root.join("out"));
            let staged = stage(&Stage { root, source, files, target, copies: Vec::new() });
            assert_eq!(staged.is_err(), link == "out", "{link}");
            assert_eq!(below(&top.join("victim")).unwrap(), [top.join("victim/precious")], "{link}");
        }
    }
}
