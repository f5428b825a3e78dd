//! Templates bound to a scope: lazy values, outputs and versions.

pub(crate) mod bind;
pub mod json;
pub(crate) mod live;
pub mod number;
pub(crate) mod outputs;
pub(crate) mod structure;
pub(crate) mod trace;
pub mod versions;
