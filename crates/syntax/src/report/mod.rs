//! Findings: what was found, where, and what would mend it.

pub mod diagnostic;
pub(crate) mod hint;
pub mod suggest;
pub mod what;
