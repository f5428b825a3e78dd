//! Node types as an export shows them: flat, each with the types it extends, its schemas and its requirements.

use super::schema::{Named, declared, is_settable, put};
use super::{Exporter, primary};
use crate::ensemble::service::from_tosca;
use crate::val::{MapKey, Val, ValMap};
use ecow::{EcoString, eco_format};
use purlin_tosca::entities;
use purlin_tosca::entity::{Entity, Range};
use purlin_tosca::names::DeclId;
use purlin_tosca::read::Role;
use purlin_tosca::val::{Data, Val as Written};
use purlin_value::path;
use std::collections::HashMap;

/// Requirements of every node, which are not shown.
const OMITTED: &[&str] = &["dependency", "installer"];

/// The type that all others derive from.
const ROOT: &str = "tosca.nodes.Root";

/// The number for "unbounded".
const UNBOUNDED: i64 = 0xFFFF_FFFF;

/// Files whose types are those of the project as a whole.
const MAIN_FILES: &[&str] =
    &["service-template.yaml", "ensemble.yaml", "ensemble-template.yaml", "dummy-ensemble.yaml"];

impl Exporter<'_> {
    /// The name that identifies a type everywhere: with the project and the file that declare it, unless it is built in.
    pub(super) fn global_name(&self, id: DeclId) -> EcoString {
        let model = &self.ensemble.service.model;
        let Some(decl) = model.names.decl(id) else { return EcoString::new() };
        match self.source_file(id) {
            None => decl.name.clone(),
            Some(file) if file.is_empty() => eco_format!("{}@{}", decl.name, self.qualifier),
            Some(file) => {
                let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
                eco_format!("{}@{}:{stem}", decl.name, self.qualifier)
            }
        }
    }

    /// The file of a type, relative to the ensemble; empty for the ensemble itself, none for built-in types.
    fn source_file(&self, id: DeclId) -> Option<String> {
        let model = &self.ensemble.service.model;
        let file = model.files.list.get(model.names.decl(id)?.file)?;
        match file.role {
            Role::Profile => None,
            Role::Imported => {
                let folder = path::parent(&self.ensemble.manifest.path);
                let inner = file.path.strip_prefix(folder).unwrap_or(&file.path).trim_start_matches('/');
                Some(if MAIN_FILES.contains(&inner) { String::new() } else { inner.to_owned() })
            }
            _ => Some(String::new()),
        }
    }

    /// Adds a node type and the types it derives from; its name.
    pub(super) fn node_type(&mut self, id: DeclId) -> EcoString {
        let name = self.global_name(id);
        if self.types.contains_key(&name) {
            return name;
        }
        let model = &self.ensemble.service.model;
        let Some(entity) = model.names.decl(id).map(|decl| decl.entity.clone()) else { return name };
        let mut out = self.head(&name, &model.name(id), &entity);
        if name == ROOT {
            put(&mut out, "description", Val::str(""));
        }
        self.types.insert(name.clone(), ValMap::default());
        if let Some(file) = self.source_file(id).filter(|file| !file.is_empty()) {
            put(&mut out, "_sourceinfo", Val::record([("file", Val::str(file))]));
        }
        let mut extends = Vec::new();
        for id in model.hierarchy.lineage(id) {
            let parent = self.node_type(id);
            extends.push(parent);
        }
        let model = &self.ensemble.service.model;
        for (_, capability) in declared(model, id, "capabilities") {
            let kind = model.type_of(&capability, "type", entities::CAPABILITY_TYPE);
            for id in kind.into_iter().flat_map(|id| model.hierarchy.lineage(id)) {
                let name = self.global_name(id);
                if !extends.contains(&name) {
                    extends.push(name);
                }
            }
        }
        put(&mut out, "extends", texts(&extends));
        put(&mut out, "implementations", texts(&self.implementations(id)));
        put(&mut out, "implementation_requirements", Val::list(Vec::new()));
        put(&mut out, "visibility", Val::str(visibility_of(&entity).unwrap_or("inherit")));
        self.schemas_of(id, &mut out);
        let requirements = declared(model, id, "requirements");
        let shown = requirements.iter().filter_map(|(name, definition)| self.requirement(name, definition)).collect();
        put(&mut out, "requirements", Val::list(shown));
        self.types.insert(name.clone(), out);
        name
    }

    /// The common keys of every type.
    pub(super) fn head(&self, name: &str, title: &str, entity: &Entity) -> ValMap {
        let mut out = ValMap::default();
        let metadata = entity.value("metadata").map(|metadata| from_tosca(metadata, self.schemas().reading));
        let noted = |key: &str| metadata.as_ref().and_then(|metadata| metadata.get(key)).cloned();
        let short = title.rsplit('.').next().unwrap_or(title);
        put(&mut out, "name", Val::str(name));
        put(&mut out, "title", noted("title").unwrap_or_else(|| Val::str(short)));
        put(&mut out, "description", Val::str(entity.str("description")));
        put(&mut out, "__typename", Val::str("ResourceType"));
        put(&mut out, "extends", Val::list(Vec::new()));
        put(&mut out, "requirements", Val::list(Vec::new()));
        put(&mut out, "inputsSchema", Val::null());
        for key in ["badge", "icon", "details_url"] {
            if let Some(value) = noted(key) {
                put(&mut out, key, value);
            }
        }
        if let Some(metadata) = metadata {
            put(&mut out, "metadata", metadata);
        }
        out
    }

    /// Properties that users set, with those of capabilities, properties that have a value, and attributes.
    fn schemas_of(&self, id: DeclId, out: &mut ValMap) {
        let model = &self.ensemble.service.model;
        let schemas = self.schemas();
        let all = declared(model, id, "properties");
        let (settable, computed): (Vec<Named>, Vec<Named>) =
            all.into_iter().partition(|(name, definition)| is_settable(name, definition));
        let mut inputs = schemas.of_properties(&settable, None, 0).get("properties").cloned().unwrap_or_default();
        let mut more = inputs.as_map().cloned().unwrap_or_default();
        for (name, capability) in declared(model, id, "capabilities") {
            let kind = model.type_of(&capability, "type", entities::CAPABILITY_TYPE);
            let Some(kind) = kind.filter(|kind| !declared(model, *kind, "properties").is_empty()) else { continue };
            let properties = declared(model, kind, "properties");
            let settable: Vec<Named> =
                properties.into_iter().filter(|(name, definition)| is_settable(name, definition)).collect();
            let kind = self.ensemble.service.model.name(kind);
            put(&mut more, &name, schemas.of_properties(&settable, Some(&kind), 0));
        }
        inputs = Val::map(more);
        put(out, "inputsSchema", Val::record([("type", Val::str("object")), ("properties", inputs)]));
        put(out, "computedPropertiesSchema", schemas.of_properties(&computed, None, 0));
        let attributes = declared(model, id, "attributes").into_iter();
        let shown: Vec<Named> = attributes.filter(|(name, definition)| is_settable(name, definition)).collect();
        put(out, "outputsSchema", schemas.of_properties(&shown, None, 0));
    }

    /// Names of the operations that the types of a project implement.
    fn implementations(&self, id: DeclId) -> Vec<EcoString> {
        let model = &self.ensemble.service.model;
        let mut out: Vec<EcoString> = Vec::new();
        for id in model.hierarchy.lineage(id).filter(|id| self.source_file(*id).is_some()) {
            let Some(decl) = model.names.decl(id) else { continue };
            for (name, interface) in decl.entity.entries("interfaces").filter(|(name, _)| *name != "Mock") {
                out.extend(interface.entries("operations").map(|(name, _)| name.clone()));
                if name == "defaults" || interface.entries("inputs").next().is_some() {
                    out.push("default".into());
                }
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The conditions of a type on the node that meets a requirement.
    fn requirement(&self, name: &str, definition: &Entity) -> Option<Val> {
        let model = &self.ensemble.service.model;
        let range = definition.range("count_range").unwrap_or(Range::ONE);
        if OMITTED.contains(&name) || range.upper == Some(0) {
            return None;
        }
        let node = definition.text("node");
        let template = node.and_then(|node| self.ensemble.service.topology.nodes.get(&node.text));
        let kind = node
            .and_then(|node| model.find(entities::NODE_TYPE, node))
            .or(template.map(|template| template.node_type))
            .or_else(|| model.type_of(definition, "capability", entities::CAPABILITY_TYPE))?;
        let visibility = match (visibility_of(definition), node.filter(|_| template.is_some())) {
            (None, Some(node)) => self.template_visibility(&node.text, definition),
            (said, _) => said,
        };
        let named = node.filter(|_| template.is_some()).map(|node| node.text.as_str());
        let mut out = constraint(name, definition, range, visibility, named, &self.global_name(kind));
        if let Some(schema) = definition.value("node_filter").and_then(|filter| self.filter(filter, kind)) {
            put(&mut out, "inputsSchema", schema);
        }
        Some(Val::map(out))
    }

    /// The conditions of a filter on properties: constraints, and null for those that it sets.
    fn filter(&self, filter: &Written, kind: DeclId) -> Option<Val> {
        let model = &self.ensemble.service.model;
        let complete = model.complete(kind)?;
        let mut out = ValMap::default();
        let parts = filter.get("properties")?;
        let lists = if matches!(parts.data, Data::List(_)) { parts.items() } else { std::slice::from_ref(parts) };
        for (name, condition) in lists.iter().flat_map(Written::entries) {
            let Some(name) = name.as_str() else { continue };
            let is_condition = matches!(condition.data, Data::Map(_) | Data::List(_));
            if !is_condition {
                put(&mut out, name, Val::null());
                continue;
            }
            let Some(definition) = complete.named("properties", name) else { continue };
            let data_type = model.type_of(definition, "type", entities::DATA_TYPE);
            let family = data_type.and_then(|id| model.primitive(id)).and_then(|primitive| primitive.family());
            let schemas = self.schemas();
            let schema = schemas.property(name, definition, 0);
            let kind = schema.get("type").and_then(Val::as_str).unwrap_or("string");
            let clauses = if matches!(condition.data, Data::List(_)) {
                condition.items()
            } else {
                std::slice::from_ref(condition)
            };
            if let Some(constraints) = schemas.constraints(clauses, kind, family) {
                put(&mut out, name, Val::map(constraints));
            }
        }
        (!out.is_empty()).then(|| Val::record([("properties", Val::map(out))]))
    }

    /// Whether users may change a template that is required.
    pub(super) fn template_visibility(&self, name: &str, requirement: &Entity) -> Option<&'static str> {
        let template = self.ensemble.service.topology.nodes.get(name)?;
        let settable = |entity: &Entity| {
            let flag = entity.value("metadata").and_then(|metadata| metadata.get("user_settable"));
            flag.is_some_and(|flag| matches!(flag.data, Data::Bool(true)))
        };
        Some(if settable(&template.template) || settable(requirement) { "visible" } else { "hidden" })
    }

    /// Only types without derived types can be instantiated; those with requirements but no operations get `create`.
    pub(super) fn mark_leaves(&mut self) {
        let mut counts: HashMap<EcoString, usize> = HashMap::new();
        for entry in self.types.values() {
            for name in entry.get(&MapKey::from("extends")).and_then(Val::as_list).into_iter().flatten() {
                *counts.entry(name.as_str().unwrap_or_default().into()).or_default() += 1;
            }
        }
        for (name, entry) in &mut self.types {
            let has =
                |key: &str| entry.get(&MapKey::from(key)).and_then(Val::as_list).is_some_and(|items| !items.is_empty());
            let concrete = entry.get(&MapKey::from("metadata")).and_then(|metadata| metadata.get("concrete")).is_some();
            let is_leaf = counts.get(name) == Some(&1);
            if is_leaf && !has("implementations") && has("requirements") {
                put(entry, "implementations", texts(&["create".into()]));
            } else if !is_leaf && has("implementations") && !concrete {
                put(entry, "implementations", Val::list(Vec::new()));
            }
        }
    }

    /// The type that represents the whole: inputs as properties, outputs as attributes, and all nodes that none
    /// requires.
    pub(super) fn primary_type(&mut self, roots: &[(EcoString, DeclId)]) -> EcoString {
        let name = eco_format!("{}@{}", primary::NAME, self.qualifier);
        let service = self.ensemble.service.model.service().cloned();
        let schemas = self.schemas();
        let inputs: Vec<Named> = service
            .iter()
            .flat_map(|service| service.entries("inputs"))
            .map(|(name, definition)| (name.clone(), definition.clone()))
            .collect();
        let (settable, computed): (Vec<Named>, Vec<Named>) =
            inputs.into_iter().partition(|(name, definition)| is_settable(name, definition));
        let mut out = ValMap::default();
        put(&mut out, "name", Val::str(name.clone()));
        put(&mut out, "title", Val::str(primary::NAME));
        put(&mut out, "description", Val::str(""));
        put(&mut out, "__typename", Val::str("ResourceType"));
        let base: Vec<EcoString> =
            ["tosca.nodes.Root", "tosca.capabilities.Node", "tosca.capabilities.Root"].map(EcoString::from).to_vec();
        put(&mut out, "extends", texts(&[vec![name.clone()], base].concat()));
        let required = roots.iter().map(|(root, kind)| {
            let mut required = plain_constraint(root, "", Range::ONE);
            put(&mut required, "match", Val::null());
            put(&mut required, "resourceType", Val::str(self.global_name(*kind)));
            Val::map(required)
        });
        put(&mut out, "requirements", Val::list(required.collect()));
        put(&mut out, "inputsSchema", schemas.of_properties(&settable, None, 0));
        put(&mut out, "implementations", Val::list(Vec::new()));
        put(&mut out, "implementation_requirements", Val::list(Vec::new()));
        put(&mut out, "visibility", Val::str("inherit"));
        put(&mut out, "computedPropertiesSchema", schemas.of_properties(&computed, None, 0));
        put(&mut out, "outputsSchema", self.open_outputs());
        self.types.insert(name.clone(), out);
        name
    }

    /// Outputs without a value are what users see of the whole.
    fn open_outputs(&self) -> Val {
        self.schemas().of_properties(&[], None, 0)
    }
}

/// Texts as a list.
pub(super) fn texts(items: &[EcoString]) -> Val {
    Val::list(items.iter().map(|item| Val::str(item.clone())).collect())
}

/// The visibility in an entity's metadata.
pub(super) fn visibility_of(entity: &Entity) -> Option<&'static str> {
    let metadata = entity.value("metadata")?;
    match metadata.get("visibility").and_then(|said| said.as_str()) {
        Some("hidden") => return Some("hidden"),
        Some("visible") => return Some("visible"),
        Some("omit") => return Some("omit"),
        Some("inherit") => return Some("inherit"),
        _ => {}
    }
    metadata.get("internal").filter(|flag| matches!(flag.data, Data::Bool(true))).map(|_| "hidden")
}

