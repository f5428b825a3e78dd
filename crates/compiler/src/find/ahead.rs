//! Checks projects of a repository on several threads, and merges the results in the order of a single-threaded check.
//!
//! Each project is checked in a branch of the run, which shares nothing that depends on time: the result is the same
//! for any other work and any number of threads. Does not know what a check does.

use purlin_value::Session;
use purlin_value::stack;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of projects each thread may be ahead of merging: their data is in memory until then.
const AHEAD: usize = 4;

/// Result of the work on one item, with its branch.
pub(crate) struct Branched<R> {
    pub branch: Session,
    pub result: R,
}

/// Number of items processed before any of them is merged.
pub(crate) fn round(session: &Session) -> usize {
    if session.threads < 2 { 1 } else { session.threads.saturating_mul(AHEAD) }
}

/// Processes items in branches of a run, on as many threads as the run has. The results are in the order of the items;
/// `None` for one that exceeds the memory available beside the others.
pub(crate) fn in_branches<T: Sync, R: Send>(
    session: &Session,
    items: &[T],
    work: &(dyn Fn(&Session, &T) -> R + Sync),
) -> Vec<Option<Branched<R>>> {
    let results: Vec<Mutex<Option<Branched<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let threads = session.threads.min(items.len()).max(1);
    let take = || {
        while let Some((item, result)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).zip(results.get(index))
        } {
            let branch = session.branch(threads);
            let done = work(&branch, item);
            if !branch.is_cut_short() {
                *lock(result) = Some(Branched { branch, result: done });
            }
        }
    };
    std::thread::scope(|scope| {
        // If one thread cannot be started, neither can the next.
        let _ = (1..threads).all(|_| stack::spawn(scope, take));
        take();
    });
    results.into_iter().map(|result| lock(&result).take()).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
