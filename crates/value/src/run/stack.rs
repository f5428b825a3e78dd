//! Stack for evaluation: limits on nesting assume a large one, and a thread records that it has one.
//!
//! The command line starts a thread with a large stack once per run; nested calls find it there and start no thread.
//! Knows nothing of the evaluated language.

use std::cell::Cell;
use std::thread::Scope;

thread_local! {
    /// The stack size this thread was started with here; 0 if it was started elsewhere.
    static ROOM: Cell<usize> = const { Cell::new(0) };
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The system cannot start a thread with that much stack.
    NoStack,
    /// The work panicked.
    Panicked,
}

/// The stack that evaluation needs: it recurses as deep as the configuration is nested, and its limits assume this
/// much. Only touched pages cost memory.
pub const EVALUATION: usize = 256 << 20;

/// Starts a thread with a stack for evaluation. False if the system cannot.
pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> bool {
    let marked = move || {
        ROOM.set(EVALUATION);
        work();
    };
    let thread = std::thread::Builder::new().name("purlin".to_owned()).stack_size(EVALUATION);
    thread.spawn_scoped(scope, marked).is_ok()
}

/// Runs work on a thread with at least this much stack: the current one, if it has it.
pub fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, NoAnswer> {
    if ROOM.get() >= bytes {
        return Ok(work());
    }
    let marked = move || {
        ROOM.set(bytes);
        work()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("purlin".to_owned()).stack_size(bytes);
        let thread = thread.spawn_scoped(scope, marked).map_err(|_| NoAnswer::NoStack)?;
        thread.join().map_err(|_| NoAnswer::Panicked)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn a_large_stack_is_taken_once() {
        let here = std::thread::current().id();
        let (outer, inner, larger) = with_stack(1 << 20, || {
            let id = || std::thread::current().id();
            (id(), with_stack(1 << 19, id).unwrap(), with_stack(1 << 21, id).unwrap())
        })
        .unwrap();
        assert_ne!(outer, here);
        assert_eq!(outer, inner);
        assert_ne!(outer, larger);
    }

    #[test]
    fn a_panic_is_no_answer() {
        assert_eq!(with_stack(1 << 20, || -> u8 { panic!("on purpose") }), Err(NoAnswer::Panicked));
    }
}
