//! Work that an action does in this process instead of running a command: what is deployed to a cluster, for example.

use crate::event::Cause;
use crate::executor::Executor;
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::stop::{Level, Stop};
use std::time::{Duration, Instant};

/// Who looks on while work is done.
#[derive(Clone, Copy)]
pub struct Doing<'w> {
    /// Who may stop it.
    pub stop: &'w Stop,
    /// Takes lines, for people and for the log.
    pub say: &'w (dyn Fn(&str) + Sync),
    /// Where commands run; those of a killed run are ended by its guard.
    pub executor: Option<&'w dyn Executor>,
    /// When it is given up.
    pub deadline: Option<Deadline>,
}

/// When work is given up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    /// How long it may take.
    after: Duration,
}

impl Deadline {
    /// A deadline for what begins now.
    pub fn after(after: Duration) -> Option<Self> {
        Some(Deadline { at: Instant::now().checked_add(after)?, after })
    }
}

impl<'w> Doing<'w> {
    /// Only looks on, and starts nothing.
    pub fn looking(stop: &'w Stop) -> Self {
        Doing { stop, say: &|_| (), executor: None, deadline: None }
    }
}

impl Doing<'_> {
    /// How long a command may take that has a limit of its own: no longer than what is left for all of the work.
    pub fn patience(&self, own: Option<Duration>) -> Option<Duration> {
        let left = self.deadline.map(|deadline| deadline.at.saturating_duration_since(Instant::now()));
        own.into_iter().chain(left).min()
    }

    /// The limit that a command has passed: its own, or that of all of the work.
    pub fn passed(&self, own: Option<Duration>) -> Duration {
        let whole = self.deadline.filter(|deadline| deadline.at <= Instant::now()).map(|deadline| deadline.after);
        whole.or(own).unwrap_or_default()
    }

    /// Whether to go on.
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

/// Something that is done here. Called by one thread at a time.
pub trait Work: Send + Sync + std::fmt::Debug {
    /// The outputs, if there is nothing to do.
    fn is_done(&self, doing: Doing<'_>) -> Result<Option<Outputs>, Trouble>;
    /// Does it.
    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble>;
    /// Undoes it; says whether there was anything to undo.
    fn undo(&self, doing: Doing<'_>) -> Result<bool, Trouble>;
    /// What is known of it, without changing anything.
    fn state(&self, doing: Doing<'_>) -> StateOf;
    /// Whether it comes to nothing at all, so that only a result tells that it was done.
    fn leaves_nothing(&self, _doing: Doing<'_>) -> bool {
        false
    }
    /// Whether it waits for answers of a server.
    fn is_remote(&self) -> bool {
        false
    }
    /// Whether what it brought up can be asked for what it has printed.
    fn has_own_logs(&self) -> bool {
        false
    }
    /// The last lines that what it brought up has printed.
    fn logs(&self, lines: usize, doing: Doing<'_>) -> Result<Vec<String>, Trouble>;
}
