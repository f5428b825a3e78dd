//! A reported problem: one type for all dialects and phases.
//!
//! A diagnostic is plain data. Its layout is up to the printers in [`crate::print`].

use crate::credentials::without_credentials;
use crate::hint::Hint;
use crate::rules::LIMIT_PROBLEMS;
use crate::source::{FileId, Span};
use crate::what::{self, Message, OTHER, What};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake; the result is still valid.
    Warning,
    /// The configuration is invalid.
    Error,
}

/// Effect of a diagnostic on the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleClass {
    /// The configuration is invalid (exit code 1).
    Invalid,
    /// A limit was hit (exit code 3).
    Limit,
    /// Something was not allowed (exit code 4).
    Denied,
    /// A file could not be read or written (exit code 5).
    Io,
}

/// A named rule. Each crate lists its own as `RULES`; every rule has a page under `docs/rules`.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable kebab-case name.
    pub name: &'static str,
    /// Severity unless a diagnostic says otherwise.
    pub severity: Severity,
    /// Effect on the exit code.
    pub class: RuleClass,
    /// One sentence.
    pub summary: &'static str,
    /// Hint for messages that have none of their own.
    pub advice: Option<&'static str>,
    /// Kind of thing its messages refer to.
    pub about: About,
    /// The part of the file that is not read because of it.
    pub loses: Loses,
    /// Whether its problems depend on the text alone, so that any variant of a project may report them.
    pub is_of_text: bool,
}

/// Kind of thing the messages of a rule refer to, as far as it decides whether one mistake is reported twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Anything else.
    Anything,
    /// A missing key. It may be misspelt, or in a part of a file that could not be read.
    Missing,
    /// A value that is not set, of something that users name.
    Value,
    /// An unknown name. It may be declared in a part of a file that could not be read.
    Name,
}

/// The part of a file that is not read because of a problem, so that its names are unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loses {
    /// Nothing.
    Nothing,
    /// The key at the location, and its value.
    Entry,
    /// The mapping around the location.
    Entity,
    /// Everything after the location.
    Rest,
}

impl Rule {
    const fn new(name: &'static str, severity: Severity, class: RuleClass, summary: &'static str) -> Self {
        Rule {
            name,
            severity,
            class,
            summary,
            advice: None,
            about: About::Anything,
            loses: Loses::Nothing,
            is_of_text: false,
        }
    }

    /// A rule about invalid configuration.
    pub const fn error(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, Severity::Error, RuleClass::Invalid, summary)
    }

    /// A rule about suspicious configuration.
    pub const fn warning(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, Severity::Warning, RuleClass::Invalid, summary)
    }

    /// A rule about a limit.
    pub const fn limit(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, Severity::Error, RuleClass::Limit, summary)
    }

    /// A rule about a missing permission.
    pub const fn denied(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, Severity::Error, RuleClass::Denied, summary)
    }

    /// A rule about input and output.
    pub const fn io(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, Severity::Error, RuleClass::Io, summary)
    }

    /// Sets the hint for messages that have none of their own.
    pub const fn advice(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Sets the part of a file that is not read because of it.
    pub const fn loses(mut self, loses: Loses) -> Self {
        self.loses = loses;
        self
    }

    /// Marks its problems as the same in every variant of a project.
    pub const fn of_text(mut self) -> Self {
        self.is_of_text = true;
        self
    }

    /// Sets the kind of thing its messages refer to.
    pub const fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }
}

/// Relation of a further location to a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// It explains the problem.
    Note,
    /// The same word is wrong there.
    Use,
    /// The wrong value was written there.
    Origin,
    /// The wrong value is a part of it.
    Around,
}

/// A location with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The location.
    pub span: Span,
    /// The message.
    pub message: String,
    /// Its relation to the problem.
    pub relation: Relation,
}

impl Label {
    /// A location that explains a problem.
    pub fn note(span: Span, message: impl Into<String>) -> Self {
        Label { span, message: message.into(), relation: Relation::Note }
    }
}

/// Start of a comment that suppresses a problem of its line.
pub const IGNORE_MARK: &str = "purlin: ignore";

