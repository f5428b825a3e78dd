//! The final states of tasks, and the outcome of a whole run.
//!
//! Nothing here depends on the order in which tasks ran: tasks are sorted by key and cycles have one canonical form.

use std::fmt;
use std::sync::Arc;

/// An aborted task names at most this many of the failures behind it, the smallest keys first.
///
/// A bound keeps the cost linear where thousands of tasks depend on thousands of failures.
pub const NAMED_ROOTS: usize = 8;

/// A cycle of tasks that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle<K> {
    /// A shortest cycle from the smallest key, which is not repeated at the end. Each depends on the next one.
    pub path: Vec<K>,
    /// The strongly connected component of the cycle, sorted; more than `path` where cycles are interlocked.
    pub members: Vec<K>,
}

impl<K: fmt::Display> fmt::Display for Cycle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in &self.path {
            write!(f, "{key} → ")?;
        }
        match self.path.first() {
            Some(first) => write!(f, "{first}"),
            None => Ok(()),
        }
    }
}

/// The final state of a task.
#[derive(Clone, Debug)]
pub enum State<K, R, E> {
    /// It has a result.
    Done(Arc<R>),
    /// It failed by itself.
    Failed(E),
    /// One of its dependencies has no result.
    Aborted {
        /// The failed, cyclic or stalled tasks that caused it: the smallest keys, at most [`NAMED_ROOTS`]; a cycle is
        /// named once, by its smallest key.
        roots: Arc<[K]>,
    },
    /// It waits for itself, directly or through others.
    Cyclic(Arc<Cycle<K>>),
    /// It requested only results it already had, so that re-entering it could never end. A mistake in the task.
    Stalled,
    /// It was not finished when the solver was asked to stop, or when the limit of tasks was hit.
    Cancelled,
}

impl<K, R, E> State<K, R, E> {
    /// Whether it has a result.
    pub fn is_done(&self) -> bool {
        matches!(self, State::Done(_))
    }
}

/// A finished task.
#[derive(Debug)]
pub(crate) struct Ended<K, R, E> {
    pub(crate) key: K,
    pub(crate) state: State<K, R, E>,
    /// Indices of its dependencies, in order of discovery.
    pub(crate) needs: Vec<usize>,
}

/// The final states of all tasks.
#[derive(Debug)]
pub struct Outcome<K, R, E> {
    /// In the order of discovery, which depends on timing and is never exposed.
    ended: Vec<Ended<K, R, E>>,
    /// Indices of the tasks, sorted by key.
    sorted: Vec<usize>,
    cycles: Vec<Arc<Cycle<K>>>,
    exhausted: bool,
}

impl<K: Ord, R, E> Outcome<K, R, E> {
    pub(crate) fn new(ended: Vec<Ended<K, R, E>>, mut cycles: Vec<Arc<Cycle<K>>>, exhausted: bool) -> Self {
        let mut sorted: Vec<usize> = (0..ended.len()).collect();
        sorted.sort_unstable_by(|&a, &b| ended[a].key.cmp(&ended[b].key));
        cycles.sort_by(|a, b| a.path.cmp(&b.path));
        Outcome { ended, sorted, cycles, exhausted }
    }

    fn find(&self, key: &K) -> Option<&Ended<K, R, E>> {
        let at = self.sorted.binary_search_by(|&at| self.ended[at].key.cmp(key)).ok()?;
        Some(&self.ended[self.sorted[at]])
    }

    /// The final state of a task; `None` if it was never requested.
    pub fn get(&self, key: &K) -> Option<&State<K, R, E>> {
        self.find(key).map(|ended| &ended.state)
    }

    /// The result of a task that is done.
    pub fn result(&self, key: &K) -> Option<&R> {
        match self.get(key)? {
            State::Done(result) => Some(result),
            _ => None,
        }
    }

    /// The dependencies of a task, in the order of its requests.
    pub fn needs(&self, key: &K) -> impl ExactSizeIterator<Item = &K> {
        let needs = self.find(key).map_or(&[][..], |ended| &ended.needs);
        needs.iter().map(|&at| &self.ended[at].key)
    }

    /// All tasks with their final states, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &State<K, R, E>)> {
        self.sorted.iter().map(|&at| (&self.ended[at].key, &self.ended[at].state))
    }

    /// The results of all tasks that are done, sorted by key.
    pub fn results(&self) -> impl Iterator<Item = (&K, &Arc<R>)> {
        self.iter().filter_map(|(key, state)| match state {
            State::Done(result) => Some((key, result)),
            _ => None,
        })
    }

    /// The tasks that failed by themselves, sorted by key.
    pub fn failures(&self) -> impl Iterator<Item = (&K, &E)> {
        self.iter().filter_map(|(key, state)| match state {
            State::Failed(error) => Some((key, error)),
            _ => None,
        })
    }

    /// Every cycle once, sorted by its path.
    pub fn cycles(&self) -> &[Arc<Cycle<K>>] {
        &self.cycles
    }

    /// Whether the limit of tasks was hit; which tasks are cancelled then depends on timing, this result does not.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Whether every task has a result.
    pub fn is_complete(&self) -> bool {
        self.ended.iter().all(|ended| ended.state.is_done())
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.ended.len()
    }

    /// Whether there were no tasks.
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }
}
