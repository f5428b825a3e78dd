//! The Unfurl dialect: expressions, templates and ensembles.

pub mod analyze;
pub mod check;
pub mod convert;
mod dialect;
pub mod ensemble;
pub mod entities;
pub mod error;
pub mod eval;
pub mod export;
mod external;
pub mod functions;
pub mod inner;
pub mod jinja;
pub mod job;
mod limits;
mod lookup;
mod names;
pub mod python;
pub mod query;
mod rules;
pub mod special;
pub mod tree;
pub mod val;
pub mod vault;
mod yaml_text;

pub use dialect::DIALECT;