/// One problem, or one note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The rule it comes from.
    pub rule: &'static Rule,
    /// Its severity.
    pub severity: Severity,
    /// Its location, if it is in a file.
    pub span: Option<Span>,
    /// The message, in the user's words, with keys in backticks. Only printers read it: see [`Diagnostic::what`].
    pub message: String,
    /// The data behind the message.
    pub what: Option<Box<What>>,
    /// Further relevant locations.
    pub labels: Vec<Label>,
    /// Remedies.
    pub hints: Vec<Hint>,
    /// The chain of imports, templates and parents that led here, innermost first.
    pub trace: Vec<Label>,
    /// Number of the project it was found in, among those checked together; 0 if there is only one.
    pub project: u32,
    /// Origin of the wrong value, as bits, if it concerns one; the table of origins has its location.
    pub value: Option<u32>,
    /// Bytes at the end of the message that name the variants of the project that it is limited to.
    pub limited: usize,
}

impl Diagnostic {
    /// A diagnostic at a location.
    pub fn at(rule: &'static Rule, span: Span, message: impl Into<Message>) -> Self {
        let mut diagnostic = Self::nowhere(rule, message);
        diagnostic.span = Some(span);
        diagnostic
    }

    /// The files it points at.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        let further = self.labels.iter().chain(&self.trace).map(|label| label.span.file);
        self.span.map(|span| span.file).into_iter().chain(further)
    }

    /// All of its locations.
    pub fn spans_mut(&mut self) -> impl Iterator<Item = &mut Span> {
        let further = self.labels.iter_mut().chain(&mut self.trace).map(|label| &mut label.span);
        self.span.iter_mut().chain(further)
    }

    /// Reports that there are more problems than are kept.
    pub fn too_many(most: usize) -> Self {
        let message = format!("there are more than the {most} problems that are kept");
        Diagnostic::nowhere(&LIMIT_PROBLEMS, message)
    }

    /// A diagnostic that belongs to no file.
    pub fn nowhere(rule: &'static Rule, message: impl Into<Message>) -> Self {
        let (message, what, hint) = message.into().into_parts();
        Diagnostic {
            rule,
            severity: rule.severity,
            span: None,
            message,
            what,
            labels: Vec::new(),
            hints: hint.into_iter().collect(),
            trace: Vec::new(),
            project: 0,
            value: None,
            limited: 0,
        }
    }

    /// The problem as data.
    pub fn what(&self) -> &What {
        self.what.as_deref().unwrap_or(&OTHER)
    }

    /// Replaces the message, keeping the location.
    pub fn says(&mut self, message: impl Into<Message>) {
        let (message, what, hint) = message.into().into_parts();
        (self.message, self.what) = (message, what);
        self.hints.extend(hint);
    }

    /// Adds a further location.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label::note(span, message));
        self
    }

    /// Adds the location of something that the wrong value is a part of.
    pub fn around(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { relation: Relation::Around, ..Label::note(span, message) });
        self
    }

    /// A cycle, `WHAT: a → b → a`: located at the first member, with a label at every other one.
    pub fn cycle<N: std::fmt::Display>(rule: &'static Rule, what: &str, members: &[(N, Option<Span>)]) -> Self {
        let way: Vec<String> = members.iter().chain(members.first()).map(|(name, _)| name.to_string()).collect();
        let mut diagnostic = Self::nowhere(rule, what::cycle(way).under(format!("{what}: ")));
        diagnostic.span = members.first().and_then(|(_, span)| *span);
        for (name, span) in members.iter().skip(1) {
            if let Some(span) = *span {
                diagnostic = diagnostic.label(span, format!("`{name}` is part of the cycle"));
            }
        }
        diagnostic
    }

    /// Adds the location that wrote the wrong value.
    pub fn written(mut self, span: Span) -> Self {
        self.labels.push(Label { relation: Relation::Origin, ..Label::note(span, "written here") });
        self
    }

    /// Names the wrong value, by the bits of its origin.
    pub fn of_value(mut self, origin: u32) -> Self {
        self.value = Some(origin);
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds an optional hint.
    pub fn maybe_hint(mut self, hint: Option<impl Into<Hint>>) -> Self {
        self.hints.extend(hint.map(Into::into));
        self
    }

    /// Adds a step to the trace.
    pub fn through(mut self, span: Span, message: impl Into<String>) -> Self {
        self.trace.push(Label::note(span, message));
        self
    }

    /// The same as a warning, overriding its rule.
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Whether it makes the configuration invalid.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// All of its texts.
    fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let labels = self.labels.iter_mut().chain(&mut self.trace).map(|label| &mut label.message);
        let names = self.what.iter_mut().flat_map(|what| what.texts_mut());
        std::iter::once(&mut self.message).chain(names).chain(self.hints.iter_mut().map(Hint::text_mut)).chain(labels)
    }
}

/// The findings of one piece of work: see [`Sink::apart`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[must_use = "findings that are not handed on are lost"]
pub struct Findings(Vec<Diagnostic>);

