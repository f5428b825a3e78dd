//! Reports why a chart cannot be rendered, in the user's words: the rule, the location in a template or values file,
//! and the whole chain of templates that led there.

use purlin_syntax::Message;
use purlin_syntax::What;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use purlin_gotmpl::{Cause, ExecError, Fault, Limit};
use purlin_model::validate::{Fault as Unmet, Problem, is_address};
use purlin_syntax::{Diagnostic, Flavor, Hint, Node, Rule, RuleClass, Source, Span, suggest};
use purlin_value::{EcoString, Origin, Session, Value, path};

use crate::chart::{Chart, Dependency};
use crate::context::origin_of;
use crate::dependencies::lookup;
use crate::engine::RenderError;
use crate::load::About;
use crate::manifest::{Broken, Unfit};
use crate::template::TemplateError;
use crate::trace::{Tracer, Woven, span_in, template_path};
use crate::{rules, schema, unset, words};
use purlin_syntax::what;

/// Longest message of a template that is shown; some quote whole values.
const MAX_MESSAGE: usize = 2_000;

/// Most levels of a chain of templates that a message shows.
const MAX_TRACE: usize = 20;

/// The `Chart.yaml` of a chart, for locations in it. Read again only for errors.
pub struct ChartYaml<'s> {
    /// The run.
    pub session: &'s Session,
    /// The folder or archive of the chart.
    pub folder: &'s str,
}

