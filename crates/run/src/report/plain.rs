//! One line per event, for build logs and pipes.

use super::{Look, Seen, doing_word};
use crate::event::{Event, Reporter, Summary};
use std::io::Write;

/// Plain lines.
pub struct Plain<'w> {
    out: &'w mut (dyn Write + Send),
    look: Look,
    seen: Seen,
}

impl<'w> Plain<'w> {
    /// Lines that go to a stream.
    pub fn new(out: &'w mut (dyn Write + Send), look: Look) -> Self {
        Plain { out, look, seen: Seen::default() }
    }

    fn line(&mut self, text: &str) {
        // In one piece: the stream has no buffer, and several processes may write lines to it.
        let whole = format!("{text}\n");
        self.seen.line();
        // A closed reader does not stop a run.
        let _ = self.out.write_all(whole.as_bytes());
    }
}

impl Reporter for Plain<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if self.look.quiet {
            return;
        }
        match event {
            Event::Begin { .. } => {}
            Event::Started { id, kind, .. } => self.line(&format!("{id}: {}", doing_word(*kind))),
            Event::Line { id, text, .. } => {
                self.seen.output(id, text);
                self.line(&self.look.output(id, text));
            }
            // Each state would be a line; how long an action waited is in its time.
            Event::Progress { .. } => {}
            Event::Placed { id, place } => self.seen.place(id, place),
            Event::Stays { id, why } => self.seen.stay(id, why),
            Event::Warning { id: "", text } => self.line(&format!("warning: {text}")),
            Event::Warning { id, text } => self.line(&format!("{id}: warning: {text}")),
            Event::Ended { id, version, end, took, .. } => {
                self.line(&self.look.end(id, end, version, *took, self.seen.placed(id)));
                self.seen.end(id);
            }
            Event::Stopping => self.line("stopping; press Ctrl-C again to end everything at once"),
        }
    }

    fn finish(&mut self, summary: &Summary) {
        for line in self.look.tails(summary, &self.seen) {
            self.line(&line);
        }
        if !self.look.quiet {
            self.line(&self.look.summary(summary));
        }
    }
}
