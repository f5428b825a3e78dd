//! Values that a template reads and that are not set, where a similar one is set and not read: most likely one of the
//! two is misspelt. Also fields that Helm's built-in objects do not have: most of them are silently empty. Only the
//! text of templates is examined; names computed while rendering are missed.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use purlin_syntax::suggest::{is_slip, is_typo, may_be_meant, nearest};
use purlin_syntax::{Diagnostic, Findings, Hint, Severity, Source, What};
use purlin_value::{Session, Value};

use crate::chart::Chart;
use crate::report::{ChartYaml, source_of};
use crate::rules;
use crate::trace::template_path;
use crate::unread::strings;
use purlin_syntax::what;

/// Shorter names are too easily similar by chance.
pub(crate) const SHORTEST: usize = 4;

/// A path of values that a template reads: its start in the text, and its names.
struct Read<'t> {
    start: usize,
    /// Whether it is inside a string of the action.
    is_quoted: bool,
    names: Vec<&'t str>,
}

/// The names in a chart's templates, independent of its values.
struct Scan {
    texts: Vec<String>,
    /// For each text, the paths of values that it reads before others do: where they start, and whether in a string.
    reads: Vec<Vec<(usize, bool)>>,
    /// For each text, whether it reads fields that built-in objects do not have.
    has_unknown: Vec<bool>,
}

impl Scan {
    /// The same for all variants of a project, which share the bytes of templates.
    fn of(session: &Session, chart: &Chart) -> Arc<Scan> {
        let bytes = chart.templates.first().map(|file| file.bytes.as_ptr());
        session.in_common(&format!("{} {} {bytes:?}", chart.folder, chart.name()), || Scan::new(chart))
    }

    fn new(chart: &Chart) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let texts: Vec<String> = chart.templates.iter().map(|file| text(&file.bytes)).collect();
        // The same path is read in many places.
        let mut looked = HashSet::new();
        let mut first = |text| {
            let found = reads(text, VALUES).into_iter().filter(|read| looked.insert(read.names.clone()));
            found.map(|read| (read.start, read.is_quoted)).collect()
        };
        let reads = texts.iter().map(|text| first(text.as_str())).collect();
        let has_unknown = texts.iter().map(|text| !unknown_fields(text).is_empty()).collect();
        Scan { reads, has_unknown, texts }
    }
}

/// Warns of values that are read and not set, in the chart's own templates. If `is_whole`, all charts inside are
/// available; otherwise a missing library may read values that are otherwise unread.
pub fn check(session: &Session, chart: &Chart, values: &Value, is_whole: bool, known: &mut Findings) {
    let scan = Scan::of(session, chart);
    let texts = &scan.texts;
    let libraries = OnceCell::new();
    let wholes = OnceCell::new();
    let inner: HashSet<&str> = chart.dependencies.iter().map(Chart::name).collect();
    let declared = chart.metadata.dependencies.iter().map(|one| one.name.as_str());
    let inner: HashSet<&str> = inner.into_iter().chain(declared).chain(["global"]).collect();
    let mut seen = HashSet::new();
    let failed = places(session, known);
    let push = |known: &mut Findings, found: Diagnostic| {
        if !is_reported(session, &failed, &found) {
            known.push(found);
        }
    };
    let mut follows = Follows::default();
    let scanned = scan.reads.iter().zip(&scan.has_unknown);
    for ((file, text), (reads, has_unknown)) in chart.templates.iter().zip(texts).zip(scanned) {
        let source =
            || source_of(session, &template_path(chart, &format!("{}/{}", chart.name(), file.name)), text.clone());
        for unknown in has_unknown.then(|| unknown_fields(text)).into_iter().flatten() {
            // `set .Release "seen" dict` makes one.
            let quoted = format!("\"{}\"", unknown.name);
            if !texts.iter().any(|text| text.contains(&quoted)) {
                let source = source();
                let found = follows.promoted(session, known, unknown.warning(&source), &source);
                push(known, found);
            }
        }
        for &(start, is_quoted) in reads.iter().filter(|_| is_whole) {
            let read = Read { start, is_quoted, names: names_at(text.get(start..).unwrap_or_default()) };
            if read.names.first().is_some_and(|first| inner.contains(first)) {
                continue;
            }
            let Some((depth, near)) = misspelt(&read.names, values) else { continue };
            let path = read.names.get(..=depth).unwrap_or_default().join(".");
            let libraries =
                || libraries.get_or_init(|| chart.dependencies.iter().flat_map(texts_of).collect::<Vec<_>>());
            // The text around a template's actions reads no values: `resources:` is a key of Kubernetes.
            let reads = |text: &String| mentions(text, &near) && is_in_action(text, &near);
            let is_used = || texts.iter().chain(libraries()).any(reads);
            let wholes = || wholes.get_or_init(|| Wholes::of(texts.iter().chain(libraries())));
            let mapping = read.names.get(..depth).unwrap_or_default();
            if !seen.insert(path.clone()) || inner.contains(near.as_str()) {
                continue;
            }
            let is_read = is_used() || wholes().hold(mapping);
            let name = read.names.get(depth).copied().unwrap_or_default();
            // One that is written once, with a letter out of place, is misspelt even if others read the right one.
            if is_read && !(is_typo(name, &near) && is_written_once(texts, name)) {
                continue;
            }
            push(known, warning(&source(), &read, depth, &path, &near, is_read));
        }
    }
}

