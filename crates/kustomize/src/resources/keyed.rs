//! Lists whose items are identified by two keys, the second of which may be missing: ports by number and protocol.
//!
//! The original compares such items as written and not as the cluster reads them, so that an item of a patch is lost if
//! only one of the two has a protocol. Its algorithm is reproduced step by step.

use crate::edit::as_list;
use crate::names::scalar_text;
use ecow::EcoString;
use purlin_value::{FastMap, FastSet, Value};

/// Longer lists are joined as if every item had its second key: this algorithm compares all items with each other.
const MOST_ITEMS: usize = 500;

/// Identity of an item; empty strings for missing keys.
type Known = [EcoString; 2];

fn known(item: &Value, keys: [&str; 2]) -> Known {
    keys.map(|key| item.get(key).and_then(scalar_text).unwrap_or_default())
}

/// Whether some items have the second key and some do not.
pub fn is_uneven(base: &Value, patch: &Value, keys: [&str; 2]) -> bool {
    let items = || [base, patch].into_iter().filter_map(Value::as_list).flatten();
    let says = |item: &&Value| item.get(keys[1]).is_some_and(|value| !value.is_null());
    items().count() <= MOST_ITEMS && items().any(|item| says(&item)) && items().any(|item| !says(&item))
}

/// Joins the items of a patch with those of a list. `merge` joins two items; it returns `None` if the item is removed.
/// Returns the items of the patch that are lost.
pub fn join(
    base: &mut Value,
    patch: &Value,
    keys: [&str; 2],
    mut merge: impl FnMut(Option<Value>, Option<&Value>) -> Option<Value>,
) -> Vec<Value> {
    let patches = patch.as_list().unwrap_or_default();
    let Some(items) = as_list(base) else { return Vec::new() };
    let mut made: Vec<Value> = Vec::new();
    let mut used: FastSet<usize> = FastSet::default();
    for known in sides(patches, items, keys) {
        let fits = |item: &Value| (0..2).all(|at| known[at].is_empty() || self::known(item, keys)[at] == known[at]);
        let (own, change) = (items.iter().position(fits), patches.iter().position(fits));
        used.extend(change);
        let merged = merge(own.and_then(|at| items.get(at).cloned()), change.and_then(|at| patches.get(at)));
        let Some(merged) = merged else {
            items.retain(|item| !says_all(item, keys, &known));
            continue;
        };
        // The original changes the item in place.
        if let Some(place) = own.and_then(|at| items.get_mut(at)) {
            *place = merged.clone();
        }
        put(&mut made, merged, keys, &known);
    }
    for item in std::mem::take(&mut **items) {
        append(&mut made, item, keys);
    }
    let is_kept = |change: &Value| made.iter().any(|item| holds(item, change));
    let lost = patches.iter().enumerate().filter(|(at, change)| {
        let is_removal = change.get("$patch").is_some();
        if is_removal { !used.contains(at) } else { !is_kept(change) }
    });
    let lost = lost.map(|(_, change)| change.clone()).collect();
    **items = made;
    lost
}

/// Whether an item has all keys of another.
fn holds(item: &Value, said: &Value) -> bool {
    said.as_map().is_none_or(|map| map.iter().all(|(key, value)| item.get(key) == Some(value)))
}

/// Identities of all items, those of the patch first. An item without its second key counts as one that has it and the
/// same first key: as the first of those before it, or else as the last behind it.
fn sides(patches: &[Value], items: &[Value], keys: [&str; 2]) -> Vec<Known> {
    let mut seen: FastSet<Known> = FastSet::default();
    let all = patches.iter().chain(items).map(|item| known(item, keys));
    let mut found: Vec<Known> = all.filter(|known| seen.insert(known.clone())).collect();
    let mut first: FastMap<EcoString, (usize, EcoString)> = FastMap::default();
    let mut last: FastMap<EcoString, EcoString> = FastMap::default();
    for (at, [key, second]) in found.iter().enumerate().filter(|(_, known)| !known[1].is_empty()) {
        first.entry(key.clone()).or_insert_with(|| (at, second.clone()));
        last.insert(key.clone(), second.clone());
    }
    for (at, [key, second]) in found.iter_mut().enumerate() {
        if !second.is_empty() || key.is_empty() {
            continue;
        }
        let said = first.get(key).map(|(place, early)| if *place < at { Some(early) } else { last.get(key) });
        *second = said.flatten().cloned().unwrap_or_default();
    }
    found
}

/// Whether an item has both keys, with these values unless they are empty.
fn says_all(item: &Value, keys: [&str; 2], wanted: &Known) -> bool {
    let own = known(item, keys);
    (0..2).all(|at| if wanted[at].is_empty() { !own[at].is_empty() } else { own[at] == wanted[at] })
}

/// Puts an item in the place of those that are known by the same, or behind all.
fn put(made: &mut Vec<Value>, item: Value, keys: [&str; 2], known: &Known) {
    let mut is_there = false;
    for place in made.iter_mut().filter(|place| says_all(place, keys, known)) {
        *place = item.clone();
        is_there = true;
    }
    if !is_there {
        made.push(item);
    }
}

/// Adds an item of the list itself. One without the second key takes the place of all with its first key.
fn append(made: &mut Vec<Value>, item: Value, keys: [&str; 2]) {
    let own = known(&item, keys);
    match (own[0].is_empty(), own[1].is_empty()) {
        (false, false) => {
            made.retain(|known| !says_all(known, keys, &own));
            made.push(item);
        }
        (true, _) => made.push(item),
        (false, true) => {
            made.retain(|known| self::known(known, keys)[0] != own[0]);
            made.push(item);
        }
    }
}
