//! A service template merged by directives, as a tree that TOSCA reads.
//!
//! Scalars keep the user's spelling, so that TOSCA reads the same values. Secrets keep their mark. The tree itself has
//! no source: each of its nodes has a location of its own, by which [`crate::ensemble::places`] finds the real one.

use crate::limits::{MAX_DEPTH, MAX_FILE};
use crate::python::float_repr;
use crate::val::{Data, MapKey, Val};
use ecow::EcoString;
use purlin_syntax::tree::Builder;
use purlin_syntax::{Flavor, Properties, Style, Tree};
use purlin_value::Session;
use std::sync::Arc;

/// The tree of a merged value; none if it is too large.
pub fn tree(session: &Session, path: &str, value: &Val) -> Option<Arc<Tree>> {
    let source = session.sources.insert(path, "");
    let builder = Builder::new(source, Flavor::Core, &session.limits);
    let mut writer = Writer { session, builder, place: 0, bytes: 0 };
    writer.value(value, 0)?;
    let tree = writer.builder.finish(writer.place);
    tree.is_sound().then(|| session.sources.add(tree))
}

struct Writer<'s> {
    session: &'s Session,
    builder: Builder<'s>,
    /// The location of the last node.
    place: usize,
    bytes: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Val, depth: usize) -> Option<()> {
        if depth > 4 * MAX_DEPTH || self.bytes > MAX_FILE {
            return None;
        }
        match &value.data {
            Data::List(items) => {
                let place = self.next(1);
                self.builder.begin_list(Style::Block, place, mark(value)).then_some(())?;
                items.iter().try_for_each(|item| self.value(item, depth + 1))?;
                self.builder.end_collection(self.place);
            }
            Data::Map(entries) => {
                let place = self.next(1);
                self.builder.begin_map(Style::Block, place, mark(value)).then_some(())?;
                for (key, item) in entries.iter() {
                    self.key(key);
                    self.value(item, depth + 1)?;
                }
                self.builder.end_collection(self.place);
            }
            _ => self.scalar(value),
        }
        Some(())
    }

    /// A location that no other node has.
    fn next(&mut self, bytes: usize) -> usize {
        self.bytes += bytes;
        self.place += 2;
        self.place
    }

    fn leaf(&mut self, text: &str, style: Style, properties: Properties) {
        let place = self.next(text.len() + 1);
        self.builder.scalar(text, style, place, place + 1, properties);
    }

    fn key(&mut self, key: &MapKey) {
        match key {
            MapKey::Str(text) => self.leaf(text, Style::Double, Properties::default()),
            other => self.leaf(&crate::convert::key_text(other), Style::Plain, Properties::default()),
        }
    }

    fn scalar(&mut self, value: &Val) {
        let (style, text) = match (self.plain(value), &value.data) {
            (Some(written), _) => (Style::Plain, written),
            (None, Data::Str(text)) => (Style::Double, text.clone()),
            (None, data) => (Style::Plain, number(data)),
        };
        self.leaf(&text, style, mark(value));
    }

    /// The source text of a scalar, if it is a number, a date or a plain word.
    fn plain(&self, value: &Val) -> Option<EcoString> {
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
        (same && !written.is_empty() && written.chars().all(is_plain)).then(|| written.into())
    }
}

/// The mark of secrets.
fn mark(value: &Val) -> Properties {
    Properties { tag: value.is_tainted().then(|| "!sensitive".into()), anchor: 0 }
}

fn number(data: &Data) -> EcoString {
    match data {
        Data::Bool(b) => if *b { "true" } else { "false" }.into(),
        Data::Int(number) => ecow::eco_format!("{number}"),
        Data::Float(number) if number.is_finite() => float_repr(*number).into(),
        Data::Float(number) if number.is_nan() => ".nan".into(),
        Data::Float(number) => if *number > 0.0 { ".inf" } else { "-.inf" }.into(),
        _ => "null".into(),
    }
}
