//! Requirements, and the edges of resolved ones.

use super::{Form, Out, Writer, description, edge, id, metadata};
use crate::evaluate::{Owner, Scope};
use crate::names::DeclId;
use crate::topology::{Node, Relationship, Requirement};
use ecow::{EcoString, eco_format};

impl Writer<'_> {
    pub(super) fn requirements(&mut self, index: usize, node: &Node, path: &str) -> Vec<Out> {
        let mut out = Vec::with_capacity(node.requirements.len());
        for (at, requirement) in node.requirements.iter().enumerate() {
            let path = eco_format!("{path}.requirements{{{}}}", requirement.index);
            out.push(self.requirement(index, at, node, requirement, path));
        }
        out
    }

    pub(super) fn requirement(
        &mut self,
        index: usize,
        at: usize,
        node: &Node,
        requirement: &Requirement,
        path: EcoString,
    ) -> Out {
        let model = &self.compiled.model;
        let name = |id: Option<DeclId>| Out::Str(id.map(|id| model.canonical(id)).unwrap_or_default());
        let text =
            |text: &Option<crate::val::Text>| Out::Str(text.as_ref().map(|text| text.text.clone()).unwrap_or_default());
        let (capability_type, node_type) = (name(requirement.capability_type), name(requirement.node_type));
        let (by_node, by_capability) = self.filters(node, requirement, &path);
        let relationship = match &requirement.relationship {
            Some(relationship) => {
                // An unresolved requirement cannot be evaluated: its relationship stays as written.
                let form = self.options.form;
                if self.options.resolved && self.compiled.resolution.edge(index, at).is_none() {
                    self.options.form = Form::Raw;
                }
                let out = self.relationship(index, at, relationship, &eco_format!("{path}.relationship"));
                self.options.form = form;
                out
            }
            None => Out::Null,
        };
        let directives =
            requirement.assignment.as_ref().map(|assignment| assignment.texts("directives")).unwrap_or(&[]);
        let directives = if directives.is_empty() {
            Out::Null
        } else {
            Out::List(directives.iter().map(|text| Out::Str(text.text.clone())).collect())
        };
        Out::map([
            ("name", Out::Str(requirement.name.clone())),
            ("nodeTypeName", node_type),
            ("nodeTemplateName", text(&requirement.node_template)),
            ("nodeTemplatePropertyValidators", by_node),
            ("capabilityTypeName", capability_type),
            ("capabilityName", text(&requirement.capability_name)),
            ("capabilityPropertyValidators", by_capability),
            ("relationship", relationship),
            ("directives", directives),
            ("optional", Out::Bool(requirement.optional)),
            (
                "location",
                self.location(
                    path,
                    requirement.assignment.as_ref().map_or(node.template.place("requirements"), |_| requirement.at),
                ),
            ),
        ])
    }

    pub(super) fn relationship(&mut self, source: usize, at: usize, relationship: &Relationship, path: &str) -> Out {
        let owner = Owner::Relationship(source, at);
        let scope = Scope::relationship(source, at);
        let template = relationship.template.as_deref();
        Out::map([
            ("metadata", template.map_or(Out::Map(Vec::new()), metadata)),
            ("description", template.map_or(Out::str(""), description)),
            ("types", self.types(relationship.relationship_type)),
            ("properties", self.owned(owner, false, &relationship.properties, path)),
            ("attributes", self.owned(owner, true, &relationship.attributes, path)),
            ("interfaces", self.interfaces(&relationship.interfaces, &scope, &eco_format!("{path}.interfaces"))),
        ])
    }

    /// The edges to the nodes that meet a node's requirements.
    pub(super) fn relationships(&mut self, index: usize, node: &Node) -> Vec<Out> {
        let mut out = Vec::new();
        if !self.options.resolved {
            return out;
        }
        let edges = self.compiled.resolution.edges.get(index).cloned().unwrap_or_default();
        for resolved in edges {
            let Some(requirement) = node.requirements.get(resolved.requirement) else { continue };
            let Some((target, target_node)) = self.compiled.topology.nodes.get_index(resolved.target) else { continue };
            let capability = target_node
                .capabilities
                .get_index(resolved.capability)
                .map(|(name, _)| name.clone())
                .unwrap_or_default();
            let path = eco_format!(
                "{}.node_templates[\"{}\"].requirements{{{}}}.relationship",
                self.root,
                node.template.name,
                requirement.index
            );
            let (types, properties, attributes, interfaces, words) = match &requirement.relationship {
                Some(relationship) => {
                    let owner = Owner::Relationship(index, resolved.requirement);
                    let scope = Scope::relationship(index, resolved.requirement);
                    (
                        self.types(relationship.relationship_type),
                        self.owned(owner, false, &relationship.properties, &path),
                        self.owned(owner, true, &relationship.attributes, &path),
                        self.interfaces(&relationship.interfaces, &scope, &eco_format!("{path}.interfaces")),
                        relationship.template.as_deref().map_or(Out::str(""), description),
                    )
                }
                None => (
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::Map(Vec::new()),
                    Out::str(""),
                ),
            };
            let properties = Out::map([
                ("name", Out::Str(requirement.name.clone())),
                ("description", words),
                ("types", types),
                ("properties", properties),
                ("attributes", attributes),
                ("interfaces", interfaces),
                ("capability", Out::Str(capability)),
            ]);
            out.push(edge("Relationship", properties, &id("NodeTemplate", target)));
        }
        out
    }
}
