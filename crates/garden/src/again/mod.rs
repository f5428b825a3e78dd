//! Resolving once more: other environments, edited files, what has run.

pub mod follow;
pub(crate) mod resume;
pub(crate) mod variants;
pub(crate) mod varying;
