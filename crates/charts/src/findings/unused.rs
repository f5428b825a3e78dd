//! Values that no template reads, named templates that are never included, and values files that repeat the chart's own
//! values.
//!
//! Templates are followed without being rendered (`names.rs`), so that a value counts as read if any branch reads it.
//! Parts that cannot be followed count as read: there is no warning where a read cannot be excluded. Values of charts
//! inside that are set elsewhere, and definitions of libraries for others, are not checked.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use purlin_syntax::{Diagnostic, Flavor, Hint, Node, Span};
use purlin_value::names::{unquoted, written};
use purlin_value::{EcoString, Session, Value, path};

use crate::chart::Chart;
use crate::dialect::is_values_file;
use crate::engine::Compiled;
use crate::names::{Reads, reads};
use crate::template::{Options, Prepared};
use crate::{ci, rules};

/// The file with a chart's own values.
const OWN: &str = "values.yaml";

/// Longer texts of a chart are not searched for arguments of `tpl`.
const LONGEST_TEXT: usize = 1 << 20;

/// Maximum number of locations shown for an overridden value.
const SHOWN_PLACES: usize = 3;

/// Maximum number of names shown in one message.
const NAMED: usize = 5;

/// A key that is written somewhere, with those inside it.
struct Key {
    name: EcoString,
    span: Option<Span>,
    inner: Vec<Key>,
    /// Whether it may be read.
    is_live: bool,
}

/// Warns of unused parts of a prepared chart.
pub(crate) fn check(session: &Session, folder: &str, prepared: &Prepared, options: &Options) {
    let chart = &prepared.chart;
    if chart.is_library() || !has_manifests(chart) || !prepared.missing.is_empty() {
        return;
    }
    let (reads, is_shared) = reads_of(session, folder, (chart, prepared.known_templates()), options);
    if reads.is_lost {
        return;
    }
    let judge =
        Judge { session, chart, reads: &reads, is_whole: is_whole(session, chart), known: names_reported(session) };
    let own = path::join(folder, OWN);
    if is_shared {
        judge.shared_file(&own)
    } else {
        judge.file(&own)
    }
    for (file, _) in options.values.iter().filter(|(file, _)| !is_of_tests(file)) {
        judge.file(file);
        if options.values.len() == 1 {
            judge.repeated(&own, file);
        }
    }
    judge.value(&options.inline);
    judge.value(&options.given);
    judge.sets(options);
    judge.templates();
    if options.values.is_empty() && options.inline.is_null() && options.given.is_null() && options.sets.is_empty() {
        judge.overridden(folder, &own);
    }
}

/// A chart without manifests defines templates for others, whatever its type.
fn has_manifests(chart: &Chart) -> bool {
    let prints = |name: &str| !path::file_name(name).starts_with('_') && !name.ends_with("NOTES.txt");
    !chart.dependencies.is_empty() || chart.templates.iter().any(|file| prints(&file.name))
}

/// Whether all charts inside are enabled; a disabled one may read shared values, and include any template.
fn is_whole(session: &Session, chart: &Chart) -> bool {
    let Some(declared) = declared(session, chart) else { return false };
    let is_there = |name: &String| chart.dependencies.iter().any(|inner| inner.name() == *name);
    declared.iter().all(|names| names.iter().any(is_there))
        && chart.dependencies.iter().all(|inner| is_whole(session, inner))
}

/// The names of each chart inside, as declared in the chart's files: a disabled one is no longer among the chart's own
/// dependencies. `None` if its files cannot be read, as those of an archive.
fn declared(session: &Session, chart: &Chart) -> Option<Vec<Vec<String>>> {
    let mut found = Vec::new();
    let mut is_read = false;
    for file in ["Chart.yaml", "requirements.yaml"].map(|name| path::join(&chart.folder, name)) {
        let Ok(text) = session.load_text(&file, &file) else { continue };
        is_read = true;
        let tree = session.load_tree(&text.source, Flavor::Go);
        let list = tree.root().and_then(|root| root.get("dependencies"));
        let names = |item: Node<'_>| {
            let texts = ["name", "alias"].into_iter().filter_map(|key| item.get(key));
            texts.map(|text| text.text().to_owned()).filter(|text| !text.is_empty()).collect()
        };
        found.extend(list.into_iter().flat_map(|list| list.items().map(names).collect::<Vec<Vec<String>>>()));
    }
    is_read.then_some(found)
}

