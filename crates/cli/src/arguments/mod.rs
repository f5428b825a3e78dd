//! The command line: options, help, completion, and what they come to.

pub(crate) mod args;
pub(crate) mod completions;
pub(crate) mod declared;
pub(crate) mod duration;
pub(crate) mod help;
pub(crate) mod options;
pub(crate) mod project;
pub(crate) mod reach;
pub(crate) mod read_args;
pub(crate) mod run_args;
pub(crate) mod steering;
