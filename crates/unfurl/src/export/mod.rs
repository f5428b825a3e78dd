//! `unfurl export`: an ensemble as a flat JSON document for front ends. Data from a cloud or git's history is not
//! included.

mod expressions;
mod primary;
mod schema;
mod templates;
mod types;

use crate::ensemble::Ensemble;
use crate::ensemble::places::Reading;
use crate::eval::status::effective;
use crate::tree::NodeKind;
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;
use indexmap::IndexMap;
use primary::Primary;
use purlin_value::{Session, path};
use schema::{Schemas, put};
use templates::{property, redacted};

/// Shown in place of a secret.
const REDACTED: &str = "<<REDACTED>>";

/// The exported formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Types and templates.
    Blueprint,
    /// The same, with the instances that are stored.
    Deployment,
}

/// Makes an export.
struct Exporter<'a> {
    session: &'a Session,
    ensemble: &'a Ensemble,
    /// The identity of the project: the address of its repository, or its first commit.
    qualifier: String,
    types: IndexMap<EcoString, ValMap>,
    templates: IndexMap<EcoString, ValMap>,
}

/// An ensemble as the document that `unfurl export` prints.
pub fn export(session: &Session, ensemble: &Ensemble, format: Format) -> Val {
    let qualifier = qualifier(session);
    let mut exporter = Exporter { session, ensemble, qualifier, types: IndexMap::new(), templates: IndexMap::new() };
    let kinds = ensemble.service.topology.nodes.values().map(|node| node.node_type);
    for kind in kinds {
        exporter.node_type(kind);
    }
    exporter.mark_leaves();
    exporter.node_templates();
    let primary = exporter.primary();
    exporter.document(format, &primary)
}

