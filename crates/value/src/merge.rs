//! How two values become one. Each dialect needs another rule; all of them are here, by name.
//!
//! The stronger value is `over`. What is replaced is remembered in the result's origin, so that `why` can say what
//! was overridden. Parts that are lazy or pending are taken whole.

use crate::origin::Origins;
use crate::value::{Data, Entries, Map, Value};
use std::sync::Arc;

/// What happens where both sides have something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// RFC 7396: mappings deeply; null removes; everything else is replaced.
    Patch,
    /// Mappings deeply; everything else, null included, is replaced.
    Deep,
    /// Mappings deeply, lists item by item at the same index.
    DeepByIndex,
    /// Mappings deeply, lists one after the other.
    DeepAppend,
    /// Mappings deeply, lists of mappings by the value of a key; items without it are appended.
    DeepByName(&'static str),
    /// The first level of keys; values are replaced whole.
    Shallow,
}

impl Strategy {
    /// The name that `why` shows.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Patch => "merge patch",
            Strategy::Deep => "deep merge",
            Strategy::DeepByIndex => "deep merge, lists by index",
            Strategy::DeepAppend => "deep merge, lists appended",
            Strategy::DeepByName(_) => "deep merge, lists by name",
            Strategy::Shallow => "shallow merge",
        }
    }
}

/// `over` laid upon `base`.
pub fn merge(base: &Value, over: &Value, strategy: Strategy, origins: &Origins) -> Value {
    Merge { strategy, origins }.merge(base, over, 0)
}

struct Merge<'o> {
    strategy: Strategy,
    origins: &'o Origins,
}

/// Documents are never nested deeper; a computed value that is, is replaced whole from there on.
const DEPTH: u32 = 1_000;

impl Merge<'_> {
    fn merge(&self, base: &Value, over: &Value, depth: u32) -> Value {
        if depth > DEPTH {
            return over.clone();
        }
        match (&base.data, &over.data) {
            (Data::Map(low), Data::Map(high)) => self.combined(base, over, self.maps(low, high, depth)),
            (_, Data::Map(high)) if self.strategy == Strategy::Patch => {
                // A patch's nulls remove; they never arrive in the result.
                let kept = self.maps(&Map::new(), high, depth);
                self.chosen(base, over.clone().with(kept))
            }
            (Data::List(low), Data::List(high)) => match self.lists(low, high, depth) {
                Some(data) => self.combined(base, over, data),
                None => self.chosen(base, over.clone()),
            },
            _ => self.chosen(base, over.clone()),
        }
    }

    fn maps(&self, low: &Map, high: &Map, depth: u32) -> Data {
        let mut entries: Entries = Map::clone(low).into_entries();
        for (key, over) in high.iter() {
            if self.strategy == Strategy::Patch && over.is_null() {
                entries.shift_remove(key);
                continue;
            }
            let merged = match entries.get(key) {
                Some(base) if self.strategy == Strategy::Shallow => self.chosen(base, over.clone()),
                Some(base) => self.merge(base, over, depth + 1),
                None if self.strategy == Strategy::Patch => self.merge(&Value::null(), over, depth + 1),
                None => over.clone(),
            };
            entries.insert(key.clone(), merged);
        }
        Data::Map(Arc::new(entries.into_iter().collect()))
    }

    fn lists(&self, low: &[Value], high: &[Value], depth: u32) -> Option<Data> {
        let items = match self.strategy {
            Strategy::DeepAppend => low.iter().chain(high).cloned().collect(),
            Strategy::DeepByIndex => {
                let mut items: Vec<Value> =
                    low.iter().zip(high).map(|(base, over)| self.merge(base, over, depth + 1)).collect();
                items.extend(low.iter().skip(high.len()).chain(high.iter().skip(low.len())).cloned());
                items
            }
            Strategy::DeepByName(name) => self.by_name(low, high, name, depth),
            _ => return None,
        };
        Some(Data::List(Arc::new(items.into())))
    }

    fn by_name(&self, low: &[Value], high: &[Value], name: &str, depth: u32) -> Vec<Value> {
        let mut items = low.to_vec();
        let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for (at, item) in items.iter().enumerate() {
            if let Some(id) = item.get(name).and_then(Value::as_str) {
                places.entry(id.to_owned()).or_insert(at);
            }
        }
        for over in high {
            let place = over.get(name).and_then(Value::as_str).and_then(|id| places.get(id));
            match place.and_then(|&at| items.get_mut(at)) {
                Some(base) => *base = self.merge(base, over, depth + 1),
                None => items.push(over.clone()),
            }
        }
        items
    }

    /// A collection made of both: it is as secret as either, and stands where the stronger stood.
    fn combined(&self, base: &Value, over: &Value, data: Data) -> Value {
        let origin = if over.origin.is_known() { over.origin } else { base.origin };
        Value::of(data, origin, base.taint() | over.taint())
    }

    fn chosen(&self, base: &Value, over: Value) -> Value {
        let overrode = if base.is_null() && !base.origin.is_known() { Vec::new() } else { vec![base.origin] };
        let origin = self.origins.chosen(over.origin, self.strategy.name(), overrode);
        over.with_origin(origin)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{MergeKeys, value_of};
    use purlin_syntax::{Flavor, Limits, Sources, yaml};

    fn value(text: &str) -> Value {
        let sources = Sources::new();
        let tree = sources.add(yaml::parse(sources.insert("t", text), Flavor::Core, &Limits::default()));
        value_of(tree.root().unwrap(), MergeKeys::Apply)
    }

    #[test]
    fn every_rule_does_what_its_name_says() {
        let base = "{a: {x: 1, y: 2}, l: [{name: p, v: 1}, {name: q}], k: 1}";
        let over = "{a: {y: 3, z: null}, l: [{name: q, v: 2}, {name: r}], k: null}";
        let table = [
            (Strategy::Patch, "{a: {x: 1, y: 3}, l: [{name: q, v: 2}, {name: r}]}"),
            (Strategy::Deep, "{a: {x: 1, y: 3, z: null}, l: [{name: q, v: 2}, {name: r}], k: null}"),
            (Strategy::DeepByIndex, "{a: {x: 1, y: 3, z: null}, l: [{name: q, v: 2}, {name: r}], k: null}"),
            (
                Strategy::DeepAppend,
                "{a: {x: 1, y: 3, z: null}, l: [{name: p, v: 1}, {name: q}, {name: q, v: 2}, {name: r}], k: null}",
            ),
            (
                Strategy::DeepByName("name"),
                "{a: {x: 1, y: 3, z: null}, l: [{name: p, v: 1}, {name: q, v: 2}, {name: r}], k: null}",
            ),
            (Strategy::Shallow, "{a: {y: 3, z: null}, l: [{name: q, v: 2}, {name: r}], k: null}"),
        ];
        for (strategy, expected) in table {
            let got = merge(&value(base), &value(over), strategy, &Origins::new());
            assert_eq!(got, value(expected), "{}", strategy.name());
        }
    }

    #[test]
    fn taint_survives() {
        let secret = value("{a: 1}").tainted_if(true);
        let got = merge(&secret, &value("{b: 2}"), Strategy::Deep, &Origins::new());
        assert!(got.is_tainted());
    }
}
