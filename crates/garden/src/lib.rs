//! The Garden dialect: projects made of actions, modules and templates, resolved into one graph.

pub mod dotenv;
pub mod expr;
pub mod functions;
pub mod glob;
pub mod number;
