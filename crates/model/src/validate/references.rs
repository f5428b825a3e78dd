//! Targets of the references of a schema: pointers, anchors and identifiers inside it.

use super::MAX_DEPTH;
use purlin_value::{Data, EcoString, Value};
use std::collections::HashMap;

/// The named parts of a schema.
pub(super) struct Names {
    own: EcoString,
    identifiers: HashMap<EcoString, Value>,
    anchors: HashMap<EcoString, Value>,
}

/// A reference leads out of the schema.
pub(super) struct Elsewhere;

impl Names {
    /// Collects them.
    pub fn of(root: &Value) -> Result<Self, String> {
        let own = identifier(root).unwrap_or_default().trim_end_matches('#').into();
        let mut names = Names { own, identifiers: HashMap::new(), anchors: HashMap::new() };
        names.collect(root, 0)?;
        Ok(names)
    }

    fn collect(&mut self, node: &Value, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("the schema is nested too deeply".to_owned());
        }
        if let Some(id) = identifier(node) {
            match id.strip_prefix('#') {
                Some(anchor) => add(&mut self.anchors, anchor, node),
                None => {
                    let id = id.trim_end_matches('#');
                    add(&mut self.identifiers, id, node);
                    // A relative reference is the last part of an identifier.
                    id.match_indices('/').for_each(|(at, _)| add(&mut self.identifiers, &id[at + 1..], node));
                }
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = node.get(key).and_then(Value::as_str) {
                add(&mut self.anchors, anchor, node);
            }
        }
        match &node.data {
            Data::Map(map) => map.values().try_for_each(|child| self.collect(child, depth + 1)),
            Data::List(items) => items.iter().try_for_each(|child| self.collect(child, depth + 1)),
            _ => Ok(()),
        }
    }

    /// The target of a reference, if it exists.
    pub fn resolve(&self, root: &Value, reference: &str) -> Result<Option<Value>, Elsewhere> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let start = match base {
            "" => root,
            base if base == self.own => root,
            base => match self.identifiers.get(base) {
                Some(start) => start,
                // The schemas of drafts describe schemas; a reference to one accepts any.
                None if base.starts_with("http://json-schema.org/") => return Ok(None),
                None => return Err(Elsewhere),
            },
        };
        Ok(match fragment.strip_prefix('/') {
            Some(pointer) => at_pointer(start, pointer),
            None if fragment.is_empty() => Some(start.clone()),
            None => self.anchors.get(fragment).cloned(),
        })
    }
}

/// The first part with a name wins.
fn add(names: &mut HashMap<EcoString, Value>, name: &str, node: &Value) {
    names.entry(name.into()).or_insert_with(|| node.clone());
}

fn identifier(node: &Value) -> Option<&str> {
    node.get("$id").or_else(|| node.get("id")).and_then(Value::as_str)
}

fn at_pointer(start: &Value, pointer: &str) -> Option<Value> {
    let mut current = start;
    for step in pointer.split('/') {
        let step = percent_decoded(step).replace("~1", "/").replace("~0", "~");
        current = match &current.data {
            Data::Map(map) => map.get(step.as_str())?,
            Data::List(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(current.clone())
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
