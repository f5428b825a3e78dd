//! The rules of this dialect's diagnostics.

use purlin_syntax::{About, Rule};

/// An expression or template that cannot be read.
pub const SYNTAX: Rule = Rule::error("unfurl-syntax", "An expression or template does not follow the grammar.")
    .advice("look at the quotes, brackets and operators of the expression");
/// Something an expression names that is not there.
pub const UNKNOWN: Rule =
    Rule::error("unfurl-unknown", "An expression refers to an unknown instance, key or function.")
        .advice("correct the name, or declare it")
        .about(About::Name);
/// A value of the wrong kind.
pub const TYPE: Rule = Rule::error("unfurl-wrong-type", "An expression is given a value of the wrong type.")
    .advice("change the arguments; `purlin eval --trace` shows their values");
/// A value that cannot be computed.
pub const VALUE: Rule = Rule::error("unfurl-value", "The value of an expression cannot be computed.")
    .advice("change the arguments; `purlin eval --trace` shows their values");
/// A property that does not conform to its type.
pub const INVALID: Rule = Rule::error("unfurl-invalid-property", "A property's value does not conform to its type.")
    .advice("change the value, or the type of the property")
    .about(About::Value);
/// Values that refer to each other.
pub const CYCLE: Rule = Rule::warning("unfurl-cycle", "Attributes refer to each other, so their value is null.");
/// A query that is accepted and probably not meant.
pub const SUSPICIOUS: Rule =
    Rule::warning("unfurl-suspicious", "An expression is valid but probably not what was meant.");
/// A property no type declares.
pub const UNDECLARED: Rule =
    Rule::warning("unfurl-undeclared", "A property, requirement or input is given that nothing declares.");
/// An artifact whose file is not there.
pub const ARTIFACT: Rule = Rule::warning("unfurl-artifact", "The file of an artifact does not exist.");
/// A merge directive that leads nowhere.
pub const DIRECTIVE: Rule =
    Rule::error("unfurl-directive", "A merge directive refers to a missing file, anchor or path.")
        .advice("correct the name after `+`, or add `?` (`+?include`) if it may be missing");
/// A service template in Python.
pub const PYTHON: Rule =
    Rule::denied("unfurl-python", "A service template is written in Python, which was not allowed to be run.");
/// An undeclared environment.
pub const ENVIRONMENT: Rule =
    Rule::warning("unfurl-environment", "An ensemble refers to an environment that is not declared.");
/// Vault data that cannot be opened.
pub const VAULT: Rule = Rule::error("unfurl-vault", "Vault data cannot be opened.").advice("encrypt the value again");
/// A manifest without what it must have.
pub const MANIFEST: Rule =
    Rule::error("unfurl-manifest", "An ensemble's manifest is incomplete or not valid.").about(About::Missing);
/// A topology within another.
pub const SUBSTITUTION: Rule =
    Rule::error("unfurl-substitution", "A node asks to be substituted, and no imported topology can substitute it.")
        .advice("import a file with a topology for this type, or remove the directive");
/// An instance of another ensemble.
pub const SELECTION: Rule =
    Rule::error("unfurl-selection", "A node selects an instance of another ensemble, and none fits.")
        .advice("name an ensemble that has it under `external` of the environment");
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
pub const RESULT: Rule = Rule::error("unfurl-result", "The result of an operation cannot be used.")
    .advice("declare a node template for the instance");
/// A limit of evaluation.
pub const LIMIT: Rule = Rule::limit("limit-unfurl", "Evaluating an expression exceeds a limit.")
    .advice("use smaller numbers, strings and lists; `purlin limits` lists the limits");

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
    &ARTIFACT,
    &DIRECTIVE,
    &PYTHON,
    &ENVIRONMENT,
    &VAULT,
    &MANIFEST,
    &SUBSTITUTION,
    &SELECTION,
    &REFUSED,
    &FILE,
    &NOT_WRITTEN,
    &TRACE,
    &CONFIGURATOR,
    &RESULT,
    &LIMIT,
];
