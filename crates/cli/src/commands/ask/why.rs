//! `purlin why`: the origin of a value; and, with `--file FILE:LINE`, the values that depend on a line.

mod blame;
mod chain;
mod meant;

use crate::args::{AnswerFormat, Target};
use crate::commands::Context;
use crate::commands::resolve::{MOST_CANDIDATES, Side, compile_all, compile_with_inside, resolve_all};
use crate::invocation::Exit;
use crate::paint::Answer;
use crate::project::named;
use blame::Blame;
use chain::{Answered, shown};
use meant::{Meant, meant, unknown_field, whole};
use purlin_compiler::{
    Affected, Cause, Place, affects, affects_value, inputs_at, inputs_value, made, origin_text, why, why_at, why_value,
};
use purlin_host::named;
use purlin_syntax::{Diagnostic, Source, suggest};
use purlin_value::value::below;
use purlin_value::{Session, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The request.
#[derive(Default)]
pub(in crate::commands) struct Asked {
    pub node: Option<String>,
    pub field: Option<String>,
    pub list_inputs: bool,
    pub all_envs: bool,
    pub blame: bool,
}

/// The meaning of the words: a node and a field, after a path if there are three.
pub(in crate::commands) fn asked(words: Vec<String>, path: Option<PathBuf>) -> (PathBuf, Asked) {
    let three = words.len() == 3;
    let mut words = words.into_iter();
    let first = if three && path.is_none() { words.next().map(PathBuf::from) } else { None };
    let path = path.or(first).unwrap_or_else(|| PathBuf::from("."));
    (path, Asked { node: words.next(), field: words.next(), ..Asked::default() })
}

/// `--inputs` takes a file of inputs in other commands; here it may have no value, and then lists what a value depends
/// on.
pub(crate) fn rewrite(args: &mut [String], cwd: &Path) {
    if args.iter().find(|arg| !arg.starts_with('-')).is_none_or(|command| command != "why") {
        return;
    }
    let at = args.iter().position(|arg| arg == "--inputs");
    let is_file = |next: Option<&String>| next.is_some_and(|next| named::is_file(&cwd.join(next)));
    if let Some(at) = at.filter(|at| !is_file(args.get(at + 1))) {
        "--list-inputs".clone_into(&mut args[at]);
    }
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    asked: &Asked,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let Some(name) = &asked.node else {
        return match target.file.as_deref().map(line_of) {
            Some(Some(_)) if asked.blame => Err(cx.usage("`--blame` needs a node, not a line")),
            Some(Some((file, line))) => reverse(cx, path, (file, line), asked.all_envs, target, output),
            Some(None) => Err(cx.usage("`--file` needs a line: `--file FILE:LINE`")),
            None => Err(cx.usage("`why` needs a node, or `--file FILE:LINE`")),
        };
    };
    let (session, compiled) = compile_with_inside(cx, path, name, target)?;
    let Meant { name, root, field } = match meant(&compiled.resolved, name, asked.field.as_deref()) {
        Ok(meant) => meant,
        Err(unknown) => {
            session.sink.push(*unknown);
            return Ok(cx.report(&session));
        }
    };
    let Some(found) = why_at(&session, &root, &field) else {
        session.sink.push(unknown_field(&root, name, &field));
        return Ok(cx.report(&session));
    };
    if asked.list_inputs {
        let inputs = inputs_at(&session, &root, &field).unwrap_or_default();
        let text = match output {
            AnswerFormat::Json => cx.json(&inputs_value(name, &field, &inputs))?,
            AnswerFormat::Text => listed_inputs(&inputs),
        };
        return Ok(cx.print_answer(&text, None));
    }
    let text = match output {
        AnswerFormat::Text if found.value.is_collection() => {
            let leaves = leaves(&session, &root, &field, &found.value);
            let places: Vec<&Place> = leaves.iter().flat_map(|leaf| &leaf.places).collect();
            let blame =
                asked.blame.then(|| Blame::of(cx, &session, path, target.rev.as_deref(), &places)).transpose()?;
            leaves.iter().map(|leaf| leaf.text(blame.as_ref())).collect()
        }
        _ => {
            let environment = compiled.resolved.environment.as_str();
            let elsewhere = elsewhere(cx, path, target, &Asking { name, field: &field, environment })?;
            let made = made(&session, &found.value);
            let mut places = blame::places(&made);
            places.extend(found.because.iter().filter_map(|because| because.place.as_ref()));
            let blame =
                asked.blame.then(|| Blame::of(cx, &session, path, target.rev.as_deref(), &places)).transpose()?;
            let written = |place: &Place| blame.as_ref().and_then(|blame| blame.value(place));
            match output {
                AnswerFormat::Json => cx.json(&why_value(name, &field, &found, (&made, &written), &elsewhere))?,
                AnswerFormat::Text => chain::text(&Answered {
                    name,
                    field: &field,
                    environment,
                    found: &found,
                    made: &made,
                    elsewhere: &elsewhere,
                    blame: blame.as_ref(),
                }),
            }
        }
    };
    Ok(cx.print_answer(&text, (output == AnswerFormat::Text).then_some(Answer::Why)))
}

/// The requested value.
struct Asking<'a> {
    name: &'a str,
    field: &'a str,
    /// The environment; empty for projects without environments.
    environment: &'a str,
}

