//! Finds the resources that the values describe: standalone ones, and those related to them.

use std::collections::BTreeMap;

use purlin_gotmpl::{Data, Heap, Val};

use super::build::{Found, Kind, at, get};
use super::defaults::{is_enabled, related};

/// Resources by kind and name.
pub type Resources = BTreeMap<String, BTreeMap<String, Found>>;

/// Two resources of one kind and name.
#[derive(Debug)]
pub struct Conflict {
    /// The kind and the name.
    pub resource: String,
    /// The problem.
    pub message: String,
    /// The origin of the second one.
    pub origin: u32,
}

/// Finds all resources; of those with the same kind and name the first one counts.
pub fn discover(heap: &mut Heap, root: &Val, kinds: &[Kind]) -> (Resources, Vec<Conflict>) {
    let values = at(heap, root, &["Values"]).unwrap_or(Val::NIL);
    let is_on = |heap: &Heap, kind: &str| {
        at(heap, &values, &["settings", kind, "disabled"]).is_none_or(|disabled| !heap.truth(&disabled))
    };
    let kinds: Vec<&Kind> = kinds.iter().filter(|kind| is_on(heap, &kind.key)).collect();
    let mut search = Search { values: &values, found: Resources::new(), conflicts: Vec::new() };
    let mut parents = Vec::new();
    for kind in &kinds {
        for (name, definition) in named(heap, get(heap, &values, &kind.key)) {
            if is_enabled(heap, &values, &kind.key, &definition) {
                parents.push((kind.key.clone(), name.clone(), definition.clone()));
                search.add(heap, Found { kind: kind.key.clone(), name, definition, related: None });
            }
        }
    }
    for (parent_kind, parent, definition) in parents {
        let Some(related) = related(heap, &values, &parent_kind, &definition) else { continue };
        let component = format!("{parent_kind}-{parent}");
        for kind in &kinds {
            for (name, definition) in named(heap, get(heap, &related, &kind.key)) {
                let related = Some(component.clone());
                search.add(heap, Found { kind: kind.key.clone(), name, definition, related });
            }
        }
    }
    (search.found, search.conflicts)
}

struct Search<'a> {
    values: &'a Val,
    found: Resources,
    conflicts: Vec<Conflict>,
}

impl Search<'_> {
    fn add(&mut self, heap: &Heap, resource: Found) {
        if !is_enabled(heap, self.values, &resource.kind, &resource.definition) {
            return;
        }
        let known = self.found.entry(resource.kind.clone()).or_default();
        let Some(first) = known.get(&resource.name) else {
            known.insert(resource.name.clone(), resource);
            return;
        };
        let name = format!("{}/{}", resource.kind, resource.name);
        let place = |found: &Found| match &found.related {
            None => format!("`{}`", found.kind),
            Some(component) => format!("`related` of `{component}`"),
        };
        let message = format!("`{name}` is defined twice: under {} and under {}", place(first), place(&resource));
        self.conflicts.push(Conflict { resource: name, message, origin: resource.definition.origin });
    }
}

fn named(heap: &Heap, map: Option<Val>) -> Vec<(String, Val)> {
    match map.map(|value| value.data) {
        Some(Data::Map(map)) => {
            let entries = heap.get_map(map).entries.iter();
            // Values that are not mappings were reported.
            let entries = entries.filter(|(_, value)| value.is_nil() || value.as_map().is_some());
            entries.map(|(name, value)| (name.text().into_owned(), value.clone())).collect()
        }
        _ => Vec::new(),
    }
}
