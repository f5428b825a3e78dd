//! From a folder or an archive to a chart in memory.

pub mod archive;
pub mod chart;
pub(crate) mod ci;
pub(crate) mod entities;
pub(crate) mod files;
pub(crate) mod ignore;
pub mod json;
pub mod json_schema;
pub mod load;
pub(crate) mod metadata;
pub(crate) mod nearby;
pub mod repository;
pub mod yaml;
