//! The rules of this crate: what can be wrong with entities, whatever the dialect.

use purlin_syntax::{About, Loses, Rule};

/// A key that has no row.
pub const UNKNOWN_KEY: Rule = Rule::error("unknown-key", "A key is unknown.")
    .advice("remove it, or move it to the section that it belongs to")
    .loses(Loses::Entry);
/// A key that must be there.
pub const MISSING_KEY: Rule = Rule::error("missing-key", "A required key is missing.").about(About::Missing);
/// Something of another shape than its row says.
pub const WRONG_SHAPE: Rule = Rule::error("wrong-shape", "A value has the wrong shape for its key.")
    .advice("write the value in the shape that the message names")
    .loses(Loses::Entry);
/// A word that is not on the list.
pub const UNKNOWN_CHOICE: Rule = Rule::error("unknown-choice", "A value is not one of the allowed ones.");
/// Keys that exclude each other.
pub const EXCLUSIVE_KEYS: Rule =
    Rule::error("exclusive-keys", "Mutually exclusive keys are used together.").advice("keep one of them");
/// A key that should no longer be used.
pub(crate) const DEPRECATED_KEY: Rule = Rule::warning("deprecated-key", "A deprecated key is used.");
/// A node that does not exist.
pub const UNKNOWN_NODE: Rule = Rule::error("unknown-node", "The project has no node of that name.");

/// All of them.
pub const RULES: &[&Rule] =
    &[&UNKNOWN_KEY, &MISSING_KEY, &WRONG_SHAPE, &UNKNOWN_CHOICE, &EXCLUSIVE_KEYS, &DEPRECATED_KEY, &UNKNOWN_NODE];
