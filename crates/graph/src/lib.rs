//! A task graph and its solver, generic over the key.
//!
//! Everything in Purlin that is solved by "do what is independent until all is done" goes through [`Solver`]:
//! inheritance of types, resolution of modules and providers, execution of actions. Plain graphs that are known in
//! advance go through [`Digraph`]. This crate knows neither YAML nor dialects nor the outside world; it sees keys and
//! functions.
//!
//! ```
//! use purlin_graph::{Solver, Step};
//!
//! // Fibonacci numbers, each a task that discovers what it needs when it runs.
//! let solver = Solver::new(|n: &u64, deps| {
//!     if *n < 2 {
//!         return Step::<_, _, String>::Done(*n);
//!     }
//!     match (deps.get(&(n - 1)), deps.get(&(n - 2))) {
//!         (Some(a), Some(b)) => Step::Done(a + b),
//!         _ => Step::Needs(vec![n - 1, n - 2]),
//!     }
//! });
//! assert_eq!(solver.threads(2).solve([50]).result(&50), Some(&12_586_269_025));
//! ```

mod cancel;
mod digraph;
mod outcome;
mod schedule;
mod solver;
mod sync;
mod task;

#[cfg(test)]
mod interleavings;

pub use cancel::Cancel;
pub use digraph::Digraph;
pub use outcome::{Cycle, NAMED_ROOTS, Outcome, State};
pub use solver::{DEFAULT_TASK_LIMIT, Solver};
pub use task::{Deps, Step};
