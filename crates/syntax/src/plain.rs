//! A reader for plain YAML: block collections, one-line scalars and flow collections, literal blocks, comments.
//!
//! Most configuration is nothing else, and reading it line by line is many times faster than a full parser. It is
//! all or nothing: at the first thing it does not know for certain (anchors, tags, tabs, folded or many-line
//! scalars, anything wrong) it gives up and the full reader starts afresh. What it builds is the same tree, node by
//! node; the tests compare the two on generated and mutated texts.

use crate::build::{Builder, Properties};
use crate::limits::Limits;
use crate::scalar::Flavor;
use crate::source::Source;
use crate::tree::{Style, Tree};
use std::sync::Arc;

/// Reads a source if it is plain; `None` if the full reader must.
pub(crate) fn parse(source: &Arc<Source>, flavor: Flavor, limits: &Limits) -> Option<Tree> {
    let text = source.text();
    if text.len() as u64 > limits.file_bytes || !has_plain_characters(text) {
        return None;
    }
    let builder = Builder::new(source.clone(), flavor, limits);
    let mut reader = Plain { builder, text, at: 0, frames: Vec::new(), document: Document::Before, flavor };
    reader.read()?;
    let tree = reader.builder.finish(text.len());
    // Whatever is to be said about a file is said by the full reader, but for duplicate keys, which the builder finds.
    Some(tree)
}

