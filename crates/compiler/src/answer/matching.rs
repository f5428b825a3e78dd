//! Matches corresponding items of two lists, and nodes of two projects.
//!
//! Pure comparisons of values. Nothing here is shown, so secrets may be compared.

use purlin_model::Node;
use purlin_value::{Data, Value};
use std::collections::HashMap;

/// Keys that name an item of a list, the best first.
const NAMES: &[&str] = &["name", "key", "id", "image", "containerPort", "port", "mountPath", "path", "host", "url"];

/// Lists whose product of lengths is larger are compared by position.
const MOST_PAIRS: usize = 1 << 18;

/// Minimum equal share of two nodes for a rename.
const ALIKE: f64 = 0.7;

/// A position before and one after; one of them is missing for an added or removed item.
pub(crate) type Pair = (Option<usize>, Option<usize>);

/// The items of two lists that belong together.
pub(crate) fn items(low: &[Value], high: &[Value]) -> Vec<Pair> {
    // A single item matches, whatever its name.
    if let ([_], [_]) = (low, high) {
        return vec![(Some(0), Some(0))];
    }
    if let Some(pairs) = NAMES.iter().find_map(|name| by_name(low, high, name)) {
        return pairs;
    }
    if low.len() == high.len() || low.len().saturating_mul(high.len()) > MOST_PAIRS {
        return by_place(0..low.len(), 0..high.len());
    }
    by_content(low, high)
}

/// Items matched by a key that all of them have, each with another value.
fn by_name(low: &[Value], high: &[Value], name: &str) -> Option<Vec<Pair>> {
    let named = |list: &[Value]| {
        let mut places = HashMap::new();
        for (at, item) in list.iter().enumerate() {
            let name = item.as_map()?.get(name).filter(|value| !is_collection(value))?;
            if places.insert(crate::why::scalar_text(name), at).is_some() {
                return None;
            }
        }
        Some(places)
    };
    let (old, new) = (named(low)?, named(high)?);
    let mut pairs: Vec<Pair> = vec![(None, None); low.len()];
    for (name, &at) in &old {
        if let Some(pair) = pairs.get_mut(at) {
            *pair = (Some(at), new.get(name).copied());
        }
    }
    let mut added: Vec<usize> = new.iter().filter(|(name, _)| !old.contains_key(*name)).map(|(_, &at)| at).collect();
    added.sort_unstable();
    pairs.extend(added.into_iter().map(|at| (None, Some(at))));
    Some(pairs)
}

fn by_place(low: std::ops::Range<usize>, high: std::ops::Range<usize>) -> Vec<Pair> {
    let (mut low, mut high) = (low, high);
    let next = || match (low.next(), high.next()) {
        (None, None) => None,
        pair => Some(pair),
    };
    std::iter::from_fn(next).collect()
}

