//! Opened folders: everything reached through one is below it.
//!
//! A path is judged by its name, and then opened below a folder that was opened before, where the system itself refuses
//! to leave (`openat2` with `RESOLVE_BENEATH`, otherwise the same walk step by step). A link that is swapped in between
//! can make a call fail, but cannot lead it outside. This file knows nothing of permissions.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use cap_tempfile::TempFile;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder, or a single file, that may be used with everything below it. Opened when first asked for.
pub struct Root {
    path: PathBuf,
    opened: OnceLock<Option<(PathBuf, Dir)>>,
}

impl Root {
    /// A root. Its path holds no links.
    pub fn new(path: PathBuf) -> Self {
        Root { path, opened: OnceLock::new() }
    }

    /// Whether a path is below this root by its name.
    pub fn holds(&self, full: &Path) -> bool {
        beneath(&self.path, full).is_some() || full.starts_with(&self.path)
    }

    /// Length of its path in bytes: of two roots that hold a path, the longer one is nearer.
    pub fn depth(&self) -> usize {
        self.path.as_os_str().len()
    }

    /// The opened folder and the path below it.
    fn below<'p>(&self, full: &'p Path) -> Result<(&Dir, &'p Path)> {
        let opened = self.opened.get_or_init(|| open(&self.path).ok());
        let (base, dir) = opened.as_ref().ok_or_else(|| Error::from(ErrorKind::NotFound))?;
        let rest = beneath(base, full).or_else(|| full.strip_prefix(base).ok()).ok_or_else(escape)?;
        Ok((dir, if rest.as_os_str().is_empty() { Path::new(".") } else { rest }))
    }

    /// Opens a file for reading. Does not block on a pipe without a writer.
    pub fn open(&self, full: &Path) -> Result<File> {
        let (dir, rest) = self.below(full)?;
        let mut options = OpenOptions::new();
        options.read(true);
        do_not_wait(&mut options);
        dir.open_with(rest, &options)
    }

    /// Metadata of an entry; links are followed.
    pub fn metadata(&self, full: &Path) -> Result<Metadata> {
        let (dir, rest) = self.below(full)?;
        dir.metadata(rest)
    }

    /// The entries of a folder.
    pub fn list(&self, full: &Path) -> Result<cap_std::fs::ReadDir> {
        let (dir, rest) = self.below(full)?;
        dir.read_dir(rest)
    }

    /// The target of a link, as written.
    pub fn read_link(&self, full: &Path) -> Result<PathBuf> {
        let (dir, rest) = self.below(full)?;
        dir.read_link_contents(rest)
    }

    /// Creates a folder and its parents.
    pub fn create_folder(&self, full: &Path) -> Result<()> {
        let (dir, rest) = self.below(full)?;
        if rest.as_os_str().is_empty() { Ok(()) } else { dir.create_dir_all(rest) }
    }

    /// Writes a file and creates its parent folders.
    pub fn write(&self, full: &Path, bytes: &[u8]) -> Result<()> {
        let (dir, rest) = self.below(full)?;
        let name = rest.file_name().ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
        match rest.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            None => replace(dir, name, bytes),
            Some(folder) => {
                dir.create_dir_all(folder)?;
                replace(&dir.open_dir(folder)?, name, bytes)
            }
        }
    }
}

/// Replaces a file below a folder as a whole. A link in its place is kept, and its target replaced, unless it leads out
/// of the folder.
pub fn rewrite_below(folder: &Path, file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = folder.canonicalize()?;
    let full = match file.canonicalize() {
        Ok(full) => full,
        Err(error) if error.kind() == ErrorKind::NotFound => folder.join(file),
        Err(error) => return Err(error),
    };
    Root::new(folder).write(&full, bytes)
}

/// Appends to a regular file below a folder, creating it if missing.
pub fn append_below(folder: &Path, file: &Path, bytes: &[u8]) -> Result<()> {
    let root = Root::new(folder.to_owned());
    let (dir, rest) = root.below(file)?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    do_not_wait(&mut options);
    let mut opened = dir.open_with(rest, &options)?;
    if !opened.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    opened.write_all(bytes)
}

/// The rest of a path whose text starts with that of a folder. Nearly all do, and comparing parts costs much more.
fn beneath<'p>(folder: &Path, full: &'p Path) -> Option<&'p Path> {
    let rest = full.to_str()?.strip_prefix(folder.to_str()?)?;
    if rest.is_empty() {
        return Some(Path::new(rest));
    }
    rest.strip_prefix('/').filter(|rest| !rest.starts_with('/')).map(Path::new)
}

