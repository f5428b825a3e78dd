//! The Garden dialect: projects made of actions, modules and templates, resolved into one graph.

pub mod expr;
pub mod number;
