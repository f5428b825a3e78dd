//! A job's record of each operation it ran, and the commands it hands out.

use crate::tree::{NodeId, State, Status};
use crate::val::{Val, ValMap};
use ecow::EcoString;

/// A value that a task read or set.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The owner of the attribute.
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
    /// The result; none if it did not have to run.
    pub status: Option<Status>,
    /// Whether something it needs was missing.
    pub is_blocked: bool,
    /// Whether it changed the instance.
    pub is_changed: bool,
    /// The instance's status afterwards.
    pub target_status: Status,
    /// The instance's state afterwards.
    pub target_state: Option<State>,
    /// The output of the command, or why it did not run.
    pub result: Val,
    /// Its outputs.
    pub outputs: ValMap,
    /// The inputs that were read, evaluated.
    pub inputs: ValMap,
    /// The values it read and set.
    pub dependencies: Vec<Dependency>,
    /// Attributes it changed.
    pub changes: Vec<(NodeId, ValMap)>,
    /// Names and digest of the values it read, and the values it set.
    pub digest: Digest,
    /// Whether the reason for its failure was reported already.
    pub is_reported: bool,
    /// The status that its result gave its instance.
    pub(super) explicit: Option<Status>,
}

/// The values that a later job compares with.
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
    /// The shell that reads the line; none for no shell, an empty one for the default.
    pub shell: Option<String>,
    /// Environment variables that override those of this process; none removes one.
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

/// The result of a command.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Its exit code; none if it was terminated.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Whether it timed out.
    pub timed_out: bool,
    /// Why it could not be started, or how else it ended.
    pub error: Option<String>,
}
