//! From files to documents: what belongs to the project, its texts, and its templates, parsed once.

pub(crate) mod apart;
pub mod config;
pub mod dotenv;
pub mod draft;
pub mod files;
pub(crate) mod place;
pub mod remote;
pub(crate) mod render;
pub(crate) mod scan;
pub(crate) mod templates;