/// How the templates of the chart in a folder use its values; `None` if they cannot be read.
pub(crate) fn reads_of_folder(session: &Session, folder: &str) -> Option<Arc<Reads>> {
    let chart = crate::load::load(session, folder).ok()?;
    Some(reads_of(session, folder, (&chart, None), &Options::default()).0)
}

/// Values that templates may read. They are the same for all values files of a chart, and shared between them.
fn reads_of(
    session: &Session,
    folder: &str,
    (chart, parsed): (&Chart, Option<&Compiled>),
    options: &Options,
) -> (Arc<Reads>, bool) {
    let listed = session.listed(folder);
    let beside = listed.names().filter(|name| is_values_file(name)).map(str::to_owned);
    let files: BTreeSet<String> =
        beside.chain(ci::files(session, folder)).map(|file| path::join(folder, &file)).collect();
    let find = |files: BTreeSet<String>| {
        let texts = texts_of_files(chart);
        reads(session, chart, parsed, files, texts, options)
    };
    let is_alone = options.inline.is_null() && options.given.is_null() && options.sets.is_empty();
    let others = options.values.iter().map(|(file, _)| file).filter(|file| !files.contains(*file));
    let others: Vec<String> = others.cloned().collect();
    if !is_alone || !others.is_empty() {
        return (Arc::new(find(files.into_iter().chain(others).collect())), false);
    }
    // Charts that take part differ with the values.
    let parts: Vec<String> = parts_of(chart);
    let shared = session.in_common(&format!("reads of {folder} {}", parts.join(" ")), || find(files));
    (shared, session.has_variants())
}

fn parts_of(chart: &Chart) -> Vec<String> {
    let bytes = chart.templates.first().map(|file| file.bytes.as_ptr());
    let own = format!("{} {bytes:?}", chart.name());
    std::iter::once(own).chain(chart.dependencies.iter().flat_map(parts_of)).collect()
}

/// Texts of files that a template may hand to `tpl`.
fn texts_of_files(chart: &Chart) -> Vec<String> {
    let mut found = Vec::new();
    let mentions = |text: &[u8]| String::from_utf8_lossy(text).contains(".Files");
    if chart.templates.iter().any(|file| mentions(&file.bytes)) {
        let is_text = |name: &str| !name.ends_with(".md") && !name.ends_with(".gotmpl");
        for file in chart.files.iter().filter(|file| is_text(&file.name) && file.bytes.len() <= LONGEST_TEXT) {
            let text = String::from_utf8_lossy(&file.bytes);
            if text.contains("{{") {
                found.push(text.into_owned());
            }
        }
    }
    found.extend(chart.dependencies.iter().flat_map(texts_of_files));
    found
}

/// Names with reported problems: a misspelt value is not reported as unread, too.
fn names_reported(session: &Session) -> HashSet<String> {
    let about = |found: &Diagnostic| found.rule == &rules::UNREAD || found.rule == &rules::UNSET;
    let known = session.sink.since(0);
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let names = |found: &Diagnostic| {
        let meant = found.hints.iter().filter_map(Hint::name).map(|meant| last(&meant.right));
        found.what().names().map(last).chain(meant).collect::<Vec<_>>()
    };
    known.iter().filter(|found| about(found)).flat_map(names).collect()
}

/// Values for the chart's own tests.
fn is_of_tests(file: &str) -> bool {
    path::file_name(path::parent(file)) == "ci"
}

/// What is found in a file.
struct Found(Vec<Diagnostic>);

