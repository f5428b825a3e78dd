//! Long answers on a terminal go through a pager, as git's do.
//!
//! Only the process itself does this, never a run inside another program: what the pager is comes from the user's own
//! environment.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::process::Stdio;

/// Fewer lines fit every screen.
const SHORT: usize = 24;

/// Shows a text in the pager. False if there is none, or none is wanted; then nothing was shown.
pub(crate) fn show(text: &str, env: &BTreeMap<String, String>) -> bool {
    let dumb = env.get("TERM").is_none_or(|term| term == "dumb");
    if dumb || text.lines().nth(SHORT).is_none() || !std::io::stdout().is_terminal() {
        return false;
    }
    let wanted = env.get("PURLIN_PAGER").or_else(|| env.get("PAGER")).map_or("less", String::as_str);
    let mut words = wanted.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = purlin_host::process::command(program);
    command.args(words).stdin(Stdio::piped());
    if !env.contains_key("LESS") {
        // Leave when it fits, keep colours, do not clear the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    if let Some(mut input) = pager.stdin.take() {
        // Whoever leaves the pager early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}
