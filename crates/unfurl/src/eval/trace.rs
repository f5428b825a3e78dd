//! The steps of an evaluation, for `--trace`.

use crate::limits::MAX_TRACE;

/// The steps of an evaluation. Secrets are redacted before they get here.
#[derive(Debug, Default)]
pub struct Trace {
    steps: Vec<String>,
    left_out: usize,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Self {
        Trace::default()
    }

    /// Adds a step.
    pub fn say(&mut self, step: String) {
        if self.steps.len() < MAX_TRACE {
            self.steps.push(step);
        } else {
            self.left_out += 1;
        }
    }

    /// The steps, with a last line if some were left out.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.steps.clone();
        if self.left_out > 0 {
            lines.push(format!("({} more steps)", self.left_out));
        }
        lines
    }
}