impl ChartYaml<'_> {
    /// Adds the location of a key to the diagnostic, or of the first key if it is missing. A chart in an archive has no
    /// file to point at, so the message names the chart instead.
    pub fn locate(&self, mut diagnostic: Diagnostic, path: &[&str]) -> Diagnostic {
        diagnostic.span = self.with_root(|root| span_of(root, path)).flatten().or_else(|| self.start());
        if diagnostic.span.is_none() {
            diagnostic.message = format!("{}: {}", self.folder, diagnostic.message);
        }
        diagnostic
    }

    /// Location of a dependency's declaration.
    fn dependency(&self, name: &str) -> Option<Span> {
        let declared = |root: Node<'_>| {
            let mut entries = root.get("dependencies")?.items();
            let entry = entries.find(|entry| entry.get("name").is_some_and(|value| value.text() == name))?;
            entry.get("name").map(|value| value.span())
        };
        let files = ["Chart.yaml", "requirements.yaml"];
        files.into_iter().find_map(|file| self.with_root_of(file, declared).flatten())
    }

    /// The value of a key of a dependency, which several aliases may share a name with.
    pub fn dependency_key(&self, dependency: &Dependency, key: &str) -> Option<Span> {
        // An aliased chart is identified by its alias.
        let is_it = |entry: &Node<'_>| {
            let text = |key: &str| entry.get(key).map(|value| value.text().to_owned()).unwrap_or_default();
            let (name, alias) = (text("name"), text("alias"));
            if alias.is_empty() {
                name == dependency.name
            } else {
                alias == dependency.alias || alias == dependency.name
            }
        };
        let declared = |root: Node<'_>| {
            let entry = root.get("dependencies")?.items().find(is_it)?;
            entry.get(key).map(|value| value.span())
        };
        let files = ["Chart.yaml", "requirements.yaml"];
        files.into_iter().find_map(|file| self.with_root_of(file, declared).flatten())
    }

    fn with_root<T>(&self, read: impl FnOnce(Node<'_>) -> T) -> Option<T> {
        self.with_root_of("Chart.yaml", read)
    }

    /// The first character of a file that has no keys to point at.
    fn start(&self) -> Option<Span> {
        let source = self.source("Chart.yaml")?;
        Some(source.span(0, source.text().chars().next().map_or(0, char::len_utf8)))
    }

    /// A `Chart.yaml` that is not YAML, with the location of the error.
    fn unreadable(&self, rule: &'static Rule, error: &TemplateError) -> Diagnostic {
        let tree = self.source("Chart.yaml").map(|source| {
            let tree = purlin_syntax::yaml::parse(source, Flavor::Go, &self.session.limits);
            tree.diagnostics().first().cloned()
        });
        match tree.flatten() {
            Some(problem) => {
                let message = format!("`Chart.yaml` is not valid YAML: {}", problem.message);
                Diagnostic { span: problem.span, hints: problem.hints, ..Diagnostic::nowhere(rule, message) }
            }
            None => self.locate(Diagnostic::nowhere(rule, error.message.clone()), &["name"]),
        }
    }

    fn source(&self, file: &str) -> Option<Arc<Source>> {
        let path = purlin_value::path::normalize(&format!("{}/{file}", self.folder));
        let bytes = self.session.world.read(&path).ok()?;
        Some(source_of(self.session, &path, purlin_gotmpl::value::text_of(&bytes).into_owned()))
    }

    fn with_root_of<T>(&self, file: &str, read: impl FnOnce(Node<'_>) -> T) -> Option<T> {
        let source = self.source(file)?;
        let tree = purlin_syntax::yaml::parse(source, Flavor::Go, &self.session.limits);
        tree.root().map(read)
    }
}

/// The file as it was registered before, or registered now: a file counts once, however often it is looked at.
pub(crate) fn source_of(session: &Session, path: &str, text: String) -> Arc<Source> {
    session.sources.known(path, &text).unwrap_or_else(|| session.sources.insert(path, text))
}

/// The value under a path, or the first key of the deepest mapping on the way.
fn span_of(root: Node<'_>, path: &[&str]) -> Option<Span> {
    let mut node = root;
    for key in path {
        match node.get(key) {
            Some(value) => node = value,
            None => return node.entries().next().map(|entry| entry.key.span()),
        }
    }
    Some(node.span())
}

/// The problem of dependencies that are missing, and how many templates could not be rendered without them. Those
/// nearby were read from the folders beside their names.
pub fn missing_dependencies(
    session: &Session,
    place: &ChartYaml<'_>,
    missing: &[String],
    nearby: &[(String, String)],
    failed: usize,
) -> Option<Diagnostic> {
    // Under several aliases it is still one chart. A missing name is reported elsewhere.
    let mut seen: HashSet<&str> = HashSet::from([""]);
    let names = nearby.iter().map(|(name, _)| name).chain(missing);
    let names: Vec<&String> = names.filter(|name| seen.insert(name.as_str())).collect();
    let first = names.first()?;
    let list = |names: &[&String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let (noun, verb) = if names.len() == 1 { ("dependency", "is") } else { ("dependencies", "are") };
    let mut message = format!("{noun} {} {verb} missing from `charts/`", list(&names));
    let it = if names.len() == 1 { "it" } else { "them" };
    if !nearby.is_empty() {
        let folders: Vec<String> = nearby.iter().map(|(_, folder)| session.sources.shown(folder)).collect();
        let charts = if folders.len() == 1 { "chart" } else { "charts" };
        message.push_str(&format!("; checked with the {charts} in {}", list(&folders.iter().collect::<Vec<_>>())));
    }
    match failed {
        0 => {}
        1 => message.push_str(&format!("; 1 template depends on {it} and was not rendered")),
        many => message.push_str(&format!("; {many} templates depend on {it} and were not rendered")),
    }
    let mut diagnostic = Diagnostic::nowhere(&rules::DEPENDENCY, message);
    match place.dependency(first) {
        Some(span) => diagnostic.span = Some(span),
        None => diagnostic = place.locate(diagnostic, &["dependencies"]),
    }
    let folder = session.sources.shown(place.folder);
    Some(diagnostic.hint(format!("fetch {it} with `purlin helm dependency build {folder}`")))
}

/// Reports the templates that failed. An error in a common partial is reported once.
pub fn report_failed(session: &Session, chart: &Chart, values: &Value, failed: &[ExecError]) {
    let mut seen = HashSet::new();
    for error in failed {
        let last = error.innermost();
        if seen.insert((last.file.clone(), last.offset, last.origin, last.fault.go_text())) {
            report_exec(session, chart, Some(values), error);
        }
    }
}

/// Reports a rendered document that is not a manifest, at the line of the template that printed it.
pub fn report_broken(session: &Session, tracer: &Tracer<'_>, text: Option<&Arc<Woven>>, broken: &Broken) {
    let problem = match &broken.unfit {
        Unfit::Yaml(problem) => problem,
        Unfit::Shape { field, found, is_mapping } => {
            return report_shape(session, tracer, text, broken, (field, found, *is_mapping));
        }
    };
    let hint = problem.hints.first().cloned();
    let hint = hint.unwrap_or_else(|| "compare the indentation with what `purlin helm template --debug` prints".into());
    let line = text.map(|text| line_of(&text.bytes, broken.start + broken.at)).unwrap_or_default();
    let (plain, hint) = match line.contains(unset::NOTHING) {
        true => {
            let words = format!("`{}` is what is printed for a value that is not set", unset::NOTHING);
            (Message::new(What::Unset).words(words), "set the value".into())
        }
        false => (problem.message.clone().into(), hint),
    };
    let message = plain.clone().under("this renders to invalid YAML: ");
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message).hint(hint);
    diagnostic.span = text.and_then(|text| tracer.span_of_text(text, broken.start + broken.at));
    if diagnostic.span.is_none() {
        diagnostic.message = format!("{} renders to invalid YAML: {plain}", broken.path);
    }
    session.sink.push(diagnostic);
}

/// Reports a document whose head has another shape.
fn report_shape(
    session: &Session,
    tracer: &Tracer<'_>,
    text: Option<&Arc<Woven>>,
    broken: &Broken,
    (field, found, is_mapping): (&str, &str, bool),
) {
    let Some(said) = words::unfit_manifest(field, found, is_mapping) else { return };
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, said.message).hint(said.hint);
    let start = broken.start + broken.at;
    let start = text.and_then(|text| head_key(text.bytes.get(start..)?, field)).map_or(start, |at| start + at);
    diagnostic.span = text.and_then(|text| tracer.span_of_text(text, start));
    if diagnostic.span.is_none() {
        diagnostic.message = format!("{}: {}", broken.path, diagnostic.message);
    }
    session.sink.push(diagnostic);
}