/// Consequences of a field that a built-in object does not have: documents that are not YAML because its output is
/// empty, and functions with a null argument. The field is the mistake, so it becomes the error.
#[derive(Default)]
struct Follows {
    is_taken: bool,
}

impl Follows {
    fn promoted(
        &mut self,
        session: &Session,
        known: &mut Findings,
        mut found: Diagnostic,
        source: &Source,
    ) -> Diagnostic {
        let line = |at: usize| source.text().get(..at).map_or(0, |before| before.matches('\n').count());
        let own = found.span.map(|span| line(span.start as usize));
        let gone = known.retain(|other| {
            let is_nothing = other.rule == &rules::MANIFEST && other.is_error() && other.what() == &What::Unset;
            let is_here = || {
                let place = other
                    .span
                    .filter(|span| session.sources.get(span.file).is_some_and(|other| other.path() == source.path()));
                place.map(|span| line(span.start as usize)) == own
            };
            !(is_nothing || (other.rule == &rules::TEMPLATE && other.what() == &What::Unset && is_here()))
        });
        self.is_taken |= gone > 0;
        if self.is_taken {
            found.severity = Severity::Error;
        }
        found
    }
}

/// Go's output for nil where a string is expected.
pub(crate) const NOTHING: &str = "%!s(<nil>)";

const VALUES: &str = ".Values.";

/// The fields of Helm's built-in objects, each behind the way to it.
const BUILT_IN: &[(&str, &[&str])] = &[
    (".Release.", &["Name", "Namespace", "IsUpgrade", "IsInstall", "Revision", "Service"]),
    (".Template.", &["Name", "BasePath"]),
    (
        ".Chart.",
        &[
            "Name",
            "Version",
            "AppVersion",
            "APIVersion",
            "KubeVersion",
            "Description",
            "Type",
            "Keywords",
            "Home",
            "Sources",
            "Dependencies",
            "Maintainers",
            "Icon",
            "Condition",
            "Tags",
            "Deprecated",
            "Annotations",
            "IsRoot",
        ],
    ),
    (".Capabilities.", &["KubeVersion", "APIVersions", "HelmVersion"]),
];

/// A field that a built-in object does not have.
struct UnknownField<'t> {
    object: &'static str,
    known: &'static [&'static str],
    name: &'t str,
    start: usize,
}

