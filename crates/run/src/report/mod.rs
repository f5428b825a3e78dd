//! Displays a run to people and programs.

mod json;
mod live;
mod plain;
mod spans;
mod trace;

pub use json::JsonLines;
pub use live::{Live, is_foreground};
pub use plain::Plain;
pub use spans::{Context, Spans};
pub use trace::Trace;

use crate::action::{Kind, Stay};
use crate::event::{Cause, End, Event, Failure, Reporter, Summary, seconds};
use crate::request::{Place, Progress};
use std::collections::HashMap;
use std::time::Duration;

/// Settings for times and colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Whether colours are used.
    pub colour: bool,
    /// Whether times are shown; they differ from run to run.
    pub times: bool,
    /// Whether only problems are shown.
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

    /// The end of an action, in one line.
    fn end(self, id: &str, end: &End, version: &str, took: Duration, on: &str) -> String {
        let id_of = |text: String| format!("{id}: {text}");
        match end {
            End::Done => id_of(self.paint(Paint::Good, done_word(Kind::of(id))) + on + &self.after(took)),
            End::Cached => id_of(self.paint(Paint::Faint, &format!("cached ({})", short(version)))),
            End::Shared => id_of(self.paint(Paint::Faint, "cached (remote)")),
            End::Ready => id_of(self.paint(Paint::Faint, "nothing to do")),
            End::Removed => id_of(self.paint(Paint::Good, "removed")),
            End::Failed(Failure { cause: Cause::Stopped, .. }) => id_of(self.paint(Paint::Bad, "stopped")),
            // The cause and the command are reported once, at the end.
            End::Failed(_) => id_of(self.paint(Paint::Bad, &format!("failed{on}{}", self.after(took)))),
            End::Aborted(roots) => {
                id_of(format!("{}, because of {}", self.paint(Paint::Bad, "aborted"), roots.join(", ")))
            }
            End::NotStarted => id_of(self.paint(Paint::Faint, "not started")),
        }
    }

    /// The number of actions by end.
    fn summary(self, summary: &Summary) -> String {
        let words =
            ["done", "cached", "remote-cached", "ready", "removed", "failed", "stopped", "aborted", "not-started"];
        let counted = words.iter().map(|word| (summary.count(word), word)).filter(|(count, _)| *count > 0);
        let parts: Vec<String> = counted.map(|(count, word)| format!("{count} {}", word.replace('-', " "))).collect();
        let parts = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
        let paint = if summary.is_good() { Paint::Good } else { Paint::Bad };
        self.paint(paint, &parts) + &self.after(summary.took)
    }

    /// A line of an action's output. Each action has a colour of its own.
    pub fn output(self, id: &str, text: &str) -> String {
        if !self.colour {
            return format!("{id} | {text}");
        }
        let number = id.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        let code = PREFIXES[number % PREFIXES.len()];
        format!("\x1b[{code}m{id} |\x1b[0m {text}")
    }

    /// The last lines of failed actions, if they have scrolled far away or were never printed.
    fn tails(self, summary: &Summary, seen: &Seen) -> Vec<String> {
        let mut lines = Vec::new();
        let is_far = |failure: &&Failure| !failure.tail.is_empty() && (self.quiet || !seen.is_in_sight(failure));
        for failure in summary.failures().filter(is_far) {
            lines.push(format!("last output of {}:", failure.id));
            lines.extend(failure.tail.iter().map(|line| format!("  {line}")));
        }
        lines
    }
}

/// Colours of the actions whose output is shown.
const PREFIXES: &[&str] = &["36", "35", "34", "33", "32", "96", "95", "94"];

/// Number of recent lines that are assumed to be visible on the screen.
const NEAR: usize = 15;

/// The lines at which actions ended.
#[derive(Debug, Default)]
struct Seen {
    lines: usize,
    ended: HashMap<String, usize>,
    /// The last line that each action printed.
    last: HashMap<String, String>,
    /// Where actions ran that did not run here, as the end of a sentence.
    places: HashMap<String, String>,
}

impl Seen {
    /// Counts a printed line.
    fn line(&mut self) {
        self.lines += 1;
    }

    /// An action printed a line.
    fn output(&mut self, id: &str, text: &str) {
        self.last.insert(id.to_owned(), text.to_owned());
    }

    /// Where an action ran.
    fn place(&mut self, id: &str, place: &Place) {
        let text = match place {
            Place::Here | Place::Cache => return,
            Place::Worker(name) if name.is_empty() => " remotely".to_owned(),
            Place::Worker(name) => format!(" on {name}"),
        };
        self.places.insert(id.to_owned(), text);
    }

    /// Why an action runs here although others run elsewhere.
    fn stay(&mut self, id: &str, why: &Stay) {
        self.places.insert(id.to_owned(), format!(" here ({why})"));
    }

    fn placed(&self, id: &str) -> &str {
        self.places.get(id).map_or("", String::as_str)
    }

    fn end(&mut self, id: &str) {
        self.places.remove(id);
        self.ended.insert(id.to_owned(), self.lines);
    }

    /// Whether the last lines of an action were printed, and are still on the screen. A cluster's explanation of a
    /// failure was not printed before.
    fn is_in_sight(&self, failure: &Failure) -> bool {
        let is_near = self.ended.get(&failure.id).is_some_and(|line| self.lines - line < NEAR);
        // A part of an action prints its name before the line.
        let was_printed = |last: &String| self.last.get(&failure.id).is_some_and(|line| line.ends_with(last.as_str()));
        is_near && failure.tail.last().is_none_or(was_printed)
    }
}

/// What an action elsewhere waits for, in words.
fn progress_text(progress: &Progress) -> String {
    match progress {
        Progress::Uploading(bytes) => format!("uploading {}", size(*bytes)),
        Progress::Queued => "queued".to_owned(),
        Progress::Running(worker) if worker.is_empty() => "running remotely".to_owned(),
        Progress::Running(worker) => format!("running on {worker}"),
        Progress::Downloading(bytes) => format!("downloading {}", size(*bytes)),
    }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        few if few < 10_000 => format!("{few} bytes"),
        some if some < 10_000_000 => format!("{} kB", some / 1_000),
        many => format!("{} MB", many / 1_000_000),
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
    fn actions_keep_their_colours() {
        let look = Look { colour: true, ..Look::default() };
        assert_eq!(look.output("deploy.api", "x"), look.output("deploy.api", "x"));
        assert_ne!(look.output("deploy.api", "x").split('m').next(), look.output("deploy.web", "x").split('m').next());
        assert_eq!(Look::default().output("a", "x"), "a | x");
    }

    #[test]
    fn output_that_is_in_sight_is_not_repeated() {
        let failed = |id: &str, last: &str| {
            let (id, tail) = (id.to_owned(), vec![last.to_owned()]);
            Failure { id, cause: Cause::Exit(1), command: None, tail, span: None }
        };
        let mut seen = Seen::default();
        seen.output("a", "create: no room");
        seen.line();
        seen.end("a");
        assert!(seen.is_in_sight(&failed("a", "no room")) && !seen.is_in_sight(&failed("b", "no room")));
        assert!(!seen.is_in_sight(&failed("a", "told by the cluster")));
        (0..NEAR).for_each(|_| seen.line());
        assert!(!seen.is_in_sight(&failed("a", "no room")));
    }
}
