//! Unit tests of configuration: suites of helm-unittest for charts, and suites of the same form for every project.
//!
//! A test gets values and terms, resolves or renders with them, and asserts results. A failed assertion is a finding at
//! its location. Knows charts and the façade; files are read only through the world, and nothing is written: snapshots
//! to store are returned.

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

/// Why a check could not be made.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The test itself is invalid.
    Failed(String),
    /// It exceeds a limit.
    Exceeded(Exceeded),
}

/// Options of a test run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Patterns of suite files, relative to the chart's folder; the plugin's defaults if empty.
    pub patterns: Vec<String>,
    /// Whether stored snapshots are replaced.
    pub updates_snapshots: bool,
}
