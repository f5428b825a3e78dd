//! One configuration out of several: checked, completed, merged, with modules and environments.

pub(crate) mod check;
pub(crate) mod defaults;
pub mod environment;
pub(crate) mod merge;
pub(crate) mod modules;
pub(crate) mod paths;
pub mod setters;
