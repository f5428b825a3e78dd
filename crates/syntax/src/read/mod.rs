//! Texts to trees: YAML and JSON, and what is wrong with them.

pub(crate) mod build;
pub mod head;
pub mod json;
pub mod json_text;
pub(crate) mod merge;
pub(crate) mod mistake;
pub(crate) mod outdent;
pub mod yaml;
pub(crate) mod yaml_mistake;
