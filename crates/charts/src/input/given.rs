//! The values a user gives: files, the `--set` family, values added by a host, and pending ones, in that order.

use std::sync::Arc;

use purlin_model::{SetFlag, SetKind};
use purlin_syntax::Flavor;
use purlin_value::{Data, Eval, Map, Pending, Session, Value};

use crate::load::{About, LoadError, Setting};
use crate::rules;
use crate::strvals::{Refused, Typing, parse_into};
use crate::template::Options;
use crate::values::{merge_maps, put};
use crate::yaml::value_of_tree;

/// The user's values: files and flags.
pub(crate) fn user_values(session: &Session, options: &Options) -> Result<Value, LoadError> {
    let origins = options.track.then_some(&session.origins);
    let mut base = Value::map(Map::new());
    for (path, name) in &options.values {
        let source = session.read_text(path).map_err(|problem| LoadError::from(problem).given())?;
        let tree = session.load_tree(&source, Flavor::Go);
        for document in 0..tree.roots().len().max(1) {
            let value = value_of_tree(&tree, document).map_err(|message| {
                let what = "cannot unmarshal yaml document: error converting YAML to JSON";
                LoadError::yaml(&tree, About::Chart, format!("failed to parse {name}: {what}: {message}")).given()
            })?;
            if value.is_null() {
                continue;
            }
            if value.as_map().is_none() {
                return Err(LoadError::from(format!("failed to parse {name}: expected a mapping")).given());
            }
            base = merge_maps(base, value, origins);
        }
    }
    if options.inline.as_map().is_some() {
        base = merge_maps(base, options.inline.clone(), origins);
    }
    for kind in [SetKind::Json, SetKind::Typed, SetKind::Text, SetKind::File, SetKind::Literal] {
        for (at, flag) in options.sets.iter().enumerate().filter(|(_, flag)| flag.kind == kind) {
            let is_secret = options.sets_from.get(at).is_some_and(|from| from.is_secret);
            base = apply_flag(session, options, base, (flag, is_secret))
                .map_err(|reason| refused(options, at, flag, reason))?;
        }
    }
    // A host's values may still be lazy; templates read all of them.
    let given = Eval::new(session).force_deep(&options.given);
    if given.as_map().is_some() {
        base = merge_maps(base, given, origins);
    }
    for (path, what) in &options.pending {
        let flag = session.origins.flag(format!("--pending {path}"));
        let pending = Pending { tasks: Vec::new(), what: what.into() };
        base = put(base, path, Value::new(Data::Pending(Arc::new(pending))).with_origin(flag));
    }
    Ok(base)
}

/// Why a flag cannot be used; with its place where a project writes it.
fn refused(options: &Options, at: usize, flag: &SetFlag, why: Refused) -> LoadError {
    let name = option_of(flag.kind);
    let message = format!("failed parsing {name} data: {}", why.helm_text);
    let about = match options.sets_from.get(at).and_then(|from| from.span) {
        Some(span) => {
            let (release, has_comma) = (options.name.clone(), flag.text.contains(','));
            About::Set(Box::new(Setting { span, reason: why.message, release, has_comma }))
        }
        None => About::Given(format!("{name}: {}", why.message)),
    };
    let hint = Some("write `NAME=VALUE`, with dots between nested names");
    LoadError { rule: Some(&rules::VALUES), about, hint, ..LoadError::from(message) }
}

fn option_of(kind: SetKind) -> &'static str {
    match kind {
        SetKind::Typed => "--set",
        SetKind::Text => "--set-string",
        SetKind::Json => "--set-json",
        SetKind::File => "--set-file",
        SetKind::Literal => "--set-literal",
    }
}

fn apply_flag(
    session: &Session,
    options: &Options,
    base: Value,
    (flag, is_secret): (&SetFlag, bool),
) -> Result<Value, Refused> {
    let name = option_of(flag.kind);
    if flag.kind == SetKind::Json && flag.text.trim_start().starts_with('{') {
        let value = crate::json::parse(flag.text.trim().as_bytes(), session.origins.flag(name))?;
        return Ok(merge_maps(base, value, options.track.then_some(&session.origins)));
    }
    let mut map = base.as_map().cloned().unwrap_or_default();
    let read = |path: &str| {
        let path = purlin_value::path::join(&options.here, path);
        let bytes = session.load_bytes(&path).map_err(|error| error.diagnostic(&path).message)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let origin = |key: &str| session.origins.flag(format!("{name} {}", key.trim()));
    let result = match flag.kind {
        SetKind::Typed if is_secret => parse_into(&flag.text, &mut map, &Typing::Secret, &origin),
        SetKind::Typed => parse_into(&flag.text, &mut map, &Typing::Typed, &origin),
        SetKind::Text => parse_into(&flag.text, &mut map, &Typing::Text, &origin),
        SetKind::Json => parse_into(&flag.text, &mut map, &Typing::Json, &origin),
        SetKind::File => parse_into(&flag.text, &mut map, &Typing::File(&read), &origin),
        SetKind::Literal => parse_into(&flag.text, &mut map, &Typing::Literal, &origin),
    };
    result?;
    Ok(base.with(map.into()))
}
