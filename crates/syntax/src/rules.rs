//! The rules of this crate: problems of a file before its meaning is known.

use crate::diagnostic::{Loses, Rule};

/// YAML that cannot be read.
pub const YAML_SYNTAX: Rule = Rule::error("yaml-syntax", "The YAML cannot be read.")
    .advice("look at the indentation, the quotes and the brackets of this line and the one above")
    .loses(Loses::Rest);
/// A duplicate key in a mapping.
pub const DUPLICATE_KEY: Rule = Rule::error("duplicate-key", "A mapping has the same key twice.");
/// An alias without an anchor before it, or inside the node it refers to.
pub const YAML_ALIAS: Rule = Rule::error("yaml-alias", "An alias refers to an undefined anchor or to its own node.")
    .advice("define the anchor earlier in the same document");
/// Text that is not UTF-8, or holds a NUL.
pub const ENCODING: Rule = Rule::error("text-encoding", "A file is not plain UTF-8 text.");
/// JSON that cannot be read.
pub const JSON_SYNTAX: Rule = Rule::error("json-syntax", "The JSON cannot be read.")
    .advice("look at the commas, the quotes and the brackets here and just before");
/// Collections that are nested too deep.
pub const LIMIT_DEPTH: Rule =
    Rule::limit("limit-depth", "Collections or expressions are nested too deep.").advice("nest less deeply");
/// Aliases that multiply.
pub const LIMIT_ALIAS: Rule = Rule::limit("limit-alias-nodes", "Aliases expand a document to too many nodes.")
    .advice("raise it with `--limit alias-nodes=N`");
/// Aliases that multiply text.
pub const LIMIT_ALIAS_SIZE: Rule = Rule::limit("limit-alias-size", "Aliases expand a document to too much text.")
    .advice("raise it with `--limit alias-size=BYTES`");
/// A file of too many parts.
pub const LIMIT_NODES: Rule = Rule::limit("limit-nodes", "A file has more keys, values and collections than allowed.")
    .advice("raise it with `--limit nodes=N`");
/// An expression that is too long.
pub const LIMIT_EXPRESSION: Rule = Rule::limit("limit-expression-size", "An expression is longer than allowed.")
    .advice("split the expression, or raise it with `--limit expression-size=BYTES`");
/// A file that is too large.
pub const LIMIT_FILE: Rule =
    Rule::limit("limit-file-size", "A file is larger than allowed.").advice("raise it with `--limit file-size=BYTES`");
/// Files that are too large together.
pub const LIMIT_TOTAL: Rule = Rule::limit("limit-total-size", "All files together are larger than allowed.")
    .advice("check a smaller folder, or raise it with `--limit total-size=BYTES`");
/// More problems than are kept.
pub const LIMIT_PROBLEMS: Rule = Rule::limit("limit-problems", "A run finds more problems than are kept.")
    .advice("look at the first ones, or raise it with `--limit problems=N`");

/// All of them.
pub const RULES: &[&Rule] = &[
    &YAML_SYNTAX,
    &DUPLICATE_KEY,
    &YAML_ALIAS,
    &ENCODING,
    &JSON_SYNTAX,
    &LIMIT_DEPTH,
    &LIMIT_ALIAS,
    &LIMIT_ALIAS_SIZE,
    &LIMIT_NODES,
    &LIMIT_EXPRESSION,
    &LIMIT_FILE,
    &LIMIT_TOTAL,
    &LIMIT_PROBLEMS,
];
