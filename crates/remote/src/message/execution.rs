//! Messages: executions, and why calls fail.

use super::action::{ActionResult, Metadata};
use crate::digest::Digest;
use crate::wire::{Fields, Malformed, Message, Writer};

/// A message of a type with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Any {
    /// The name of its type.
    pub name: String,
    /// Its bytes.
    pub value: Vec<u8>,
}

impl Message for Any {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        to.bytes(2, &self.value);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.value = field.bytes()?.to_vec(),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Whether something went well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// 0 if so, else the kind of failure.
    pub code: i64,
    /// Why not.
    pub message: String,
    /// More about it.
    pub details: Vec<Any>,
}

impl Message for Status {
    fn encode(&self, to: &mut Writer) {
        to.signed(1, self.code);
        to.text(2, &self.message);
        to.messages(3, &self.details);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.code = field.signed()?,
                (2, field) => read.message = field.text()?,
                (3, field) => field.push(&mut read.details)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// A condition that does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// Its kind.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// Why it does not hold.
    pub description: String,
}

impl Message for Violation {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.kind);
        to.text(2, &self.subject);
        to.text(3, &self.description);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.kind = field.text()?,
                (2, field) => read.subject = field.text()?,
                (3, field) => read.description = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Conditions that do not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreconditionFailure {
    /// The conditions.
    pub violations: Vec<Violation>,
}

impl Message for PreconditionFailure {
    fn encode(&self, to: &mut Writer) {
        to.messages(1, &self.violations);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push(&mut read.violations)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// How urgent an execution is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Lower numbers run first.
    pub priority: i64,
}

impl Message for Policy {
    fn encode(&self, to: &mut Writer) {
        to.signed(1, self.priority);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.priority = field.signed()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Run an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteRequest {
    /// The instance of the server.
    pub instance: String,
    /// Whether an earlier result does not count.
    pub is_fresh: bool,
    /// The action.
    pub action: Option<Digest>,
    /// How urgent it is.
    pub policy: Option<Policy>,
    /// The digest function; 0 stands for SHA-256.
    pub function: u64,
    /// Whether to send standard output along.
    pub inline_stdout: bool,
    /// Whether to send standard error along.
    pub inline_stderr: bool,
}

impl Message for ExecuteRequest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
        to.truth(3, self.is_fresh);
        self.action.iter().for_each(|message| to.message(6, message));
        self.policy.iter().for_each(|message| to.message(7, message));
        to.number(9, self.function);
        to.truth(10, self.inline_stdout);
        to.truth(11, self.inline_stderr);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                (3, field) => read.is_fresh = field.number()? != 0,
                (6, field) => read.action = Some(field.message()?),
                (7, field) => read.policy = Some(field.message()?),
                (9, field) => read.function = field.number()?,
                (10, field) => read.inline_stdout = field.number()? != 0,
                (11, field) => read.inline_stderr = field.number()? != 0,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Wait for an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitRequest {
    /// Its name.
    pub name: String,
}

impl Message for WaitRequest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// End an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cancel {
    /// Its name.
    pub name: String,
}

impl Message for Cancel {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The end of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteResponse {
    /// The result.
    pub result: Option<ActionResult>,
    /// Whether it comes from the cache.
    pub is_cached: bool,
    /// Why there is no result.
    pub status: Option<Status>,
    /// A message for the user.
    pub message: String,
}

impl Message for ExecuteResponse {
    fn encode(&self, to: &mut Writer) {
        self.result.iter().for_each(|message| to.message(1, message));
        to.truth(2, self.is_cached);
        self.status.iter().for_each(|message| to.message(3, message));
        to.text(5, &self.message);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.result = Some(field.message()?),
                (2, field) => read.is_cached = field.number()? != 0,
                (3, field) => read.status = Some(field.message()?),
                (5, field) => read.message = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The state of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationMetadata {
    /// Its stage.
    pub stage: u64,
    /// The action.
    pub action: Option<Digest>,
    /// What is known so far.
    pub partial: Option<Metadata>,
}

impl Message for OperationMetadata {
    fn encode(&self, to: &mut Writer) {
        to.number(1, self.stage);
        self.action.iter().for_each(|message| to.message(2, message));
        self.partial.iter().for_each(|message| to.message(5, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.stage = field.number()?,
                (2, field) => read.action = Some(field.message()?),
                (5, field) => read.partial = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// An execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Its state.
    pub metadata: Option<Any>,
    /// Whether it has ended.
    pub is_done: bool,
    /// Why it failed.
    pub error: Option<Status>,
    /// Its end.
    pub response: Option<Any>,
}

impl Message for Operation {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        self.metadata.iter().for_each(|message| to.message(2, message));
        to.truth(3, self.is_done);
        self.error.iter().for_each(|message| to.message(4, message));
        self.response.iter().for_each(|message| to.message(5, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.metadata = Some(field.message()?),
                (3, field) => read.is_done = field.number()? != 0,
                (4, field) => read.error = Some(field.message()?),
                (5, field) => read.response = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The program that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDetails {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Message for ToolDetails {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.name);
        to.text(2, &self.version);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.name = field.text()?,
                (2, field) => read.version = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Who asks, for the server's logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestMetadata {
    /// The program.
    pub tool: Option<ToolDetails>,
    /// The action.
    pub action: String,
    /// The run.
    pub invocation: String,
    /// The kind of action.
    pub mnemonic: String,
}

impl Message for RequestMetadata {
    fn encode(&self, to: &mut Writer) {
        self.tool.iter().for_each(|message| to.message(1, message));
        to.text(2, &self.action);
        to.text(3, &self.invocation);
        to.text(5, &self.mnemonic);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.tool = Some(field.message()?),
                (2, field) => read.action = field.text()?,
                (3, field) => read.invocation = field.text()?,
                (5, field) => read.mnemonic = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// The stage of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The server does not say.
    Unknown,
    /// An earlier result is looked for.
    Looking,
    /// It waits for a worker.
    Queued,
    /// It runs.
    Running,
    /// It has ended.
    Ended,
}

impl OperationMetadata {
    /// The stage.
    pub fn stage(&self) -> Stage {
        match self.stage {
            1 => Stage::Looking,
            2 => Stage::Queued,
            3 => Stage::Running,
            4 => Stage::Ended,
            _ => Stage::Unknown,
        }
    }
}
