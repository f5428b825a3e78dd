//! The tree of a file: a tape of 16-byte nodes, read through small views.
//!
//! A node is a scalar, the start of a collection, an alias or an error. Children follow their parent; a collection
//! knows where it ends. Keys are interned, other scalars point into the source. An alias refers to the anchored
//! node: nothing is ever copied. Built by [`Builder`], which the YAML and JSON readers drive.

use crate::diagnostic::Diagnostic;
use crate::scalar::{Flavor, Scalar, is_plain_null};
use crate::source::{FileId, Source, Span, clamp};
use ecow::EcoString;
use std::sync::Arc;

pub use crate::build::Builder;

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A scalar; see [`Node::scalar`].
    Scalar,
    /// A mapping.
    Map,
    /// A sequence.
    List,
    /// A reference to an anchored node; views step through it by themselves.
    Alias,
    /// Something that could not be read and was reported.
    Error,
}

/// How a node is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// An empty value.
    Empty,
    /// An indented collection.
    Block,
    /// `[…]` or `{…}`
    Flow,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Raw {
    pub kind: Kind,
    pub style: Style,
    pub flags: u16,
    /// Collections: index after the last descendant. Keys: interned name. Stored scalars: index of the text.
    /// Aliases: the anchored node.
    pub extra: u32,
    pub start: u32,
    pub end: u32,
}

pub(crate) const KEY: u16 = 1;
pub(crate) const STORED: u16 = 2;
pub(crate) const DECORATED: u16 = 4;

/// Tag and anchor of a node. Few nodes have any, so they are stored beside the tape.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Decoration {
    pub node: u32,
    pub tag: Option<EcoString>,
    pub anchor: Option<EcoString>,
}

/// A comment, kept for formatters and fixers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From `#` to the end of the line.
    pub span: Span,
    /// Whether it follows other text on its line.
    pub trailing: bool,
}

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) source: Arc<Source>,
    pub(crate) flavor: Flavor,
    pub(crate) nodes: Vec<Raw>,
    pub(crate) roots: Vec<u32>,
    pub(crate) names: crate::build::Names,
    pub(crate) strings: Vec<EcoString>,
    pub(crate) decorations: Vec<Decoration>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Number of this tree's first node among all trees of a registry; see [`crate::Sources::add`].
    pub(crate) base: u32,
}

impl Tree {
    /// The text it was read from.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The file's id.
    #[inline]
    pub fn file(&self) -> FileId {
        self.source.id()
    }

    /// Makes it the tree of the same text under another id.
    pub(crate) fn move_to(&mut self, source: Arc<Source>) {
        let id = source.id();
        self.comments.iter_mut().for_each(|comment| comment.span.file = id);
        self.diagnostics.iter_mut().flat_map(Diagnostic::spans_mut).for_each(|span| span.file = id);
        self.source = source;
    }

    /// How its scalars are resolved.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// The documents, in order. A document that could not be read to its end is included as far as it was read.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        self.roots.iter().map(|&index| Node { tree: self, index })
    }

    /// The first document.
    pub fn root(&self) -> Option<Node<'_>> {
        self.roots().next()
    }

    /// The problems of the file.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether it was read without errors.
    pub fn is_sound(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All comments, in order.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of the first node among all registered trees.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The node with an index of this tree, as [`Node::index`] gave it.
    pub fn node(&self, index: u32) -> Option<Node<'_>> {
        ((index as usize) < self.nodes.len()).then_some(Node { tree: self, index })
    }

    /// The interned number of a key, if any mapping of this file has it.
    #[inline]
    pub fn symbol(&self, key: &str) -> Option<u32> {
        self.names.find(key)
    }

    /// Memory used by the tree in bytes, excluding the source's text.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Raw>()
            + self.strings.iter().map(|s| size_of::<EcoString>() + s.len()).sum::<usize>()
            + self.names.memory()
            + self.decorations.capacity() * size_of::<Decoration>()
            + self.comments.capacity() * size_of::<Comment>()
    }
}

