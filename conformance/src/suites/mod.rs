//! The suites, one file each; a new one is a file and a line.

use crate::Suite;

mod tosca;

/// All suites.
pub const SUITES: &[Suite] = &[Suite { name: "tosca", run: tosca::run }];
