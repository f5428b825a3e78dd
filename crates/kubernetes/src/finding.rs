//! Problems of objects, and the locations that caused them.
//!
//! A value is traced through templates, merges and defaults to the line that wrote it; the location that put it into
//! the object is a label. The same line is reported once, however many objects it reaches.

use crate::here::Here;
use purlin_syntax::{Diagnostic, Hint, Label, Rule, Severity, Span};
use purlin_value::{Origin, OriginKind, Session};
use std::collections::HashMap;

/// Location of a problem.
#[derive(Clone, Debug)]
pub enum Spot {
    /// A value.
    Value(Origin),
    /// The key of a value.
    Key(String, Origin),
}

/// A problem of one object.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its rule.
    pub rule: &'static Rule,
    /// Its severity.
    pub severity: Severity,
    /// Its location.
    pub spot: Spot,
    /// Its subject: `` `spec.replicas` ``.
    pub subject: String,
    /// The object: `Deployment/web`.
    pub object: String,
    /// The message, as it follows after the object.
    pub wrong: String,
    /// The remedy.
    pub hint: Option<Hint>,
    /// Whether a string was found instead of another type, or the other way round.
    pub is_text: Option<bool>,
    /// Another relevant location, and its relation to this one.
    pub other: Option<(Origin, String)>,
}

impl Finding {
    /// A problem with the value at a path.
    pub fn value(rule: &'static Rule, here: &Here<'_, '_>, object: &str, wrong: impl Into<String>) -> Self {
        let spot = Spot::Value(here.value.origin);
        Finding::of(rule, spot, format!("`{here}`"), object, wrong.into())
    }

    /// A problem with the key at a path.
    pub fn key(rule: &'static Rule, here: &Here<'_, '_>, object: &str, wrong: impl Into<String>) -> Self {
        let spot = match here.last_key() {
            Some((key, value)) => Spot::Key(key.to_owned(), value.origin),
            None => Spot::Value(here.value.origin),
        };
        Finding::of(rule, spot, format!("`{here}`"), object, wrong.into())
    }

    /// A problem with an entry, shown at its key.
    pub fn of(rule: &'static Rule, spot: Spot, subject: String, object: &str, wrong: String) -> Self {
        let object = object.to_owned();
        Finding { rule, severity: rule.severity, spot, subject, object, wrong, hint: None, is_text: None, other: None }
    }

