//! Nodes and their capabilities.

use super::props::{Place, Sort};
use super::{Renderer, identity};
use crate::edition::Standard;
use crate::entities;
use crate::entity::{Entity, Range};
use crate::names::DeclId;
use crate::rules;
use crate::suggest;
use crate::topology::{Capability, Node, Props};
use crate::val::Data;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint};
use std::sync::Arc;

impl Renderer<'_> {
    pub(super) fn node(&mut self, template: &Arc<Entity>) -> Option<Node> {
        let (node_type, partial) = self.node_type(template)?;
        let written = template;
        let template = &self.decorated(template, node_type);
        let retyped = template.str("type") != written.str("type");
        let (node_type, partial) = if retyped { self.node_type(template)? } else { (node_type, partial) };
        let complete = self.model.complete(node_type)?.clone();
        self.partial = partial;
        // A selected node exists elsewhere, with all its values.
        let is_selected = template.texts("directives").iter().any(|directive| directive.text == "select");
        self.demanding = !is_selected && template.text("imported").is_none();
        let properties = self.template_props(Sort::Property, &complete, template);
        let attributes = self.template_props(Sort::Attribute, &complete, template);
        let capabilities = self.capabilities(template, &complete);
        let requirements = self.requirements(template, &complete);
        let interfaces = self.interfaces(template, &complete, ".interfaces");
        let artifacts = self.artifacts(template, &complete);
        self.demanding = true;
        self.partial = false;
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
            partial,
        })
    }

    /// The type of a node, and whether it is only partly known. Where a host reads on although a file could not be
    /// read, the root type of all nodes replaces one that may be in it.
    fn node_type(&self, template: &Entity) -> Option<(DeclId, bool)> {
        if let Some(id) = self.model.type_of(template, "type", entities::NODE_TYPE) {
            return Some((id, self.model.is_partial(id)));
        }
        let name = template.text("type").filter(|name| self.model.files.may_be_unread(name))?;
        self.model.host?;
        Some((self.model.names.find(name.span.file, entities::NODE_TYPE, "tosca.nodes.Root")?, true))
    }

    pub(super) fn template_props(&mut self, sort: Sort, complete: &Entity, template: &Entity) -> Props {
        let path = if template.slot(sort.slot()).is_some() { "" } else { sort.slot() };
        let at = if path.is_empty() { template.place(sort.slot()) } else { template.at };
        let path = if path.is_empty() { EcoString::new() } else { eco_format!(".{path}") };
        let assigned = template.values(sort.slot());
        self.props(sort, complete, &Place { owner: &Called(template), at, path, assigned, elsewhere: &[] })
    }

    /// Values of an owner. Without assignments they are the same for all owners with these declarations, unless a
    /// problem names the owner.
    fn shared_props(&mut self, sort: Sort, declared: &Entity, place: &Place<'_>) -> Arc<Props> {
        let shared = declared.map(sort.slot()).filter(|_| place.assigned.is_empty() && self.demanding && !self.partial);
        let Some(declarations) = shared.map(|defs| (Arc::as_ptr(defs) as usize, sort.slot())) else {
            return Arc::new(self.props(sort, declared, place));
        };
        if let Some(known) = self.unassigned.get(&declarations) {
            return known.clone();
        }
        let before = self.problems.len();
        let props = Arc::new(self.props(sort, declared, place));
        if self.problems.len() == before {
            self.unassigned.insert(declarations, props.clone());
        }
        props
    }

    fn directives(&mut self, template: &Entity) {
        if !self.model.edition().is_2() {
            return;
        }
        const KNOWN: [&str; 3] = ["create", "select", "substitute"];
        for directive in template.texts("directives") {
            if !KNOWN.contains(&directive.text.as_str()) {
                let near = suggest::did_you_mean(&directive.text, KNOWN);
                let message = what::unknown("directive", &directive.text).and(" for node templates");
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
            self.problems.at(&rules::WRONG_TYPE, template.place("count"), "`count`: expected an integer of at least 0");
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
            if complete.named("capabilities", name).is_none() && !self.partial {
                let near = suggest::nearest(name, complete.entries("capabilities").map(|(name, _)| name.as_str()));
                let message = what::undeclared(format!("the type of {}", Self::owner(template)), "capability", name);
                self.problems.push(
                    Diagnostic::at(&rules::UNDECLARED, assignment.at, message)
                        .maybe_hint(near.map(|n| Hint::meant(name, n))),
                );
            }
        }
        out
    }

    /// A capability that the template does not mention: the same for all templates, unless a required part is missing.
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
        // In the extended edition an assignment may name another type.
        let own_type =
            assignment.and_then(|assignment| self.model.type_of(assignment, "type", entities::CAPABILITY_TYPE));
        let declared = own_type.and_then(|id| self.model.complete(id)).unwrap_or(definition).clone();
        let capability_type = own_type.or(self.model.type_of(definition, "type", entities::CAPABILITY_TYPE));
        let kept = self.model.edition().is_extended();
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
            let place = Place { owner: &owner, at, path, assigned, elsewhere: &[] };
            self.shared_props(sort, &declared, &place)
        };
        let property = if kept { Sort::KeptProperty } else { Sort::Property };
        let (properties, attributes) = (render(property), render(Sort::Attribute));
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
}

/// The display name of a template, made up only for messages.
struct Called<'a>(&'a Entity);

impl std::fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&Renderer::owner(self.0))
    }
}

/// The display name of a capability.
struct CapabilityOf<'a> {
    capability: &'a str,
    node: &'a str,
}

impl std::fmt::Display for CapabilityOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the capability `{}` of `{}`", self.capability, self.node)
    }
}
