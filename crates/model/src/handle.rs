//! A node that can be kept: the tree it belongs to, held alive, and its index.
//!
//! Everything after `read` holds these until a value is needed, so that nothing copies subtrees.

use purlin_syntax::{Node, Span, Tree};
use purlin_value::{EcoString, MergeKeys, Value, value_of};
use std::sync::Arc;

/// A node, kept.
#[derive(Clone, Debug)]
pub struct NodeRef {
    tree: Arc<Tree>,
    index: u32,
}

impl NodeRef {
    /// Keeps a node of this tree.
    pub fn new(tree: &Arc<Tree>, node: Node<'_>) -> Self {
        debug_assert!(std::ptr::eq(tree.as_ref(), node.tree()), "a node of another tree");
        NodeRef { tree: Arc::clone(tree), index: node.index() }
    }

    /// The view of it. `None` never happens for a handle made by [`NodeRef::new`].
    pub fn node(&self) -> Option<Node<'_>> {
        self.tree.node(self.index)
    }

    /// The tree it belongs to.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Its index in the tree.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Where it is written.
    pub fn span(&self) -> Span {
        self.node().map_or(Span::new(self.tree.file(), 0, 0), |node| node.span())
    }

    /// Its text, if it is a scalar; empty otherwise.
    pub fn text(&self) -> &str {
        self.node().map_or("", |node| node.text())
    }

    /// Its text to keep; shared where the tree shares it.
    pub fn eco_text(&self) -> EcoString {
        self.node().map_or_else(EcoString::new, |node| node.eco_text())
    }

    /// Its value and all below it.
    pub fn value(&self, merge_keys: MergeKeys) -> Value {
        self.node().map_or_else(Value::poison, |node| value_of(node, merge_keys))
    }

    /// The keys and values of a mapping, merge keys applied.
    pub fn entries(&self) -> Vec<(NodeRef, NodeRef)> {
        let Some(node) = self.node() else { return Vec::new() };
        let keep = |node: Node<'_>| NodeRef::new(&self.tree, node);
        let entries = node.merged_entries(MergeKeys::Apply);
        entries.into_iter().map(|entry| (keep(entry.key), keep(entry.value))).collect()
    }

    /// The items of a sequence.
    pub fn items(&self) -> Vec<NodeRef> {
        let Some(node) = self.node() else { return Vec::new() };
        node.items().map(|item| NodeRef::new(&self.tree, item)).collect()
    }

    /// Its number among all registered trees, which names it in four bytes.
    pub fn number(&self) -> u32 {
        self.node().map_or(u32::MAX, |node| node.number())
    }
}

impl PartialEq for NodeRef {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.tree, &other.tree)
    }
}
