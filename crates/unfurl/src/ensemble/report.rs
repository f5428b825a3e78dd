//! Evaluation's errors as diagnostics, at their place in the file.

use crate::error::{Error, Kind};
use crate::rules;
use purlin_syntax::{Diagnostic, Rule, Severity, Span};
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
        // Neither is reported: the value itself says so.
        Kind::Pending | Kind::Reported => &rules::VALUE,
    }
}

/// An error as a diagnostic.
pub fn diagnostic(session: &Session, error: &Error) -> Diagnostic {
    let rule = error.limit.unwrap_or(rule(error.kind));
    let hint = error.hint.clone().or_else(|| usual_hint(error).map(Into::into));
    let mut diagnostic = Diagnostic::nowhere(rule, in_words(&error.message)).maybe_hint(hint);
    if error.kind == Kind::RequiredCycle {
        diagnostic.severity = Severity::Error;
    }
    diagnostic.span = place(session, error);
    if matches!(error.kind, Kind::Undefined) {
        diagnostic.span = named(session, error, &diagnostic.message).or(diagnostic.span);
    }
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
        None => python_in_words(message).unwrap_or_else(|| message.to_owned()),
    }
}

/// What Python and Jinja say, in plain words.
fn python_in_words(message: &str) -> Option<String> {
    let quoted = |start: &str, end: &str| message.strip_prefix(start)?.strip_suffix(end);
    if let Some(name) = quoted("No test named '", "'.") {
        return Some(format!("unknown test `{name}`"));
    }
    if let Some(name) = quoted("No filter named '", "'.") {
        return Some(format!("unknown filter `{name}`"));
    }
    if let Some(name) = quoted("missing variable: \"", "\"") {
        return Some(format!("undefined variable `{name}`"));
    }
    if let Some(name) = quoted("missing attribute or key: \"", "\"") {
        return Some(format!("unknown attribute or key `{name}`"));
    }
    if let Some(right) = quoted("can only concatenate str (not \"", "\") to str") {
        return Some(format!("`+` cannot be used with a string and {}", noun(right)));
    }
    let (operator, types) = message.strip_prefix("unsupported operand type(s) for ")?.split_once(": '")?;
    let (left, right) = types.strip_suffix('\'')?.split_once("' and '")?;
    Some(format!("`{operator}` cannot be used with {} and {}", noun(left), noun(right)))
}

/// A type of Python in plain words.
fn noun(name: &str) -> &str {
    match name {
        "str" => "a string",
        "int" => "an integer",
        "float" => "a number",
        "bool" => "a boolean",
        "list" => "a list",
        "dict" => "a mapping",
        "NoneType" => "null",
        other => other,
    }
}

/// The place of the name that a message is about, if the expression has it once.
fn named(session: &Session, error: &Error, message: &str) -> Option<Span> {
    let name = message.split('`').nth(1).filter(|name| !name.is_empty())?;
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
        Kind::Type if message.starts_with("unsupported operand") || message.starts_with("can only concatenate") => {
            Some("convert one side, for example with `| string` or `| int`".to_owned())
        }
        Kind::Undefined => Some("correct the name, or test for it with `is defined`".to_owned()),
        Kind::Invalid => Some("change the value, or its declaration".to_owned()),
        Kind::Cycle | Kind::RequiredCycle => Some("remove one of these references".to_owned()),
        _ => None,
    }
}

/// Where an error is: within its expression if that is written in one piece, else at the expression.
fn place(session: &Session, error: &Error) -> Option<Span> {
    let whole = session.origins.span(error.origin, &session.sources)?;
    let (Some(at), Some(text)) = (error.at, &error.text) else {
        return Some(whole);
    };
    let (start, end) = undefined_name(error, text, at.start, at.end).unwrap_or((at.start, at.end));
    Some(within(session, whole, text, start, end).unwrap_or(whole))
}

/// The location of the undefined name. The error itself points at what uses its value: a filter, a call, an operator.
fn undefined_name(error: &Error, text: &str, start: u32, end: u32) -> Option<(u32, u32)> {
    let quoted = error.message.strip_prefix("missing variable: \"").filter(|_| error.kind == Kind::Undefined)?;
    let name = quoted.split('"').next().filter(|name| !name.is_empty())?;
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