/// Items matched by the longest common sequence; those between are matched by position.
fn by_content(low: &[Value], high: &[Value]) -> Vec<Pair> {
    let width = high.len() + 1;
    let mut common = vec![0u32; (low.len() + 1) * width];
    for (a, old) in low.iter().enumerate().rev() {
        for (b, new) in high.iter().enumerate().rev() {
            let at = |a: usize, b: usize| common[a * width + b];
            common[a * width + b] = if old == new { at(a + 1, b + 1) + 1 } else { at(a + 1, b).max(at(a, b + 1)) };
        }
    }
    let (mut pairs, mut a, mut b, mut from) = (Vec::new(), 0, 0, (0, 0));
    while a < low.len() && b < high.len() {
        if low[a] == high[b] {
            pairs.extend(by_place(from.0..a, from.1..b));
            pairs.push((Some(a), Some(b)));
            (a, b) = (a + 1, b + 1);
            from = (a, b);
        } else if common[(a + 1) * width + b] >= common[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs.extend(by_place(from.0..low.len(), from.1..high.len()));
    pairs
}

/// Removed nodes with the added nodes that replace them under another name, each at most once.
pub(crate) fn renamed<'n>(gone: &[&'n Node], came: &[&'n Node]) -> Vec<(&'n Node, &'n Node)> {
    if gone.len().saturating_mul(came.len()) > 10_000 {
        return Vec::new();
    }
    let parts: Vec<HashMap<String, &Value>> = came.iter().map(|node| leaves(&node.resolved)).collect();
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for (old_at, old) in gone.iter().enumerate() {
        let own = leaves(&old.resolved);
        for (new_at, (new, other)) in came.iter().zip(&parts).enumerate() {
            if !is_kin(old, new) {
                continue;
            }
            let alike = likeness(&own, other);
            let is_only = || alone(old, gone) && alone(new, came);
            if alike >= ALIKE || old.inside.is_some() && is_only() {
                found.push((alike, old_at, new_at));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut used_old, mut used_new) = (vec![false; gone.len()], vec![false; came.len()]);
    let mut out = Vec::new();
    for (_, old, new) in found {
        if !used_old[old] && !used_new[new] {
            (used_old[old], used_new[new]) = (true, true);
            out.push((gone[old], came[new]));
        }
    }
    out
}

/// Whether one may be the other under another name.
fn is_kin(one: &Node, two: &Node) -> bool {
    one.kind == two.kind && one.type_name == two.type_name && one.dialect == two.dialect && one.inside == two.inside
}

/// Whether no other node is possible: the only object of a kind in a chart is the same, whatever its name.
fn alone(node: &Node, all: &[&Node]) -> bool {
    all.iter().filter(|other| is_kin(node, other)).count() == 1
}

/// Which part of two nodes is equal.
fn likeness(one: &HashMap<String, &Value>, two: &HashMap<String, &Value>) -> f64 {
    let equal = one.iter().filter(|(path, value)| two.get(*path).is_some_and(|other| other == *value)).count();
    let most = one.len().max(two.len());
    if most == 0 { 0.0 } else { equal as f64 / most as f64 }
}

/// The scalars of a node by path, without those that name it.
fn leaves(value: &Value) -> HashMap<String, &Value> {
    let mut found = HashMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match &value.data {
            Data::Map(map) => open.extend(map.iter().map(|(key, value)| (format!("{path}.{key}"), value))),
            Data::List(list) => {
                open.extend(
                    list.iter().enumerate().map(|(at, value)| (format!("{path}.{}", item_name(at, value)), value)),
                );
            }
            _ if matches!(path.as_str(), ".name" | ".metadata.name") => {}
            _ => {
                found.insert(path, value);
            }
        }
    }
    found
}

/// Label of an item of a list: its name if it has one, else its position.
fn item_name(at: usize, item: &Value) -> String {
    let named = NAMES.iter().find_map(|name| item.as_map()?.get(*name).filter(|value| !is_collection(value)));
    named.map_or_else(|| at.to_string(), crate::why::scalar_text)
}

fn is_collection(value: &Value) -> bool {
    matches!(value.data, Data::Map(_) | Data::List(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::Map;

    fn words(text: &str) -> Vec<Value> {
        text.split_whitespace().map(Value::str).collect()
    }

    fn named(text: &str) -> Vec<Value> {
        let item = |word: &str| {
            let (name, size) = word.split_once('=').unwrap_or((word, ""));
            let mut map = Map::new();
            map.insert("name".into(), Value::str(name));
            map.insert("size".into(), Value::str(size));
            Value::map(map)
        };
        text.split_whitespace().map(item).collect()
    }

    #[test]
    fn items_with_names_are_matched_by_them() {
        let pairs = items(&named("a=1 b=2 c=3"), &named("c=3 d=4 a=9"));
        assert_eq!(pairs, [(Some(0), Some(2)), (Some(1), None), (Some(2), Some(0)), (None, Some(1))]);
        // A duplicate name does not identify an item.
        assert_eq!(items(&named("a=1 a=2"), &named("a=1 a=2")), [(Some(0), Some(0)), (Some(1), Some(1))]);
    }

    #[test]
    fn a_word_that_is_put_in_moves_the_others() {
        let pairs = items(&words("run fast"), &words("sudo run very fast"));
        assert_eq!(pairs, [(None, Some(0)), (Some(0), Some(1)), (None, Some(2)), (Some(1), Some(3))]);
        assert_eq!(items(&words("a b c"), &words("a x")), [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), None)]);
        assert_eq!(items(&words(""), &words("a")), [(None, Some(0))]);
    }

    #[test]
    fn nodes_that_look_the_same_are_one() {
        let node = |id: &str, size: &str| {
            let mut node = Node::new(id, "Run", "garden");
            let mut map = Map::new();
            for (key, value) in [("name", id), ("size", size), ("one", "1"), ("two", "2"), ("three", "3")] {
                map.insert(key.into(), Value::str(value));
            }
            node.resolved = Value::map(map);
            node
        };
        let (old, other, new) = (node("run.a", "1"), node("run.c", "7"), node("run.b", "1"));
        let found = renamed(&[&other, &old], &[&new]);
        assert_eq!(found.iter().map(|(a, b)| (a.id.as_str(), b.id.as_str())).collect::<Vec<_>>(), [("run.a", "run.b")]);
    }
}
