//! Strategic merge: maps are joined, lists of known types by their key, other values are replaced; null removes.
//!
//! Joined lists are known for Kubernetes' own kinds; resources of other groups have theirs replaced. It must not know
//! the patched resource.

use crate::edit::{as_list, as_map, over};
use crate::keyed;
use ecow::EcoString;
use purlin_value::{Data, FastMap, FastSet, Map, Origins, Session, Value};
use std::collections::VecDeque;
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

/// Treatment of lists of known types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// They are replaced, as any other list is.
    Replaced,
    /// Items of the patch come first: Kustomize.
    PatchFirst,
    /// Items of the patch keep its order, and the others their place before those that followed them: `kubectl patch`.
    Interleaved,
}

/// The rule's name, which `why` shows.
const RULE: &str = "patch";

/// Merges a patch into a value. Replaced values are kept in the origins of the new ones. The answer are items of lists
/// in the patch that the original loses.
pub fn merge(base: &mut Value, patch: &Value, lists: Lists, origins: &Origins) -> Vec<Value> {
    let mut how = How { lists, origins, lost: Vec::new() };
    join(base, patch, "", &mut how);
    how.lost
}

/// Mode of a merge, and the items lost by it.
struct How<'o> {
    lists: Lists,
    origins: &'o Origins,
    lost: Vec<Value>,
}

/// Merges the values of both under a key.
fn join(base: &mut Value, patch: &Value, key: &str, how: &mut How<'_>) {
    let lists = how.lists;
    match (as_map(base).is_some(), patch.as_map()) {
        (true, Some(entries)) => merge_maps(base, entries, how),
        (false, Some(_)) => replace(base, patch, how),
        _ => match identity(key, patch, lists) {
            Some(keys) if base.as_list().is_some() => merge_lists(base, patch, keys, how),
            _ if key == "finalizers" && base.as_list().is_some() => merge_texts(base, patch, how),
            _ => replace(base, patch, how),
        },
    }
}

fn replace(base: &mut Value, patch: &Value, how: &How<'_>) {
    *base = over(how.origins, cleaned(patch, how.lists), base, RULE);
}

fn merge_maps(base: &mut Value, patch: &Map, how: &mut How<'_>) {
    if patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        *base = cleaned(&Value::map(patch.clone()).with_origin(base.origin), how.lists);
        return;
    }
    let Some(map) = as_map(base) else { return };
    let mut gone: FastSet<&str> = FastSet::default();
    for (key, value) in patch.iter() {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone: FastSet<&str> = value.as_list().unwrap_or_default().iter().filter_map(Value::as_str).collect();
            if let Some(items) = map.get_mut(list).and_then(as_list) {
                items.retain(|item| item.as_str().is_none_or(|text| !gone.contains(text)));
            }
            continue;
        }
        if is_directive(key, how.lists) {
            continue;
        }
        if value.is_null() || is_deleted(value) {
            gone.insert(key);
            continue;
        }
        match map.get_mut(key.as_str()) {
            Some(old) => join(old, value, key, how),
            None => {
                map.insert(key.clone(), cleaned(value, how.lists));
            }
        }
    }
    if !gone.is_empty() {
        map.retain(|key, _| !gone.contains(key.as_str()));
    }
}

