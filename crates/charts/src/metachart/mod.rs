//! Metachart: charts whose resources are data. `config` reads its configuration, `generate` makes schema, settings and
//! documentation from it, `pipeline` renders resources natively, `skeleton` is a new chart.

pub mod build;
pub mod config;
pub mod generate;
pub mod merge;
pub mod natives;
pub mod pipeline;
pub mod skeleton;
