//! Limits of evaluation. Each has a rule that names it when it is exceeded.

/// Longest expression or template, in bytes.
pub const MAX_EXPRESSION: usize = purlin_syntax::limits::EXPRESSION_BYTES;
/// Deepest nesting of the source: filters, templates, values.
pub const MAX_DEPTH: usize = purlin_syntax::limits::EXPRESSION_LEVELS;
/// Deepest nesting of evaluation: attributes that depend on attributes, functions in functions.
pub const MAX_CALLS: usize = purlin_syntax::limits::CALL_LEVELS;
/// Longest string an evaluation may build, in bytes.
pub const MAX_STRING: usize = 16 * 1024 * 1024;
/// Longest list an evaluation may build.
pub const MAX_ITEMS: usize = 1_000_000;
