//! Actions, their graph, and what is checked before they run.

pub mod action;
pub mod graph;
pub mod late;
pub(crate) mod providers;
pub(crate) mod references;
pub mod scripts;
pub mod unapplied;
pub mod workflows;
