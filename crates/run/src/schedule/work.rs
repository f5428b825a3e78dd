//! Work that an action does in this process instead of running a command, for example a deploy to a cluster.

use crate::event::Cause;
use crate::executor::Executor;
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::stop::{Level, Stop};
use std::time::{Duration, Instant};

/// The context of running work.
#[derive(Clone, Copy)]
pub struct Doing<'w> {
    /// The request to stop.
    pub stop: &'w Stop,
    /// Receives lines for display and for the log.
    pub say: &'w (dyn Fn(&str) + Sync),
    /// Runs commands; those of a killed run are ended by its guard.
    pub executor: Option<&'w dyn Executor>,
    /// The deadline, if any.
    pub deadline: Option<Deadline>,
}

/// The deadline of work.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    /// The time limit.
    after: Duration,
}

impl Deadline {
    /// A deadline that starts now.
    pub fn after(after: Duration) -> Option<Self> {
        Some(Deadline { at: Instant::now().checked_add(after)?, after })
    }
}

impl<'w> Doing<'w> {
    /// A context for queries; starts no commands.
    pub fn looking(stop: &'w Stop) -> Self {
        Doing { stop, say: &|_| (), executor: None, deadline: None }
    }
}

impl Doing<'_> {
    /// The time limit of a command with a limit of its own: at most the time left for the whole work.
    pub fn patience(&self, own: Option<Duration>) -> Option<Duration> {
        let left = self.deadline.map(|deadline| deadline.at.saturating_duration_since(Instant::now()));
        own.into_iter().chain(left).min()
    }

    /// The exceeded limit of a command: its own, or that of the whole work.
    pub fn passed(&self, own: Option<Duration>) -> Duration {
        let whole = self.deadline.filter(|deadline| deadline.at <= Instant::now()).map(|deadline| deadline.after);
        whole.or(own).unwrap_or_default()
    }

    /// Whether to continue.
    pub fn goes_on(&self) -> bool {
        self.stop.level() == Level::Going
    }
}

/// Why work failed.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Why, on one line.
    pub cause: Cause,
    /// Further lines that explain it.
    pub tail: Vec<String>,
}

/// Work in this process. Called by one thread at a time.
pub trait Work: Send + Sync + std::fmt::Debug {
    /// The outputs, if there is nothing to do.
    fn is_done(&self, doing: Doing<'_>) -> Result<Option<Outputs>, Trouble>;
    /// Does it.
    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble>;
    /// Undoes it; returns whether there was anything to undo.
    fn undo(&self, doing: Doing<'_>) -> Result<bool, Trouble>;
    /// Its state, without changing anything.
    fn state(&self, doing: Doing<'_>) -> StateOf;
    /// Whether it has no lasting effect, so that only a result shows that it was done.
    fn leaves_nothing(&self, _doing: Doing<'_>) -> bool {
        false
    }
    /// Whether it waits for answers of a server.
    fn is_remote(&self) -> bool {
        false
    }
}
