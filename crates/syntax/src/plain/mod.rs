//! A reader for plain YAML: block and flow collections, scalars of all kinds, comments, anchors, aliases and tags.
//!
//! Most configuration is nothing else, and reading it line by line is many times faster than a full parser. It is all
//! or nothing: at the first construct it does not know for certain (tabs, directives, keys that are collections, any
//! mistake) it gives up and the full reader starts afresh. It builds the same tree, node by node; the tests compare
//! the two on generated and mutated texts.

mod block;
pub mod compare;
mod flow;
mod lines;
mod properties;
mod quoted;

use properties::{Anchors, Pending};
use quoted::Token;

use crate::build::{Builder, Properties};
use crate::limits::Limits;
use crate::scalar::Flavor;
use crate::source::Source;
use crate::tree::{Style, Tree};
use std::borrow::Cow;
use std::sync::Arc;

/// Reads a source if it is plain; `None` if the full reader must.
pub(crate) fn parse(source: &Arc<Source>, flavor: Flavor, limits: &Limits) -> Option<Tree> {
    let text = source.text();
    if text.len() as u64 > limits.file_bytes || !has_plain_characters(text) {
        return None;
    }
    let mut reader = Plain::new(source, flavor, limits);
    if reader.read().is_none() && !reader.builder.is_full() {
        return None;
    }
    let tree = reader.builder.finish(text.len());
    // Every problem is reported by the full reader, except duplicate keys, which the builder finds.
    Some(tree)
}

/// One fast scan for characters that are never plain: tabs, carriage returns, controls, marks and breaks beyond
/// ASCII.
fn has_plain_characters(text: &str) -> bool {
    let is_odd = |b: &u8| (*b < b' ' && *b != b'\n') || *b == 127;
    // Block by block without early exit inside one, so that many bytes are compared at once.
    if text.as_bytes().chunks(256).any(|block| block.iter().fold(false, |odd, byte| odd | is_odd(byte))) {
        return false;
    }
    let is_special =
        |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    text.is_ascii() || !text.chars().any(is_special)
}

#[derive(Clone, Copy, PartialEq)]
enum Document {
    /// No `---` and no node yet.
    Before,
    /// `---` was read, ending at this byte, and no node yet.
    Open(usize),
    /// Its node is being read or was read.
    Filled,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Map,
    List,
    /// A list whose dashes are in its key's own column.
    FlushList,
}

struct Frame {
    column: usize,
    shape: Shape,
    /// Position of an empty value, while a value is expected.
    awaiting: Option<usize>,
    /// The anchor and tag of the expected value.
    pending: Option<Pending>,
}

struct Plain<'s, 'l> {
    builder: Builder<'l>,
    text: &'s str,
    at: usize,
    frames: Vec<Frame>,
    document: Document,
    flavor: Flavor,
    /// The anchor and tag of the next node.
    pending: Option<Pending>,
    anchors: Anchors<'s>,
}

/// Longer plain keys need the full reader's rules.
const LONGEST_KEY: usize = 1_000;

impl<'s, 'l> Plain<'s, 'l> {
    fn new(source: &'s Arc<Source>, flavor: Flavor, limits: &'l Limits) -> Self {
        let builder = Builder::new(source.clone(), flavor, limits);
        Plain {
            builder,
            text: source.text(),
            at: 0,
            frames: Vec::new(),
            document: Document::Before,
            flavor,
            pending: None,
            anchors: Anchors::default(),
        }
    }
}

