//! One JSON object per line, for programs.

use super::Look;
use crate::event::{End, Event, Reporter, Summary};
use crate::local::process::Stream;
use crate::request::{Place, Progress};
use serde_json::{Value as Json, json};
use std::io::Write;
use std::time::Duration;

/// Events as lines of JSON. The format is only extended: readers skip unknown events and fields.
pub struct JsonLines<'w> {
    out: &'w mut (dyn Write + Send),
    look: Look,
}

impl<'w> JsonLines<'w> {
    /// Lines that go to a stream.
    pub fn new(out: &'w mut (dyn Write + Send), look: Look) -> Self {
        JsonLines { out, look }
    }

    fn line(&mut self, json: &Json) {
        let _ = writeln!(self.out, "{json}");
    }

    fn millis(&self, time: Duration) -> Json {
        if self.look.times { json!(time.as_secs_f64() * 1000.0) } else { Json::Null }
    }
}

impl Reporter for JsonLines<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let json = match event {
            Event::Begin { total } => json!({ "event": "begin", "actions": total }),
            Event::Started { id, version, .. } => json!({ "event": "started", "id": id, "version": version }),
            Event::Line { id, stream, text } => {
                let stream = if *stream == Stream::Out { "stdout" } else { "stderr" };
                json!({ "event": "output", "id": id, "stream": stream, "text": text })
            }
            Event::Progress { id, progress } => progress_json(id, progress),
            Event::Placed { id, place } => placed_json(id, place),
            Event::Stays { id, why } => {
                json!({ "event": "placed", "id": id, "where": "here", "reason": why.to_string() })
            }
            Event::Warning { id, text } => json!({ "event": "warning", "id": id, "message": text }),
            Event::Ended { id, version, end, at, took } => {
                let (at, took) = (self.millis(*at), self.millis(*took));
                let mut json = json!({ "event": "ended", "id": id, "version": version, "state": end.word() });
                if let Json::Object(map) = &mut json {
                    if self.look.times {
                        map.insert("startedMs".into(), at);
                        map.insert("tookMs".into(), took);
                    }
                    match end {
                        End::Failed(failure) => {
                            map.insert("reason".into(), failure.cause.to_string().into());
                            map.extend(failure.command.as_ref().map(|line| ("command".to_owned(), json!(line))));
                            map.insert("lastLines".into(), json!(failure.tail));
                        }
                        End::Aborted(roots) => {
                            map.insert("because".into(), json!(roots));
                        }
                        _ => {}
                    }
                }
                json
            }
            Event::Stopping => json!({ "event": "stopping" }),
        };
        self.line(&json);
    }

    fn finish(&mut self, summary: &Summary) {
        let count = |word: &str| summary.count(word);
        let mut json = json!({
            "event": "end",
            "success": summary.is_good(),
            "done": count("done"),
            "cached": count("cached"),
            "remoteCached": count("remote-cached"),
            "ready": count("ready"),
            "failed": count("failed"),
            "stopped": count("stopped"),
            "aborted": count("aborted"),
            "notStarted": count("not-started"),
        });
        if self.look.times
            && let Json::Object(map) = &mut json
        {
            map.insert("tookMs".into(), self.millis(summary.took));
        }
        self.line(&json);
        let _ = self.out.flush();
    }
}

fn progress_json(id: &str, progress: &Progress) -> Json {
    let of = |state: &str| json!({ "event": "progress", "id": id, "state": state });
    let with = |state: &str, key: &str, value: Json| {
        let mut json = of(state);
        if let Json::Object(map) = &mut json {
            map.insert(key.to_owned(), value);
        }
        json
    };
    match progress {
        Progress::Uploading(bytes) => with("uploading", "bytes", json!(bytes)),
        Progress::Queued => of("queued"),
        Progress::Running(worker) if worker.is_empty() => of("running"),
        Progress::Running(worker) => with("running", "worker", json!(worker)),
        Progress::Downloading(bytes) => with("downloading", "bytes", json!(bytes)),
    }
}

fn placed_json(id: &str, place: &Place) -> Json {
    match place {
        Place::Here => json!({ "event": "placed", "id": id, "where": "here" }),
        Place::Cache => json!({ "event": "placed", "id": id, "where": "cache" }),
        Place::Worker(worker) => json!({ "event": "placed", "id": id, "where": "worker", "worker": worker }),
    }
}
