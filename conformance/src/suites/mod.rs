//! The suites, one file each; a new one is a file and a line.

mod chart_set;
mod chart_templates;
mod charts;
mod garden_commands;
mod garden_projects;
mod garden_templates;
mod metachart_gen;
mod real_charts;
mod skaffold;
mod tosca;
mod unfurl_expressions;
mod unfurl_services;

use crate::Suite;

/// All suites.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    chart_set::SUITE,
    chart_templates::SUITE,
    charts::SUITE,
    garden_commands::SUITE,
    garden_projects::SUITE,
    garden_templates::SUITE,
    metachart_gen::SUITE,
    real_charts::SUITE,
    skaffold::SUITE,
    skaffold::COMMANDS,
    tosca::SUITE,
    unfurl_expressions::SUITE,
    unfurl_services::SUITE,
];
