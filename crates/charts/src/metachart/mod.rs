//! Metachart: charts whose resources are data.
//!
//! `config` and `kinds` read a chart's configuration, `review` finds mistakes in it, `generate` makes schema, settings
//! and documentation from it, `current` keeps the schema up to date without it, `check` checks the values. `pipeline`
//! renders resources natively: `discover`, then for each resource `object_meta`, `checksums`, `defaults`, `build`;
//! `natives` are the helpers that preprocessors call. `skeleton` is a new chart, with the same pipeline as templates
//! for Helm.

pub mod build;
pub mod check;
pub mod checksums;
pub mod config;
pub mod current;
pub mod defaults;
pub mod discover;
pub mod generate;
pub mod kinds;
pub mod natives;
pub mod object_meta;
pub mod pipeline;
pub mod review;
pub mod skeleton;
