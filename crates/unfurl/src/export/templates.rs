//! Node templates in an export: values that differ from defaults, and targets of requirements.

use super::expressions::{is_computed, is_for_server, is_for_users};
use super::schema::{declared, is_settable, put};
use super::types::{constraint, visibility_of};
use super::{Exporter, REDACTED, primary};
use crate::ensemble::service::{from_tosca, is_open_node};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_tosca::entities;
use purlin_tosca::entity::{Entity, Range};
use purlin_tosca::topology::{Given, Node, Props};
use purlin_tosca::val::Val as Written;

/// Types of templates for artifacts and repositories.
const OMITTED_TYPES: &[&str] = &["unfurl.nodes.ArtifactInstaller", "unfurl.nodes.LocalRepository"];

impl Exporter<'_> {
    /// All node templates.
    pub(super) fn node_templates(&mut self) {
        let ensemble = self.ensemble;
        for (name, node) in &ensemble.service.topology.nodes {
            let kind = self.node_type(node.node_type);
            if OMITTED_TYPES.contains(&kind.as_str()) || visibility_of(&node.template) == Some("omit") {
                continue;
            }
            let mut out = self.template_head(name, &kind, &node.template);
            put(&mut out, "properties", Val::list(self.node_properties(node)));
            put(&mut out, "dependencies", Val::list(self.dependencies(node)));
            let is_default = node.template.texts("directives").iter().any(|word| word.text == "default");
            let said = visibility_of(&node.template).or(is_default.then_some("hidden"));
            if let Some(visibility) = said.filter(|visibility| *visibility != "inherit") {
                put(&mut out, "visibility", Val::str(visibility));
            }
            self.templates.insert(name.clone(), out);
        }
    }

    fn template_head(&self, name: &str, kind: &str, entity: &Entity) -> ValMap {
        let mut out = ValMap::default();
        let metadata = entity.value("metadata").map(|metadata| from_tosca(metadata, self.schemas().reading));
        let mut metadata = metadata.and_then(|metadata| metadata.as_map().cloned()).unwrap_or_default();
        let title = metadata.shift_remove(&MapKey::from("title"));
        put(&mut out, "type", Val::str(kind));
        put(&mut out, "name", Val::str(name));
        put(&mut out, "title", title.unwrap_or_else(|| Val::str(name)));
        put(&mut out, "description", Val::str(entity.str("description")));
        let directives = entity.texts("directives").iter().map(|word| Val::str(word.text.clone()));
        put(&mut out, "directives", Val::list(directives.collect()));
        if !metadata.is_empty() {
            put(&mut out, "metadata", Val::map(metadata));
        }
        out
    }

    fn node_properties(&self, node: &Node) -> Vec<Val> {
        let model = &self.ensemble.service.model;
        let definitions = declared(model, node.node_type, "properties");
        let mut out = self.properties(&definitions, &node.properties);
        if is_open_node(model, node) {
            let is_declared = |name: &str| definitions.iter().any(|(known, _)| known == name);
            let more = node.template.values("properties").iter().filter(|(name, _)| !is_declared(&name.text));
            out.extend(more.map(|(name, value)| property(&name.text, self.shown(value, false))));
        }
        out
    }

    fn properties(&self, definitions: &[super::schema::Named], given: &Props) -> Vec<Val> {
        let mut out = Vec::new();
        for (name, definition) in definitions {
            let Some(prop) = given.get(name).filter(|prop| prop.given == Given::Assigned) else { continue };
            let computed = is_computed(name, definition, Some(&prop.value));
            let value = match is_settable(name, definition) {
                true if computed && !is_for_users(&prop.value) => Val::null(),
                _ => self.shown(&prop.value, definition.sensitive),
            };
            out.push(property(name, value));
        }
        out
    }

    /// A value as written; secrets are not shown.
    pub(super) fn shown(&self, value: &Written, sensitive: bool) -> Val {
        let is_expression = is_for_server(value) || is_for_users(value);
        if (sensitive || value.is_tainted()) && !is_expression {
            return Val::str(REDACTED);
        }
        redacted(from_tosca(value, self.schemas().reading), 0)
    }

    /// The targets of a template's requirements, then the open requirements of its type.
    fn dependencies(&self, node: &Node) -> Vec<Val> {
        let of_type = self.types.get(&self.global_name(node.node_type));
        let of_type = of_type.and_then(|entry| entry.get(&MapKey::from("requirements"))).and_then(Val::as_list);
        let of_type = of_type.unwrap_or(&[]);
        let declared = |name: &str| of_type.iter().find(|entry| entry.get("name").and_then(Val::as_str) == Some(name));
        let mut out = Vec::new();
        for assignment in node.template.list("requirements") {
            if matches!(assignment.name.as_str(), "dependency" | "installer") {
                continue;
            }
            out.extend(self.dependency(assignment, declared(&assignment.name)));
        }
        let assigned = |name: &str| node.template.list("requirements").iter().any(|known| known.name == name);
        for open in of_type.iter().filter(|open| !assigned(open.get("name").and_then(Val::as_str).unwrap_or_default()))
        {
            let name = open.get("name").cloned().unwrap_or_default();
            let matched = open.get("match").cloned().unwrap_or_default();
            out.push(required(open.clone(), name, matched, open.get("visibility").and_then(Val::as_str)));
        }
        out
    }

    fn dependency(&self, assignment: &Entity, declared: Option<&Val>) -> Option<Val> {
        let service = &self.ensemble.service;
        let node = assignment.text("node");
        let template = node.and_then(|node| service.topology.nodes.get(&node.text));
        let said = visibility_of(assignment);
        let visibility = said.or_else(|| node.and_then(|node| self.template_visibility(&node.text, assignment)));
        let has_more = assignment.slots.iter().any(|slot| !matches!(slot.name, "node" | "metadata"));
        let constraint = match declared {
            Some(declared) if has_more && visibility.is_some() => {
                let mut entries = declared.as_map().cloned().unwrap_or_default();
                put(&mut entries, "visibility", Val::str(visibility.unwrap_or("hidden")));
                Val::map(entries)
            }
            Some(declared) => declared.clone(),
            None => {
                let kind = template
                    .map(|template| template.node_type)
                    .or_else(|| service.model.find(entities::NODE_TYPE, node?))?;
                let kind = self.global_name(kind);
                let named = node.filter(|_| template.is_some()).map(|node| node.text.as_str());
                Val::map(constraint(&assignment.name, assignment, Range::ONE, visibility, named, &kind))
            }
        };
        let matched = match node.filter(|node| service.model.find(entities::NODE_TYPE, node).is_none()) {
            Some(node) => Val::str(node.text.clone()),
            None => constraint.get("match").cloned().unwrap_or_default(),
        };
        let of_constraint = constraint.get("visibility").and_then(Val::as_str).map(str::to_owned);
        let visibility = visibility.map(str::to_owned).or(of_constraint);
        Some(required(constraint, Val::str(assignment.name.clone()), matched, visibility.as_deref()))
    }

    /// The template that represents the whole; its properties are the inputs.
    pub(super) fn primary_template(&mut self, kind: &EcoString, roots: &[EcoString]) {
        let service = self.ensemble.service.model.service().cloned();
        let inputs = service.iter().flat_map(|service| service.entries("inputs"));
        let given = inputs.map(|(name, _)| property(name, Val::record([("get_input", Val::str(name.clone()))])));
        let given: Vec<Val> = given.collect();
        let of_type = self.types.get(kind).and_then(|entry| entry.get(&MapKey::from("requirements"))).cloned();
        let constraints = of_type.as_ref().and_then(Val::as_list).unwrap_or(&[]);
        let mut dependencies = Vec::new();
        for (name, constraint) in roots.iter().zip(constraints) {
            let settable = self.ensemble.service.topology.nodes.get(name).is_some_and(|node| {
                let flag = node.template.value("metadata").and_then(|metadata| metadata.get("user_settable"));
                flag.is_some_and(|flag| matches!(flag.data, purlin_tosca::val::Data::Bool(true)))
            });
            let visibility = if settable { "visible" } else { "hidden" };
            let name = Val::str(name.clone());
            dependencies.push(required(constraint.clone(), name.clone(), name, Some(visibility)));
        }
        let mut out = ValMap::default();
        put(&mut out, "type", Val::str(kind.clone()));
        put(&mut out, "name", Val::str(primary::NAME));
        put(&mut out, "title", Val::str(primary::NAME));
        put(&mut out, "description", Val::str(""));
        put(&mut out, "directives", Val::list(Vec::new()));
        put(&mut out, "properties", Val::list(given));
        put(&mut out, "dependencies", Val::list(dependencies));
        self.templates.insert(primary::NAME.into(), out);
    }

    /// Relationship templates that serve any requirement: the connections of the environment.
    pub(super) fn connections(&self) -> ValMap {
        let model = &self.ensemble.service.model;
        let mut out = ValMap::default();
        let service = model.service().into_iter();
        for (name, template) in service.flat_map(|service| service.entries("relationship_templates")) {
            let kind = model.type_of(template, "type", entities::RELATIONSHIP_TYPE);
            let (Some(kind), true) = (kind, template.slot("default_for").is_some()) else { continue };
            let mut entry = self.template_head(name, &self.global_name(kind), template);
            let sensitive = |name: &str| {
                let definition = model.complete(kind).and_then(|complete| complete.named("properties", name));
                definition.is_some_and(|definition| definition.sensitive)
            };
            let values = template.values("properties").iter();
            let values = values.map(|(name, value)| property(&name.text, self.shown(value, sensitive(&name.text))));
            put(&mut entry, "properties", Val::list(values.collect()));
            put(&mut entry, "dependencies", Val::list(Vec::new()));
            put(&mut out, name, Val::map(entry));
        }
        out
    }
}

/// A property with its value.
pub(super) fn property(name: &str, value: Val) -> Val {
    Val::record([("name", Val::str(name)), ("value", value)])
}

fn required(constraint: Val, name: Val, matched: Val, visibility: Option<&str>) -> Val {
    let mut out = ValMap::default();
    put(&mut out, "constraint", constraint);
    put(&mut out, "name", name);
    put(&mut out, "match", matched);
    put(&mut out, "__typename", Val::str("Requirement"));
    if let Some(visibility) = visibility {
        put(&mut out, "visibility", Val::str(visibility));
    }
    Val::map(out)
}

/// A value whose secrets are not shown.
pub(super) fn redacted(value: Val, depth: usize) -> Val {
    if value.is_tainted() || depth > crate::limits::MAX_DEPTH {
        return Val::str(REDACTED);
    }
    match &value.data {
        Data::List(items) => {
            let items = items.iter().map(|item| redacted(item.clone(), depth + 1)).collect();
            value.clone().with(Val::list(items).data)
        }
        Data::Map(entries) => {
            let entries = entries.iter().map(|(key, item)| (key.clone(), redacted(item.clone(), depth + 1)));
            value.clone().with(Val::map(entries.collect()).data)
        }
        _ => value,
    }
}
