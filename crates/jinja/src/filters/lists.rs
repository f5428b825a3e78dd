//! Filters on lists.

use super::{Renderer, Values, flag, int_arg, items, text_arg, text_of};
use crate::arithmetic::{self, too_long, too_many};
use crate::ast::Operator;
use crate::error::{Result, type_error, value_error};
use crate::limits::{MAX_ITEMS, MAX_STRING};
use crate::python;
use crate::render::undefined;
use crate::tests;
use crate::val::{Data, MapKey, Val};
use std::cmp::Ordering;

type R<'a, 'c> = &'a mut Renderer<'c>;

pub fn list(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    items(render, &input).map(Val::list)
}

pub fn length(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    if let Data::Str(text) = &input.data {
        return Ok(Val::len(text.chars().count()));
    }
    if matches!(input.data, Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Null) {
        return type_error(format!("object of type '{}' has no len()", python::type_name(&input)));
    }
    Ok(Val::len(items(render, &input)?.len()))
}

pub fn first(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let found = items(render, &input)?.into_iter().next();
    Ok(found.unwrap_or_else(|| undefined("first", true, "")))
}

pub fn last(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(items(render, &input)?.pop().unwrap_or_else(|| undefined("last", true, "")))
}

pub fn reverse(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    if let Data::Str(text) = &input.data {
        return Ok(Val::str(text.chars().rev().collect::<String>()));
    }
    let mut items = items(render, &input)?;
    items.reverse();
    Ok(Val::list(items))
}

pub fn join(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let separator = text_arg(render, args, 0, "d")?.unwrap_or_default();
    let attribute = text_arg(render, args, 1, "attribute")?;
    let mut out = String::new();
    for (at, item) in items(render, &input)?.into_iter().enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        let item = match &attribute {
            Some(name) => present(render, &item, name)?,
            None => item,
        };
        out.push_str(&text_of(render, &item)?);
        if out.len() > MAX_STRING {
            return too_long();
        }
    }
    Ok(Val::str(out))
}

/// An attribute of an item by a dotted path.
pub fn member(render: &Renderer<'_>, item: &Val, path: &str) -> Result<Val> {
    let mut value = item.clone();
    for part in path.split('.') {
        let found = match python::parse_int(part) {
            Some(index) => render.item(&value, &Val::int(index))?,
            None => render.item(&value, &Val::str(part))?,
        };
        match found {
            Some(found) => value = found,
            None => return Ok(undefined(part, true, "")),
        }
    }
    Ok(value)
}

/// An attribute of an item, required where undefined values are errors.
fn present(render: &Renderer<'_>, item: &Val, path: &str) -> Result<Val> {
    let value = member(render, item, path)?;
    match value.data {
        Data::Undefined(_) if !render.ctx.strict() => Ok(value),
        _ => render.whole(value),
    }
}

/// The items to visit one by one; empty and null values have none.
fn candidates(render: &Renderer<'_>, input: &Val) -> Result<Vec<Val>> {
    if !matches!(input.data, Data::Undefined(_)) && !python::truthy(input) {
        return Ok(Vec::new());
    }
    let all = items(render, input)?;
    render.ctx.evaluation.spend(all.len())?;
    Ok(all)
}

pub fn map(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let all = candidates(render, &input)?;
    if let Some(path) = args.positional.is_empty().then(|| args.get(usize::MAX, "attribute")).flatten() {
        let path = text_of(render, path)?;
        let default = args.get(usize::MAX, "default");
        let mut out = Vec::new();
        for item in &all {
            let value = member(render, item, &path)?;
            out.push(match (&value.data, default) {
                (Data::Undefined(_), Some(default)) => default.clone(),
                _ => value,
            });
        }
        return Ok(Val::list(out));
    }
    let Some((name, rest)) = args.positional.split_first() else {
        return type_error("`map` needs the name of a filter or `attribute`");
    };
    let name = text_of(render, name)?;
    let rest = Values { positional: rest.to_vec(), named: args.named.clone() };
    let mapped: Result<Vec<Val>> = all.into_iter().map(|item| render.apply_filter(&name, item, &rest)).collect();
    mapped.map(Val::list)
}

fn choose(render: &mut Renderer<'_>, input: &Val, args: &Values, attr: bool, want: bool) -> Result<Val> {
    let all = candidates(render, input)?;
    let mut given = args.positional.as_slice();
    let attribute = match (attr, given.split_first()) {
        (true, Some((name, rest))) => {
            given = rest;
            Some(text_of(render, name)?)
        }
        (true, None) => return type_error("the name of an attribute is missing"),
        (false, _) => None,
    };
    let test = given.split_first();
    let mut kept = Vec::new();
    for item in all {
        let subject = match &attribute {
            Some(path) => member(render, &item, path)?,
            None => item.clone(),
        };
        let held = match test {
            Some((name, rest)) => {
                let name = text_of(render, name)?;
                let rest = Values { positional: rest.to_vec(), named: args.named.clone() };
                tests::run(render, &name, &subject, &rest)?
            }
            None => render.truth(&subject)?,
        };
        if held == want {
            kept.push(item);
        }
    }
    Ok(Val::list(kept))
}