struct Judge<'a> {
    session: &'a Session,
    chart: &'a Chart,
    reads: &'a Reads,
    is_whole: bool,
    known: HashSet<String>,
}

impl Judge<'_> {
    /// A file of values; one in an archive has no place to point at.
    fn file(&self, file: &str) {
        self.keys(self.keys_of_file(file));
    }

    /// The same for a file that variants share: what is found there once is found for each of them.
    fn shared_file(&self, file: &str) {
        let known: BTreeSet<&String> = self.known.iter().collect();
        let about = format!("{file} {} {} {known:?}", parts_of(self.chart).join(" "), self.is_whole);
        let found = self.session.in_common(&about, || Found(self.session.sink.apart(|| self.file(file)).1.into_vec()));
        self.session.sink.extend(found.0.iter().cloned());
    }

    fn keys_of_file(&self, file: &str) -> Vec<Key> {
        let Ok(text) = self.session.load_text(file, file) else { return Vec::new() };
        let tree = self.session.load_tree(&text.source, Flavor::Go);
        tree.root().map(keys_of_node).unwrap_or_default()
    }

    /// Values that a project gives.
    fn value(&self, value: &Value) {
        self.keys(self.keys_of_value(value));
    }

    /// Values that a project gives as `--set` flags. A key that is not a plain path is left alone.
    fn sets(&self, options: &Options) {
        for (flag, from) in options.sets.iter().zip(&options.sets_from) {
            let (Some((path, _)), Some(span)) = (flag.text.split_once('='), from.span) else { continue };
            if path.is_empty() || path.contains(['[', '\\', '{', ',', ' ']) {
                continue;
            }
            let inner = path.rsplit('.').fold(Vec::new(), |inner, name| {
                vec![Key { name: name.into(), span: Some(span), inner, is_live: false }]
            });
            self.keys(inner);
        }
    }

    fn keys_of_value(&self, value: &Value) -> Vec<Key> {
        let (origins, sources) = (&self.session.origins, &self.session.sources);
        let key = |name: &str, value: &Value| Key {
            name: name.into(),
            span: origins.key_place(value.origin, name, sources).map(|span| unquoted(span, sources)),
            inner: self.keys_of_value(value),
            is_live: false,
        };
        value.as_map().into_iter().flat_map(|map| map.iter()).map(|(name, value)| key(name, value)).collect()
    }

    fn keys(&self, mut keys: Vec<Key>) {
        self.mark(&mut keys, &mut Vec::new(), self.reads.holds_all(&[]));
        self.judge(&keys, &mut Vec::new(), Some(self.chart));
    }

    /// Records which keys may be read: by name, as part of an enclosing mapping, or through a part of them.
    fn mark(&self, keys: &mut [Key], path: &mut Vec<EcoString>, is_whole: bool) {
        for key in keys {
            path.push(key.name.clone());
            let is_whole = is_whole || self.reads.holds_all(path);
            self.mark(&mut key.inner, path, is_whole);
            key.is_live = is_whole || self.reads.holds(path) || key.inner.iter().any(|inner| inner.is_live);
            path.pop();
        }
    }

    /// Reports unread keys, at the highest level. `of` is the chart of the values, at their root.
    fn judge(&self, keys: &[Key], path: &mut Vec<EcoString>, of: Option<&Chart>) {
        // The keys of a mapping that is only tested make it non-empty, so they are not reported.
        let is_tested = of.is_none() && self.reads.holds(path) && !keys.iter().any(|key| key.is_live);
        for key in keys.iter().filter(|_| !is_tested) {
            let inside = of.and_then(|chart| chart.dependencies.iter().find(|inner| inner.name() == key.name));
            let declared = || of.and_then(|chart| declared(self.session, chart));
            let is_off = || declared().is_none_or(|all| all.iter().flatten().any(|name| *name == key.name));
            let is_global = of.is_some() && key.name == "global";
            let is_left = match (inside, is_global) {
                (Some(_), _) => false,
                (None, true) => !path.is_empty() || !self.is_whole,
                (None, false) => of.is_some() && (key.name == "tags" || is_switch(key) || is_off()),
            };
            if is_left {
                continue;
            }
            path.push(key.name.clone());
            if key.is_live || inside.is_some() || is_global {
                self.judge(&key.inner, path, inside);
            } else {
                self.report(key, path);
            }
            path.pop();
        }
    }

    fn report(&self, key: &Key, path: &[EcoString]) {
        let Some(span) = key.span.filter(|_| !self.known.contains(key.name.as_str())) else { return };
        let message = format!("no template reads the value `{}`", path.join("."));
        self.session
            .sink
            .push(Diagnostic::at(&rules::UNUSED_VALUE, span, message).hint("remove it, or read it in a template"));
    }

    /// Named templates of the chart itself.
    fn templates(&self) {
        if !self.is_whole {
            return;
        }
        for (_, name, span) in self.reads.defined.iter().filter(|(chart, ..)| *chart == 0) {
            if !self.reads.includes(name) {
                let message = format!("no template includes `{name}`");
                self.session.sink.push(Diagnostic::at(&rules::UNUSED_TEMPLATE, *span, message).hint("remove it"));
            }
        }
    }

    /// Values that the file of every environment sets. Where there are files for other purposes, or only one, the
    /// chart's own values may be used.
    fn overridden(&self, folder: &str, own: &str) {
        let listed = self.session.listed(folder);
        let mut files: Vec<&str> = listed.names().filter(|name| is_values_file(name)).collect();
        files.sort_unstable();
        if files.len() < 2 || !files.iter().all(|file| is_of_environment(file)) {
            return;
        }
        let load = |file: &str| {
            let text = self.session.load_text(file, file).ok()?;
            Some(self.session.load_tree(&text.source, Flavor::Go))
        };
        let trees: Option<Vec<_>> = files.iter().map(|file| load(&path::join(folder, file))).collect();
        let (Some(own), Some(trees)) = (load(own), trees) else { return };
        let others: Option<Vec<Node<'_>>> = trees.iter().map(|tree| tree.root()).collect();
        let (Some(own), Some(others)) = (own.root(), others) else { return };
        let mut found = Vec::new();
        set_by_all(own, &others, &mut Vec::new(), &mut found);
        for (name, span, places) in found {
            let message = format!("the value `{name}` is overridden in every values file");
            let mut diagnostic = Diagnostic::at(&rules::OVERRIDDEN, span, message);
            for place in places.into_iter().take(SHOWN_PLACES) {
                diagnostic = diagnostic.label(place, "overridden here");
            }
            self.session.sink.push(diagnostic.hint("remove it, or one of the values that override it"));
        }
    }

    /// A values file that repeats the chart's own values.
    fn repeated(&self, own: &str, file: &str) {
        let load = |file: &str| {
            let text = self.session.load_text(file, file).ok()?;
            Some(self.session.load_tree(&text.source, Flavor::Go))
        };
        let (Some(own), Some(other)) = (load(own), load(file)) else { return };
        let (Some(own), Some(other)) = (own.root(), other.root()) else { return };
        let mut found = Vec::new();
        repeats(own, other, &mut Vec::new(), &mut found);
        let Some((_, span)) = found.first() else { return };
        let names: Vec<String> = found.iter().take(NAMED).map(|(name, _)| format!("`{name}`")).collect();
        let message = match found.len() {
            1 => format!("{} repeats the chart's own value", names.join("")),
            more if more <= NAMED => format!("{} repeat the chart's own values", names.join(", ")),
            more => format!("{} and {} more repeat the chart's own values", names.join(", "), more - NAMED),
        };
        self.session
            .sink
            .push(Diagnostic::at(&rules::REPEATED, *span, message).hint("remove what the chart has by itself"));
    }
}