/// The place of a key of a manifest's head, `metadata` or `metadata.annotations`, in block style.
fn head_key(document: &[u8], field: &str) -> Option<usize> {
    let mut wanted = field.split('.').peekable();
    let mut at = 0;
    for line in document.split_inclusive(|byte| *byte == b'\n') {
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        let name = *wanted.peek()?;
        let is_it = line.get(blanks..)?.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b":"));
        // The keys of the head are the first of their names; others of the kind are further in.
        if is_it && (blanks == 0) == (name == "metadata" || !field.contains('.')) {
            wanted.next();
            if wanted.peek().is_none() {
                return Some(at + blanks);
            }
        }
        at += line.len();
    }
    None
}

/// The line of a text that a place is in.
fn line_of(text: &[u8], at: usize) -> String {
    let start = text.get(..at).and_then(|before| before.iter().rposition(|byte| *byte == b'\n')).map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).into_owned()
}

/// Reports values that do not match the schema of their chart, except those with earlier reports.
pub fn report_values(
    session: &Session,
    place: &ChartYaml<'_>,
    chart: &str,
    problems: &[(String, Problem)],
    reported: &HashSet<Origin>,
) {
    let location = Location { place, chart };
    for (name, problem) in problems {
        let field = problem.at.trim_start_matches('/').replace('/', ".");
        if let Unmet::Additional { keys, known } = &problem.fault {
            let under = if field.is_empty() { String::new() } else { format!(" under `{field}`") };
            for key in keys {
                let value = problem.value.get(key);
                if value.is_some_and(|value| reported.contains(&value.origin)) {
                    continue;
                }
                let message = what::unknown("key", key).and(format!("{under} in the values of `{name}`"));
                let mut diagnostic = Diagnostic::nowhere(&rules::SCHEMA, message);
                let span = value.and_then(|value| session.origins.span(value.origin, &session.sources));
                diagnostic.span = span.map(|span| key_span(session, key, span).unwrap_or(span));
                let near = purlin_syntax::suggest::did_you_mean(key, known.iter().map(|name| name.as_str()));
                let hint = near.unwrap_or_else(|| "remove it; the schema does not allow further keys".into());
                session.sink.push(diagnostic.hint(hint));
            }
            continue;
        }
        if reported.contains(&problem.value.origin) {
            continue;
        }
        let place = if field.is_empty() { format!("the values of `{name}`") } else { format!("`{field}` of `{name}`") };
        let message = schema::message_for_people(problem);
        let mut diagnostic = Diagnostic::nowhere(&rules::SCHEMA, format!("{place}: {message}"));
        let at = schema::culprit(problem);
        let span = |value: &Value| session.origins.span(value.origin, &session.sources);
        // A key missing at the root of all values is shown at the first of them.
        let first = || problem.value.as_map()?.iter().find_map(|(key, value)| key_span(session, key, span(value)?));
        diagnostic.span = span(at).or_else(first);
        if diagnostic.span.is_none() {
            diagnostic = location.of_values(diagnostic, name, problem);
        }
        for cause in &problem.causes {
            diagnostic.message.push_str(&format!("; {}", schema::message_for_people(cause)));
        }
        diagnostic = session.written_here(diagnostic.hint(schema::hint(problem)), at.origin);
        session.sink.push(diagnostic);
    }
}