impl UnknownField<'_> {
    fn warning(&self, source: &Source) -> Diagnostic {
        let (object, name) = (self.object, self.name);
        let span = source.span(self.start, self.start + name.len());
        let same = self.known.iter().find(|known| known.eq_ignore_ascii_case(name)).copied();
        let near = same.or_else(|| nearest(name, self.known.iter().copied()));
        let hint = near.map_or_else(
            || {
                let known: Vec<String> = self.known.iter().map(|known| format!("`{known}`")).collect();
                format!("it has {}", known.join(", ")).into()
            },
            |near| Hint::meant(name, near),
        );
        let message = what::lacking(format!("`{}`", object.trim_end_matches('.')), "field", name);
        Diagnostic::at(&rules::UNKNOWN_FIELD, span, message).hint(hint)
    }
}

/// The fields of built-in objects that a template reads and Helm does not have.
fn unknown_fields(text: &str) -> Vec<UnknownField<'_>> {
    let mut found = Vec::new();
    for (object, known) in BUILT_IN {
        // Nearly all templates use existing fields; the others are checked again, action by action.
        let is_unknown = |at: usize| {
            let names = names_at(text.get(at + object.len()..).unwrap_or_default());
            names.first().is_some_and(|name| !known.contains(name))
        };
        if !text.match_indices(object).any(|(at, _)| is_unknown(at)) {
            continue;
        }
        for read in reads(text, object) {
            let before = text.get(..read.start - object.len()).and_then(|text| text.chars().next_back());
            // `.Values.x.Release.y` is a value.
            if read.is_quoted || before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')')) {
                continue;
            }
            if let Some(name) = read.names.first().filter(|name| !known.contains(name)) {
                found.push(UnknownField { object, known, name, start: read.start });
            }
        }
    }
    found
}

/// The templates of a chart and of those inside it: a library reads the values of the charts that use it.
pub(crate) fn texts_of(chart: &Chart) -> Vec<String> {
    let own = chart.templates.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    own.chain(chart.dependencies.iter().flat_map(texts_of)).collect()
}

/// Mappings that templates read as a whole: they are handed on, written out or gone through, so that each of their keys
/// is read without its name.
#[derive(Default)]
struct Wholes {
    mappings: HashSet<String>,
    /// Whether that holds for all values.
    all: bool,
}

/// Functions that access keys of a mapping whose names are not in the text.
const REACHING: [&str; 9] = ["range", "toYaml", "toJson", "keys", "values", "index", "get", "pick", "omit"];

impl Wholes {
    fn of<'t>(texts: impl Iterator<Item = &'t String>) -> Self {
        let mut found = Wholes::default();
        for text in texts {
            for action in actions(text) {
                let first = action.text.trim_start_matches(['-', ' ', '\n', '\t']).split_whitespace().next();
                // A test does not read its operand, and inside `with` keys have their names.
                if matches!(first, Some("if" | "else" | "with")) {
                    continue;
                }
                for (at, root) in action.text.match_indices(VALUES.trim_end_matches('.')) {
                    let behind = action.text.get(at + root.len()..).unwrap_or_default();
                    let names = behind.strip_prefix('.').map(names_at).unwrap_or_default();
                    if !names.is_empty() {
                        found.mappings.insert(names.join("."));
                    } else if !behind.starts_with(|c: char| c.is_alphanumeric()) {
                        found.all |= REACHING.iter().any(|word| mentions(action.text, word));
                    }
                }
            }
        }
        found
    }

    /// Whether a mapping, or one around it, is read as a whole.
    fn hold(&self, names: &[&str]) -> bool {
        self.all || (1..=names.len()).any(|end| self.mappings.contains(&names.get(..end).unwrap_or_default().join(".")))
    }
}

/// Functions that make do with a value that is not set.
const LENIENT: [&str; 9] = ["default", "coalesce", "if", "with", "or", "empty", "hasKey", "ternary", "required"];

