//! Artifacts of nodes, completed from their types.

use super::Renderer;
use super::props::Sort;
use crate::edition::Standard;
use crate::entities;
use crate::entity::{Content, Entity};
use crate::rules;
use crate::topology::{Artifact, Given, Prop, Props};
use crate::val::Text;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::what;
use std::sync::Arc;

impl Renderer<'_> {
    pub(super) fn artifacts(&mut self, template: &Arc<Entity>, complete: &Entity) -> IndexMap<EcoString, Artifact> {
        let mut out = IndexMap::new();
        for (name, own) in template.entries("artifacts") {
            // A host requires the file of each artifact of a template, whatever its type declares.
            if own.edition.is_extended() && own.slot("file").is_none() {
                let message = what::needed(format!("the artifact `{name}`"), "file");
                self.problems.beyond(&rules::MISSING_KEY, own.at, ".file", message);
            }
            let definition = complete.named("artifacts", name);
            let is_declared = definition.is_some();
            let fits = definition.is_none_or(|definition| self.artifact_fits(own, definition));
            // Another type's declaration does not apply to this artifact; in a host's files the file replaces the
            // whole definition.
            let replaces = |definition: &Entity| own.edition.is_extended() && definition.slot("file").is_some();
            let definition = definition.filter(|definition| fits && !replaces(definition));
            let entity = match definition {
                Some(definition) => Arc::new(completed(own, definition)),
                None => own.clone(),
            };
            let artifact = self.artifact(&entity, is_declared || !fits);
            out.insert(name.clone(), artifact);
        }
        out
    }

    pub(super) fn artifact(&mut self, entity: &Arc<Entity>, declared: bool) -> Artifact {
        let artifact_type = self.model.type_of(entity, "type", entities::ARTIFACT_TYPE);
        // Before TOSCA 2.0, an artifact declared by its type need not be complete.
        let loose = declared && !entity.edition.is_2();
        if !loose
            && entity.slot("file").is_none()
            && !entity.edition.is_extended()
            && !self.problems.any_within(entity.span)
        {
            self.problems.beyond(
                &rules::MISSING_KEY,
                entity.at,
                ".file",
                what::needed(format!("the artifact `{}`", entity.name), "file"),
            );
        }
        if !loose && entity.slot("type").is_none() && !self.model.edition().is_2() && !entity.edition.is_extended() {
            self.problems.beyond(
                &rules::MISSING_KEY,
                entity.at,
                ".type",
                what::needed(format!("the artifact `{}`", entity.name), "type"),
            );
        }
        let mut properties = Props::default();
        if let Some(complete) = artifact_type.and_then(|id| self.model.complete(id)).cloned() {
            if !declared {
                self.extension(entity, &complete);
            }
            // Puccini ignores values of artifacts that their node's type declares.
            properties = match loose && !self.model.quirks.are_usual() && !entity.edition.is_extended() {
                true => as_written(entity),
                false => self.template_props(Sort::Property, &complete, entity),
            };
        }
        Artifact { entity: entity.clone(), artifact_type, properties }
    }

    /// Whether a template's artifact has the type that its node's type declares, or one derived from it; reports it if
    /// not.
    fn artifact_fits(&mut self, own: &Entity, definition: &Entity) -> bool {
        let declared = self.model.type_of(definition, "type", entities::ARTIFACT_TYPE);
        let assigned = self.model.type_of(own, "type", entities::ARTIFACT_TYPE);
        let (Some(declared), Some(assigned)) = (declared, assigned) else { return true };
        if own.edition.is_extended()
            || self.model.hierarchy.is_a(assigned, declared)
            || self.model.hierarchy.is_broken(assigned)
        {
            return true;
        }
        let message = format!(
            "the artifact `{}` has the type `{}`, which is not derived from `{}`, the type that the node's type declares",
            own.name,
            self.model.name(assigned),
            self.model.name(declared)
        );
        self.problems.at(&rules::INCOMPATIBLE, own.at, message);
        false
    }

    /// The file's extension must be one that the type knows.
    pub(super) fn extension(&mut self, entity: &Entity, complete: &Entity) {
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

/// The properties that an artifact is given, as they are.
fn as_written(entity: &Entity) -> Props {
    let given = entity.values("properties").iter().map(|(name, value)| {
        let prop =
            Prop { value: value.clone(), definition: None, data_type: None, at: name.span, given: Given::Assigned };
        (name.text.clone(), prop)
    });
    given.collect()
}

/// A template's artifact with what its definition adds.
fn completed(own: &Entity, definition: &Entity) -> Entity {
    let mut out = own.clone();
    for slot in &definition.slots {
        match (own.slot(slot.name).map(|own| &own.content), &slot.content) {
            (None, _) => out.slots.push(slot.clone()),
            // Each property on its own.
            (Some(Content::Values(assigned)), Content::Values(defaults)) => {
                let is_assigned = |name: &Text| assigned.iter().any(|(known, _)| known.text == name.text);
                let more = defaults.iter().filter(|(name, _)| !is_assigned(name));
                let values = assigned.iter().chain(more).cloned().collect();
                out.set(slot.name, own.place(slot.name), Content::Values(Arc::new(values)));
            }
            _ => {}
        }
    }
    out
}
