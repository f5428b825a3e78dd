//! The Skaffold dialect.

pub mod check;
pub mod defaults;
pub mod editions;
pub mod emit;
pub mod entities;
pub mod forest;
pub mod item;
pub mod load;
pub mod paths;
pub mod profile;
pub mod releases;
pub mod remote;
pub mod requires;
pub mod rules;
pub mod upgrade;
pub mod walk;
