//! Values: what a user gives, what charts set, what a schema allows.

pub mod dependencies;
pub mod given;
pub(crate) mod schema;
pub(crate) mod schema_file;
pub mod strvals;
pub(crate) mod values;