/// A view of one node.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) index: u32,
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'t> {
    /// The key.
    pub key: Node<'t>,
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Entry<'t> {
    /// The key's text; empty where the key is a collection.
    pub fn name(&self) -> &'t str {
        self.key.text()
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{}..{}", self.raw().kind, self.raw().start, self.raw().end)
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.tree, other.tree) && self.index == other.index
    }
}

impl<'t> Node<'t> {
    #[inline]
    fn raw(self) -> Raw {
        self.tree.nodes[self.index as usize]
    }

    /// The tree it belongs to.
    #[inline]
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Its index in the tree.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The node itself, or the target of an alias.
    #[inline]
    pub fn target(self) -> Node<'t> {
        let raw = self.raw();
        if raw.kind == Kind::Alias { Node { tree: self.tree, index: raw.extra } } else { self }
    }

    /// Whether it is written as an alias.
    pub fn is_alias(self) -> bool {
        self.raw().kind == Kind::Alias
    }

    /// Its kind; for an alias, that of its target.
    #[inline]
    pub fn kind(self) -> Kind {
        self.target().raw().kind
    }

    /// How it is written.
    pub fn style(self) -> Style {
        self.target().raw().style
    }

    /// Where it is written; for an alias, the location of the alias.
    #[inline]
    pub fn span(self) -> Span {
        let raw = self.raw();
        Span::new(self.tree.file(), raw.start, raw.end)
    }

    /// Whether it is a mapping.
    #[inline]
    pub fn is_map(self) -> bool {
        self.kind() == Kind::Map
    }

    /// Whether it is a sequence.
    #[inline]
    pub fn is_list(self) -> bool {
        self.kind() == Kind::List
    }

    /// Whether it is a scalar.
    #[inline]
    pub fn is_scalar(self) -> bool {
        self.kind() == Kind::Scalar
    }

    /// Whether it is a scalar that means null in this file's flavour.
    #[inline]
    pub fn is_null(self) -> bool {
        let node = self.target();
        let raw = node.raw();
        if raw.kind != Kind::Scalar {
            return false;
        }
        if raw.flags & DECORATED != 0 {
            return matches!(node.scalar(), Scalar::Null);
        }
        // Every spelling of null is short; most scalars need no closer look.
        match raw.style {
            Style::Empty => true,
            Style::Plain => raw.end.saturating_sub(raw.start) <= 4 && is_plain_null(node.text()),
            _ => false,
        }
    }

    /// The text of a scalar after quotes and escapes; empty for other nodes.
    #[inline]
    pub fn text(self) -> &'t str {
        let node = self.target();
        let raw = node.raw();
        if raw.kind != Kind::Scalar {
            return "";
        }
        if raw.flags & KEY != 0 {
            return node.tree.names.get(raw.extra);
        }
        if raw.flags & STORED != 0 {
            return node.tree.strings.get(raw.extra as usize).map_or("", EcoString::as_str);
        }
        let quotes = u32::from(matches!(raw.style, Style::Single | Style::Double));
        node.tree
            .source
            .text()
            .get((raw.start + quotes) as usize..raw.end.saturating_sub(quotes) as usize)
            .unwrap_or("")
    }

    /// The text as an owned string; keys and stored texts are shared, not copied.
    pub fn eco_text(self) -> EcoString {
        let node = self.target();
        let raw = node.raw();
        match raw.kind {
            Kind::Scalar if raw.flags & KEY != 0 => node.tree.names.shared(raw.extra),
            Kind::Scalar if raw.flags & STORED != 0 => {
                node.tree.strings.get(raw.extra as usize).cloned().unwrap_or_default()
            }
            _ => EcoString::from(node.text()),
        }
    }

    /// The meaning of the scalar in this file's flavour.
    pub fn scalar(self) -> Scalar {
        let node = self.target();
        crate::scalar::resolve(node.text(), node.raw().style, node.tag(), node.tree.flavor)
    }

    /// The text if this scalar is a string in this file's flavour.
    pub fn as_str(self) -> Option<&'t str> {
        (self.is_scalar() && self.scalar() == Scalar::Str).then(|| self.text())
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        if !self.is_scalar() {
            return None;
        }
        match self.scalar() {
            Scalar::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    pub fn as_int(self) -> Option<i64> {
        if !self.is_scalar() {
            return None;
        }
        match self.scalar() {
            Scalar::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The tag, resolved (`tag:yaml.org,2002:str`, `!vault`).
    #[inline]
    pub fn tag(self) -> Option<&'t str> {
        self.target().decoration()?.tag.as_deref()
    }

    /// The anchor's name.
    pub fn anchor(self) -> Option<&'t str> {
        self.decoration()?.anchor.as_deref()
    }

    #[inline]
    fn decoration(self) -> Option<&'t Decoration> {
        if self.raw().flags & DECORATED == 0 {
            return None;
        }
        let all = &self.tree.decorations;
        let at = all.binary_search_by_key(&self.index, |d| d.node).ok()?;
        all.get(at)
    }

    #[inline]
    pub(crate) fn after(self) -> u32 {
        let raw = self.raw();
        match raw.kind {
            Kind::Map | Kind::List => raw.extra,
            _ => self.index + 1,
        }
    }

    /// Number of nodes in this subtree, itself included.
    pub fn size(self) -> u32 {
        self.after().saturating_sub(self.index).max(1)
    }

    /// The items of a sequence; empty for other nodes.
    #[inline]
    pub fn items(self) -> Items<'t> {
        let node = self.target();
        let raw = node.raw();
        let end = if raw.kind == Kind::List { raw.extra } else { 0 };
        Items { tree: node.tree, next: node.index + 1, end }
    }

    /// The entries of a mapping in source order, merge keys (`<<`) as they are written; empty for other nodes.
    #[inline]
    pub fn entries(self) -> Entries<'t> {
        let node = self.target();
        let raw = node.raw();
        let end = if raw.kind == Kind::Map { raw.extra } else { 0 };
        Entries { tree: node.tree, next: node.index + 1, end }
    }

    /// The value under a key written in this mapping itself, not merged into it.
    pub fn get(self, key: &str) -> Option<Node<'t>> {
        Some(self.entry(key)?.value)
    }

    /// The entry with a key.
    pub fn entry(self, key: &str) -> Option<Entry<'t>> {
        let symbol = self.tree.symbol(key)?;
        self.entries().find(|entry| {
            let raw = entry.key.raw();
            raw.kind == Kind::Scalar && raw.extra == symbol
        })
    }

    /// Whether this key is a merge key, `<<` without quotes.
    pub fn is_merge_key(self) -> bool {
        let raw = self.raw();
        raw.kind == Kind::Scalar && raw.style == Style::Plain && self.text() == "<<"
    }

    /// The interned number of a key, for comparing keys of one file.
    pub fn key_symbol(self) -> Option<u32> {
        let raw = self.raw();
        (raw.kind == Kind::Scalar && raw.flags & KEY != 0).then_some(raw.extra)
    }

    /// Number of this node among all registered trees; the base of its origin.
    pub fn number(self) -> u32 {
        self.tree.base.saturating_add(self.index)
    }
}

/// Iterator over the items of a sequence.
#[derive(Clone)]
pub struct Items<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = Node<'t>;

    #[inline]
    fn next(&mut self) -> Option<Node<'t>> {
        if self.next >= self.end {
            return None;
        }
        let node = Node { tree: self.tree, index: self.next };
        self.next = node.after();
        Some(node)
    }
}

/// Iterator over the entries of a mapping.
#[derive(Clone)]
pub struct Entries<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'t>> {
        if self.next >= self.end {
            return None;
        }
        let key = Node { tree: self.tree, index: self.next };
        let value = Node { tree: self.tree, index: key.after() };
        if value.index >= self.end {
            return None;
        }
        self.next = value.after();
        Some(Entry { key, value })
    }
}

pub(crate) fn offset(n: usize) -> u32 {
    clamp(n)
}
