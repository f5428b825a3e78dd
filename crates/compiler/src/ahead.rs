//! Projects of a repository that are checked on several threads, and taken over in the order in which one thread checks
//! them.
//!
//! Each project is checked in a branch of the run, which shares nothing that depends on when it is asked: the result is
//! the same whatever else runs, and however many threads there are. Knows nothing of what a check is.

use purlin_value::Session;
use purlin_value::stack;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many projects each thread may be ahead of what was taken over: what they hold is in memory until then.
const AHEAD: usize = 4;

/// What came of the work on one item: the branch that it was done in, and its result.
pub(crate) struct Branched<R> {
    pub branch: Session,
    pub result: R,
}

/// How many items are worked on before any of them is taken over.
pub(crate) fn round(session: &Session) -> usize {
    if session.threads < 2 { 1 } else { session.threads.saturating_mul(AHEAD) }
}

/// Works on items in branches of a run, on as many threads as the run has. The results are in the order of the items;
/// nothing for one that needs more memory than it may have beside the others.
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
        // Where there is no room for a thread, there is none for the next.
        let _ = (1..threads).all(|_| stack::spawn(scope, take));
        take();
    });
    results.into_iter().map(|result| lock(&result).take()).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