/// Location of values that have none of their own, because they are merged from several files or missing.
struct Location<'p> {
    place: &'p ChartYaml<'p>,
    /// The name of the chart that the place is.
    chart: &'p str,
}

impl Location<'_> {
    /// Points at the key in the chart's `values.yaml`, or at the first key of the mapping that it is missing from.
    fn of_values(&self, diagnostic: Diagnostic, name: &str, problem: &Problem) -> Diagnostic {
        let missing = match &problem.fault {
            Unmet::Missing(keys) => keys.first().map(EcoString::as_str),
            _ => None,
        };
        // The values of a chart inside are below its name.
        let above = (name != self.chart).then_some(name);
        let keys = above.into_iter().chain(problem.at.split('/').filter(|key| !key.is_empty())).chain(missing);
        let keys: Vec<&str> = keys.collect();
        let span = self.place.with_root_of("values.yaml", |root| key_of(root, &keys)).flatten();
        match span {
            Some(span) => Diagnostic { span: Some(span), ..diagnostic },
            None => self.place.locate(diagnostic, &["name"]),
        }
    }
}

/// The last key of a path, or the first key of the deepest mapping on the way.
fn key_of(root: Node<'_>, path: &[&str]) -> Option<Span> {
    let (last, outer) = path.split_last()?;
    let mut node = root;
    for key in outer {
        match node.get(key).filter(|value| value.entries().next().is_some()) {
            Some(value) => node = value,
            None => break,
        }
    }
    let mut entries = node.entries();
    let first = entries.next()?;
    let named = std::iter::once(first).chain(entries).find(|entry| entry.name() == *last);
    Some(named.unwrap_or(first).key.span())
}

/// Reports external references of schemas, once for each, where the chart's own schema has them.
pub fn report_elsewhere(session: &Session, place: &ChartYaml<'_>, chart: &Chart, elsewhere: &[(String, EcoString)]) {
    let path = path::join(place.folder, "values.schema.json");
    let text = chart.schema.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let source = text.filter(|_| !elsewhere.is_empty()).map(|text| source_of(session, &path, text));
    let mut seen = HashSet::new();
    for (name, reference) in elsewhere {
        // One schema that is split into files is one mistake.
        if !is_address(reference) && !seen.insert(name) {
            continue;
        }
        let message = format!(
            "the schema of `{name}` refers to `{reference}`, which is not read: values are not checked against it"
        );
        let hint = "copy the definition into the schema";
        let diagnostic = Diagnostic::nowhere(&rules::SCHEMA, message).hint(hint);
        // A network address may work for users with access; files beside a schema are not found by Helm either.
        let diagnostic = if is_address(reference) { diagnostic.warning() } else { diagnostic };
        let own = source.as_ref().filter(|_| name == chart.name());
        let start = own.and_then(|source| Some((source, source.text().find(reference.as_str())?)));
        session.sink.push(match start {
            Some((source, start)) => {
                Diagnostic { span: Some(source.span(start, start + reference.len())), ..diagnostic }
            }
            None => place.locate(diagnostic, &["name"]),
        });
    }
}

/// Location of a value's key, which is right before it.
pub fn key_span(session: &Session, key: &str, value: Span) -> Option<Span> {
    session.sources.key_before(key, value)
}

