//! Phase 1, the extended edition: notations that only a host's files use.
//!
//! Several parents, a section of types of any kind, inputs that are values rather than definitions. The table still
//! says which keys are allowed; this file only reads the shapes that no edition of the standard has.

use crate::entities;
use crate::entity::{Content, Defs, Entity, Slot};
use crate::hierarchy::MIXINS;
use crate::names::SECTIONS;
use crate::read::Reader;
use crate::val::{Data, Text, Val, merged_entries};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_model::Kind;
use purlin_syntax::tree::Entry;
use purlin_syntax::{Node, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// The part of a type's name that shows its kind.
const FAMILIES: &[(&str, Kind)] = &[
    ("nodes", entities::NODE_TYPE),
    ("relationships", entities::RELATIONSHIP_TYPE),
    ("capabilities", entities::CAPABILITY_TYPE),
    ("datatypes", entities::DATA_TYPE),
    ("artifacts", entities::ARTIFACT_TYPE),
    ("artifact", entities::ARTIFACT_TYPE),
    ("interfaces", entities::INTERFACE_TYPE),
    ("groups", entities::GROUP_TYPE),
    ("policies", entities::POLICY_TYPE),
];

/// Built-in data types that user types may derive from.
const VALUES: &[&str] =
    &["string", "integer", "float", "number", "boolean", "timestamp", "range", "version", "list", "map"];

impl Reader<'_> {
    /// One parent or several; the first is stored like TOSCA's only one, the others in a slot of their own.
    pub(crate) fn parents(&mut self, entity: &mut Entity, at: Span, node: Node<'_>) {
        let named = |node: Node<'_>| Some(Text { text: node.as_str()?.into(), span: node.span() });
        let mut texts = Vec::new();
        for item in node.items() {
            match named(item) {
                Some(text) => texts.push(text),
                None => self.wrong_key(at, "derived_from", crate::read::noun(item), "a string"),
            }
        }
        if texts.is_empty() {
            return;
        }
        let first = texts.remove(0);
        entity.slots.push(Slot { name: "derived_from", at, content: Content::Text(first) });
        if !texts.is_empty() {
            entity.slots.push(Slot { name: MIXINS, at, content: Content::Texts(Arc::new(texts)) });
        }
    }

    /// Types of any kind, put into the sections of their kinds.
    pub(crate) fn types(&mut self, entity: &mut Entity, at: Span, node: Node<'_>) {
        if !node.is_map() {
            self.wrong_key(at, "types", crate::read::noun(node), "a mapping");
            return;
        }
        let mut found: Vec<(Kind, EcoString, Arc<Entity>)> = Vec::new();
        let entries = merged_entries(node);
        let kinds = families(entity, &entries);
        for entry in entries {
            let name = entry.key.eco_text();
            let kind = kinds.get(&name).copied().unwrap_or(entities::NODE_TYPE);
            if let Some(read) = self.entity(kind, name.clone(), entry.key.span(), entry.value) {
                found.push((kind, name, Arc::new(read)));
            }
        }
        for (section, kind) in SECTIONS {
            let mut own: IndexMap<EcoString, Arc<Entity>> =
                entity.map(section).map(|defs| defs.own().clone()).unwrap_or_default();
            let before = own.len();
            own.extend(found.iter().filter(|(k, _, _)| *k == kind).map(|(_, name, read)| (name.clone(), read.clone())));
            if own.len() != before {
                entity.set(section, at, Content::Map(Arc::new(Defs::new(own))));
            }
        }
    }

    /// Values in the notation of tools: a list of names and values.
    pub(crate) fn named_values(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let mut out = Vec::new();
        for item in node.items() {
            let Some(name) = item.get("name").filter(|name| name.as_str().is_some()) else {
                self.wrong_key(at, key, "a list", "a map, or a list of mappings with `name` and `value`");
                return None;
            };
            if let Some(value) = item.get("value") {
                out.push((Text { text: name.eco_text(), span: name.span() }, self.value(value)));
            }
        }
        Some(Content::Values(Arc::new(out)))
    }

    /// Inputs of interfaces and operations: each a definition, or the value itself.
    pub(crate) fn parameters(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, crate::read::noun(node), "a mapping");
            return None;
        }
        let row = entities::row(entities::PARAMETER_DEFINITION);
        let mut own = IndexMap::new();
        for entry in merged_entries(node) {
            let (name, at) = (entry.key.eco_text(), entry.key.span());
            let parts = merged_entries(entry.value);
            // A value may have keys of a definition (`status: ok`); a definition has a type.
            let defines = parts.iter().any(|part| part.key.is_scalar() && part.name() == "type")
                && parts.iter().all(|part| part.key.is_scalar() && row.field(part.name(), self.edition).is_some());
            let read = if defines {
                self.entity(entities::PARAMETER_DEFINITION, name.clone(), at, entry.value)
            } else {
                let value = Slot { name: "value", at, content: Content::Value(self.value(entry.value)) };
                Some(Entity {
                    kind: entities::PARAMETER_DEFINITION,
                    edition: self.edition,
                    name: name.clone(),
                    at,
                    span: entry.value.span(),
                    slots: vec![value],
                    sensitive: false,
                })
            };
            if let Some(read) = read {
                own.insert(name, Arc::new(read));
            }
        }
        Some(Content::Map(Arc::new(Defs::new(own))))
    }
}

