//! Paths that the user named, and those of the system: their links are followed, because they are the user's own.
//!
//! Paths that only a project names are not handled here: they are opened below a [`crate::border::Root`] or a
//! [`crate::folder::Folder`]. Reading is bounded, and nothing here blocks on a pipe unless documented.

use rustix::fs::OFlags;
use std::fs::{File, Metadata, ReadDir};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Size limit for settings files, lists of images and the like.
pub const LARGEST: u64 = 16 << 20;

/// Whether the path exists; links are followed.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// Whether a marker exists that may decide what belongs to a folder below it. A marker that another user has put into a
/// world-writable folder does not count; nor does a dangling link.
pub fn speaks_for(path: &Path, folder: &Path) -> bool {
    let Ok(there) = itself(path) else { return false };
    let owner = there.uid();
    let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    (is_ours || metadata(folder).is_ok_and(|folder| folder.uid() == owner)) && path.exists()
}

/// Whether it is a regular file, or a link to one.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether it is a folder, or a link to one.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Metadata; links are followed.
pub fn metadata(path: &Path) -> Result<Metadata> {
    std::fs::metadata(path)
}

/// Metadata of the entry itself: a link is a link.
pub fn itself(path: &Path) -> Result<Metadata> {
    std::fs::symlink_metadata(path)
}

/// The target of a link, as written.
pub fn read_link(path: &Path) -> Result<PathBuf> {
    std::fs::read_link(path)
}

/// The path without links.
pub fn canonical(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// The entries of a folder.
pub fn list(path: &Path) -> Result<ReadDir> {
    std::fs::read_dir(path)
}

/// Opens a regular file for reading. Pipes and devices are refused without blocking.
pub fn open(path: &Path) -> Result<File> {
    open_with(path, OFlags::empty())
}

/// The same; a link in its place is refused.
pub fn open_itself(path: &Path) -> Result<File> {
    open_with(path, OFlags::NOFOLLOW)
}

fn open_with(path: &Path, more: OFlags) -> Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | more;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Reads a regular file up to a maximum size.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_all(open(path)?, most)
}

/// The same as text.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    text(read(path, most)?)
}

/// Reads the file that an option or a variable names; it may be a pipe, which can block.
pub fn stream(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_all(File::open(path)?, most)
}

/// The same as text.
pub fn stream_text(path: &Path, most: u64) -> Result<String> {
    text(stream(path, most)?)
}

fn read_all(file: File, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Error::new(ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))),
        false => Ok(bytes),
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Creates a folder and its parents.
pub fn create_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates a new file, accessible only to the user.
pub fn create_private(path: &Path) -> Result<File> {
    File::options().create_new(true).write(true).mode(0o600).open(path)
}

/// Lets the user, and only the user, execute a file.
#[cfg(unix)]
pub fn make_executable(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
}

/// Lets the user, and only the user, execute a file.
#[cfg(not(unix))]
pub fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}

/// Renames a file.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
}

/// Removes a file; links are removed, not followed.
pub fn remove_file(path: &Path) -> Result<()> {
    std::fs::remove_file(path)
}

/// Removes a folder and its contents; links in it are not followed.
pub fn remove_folder(path: &Path) -> Result<()> {
    std::fs::remove_dir_all(path)
}

/// Copies a file.
pub fn copy(from: &Path, to: &Path) -> Result<u64> {
    std::fs::copy(from, to)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pipes_devices_and_large_files_are_refused_without_waiting() {
        let folder = std::env::temp_dir().join(format!("purlin-named-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        let _ = std::fs::remove_file(&pipe);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(read(&pipe, 10).is_err() && read(Path::new("/dev/zero"), 10).is_err() && read(&folder, 10).is_err());
        let file = folder.join("file");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(read_text(&file, 10).unwrap(), "0123456789");
        assert!(read(&file, 9).unwrap_err().to_string().contains("larger than 9 bytes"));
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn what_another_user_has_put_above_does_not_count() {
        let folder = std::env::temp_dir().join(format!("purlin-named-owner-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("project")).unwrap();
        let marker = folder.join("purlin.toml");
        std::fs::write(&marker, "").unwrap();
        let project = folder.join("project");
        assert!(speaks_for(&marker, &project) && !speaks_for(&folder.join("missing"), &project));
        // Only root can hand a file to another user.
        if std::os::unix::fs::chown(&marker, Some(12_345), None).is_ok() {
            assert!(!speaks_for(&marker, &project));
            std::os::unix::fs::chown(&project, Some(12_345), None).unwrap();
            assert!(speaks_for(&marker, &project));
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
}
