//! The template string language: parsing, evaluation and static analysis of what stands in `${…}`.

pub mod ast;
mod parse;
mod scan;
mod template;

pub use ast::{At, Template};
pub use parse::MAX_DEPTH;
pub use scan::Problem;
pub use template::{is_template, parse, parse_expression};