/// The kinds of the types in the section of all kinds: those of their ancestors, as far as this file shows.
fn families(file: &Entity, types: &[Entry<'_>]) -> HashMap<EcoString, Kind> {
    let parent = |node: Node<'_>| -> Option<EcoString> {
        let parent = node.get("derived_from")?;
        let first = if parent.is_list() { parent.items().next()? } else { parent };
        first.as_str().map(EcoString::from)
    };
    let parents: HashMap<EcoString, Option<EcoString>> =
        types.iter().map(|entry| (entry.key.eco_text(), parent(entry.value))).collect();
    let mut known: HashMap<EcoString, Kind> = HashMap::new();
    for start in parents.keys() {
        let mut path = Vec::new();
        let mut next = Some(start.clone());
        let mut kind = entities::NODE_TYPE;
        while let Some(name) = next {
            if let Some(found) = known.get(&name) {
                kind = *found;
                break;
            }
            let Some(parent) = parents.get(&name).cloned().flatten() else {
                path.push(name);
                break;
            };
            known.insert(name.clone(), entities::NODE_TYPE); // a ring ends here
            path.push(name);
            if let Some(found) = family(file, &parent) {
                kind = found;
                break;
            }
            next = Some(parent).filter(|parent| parents.contains_key(parent));
        }
        known.extend(path.into_iter().map(|name| (name, kind)));
    }
    known
}

/// The kind shown by the name of a parent.
fn family(file: &Entity, name: &str) -> Option<Kind> {
    let named = name.split(['.', ':']).find_map(|part| FAMILIES.iter().find(|(word, _)| *word == part));
    let written = || SECTIONS.iter().find(|(section, _)| file.named(section, name).is_some());
    match named.or_else(written) {
        Some((_, kind)) => Some(*kind),
        None => VALUES.contains(&name).then_some(entities::DATA_TYPE),
    }
}

/// Whether a text is a version as Unfurl reads them: TOSCA's, with an optional `v`, or a semantic one.
pub(crate) fn is_version(text: &str) -> bool {
    let (text, metadata) = match text.split_once('+') {
        Some((text, metadata)) => (text, Some(metadata)),
        None => (text, None),
    };
    let (numbers, rest) = match text.split_once('-') {
        Some((numbers, rest)) => (numbers, Some(rest)),
        None => (text, None),
    };
    let parts: Vec<&str> = numbers.strip_prefix('v').unwrap_or(numbers).split('.').collect();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_label =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let is_sound = parts.len() <= 4
        && parts.iter().take(3).all(|part| is_number(part))
        && parts.get(3).is_none_or(|qualifier| is_word(qualifier));
    // A number after the dash is a build, which needs a qualifier; anything else is a pre-release, which excludes one.
    let (build, release) = match rest {
        Some(rest) if is_number(rest) => (Some(rest), None),
        Some(rest) => match rest.split_once('-') {
            Some((build, release)) if is_number(build) => (Some(build), Some(release)),
            _ => (None, Some(rest)),
        },
        None => (None, None),
    };
    let qualifier = parts.get(3);
    let says_more = qualifier.is_some() || release.is_some() || metadata.is_some();
    let is_zero = parts.iter().take(3).all(|part| part.bytes().all(|b| b == b'0'));
    is_sound
        && release.is_none_or(is_label)
        && metadata.is_none_or(is_label)
        && (!says_more || (parts.len() >= 3 && !is_zero))
        && !(qualifier.is_some() && release.is_some())
        && (build.is_none() || qualifier.is_some())
}

/// A port specification in short: a port, or `source[-last][:target[-last]][/protocol]`. None for any other text.
pub(crate) fn port_specification(value: &Val) -> Option<Val> {
    let text = match &value.data {
        Data::Int(port) => eco_format!("{port}"),
        Data::Str(text) => text.clone(),
        _ => return None,
    };
    let (ports, protocol) = text.split_once('/').unwrap_or((&text, "tcp"));
    let (source, target) = ports.split_once(':').unwrap_or((ports, ports));
    let target = if target.is_empty() { source } else { target };
    let number = |text: &str| Some(value.with(Data::Int(text.parse().ok()?)));
    let key = |name: &str| value.with(Data::Str(name.into()));
    let mut entries = vec![(key("protocol"), value.with(Data::Str(protocol.into())))];
    for (name, range, ports) in [("source", "source_range", source), ("target", "target_range", target)] {
        entries.push(match ports.split_once('-') {
            Some((first, last)) => (key(range), value.with(Data::List(Arc::new(vec![number(first)?, number(last)?])))),
            None => (key(name), number(ports)?),
        });
    }
    Some(value.with(Data::Map(Arc::new(entries))))
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn versions_are_those_of_tosca_and_semantic_ones() {
        let good = ["1", "v1.2", "1.2.3", "1.2.3.beta-4", "1.0.0-alpha", "1.0.0-alpha.1+b5", "1.0.0-5a", "0.0.0"];
        let bad = ["", "x", "1.x", "1.2-alpha", "1.0.0-5", "0.0.0-a", "1.2.3.q-4-pre", "1.2.3.4.5", "1.0.0-"];
        good.iter().for_each(|text| assert!(is_version(text), "{text}"));
        bad.iter().for_each(|text| assert!(!is_version(text), "{text}"));
    }
}
