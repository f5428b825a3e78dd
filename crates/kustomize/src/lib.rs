//! Kustomizations: resources collected from files and folders, generated, changed and named as Kustomize does it.
//!
//! A dialect, and an engine that other dialects request manifests from (see `model::inner`); it knows none of them. The
//! keys of the file are a table (`read/entities.rs`), checked by `read/shape.rs`. Nearly all fields are
//! built natively; other fields are named, and an installed `kubectl kustomize` does the work if programs are allowed.
//! Every part of a result keeps its origin.

mod build;
mod change;
mod dialect;
pub mod file;
mod installed;
mod read;
mod resources;
pub mod rules;

pub use build::{resolve, resolve_patch};
use change::{
    edit, images, labels, names, noted, patch, references, repeated, replacements, strategic, transform, value_add,
    vars,
};
pub use dialect::DIALECT;
pub use identity::is_namespaced;
pub use kustomization::{FILES, GROUP};
pub use reach::{named_paths, outer_paths};
pub use read::entities;
use read::{arguments, config, defaults, fieldpath, fieldspec, kustomization, reach, restriction, shape};
use resources::{generate, helm, identity, index, keyed, notes, order, plugins, resource, select};
