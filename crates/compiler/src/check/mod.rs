//! Checks over all variants of a project: objects, policies, unused parts; one message for one mistake.

pub(crate) mod advice;
pub(crate) mod everywhere;
pub(crate) mod judged;
pub(crate) mod once;
pub(crate) mod policies;
pub(crate) mod unused;
