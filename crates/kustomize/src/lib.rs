//! Kustomizations: resources collected from files and folders, generated, changed and named as Kustomize does it.
//!
//! An engine that dialects request manifests from (see `model::inner`); it knows none of them. Nearly all fields are
//! built natively; other fields are named, and an installed `kubectl kustomize` does the work if programs are allowed.
//! Every part of a result keeps its origin.

mod arguments;
mod build;
mod config;
mod defaults;
mod dialect;
mod edit;
mod fieldpath;
mod fieldspec;
pub mod file;
mod generate;
mod helm;
mod identity;
mod images;
mod index;
mod installed;
mod keyed;
mod kustomization;
mod labels;
mod names;
mod notes;
mod order;
mod patch;
mod plugins;
mod reach;
mod references;
mod replacements;
mod resource;
mod restriction;
pub mod rules;
mod select;
mod shape;
mod strategic;
mod transform;
mod value_add;
mod vars;

pub use build::{resolve, resolve_patch};
pub use dialect::DIALECT;
pub use identity::is_namespaced;
pub use kustomization::FILES;
pub use reach::outer_paths;
