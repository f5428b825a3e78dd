//! Turns nodes of a tree into values.
//!
//! Aliases become shared values; merge keys (`<<`) are applied. Every value's origin is its node.

use crate::origin::Origin;
use crate::taint::Taint;
use crate::value::{Data, Entries, Map, Value};
use ecow::EcoString;
use purlin_syntax::{Kind, MergeKeys, Node, Scalar};
use std::collections::HashMap;
use std::sync::Arc;

/// The value of a node and all below it.
pub fn value_of(node: Node<'_>, merge_keys: MergeKeys) -> Value {
    Reader { merge_keys, shared: HashMap::new() }.read(node)
}

struct Reader {
    merge_keys: MergeKeys,
    /// Values of anchored nodes, so that aliases share them.
    shared: HashMap<u32, Value>,
}

impl Reader {
    /// Depth is bounded by the tree's own limit.
    fn read(&mut self, node: Node<'_>) -> Value {
        if node.is_alias() {
            return self.read_shared(node.target());
        }
        let data = match node.kind() {
            Kind::Scalar => scalar_data(node),
            Kind::List => Data::List(Arc::new(node.items().map(|item| self.read(item)).collect::<Vec<_>>().into())),
            Kind::Map => Data::Map(Arc::new(self.map(node))),
            Kind::Alias | Kind::Error => Data::Poison,
        };
        Value::of(data, Origin::node(node), Taint::NONE)
    }

    /// The value of a node with several references to it, made once.
    fn read_shared(&mut self, node: Node<'_>) -> Value {
        if let Some(value) = self.shared.get(&node.index()) {
            return value.clone();
        }
        let value = self.read(node);
        self.shared.insert(node.index(), value.clone());
        value
    }

    fn map(&mut self, node: Node<'_>) -> Map {
        let mut entries = Entries::default();
        for entry in node.merged_entries(self.merge_keys) {
            let is_own = node.encloses(entry.key);
            let value = if is_own { self.read(entry.value) } else { self.read_shared(entry.value) };
            entries.insert(key_text(entry.key), value);
        }
        entries.into_iter().collect()
    }
}

/// The text of a key; a collection as a key is written in one line.
pub fn key_text(key: Node<'_>) -> EcoString {
    if key.is_scalar() {
        return if key.is_null() && key.text().is_empty() { EcoString::from("null") } else { key.eco_text() };
    }
    EcoString::from(key.tree().source().slice(key.span()))
}

/// The data of a scalar node.
pub fn scalar_data(node: Node<'_>) -> Data {
    match node.scalar() {
        Scalar::Null => Data::Null,
        Scalar::Bool(value) => Data::Bool(value),
        Scalar::Int(value) => Data::Int(value),
        Scalar::Float(value) => Data::Float(value),
        Scalar::BigInt => Data::BigInt(decimal_text(node.text())),
        Scalar::Str | Scalar::Timestamp => Data::Str(node.eco_text()),
    }
}

fn decimal_text(text: &str) -> EcoString {
    let plain = text.strip_prefix('+').unwrap_or(text);
    if plain.contains('_') { plain.replace('_', "").into() } else { plain.into() }
}
