//! Walks a YAML tree like Go programs that read YAML through JSON: every number is a float, every key a string, the
//! last of duplicate keys counts, merge keys take effect where they are written. The caller chooses what is built.

use std::borrow::Cow;
use std::collections::HashMap;

use purlin_syntax::{Kind, MergeKeys, Node, Scalar};

/// A scalar as in JSON.
pub enum Leaf<'t> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'t str),
}

/// Builds values from nodes.
pub trait Build {
    /// A value.
    type Value: Clone;
    /// The entries of an unfinished mapping.
    type Map: Default;

    /// The value of a scalar.
    fn leaf(&mut self, node: Node<'_>, leaf: Leaf<'_>) -> Self::Value;
    /// The value of a sequence.
    fn list(&mut self, node: Node<'_>, items: Vec<Self::Value>) -> Self::Value;
    /// Adds an entry; the key is a node and its text.
    fn insert(&mut self, map: &mut Self::Map, key: (Node<'_>, Cow<'_, str>), value: Self::Value);
    /// The value of a mapping.
    fn map(&mut self, node: Node<'_>, entries: Self::Map) -> Self::Value;
}

/// The value of a node; the message resembles Go's.
pub fn build<B: Build>(node: Node<'_>, builder: &mut B) -> Result<B::Value, String> {
    Walk { builder, shared: HashMap::new() }.value(node)
}

struct Walk<'b, B: Build> {
    builder: &'b mut B,
    /// Targets of aliases, built once.
    shared: HashMap<u32, B::Value>,
}

impl<B: Build> Walk<'_, B> {
    fn value(&mut self, node: Node<'_>) -> Result<B::Value, String> {
        if node.is_alias() {
            return self.shared_value(node.target());
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

    /// The value of a node with several references to it, built once.
    fn shared_value(&mut self, node: Node<'_>) -> Result<B::Value, String> {
        if let Some(value) = self.shared.get(&node.index()) {
            return Ok(value.clone());
        }
        let value = self.value(node)?;
        self.shared.insert(node.index(), value.clone());
        Ok(value)
    }

    fn entries(&mut self, node: Node<'_>) -> Result<B::Map, String> {
        check_bases(node)?;
        let mut entries = B::Map::default();
        for entry in node.merged_entries(MergeKeys::InPlace) {
            let is_own = node.encloses(entry.key);
            let value = if is_own { self.value(entry.value)? } else { self.shared_value(entry.value)? };
            self.builder.insert(&mut entries, (entry.key, key_text(entry.key)?), value);
        }
        Ok(entries)
    }
}

/// Rejects a merge key whose value is not a mapping or a list of them. Those inside a base were rejected with the
/// base.
fn check_bases(node: Node<'_>) -> Result<(), String> {
    if node.tree().symbol("<<").is_none() {
        return Ok(());
    }
    let is_wrong =
        |base: Node<'_>| if base.is_list() { base.items().any(|item| !item.is_map()) } else { !base.is_map() };
    match node.entries().any(|entry| entry.key.is_merge_key() && is_wrong(entry.value)) {
        true => Err("yaml: map merge requires map or sequence of maps as the value".to_owned()),
        false => Ok(()),
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

/// A key through JSON: always a string.
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
