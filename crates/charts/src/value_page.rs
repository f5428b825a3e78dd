//! The values of a chart as a page: a table of keys with types, defaults and descriptions, from their schema.

use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value};
use std::fmt::Write;

/// Levels of a schema; the bound is for malicious files.
const DEPTH: u32 = 100;
/// Bytes of a default that is shown.
const LONGEST: usize = 120;

/// The page for a schema.
pub fn markdown(chart: &str, schema: &Value) -> String {
    let mut page = format!("# Values of {chart}\n\n| Key | Type | Default | Description |\n|---|---|---|---|\n");
    rows(schema, "", 0, &mut page);
    page
}

fn rows(schema: &Value, above: &str, depth: u32, page: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_map).filter(|_| depth < DEPTH) else { return };
    for (key, property) in properties.iter() {
        let name = if key.contains('.') { format!("\"{key}\"") } else { key.to_string() };
        let path = if above.is_empty() { name } else { format!("{above}.{name}") };
        let has_parts =
            property.get("properties").and_then(Value::as_map).is_some_and(|parts| parts.iter().next().is_some());
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        if !has_parts || !about.is_empty() {
            let default = property.get("default").filter(|_| !has_parts).map(shown).unwrap_or_default();
            let _ = writeln!(page, "| `{path}` | {} | {default} | {} |", kind(property), cell(about));
        }
        rows(property, &path, depth + 1, page);
    }
}

/// The types, without `null`, which Helm takes everywhere.
fn kind(property: &Value) -> String {
    let types: Vec<&str> = match property.get("type") {
        Some(one) if one.as_str().is_some() => one.as_str().into_iter().collect(),
        Some(several) => several.as_list().unwrap_or_default().iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let types: Vec<&str> = types.into_iter().filter(|name| *name != "null").collect();
    match (types.is_empty(), property.get("x-purlin-takes").and_then(Value::as_str)) {
        (true, Some(word)) => word.trim_start_matches("a ").to_owned(),
        _ => types.join(", "),
    }
}

fn shown(default: &Value) -> String {
    let text = to_json(default, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let rest = if end < text.len() { "…" } else { "" };
    format!("`{}{rest}`", cell(text.get(..end).unwrap_or_default()).replace('`', "'"))
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', "<br>").replace('|', "\\|")
}
