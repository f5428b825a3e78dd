//! `foreach` and `select`: a body evaluated for each match.

use super::engine::Ctx;
use super::form::{self, Form};
use super::frame::{Frame, Mode, Variable};
use super::path::{as_one, is_list, list_items};
use crate::error::{Result, type_error, value_error};
use crate::jinja;
use crate::jinja::object::Object;
use crate::python;
use crate::val::{Data, Val, ValMap};
use std::rc::Rc;

/// The parts of a body.
struct Body<'v> {
    key: Option<&'v Val>,
    value: &'v Val,
    /// Whether the value is a part (`value:`), where a bare function is an expression, or the whole body.
    part: bool,
}

/// One item to evaluate the body for.
struct Entry {
    key: Val,
    item: Val,
}

/// Applies a body to matches.
pub fn apply(ctx: &Ctx<'_, '_>, body: &Val, matches: Vec<Val>) -> Result<Vec<Val>> {
    if body.as_str() == Some("$true") {
        return Ok(matches);
    }
    let items = match matches.as_slice() {
        [only] if is_list(only) => {
            let tainted = only.is_tainted();
            list_items(ctx, only)?.into_iter().map(|item| item.taint_if(tainted)).collect()
        }
        _ => matches,
    };
    let entries = items.into_iter().enumerate().map(|(at, item)| Entry { key: Val::len(at), item }).collect();
    run(ctx, body, entries)
}

/// `foreach` as a function: over the current item, by entries if it is a map.
pub(crate) fn over_current(ctx: &Ctx<'_, '_>, body: &Val) -> Result<Vec<Val>> {
    let current = match &ctx.frame.current.data {
        Data::Lazy(_) => ctx.engine.force(ctx.frame.current.clone())?,
        _ => ctx.frame.current.clone(),
    };
    let entries = match &current.data {
        Data::Map(entries) => {
            entries.iter().map(|(key, item)| Entry { key: ctx.engine.key(key, item), item: item.clone() }).collect()
        }
        Data::List(items) => {
            items.iter().enumerate().map(|(at, item)| Entry { key: Val::len(at), item: item.clone() }).collect()
        }
        _ => vec![Entry { key: Val::int(0), item: current }],
    };
    run(ctx, body, entries)
}

fn run(ctx: &Ctx<'_, '_>, body: &Val, entries: Vec<Entry>) -> Result<Vec<Val>> {
    let body = parts(body)?;
    ctx.engine.spend(entries.len())?;
    let collection = Val::list(entries.iter().map(|entry| entry.item.clone()).collect());
    let mut values = Vec::new();
    let mut map = ValMap::default();
    let mut secret_key = false;
    for (at, entry) in entries.into_iter().enumerate() {
        let inner = item_context(ctx, at, entry, &collection);
        let step = if body.value.as_str().is_some_and(jinja::is_template) { "template" } else { "eval" };
        let made = ctx.engine.part((body.value.origin, step), || part(&inner, body.value, body.part));
        let Some(value) = made? else {
            continue;
        };
        match signal(&value) {
            Some(Object::Break) => break,
            Some(Object::Continue) => continue,
            _ => {}
        }
        let Some(key) = body.key else {
            values.push(value);
            continue;
        };
        let key = part(&inner, key, true)?.unwrap_or_else(Val::null);
        match signal(&key) {
            Some(Object::Break) => break,
            Some(Object::Continue) => continue,
            _ => {}
        }
        let Some(name) = ctx.engine.force(key.clone())?.to_key() else {
            return type_error(format!("{} cannot be the key of a map", key.kind()));
        };
        secret_key |= key.is_tainted();
        map.insert(name, value);
    }
    if body.key.is_some() && !collection.as_list().is_some_and(<[Val]>::is_empty) {
        return Ok(vec![Val::map(map).taint_if(secret_key)]);
    }
    Ok(values)
}

fn parts(body: &Val) -> Result<Body<'_>> {
    match &body.data {
        Data::Str(_) => Ok(Body { key: None, value: body, part: false }),
        Data::Map(_) => {
            let key = body.get("key").filter(|key| python::truthy(key));
            match body.get("value").filter(|value| python::truthy(value)) {
                Some(value) => Ok(Body { key, value, part: true }),
                None if key.is_some() => value_error("`foreach` with `key` needs `value`"),
                None => Ok(Body { key: None, value: body, part: false }),
            }
        }
        _ => type_error(format!("`foreach` and `select` take a string or a map, not {}", body.kind())),
    }
}

fn item_context<'e, 'w>(ctx: &Ctx<'e, 'w>, at: usize, entry: Entry, collection: &Val) -> Ctx<'e, 'w> {
    let variables = vec![
        Variable::ready("item", entry.item.clone()),
        Variable::ready("index", Val::len(at)),
        Variable::ready("key", entry.key),
        Variable::ready("collection", collection.clone()),
        Variable::ready("break", Data::Object(Rc::new(Object::Break)).into()),
        Variable::ready("continue", Data::Object(Rc::new(Object::Continue)).into()),
    ];
    let scope = Some(ctx.layer(variables));
    let mode = Mode { body: true, ..ctx.frame.mode };
    ctx.with(Frame { current: entry.item, scope, mode, ..(*ctx.frame).clone() })
}

/// The value of a part of the body for one item; none if it has no match.
fn part(ctx: &Ctx<'_, '_>, body: &Val, functions: bool) -> Result<Option<Val>> {
    let matches = match &body.data {
        Data::Str(text) if jinja::is_template(text) => vec![jinja::render(ctx, text)?],
        Data::Str(text) => ctx.query(text)?,
        Data::Map(entries) => match Form::of(entries) {
            Some(form) => form::many(ctx, &form)?,
            None if functions && form::function_of(entries, ctx.frame.mode.safe).is_some() => {
                form::expression(ctx, body)?
            }
            None => vec![ctx.map_value(body)?],
        },
        _ => vec![ctx.map_value(body)?],
    };
    if matches.is_empty() {
        return Ok(None);
    }
    // The item is fixed now: lazy values must not see the next one.
    let value = as_one(matches);
    if matches!(value.data, Data::Lazy(_)) {
        return ctx.engine.force(value).map(Some);
    }
    Ok(Some(value))
}

fn signal(value: &Val) -> Option<&Object> {
    match &value.data {
        Data::Object(object) => Some(object),
        _ => None,
    }
}
