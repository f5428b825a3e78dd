//! The Skaffold dialect.

pub mod artifacts;
pub mod check;
pub mod defaults;
pub mod dialect;
pub mod edit;
pub mod editions;
pub mod emit;
pub mod entities;
pub mod fix;
pub mod forest;
pub mod glob;
pub mod image;
pub mod inspect;
pub mod item;
pub mod json_schema;
pub mod keys;
pub mod load;
pub mod merge;
pub mod modules;
pub mod paths;
pub mod profile;
pub mod releases;
pub mod remote;
pub mod render;
pub mod requires;
pub mod rewrite;
pub mod rules;
pub mod template;
pub mod unrendered;
pub mod upgrade;
pub mod validate;
pub mod value;
pub mod view;
pub mod walk;

pub use dialect::DIALECT;
