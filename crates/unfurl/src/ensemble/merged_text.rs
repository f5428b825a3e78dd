//! A service template that merge directives put together, as text that TOSCA reads.
//!
//! Scalars are written as the user wrote them, so that TOSCA reads what it would have read there. What is secret keeps
//! its mark.

use crate::limits::{MAX_DEPTH, MAX_FILE};
use crate::python::float_repr;
use crate::val::{Data, MapKey, Val};
use purlin_value::Session;

/// The text of a merged value in flow style; none if it is too large.
pub fn text(session: &Session, value: &Val) -> Option<String> {
    let mut writer = Writer { session, out: String::new() };
    writer.value(value, 0)?;
    writer.out.push('\n');
    Some(writer.out)
}

struct Writer<'s> {
    session: &'s Session,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Val, depth: usize) -> Option<()> {
        if depth > 4 * MAX_DEPTH || self.out.len() > MAX_FILE {
            return None;
        }
        if value.is_tainted() {
            self.out.push_str("!sensitive ");
        }
        match &value.data {
            Data::List(items) => {
                self.out.push('[');
                for item in items.iter() {
                    self.value(item, depth + 1)?;
                    self.out.push(',');
                }
                self.out.push(']');
            }
            Data::Map(entries) => {
                self.out.push('{');
                for (key, item) in entries.iter() {
                    self.key(key);
                    self.value(item, depth + 1)?;
                    self.out.push(',');
                }
                self.out.push('}');
            }
            _ => self.scalar(value),
        }
        Some(())
    }

    fn key(&mut self, key: &MapKey) {
        match key {
            MapKey::Str(text) => self.quoted(text),
            other => self.out.push_str(&crate::convert::key_text(other)),
        }
        self.out.push_str(": ");
    }

    fn scalar(&mut self, value: &Val) {
        if let Some(written) = self.plain(value) {
            self.out.push_str(&written);
            return;
        }
        match &value.data {
            Data::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Data::Int(number) => self.out.push_str(&number.to_string()),
            Data::Float(number) if number.is_finite() => self.out.push_str(&float_repr(*number)),
            Data::Float(number) if number.is_nan() => self.out.push_str(".nan"),
            Data::Float(number) => self.out.push_str(if *number > 0.0 { ".inf" } else { "-.inf" }),
            Data::Str(text) => self.quoted(text),
            _ => self.out.push_str("null"),
        }
    }

    /// How a scalar is written where it comes from, if that is a number, a date or a word without quotes.
    fn plain(&self, value: &Val) -> Option<String> {
        if matches!(&value.data, Data::Str(text) if !text.starts_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        let span = self.session.origins.span(value.origin, &self.session.sources)?;
        let source = self.session.sources.get(span.file)?;
        let written = source.slice(span);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_');
        let same = match &value.data {
            Data::Str(text) => written == text,
            Data::Int(_) | Data::Float(_) | Data::Bool(_) => true,
            _ => false,
        };
        (same && !written.is_empty() && written.chars().all(is_plain)).then(|| written.to_owned())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\t' => self.out.push_str("\\t"),
                '\r' => self.out.push_str("\\r"),
                c if c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}') => {
                    self.out.push_str(&format!("\\U{:08x}", u32::from(c)));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
