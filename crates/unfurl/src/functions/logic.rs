//! Conditions, comparisons, arithmetic, and functions about evaluation itself.

use super::Call;
use crate::error::{Result, type_error};
use crate::eval::path::{as_one, is_list, list_items};
use crate::eval::{Ctx, each, form};
use crate::jinja::operator;
use crate::python;
use crate::query::{Key, Start};
use crate::val::{Data, Val};
use std::cmp::Ordering;

/// `q`
pub fn quote(_: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    Ok(call.arg.clone())
}

/// `sensitive`
pub fn sensitive(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?.plain().taint();
    ctx.engine.note_secret(&value);
    Ok(value)
}

/// `foreach` as a function.
pub fn foreach(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    each::over_current(ctx, call.arg).map(as_one)
}

/// `is_function_defined`
pub(crate) fn is_function_defined(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let name = call.value(ctx)?;
    let found = name.as_str().and_then(super::find).is_some_and(|function| function.call.safe || !ctx.frame.mode.safe);
    Ok(Val::bool(found))
}

/// The matches of an operand: text is a query unless the call asks for data.
fn operand(ctx: &Ctx<'_, '_>, call: &Call<'_>, raw: &Val) -> Result<Vec<Val>> {
    let data = call.ready || call.raw("map_value").is_some_and(python::truthy);
    if data {
        return Ok(vec![call.evaluated(ctx, raw)?]);
    }
    ctx.engine.deeper(|| form::expression(ctx, raw))
}

/// Whether an operand's first match is true; and whether that is a secret.
fn holds(matches: &[Val]) -> (bool, bool) {
    match matches.first() {
        Some(first) => (python::truthy(first), first.is_tainted()),
        None => (false, false),
    }
}

/// `if`
pub(crate) fn if_(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (held, secret) = holds(&operand(ctx, call, call.arg)?);
    let value = match call.raw(if held { "then" } else { "else" }) {
        Some(raw) => as_one(branch(ctx, call, raw)?),
        None => Val::bool(held),
    };
    Ok(value.taint_if(secret))
}

/// A branch is an expression; a bare word without a match is itself the result.
fn branch(ctx: &Ctx<'_, '_>, call: &Call<'_>, raw: &Val) -> Result<Vec<Val>> {
    let matches = operand(ctx, call, raw)?;
    match raw.as_str() {
        Some(word) if matches.is_empty() && is_word(ctx, word) => Ok(vec![raw.clone()]),
        _ => Ok(matches),
    }
}

fn is_word(ctx: &Ctx<'_, '_>, text: &str) -> bool {
    let Ok(query) = ctx.engine.query(text) else {
        return false;
    };
    match query.segments.as_slice() {
        [only] => {
            query.start == Start::Ancestors
                && matches!(only.key, Key::Name(_))
                && only.filters.is_empty()
                && only.test.is_none()
                && !only.first
        }
        _ => false,
    }
}

/// `not`
pub fn not(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (held, secret) = holds(&operand(ctx, call, call.arg)?);
    Ok(Val::bool(!held).taint_if(secret))
}

/// The operands of `and` and `or`: a list of expressions, or an expression for a list of values. Each is evaluated
/// once; `each` returns whether to stop.
fn operands(ctx: &Ctx<'_, '_>, call: &Call<'_>, mut each: impl FnMut(Val) -> bool) -> Result<()> {
    if let Data::List(raws) = &call.arg.data {
        if raws.is_empty() {
            return type_error(format!("`{}` needs at least one operand", call.name));
        }
        for raw in raws.iter() {
            if each(as_one(operand(ctx, call, raw)?)) {
                return Ok(());
            }
        }
        return Ok(());
    }
    let list = as_one(operand(ctx, call, call.arg)?);
    if !is_list(&list) {
        return type_error(format!("`{}` needs a list, not {}", call.name, list.kind()));
    }
    for item in list_items(ctx, &list)? {
        if each(item.taint_if(list.is_tainted())) {
            return Ok(());
        }
    }
    Ok(())
}

/// `and`
pub fn and(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let mut result = Val::null();
    let mut secret = false;
    operands(ctx, call, |value| {
        secret |= value.is_tainted();
        let stop = !python::truthy(&value);
        result = value;
        stop
    })?;
    Ok(result.taint_if(secret))
}

/// `or`
pub fn or(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let mut result = Val::bool(false);
    let mut secret = false;
    operands(ctx, call, |value| {
        secret |= value.is_tainted();
        let stop = python::truthy(&value);
        if stop {
            result = value;
        }
        stop
    })?;
    Ok(result.taint_if(secret))
}

/// The two values of an operator.
fn pair(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<(Val, Val)> {
    let value = call.value(ctx)?;
    match value.as_list() {
        Some([left, right]) => {
            Ok((left.clone().plain().taint_if(value.is_tainted()), right.clone().plain().taint_if(value.is_tainted())))
        }
        _ => type_error(format!("`{}` needs a list of two values", call.name)),
    }
}

/// `eq`
pub fn eq(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (left, right) = pair(ctx, call)?;
    Ok(Val::bool(python::equal(&left, &right)).taint_if(left.tainted_within() || right.tainted_within()))
}

/// `ne`
pub fn ne(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (left, right) = pair(ctx, call)?;
    Ok(Val::bool(!python::equal(&left, &right)).taint_if(left.tainted_within() || right.tainted_within()))
}

fn ordered(ctx: &Ctx<'_, '_>, call: &Call<'_>, wanted: fn(Ordering) -> bool) -> Result<Val> {
    let (left, right) = pair(ctx, call)?;
    match python::compare(&left, &right) {
        Some(order) => Ok(Val::bool(wanted(order)).taint_if(left.is_tainted() || right.is_tainted())),
        None => type_error(format!("`{}` cannot compare {} with {}", call.name, left.kind(), right.kind())),
    }
}

/// `gt`
pub fn gt(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    ordered(ctx, call, Ordering::is_gt)
}

/// `ge`
pub fn ge(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    ordered(ctx, call, Ordering::is_ge)
}

/// `lt`
pub fn lt(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    ordered(ctx, call, Ordering::is_lt)
}

/// `le`
pub fn le(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    ordered(ctx, call, Ordering::is_le)
}

fn arithmetic(ctx: &Ctx<'_, '_>, call: &Call<'_>, symbol: &str) -> Result<Val> {
    let (left, right) = pair(ctx, call)?;
    operator(symbol, &left, &right)
}

/// `add`
pub fn add(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "+")
}

/// `sub`
pub fn sub(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "-")
}

/// `mul`
pub fn mul(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "*")
}

/// `pow`
pub fn pow(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "**")
}

/// `div` and `truediv`
pub fn div(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "/")
}

/// `floordiv`
pub(crate) fn floordiv(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "//")
}

/// `mod`
pub(crate) fn modulo(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    arithmetic(ctx, call, "%")
}
