//! Phases 5 and 7: assigned values, their checks against declared types, and their final form.

pub mod clause;
pub(crate) mod coerce;
pub(crate) mod finish;
pub(crate) mod format;
pub(crate) mod scalar;
pub mod validate;
pub mod values;