/// The value in the other environments, profiles and values files of the project. Those with errors have no value;
/// `check` reports them.
fn elsewhere(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    asking: &Asking<'_>,
) -> Result<Vec<(String, Option<Value>)>, Exit> {
    let here = match asking.environment {
        "" => target.profile.join(","),
        environment => environment.rsplit('.').next().unwrap_or_default().to_owned(),
    };
    let anywhere = Target { env: None, profile: Vec::new(), ..target.clone() };
    let (_, tried) = resolve_all(cx, path, &anywhere)?;
    if tried.len() < 2 {
        return Ok(Vec::new());
    }
    let others = tried.into_iter().filter(|(name, _)| *name != here);
    let value = |side: Side| whole(&side.resolved, asking.name).and_then(|(_, root)| root.at(asking.field));
    Ok(others.map(|(name, side)| (name, side.and_then(value))).collect())
}

/// The inputs of a value, by kind: files with their lines, then flags, variables of the environment and defaults.
fn listed_inputs(inputs: &[Cause]) -> String {
    let mut files: Vec<(&str, Vec<u32>)> = Vec::new();
    let mut others = Vec::new();
    for cause in inputs {
        let Some(place) = &cause.place else {
            others.push(format!("{}\n", origin_text(cause)));
            continue;
        };
        match files.iter_mut().find(|(file, _)| *file == place.file) {
            Some((_, lines)) => lines.push(place.line),
            None => files.push((&place.file, vec![place.line])),
        }
    }
    let mut out = String::new();
    for (file, mut lines) in files {
        lines.sort_unstable();
        lines.dedup();
        let shown: Vec<String> = lines.iter().map(u32::to_string).collect();
        let _ = writeln!(out, "file {file}:{}", shown.join(","));
    }
    others.sort();
    others.dedup();
    out + &others.concat()
}

/// A scalar below the requested value.
struct Leaf {
    path: String,
    value: String,
    /// Its origins, in words.
    from: Vec<String>,
    places: Vec<Place>,
}

impl Leaf {
    fn text(&self, blame: Option<&Blame>) -> String {
        let from = if self.from.is_empty() { "computed".to_owned() } else { self.from.join(", ") };
        let authors: Vec<String> =
            blame.into_iter().flat_map(|blame| self.places.iter().map(|place| blame.text(place))).collect();
        let authors = authors.into_iter().find(|text| !text.is_empty()).map(|text| format!("  {text}"));
        format!("{} = {}  ← {from}{}\n", self.path, self.value, authors.unwrap_or_default())
    }
}

/// Every scalar below a value with its locations.
fn leaves(session: &Session, root: &Value, field: &str, value: &Value) -> Vec<Leaf> {
    let leaf = |(path, value): (String, &Value)| {
        let path = if path.is_empty() { field.to_owned() } else { below(field, &path) };
        // Looked up from the root, a part without a location of its own has that of the whole.
        let found = root.at(&path).map_or_else(|| why(session, value), |part| why(session, &part));
        let mut from: Vec<String> = Vec::new();
        for text in found.pieces.iter().map(|piece| origin_text(&piece.cause)).filter(|text| !text.is_empty()) {
            if !from.contains(&text) {
                from.push(text);
            }
        }
        // `computed` adds nothing if the other causes have locations.
        if from.len() > 1 {
            from.retain(|cause| cause != "computed");
        }
        let places = found.pieces.into_iter().filter_map(|piece| piece.cause.place).collect();
        Leaf { path, value: shown(value), from, places }
    };
    value.leaves().map(leaf).collect()
}

