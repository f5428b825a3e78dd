//! Commands that find problems.

pub(crate) mod check;
pub(crate) mod unchanged;
pub(crate) mod verify;
