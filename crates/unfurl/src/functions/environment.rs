//! Environment variables: the ensemble's over the world's.

use super::Call;
use crate::error::{Result, type_error};
use crate::eval::Ctx;
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::credentials::is_secret_variable;
use purlin_value::glob::{Glob, Notation};
use std::collections::BTreeMap;

/// The environment an expression sees, sorted by name: the world's, changed by the rules of the ensemble's variables.
fn environment(ctx: &Ctx<'_, '_>) -> Result<BTreeMap<String, Val>> {
    let session = ctx.engine.session;
    let mut all: BTreeMap<String, Val> = BTreeMap::new();
    for (name, value) in session.world.env_table() {
        let origin = session.origins.env(name.as_str());
        let value = of_variable(&name, value).from_origin(origin);
        all.insert(name, value);
    }
    for (rule, raw) in rules(ctx) {
        let value = rule_value(ctx, raw)?;
        let (name, sign) = signed(rule);
        match sign {
            Some('-') => match name.strip_prefix('!') {
                Some(pattern) => all.retain(|name, _| globbed(pattern, name)),
                None => all.retain(|known, _| !globbed(name, known)),
            },
            // Existing values are kept; only paths are prepended to.
            Some('+' | '^') if all.contains_key(name) || name.contains(['*', '?', '!']) => {
                let text = plain_text(ctx, &value)?.filter(|_| sign == Some('^'));
                if let (Some(text), Some(before)) = (text.filter(python::truthy), all.get_mut(name)) {
                    *before = joined(ctx, &text, before)?;
                }
            }
            _ => {
                if let Some(text) = plain_text(ctx, &value)? {
                    all.insert(name.to_owned(), text.from_origin(raw.origin));
                }
            }
        }
    }
    Ok(all)
}

/// The differences between the environment of a command and that of this process: the ensemble's variables, then the
/// rules of its operation. A name without a value is removed.
pub(crate) fn for_command(ctx: &Ctx<'_, '_>, rules: Option<&Val>) -> Result<Vec<(String, Option<Val>)>> {
    let mut all = environment(ctx)?;
    if let Some(rules) = rules {
        let rules = ctx.map_value(rules)?;
        let mut new: ValMap = ValMap::default();
        for (rule, value) in rules.as_map().into_iter().flatten() {
            let Some(rule) = rule.as_str() else { continue };
            match rule.strip_prefix('-') {
                Some(pattern) => match pattern.strip_prefix('!') {
                    Some(pattern) => all.retain(|name, _| globbed(pattern, name)),
                    None => all.retain(|name, _| !globbed(pattern, name)),
                },
                None if value.is_null() && !rule.starts_with(['+', '^']) => {
                    all.remove(rule);
                }
                None => apply(ctx, rule, value, &all, &mut new)?,
            }
        }
        all.extend(new.into_iter().filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value))));
    }
    let outside: BTreeMap<String, String> = ctx.engine.session.world.env_all().into_iter().collect();
    let is_new = |name: &String, value: &Val| outside.get(name).map(String::as_str) != value.as_str();
    let removed = outside.keys().filter(|name| !all.contains_key(*name)).map(|name| (name.clone(), None));
    let mut out: Vec<(String, Option<Val>)> = removed.collect();
    out.extend(all.into_iter().filter(|(name, value)| is_new(name, value)).map(|(name, value)| (name, Some(value))));
    Ok(out)
}

/// The rules of the ensemble's variables. While one of them is evaluated, only the world's environment applies.
fn rules<'c>(ctx: &'c Ctx<'_, '_>) -> &'c [(EcoString, Val)] {
    if ctx.engine.in_variables.get() { &[] } else { &ctx.engine.settings.variables }
}

fn rule_value(ctx: &Ctx<'_, '_>, raw: &Val) -> Result<Val> {
    let outer = ctx.engine.in_variables.replace(true);
    let value = ctx.map_value(raw).and_then(|value| ctx.engine.force(value));
    ctx.engine.in_variables.set(outer);
    value
}

/// A rule's name without the sign of its action.
fn signed(rule: &str) -> (&str, Option<char>) {
    match rule.chars().next().filter(|sign| matches!(sign, '+' | '-' | '^')) {
        Some(sign) => (rule.get(1..).unwrap_or(""), Some(sign)),
        None => (rule, None),
    }
}