/// Whether a key of a patch is a directive for merging. Kustomize supports only one such key, and treats the others as
/// content.
fn is_directive(key: &str, lists: Lists) -> bool {
    if lists == Lists::Interleaved { key.starts_with('$') } else { key == "$patch" }
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

/// Identity of an item in a list.
type Identity = Vec<(Option<EcoString>, Option<i64>)>;

/// Identity of an item, if it has all of the keys.
fn identity_by(item: &Value, keys: &[&str]) -> Option<Identity> {
    let part = |key: &&str| match item.get(key) {
        Some(value) => Some((value.as_str().map(EcoString::from), value.as_int())),
        // The default protocol of a port is TCP.
        None => (*key == "protocol").then(|| (Some("TCP".into()), None)),
    };
    keys.iter().map(part).collect()
}

/// Identity of a string in a list.
fn identity_of_text(item: &Value) -> Option<Identity> {
    Some(vec![(item.as_str().map(EcoString::from), None)])
}

/// Items to be taken by identity, the first of equal ones first.
struct Known {
    items: Vec<Option<Value>>,
    places: FastMap<Identity, VecDeque<usize>>,
}

impl Known {
    fn new(items: Vec<Value>, identity: impl Fn(&Value) -> Option<Identity>) -> Known {
        let items: Vec<Option<Value>> = items.into_iter().map(Some).collect();
        let mut places: FastMap<Identity, VecDeque<usize>> = FastMap::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(identity) = item.as_ref().and_then(&identity) {
                places.entry(identity).or_default().push_back(at);
            }
        }
        Known { items, places }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.places.clear();
    }

    /// Removes an item, and returns it with its position.
    fn take(&mut self, identity: Option<&Identity>) -> Option<(usize, Value)> {
        let at = self.places.get_mut(identity?)?.pop_front()?;
        Some((at, self.items.get_mut(at)?.take()?))
    }

    /// The remaining items, with their positions.
    fn left(self) -> impl Iterator<Item = (usize, Value)> {
        self.items.into_iter().enumerate().filter_map(|(at, item)| Some((at, item?)))
    }
}

/// Joins items of the same identity.
fn merge_lists(base: &mut Value, patch: &Value, keys: &[&str], how: &mut How<'_>) {
    let is_replaced =
        |item: &Value| item.get("$patch").and_then(Value::as_str).is_some_and(|directive| directive == "replace");
    match (how.lists, keys) {
        (Lists::Interleaved, _) => interleave(base, patch, |item| identity_by(item, keys), how),
        (_, [first, second])
            if keyed::is_uneven(base, patch, [*first, *second])
                && !patch.as_list().is_some_and(|items| items.iter().any(is_replaced)) =>
        {
            merge_uneven(base, patch, [*first, *second], how);
        }
        _ => merge_first(base, patch, keys, how),
    }
}

/// Items of the patch in its order; each other item before the first of those that followed it.
fn interleave(base: &mut Value, patch: &Value, identity: impl Fn(&Value) -> Option<Identity>, how: &mut How<'_>) {
    let Some(items) = as_list(base) else { return };
    let patches = patch.as_list().unwrap_or_default();
    let directive = |item: &Value| item.get("$patch").and_then(Value::as_str).map(str::to_owned);
    if patches.iter().any(|item| directive(item).as_deref() == Some("replace")) {
        items.clear();
    }
    let mut known = Known::new(std::mem::take(&mut **items), &identity);
    let mut joined: VecDeque<(Option<usize>, Value)> = VecDeque::new();
    for item in patches {
        let old = known.take(identity(item).as_ref());
        if directive(item).is_some() {
            continue;
        }
        joined.push_back(match old {
            Some((at, mut old)) => {
                join(&mut old, item, "", how);
                (Some(at), old)
            }
            None => (None, cleaned(item, Lists::Interleaved)),
        });
    }
    let mut all: Vec<Value> = Vec::new();
    for (place, item) in known.left() {
        let follows = |(before, _): &(Option<usize>, Value)| before.is_some_and(|before| before > place);
        let before = joined.iter().position(follows).unwrap_or(joined.len());
        all.extend(joined.drain(..before).map(|(_, item)| item));
        all.push(item);
    }
    all.extend(joined.into_iter().map(|(_, item)| item));
    **items = all;
}

/// Joins items, some of which do not have their second key.
fn merge_uneven(base: &mut Value, patch: &Value, keys: [&str; 2], how: &mut How<'_>) {
    let lists = how.lists;
    let mut lost = Vec::new();
    let mut inner = How { lists, origins: how.origins, lost: Vec::new() };
    lost.extend(keyed::join(base, patch, keys, |own, change| match (own, change) {
        (_, Some(change)) if is_deleted(change) => None,
        (Some(mut own), Some(change)) => {
            join(&mut own, change, "", &mut inner);
            Some(own)
        }
        (Some(own), None) => Some(own),
        (None, change) => change.map(|change| cleaned(change, lists)),
    }));
    how.lost.append(&mut lost);
    how.lost.append(&mut inner.lost);
}

