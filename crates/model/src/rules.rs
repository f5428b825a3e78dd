//! The rules of this crate: problems with entities in any dialect.

use purlin_syntax::{About, Loses, Rule};

/// A key that has no row.
pub const UNKNOWN_KEY: Rule = Rule::error("unknown-key", "A key is unknown.")
    .advice("remove it, or move it to the section that it belongs to")
    .loses(Loses::Entry);
/// A missing required key.
pub const MISSING_KEY: Rule = Rule::error("missing-key", "A required key is missing.").about(About::Missing);
/// A value of another shape than that of its row.
pub const WRONG_SHAPE: Rule = Rule::error("wrong-shape", "A value has the wrong shape for its key.")
    .advice("write the value in the shape that the message names")
    .loses(Loses::Entry);
/// A word that is not one of the choices.
pub const UNKNOWN_CHOICE: Rule = Rule::error("unknown-choice", "A value is not one of the allowed ones.");
/// Mutually exclusive keys.
pub const EXCLUSIVE_KEYS: Rule =
    Rule::error("exclusive-keys", "Mutually exclusive keys are used together.").advice("keep one of them");
/// A deprecated key.
pub(crate) const DEPRECATED_KEY: Rule = Rule::warning("deprecated-key", "A deprecated key is used.");
/// A node that does not exist.
pub const UNKNOWN_NODE: Rule = Rule::error("unknown-node", "The project has no node of that name.");

/// All of them.
pub const RULES: &[&Rule] =
    &[&UNKNOWN_KEY, &MISSING_KEY, &WRONG_SHAPE, &UNKNOWN_CHOICE, &EXCLUSIVE_KEYS, &DEPRECATED_KEY, &UNKNOWN_NODE];
