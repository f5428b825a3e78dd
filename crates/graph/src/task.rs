//! What a task sees and what it answers.
//!
//! A task is a function of its key and of the results it has asked for. It never waits: when something is missing it
//! returns [`Step::Needs`] and is entered again, from the start, once all of it is there.

use std::sync::Arc;

/// What a task answers when it has been entered.
#[derive(Clone, Debug)]
pub enum Step<K, R, E> {
    /// It is finished.
    Done(R),
    /// It has failed; whatever needs it is aborted.
    Fail(E),
    /// It cannot go on without the results of these tasks, which are started if they have not been.
    ///
    /// Ask for as much as is known at once: each answer of this kind costs one more entry.
    Needs(Vec<K>),
}

/// The results a task has asked for so far, in this entry and all earlier ones.
///
/// What it has *not* asked for is never visible here, even if it happens to be finished: otherwise an outcome could
/// depend on which thread was faster.
#[derive(Debug)]
pub struct Deps<K, R> {
    /// Sorted by key: most tasks ask for a handful, which is found by comparing.
    ready: Vec<(K, Arc<R>)>,
}

impl<K: Ord, R> Deps<K, R> {
    pub(crate) fn new() -> Self {
        Deps { ready: Vec::new() }
    }

    /// Whether this task has not asked for anything yet.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The result of `key`, if this task has asked for it before.
    pub fn get(&self, key: &K) -> Option<&R> {
        self.find(key).map(Arc::as_ref)
    }

    /// The result of `key` to keep, if this task has asked for it before.
    pub fn share(&self, key: &K) -> Option<Arc<R>> {
        self.find(key).map(Arc::clone)
    }

    /// Those of `keys` that have not been asked for yet, for a [`Step::Needs`]; `None` if nothing is missing.
    pub fn missing(&self, keys: impl IntoIterator<Item = K>) -> Option<Vec<K>> {
        let missing: Vec<K> = keys.into_iter().filter(|key| !self.has(key)).collect();
        (!missing.is_empty()).then_some(missing)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        self.find(key).is_some()
    }

    /// Adds results that are not there yet.
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