/// One fast look for what is never plain: tabs, carriage returns, controls, marks and breaks beyond ASCII.
fn has_plain_characters(text: &str) -> bool {
    let is_odd = |b: &u8| (*b < b' ' && *b != b'\n') || *b == 127;
    if text.as_bytes().iter().any(is_odd) {
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
    /// A list whose dashes stand at its key's own column.
    FlushList,
}

struct Frame {
    column: usize,
    shape: Shape,
    /// Where an empty value would stand, while a value is awaited.
    awaiting: Option<usize>,
}

struct Plain<'s, 'l> {
    builder: Builder<'l>,
    text: &'s str,
    at: usize,
    frames: Vec<Frame>,
    document: Document,
    flavor: Flavor,
}

/// A plain key that is longer needs the full reader's rules.
const LONGEST_KEY: usize = 1_000;

impl<'s> Plain<'s, '_> {
    fn read(&mut self) -> Option<()> {
        while self.at < self.text.len() {
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
        self.end_document(self.text.len());
        Some(())
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
        self.end_document(start);
        self.builder.begin_document(start);
        self.document = Document::Open(start + 3);
        Some(())
    }

    fn end_document(&mut self, at: usize) {
        while let Some(frame) = self.frames.pop() {
            self.close(&frame, at);
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
    }

    fn close(&mut self, frame: &Frame, at: usize) {
        if let Some(place) = frame.awaiting {
            self.empty(place);
        }
        self.builder.end_collection(at);
    }

    fn empty(&mut self, at: usize) {
        self.builder.scalar("", Style::Empty, at, at, Properties::default());
    }

    /// A line with content: finds the collection it continues or opens, then reads it.
    fn line(&mut self, start: usize, column: usize, end: usize) -> Option<()> {
        while let Some(frame) = self.frames.pop_if(|frame| frame.column > column) {
            self.close(&frame, start);
        }
        let dash = self.is_dash(start, end);
        // A list flush with its key ends where the next key begins.
        if !dash
            && let Some(frame) = self.frames.pop_if(|frame| frame.column == column && frame.shape == Shape::FlushList)
        {
            self.close(&frame, start);
        }
        match self.frames.last_mut() {
            None if self.document == Document::Filled => None,
            None => {
                if self.document == Document::Before {
                    self.builder.begin_document(start);
                }
                self.document = Document::Filled;
                self.content(start, column, end, None)
            }
            Some(frame) if frame.column < column => {
                // Without a value awaited this would continue a scalar over several lines.
                frame.awaiting.take()?;
                let parent = frame.column;
                self.content(start, column, end, Some(parent))
            }
            Some(frame) => {
                let missing = frame.awaiting.take();
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
            Shape::Map => self.builder.begin_map(Style::Block, start, Properties::default()),
            Shape::List | Shape::FlushList => self.builder.begin_list(Style::Block, start, Properties::default()),
        };
        self.frames.push(Frame { column, shape, awaiting: None });
        opened.then_some(())
    }

    /// A node that begins at a place where a block collection may begin.
    fn content(&mut self, start: usize, column: usize, end: usize, parent: Option<usize>) -> Option<()> {
        if self.is_dash(start, end) {
            self.open(Shape::List, start, column)?;
            return self.item(start, column, end);
        }
        if self.key(start, end)?.is_some() {
            self.open(Shape::Map, start, column)?;
            return self.entry(start, column, end);
        }
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

    /// Whether nothing but a comment follows, which is taken. A `#` counts only after a space.
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
            text: std::borrow::Cow::Borrowed(name),
            style: Style::Plain,
            start,
            end: start + name.len(),
            colon: start + colon,
        }))
    }

    fn scalar_token(&mut self, token: &Token<'_>) {
        self.builder.scalar(&token.text, token.style, token.start, token.end, Properties::default());
    }

    /// A value that begins after `key: `, `- ` or on its own line, and is no block collection.
    fn inline(&mut self, start: usize, end: usize, parent: Option<usize>) -> Option<()> {
        let bytes = self.text.as_bytes();
        match *bytes.get(start)? {
            b'|' => return self.literal(start, end, parent),
            b'>' => return None,
            b'[' | b'{' => {
                let after = self.flow(start, end)?;
                self.after_value(after, end)?;
            }
            b'"' | b'\'' => {
                let token = self.quoted(start, end)?;
                self.scalar_token(&token);
                self.after_value(token.end, end)?;
            }
            _ => self.plain(start, end)?,
        }
        self.ends_here(parent)
    }

    fn plain(&mut self, start: usize, end: usize) -> Option<()> {
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
        self.builder.scalar(text, Style::Plain, start, start + text.len(), Properties::default());
        if stop < line.len() {
            self.builder.comment(start + stop, end, true);
            // A comment ends a plain scalar; a deeper line after it is an error that the full reader explains.
        }
        Some(())
    }

    fn after_value(&mut self, after: usize, end: usize) -> Option<()> {
        let rest = self.skip_spaces(after, end);
        self.is_end(rest, end)?.then_some(())
    }

    /// A deeper line after a one-line value would continue it, or be wrong: both are left to the full reader.
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
                // A comment between cannot be told from here; whatever follows is judged by the next line.
                Some(b'#') => at = end + 1,
                Some(b'-') if column == 0 && line.starts_with("---") => return Some(()),
                Some(_) => return (column < limit).then_some(()),
            }
        }
    }

    /// A quoted text that ends on its line.
    fn quoted(&self, start: usize, end: usize) -> Option<Token<'s>> {
        let bytes = self.text.as_bytes();
        let quote = *bytes.get(start)?;
        let line = bytes.get(start + 1..end)?;
        if quote == b'"' {
            let at = memchr::memchr2(b'"', b'\\', line)?;
            if line.get(at) == Some(&b'\\') {
                return None;
            }
            return self.quoted_token(start, at, Style::Double);
        }
        let at = memchr::memchr(b'\'', line)?;
        if line.get(at + 1) == Some(&b'\'') {
            return None;
        }
        self.quoted_token(start, at, Style::Single)
    }

    fn quoted_token(&self, start: usize, length: usize, style: Style) -> Option<Token<'s>> {
        let text = self.text.get(start + 1..start + 1 + length)?;
        Some(Token { text: std::borrow::Cow::Borrowed(text), style, start, end: start + length + 2, colon: 0 })
    }

    /// A flow collection that ends on its line; where it ends.
    fn flow(&mut self, start: usize, end: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut at = start;
        loop {
            // A value is expected here.
            match *bytes.get(at).filter(|_| at < end)? {
                bracket @ (b'[' | b'{') => {
                    let opened = if bracket == b'[' {
                        self.builder.begin_list(Style::Flow, at, Properties::default())
                    } else {
                        self.builder.begin_map(Style::Flow, at, Properties::default())
                    };
                    if !opened {
                        return None;
                    }
                    open.push(bracket);
                    at = self.skip_spaces(at + 1, end);
                    if !self.closes(at, &open) {
                        if bracket == b'{' {
                            at = self.flow_key(at, end)?;
                        }
                        continue;
                    }
                }
                _ => at = self.flow_scalar(at, end)?,
            }
            // A value ended: collections close, or a comma leads to the next.
            at = self.skip_spaces(at, end);
            while self.closes(at, &open) {
                self.builder.end_collection(at + 1);
                open.pop();
                at += 1;
                if open.is_empty() {
                    return Some(at);
                }
                at = self.skip_spaces(at, end);
            }
            if bytes.get(at) != Some(&b',') || at >= end {
                return None;
            }
            at = self.skip_spaces(at + 1, end);
            if self.closes(at, &open) {
                return None;
            }
            if open.last() == Some(&b'{') {
                at = self.flow_key(at, end)?;
            }
        }
    }

    fn closes(&self, at: usize, open: &[u8]) -> bool {
        matches!((self.text.as_bytes().get(at), open.last()), (Some(b']'), Some(b'[')) | (Some(b'}'), Some(b'{')))
    }

    /// `key: ` inside braces; where the value begins.
    fn flow_key(&mut self, start: usize, end: usize) -> Option<usize> {
        let after = self.flow_scalar(start, end)?;
        let bytes = self.text.as_bytes();
        let spaced = bytes.get(after) == Some(&b':') && bytes.get(after + 1) == Some(&b' ') && after + 1 < end;
        spaced.then(|| self.skip_spaces(after + 1, end))
    }

    fn flow_scalar(&mut self, start: usize, end: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if matches!(bytes.get(start), Some(b'"' | b'\'')) {
            let token = self.quoted(start, end)?;
            self.scalar_token(&token);
            return Some(token.end);
        }
        if !can_begin_plain(bytes, start, end) || self.is_dash(start, end) {
            return None;
        }
        let line = bytes.get(start..end)?;
        let mut length = 0;
        loop {
            match line.get(length)? {
                b',' | b']' | b'}' => break,
                b'[' | b'{' => return None,
                b':' => match line.get(length + 1) {
                    Some(b' ') => break,
                    Some(b',' | b'[' | b']' | b'{' | b'}') | None => return None,
                    Some(_) => length += 1,
                },
                b'#' if line.get(length.checked_sub(1)?) == Some(&b' ') => return None,
                _ => length += 1,
            }
        }
        let text = self.text.get(start..start + length)?.trim_end_matches(' ');
        if text.is_empty() || text.len() > LONGEST_KEY {
            return None;
        }
        self.builder.scalar(text, Style::Plain, start, start + text.len(), Properties::default());
        // Spaces before the colon of a key are left to the full reader.
        let is_key = line.get(length) == Some(&b':');
        if is_key && text.len() != length { None } else { Some(start + length) }
    }

    /// `|`, `|-` or `|+` and the lines under it.
    fn literal(&mut self, start: usize, end: usize, parent: Option<usize>) -> Option<()> {
        let chomp = match self.text.get(start..end)?.trim_end_matches(' ') {
            "|" => Chomp::Clip,
            "|-" => Chomp::Strip,
            "|+" => Chomp::Keep,
            _ => return None,
        };
        let least = parent.map_or(0, |column| column + 1);
        let indent = self.literal_indent(least)?;
        let mut text = String::new();
        let mut blanks = 0;
        let mut last = end;
        while self.at < self.text.len() {
            let line_end = self.line_end(self.at);
            let line = self.text.get(self.at..line_end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            if column == line.len() {
                // Spaces beyond the indentation are text; that is rare enough to leave.
                if column > indent {
                    return None;
                }
                blanks += 1;
                self.at = line_end + 1;
                continue;
            }
            if column < indent || (column == 0 && (line.starts_with("---") || line.starts_with("..."))) {
                break;
            }
            for _ in 0..blanks {
                text.push('\n');
            }
            blanks = 0;
            text.push_str(line.get(indent..)?);
            text.push('\n');
            last = line_end;
            self.at = line_end + 1;
        }
        // Trailing blank lines with `|+`, and texts of blanks only, have rules of their own.
        if text.trim_end_matches([' ', '\n']).is_empty() || (chomp == Chomp::Keep && blanks > 0) {
            return None;
        }
        // Without a line break at the end of the file the families differ.
        let cut = last == self.text.len() && !self.flavor.ends_blocks_with_newline();
        if chomp == Chomp::Strip || cut {
            text.pop();
        }
        let stop = start + self.text.get(start..last)?.trim_end().len();
        self.builder.scalar(&text, Style::Literal, start, stop, Properties::default());
        Some(())
    }

    /// The column of a literal's first line with text.
    fn literal_indent(&self, least: usize) -> Option<usize> {
        let mut at = self.at;
        while at < self.text.len() {
            let end = self.line_end(at);
            let line = self.text.get(at..end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            if column < line.len() {
                return (column >= least && column > 0).then_some(column);
            }
            if column > 0 {
                // Blank lines with spaces before the text have rules of their own.
                return None;
            }
            at = end + 1;
        }
        None
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

struct Token<'s> {
    text: std::borrow::Cow<'s, str>,
    style: Style,
    start: usize,
    end: usize,
    colon: usize,
}

/// Whether a plain scalar can begin with the byte at a place, for certain.
fn can_begin_plain(bytes: &[u8], start: usize, end: usize) -> bool {
    match bytes.get(start) {
        None => false,
        Some(
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
            | b'`' | b'?' | b':',
        ) => false,
        Some(b'-') => start + 1 < end && !matches!(bytes.get(start + 1), Some(b' ' | b',' | b'[' | b']' | b'{' | b'}')),
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
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml;

    fn describe(tree: &Tree) -> String {
        let nodes: Vec<String> = tree
            .nodes
            .iter()
            .enumerate()
            .map(|(at, raw)| {
                let text = tree.node(u32::try_from(at).unwrap_or(0)).map(|node| node.text()).unwrap_or("");
                format!(
                    "{:?} {:?} {} {} {}..{} {text:?}",
                    raw.kind, raw.style, raw.flags, raw.extra, raw.start, raw.end
                )
            })
            .collect();
        let comments: Vec<_> = tree.comments.iter().map(|c| (c.span.start, c.span.end, c.trailing)).collect();
        let problems: Vec<_> = tree.diagnostics.iter().map(|d| (d.span, &d.message)).collect();
        format!("{}\nroots {:?}\ncomments {comments:?}\n{problems:?}", nodes.join("\n"), tree.roots)
    }

    /// Whether the plain reader took the text; it must then agree with the full one.
    fn agrees(text: &str, flavor: Flavor) -> bool {
        let source = Arc::new(Source::new(FileId(0), "t.yaml", text));
        let limits = Limits::default();
        let Some(plain) = parse(&source, flavor, &limits) else { return false };
        let full = yaml::parse_fully(source, flavor, &limits);
        assert_eq!(describe(&plain), describe(&full), "on {text:?}");
        true
    }

    #[test]
    fn plain_texts_are_taken_and_read_alike() {
        let texts = [
            "a: 1\n",
            "# c\na: 1 # d\nb:\n  c: 'x'\n  d: \"y\"\n",
            "a:\n- 1\n- b: 2\n  c: 3\n-\nd:\n  - - 1\n    - 2\n  - {x: 1, y: [a, \"b\", 'c'], z: {}}\n",
            "a: |\n  one\n\n   two\n\nb: |-\n  x\nc: |+\n  y\nd: 1\n",
            "---\na: 1\n---\n---\n- b\n",
            "a: |\n  foo",
            "- a\n- b:\n    c: d\n  # note\n  e:\n\n\nf: 1\n",
            "just text\n",
            "\"quoted\": 'v' # c\n",
            "url: http://x.y/z#frag\ntime: 10:30\nneg: -1\ndash: -x\n",
            "a: b\na: c\n",
            "x:\n    value\n",
            "é: ü\n",
            "",
            "# only\n",
        ];
        for text in texts {
            for flavor in [Flavor::Core, Flavor::Go] {
                let taken = agrees(text, flavor);
                assert!(taken || text.contains("\nf: 1"), "not taken: {text:?}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left() {
        for text in [
            "a: &x 1\n",
            "a: !t 1\n",
            "a: *x\n",
            "? a\n",
            "a: >\n  x\n",
            "a: b\n  c\n",
            "a: [1,\n 2]\n",
            "a: \"x\\n\"\n",
            "\ta: 1\n",
            "a: b: c\n",
            "%YAML 1.2\n---\na\n",
            "...\n",
        ] {
            assert!(!agrees(text, Flavor::Core), "{text:?}");
        }
    }

    /// Texts from pieces of YAML, most of them odd. `PURLIN_ROUNDS` asks for more than the usual number.
    #[test]
    #[allow(clippy::disallowed_methods)]
    fn random_texts_are_read_alike() {
        const PIECES: &[&str] = &[
            "a",
            "b",
            "key",
            "x y",
            ": ",
            ":",
            "- ",
            "-",
            "\n",
            "\n",
            "\n",
            "  ",
            "    ",
            " ",
            "# c",
            " # d",
            "'q'",
            "\"r\"",
            "\"",
            "'",
            "[",
            "]",
            "{",
            "}",
            ", ",
            ",",
            "|",
            "|-",
            "|+",
            ">",
            "---",
            "---\n",
            "...",
            "1",
            "-1",
            "~",
            "&",
            "*a",
            "!t",
            "?",
            "? ",
            "%",
            "@",
            "\\",
            "é",
            "\u{2028}",
            "#",
            "\t",
            "\r\n",
            "a: b\n",
            "- a\n",
            "  c: d\n",
            "e:\n",
            "  - f\n",
            "k: |\n  t\n",
        ];
        let rounds = std::env::var("PURLIN_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60_000);
        let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap_or(0)
        };
        let mut taken = 0;
        for round in 0..rounds {
            let length = 1 + next(14);
            let text: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
            let flavor = [Flavor::Core, Flavor::Go, Flavor::Python][round % 3];
            taken += usize::from(agrees(&text, flavor));
        }
        assert!(taken > rounds / 20, "only {taken} of {rounds} were plain");
    }
}
