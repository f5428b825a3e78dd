//! Walks a YAML tree as Go programs do that read YAML through JSON: every number is a float, every key a text, of equal
//! keys the last one counts, merge keys fill in what is missing. What is built of it is the caller's.

use std::borrow::Cow;
use std::collections::HashMap;

use purlin_syntax::{Kind, Node, Scalar};

/// A scalar as JSON has it.
pub enum Leaf<'t> {
    /// Nothing.
    Null,
    /// A truth.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(&'t str),
}

/// Builds values from nodes.
pub trait Build {
    /// A value.
    type Value: Clone;
    /// The entries of a mapping on their way to a value.
    type Map: Default;

    /// The value of a scalar.
    fn leaf(&mut self, node: Node<'_>, leaf: Leaf<'_>) -> Self::Value;
    /// The value of a sequence.
    fn list(&mut self, node: Node<'_>, items: Vec<Self::Value>) -> Self::Value;
    /// Puts a value under a key, which is a node and its text.
    fn insert(&mut self, map: &mut Self::Map, key: (Node<'_>, Cow<'_, str>), value: Self::Value);
    /// The value of a mapping.
    fn map(&mut self, node: Node<'_>, entries: Self::Map) -> Self::Value;
    /// Adds the entries of a value that are not there yet; false if it is no mapping.
    fn fill(&self, map: &mut Self::Map, value: &Self::Value) -> bool;
}

/// The value of a node; the message is Go's in kind.
pub fn build<B: Build>(node: Node<'_>, builder: &mut B) -> Result<B::Value, String> {
    Walk { builder, shared: HashMap::new() }.value(node)
}

struct Walk<'b, B: Build> {
    builder: &'b mut B,
    /// What aliases refer to, built once.
    shared: HashMap<u32, B::Value>,
}

impl<B: Build> Walk<'_, B> {
    fn value(&mut self, node: Node<'_>) -> Result<B::Value, String> {
        if node.is_alias() {
            let target = node.target();
            if let Some(value) = self.shared.get(&target.index()) {
                return Ok(value.clone());
            }
            let value = self.value(target)?;
            self.shared.insert(target.index(), value.clone());
            return Ok(value);
        }
        match node.kind() {
            Kind::Scalar => {
                let leaf = leaf(node)?;
                Ok(self.builder.leaf(node, leaf))
            }
            Kind::List => {
                let items = node.items().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.builder.list(node, items))
            }
            Kind::Map => {
                let entries = self.entries(node)?;
                Ok(self.builder.map(node, entries))
            }
            Kind::Alias | Kind::Error => Ok(self.builder.leaf(node, Leaf::Null)),
        }
    }

    fn entries(&mut self, node: Node<'_>) -> Result<B::Map, String> {
        let mut entries = B::Map::default();
        let mut merged = Vec::new();
        for entry in node.entries() {
            if entry.key.is_merge_key() {
                merged.push(entry.value);
                continue;
            }
            let value = self.value(entry.value)?;
            self.builder.insert(&mut entries, (entry.key, key_text(entry.key)?), value);
        }
        for base in merged {
            self.merge(&mut entries, base)?;
        }
        Ok(entries)
    }

    fn merge(&mut self, entries: &mut B::Map, base: Node<'_>) -> Result<(), String> {
        if base.is_list() {
            for item in base.items() {
                self.merge(entries, item)?;
            }
            return Ok(());
        }
        let value = self.value(base)?;
        if self.builder.fill(entries, &value) {
            return Ok(());
        }
        Err("yaml: map merge requires map or sequence of maps as the value".to_owned())
    }
}

/// A scalar through JSON.
fn leaf(node: Node<'_>) -> Result<Leaf<'_>, String> {
    Ok(match node.scalar() {
        Scalar::Null => Leaf::Null,
        Scalar::Bool(truth) => Leaf::Bool(truth),
        Scalar::Int(number) => Leaf::Number(number as f64),
        Scalar::BigInt => Leaf::Number(node.text().replace('_', "").parse().unwrap_or(0.0)),
        Scalar::Float(number) if number.is_finite() => Leaf::Number(number),
        Scalar::Float(number) => {
            let number = crate::number::print_float(number);
            return Err(format!("error converting YAML to JSON: json: unsupported value: {number}"));
        }
        Scalar::Str | Scalar::Timestamp => Leaf::Text(node.text()),
    })
}

/// A key through JSON: always a text.
pub fn key_text(key: Node<'_>) -> Result<Cow<'_, str>, String> {
    if !key.is_scalar() {
        return Err("error converting YAML to JSON: a key is a collection".to_owned());
    }
    Ok(match key.scalar() {
        Scalar::Bool(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
        Scalar::Int(number) => Cow::Owned(number.to_string()),
        Scalar::Float(number) => Cow::Owned(crate::number::print_float(number)),
        Scalar::Null if key.text().is_empty() || key.text() == "~" || key.text().eq_ignore_ascii_case("null") => {
            Cow::Borrowed("null")
        }
        _ => Cow::Borrowed(key.text()),
    })
}
