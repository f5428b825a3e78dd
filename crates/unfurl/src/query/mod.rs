//! The query language: `segment::segment[filter]=test?`.
//!
//! Text becomes a [`Query`] once; evaluation is in [`crate::eval::path`]. This must not know instances or values.

mod parse;

use crate::special::Special;
use ecow::EcoString;

pub use parse::{SyntaxError, parse};
pub use purlin_jinja::error::Range;

/// A parsed query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The start.
    pub start: Start,
    /// The steps from there.
    pub segments: Vec<Segment>,
    /// Accepted notation that is probably a mistake.
    pub notes: Vec<Note>,
}

/// The start in the first segment.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// At the current instance or item.
    Current,
    /// At the nearest ancestor for which the whole query matches.
    Ancestors,
    /// At the map of all instances.
    All,
    /// At a variable's value.
    Variable(EcoString),
}

/// Something worth a warning.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Where.
    pub at: Range,
    /// What.
    pub message: String,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Its key.
    pub key: Key,
    /// The value that the selected one must equal.
    pub test: Option<Test>,
    /// Whether only the first match counts (`?`).
    pub first: bool,
    /// The conditions on the selected value.
    pub filters: Vec<Filter>,
    /// Where it is written.
    pub at: Range,
}

/// The key of a segment.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// Empty: the value itself.
    Empty,
    /// All values of a map.
    All,
    /// The item at an index.
    Index(i64),
    /// The key that the variable's value names.
    Variable(EcoString),
    /// A built-in key of an instance; its text is kept for maps, where it is an ordinary key.
    Special(Option<Special>, EcoString),
    /// An attribute or map key.
    Name(EcoString),
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Whether it must differ.
    pub negated: bool,
    /// With what.
    pub operand: Operand,
}

/// The right side of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// Text, coerced to the left side's type.
    Text(EcoString),
    /// A variable's value as it is.
    Variable(EcoString),
}

/// A condition in brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Whether it must not match.
    pub negated: bool,
    /// The query that must match.
    pub segments: Vec<Segment>,
}