impl<'a> Exporter<'a> {
    fn schemas(&self) -> Schemas<'a> {
        let service = &self.ensemble.service;
        let reading = Reading { secrets: &self.ensemble.manifest.settings.vault, places: &service.places };
        Schemas { model: &service.model, reading }
    }

    fn document(&mut self, format: Format, primary: &Primary) -> Val {
        let connections = self.connections();
        let overview = self.overview();
        let mut template = self.deployment_template(primary);
        let mut blueprint = self.blueprint(primary, &overview, format);
        let name = template.get(&MapKey::from("name")).cloned().unwrap_or_default();
        let key = name.as_str().unwrap_or_default().to_owned();
        put(&mut template, "blueprint", blueprint.get(&MapKey::from("name")).cloned().unwrap_or_default());
        put(&mut template, "primary", Val::str(primary.template.clone()));
        put(&mut template, "environmentVariableNames", types::texts(&primary.variables));
        if blueprint.get(&MapKey::from("primaryDeploymentBlueprint")).is_none_or(Val::is_null) {
            put(&mut blueprint, "primaryDeploymentBlueprint", name.clone());
        }
        put(&mut blueprint, "deploymentTemplates", Val::list(vec![name]));
        let resources = if format == Format::Deployment { self.resources() } else { ValMap::default() };
        let mut out = ValMap::default();
        let is_shown = |name: &str| format == Format::Blueprint || name != "tosca.nodes.Root";
        let types = self.types.iter().filter(|(name, _)| is_shown(name));
        let named = |entries: &mut dyn Iterator<Item = (&EcoString, &ValMap)>| {
            Val::map(entries.map(|(name, entry)| (MapKey::Str(name.clone()), Val::map(entry.clone()))).collect())
        };
        put(&mut out, "ResourceType", named(&mut types.into_iter()));
        put(&mut out, "ResourceTemplate", named(&mut self.templates.iter()));
        put(&mut out, "Overview", overview);
        put(&mut out, "DeploymentTemplate", Val::record([(key.as_str(), Val::map(template))]));
        let blueprint_key = blueprint.get(&MapKey::from("name")).and_then(Val::as_str).unwrap_or_default().to_owned();
        put(&mut out, "ApplicationBlueprint", Val::record([(blueprint_key.as_str(), Val::map(blueprint))]));
        if format == Format::Deployment {
            let deployment = Val::record([
                ("name", Val::str(key.as_str())),
                ("title", Val::str(key.as_str())),
                ("__typename", Val::str("Deployment")),
                ("resources", Val::list(resources.keys().map(MapKey::to_val).collect())),
                ("primary", Val::str(primary.template.clone())),
                ("deploymentTemplate", Val::str(key.as_str())),
            ]);
            let primary_provider = connections.get(&MapKey::from("primary_provider")).cloned().unwrap_or_default();
            put(&mut out, "Resource", Val::map(resources));
            put(&mut out, "Deployment", Val::record([(key.as_str(), deployment)]));
            let environment = Val::record([
                ("connections", Val::map(connections)),
                ("primary_provider", primary_provider),
                ("instances", Val::map(ValMap::default())),
                ("repositories", Val::map(ValMap::default())),
            ]);
            put(&mut out, "DeploymentEnvironment", environment);
        }
        Val::map(out)
    }

    /// The metadata of the service template.
    fn overview(&self) -> Val {
        let template = self.service_part("metadata").filter(|metadata| metadata.as_map().is_some());
        template.unwrap_or_else(|| Val::map(ValMap::default()))
    }

    fn service_part(&self, key: &str) -> Option<Val> {
        let spec = self.ensemble.manifest.document.get("spec")?;
        spec.get("service_template")?.get(key).cloned().map(|value| redacted(value, 0))
    }

    fn deployment_template(&self, _: &Primary) -> ValMap {
        let folder = path::parent(&self.ensemble.manifest.path);
        let folder = if folder.is_empty() || folder == "." { self.session.world.root() } else { folder };
        let title = path::file_name(folder);
        let slug = slug(title);
        let mut names: Vec<EcoString> = self.templates.keys().cloned().collect();
        names.sort_unstable();
        let mut out = ValMap::default();
        put(&mut out, "__typename", Val::str("DeploymentTemplate"));
        put(&mut out, "title", Val::str(title));
        put(&mut out, "name", Val::str(slug.as_str()));
        put(&mut out, "slug", Val::str(slug.as_str()));
        put(&mut out, "description", self.service_part("description").unwrap_or_else(|| Val::str("")));
        put(&mut out, "resourceTemplates", types::texts(&names));
        put(&mut out, "ResourceTemplate", Val::map(ValMap::default()));
        put(&mut out, "source", Val::str("__generated"));
        out
    }

    fn blueprint(&self, primary: &Primary, overview: &Val, format: Format) -> ValMap {
        let noted = |key: &str| overview.get(key).cloned().unwrap_or_default();
        let named = overview.get("template_name").and_then(Val::as_str).unwrap_or(&primary.template);
        let title = overview.get("title").and_then(Val::as_str).unwrap_or(named);
        let mut out = ValMap::default();
        put(&mut out, "name", Val::str(slug(named)));
        put(&mut out, "__typename", Val::str("ApplicationBlueprint"));
        put(&mut out, "title", Val::str(title));
        put(&mut out, "description", self.service_part("description").unwrap_or_else(|| Val::str("")));
        for key in ["livePreview", "sourceCodeUrl", "image", "projectIcon", "primaryDeploymentBlueprint"] {
            put(&mut out, key, noted(key));
        }
        put(&mut out, "primary", Val::str(primary.kind.clone()));
        put(&mut out, "deploymentTemplates", Val::list(Vec::new()));
        if format == Format::Deployment {
            let address = if self.qualifier.contains('/') { self.qualifier.as_str() } else { ":" };
            let address = address.split_once('/').map_or(address, |(_, rest)| rest);
            put(&mut out, "projectPath", Val::str(address));
        }
        put(&mut out, "blueprintPath", Val::str("ensemble-template.yaml"));
        out
    }

    /// The instances that are stored.
    fn resources(&self) -> ValMap {
        let tree = &self.ensemble.tree;
        let mut out = ValMap::default();
        for (name, id) in tree.named().skip(1) {
            let node = tree.node(id);
            let Some(template) = self.templates.get(&node.template).filter(|_| node.kind == NodeKind::Node) else {
                continue;
            };
            let field = |name: &str| {
                let found = node.fields.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| redacted(value.clone(), 0)).unwrap_or_default()
            };
            let state = node.state.map(|state| Val::len(usize::from(state.0)));
            let status = Val::len(effective(tree, id) as usize);
            let said = stored(&self.ensemble.manifest.document, &node.name);
            let section = |key: &str| {
                let entries = said.and_then(|said| said.get(key)).and_then(Val::as_map).into_iter().flatten();
                let sensitive = |name: &str| node.attributes.get(name).is_some_and(|attribute| attribute.sensitive);
                let shown = entries.filter_map(|(key, value)| Some((key.as_str()?, value))).map(|(name, value)| {
                    let value = if sensitive(name) { Val::str(REDACTED) } else { redacted(value.clone(), 0) };
                    property(name, value)
                });
                Val::list(shown.collect())
            };
            let mut entry = ValMap::default();
            put(&mut entry, "name", Val::str(name.clone()));
            put(&mut entry, "title", template.get(&MapKey::from("title")).cloned().unwrap_or_default());
            put(&mut entry, "template", Val::str(node.template.clone()));
            put(&mut entry, "state", state.unwrap_or_default());
            put(&mut entry, "status", status);
            put(&mut entry, "__typename", Val::str("Resource"));
            put(&mut entry, "imported", field("imported"));
            if let Some(visibility) = template.get(&MapKey::from("visibility")) {
                put(&mut entry, "visibility", visibility.clone());
            }
            put(&mut entry, "protected", field("protected"));
            put(&mut entry, "attributes", section("attributes"));
            put(&mut entry, "computedProperties", section("properties"));
            put(&mut entry, "connections", Val::list(connected(template)));
            out.insert(MapKey::Str(name.clone()), Val::map(entry));
        }
        out
    }
}