fn plain_constraint(name: &str, description: &str, range: Range) -> ValMap {
    let mut out = ValMap::default();
    put(&mut out, "name", Val::str(name));
    put(&mut out, "description", Val::str(description));
    put(&mut out, "__typename", Val::str("RequirementConstraint"));
    put(&mut out, "min", Val::int(i64::try_from(range.lower).unwrap_or(UNBOUNDED)));
    let most = range.upper.and_then(|most| i64::try_from(most).ok());
    put(&mut out, "max", Val::int(most.unwrap_or(UNBOUNDED)));
    out
}

/// A requirement with its target.
pub(super) fn constraint(
    name: &str,
    definition: &Entity,
    range: Range,
    visibility: Option<&str>,
    named: Option<&str>,
    kind: &str,
) -> ValMap {
    let mut out = plain_constraint(name, definition.str("description"), range);
    let metadata = definition.value("metadata");
    for key in ["badge", "title", "icon"] {
        if let Some(text) = metadata.and_then(|metadata| metadata.get(key)).and_then(|text| text.as_str()) {
            put(&mut out, key, Val::str(text));
        }
    }
    if let Some(visibility) = visibility.filter(|visibility| *visibility != "inherit") {
        put(&mut out, "visibility", Val::str(visibility));
    }
    put(&mut out, "match", named.map_or_else(Val::null, Val::str));
    put(&mut out, "resourceType", Val::str(kind));
    out
}