/// `FILE:LINE`
fn line_of(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

fn reverse(
    cx: &mut Context<'_, '_>,
    path: &Path,
    (file, number): (&str, u32),
    all_envs: bool,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let target = &Target { file: None, ..target.clone() };
    let mut found: Vec<Affected> = Vec::new();
    let (session, sides) = compile_all(cx, path, target, all_envs)?;
    let named = named(cx.invocation, &session, file);
    let known: Vec<&Session> = sides.iter().map(|side| &side.session).collect();
    let place = match place_in(&known, &named, file, number) {
        Ok(place) => place,
        Err(problem) => {
            session.sink.push(*problem);
            return Ok(cx.report(&session));
        }
    };
    let shown = session.sources.shown(&place);
    for side in &sides {
        let mut own = affects(&side.session, &side.resolved, &place, number);
        if !side.name.is_empty() {
            own.iter_mut().for_each(|affected| affected.environment.clone_from(&side.name));
        }
        found.extend(own);
    }
    if found.is_empty() && output == AnswerFormat::Text {
        let environment = sides.first().map(|side| side.resolved.environment.clone()).unwrap_or_default();
        let _ = writeln!(cx.invocation.stderr, "{}", no_answer(&shown, number, &environment, all_envs));
    }
    let text = match output {
        AnswerFormat::Json => cx.json(&affects_value(&shown, number, &found))?,
        AnswerFormat::Text => affected_text(&found, all_envs),
    };
    Ok(cx.print_answer(&text, (output == AnswerFormat::Text).then_some(Answer::Why)))
}

/// The message for a line that nothing depends on.
fn no_answer(file: &str, line: u32, environment: &str, all_envs: bool) -> String {
    let nothing = format!("no value depends on `{file}:{line}`");
    match (environment, all_envs) {
        ("", false) | (_, true) => nothing,
        (environment, false) => {
            format!("{nothing} in the environment `{environment}`; add `--all-envs` to look at all of them")
        }
    }
}

/// One line per field; those of several environments once, with the environments.
fn affected_text(found: &[Affected], all_envs: bool) -> String {
    let mut fields: Vec<(String, Vec<&str>)> = Vec::new();
    for affected in found {
        let field = format!("{} {}", affected.node, affected.field).trim_end().to_owned();
        match fields.iter_mut().find(|(known, _)| *known == field) {
            Some((_, environments)) => environments.push(&affected.environment),
            None => fields.push((field, vec![&affected.environment])),
        }
    }
    let mut out = String::new();
    for (field, environments) in fields {
        let names: Vec<&str> = environments.into_iter().filter(|name| !name.is_empty()).collect();
        let shown = if all_envs && !names.is_empty() { format!("  ({})", names.join(", ")) } else { String::new() };
        let _ = writeln!(out, "{field}{shown}");
    }
    out
}

/// The file, as messages name it, if it has such a line.
fn place_in(sessions: &[&Session], named: &str, written: &str, line: u32) -> Result<String, Box<Diagnostic>> {
    let sources: Vec<Arc<Source>> = sessions.iter().flat_map(|session| session.sources.all()).collect();
    let paths: Vec<String> = sources.iter().map(|source| source.path().to_owned()).collect();
    let problem = |message: String| Diagnostic::nowhere(&purlin_compiler::rules::UNKNOWN_LOCATION, message);
    let quoted = |path: &str| {
        let shown = sessions.first().map_or_else(|| path.to_owned(), |session| session.sources.shown(path));
        format!("`{shown}`")
    };
    let ends = |path: &&String| path.ends_with(&format!("/{written}"));
    let mut partly: Vec<&String> = paths.iter().filter(ends).collect();
    partly.sort();
    partly.dedup();
    let path = match (paths.iter().find(|path| *path == named || *path == written), partly.as_slice()) {
        (Some(path), _) => path,
        (None, [one]) => one,
        (None, []) => {
            let hint = suggest::did_you_mean(written, paths.iter().map(String::as_str));
            let message = format!("`{written}` was not read when the project was resolved");
            return Err(Box::new(problem(message).maybe_hint(hint)));
        }
        (None, several) => {
            let names: Vec<String> = several.iter().take(MOST_CANDIDATES).map(|path| quoted(path)).collect();
            let message = format!("`{written}` is ambiguous: {} files end in it", several.len());
            return Err(Box::new(problem(message).hint(format!("name one of {}", names.join(", ")))));
        }
    };
    let lines = sources.iter().filter(|source| source.path() == path).map(|source| source.text().lines().count()).max();
    match lines.unwrap_or(0) {
        count if line == 0 || line as usize > count => {
            let message = format!("{} has no line {line}", quoted(path));
            Err(Box::new(problem(message).hint(format!("it has {count} lines"))))
        }
        _ => Ok(path.clone()),
    }
}
