//! Checks of an ensemble beyond those of TOSCA's reader, and their problems.

pub(crate) mod operations;
pub(crate) mod overlooked;
pub mod report;
pub(crate) mod types;
pub mod validate;
