//! The Skaffold dialect.

pub mod editions;
pub mod entities;
