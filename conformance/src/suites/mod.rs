//! The suites, one file each; a new one is a file and a line.

mod chart_set;
mod chart_templates;
mod garden_templates;
mod skaffold;
mod tosca;
mod unfurl_expressions;

use crate::Suite;

/// All suites.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    chart_set::SUITE,
    chart_templates::SUITE,
    garden_templates::SUITE,
    skaffold::SUITE,
    tosca::SUITE,
    unfurl_expressions::SUITE,
];
