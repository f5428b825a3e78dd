//! The entity-table vocabulary and the engines that read it; and what a dialect is.
//!
//! Knows values and trees, and no dialect.

pub mod dialect;
pub mod project;

pub use dialect::{Answer, Dialect, Question, Recognised};
pub use project::{Dependency, Manifest, Node, Request, Resolved, SetFlag, SetKind};