impl Findings {
    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|diagnostic| diagnostic.is_error()).count()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds the findings of further work for the same owner.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// All of them, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.0.iter_mut()
    }

    /// Keeps those for which a question is true; returns how many were removed.
    pub fn retain(&mut self, question: impl FnMut(&Diagnostic) -> bool) -> usize {
        let before = self.0.len();
        self.0.retain(question);
        before - self.0.len()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'f> IntoIterator for &'f Findings {
    type Item = &'f Diagnostic;
    type IntoIter = std::slice::Iter<'f, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Replacement for a secret.
pub const REDACTED: &str = "(secret)";

/// Secrets shorter than this are common syllables: they are hidden only where they are the whole of a quoted text.
const SHORTEST: usize = 3;

/// Collects diagnostics from any thread. A problem that is reported twice is kept once.
///
/// The reader of a secret passes its text to [`Sink::hide`]; no diagnostic that leaves the sink shows it, whatever
/// code wrote the message.
#[derive(Default, Debug)]
pub struct Sink {
    found: Mutex<Found>,
    /// Number of diagnostics received. Evaluation reads it before and after every value, so it needs no lock.
    pushed: AtomicUsize,
}

#[derive(Default, Debug)]
struct Found {
    kept: Vec<Diagnostic>,
    /// Limit on the number kept, if any.
    most: Option<usize>,
    seen: HashSet<(&'static str, Option<Span>, String)>,
    hidden: HashSet<String>,
    /// Total bytes of all accepted texts.
    bytes: usize,
}

impl Found {
    fn push(&mut self, mut diagnostic: Diagnostic) {
        match self.most {
            Some(most) if self.kept.len() == most => diagnostic = Diagnostic::too_many(most),
            Some(most) if self.kept.len() > most => return,
            _ => {}
        }
        let longest = if self.bytes < MOST_BYTES { LONGEST } else { LONGEST_OF_MANY };
        for text in diagnostic.texts_mut() {
            shorten(text, longest);
            self.bytes += text.len();
        }
        diagnostic.hints.iter_mut().for_each(Hint::settle);
        if self.seen.insert((diagnostic.rule.name, diagnostic.span, diagnostic.message.clone())) {
            self.kept.push(diagnostic);
        }
    }

    /// The diagnostics with secrets hidden.
    fn shown(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for text in diagnostics.iter_mut().flat_map(Diagnostic::texts_mut) {
            if let Some(hidden) = without_credentials(text, REDACTED) {
                *text = hidden;
            }
        }
        if self.hidden.is_empty() || diagnostics.is_empty() {
            diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.hints).for_each(Hint::settle);
            return diagnostics;
        }
        let secrets = Secrets::of(&self.hidden);
        for text in diagnostics.iter_mut().flat_map(Diagnostic::texts_mut) {
            if let Some(hidden) = secrets.hidden_in(text) {
                *text = hidden;
            }
            if text.len() > LONGEST_OF_MANY && text.ends_with(CUT) {
                secrets.hide_cut(text);
            }
        }
        diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.hints).for_each(Hint::settle);
        diagnostics
    }
}

/// Texts to search for, in a time that does not depend on their number.
struct Secrets<'s> {
    texts: &'s HashSet<String>,
    /// Their first bytes.
    heads: HashSet<&'s [u8]>,
    /// Their lengths, longest first, so that nothing is left of a secret that contains another one.
    lengths: Vec<usize>,
}

impl<'s> Secrets<'s> {
    fn of(texts: &'s HashSet<String>) -> Self {
        let heads = texts.iter().map(|text| head(text.as_bytes())).collect();
        let mut lengths: Vec<usize> = texts.iter().map(String::len).collect();
        lengths.sort_unstable_by_key(|length| Reverse(*length));
        lengths.dedup();
        Secrets { texts, heads, lengths }
    }

