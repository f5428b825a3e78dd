//! Checks the values of a Metachart chart beyond its schema: keys that are not kinds, at the root, under `settings`,
//! under `related` and in `checksums`, and values that are ignored at their location.

use purlin_syntax::Message;
use std::collections::HashSet;

use purlin_syntax::{Diagnostic, Hint};
use purlin_value::{Data, Origin, Session, Value};

use super::kinds::Kinds;
use crate::chart::Chart;
use crate::report::key_span;
use crate::rules;
use purlin_syntax::what;

/// Keys at the root of the values that are no kinds.
pub(crate) const ROOT_KEYS: &[&str] = &["context", "fullnameOverride", "settings", "global"];

/// Deepest nesting that is checked.
const MAX_DEPTH: u32 = purlin_syntax::limits::SCHEMA_LEVELS;

/// Values with reported problems, which get no further reports.
pub type Reported = HashSet<Origin>;

struct Checker<'a> {
    session: &'a Session,
    kinds: &'a Kinds,
    reported: Reported,
}

/// Checks the values.
pub fn check(session: &Session, chart: &Chart, kinds: &Kinds, values: &Value) -> Reported {
    let mut checker = Checker { session, kinds, reported: Reported::new() };
    checker.root(chart, values);
    if let Some(settings) = values.get("settings") {
        checker.settings(settings);
    }
    for resource in kinds.resources.iter().filter(|resource| resource.root) {
        for (name, definition) in entries(values.get(&resource.key)) {
            checker.definition(&resource.key, &format!("{}.{name}", resource.key), definition, true);
        }
    }
    checker.reported
}

/// The entries of a mapping; empty for other values.
fn entries(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let map = value.and_then(Value::as_map).into_iter();
    map.flat_map(|map| map.iter()).map(|(key, value)| (key.as_str(), value))
}

