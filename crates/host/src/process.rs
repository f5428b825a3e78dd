//! The only constructor of processes: every other crate uses it, so that a search for callers finds all of them.
//!
//! The caller decides whether one may be started: actions and operations that the user runs, `--allow-exec`, the user's
//! own pager and `git`.

use std::ffi::OsStr;
use std::process::Command;

/// A process of a program; its arguments are handed over as they are, without a shell.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}
