//! Locations of a service template merged by directives, and its scalars with vault data.
//!
//! With directives, TOSCA reads a tree without a source. Its nodes are walked beside the merged value, whose parts
//! know their files, so that problems and origins can name those.

use crate::ensemble::read::VAULT_TAGS;
use crate::limits::MAX_DEPTH;
use crate::val::Val;
use crate::vault::Secret;
use ecow::EcoString;
use purlin_syntax::{FileId, Kind, Node, Span, Tree};
use purlin_value::{Origin, Session};
use std::collections::HashMap;

/// Locations of a service template's parts.
#[derive(Default)]
pub struct Places {
    /// The merged tree, and the location of the service template.
    merged: Option<(FileId, Span)>,
    origins: HashMap<Origin, Origin>,
    spans: HashMap<Span, Span>,
    tags: HashMap<Origin, EcoString>,
}

/// The context for reading a value of the service template.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Passwords of vaults.
    pub secrets: &'a [Secret],
    /// The recorded locations.
    pub places: &'a Places,
}

impl Places {
    /// Records the locations of a merged value's parts, beside the tree made of it. Parts without a source are located
    /// at `whole`.
    pub fn merged(&mut self, session: &Session, tree: &Tree, value: &Val, whole: Span) {
        self.merged = Some((tree.file(), whole));
        if let Some(root) = tree.root() {
            self.walk(session, root, value, 0);
        }
    }

    /// Notes the vault data of a file.
    pub fn tagged(&mut self, tree: &Tree) {
        if !VAULT_TAGS.iter().any(|tag| tree.source().text().contains(tag)) {
            return;
        }
        let mut pending: Vec<Node<'_>> = tree.root().into_iter().collect();
        while let Some(node) = pending.pop() {
            match node.kind() {
                Kind::List => pending.extend(node.items()),
                Kind::Map => pending.extend(node.entries().map(|entry| entry.value)),
                _ => {}
            }
            if let Some(tag) = node.tag().filter(|tag| VAULT_TAGS.contains(tag)) {
                self.tags.insert(Origin::node(node), tag.into());
            }
        }
    }

    fn walk(&mut self, session: &Session, node: Node<'_>, value: &Val, depth: usize) {
        if depth > 4 * MAX_DEPTH {
            return;
        }
        self.origins.insert(Origin::node(node), value.origin);
        if let Some(written) = session.origins.span(value.origin, &session.sources) {
            self.spans.insert(node.span(), written);
        }
        for (item, value) in node.items().zip(value.as_list().unwrap_or(&[])) {
            self.walk(session, item, value, depth + 1);
        }
        for entry in node.entries() {
            let Some(value) = value.get(entry.key.text()) else { continue };
            if let Some(written) = session.origins.span(value.origin, &session.sources) {
                self.spans.insert(entry.key.span(), written);
            }
            self.walk(session, entry.value, value, depth + 1);
        }
    }

    /// The location of a value's source.
    pub fn span(&self, span: Span) -> Span {
        let whole = || self.merged.filter(|(file, _)| *file == span.file).map(|(_, whole)| whole);
        self.spans.get(&span).copied().or_else(whole).unwrap_or(span)
    }

    /// The location of a value.
    pub fn origin(&self, origin: Origin) -> Origin {
        self.origins.get(&origin).copied().unwrap_or(origin)
    }

    /// The tag of vault data.
    pub fn tag(&self, origin: Origin) -> Option<&str> {
        self.tags.get(&self.origin(origin)).or_else(|| self.tags.get(&origin)).map(EcoString::as_str)
    }
}