impl<'s> Plain<'s, '_> {
    fn read(&mut self) -> Option<()> {
        while self.at < self.text.len() {
            if self.builder.is_full() {
                return None;
            }
            let end = self.line_end(self.at);
            let line = self.text.get(self.at..end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            let start = self.at + column;
            let content = line.get(column..)?;
            self.at = end + 1;
            match content.as_bytes().first() {
                None => continue,
                Some(b'#') => {
                    self.builder.comment(start, end, false);
                    continue;
                }
                Some(b'-') if column == 0 && content.starts_with("---") => self.marker(content, start)?,
                Some(b'.') if column == 0 && content.starts_with("...") => return None,
                Some(b'%') if column == 0 => return None,
                Some(_) => self.line(start, column, end)?,
            }
        }
        self.end_document(self.text.len())
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or(&[]);
        memchr::memchr(b'\n', rest).map_or(self.text.len(), |at| from + at)
    }

    /// `---` alone on its line.
    fn marker(&mut self, content: &str, start: usize) -> Option<()> {
        if content.trim_end_matches(' ') != "---" {
            return None;
        }
        self.end_document(start)?;
        self.builder.begin_document(start);
        self.anchors.clear();
        self.document = Document::Open(start + 3);
        Some(())
    }

    fn end_document(&mut self, at: usize) -> Option<()> {
        while let Some(frame) = self.frames.pop() {
            self.close(&frame, at)?;
        }
        match self.document {
            Document::Before => {}
            Document::Open(place) => {
                self.empty(place);
                self.builder.end_document(at);
            }
            Document::Filled => self.builder.end_document(at),
        }
        self.document = Document::Before;
        Some(())
    }

    fn close(&mut self, frame: &Frame, at: usize) -> Option<()> {
        if let Some(place) = frame.awaiting {
            // An anchor of nothing is rare enough to leave.
            frame.pending.is_none().then_some(())?;
            self.empty(place);
        }
        self.builder.end_collection(at);
        Some(())
    }

    fn empty(&mut self, at: usize) {
        self.builder.scalar("", Style::Empty, at, at, Properties::default());
    }

    /// A line with content: finds the collection it continues or opens, then reads it.
    fn line(&mut self, start: usize, column: usize, end: usize) -> Option<()> {
        while let Some(frame) = self.frames.pop_if(|frame| frame.column > column) {
            self.close(&frame, start)?;
        }
        let dash = self.is_dash(start, end);
        // A list flush with its key ends where the next key begins.
        if !dash
            && let Some(frame) = self.frames.pop_if(|frame| frame.column == column && frame.shape == Shape::FlushList)
        {
            self.close(&frame, start)?;
        }
        match self.frames.last_mut() {
            None if self.document == Document::Filled => None,
            None => {
                if self.document == Document::Before {
                    self.builder.begin_document(start);
                    self.anchors.clear();
                }
                self.document = Document::Filled;
                self.content(start, column, end, None)
            }
            Some(frame) if frame.column < column => {
                // Without an expected value this would continue a scalar over several lines.
                frame.awaiting.take()?;
                let parent = frame.column;
                self.pending = frame.pending.take();
                self.content(start, column, end, Some(parent))
            }
            Some(frame) => {
                let missing = frame.awaiting.take();
                frame.pending.is_none().then_some(())?;
                match (frame.shape, dash) {
                    (Shape::Map, false) | (Shape::List | Shape::FlushList, true) => {
                        if let Some(place) = missing {
                            self.empty(place);
                        }
                        if dash { self.item(start, column, end) } else { self.entry(start, column, end) }
                    }
                    (Shape::Map, true) => {
                        missing?;
                        // The full reader's parser lets such a list begin with its first item.
                        let first = self.skip_spaces(start + 1, end);
                        if first >= end || self.text.as_bytes().get(first) == Some(&b'#') {
                            return None;
                        }
                        self.open(Shape::FlushList, first, column)?;
                        self.item(start, column, end)
                    }
                    (Shape::List | Shape::FlushList, false) => None,
                }
            }
        }
    }

    fn is_dash(&self, start: usize, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        bytes.get(start) == Some(&b'-') && (start + 1 >= end || bytes.get(start + 1) == Some(&b' '))
    }

    fn open(&mut self, shape: Shape, start: usize, column: usize) -> Option<()> {
        let opened = match shape {
            Shape::Map => self.begin_map(Style::Block, start),
            Shape::List | Shape::FlushList => self.begin_list(Style::Block, start),
        };
        self.frames.push(Frame { column, shape, awaiting: None, pending: None });
        opened.then_some(())
    }

    /// A node at a position where a block collection may begin.
    fn content(&mut self, start: usize, column: usize, end: usize, parent: Option<usize>) -> Option<()> {
        if self.is_dash(start, end) {
            self.open(Shape::List, start, column)?;
            return self.item(start, column, end);
        }
        if matches!(self.text.as_bytes().get(start), Some(b'&' | b'*' | b'!')) {
            // Before a key they belong to the key; that is rare enough to leave.
            let is_value = find_colon(self.text.as_bytes().get(start..end)?).is_none() && self.pending.is_none();
            return if is_value { self.inline(start, end, parent) } else { None };
        }
        if self.key(start, end)?.is_some() {
            self.open(Shape::Map, start, column)?;
            return self.entry(start, column, end);
        }
        // The location of a node with an anchor on an earlier line is known for block collections only.
        self.pending.is_none().then_some(())?;
        self.inline(start, end, parent)
    }

    /// `- …`
    fn item(&mut self, start: usize, column: usize, end: usize) -> Option<()> {
        let inner = self.skip_spaces(start + 1, end);
        if self.is_end(inner, end)? {
            self.frames.last_mut()?.awaiting = Some(start + 1);
            return Some(());
        }
        self.content(inner, column + (inner - start), end, Some(column))
    }

    /// `key: …`
    fn entry(&mut self, start: usize, column: usize, end: usize) -> Option<()> {
        let key = self.key(start, end)??;
        self.scalar_token(&key);
        let value = self.skip_spaces(key.colon + 1, end);
        if self.is_end(value, end)? {
            self.frames.last_mut()?.awaiting = Some(key.end);
            return Some(());
        }
        self.inline(value, end, Some(column))
    }

    fn skip_spaces(&self, from: usize, end: usize) -> usize {
        let rest = self.text.as_bytes().get(from..end).unwrap_or(&[]);
        from + rest.iter().take_while(|&&b| b == b' ').count()
    }

    /// Whether nothing but a comment follows, which is consumed. A `#` counts only after a space.
    fn is_end(&mut self, at: usize, end: usize) -> Option<bool> {
        let bytes = self.text.as_bytes();
        if at >= end {
            return Some(true);
        }
        if bytes.get(at) != Some(&b'#') {
            return Some(false);
        }
        if bytes.get(at.checked_sub(1)?) != Some(&b' ') {
            return None;
        }
        self.builder.comment(at, end, true);
        Some(true)
    }

    /// The key that a line begins with; `Some(None)` if it begins with none.
    fn key(&self, start: usize, end: usize) -> Option<Option<Token<'s>>> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(start)?;
        if first == b'"' || first == b'\'' {
            let token = self.quoted(start, end)?;
            return match bytes.get(token.end) {
                Some(b':') if token.end < end => {
                    let follows = token.end + 1 >= end || bytes.get(token.end + 1) == Some(&b' ');
                    if follows && token.end - start < LONGEST_KEY {
                        Some(Some(Token { colon: token.end, ..token }))
                    } else {
                        None
                    }
                }
                _ => {
                    let rest = self.skip_spaces(token.end, end);
                    // A colon after spaces makes it a key too; that is rare enough to leave.
                    if bytes.get(rest) == Some(&b':') && rest < end { None } else { Some(None) }
                }
            };
        }
        if matches!(first, b'[' | b'{' | b'|' | b'>') {
            return Some(None);
        }
        if !can_begin_plain(bytes, start, end) {
            return None;
        }
        let line = bytes.get(start..end)?;
        let Some(colon) = find_colon(line) else { return Some(None) };
        let raw = self.text.get(start..start + colon)?;
        let name = raw.trim_end_matches(' ');
        if name.is_empty() || name.len() > LONGEST_KEY {
            return None;
        }
        Some(Some(Token {
            text: Cow::Borrowed(name),
            style: Style::Plain,
            start,
            end: start + name.len(),
            colon: start + colon,
        }))
    }

    fn scalar_token(&mut self, token: &Token<'_>) {
        self.scalar(&token.text, token.style, token.start, token.end);
    }

    /// A value that begins after `key: `, `- ` or on its own line, and is not a block collection.
    fn inline(&mut self, start: usize, end: usize, parent: Option<usize>) -> Option<()> {
        let start = match self.properties(start, end)? {
            value if value == start => start,
            value if self.is_end(value, end)? => return self.await_value(parent),
            value => value,
        };
        let bytes = self.text.as_bytes();
        match *bytes.get(start)? {
            b'|' | b'>' => return self.block(start, end, parent),
            b'[' | b'{' => {
                let after = self.flow(start, parent.map_or(0, |column| column + 1))?;
                let end = self.line_end(after);
                self.at = end + 1;
                self.after_value(after, end)?;
            }
            b'"' | b'\'' => match self.quoted(start, end) {
                Some(token) => {
                    self.scalar_token(&token);
                    self.after_value(token.end, end)?;
                }
                None => self.quoted_lines(start, end, parent? + 1)?,
            },
            b'*' => self.alias(start, end)?,
            _ => self.plain(start, end, parent)?,
        }
        self.ends_here(parent)
    }

    /// The value with an anchor or tag follows on later lines.
    fn await_value(&mut self, parent: Option<usize>) -> Option<()> {
        let pending = self.pending.take();
        let frame = self.frames.last_mut().filter(|frame| parent == Some(frame.column))?;
        frame.awaiting = Some(0);
        frame.pending = pending;
        Some(())
    }

    fn plain(&mut self, start: usize, end: usize, parent: Option<usize>) -> Option<()> {
        let bytes = self.text.as_bytes();
        if !can_begin_plain(bytes, start, end) || self.is_dash(start, end) {
            return None;
        }
        let line = bytes.get(start..end)?;
        if find_colon(line).is_some() {
            return None;
        }
        let stop = find_comment(line).unwrap_or(line.len());
        let text = self.text.get(start..start + stop)?.trim_end_matches(' ');
        // In a value, a colon at the very end would make it a key.
        if text.is_empty() || text.ends_with(':') {
            return None;
        }
        if stop < line.len() {
            self.scalar(text, Style::Plain, start, start + text.len());
            self.builder.comment(start + stop, end, true);
            // A comment ends a plain scalar; a deeper line after it is an error that the full reader explains.
            return Some(());
        }
        match parent.and_then(|column| self.next_line(column + 1)) {
            Some(next) => self.plain_lines(text, start, next, parent? + 1),
            None => {
                self.scalar(text, Style::Plain, start, start + text.len());
                Some(())
            }
        }
    }

    fn after_value(&mut self, after: usize, end: usize) -> Option<()> {
        let rest = self.skip_spaces(after, end);
        self.is_end(rest, end)?.then_some(())
    }

    /// A deeper line after a one-line value would continue it, or be an error: both are left to the full reader.
    fn ends_here(&self, parent: Option<usize>) -> Option<()> {
        let limit = parent.map_or(0, |column| column + 1);
        let mut at = self.at;
        loop {
            if at >= self.text.len() {
                return Some(());
            }
            let end = self.line_end(at);
            let line = self.text.get(at..end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            match line.as_bytes().get(column) {
                None => at = end + 1,
                // A comment in between does not decide it; the next line does.
                Some(b'#') => at = end + 1,
                Some(b'-') if column == 0 && line.starts_with("---") => return Some(()),
                Some(_) => return (column < limit).then_some(()),
            }
        }
    }
}

/// Whether a plain scalar can certainly begin with the byte at an offset.
fn can_begin_plain(bytes: &[u8], start: usize, end: usize) -> bool {
    match bytes.get(start) {
        None => false,
        Some(
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
            | b'`',
        ) => false,
        Some(b'-' | b'?' | b':') => {
            start + 1 < end && !matches!(bytes.get(start + 1), Some(b' ' | b',' | b'[' | b']' | b'{' | b'}'))
        }
        Some(_) => true,
    }
}

/// The colon that ends a plain key: followed by a space or the end of the line, before any comment.
fn find_colon(line: &[u8]) -> Option<usize> {
    for at in memchr::memchr2_iter(b':', b'#', line) {
        match line.get(at) {
            Some(b'#') if at > 0 && line.get(at - 1) == Some(&b' ') => return None,
            Some(b':') if line.get(at + 1).is_none_or(|&b| b == b' ') => return Some(at),
            _ => {}
        }
    }
    None
}

fn find_comment(line: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'#', line).find(|&at| at > 0 && line.get(at - 1) == Some(&b' '))
}

#[cfg(test)]
mod tests;
