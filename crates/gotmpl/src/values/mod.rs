//! Go-typed values: what they are, how they print, compare and convert, and what they came from.

pub(crate) mod decimal;
pub mod equal;
pub(crate) mod float;
pub mod hole;
pub(crate) mod methods;
pub mod number;
pub mod object;
pub(crate) mod print;
pub mod quote;
pub mod rope;
pub(crate) mod taint;
pub mod value;
pub(crate) mod weave;
