//! Editions and profiles, the functions that they know, and notations of hosts and other processors.

pub mod edition;
pub(crate) mod extended;
pub mod functions;
pub mod host;
pub mod profile;
pub mod python_text;
pub mod quirks;
pub mod scripts;
pub(crate) mod signatures;