/// Reports why a chart cannot be rendered.
pub fn report(session: &Session, folder: &str, chart: Option<&Chart>, error: &TemplateError) {
    let place = ChartYaml { session, folder };
    let top = chart.map(|chart| chart.name().to_owned());
    let top = top.or_else(|| place.with_root(|root| Some(root.get("name")?.text().to_owned())).flatten());
    report_values(session, &place, top.as_deref().unwrap_or_default(), &error.problems, &HashSet::new());
    if !error.problems.is_empty() {
        return;
    }
    match (&error.render, chart) {
        (Some(RenderError::Exec(failed)), Some(chart)) => report_exec(session, chart, None, failed),
        (Some(RenderError::Parse(problem)), Some(chart)) => {
            report_unreadable(session, chart, problem);
        }
        _ => {
            session.sink.push(located(&place, error));
        }
    }
}

/// Reports a template that cannot be parsed, at the exact part if it can be found.
fn report_unreadable(session: &Session, chart: &Chart, problem: &purlin_gotmpl::ParseError) {
    let text = template_text(chart, &problem.file);
    let offset: usize = text.split_inclusive('\n').take(problem.line.saturating_sub(1) as usize).map(str::len).sum();
    let line = text.get(offset..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let span = span_in(session, chart, &problem.file, &text, offset);
    let Some(said) = words::unreadable(&problem.what, line, &text) else {
        let hint = "compare with the template language: `{{ function argument | function }}`";
        session.sink.push(Diagnostic::at(&rules::SYNTAX, span, problem.message.clone()).hint(hint));
        return;
    };
    // Go names the line where parsing stopped; a block that is still open began further up.
    let part = said.part.as_deref();
    let at = part.and_then(|part| action_part(&text, offset, line, part));
    let start = span.start.saturating_sub(u32::try_from(offset).unwrap_or(u32::MAX));
    let span = at.map_or(span, |(from, to)| {
        let place = |at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        Span { start: place(from), end: place(to), ..span }
    });
    session.sink.push(Diagnostic::at(&rules::SYNTAX, span, said.message).hint(said.hint));
}

/// Location of a part of an action: in the line, after its `{{`, or else in the last action above that starts with it.
fn action_part(text: &str, offset: usize, line: &str, part: &str) -> Option<(usize, usize)> {
    let after = line.find("{{").unwrap_or(0);
    let in_line = line.get(after..)?.find(part).map(|at| offset + after + at);
    let above = || {
        let starts = text.get(..offset)?.rmatch_indices("{{").map(|(at, _)| at);
        let mut keywords = starts.filter_map(|at| {
            let inner = text.get(at + 2..)?;
            let skipped = inner.len() - inner.trim_start_matches(['-', ' ']).len();
            inner.get(skipped..)?.starts_with(part).then_some(at + 2 + skipped)
        });
        keywords.next()
    };
    let start = in_line.or_else(above)?;
    Some((start, start + part.len()))
}

/// An error with the location of its subject.
fn located(place: &ChartYaml<'_>, error: &TemplateError) -> Diagnostic {
    let rule = error.rule.unwrap_or(&rules::LOAD);
    match &error.about {
        About::Metadata(key, message) => {
            let is_missing = matches!(message.what(), What::Missing { .. });
            let hint = match *key {
                _ if !is_missing => None,
                "version" => Some("add `version:`, for example `version: 0.1.0`".to_owned()),
                "apiVersion" => Some("add `apiVersion: v2`".to_owned()),
                key => Some(format!("add `{key}:`")),
            };
            let hint = hint.or_else(|| (*key == "type").then(|| "write `application` or `library`".to_owned()));
            let hint = hint.or_else(|| (*key == "version").then(|| "write three numbers, such as `0.1.0`".to_owned()));
            let misspelt = |root: Node<'_>| {
                let mut keys = root.entries().map(|entry| entry.key);
                let is_known = |written: &Node<'_>| crate::metadata::KEYS.contains(&written.text());
                let near =
                    keys.find(|key_node| !is_known(key_node) && suggest::nearest(key_node.text(), [*key]).is_some())?;
                Some((near.text().to_owned(), near.span()))
            };
            if let Some((name, span)) = place.with_root(misspelt).flatten().filter(|_| is_missing) {
                let message = what::unknown("key", &name).and(" in `Chart.yaml`");
                return Diagnostic::at(&rules::METADATA, span, message).hint(Hint::meant(name, *key));
            }
            let diagnostic = Diagnostic::nowhere(&rules::METADATA, message.clone()).maybe_hint(hint);
            place.locate(diagnostic, &[key])
        }
        About::Set(setting) => {
            let message = format!("a value of the release `{}` cannot be set: {}", setting.release, setting.reason);
            let hint = match setting.has_comma {
                true => "a comma starts the next value; write `\\,` for a comma in a value",
                false => "write a name with dots between nested names",
            };
            Diagnostic::at(rule, setting.span, message).hint(hint)
        }
        About::DefaultValues | About::DefaultShape => default_values(place, error, rule),
        About::Schema(stopped) => place.locate(stopped.diagnostic(), &["name"]),
        // Problems of options or of the release have no location in the chart.
        About::Given(plain) => Diagnostic::nowhere(rule, plain.clone()).maybe_hint(error.hint),
        About::Absent if place.start().is_some() => {
            let hint = "it is a link to a missing file; correct or remove it";
            place.locate(Diagnostic::nowhere(rule, error.message.clone()), &["name"]).hint(hint)
        }
        About::Absent => {
            let hint = "correct the path; it is relative to the working directory";
            Diagnostic::nowhere(rule, error.message.clone()).hint(hint)
        }
        About::ChartFile => place.unreadable(rule, error),
        About::ChartShape => {
            let message = "`Chart.yaml`: expected a mapping at the top".to_owned();
            place.locate(Diagnostic::nowhere(rule, message), &["name"]).hint("write `key: value` lines")
        }
        About::Version { wanted, have } => {
            let message = format!("this chart requires Kubernetes `{wanted}`, and is rendered for {have}");
            let hint = "correct `kubeVersion`, or render it for your cluster with `purlin helm template --kube-version VERSION`";
            place.locate(Diagnostic::nowhere(rule, message).hint(hint), &["kubeVersion"])
        }
        About::Subchart { name, found } => {
            let said = words::subchart(name, found);
            place.locate(Diagnostic::nowhere(rule, said.message).hint(said.hint), &["name"])
        }
        About::Chart => {
            place.locate(Diagnostic::nowhere(rule, error.message.clone()).maybe_hint(error.hint), &["name"])
        }
    }
}

