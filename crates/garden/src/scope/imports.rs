//! Values from outside: `secrets` and `imported`, from `importVariables` and `--secret-file`.
//!
//! Everything read here is secret. Later sources win.

use crate::config::Document;
use crate::dotenv;
use crate::ground::Ground;
use crate::project::force;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::{Flavor, RuleClass, Severity, Span};
use purlin_value::world::Command;
use purlin_value::{Data, Layer, Map, MapLayer, MergeKeys, Scope, Value, path, value_of};
use std::sync::Arc;

/// The layer with `secrets` and `imported`.
pub fn import_layer(ground: &Ground<'_>, document: &Document, base: &Scope) -> Arc<dyn Layer> {
    let mut all = Map::new();
    // A project that is known to Garden Cloud by its `id` has the secrets that are kept there.
    let mut waits = document.field("id").map(|_| EcoString::from("secrets of Garden Cloud"));
    for source in document.field("importVariables").iter().flat_map(|node| {
        let value = force(ground, &ground.env(base.clone()), node);
        value.as_list().map(<[Value]>::to_vec).unwrap_or_default()
    }) {
        match imported(ground, &source) {
            Imported::Values(values) => {
                // The location of a secret may be shown; its value may not.
                let place = source.get("path").or(source.get("command")).and_then(|value| ground.span_of(value));
                let origin = ground.session.origins.derived("importVariables", place, Vec::new());
                all.extend(values.into_entries().into_iter().map(|(key, value)| (key, value.with_origin(origin))));
            }
            Imported::Unknown(what) => waits = Some(what),
        }
    }
    for file in &ground.request.secret_files {
        let values = read_values(ground, ".", file, "dotenv", None);
        let origin = ground.session.origins.flag(format!("--secret-file {file}"));
        all.extend(values.into_entries().into_iter().map(|(key, value)| (key, value.with_origin(origin))));
    }
    all.values().filter_map(Value::as_str).for_each(|secret| ground.session.sink.hide(secret));
    // A source that could not be read may have any key, so no key counts as missing.
    let value = match waits {
        Some(what) if all.is_empty() => Value::pending("importVariables", what),
        _ => Value::map(all),
    };
    let layer = Map::from_iter([("secrets".into(), value.clone()), ("imported".into(), value)]);
    Arc::new(MapLayer::new("imported values", Value::map(layer)))
}

enum Imported {
    Values(Map),
    Unknown(EcoString),
}

fn imported(ground: &Ground<'_>, source: &Value) -> Imported {
    let text = |key: &str| source.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let format = text("format");
    match text("from").as_str() {
        "file" => {
            let span = source.get("path").and_then(|value| ground.span_of(value));
            Imported::Values(read_values(ground, &ground.root, &text("path"), &format, span))
        }
        "exec" => run_import(ground, source, &format),
        other => Imported::Unknown(ecow::eco_format!("values of {other}")),
    }
}

fn run_import(ground: &Ground<'_>, source: &Value, format: &str) -> Imported {
    let words = source.get("command").and_then(Value::as_list).unwrap_or(&[]);
    let argv: Vec<String> = words.iter().map(|word| crate::expr::text_of(word).to_string()).collect();
    let shown = ecow::eco_format!("the output of `{}`", argv.join(" "));
    let command = Command { argv, env: ground.session.world.env_all(), folder: ground.root.clone(), stdin: Vec::new() };
    match ground.session.world.run(&command) {
        Ok(output) if output.code == 0 => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Imported::Values(parse_values(ground, &shown, &text, format, ground.span_of(source)))
        }
        Ok(output) => {
            let message = format!("{shown} cannot be imported: it ended with code {}", output.code);
            ground.report(&rules::IMPORT, ground.span_of(source), message);
            Imported::Unknown(shown)
        }
        Err(_) => Imported::Unknown(shown),
    }
}

fn read_values(ground: &Ground<'_>, folder: &str, name: &str, format: &str, span: Option<Span>) -> Map {
    let file = path::join(folder, name);
    match ground.session.load_bytes(&file) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let by_name = match name.rsplit('.').next() {
                Some("yml" | "yaml") => "yaml",
                Some("json") => "json",
                _ => "dotenv",
            };
            parse_values(ground, name, &text, if format.is_empty() { by_name } else { format }, span)
        }
        Err(error) => {
            let message = error.diagnostic(&file).message;
            ground.report(&rules::IMPORT, span, format!("variables cannot be imported: {message}"));
            Map::new()
        }
    }
}

/// Reads the text of secrets without registering it, so that no message can quote it.
fn parse_values(ground: &Ground<'_>, name: &str, text: &str, format: &str, span: Option<Span>) -> Map {
    let secret = |value: Value| value.tainted_if(true);
    if format == "dotenv" || format.is_empty() {
        return dotenv::parse(text).into_iter().map(|v| (v.key.into(), secret(Value::str(v.value)))).collect();
    }
    let source = Arc::new(purlin_syntax::Source::new(purlin_syntax::FileId(u32::MAX), name, text));
    let tree = purlin_syntax::yaml::parse(source, Flavor::Core, &ground.session.limits);
    if let Some(problem) = tree.diagnostics().iter().find(|problem| problem.severity == Severity::Error) {
        // The parser's message may quote its input; the location is enough.
        let is_limit = problem.rule.class == RuleClass::Limit;
        let place = problem.span.map(|span| tree.source().position(span.start));
        let place = place.map_or_else(String::new, |at| format!(", line {} column {}", at.line, at.column));
        let message = match is_limit {
            true => problem.message.clone(),
            false => format!("`{name}` cannot be read as {}{place}", if format == "json" { "JSON" } else { "YAML" }),
        };
        ground.report(if is_limit { problem.rule } else { &rules::IMPORT }, span, message);
    }
    let map = tree.root().map(|root| value_of(root, MergeKeys::Apply));
    let entries = map.as_ref().and_then(Value::as_map).cloned().unwrap_or_default().into_entries();
    if entries.is_empty() && !text.trim().is_empty() {
        ground.report(&rules::IMPORT, None, format!("`{name}` does not hold a map of variables"));
    }
    let plain = |value: Value| {
        Value::new(if value.is_collection() { Data::Null } else { Data::Str(crate::expr::text_of(&value)) })
    };
    entries.into_iter().map(|(key, value)| (key, secret(plain(value)))).collect()
}
