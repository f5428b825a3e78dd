//! Merging maps. Merge directives and environments follow the same rules.

use crate::limits::MAX_DEPTH;
use crate::val::{Val, ValMap};
use crate::{python, val::MapKey};
use std::collections::HashSet;

/// The key with the merge strategy of a map: `whiteout`, `nullout`, `merge`, `error`; anything else replaces.
pub(crate) const STRATEGY: &str = "+%";

/// The values of the key.
pub(crate) const STRATEGIES: &[&str] = &["merge", "replace", "whiteout", "nullout", "error"];

/// The strategy for maps of the same key that do not set one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Merge,
    Replace,
}

/// Merges maps and records the keys that must not be merged.
#[derive(Default)]
pub struct Merger<'k> {
    /// Keys whose entries are replaced one by one instead of being merged.
    pub replaced: &'k [&'k str],
    /// Keys that were merged in spite of `+%: error`, with the value that forbids it.
    pub forbidden: Vec<(String, purlin_value::Origin)>,
}

impl Merger<'_> {
    /// Merges entries over a base. The overriding entries come first.
    pub fn merge(&mut self, base: &ValMap, over: &ValMap) -> ValMap {
        self.maps(base, over, Strategy::Merge, 0)
    }

    fn maps(&mut self, base: &ValMap, over: &ValMap, default: Strategy, depth: usize) -> ValMap {
        let mut out = ValMap::default();
        let mut gone: HashSet<&MapKey> = HashSet::new();
        for (key, value) in over.iter().filter(|(key, _)| !is_strategy(key)) {
            let below = base.get(key);
            if let Some(kept) = self.entry(key, value, below, default, depth) {
                out.insert(key.clone(), kept);
            } else if !keeps_base(value, below) {
                gone.insert(key);
            }
        }
        for (key, value) in base.iter().filter(|(key, _)| !is_strategy(key)) {
            if !gone.contains(key) && !out.contains_key(key) {
                out.insert(key.clone(), value.clone());
            }
        }
        out
    }

    /// The merged value of a key; none if the value keeps the base.
    fn entry(
        &mut self,
        key: &MapKey,
        value: &Val,
        below: Option<&Val>,
        default: Strategy,
        depth: usize,
    ) -> Option<Val> {
        let inner = match key.as_str() {
            Some(key) if self.replaced.contains(&key) => Strategy::Replace,
            _ => Strategy::Merge,
        };
        if value.as_map().is_some() || value.is_null() {
            let mut strategy = strategy_of(value);
            if let Some(below) = below.filter(|below| below.as_map().is_some()) {
                let unsaid = if default == Strategy::Merge { "merge" } else { "replace" };
                let said = strategy.or_else(|| strategy_of(below)).unwrap_or(unsaid);
                match (said, below.as_map(), value.as_map()) {
                    ("merge", _, None) => return None,
                    ("merge", _, Some(over)) if over.is_empty() => return None,
                    ("merge", Some(base), Some(over)) if depth <= MAX_DEPTH => {
                        let merged = self.maps(base, over, inner, depth + 1);
                        return Some(value.clone().with(Val::map(merged).data));
                    }
                    ("error", ..) => {
                        self.forbidden.push((key.as_str().unwrap_or_default().to_owned(), value.origin));
                    }
                    _ => {}
                }
                strategy = Some(said);
            }
            return match strategy {
                Some("whiteout") => None,
                Some("nullout") => Some(Val::null().from_origin(value.origin)),
                _ => Some(value.clone()),
            };
        }
        if let (Some(over), Some(base)) = (value.as_list(), below.and_then(Val::as_list)) {
            let merged = self.lists(base, over, inner, depth);
            return Some(value.clone().with(Val::list(merged).data));
        }
        Some(value.clone())
    }

    /// Items are added to a list unless it has them. Maps of one entry, as in a list of requirements, are merged with
    /// the one of the same key.
    fn lists(&mut self, base: &[Val], over: &[Val], inner: Strategy, depth: usize) -> Vec<Val> {
        let mut out = base.to_vec();
        for (at, item) in over.iter().enumerate() {
            let place = match item.as_map() {
                Some(_) if strategy_of(item) == Some("merge") => (at < out.len()).then_some(at),
                Some(entries) if entries.len() == 1 => {
                    let key = entries.keys().next();
                    out.iter().position(|known| {
                        known.as_map().is_some_and(|known| known.len() == 1 && known.keys().next() == key)
                    })
                }
                _ => None,
            };
            if let Some(known) = place.and_then(|place| out.get_mut(place)) {
                *known = match (known.as_map(), item.as_map()) {
                    (Some(base), Some(over)) if depth <= MAX_DEPTH => {
                        let merged = self.maps(base, over, inner, depth + 1);
                        item.clone().with(Val::map(merged).data)
                    }
                    _ => item.clone(),
                };
            } else if !out.iter().any(|known| python::equal(known, item)) {
                out.push(item.clone());
            }
        }
        out
    }
}

/// Whether a value without content of its own keeps the base, rather than removing it.
fn keeps_base(value: &Val, below: Option<&Val>) -> bool {
    let said = strategy_of(value).or_else(|| below.and_then(strategy_of));
    said != Some("whiteout")
}

fn is_strategy(key: &MapKey) -> bool {
    key.as_str() == Some(STRATEGY)
}

/// The merge strategy of a map.
pub(crate) fn strategy_of(value: &Val) -> Option<&str> {
    value.get(STRATEGY).and_then(Val::as_str)
}

/// A value without its merge strategies. Values of the key that are not strategies are kept.
pub fn cleaned(value: &Val, depth: usize) -> Val {
    if depth > 2 * MAX_DEPTH {
        return value.clone();
    }
    if let Some(items) = value.as_list() {
        let items = items.iter().map(|item| cleaned(item, depth + 1)).collect();
        return value.clone().with(Val::list(items).data);
    }
    let Some(entries) = value.as_map() else {
        return value.clone();
    };
    let gone = |item: &Val| matches!(strategy_of(item), Some("whiteout" | "nullout"));
    let tells =
        |key: &MapKey, said: &Val| is_strategy(key) && said.as_str().is_none_or(|said| STRATEGIES.contains(&said));
    let kept = entries.iter().filter(|(key, item)| !tells(key, item) && !gone(item));
    let kept = kept.map(|(key, item)| (key.clone(), cleaned(item, depth + 1)));
    value.clone().with(Val::map(kept.collect()).data)
}
