//! Nodes, their capabilities and requirements, and the relationships these make.

use super::props::{Place, Sort};
use super::{Renderer, identity};
use crate::entity::{Entity, Range};
use crate::names::DeclId;
use crate::rules;
use crate::schema::{Edition, Kind};
use crate::suggest;
use crate::topology::{Artifact, Capability, Node, Props, Relationship, Requirement};
use crate::val::{Data, Text};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// Requirements that are added automatically never exceed this, whatever the lower bound says.
const MAX_AUTOMATIC: u64 = 10_000;

impl Renderer<'_> {
    pub(super) fn node(&mut self, template: &Arc<Entity>) -> Option<Node> {
        let node_type = self.model.type_of(template, "type", Kind::NodeType)?;
        let complete = self.model.complete(node_type)?.clone();
        // A selected node exists elsewhere, with all its values.
        self.demanding = !template.texts("directives").iter().any(|directive| directive.text == "select");
        let properties = self.template_props(Sort::Property, &complete, template);
        let attributes = self.template_props(Sort::Attribute, &complete, template);
        let capabilities = self.capabilities(template, &complete);
        let requirements = self.requirements(template, &complete);
        let interfaces = self.interfaces(template, &complete, ".interfaces");
        let artifacts = self.artifacts(template, &complete);
        self.demanding = true;
        self.directives(template);
        self.count(template);
        Some(Node {
            template: template.clone(),
            index: 0,
            node_type,
            properties,
            attributes,
            capabilities,
            requirements,
            interfaces,
            artifacts,
        })
    }

    pub(super) fn template_props(&mut self, sort: Sort, complete: &Entity, template: &Entity) -> Props {
        let path = if template.slot(sort.slot()).is_some() { "" } else { sort.slot() };
        let at = if path.is_empty() { template.place(sort.slot()) } else { template.at };
        let path = if path.is_empty() { EcoString::new() } else { eco_format!(".{path}") };
        let assigned = template.values(sort.slot());
        self.props(sort, complete, &Place { owner: &Called(template), at, path, assigned })
    }

    fn directives(&mut self, template: &Entity) {
        if !self.model.edition().is_2() {
            return;
        }
        const KNOWN: [&str; 3] = ["create", "select", "substitute"];
        for directive in template.texts("directives") {
            if !KNOWN.contains(&directive.text.as_str()) {
                let near = suggest::nearest(&directive.text, KNOWN).map(|near| format!("did you mean `{near}`?"));
                let message = format!("there is no directive `{}` for node templates", directive.text);
                self.problems.push(Diagnostic::at(&rules::MALFORMED, directive.span, message).maybe_hint(near));
            }
        }
    }

    fn count(&mut self, template: &Entity) {
        let Some(count) = template.value("count") else { return };
        let fits = match count.data {
            Data::Int(number) => number >= 0,
            Data::Call(_) | Data::Poison => true,
            _ => false,
        };
        if !fits {
            self.problems.at(
                &rules::WRONG_TYPE,
                template.place("count"),
                "`count` must be a whole number that is not negative",
            );
        }
    }

    fn capabilities(&mut self, template: &Arc<Entity>, complete: &Entity) -> IndexMap<EcoString, Arc<Capability>> {
        let mut out = IndexMap::new();
        for (name, definition) in complete.entries("capabilities") {
            let capability = match template.named("capabilities", name) {
                Some(assignment) => Arc::new(self.capability(definition, Some(assignment), template)),
                None => self.shared_capability(definition, template),
            };
            out.insert(name.clone(), capability);
        }
        for (name, assignment) in template.entries("capabilities") {
            if complete.named("capabilities", name).is_none() {
                let near = suggest::nearest(name, complete.entries("capabilities").map(|(name, _)| name.as_str()));
                let message = format!("the type of {} declares no capability `{name}`", Self::owner(template));
                self.problems.push(
                    Diagnostic::at(&rules::UNDECLARED, assignment.at, message)
                        .maybe_hint(near.map(|n| format!("did you mean `{n}`?"))),
                );
            }
        }
        out
    }

    /// A capability that the template says nothing about: the same for all templates, unless something is missing.
    fn shared_capability(&mut self, definition: &Arc<Entity>, template: &Arc<Entity>) -> Arc<Capability> {
        if let Some(known) = self.capabilities.get(&identity(definition)) {
            return known.clone();
        }
        let before = self.problems.len();
        let capability = Arc::new(self.capability(definition, None, template));
        if self.problems.len() == before && self.demanding {
            self.capabilities.insert(identity(definition), capability.clone());
        }
        capability
    }

    fn capability(
        &mut self,
        definition: &Arc<Entity>,
        assignment: Option<&Arc<Entity>>,
        template: &Entity,
    ) -> Capability {
        let owner = CapabilityOf { capability: &definition.name, node: &template.name };
        let capability_type = self.model.type_of(definition, "type", Kind::CapabilityType);
        let mut render = |sort: Sort| {
            let slot = assignment.and_then(|assignment| assignment.slot(sort.slot()));
            let (at, path) = match (slot, assignment) {
                (Some(slot), _) => (slot.at, EcoString::new()),
                (None, Some(assignment)) => (assignment.at, eco_format!(".{}", sort.slot())),
                (None, None) if template.slot("capabilities").is_some() => {
                    (template.place("capabilities"), eco_format!("[\"{}\"].{}", definition.name, sort.slot()))
                }
                (None, None) => (template.at, eco_format!(".capabilities[\"{}\"].{}", definition.name, sort.slot())),
            };
            let assigned = assignment.map(|assignment| assignment.values(sort.slot())).unwrap_or(&[]);
            self.props(sort, definition, &Place { owner: &owner, at, path, assigned })
        };
        let (properties, attributes) = (render(Sort::Property), render(Sort::Attribute));
        let occurrences =
            assignment.and_then(|assignment| assignment.range("occurrences")).or(definition.range("occurrences"));
        Capability {
            definition: definition.clone(),
            capability_type,
            properties,
            attributes,
            occurrences: occurrences.unwrap_or(Range::ANY),
            at: assignment.map(|assignment| assignment.at),
        }
    }

    fn requirements(&mut self, template: &Arc<Entity>, complete: &Entity) -> Vec<Requirement> {
        let mut out = Vec::new();
        let mut counts: IndexMap<&EcoString, u64> = IndexMap::new();
        for (index, assignment) in template.list("requirements").iter().enumerate() {
            let Some(definition) = complete.named("requirements", &assignment.name) else {
                let near =
                    suggest::nearest(&assignment.name, complete.entries("requirements").map(|(name, _)| name.as_str()));
                let message =
                    format!("the type of {} declares no requirement `{}`", Self::owner(template), assignment.name);
                self.problems.push(
                    Diagnostic::at(&rules::UNDECLARED, assignment.at, message)
                        .maybe_hint(near.map(|n| format!("did you mean `{n}`?"))),
                );
                continue;
            };
            let count = self.requirement_count(assignment);
            *counts.entry(&assignment.name).or_default() += count;
            if let Some(requirement) = self.requirement(assignment, definition, index) {
                for _ in 0..count.min(MAX_AUTOMATIC) {
                    out.push(requirement.clone());
                }
            }
        }
        let mut index = template.list("requirements").len();
        let substituted = template.texts("directives").iter().any(|directive| directive.text == "substitute");
        for (name, definition) in complete.entries("requirements") {
            let assigned = counts.get(name).copied().unwrap_or(0);
            let range = definition.range("count_range").unwrap_or(self.default_count());
            let explicit = assigned > 0;
            let mut total = assigned;
            // TOSCA 2.0 leaves what is not assigned to the orchestrator, unless the template assigns some of it.
            let automatic = !self.model.edition().is_2() || !explicit;
            if automatic && !(self.model.edition().is_2() && substituted) {
                while total < range.lower && total < MAX_AUTOMATIC {
                    out.push(self.automatic(definition, template, index));
                    index += 1;
                    total += 1;
                }
            }
            if !range.contains(total) {
                let message = format!(
                    "{} assigns the requirement `{name}` {assigned} times; its type allows {range}",
                    Self::owner(template)
                );
                let at =
                    if template.slot("requirements").is_some() { template.place("requirements") } else { template.at };
                self.problems.push(Diagnostic::at(&rules::COUNT, at, message).label(definition.at, "declared here"));
            }
        }
        out
    }

    fn default_count(&self) -> Range {
        if self.model.edition().is_2() { Range::ANY } else { Range::ONE }
    }

    fn requirement_count(&mut self, assignment: &Entity) -> u64 {
        if let Some(range) = assignment.range("occurrences") {
            return range.lower;
        }
        match assignment.value("count").map(|value| &value.data) {
            Some(Data::Int(count)) if *count >= 0 => u64::try_from(*count).unwrap_or(0),
            Some(Data::Call(_) | Data::Poison) | None => 1,
            Some(_) => {
                self.problems.at(
                    &rules::WRONG_TYPE,
                    assignment.place("count"),
                    "`count` must be a whole number that is not negative",
                );
                1
            }
        }
    }

    /// A requirement that nothing assigns: what its definition asks for is looked for.
    fn automatic(&mut self, definition: &Arc<Entity>, template: &Arc<Entity>, index: usize) -> Requirement {
        let relationship =
            definition.one("relationship").map(|relationship| self.default_relationship(relationship, template));
        Requirement {
            name: definition.name.clone(),
            assignment: None,
            definition: Some(definition.clone()),
            index,
            at: template.at,
            capability_name: None,
            capability_type: self.model.type_of(definition, "capability", Kind::CapabilityType),
            node_template: None,
            node_index: None,
            node_type: self.model.type_of(definition, "node", Kind::NodeType),
            relationship,
            optional: false,
        }
    }

    fn requirement(&mut self, assignment: &Arc<Entity>, definition: &Arc<Entity>, index: usize) -> Option<Requirement> {
        let defined_capability = self.model.type_of(definition, "capability", Kind::CapabilityType);
        let capability = assignment.text("capability");
        let as_type = capability.and_then(|name| self.model.find(Kind::CapabilityType, name));
        let (capability_name, capability_type) = match (capability, as_type) {
            (_, Some(id)) => (None, Some(id)),
            (Some(name), None) => (Some(name.clone()), defined_capability),
            (None, None) => (None, defined_capability),
        };
        let (node_template, node_type) = self.requirement_node(assignment, definition);
        let relationship = match (assignment.one("relationship"), definition.one("relationship")) {
            (Some(own), base) => Some(self.relationship(own, base, assignment.at)),
            (None, Some(base)) => Some(self.default_relationship(base, assignment)),
            (None, None) => None,
        };
        self.requirement_directives(assignment);
        let optional = matches!(assignment.value("optional").map(|value| &value.data), Some(Data::Bool(true)));
        Some(Requirement {
            name: assignment.name.clone(),
            assignment: Some(assignment.clone()),
            definition: Some(definition.clone()),
            index,
            at: assignment.at,
            capability_name,
            capability_type,
            node_index: node_template.as_ref().and_then(|_| assignment.value("node")?.items().get(1).cloned()),
            node_template,
            node_type,
            relationship,
            optional,
        })
    }

    fn requirement_directives(&mut self, assignment: &Entity) {
        for directive in assignment.texts("directives") {
            if !matches!(directive.text.as_str(), "internal" | "external") {
                let message = format!(
                    "there is no directive `{}` for requirements; there are `internal` and `external`",
                    directive.text
                );
                self.problems.at(&rules::MALFORMED, directive.span, message);
            }
        }
    }

    /// The node a requirement names: a template, or a type.
    fn requirement_node(&mut self, assignment: &Entity, definition: &Entity) -> (Option<Text>, Option<DeclId>) {
        let defined = self.model.type_of(definition, "node", Kind::NodeType);
        let named = match (assignment.text("node"), assignment.value("node").map(|value| (&value.data, value))) {
            (Some(name), _) => name.clone(),
            (None, Some((Data::Str(text), value))) => Text { text: text.clone(), span: value.span },
            (None, Some((Data::List(items), value))) => match items.first().and_then(|item| item.as_str()) {
                Some(name) => Text { text: name.into(), span: value.span },
                None => {
                    self.problems.at(
                        &rules::MALFORMED,
                        assignment.place("node"),
                        "`node` must be a name or `[name, index]`",
                    );
                    return (None, defined);
                }
            },
            (None, Some((Data::Call(_) | Data::Poison, _))) | (None, None) => return (None, defined),
            (None, Some((_, value))) => {
                let message = format!("`node` must be a string, but it is {}", value.noun());
                self.problems.at(&rules::WRONG_SHAPE, assignment.place("node"), message);
                return (None, defined);
            }
        };
        let is_template =
            self.model.service().is_some_and(|service| service.named("node_templates", &named.text).is_some());
        if is_template {
            return (Some(named), defined);
        }
        match self.model.find(Kind::NodeType, &named) {
            Some(id) => (None, Some(id)),
            None => {
                if self.model.edition() == Edition::V2_0 {
                    let message =
                        format!("`node` names a node template or node type `{}` that does not exist", named.text);
                    self.problems.at(&rules::UNKNOWN_NAME, assignment.place("node"), message);
                }
                (None, defined)
            }
        }
    }

    /// The relationship a definition makes when the assignment says nothing about it.
    fn default_relationship(&mut self, definition: &Arc<Entity>, owner: &Entity) -> Arc<Relationship> {
        let relationship_type = self.model.type_of(definition, "type", Kind::RelationshipType);
        let base = relationship_type.and_then(|id| self.model.complete(id)).cloned();
        let at = owner.at;
        let declared = self.relationship_props(base.as_deref(), definition);
        let mut render = |sort: Sort| match &declared {
            Some(declared) => {
                let path = eco_format!(".relationship.{}", sort.slot());
                self.props(sort, declared, &Place { owner: &"the relationship", at, path, assigned: &[] })
            }
            None => Props::new(),
        };
        let (properties, attributes) = (render(Sort::Property), render(Sort::Attribute));
        let interfaces = self.interfaces_of(None, definition, at, ".relationship.interfaces");
        Arc::new(Relationship { relationship_type, template: None, properties, attributes, interfaces })
    }

    /// What declares a relationship's values: the definition in TOSCA 2.0, the type before.
    fn relationship_props(&self, base: Option<&Entity>, definition: &Arc<Entity>) -> Option<Arc<Entity>> {
        if self.model.edition().is_2() { Some(definition.clone()) } else { base.map(|base| Arc::new(base.clone())) }
    }

    fn relationship(&mut self, own: &Arc<Entity>, definition: Option<&Arc<Entity>>, at: Span) -> Arc<Relationship> {
        let template = own
            .text("type")
            .and_then(|name| self.model.service()?.named("relationship_templates", &name.text))
            .cloned();
        let named = match &template {
            Some(template) => self.model.type_of(template, "type", Kind::RelationshipType),
            None => self.model.type_of(own, "type", Kind::RelationshipType),
        };
        let defined = definition.and_then(|definition| self.model.type_of(definition, "type", Kind::RelationshipType));
        let demanding = self.demanding;
        if let (Some(named), Some(defined)) = (named, defined)
            && !self.model.hierarchy.is_a(named, defined)
            && !self.model.hierarchy.is_broken(named)
        {
            let message = format!(
                "the relationship type `{}` is not derived from `{}`, which the requirement asks for",
                self.model.name(named),
                self.model.name(defined)
            );
            self.problems.at(&rules::INCOMPATIBLE, own.at, message);
            self.demanding = false; // what the wrong type requires is no second problem
        }
        let relationship_type = named.or(defined);
        let base = relationship_type.and_then(|id| self.model.complete(id)).cloned();
        let declared = match (&base, definition) {
            (Some(base), _) => Some(base.clone()),
            (None, Some(definition)) => Some(definition.clone()),
            _ => None,
        };
        let assigned = |sort: Sort| {
            let mut values = own.values(sort.slot()).to_vec();
            for (name, value) in template.as_ref().map(|template| template.values(sort.slot())).unwrap_or(&[]) {
                if !values.iter().any(|(known, _)| known.text == name.text) {
                    values.push((name.clone(), value.clone()));
                }
            }
            values
        };
        let (given_properties, given_attributes) = (assigned(Sort::Property), assigned(Sort::Attribute));
        let mut render = |sort: Sort, values: &[(Text, crate::val::Val)]| match &declared {
            Some(declared) => {
                let (at, path) = match own.slot(sort.slot()) {
                    Some(slot) => (slot.at, EcoString::new()),
                    None if own.at != at => (own.at, eco_format!(".{}", sort.slot())),
                    None => (at, eco_format!(".relationship.{}", sort.slot())),
                };
                self.props(sort, declared, &Place { owner: &"the relationship", at, path, assigned: values })
            }
            None => Props::new(),
        };
        let (properties, attributes) =
            (render(Sort::Property, &given_properties), render(Sort::Attribute, &given_attributes));
        self.demanding = demanding;
        let mut attributes = attributes;
        if defined.is_none() {
            // Only the definition's relationship has attributes before anything is known of them.
            attributes.retain(|_, attribute| attribute.given == crate::topology::Given::Assigned);
        }
        let interfaces = match (definition, &base) {
            (Some(definition), _) if named.is_none() || named == defined => {
                self.interfaces_of(Some((own, template.as_ref())), definition, at, ".interfaces")
            }
            (_, Some(base)) => self.interfaces_of(Some((own, template.as_ref())), base, at, ".interfaces"),
            _ => IndexMap::new(),
        };
        Arc::new(Relationship { relationship_type, template, properties, attributes, interfaces })
    }

    /// Relationship templates are checked where they stand, used or not.
    pub(super) fn relationship_template(&mut self, template: &Arc<Entity>) {
        let Some(complete) = self
            .model
            .type_of(template, "type", Kind::RelationshipType)
            .and_then(|id| self.model.complete(id))
            .cloned()
        else {
            return;
        };
        self.template_props(Sort::Property, &complete, template);
        self.template_props(Sort::Attribute, &complete, template);
        self.interfaces(template, &complete, ".interfaces");
    }

    fn artifacts(&mut self, template: &Arc<Entity>, complete: &Entity) -> IndexMap<EcoString, Artifact> {
        let mut out = IndexMap::new();
        for (name, own) in template.entries("artifacts") {
            let entity = match complete.named("artifacts", name) {
                Some(definition) => Arc::new(completed(own, definition)),
                None => own.clone(),
            };
            let artifact = self.artifact(&entity, complete.named("artifacts", name).is_some());
            out.insert(name.clone(), artifact);
        }
        out
    }

    fn artifact(&mut self, entity: &Arc<Entity>, declared: bool) -> Artifact {
        let artifact_type = self.model.type_of(entity, "type", Kind::ArtifactType);
        if entity.slot("file").is_none() {
            self.problems.beyond(
                &rules::MISSING_KEY,
                entity.at,
                ".file",
                format!("the artifact `{}` needs the key `file`", entity.name),
            );
        }
        if entity.slot("type").is_none() && !self.model.edition().is_2() {
            self.problems.beyond(
                &rules::MISSING_KEY,
                entity.at,
                ".type",
                format!("the artifact `{}` needs the key `type`", entity.name),
            );
        }
        let mut properties = Props::new();
        if let Some(complete) = artifact_type.and_then(|id| self.model.complete(id)).cloned() {
            if !declared {
                self.extension(entity, &complete);
            }
            properties = self.template_props(Sort::Property, &complete, entity);
        }
        Artifact { entity: entity.clone(), artifact_type, properties }
    }

    /// The file's extension must be one that the type knows.
    fn extension(&mut self, entity: &Entity, complete: &Entity) {
        let known = complete.texts("file_ext");
        let file = entity.str("file").rsplit('/').next().unwrap_or("");
        if known.is_empty() || entity.slot("file").is_none() {
            return;
        }
        let extension = file.split_once('.').map_or("", |(_, extension)| extension);
        if !known.iter().any(|known| known.text.trim_start_matches('.') == extension) {
            let list: Vec<&str> = known.iter().map(|known| known.text.as_str()).collect();
            let message = format!(
                "`{file}` has the extension `{extension}`, but the artifact's type wants {}",
                list.join(" or ")
            );
            self.problems.at(&rules::INCOMPATIBLE, entity.place("file"), message);
        }
    }
}

/// What people call a template, made up only when something is said about it.
struct Called<'a>(&'a Entity);

impl std::fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&Renderer::owner(self.0))
    }
}

/// What people call a capability.
struct CapabilityOf<'a> {
    capability: &'a str,
    node: &'a str,
}

impl std::fmt::Display for CapabilityOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the capability `{}` of `{}`", self.capability, self.node)
    }
}

/// A template's artifact with what its definition adds.
fn completed(own: &Entity, definition: &Entity) -> Entity {
    let mut out = own.clone();
    for slot in &definition.slots {
        if own.slot(slot.name).is_none() {
            out.slots.push(slot.clone());
        }
    }
    out
}