/// Default values that cannot be read, or are no mapping.
fn default_values(place: &ChartYaml<'_>, error: &TemplateError, rule: &'static Rule) -> Diagnostic {
    let path = purlin_value::path::normalize(&format!("{}/values.yaml", place.folder));
    let mut diagnostic = Diagnostic::nowhere(rule, error.message.clone());
    let Ok(bytes) = place.session.world.read(&path) else {
        diagnostic.message = format!("{}: {}", place.folder, error.message);
        return diagnostic;
    };
    let text = purlin_gotmpl::value::text_of(&bytes).into_owned();
    let source = source_of(place.session, &path, text);
    if rule.class == RuleClass::Limit {
        diagnostic.span = Some(source.span(0, 1));
        return diagnostic;
    }
    let tree = purlin_syntax::yaml::parse(source.clone(), Flavor::Go, &place.session.limits);
    match tree.diagnostics().first() {
        Some(problem) if rule.name == rules::LOAD.name => {
            diagnostic.span = problem.span;
            diagnostic.message = format!("`values.yaml` is not valid YAML: {}", problem.message);
            diagnostic.hints.clone_from(&problem.hints);
        }
        Some(problem) => diagnostic.span = problem.span,
        None => diagnostic.span = Some(source.span(0, 1)),
    }
    if error.about == About::DefaultShape {
        diagnostic.message = "`values.yaml`: expected a mapping at the top".to_owned();
        diagnostic = diagnostic.hint("write `key: value` lines");
    }
    diagnostic
}

fn template_text(chart: &Chart, name: &str) -> String {
    fn find<'c>(chart: &'c Chart, path: &str, name: &str) -> Option<&'c [u8]> {
        let inner = name.strip_prefix(path)?.strip_prefix('/')?;
        if let Some(file) = chart.templates.iter().find(|file| file.name == inner) {
            return Some(&file.bytes);
        }
        chart.dependencies.iter().find_map(|child| find(child, &format!("{path}/charts/{}", child.name()), name))
    }
    find(chart, chart.name(), name).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// Spans of levels of a chain, each file registered once.
