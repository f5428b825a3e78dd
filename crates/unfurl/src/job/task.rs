//! What a job writes down of each operation it ran, and what it hands out to be run.

use crate::tree::{NodeId, State, Status};
use crate::val::{Val, ValMap};
use ecow::EcoString;

/// A value that a task read or set.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Whose attribute.
    pub instance: NodeId,
    /// The query that finds it.
    pub query: EcoString,
    /// Its value.
    pub value: Val,
    /// Whether it was set and not read.
    pub is_set: bool,
    /// Whether operations can change it.
    pub is_live: bool,
}

/// An operation that was tried.
#[derive(Clone, Debug)]
pub struct Task {
    /// The request it was made from.
    pub(super) request: usize,
    /// Its change id.
    pub change_id: EcoString,
    /// The change before it on the same instance.
    pub previous: Option<EcoString>,
    /// Whether it went well; none if it did not have to run.
    pub status: Option<Status>,
    /// Whether something it needs was missing.
    pub is_blocked: bool,
    /// Whether it changed the instance.
    pub is_changed: bool,
    /// The instance's status afterwards.
    pub target_status: Status,
    /// The instance's state afterwards.
    pub target_state: Option<State>,
    /// What came of it: what the command printed, or why it did not run.
    pub result: Val,
    /// Its outputs.
    pub outputs: ValMap,
    /// The inputs that were read, evaluated.
    pub inputs: ValMap,
    /// What it read and set.
    pub dependencies: Vec<Dependency>,
    /// Attributes it changed.
    pub changes: Vec<(NodeId, ValMap)>,
    /// Names and digest of what it read, and what it set.
    pub digest: Digest,
    /// Whether why it failed was reported already.
    pub is_reported: bool,
    /// The status that its result gave its instance.
    pub(super) explicit: Option<Status>,
}

/// What a later job compares with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Inputs and attributes, separated by commas.
    pub keys: String,
    /// A digest of their values.
    pub value: String,
    /// Attributes that were set.
    pub put: String,
}

/// A command that is to be run for a task.
#[derive(Clone, Debug)]
pub struct Shell {
    /// A name for messages and logs: the instance and the operation.
    pub id: String,
    /// One line for a shell, or a program with its arguments.
    pub words: Vec<String>,
    /// The shell that reads the line; none if no shell does, an empty one is the usual.
    pub shell: Option<String>,
    /// Environment variables over those of this process; none is taken away.
    pub env: Vec<(String, Option<String>)>,
    /// The folder it runs in, relative to the root of the world.
    pub folder: String,
    /// Seconds after which it has failed.
    pub timeout: Option<u64>,
    /// Texts that are never shown.
    pub secrets: Vec<String>,
    /// Where its operation is written.
    pub span: purlin_syntax::Span,
}

/// What came of a command.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Its exit code; none if it did not end by itself.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Why it could not be started, or how else it ended.
    pub error: Option<String>,
}
