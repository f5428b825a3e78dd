//! Items that a list has twice: whatever a strategic merge changes, the original walks through the whole resource and
//! leaves one item for each identity.
//!
//! The last one counts. It takes the place of the first, or, where two keys identify items, keeps its own.

use crate::edit::{as_list, as_map};
use crate::keyed;
use crate::strategic::{are_one, is_in_some, keys_of};
use purlin_value::Value;

/// Longer lists are left as they are: all items are compared with each other.
const MOST_ITEMS: usize = 500;

/// Leaves one item for each identity in all lists of a value. Depth is bounded by the reader's limit.
pub fn drop_repeated(value: &mut Value) {
    if has_repeated(value, "") {
        drop_below(value, "");
    }
}

/// Whether some list below a key has an item twice. Most have none, and are not copied.
fn has_repeated(value: &Value, key: &str) -> bool {
    if let Some(map) = value.as_map() {
        return map.iter().any(|(key, inner)| has_repeated(inner, key));
    }
    let Some((items, keys)) = value.as_list().zip(keys_of(key, value)) else { return false };
    let comes_again = |(at, item): (usize, &Value)| items.iter().take(at).any(|before| is_repeated(before, item, keys));
    let is_short = items.len() <= MOST_ITEMS;
    (is_short && items.iter().enumerate().any(comes_again)) || items.iter().any(|item| has_repeated(item, ""))
}

/// Whether two items are the same one, as the original compares them: a second key that only one has does not count.
fn is_repeated(one: &Value, other: &Value, keys: &[&str]) -> bool {
    let first = keys.get(..1).unwrap_or(keys);
    let lacks = |item: &Value| keys.get(1).is_some_and(|second| item.get(second).is_none());
    are_one(one, other, if lacks(one) != lacks(other) { first } else { keys })
}

fn drop_below(value: &mut Value, key: &str) {
    if let Some(keys) = keys_of(key, value) {
        if value.as_list().is_some_and(|items| items.len() <= MOST_ITEMS) {
            leave_one(value, keys);
        }
        as_list(value).into_iter().flat_map(|items| items.iter_mut()).for_each(|item| drop_below(item, ""));
        return;
    }
    let Some(map) = as_map(value) else { return };
    map.iter_mut().for_each(|(key, inner)| drop_below(inner, key));
}

fn leave_one(list: &mut Value, keys: &[&str]) {
    let nothing = Value::list(Vec::new());
    if let [first, second] = keys
        && keyed::is_uneven(list, &nothing, [*first, *second])
    {
        keyed::join(list, &nothing, [*first, *second], |own, _| own);
        return;
    }
    let keeps_place = keys.get(1).is_some_and(|second| is_in_some(second, [&*list, &nothing]));
    let Some(items) = as_list(list) else { return };
    let mut kept: Vec<Value> = Vec::with_capacity(items.len());
    for item in std::mem::take(&mut **items) {
        let before = kept.iter().position(|known| are_one(known, &item, keys));
        match before {
            Some(at) if keeps_place => {
                kept.remove(at);
                kept.push(item);
            }
            Some(at) => {
                if let Some(known) = kept.get_mut(at) {
                    *known = item;
                }
            }
            None => kept.push(item),
        }
    }
    **items = kept;
}
