//! Filters on maps, and on what may be missing.

use super::lists::member;
use super::{Renderer, Values, flag, text_arg, text_of};
use crate::error::{Result, limit, missing, type_error};
use crate::limits::MAX_DEPTH;
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};

type R<'a, 'c> = &'a mut Renderer<'c>;

pub fn default(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let use_default = match &input.data {
        Data::Undefined(_) => true,
        _ => flag(args, 1, "boolean", false) && !python::truthy(&input),
    };
    if !use_default {
        return Ok(input);
    }
    let default = args.get(0, "default_value").cloned().unwrap_or_else(|| Val::str(""));
    Ok(default.taint_if(input.is_tainted()))
}

pub fn mandatory(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Data::Undefined(undefined) = &input.data else {
        return Ok(input);
    };
    match text_arg(render, args, 0, "msg")? {
        Some(message) => missing(message.as_str()),
        None => missing(format!("Mandatory variable '{}' not defined.", undefined.name)),
    }
}

pub fn attr(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(name) = text_arg(render, args, 0, "name")? else {
        return type_error("`attr` needs a name");
    };
    // Only members of the value itself: entries are not attributes.
    let input = match &input.data {
        Data::Map(_) | Data::Lazy(_) if !crate::methods::exists(&input, &name) => Val::null(),
        _ => input,
    };
    let found = render.attribute(&input, &name)?;
    Ok(found.unwrap_or_else(|| crate::render::undefined(&name, true, "")).taint_if(input.is_tainted()))
}

fn entries_of(input: &Val) -> Result<&ValMap> {
    match input.as_map() {
        Some(entries) => Ok(entries),
        None => type_error(format!("this needs a map, not {}", input.kind())),
    }
}

pub fn items_(render: R<'_, '_>, input: &Val) -> Result<Vec<Val>> {
    let pair = |(key, value)| Val::tuple(vec![render.ctx.evaluation.key(key, value), value.clone()]);
    Ok(entries_of(input)?.iter().map(pair).collect())
}

/// The pairs of a map; undefined values have none.
pub fn items(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    if matches!(input.data, Data::Undefined(_)) {
        return Ok(Val::list(Vec::new()));
    }
    let input = render.whole(input)?;
    items_(render, &input).map(|pairs| Val::list(pairs).taint_if(input.is_tainted()))
}

pub fn dictsort(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let case = flag(args, 0, "case_sensitive", false);
    let reverse = flag(args, 2, "reverse", false);
    let by_value = args.get(1, "by").and_then(Val::as_str) == Some("value");
    let fold = |value: &Val| match &value.data {
        Data::Str(text) if !case => Val::str(text.to_lowercase()),
        _ => value.clone(),
    };
    let keyed = entries_of(&input)?.iter().map(|(key, value)| {
        let key = render.ctx.evaluation.key(key, value);
        let by = if by_value { fold(value) } else { fold(&key) };
        (by, Val::tuple(vec![key, value.clone()]))
    });
    python::sorted(keyed.collect(), reverse).map(Val::list)
}

pub fn dict2items(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let key_name = text_arg(render, args, 0, "key_name")?.unwrap_or_else(|| "key".into());
    let value_name = text_arg(render, args, 1, "value_name")?.unwrap_or_else(|| "value".into());
    let row = |(key, value): (&MapKey, &Val)| {
        let key = render.ctx.evaluation.key(key, value);
        Val::record([(key_name.as_str(), key), (value_name.as_str(), value.clone())])
    };
    Ok(Val::list(entries_of(&input)?.iter().map(row).collect()))
}

pub fn items2dict(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let key_name = text_arg(render, args, 0, "key_name")?.unwrap_or_else(|| "key".into());
    let value_name = text_arg(render, args, 1, "value_name")?.unwrap_or_else(|| "value".into());
    let Some(items) = input.as_list() else {
        return type_error(format!("`items2dict` needs a list, not {}", input.kind()));
    };
    let mut out = ValMap::default();
    for item in items {
        let (Some(key), Some(value)) = (item.get(&key_name), item.get(&value_name)) else {
            return type_error(format!("each item needs `{key_name}` and `{value_name}`"));
        };
        let Some(key) = key.to_key() else {
            return type_error(format!("{} cannot be the key of a map", key.kind()));
        };
        out.insert(key, value.clone());
    }
    Ok(Val::map(out))
}

pub fn combine(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let recursive = flag(args, usize::MAX, "recursive", false);
    let lists = text_arg(render, args, usize::MAX, "list_merge")?.unwrap_or_else(|| "replace".into());
    let mut maps = Vec::new();
    for value in std::iter::once(input).chain(args.positional.iter().cloned()) {
        let value = render.whole(value)?;
        match &value.data {
            // A list of maps is combined too.
            Data::List(inner) => maps.extend(inner.iter().cloned()),
            // Null adds no entries.
            Data::Null => {}
            _ => maps.push(value),
        }
    }
    let mut out = Val::map(ValMap::default());
    for map in &maps {
        entries_of(map)?;
        out = merged(&out, map, recursive, &lists, 0)?;
    }
    Ok(out)
}

