//! What is written: configurations, changes of files, schemas, answers of inspect.

pub mod edit;
pub mod emit;
pub mod fix;
pub mod inspect;
pub mod json_schema;
pub(crate) mod rewrite;
