//! Creating, listing and unpacking CSAR archives, for the native command and for `puccini-csar`.
//!
//! The format of archives is known to `purlin_tosca::archive`; this file reads folders and writes files. Archives are
//! not trusted: everything is read and checked before the first file is written, and nothing is written outside the
//! named folder.

use crate::border::{write_atomically, write_below};
use crate::invocation::{Exit, Invocation};
use crate::personality::Format;
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use purlin_host::named;
use purlin_tosca::archive::{self, Archive, Heading};
use purlin_value::world::FileKind;
use purlin_value::{Session, path};
use std::fmt::Write;
use std::path::Path;

/// Creates an archive of all files below a folder.
pub(crate) fn create(
    invocation: &mut Invocation<'_>,
    target: &Path,
    folder: &Path,
    heading: &Heading,
) -> Result<Exit, Exit> {
    let name = target.to_string_lossy().to_ascii_lowercase();
    if ![".csar", ".zip"].iter().any(|extension| name.ends_with(extension)) {
        let message = format!("`{}` must end with `.csar` or `.zip`", target.display());
        return Err(invocation.refuse(&message, Exit::Usage));
    }
    let full = invocation.cwd.join(folder);
    if !named::is_folder(&full) {
        return Err(invocation.refuse(&format!("`{}` is not a folder", folder.display()), Exit::Io));
    }
    let setup = Setup { root: Some(full), ..Setup::of(folder) };
    let (session, _) = open_session(invocation, &setup)?;
    let made = crate::native::canonical_or_same(invocation.cwd.join(target));
    let files = files_below(&session, &made).map_err(|(message, exit)| invocation.refuse(&message, exit))?;
    let bytes = archive::create(files, heading).map_err(|message| invocation.refuse(&message, Exit::Invalid))?;
    // An archive that cannot be read again is not written.
    if let Err(diagnostic) = Archive::open(&name, &bytes, &session.limits) {
        session.sink.push(diagnostic);
        return Err(report(invocation, &session, Style::given(invocation)));
    }
    let written = write_atomically(&invocation.cwd.join(target), &bytes);
    let refused = |error| invocation.refuse(&format!("cannot write `{}`: {error}", target.display()), Exit::Io);
    written.map(|()| Exit::Ok).map_err(refused)
}

/// Files with their names.
type Contents = Vec<(String, Vec<u8>)>;

/// All files below the root of a session, except for the archive that is being created and git's own files.
fn files_below(session: &Session, made: &Path) -> Result<Contents, (String, Exit)> {
    let mut files = Vec::new();
    let mut waiting = vec![".".to_owned()];
    let mut total = 0;
    while let Some(folder) = waiting.pop() {
        let entries = session.world.list(&folder).map_err(|error| (error.diagnostic(&folder).message, Exit::Io))?;
        for entry in entries {
            let name = path::join(&folder, &entry.name);
            if entry.kind == FileKind::Folder {
                if entry.name != ".git" {
                    waiting.push(name);
                }
                continue;
            }
            if Path::new(session.world.root()).join(&name) == made {
                continue;
            }
            let bytes = session.world.read(&name).map_err(|error| (error.diagnostic(&name).message, Exit::Io))?;
            total += bytes.len() as u64;
            let limits = &session.limits;
            if total > limits.archive_bytes || files.len() as u64 >= limits.archive_entries {
                let message = format!(
                    "the folder has more than {} bytes or {} files, the most an archive may have",
                    limits.archive_bytes, limits.archive_entries
                );
                return Err((message, Exit::Limit));
            }
            files.push((name, bytes.to_vec()));
        }
    }
    Ok(files)
}

/// Prints the metadata and the contents of an archive.
pub(crate) fn list(invocation: &mut Invocation<'_>, named: &Path) -> Result<Exit, Exit> {
    with_archive(invocation, named, |invocation, archive| {
        let mut text = String::new();
        for (name, value) in archive.metadata().map_err(Box::new)? {
            let _ = writeln!(text, "{name}: {value}");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let mut names: Vec<&str> = archive.names().collect();
        names.sort_unstable();
        for name in names {
            let _ = writeln!(text, "{:>10}  {name}", archive.size(name).unwrap_or(0));
        }
        Ok(invocation.print(&text))
    })
}

/// Prints the metadata of an archive as `puccini-csar meta` does.
pub(crate) fn meta(invocation: &mut Invocation<'_>, named: &Path, format: Format) -> Result<Exit, Exit> {
    with_archive(invocation, named, |invocation, archive| {
        let pairs = archive.metadata().map_err(Box::new)?;
        let entry = archive.entry("").map_err(Box::new)?;
        let get = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let version = |name: &str| get(name).unwrap_or("1.1").to_owned();
        let others = archive.others().map_err(Box::new)?;
        let written = format.write(|emit| {
            emit.begin_map(5);
            for (key, text) in [
                ("version", version("TOSCA-Meta-File-Version")),
                ("csarVersion", version("CSAR-Version")),
                ("createdBy", get("Created-By").unwrap_or("puccini-tosca").to_owned()),
                ("entryDefinitions", entry),
            ] {
                emit.key(key);
                emit.string(&text);
            }
            emit.key("otherDefinitions");
            emit.begin_list(others.len());
            others.iter().for_each(|other| emit.string(other));
            emit.end_list();
            emit.end_map();
        });
        let Ok(written) = written else { return Ok(Exit::Limit) };
        Ok(invocation.stdout.write_all(&written).map_or(Exit::Io, |()| Exit::Ok))
    })
}

/// Writes all files of an archive below a folder that does not exist yet, or is empty.
pub(crate) fn unpack(invocation: &mut Invocation<'_>, named: &Path, folder: &Path) -> Result<Exit, Exit> {
    let target = invocation.cwd.join(folder);
    if named::list(&target).is_ok_and(|mut entries| entries.next().is_some()) || named::is_file(&target) {
        return Err(invocation.refuse(&format!("`{}` is not an empty folder", folder.display()), Exit::Io));
    }
    with_archive(invocation, named, |invocation, archive| {
        let mut files = Vec::new();
        for name in archive.names() {
            files.push((name, archive.bytes(name).map_err(Box::new)?));
        }
        for (name, bytes) in files {
            if let Err(error) = write_below(&target, name, bytes) {
                return Ok(invocation.refuse(&format!("cannot write `{name}`: {error}"), Exit::Io));
            }
        }
        Ok(Exit::Ok)
    })
}

type Worked = Result<Exit, Box<purlin_syntax::Diagnostic>>;

/// Opens an archive and works with it; its problems are reported.
fn with_archive(
    invocation: &mut Invocation<'_>,
    named: &Path,
    work: impl FnOnce(&mut Invocation<'_>, &Archive) -> Worked,
) -> Result<Exit, Exit> {
    let (session, path) = open_session(invocation, &Setup::of(named))?;
    let opened = match session.world.read(&path) {
        Ok(bytes) => Archive::open(&path, &bytes, &session.limits),
        Err(error) => Err(error.diagnostic(&path)),
    };
    let worked = opened.map_err(Box::new).and_then(|archive| work(invocation, &archive));
    worked.map_err(|diagnostic| {
        session.sink.push(*diagnostic);
        report(invocation, &session, Style::given(invocation))
    })
}
