//! Other notations as Go reads and writes them.

pub mod emit;
pub mod json;
pub mod semver;
pub mod time;
pub(crate) mod toml;
pub mod yaml;
pub mod yaml_tree;
pub mod zone;
