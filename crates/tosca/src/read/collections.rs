//! Entities by name and in order.

use super::{Reader, noun, without_copy};
use crate::edition::Standard;
use crate::entities;
use crate::entity::{Content, Defs, Entity};
use crate::quirks;
use crate::rules;
use crate::val::merged_entries;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_model::Kind;
use purlin_model::check::with_article;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span};
use std::sync::Arc;

impl Reader<'_> {
    pub(super) fn map(&mut self, kind: Kind, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_map(key, at, node)?;
        let entries = merged_entries(node);
        let mut own = IndexMap::with_capacity(entries.len());
        for entry in entries {
            if self.key(entry.key).is_none() {
                continue;
            }
            let (name, at) = (entry.key.eco_text(), entry.key.span());
            if self.edition.is_2() && name.trim().is_empty() {
                self.problems.at(
                    &rules::MALFORMED,
                    at,
                    format!("{} must have a name", with_article(entities::label(kind))),
                );
                continue;
            }
            if let Some(entity) = self.entity(kind, name.clone(), at, entry.value) {
                own.insert(name, Arc::new(entity));
            }
        }
        if matches!(kind, entities::NODE_TEMPLATE | entities::RELATIONSHIP_TEMPLATE) {
            let (copied, in_rings) = crate::copy::apply(own, self.problems);
            own = copied;
            // Templates that copy each other in a cycle are incomplete, so their missing keys are not reported.
            for entity in own.values().filter(|entity| !in_rings.contains(&entity.name)) {
                self.missing_keys(entities::row(kind), &without_copy(entity), &[]);
            }
        }
        Some(Content::Map(Arc::new(Defs::new(own))))
    }

    pub(super) fn list(&mut self, kind: Kind, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if kind == entities::WORKFLOW_PRECONDITION && node.is_map() {
            let read = |entry: &purlin_syntax::tree::Entry<'_>, this: &mut Self| {
                this.entity(kind, entry.key.eco_text(), entry.key.span(), entry.value).map(Arc::new)
            };
            let entities = merged_entries(node).iter().filter_map(|entry| read(entry, self)).collect();
            return Some(Content::List(Arc::new(entities)));
        }
        self.expect_list(key, at, node)?;
        let mut out = Vec::new();
        for item in node.items() {
            let mut item = item;
            let sequenced = self.allows(quirks::IMPORTS_SEQUENCED) || self.edition.is_extended();
            if kind == entities::IMPORT && sequenced {
                let entries = merged_entries(item);
                let named = |entry: &purlin_syntax::tree::Entry<'_>| {
                    let is_key = entities::row(kind).field(entry.name(), self.edition).is_some();
                    entry.value.is_map() || (!self.edition.is_2() && !is_key)
                };
                if let [entry] = entries.as_slice()
                    && named(entry)
                {
                    item = entry.value;
                }
            }
            out.extend(self.entity(kind, "".into(), item.span(), item).map(Arc::new));
        }
        Some(Content::List(Arc::new(out)))
    }

    /// The names and values of a list of one-key maps.
    pub(super) fn one_key_maps<'t>(
        &mut self,
        key: &str,
        at: Span,
        node: Node<'t>,
    ) -> Option<Vec<(EcoString, Span, Node<'t>)>> {
        let mut out = Vec::new();
        let mut sound = node.is_list();
        for item in node.items() {
            match merged_entries(item).as_slice() {
                [entry] if entry.key.is_scalar() => out.push((entry.key.eco_text(), entry.value.span(), entry.value)),
                _ => sound = false,
            }
        }
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list of mappings with one key each");
            return None;
        }
        if !sound {
            let message = what::must_be(format!("`{key}`"), "a list of mappings with one key each");
            self.problems.push(
                Diagnostic::at(&rules::MALFORMED, at, message).hint("indent what belongs to an entry below its name"),
            );
            return None;
        }
        Some(out)
    }

    pub(super) fn sequence(
        &mut self,
        kind: Kind,
        key: &str,
        at: Span,
        node: Node<'_>,
        unique: bool,
    ) -> Option<Content> {
        let items = self.one_key_maps(key, at, node)?;
        if !unique {
            let read = |(name, at, node): (EcoString, Span, Node<'_>)| self.entity(kind, name, at, node).map(Arc::new);
            return Some(Content::List(Arc::new(items.into_iter().filter_map(read).collect())));
        }
        let mut own: IndexMap<EcoString, Arc<Entity>> = IndexMap::with_capacity(items.len());
        for (name, item, node) in items {
            if let Some(first) = own.get(&name) {
                let message = what::duplicate("name", name).and(format!(" in `{key}`"));
                self.problems.push(
                    Diagnostic::at(&rules::DUPLICATE, at, message)
                        .label(first.at, "first here")
                        .label(item, "and here"),
                );
                continue;
            }
            if let Some(entity) = self.entity(kind, name.clone(), item, node) {
                own.insert(name, Arc::new(entity));
            }
        }
        Some(Content::Map(Arc::new(Defs::new(own))))
    }
}
