//! Values from other ensembles, from the environment's locals and secrets, from lookups.

use super::Call;
use crate::error::{Result, missing, type_error};
use crate::eval::Ctx;
use crate::eval::frame::{Mode, Variable};
use crate::eval::path::as_one;
use crate::jinja;
use crate::python;
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_syntax::what;

/// `external`
pub fn external(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let name = ctx.text(&value)?;
    if let Some(shown) = ctx.engine.settings.externals.get(&name) {
        return Ok(shown.clone());
    }
    // The environment's locals are shown under this name.
    if let Some(locals) = ctx.engine.settings.locals.as_ref().filter(|_| name == "local") {
        return ctx.engine.context(ctx.engine.tree.root()).map_value(&Val::map(locals.clone()));
    }
    let error = crate::error::Error::new(crate::error::Kind::Missing, what::unknown("ensemble", &name));
    let known = ctx.engine.settings.externals.keys().map(EcoString::as_str);
    Err(match purlin_syntax::suggest::nearest(&name, known) {
        Some(near) => error.hint(Hint::meant(name.as_str(), near)),
        None => error,
    })
}

/// A value of a table of the environment, or the entry of `default` for the name.
fn from_table(ctx: &Ctx<'_, '_>, table: Option<&ValMap>, call: &Call<'_>, what: &str) -> Result<Val> {
    let value = call.value(ctx)?;
    let name = ctx.text(&value)?;
    let Some(table) = table else {
        return missing(format!("no project has an environment with {what}"));
    };
    let root = ctx.engine.tree.root();
    if let Some(raw) = table.get(&MapKey::Str(name.clone())) {
        return ctx.engine.context(root).map_value(raw);
    }
    let declared = table.get(&MapKey::from("schema")).and_then(|schema| schema.get(&name)?.get("default"));
    match table.get(&MapKey::from("default")).or(declared) {
        Some(raw) => {
            let key = Variable::ready("key", Val::str(name));
            ctx.engine.context_with(root, vec![key], Mode::default()).map_value(raw)
        }
        None => Ok(Val::null()),
    }
}

/// `local`
pub fn local(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    from_table(ctx, ctx.engine.settings.locals.as_ref(), call, "locals")
}

/// `secret`
pub fn secret(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    from_table(ctx, ctx.engine.settings.secrets.as_ref(), call, "secrets").map(Val::taint)
}

/// `lookup`
pub fn lookup(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let Some((plugin, arguments)) = value.as_map().and_then(ValMap::first) else {
        return type_error("`lookup` needs a map: the name of a lookup and its arguments");
    };
    let plugin = plugin.as_str().unwrap_or("");
    let terms = match arguments.as_list() {
        Some(terms) => terms.to_vec(),
        None => vec![arguments.clone()],
    };
    let named: Vec<(EcoString, Val)> = value
        .as_map()
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(|(key, value)| Some((EcoString::from(key.as_str()?), value.clone())))
        .collect();
    let tainted = value.tainted_within();
    Ok(as_one(jinja::lookup(ctx, plugin, terms, &named)?).taint_if(tainted))
}

/// `get_ensemble_metadata`
pub(crate) fn get_ensemble_metadata(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let metadata = &ctx.engine.settings.metadata;
    if python::truthy(&value) && !metadata.is_empty() {
        let name = ctx.text(&value)?;
        let found = metadata.iter().find(|(known, _)| *known == name);
        return Ok(found.map_or_else(Val::null, |(_, value)| value.clone()));
    }
    Ok(Val::map(metadata.iter().map(|(name, value)| (MapKey::Str(name.clone()), value.clone())).collect()))
}

/// `find_connection`: default connections belong to running jobs.
pub(crate) fn find_connection(_: &Ctx<'_, '_>, _: &Call<'_>) -> Result<Val> {
    Ok(Val::null())
}

/// `_arguments`: none outside of an operation.
pub fn arguments(_: &Ctx<'_, '_>, _: &Call<'_>) -> Result<Val> {
    Ok(Val::null())
}
