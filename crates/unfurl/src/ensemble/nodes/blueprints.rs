//! Deployment blueprints: node templates that an ensemble has only in some environments. Selects one and its
//! templates; the manifest merges them into the service template.

use crate::ensemble::project;
use crate::rules;
use crate::val::{MapKey, Val, ValMap};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, suggest};
use purlin_value::Session;

/// The connection whose type selects a blueprint, unless the environment names another one.
const PROVIDER: &str = "primary_provider";

/// The deployment environment, as far as it selects a blueprint.
pub(in crate::ensemble) struct Place<'a> {
    pub environments: &'a ValMap,
    pub environment: &'a Val,
    /// Whether only the defaults are requested.
    pub is_defaults: bool,
}

/// The node templates of the selected blueprint. They replace those of the same names.
pub(in crate::ensemble) fn templates(session: &Session, document: &Val, place: &Place<'_>) -> ValMap {
    let blueprints = blueprints(document);
    if blueprints.is_empty() {
        return ValMap::default();
    }
    let named = place.environment.get("deployment_blueprint").filter(|name| crate::python::truthy(name));
    let chosen = match named {
        Some(named) => match named.as_str().and_then(|name| blueprints.get(&MapKey::from(name))) {
            Some(blueprint) => Some(blueprint),
            None => {
                report_unknown(session, named, &blueprints);
                return ValMap::default();
            }
        },
        None => by_provider(&blueprints, place),
    };
    match chosen {
        Some(blueprint) => templates_of(blueprint),
        None => {
            report_unused(session, &blueprints);
            ValMap::default()
        }
    }
}

/// All blueprints of an ensemble. Its own replace those of its service template.
fn blueprints(document: &Val) -> ValMap {
    let spec = document.get("spec");
    let template = spec.and_then(|spec| spec.get("service_template"));
    let of =
        |section: Option<&Val>| section.and_then(|section| section.get("deployment_blueprints")?.as_map().cloned());
    let mut out = of(template).unwrap_or_default();
    out.extend(of(spec).unwrap_or_default());
    out
}

/// The first blueprint for the type of the connection that provides machines.
fn by_provider<'b>(blueprints: &'b ValMap, place: &Place<'_>) -> Option<&'b Val> {
    if place.is_defaults {
        return None;
    }
    let name = place.environment.get(PROVIDER).and_then(Val::as_str).unwrap_or(PROVIDER);
    let connections = project::relabelled(place.environments, place.environment, "connections");
    let provider = connections.get(&MapKey::from(name))?.get("type")?.as_str()?;
    blueprints.values().find(|blueprint| blueprint.get("cloud").and_then(Val::as_str) == Some(provider))
}

/// The templates of a blueprint. Exported blueprints list names, with the templates beside them.
fn templates_of(blueprint: &Val) -> ValMap {
    let section = |key: &str| blueprint.get(key).and_then(Val::as_map).filter(|templates| !templates.is_empty());
    let Some(names) = blueprint.get("resourceTemplates").filter(|names| !names.is_null()) else {
        return section("resource_templates").or_else(|| section("node_templates")).cloned().unwrap_or_default();
    };
    let Some(known) = section("ResourceTemplate") else { return ValMap::default() };
    let names = names.as_list().unwrap_or(&[]).iter().filter_map(Val::as_str).map(MapKey::from);
    names.filter_map(|name| known.get(&name).cloned().map(|template| (name, template))).collect()
}

fn report_unknown(session: &Session, named: &Val, blueprints: &ValMap) {
    let name = named.as_str().unwrap_or_default();
    let near = suggest::nearest(name, blueprints.keys().filter_map(MapKey::as_str));
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, what::unknown("deployment blueprint", name));
    diagnostic.span = session.origins.span(named.origin, &session.sources);
    session.sink.push(diagnostic.maybe_hint(near.map(|near| Hint::meant(name, near))));
}

fn report_unused(session: &Session, blueprints: &ValMap) {
    let message = "no deployment blueprint is used: none fits the environment";
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message).warning();
    diagnostic.span = blueprints.values().next().and_then(|first| session.origins.span(first.origin, &session.sources));
    let hint = "name one with `deployment_blueprint` in the environment, or choose an environment whose \
                `primary_provider` has the type that a blueprint gives as `cloud`";
    session.sink.push(diagnostic.hint(hint));
}
