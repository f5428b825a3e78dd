//! Stack for evaluation: bounds on nesting assume a large one, and a thread that has it remembers so.
//!
//! The command line takes a large stack once per run; whoever needs one below it finds it there and starts no thread.
//! Knows nothing of what is evaluated.

use std::cell::Cell;
use std::thread::Scope;

thread_local! {
    /// The stack this thread was given here; 0 if it was started by others.
    static ROOM: Cell<usize> = const { Cell::new(0) };
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The system gives no thread with so much stack.
    NoStack,
    /// The work panicked.
    Panicked,
}

/// The stack that evaluation needs: it nests as deep as the configuration does, and its limits assume this much. Only
/// touched pages cost.
pub const EVALUATION: usize = 256 << 20;

/// Starts a thread with a stack for evaluation. The answer is whether the system has given one.
pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> bool {
    let marked = move || {
        ROOM.set(EVALUATION);
        work();
    };
    let thread = std::thread::Builder::new().name("purlin".to_owned()).stack_size(EVALUATION);
    thread.spawn_scoped(scope, marked).is_ok()
}

/// Runs something on a thread with at least this much stack: this one, if it has it.
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