/// The targets of a template's requirements, the last of each name.
fn connected(template: &ValMap) -> Vec<Val> {
    let dependencies = template.get(&MapKey::from("dependencies")).and_then(Val::as_list).unwrap_or(&[]);
    let mut out: IndexMap<EcoString, Val> = IndexMap::new();
    for dependency in dependencies {
        let mut entries = dependency.as_map().cloned().unwrap_or_default();
        let matched = dependency.get("match").filter(|matched| !matched.is_null()).cloned();
        if let Some(matched) = matched {
            put(&mut entries, "target", matched);
        }
        let name = dependency.get("name").and_then(Val::as_str).unwrap_or_default();
        out.insert(name.into(), Val::map(entries));
    }
    out.into_values().collect()
}

/// The stored data of an instance, however deep it is nested.
fn stored<'v>(document: &'v Val, name: &str) -> Option<&'v Val> {
    let mut todo: Vec<&Val> = vec![document.get("status")?.get("instances")?];
    while let Some(instances) = todo.pop() {
        if let Some(found) = instances.get(name) {
            return Some(found);
        }
        todo.extend(instances.as_map()?.values().filter_map(|instance| instance.get("instances")));
    }
    None
}

/// A name in lower case, with hyphens for blanks.
fn slug(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let kept: String = words.join("-").chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
    let mut out = String::with_capacity(kept.len());
    for c in kept.chars() {
        if c != '-' || !out.ends_with('-') {
            out.push(c);
        }
    }
    out
}

/// The identity of the project: the address of its repository without scheme and user, or the first commit.
fn qualifier(session: &Session) -> String {
    let text = |file: &str| {
        session.load_bytes(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    };
    let config = text(".git/config");
    let address = config.lines().map(str::trim).find_map(|line| line.strip_prefix("url = "));
    if let Some(address) = address {
        let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
        let bare = bare.rsplit_once('@').map_or(bare, |(_, rest)| rest).replacen(':', "/", 1);
        return bare.trim_end_matches('/').trim_end_matches(".git").to_owned();
    }
    let log = text(".git/logs/HEAD");
    log.lines().next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned()
}
