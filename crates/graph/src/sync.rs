//! The few primitives the solver synchronises with.
//!
//! Unit tests of this crate run under a model checker that controls every interleaving, so they see its primitives
//! instead of the standard ones. The rest of the crate must not name `std::thread` or a lock itself.

#[cfg(test)]
pub(crate) use shuttle::{
    sync::atomic::{AtomicBool, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Scope, panicking, scope},
};
#[cfg(not(test))]
pub(crate) use std::{
    sync::atomic::{AtomicBool, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Scope, panicking, scope},
};
