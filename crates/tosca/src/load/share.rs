//! Templates of imported files, in the extended edition: those with the directive `default` are part of the requested
//! service; the others may be named, but are not instantiated.

use super::Files;
use crate::edition::Standard;
use crate::entities;
use crate::entity::{Content, Defs, Entity};
use crate::read::{Role, SHARED};
use ecow::EcoString;
use indexmap::IndexMap;
use std::sync::Arc;

impl Files {
    /// Moves node templates of imported files to the root's service, after its own. Existing names there win.
    pub(super) fn share_templates(&mut self) {
        let mut shared: IndexMap<EcoString, Arc<Entity>> = IndexMap::new();
        for file in self.list.iter_mut().filter(|file| file.role != Role::Root && file.edition.is_extended()) {
            let Some(service) = file.entity.one("service_template").cloned() else { continue };
            Arc::make_mut(&mut file.entity).slots.retain(|slot| slot.name != "service_template");
            for (name, template) in service.entries("node_templates") {
                if template.texts("directives").iter().any(|directive| directive.text == SHARED) {
                    shared.entry(name.clone()).or_insert_with(|| template.clone());
                } else {
                    self.left_out.insert(name.clone());
                }
            }
        }
        let Some(root) = self.list.first_mut().filter(|_| !shared.is_empty()) else { return };
        let (at, span, edition) = (root.entity.at, root.entity.span, root.edition);
        let empty = || Entity {
            kind: entities::SERVICE_TEMPLATE,
            edition,
            name: EcoString::new(),
            at,
            span,
            slots: Vec::new(),
            sensitive: false,
        };
        let mut service = root.entity.one("service_template").map_or_else(empty, |service| Entity::clone(service));
        let own = service.entries("node_templates").map(|(name, template)| (name.clone(), template.clone()));
        let mut all: IndexMap<EcoString, Arc<Entity>> = own.collect();
        for (name, template) in shared {
            all.entry(name).or_insert(template);
        }
        let place = service.place("node_templates");
        service.set("node_templates", place, Content::Map(Arc::new(Defs::new(all))));
        let place = root.entity.place("service_template");
        Arc::make_mut(&mut root.entity).set("service_template", place, Content::One(Arc::new(service)));
    }

    /// Whether a name is that of an imported file's template that is not instantiated. The prefix of the import may
    /// precede it.
    pub fn is_left_out(&self, name: &str) -> bool {
        let mut rest = name;
        while !self.left_out.is_empty() {
            if self.left_out.contains(rest) {
                return true;
            }
            match rest.split_once(['.', ':']) {
                Some((_, after)) => rest = after,
                None => break,
            }
        }
        false
    }
}
