//! The filters that ensembles add to those of the language: functions of expressions.

use crate::error::Result;
use crate::eval::frame::Variable;
use crate::eval::path::as_one;
use crate::eval::{Ctx, form};
use crate::functions::{self, Call};
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};
use purlin_jinja::Values;
use purlin_jinja::filters::{Filter, Takes, of_host};
use purlin_value::Cost;
use purlin_value::function::{many, optional};

/// A filter, and what applies it.
pub struct Row {
    /// Its name, parameters, sentence and cost.
    pub filter: Filter,
    run: fn(&Ctx<'_, '_>, Val, &Values) -> Result<Val>,
}

/// A filter that takes its input as it is, and charges itself.
const fn raw(row: Row) -> Row {
    Row { filter: Filter { cost: Cost::Own, ..row.filter }, ..row }
}

/// The filters of ensembles.
pub const ROWS: &[Row] = &[
    raw(Row {
        filter: of_host("eval", &[optional("wantList", "boolean")], "What a query finds.", Takes::Anything, true),
        run: eval,
    }),
    raw(Row {
        filter: of_host("ref", &[optional("wantList", "boolean")], "What a query finds.", Takes::Anything, true),
        run: eval,
    }),
    raw(Row {
        filter: of_host("map_value", &[], "The value with all its expressions evaluated.", Takes::Anything, true),
        run: map_value,
    }),
    raw(Row {
        filter: of_host("mapValue", &[], "The value with all its expressions evaluated.", Takes::Anything, true),
        run: map_value,
    }),
    Row { filter: of_host("sensitive", &[], "The value, marked as sensitive.", Takes::Whole, true), run: sensitive },
    Row {
        filter: of_host(
            "abspath",
            &[optional("location", "string"), optional("mkdir", "boolean")],
            "The full path of a file.",
            Takes::Text,
            false,
        ),
        run: abspath,
    },
    Row {
        filter: of_host(
            "get_dir",
            &[optional("mkdir", "boolean")],
            "A named folder, or the folder of a repository.",
            Takes::Whole,
            false,
        ),
        run: get_dir,
    },
    Row { filter: of_host("which", &[], "The path of a command.", Takes::Whole, false), run: which },
    Row {
        filter: of_host(
            "to_label",
            &[many("option", "any")],
            "A label with allowed characters only.",
            Takes::Whole,
            true,
        ),
        run: to_label,
    },
    Row {
        filter: of_host("to_dns_label", &[many("option", "any")], "A DNS label.", Takes::Whole, true),
        run: to_dns_label,
    },
    Row {
        filter: of_host("to_kubernetes_label", &[many("option", "any")], "A Kubernetes label.", Takes::Whole, true),
        run: to_kubernetes_label,
    },
    Row {
        filter: of_host("to_googlecloud_label", &[many("option", "any")], "A Google Cloud label.", Takes::Whole, true),
        run: to_googlecloud_label,
    },
    Row {
        filter: of_host("scalar", &[optional("unit", "string")], "A number with a unit.", Takes::Whole, true),
        run: scalar,
    },
];

/// The filter of a name.
pub fn find(name: &str) -> Option<&'static Filter> {
    ROWS.iter().map(|row| &row.filter).find(|filter| filter.name == name)
}

/// Applies one of the filters.
pub fn apply(ctx: &Ctx<'_, '_>, filter: &Filter, input: Val, args: &Values) -> Result<Val> {
    match ROWS.iter().find(|row| row.filter.name == filter.name) {
        Some(row) => (row.run)(ctx, input, args),
        None => Ok(input),
    }
}

fn eval(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let want_list = args.get(0, "wantList").is_some_and(python::truthy);
    let others = args.named.iter().filter(|(name, _)| !matches!(name.as_str(), "wantList" | "trace"));
    let variables = others.map(|(name, value)| Variable::ready(name.clone(), value.clone())).collect();
    let inner = ctx.with_variables(variables);
    let input = ctx.engine.force(input)?;
    let matches = match &input.data {
        // A trace would reveal the secret in the query step by step.
        Data::Str(_) | Data::Map(_) if input.tainted_within() => {
            let trace = inner.engine.trace.take();
            let found = form::expression(&inner, &input);
            inner.engine.trace.replace(trace);
            found?
        }
        Data::Str(_) | Data::Map(_) => form::expression(&inner, &input)?,
        // Any other input is already a value and is not evaluated.
        Data::List(_) => return Ok(input),
        _ if want_list => return Ok(Val::list(vec![input])),
        _ => return Ok(input),
    };
    let tainted = input.is_tainted();
    let value = if want_list { Val::list(matches) } else { as_one(matches) };
    ctx.engine.note_read(&value);
    Ok(value.taint_if(tainted))
}

fn map_value(ctx: &Ctx<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let input = ctx.engine.force(input)?;
    let value = ctx.map_value(&input)?;
    Ok(value.taint_if(input.is_tainted()))
}

fn sensitive(ctx: &Ctx<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let value = input.taint();
    ctx.engine.note_secret(&value);
    Ok(value)
}

fn call(ctx: &Ctx<'_, '_>, name: &str, input: &Val, args: &Values) -> Result<Val> {
    let Some(function) = functions::find(name) else {
        return Ok(input.clone());
    };
    let entries: ValMap = args.named.iter().map(|(key, value)| (MapKey::Str(key.clone()), value.clone())).collect();
    functions::call(function, ctx, &Call { name: function.name, arg: input, entries: &entries, ready: true })
}

fn abspath(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut parts = vec![input];
    parts.extend(args.positional.iter().cloned());
    call(ctx, "abspath", &Val::list(parts), args)
}

fn get_dir(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut parts = vec![input];
    parts.extend(args.positional.iter().cloned());
    call(ctx, "get_dir", &Val::list(parts), args)
}

/// The path of a program; the world does not reveal it, so the name is returned unless it is a path.
fn which(ctx: &Ctx<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let Data::Str(name) = &input.data else {
        return crate::error::type_error("`which` needs the name of a program");
    };
    Ok(ctx.engine.session.world.program(name).map_or(Val::null(), Val::str))
}

fn to_label(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(ctx, "to_label", &input, args)
}

fn to_dns_label(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(ctx, "to_dns_label", &input, args)
}

fn to_kubernetes_label(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(ctx, "to_kubernetes_label", &input, args)
}

fn to_googlecloud_label(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(ctx, "to_googlecloud_label", &input, args)
}

fn scalar(ctx: &Ctx<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let unit = args.get(0, "unit").map(|value| ctx.text(value)).transpose()?;
    functions::scalars::scalar(ctx, &input, unit.as_deref())
}
