//! Events of a run. Reporters turn them into lines, bars, JSON or a trace.

use crate::action::{Kind, Stay};
use crate::local::process::Stream;
use crate::request::{Place, Progress};
use purlin_syntax::Span;
use std::time::Duration;

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its command exited with another code than 0.
    Exit(i32),
    /// Its command was killed by a signal.
    Signal(i32),
    /// It took longer than allowed.
    TimedOut(Duration),
    /// It runs, but its status command did not report in time that it is ready.
    NotReady(Duration),
    /// Its program does not exist.
    NoProgram(String),
    /// Any other cause, in words.
    Other(String),
    /// Its configuration could not be resolved; the problems are reported separately.
    Unresolved,
    /// The run was stopped.
    Stopped,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Exit(code) => write!(f, "exit code {code}"),
            Cause::Signal(signal) => write!(f, "ended by signal {signal}"),
            Cause::TimedOut(limit) => write!(f, "timed out after {}", seconds(*limit)),
            Cause::NotReady(limit) => write!(f, "not ready after {}", seconds(*limit)),
            Cause::NoProgram(name) => write!(f, "command `{name}` not found"),
            Cause::Other(why) => f.write_str(why),
            Cause::Unresolved => f.write_str("its configuration could not be resolved"),
            Cause::Stopped => f.write_str("stopped"),
        }
    }
}

/// A failed action.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The action.
    pub id: String,
    /// Why.
    pub cause: Cause,
    /// The command, without secrets.
    pub command: Option<String>,
    /// The last lines it printed, without secrets.
    pub tail: Vec<String>,
    /// The source location of the action.
    pub span: Option<Span>,
}

/// The end of an action.
#[derive(Clone, Debug)]
pub enum End {
    /// Its command was run.
    Done,
    /// An earlier result was reused.
    Cached,
    /// A result of the shared cache was used.
    Shared,
    /// Its status command reported that there is nothing to do.
    Ready,
    /// It was undone, and its results were removed.
    Removed,
    /// It failed.
    Failed(Failure),
    /// Dependencies that failed.
    Aborted(Vec<String>),
    /// The run was stopped before it began.
    NotStarted,
}

impl End {
    /// Whether what depends on it can go on.
    pub fn is_good(&self) -> bool {
        matches!(self, End::Done | End::Cached | End::Shared | End::Ready | End::Removed)
    }

    /// One word for JSON output.
    pub fn word(&self) -> &'static str {
        match self {
            End::Done => "done",
            End::Cached => "cached",
            End::Shared => "remote-cached",
            End::Ready => "ready",
            End::Removed => "removed",
            End::Failed(failure) if failure.cause == Cause::Stopped => "stopped",
            End::Failed(_) => "failed",
            End::Aborted(_) => "aborted",
            End::NotStarted => "not-started",
        }
    }
}

impl Summary {
    /// The actions that failed.
    pub fn failed_mut(&mut self) -> impl Iterator<Item = &mut Failure> {
        self.ends.iter_mut().filter_map(|(_, end, _)| match end {
            End::Failed(failure) => Some(failure),
            _ => None,
        })
    }
}

/// An event.
#[derive(Clone, Debug)]
pub enum Event<'e> {
    /// The run begins.
    Begin {
        /// Maximum number of actions.
        total: usize,
    },
    /// A command of an action begins.
    Started {
        /// The action.
        id: &'e str,
        /// Its kind.
        kind: Kind,
        /// Its version.
        version: &'e str,
    },
    /// An action printed a line; secrets are masked.
    Line {
        /// The action.
        id: &'e str,
        /// The stream.
        stream: Stream,
        /// The line, without its end.
        text: &'e str,
    },
    /// What an action elsewhere waits for.
    Progress {
        /// The action.
        id: &'e str,
        /// What it waits for.
        progress: &'e Progress,
    },
    /// Where an action ran, if not on this machine.
    Placed {
        /// The action.
        id: &'e str,
        /// Where.
        place: &'e Place,
    },
    /// An action runs on this machine although others run elsewhere.
    Stays {
        /// The action.
        id: &'e str,
        /// Why.
        why: &'e Stay,
    },
    /// A warning for the user about an action.
    Warning {
        /// The action.
        id: &'e str,
        /// The text.
        text: &'e str,
    },
    /// An action has ended.
    Ended {
        /// The action.
        id: &'e str,
        /// Its version, if it was resolved.
        version: &'e str,
        /// The end.
        end: &'e End,
        /// When it began, from the beginning of the run.
        at: Duration,
        /// Its duration.
        took: Duration,
    },
    /// A signal arrived: running actions are asked to stop.
    Stopping,
}

/// Displays or stores events. Called by one thread at a time.
pub trait Reporter: Send {
    /// Takes an event.
    fn event(&mut self, event: &Event<'_>);
    /// The run has ended.
    fn finish(&mut self, summary: &Summary);
}

/// The result of an action that ended well.
#[derive(Clone, Debug)]
pub struct ResultOf {
    /// Its version.
    pub version: String,
    /// Its outputs.
    pub outputs: std::sync::Arc<crate::outputs::Outputs>,
    /// The names of outputs that must not be shown.
    pub secret: Vec<String>,
}

/// The ends of all actions.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Each with its end and how long it took, in the order of their ids.
    pub ends: Vec<(String, End, Duration)>,
    /// Results of the actions that ended well, by id.
    pub results: std::collections::BTreeMap<String, ResultOf>,
    /// Total time.
    pub took: Duration,
    /// The signal that stopped the run.
    pub signal: Option<i32>,
}

impl Summary {
    /// Whether everything ended well.
    pub fn is_good(&self) -> bool {
        self.signal.is_none() && self.ends.iter().all(|(_, end, _)| end.is_good())
    }

    /// The failures, in the order of their ids.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.ends.iter().filter_map(|(_, end, _)| match end {
            End::Failed(failure) => Some(failure),
            _ => None,
        })
    }

    /// Number of actions with this end.
    pub fn count(&self, word: &str) -> usize {
        self.ends.iter().filter(|(_, end, _)| end.word() == word).count()
    }
}

/// A time for people.
pub fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 0.995 => format!("{} ms", time.as_millis()),
        long if long < 60.0 && (long.fract() < 0.05) => format!("{} s", time.as_secs()),
        long if long < 60.0 => format!("{long:.1} s"),
        long => format!("{} min {} s", (long / 60.0) as u64, (long % 60.0) as u64),
    }
}
