//! Runs the case folders and pages of the suite.
