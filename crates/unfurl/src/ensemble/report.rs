//! Evaluation's errors as diagnostics, at their place in the file.

use crate::error::{Error, Kind};
use crate::rules;
use purlin_syntax::{Diagnostic, Rule, Span};
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
        Kind::Cycle => &rules::CYCLE,
        // Neither is reported: the value itself says so.
        Kind::Pending | Kind::Reported => &rules::VALUE,
    }
}

/// An error as a diagnostic.
pub fn diagnostic(session: &Session, error: &Error) -> Diagnostic {
    let rule = error.limit.unwrap_or(rule(error.kind));
    let hint = error.hint.clone().or_else(|| usual_hint(error));
    let mut diagnostic = Diagnostic::nowhere(rule, in_words(&error.message)).maybe_hint(hint);
    diagnostic.span = place(session, error);
    if let Some(span) = diagnostic.span {
        for step in &error.through {
            diagnostic = diagnostic.through(span, format!("while evaluating {step}"));
        }
    }
    diagnostic
}

/// The grammar of Jinja in plain words.
pub fn in_words(message: &str) -> String {
    let expected =
        message.strip_prefix("unexpected end of template, expected '").and_then(|rest| rest.split('\'').next());
    match expected {
        Some("end of print statement") => "this `{{` is never closed".to_owned(),
        Some("end of statement block") => "this `{%` is never closed".to_owned(),
        Some(end) => format!("the template ends before `{end}`"),
        None => message.to_owned(),
    }
}

/// What helps with most errors of a kind.
fn usual_hint(error: &Error) -> Option<String> {
    hint_of(error.kind, &error.message)
}

/// The same for a message alone.
pub(crate) fn hint_of(kind: Kind, message: &str) -> Option<String> {
    let closing =
        [("print statement", "}}"), ("statement block", "%}"), ("`[`", "]"), ("string", "'"), ("comment", "#}")];
    let open = message.contains("not closed") || message.contains("unexpected end of template");
    match kind {
        Kind::Syntax if open => {
            let close = closing.iter().find(|(what, _)| message.contains(what)).map(|(_, close)| *close);
            close.map(|close| format!("add `{close}`"))
        }
        Kind::Io => Some("correct the path; it is relative to the ensemble".to_owned()),
        Kind::Undefined => Some("correct the name, or test for it with `is defined`".to_owned()),
        Kind::Invalid => Some("change the value, or its declaration".to_owned()),
        Kind::Cycle => Some("remove one of these references".to_owned()),
        _ => None,
    }
}

/// Where an error is: within its expression if that is written in one piece, else at the expression.
fn place(session: &Session, error: &Error) -> Option<Span> {
    let whole = session.origins.span(error.origin, &session.sources)?;
    let (Some(at), Some(text)) = (error.at, &error.text) else {
        return Some(whole);
    };
    Some(within(session, whole, text, at.start, at.end).unwrap_or(whole))
}

/// The place of a part of a text that is written within a span.
pub fn within(session: &Session, whole: Span, text: &str, start: u32, end: u32) -> Option<Span> {
    let source = session.sources.get(whole.file)?;
    let offset = source.slice(whole).find(text)?;
    Some(whole.within(offset + start as usize, (end - start) as usize))
}

/// The place of an origin.
pub fn span_of(session: &Session, origin: Origin) -> Option<Span> {
    session.origins.span(origin, &session.sources)
}
