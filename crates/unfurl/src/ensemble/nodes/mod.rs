//! Which nodes there are, and what their requirements lead to, where Unfurl's rules differ from TOSCA's.

pub(crate) mod blueprints;
pub(crate) mod conditions;
pub(crate) mod connections;
pub(crate) mod filters;
pub(crate) mod nested;
pub(crate) mod requirements;
pub(crate) mod select;
