//! Where a cursor is, in texts that may be incomplete.

pub(crate) mod context;
pub(crate) mod flow;
pub(crate) mod outline;
pub(crate) mod place;
pub(crate) mod scan;
