//! Variables: `$(NAME)` in known fields, filled with the value of a field of a resource.

use crate::config::{Config, part_of, text_of};
use crate::edit::{as_list, as_map};
use crate::fieldpath::{find, steps, with_indexes};
use crate::fieldspec::visit;
use crate::identity::{Gvk, Id, NO_NAMESPACE};
use crate::index::Index;
use crate::kustomization::{Problem, wrong};
use crate::names::scalar_text;
use crate::noted;
use crate::resource::Resource;
use ecow::EcoString;
use purlin_value::origin::Piece;
use purlin_value::weight::weight;
use purlin_value::{Data, FastMap, Origin, Origins, Session, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Variables by name.
pub type Vars = BTreeMap<EcoString, Var>;

/// A variable.
#[derive(Clone)]
pub struct Var {
    path: Vec<EcoString>,
    /// Its location.
    pub origin: Origin,
}

/// Adds the variables of a kustomization and notes in resources which of them read it.
pub fn gather(
    session: &Session,
    written: &[Value],
    vars: &mut Vars,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let mut index = Index::default();
    for value in written {
        let (name, var) = read(value);
        if let Some(reference) = part_of(value, "objref") {
            let near = index.named_or_all(session, value, text_of(reference, "name"), resources)?;
            let meant = note(&name, reference, &near, resources).map_err(|why| wrong(session, value, why))?;
            if let Some(resource) = meant.and_then(|at| resources.get(at)) {
                noted::uses(session, resource, reference.get("name"));
            }
        }
        add(vars, name, var).map_err(|(_, why)| wrong(session, value, why))?;
    }
    Ok(())
}

/// Adds the variables of a base.
pub fn absorb(vars: &mut Vars, others: Vars) -> Result<(), (Origin, String)> {
    others.into_iter().try_for_each(|(name, var)| add(vars, name, var))
}

fn add(vars: &mut Vars, name: EcoString, var: Var) -> Result<(), (Origin, String)> {
    if vars.contains_key(&name) {
        return Err((var.origin, format!("duplicate variable `{name}`")));
    }
    vars.insert(name, var);
    Ok(())
}

fn read(value: &Value) -> (EcoString, Var) {
    let path = part_of(value, "fieldref").map(|field| text_of(field, "fieldpath")).filter(|path| !path.is_empty());
    let path = with_indexes(steps(path.unwrap_or("metadata.name")));
    (text_of(value, "name").into(), Var { path, origin: value.origin })
}

/// If a variable refers to exactly one of the `near` resources, records the variable there, and returns the resource.
fn note(
    name: &EcoString,
    reference: &Value,
    near: &[usize],
    resources: &mut [Resource],
) -> Result<Option<usize>, String> {
    let gvk = match text_of(reference, "apiVersion") {
        "" => {
            let [group, version, kind] = ["group", "version", "kind"].map(|key| text_of(reference, key).into());
            Gvk { group, version, kind }
        }
        written => Gvk::of(written, text_of(reference, "kind")),
    };
    let namespace = text_of(reference, "namespace");
    let is_anywhere = namespace.is_empty() && !gvk.is_cluster_wide();
    let namespace = if gvk.is_cluster_wide() { NO_NAMESPACE } else { namespace };
    let wanted = Id { kind: gvk.kind.clone(), name: text_of(reference, "name").into(), namespace: namespace.into() };
    let is_meant = |resource: &Resource| match is_anywhere {
        false => resource.answers_to(&gvk, &wanted),
        true => {
            let own = resource.gvk();
            let is_named = |id: Id| id.name == wanted.name && id.kind == wanted.kind;
            own.group == gvk.group && own.version == gvk.version && resource.ids().any(is_named)
        }
    };
    let found: Vec<usize> = near.iter().copied().filter(|at| resources.get(*at).is_some_and(is_meant)).collect();
    match found.as_slice() {
        [] => {}
        [one] => resources.get_mut(*one).into_iter().for_each(|one| one.vars.push(name.clone())),
        several => return Err(format!("variable `{name}` may mean {} resources", several.len())),
    }
    Ok(found.first().copied())
}

/// Replaces variables by their values. Returns the names of unused variables.
pub fn fill(
    origins: &Origins,
    vars: &Vars,
    config: &Config,
    resources: &mut [Resource],
    most: u64,
) -> Result<Vec<EcoString>, (Origin, String)> {
    if vars.is_empty() {
        return Ok(Vec::new());
    }
    let mut sources: FastMap<&EcoString, &Resource> = FastMap::default();
    for resource in resources.iter() {
        for name in &resource.vars {
            sources.entry(name).or_insert(resource);
        }
    }
    let mut values: BTreeMap<&EcoString, Value> = BTreeMap::new();
    for (name, var) in vars {
        let source = sources.get(name);
        let missing = || (var.origin, format!("variable `{name}` refers to a resource that does not exist"));
        let source = source.ok_or_else(missing)?;
        let value = find(&source.value, &var.path).map_err(|why| (var.origin, why))?;
        let absent = || format!("{} `{}` has no `{}`", source.kind(), source.name(), var.path.join("."));
        values.insert(name, value.cloned().ok_or_else(|| (var.origin, absent()))?);
    }
    let mut used = BTreeSet::new();
    for resource in resources {
        let gvk = resource.gvk();
        for spec in config.var_reference.iter().filter(|spec| spec.of.selects(&gvk)) {
            visit(&mut resource.value, &spec.path, false, &mut |field| {
                expand_field(origins, field, &values, &mut used)
            })
            .map_err(|why| (Origin::NONE, format!("{} `{}`: {why}", gvk.kind, resource.name())))?;
            if weight(&resource.value) > most {
                let message = format!("this resource has more than the {most} bytes allowed when it is written out");
                return Err((resource.value.origin, message));
            }
        }
    }
    Ok(vars.keys().filter(|name| !used.contains(*name)).cloned().collect())
}

type Values<'v> = BTreeMap<&'v EcoString, Value>;

fn expand_field(
    origins: &Origins,
    field: &mut Value,
    values: &Values<'_>,
    used: &mut BTreeSet<EcoString>,
) -> Result<(), String> {
    if let Some(map) = as_map(field) {
        map.values_mut().for_each(|inner| expand(origins, inner, values, used));
        return Ok(());
    }
    if let Some(list) = as_list(field) {
        return list.iter_mut().try_for_each(|item| match item.data {
            Data::Str(_) => {
                expand(origins, item, values, used);
                Ok(())
            }
            _ => Err(format!("expected a list of strings, found {} in it", item.kind_name())),
        });
    }
    expand(origins, field, values, used);
    Ok(())
}

/// Replaces variables in a string. A string that is only a variable gets its value unconverted.
fn expand(origins: &Origins, value: &mut Value, values: &Values<'_>, used: &mut BTreeSet<EcoString>) {
    let Data::Str(text) = &value.data else { return };
    if !text.contains('$') {
        return;
    }
    let mut lookup = |name: &str| {
        let found = values.get(&EcoString::from(name)).filter(|value| !value.is_collection())?;
        used.insert(name.into());
        Some(found.clone())
    };
    let whole = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).filter(|name| !name.contains(')'));
    if let Some(found) = whole.and_then(&mut lookup) {
        *value = found;
        return;
    }
    let (mut filled, mut rest, mut taint) = (String::new(), text.as_str(), value.taint());
    let mut pieces = vec![Piece::whole(value.origin)];
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let after = from.get(1..).unwrap_or_default();
        let named = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        rest = match (after.chars().next(), named) {
            (Some('('), Some((name, behind))) => {
                match lookup(name) {
                    Some(found) => {
                        taint |= found.taint();
                        pieces.push(Piece::whole(found.origin));
                        filled.push_str(&scalar_text(&found).unwrap_or_default());
                    }
                    None => filled.push_str(&format!("$({name})")),
                }
                behind
            }
            (Some('$'), _) => {
                filled.push('$');
                after.get(1..).unwrap_or_default()
            }
            (Some(other), _) => {
                filled.push('$');
                filled.push(other);
                after.get(other.len_utf8()..).unwrap_or_default()
            }
            (None, _) => {
                filled.push('$');
                ""
            }
        };
    }
    filled.push_str(rest);
    let origin = if pieces.len() > 1 { origins.derived("vars", None, pieces) } else { value.origin };
    *value = Value::of(Data::Str(filled.into()), origin, taint);
}
