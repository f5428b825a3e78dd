//! Long answers on a terminal go through a pager, as in git.
//!
//! Only the process itself does this, never a run inside another program: the user's own environment chooses the pager.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::process::Stdio;

/// Fewer lines fit every screen.
const SHORT: usize = 24;

/// Shows a text in the pager. Returns false if there is no pager, or it is disabled; then nothing was shown.
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
        // Exit if the text fits, keep colours, do not clear the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    if let Some(mut input) = pager.stdin.take() {
        // The user left the pager early.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}