/// Whether a call failed because it would have left the folder, not because the system denied it.
pub fn is_escape(error: &Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn escape() -> Error {
    Error::new(ErrorKind::PermissionDenied, "the path leads out of the folder")
}

/// A folder itself, or the folder of a file.
fn open(path: &Path) -> Result<(PathBuf, Dir)> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    Ok((folder.to_owned(), Dir::open_ambient_dir(folder, ambient_authority())?))
}

#[cfg(unix)]
fn do_not_wait(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

#[cfg(not(unix))]
fn do_not_wait(_options: &mut OpenOptions) {}

/// Puts a file into an opened folder, whole or not at all. The temporary file has a random, unused name; a link under
/// the final name is replaced, never followed.
fn replace(folder: &Dir, name: &std::ffi::OsStr, bytes: &[u8]) -> Result<()> {
    let before = folder.symlink_metadata(name).ok().filter(Metadata::is_file);
    let mut temporary = TempFile::new(folder)?;
    temporary.write_all(bytes)?;
    if let Some(before) = before {
        temporary.as_file().set_permissions(before.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.replace(name)
}

/// Writes a file that the user named, whole or not at all. Devices and pipes are written to as they are. Inside a
/// repository no folder on the way may be a link that leads out of it: links come with a clone.
pub fn write_atomically(full: &Path, bytes: &[u8]) -> Result<()> {
    let name = full.file_name().ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
    if is_stream(full) {
        // Held until the other is open, so that a reader does not see an end in between.
        let _held = open_read_pipe(full)?;
        return std::fs::OpenOptions::new().write(true).open(full)?.write_all(bytes);
    }
    if let Some(repository) = repository_above(full) {
        return Root::new(repository.to_owned()).write(full, bytes);
    }
    let folder = full.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    replace(&Dir::open_ambient_dir(folder, ambient_authority())?, name, bytes)
}

/// Opens a non-regular file without blocking: a pipe without a reader is an error.
fn open_read_pipe(full: &Path) -> Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options.write(true).open(full)
}

/// The repository that contains a path, by its name. A link to a repository elsewhere does not count.
fn repository_above(full: &Path) -> Option<&Path> {
    let is_plain = |part: std::path::Component<'_>| !matches!(part, std::path::Component::ParentDir);
    let is_real = |folder: &&Path| folder.canonicalize().is_ok_and(|real| real == **folder);
    let mut above = full.ancestors().skip(1).filter(|_| full.is_absolute() && full.components().all(is_plain));
    above.find(|folder| folder.join(".git").symlink_metadata().is_ok() && is_real(folder))
}

/// Removes a file below a folder that the user named.
pub fn remove_file_below(folder: &Path, path: &str) -> Result<()> {
    let root = Root::new(folder.to_owned());
    let full = folder.join(path);
    let (dir, rest) = root.below(&full)?;
    dir.remove_file(rest)
}

/// Removes a folder and its contents below a folder that the user named. A link is not a folder.
pub fn remove_folder_below(folder: &Path, path: &str) -> Result<()> {
    let root = Root::new(folder.to_owned());
    let full = folder.join(path);
    let (dir, rest) = root.below(&full)?;
    match dir.symlink_metadata(rest) {
        Ok(there) if there.is_dir() => dir.remove_dir_all(rest),
        Ok(_) => Err(Error::new(ErrorKind::NotADirectory, "it is not a folder")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes a file below a folder that the user named. Its path comes from configuration and may not leave the folder.
pub fn write_below(folder: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    Root::new(folder.to_owned()).write(&folder.join(path), bytes)
}

/// The beginning of a regular file below a folder; links that lead out of the folder are refused, and pipes do not
/// block. More bytes than requested mean that the file is longer.
pub fn read_below(folder: &Path, full: &Path, most: u64) -> Result<Vec<u8>> {
    let file = Root::new(folder.to_owned()).open(full)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a path is not a regular file: `/dev/stdout`, `/dev/null`, a pipe.
fn is_stream(full: &Path) -> bool {
    let is_device = full.starts_with("/dev") || full.starts_with("/proc");
    full.metadata().is_ok_and(|there| is_device || !(there.is_file() || there.is_dir()))
}