fn merged(base: &Val, over: &Val, recursive: bool, lists: &str, depth: usize) -> Result<Val> {
    if depth > MAX_DEPTH {
        return limit("the maps are nested too deep to be combined");
    }
    let mut out = base.as_map().cloned().unwrap_or_default();
    for (key, value) in over.as_map().into_iter().flatten() {
        let combined = match (out.get(key), &value.data) {
            (Some(present), Data::Map(_)) if recursive && present.as_map().is_some() => {
                merged(present, value, recursive, lists, depth + 1)?
            }
            (Some(present), Data::List(new)) if lists != "replace" && present.as_list().is_some() => {
                let old = present.as_list().unwrap_or(&[]);
                Val::list(merged_lists(old, new, lists))
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), combined);
    }
    Ok(Val::map(out))
}

fn merged_lists(old: &[Val], new: &[Val], how: &str) -> Vec<Val> {
    let without = |items: &[Val], others: &[Val]| -> Vec<Val> {
        items.iter().filter(|item| !others.iter().any(|other| python::equal(other, item))).cloned().collect()
    };
    match how {
        "keep" => old.to_vec(),
        "append" => [old, new].concat(),
        "prepend" => [new, old].concat(),
        "append_rp" => [without(old, new).as_slice(), new].concat(),
        "prepend_rp" => [new, without(old, new).as_slice()].concat(),
        _ => new.to_vec(),
    }
}

pub fn extract(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(container) = args.get(0, "container") else {
        return type_error("`extract` needs a container");
    };
    let container = render.whole(container.clone())?;
    let mut value = render.item(&container, &input)?;
    if let Some(more) = args.get(1, "morekeys") {
        let keys = match more.as_list() {
            Some(keys) => keys.to_vec(),
            None => vec![more.clone()],
        };
        for key in keys {
            value = match value {
                Some(value) => render.item(&value, &key)?,
                None => None,
            };
        }
    }
    let name = text_of(render, &input)?;
    Ok(value.unwrap_or_else(|| crate::render::undefined(&name, true, "")))
}

/// The maps a list or a map of maps consists of.
fn rows(input: &Val) -> Result<Vec<Val>> {
    let rows: Vec<Val> = match (&input.data, input.as_list()) {
        (Data::Map(entries), _) => entries.values().cloned().collect(),
        (_, Some(items)) => items.to_vec(),
        _ => return type_error(format!("this needs a list of maps, not {}", input.kind())),
    };
    match rows.iter().find(|row| row.as_map().is_none()) {
        Some(row) => type_error(format!("this needs a list of maps, and {} is in it", row.kind())),
        None => Ok(rows),
    }
}

pub fn rekey_on_member(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(key) = text_arg(render, args, 0, "key")? else {
        return type_error("`rekey_on_member` needs a key");
    };
    let all = rows(&input)?;
    let overwrite = args.get(1, "duplicates").and_then(Val::as_str) == Some("overwrite");
    let mut out = ValMap::default();
    for item in all {
        let Some(name) = item.get(&key).and_then(Val::to_key) else {
            return missing(format!("an item has no `{key}`"));
        };
        if out.insert(name, item).is_some() && !overwrite {
            return type_error(format!("two items have the same `{key}`"));
        }
    }
    Ok(Val::map(out))
}

pub fn subelements(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(path) = text_arg(render, args, 0, "subelements")? else {
        return type_error("`subelements` needs a key");
    };
    let skip = flag(args, 1, "skip_missing", false);
    let all = rows(&input)?;
    let mut out = Vec::new();
    for item in all {
        let inner = member(render, &item, &path)?;
        let inner = if matches!(inner.data, Data::Undefined(_)) { inner } else { render.whole(inner)? };
        match &inner.data {
            Data::Undefined(_) if skip => {}
            Data::Undefined(_) => return missing(format!("an item has no `{path}`")),
            _ => {
                let Some(inner) = inner.as_list() else {
                    return type_error(format!("`{path}` should be a list, not {}", inner.kind()));
                };
                out.extend(inner.iter().map(|sub| Val::tuple(vec![item.clone(), sub.clone()])));
            }
        }
    }
    Ok(Val::list(out))
}

pub fn ternary(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let (yes, no) = (args.get(0, "true_val"), args.get(1, "false_val"));
    let picked = match (&input.data, args.get(2, "none_val")) {
        (Data::Null, Some(none)) => Some(none),
        _ if python::truthy(&input) => yes,
        _ => no,
    };
    Ok(picked.cloned().unwrap_or_else(Val::null))
}
