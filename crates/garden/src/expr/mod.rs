//! The template string language: parsing, evaluation and static analysis of the contents of `${…}`.

pub mod ast;
mod blame;
mod eval;
mod find;
mod layers;
mod operate;
mod parse;
mod scan;
mod template;
mod uses;

pub use ast::{At, Template};
pub use eval::{Evaluator, Places, Stop, pending_in};
pub use find::{Own, OwnLayer, REST};
pub use layers::{merge_parts, overlay};
pub use operate::{is_truthy, shown_type, text_of};
pub use parse::MAX_DEPTH;
pub use scan::Problem;
pub use template::{is_template, parse, parse_expression};