    /// A text without secrets; `None` if it has none. A short secret must be the whole of a quoted text.
    fn hidden_in(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let (mut kept, mut at) = (0, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            match self.found_at(text, at) {
                Some(length) => {
                    out.push_str(text.get(kept..at).unwrap_or_default());
                    out.push_str(REDACTED);
                    at += length;
                    kept = at;
                }
                None => at += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
        if kept == 0 {
            return None;
        }
        out.push_str(text.get(kept..).unwrap_or_default());
        Some(out)
    }

    /// Hides the remainder of a secret where a text was cut.
    fn hide_cut(&self, text: &mut String) {
        let start = |secret: &String| {
            let end = (SHORTEST..=CUT_HEAD).rev().find(|end| secret.is_char_boundary(*end));
            end.and_then(|end| secret.get(..end)).and_then(|start| text.rfind(start))
        };
        let at = match self.texts.len() {
            // Too many to search for one by one.
            CUT_SECRETS.. => Some(0),
            _ => self.texts.iter().filter_map(start).min(),
        };
        if let Some(at) = at {
            text.truncate(at);
            text.push_str(REDACTED);
        }
    }

    /// The length of the longest secret that begins at a place.
    fn found_at(&self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes().get(at..).unwrap_or_default();
        if !(1..=HEAD).any(|length| bytes.get(..length).is_some_and(|head| self.heads.contains(head))) {
            return None;
        }
        let is_quoted = |length: usize| {
            text.get(..at).is_some_and(|before| before.ends_with('`')) && bytes.get(length) == Some(&b'`')
        };
        let is_there = |length: &usize| {
            text.get(at..at + *length).is_some_and(|part| self.texts.contains(part))
                && (*length >= SHORTEST || is_quoted(*length))
        };
        self.lengths.iter().copied().find(is_there)
    }
}

/// Longer messages are cut: they are unreadable, and many of them would exhaust memory.
const LONGEST: usize = 16 << 10;

/// Total size of messages after which each further one is cut much sooner.
const MOST_BYTES: usize = 8 << 20;
const LONGEST_OF_MANY: usize = 400;
/// Replaces the cut-off rest.
const CUT: char = '…';

fn shorten(text: &mut String, longest: usize) {
    if text.len() > longest {
        let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push(CUT);
        text.shrink_to_fit();
    }
}

/// Length of the secret prefixes searched for in a cut text, and the number of secrets from which all of it is hidden.
const CUT_HEAD: usize = 16;
const CUT_SECRETS: usize = 1_000;

/// Number of bytes of a secret that are compared first.
const HEAD: usize = 3;

fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..HEAD).unwrap_or(bytes)
}

impl Sink {
    /// An empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// A sink that keeps at most this many, and reports that there are more.
    pub fn of_at_most(most: u64) -> Self {
        let most = Some(usize::try_from(most).unwrap_or(usize::MAX));
        Sink { found: Mutex::new(Found { most, ..Found::default() }), ..Self::default() }
    }

