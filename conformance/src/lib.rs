//! Runs the recorded behaviour of the original tools.
