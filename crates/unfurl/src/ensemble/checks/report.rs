//! Evaluation's errors as diagnostics, at their location in the file.

use crate::error::{Error, Kind};
use crate::rules;
use purlin_syntax::{Diagnostic, Message, Rule, Severity, Span};
use purlin_value::{Origin, Session};

/// The rule of a kind of error.
pub fn rule(kind: Kind) -> &'static Rule {
    match kind {
        Kind::Syntax => &rules::SYNTAX,
        Kind::Missing | Kind::Undefined => &rules::UNKNOWN,
        Kind::Type => &rules::TYPE,
        Kind::Value => &rules::VALUE,
        Kind::Invalid => &rules::INVALID,
        Kind::Refused => &rules::REFUSED,
        Kind::Io => &rules::FILE,
        Kind::Limit => &rules::LIMIT,
        Kind::Cycle | Kind::RequiredCycle => &rules::CYCLE,
        // Neither is reported here: the value itself carries the reason.
        Kind::Pending | Kind::Reported => &rules::VALUE,
    }
}

/// An error as a diagnostic.
pub fn diagnostic(session: &Session, error: &Error) -> Diagnostic {
    let rule = error.limit.unwrap_or(rule(error.kind));
    let hint = error.hint.clone().or_else(|| usual_hint(error.kind).map(Into::into));
    let mut diagnostic = Diagnostic::nowhere(rule, words(error)).maybe_hint(hint);
    if error.kind == Kind::RequiredCycle {
        diagnostic.severity = Severity::Error;
    }
    diagnostic.span = place(session, error);
    if matches!(error.kind, Kind::Undefined) {
        diagnostic.span = diagnostic.what().name().and_then(|name| named(session, error, name)).or(diagnostic.span);
    }
    if let Some(span) = diagnostic.span {
        for step in &error.through {
            diagnostic = diagnostic.through(span, format!("while evaluating {step}"));
        }
    }
    diagnostic
}

/// The message of an error, for people.
pub fn words(error: &Error) -> Message {
    error.plain.clone().unwrap_or_else(|| error.message.as_str().into())
}

/// The location of the message's name, if the expression has it once.
fn named(session: &Session, error: &Error, name: &str) -> Option<Span> {
    let name = Some(name).filter(|name| !name.is_empty())?;
    let whole = session.origins.span(error.origin, &session.sources)?;
    let source = session.sources.get(whole.file)?;
    let text = source.slice(whole);
    let is_word = |at: &usize| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    };
    let mut found = text.match_indices(name).map(|(at, _)| at).filter(is_word);
    let at = found.next().filter(|_| found.next().is_none())?;
    Some(whole.within(at, name.len()))
}

/// The hint for most errors of a kind.
fn usual_hint(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Io => Some("correct the path; it is relative to the ensemble"),
        Kind::Undefined => Some("correct the name, or test for it with `is defined`"),
        Kind::Invalid => Some("change the value, or its declaration"),
        Kind::Cycle | Kind::RequiredCycle => Some("remove one of these references"),
        _ => None,
    }
}

/// The location of an error: within its expression if that is a single literal, otherwise at the expression.
fn place(session: &Session, error: &Error) -> Option<Span> {
    let whole = session.origins.span(error.origin, &session.sources)?;
    let (Some(at), Some(text)) = (error.at, &error.text) else {
        return Some(whole);
    };
    let (start, end) = undefined_name(error, text, at.start, at.end).unwrap_or((at.start, at.end));
    Some(within(session, whole, text, start, end).unwrap_or(whole))
}

/// The location of the undefined name. The error itself is located at the user of its value: a filter, a call, an
/// operator.
fn undefined_name(error: &Error, text: &str, start: u32, end: u32) -> Option<(u32, u32)> {
    let (kind, name) = error.plain.as_ref()?.what().undeclared()?;
    if error.kind != Kind::Undefined || kind != "variable" || name.is_empty() {
        return None;
    }
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let stands_alone = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !is_part(before) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    let found: Vec<usize> =
        text.match_indices(name).map(|(at, _)| at).filter(stands_alone).filter(|at| *at < end as usize).collect();
    let inside = found.iter().find(|at| **at >= start as usize);
    let at = u32::try_from(*inside.or(found.last())?).ok()?;
    Some((at, at + u32::try_from(name.len()).ok()?))
}

/// The location of a part of a text within a span.
pub fn within(session: &Session, whole: Span, text: &str, start: u32, end: u32) -> Option<Span> {
    let source = session.sources.get(whole.file)?;
    let offset = source.slice(whole).find(text)?;
    Some(whole.within(offset + start as usize, (end - start) as usize))
}

/// The location of an origin.
pub fn span_of(session: &Session, origin: Origin) -> Option<Span> {
    session.origins.span(origin, &session.sources)
}
