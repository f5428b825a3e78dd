//! Evaluated values as YAML text, laid out as Python's libraries do.

use crate::convert::key_text;
use crate::error::{Result, limit};
use crate::instance::Instances;
use crate::limits::{MAX_DEPTH, MAX_STRING};
use crate::python::float_repr;
use crate::val::{Data, Val, ValMap};
use purlin_syntax::scalar::resolve_plain;
use purlin_syntax::{Flavor, Scalar};
use std::fmt::Write;

/// The layout of YAML.
#[derive(Clone, Copy, Debug)]
pub struct YamlStyle {
    /// Blanks per level.
    pub indent: usize,
    /// Whether collections of scalars are written in one line.
    pub flow_leaves: bool,
    /// Whether keys are sorted.
    pub sorted: bool,
}

/// An evaluated value as YAML text, as Python's libraries lay it out.
pub fn to_yaml(value: &Val, instances: &dyn Instances, style: YamlStyle) -> Result<String> {
    let mut writer = YamlText { out: String::new(), instances, style };
    writer.node(value, 0, Place::Top)?;
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    Ok(writer.out)
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Top,
    Value,
    Item,
}

struct YamlText<'t> {
    out: String,
    instances: &'t dyn Instances,
    style: YamlStyle,
}

impl YamlText<'_> {
    fn node(&mut self, value: &Val, depth: usize, place: Place) -> Result<()> {
        if depth > 4 * MAX_DEPTH || self.out.len() > MAX_STRING {
            return limit("the value is too large to be written as YAML");
        }
        match &value.data {
            Data::External(external) => self.node(&external.value, depth, place),
            Data::List(items) if !items.is_empty() && !self.flows(value) => {
                if place == Place::Value {
                    self.out.push('\n');
                }
                let dashes = if place == Place::Value { depth.saturating_sub(1) } else { depth };
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || place != Place::Item {
                        self.indent(dashes);
                    }
                    self.out.push('-');
                    let block = matches!(item.data, Data::List(_) | Data::Map(_)) && !self.flows(item);
                    let gap = if block { self.style.indent.saturating_sub(1).max(1) } else { 1 };
                    self.out.extend(std::iter::repeat_n(' ', gap));
                    self.node(item, dashes + 1, Place::Item)?;
                    self.end_line();
                }
                Ok(())
            }
            Data::Map(entries) if !entries.is_empty() && !self.flows(value) => {
                if place == Place::Value {
                    self.out.push('\n');
                }
                let mut entries: Vec<_> = entries.iter().collect();
                if self.style.sorted {
                    entries.sort_by_key(|(key, _)| key_text(key));
                }
                for (at, (key, item)) in entries.into_iter().enumerate() {
                    if at > 0 || place != Place::Item {
                        self.indent(depth);
                    }
                    self.out.push_str(&scalar(&key.to_val(), self.instances, false));
                    self.out.push(':');
                    let block = matches!(item.data, Data::List(_) | Data::Map(_)) && !self.flows(item);
                    let empty =
                        item.as_list().is_some_and(<[Val]>::is_empty) || item.as_map().is_some_and(ValMap::is_empty);
                    if !block || empty {
                        self.out.push(' ');
                    }
                    self.node(item, depth + 1, Place::Value)?;
                    self.end_line();
                }
                Ok(())
            }
            Data::List(_) | Data::Map(_) => {
                self.flow(value);
                Ok(())
            }
            _ => {
                self.out.push_str(&scalar(value, self.instances, false));
                Ok(())
            }
        }
    }

    fn flows(&self, value: &Val) -> bool {
        let leaf = |item: &Val| !matches!(item.data, Data::List(_) | Data::Map(_));
        self.style.flow_leaves
            && (value.as_list().is_some_and(|items| items.iter().all(leaf))
                || value.as_map().is_some_and(|entries| entries.values().all(leaf)))
    }

    fn flow(&mut self, value: &Val) {
        match &value.data {
            Data::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.flow(item);
                }
                self.out.push(']');
            }
            Data::Map(entries) => {
                self.out.push('{');
                for (at, (key, item)) in entries.iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.out.push_str(&scalar(&key.to_val(), self.instances, true));
                    self.out.push_str(": ");
                    self.flow(item);
                }
                self.out.push('}');
            }
            _ => self.out.push_str(&scalar(value, self.instances, true)),
        }
    }

    fn indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n(' ', depth * self.style.indent));
    }

    fn end_line(&mut self) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}

/// A scalar; within `[…]` and `{…}` their brackets must be quoted.
fn scalar(value: &Val, instances: &dyn Instances, flow: bool) -> String {
    match &value.data {
        Data::Null => "null".into(),
        Data::Bool(b) => b.to_string(),
        Data::Int(n) => n.to_string(),
        Data::Float(x) => float_repr(*x),
        Data::Str(text) => yaml_string(text, flow),
        _ => yaml_string(&crate::python::to_text(value, instances), flow),
    }
}

fn yaml_string(text: &str, flow: bool) -> String {
    let indicator = text.starts_with([
        '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '=',
    ]);
    let marks = text.contains(['\n', '\t'])
        || text.contains(": ")
        || text.contains(" #")
        || text.ends_with(':')
        || flow && text.contains([',', '[', ']', '{', '}', '?']);
    let blank = text.is_empty() || text.trim() != text;
    let plain = !(indicator || marks || blank) && matches!(resolve_plain(text, Flavor::Python), Scalar::Str);
    if plain {
        return text.to_owned();
    }
    if text.contains(|c: char| c.is_control()) {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if c.is_control() => {
                    let _ = write!(out, "\\x{:02x}", c as u32);
                }
                c => out.push(c),
            }
        }
        out.push('"');
        return out;
    }
    format!("'{}'", text.replace('\'', "''"))
}
