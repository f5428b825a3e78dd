//! The suites, one file each; a new one is a file and a line.

use crate::Suite;

/// All suites.
pub const SUITES: &[Suite] = &[];
