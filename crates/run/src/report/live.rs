//! Progress on a terminal: one line per running action with its last output, one for the total; finished ones above.

use super::{Look, Seen, doing_word, progress_text};
use crate::event::{End, Event, Reporter, Summary};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::collections::HashMap;
use std::time::Duration;

/// Removes the secrets of the project from a text that is shown.
pub type Hide = Box<dyn Fn(&str) -> String + Send>;

/// Progress on the terminal of this process.
pub struct Live {
    bars: MultiProgress,
    total: ProgressBar,
    running: HashMap<String, ProgressBar>,
    cached: usize,
    failed: usize,
    look: Look,
    hide: Hide,
    seen: Seen,
    _echo: Echo,
}

/// Whether this process is in the foreground of its terminal: the system stops others that read or change it.
pub fn is_foreground() -> bool {
    tcgetpgrp(std::io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// Keeps the terminal from showing `^C`, which would shift the progress lines by one.
struct Echo(Option<Termios>);

impl Echo {
    fn off() -> Self {
        let terminal = std::io::stdin();
        let Ok(before) = tcgetattr(&terminal) else { return Echo(None) };
        if !is_foreground() {
            return Echo(None);
        }
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHOCTL);
        let is_set = tcsetattr(&terminal, OptionalActions::Now, &quiet).is_ok();
        Echo(is_set.then_some(before))
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        if let Some(before) = self.0.as_ref().filter(|_| is_foreground()) {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Live {
    /// Progress that is drawn on standard error, bypassing the stream that hides secrets in all other output.
    pub fn new(look: Look, hide: Hide) -> Self {
        let bars = MultiProgress::new();
        let total = bars.add(ProgressBar::new(0));
        total.set_style(style("[{bar:30}] {pos}/{len} {msg}").progress_chars("=> "));
        Live {
            bars,
            total,
            running: HashMap::new(),
            cached: 0,
            failed: 0,
            look,
            hide,
            seen: Seen::default(),
            _echo: Echo::off(),
        }
    }

    fn line(&mut self, text: &str) {
        self.seen.line();
        let _ = self.bars.println((self.hide)(text));
    }

    fn show_counts(&self) {
        let mut text = format!("{} running", self.running.len());
        let ended = usize::try_from(self.total.position()).unwrap_or(usize::MAX);
        let all = self.total.length().and_then(|all| usize::try_from(all).ok()).unwrap_or(0);
        let queued = all.saturating_sub(ended).saturating_sub(self.running.len());
        for (count, word) in [(queued, "queued"), (self.cached, "cached"), (self.failed, "failed")] {
            if count > 0 {
                text.push_str(&format!(", {count} {word}"));
            }
        }
        self.total.set_message(text);
    }
}

impl Reporter for Live {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { total } => self.total.set_length(*total as u64),
            Event::Started { id, kind, .. } => {
                let bar = self.bars.insert_before(&self.total, ProgressBar::new_spinner());
                bar.set_style(style("{spinner} {prefix} {elapsed} {wide_msg}"));
                bar.set_prefix(format!("{id}: {}", doing_word(*kind)));
                bar.enable_steady_tick(Duration::from_millis(120));
                self.running.insert((*id).to_owned(), bar);
                self.show_counts();
            }
            Event::Line { id, text, .. } => {
                if let Some(bar) = self.running.get(*id) {
                    bar.set_message((self.hide)(text));
                }
                self.seen.output(id, text);
                self.line(&self.look.output(id, text));
            }
            Event::Progress { id, progress } => {
                if let Some(bar) = self.running.get(*id) {
                    bar.set_message(progress_text(progress));
                }
            }
            Event::Placed { id, place } => self.seen.place(id, place),
            Event::Stays { id, why } => self.seen.stay(id, why),
            Event::Warning { id: "", text } => self.line(&format!("warning: {text}")),
            Event::Warning { id, text } => self.line(&format!("{id}: warning: {text}")),
            Event::Ended { id, version, end, took, .. } => {
                if let Some(bar) = self.running.remove(*id) {
                    bar.finish_and_clear();
                    self.bars.remove(&bar);
                }
                match end {
                    End::Cached | End::Shared | End::Ready => self.cached += 1,
                    End::Failed(_) => self.failed += 1,
                    _ => {}
                }
                self.line(&self.look.end(id, end, version, *took, self.seen.placed(id)));
                self.seen.end(id);
                self.total.inc(1);
                self.show_counts();
            }
            Event::Stopping => self.line("stopping; press Ctrl-C again to end everything at once"),
        }
    }

    fn finish(&mut self, summary: &Summary) {
        // Interrupted actions have ended without an event.
        for (_, bar) in self.running.drain() {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
        self.total.finish_and_clear();
        self.bars.remove(&self.total);
        let mut lines = self.look.tails(summary, &self.seen);
        lines.push(self.look.summary(summary));
        for line in lines {
            self.line(&line);
        }
        let _ = self.bars.clear();
    }
}
