//! What a person types while `purlin dev` watches: run again, stop, quit.
//!
//! Lines are read only from a terminal that this process is in the foreground of; others are left alone.

use purlin_run::report::is_foreground;
use std::io::{BufRead, IsTerminal};
use std::sync::mpsc::{Receiver, channel};

/// A command of the person in front of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Run everything again.
    All,
    /// Run one action again.
    Again(String),
    /// End the process of an action.
    Stop(String),
    /// Show what can be typed.
    Help,
    /// End.
    Quit,
}

/// What can be typed, in one line.
pub(super) const HELP: &str = "r: run all again · r NODE: run one again · s NODE: stop one · q: quit";

impl Asked {
    /// The command of a line; an empty line means nothing.
    pub(super) fn read(line: &str) -> Option<Asked> {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        Some(match (word, rest) {
            ("", _) => return None,
            ("r", "") => Asked::All,
            ("r", name) => Asked::Again(name.to_owned()),
            ("s", name) if !name.is_empty() => Asked::Stop(name.to_owned()),
            ("q", "") => Asked::Quit,
            _ => Asked::Help,
        })
    }
}

/// Reads lines of the terminal on a thread of its own, which ends with the process.
pub(super) fn listen() -> Option<Receiver<Asked>> {
    let input = std::io::stdin();
    if !input.is_terminal() || !is_foreground() {
        return None;
    }
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if let Some(asked) = Asked::read(&line)
                && sender.send(asked).is_err()
            {
                return;
            }
        }
    });
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands() {
        assert_eq!(Asked::read("  "), None);
        assert_eq!(Asked::read("r"), Some(Asked::All));
        assert_eq!(Asked::read(" r  build.api "), Some(Asked::Again("build.api".to_owned())));
        assert_eq!(Asked::read("s deploy.api"), Some(Asked::Stop("deploy.api".to_owned())));
        assert_eq!(Asked::read("s"), Some(Asked::Help));
        assert_eq!(Asked::read("quit"), Some(Asked::Help));
        assert_eq!(Asked::read("q"), Some(Asked::Quit));
    }
}
