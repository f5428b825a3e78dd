//! Strategic merge: maps are joined, lists of known things by their key, all else is replaced; null removes.
//!
//! Which lists are joined is known for Kubernetes' own kinds; resources of other groups have theirs replaced. It must
//! not know which resource a patch is for.

use crate::edit::{as_list, as_map, take};
use purlin_value::{Data, Map, Session, Value};
use std::sync::Arc;

/// Lists that are joined, by their own key, and the keys that identify an item.
const JOINED: &[(&str, &[&str])] = &[
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("env", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("imagePullSecrets", &["name"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("secrets", &["name"]),
    ("conditions", &["type"]),
    ("webhooks", &["name"]),
    ("ownerReferences", &["uid"]),
    ("resourceClaims", &["name"]),
];

/// What becomes of lists of known things.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// They are replaced, as any other list is.
    Replaced,
    /// Items of the patch come first: Kustomize.
    PatchFirst,
    /// Items of the patch keep its order, and the others their place before those that followed them: `kubectl patch`.
    Interleaved,
}

/// Merges a patch into a value; `key` is the key both are under.
pub fn merge(base: &mut Value, patch: &Value, key: &str, lists: Lists) {
    match (as_map(base).is_some(), patch.as_map()) {
        (true, Some(entries)) => merge_maps(base, entries, lists),
        (false, Some(_)) => *base = cleaned(patch),
        _ => match identity(key, patch, lists) {
            Some(keys) if base.as_list().is_some() => merge_lists(base, patch, keys, lists),
            _ if key == "finalizers" && base.as_list().is_some() => merge_texts(base, patch, lists),
            _ => *base = cleaned(patch),
        },
    }
}

fn merge_maps(base: &mut Value, patch: &Map, lists: Lists) {
    if patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        *base = cleaned(&Value::map(patch.clone()).with_origin(base.origin));
        return;
    }
    for (key, value) in patch.iter() {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone: Vec<&str> = value.as_list().unwrap_or_default().iter().filter_map(Value::as_str).collect();
            if let Some(items) = as_map(base).and_then(|map| map.get_mut(list)).and_then(as_list) {
                items.retain(|item| item.as_str().is_none_or(|text| !gone.contains(&text)));
            }
            continue;
        }
        if key.starts_with('$') {
            continue;
        }
        if value.is_null() || is_deleted(value) {
            take(base, key);
            continue;
        }
        let Some(map) = as_map(base) else { return };
        match map.get_mut(key.as_str()) {
            Some(old) => merge(old, value, key, lists),
            None => {
                map.insert(key.clone(), cleaned(value));
            }
        }
    }
}

fn is_deleted(value: &Value) -> bool {
    value.get("$patch").and_then(Value::as_str) == Some("delete")
}

/// The keys that identify the items of a list, if it is one that is joined.
fn identity(key: &str, patch: &Value, lists: Lists) -> Option<&'static [&'static str]> {
    let items = patch.as_list().filter(|_| lists != Lists::Replaced)?;
    let keys: &[&str] = if key == "ports" {
        let by_container = items.iter().any(|item| item.get("containerPort").is_some());
        if by_container { &["containerPort", "protocol"] } else { &["port", "protocol"] }
    } else {
        JOINED.iter().find(|(known, _)| *known == key).map(|(_, keys)| *keys)?
    };
    // One key is enough for `kubectl`.
    Some(if lists == Lists::Interleaved { keys.get(..1).unwrap_or(keys) } else { keys })
}

/// Joins items of the same identity.
fn merge_lists(base: &mut Value, patch: &Value, keys: &[&str], lists: Lists) {
    match lists {
        Lists::Interleaved => interleave(base, patch, |a, b| same_identity(a, b, keys)),
        _ => merge_first(base, patch, keys, lists),
    }
}

