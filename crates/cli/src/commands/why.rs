//! `purlin why`: where a value comes from; and, with `--file FILE:LINE`, what a line has a part in.

use super::Context;
use super::resolve::{compile_or_report, compile_with_inside, unknown_node};
use crate::args::{AnswerFormat, Target};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{Why, WhyPiece, affects, affects_value, origin_text, why, why_value};
use purlin_model::{Node, Resolved};
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::emit::to_json;
use purlin_value::value::below;
use purlin_value::{Secrets, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What was asked.
pub(super) struct Asked {
    pub node: Option<String>,
    pub field: Option<String>,
}

/// What words mean: a node and a field, after a path if there are three.
pub(super) fn asked(words: Vec<String>, path: Option<PathBuf>) -> (PathBuf, Asked) {
    let three = words.len() == 3;
    let mut words = words.into_iter();
    let first = if three && path.is_none() { words.next().map(PathBuf::from) } else { None };
    let path = path.or(first).unwrap_or_else(|| PathBuf::from("."));
    (path, Asked { node: words.next(), field: words.next() })
}

/// The node that was asked for, and the field of it. A node and its field may also be written as one word.
fn node_and_field<'r>(resolved: &'r Resolved, name: &str, field: Option<&str>) -> Option<(&'r Node, String)> {
    if let Some(node) = resolved.node(name) {
        return Some((node, field.unwrap_or_default().to_owned()));
    }
    if field.is_some() {
        return None;
    }
    let mut cuts = name.rmatch_indices('.').map(|(at, _)| (name.get(..at), name.get(at + 1..)));
    cuts.find_map(|(node, field)| Some((resolved.node(node?)?, field?.to_owned())))
}

pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    asked: &Asked,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let Some(name) = &asked.node else {
        return match target.file.as_deref().and_then(line_of) {
            Some((file, line)) => reverse(cx, path, file, line, target, output),
            None => Err(cx.usage("`why` needs a node, or `--file FILE:LINE`")),
        };
    };
    let (session, compiled) = compile_with_inside(cx, path, name, target)?;
    let Some((node, field)) = node_and_field(&compiled.resolved, name, asked.field.as_deref()) else {
        session.sink.push(unknown_node(&compiled.resolved, name));
        return Ok(cx.report(&session));
    };
    let name = node.id.as_str();
    let Some(value) = node.resolved.at(&field) else {
        session.sink.push(unknown_field(&node.resolved, name, &field));
        return Ok(cx.report(&session));
    };
    let found = why(&session, &value);
    let text = match output {
        AnswerFormat::Json => {
            let value = why_value(name, &field, &found);
            to_json(&value, Secrets::Hide, JsonLayout::Pretty).map_err(|error| cx.too_long(error))? + "\n"
        }
        AnswerFormat::Text if value.is_collection() => leaves(&session, &field, &value),
        AnswerFormat::Text => told(&format!("{name} {field}"), &found),
    };
    Ok(cx.print_answer(&text, (output == AnswerFormat::Text).then_some(Answer::Why)))
}

fn unknown_field(value: &Value, node: &str, field: &str) -> Diagnostic {
    let message = format!("`{node}` has no field `{field}`");
    // The longest part of the path that exists tells where the names to suggest are.
    let cuts =
        field.rmatch_indices('.').map(|(at, _)| (field.get(..at).unwrap_or(""), field.get(at + 1..).unwrap_or("")));
    let deepest = cuts.filter_map(|(above, last)| Some((value.at(above)?, last))).next();
    let (known, rest) = deepest.unwrap_or((value.clone(), field.split('.').next().unwrap_or("")));
    let open = Some(&known).filter(|known| !known.is_tainted()).and_then(Value::as_map);
    let names: Vec<&str> = open.map(|map| map.keys().map(|key| key.as_str()).collect()).unwrap_or_default();
    let inside = further_in(value, field).map(|path| format!("did you mean `{path}`?"));
    let hint = inside.or_else(|| suggest::did_you_mean(rest, names.iter().copied())).or_else(|| {
        let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
        (!shown.is_empty()).then(|| format!("there are {}", shown.join(", ")))
    });
    Diagnostic::nowhere(&purlin_compiler::rules::UNKNOWN_FIELD, message).maybe_hint(hint)
}

/// The first path in a value that ends in a field, for those who leave out where it stands.
fn further_in(value: &Value, field: &str) -> Option<String> {
    let wanted = format!(".{field}");
    value.leaves().find_map(|(path, _)| {
        let end = path.find(&wanted)? + wanted.len();
        let whole = path.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        whole.then(|| path.get(..end).unwrap_or_default().to_owned())
    })
}

/// Every scalar below a value with its place, a line each.
fn leaves(session: &purlin_value::Session, field: &str, value: &Value) -> String {
    let mut out = String::new();
    for (path, value) in value.leaves() {
        let path = if path.is_empty() { field.to_owned() } else { below(field, &path) };
        let found = why(session, value);
        let causes: Vec<String> =
            found.pieces.iter().map(|piece| origin_text(&piece.cause)).filter(|t| !t.is_empty()).collect();
        let _ = writeln!(out, "{path} = {}  ← {}", shown(value), causes.join(", "));
    }
    out
}

fn shown(value: &Value) -> String {
    let text = to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
    if text.chars().count() > 80 { text.chars().take(77).chain("…".chars()).collect() } else { text }
}

fn told(what: &str, why: &Why) -> String {
    let mut out = format!("{what} = {}\n", shown(&why.value));
    for piece in &why.pieces {
        tell_piece(&mut out, piece, why.pieces.len() > 1);
    }
    out
}

fn tell_piece(out: &mut String, piece: &WhyPiece, several: bool) {
    let from = origin_text(&piece.cause);
    let from = if from.is_empty() { "computed".to_owned() } else { from };
    match &piece.text {
        Some(text) if several => {
            let text = to_json(&Value::from(text.as_str()), Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
            let _ = writeln!(out, "  {text} from {from}");
        }
        _ => {
            let _ = writeln!(out, "  from {from}");
        }
    }
    for step in &piece.through {
        let place = step.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        let _ = writeln!(out, "    through {}{place}", step.text);
    }
    for lost in &piece.overrode {
        let _ = writeln!(out, "    overriding {}", origin_text(lost));
    }
}

/// `FILE:LINE`
fn line_of(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

fn reverse(
    cx: &mut Context<'_, '_>,
    path: &Path,
    file: &str,
    number: u32,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let target = &Target { file: None, ..target.clone() };
    let (session, compiled) = compile_or_report(cx, path, &[], target)?;
    let found = affects(&session, &compiled.resolved, file, number);
    let text = match output {
        AnswerFormat::Json => {
            let value = affects_value(file, number, &found);
            to_json(&value, Secrets::Hide, JsonLayout::Pretty).map_err(|error| cx.too_long(error))? + "\n"
        }
        AnswerFormat::Text => found.iter().map(|affected| format!("{} {}\n", affected.node, affected.field)).collect(),
    };
    Ok(cx.print_answer(&text, (output == AnswerFormat::Text).then_some(Answer::Why)))
}
