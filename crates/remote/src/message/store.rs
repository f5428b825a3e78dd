//! Messages: the store of contents, and the cache of results.

use super::action::ActionResult;
use super::execution::Status;
use super::tree::Directory;
use crate::digest::Digest;
use crate::wire::{Fields, Malformed, Message, Writer};

/// Which of these contents are missing?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindMissing {
    /// The instance of the server.
    pub instance: String,
    /// The contents.
    pub digests: Vec<Digest>,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for FindMissing {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        to.messages(2, &self.digests);
        to.number(3, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => field.push(&mut read.digests)?,
                (3, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The missing contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindMissingAnswer {
    /// The contents.
    pub missing: Vec<Digest>,
}

impl Message for FindMissingAnswer {
    fn encode(&self, to: &mut Writer) {
        to.messages(2, &self.missing);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (2, field) => field.push(&mut read.missing)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A content that is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobData {
    /// Its digest.
    pub digest: Option<Digest>,
    /// Its bytes.
    pub data: Vec<u8>,
    /// How they are compressed; 0 if they are not.
    pub compressor: u64,
}

impl Message for BlobData {
    fn encode(&self, to: &mut Writer) {
        self.digest.iter().for_each(|message| to.message(1, message));
        to.bytes(2, &self.data);
        to.number(3, self.compressor);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.digest = Some(field.message()?),
                (2, field) => read.data = field.bytes()?.to_vec(),
                (3, field) => read.compressor = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Keep these contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchUpdate {
    /// The instance of the server.
    pub instance: String,
    /// The contents.
    pub blobs: Vec<BlobData>,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for BatchUpdate {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        to.messages(2, &self.blobs);
        to.number(5, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => field.push(&mut read.blobs)?,
                (5, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A content, or why it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobAnswer {
    /// Its digest.
    pub digest: Option<Digest>,
    /// Its bytes.
    pub data: Vec<u8>,
    /// Why it is not there.
    pub status: Option<Status>,
    /// How the bytes are compressed; 0 if they are not.
    pub compressor: u64,
}

impl Message for BlobAnswer {
    fn encode(&self, to: &mut Writer) {
        self.digest.iter().for_each(|message| to.message(1, message));
        to.bytes(2, &self.data);
        self.status.iter().for_each(|message| to.message(3, message));
        to.number(4, self.compressor);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.digest = Some(field.message()?),
                (2, field) => read.data = field.bytes()?.to_vec(),
                (3, field) => read.status = Some(field.message()?),
                (4, field) => read.compressor = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Whether a content was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its digest.
    pub digest: Option<Digest>,
    /// Why not.
    pub status: Option<Status>,
}

impl Message for Kept {
    fn encode(&self, to: &mut Writer) {
        self.digest.iter().for_each(|message| to.message(1, message));
        self.status.iter().for_each(|message| to.message(2, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.digest = Some(field.message()?),
                (2, field) => read.status = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Whether contents were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchUpdateAnswer {
    /// One per content.
    pub blobs: Vec<Kept>,
}

impl Message for BatchUpdateAnswer {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.blobs);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.blobs)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Send these contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchRead {
    /// The instance of the server.
    pub instance: String,
    /// The contents.
    pub digests: Vec<Digest>,
    /// How they may be compressed.
    pub compressors: Vec<u64>,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for BatchRead {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        to.messages(2, &self.digests);
        to.numbers(3, &self.compressors);
        to.number(4, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => field.push(&mut read.digests)?,
                (3, field) => field.push_numbers(&mut read.compressors)?,
                (4, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchReadAnswer {
    /// One per content.
    pub blobs: Vec<BlobAnswer>,
}

impl Message for BatchReadAnswer {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.blobs);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.blobs)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Send all folders of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetTree {
    /// The instance of the server.
    pub instance: String,
    /// The topmost folder.
    pub root: Option<Digest>,
    /// Maximum number of folders in one answer.
    pub page_size: u64,
    /// Where to continue.
    pub page_token: String,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for GetTree {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        self.root.iter().for_each(|message| to.message(2, message));
        to.number(3, self.page_size);
        to.text(4, &self.page_token);
        to.number(5, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => read.root = Some(field.message()?),
                (3, field) => read.page_size = field.number()?,
                (4, field) => read.page_token = field.text()?,
                (5, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Folders of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetTreeAnswer {
    /// The folders.
    pub directories: Vec<Directory>,
    /// Where to continue.
    pub next_page_token: String,
}

impl Message for GetTreeAnswer {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.directories);
        to.text(2, &self.next_page_token);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.directories)?,
                (2, field) => read.next_page_token = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The result of this action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetResult {
    /// The instance of the server.
    pub instance: String,
    /// The action.
    pub action: Option<Digest>,
    /// Whether to send standard output along.
    pub inline_stdout: bool,
    /// Whether to send standard error along.
    pub inline_stderr: bool,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for GetResult {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        self.action.iter().for_each(|message| to.message(2, message));
        to.truth(3, self.inline_stdout);
        to.truth(4, self.inline_stderr);
        to.number(6, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => read.action = Some(field.message()?),
                (3, field) => read.inline_stdout = field.number()? != 0,
                (4, field) => read.inline_stderr = field.number()? != 0,
                (6, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Keep the result of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateResult {
    /// The instance of the server.
    pub instance: String,
    /// The action.
    pub action: Option<Digest>,
    /// Its result.
    pub result: Option<ActionResult>,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
}

impl Message for UpdateResult {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        self.action.iter().for_each(|message| to.message(2, message));
        self.result.iter().for_each(|message| to.message(3, message));
        to.number(5, self.function);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (2, field) => read.action = Some(field.message()?),
                (3, field) => read.result = Some(field.message()?),
                (5, field) => read.function = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Send a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadRequest {
    /// Its name.
    pub resource: String,
    /// Where to begin.
    pub offset: i64,
    /// Maximum number of bytes; 0 for all.
    pub limit: i64,
}

impl Message for ReadRequest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.resource);
        to.signed(2, self.offset);
        to.signed(3, self.limit);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.resource = field.text()?,
                (2, field) => read.offset = field.signed()?,
                (3, field) => read.limit = field.signed()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A piece of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadAnswer {
    /// The piece.
    pub data: Vec<u8>,
}

impl Message for ReadAnswer {
    fn encode(&self, to: &mut Writer) {
        to.bytes(10, &self.data);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (10, field) => read.data = field.bytes()?.to_vec(),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A piece of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteRequest {
    /// Its name.
    pub resource: String,
    /// Where the piece begins.
    pub offset: i64,
    /// Whether it is the last.
    pub is_end: bool,
    /// The piece.
    pub data: Vec<u8>,
}

impl Message for WriteRequest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.resource);
        to.signed(2, self.offset);
        to.truth(3, self.is_end);
        to.bytes(10, &self.data);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.resource = field.text()?,
                (2, field) => read.offset = field.signed()?,
                (3, field) => read.is_end = field.number()? != 0,
                (10, field) => read.data = field.bytes()?.to_vec(),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// How much was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteAnswer {
    /// Number of bytes.
    pub size: i64,
}

impl Message for WriteAnswer {
    fn encode(&self, to: &mut Writer) {
        to.signed(1, self.size);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.size = field.signed()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// How much was written so far?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteState {
    /// Its name.
    pub resource: String,
}

impl Message for WriteState {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.resource);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.resource = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// How much was written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteStateAnswer {
    /// Number of bytes.
    pub size: i64,
    /// Whether that is all.
    pub is_complete: bool,
}

impl Message for WriteStateAnswer {
    fn encode(&self, to: &mut Writer) {
        to.signed(1, self.size);
        to.truth(2, self.is_complete);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.size = field.signed()?,
                (2, field) => read.is_complete = field.number()? != 0,
                _ => {}
            }
        }
        Ok(read)
    }
}
