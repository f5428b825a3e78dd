//! A merge patch (RFC 7396): mappings are merged deeply, null removes, everything else is replaced.
//!
//! Replaced values are recorded in the result's origin, so that `why` can show them. Lazy or pending parts are taken
//! whole.

use crate::session::Session;
use crate::value::{Data, Entries, Map, Value};
use std::sync::Arc;

/// The rule's name, which `why` shows.
const RULE: &str = "merge patch";
/// Documents are never nested deeper; deeper parts of a computed value are replaced whole.
const DEPTH: u32 = purlin_syntax::limits::COLLECTION_LEVELS;

/// `base` patched with `over`. Shared parts are merged at every occurrence, so each merged entry is charged before it
/// is made; a result beyond a limit is reported and replaced with poison.
pub fn merge_patch(base: &Value, over: &Value, session: &Session) -> Value {
    merged(base, over, session, 0)
}

fn merged(base: &Value, over: &Value, session: &Session, depth: u32) -> Value {
    match &over.data {
        Data::Map(high) if depth <= DEPTH => {
            let none = Map::new();
            let low = base.as_map();
            let data = merged_maps(low.unwrap_or(&none), high, session, depth);
            match low {
                Some(_) => combined(base, over, data),
                None => chosen(base, over.clone().with(data), session),
            }
        }
        _ => chosen(base, over.clone(), session),
    }
}

fn merged_maps(low: &Map, high: &Map, session: &Session, depth: u32) -> Data {
    let steps = low.len().saturating_add(high.len()) as u64;
    if let Err(exceeded) = session.meter.charge(steps, steps.saturating_mul(size_of::<Value>() as u64)) {
        session.report_exceeded(exceeded, None);
        return Data::Poison;
    }
    let mut entries: Entries = Map::clone(low).into_entries();
    for (key, over) in high.iter() {
        if over.is_null() {
            entries.shift_remove(key);
            continue;
        }
        let base = entries.get(key).cloned().unwrap_or_else(Value::null);
        entries.insert(key.clone(), merged(&base, over, session, depth + 1));
    }
    Data::Map(Arc::new(entries.into_iter().collect()))
}

/// A mapping made of both: as secret as either, with the origin of the one that takes precedence.
fn combined(base: &Value, over: &Value, data: Data) -> Value {
    let origin = if over.origin.is_known() { over.origin } else { base.origin };
    Value::of(data, origin, base.taint() | over.taint())
}

fn chosen(base: &Value, over: Value, session: &Session) -> Value {
    let overrode = if base.is_null() && !base.origin.is_known() { Vec::new() } else { vec![base.origin] };
    let origin = session.origins.chosen(over.origin, RULE, overrode);
    over.with_origin(origin)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{MemoryWorld, MergeKeys, value_of};
    use purlin_syntax::{Flavor, Limits, Sources, yaml};

    fn value(text: &str) -> Value {
        let sources = Sources::new();
        let tree = sources.add(yaml::parse(sources.insert("t", text), Flavor::Core, &Limits::default()));
        value_of(tree.root().unwrap(), MergeKeys::Apply)
    }

    fn session() -> Session {
        Session::new(Arc::new(MemoryWorld::new()))
    }

    #[test]
    fn mappings_are_merged_null_removes_and_all_else_is_replaced() {
        let base = value("{a: {x: 1, y: 2}, l: [1, 2], k: 1, m: 1}");
        let over = value("{a: {y: 3, z: null}, l: [3], k: null, m: {n: null, o: 1}}");
        assert_eq!(merge_patch(&base, &over, &session()), value("{a: {x: 1, y: 3}, l: [3], m: {o: 1}}"));
    }

    #[test]
    fn taint_survives() {
        let secret = value("{a: 1}").tainted_if(true);
        assert!(merge_patch(&secret, &value("{b: 2}"), &session()).is_tainted());
    }

    #[test]
    fn what_is_shared_is_charged_wherever_it_stands() {
        let doubled = |value: Value| Value::map(Map::from_iter([("a".into(), value.clone()), ("b".into(), value)]));
        let deep = (0..60).fold(value("{k: 1}"), |value, _| doubled(value));
        let session = session();
        let _ = merge_patch(&deep, &deep, &session);
        assert_eq!(session.sink.take().len(), 1);
    }
}