    /// The same as a warning.
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with an optional hint.
    pub fn maybe_hint(mut self, hint: Option<Hint>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

/// The locations that a value passed through.
struct Way {
    /// The one that put it into the object: an expression of a template, or the line itself.
    last: Option<Span>,
    /// The one that wrote it.
    first: Option<Span>,
}

impl Way {
    /// If a template quotes a number, or prints a quoted string without its quotes, the template itself is wrong.
    fn settle(&mut self, session: &Session, is_text: Option<bool>) {
        let (Some(is_text), Some(first)) = (is_text, self.first) else { return };
        let Some(source) = session.sources.get(first.file) else { return };
        let written = source.text().get(first.start as usize..first.end as usize).unwrap_or_default();
        if written.starts_with(['"', '\'']) != is_text && (!is_text || is_plain_other(written)) {
            self.first = self.last;
        }
    }
}

/// Whether an unquoted text is a number or a boolean.
fn is_plain_other(text: &str) -> bool {
    text.parse::<f64>().is_ok() || matches!(text, "true" | "false")
}

/// A chain is as long as the nested templates; the bound only guards against a cycle.
const MOST_STEPS: usize = 200;

fn way(session: &Session, origin: Origin) -> Way {
    let mut found = Way { last: None, first: None };
    let mut origin = origin;
    for _ in 0..MOST_STEPS {
        let (span, next) = session.origins.look(origin, &session.sources, |kind| match kind {
            OriginKind::File(span) => (Some(*span), None),
            OriginKind::Default { span, .. } => (*span, None),
            OriginKind::Derived { span, pieces, .. } => match pieces.as_slice() {
                [one] => (*span, Some(one.origin)),
                _ => (*span, None),
            },
            OriginKind::Chosen { winner, .. } => (None, Some(*winner)),
            OriginKind::Selected { taken, .. } => (None, Some(*taken)),
            OriginKind::Parent { from, .. } => (None, Some(*from)),
            _ => (None, None),
        });
        found.last = found.last.or(span);
        found.first = span.or(found.first);
        match next {
            Some(next) => origin = next,
            None => break,
        }
    }
    // A text of several parts: the location of the whole, or of the first part.
    if found.first.is_none() {
        found.first = session.origins.span(origin, &session.sources);
        found.last = found.last.or(found.first);
    }
    found
}

/// Findings at the same line.
struct Group {
    finding: Finding,
    way: Way,
    objects: Vec<String>,
}

/// Objects beyond these are only counted.
const NAMED: usize = 1;

/// Findings as diagnostics, each line once.
pub fn diagnostics(session: &Session, findings: Vec<Finding>) -> Vec<Diagnostic> {
    type Identity = (&'static str, Option<Span>, String, String);
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for finding in findings {
        let mut way = place(session, &finding.spot);
        way.settle(session, finding.is_text);
        let last_word = finding.subject.rsplit(['.', '`']).find(|word| !word.is_empty()).unwrap_or_default();
        let identity = (finding.rule.name, way.first, last_word.to_owned(), finding.wrong.clone());
        let at = match known.get(&identity).filter(|_| way.first.is_some()) {
            Some(at) => *at,
            None => {
                known.insert(identity, groups.len());
                let objects = Vec::new();
                groups.push(Group { finding: finding.clone(), way, objects });
                groups.len() - 1
            }
        };
        if let Some(group) = groups.get_mut(at)
            && !group.objects.contains(&finding.object)
        {
            group.objects.push(finding.object);
        }
    }
    groups.into_iter().map(|group| group.told(session)).collect()
}

/// The locations of a value: the line that wrote it, and the one that put it into an object.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The line that wrote it.
    pub first: Option<Span>,
    /// The expression that used it, if that is another line.
    pub last: Option<Span>,
}

/// The locations of a value or key.
pub fn route(session: &Session, spot: &Spot) -> Route {
    let way = place(session, spot);
    let line = |span: Span| session.sources.get(span.file).map(|source| (span.file, source.line_start(span.start)));
    let is_elsewhere = |span: &Span| way.first.is_none_or(|first| line(first) != line(*span));
    Route { first: way.first, last: way.last.filter(is_elsewhere) }
}

/// The location shown for a finding.
fn place(session: &Session, spot: &Spot) -> Way {
    match spot {
        Spot::Value(origin) => way(session, *origin),
        Spot::Key(key, origin) => {
            let key = session.origins.key_place(*origin, key, &session.sources);
            match key.or_else(|| session.origins.span(*origin, &session.sources)) {
                Some(span) => Way { last: Some(span), first: Some(span) },
                None => way(session, *origin),
            }
        }
    }
}

impl Group {
    fn told(self, session: &Session) -> Diagnostic {
        let Group { finding, way, objects } = self;
        let named: Vec<String> = objects.iter().take(NAMED).map(|object| format!("`{object}`")).collect();
        let more = match objects.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => " and one more object".to_owned(),
            more => format!(" and {more} more objects"),
        };
        let message = format!("{} in {}{more}{}", finding.subject, named.join(", "), finding.wrong);
        let mut diagnostic = Diagnostic::nowhere(finding.rule, message).maybe_hint(finding.hint);
        diagnostic.severity = finding.severity;
        diagnostic.span = way.first;
        let line = |span: Span| session.sources.get(span.file).map(|source| (span.file, source.line_start(span.start)));
        let is_elsewhere = |span: &Span| way.first.is_none_or(|first| line(first) != line(*span));
        if let Some(last) = way.last.filter(is_elsewhere) {
            diagnostic.labels.push(Label::note(last, "used here"));
        }
        if let Some((origin, what)) = finding.other
            && let Some(span) = self::way(session, origin).first.filter(is_elsewhere)
        {
            diagnostic.labels.push(Label::note(span, what));
        }
        diagnostic
    }
}
