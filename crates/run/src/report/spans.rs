//! Timings as OpenTelemetry spans: one for the run, one below it for every action that did something.
//!
//! Contains only names, kinds, states and versions; texts of commands or configurations are left out, so that no secret
//! can be among them. Encodes the requests of OTLP (trace service, version 1) by itself, because they are a dozen
//! fields. Must not know how they are sent.

use crate::action::Kind;
use crate::event::{Cause, End, Event, Reporter, Summary};
use crate::request::Place;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum number of spans in one request; collectors accept a few megabytes.
const MOST_IN_A_REQUEST: usize = 2_000;

/// The context of the spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The name of the run.
    pub name: String,
    /// Attributes of the program, such as `service.name`.
    pub resource: BTreeMap<String, String>,
    /// The trace and the span that started this run, if one did.
    pub parent: Option<([u8; 16], [u8; 8])>,
}

struct Span {
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    name: String,
    at: Duration,
    took: Duration,
    attributes: Vec<(&'static str, String)>,
    is_failed: bool,
}

/// Collects spans.
pub struct Spans {
    context: Context,
    begun: Duration,
    trace: [u8; 16],
    root: [u8; 8],
    random: RandomState,
    spans: Vec<Span>,
    /// Where actions ran that did not run here.
    places: BTreeMap<String, Place>,
}

impl Spans {
    /// Spans of a run that begins now.
    pub fn new(context: Context) -> Self {
        let random = RandomState::new();
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let trace = match context.parent {
            Some((trace, _)) => trace,
            None => {
                let halves = [drawn(&random, 0), drawn(&random, 1)];
                let mut trace = [0; 16];
                trace.iter_mut().zip(halves.as_flattened()).for_each(|(to, from)| *to = *from);
                trace
            }
        };
        let root = drawn(&random, 2);
        Spans { context, begun, trace, root, random, spans: Vec::new(), places: BTreeMap::new() }
    }

    /// The requests to send, in order.
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.spans.chunks(MOST_IN_A_REQUEST).map(|spans| self.request(spans)).collect()
    }

    fn request(&self, spans: &[Span]) -> Vec<u8> {
        let mut resource = Vec::new();
        self.context.resource.iter().for_each(|(key, value)| put_bytes(&mut resource, 1, &attribute(key, value)));
        let mut scope = Vec::new();
        put_bytes(&mut scope, 1, b"purlin");
        put_bytes(&mut scope, 2, env!("CARGO_PKG_VERSION").as_bytes());
        let mut of_scope = Vec::new();
        put_bytes(&mut of_scope, 1, &scope);
        spans.iter().for_each(|span| put_bytes(&mut of_scope, 2, &self.encoded(span)));
        let mut of_resource = Vec::new();
        put_bytes(&mut of_resource, 1, &resource);
        put_bytes(&mut of_resource, 2, &of_scope);
        let mut request = Vec::new();
        put_bytes(&mut request, 1, &of_resource);
        request
    }

    fn encoded(&self, span: &Span) -> Vec<u8> {
        const INTERNAL: u64 = 1;
        const FAILED: u64 = 2;
        let mut out = Vec::new();
        put_bytes(&mut out, 1, &self.trace);
        put_bytes(&mut out, 2, &span.id);
        if let Some(parent) = &span.parent {
            put_bytes(&mut out, 4, parent);
        }
        put_bytes(&mut out, 5, span.name.as_bytes());
        put_number(&mut out, 6, INTERNAL);
        put_fixed(&mut out, 7, self.begun + span.at);
        put_fixed(&mut out, 8, self.begun + span.at + span.took);
        span.attributes.iter().for_each(|(key, value)| put_bytes(&mut out, 9, &attribute(key, value)));
        if span.is_failed {
            let mut status = Vec::new();
            put_number(&mut status, 3, FAILED);
            put_bytes(&mut out, 15, &status);
        }
        out
    }
}

impl Reporter for Spans {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Placed { id, place } = event {
            self.places.insert((*id).to_owned(), (*place).clone());
        }
        let Event::Ended { id, version, end, at, took } = event else { return };
        let mut attributes = vec![("purlin.state", end.word().to_owned())];
        let kind = Kind::of(id).map(|kind| ("purlin.kind", kind.name().to_owned()));
        let version = (!version.is_empty()).then(|| ("purlin.version", (*version).to_owned()));
        let place = self.places.remove(*id).map(|place| match place {
            Place::Here => ("purlin.where", "here".to_owned()),
            Place::Cache => ("purlin.where", "cache".to_owned()),
            Place::Worker(worker) => ("purlin.worker", worker),
        });
        attributes.extend(kind.into_iter().chain(version).chain(cause(end)).chain(place));
        self.spans.push(Span {
            id: drawn(&self.random, self.spans.len() as u64 + 3),
            parent: Some(self.root),
            name: (*id).to_owned(),
            at: *at,
            took: *took,
            attributes,
            is_failed: matches!(end, End::Failed(_)),
        });
    }

    fn finish(&mut self, summary: &Summary) {
        let parent = self.context.parent.map(|(_, parent)| parent);
        let name = self.context.name.clone();
        let (took, is_failed) = (summary.took, !summary.is_good());
        let actions = ("purlin.actions", summary.ends.len().to_string());
        self.spans.push(Span {
            id: self.root,
            parent,
            name,
            at: Duration::ZERO,
            took,
            attributes: vec![actions],
            is_failed,
        });
    }
}

/// The cause of a failure, without any text from outside.
fn cause(end: &End) -> Option<(&'static str, String)> {
    let End::Failed(failure) = end else { return None };
    let kind = match failure.cause {
        Cause::Exit(code) => return Some(("process.exit.code", code.to_string())),
        Cause::Signal(_) => "signal",
        Cause::TimedOut(_) => "timeout",
        Cause::NotReady(_) => "not ready",
        Cause::NoProgram(_) => "command not found",
        Cause::Unresolved => "not resolved",
        Cause::Stopped => "stopped",
        Cause::Other(_) => "failed",
    };
    Some(("error.type", kind.to_owned()))
}

/// Unique numbers that distinguish traces; they are not secret. Never all zeros, which means no id.
fn drawn(random: &RandomState, number: u64) -> [u8; 8] {
    let mut hasher = random.build_hasher();
    hasher.write_u64(number);
    hasher.finish().max(1).to_be_bytes()
}

fn attribute(key: &str, value: &str) -> Vec<u8> {
    let mut text = Vec::new();
    put_bytes(&mut text, 1, value.as_bytes());
    let mut out = Vec::new();
    put_bytes(&mut out, 1, key.as_bytes());
    put_bytes(&mut out, 2, &text);
    out
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_number(out: &mut Vec<u8>, field: u64, number: u64) {
    put_varint(out, field << 3);
    put_varint(out, number);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A time as nanoseconds since 1970.
fn put_fixed(out: &mut Vec<u8>, field: u64, time: Duration) {
    put_varint(out, field << 3 | 1);
    out.extend_from_slice(&u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).to_le_bytes());
}
