//! Checks the text of a chart's `values.schema.json` itself.
//!
//! Checking values against it is the business of `schema`.

use crate::chart::Chart;
use crate::report::source_of;
use crate::rules;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span, suggest};
use purlin_value::{Session, path};

/// The types that a schema may name.
const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Keys whose members are schemas by name.
const NAMED: &[&str] = &["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"];

/// Keys whose value is always data.
const DATA: &[&str] = &["default", "enum", "const", "examples"];

/// Reports problems of the schema of a chart; true if it cannot be used.
pub(crate) fn check(session: &Session, folder: &str, chart: &Chart) -> bool {
    let Some(bytes) = chart.schema.as_deref() else { return false };
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').to_owned();
    // Most schemas are sound; only one that is not is registered.
    let probe = purlin_syntax::json::parse(scratch(&text), &session.limits);
    let unknown = |tree: &purlin_syntax::Tree| tree.root().map(unknown_types).unwrap_or_default();
    if probe.is_sound() && unknown(&probe).is_empty() {
        return false;
    }
    let source = source_of(session, &path::normalize(&path::join(folder, "values.schema.json")), text);
    let tree = purlin_syntax::json::parse(source, &session.limits);
    let syntax = tree.diagnostics().iter().filter(|problem| problem.is_error());
    let mut found: Vec<Diagnostic> = syntax.take(1).cloned().collect();
    if found.is_empty() {
        found.extend(unknown(&tree).into_iter().map(|(name, span)| {
            let hint = suggest::did_you_mean(&name, TYPES.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("write one of {}", TYPES.join(", ")).into());
            Diagnostic::at(&rules::SCHEMA, span, what::unknown("type", name).and(" in the schema")).hint(hint)
        }));
    }
    session.sink.extend(found);
    true
}

fn scratch(text: &str) -> std::sync::Arc<purlin_syntax::Source> {
    purlin_syntax::Sources::new().insert("values.schema.json", text)
}

/// Types that no JSON value has, with their places.
fn unknown_types(root: Node<'_>) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(schema) = todo.pop() {
        for entry in schema.entries() {
            match entry.name() {
                "type" => {
                    let names = entry.value.items().chain([entry.value]).filter(|name| name.is_scalar());
                    let wrong = names.filter(|name| !TYPES.contains(&name.text()));
                    found.extend(wrong.map(|name| (name.text().to_owned(), name.span())));
                }
                key if DATA.contains(&key) => {}
                key if NAMED.contains(&key) => todo.extend(entry.value.entries().map(|entry| entry.value)),
                _ => {
                    todo.extend(entry.value.items().filter(|item| item.is_map()));
                    todo.extend([entry.value].into_iter().filter(|value| value.is_map()));
                }
            }
        }
    }
    found
}