/// A path with a prefix.
fn joined(ctx: &Ctx<'_, '_>, first: &Val, rest: &Val) -> Result<Val> {
    let tainted = first.is_tainted() || rest.is_tainted();
    Ok(Val::str(format!("{}:{}", ctx.text(first)?, ctx.text(rest)?)).taint_if(tainted))
}

/// One variable.
pub fn variable(ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
    if rules(ctx).iter().any(|(rule, _)| rule.starts_with(['+', '-', '^'])) {
        ctx.engine.session.world.env(name);
        return Ok(environment(ctx)?.remove(name));
    }
    if let Some((_, raw)) = rules(ctx).iter().rev().find(|(known, _)| known == name)
        && let Some(text) = plain_text(ctx, &rule_value(ctx, raw)?)?
    {
        return Ok(Some(text.from_origin(raw.origin)));
    }
    Ok(outside(ctx, name))
}

/// A variable of the world's environment.
fn outside(ctx: &Ctx<'_, '_>, name: &str) -> Option<Val> {
    let session = ctx.engine.session;
    session.world.env(name).map(|value| of_variable(name, value).from_origin(session.origins.env(name)))
}

/// The value of a variable; one with the name of a credential is a secret.
fn of_variable(name: &str, value: String) -> Val {
    let is_secret = is_secret_variable(name) && !value.is_empty();
    Val::str(value).taint_if(is_secret)
}

/// One variable as a started program would see it: a task has the ensemble's variables; outside of one they are not
/// part of the environment.
pub fn of_process(ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
    if ctx.variable("task")?.is_some() {
        return variable(ctx, name);
    }
    Ok(outside(ctx, name))
}

/// `get_env`
pub fn get_env(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let (name, default) = match &call.arg.data {
        Data::List(items) => (items.first(), items.get(1)),
        _ => (Some(call.arg), None),
    };
    let Some(name) = name.filter(|name| python::truthy(name)) else {
        ctx.engine.session.world.env_all();
        let all = environment(ctx)?.into_iter().map(|(name, value)| (MapKey::Str(name.into()), value));
        return Ok(Val::map(all.collect()));
    };
    let Some(name) = name.as_str() else {
        return type_error(format!("`get_env` needs a name, not {}", name.kind()));
    };
    match (variable(ctx, name)?, default) {
        (Some(value), _) => Ok(value),
        (None, Some(default)) => call.evaluated(ctx, default),
        (None, None) => Ok(Val::null()),
    }
}

/// `has_env`
pub(crate) fn has_env(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let Some(name) = call.arg.as_str() else {
        return type_error(format!("`has_env` needs a name, not {}", call.arg.kind()));
    };
    Ok(Val::bool(variable(ctx, name)?.is_some()))
}

/// `to_env`: rules applied in order; only the additions are returned.
pub fn to_env(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let rules = call.value(ctx)?;
    let Some(rules) = rules.as_map() else {
        return type_error(format!("`to_env` needs a map, not {}", rules.kind()));
    };
    let old = environment(ctx)?;
    let mut new = ValMap::default();
    for (rule, value) in rules {
        let Some(rule) = rule.as_str() else { continue };
        apply(ctx, rule, value, &old, &mut new)?;
    }
    Ok(Val::map(new))
}

fn apply(ctx: &Ctx<'_, '_>, rule: &str, value: &Val, old: &BTreeMap<String, Val>, new: &mut ValMap) -> Result<()> {
    let key = |name: &str| MapKey::Str(name.into());
    if let Some(pattern) = rule.strip_prefix('+') {
        return copy(ctx, pattern, value, old, new);
    }
    if let Some(pattern) = rule.strip_prefix('-') {
        match pattern.strip_prefix('!') {
            Some(pattern) => new.retain(|name, _| name.as_str().is_some_and(|name| globbed(pattern, name))),
            None => new.retain(|name, _| !name.as_str().is_some_and(|name| globbed(pattern, name))),
        }
        return Ok(());
    }
    if let Some(name) = rule.strip_prefix('^') {
        if let Some(text) = env_text(ctx, value, old, new)? {
            let before = new.get(&key(name)).or_else(|| old.get(name)).cloned();
            let joined = match before.as_ref().filter(|before| python::truthy(before)) {
                Some(before) if !python::truthy(&text) => before.clone(),
                Some(before) => joined(ctx, &text, before)?,
                None => text,
            };
            new.insert(key(name), joined);
        }
        return Ok(());
    }
    match env_text(ctx, value, old, new)? {
        Some(text) => new.insert(key(rule), text),
        None => new.shift_remove(&key(rule)),
    };
    Ok(())
}

