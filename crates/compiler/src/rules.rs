//! The rules of the façade.

pub use purlin_model::rules::UNKNOWN_NODE;
use purlin_syntax::Rule;

/// A folder without any configuration that is known.
pub const NOTHING_FOUND: Rule = Rule::error("nothing-found", "No configuration was found.");
/// A field that does not exist.
pub const UNKNOWN_FIELD: Rule = Rule::error("unknown-field", "The node has no field of that name.");
/// A place that is not in the project.
pub const UNKNOWN_LOCATION: Rule =
    Rule::error("unknown-location", "The project was not read from that file, or the file has no such line.")
        .advice("name a file that the project reads; `purlin check -v` lists them");
/// An action that was run failed.
pub const ACTION_FAILED: Rule =
    Rule::error("action-failed", "An action that was run failed.").advice("`purlin logs` shows its output");
/// Settings that cannot be used.
pub const SETTINGS: Rule = Rule::error("settings", "`purlin.toml` cannot be read or has an unknown setting.");
/// A comment that ignores a rule without effect.
pub const UNUSED_IGNORE: Rule = Rule::warning("unused-ignore", "A comment that ignores a rule has no effect.");
/// Files that no project takes in.
pub const OUTSIDE_PROJECT: Rule =
    Rule::warning("outside-project", "A file belongs to no project, so it was not checked.");
/// A part of a project that is in another repository and not here.
pub const SUBMODULE: Rule =
    Rule::warning("submodule-missing", "A git submodule is not checked out, so what is in it was not checked.");

/// A value that is overridden in every environment.
pub const NEVER_WINS: Rule =
    Rule::warning("overridden-everywhere", "A value is overridden in every environment, so it has no effect.");
/// A branch that no environment takes.
pub const DEAD_BRANCH: Rule =
    Rule::warning("branch-never-taken", "A condition has the same result in every environment.");
/// An unused variable.
pub const UNUSED_VARIABLE: Rule = Rule::warning("unused-variable", "No environment uses this variable.");
/// An unused template.
pub const UNUSED_TEMPLATE: Rule = Rule::warning("unused-template", "No environment uses this template.");
/// Another unused declaration.
pub const UNUSED_DECLARATION: Rule = Rule::warning("unused-declaration", "Nothing uses what is declared here.");
/// An unused file.
pub const UNUSED_FILE: Rule = Rule::warning("unused-file", "No environment reads this file.");

/// More variants of a project than are checked in one run.
pub const LIMIT_VARIANTS: Rule =
    Rule::limit("limit-variants", "A project has more environments or profiles than one run checks.");

/// A policy that does not hold.
pub const POLICY: Rule = Rule::error("policy", "A policy of the project does not hold.");
/// A policy that cannot be evaluated.
pub const POLICY_FILE: Rule = Rule::error("policy-file", "A policy cannot be read or evaluated.");
/// A policy that takes too much.
pub const LIMIT_POLICY: Rule = Rule::limit("limit-policy", "A policy takes more steps, time or memory than allowed.")
    .advice("look for a rule that combines more than intended, or name fewer objects with `environments` and `over`");

/// An assertion of a test that does not hold.
pub const TEST_FAILED: Rule = Rule::error("test-failed", "An assertion of a unit test does not hold.");
/// A suite of tests that cannot be read.
pub const TEST_SUITE: Rule = Rule::error("test-suite", "A file of unit tests cannot be read.");
/// An unknown key of a suite.
pub const TEST_KEY: Rule = Rule::warning("test-key", "A key in a file of unit tests has no effect.");
/// A missing snapshot.
pub const SNAPSHOT_MISSING: Rule =
    Rule::warning("snapshot-missing", "A test compares with a snapshot that is not stored.")
        .advice("store it with `purlin verify --update-snapshots`");

/// All rules.
pub const RULES: &[&Rule] = &[
    &POLICY,
    &POLICY_FILE,
    &LIMIT_POLICY,
    &NOTHING_FOUND,
    &UNKNOWN_FIELD,
    &UNKNOWN_LOCATION,
    &ACTION_FAILED,
    &SETTINGS,
    &UNUSED_IGNORE,
    &OUTSIDE_PROJECT,
    &SUBMODULE,
    &NEVER_WINS,
    &DEAD_BRANCH,
    &UNUSED_VARIABLE,
    &UNUSED_TEMPLATE,
    &UNUSED_DECLARATION,
    &UNUSED_FILE,
    &LIMIT_VARIANTS,
    &TEST_FAILED,
    &TEST_SUITE,
    &TEST_KEY,
    &SNAPSHOT_MISSING,
];
