//! The rules of this dialect's diagnostics.

use purlin_syntax::Rule;

/// An expression or template that cannot be read.
pub const SYNTAX: Rule = Rule::error("unfurl-syntax", "An expression or template does not follow the grammar.");
/// Something an expression names that is not there.
pub const UNKNOWN: Rule =
    Rule::error("unfurl-unknown", "An expression refers to an unknown instance, key or function.");
/// A value of the wrong kind.
pub const TYPE: Rule = Rule::error("unfurl-wrong-type", "An expression is given a value of the wrong type.");
/// A value that cannot be computed.
pub const VALUE: Rule = Rule::error("unfurl-value", "The value of an expression cannot be computed.");
/// A property that does not conform to its type.
pub const INVALID: Rule = Rule::error("unfurl-invalid-property", "A property's value does not conform to its type.");
/// Values that refer to each other.
pub const CYCLE: Rule = Rule::warning("unfurl-cycle", "Attributes refer to each other, so their value is null.");
/// A query that is accepted and probably not meant.
pub const SUSPICIOUS: Rule =
    Rule::warning("unfurl-suspicious", "An expression is valid but probably not what was meant.");
/// A property no type declares.
pub const UNDECLARED: Rule =
    Rule::warning("unfurl-undeclared", "A property is assigned that its type does not declare, and is left out.");
/// A merge directive that leads nowhere.
pub const DIRECTIVE: Rule =
    Rule::error("unfurl-directive", "A merge directive refers to a missing file, anchor or path.");
/// A service template in Python.
pub const PYTHON: Rule =
    Rule::denied("unfurl-python", "A service template is written in Python, which was not allowed to be run.");
/// An environment that nobody declares.
pub const ENVIRONMENT: Rule =
    Rule::warning("unfurl-environment", "An ensemble refers to an environment that is not declared.");
/// Vault data that cannot be opened.
pub const VAULT: Rule = Rule::error("unfurl-vault", "Vault data cannot be opened.");
/// A manifest without what it must have.
pub const MANIFEST: Rule = Rule::error("unfurl-manifest", "An ensemble's manifest is incomplete or not valid.");
/// A topology within another.
pub const SUBSTITUTION: Rule =
    Rule::error("unfurl-substitution", "A node asks to be substituted, and no imported topology can substitute it.");
/// Something an expression may not do.
pub const REFUSED: Rule = Rule::denied("unfurl-refused", "An expression does something that was not allowed.");
/// A file an expression needs.
pub const FILE: Rule = Rule::io("unfurl-file", "A file an expression needs cannot be read.");
/// A file that only this run sees.
pub const NOT_WRITTEN: Rule =
    Rule::warning("unfurl-not-written", "An expression writes a file, and writing to disk was not allowed.");
/// Steps of an expression that asks for them.
pub const TRACE: Rule =
    Rule::warning("unfurl-trace", "An expression asks with `trace` for the steps of its evaluation.");
/// An operation that cannot be run here.
pub const CONFIGURATOR: Rule =
    Rule::error("unfurl-configurator", "An operation needs a configurator that is not supported.");
/// What an operation gives that cannot be used.
pub const RESULT: Rule = Rule::error("unfurl-result", "The result of an operation cannot be used.");
/// A limit of evaluation.
pub const LIMIT: Rule = Rule::limit("limit-unfurl", "Evaluating an expression exceeds a limit.");

/// All of them.
pub const RULES: &[&Rule] = &[
    &SYNTAX,
    &UNKNOWN,
    &TYPE,
    &VALUE,
    &INVALID,
    &CYCLE,
    &SUSPICIOUS,
    &UNDECLARED,
    &DIRECTIVE,
    &PYTHON,
    &ENVIRONMENT,
    &VAULT,
    &MANIFEST,
    &SUBSTITUTION,
    &REFUSED,
    &FILE,
    &NOT_WRITTEN,
    &TRACE,
    &CONFIGURATOR,
    &RESULT,
    &LIMIT,
];
