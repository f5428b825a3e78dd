//! The references of an expression, found in its text alone.

use crate::eval::form::{Expr, Form};
use crate::jinja;
use crate::query::{Key, Operand, Query, Segment, Start};
use crate::val::{Data, Val};

/// The keys that an expression follows, starting with its first one.
pub fn keys(raw: &Val) -> Vec<String> {
    let text = match &raw.data {
        Data::Str(text) => Some(text.as_str()),
        Data::Map(entries) => Form::of(entries).and_then(|form| match form.expr {
            Expr::Eval(expr) => expr.as_str(),
            Expr::Standalone(_) => None,
        }),
        _ => None,
    };
    match text.filter(|text| !jinja::is_template(text)).map(crate::query::parse) {
        Some(Ok(query)) => of_query(&query),
        _ => vec!["$start".to_owned()],
    }
}

fn of_query(query: &Query) -> Vec<String> {
    let mut out = Vec::new();
    let mut segments = query.segments.as_slice();
    match &query.start {
        Start::Current => out.push("$start".to_owned()),
        Start::Ancestors => out.extend(["$start".to_owned(), ".ancestors".to_owned()]),
        Start::Variable(name) => {
            out.push(name.to_string());
            segments = segments.get(1..).unwrap_or(&[]);
        }
        Start::All => {
            out.push("$start".to_owned());
            if let Some((Segment { key: Key::Name(name), .. }, rest)) = segments.split_first() {
                out.push(format!("::{name}"));
                segments = rest;
            }
        }
    }
    for segment in segments {
        of_segment(segment, &mut out);
    }
    out
}

fn of_segment(segment: &Segment, out: &mut Vec<String>) {
    let name = key_text(&segment.key);
    let by_name = segment.key == Key::Empty && !segment.filters.is_empty();
    if !name.is_empty() {
        out.push(name);
    }
    for filter in &segment.filters {
        for inner in &filter.segments {
            let Some(Operand::Text(text)) = inner.test.as_ref().map(|test| &test.operand) else { continue };
            // `[.name=x]` is the way to find an instance by its name.
            if !(by_name && key_text(&inner.key) == ".name") {
                out.push(key_text(&inner.key));
            }
            out.push(text.to_string());
        }
    }
}

/// A key as written.
pub fn key_text(key: &Key) -> String {
    match key {
        Key::Empty => String::new(),
        Key::All => "*".to_owned(),
        Key::Index(index) => index.to_string(),
        Key::Variable(name) => format!("${name}"),
        Key::Special(_, text) | Key::Name(text) => text.to_string(),
    }
}
