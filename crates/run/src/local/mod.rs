//! Processes on this machine.

pub mod guard;
pub mod persistent;
pub mod process;
pub mod stage;
pub mod tree;