pub fn select(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    choose(render, &input, args, false, true)
}

pub fn reject(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    choose(render, &input, args, false, false)
}

pub fn selectattr(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    choose(render, &input, args, true, true)
}

pub fn rejectattr(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    choose(render, &input, args, true, false)
}

/// The sort key of items: an attribute, ignoring case by default.
fn sort_key(render: &Renderer<'_>, item: &Val, attribute: Option<&str>, case: bool) -> Result<Val> {
    let value = match attribute {
        Some(path) => member(render, item, path)?,
        None => item.clone(),
    };
    Ok(folded(render.ctx.host.force(value)?, case))
}

/// How items are put in order.
#[derive(Clone, Copy, Default)]
struct Order<'a> {
    attributes: Option<&'a str>,
    case: bool,
    reverse: bool,
}

/// The bytes of an item and its list of keys while sorting.
const KEYED: usize = 256;

fn sorted(render: &Renderer<'_>, all: Vec<Val>, order: Order<'_>) -> Result<Vec<Val>> {
    let Order { attributes, case, reverse } = order;
    let _held = render.ctx.evaluation.hold(all.len().saturating_mul(KEYED))?;
    let mut keyed = Vec::with_capacity(all.len());
    for item in all {
        let mut keys = Vec::new();
        match attributes {
            Some(attributes) => {
                for attribute in attributes.split(',') {
                    keys.push(sort_key(render, &item, Some(attribute.trim()), case)?);
                }
            }
            None => keys.push(sort_key(render, &item, None, case)?),
        }
        keyed.push((Val::list(keys), item));
    }
    python::sorted(keyed, reverse)
}

pub fn sort(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let all = items(render, &input)?;
    let attribute = text_arg(render, args, 2, "attribute")?;
    let order = Order {
        attributes: attribute.as_deref(),
        case: flag(args, 1, "case_sensitive", false),
        reverse: flag(args, 0, "reverse", false),
    };
    sorted(render, all, order).map(Val::list)
}