    /// Adds a diagnostic.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.extend([diagnostic]);
    }

    /// Hides this text of a secret from now on.
    pub fn hide(&self, secret: &str) {
        if secret.trim().is_empty() {
            return;
        }
        let mut found = self.lock();
        if !found.hidden.contains(secret) {
            found.hidden.insert(secret.to_owned());
        }
    }

    /// The hidden texts, in order.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets: Vec<String> = self.lock().hidden.iter().cloned().collect();
        secrets.sort_unstable();
        secrets
    }

    /// Adds several.
    pub fn extend(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        let mut found = self.lock();
        for diagnostic in diagnostics {
            self.pushed.fetch_add(1, Ordering::Relaxed);
            found.push(diagnostic);
        }
    }

    /// Runs a piece of work with findings of its own: they are returned instead of kept, and the work does not see
    /// earlier findings. The caller decides what becomes of them; usually it passes them to [`Sink::extend`].
    pub fn apart<T>(&self, work: impl FnOnce() -> T) -> (T, Findings) {
        let before = {
            let mut found = self.lock();
            (std::mem::take(&mut found.kept), std::mem::take(&mut found.seen), self.pushed())
        };
        let done = work();
        let mut found = self.lock();
        let own = std::mem::replace(&mut found.kept, before.0);
        found.seen = before.1;
        self.pushed.store(before.2, Ordering::Relaxed);
        let own = found.shown(own);
        (done, Findings(own))
    }

    /// The findings of a sink that served one piece of work.
    pub fn into_findings(self) -> Findings {
        Findings(self.take())
    }

    /// The findings of a finished run, for its caller.
    pub fn hand_on(&self) -> Vec<Diagnostic> {
        self.take()
    }

    /// Runs a piece of work, keeps its findings, and returns whether one of them is an error.
    pub fn succeeds<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        let (done, findings) = self.apart(work);
        let is_sound = !findings.has_errors();
        self.extend(findings);
        (done, is_sound)
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.lock().kept.iter().any(Diagnostic::is_error)
    }

    /// Number of diagnostics of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.lock().kept.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    /// Whether a question is true of one of them.
    pub fn any(&self, question: impl Fn(&Diagnostic) -> bool) -> bool {
        self.lock().kept.iter().any(question)
    }

    /// Whether a rule was already reported at a place.
    pub fn has_at(&self, rule: &Rule, span: Span) -> bool {
        self.lock().kept.iter().any(|diagnostic| diagnostic.rule.name == rule.name && diagnostic.span == Some(span))
    }

    /// Number of diagnostics.
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Number of diagnostics received, duplicates included.
    pub fn pushed(&self) -> usize {
        self.pushed.load(Ordering::Relaxed)
    }

    /// Diagnostics that arrived after the first `len`.
    pub fn since(&self, len: usize) -> Vec<Diagnostic> {
        let found = self.lock();
        found.shown(found.kept.get(len..).unwrap_or(&[]).to_vec())
    }

    /// Sets the project of the diagnostics that arrived after the first `len`.
    pub fn belong_to(&self, project: u32, len: usize) {
        let mut found = self.lock();
        found.kept.iter_mut().skip(len).for_each(|diagnostic| diagnostic.project = project);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them in order of arrival; the caller sorts by location, since file ids depend on the order of reading.
    pub fn take(&self) -> Vec<Diagnostic> {
        let mut found = self.lock();
        found.seen.clear();
        self.pushed.store(0, Ordering::Relaxed);
        let kept = std::mem::take(&mut found.kept);
        found.shown(kept)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Found> {
        // A panic elsewhere must not hide the diagnostics found so far.
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISTAKE: Rule = Rule::error("mistake", "A mistake.");

    #[test]
    fn a_hidden_text_leaves_in_no_part_of_a_diagnostic() {
        let sink = Sink::new();
        let place = Span::new(crate::FileId(0), 0, 0);
        let said = |text: &str| Diagnostic::nowhere(&MISTAKE, text).hint(text).through(place, text);
        sink.push(said("no chart at `./hunter2-long`, nor at hunter2"));
        ["hunter2", "hunter2-long", "ab", ""].into_iter().for_each(|secret| sink.hide(secret));
        let early = sink.since(0);
        assert_eq!(early, [said("no chart at `./(secret)`, nor at (secret)")]);
        assert_eq!(sink.take(), early);
        sink.push(said("`ab` in a table"));
        assert_eq!(sink.take(), [said("`(secret)` in a table")]);
    }

    #[test]
    fn a_long_text_is_cut_and_what_is_left_of_a_secret_is_hidden() {
        let sink = Sink::new();
        let long = format!("{}{}", "é".repeat(LONGEST / 2 - 10), "hunter2-hunter3".repeat(3));
        sink.push(Diagnostic::nowhere(&MISTAKE, long));
        sink.hide(&"hunter2-hunter3".repeat(3));
        let shown = sink.take().remove(0).message;
        assert!(shown.len() <= LONGEST + REDACTED.len() && !shown.contains("hunter"), "{shown}");
    }

    #[test]
    fn work_apart_returns_its_findings_and_leaves_others_alone() {
        let sink = Sink::new();
        let said = |text: &str| Diagnostic::nowhere(&MISTAKE, text);
        sink.push(said("earlier"));
        let (sees_errors, findings) = sink.apart(|| {
            let before = sink.has_errors();
            // The same mistake may be found twice: the sink that receives both keeps one.
            sink.push(said("earlier"));
            sink.push(said("own"));
            before
        });
        assert!(!sees_errors && findings.has_errors());
        assert_eq!((sink.len(), sink.pushed()), (1, 1));
        sink.extend(findings);
        assert_eq!(sink.since(0), [said("earlier"), said("own")]);
        let ((), is_sound) = sink.succeeds(|| sink.push(said("a warning").warning()));
        assert!(is_sound && sink.len() == 3);
    }

    #[test]
    fn many_secrets_are_hidden_at_once() {
        let sink = Sink::new();
        (0..100_000).for_each(|at| sink.hide(&format!("secret-{at}")));
        (0..1_000).for_each(|at| sink.push(Diagnostic::nowhere(&MISTAKE, format!("secret-{at} and secret-x"))));
        assert!(sink.take().iter().all(|found| found.message == "(secret) and secret-x"));
    }

    #[test]
    fn passwords_of_addresses_are_hidden() {
        let sink = Sink::new();
        sink.push(Diagnostic::nowhere(&MISTAKE, "`https://me:hunter2@host/x` could not be fetched"));
        assert_eq!(sink.take().remove(0).message, "`https://me:(secret)@host/x` could not be fetched");
    }
}