/// Warns of values that are read in strings of other values and not set, where a similar one is set: in a Metachart
/// chart strings are templates.
pub fn check_strings(session: &Session, values: &Value) {
    let mut seen = HashSet::new();
    strings(values, &mut |text, value| {
        for action in actions(text).into_iter().filter(|action| !LENIENT.iter().any(|word| mentions(action.text, word)))
        {
            for (at, _) in action.text.match_indices(VALUES) {
                let names = names_at(action.text.get(at + VALUES.len()..).unwrap_or_default());
                let Some((depth, near)) = misspelt(&names, values) else { continue };
                let is_meant = names.get(depth).is_some_and(|name| is_slip(name, &near));
                let path = names.get(..=depth).unwrap_or_default().join(".");
                // A missing mapping makes the template fail, which is sufficient.
                if !is_meant || depth + 1 < names.len() || !seen.insert(path.clone()) {
                    continue;
                }
                let message = what::about([path.as_str()], format!("no values file sets `{path}`"));
                let mut found = Diagnostic::nowhere(&rules::UNSET, message)
                    .hint(Hint::meant(names.get(depth).copied().unwrap_or_default(), near));
                found.span = session.origins.span(value.origin, &session.sources);
                session.sink.push(found);
            }
        }
    });
}

/// Warns of conditions that name no value, so that the chart inside is always on. Of several that are given for one
/// chart the first that is set counts.
pub fn check_conditions(session: &Session, folder: &str, chart: &Chart, values: &Value) {
    for dependency in &chart.metadata.dependencies {
        let conditions: Vec<Vec<&str>> =
            dependency.condition.split(',').map(|one| one.trim().split('.').collect()).collect();
        if conditions.iter().any(|names| is_set(names, values)) {
            continue;
        }
        for names in conditions {
            let Some((depth, near)) = misspelt(&names, values) else { continue };
            if !names.get(depth).is_some_and(|name| is_slip(name, &near)) {
                continue;
            }
            let path = names.join(".");
            let message =
                what::about([&path], format!("no values file sets `{path}`, so this condition has no effect"));
            let mut found = Diagnostic::nowhere(&rules::UNSET, message)
                .hint(Hint::meant(names.get(depth).copied().unwrap_or_default(), near));
            found.span = ChartYaml { session, folder }.dependency_key(dependency, "condition");
            session.sink.push(found);
        }
    }
}

fn is_set(names: &[&str], values: &Value) -> bool {
    let mut current = Some(values);
    for name in names {
        current = current.and_then(|value| value.as_map()).and_then(|map| map.get(*name));
    }
    current.is_some()
}

/// Locations of reports: a value that is not set may also make a template fail, which is sufficient.
fn places(session: &Session, known: &Findings) -> HashMap<String, Vec<(u32, u32)>> {
    let mut places: HashMap<String, Vec<(u32, u32)>> = HashMap::new();
    for span in known.iter().filter_map(|diagnostic| diagnostic.span) {
        if let Some(source) = session.sources.get(span.file) {
            places.entry(source.path().to_owned()).or_default().push((span.start, span.end));
        }
    }
    places
}

/// Maximum number of problems of one file that are compared with others; longer reports are not read.
const MOST_PLACES: usize = 1_000;

/// Whether a problem is at the location of a report, or inside it.
fn is_reported(session: &Session, places: &HashMap<String, Vec<(u32, u32)>>, found: &Diagnostic) -> bool {
    let Some(span) = found.span else { return false };
    let Some(source) = session.sources.get(span.file) else { return false };
    let inside = |(start, end): &(u32, u32)| *start <= span.start && (span.start == *start || span.end <= *end);
    places.get(source.path()).is_some_and(|spans| spans.iter().take(MOST_PLACES).any(inside))
}

