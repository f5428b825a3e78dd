//! Messages: folders.

use crate::digest::Digest;
use crate::wire::{Fields, Malformed, Message, Writer};

/// A file of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileNode {
    /// Its name.
    pub name: String,
    /// Its content.
    pub digest: Option<Digest>,
    /// Whether it can be executed.
    pub is_executable: bool,
}

impl Message for FileNode {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        self.digest.iter().for_each(|message| to.message(2, message));
        to.truth(4, self.is_executable);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.digest = Some(field.message()?),
                (4, field) => read.is_executable = field.number()? != 0,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A folder of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryNode {
    /// Its name.
    pub name: String,
    /// Its message.
    pub digest: Option<Digest>,
}

impl Message for DirectoryNode {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        self.digest.iter().for_each(|message| to.message(2, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.digest = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A link of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkNode {
    /// Its name.
    pub name: String,
    /// Its target.
    pub target: String,
}

impl Message for LinkNode {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        to.text(2, &self.target);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.target = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A folder; its lists are sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Its files.
    pub files: Vec<FileNode>,
    /// Its folders.
    pub directories: Vec<DirectoryNode>,
    /// Its links.
    pub links: Vec<LinkNode>,
}

impl Message for Directory {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.files);
        to.messages(2, &self.directories);
        to.messages(3, &self.links);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.files)?,
                (2, field) => field.push(&mut read.directories)?,
                (3, field) => field.push(&mut read.links)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A folder with everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The folder.
    pub root: Option<Directory>,
    /// All folders below it.
    pub children: Vec<Directory>,
}

impl Message for Tree {
    fn encode(&self, to: &mut Writer) {
        self.root.iter().for_each(|message| to.message(1, message));
        to.messages(2, &self.children);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.root = Some(field.message()?),
                (2, field) => field.push(&mut read.children)?,
                _ => {}
            }
        }
        Ok(read)
    }
}
