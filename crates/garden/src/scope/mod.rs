//! What templates may use in each phase: variables, inputs, and everything from outside.

pub(crate) mod base;
pub(crate) mod ground;
pub(crate) mod imports;
pub(crate) mod near_variables;
pub mod phases;
pub(crate) mod scopes;
pub(crate) mod vars;
