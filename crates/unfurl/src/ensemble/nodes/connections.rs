//! Environment variables set by connections: properties marked by their type or metadata.

use crate::ensemble::manifest::Manifest;
use crate::ensemble::places::Reading;
use crate::ensemble::service::{Service, from_tosca};
use crate::val::{Val, ValMap};
use ecow::EcoString;
use purlin_tosca::entities;

/// The type of a property that is an environment variable of its own name.
const VARIABLE: &str = "unfurl.datatypes.EnvVar";

/// Variables of the environment's connections, by name, unevaluated.
pub fn variables(manifest: &Manifest, service: &Service) -> Vec<(EcoString, Val)> {
    let mut out = Vec::new();
    let model = &service.model;
    let reading = Reading { secrets: &manifest.settings.vault, places: &service.places };
    let connections = manifest.environment.get("connections").and_then(Val::as_map);
    for name in connections.into_iter().flat_map(ValMap::keys).filter_map(|name| name.as_str()) {
        let written = model.service().and_then(|service| service.named("relationship_templates", name));
        let Some(template) = written else { continue };
        let complete = model.type_of(template, "type", entities::RELATIONSHIP_TYPE).and_then(|id| model.complete(id));
        for (name, definition) in complete.into_iter().flat_map(|complete| complete.entries("properties")) {
            let assigned = template.values("properties").iter().find(|(known, _)| known.text == *name);
            let Some(value) = assigned.map(|(_, value)| value).or_else(|| definition.value("default")) else {
                continue;
            };
            let named = definition.value("metadata").and_then(|metadata| metadata.get("env_vars"));
            let named = named.map(|names| from_tosca(names, reading));
            let own = definition.text("type").filter(|kind| kind.text == VARIABLE).map(|_| name.clone());
            let others = named.as_ref().and_then(Val::as_list).unwrap_or(&[]).iter();
            let value = from_tosca(value, reading).taint_if(definition.sensitive);
            out.extend(
                own.into_iter()
                    .chain(others.filter_map(Val::as_str).map(EcoString::from))
                    .map(|name| (name, value.clone())),
            );
        }
    }
    out
}