struct Levels<'s> {
    session: &'s Session,
    chart: &'s Chart,
    files: HashMap<String, Option<Arc<Source>>>,
}

impl Levels<'_> {
    fn span(&mut self, level: &ExecError) -> Option<Span> {
        let (session, chart) = (self.session, self.chart);
        let known = self.files.entry(level.file.clone()).or_insert_with(|| {
            let text = template_text(chart, &level.file);
            (!text.is_empty()).then(|| source_of(session, &template_path(chart, &level.file), text))
        });
        let source = known.as_ref()?;
        let offset = level.offset as usize;
        let line = source.text().get(offset..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        // The exact expression if it is written as parsed; otherwise up to the end of the action.
        let node = level.node.as_str();
        let action = line.find("}}").map_or(line.len(), |end| line.get(..end).unwrap_or(line).trim_end().len());
        let length = if line.starts_with(node) { node.len() } else { action.min(200) };
        Some(source.span(offset, offset + length.max(1)))
    }
}

impl Levels<'_> {
    /// The span of a part of a level's expression, given by its bytes in it; Go's own place may be in its middle.
    fn span_in_node(&mut self, level: &ExecError, part: std::ops::Range<usize>) -> Option<Span> {
        self.span(level)?;
        let source = self.files.get(&level.file)?.as_ref()?;
        let at = level.offset as usize;
        let line_start = source.text().get(..at)?.rfind('\n').map_or(0, |at| at + 1);
        let line = source.text().get(line_start..)?.lines().next()?;
        let nodes = line.match_indices(level.node.as_str()).map(|(start, _)| line_start + start);
        let start = nodes.filter(|start| (*start..*start + level.node.len()).contains(&at)).last()?;
        Some(source.span(start + part.start, start + part.end))
    }
}

/// A value that a template reads and that is not set.
struct Unset {
    message: Message,
    hint: Hint,
    /// The name that is not set, as bytes of the expression.
    name: std::ops::Range<usize>,
}

/// Go reports a nil pointer if a value on the path is missing; this finds which one.
fn unset_value(session: &Session, last: &ExecError, chart: &Chart, values: Option<&Value>) -> Option<Unset> {
    let Fault::Cause(cause) = &last.fault else { return None };
    let Cause::NilPointer { field: wanted } = &**cause else { return None };
    let node = last.node.as_str();
    let parts: Vec<&str> = node.split('.').collect();
    let at = parts.iter().position(|part| part == wanted).filter(|at| *at > 1)?;
    let missing = parts.get(..at)?.join(".");
    let message = what::missing("value", missing.trim_start_matches('$'))
        .words(format!("`{missing}` is not set, so `{node}` cannot be read"));
    let file = session.sources.shown(&purlin_value::path::normalize(&format!("{}/values.yaml", chart.folder)));
    let Some((_, keys)) = missing.split_once("Values.") else {
        let hint = words::built_in(&missing)?.into();
        let name = missing.rsplit('.').next().unwrap_or_default();
        let name = missing.len() - name.len()..missing.len();
        return Some(Unset {
            message: format!("`{missing}` does not exist, so `{node}` cannot be read").into(),
            hint,
            name,
        });
    };
    let (outer, name) = keys.rsplit_once('.').unwrap_or(("", keys));
    let around = values.and_then(|values| if outer.is_empty() { Some(values) } else { lookup(values, outer) });
    let known = around.and_then(Value::as_map).map(|map| map.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>());
    let near = known.and_then(|known| purlin_syntax::suggest::did_you_mean(name, known));
    let hint =
        near.unwrap_or_else(|| format!("set `{keys}` in `{file}`, or test for it with `if` or `default`").into());
    Some(Unset { message, hint, name: missing.len() - name.len()..missing.len() })
}

