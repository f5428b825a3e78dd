//! The TOSCA dialect.

pub mod archive;
pub mod clause;
mod copy;
pub mod entities;
pub mod entity;
pub mod format;
pub mod functions;
pub mod hierarchy;
pub mod inherit;
pub mod link;
pub mod load;
pub mod model;
pub mod names;
pub mod problem;
pub mod profile;
pub mod quirks;
pub mod read;
pub mod render;
pub mod rules;
pub mod scalar;
pub mod schema;
pub mod special;
mod suggest;
pub mod topology;
pub mod val;
pub mod validate;
pub mod values;