fn warning(source: &Source, read: &Read<'_>, depth: usize, path: &str, near: &str, is_read: bool) -> Diagnostic {
    let before: usize = read.names.iter().take(depth).map(|name| name.len() + 1).sum();
    let start = read.start + before;
    let length = read.names.get(depth).map_or(1, |name| name.len());
    let unread = if is_read { String::new() } else { format!(", and no template reads `{near}`") };
    let message = what::about([path], format!("no values file sets `{path}`{unread}"));
    let span = source.span(start, start + length);
    let name = read.names.get(depth).copied().unwrap_or_default();
    Diagnostic::at(&rules::UNSET, span, message).hint(Hint::meant(name, near))
}

/// Whether templates have a name as a whole word in one place only.
fn is_written_once(texts: &[String], name: &str) -> bool {
    texts.iter().map(|text| words_like(text, name).take(2).count()).sum::<usize>() == 1
}

/// The first name of a path that is not set, by its place, and a name beside it that is similar.
fn misspelt(names: &[&str], values: &Value) -> Option<(usize, String)> {
    let mut current = values;
    for (depth, name) in names.iter().enumerate() {
        let map = current.as_map()?;
        if let Some(inner) = map.get(*name) {
            current = inner;
            continue;
        }
        if name.len() < SHORTEST {
            return None;
        }
        let near = nearest(name, map.keys().map(|key| key.as_str())).filter(|near| may_be_meant(name, near))?;
        return Some((depth, near.to_owned()));
    }
    None
}

/// Every path behind `root`, such as `.Values.a.b`, in the actions of a template.
fn reads<'t>(text: &'t str, root: &str) -> Vec<Read<'t>> {
    let mut found = Vec::new();
    for action in actions(text) {
        let mut strings = Strings::default();
        for (at, _) in action.text.match_indices(root) {
            let start = at + root.len();
            let names = names_at(action.text.get(start..).unwrap_or_default());
            if !names.is_empty() {
                let is_quoted = strings.hold(action.text, at);
                found.push(Read { start: action.start + start, is_quoted, names });
            }
        }
    }
    found
}

/// An action of a template, without its braces, with its start.
struct Action<'t> {
    start: usize,
    text: &'t str,
}

/// The actions of a template that are no comments.
fn actions(text: &str) -> Vec<Action<'_>> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text.get(rest..).and_then(|tail| tail.find("{{")).map(|at| rest + at + 2) {
        let body = text.get(start..).unwrap_or_default();
        let is_comment = body.trim_start_matches('-').trim_start().starts_with("/*");
        let length = body.find(if is_comment { "*/" } else { "}}" }).unwrap_or(body.len());
        if !is_comment {
            found.push(Action { start, text: body.get(..length).unwrap_or_default() });
        }
        rest = start + length + 2;
    }
    found
}

/// Tells where strings of an action are, going through it once.
#[derive(Default)]
struct Strings {
    at: usize,
    open: Option<char>,
    escaped: bool,
}

impl Strings {
    /// Whether a place, behind all earlier requested ones, is inside a string.
    fn hold(&mut self, action: &str, place: usize) -> bool {
        for c in action.get(self.at..place).unwrap_or_default().chars() {
            match (self.open, c) {
                (Some('"'), _) if self.escaped => self.escaped = false,
                (Some('"'), '\\') => self.escaped = true,
                (Some(quote), _) if quote == c => self.open = None,
                (None, '"' | '`') => self.open = Some(c),
                _ => {}
            }
        }
        self.at = place;
        self.open.is_some()
    }
}

fn names_at(text: &str) -> Vec<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(text.len());
    text.get(..end).unwrap_or_default().split('.').take_while(|name| !name.is_empty()).collect()
}

/// Whether an action of a template has a name as a whole word.
fn is_in_action(text: &str, name: &str) -> bool {
    actions(text).iter().any(|action| mentions(action.text, name))
}

/// Whether a text has a name as a whole word.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    words_like(text, name).next().is_some()
}

/// The places where a text has a name as a whole word.
fn words_like<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_word = move |at: &usize| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    text.match_indices(name).map(|(at, _)| at).filter(is_word)
}
