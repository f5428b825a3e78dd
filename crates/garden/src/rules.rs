//! The rules of the Garden dialect: what can be wrong with a project.

use purlin_syntax::Rule;

/// A template string that cannot be read.
pub const TEMPLATE_SYNTAX: Rule = Rule::error("garden-template-syntax", "A template string cannot be read.");
/// A key that does not exist.
pub const UNKNOWN_KEY: Rule = Rule::error("garden-unknown-key", "A template refers to a key that does not exist.");
/// A key that is known only in a later phase.
pub const KEY_TOO_EARLY: Rule =
    Rule::error("garden-key-too-early", "A template refers to a key that becomes available only in a later phase.");
/// Operands or operators that do not fit.
pub const TEMPLATE_TYPE: Rule = Rule::error("garden-template-type", "A template uses a value of the wrong type.");
/// A helper function that does not exist or was called wrongly.
pub const HELPER_FUNCTION: Rule =
    Rule::error("garden-helper-function", "A helper function does not exist, or cannot work with its arguments.");
/// `$merge`, `$concat`, `$forEach` or `$if` used wrongly.
pub const STRUCTURAL_OPERATOR: Rule =
    Rule::error("garden-structural-operator", "One of `$merge`, `$concat`, `$forEach` and `$if` is used wrongly.");

/// A configuration that is no map, or that uses keys it must not.
pub const CONFIG_SHAPE: Rule = Rule::error("garden-config-shape", "A configuration has the wrong shape.");
/// A configuration without a known `kind`.
pub const CONFIG_KIND: Rule = Rule::error("garden-config-kind", "A configuration does not say what it is.");

/// All of them.
pub const RULES: &[&Rule] = &[
    &TEMPLATE_SYNTAX,
    &UNKNOWN_KEY,
    &KEY_TOO_EARLY,
    &TEMPLATE_TYPE,
    &HELPER_FUNCTION,
    &STRUCTURAL_OPERATOR,
    &CONFIG_SHAPE,
    &CONFIG_KIND,
];
