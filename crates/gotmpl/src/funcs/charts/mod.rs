//! What only charts have: their files, values, templates and capabilities; YAML, JSON and TOML.

pub mod capabilities;
pub mod data;
pub mod files;
pub mod templates;
pub mod values;
