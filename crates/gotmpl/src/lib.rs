//! The Go template language with Sprig's and Helm's functions: lexer, parser, evaluator and function list.
//!
//! A separate engine: templates are parsed once into a [`Set`] and rendered many times by a [`Machine`] that owns the
//! values of one render. It reads no files, no clock and no environment; all input from the outside comes through
//! [`Outside`].

pub mod ast;
mod cause;
mod decimal;
pub mod emit;
pub mod equal;
mod error;
mod eval;
mod float;
pub mod func;
pub mod funcs;
pub mod hole;
pub mod json;
mod keys;
mod lex;
pub mod machine;
mod methods;
pub mod number;
pub mod object;
mod parse;
mod pem;
mod primes;
mod print;
pub mod quote;
mod random;
pub mod rope;
pub mod semver;
mod set;
mod taint;
pub mod time;
mod toml;
pub mod value;
mod weave;
pub mod yaml;
pub mod yaml_tree;
pub mod zone;

pub use cause::{Cause, Misread};
pub use error::{ExecError, Fault, Limit, ParseError};
pub use keys::SpareKey;
pub use machine::{Limits, Lookup, Machine, Outside, STACK_BYTES};
pub use random::Guessable;
pub use rope::{Piece, Rope};
pub use set::{Namespace, Set};
pub use value::{Data, Heap, ListType, MapType, Str, Val};
