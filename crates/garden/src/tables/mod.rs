//! The rows of the tables applied: shapes, defaults, types, schemas.

pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod concealed;
pub(crate) mod dockerfile;
pub(crate) mod include;
pub(crate) mod inputs;
pub mod json_schema;
pub mod reference;
pub(crate) mod shapes;
pub(crate) mod types;
