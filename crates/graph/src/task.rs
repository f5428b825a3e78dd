//! What a task sees and what it answers.
//!
//! A task is a function of its key and of the results it has asked for. It never waits: when something is missing it
//! returns [`Step::Needs`] and is entered again, from the start, once all of it is there.

use std::collections::HashMap;
use std::hash::Hash;
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
    ready: HashMap<K, Arc<R>>,
}

impl<K: Eq + Hash, R> Deps<K, R> {
    pub(crate) fn new() -> Self {
        Deps { ready: HashMap::new() }
    }

    /// The result of `key`, if this task has asked for it before.
    pub fn get(&self, key: &K) -> Option<&R> {
        self.ready.get(key).map(Arc::as_ref)
    }

    /// The result of `key` to keep, if this task has asked for it before.
    pub fn share(&self, key: &K) -> Option<Arc<R>> {
        self.ready.get(key).map(Arc::clone)
    }

    /// Those of `keys` that have not been asked for yet, for a [`Step::Needs`]; `None` if nothing is missing.
    pub fn missing(&self, keys: impl IntoIterator<Item = K>) -> Option<Vec<K>> {
        let missing: Vec<K> = keys.into_iter().filter(|key| !self.ready.contains_key(key)).collect();
        (!missing.is_empty()).then_some(missing)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        self.ready.contains_key(key)
    }

    pub(crate) fn add(&mut self, key: K, result: Arc<R>) {
        self.ready.insert(key, result);
    }
}