pub fn groupby(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(attribute) = text_arg(render, args, 0, "attribute")? else {
        return type_error("`groupby` needs the name of an attribute");
    };
    let order = Order { attributes: Some(&attribute), case: true, reverse: false };
    let all = sorted(render, items(render, &input)?, order)?;
    let mut groups: Vec<(Val, Vec<Val>)> = Vec::new();
    for item in all {
        let key = render.ctx.host.force(member(render, &item, &attribute)?)?;
        match groups.last_mut() {
            Some((last, members)) if python::equal(last, &key) => members.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    Ok(Val::list(groups.into_iter().map(|(key, members)| Val::tuple(vec![key, Val::list(members)])).collect()))
}

fn extreme(render: &Renderer<'_>, input: &Val, args: &Values, wanted: Ordering) -> Result<Val> {
    let attribute = text_arg(render, args, 1, "attribute")?;
    let case = flag(args, 0, "case_sensitive", false);
    let mut best: Option<(Val, Val)> = None;
    for item in items(render, input)? {
        let key = sort_key(render, &item, attribute.as_deref(), case)?;
        let better = match &best {
            None => true,
            Some((best, _)) => match python::compare(&key, best) {
                Some(order) => order == wanted,
                None => return type_error("items of these kinds cannot be compared"),
            },
        };
        if better {
            best = Some((key, item));
        }
    }
    Ok(best.map_or_else(|| undefined("max", true, ""), |(_, item)| item))
}

pub fn max(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    extreme(render, &input, args, Ordering::Greater)
}

pub fn min(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    extreme(render, &input, args, Ordering::Less)
}

pub fn sum(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let attribute = text_arg(render, args, 0, "attribute")?;
    let mut total = args.get(1, "start").cloned().unwrap_or_else(|| Val::int(0));
    for item in items(render, &input)? {
        let item = match &attribute {
            Some(path) => render.whole(member(render, &item, path)?)?,
            None => item,
        };
        total = arithmetic::apply(Operator::Add, &total, &item)?;
    }
    Ok(total)
}

pub fn batch(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let count = usize::try_from(int_arg(args, 0, "linecount")?.unwrap_or(1)).unwrap_or(0).clamp(1, MAX_ITEMS);
    let all = items(render, &input)?;
    let fill = args.get(1, "fill_with").filter(|fill| !fill.is_null());
    let batches = all.chunks(count).map(|chunk| {
        let mut chunk = chunk.to_vec();
        if let Some(fill) = fill {
            chunk.resize(count, fill.clone());
        }
        Val::list(chunk)
    });
    Ok(Val::list(batches.collect()))
}

pub fn slice(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let all = items(render, &input)?;
    let count = usize::try_from(int_arg(args, 0, "slices")?.unwrap_or(1)).unwrap_or(0).clamp(1, MAX_ITEMS);
    let fill = args.get(1, "fill_with").filter(|fill| !fill.is_null());
    let (each, extra) = (all.len() / count, all.len() % count);
    render.ctx.evaluation.afford_rows(count, 0)?;
    let mut out = Vec::new();
    let mut rest = all.as_slice();
    for at in 0..count {
        let size = each + usize::from(at < extra);
        let (chunk, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        let mut chunk = chunk.to_vec();
        if let Some(fill) = fill.filter(|_| at >= extra) {
            chunk.push(fill.clone());
        }
        out.push(Val::list(chunk));
    }
    Ok(Val::list(out))
}

/// Items that were not met before.
fn distinct(all: Vec<Val>) -> Vec<Val> {
    let mut keys: std::collections::HashSet<MapKey> = std::collections::HashSet::new();
    let mut kept: Vec<Val> = Vec::new();
    for item in all {
        let new = match item.to_key() {
            Some(key) => keys.insert(key),
            None => !kept.iter().any(|other| python::equal(other, &item)),
        };
        if new {
            kept.push(item);
        }
    }
    kept
}

/// Items whose value, or whose attribute, is new; case counts only if requested.
pub fn unique(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let case = flag(args, 0, "case_sensitive", false);
    let attribute = text_arg(render, args, 1, "attribute")?;
    let mut seen: Vec<Val> = Vec::new();
    let mut keys: std::collections::HashSet<MapKey> = std::collections::HashSet::new();
    let mut kept = Vec::new();
    for item in items(render, &input)? {
        let subject = match &attribute {
            Some(path) => present(render, &item, path)?,
            None => item.clone(),
        };
        let subject = folded(subject, case);
        let new = match subject.to_key() {
            Some(key) => keys.insert(key),
            None if among(&seen, &subject) => false,
            None => {
                seen.push(subject);
                true
            }
        };
        if new {
            kept.push(item);
        }
    }
    Ok(Val::list(kept))
}

/// Text without regard to case, unless case counts.
fn folded(value: Val, case: bool) -> Val {
    match &value.data {
        Data::Str(text) if !case => Val::str(text.to_lowercase()),
        _ => value,
    }
}

fn other(render: &Renderer<'_>, args: &Values) -> Result<Vec<Val>> {
    match args.positional.first() {
        Some(other) => items(render, &render.whole(other.clone())?),
        None => type_error("another list is missing"),
    }
}

fn among(items: &[Val], item: &Val) -> bool {
    items.iter().any(|other| python::equal(other, item))
}

/// The items of a list; text is not a list.
fn list_only(input: &Val) -> Result<Vec<Val>> {
    match input.as_list() {
        Some(items) => Ok(items.to_vec()),
        None => type_error(format!("this needs a list, not {}", input.kind())),
    }
}

pub fn union(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut all = list_only(&input)?;
    all.extend(other(render, args)?);
    Ok(Val::list(distinct(all)))
}

pub fn intersect(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let right = other(render, args)?;
    let all = items(render, &input)?.into_iter().filter(|item| among(&right, item));
    Ok(Val::list(distinct(all.collect())))
}

pub fn difference(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let right = other(render, args)?;
    let all = items(render, &input)?.into_iter().filter(|item| !among(&right, item));
    Ok(Val::list(distinct(all.collect())))
}

pub fn symmetric_difference(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let left = list_only(&input)?;
    let right = other(render, args)?;
    let mut all: Vec<Val> = left.iter().filter(|item| !among(&right, item)).cloned().collect();
    all.extend(right.iter().filter(|item| !among(&left, item)).cloned());
    Ok(Val::list(distinct(all)))
}

pub fn flatten(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let levels = int_arg(args, 0, "levels")?.unwrap_or(i64::MAX);
    let skip_nulls = flag(args, 1, "skip_nulls", true);
    let mut out = Vec::new();
    flatten_into(&items(render, &input)?, levels, skip_nulls, &mut out)?;
    Ok(Val::list(out))
}

fn flatten_into(all: &[Val], levels: i64, skip_nulls: bool, out: &mut Vec<Val>) -> Result<()> {
    for item in all {
        match &item.data {
            Data::List(inner) if levels > 0 => flatten_into(inner, levels - 1, skip_nulls, out)?,
            Data::Null if skip_nulls => {}
            _ => out.push(item.clone()),
        }
        if out.len() > MAX_ITEMS {
            return too_many();
        }
    }
    Ok(())
}

fn lists_of(render: &Renderer<'_>, input: &Val, args: &Values) -> Result<Vec<Vec<Val>>> {
    let mut lists = vec![items(render, input)?];
    for other in &args.positional {
        lists.push(items(render, &render.whole(other.clone())?)?);
    }
    Ok(lists)
}

pub fn zip(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let lists = lists_of(render, &input, args)?;
    let count = lists.iter().map(Vec::len).min().unwrap_or(0);
    render.ctx.evaluation.afford_rows(count, lists.len())?;
    Ok(zipped(&lists, count, &Val::null()))
}

pub fn zip_longest(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let lists = lists_of(render, &input, args)?;
    let count = lists.iter().map(Vec::len).max().unwrap_or(0);
    let fill = args.get(usize::MAX, "fillvalue").cloned().unwrap_or_else(Val::null);
    render.ctx.evaluation.afford_rows(count, lists.len())?;
    Ok(zipped(&lists, count, &fill))
}

fn zipped(lists: &[Vec<Val>], count: usize, fill: &Val) -> Val {
    let row = |at: usize| Val::tuple(lists.iter().map(|list| list.get(at).unwrap_or(fill).clone()).collect());
    Val::list((0..count).map(row).collect())
}

pub fn product(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let lists = lists_of(render, &input, args)?;
    let total = lists.iter().map(Vec::len).fold(1usize, usize::saturating_mul);
    if total > MAX_ITEMS {
        return too_many();
    }
    render.ctx.evaluation.afford_rows(total, lists.len())?;
    let mut rows: Vec<Vec<Val>> = vec![Vec::new()];
    for list in &lists {
        rows = rows
            .iter()
            .flat_map(|row| {
                list.iter().map(|item| {
                    let mut row = row.clone();
                    row.push(item.clone());
                    row
                })
            })
            .collect();
    }
    Ok(Val::list(rows.into_iter().map(Val::tuple).collect()))
}

pub fn permutations(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    arrangements(render, &input, args, false)
}

pub fn combinations(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    arrangements(render, &input, args, true)
}

fn arrangements(render: &Renderer<'_>, input: &Val, args: &Values, ordered: bool) -> Result<Val> {
    let all = items(render, input)?;
    let size = usize::try_from(int_arg(args, 0, "set_size")?.unwrap_or(all.len() as i64)).unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size.min(all.len() + 1) {
        let mut longer = Vec::new();
        for row in &rows {
            let from = if ordered { row.last().map_or(0, |last| last + 1) } else { 0 };
            // The number of rows that extend this one; without order all items except those in it.
            let more = (all.len() - from.min(all.len())).saturating_sub(if ordered { 0 } else { row.len() });
            if longer.len().saturating_add(more) > MAX_ITEMS {
                return too_many();
            }
            render.ctx.evaluation.afford_rows(more, row.len())?;
            for at in (from..all.len()).filter(|at| !row.contains(at)) {
                let mut row = row.clone();
                row.push(at);
                longer.push(row);
            }
        }
        rows = longer;
    }
    let rows = rows.into_iter().map(|row| Val::tuple(row.into_iter().filter_map(|at| all.get(at)).cloned().collect()));
    Ok(Val::list(rows.collect()))
}

pub fn random(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    if let Data::Int(end) = input.data {
        let start = int_arg(args, 0, "start")?.unwrap_or(0);
        let step = int_arg(args, 1, "step")?.unwrap_or(1);
        let (span, width) = (i128::from(end) - i128::from(start), i128::from(step));
        // As many as `range` has: the rest of a division counts for one more.
        let steps = if step == 0 || (span > 0) != (step > 0) { 0 } else { (span + width - width.signum()) / width };
        let steps = u64::try_from(steps).unwrap_or(0);
        if steps == 0 {
            return value_error("`random` needs a range that is not empty");
        }
        let drawn = render.ctx.host.random() % steps;
        return Ok(Val::int(start.saturating_add(step.saturating_mul(i64::try_from(drawn).unwrap_or(0)))));
    }
    let all = items(render, &input)?;
    let Some(count) = u64::try_from(all.len()).ok().filter(|count| *count > 0) else {
        return Ok(undefined("random", true, ""));
    };
    let at = usize::try_from(render.ctx.host.random() % count).unwrap_or(0);
    Ok(all.get(at).cloned().unwrap_or_else(Val::null))
}

/// Values without items are returned unchanged.
pub fn shuffle(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let Ok(mut all) = items(render, &input) else {
        return Ok(input);
    };
    for at in (1..all.len()).rev() {
        let other = render.ctx.host.random() % (at as u64 + 1);
        all.swap(at, usize::try_from(other).unwrap_or(0));
    }
    Ok(Val::list(all))
}
