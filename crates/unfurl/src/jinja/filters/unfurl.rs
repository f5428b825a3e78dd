//! Filters that are the functions of expressions.

use super::{Renderer, Values, text_arg, text_of};
use crate::error::Result;
use crate::eval::form;
use crate::eval::frame::Variable;
use crate::eval::path::as_one;
use crate::functions::{self, Call};
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};

type R<'a, 'c, 'e, 'w> = &'a mut Renderer<'c, 'e, 'w>;

pub fn eval(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let want_list = args.get(0, "wantList").is_some_and(python::truthy);
    let others = args.named.iter().filter(|(name, _)| !matches!(name.as_str(), "wantList" | "trace"));
    let variables = others.map(|(name, value)| Variable::ready(name.clone(), value.clone())).collect();
    let ctx = render.ctx.with_variables(variables);
    let input = render.ctx.engine.force(input)?;
    let matches = match &input.data {
        // A trace would reveal the secret in the query step by step.
        Data::Str(_) | Data::Map(_) if input.tainted_within() => {
            let trace = ctx.engine.trace.take();
            let found = form::expression(&ctx, &input);
            ctx.engine.trace.replace(trace);
            found?
        }
        Data::Str(_) | Data::Map(_) => form::expression(&ctx, &input)?,
        // Any other input is already a value and is not evaluated.
        _ => return Ok(input),
    };
    let tainted = input.is_tainted();
    let value = if want_list { Val::list(matches) } else { as_one(matches) };
    render.ctx.engine.note_read(&value);
    Ok(value.taint_if(tainted))
}

pub fn map_value(render: R<'_, '_, '_, '_>, input: Val, _: &Values) -> Result<Val> {
    let input = render.ctx.engine.force(input)?;
    let value = render.ctx.map_value(&input)?;
    Ok(value.taint_if(input.is_tainted()))
}

pub fn sensitive(render: R<'_, '_, '_, '_>, input: Val, _: &Values) -> Result<Val> {
    let value = input.taint();
    render.ctx.engine.note_secret(&value);
    Ok(value)
}

fn call(render: &Renderer<'_, '_, '_>, name: &str, input: &Val, args: &Values) -> Result<Val> {
    let Some(function) = functions::find(name) else {
        return Ok(input.clone());
    };
    let entries: ValMap = args.named.iter().map(|(key, value)| (MapKey::Str(key.clone()), value.clone())).collect();
    functions::call(function, render.ctx, &Call { name: function.name, arg: input, entries: &entries, ready: true })
}

pub fn abspath(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut parts = vec![input];
    parts.extend(args.positional.iter().cloned());
    call(render, "abspath", &Val::list(parts), args)
}

pub fn get_dir(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let mut parts = vec![input];
    parts.extend(args.positional.iter().cloned());
    call(render, "get_dir", &Val::list(parts), args)
}

/// The path of a program; the world does not reveal it, so the name is returned unless it is a path.
pub fn which(render: R<'_, '_, '_, '_>, input: Val, _: &Values) -> Result<Val> {
    let name = text_of(render, &input)?;
    let path = render.ctx.engine.session.world.env("PATH").unwrap_or_default();
    let first = path.split(':').find(|folder| !folder.is_empty()).unwrap_or("/usr/bin");
    Ok(Val::str(if name.contains('/') { name.to_string() } else { format!("{first}/{name}") }))
}

pub fn to_label(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(render, "to_label", &input, args)
}

pub fn to_dns_label(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(render, "to_dns_label", &input, args)
}

pub fn to_kubernetes_label(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(render, "to_kubernetes_label", &input, args)
}

pub fn to_googlecloud_label(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    call(render, "to_googlecloud_label", &input, args)
}

pub fn scalar(render: R<'_, '_, '_, '_>, input: Val, args: &Values) -> Result<Val> {
    let unit = text_arg(render, args, 0, "unit")?;
    functions::scalars::scalar(render.ctx, &input, unit.as_deref())
}
