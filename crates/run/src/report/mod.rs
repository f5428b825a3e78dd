//! What a person or a program sees of a run.

mod json;
mod live;
mod plain;
mod spans;
mod trace;

pub use json::JsonLines;
pub use live::Live;
pub use plain::Plain;
pub use spans::{Context, Spans};
pub use trace::Trace;

use crate::action::Kind;
use crate::event::{Cause, End, Event, Failure, Reporter, Summary, seconds};
use purlin_syntax::print::escape;
use std::time::Duration;

/// Lines without characters that drive a terminal: names of programs and texts of servers may hold anything.
fn visible(text: &str) -> String {
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

/// How times and colours are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Whether colours are used.
    pub colour: bool,
    /// Whether times are shown; they differ from run to run.
    pub times: bool,
    /// Whether only what goes wrong is shown.
    pub quiet: bool,
}

/// Colours with a meaning.
#[derive(Clone, Copy)]
enum Paint {
    Good,
    Bad,
    Faint,
}

impl Look {
    fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Faint => "2",
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn after(self, time: Duration) -> String {
        if self.times { format!(" in {}", seconds(time)) } else { String::new() }
    }

    /// How an action ended, in one line.
    fn end(self, id: &str, end: &End, version: &str, took: Duration) -> String {
        let id_of = |text: String| format!("{id}: {text}");
        match end {
            End::Done => id_of(self.paint(Paint::Good, done_word(Kind::of(id))) + &self.after(took)),
            End::Cached => id_of(self.paint(Paint::Faint, &format!("cached ({})", short(version)))),
            End::Ready => id_of(self.paint(Paint::Faint, "nothing to do")),
            End::Removed => id_of(self.paint(Paint::Good, "removed")),
            End::Failed(Failure { cause: Cause::Stopped, .. }) => id_of(self.paint(Paint::Bad, "stopped")),
            End::Failed(failure) => {
                let why = visible(&failure.cause.to_string());
                id_of(format!("{}: {why}", self.paint(Paint::Bad, &format!("failed{}", self.after(took)))))
            }
            End::Aborted(roots) => {
                id_of(format!("{}, because of {}", self.paint(Paint::Bad, "aborted"), roots.join(", ")))
            }
            End::NotStarted => id_of(self.paint(Paint::Faint, "not started")),
        }
    }

    /// How many ended how.
    fn summary(self, summary: &Summary) -> String {
        let words = ["done", "cached", "ready", "removed", "failed", "stopped", "aborted", "not-started"];
        let counted = words.iter().map(|word| (summary.count(word), word)).filter(|(count, _)| *count > 0);
        let parts: Vec<String> = counted.map(|(count, word)| format!("{count} {}", word.replace('-', " "))).collect();
        let parts = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
        let paint = if summary.is_good() { Paint::Good } else { Paint::Bad };
        self.paint(paint, &parts) + &self.after(summary.took)
    }

    /// The last lines of a failed action, which may be far above by now.
    fn tails(self, summary: &Summary) -> Vec<String> {
        let mut lines = Vec::new();
        for failure in summary.failures().filter(|failure| !failure.tail.is_empty()) {
            lines.push(format!("last output of {}:", failure.id));
            lines.extend(failure.tail.iter().map(|line| format!("  {line}")));
        }
        lines
    }
}

fn doing_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Build => "building",
        Kind::Deploy => "deploying",
        Kind::Run => "running",
        Kind::Test => "testing",
    }
}

fn done_word(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Build) => "built",
        Some(Kind::Deploy) => "deployed",
        Some(Kind::Test) => "passed",
        Some(Kind::Run) | None => "done",
    }
}

/// The part of a version that people recognise.
fn short(version: &str) -> &str {
    version.get(..12).unwrap_or(version)
}

impl<R: Reporter + ?Sized> Reporter for &mut R {
    fn event(&mut self, event: &Event<'_>) {
        (**self).event(event);
    }

    fn finish(&mut self, summary: &Summary) {
        (**self).finish(summary);
    }
}

/// Several reporters as one.
pub struct Several<'r>(pub Vec<Box<dyn Reporter + 'r>>);

impl Reporter for Several<'_> {
    fn event(&mut self, event: &Event<'_>) {
        for reporter in &mut self.0 {
            reporter.event(event);
        }
    }

    fn finish(&mut self, summary: &Summary) {
        for reporter in &mut self.0 {
            reporter.finish(summary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_cannot_drive_a_terminal() {
        let cause = Cause::Other("command `a\u{1b}]0;x\u{7}`\nnot found".to_owned());
        let failure = Failure { id: "run.r".to_owned(), cause, command: None, tail: Vec::new(), span: None };
        let line = Look::default().end("run.r", &End::Failed(failure), "v", Duration::ZERO);
        assert_eq!(line, "run.r: failed: command `a\\u{1b}]0;x\\u{7}`\nnot found");
    }
}
