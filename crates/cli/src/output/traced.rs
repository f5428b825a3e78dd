//! Sends runs to an OpenTelemetry collector, if the user's environment names one.
//!
//! An unreachable collector is a warning: the result of a run does not depend on it. Must not know the contents of a
//! span.

use crate::invocation::Invocation;
use purlin_host::telemetry::{Collector, collector};
use purlin_run::event::Reporter;
use purlin_run::report::{Context, Spans};
use purlin_syntax::credentials::without_credentials;
use purlin_value::emit::REDACTED;

/// A run that is sent to a collector.
pub(crate) struct Traced {
    collector: Collector,
    spans: Spans,
}

impl Traced {
    /// The run of a command that begins now; `None` if tracing is not enabled.
    pub(crate) fn of(invocation: &mut Invocation<'_>, command: &str) -> Option<Self> {
        let collector = match collector(&invocation.env) {
            Ok(collector) => collector?,
            Err(why) => {
                let _ = writeln!(invocation.stderr, "warning: no traces are sent: {why}");
                return None;
            }
        };
        let (resource, parent) = (collector.resource.clone(), collector.parent);
        let spans = Spans::new(Context { name: format!("purlin {command}"), resource, parent });
        Some(Traced { collector, spans })
    }

    /// The reporter that collects spans.
    pub(crate) fn reporter<'r>(&'r mut self) -> Box<dyn Reporter + 'r> {
        Box::new(&mut self.spans)
    }

    /// Sends the collected spans.
    pub(crate) fn send(self, invocation: &mut Invocation<'_>) {
        let sent = self.spans.requests().iter().try_for_each(|request| self.collector.send(request));
        if let Err(why) = sent {
            let why = without_credentials(&why, REDACTED).unwrap_or(why);
            let _ = writeln!(invocation.stderr, "warning: could not send the traces of this run: {why}");
        }
    }
}
