//! The query language: `segment::segment[filter]=test?`.
//!
//! Text becomes a [`Query`] once; evaluation is in [`crate::eval::path`]. Nothing here knows instances or values.

mod parse;

use crate::special::Special;
use ecow::EcoString;

pub use parse::{SyntaxError, parse};

/// A parsed query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Where it starts.
    pub start: Start,
    /// The steps from there.
    pub segments: Vec<Segment>,
    /// What is accepted but probably not meant.
    pub notes: Vec<Note>,
}

/// What the first segment says about where to start.
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

/// A range of bytes within the query's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// First byte.
    pub start: u32,
    /// One past the last.
    pub end: u32,
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
    /// What it selects.
    pub key: Key,
    /// What the selected value must equal.
    pub test: Option<Test>,
    /// Whether only the first match counts (`?`).
    pub first: bool,
    /// What the selected value must satisfy.
    pub filters: Vec<Filter>,
    /// Where it is written.
    pub at: Range,
}

/// What a segment selects.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// Nothing: the value itself.
    Empty,
    /// All values of a map.
    All,
    /// The item at an index.
    Index(i64),
    /// What the variable of that name names.
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
