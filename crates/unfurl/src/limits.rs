//! Limits of evaluation. Each has a rule that names it when it is exceeded.

pub use purlin_jinja::limits::{MAX_DEPTH, MAX_EXPRESSION, MAX_ITEMS, MAX_STRING};

/// Most segments of one query: they are followed recursively.
pub const MAX_SEGMENTS: usize = purlin_syntax::limits::QUERY_SEGMENTS;
/// Largest file read by an expression, in bytes.
pub const MAX_FILE: usize = 16 * 1024 * 1024;
/// Most entries kept of a trace.
pub const MAX_TRACE: usize = 10_000;
/// Most relationships of one topology to nodes that merely fit a requirement, not counting the first of each.
pub const MAX_FITTING: usize = 100_000;
