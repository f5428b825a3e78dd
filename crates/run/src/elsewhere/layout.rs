//! Lays out a result that is kept elsewhere: the folder holds exactly its files afterwards. Files that are there already
//! are not fetched. Nothing is written through a link, and no file is ever incomplete.

use crate::local::stage::{make_folder, open_below, remove_others};
use crate::request::{Observer, Progress};
use purlin_host::folder::{Folder as Opened, kind};
use purlin_remote::client::{Client, Stop};
use purlin_remote::store::Sink;
use purlin_remote::tree::{File, Folder, Seen};
use rustix::fs::FileType;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Small files are fetched in batches of this size.
const BATCH: u64 = 8 << 20;

/// A file of a tree with its path.
type Wanted<'t> = (String, &'t File);

/// Lays out a tree in a folder of a project.
pub fn lay_out(
    client: &Client,
    tree: &Folder,
    (root, folder): (&Path, &Path),
    stop: Stop<'_>,
    observer: &mut dyn Observer,
) -> Result<(), String> {
    let target = open_below(root, folder).map_err(|error| error.to_string())?;
    let all = tree.walk();
    let wanted: BTreeSet<&Path> =
        all.iter().filter(|(_, seen)| *seen != Seen::Folder).map(|(path, _)| Path::new(path.as_str())).collect();
    remove_others(&target, &wanted).map_err(|error| error.to_string())?;
    let mut files: Vec<Wanted<'_>> = Vec::new();
    for (path, seen) in &all {
        match seen {
            Seen::Folder => make_folder(&target, Path::new(path)).map(|_| ()).map_err(|error| error.to_string())?,
            Seen::Link(leads) => link(&target, path, leads)?,
            Seen::File(file) if is_there(client, &target, path, file) => {}
            Seen::File(file) => files.push((path.clone(), *file)),
        }
    }
    if !files.is_empty() {
        observer.progress(Progress::Downloading(files.iter().map(|(_, file)| file.digest.size).sum()));
    }
    fetch(client, &target, &files, stop)
}

fn failed(path: &str) -> impl Fn(io::Error) -> String + '_ {
    move |error| format!("could not write `{path}`: {error}")
}

/// The folder of a path, made if it is not there, and the name in it.
fn place<'p>(target: &Opened, path: &'p str) -> Result<(Opened, &'p str), String> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = make_folder(target, Path::new(above)).map_err(|error| error.to_string())?;
    Ok((folder, name))
}

fn link(target: &Opened, path: &str, leads: &str) -> Result<(), String> {
    let (folder, name) = place(target, path)?;
    if folder.read_link(name).is_ok_and(|there| there == OsStr::new(leads)) {
        return Ok(());
    }
    if folder.stat(name).is_ok() {
        folder.remove(name).map_err(failed(path))?;
    }
    folder.link(OsStr::new(leads), name).map_err(failed(path))
}

/// Whether a file has this content already; its mode is set.
fn is_there(client: &Client, target: &Opened, path: &str, file: &File) -> bool {
    let Ok((folder, name)) = place(target, path) else { return false };
    let Ok(mut there) = folder.open_file(name) else { return false };
    let is_long = there.metadata().is_ok_and(|found| found.is_file() && found.len() == file.digest.size);
    let digest = is_long.then(|| client.function().hasher().read(&mut there, &mut |_| {}).ok()).flatten();
    digest == Some(file.digest) && set_mode(&there, file).is_ok()
}

fn set_mode(there: &std::fs::File, file: &File) -> io::Result<()> {
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    if there.metadata()?.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    there.set_permissions(std::fs::Permissions::from_mode(mode))
}

fn fetch(client: &Client, target: &Opened, files: &[Wanted<'_>], stop: Stop<'_>) -> Result<(), String> {
    let words = |trouble: purlin_remote::trouble::Trouble| trouble.to_string();
    let (small, large): (Vec<_>, Vec<_>) = files.iter().partition(|(_, file)| file.digest.size <= BATCH / 8);
    for (path, file) in large {
        write(target, path, file, &mut |to| client.fetch(file.digest, to, stop).map_err(words))?;
    }
    let mut rest = small.as_slice();
    while !rest.is_empty() {
        let mut size = 0;
        let count = rest.iter().take_while(|(_, file)| {
            size += file.digest.size + 1;
            size <= BATCH
        });
        let count = count.count().max(1);
        let (batch, left) = rest.split_at(count.min(rest.len()));
        let digests: Vec<_> = batch.iter().map(|(_, file)| file.digest).collect();
        let found = client.read_all(&digests, stop).map_err(words)?;
        for (path, file) in batch {
            let bytes = found.get(&file.digest).map(Vec::as_slice).unwrap_or_default();
            write(target, path, file, &mut |to| to.write_all(bytes).map_err(failed(path)))?;
        }
        rest = left;
    }
    Ok(())
}

/// Writes a file under a temporary name, and renames it.
fn write(
    target: &Opened,
    path: &str,
    file: &File,
    fill: &mut dyn FnMut(&mut dyn Sink) -> Result<(), String>,
) -> Result<(), String> {
    let (folder, name) = place(target, path)?;
    if folder.stat(name).is_ok_and(|there| kind(&there) != FileType::RegularFile) {
        folder.remove(name).map_err(failed(path))?;
    }
    let beside =
        format!(".purlin-{}-{:x}", std::process::id(), COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let made = folder.create(&beside).map_err(failed(path))?;
    let mut made = Fresh(made);
    let written = fill(&mut made).and_then(|()| {
        set_mode(&made.0, file).map_err(failed(path))?;
        folder.rename(&beside, name).map_err(failed(path))
    });
    written.inspect_err(|_| {
        let _ = folder.remove(&beside);
    })
}

/// Numbers temporary names.
static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// A file that is being written.
struct Fresh(std::fs::File);

impl Write for Fresh {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Sink for Fresh {
    fn restart(&mut self) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.seek(SeekFrom::Start(0)).map(|_| ())
    }
}