/// `+NAME`, `+PATTERN*`, `+!PATTERN*`: variables taken over.
fn copy(ctx: &Ctx<'_, '_>, pattern: &str, value: &Val, old: &BTreeMap<String, Val>, new: &mut ValMap) -> Result<()> {
    let key = |name: &str| MapKey::Str(name.into());
    if let Some(pattern) = pattern.strip_prefix('!') {
        new.extend(old.iter().filter(|(name, _)| !globbed(pattern, name)).map(|(n, v)| (key(n), v.clone())));
    } else if pattern.contains(['*', '?']) {
        new.extend(old.iter().filter(|(name, _)| globbed(pattern, name)).map(|(n, v)| (key(n), v.clone())));
    } else if let Some(value) = old.get(pattern) {
        new.insert(key(pattern), value.clone());
    } else if let Some(text) = env_text(ctx, value, old, new)? {
        new.insert(key(pattern), text);
    }
    Ok(())
}

/// A value as the text of a variable, with references substituted; none if it is left out.
fn env_text(ctx: &Ctx<'_, '_>, value: &Val, old: &BTreeMap<String, Val>, new: &ValMap) -> Result<Option<Val>> {
    match &value.data {
        Data::Str(text) => Ok(Some(substituted(ctx, text, old, new)?.taint_if(value.is_tainted()))),
        _ => plain_text(ctx, value),
    }
}

/// A value as the text of a variable; none if it is left out.
fn plain_text(ctx: &Ctx<'_, '_>, value: &Val) -> Result<Option<Val>> {
    Ok(match &value.data {
        Data::Null => None,
        Data::Bool(b) => Some(Val::str(if *b { "true" } else { "" }).taint_if(value.is_tainted())),
        _ => Some(Val::str(ctx.text(value)?).taint_if(value.tainted_within())),
    })
}

/// `${A|B:default}` from the new environment, then the old; `\${` is kept as `${`.
fn substituted(ctx: &Ctx<'_, '_>, text: &str, old: &BTreeMap<String, Val>, new: &ValMap) -> Result<Val> {
    let mut out = String::new();
    let mut tainted = false;
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let before = rest.get(..at).unwrap_or("");
        let after = rest.get(at + 2..).unwrap_or("");
        if let Some(kept) = before.strip_suffix('\\') {
            out.push_str(kept);
            out.push_str("${");
            rest = after;
            continue;
        }
        let Some((inner, next)) = after.split_once('}') else { break };
        out.push_str(before);
        let (names, default) = inner.split_once(':').unwrap_or((inner, ""));
        let mut found = None;
        for name in names.split('|') {
            let known = new.get(&MapKey::Str(name.into())).or_else(|| old.get(name)).cloned();
            found = match known {
                Some(value) => Some(value),
                None => of_application(ctx, name)?,
            };
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(value) => {
                tainted |= value.is_tainted();
                out.push_str(&ctx.text(&value)?);
            }
            None => out.push_str(default),
        }
        rest = next;
    }
    out.push_str(rest);
    Ok(Val::str(out).taint_if(tainted))
}

/// `APP_X`: the property `x` of the node that the topology replaces; `DB_X`: that of the target of its requirement
/// `db`.
fn of_application(ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
    let tree = ctx.engine.tree;
    let (Some((owner, wanted)), Some(app)) = (name.split_once('_'), tree.topology_of(ctx.instance()).substitution_node)
    else {
        return Ok(None);
    };
    let leads_to = |name: &str| {
        let mut requirements = tree.node(app).requirements.iter().copied();
        let found = requirements.find(|id| tree.node(*id).name.to_uppercase() == name)?;
        crate::eval::status::target(tree, found)
    };
    let Some(owner) = (if owner == "APP" { Some(app) } else { leads_to(owner) }) else { return Ok(None) };
    let matching =
        tree.node(owner).attributes.keys().find(|name| name.to_uppercase().as_str().replace('-', "_") == wanted);
    match matching {
        Some(name) => Ok(ctx.engine.attribute(owner, name)?.filter(|value| !value.is_null())),
        None => Ok(None),
    }
}

/// Whether a name fits a pattern as Python's `fnmatch` reads it.
pub(crate) fn globbed(pattern: &str, name: &str) -> bool {
    Glob::read(pattern, Notation::PYTHON).is_some_and(|glob| glob.matches(name))
}
