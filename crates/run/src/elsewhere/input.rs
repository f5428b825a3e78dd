//! The input of an action as a tree of contents: its files, and outputs of Builds on top, by the rules by which they are
//! laid out on this machine ([`crate::local::stage`]).

use crate::action::{Baggage, Copy};
use crate::local::stage::{is_pattern, stays_inside};
use purlin_host::named;
use purlin_remote::digest::{Digest, Function};
use purlin_remote::source::{Source, Sources};
use purlin_remote::tree::{Entry, File, Folder, Seen};
use purlin_value::glob::Glob;
use sha1::{Digest as _, Sha1};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Folders of tools, which are not results of an action.
const OF_TOOLS: [&str; 3] = [".git", ".garden", crate::store::FOLDER];

/// What a file looked like when it was hashed: size, inode and two times.
type Look = (u64, u64, (i64, i64), (i64, i64));

/// Both digests of a file.
type Known = (Digest, [u8; 20]);

/// Hashes files, each once as long as it looks the same.
pub struct Hashes {
    function: Function,
    known: Mutex<HashMap<PathBuf, (Look, Known)>>,
}

impl Hashes {
    /// No file has been hashed yet.
    pub fn new(function: Function) -> Self {
        Hashes { function, known: Mutex::default() }
    }

    fn look(found: &std::fs::Metadata) -> Look {
        let modified = (found.mtime(), found.mtime_nsec());
        (found.size(), found.ino(), modified, (found.ctime(), found.ctime_nsec()))
    }

    /// The digests of a regular file, and whether it can be executed.
    fn of(&self, path: &Path) -> io::Result<(Known, bool)> {
        let mut file = named::open_itself(path)?;
        let found = file.metadata()?;
        let (look, is_executable) = (Self::look(&found), found.permissions().mode() & 0o111 != 0);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        if let Some((_, known)) = known.filter(|(then, _)| *then == look) {
            return Ok((known, is_executable));
        }
        let mut blob = Sha1::new_with_prefix(format!("blob {}\0", found.len()).as_bytes());
        let digest = self.function.hasher().read(&mut file, &mut |piece| blob.update(piece))?;
        let known = (digest, blob.finalize().into());
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (look, known));
        Ok((known, is_executable))
    }

    /// Everything below a folder of this machine, as its Build left it.
    pub fn folder(&self, folder: &Path, sources: &mut Sources) -> io::Result<Folder> {
        let mut tree = Folder::default();
        let mut open = vec![(folder.to_owned(), String::new())];
        while let Some((at, inside)) = open.pop() {
            for entry in named::list(&at)? {
                let entry = entry?;
                let name = name_of(entry.file_name())?;
                if inside.is_empty() && OF_TOOLS.contains(&name.as_str()) {
                    continue;
                }
                let path = if inside.is_empty() { name } else { format!("{inside}/{name}") };
                if entry.file_type()?.is_dir() {
                    tree.folder(&path);
                    open.push((entry.path(), path));
                } else if let Some((entry, _)) = self.entry(&entry.path(), sources)? {
                    tree.put(&path, entry);
                }
            }
        }
        Ok(tree)
    }

    /// A file or a link, with git's digest of it; none for anything else.
    fn entry(&self, path: &Path, sources: &mut Sources) -> io::Result<Option<(Entry, [u8; 20])>> {
        let found = named::itself(path)?;
        if found.is_symlink() {
            let target = named::read_link(path)?.into_os_string();
            let target = name_of(target)?;
            let blob = Sha1::new_with_prefix(format!("blob {}\0{target}", target.len()).as_bytes());
            return Ok(Some((Entry::Link(target), blob.finalize().into())));
        }
        if !found.is_file() {
            return Ok(None);
        }
        let ((digest, blob), is_executable) = self.of(path)?;
        sources.insert(digest, Source::File(path.to_owned()));
        Ok(Some((Entry::File(File { digest, is_executable }), blob)))
    }
}

fn name_of(name: std::ffi::OsString) -> io::Result<String> {
    let refused = |name: std::ffi::OsString| io::Error::other(format!("the name {name:?} is not UTF-8"));
    name.into_string().map_err(refused)
}

/// The input of an action.
#[derive(Debug, Default)]
pub struct Input {
    /// The folder that it works in.
    pub tree: Folder,
    /// Where its contents are.
    pub sources: Sources,
    /// What `copyFrom` did not find.
    pub missing: Vec<String>,
    /// A file whose content is not the expected one.
    pub changed: Option<String>,
}

