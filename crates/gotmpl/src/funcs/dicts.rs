//! Functions on dictionaries. `set`, `unset` and the merges modify the dictionary, as in Go.

use std::collections::BTreeMap;

use super::{arg, bytes, many, pieces, row};
use crate::cause::Cause;
use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::machine::Machine;
use crate::value::{Data, Heap, ListType, MapRef, MapType, Str, Val};
use purlin_value::Cost;

const M: Ty = Ty::Map;

/// Deepest nesting merged or copied.
const MAX_DEPTH: u32 = purlin_syntax::limits::MERGE_LEVELS;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    many("dict", &[], Ty::Any, "`dict KEY VALUE…`: a dictionary of these entries.", dict).unseen().costs(Cost::ALL),
    pieces(row("get", &[M, Ty::Str], "`get DICT KEY`: the value under the key, or an empty text.", |m, args| {
        let found = arg(args, 0).as_map().and_then(|map| m.heap.lookup(map, bytes(args, 1)));
        let found = found.unwrap_or_else(|| Val::str("")).unboxed();
        Ok(m.chosen("get", found, args.get(1..).unwrap_or_default()))
    }))
    .shallow()
    .costs(Cost::Linear(0b10)),
    pieces(row("set", &[M, Ty::Str, Ty::Any], "`set DICT KEY VALUE`: puts the value under the key.", |m, args| {
        let Some(map) = arg(args, 0).as_map().filter(|map| map.kind != MapType::Nil) else {
            return Err(Fault::new("assignment to entry in nil map"));
        };
        m.spend(1)?;
        let (key, secret) = m.key(Str::from(bytes(args, 1)), arg(args, 1));
        // The value under a secret key reveals the key.
        m.heap.set(map, key, arg(args, 2).clone().taint(secret));
        Ok(arg(args, 0).clone())
    }))
    .looks(0, 2)
    .changes()
    .costs(Cost::Linear(0b10)),
    pieces(row("unset", &[M, Ty::Str], "`unset DICT KEY`: removes the key.", |m, args| {
        let Some(map) = arg(args, 0).as_map() else { return Ok(m.heap.any_map(BTreeMap::new())) };
        m.heap.get_map_mut(map).entries.remove(bytes(args, 1));
        Ok(arg(args, 0).clone())
    }))
    .shallow()
    .changes()
    .costs(Cost::Linear(0b10)),
    row("hasKey", &[M, Ty::Str], "`hasKey DICT KEY`: whether the key is there.", |m, args| {
        let found = arg(args, 0).as_map().and_then(|map| m.heap.lookup(map, bytes(args, 1)));
        Ok(Val::bool(found.is_some()))
    })
    .shallow()
    .costs(Cost::Linear(0b10)),
    many(
        "pluck",
        &[Ty::Str],
        M,
        "`pluck KEY DICT…`: the values under the key in those dictionaries that have it.",
        |m, args| {
            let dicts = args.get(1..).unwrap_or_default();
            let found = dicts
                .iter()
                .filter_map(|dict| m.heap.lookup(dict.as_map()?, bytes(args, 0)))
                .map(Val::unboxed)
                .collect();
            Ok(m.heap.any_list(found))
        },
    )
    .shallow()
    .costs(Cost::Linear(0b1)),
    many("keys", &[], M, "`keys DICT…`: the keys, sorted within each dictionary.", |m, args| {
        let mut found = Vec::new();
        for map in args.iter().filter_map(Val::as_map) {
            found.extend(m.heap.get_map(map).entries.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        m.limited_items(found.len())?;
        let found = found.into_iter().map(|(key, value)| m.key_of(key, &value)).collect();
        Ok(m.heap.list(ListType::Strings, found))
    })
    .shallow()
    .costs(Cost::Own),
    row("values", &[M], "`values DICT`: the values in the order of their keys.", |m, args| {
        let found: Vec<Val> = arg(args, 0)
            .as_map()
            .map(|map| m.heap.get_map(map).entries.values().cloned().collect())
            .unwrap_or_default();
        m.limited_items(found.len())?;
        Ok(m.heap.any_list(found))
    })
    .shallow()
    .costs(Cost::Own),
    many("pick", &[M], Ty::Str, "`pick DICT KEY…`: a dictionary of only these keys.", |m, args| {
        let wanted = args.get(1..).unwrap_or_default();
        let mut entries = BTreeMap::new();
        if let Some(map) = arg(args, 0).as_map() {
            for key in wanted.iter().filter_map(Val::as_str) {
                if let Some((key, value)) = m.heap.get_map(map).entries.get_key_value(key) {
                    entries.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(m.heap.any_map(entries))
    })
    .shallow()
    .costs(Cost::Own),
    many("omit", &[M], Ty::Str, "`omit DICT KEY…`: a dictionary without these keys.", |m, args| {
        let mut entries = arg(args, 0).as_map().map(|map| m.heap.get_map(map).entries.clone()).unwrap_or_default();
        m.spend(entries.len() / 4)?;
        for key in args.get(1..).unwrap_or_default().iter().filter_map(Val::as_str) {
            entries.remove(key);
        }
        Ok(m.heap.any_map(entries))
    })
    .shallow()
    .costs(Cost::Own),
    many(
        "merge",
        &[M],
        M,
        "`merge DICT OTHER…`: fills what is missing or empty in DICT from the others.",
        |m, args| merge(m, args, false),
    )
    .shallow()
    .changes()
    .costs(Cost::Own),
    many(
        "mustMerge",
        &[M],
        M,
        "`mustMerge DICT OTHER…`: fills what is missing or empty in DICT from the others.",
        |m, args| merge(m, args, false),
    )
    .shallow()
    .changes()
    .costs(Cost::Own),
    many(
        "mergeOverwrite",
        &[M],
        M,
        "`mergeOverwrite DICT OTHER…`: the others overwrite what is in DICT.",
        |m, args| merge(m, args, true),
    )
    .shallow()
    .changes()
    .costs(Cost::Own),
    many(
        "mustMergeOverwrite",
        &[M],
        M,
        "`mustMergeOverwrite DICT OTHER…`: the others overwrite what is in DICT.",
        |m, args| merge(m, args, true),
    )
    .shallow()
    .changes()
    .costs(Cost::Own),
    pieces(many(
        "dig",
        &[],
        Ty::Any,
        "`dig KEY… DEFAULT DICT`: the value under the path of keys, or the default.",
        dig,
    ))
    .shallow()
    .costs(Cost::Constant),
    row("deepCopy", &[Ty::Any], "`deepCopy A`: a copy that shares nothing.", copy).shallow().costs(Cost::Own),
    row("mustDeepCopy", &[Ty::Any], "`mustDeepCopy A`: a copy that shares nothing.", copy).shallow().costs(Cost::Own),
];

fn dict(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut entries = BTreeMap::new();
    for pair in args.chunks(2) {
        let key = super::casts::to_string(&m.heap, arg(pair, 0));
        let (key, secret) = m.key(key, arg(pair, 0));
        let value = pair.get(1).cloned().unwrap_or_else(|| Val::str(""));
        entries.insert(key, value.taint(secret));
    }
    m.spend(args.len())?;
    Ok(m.heap.any_map(entries))
}

fn merge(m: &mut Machine<'_>, args: &[Val], overwrite: bool) -> Result<Val, Fault> {
    let merged = match arg(args, 0).as_map() {
        Some(_) => arg(args, 0).clone(),
        None => m.heap.any_map(BTreeMap::new()),
    };
    let Some(into) = merged.as_map() else { return Ok(merged) };
    for from in args.get(1..).unwrap_or_default().iter().filter_map(Val::as_map) {
        merge_maps(m, into, from, overwrite, 0)?;
    }
    Ok(merged)
}

/// Merges one map into another; maps found on only one side are shared, not copied.
pub fn merge_maps(m: &mut Machine<'_>, into: MapRef, from: MapRef, overwrite: bool, depth: u32) -> Result<(), Fault> {
    if into.is_same(from) || depth > MAX_DEPTH {
        return Ok(());
    }
    let entries: Vec<(Str, Val)> = m.heap.get_map(from).entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    m.spend(entries.len())?;
    for (key, value) in entries {
        if value.is_nil() && !overwrite {
            continue;
        }
        let known = m.heap.get_map(into).entries.get(&key).cloned();
        if let Some(known) = known {
            if let (Some(inner), Some(other)) = (known.as_map(), value.as_map()) {
                merge_maps(m, inner, other, overwrite, depth + 1)?;
                if !m.heap.get_map(inner).entries.is_empty() {
                    continue;
                }
            } else if !overwrite && m.heap.truth(&known) {
                continue;
            }
        }
        m.heap.set(into, key, value);
    }
    Ok(())
}

fn dig(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let [keys @ .., default, dict] = args else {
        return Err(Fault::new("dig needs at least three arguments"));
    };
    if keys.is_empty() {
        return Err(Fault::new("dig needs at least three arguments"));
    }
    if dict.as_map().is_none_or(|map| map.kind != MapType::Any) {
        return Err(conversion(&m.heap, dict, "map[string]interface {}"));
    }
    if let Some(key) = keys.iter().find(|key| key.as_str().is_none()) {
        return Err(conversion(&m.heap, key, "string"));
    }
    let mut current = dict.clone();
    for name in keys.iter().filter_map(Val::as_str) {
        let map = match current.data {
            Data::Map(map) if map.kind == MapType::Any => map,
            _ => return Err(conversion(&m.heap, &current, "map[string]interface {}")),
        };
        match m.heap.lookup(map, name.bytes()) {
            Some(value) => current = value.unboxed(),
            None => return Ok(m.chosen("dig", default.clone(), keys)),
        }
    }
    Ok(m.chosen("dig", current, keys))
}

/// Go's message for a failed type assertion.
fn conversion(heap: &Heap, value: &Val, wanted: &'static str) -> Fault {
    let found = (!value.is_nil()).then(|| heap.type_name(value));
    Cause::Conversion { found, wanted }.into()
}

fn copy(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    if arg(args, 0).is_nil() {
        return Err(Cause::Unset("reflect: call of reflect.Value.Type on zero Value").into());
    }
    deep_copy(m, arg(args, 0), 0)
}

/// Deep copy of a value.
pub fn deep_copy(m: &mut Machine<'_>, value: &Val, depth: u32) -> Result<Val, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::new("the value is nested too deeply to be copied"));
    }
    let mut copied = match value.data {
        Data::List(list) => {
            let body = m.heap.get_list(list);
            let (kind, nil, items) = (body.kind, body.nil, body.items.clone());
            m.spend(items.len())?;
            if nil {
                m.heap.nil_list(kind)
            } else {
                let items = items.iter().map(|item| deep_copy(m, item, depth + 1)).collect::<Result<Vec<_>, _>>()?;
                m.heap.list(kind, items)
            }
        }
        Data::Map(map) => {
            let (kind, entries) = (map.kind, m.heap.get_map(map).entries.clone());
            m.spend(entries.len())?;
            let mut copies = BTreeMap::new();
            for (key, item) in entries {
                let item = deep_copy(m, &item, depth + 1)?;
                copies.insert(key, item);
            }
            m.heap.map(kind, copies)
        }
        _ => value.clone(),
    };
    copied.origin = value.origin;
    Ok(copied.taint(value.is_tainted()))
}
