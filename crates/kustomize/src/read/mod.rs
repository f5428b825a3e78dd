//! A kustomization file: its keys, its fields, the files it names.

pub(crate) mod arguments;
pub(crate) mod config;
pub(crate) mod defaults;
pub mod entities;
pub(crate) mod fieldpath;
pub(crate) mod fieldspec;
pub(crate) mod kustomization;
pub(crate) mod reach;
pub(crate) mod restriction;
pub(crate) mod shape;