/// Gathers the input of an action. `kept` knows the results of Builds that are not on this machine.
pub fn gather(baggage: &Baggage, hashes: &Hashes, kept: &dyn Fn(&Path) -> Option<Folder>) -> Result<Input, String> {
    let mut input = Input::default();
    if let Some(base) = &baggage.base {
        input.tree = built(base, hashes, kept, &mut input.sources)?;
    }
    for (file, expected) in &baggage.files {
        let path = baggage.source.join(file);
        let failed = |error: io::Error| format!("could not read `{}`: {error}", path.display());
        let inside = name_of(file.clone().into_os_string()).map_err(failed)?;
        let Some((entry, blob)) = hashes.entry(&path, &mut input.sources).map_err(failed)? else { continue };
        if expected.is_some_and(|expected| expected != blob) && input.changed.is_none() {
            input.changed = Some(inside.clone());
        }
        input.tree.put(&inside, entry);
    }
    for copy in &baggage.copies {
        let from = built(&copy.from, hashes, kept, &mut input.sources)?;
        copy_from(copy, &from, &mut input.tree, &mut input.missing);
    }
    Ok(input)
}

/// The result of a Build, wherever it is.
fn built(
    folder: &Path,
    hashes: &Hashes,
    kept: &dyn Fn(&Path) -> Option<Folder>,
    sources: &mut Sources,
) -> Result<Folder, String> {
    if let Some(tree) = kept(folder) {
        return Ok(tree);
    }
    match hashes.folder(folder, sources) {
        Ok(tree) => Ok(tree),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Folder::default()),
        Err(error) => Err(format!("could not read `{}`: {error}", folder.display())),
    }
}

/// A path without `.` and `..`; it was checked to stay inside.
fn inside(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.extend(name.to_str()),
            Component::ParentDir => {
                parts.pop();
            }
            _ => {}
        }
    }
    parts.join("/")
}

fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}

fn copy_from(copy: &Copy, from: &Folder, to: &mut Folder, missing: &mut Vec<String>) {
    if !stays_inside(&copy.source) || !stays_inside(&copy.target) {
        missing.push(format!("`copyFrom` leaves its folder: `{}` to `{}`", copy.source, copy.target));
        return;
    }
    let lacks = || format!("`copyFrom` finds no `{}` in `{}`", copy.source, copy.from.display());
    let target = inside(&copy.target);
    if is_pattern(&copy.source) {
        if !copy_matches(copy, from, to, &target) {
            missing.push(lacks());
        }
        return;
    }
    let source = inside(&copy.source);
    let Some(entry) = from.get(&source) else {
        missing.push(lacks());
        return;
    };
    let name = source.rsplit('/').next().unwrap_or_default();
    let target = if copy.target == "." { name.to_owned() } else { target };
    match entry {
        Entry::Folder(_) => put_at(to, &target, entry),
        entry => {
            let into = copy.target.ends_with('/') || matches!(to.get(&target), Some(Entry::Folder(_)));
            put_at(to, &if into { join(&target, name) } else { target }, entry);
        }
    }
}

/// Copies the matches of a pattern: a file under its own name, a folder with its contents.
fn copy_matches(copy: &Copy, from: &Folder, to: &mut Folder, target: &str) -> bool {
    let glob = Glob::new(copy.source.trim_start_matches("./").trim_end_matches('/'));
    let mut all = from.walk();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let mut folders: Vec<String> = Vec::new();
    let mut found = false;
    for (path, seen) in all {
        let entry = match seen {
            Seen::File(file) => Entry::File(*file),
            Seen::Link(link) => Entry::Link(link.to_owned()),
            Seen::Folder => {
                if glob.matches(&path) {
                    folders.push(path);
                }
                continue;
            }
        };
        for folder in folders.iter().filter(|folder| path.starts_with(&format!("{folder}/"))) {
            let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
            let kept = path.strip_prefix(above).unwrap_or(&path).trim_start_matches('/');
            put_at(to, &join(target, kept), entry.clone());
            found = true;
        }
        if glob.matches(&path) {
            let name = path.rsplit('/').next().unwrap_or_default();
            put_at(to, &join(target, name), entry);
            found = true;
        }
    }
    found
}

/// Puts something at a path that may be the folder itself: only a folder can replace that, and it is merged.
fn put_at(tree: &mut Folder, path: &str, entry: Entry) {
    if !path.is_empty() || matches!(entry, Entry::Folder(_)) {
        tree.put(path, entry);
    }
}
