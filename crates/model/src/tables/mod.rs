//! The table vocabulary, and the engines that read it.

pub mod check;
pub mod describe;
pub(crate) mod guard;
pub mod json_schema;
pub mod kinds;
pub mod schema;
pub mod walk;
