//! Location of a text, and of each of its bytes in its file.
//!
//! Quotes, escapes and line folding make the text of a scalar differ from the file. This module walks both side by
//! side, so that a diagnostic can point at the exact key of an expression.

use crate::expr::At;
use purlin_syntax::{Node, Span, Style, Tree};
use purlin_value::Origin;
use std::sync::Arc;

/// A node that is kept beyond the borrow of its tree.
#[derive(Clone, Debug)]
pub struct NodeRef {
    tree: Arc<Tree>,
    index: u32,
}

impl NodeRef {
    /// Keeps a node; it must be one of this tree.
    pub fn new(tree: &Arc<Tree>, node: Node<'_>) -> Self {
        NodeRef { tree: tree.clone(), index: node.index() }
    }

    /// Another node of the same tree.
    pub fn other(&self, node: Node<'_>) -> Self {
        NodeRef { tree: self.tree.clone(), index: node.index() }
    }

    /// The node; the tree's first one if the index does not fit.
    pub fn get(&self) -> Option<Node<'_>> {
        self.tree.node(self.index)
    }

    /// Where it is written.
    pub fn span(&self) -> Option<Span> {
        Some(self.get()?.span())
    }

    /// The tree it is in.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }
}

/// Where a template string is written.
#[derive(Clone, Debug)]
pub enum Place {
    /// A scalar of a YAML or JSON file.
    Node(NodeRef),
    /// Text that is in a file verbatim, as in a `.env` file.
    Verbatim(Span),
    /// Not in any file: a flag, an expression on the command line.
    Nowhere,
}

impl Place {
    /// The span of the whole text.
    pub fn span(&self) -> Option<Span> {
        match self {
            Place::Node(node) => node.span(),
            Place::Verbatim(span) => Some(*span),
            Place::Nowhere => None,
        }
    }

    /// The origin of the whole text.
    pub fn origin(&self) -> Option<Origin> {
        match self {
            Place::Node(node) => node.get().map(Origin::node),
            _ => None,
        }
    }

    /// The spans of several parts that follow each other, found in one walk.
    pub fn parts(&self, all: &[At]) -> Vec<Option<Span>> {
        let Place::Node(reference) = self else { return all.iter().map(|&at| self.part(at)).collect() };
        let Some(node) = reference.get().filter(|node| !node.is_alias()) else {
            return all.iter().map(|_| self.span()).collect();
        };
        let mut walk = Walk::new(node);
        all.iter().map(|&at| Some(walk.span(node.span(), at))).collect()
    }

    /// The span of a part of the text.
    pub fn part(&self, at: At) -> Option<Span> {
        match self {
            Place::Node(node) => Some(scalar_part(node.get()?, at)),
            Place::Verbatim(span) => Some(span.within(at.start as usize, at.end.saturating_sub(at.start) as usize)),
            Place::Nowhere => None,
        }
    }
}

/// The span of a part of a scalar's text.
fn scalar_part(node: Node<'_>, at: At) -> Span {
    let span = node.span();
    if node.is_alias() {
        return span;
    }
    Walk::new(node).span(span, at)
}

/// Walks source and text side by side.
struct Walk<'t> {
    source: &'t [u8],
    text: &'t [u8],
    style: Style,
    /// Indentation of a block scalar, which is not part of its text.
    indent: usize,
    from: usize,
    end: usize,
    offset: usize,
}

impl<'t> Walk<'t> {
    fn new(node: Node<'t>) -> Self {
        let span = node.span();
        let source = node.tree().source().text().as_bytes();
        let style = node.style();
        let quotes = usize::from(matches!(style, Style::Single | Style::Double));
        let mut walk = Walk {
            source,
            text: node.text().as_bytes(),
            style,
            indent: 0,
            from: span.start as usize + quotes,
            end: (span.end as usize).saturating_sub(quotes).min(source.len()),
            offset: 0,
        };
        if matches!(style, Style::Literal | Style::Folded) {
            walk.enter_block();
        }
        walk
    }

    fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.source.get(at).copied() } else { None }
    }

    /// Finds the first content of a block scalar and how far it is indented.
    fn enter_block(&mut self) {
        if matches!(self.byte(self.from), Some(b'|' | b'>')) {
            let rest = self.source.get(self.from..self.end).unwrap_or(&[]);
            self.from += memchr::memchr(b'\n', rest).map_or(0, |n| n + 1);
        }
        let line = self.source.get(..self.from).and_then(|head| memchr::memrchr(b'\n', head)).map_or(0, |n| n + 1);
        let text = self.source.get(line..).unwrap_or(&[]);
        self.indent = text.iter().take_while(|&&b| b == b' ').count();
        self.from = self.from.max(line + self.indent);
    }

    /// The span of a part of the text, kept inside the whole scalar.
    fn span(&mut self, whole: Span, at: At) -> Span {
        let start = self.seek(at.start as usize);
        let end = self.seek(at.end as usize);
        let shown = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX).clamp(whole.start, whole.end);
        Span::new(whole.file, shown(start), shown(end.max(start + 1)))
    }

    /// The offset in the source of an offset in the text. Offsets must ascend.
    fn seek(&mut self, target: usize) -> usize {
        // Text that is written as it reads needs no walking.
        if self.offset == 0 && self.end.saturating_sub(self.from) == self.text.len() {
            return self.from + target;
        }
        while self.offset < target && self.from < self.end {
            self.step();
        }
        self.from
    }

    fn step(&mut self) {
        match (self.style, self.byte(self.from)) {
            (Style::Double, Some(b'\\')) => self.escape(),
            (Style::Single, Some(b'\'')) => self.take(2, 1),
            (Style::Literal | Style::Folded, Some(b'\n')) => self.block_break(),
            (Style::Plain | Style::Single | Style::Double, Some(b' ' | b'\t' | b'\n' | b'\r')) => self.fold(),
            _ => self.take(1, 1),
        }
    }

    fn take(&mut self, source: usize, text: usize) {
        self.from += source;
        self.offset += text;
    }

    fn escape(&mut self) {
        let length = match self.byte(self.from + 1) {
            Some(b'x') => 4,
            Some(b'u') => 6,
            Some(b'U') => 10,
            Some(b'\n' | b'\r') => {
                // An escaped line break and the indentation after it produce no text.
                self.from += 1;
                while matches!(self.byte(self.from), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                    self.from += 1;
                }
                return;
            }
            _ => 2,
        };
        let first = self.text.get(self.offset).copied().unwrap_or(0);
        let width = match first {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        };
        self.take(length, width);
    }

    /// White space in a flow scalar: a line break becomes a space, each further one a line break.
    fn fold(&mut self) {
        let rest = self.source.get(self.from..self.end).unwrap_or(&[]);
        let blank = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
        let breaks = rest.iter().take(blank).filter(|&&b| b == b'\n').count();
        match breaks {
            0 => self.take(1, 1),
            1 => self.take(blank, 1),
            more => self.take(blank, more - 1),
        }
    }

    /// A line break in a block scalar; the indentation of the next line is skipped.
    fn block_break(&mut self) {
        self.from += 1;
        // Folding swallows one break of a run of empty lines.
        if matches!(self.text.get(self.offset), Some(b'\n' | b' ')) {
            self.offset += 1;
        }
        let rest = self.source.get(self.from..self.end).unwrap_or(&[]);
        self.from += rest.iter().take(self.indent).take_while(|&&b| b == b' ').count();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use purlin_syntax::{Flavor, Limits, Sources, yaml};

    /// The source text under the part of the scalar `a` that reads `needle`.
    fn under(text: &str, needle: &str) -> String {
        let sources = Sources::new();
        let tree = sources.add(yaml::parse(sources.insert("t.yml", text), Flavor::Core, &Limits::default()));
        let node = tree.root().unwrap().get("a").unwrap();
        let start = node.text().find(needle).unwrap();
        let span = scalar_part(node, At::new(start, start + needle.len()));
        tree.source().slice(span).to_string()
    }

    #[test]
    fn parts_are_found_in_every_style() {
        for text in [
            "a: x ${var.k}\n",
            "a: 'it''s ${var.k}'\n",
            "a: \"tab\\t\\u00e9 ${var.k}\"\n",
            "a: one\n  two\n\n  three ${var.k}\n",
            "a: \"one\n  two \\\n  x ${var.k}\"\n",
            "a: |\n  one\n    two\n  ${var.k} x\n",
            "a: >-\n  one\n  two\n\n  ${var.k} x\n",
            "b: 1\na: |\n    one ${var.k}\n",
        ] {
            assert_eq!(under(text, "var.k"), "var.k", "{text}");
        }
    }
}