/// Items of the patch in its order; each other item before the first of those that followed it.
fn interleave(base: &mut Value, patch: &Value, is_same: impl Fn(&Value, &Value) -> bool) {
    let Some(items) = as_list(base) else { return };
    let patches = patch.as_list().unwrap_or_default();
    let directive = |item: &Value| item.get("$patch").and_then(Value::as_str).map(str::to_owned);
    if patches.iter().any(|item| directive(item).as_deref() == Some("replace")) {
        items.clear();
    }
    let mut rest: Vec<Option<Value>> = std::mem::take(&mut **items).into_iter().map(Some).collect();
    let mut joined: Vec<(Option<usize>, Value)> = Vec::new();
    for item in patches {
        let at = rest.iter().position(|old| old.as_ref().is_some_and(|old| is_same(old, item)));
        let old = at.and_then(|at| rest.get_mut(at)).and_then(Option::take);
        if directive(item).is_some() {
            continue;
        }
        let merged = match old {
            Some(mut old) => {
                merge(&mut old, item, "", Lists::Interleaved);
                old
            }
            None => cleaned(item),
        };
        joined.push((at, merged));
    }
    let mut from = 0;
    for (place, item) in rest.into_iter().enumerate().filter_map(|(place, item)| Some((place, item?))) {
        let follows = |(before, _): &(Option<usize>, Value)| before.is_some_and(|before| before > place);
        let at = joined.iter().skip(from).position(follows).map_or(joined.len(), |at| from + at);
        joined.insert(at, (Some(place), item));
        from = at + 1;
    }
    **items = joined.into_iter().map(|(_, item)| item).collect();
}

/// Items of the patch come first, in its order, each joined with the item of the same identity; the others follow.
fn merge_first(base: &mut Value, patch: &Value, keys: &[&str], lists: Lists) {
    let Some(items) = as_list(base) else { return };
    let mut rest: Vec<Option<Value>> = std::mem::take(&mut **items).into_iter().map(Some).collect();
    let mut joined = Vec::new();
    for item in patch.as_list().unwrap_or_default() {
        if item.get("$patch").and_then(Value::as_str) == Some("replace") {
            rest.clear();
            continue;
        }
        let fits = |old: &Option<Value>| old.as_ref().is_some_and(|old| same_identity(old, item, keys));
        let old = rest.iter_mut().find(|old| fits(old)).and_then(Option::take);
        if is_deleted(item) {
            continue;
        }
        joined.push(match old {
            Some(mut old) => {
                merge(&mut old, item, "", lists);
                old
            }
            None => cleaned(item),
        });
    }
    joined.extend(rest.into_iter().flatten());
    **items = joined;
}

fn same_identity(a: &Value, b: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => a.as_str() == b.as_str() && a.as_int() == b.as_int(),
        // A port is of TCP unless it says otherwise.
        (Some(one), None) | (None, Some(one)) => *key == "protocol" && one.as_str() == Some("TCP"),
        (None, None) => *key == "protocol",
    })
}

/// Joins texts that are known by themselves.
fn merge_texts(base: &mut Value, patch: &Value, lists: Lists) {
    match lists {
        Lists::Replaced => *base = cleaned(patch),
        Lists::PatchFirst => add_missing(base, patch),
        Lists::Interleaved => interleave(base, patch, |a, b| a.as_str() == b.as_str()),
    }
}

fn add_missing(base: &mut Value, patch: &Value) {
    let Some(items) = as_list(base) else { return };
    for item in patch.as_list().unwrap_or_default() {
        if !items.iter().any(|known| known.as_str() == item.as_str()) {
            items.push(item.clone());
        }
    }
}

/// Takes away keys without a value in a resource that was patched: wherever the original goes to merge, it leaves none
/// behind. What is written as `null` stays. Depth is bounded by the reader's limit.
pub fn drop_unwritten(session: &Session, value: &mut Value, key: &str, lists: Lists) {
    if value.as_list().is_some() {
        if identity(key, value, lists).is_some() {
            let items = as_list(value).into_iter().flat_map(|list| list.iter_mut());
            items.for_each(|item| drop_unwritten(session, item, "", lists));
        }
        return;
    }
    let is_unwritten = |inner: &Value| {
        let span = session.origins.span(inner.origin, &session.sources);
        inner.is_null() && span.is_some_and(|span| span.start == span.end)
    };
    let Some(map) = as_map(value) else { return };
    map.retain(|_, inner| !is_unwritten(inner));
    for (key, inner) in map.iter_mut() {
        drop_unwritten(session, inner, key, lists);
    }
}

/// A part of a patch as a value of its own: without directives and what they remove. Depth is bounded by the reader's
/// limit.
fn cleaned(value: &Value) -> Value {
    let data = match &value.data {
        Data::Map(map) => {
            let kept =
                map.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null() && !is_deleted(value));
            Data::Map(Arc::new(kept.map(|(key, value)| (key.clone(), cleaned(value))).collect()))
        }
        Data::List(list) => {
            let kept = list.iter().filter(|item| !is_deleted(item) && item.get("$patch").is_none());
            Data::List(Arc::new(kept.map(cleaned).collect::<Vec<_>>().into()))
        }
        _ => return value.clone(),
    };
    value.clone().with(data)
}