/// Whether a chart that takes this one in may decide by the value whether it does: `condition: web.enabled`.
fn is_switch(key: &Key) -> bool {
    key.name == "enabled" && key.inner.is_empty()
}

/// Words that values files of environments have in their names.
const ENVIRONMENTS: &[&str] = &[
    "canary",
    "dev",
    "development",
    "live",
    "local",
    "preprod",
    "preproduction",
    "preview",
    "prd",
    "prod",
    "production",
    "qa",
    "sandbox",
    "stage",
    "staging",
    "stg",
    "test",
    "testing",
    "uat",
];

/// Whether a values file has the name of an environment, such as `values-prod-eu.yaml` or `values-stage2.yaml`.
fn is_of_environment(file: &str) -> bool {
    let is_one = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        ENVIRONMENTS.contains(&word.as_str())
    };
    file.split(['.', '-', '_']).any(is_one)
}

/// Scalars and lists that all of several files set, with the places where they do.
fn set_by_all(
    own: Node<'_>,
    others: &[Node<'_>],
    above: &mut Vec<EcoString>,
    found: &mut Vec<(String, Span, Vec<Span>)>,
) {
    for entry in own.entries().filter(|entry| !entry.key.is_merge_key() && !entry.value.is_alias()) {
        let name = entry.key.eco_text();
        let set: Vec<_> = others.iter().filter_map(|other| other.entry(&name)).collect();
        if set.len() < others.len() || has_anchor(entry.value) {
            continue;
        }
        above.push(name);
        if entry.value.is_map() {
            let inner: Vec<Node<'_>> = set.iter().map(|entry| entry.value).collect();
            set_by_all(entry.value, &inner, above, found);
        } else {
            found.push((above.join("."), written(entry.key), set.iter().map(|entry| written(entry.key)).collect()));
        }
        above.pop();
    }
}

/// The keys of a mapping. A value with an anchor is used at its alias.
fn keys_of_node(node: Node<'_>) -> Vec<Key> {
    let is_plain = |value: Node<'_>| !value.is_alias() && !has_anchor(value);
    let own = node.entries().filter(|entry| !entry.key.is_merge_key() && is_plain(entry.value));
    own.map(|entry| Key {
        name: entry.key.eco_text(),
        span: Some(written(entry.key)),
        inner: keys_of_node(entry.value),
        is_live: false,
    })
    .collect()
}

fn has_anchor(node: Node<'_>) -> bool {
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        if node.anchor().is_some() {
            return true;
        }
        if !node.is_alias() {
            left.extend(node.items());
            left.extend(node.entries().map(|entry| entry.value));
        }
    }
    false
}

