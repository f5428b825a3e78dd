//! The relationships that requirements make, and relationship templates.

use super::Renderer;
use super::props::{Place, Sort};
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::rules;
use crate::topology::{Props, Relationship};
use crate::val::Text;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::Span;
use std::sync::Arc;

impl Renderer<'_> {
    /// The relationship of a definition whose assignment does not mention it.
    pub(super) fn default_relationship(&mut self, definition: &Arc<Entity>, owner: &Entity) -> Arc<Relationship> {
        let relationship_type = self.model.type_of(definition, "type", entities::RELATIONSHIP_TYPE);
        let base = relationship_type.and_then(|id| self.model.complete(id)).cloned();
        let at = owner.at;
        let declared = self.relationship_props(base.as_deref(), definition);
        let mut render = |sort: Sort| match &declared {
            Some(declared) => {
                let path = eco_format!(".relationship.{}", sort.slot());
                self.props(
                    sort,
                    declared,
                    &Place { owner: &"the relationship", at, path, assigned: &[], elsewhere: &[] },
                )
            }
            None => Props::default(),
        };
        let (properties, attributes) = (render(Sort::Property), render(Sort::Attribute));
        let interfaces = self.interfaces_of(None, definition, at, ".relationship.interfaces");
        Arc::new(Relationship { relationship_type, template: None, properties, attributes, interfaces })
    }

    /// The declaration of a relationship's values: the definition in TOSCA 2.0, the type before.
    pub(super) fn relationship_props(&self, base: Option<&Entity>, definition: &Arc<Entity>) -> Option<Arc<Entity>> {
        if self.model.edition().is_2() { Some(definition.clone()) } else { base.map(|base| Arc::new(base.clone())) }
    }

    pub(super) fn relationship(
        &mut self,
        own: &Arc<Entity>,
        definition: Option<&Arc<Entity>>,
        at: Span,
    ) -> Arc<Relationship> {
        let template = own
            .text("type")
            .and_then(|name| self.model.service()?.named("relationship_templates", &name.text))
            .cloned();
        let named = match &template {
            Some(template) => self.model.type_of(template, "type", entities::RELATIONSHIP_TYPE),
            None => self.model.type_of(own, "type", entities::RELATIONSHIP_TYPE),
        };
        let defined =
            definition.and_then(|definition| self.model.type_of(definition, "type", entities::RELATIONSHIP_TYPE));
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
                self.props(
                    sort,
                    declared,
                    &Place { owner: &"the relationship", at, path, assigned: values, elsewhere: &[] },
                )
            }
            None => Props::default(),
        };
        let (properties, attributes) =
            (render(Sort::Property, &given_properties), render(Sort::Attribute, &given_attributes));
        self.demanding = demanding;
        let mut attributes = attributes;
        if defined.is_none() && !self.model.edition().is_extended() {
            // Only the definition's relationship has attributes before any value is known.
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

    /// Relationship templates are checked where they are written, used or not.
    pub(super) fn relationship_template(&mut self, template: &Arc<Entity>) -> Option<Relationship> {
        let relationship_type = self.model.type_of(template, "type", entities::RELATIONSHIP_TYPE);
        let complete = relationship_type.and_then(|id| self.model.complete(id)).cloned()?;
        Some(Relationship {
            relationship_type,
            template: Some(template.clone()),
            properties: self.template_props(Sort::Property, &complete, template),
            attributes: self.template_props(Sort::Attribute, &complete, template),
            interfaces: self.interfaces(template, &complete, ".interfaces"),
        })
    }
}
