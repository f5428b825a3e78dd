//! Finding projects: below a folder, beside others, in branches of a run.

pub(crate) mod ahead;
pub(crate) mod bases;
pub(crate) mod loose;
pub(crate) mod outside;
pub(crate) mod survey;