/// The scalars and lists of a file that another one has at the same path.
fn repeats(own: Node<'_>, other: Node<'_>, above: &mut Vec<EcoString>, found: &mut Vec<(String, Span)>) {
    for entry in other.entries().filter(|entry| !entry.key.is_merge_key() && !entry.value.is_alias()) {
        let name = entry.key.eco_text();
        let Some(known) = own.get(&name) else { continue };
        above.push(name);
        if entry.value.is_map() {
            repeats(known, entry.value, above, found);
        } else if entry.value.size() == known.size() && is_same(known, entry.value) {
            found.push((above.join("."), written(entry.key)));
        }
        above.pop();
    }
}

/// Whether two nodes have the same content.
fn is_same(one: Node<'_>, other: Node<'_>) -> bool {
    if one.is_scalar() && other.is_scalar() {
        return one.scalar() == other.scalar() && one.text() == other.text();
    }
    let pairs = || one.entries().zip(other.entries());
    let same_entries =
        || pairs().all(|(one, other)| one.key.text() == other.key.text() && is_same(one.value, other.value));
    let same_items = || one.items().zip(other.items()).all(|(one, other)| is_same(one, other));
    one.is_map() == other.is_map()
        && one.is_list() == other.is_list()
        && one.entries().count() == other.entries().count()
        && one.items().count() == other.items().count()
        && same_entries()
        && same_items()
}
