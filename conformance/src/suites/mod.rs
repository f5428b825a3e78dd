//! The suites, one file each; a new one is a file and a line.

mod chart_set;
mod chart_templates;

use crate::Suite;

/// All suites.
pub const SUITES: &[Suite] = &[
    Suite { name: "chart-set", run: chart_set::run },
    Suite { name: "chart-templates", run: chart_templates::run },
];
