//! The defaults of a kind, and the merge that lays a resource over them: mappings are merged inside, lists are put one
//! after the other, anything else of the resource itself wins.

use std::collections::BTreeMap;

use purlin_gotmpl::{Data, Heap, Str, Val};

use super::build::{at, entries, get};

/// Deepest nesting merged.
const MAX_DEPTH: u32 = purlin_syntax::limits::MERGE_LEVELS;

/// Keys of a definition that are not part of a manifest.
pub(crate) const OWN_KEYS: &[&str] = &["enabled", "related", "relatedComponent"];

/// The defaults of a kind.
pub fn of_kind(heap: &Heap, values: &Val, kind: &str) -> Option<Val> {
    at(heap, values, &["settings", kind, "defaults"]).filter(|value| value.as_map().is_some())
}

/// Whether a resource is enabled, by its own key or by the defaults of its kind.
pub(crate) fn is_enabled(heap: &Heap, values: &Val, kind: &str, definition: &Val) -> bool {
    let own = get(heap, definition, "enabled");
    let enabled = own.or_else(|| get(heap, &of_kind(heap, values, kind)?, "enabled"));
    enabled.is_none_or(|enabled| heap.truth(&enabled))
}

/// The `related` of a resource, from its own key or the defaults of its kind.
pub fn related(heap: &mut Heap, values: &Val, kind: &str, definition: &Val) -> Option<Val> {
    let own = get(heap, definition, "related");
    let default = of_kind(heap, values, kind).and_then(|defaults| get(heap, &defaults, "related"));
    match (default, own) {
        (Some(default), Some(own)) => Some(over(heap, &default, &own)),
        (default, own) => own.or(default),
    }
}

/// Which metadata of the defaults is laid under a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// All but the name.
    Whole,
    /// Also without labels, annotations and checksums, which are built with those of the resource.
    Rest,
}

/// A resource with the defaults of a kind below it.
pub fn apply(heap: &mut Heap, defaults: Option<Val>, resource: &Val, which: Metadata) -> Val {
    let Some(defaults) = defaults else { return resource.clone() };
    let mut plain = entries(heap, Some(&defaults));
    for key in OWN_KEYS.iter().chain(&["apiVersion", "kind"]) {
        plain.remove(key.as_bytes());
    }
    if let Some(metadata) = plain.get(b"metadata".as_slice()).cloned() {
        let mut inner = entries(heap, Some(&metadata));
        let built: &[&str] = if which == Metadata::Rest { &["labels", "annotations", "checksums"] } else { &[] };
        for key in built.iter().chain(&["name"]) {
            inner.remove(key.as_bytes());
        }
        let inner = heap.any_map(inner).at(metadata.origin);
        plain.insert(Str::from("metadata"), inner);
    }
    let plain = heap.any_map(plain).at(defaults.origin);
    over(heap, &plain, resource)
}

/// Lays a value over a weaker one.
pub fn over(heap: &mut Heap, weak: &Val, strong: &Val) -> Val {
    merge(heap, weak, strong, 0)
}

fn merge(heap: &mut Heap, weak: &Val, strong: &Val, depth: u32) -> Val {
    if depth > MAX_DEPTH {
        return strong.clone();
    }
    match (&weak.data, &strong.data) {
        (Data::Map(low), Data::Map(high)) => {
            let mut entries: BTreeMap<Str, Val> = heap.get_map(*low).entries.clone();
            let own: Vec<(Str, Val)> =
                heap.get_map(*high).entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            for (key, value) in own {
                let merged = match entries.get(&key).cloned() {
                    Some(known) => merge(heap, &known, &value, depth + 1),
                    None => value,
                };
                entries.insert(key, merged);
            }
            heap.any_map(entries).at(strong.origin)
        }
        (Data::List(low), Data::List(high)) => {
            let items: Vec<Val> = heap.items(*low).iter().chain(heap.items(*high)).cloned().collect();
            heap.any_list(items).at(strong.origin)
        }
        // An empty own value does not wipe out a default collection.
        (Data::Map(_) | Data::List(_), Data::Nil) => weak.clone(),
        _ => strong.clone(),
    }
}
