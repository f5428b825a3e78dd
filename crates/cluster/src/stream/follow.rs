//! Logs of pods as they are written: a connection for each container, opened again when it restarts and when a pod
//! takes its place.

use super::STEP;
use super::answer::{Body, Came, open};
use super::poll::{Awaited, wait};
use crate::client::{Client, GoOn};
use crate::error::ApiError;
use crate::logs::{Line, Source, Wish, sources};
use crate::path::{below, escape};
use rustix::fd::AsFd;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often pods are listed.
const LISTED: Duration = Duration::from_secs(1);

/// Maximum number of containers that are followed at once.
const MOST: usize = 100;

/// A longer line is cut into several.
const LONGEST_LINE: usize = 256 << 10;

/// Pods whose logs are wanted: where they are listed, and which of them.
pub trait Pods {
    /// The pods of now.
    fn list(&self, client: &Client, go_on: GoOn<'_>) -> Result<Vec<Json>, ApiError>;
}

/// Passes on new lines until it is stopped.
pub fn follow(
    client: &Client,
    pods: &dyn Pods,
    wish: &Wish<'_>,
    go_on: GoOn<'_>,
    say: &mut dyn FnMut(&Line),
) -> Result<(), ApiError> {
    let mut followed = Followed { wish, containers: BTreeMap::new(), is_first: true, has_warned: false };
    let mut listed: Option<Instant> = None;
    loop {
        if !go_on() {
            return Ok(());
        }
        if listed.is_none_or(|at| at.elapsed() >= LISTED) {
            match pods.list(client, go_on) {
                Ok(found) => followed.attach(client, &found, go_on, say)?,
                Err(ApiError::Stopped) => return Ok(()),
                Err(error) if listed.is_none() || is_final(&error) => return Err(error),
                // A server that restarts comes back.
                Err(_) => {}
            }
            listed = Some(Instant::now());
        }
        followed.read(say);
        followed.pause()?;
    }
}

/// Whether waiting does not help.
fn is_final(error: &ApiError) -> bool {
    matches!(error, ApiError::Forbidden(_) | ApiError::Unauthorized { .. })
}

/// All containers that are or were followed.
struct Followed<'w> {
    wish: &'w Wish<'w>,
    containers: BTreeMap<Source, Container>,
    is_first: bool,
    has_warned: bool,
}

/// The log of a container.
#[derive(Default)]
struct Container {
    stream: Option<Stream>,
    seen: Seen,
    /// How often the container had restarted when its log was opened.
    instance: i64,
    /// Whether this instance was read to its end.
    is_read: bool,
}

struct Stream {
    body: Body,
    pending: Vec<u8>,
}

impl Followed<'_> {
    /// Opens the logs of containers that have started since.
    fn attach(
        &mut self,
        client: &Client,
        pods: &[Json],
        go_on: GoOn<'_>,
        say: &mut dyn FnMut(&Line),
    ) -> Result<(), ApiError> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let found: Vec<Source> = pods.iter().flat_map(sources).filter(|one| (self.wish.is_meant)(one)).collect();
        self.containers.retain(|source, one| one.stream.is_some() || found.contains(source));
        for source in found {
            let Some((instance, is_running)) = pods.iter().find_map(|pod| source.instance(pod)) else { continue };
            let is_known = self.containers.get(&source).map(|one| (one.instance, one.stream.is_some(), one.is_read));
            let gap = match is_known {
                Some((_, true, _)) => continue,
                // The log of a container that still runs ends when its file is replaced.
                Some((known, _, true)) if known == instance && !is_running => continue,
                // It restarted twice since: what the one between printed is only in the previous log.
                Some((known, _, is_read)) => instance > known + i64::from(is_read),
                None => false,
            };
            if self.containers.values().filter(|one| one.stream.is_some()).count() >= MOST {
                if !std::mem::replace(&mut self.has_warned, true) {
                    say(&Line::note(&source, &format!("more than {MOST} containers: the logs of some are left out")));
                }
                return Ok(());
            }
            let is_new = is_known.is_none();
            if gap {
                self.catch_up(client, &source, go_on, say);
            }
            let entry = self.containers.entry(source.clone()).or_default();
            entry.instance = instance;
            entry.is_read = false;
            let path = path(&source, self.wish, &entry.seen, is_first && is_new);
            match open(client, &path, &[("Accept", "*/*")], (200, &format!("Pod/{}", source.pod)), go_on) {
                Ok(opened) => entry.stream = Some(Stream { body: Body::of(opened), pending: Vec::new() }),
                Err(error @ (ApiError::Forbidden(_) | ApiError::Unauthorized { .. })) => return Err(error),
                // A log that cannot be read now may be readable at the next look.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Passes on what the instance before the present one has printed.
    fn catch_up(&mut self, client: &Client, source: &Source, go_on: GoOn<'_>, say: &mut dyn FnMut(&Line)) {
        let Some(entry) = self.containers.get_mut(source) else { return };
        let Some(text) = crate::logs::previous(client, source, &entry.seen.since(), go_on) else { return };
        text.lines().filter_map(|line| entry.seen.line(source, line)).for_each(|line| say(&line));
        entry.seen.restart();
    }

    fn read(&mut self, say: &mut dyn FnMut(&Line)) {
        for (source, container) in &mut self.containers {
            let Some(stream) = &mut container.stream else { continue };
            let came = loop {
                match stream.body.read(&mut stream.pending) {
                    Ok(Came::Something) => {
                        let lines = complete(&mut stream.pending);
                        lines.iter().filter_map(|line| container.seen.line(source, line)).for_each(|line| say(&line));
                    }
                    other => break other,
                }
            };
            // After a broken connection the rest is read again, from the last line on.
            if !matches!(came, Ok(Came::Nothing)) {
                if let Ok(last) = std::str::from_utf8(&stream.pending)
                    && !last.is_empty()
                    && came.is_ok()
                {
                    container.seen.line(source, last).iter().for_each(&mut *say);
                }
                container.is_read = came.is_ok();
                container.stream = None;
                container.seen.restart();
            }
        }
    }

    fn pause(&self) -> Result<(), ApiError> {
        let open = self.containers.values().filter_map(|one| one.stream.as_ref()).map(|stream| &stream.body.bytes);
        let awaited: Vec<Awaited<'_>> = open.map(|bytes| Awaited::both(bytes.as_fd(), bytes.has_unsent())).collect();
        wait(&awaited, STEP).map_err(|error| ApiError::Other(error.to_string()))
    }
}

/// Removes the complete lines from the beginning of a text.
fn complete(pending: &mut Vec<u8>) -> Vec<String> {
    let end = match pending.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => at + 1,
        None if pending.len() > LONGEST_LINE => pending.len(),
        None => return Vec::new(),
    };
    let taken: Vec<u8> = pending.drain(..end).collect();
    String::from_utf8_lossy(&taken).lines().map(str::to_owned).collect()
}