/// Items of the patch come first, in its order, each joined with the item of the same identity; the others follow. Where
/// two keys identify an item, those that were there keep their order.
fn merge_first(base: &mut Value, patch: &Value, keys: &[&str], how: &mut How<'_>) {
    let keeps_order = keys.get(1).is_some_and(|second| is_in_some(second, [&*base, patch]));
    let Some(items) = as_list(base) else { return };
    let mut known = Known::new(std::mem::take(&mut **items), |item| identity_by(item, keys));
    let mut joined: Vec<(Option<usize>, Value)> = Vec::new();
    let mut seen: FastSet<Identity> = FastSet::default();
    for item in patch.as_list().unwrap_or_default() {
        if item.get("$patch").and_then(Value::as_str) == Some("replace") {
            known.clear();
            continue;
        }
        let identity = identity_by(item, keys);
        // Of several items for one, the first counts.
        if identity.clone().is_some_and(|identity| !seen.insert(identity)) {
            continue;
        }
        let old = known.take(identity.as_ref());
        if is_deleted(item) {
            continue;
        }
        joined.push(match old {
            Some((at, mut old)) => {
                join(&mut old, item, "", how);
                (Some(at), old)
            }
            None => (None, cleaned(item, how.lists)),
        });
    }
    joined.extend(known.left().map(|(at, item)| (Some(at), item)));
    if keeps_order {
        joined.sort_by_key(|(at, _)| *at);
    }
    **items = joined.into_iter().map(|(_, item)| item).collect();
}

/// Whether an item of some lists has a key.
pub(crate) fn is_in_some(key: &str, lists: [&Value; 2]) -> bool {
    let mut items = lists.into_iter().filter_map(Value::as_list).flatten();
    items.any(|item| item.get(key).is_some_and(|value| !value.is_null()))
}

/// The keys that identify the items of a list in Kustomize, if it is one that is joined.
pub(crate) fn keys_of(key: &str, list: &Value) -> Option<&'static [&'static str]> {
    identity(key, list, Lists::PatchFirst)
}

/// Whether two items are the same one.
pub(crate) fn are_one(one: &Value, other: &Value, keys: &[&str]) -> bool {
    identity_by(one, keys).is_some_and(|identity| identity_by(other, keys) == Some(identity))
}

/// Joins texts that are known by themselves.
fn merge_texts(base: &mut Value, patch: &Value, how: &mut How<'_>) {
    match how.lists {
        Lists::Replaced => replace(base, patch, how),
        Lists::PatchFirst => add_missing(base, patch),
        Lists::Interleaved => interleave(base, patch, identity_of_text, how),
    }
}

fn add_missing(base: &mut Value, patch: &Value) {
    let Some(items) = as_list(base) else { return };
    let mut known: FastSet<Option<EcoString>> = items.iter().map(|item| item.as_str().map(EcoString::from)).collect();
    for item in patch.as_list().unwrap_or_default() {
        if known.insert(item.as_str().map(EcoString::from)) {
            items.push(item.clone());
        }
    }
}

/// Removes keys without a value from a patched resource: where the original merges, it leaves none. Explicit `null`
/// values stay. Depth is bounded by the reader's limit.
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
fn cleaned(value: &Value, lists: Lists) -> Value {
    let data = match &value.data {
        Data::Map(map) => {
            let kept =
                map.iter().filter(|(key, value)| !is_directive(key, lists) && !value.is_null() && !is_deleted(value));
            Data::Map(Arc::new(kept.map(|(key, value)| (key.clone(), cleaned(value, lists))).collect()))
        }
        Data::List(list) => {
            let kept = list.iter().filter(|item| !is_deleted(item) && item.get("$patch").is_none());
            Data::List(Arc::new(kept.map(|item| cleaned(item, lists)).collect::<Vec<_>>().into()))
        }
        _ => return value.clone(),
    };
    value.clone().with(data)
}