fn report_exec(session: &Session, chart: &Chart, values: Option<&Value>, error: &ExecError) {
    let levels = error.chain();
    let last = error.innermost();
    let rule = match (error.limit(), error.stop_message()) {
        (Some(limit), _) => limit_rule(limit),
        (None, Some(_)) => &rules::FAILED,
        (None, None) => match &last.fault {
            Fault::Cause(cause) if matches!(**cause, Cause::TooManyIncludes(_)) => &purlin_value::rules::LIMIT_INCLUDES,
            _ => &rules::TEMPLATE,
        },
    };
    let calling = last
        .function
        .as_ref()
        .filter(|_| error.stop_message().is_none())
        .map(|name| format!("`{name}`: "))
        .unwrap_or_default();
    let mut message = format!("{calling}{}", last.fault.go_text().trim());
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    let unset = unset_value(session, last, chart, values);
    let mut places = Levels { session, chart, files: HashMap::new() };
    let mut diagnostic = match unset {
        Some(unset) => {
            let mut diagnostic = Diagnostic::nowhere(rule, unset.message).hint(unset.hint);
            diagnostic.span = places.span_in_node(last, unset.name);
            diagnostic
        }
        None => plain_words(chart, &mut places, error, last, rule, message),
    };
    // The innermost level that has a file; strings rendered by `tpl` have none.
    diagnostic.span = diagnostic.span.or_else(|| levels.iter().rev().find_map(|level| places.span(level)));
    if last.line == 0 && !last.file.is_empty() {
        diagnostic.message = format!("{}: {}", last.file, diagnostic.message);
    }
    let placed =
        levels.iter().rev().filter(|level| level.line > 0).filter_map(|level| Some((level, places.span(level)?)));
    for (level, span) in placed.take(MAX_TRACE) {
        diagnostic = diagnostic.through(span, format!("in `{}` at `{}`", level.template, level.node));
    }
    let value = levels.iter().rev().map(|level| level.origin).find(|origin| *origin != 0);
    if let Some(origin) = value.map(origin_of) {
        diagnostic.span = diagnostic.span.or_else(|| session.origins.span(origin, &session.sources));
        diagnostic = session.written_here(diagnostic, origin);
    }
    session.sink.push(diagnostic);
}

/// A failed template in plain words where they are known.
fn plain_words(
    chart: &Chart,
    places: &mut Levels<'_>,
    error: &ExecError,
    last: &ExecError,
    rule: &'static Rule,
    message: String,
) -> Diagnostic {
    if error.stop_message().is_some() {
        let hint = "the chart's author wrote this message; set the value it asks for";
        let diagnostic = Diagnostic::nowhere(rule, message);
        // A problem without a file was reported by the pipeline of Metachart.
        return if last.line > 0 { diagnostic.hint(hint) } else { diagnostic };
    }
    let texts: Vec<String> = template_texts(chart);
    let defined =
        texts.iter().flat_map(|text| text.split("define \"").skip(1)).filter_map(|rest| rest.split('"').next());
    let Some(said) = words::failed(&last.fault, &last.node, last.function.as_deref(), defined) else {
        return Diagnostic::nowhere(rule, message);
    };
    let mut diagnostic = Diagnostic::nowhere(rule, said.message).hint(said.hint);
    let part = said.part.and_then(|part| Some((last.node.rfind(&part)?, part.len())));
    diagnostic.span = part.and_then(|(at, length)| places.span_in_node(last, at..at + length));
    diagnostic
}

/// The texts of all templates of a chart and its dependencies.
fn template_texts(chart: &Chart) -> Vec<String> {
    let own = chart.templates.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    own.chain(chart.dependencies.iter().flat_map(template_texts)).collect()
}

pub(crate) fn limit_rule(limit: Limit) -> &'static Rule {
    match limit {
        Limit::Fuel => &purlin_value::rules::LIMIT_FUEL,
        Limit::Heap => &purlin_value::rules::LIMIT_MEMORY,
        Limit::Depth => &purlin_syntax::rules::LIMIT_DEPTH,
        Limit::Output => &purlin_value::rules::LIMIT_OUTPUT,
        Limit::Text => &purlin_value::rules::LIMIT_STRING,
        Limit::Regex => &purlin_value::rules::LIMIT_REGEX,
        Limit::Read(rule) => rule,
        Limit::Items => &purlin_value::rules::LIMIT_LIST,
    }
}