/// The request for the log of a container: what is wished for at first, and then what follows the last line.
fn path(source: &Source, wish: &Wish<'_>, seen: &Seen, is_first: bool) -> String {
    let mut path = below(&source.namespace, &["pods", &source.pod, "log"]);
    path.push_str(&format!("?container={}&timestamps=true&follow=true", escape(&source.container)));
    match is_first {
        true => path.push_str(&wish.limits()),
        false => path.push_str(&seen.since()),
    }
    path
}

/// How far a log was read: servers select lines by whole seconds, so the first lines may be known already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The time of the last line, and the number of lines with this time.
    last: (String, usize),
    /// Lines of that time that come again.
    again: usize,
}

impl Seen {
    /// The parameter for what follows; empty if nothing was read.
    pub(crate) fn since(&self) -> String {
        match self.last.0.split(['.', 'Z']).next() {
            None | Some("") => String::new(),
            Some(second) => format!("&sinceTime={}", escape(&format!("{second}Z"))),
        }
    }

    /// The log is read again, from the last second on.
    pub(crate) fn restart(&mut self) {
        self.again = self.last.1;
    }

    /// A line, unless it is known already.
    pub(crate) fn line(&mut self, source: &Source, text: &str) -> Option<Line> {
        let (time, said) = text.split_once(' ').unwrap_or((text, ""));
        if time < self.last.0.as_str() {
            return None;
        }
        if time == self.last.0 {
            if self.again > 0 {
                self.again -= 1;
                return None;
            }
            self.last.1 += 1;
        } else {
            self.last = (time.to_owned(), 1);
            self.again = 0;
        }
        Some(Line::of(source, time, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { namespace: "a".into(), pod: "b".into(), container: "c".into() }
    }

    #[test]
    fn lines_that_come_again_are_left_out() {
        let mut seen = Seen::default();
        let mut read = |lines: &[&str]| {
            let found: Vec<String> =
                lines.iter().filter_map(|line| seen.line(&source(), line)).map(|line| line.text).collect();
            seen.restart();
            (found.join(","), seen.since())
        };
        let all = ["2026-01-01T00:00:00.1Z a", "2026-01-01T00:00:00.2Z b", "2026-01-01T00:00:00.2Z c"];
        assert_eq!(read(&all), ("a,b,c".to_owned(), "&sinceTime=2026-01-01T00%3A00%3A00Z".to_owned()));
        assert_eq!(read(&all).0, "");
        let more = [&all[1..], &["2026-01-01T00:00:00.2Z d", "2026-01-01T00:00:01Z e"]].concat();
        assert_eq!(read(&more), ("d,e".to_owned(), "&sinceTime=2026-01-01T00%3A00%3A01Z".to_owned()));
    }

    #[test]
    fn only_whole_lines_are_passed_on() {
        let mut pending = b"a\nb\r\nc".to_vec();
        assert_eq!(complete(&mut pending), ["a", "b"]);
        assert_eq!(pending, b"c");
        let mut long = vec![b'x'; LONGEST_LINE + 1];
        assert_eq!(complete(&mut long).len(), 1);
        assert!(long.is_empty());
    }
}
