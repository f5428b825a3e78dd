//! The rules of this crate: problems with values in any dialect.

use purlin_syntax::Rule;

/// Circular references between values.
pub(crate) const VALUE_CYCLE: Rule = Rule::error("value-cycle", "Values refer to each other in a cycle.")
    .advice("give one of them a value that does not use the others");
/// Evaluation that takes too many steps.
pub const LIMIT_FUEL: Rule = Rule::limit("limit-fuel", "Evaluation needs more steps than allowed.")
    .advice("look for a loop that is larger than intended, or raise it with `--limit fuel=STEPS`");
/// Evaluation that holds too much memory.
pub const LIMIT_MEMORY: Rule =
    Rule::limit("limit-memory", "Evaluation holds more than allowed.").advice("raise it with `--limit memory=BYTES`");
/// A value or document that is too large when written out.
pub const LIMIT_OUTPUT: Rule = Rule::limit("limit-output-size", "Something is larger than allowed when written out.")
    .advice("raise it with `--limit output-size=BYTES`");
/// Templates or calls that are nested too deep.
pub const LIMIT_INCLUDES: Rule = Rule::limit("limit-include-depth", "Templates call each other deeper than allowed.")
    .advice("look for a template that calls itself, or raise it with `--limit include-depth=N`");
/// A regular expression that is too large.
pub const LIMIT_REGEX: Rule = Rule::limit("limit-regex-size", "A regular expression is larger than allowed.")
    .advice("use a smaller pattern, or raise it with `--limit regex-size=BYTES`");
/// A text that grows too large.
pub const LIMIT_STRING: Rule = Rule::limit("limit-string-size", "A string grows larger than allowed.")
    .advice("raise it with `--limit string-size=BYTES`");
/// A list that grows too long.
pub const LIMIT_LIST: Rule =
    Rule::limit("limit-list-items", "A list grows longer than allowed.").advice("raise it with `--limit list-items=N`");
/// An archive that is too large when unpacked.
pub const LIMIT_ARCHIVE: Rule = Rule::limit("limit-archive", "An archive is larger than allowed when unpacked.")
    .advice("raise the `archive-…` limits; `purlin limits` lists them");
/// A file outside the project, a command or a connection that was not allowed.
pub const NOT_ALLOWED: Rule =
    Rule::denied("not-allowed", "Something was not allowed: a path outside the project, a command, a connection.");
/// An unreadable file.
pub(crate) const UNREADABLE: Rule =
    Rule::io("unreadable", "A file or folder cannot be read.").advice("check the path and its permissions");
/// A file that does not exist.
pub const FILE_NOT_FOUND: Rule =
    Rule::error("file-not-found", "A referenced file does not exist.").advice("correct the path, or create the file");
/// A missing file that git ignores in the repository.
pub const FILE_NOT_MADE: Rule =
    Rule::error("file-not-made", "A referenced file does not exist, and `.gitignore` names it.");
/// A remote resource that could not be fetched.
pub const FETCH_FAILED: Rule = Rule::io("fetch-failed", "Something remote could not be fetched.")
    .advice("check the address, the revision and `--allow-net`");
/// A remote resource that differs from the lock file.
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
    &FILE_NOT_MADE,
    &FETCH_FAILED,
    &LOCK_MISMATCH,
];
