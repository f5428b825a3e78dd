//! Messages: what is run, and what it leaves.

use crate::digest::Digest;
use crate::wire::{Fields, Malformed, Message, Writer};

/// An environment variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Message for Variable {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        to.text(2, &self.value);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.value = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A property that a worker must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Message for Property {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        to.text(2, &self.value);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.value = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The properties that a worker must have, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// The properties.
    pub properties: Vec<Property>,
}

impl Message for Platform {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.properties);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.properties)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// Environment variables, sorted.
    pub environment: Vec<Variable>,
    /// Declared files, for servers before 2.1.
    pub output_files: Vec<String>,
    /// Declared folders, for servers before 2.1.
    pub output_folders: Vec<String>,
    /// Properties, for servers before 2.2.
    pub platform: Option<Platform>,
    /// The working folder.
    pub folder: String,
    /// Declared files and folders, since 2.1.
    pub output_paths: Vec<String>,
}

impl Message for Command {
    fn encode(&self, to: &mut Writer) {
        self.arguments.iter().for_each(|text| to.item(1, text.as_bytes()));
        to.messages(2, &self.environment);
        self.output_files.iter().for_each(|text| to.item(3, text.as_bytes()));
        self.output_folders.iter().for_each(|text| to.item(4, text.as_bytes()));
        self.platform.iter().for_each(|message| to.message(5, message));
        to.text(6, &self.folder);
        self.output_paths.iter().for_each(|text| to.item(7, text.as_bytes()));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push_text(&mut read.arguments)?,
                (2, field) => field.push(&mut read.environment)?,
                (3, field) => field.push_text(&mut read.output_files)?,
                (4, field) => field.push_text(&mut read.output_folders)?,
                (5, field) => read.platform = Some(field.message()?),
                (6, field) => read.folder = field.text()?,
                (7, field) => field.push_text(&mut read.output_paths)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A time or a length of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds.
    pub nanos: i64,
}

impl Message for Span {
    fn encode(&self, to: &mut Writer) {
        to.signed(1, self.seconds);
        to.signed(2, self.nanos);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.seconds = field.signed()?,
                (2, field) => read.nanos = field.signed()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A command with its input; its digest is the key of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The command.
    pub command: Option<Digest>,
    /// The folder that it runs in.
    pub input: Option<Digest>,
    /// Its time limit.
    pub timeout: Option<Span>,
    /// Whether its result is not kept.
    pub is_not_cached: bool,
    /// Anything that distinguishes it from others.
    pub salt: Vec<u8>,
    /// Properties, since 2.2.
    pub platform: Option<Platform>,
}

impl Message for Action {
    fn encode(&self, to: &mut Writer) {
        self.command.iter().for_each(|message| to.message(1, message));
        self.input.iter().for_each(|message| to.message(2, message));
        self.timeout.iter().for_each(|message| to.message(6, message));
        to.truth(7, self.is_not_cached);
        to.bytes(9, &self.salt);
        self.platform.iter().for_each(|message| to.message(10, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.command = Some(field.message()?),
                (2, field) => read.input = Some(field.message()?),
                (6, field) => read.timeout = Some(field.message()?),
                (7, field) => read.is_not_cached = field.number()? != 0,
                (9, field) => read.salt = field.bytes()?.to_vec(),
                (10, field) => read.platform = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A file that was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path.
    pub path: String,
    /// Its content.
    pub digest: Option<Digest>,
    /// Whether it can be executed.
    pub is_executable: bool,
    /// Its content, if the server sent it along.
    pub contents: Vec<u8>,
}

impl Message for OutputFile {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.path);
        self.digest.iter().for_each(|message| to.message(2, message));
        to.truth(4, self.is_executable);
        to.bytes(5, &self.contents);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.path = field.text()?,
                (2, field) => read.digest = Some(field.message()?),
                (4, field) => read.is_executable = field.number()? != 0,
                (5, field) => read.contents = field.bytes()?.to_vec(),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A folder that was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputFolder {
    /// Its path.
    pub path: String,
    /// The message of the whole tree.
    pub tree: Option<Digest>,
    /// The message of the folder itself.
    pub root: Option<Digest>,
}

impl Message for OutputFolder {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.path);
        self.tree.iter().for_each(|message| to.message(3, message));
        self.root.iter().for_each(|message| to.message(5, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.path = field.text()?,
                (3, field) => read.tree = Some(field.message()?),
                (5, field) => read.root = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A link that was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputLink {
    /// Its path.
    pub path: String,
    /// Its target.
    pub target: String,
}

impl Message for OutputLink {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.path);
        to.text(2, &self.target);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.path = field.text()?,
                (2, field) => read.target = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Where and when it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The worker.
    pub worker: String,
    /// When it was queued.
    pub queued: Option<Span>,
    /// When the worker began.
    pub started: Option<Span>,
    /// When the worker had ended.
    pub completed: Option<Span>,
    /// When the command began.
    pub execution_started: Option<Span>,
    /// When the command had ended.
    pub execution_completed: Option<Span>,
}

impl Message for Metadata {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.worker);
        self.queued.iter().for_each(|message| to.message(2, message));
        self.started.iter().for_each(|message| to.message(3, message));
        self.completed.iter().for_each(|message| to.message(4, message));
        self.execution_started.iter().for_each(|message| to.message(7, message));
        self.execution_completed.iter().for_each(|message| to.message(8, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.worker = field.text()?,
                (2, field) => read.queued = Some(field.message()?),
                (3, field) => read.started = Some(field.message()?),
                (4, field) => read.completed = Some(field.message()?),
                (7, field) => read.execution_started = Some(field.message()?),
                (8, field) => read.execution_completed = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// What a command left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionResult {
    /// Files.
    pub files: Vec<OutputFile>,
    /// Folders.
    pub folders: Vec<OutputFolder>,
    /// Its exit code.
    pub exit_code: i64,
    /// Standard output, if it was sent along.
    pub stdout: Vec<u8>,
    /// Standard output.
    pub stdout_digest: Option<Digest>,
    /// Standard error, if it was sent along.
    pub stderr: Vec<u8>,
    /// Standard error.
    pub stderr_digest: Option<Digest>,
    /// Where and when it ran.
    pub metadata: Option<Metadata>,
    /// Links to files, of servers before 2.1.
    pub file_links: Vec<OutputLink>,
    /// Links to folders, of servers before 2.1.
    pub folder_links: Vec<OutputLink>,
    /// Links.
    pub links: Vec<OutputLink>,
}

impl Message for ActionResult {
    fn encode(&self, to: &mut Writer) {
        to.messages(2, &self.files);
        to.messages(3, &self.folders);
        to.signed(4, self.exit_code);
        to.bytes(5, &self.stdout);
        self.stdout_digest.iter().for_each(|message| to.message(6, message));
        to.bytes(7, &self.stderr);
        self.stderr_digest.iter().for_each(|message| to.message(8, message));
        self.metadata.iter().for_each(|message| to.message(9, message));
        to.messages(10, &self.file_links);
        to.messages(11, &self.folder_links);
        to.messages(12, &self.links);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (2, field) => field.push(&mut read.files)?,
                (3, field) => field.push(&mut read.folders)?,
                (4, field) => read.exit_code = field.signed()?,
                (5, field) => read.stdout = field.bytes()?.to_vec(),
                (6, field) => read.stdout_digest = Some(field.message()?),
                (7, field) => read.stderr = field.bytes()?.to_vec(),
                (8, field) => read.stderr_digest = Some(field.message()?),
                (9, field) => read.metadata = Some(field.message()?),
                (10, field) => field.push(&mut read.file_links)?,
                (11, field) => field.push(&mut read.folder_links)?,
                (12, field) => field.push(&mut read.links)?,
                _ => {}
            }
        }
        Ok(read)
    }
}
