//! The key that a place in a file belongs to, with its surroundings.

use purlin_syntax::{FileId, Node, Sources, Span};
use std::collections::HashSet;

/// A key with its value.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) key: Span,
    pub(crate) value: Span,
    pub(crate) around: Around,
}

/// Surroundings of a key.
pub(crate) struct Around {
    /// The mapping that has it.
    pub(crate) mapping: Span,
    /// The key of that mapping.
    above: Option<Span>,
    /// Keys and single values next to the key above.
    beside: HashSet<(FileId, u32, u32)>,
}

impl Around {
    /// Whether a place is part of the mapping, its key, or directly next to that.
    pub(crate) fn is_near(&self, span: Span) -> bool {
        Some(span) == self.above
            || is_inside(span, self.mapping)
            || self.beside.contains(&(span.file, span.start, span.end))
    }
}

/// The entry whose key or value is at a place; a place within a single value selects the whole.
pub(crate) fn entry_at(place: Span, sources: &Sources) -> Option<Entry> {
    // A file may have as many documents as problems.
    let holds = |root: &Node<'_>| is_inside(place, root.span());
    sources.with_tree(place.file, |tree| tree.roots().filter(holds).find_map(|root| entry_below(root, place))).flatten()
}

fn entry_below(root: Node<'_>, place: Span) -> Option<Entry> {
    let (mut node, mut above, mut parent) = (root, None, None);
    loop {
        let covers = |node: &Node<'_>| !node.is_alias() && is_inside(place, node.span());
        if let Some(item) = node.items().find(covers) {
            node = item;
            continue;
        }
        let is_it = |node: Node<'_>| node.span() == place || (node.is_scalar() && is_inside(place, node.span()));
        let found = node.entries().find(|entry| is_it(entry.key) || is_it(entry.value));
        if let Some(entry) = found {
            let around = Around { mapping: node.span(), above, beside: parent.map(beside).unwrap_or_default() };
            let (name, key, value) = (entry.name().to_owned(), entry.key.span(), entry.value.span());
            return Some(Entry { name, key, value, around });
        }
        let entry = node.entries().find(|entry| covers(&entry.value))?;
        (node, above, parent) = (entry.value, Some(entry.key.span()), Some(node));
    }
}

fn beside(mapping: Node<'_>) -> HashSet<(FileId, u32, u32)> {
    let single = |node: &Node<'_>| node.is_scalar();
    let places = mapping.entries().flat_map(|entry| [Some(entry.key), Some(entry.value).filter(single)]);
    places.flatten().map(|node| node.span()).map(|span| (span.file, span.start, span.end)).collect()
}

/// Whether a place is inside another.
pub(crate) fn is_inside(span: Span, place: Span) -> bool {
    span.file == place.file && place.start <= span.start && span.end <= place.end
}
