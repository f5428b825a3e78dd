//! Unit tests of configuration: suites of helm-unittest beside charts, and suites of the same form beside every project.
//!
//! A test is given values and terms, resolves or renders with them, and says what has to hold. What does not hold is a
//! finding at the assertion. Knows charts and the façade; nothing is read but through the world, and nothing is written:
//! snapshots to store are handed back.

mod assertion;
mod chart;
mod judge;
mod junit;
mod keys;
mod path;
mod pattern;
mod project;
mod report;
mod snapshot;
mod suite;

pub use chart::{chart_folders, chart_suites, run_chart};
pub use junit::{junit, suites_xml};
pub use project::{project_suites, run_project_suite};
pub use report::{Case, Outcome, Report, SnapshotFile, SuiteReport};

use purlin_value::Exceeded;

/// Why something could not be judged.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The test itself is wrong.
    Failed(String),
    /// It takes more than a limit allows.
    Exceeded(Exceeded),
}

/// What tests are run with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Patterns of files with suites, from the folder of the chart; the plugin's own if there are none.
    pub patterns: Vec<String>,
    /// Whether stored snapshots are replaced.
    pub updates_snapshots: bool,
}
