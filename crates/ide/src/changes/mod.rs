//! Changes of texts: renames, corrections, quick fixes. Each is verified before it is offered.

pub(crate) mod actions;
pub(crate) mod mend;
pub(crate) mod names;
pub(crate) mod rename;
pub(crate) mod same;
