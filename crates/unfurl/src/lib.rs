//! The Unfurl dialect: expressions, templates and ensembles.

pub mod analyze;
pub mod check;
pub mod convert;
pub mod dialect;
pub mod ensemble;
pub mod entities;
pub mod error;
pub mod eval;
pub mod external;
pub mod functions;
pub mod inner;
pub mod jinja;
pub mod job;
pub mod limits;
pub mod python;
pub mod query;
pub mod rules;
pub mod special;
pub mod tree;
pub mod val;
pub mod vault;
pub mod yaml_text;

pub use dialect::DIALECT;
