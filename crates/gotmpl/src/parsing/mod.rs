//! From text to trees, and the errors on the way.

pub mod ast;
pub(crate) mod cause;
pub(crate) mod error;
pub(crate) mod lex;
pub(crate) mod parse;
