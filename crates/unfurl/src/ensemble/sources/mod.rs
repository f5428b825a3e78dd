//! The files of an ensemble: found, read and merged.

pub mod directives;
pub(crate) mod files;
pub(crate) mod library;
pub mod manifest;
pub mod merge;
pub(crate) mod merged_tree;
pub mod places;
pub mod project;
pub(crate) mod python_template;
pub mod read;
pub(crate) mod repositories;
pub(crate) mod shape;
pub(crate) mod stored;
