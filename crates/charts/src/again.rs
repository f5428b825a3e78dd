//! Files that variants of a project need not render again: a template prints the same where everything is the same that
//! it reads of the values, their origins included.
//!
//! The engine records what each file reads. What came of a file is kept with the values that it was rendered with, for
//! as long as the variants of the project are resolved.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use purlin_gotmpl::Reads;
use purlin_model::{Manifest, Node};
use purlin_syntax::Diagnostic;
use purlin_value::{Data, Origin, OriginKind, Session, Value};

use crate::chart::Chart;
use crate::dependencies::decided_on;
use crate::edition::{HELM_4, Helm};
use crate::engine::{self, Part};
use crate::manifest::{self, Document};
use crate::template::Prepared;

/// Maximum number of results kept for one file: where every variant has values of its own, none is used again.
const MOST_KEPT: usize = 3;

/// A document with its node and manifest.
#[derive(Clone)]
pub(crate) struct Finished {
    /// Its head; the text is in the manifest.
    pub document: Document,
    pub is_hook: bool,
    pub node: Option<Node>,
    pub manifest: Manifest,
    /// Keys that are there twice.
    pub twice: Vec<Diagnostic>,
}

/// What came of a file.
pub(crate) struct Printed {
    values: Value,
    reads: Reads,
    steps: u64,
    /// The origins that decide whether its chart takes part.
    decided: Vec<Origin>,
    documents: Vec<Finished>,
}

/// Results by file, of one chart under the same terms.
#[derive(Default)]
pub(crate) struct Renders {
    files: Mutex<HashMap<String, Vec<Arc<Printed>>>>,
    /// Set where files change what others see, so that none can be left out.
    is_off: AtomicBool,
}

/// Files by path with what is known to come of them.
pub(crate) type Known = BTreeMap<String, Arc<Printed>>;

impl Renders {
    /// The results of other variants of the project; `None` if there are none, or files cannot be told apart by what
    /// they read.
    pub(crate) fn of(session: &Session, prepared: &Prepared) -> Option<Arc<Renders>> {
        let chart = &prepared.chart;
        if !session.has_variants() || session.names.is_on() || !is_plain(chart, &prepared.values) {
            return None;
        }
        let renders = session.in_common(&terms(session, prepared), Renders::default);
        (!renders.is_off.load(Ordering::Relaxed)).then_some(renders)
    }

    /// From now on all files are rendered for each variant.
    pub(crate) fn stop(&self) {
        self.is_off.store(true, Ordering::Relaxed);
        self.lock().clear();
    }

    /// The files of which it is known what comes of them with the values of this variant. Their steps are charged.
    pub(crate) fn known(&self, session: &Session, prepared: &Prepared) -> Known {
        let files = self.lock();
        let fits = |path: &String, printed: &&Arc<Printed>| {
            printed.decided == decided_on(&prepared.chart, path)
                && agrees(session, &printed.reads, &printed.values, &prepared.values)
                && session.meter.charge(printed.steps, 0).is_ok()
        };
        let found = files.iter().filter_map(|(path, all)| {
            let printed = all.iter().find(|printed| fits(path, printed))?;
            Some((path.clone(), printed.clone()))
        });
        found.collect()
    }

