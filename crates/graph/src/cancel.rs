//! A request to stop, shared between whoever may ask for it and the solver that honours it.

use crate::sync::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that asks a solver to start nothing more. Clones share the flag.
///
/// Tasks that run for long look at it themselves; the solver looks at it between tasks.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Default for Cancel {
    fn default() -> Self {
        Cancel(Arc::new(AtomicBool::new(false)))
    }
}

impl Cancel {
    /// A flag nobody has raised yet.
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
