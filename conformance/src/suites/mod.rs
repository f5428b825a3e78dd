//! The suites, one file each; a new one is a file and a line.

mod skaffold;
mod tosca;

use crate::Suite;

/// All suites.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    skaffold::SUITE,
    tosca::SUITE,
];
