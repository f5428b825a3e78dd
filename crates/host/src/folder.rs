//! Opened folders whose entries are reached by name, and never through a link.
//!
//! A repository can bring links, pipes and devices under names that we use. Everything here is opened below a folder
//! that was opened before, one name at a time; anything but a folder or a regular file of our own is refused. Knows
//! nothing of the contents of files.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Permissions of private files and folders.
const PRIVATE_FOLDER: Mode = Mode::RWXU;
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An opened folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

/// Whether a folder is private or has the usual permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only the user may use it, and it must belong to them.
    Private,
    /// According to the user's umask.
    Usual,
}

fn refused(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("`{}` {what}; remove it", path.display()))
}

impl Folder {
    /// Opens a folder that the user named; links in its path are the user's own.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Folder { fd, path: path.to_owned() })
    }

    /// Its path, for messages and for child processes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it. A link in its place is refused.
    pub fn child(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = name.as_ref();
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, one_name(name)?, flags, Mode::empty()) {
            Ok(fd) => Ok(Folder { fd, path }),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(self.why_no_folder(name, &path)),
            Err(error) => Err(error.into()),
        }
    }

    fn why_no_folder(&self, name: &OsStr, path: &Path) -> io::Error {
        let is_link = self.stat(name).is_ok_and(|found| kind(&found) == FileType::Symlink);
        refused(path, if is_link { "is a link, not a folder" } else { "is not a folder" })
    }

    /// The same, created if missing.
    pub fn make_child(&self, name: impl AsRef<OsStr>, access: Access) -> io::Result<Folder> {
        let name = name.as_ref();
        let mode = match access {
            Access::Private => PRIVATE_FOLDER,
            Access::Usual => Mode::from_raw_mode(0o777),
        };
        match rustix::fs::mkdirat(&self.fd, one_name(name)?, mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let child = self.child(name)?;
        if access == Access::Private {
            child.make_private()?;
        }
        Ok(child)
    }

    fn make_private(&self) -> io::Result<()> {
        let found = rustix::fs::fstat(&self.fd)?;
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused(&self.path, &format!("belongs to another user (uid {})", found.st_uid)));
        }
        if found.st_mode & 0o777 != 0o700 {
            rustix::fs::fchmod(&self.fd, PRIVATE_FOLDER)?;
        }
        Ok(())
    }

    /// A folder below it, reached by single names.
    pub fn below(&self, path: &Path) -> io::Result<Folder> {
        self.walk(path, |folder, name| folder.child(name))
    }

    /// The same, creating every folder on the way.
    pub fn make_below(&self, path: &Path, access: Access) -> io::Result<Folder> {
        self.walk(path, |folder, name| folder.make_child(name, access))
    }

    fn walk(&self, path: &Path, step: impl Fn(&Folder, &OsStr) -> io::Result<Folder>) -> io::Result<Folder> {
        let mut at = Folder { fd: self.fd.try_clone()?, path: self.path.clone() };
        for part in path.components() {
            match part {
                Component::Normal(name) => at = step(&at, name)?,
                Component::CurDir => {}
                _ => return Err(refused(&self.path.join(path), "leads out of its folder")),
            }
        }
        Ok(at)
    }

    /// The status of an entry; a link is not followed.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.fd, one_name(name.as_ref())?, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a file for reading. Links, pipes and devices are refused without blocking.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_regular(name.as_ref(), OFlags::RDONLY)
    }

    /// Reads a file of at most `most` bytes.
    pub fn read(&self, name: impl AsRef<OsStr>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name.as_ref())?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > most {
            true => Err(refused(&self.path.join(name.as_ref()), &format!("is larger than {most} bytes"))),
            false => Ok(bytes),
        }
    }

    /// Opens a file of our own for reading and appending, created if missing.
    pub fn open_own(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        let file = self.open_regular(name, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
        let found = rustix::fs::fstat(&file)?;
        let path = self.path.join(name);
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused(&path, &format!("belongs to another user (uid {})", found.st_uid)));
        }
        if found.st_nlink > 1 {
            return Err(refused(&path, "is a file that has other names as well"));
        }
        if found.st_mode & 0o777 != 0o600 {
            rustix::fs::fchmod(&file, PRIVATE_FILE)?;
        }
        Ok(file)
    }

    fn open_regular(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let path = self.path.join(name);
        let fd = match rustix::fs::openat(&self.fd, one_name(name)?, flags, PRIVATE_FILE) {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::MLINK) => return Err(refused(&path, "is a link, not a file")),
            Err(Errno::NXIO | Errno::ISDIR | Errno::NODEV) => return Err(refused(&path, "is not a file")),
            Err(error) => return Err(error.into()),
        };
        match kind(&rustix::fs::fstat(&fd)?) {
            FileType::RegularFile => Ok(File::from(fd)),
            _ => Err(refused(&path, "is not a file")),
        }
    }

    /// Creates a new file, replacing any entry with its name. The target of a replaced link is not changed.
    pub fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            match rustix::fs::openat(&self.fd, one_name(name)?, flags, PRIVATE_FILE) {
                Ok(fd) => return Ok(File::from(fd)),
                Err(Errno::EXIST) => self.remove(name)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes a file as a whole: it has its old content, or the new one.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8], mode: u32) -> io::Result<()> {
        let name = name.as_ref();
        let beside = beside(name);
        let written = self.create(&beside).and_then(|mut file| {
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
            file.sync_data()?;
            self.rename(&beside, name)
        });
        written.inspect_err(|_| {
            let _ = self.remove(&beside);
        })
    }

    /// Creates a folder that must not exist yet.
    pub fn make_new(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, one_name(name.as_ref())?, PRIVATE_FOLDER)?)
    }

    /// Creates a link to a target.
    pub fn link(&self, target: &OsStr, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.fd, one_name(name.as_ref())?)?)
    }

    /// The target of a link, as written.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<OsString> {
        let target = rustix::fs::readlinkat(&self.fd, one_name(name.as_ref())?, Vec::new())?;
        Ok(OsStr::from_bytes(target.as_bytes()).to_owned())
    }

    /// Renames an entry in the same folder.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, one_name(from.as_ref())?, &self.fd, one_name(to.as_ref())?)?)
    }

    /// Removes an entry, a folder with everything in it. A link is removed, not followed.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = name.as_ref();
        match rustix::fs::unlinkat(&self.fd, one_name(name)?, AtFlags::empty()) {
            Ok(()) => Ok(()),
            // Linux returns the first for a folder, other systems the second.
            Err(Errno::ISDIR | Errno::PERM) => self.remove_folder(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder if it is empty.
    pub fn remove_empty(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, one_name(name.as_ref())?, AtFlags::REMOVEDIR)?)
    }

    /// Folders inside are moved up before they are emptied, so that no depth needs more than two open folders.
    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        let mut open = vec![name.to_owned()];
        while let Some(next) = open.pop() {
            let folder = self.child(&next)?;
            // A folder that a command left may not be readable even for its owner.
            let _ = rustix::fs::fchmod(&folder.fd, PRIVATE_FOLDER);
            for entry in folder.names()? {
                match rustix::fs::unlinkat(&folder.fd, &entry, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(Errno::ISDIR | Errno::PERM) => {
                        let _ = rustix::fs::chmodat(&folder.fd, &entry, PRIVATE_FOLDER, AtFlags::empty());
                        let moved = beside(name);
                        rustix::fs::renameat(&folder.fd, &entry, &self.fd, &moved)?;
                        open.push(moved);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.remove_empty(&next)?;
        }
        Ok(())
    }

    /// The names of its entries, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }
}

/// The file type of an entry.
pub fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// A name without a slash, so that the system cannot be led elsewhere.
fn one_name(name: &OsStr) -> io::Result<&OsStr> {
    let is_one = !name.as_bytes().contains(&b'/') && !matches!(name.as_bytes(), b"" | b"." | b"..");
    is_one.then_some(name).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// An unused name, for an entry that does not have its final name yet or has it no longer.
fn beside(name: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // Long names must stay within the limits of file systems.
    let short = name.as_bytes().get(..name.len().min(180)).unwrap_or_default();
    let mut beside = OsString::from(".");
    beside.push(OsStr::from_bytes(short));
    beside.push(format!(".{}-{number}", std::process::id()));
    beside
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder(name: &str) -> (PathBuf, Folder) {
        let top = std::env::temp_dir().join(format!("purlin-folder-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("in")).unwrap();
        std::fs::create_dir_all(top.join("victim/deep")).unwrap();
        std::fs::write(top.join("victim/precious"), "precious").unwrap();
        let opened = Folder::open(&top.join("in")).unwrap();
        (top, opened)
    }

    fn is_whole(top: &Path) -> bool {
        std::fs::read_to_string(top.join("victim/precious")).is_ok_and(|text| text == "precious")
            && top.join("victim/deep").is_dir()
    }

    #[test]
    fn nothing_is_done_through_a_link() {
        let (top, opened) = folder("links");
        symlink("../victim", top.join("in/folder")).unwrap();
        symlink("../victim/precious", top.join("in/file")).unwrap();
        for error in [
            opened.child("folder").unwrap_err(),
            opened.make_child("folder", Access::Private).unwrap_err(),
            opened.make_below(Path::new("folder/deep"), Access::Usual).unwrap_err(),
            opened.open_file("file").unwrap_err(),
            opened.open_own("file").unwrap_err(),
        ] {
            assert!(error.to_string().contains("is a link"), "{error}");
        }
        opened.create("file").unwrap().write_all(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(top.join("in/file")).unwrap(), "new");
        symlink("../../victim", top.join("in/inner-link")).unwrap();
        std::fs::create_dir(top.join("in/tree")).unwrap();
        symlink("../../victim", top.join("in/tree/link")).unwrap();
        opened.remove("tree").unwrap();
        opened.remove("folder").unwrap();
        assert!(is_whole(&top) && !top.join("in/tree").exists());
    }

    #[test]
    fn pipes_devices_and_shared_files_are_refused_without_waiting() {
        let (top, opened) = folder("pipes");
        rustix::fs::mkfifoat(&opened.fd, "pipe", Mode::RWXU).unwrap();
        assert!(opened.open_file("pipe").unwrap_err().to_string().contains("is not a file"));
        assert!(opened.open_own("pipe").unwrap_err().to_string().contains("is not a file"));
        std::fs::hard_link(top.join("victim/precious"), top.join("in/shared")).unwrap();
        assert!(opened.open_own("shared").is_err());
        opened.create("shared").unwrap().write_all(b"x").unwrap();
        assert!(is_whole(&top));
    }

    #[test]
    fn deep_trees_are_removed_whatever_their_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let (top, opened) = folder("deep");
        let mut path = top.join("in/tree");
        for _ in 0..300 {
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "x").unwrap();
            path.push("d");
        }
        std::fs::create_dir(top.join("in/tree/closed")).unwrap();
        std::fs::write(top.join("in/tree/closed/file"), "x").unwrap();
        std::fs::set_permissions(top.join("in/tree/closed"), std::fs::Permissions::from_mode(0o500)).unwrap();
        opened.remove("tree").unwrap();
        assert!(opened.names().unwrap().is_empty());
    }

    #[test]
    fn names_that_are_paths_are_refused() {
        let (_, opened) = folder("names");
        for name in ["..", ".", "", "a/b", "../victim"] {
            assert!(opened.child(name).is_err() && opened.create(name).is_err() && opened.remove(name).is_err());
        }
        assert!(opened.make_below(Path::new("../victim"), Access::Usual).is_err());
        assert!(opened.below(Path::new("/etc")).is_err());
    }
}
