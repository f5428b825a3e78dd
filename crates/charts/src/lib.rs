//! Helm charts and Metachart charts: loading, values, rendering, manifests.

pub mod archive;
pub mod capabilities;
pub mod chart;
pub mod checks;
mod ci;
pub mod context;
pub mod dependencies;
mod dialect;
pub mod engine;
pub mod entities;
pub mod given;
pub mod ignore;
pub mod inner;
pub mod json;
pub mod json_schema;
pub mod lint;
pub mod load;
pub mod manifest;
pub mod metachart;
pub mod metadata;
mod report;
pub mod repository;
pub mod rules;
pub mod schema;
pub mod strvals;
pub mod template;
pub mod trace;
mod unset;
pub mod values;
mod words;
pub mod yaml;

pub use dialect::{DIALECT, resolve_chart};
