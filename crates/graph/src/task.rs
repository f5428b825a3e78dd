//! The input and the answer of a task.
//!
//! A task is a function of its key and of the results it has requested. It never waits: when results are missing it
//! returns [`Step::Needs`] and is re-entered, from the start, once all of them are available.

use std::sync::Arc;

/// The answer of a task.
#[derive(Clone, Debug)]
pub enum Step<K, R, E> {
    /// It is finished.
    Done(R),
    /// It has failed; its dependents are aborted.
    Fail(E),
    /// It requires the results of these tasks, which are started if they have not been.
    ///
    /// Request as many as are known at once: each answer of this kind costs one more entry.
    Needs(Vec<K>),
}

/// The results a task has requested so far, in this entry and all earlier ones.
///
/// A result that was *not* requested is never visible here, even if it happens to be finished: otherwise an outcome
/// could depend on which thread was faster.
#[derive(Debug)]
pub struct Deps<K, R> {
    /// Sorted by key: most tasks request a handful, which is found by comparing.
    ready: Vec<(K, Arc<R>)>,
}

impl<K: Ord, R> Deps<K, R> {
    pub(crate) fn new() -> Self {
        Deps { ready: Vec::new() }
    }

    /// Whether this task has not requested anything yet.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The result of `key`, if this task has requested it before.
    pub fn get(&self, key: &K) -> Option<&R> {
        self.find(key).map(Arc::as_ref)
    }

    /// The shared result of `key`, if this task has requested it before.
    pub fn share(&self, key: &K) -> Option<Arc<R>> {
        self.find(key).map(Arc::clone)
    }

    /// Those of `keys` that have not been requested yet, for a [`Step::Needs`]; `None` if nothing is missing.
    pub fn missing(&self, keys: impl IntoIterator<Item = K>) -> Option<Vec<K>> {
        let missing: Vec<K> = keys.into_iter().filter(|key| !self.has(key)).collect();
        (!missing.is_empty()).then_some(missing)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        self.find(key).is_some()
    }

    /// Adds new results.
    pub(crate) fn add(&mut self, results: Vec<(K, Arc<R>)>) {
        if self.ready.is_empty() {
            self.ready = results;
        } else {
            self.ready.extend(results);
        }
        self.ready.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }

    fn find(&self, key: &K) -> Option<&Arc<R>> {
        let at = self.ready.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        self.ready.get(at).map(|(_, result)| result)
    }
}
