//! Where processes are described: every other crate asks here, so that a search for callers finds all of them.
//!
//! Whether one may be started is decided by the caller: actions and operations that the user runs, `--allow-exec`, the
//! user's own pager and `git`.

use std::ffi::OsStr;
use std::process::Command;

/// A process of a program; its arguments are handed over as they are, without a shell.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}
