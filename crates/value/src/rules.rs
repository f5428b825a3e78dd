//! The rules of this crate: what can be wrong with values, whatever the dialect.

use purlin_syntax::Rule;

/// Values that refer to each other in a circle.
pub(crate) const VALUE_CYCLE: Rule = Rule::error("value-cycle", "Values refer to each other in a cycle.");
/// Evaluation that costs too much.
pub const LIMIT_FUEL: Rule = Rule::limit("limit-fuel", "Evaluation needs more steps than allowed.");
/// Evaluation that holds too much.
pub const LIMIT_MEMORY: Rule = Rule::limit("limit-memory", "Evaluation holds more than allowed.");
/// A value or document that is too large when it is written out.
pub const LIMIT_OUTPUT: Rule = Rule::limit("limit-output-size", "Something is larger than allowed when written out.");
/// Templates or calls that are nested too deep.
pub const LIMIT_INCLUDES: Rule = Rule::limit("limit-include-depth", "Templates call each other deeper than allowed.");
/// A regular expression that is too large.
pub const LIMIT_REGEX: Rule = Rule::limit("limit-regex-size", "A regular expression is larger than allowed.");
/// A text that grows too large.
pub const LIMIT_STRING: Rule = Rule::limit("limit-string-size", "A string grows larger than allowed.");
/// A list that grows too long.
pub const LIMIT_LIST: Rule = Rule::limit("limit-list-items", "A list grows longer than allowed.");
/// An archive that unpacks beyond reason.
pub const LIMIT_ARCHIVE: Rule = Rule::limit("limit-archive", "An archive is larger than allowed when unpacked.");
/// Something outside the project, a command or a connection that was not allowed.
pub(crate) const NOT_ALLOWED: Rule =
    Rule::denied("not-allowed", "Something was not allowed: a path outside the project, a command, a connection.");
/// A file that cannot be read.
pub(crate) const UNREADABLE: Rule = Rule::io("unreadable", "A file or folder cannot be read.");
/// A file that does not exist.
pub(crate) const FILE_NOT_FOUND: Rule = Rule::error("file-not-found", "A referenced file does not exist.");
/// Something remote that could not be fetched.
pub const FETCH_FAILED: Rule = Rule::io("fetch-failed", "Something remote could not be fetched.");
/// Something remote that is not what the lock file says.
pub(crate) const LOCK_MISMATCH: Rule =
    Rule::error("lock-mismatch", "Something remote is not what `purlin.lock` recorded.");

/// All of them.
pub const RULES: &[&Rule] = &[
    &VALUE_CYCLE,
    &LIMIT_FUEL,
    &LIMIT_MEMORY,
    &LIMIT_OUTPUT,
    &LIMIT_INCLUDES,
    &LIMIT_REGEX,
    &LIMIT_STRING,
    &LIMIT_LIST,
    &LIMIT_ARCHIVE,
    &NOT_ALLOWED,
    &UNREADABLE,
    &FILE_NOT_FOUND,
    &FETCH_FAILED,
    &LOCK_MISMATCH,
];
