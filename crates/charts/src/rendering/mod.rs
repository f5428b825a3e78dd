//! From a chart and values to manifests, and from their text back to lines.

pub mod capabilities;
pub mod context;
pub mod edition;
pub mod engine;
pub mod guessable;
pub mod manifest;
pub mod template;
pub(crate) mod trace;
