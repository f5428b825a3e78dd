//! The merge that applies a kind's defaults: maps are merged inside, lists are put one after the other, anything else
//! of the resource itself wins.

use std::collections::BTreeMap;

use purlin_gotmpl::{Data, Heap, Str, Val};

/// Deepest nesting merged.
const MAX_DEPTH: u32 = 500;

/// Lays a resource over defaults.
pub fn over_defaults(heap: &mut Heap, defaults: &Val, own: &Val) -> Val {
    merge(heap, defaults, own, 0)
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
