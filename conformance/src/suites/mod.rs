//! The suites, one file each; a new one is a file and a line.

mod garden_templates;
mod skaffold;
mod tosca;

use crate::Suite;

/// All suites.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    garden_templates::SUITE,
    skaffold::SUITE,
    tosca::SUITE,
];
