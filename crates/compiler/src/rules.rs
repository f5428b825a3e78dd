//! The rules of the façade.

use purlin_syntax::Rule;

/// A folder without any configuration that is known.
pub const NOTHING_FOUND: Rule = Rule::error("nothing-found", "There is no configuration here that Purlin knows.");
/// A node that does not exist.
pub const UNKNOWN_NODE: Rule = Rule::error("unknown-node", "There is no node of that name in the project.");
/// A field that does not exist.
pub const UNKNOWN_FIELD: Rule = Rule::error("unknown-field", "The node has no field of that name.");
/// An action that was run failed.
pub const ACTION_FAILED: Rule = Rule::error("action-failed", "An action that was run failed.");
/// Settings that cannot be used.
pub const SETTINGS: Rule = Rule::error("settings", "`purlin.toml` cannot be read, or says something unknown.");
/// A comment that ignores a rule and matches nothing.
pub const UNUSED_IGNORE: Rule = Rule::warning("unused-ignore", "A comment that ignores a rule has no effect.");
/// Files that no project takes in.
pub const OUTSIDE_PROJECT: Rule =
    Rule::warning("outside-project", "A file belongs to no project, so it was not checked.");

/// All of them.
pub const RULES: &[&Rule] =
    &[&NOTHING_FOUND, &UNKNOWN_NODE, &UNKNOWN_FIELD, &ACTION_FAILED, &SETTINGS, &UNUSED_IGNORE, &OUTSIDE_PROJECT];
