//! Helm charts and Metachart charts: loading, values, rendering, manifests.

pub mod archive;
pub mod capabilities;
pub mod chart;
mod checks;
mod ci;
pub mod context;
pub mod dependencies;
mod dialect;
pub mod engine;
mod entities;
mod files;
pub mod given;
mod ignore;
pub mod inner;
pub mod json;
pub mod json_schema;
pub mod lint;
pub mod load;
pub mod manifest;
pub mod metachart;
mod metadata;
mod report;
pub mod repository;
mod rules;
mod schema;
mod schema_file;
pub mod strvals;
pub mod template;
mod trace;
mod unread;
mod unset;
mod values;
mod words;
pub mod yaml;

pub use dialect::{DIALECT, resolve_chart};
pub use entities::SCHEMA;
