//! The representative of a service as a whole: the node that `substitution_mappings` name, or one that is made up.

use super::Exporter;
use super::expressions::GIVEN;
use super::schema::declared;
use crate::ensemble::manifest::standing_node;
use ecow::{EcoString, eco_format};
use purlin_tosca::entities;
use purlin_tosca::entity::Entity;
use purlin_tosca::model::Primitive;
use purlin_tosca::names::DeclId;

/// The name of the one that is made up.
pub(super) const NAME: &str = "__primary";

/// The representative of the whole.
pub(super) struct Primary {
    /// The template.
    pub template: EcoString,
    /// Its type.
    pub kind: EcoString,
    /// Environment variables that expose its values, and those of its targets.
    pub variables: Vec<EcoString>,
}

impl Exporter<'_> {
    pub(super) fn primary(&mut self) -> Primary {
        let topology = &self.ensemble.service.topology;
        let named = self.ensemble.tree.topology_of(self.ensemble.tree.root()).substitution_node;
        let named = named.map(|id| self.ensemble.tree.node(id).template.clone());
        // An instance exists only after deployment.
        let named = named.or_else(|| standing_node(&self.ensemble.manifest.document).map(EcoString::from));
        if let Some((template, node)) = named.and_then(|name| topology.nodes.get_key_value(&name)) {
            let mut variables = self.variables("APP", node.node_type);
            let complete = declared(&self.ensemble.service.model, node.node_type, "requirements");
            for (name, definition) in &complete {
                let kind = self.ensemble.service.model.type_of(definition, "node", entities::NODE_TYPE);
                variables.extend(kind.into_iter().flat_map(|kind| self.variables(&name.to_uppercase(), kind)));
            }
            let kind = self.global_name(node.node_type);
            return Primary { template: template.clone(), kind, variables };
        }
        let edges = self.ensemble.service.resolution.edges.iter().flatten();
        let targets: std::collections::HashSet<usize> = edges.map(|edge| edge.target).collect();
        let is_default =
            |entity: &Entity| entity.texts("directives").iter().any(|directive| directive.text == "default");
        let roots = topology.nodes.iter().enumerate().filter(|(at, _)| !targets.contains(at));
        let roots: Vec<(EcoString, DeclId)> = roots
            .filter(|(_, (_, node))| !is_default(&node.template))
            .map(|(_, (name, node))| (name.clone(), node.node_type))
            .collect();
        let kind = self.primary_type(&roots);
        let names: Vec<EcoString> = roots.iter().map(|(name, _)| name.clone()).collect();
        self.primary_template(&kind, &names);
        let service = self.ensemble.service.model.service().cloned();
        let mut variables: Vec<EcoString> = Vec::new();
        for (name, definition) in service.iter().flat_map(|service| service.entries("inputs")) {
            if self.is_simple(definition) {
                variables.push(eco_format!("APP_{}", name.to_uppercase()));
            }
        }
        for (name, _) in service.iter().flat_map(|service| service.entries("outputs")) {
            variables.push(eco_format!("APP_{}", name.to_uppercase()));
        }
        for (name, kind) in &roots {
            variables.extend(self.variables(&name.to_uppercase(), *kind));
        }
        Primary { template: NAME.into(), kind, variables }
    }

    /// Variables that show the simple properties and attributes of a type.
    fn variables(&self, prefix: &str, id: DeclId) -> Vec<EcoString> {
        let model = &self.ensemble.service.model;
        let all = declared(model, id, "properties").into_iter().chain(declared(model, id, "attributes"));
        all.filter(|(name, definition)| !GIVEN.contains(&name.as_str()) && self.is_simple(definition))
            .map(|(name, _)| eco_format!("{prefix}_{}", name.to_uppercase()))
            .collect()
    }

    /// Whether the values of a definition are strings, booleans or numbers. Quantities are not counted among them.
    fn is_simple(&self, definition: &Entity) -> bool {
        let Some(name) = definition.text("type") else { return true };
        let model = &self.ensemble.service.model;
        match model.find(entities::DATA_TYPE, name).and_then(|id| model.primitive(id)) {
            Some(Primitive::List | Primitive::Map | Primitive::Range) => false,
            Some(primitive) => !primitive.is_quantity(),
            None => matches!(name.text.as_str(), "any" | "number" | "tosca.datatypes.network.PortSpec" | "PortSpec"),
        }
    }
}
