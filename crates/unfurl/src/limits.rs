//! Limits of evaluation. Each has a rule that names it when it is exceeded.

/// Longest expression or template, in bytes.
pub const MAX_EXPRESSION: usize = purlin_syntax::limits::EXPRESSION_BYTES;
/// Deepest nesting of the source: filters, templates, values.
pub const MAX_DEPTH: usize = purlin_syntax::limits::EXPRESSION_LEVELS;
/// Most segments of one query: they are followed recursively.
pub const MAX_SEGMENTS: usize = purlin_syntax::limits::QUERY_SEGMENTS;
/// Deepest nesting of evaluation: attributes that depend on attributes, functions in functions.
pub const MAX_CALLS: usize = purlin_syntax::limits::CALL_LEVELS;
/// Longest string an evaluation may build, in bytes.
pub const MAX_STRING: usize = 16 * 1024 * 1024;
/// Longest list an evaluation may build.
pub const MAX_ITEMS: usize = 1_000_000;
/// Largest file read by an expression, in bytes.
pub const MAX_FILE: usize = 16 * 1024 * 1024;
/// Most entries kept of a trace.
pub const MAX_TRACE: usize = 10_000;
/// Most relationships of one topology to nodes that merely fit a requirement, not counting the first of each.
pub const MAX_FITTING: usize = 100_000;
