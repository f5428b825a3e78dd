//! The Go template language with Sprig's and Helm's functions: lexer, parser, evaluator and function list.
//!
//! A separate engine: templates are parsed once into a [`Set`] and rendered many times by a [`Machine`] that owns the
//! values of one render. It reads no files, no clock and no environment; all input from the outside comes through
//! [`Outside`].

mod crypto;
mod eval;
pub mod formats;
pub mod func;
pub mod funcs;
pub mod machine;
pub mod parsing;
mod reads;
mod set;
pub mod values;

pub use cause::{Cause, Misread};
use crypto::{keys, pem, primes, random};
pub use error::{ExecError, Fault, Limit, ParseError};
use formats::toml;
pub use formats::{emit, json, semver, time, yaml, yaml_tree, zone};
pub use keys::SpareKey;
pub use machine::{Limits, Lookup, Machine, Outside, STACK_BYTES};
pub use parsing::ast;
use parsing::{cause, error, lex, parse};
pub use random::Guessable;
pub use reads::Reads;
pub use rope::{Piece, Rope};
pub use set::{Namespace, Set};
pub use value::{Data, Heap, ListType, MapType, Str, Val};
use values::{decimal, float, methods, print, taint, weave};
pub use values::{equal, hole, number, object, quote, rope, value};
