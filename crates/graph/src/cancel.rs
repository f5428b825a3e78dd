//! A request to stop, shared between its senders and the solver that honours it.

use crate::sync::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that asks a solver to start nothing more. Clones share the flag.
///
/// Long-running tasks check it themselves; the solver checks it between tasks.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Default for Cancel {
    fn default() -> Self {
        Cancel(Arc::new(AtomicBool::new(false)))
    }
}

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the flag has been raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