    /// Keeps what came of files.
    pub(crate) fn keep(&self, prepared: &Prepared, parts: Vec<Part>, finished: &[Finished]) {
        let mut by_path: HashMap<&str, Vec<Finished>> = HashMap::new();
        for one in finished {
            by_path.entry(one.document.path.as_str()).or_default().push(one.clone());
        }
        let mut files = self.lock();
        for Part { path, reads, steps } in parts {
            let documents = by_path.remove(path.as_str()).unwrap_or_default();
            let decided = decided_on(&prepared.chart, &path);
            let all = files.entry(path).or_default();
            if all.len() < MOST_KEPT {
                all.push(Arc::new(Printed { values: prepared.values.clone(), reads, steps, decided, documents }));
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<Arc<Printed>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the documents of known files to others, in Helm's order.
pub(crate) fn put_together(mut finished: Vec<Finished>, known: &Known, helm: &Helm) -> Vec<Finished> {
    if known.is_empty() {
        return finished;
    }
    finished.extend(known.values().flat_map(|printed| printed.documents.iter().cloned()));
    finished.sort_by_cached_key(|Finished { document, is_hook, .. }| {
        let places = [manifest::place(document, helm), manifest::place(document, &HELM_4)];
        (*is_hook, places, document.path.clone(), document.start)
    });
    finished
}

/// Whether all values are known and public, and each chart inside has a mapping of them.
fn is_plain(chart: &Chart, values: &Value) -> bool {
    let mut stack = vec![values];
    while let Some(value) = stack.pop() {
        if value.is_tainted() {
            return false;
        }
        match &value.data {
            Data::Pending(_) | Data::Lazy(_) | Data::Poison => return false,
            Data::List(items) => stack.extend(items.iter()),
            Data::Map(map) => stack.extend(map.values()),
            _ => {}
        }
    }
    has_sections(chart, values)
}

fn has_sections(chart: &Chart, values: &Value) -> bool {
    values.as_map().is_some()
        && chart.dependencies.iter().all(|inner| values.get(inner.name()).is_some_and(|own| has_sections(inner, own)))
}

/// Everything besides the values that templates can see.
fn terms(session: &Session, prepared: &Prepared) -> String {
    let (chart, release, capabilities) = (&prepared.chart, &prepared.release, &prepared.capabilities);
    let mut terms = engine::key_of(chart);
    let names = session.in_common(&terms, || NamesSubcharts(names_subcharts(chart)));
    let _ = write!(
        terms,
        "{}\n{} {} {} {} {} {}\n{} {}\n{}\n",
        prepared.switches(),
        release.name,
        release.namespace,
        release.upgrade,
        release.revision,
        place(session, release.name_from),
        place(session, release.namespace_from),
        capabilities.helm.version,
        capabilities.kube.version,
        capabilities.api_versions.join(","),
    );
    if names.0 {
        write_decided(chart, &mut terms);
    }
    terms
}

/// Whether a template names the list of charts inside, whose origin is what decides on them.
struct NamesSubcharts(bool);

fn names_subcharts(chart: &Chart) -> bool {
    let names = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("Subcharts");
    chart.templates.iter().any(|file| names(&file.bytes)) || chart.dependencies.iter().any(names_subcharts)
}

fn write_decided(chart: &Chart, terms: &mut String) {
    let decided = chart.metadata.dependencies.iter().flat_map(|one| &one.decided);
    for origin in decided.chain(&chart.metadata.switched_off) {
        let _ = write!(terms, "{} ", origin.to_bits());
    }
    chart.dependencies.iter().for_each(|inner| write_decided(inner, terms));
}

/// An origin by which terms are told apart: options are the same in all variants.
fn place(session: &Session, origin: Origin) -> String {
    match session.origins.get(origin, &session.sources) {
        OriginKind::Flag(text) => text.to_string(),
        _ => origin.to_bits().to_string(),
    }
}

/// Whether two mappings agree on everything that was read of the first.
fn agrees(session: &Session, reads: &Reads, one: &Value, other: &Value) -> bool {
    let (Some(map), Some(others)) = (one.as_map(), other.as_map()) else { return false };
    let is_lacking = || reads.keys.keys().any(|key| map.get(&*key.text()).is_none());
    if (reads.is_used || reads.is_whole || is_lacking()) && !has_same_origin(session, one, other) {
        return false;
    }
    let looks_alike = |value: &Value, other: &Value| match (value.as_map(), other.as_map()) {
        (Some(_), Some(_)) => has_same_origin(session, value, other),
        (None, None) => is_same(session, value, other),
        _ => false,
    };
    let is_whole = || {
        let is_there = |(key, value): (_, &Value)| others.get(key).is_some_and(|other| looks_alike(value, other));
        map.len() == others.len() && map.iter().all(is_there)
    };
    if reads.is_whole && !is_whole() {
        return false;
    }
    reads.keys.iter().all(|(key, inner)| match (map.get(&*key.text()), others.get(&*key.text())) {
        (None, None) => true,
        (Some(value), Some(other)) if value.as_map().is_some() => agrees(session, inner, value, other),
        (Some(value), Some(other)) => is_same(session, value, other),
        _ => false,
    })
}

/// Whether two values are equal in all parts, with their origins.
fn is_same(session: &Session, one: &Value, other: &Value) -> bool {
    let mut stack = vec![(one, other)];
    while let Some((one, other)) = stack.pop() {
        if !has_same_origin(session, one, other) {
            return false;
        }
        match (&one.data, &other.data) {
            (Data::List(items), Data::List(others)) if items.len() == others.len() => {
                stack.extend(items.iter().zip(others.iter()));
            }
            (Data::Map(map), Data::Map(others)) if map.len() == others.len() => {
                for (key, value) in map.iter() {
                    let Some(other) = others.get(key) else { return false };
                    stack.push((value, other));
                }
            }
            (Data::List(_) | Data::Map(_), _) => return false,
            _ if one == other => {}
            _ => return false,
        }
    }
    true
}

/// Whether two values come from one place, or were chosen from the same ones.
fn has_same_origin(session: &Session, one: &Value, other: &Value) -> bool {
    let (one, other) = (one.origin, other.origin);
    let kind = |origin| session.origins.get(origin, &session.sources);
    one == other || (one.is_derived() && other.is_derived() && kind(one) == kind(other))
}
