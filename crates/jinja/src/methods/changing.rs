//! The methods that change lists and maps, one row each.

use super::{no_method, placed};
use crate::arithmetic::too_many;
use crate::error::{Result, type_error, value_error};
use crate::limits::MAX_ITEMS;
use crate::python;
use crate::render::{Renderer, Values};
use crate::val::{Data, MapKey, Val, ValMap, place};
use purlin_value::Cost;
use purlin_value::function::{self, Function, Parameter, one, optional};
use std::rc::Rc;

/// A method that changes a kind of collection. It is charged by what it moves.
pub type Change<T> = Function<Changing<T>>;

/// How a change is made.
pub struct Changing<T: 'static> {
    run: fn(&Renderer<'_>, &mut T, &Values) -> Result<Val>,
    moves: Moves,
}

/// The items a change moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Those it adds or takes from the end.
    Few,
    /// All of them.
    All,
    /// All of them, if a position or key is given.
    AllIfPlaced,
}

const fn row<T>(
    name: &'static str,
    parameters: &'static [Parameter],
    moves: Moves,
    summary: &'static str,
    run: fn(&Renderer<'_>, &mut T, &Values) -> Result<Val>,
) -> Change<T> {
    let row = Change::new(name, parameters, summary, Changing { run, moves });
    Change { cost: Cost::Own, ..row }
}

/// The changes of lists.
pub const LIST_CHANGES: &[Change<Vec<Val>>] = &[
    row("append", &[one("item", "any")], Moves::Few, "Adds an item.", |_, items, args| {
        items.push(first(args)?);
        Ok(Val::null())
    }),
    row("clear", &[], Moves::Few, "Removes all items.", |_, items, _| {
        items.clear();
        Ok(Val::null())
    }),
    row("extend", &[one("items", "list")], Moves::Few, "Adds the items of another list.", |render, items, args| {
        let more = render.iterate(&first(args)?)?;
        render.ctx.evaluation.spend(more.len())?;
        items.extend(more);
        Ok(Val::null())
    }),
    row(
        "insert",
        &[one("position", "integer"), one("item", "any")],
        Moves::All,
        "Adds an item at a position.",
        |_, items, args| {
            let at = index(args, 0);
            let at = if at < 0 { at.saturating_add(items.len() as i64) } else { at };
            let at = usize::try_from(at).unwrap_or(0).min(items.len());
            items.insert(at, args.positional.get(1).cloned().unwrap_or_else(Val::null));
            Ok(Val::null())
        },
    ),
    row(
        "pop",
        &[optional("position", "integer")],
        Moves::AllIfPlaced,
        "Removes an item, the last one unless a position is given, and gives it.",
        |_, items, args| match place(index(args, -1), items.len()) {
            Some(at) => Ok(items.remove(at)),
            None => value_error("pop index out of range"),
        },
    ),
    row(
        "remove",
        &[one("item", "any")],
        Moves::All,
        "Removes the first item equal to a value.",
        |render, items, args| {
            let needle = first(args)?;
            force_all(render, items)?;
            match items.iter().position(|item| python::equal(item, &needle)) {
                Some(at) => drop(items.remove(at)),
                None => return value_error("the value is not in the list"),
            }
            Ok(Val::null())
        },
    ),
    row("reverse", &[], Moves::All, "Reverses the items.", |_, items, _| {
        items.reverse();
        Ok(Val::null())
    }),
    row("sort", &[optional("reverse", "boolean")], Moves::All, "Sorts the items.", sort),
];

/// The changes of maps.
pub const MAP_CHANGES: &[Change<ValMap>] = &[
    row("clear", &[], Moves::Few, "Removes all entries.", |_, entries, _| {
        entries.clear();
        Ok(Val::null())
    }),
    row(
        "pop",
        &[one("key", "any"), optional("default", "any")],
        Moves::AllIfPlaced,
        "Removes a key and gives its value.",
        |_, entries, args| match entries.shift_remove(&key(args)?).or_else(|| args.positional.get(1).cloned()) {
            Some(value) => Ok(value),
            None => value_error("the key is not in the map"),
        },
    ),
    row("popitem", &[], Moves::Few, "Removes the last entry and gives its key and value.", |render, entries, _| {
        match entries.pop() {
            Some((key, value)) => Ok(Val::tuple(vec![render.ctx.evaluation.key(&key, &value), value])),
            None => value_error("the map is empty"),
        }
    }),
    row(
        "setdefault",
        &[one("key", "any"), optional("default", "any")],
        Moves::Few,
        "Gives the value of a key, which is set if it is missing.",
        |_, entries, args| {
            let default = args.positional.get(1).cloned();
            Ok(entries.entry(key(args)?).or_insert_with(|| default.unwrap_or_else(Val::null)).clone())
        },
    ),
    row("update", &[optional("entries", "mapping")], Moves::Few, "Adds the entries of another mapping.", update),
];

/// Whether lists or maps have a method of this name that changes them.
pub fn is_changing(name: &str) -> bool {
    function::find(LIST_CHANGES, name).is_some() || function::find(MAP_CHANGES, name).is_some()
}

/// Whether an evaluated value has a method of this name that changes it.
pub fn changes(base: &Val, name: &str) -> bool {
    match &base.data {
        Data::List(_) => function::find(LIST_CHANGES, name).is_some(),
        Data::Map(_) => function::find(MAP_CHANGES, name).is_some(),
        _ => false,
    }
}

/// Steps of a call that changes a collection: the call is made, and its values are bound, for every change.
const CHANGE_STEPS: usize = 8;

/// Changes a list or map, and returns the method's result. In place if the collection is not shared.
pub fn change(render: &Renderer<'_>, base: &mut Val, name: &str, args: Values) -> Result<Val> {
    let result = match &mut base.data {
        Data::List(items) => {
            let (is_shared, len) = (Rc::strong_count(items) > 1, items.len());
            let (row, args) = charged(render, LIST_CHANGES, name, args, (is_shared, len))?;
            (row.call.run)(render, Rc::make_mut(items).values_mut(), &args).and_then(|result| match items.len() {
                len if len > MAX_ITEMS => too_many(),
                _ => Ok(result),
            })
        }
        Data::Map(entries) => {
            let (is_shared, len) = (Rc::strong_count(entries) > 1, entries.len());
            let (row, args) = charged(render, MAP_CHANGES, name, args, (is_shared, len))?;
            (row.call.run)(render, Rc::make_mut(entries), &args)
        }
        _ => no_method(name),
    };
    // The changed value differs from its source.
    base.origin = Val::null().origin;
    result
}

/// The row of a change, charged, and its arguments by position.
fn charged<T>(
    render: &Renderer<'_>,
    changes: &'static [Change<T>],
    name: &str,
    args: Values,
    (is_shared, len): (bool, usize),
) -> Result<(&'static Change<T>, Values)> {
    let Some(row) = function::find(changes, name) else { return no_method(name) };
    // These read their named arguments themselves.
    let args = if matches!(name, "update" | "sort") { args } else { placed(name, &[], args)? };
    let is_local = match row.call.moves {
        Moves::Few => true,
        Moves::All => false,
        Moves::AllIfPlaced => args.positional.is_empty(),
    };
    let moved = if is_shared || !is_local { len } else { 0 };
    render.ctx.evaluation.spend(moved.saturating_add(CHANGE_STEPS))?;
    Ok((row, args))
}

fn first(args: &Values) -> Result<Val> {
    match args.positional.first() {
        Some(value) => Ok(value.clone()),
        None => type_error("the method needs an argument"),
    }
}

/// The position that is given, if it is an integer.
fn index(args: &Values, default: i64) -> i64 {
    match args.positional.first().map(|at| &at.data) {
        Some(Data::Int(n)) => *n,
        _ => default,
    }
}

/// The key that is given.
fn key(args: &Values) -> Result<MapKey> {
    let key = first(args)?;
    key.to_key().map_or_else(|| type_error(format!("unhashable type: '{}'", python::type_name(&key))), Ok)
}

/// Evaluates the items of a list, for methods that read them.
fn force_all(render: &Renderer<'_>, items: &mut [Val]) -> Result<()> {
    for item in items {
        *item = render.ctx.host.force(std::mem::take(item))?;
    }
    Ok(())
}

fn sort(render: &Renderer<'_>, items: &mut Vec<Val>, args: &Values) -> Result<Val> {
    force_all(render, items)?;
    let keyed = items.iter().map(|item| (item.clone(), item.clone())).collect();
    if !args.positional.is_empty() {
        return type_error("`sort` takes no positional arguments");
    }
    for (name, value) in &args.named {
        match name.as_str() {
            "reverse" => {}
            "key" if matches!(value.data, Data::Null) => {}
            "key" => {
                return type_error("`sort` with a `key` is not supported; use the filter `sort(attribute=…)`");
            }
            _ => return type_error(format!("`sort` takes no argument `{name}`")),
        }
    }
    let reverse = args.get(usize::MAX, "reverse").is_some_and(python::truthy);
    *items = python::sorted(keyed, reverse)?;
    Ok(Val::null())
}

fn update(render: &Renderer<'_>, entries: &mut ValMap, args: &Values) -> Result<Val> {
    if let Some(other) = args.positional.first() {
        let other = render.whole(other.clone())?;
        let Some(other) = other.as_map() else {
            return type_error(format!("`update` needs a map, not {}", other.kind()));
        };
        render.ctx.evaluation.spend(other.len())?;
        entries.extend(other.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    entries.extend(args.named.iter().map(|(key, value)| (MapKey::Str(key.clone()), value.clone())));
    Ok(Val::null())
}