impl Checker<'_> {
    fn root(&mut self, chart: &Chart, values: &Value) {
        let kinds = self.kinds;
        let mut known = ROOT_KEYS.to_vec();
        known.extend(kinds.resources.iter().filter(|resource| resource.root).map(|resource| resource.key.as_str()));
        known.extend(chart.dependencies.iter().map(Chart::name));
        for (key, value) in entries(Some(values)).filter(|(key, _)| !known.contains(key)) {
            match kinds.resource(key) {
                Some(_) => {
                    let message = format!("`{key}` is a kind that is only rendered under `related`");
                    self.unknown(key, value, message, None);
                }
                None => {
                    let hint = purlin_syntax::suggest::did_you_mean(key, known.iter().copied());
                    self.unknown(key, value, what::unknown("kind", key), hint);
                }
            }
        }
    }

    fn settings(&mut self, settings: &Value) {
        let mut known = vec!["global"];
        known.extend(self.kinds.resources.iter().map(|resource| resource.key.as_str()));
        for (kind, value) in entries(Some(settings)) {
            if !known.contains(&kind) {
                let hint = purlin_syntax::suggest::did_you_mean(kind, known.iter().copied());
                self.unknown(kind, value, what::unknown("kind", kind).and(" under `settings`"), hint);
                continue;
            }
            let keys: &[&str] = if kind == "global" { &["labels", "annotations"] } else { &["disabled", "defaults"] };
            for (key, inner) in entries(Some(value)).filter(|(key, _)| !keys.contains(key)) {
                let hint = purlin_syntax::suggest::did_you_mean(key, keys.iter().copied());
                self.unknown(key, inner, what::unknown("key", key).and(format!(" under `settings.{kind}`")), hint);
            }
            if let Some(defaults) = value.get("defaults") {
                self.definition(kind, &format!("settings.{kind}.defaults"), defaults, true);
                if let Some(name) = defaults.at("metadata.name") {
                    self.warn(&name, "`metadata.name` has no effect in `defaults`: every resource has its own name");
                }
            }
        }
    }

    /// One resource, or the defaults of a kind.
    fn definition(&mut self, kind: &str, place: &str, definition: &Value, may_relate: bool) {
        if matches!(definition.data, Data::Str(_) | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::List(_)) {
            let found = purlin_model::validate::type_name(definition);
            let found = if found == "array" { "list" } else { found };
            let message = what::expected("a mapping", format!("a {found}")).under(format!("`{place}` is a resource: "));
            self.error(definition, message, None);
            return;
        }
        self.fixed_keys(kind, definition);
        self.checksums(definition, 0);
        let Some(related) = definition.get("related") else { return };
        if !may_relate {
            let message = format!("`related` of `{place}` is not rendered: it is itself a related resource");
            self.error(related, message, None);
            return;
        }
        for (kind, resources) in entries(Some(related)) {
            if !self.kinds.is_rendered(kind) {
                self.unknown_rendered(kind, resources, &format!("under `{place}.related`"));
                continue;
            }
            for (name, inner) in entries(Some(resources)) {
                self.definition(kind, &format!("{place}.related.{kind}.{name}"), inner, false);
            }
        }
    }

    /// `apiVersion` and `kind`, which the configuration decides on.
    fn fixed_keys(&mut self, kind: &str, definition: &Value) {
        let Some(resource) = self.kinds.resource(kind) else { return };
        for (key, configured) in [("apiVersion", &resource.api_version), ("kind", &resource.kind)] {
            let given = definition.get(key).filter(|value| value.as_str() != Some(configured.as_str()));
            if let Some(value) = given.filter(|_| !configured.is_empty()) {
                self.warn(value, &format!("`{key}` has no effect here: `config/resources.yaml` sets it"));
            }
        }
    }

    /// Every `metadata.checksums` of a resource: its own, and those that a preprocessor builds pods from.
    fn checksums(&mut self, value: &Value, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Data::List(items) = &value.data {
            items.iter().for_each(|item| self.checksums(item, depth + 1));
        }
        for (key, inner) in entries(Some(value)) {
            if key == "related" && depth == 0 {
                continue;
            }
            if let Some(checksums) = Some(inner).filter(|_| key == "metadata").and_then(|inner| inner.get("checksums"))
            {
                for (kind, names) in entries(Some(checksums)) {
                    self.checksum(kind, names);
                }
            }
            self.checksums(inner, depth + 1);
        }
    }

    fn checksum(&mut self, kind: &str, names: &Value) {
        if !self.kinds.is_rendered(kind) {
            self.unknown_rendered(kind, names, "in `checksums`");
            return;
        }
        let is_good = match &names.data {
            Data::Str(text) => text == "*",
            Data::List(items) => items.iter().all(|item| item.as_str().is_some() || item.is_pending()),
            Data::Null | Data::Pending(_) => true,
            _ => false,
        };
        if !is_good {
            let message = format!("`checksums.{kind}`: expected a list of names, or \"*\" for all");
            self.error(names, message, None);
        }
    }

    /// A kind that is not rendered, where only those that are have a meaning.
    fn unknown_rendered(&mut self, kind: &str, value: &Value, place: &str) {
        if self.kinds.resource(kind).is_some() {
            let message =
                format!("kind `{kind}` {place} is not rendered: `config/resources.yaml` says `template: false`");
            self.unknown(kind, value, message, None);
            return;
        }
        let known = self.kinds.rendered.iter().map(|kind| kind.key.as_str());
        let hint = purlin_syntax::suggest::did_you_mean(kind, known);
        self.unknown(kind, value, what::unknown("kind", kind).and(format!(" {place}")), hint);
    }

    fn unknown(&mut self, key: &str, value: &Value, message: impl Into<Message>, hint: Option<Hint>) {
        let mut diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_KEY, message);
        let span = self.session.origins.span(value.origin, &self.session.sources);
        diagnostic.span = span.map(|span| key_span(self.session, key, span).unwrap_or(span));
        self.push(value, diagnostic.maybe_hint(hint));
    }

    fn error(&mut self, value: &Value, message: impl Into<Message>, hint: Option<Hint>) {
        let mut diagnostic = Diagnostic::nowhere(&rules::SCHEMA, message);
        diagnostic.span = self.session.origins.span(value.origin, &self.session.sources);
        self.push(value, diagnostic.maybe_hint(hint));
    }

    fn warn(&mut self, value: &Value, message: &str) {
        let mut diagnostic = Diagnostic::nowhere(&rules::WARNING, message.to_owned());
        diagnostic.span = self.session.origins.span(value.origin, &self.session.sources);
        self.session.sink.push(diagnostic);
    }

    fn push(&mut self, value: &Value, diagnostic: Diagnostic) {
        self.session.sink.push(diagnostic);
        if value.origin.is_known() {
            self.reported.insert(value.origin);
        }
    }
}
