//! The Unfurl dialect: expressions, templates and ensembles.

pub mod analyze;
pub mod check;
mod dialect;
pub mod ensemble;
pub mod entities;
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
pub mod query;
mod rules;
pub mod special;
pub mod tree;

pub use dialect::DIALECT;
use purlin_jinja::yaml_text;
pub use purlin_jinja::{convert, error, python, val, vault};
