//! Prints records of releases as Helm does: its tables, JSON and YAML.

use purlin_charts::release;
use purlin_gotmpl::time::Time;
use purlin_syntax::write::{GoStyle, GoYamlWriter};
use purlin_value::{Secrets, emit};
use serde_json::Value as Json;
use std::fmt::Write;

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    #[default]
    Table,
    /// One line of JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Form {
    /// The form of a name.
    pub(super) fn of(name: &str) -> Result<Form, String> {
        match name {
            "table" => Ok(Form::Table),
            "json" => Ok(Form::Json),
            "yaml" => Ok(Form::Yaml),
            other => Err(format!("invalid argument {other:?} for \"-o, --output\" flag: invalid format type")),
        }
    }

    /// A value in this form; a table is the caller's.
    pub(super) fn text(self, value: &Json) -> String {
        match self {
            Form::Yaml => yaml(value),
            Form::Json | Form::Table => json(value),
        }
    }
}

/// A value as Go's encoder writes it, with a line break.
pub(super) fn json(value: &Json) -> String {
    let mut out = String::new();
    // These characters occur in strings only.
    for ch in value.to_string().chars() {
        match ch {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(ch));
            }
            other => out.push(other),
        }
    }
    out + "\n"
}

/// A value as Helm writes YAML: with its keys in order.
pub(super) fn yaml(value: &Json) -> String {
    let read = release::read(&value.to_string()).unwrap_or_default();
    let mut writer = GoYamlWriter::new(GoStyle::Kubernetes);
    emit(&read, Secrets::Reveal, &mut writer);
    let mut text = writer.finish().unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Columns as wide as their widest cell, with tabs between them.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        out.push_str(&cells.collect::<Vec<String>>().join("\t"));
        out.push('\n');
    }
    // A table without rows is an empty line.
    if rows.is_empty() { "\n".to_owned() } else { out }
}

/// A row of texts.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// A time of a record; `None` if it has none.
pub(super) fn time(text: &str) -> Option<Time> {
    let time = Time::parse("2006-01-02T15:04:05.999999999Z07:00", text).ok()?;
    (time.unix() != Time::zero().unix()).then_some(time)
}

/// A time of a record as `helm status` shows it.
pub(super) fn short_time(text: &str) -> Option<String> {
    time(text).map(|time| time.format("Mon Jan _2 15:04:05 2006"))
}

/// A table of the server, aligned as kubectl does; `header` tells whether its names are shown.
pub(super) fn server_table(table: &Json, header: bool) -> String {
    let columns = table.get("columnDefinitions").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let is_shown =
        |at: usize| columns.get(at).and_then(|column| column.get("priority")).and_then(Json::as_i64).unwrap_or(0) == 0;
    let mut rows: Vec<Vec<String>> = Vec::new();
    if header {
        let names = columns.iter().enumerate().filter(|(at, _)| is_shown(*at));
        rows.push(names.map(|(_, one)| one.get("name").and_then(Json::as_str).unwrap_or("").to_uppercase()).collect());
    }
    for row in table.get("rows").and_then(Json::as_array).into_iter().flatten() {
        let cells = row.get("cells").and_then(Json::as_array).into_iter().flatten().enumerate();
        rows.push(cells.filter(|(at, _)| is_shown(*at)).map(|(_, cell)| cell_text(cell)).collect());
    }
    aligned(&rows)
}

fn cell_text(cell: &Json) -> String {
    let text = match cell {
        Json::String(text) => text.clone(),
        Json::Null => "<none>".to_owned(),
        other => other.to_string(),
    };
    let line = text.split('\n').next().unwrap_or_default();
    purlin_syntax::print::escape(line).into_owned()
}

/// At least six characters a column, three blanks between them, the last one as it is.
fn aligned(rows: &[Vec<String>]) -> String {
    const LEAST: usize = 6;
    const BETWEEN: usize = 3;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| (width(at).unwrap_or(0) + BETWEEN).max(LEAST)).collect();
    let mut out = String::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            let width = widths.get(at).copied().filter(|_| at + 1 < row.len()).unwrap_or(0);
            let _ = write!(out, "{cell:width$}");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_escaped_as_in_go() {
        assert_eq!(json(&json!({ "a": "<b> & c" })), "{\"a\":\"\\u003cb\\u003e \\u0026 c\"}\n");
    }

    #[test]
    fn tables_have_columns_of_one_width() {
        let rows = [row(["NAME", "STATUS"]), row(["a", "deployed"])];
        assert_eq!(table(&rows), "NAME\tSTATUS  \na   \tdeployed\n");
        let found = json!({ "columnDefinitions": [{ "name": "Name" }, { "name": "Ready" }, { "name": "Wide", "priority": 1 }],
            "rows": [{ "cells": ["web-1234", "1/1", "x"] }] });
        assert_eq!(server_table(&found, true), "NAME       READY\nweb-1234   1/1\n");
    }

    #[test]
    fn times_are_shown_as_go_shows_them() {
        let text = "2026-03-05T14:07:09.0123Z";
        assert_eq!(short_time(text).unwrap(), "Thu Mar  5 14:07:09 2026");
        assert_eq!(time(text).unwrap().to_string(), "2026-03-05 14:07:09.0123 +0000 UTC");
        assert_eq!(time("2026-03-05T23:07:09.5-07:00").unwrap().to_string(), "2026-03-05 23:07:09.5 -0700 -0700");
        assert!(time("0001-01-01T00:00:00Z").is_none() && time("").is_none());
    }
}
