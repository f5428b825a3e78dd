//! Decorators of the extended edition: properties that a file gives to templates, by their name or their type.

use super::Renderer;
use crate::entities;
use crate::entity::{Content, Entity};
use crate::names::DeclId;
use crate::val::{Text, Val};
use std::sync::Arc;

impl Renderer<'_> {
    /// A node template with what decorators give it. They win over what is written in the template, those of the root
    /// file over those of files it imports, later ones over earlier ones.
    pub(super) fn decorated(&self, template: &Arc<Entity>, node_type: DeclId) -> Arc<Entity> {
        let mut given: Vec<(Text, Val)> = Vec::new();
        for file in self.model.files.list.iter().rev() {
            for (key, decorator) in file.entity.value("decorators").map(Val::entries).unwrap_or(&[]) {
                let Some(name) = key.as_str() else { continue };
                let by_type = self.model.names.find(file.id, entities::NODE_TYPE, name);
                if name != template.name && !by_type.is_some_and(|id| self.model.hierarchy.is_a(node_type, id)) {
                    continue;
                }
                for (name, value) in decorator.get("properties").map(Val::entries).unwrap_or(&[]) {
                    let Some(text) = name.as_str() else { continue };
                    given.retain(|(known, _)| known.text != text);
                    given.push((Text { text: text.into(), span: name.span }, value.clone()));
                }
            }
        }
        if given.is_empty() {
            return template.clone();
        }
        let written = template.values("properties").iter();
        let kept = written.filter(|(name, _)| !given.iter().any(|(known, _)| known.text == name.text)).cloned();
        let values = kept.chain(given.iter().cloned()).collect();
        let mut out = Entity::clone(template);
        out.set("properties", template.place("properties"), Content::Values(Arc::new(values)));
        Arc::new(out)
    }
}
