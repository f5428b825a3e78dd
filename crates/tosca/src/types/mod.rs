//! Phases 3 and 4: hierarchies of types, inheritance, and whether types are sound in themselves.

pub(crate) mod check;
pub(crate) mod hierarchy;
pub(crate) mod inherit;
pub mod library;
