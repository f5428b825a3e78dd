//! Timings as a trace that Chrome, Perfetto and Speedscope show: one row per command that ran at the same time.

use crate::event::{Event, Reporter, Summary};
use crate::request::Place;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Collects timings and writes them at the end.
pub struct Trace {
    path: PathBuf,
    ended: Vec<(String, &'static str, Duration, Duration)>,
    /// Where actions ran that did not run here.
    places: HashMap<String, String>,
    error: Option<std::io::Error>,
}

impl Trace {
    /// A trace that is written to a file.
    pub fn new(path: PathBuf) -> Self {
        Trace { path, ended: Vec::new(), places: HashMap::new(), error: None }
    }

    /// The write error, if any.
    pub fn error(&self) -> Option<&std::io::Error> {
        self.error.as_ref()
    }

    fn text(&mut self) -> String {
        self.ended.sort_by_key(|(_, _, at, _)| *at);
        let mut rows: Vec<Duration> = Vec::new();
        let mut events = Vec::new();
        for (id, state, at, took) in &self.ended {
            let row = rows.iter().position(|busy_until| busy_until <= at).unwrap_or_else(|| {
                rows.push(Duration::ZERO);
                rows.len() - 1
            });
            if let Some(busy_until) = rows.get_mut(row) {
                *busy_until = *at + *took;
            }
            let micros = |time: &Duration| time.as_secs_f64() * 1e6;
            let mut event = json!({
                "name": id, "cat": state, "ph": "X", "pid": 1, "tid": row + 1, "ts": micros(at), "dur": micros(took),
            });
            if let (Some(place), Json::Object(map)) = (self.places.get(id), &mut event) {
                map.insert("args".to_owned(), json!({ "where": place }));
            }
            events.push(event);
        }
        json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string()
    }
}

impl Reporter for Trace {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Placed { id, place } = event {
            let text = match place {
                Place::Here => "here",
                Place::Cache => "cache",
                Place::Worker(worker) => worker,
            };
            self.places.insert((*id).to_owned(), text.to_owned());
        }
        if let Event::Stays { id, why } = event {
            self.places.insert((*id).to_owned(), format!("here: {why}"));
        }
        if let Event::Ended { id, end, at, took, .. } = event {
            self.ended.push(((*id).to_owned(), end.word(), *at, *took));
        }
    }

    fn finish(&mut self, _summary: &Summary) {
        let text = self.text();
        self.error = crate::store::write_whole(&self.path, text.as_bytes()).err();
    }
}
