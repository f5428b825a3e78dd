//! Artifacts: their graph, their files, their tags.

pub mod artifacts;
pub(crate) mod dockerfile;
pub(crate) mod glob;
pub mod image;
pub mod input_digest;
pub mod keys;
pub mod tag;
