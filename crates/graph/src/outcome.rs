//! How tasks end, and all ends together.
//!
//! Nothing here depends on the order in which tasks ran: tasks are sorted by key and cycles have one canonical form.

use std::fmt;
use std::sync::Arc;

/// An aborted task names at most this many of the failures behind it, the smallest keys first.
///
/// A bound keeps the cost linear where thousands of tasks stand behind thousands of failures.
pub const NAMED_ROOTS: usize = 8;

/// A ring of tasks that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle<K> {
    /// A shortest way round from the smallest key, which is not repeated at the end. Each needs the next one.
    pub path: Vec<K>,
    /// Everything that cannot be told apart from the ring because it both leads into it and is led to, sorted;
    /// more than `path` where rings are interlocked.
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

/// How one task ended.
#[derive(Clone, Debug)]
pub enum State<K, R, E> {
    /// It has a result.
    Done(Arc<R>),
    /// It failed by itself.
    Failed(E),
    /// Something it needs did not end well.
    Aborted {
        /// The failed, cyclic or stalled tasks behind it: the smallest keys, at most [`NAMED_ROOTS`]; a cycle is
        /// named once, by its smallest key.
        roots: Arc<[K]>,
    },
    /// It waits for itself, directly or through others.
    Cyclic(Arc<Cycle<K>>),
    /// It asked only for what it already had, so that entering it again could never end. A mistake in the task.
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

/// One task after the end.
#[derive(Debug)]
pub(crate) struct Ended<K, R, E> {
    pub(crate) key: K,
    pub(crate) state: State<K, R, E>,
    /// The places of what it asked for, in the order of discovery.
    pub(crate) needs: Vec<usize>,
}

/// The ends of all tasks.
#[derive(Debug)]
pub struct Outcome<K, R, E> {
    /// In the order of discovery, which depends on timing and is shown to nobody.
    ended: Vec<Ended<K, R, E>>,
    /// The places of the tasks, sorted by key.
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

    /// How a task ended; `None` if nothing ever asked for it.
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

    /// What a task asked for, in the order in which it asked.
    pub fn needs(&self, key: &K) -> impl ExactSizeIterator<Item = &K> {
        let needs = self.find(key).map_or(&[][..], |ended| &ended.needs);
        needs.iter().map(|&at| &self.ended[at].key)
    }

    /// All tasks with their ends, sorted by key.
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

    /// Every ring once, sorted by its path.
    pub fn cycles(&self) -> &[Arc<Cycle<K>>] {
        &self.cycles
    }

    /// Whether the limit of tasks was hit; which tasks are cancelled then depends on timing, this verdict does not.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Whether every task has a result.
    pub fn is_complete(&self) -> bool {
        self.ended.iter().all(|ended| ended.state.is_done())
    }

    /// How many tasks there were.
    pub fn len(&self) -> usize {
        self.ended.len()
    }

    /// Whether there were no tasks.
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }
}
