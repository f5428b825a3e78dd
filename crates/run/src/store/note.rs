//! Single files next to the journal: the last output of an action, and its running processes.
//!
//! Both are reached from the project's folder, one name at a time and never through a link. A note decides what is
//! ended or removed, so it counts only with our seal.

use super::FOLDER;
use super::seal::Seal;
use purlin_host::folder::{Access, Folder};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A note is one line; a longer file is not a note.
const LONGEST_NOTE: u64 = 64 << 10;

/// A log written by a process itself is unbounded; only this much of its end is read.
const LONGEST_LOG: u64 = 64 << 20;

/// The last output of an action.
#[derive(Clone, Debug)]
pub struct Log {
    project: PathBuf,
    name: String,
}

impl Log {
    pub(super) fn new(project: &Path, name: String) -> Self {
        Log { project: project.to_owned(), name }
    }

    fn folder(&self) -> io::Result<Folder> {
        Folder::open(&self.project)?.child(FOLDER)?.child("logs")
    }

    /// Creates a new log, replacing an earlier one.
    pub fn create(&self) -> io::Result<File> {
        self.folder()?.create(&self.name)
    }

    /// The log; only the end of a very long one.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.folder()?.open_file(&self.name)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LOG)))?;
        let mut bytes = Vec::new();
        file.take(LONGEST_LOG).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Its length; 0 if it does not exist.
    pub fn length(&self) -> u64 {
        let file = self.folder().and_then(|folder| folder.open_file(&self.name));
        file.and_then(|file| file.metadata()).map(|known| known.len()).unwrap_or_default()
    }

    /// The content from `start`, up to `most` bytes.
    pub fn read_from(&self, start: u64, most: u64) -> io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.folder()?.open_file(&self.name)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Removes it, if it exists.
    pub fn remove(&self) {
        let _ = self.folder().and_then(|folder| folder.remove(&self.name));
    }
}

/// A sealed line.
#[derive(Clone, Debug)]
pub struct Note {
    project: PathBuf,
    seal: Seal,
    /// Its subject: a note of one action is not valid for another.
    about: String,
    name: String,
}

impl Note {
    pub(super) fn new(project: &Path, seal: Seal, about: &str, name: String) -> Self {
        Note { project: project.to_owned(), seal, about: about.to_owned(), name }
    }

    fn folder(&self) -> io::Result<Folder> {
        Folder::open(&self.project)?.child(FOLDER)?.child("deploys")
    }

    /// Its text, if the seal is ours.
    pub fn read(&self) -> Option<String> {
        let bytes = self.folder().ok()?.read(&self.name, LONGEST_NOTE).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        self.seal.open(&self.about, text.trim_end()).map(str::to_owned)
    }

    /// Writes it as a whole.
    pub fn write(&self, text: &str) -> io::Result<()> {
        let folder = Folder::open(&self.project)?.make_child(FOLDER, Access::Private)?;
        let folder = folder.make_child("deploys", Access::Private)?;
        folder.replace(&self.name, format!("{}\n", self.seal.sealed(&self.about, text)).as_bytes(), 0o600)
    }

    /// Removes it, if it exists.
    pub fn remove(&self) {
        let _ = self.folder().and_then(|folder| folder.remove(&self.name));
    }
}
