//! Processes on this machine.

pub mod guard;
pub mod here;
pub mod persistent;
pub mod process;
pub mod stage;
pub mod tree;
