//! Source files and positions in them.
//!
//! A span is three numbers; lines and columns are computed from byte offsets only when something is printed.
//! Nothing here knows YAML.

use std::sync::{Arc, OnceLock};

/// Identifies a file within one [`crate::Sources`] registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file the bytes are in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from its parts.
    #[inline]
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The part of this span that starts `from` bytes in and is `len` bytes long, kept inside it.
    pub fn within(self, from: usize, len: usize) -> Self {
        let start = self.start.saturating_add(clamp(from)).min(self.end);
        let end = start.saturating_add(clamp(len)).min(self.end);
        Span { start, end, ..self }
    }

    /// Whether another span of the same file is inside this one.
    pub fn contains(self, other: Span) -> bool {
        other.file == self.file && self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both; the other file's span is ignored.
    pub fn to(self, other: Span) -> Self {
        if other.file != self.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Byte offsets fit in 32 bits because files are limited to far less than 4 GiB.
pub(crate) fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The text of one file and the path it is known by.
#[derive(Debug)]
pub struct Source {
    id: FileId,
    path: Arc<str>,
    text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
    /// Characters before each block of the text, so that columns in lines of any length cost the same.
    blocks: OnceLock<Vec<u32>>,
}

/// Bytes between two entries of [`Source::blocks`].
const BLOCK: usize = 4096;

impl Source {
    /// A source under an id; ids come from [`crate::Sources::reserve`].
    pub fn new(id: FileId, path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { id, path: path.into(), text: text.into(), lines: OnceLock::new(), blocks: OnceLock::new() }
    }

    /// The same text under another id.
    pub(crate) fn with_id(&self, id: FileId) -> Self {
        Source {
            id,
            path: self.path.clone(),
            text: self.text.clone(),
            lines: self.lines.clone(),
            blocks: self.blocks.clone(),
        }
    }

    /// The file's id.
    #[inline]
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The path it is shown under.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty if the span is not in this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// A span covering `start..end` of this file.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.id, clamp(start), clamp(end))
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_index(offset);
        let start = self.line_starts().get(line).copied().unwrap_or(0);
        // Most lines are short enough to be counted as they are.
        let column = match self.text.as_bytes().get(start as usize..(offset as usize).min(self.text.len())) {
            Some(before) if before.len() <= BLOCK => count_chars(before),
            _ => self.chars_before(offset).saturating_sub(self.chars_before(start)),
        };
        Position { line: clamp(line + 1), column: clamp(column + 1) }
    }

    /// The first byte of the line that a byte is in.
    pub fn line_start(&self, offset: u32) -> u32 {
        self.line_starts().get(self.line_index(offset)).copied().unwrap_or(0)
    }

    fn line_index(&self, offset: u32) -> usize {
        self.line_starts().partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Number of characters that begin before a byte offset.
    fn chars_before(&self, offset: u32) -> usize {
        let blocks = self.blocks.get_or_init(|| {
            let ends = self.text.as_bytes().chunks(BLOCK).scan(0, |total, block| {
                *total += count_chars(block);
                Some(clamp(*total))
            });
            std::iter::once(0).chain(ends).collect()
        });
        let end = (offset as usize).min(self.text.len());
        let block = end / BLOCK;
        let rest = self.text.as_bytes().get(block * BLOCK..end).unwrap_or(&[]);
        blocks.get(block).copied().unwrap_or(0) as usize + count_chars(rest)
    }

    /// The text of a line, counted from 1, without its line break.
    pub fn line(&self, number: u32) -> Option<&str> {
        let lines = self.line_starts();
        let index = (number as usize).checked_sub(1)?;
        let start = *lines.get(index)? as usize;
        let end = lines.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        Some(self.text.get(start..end)?.trim_end_matches(['\n', '\r']))
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(breaks.map(|at| clamp(at + 1))).collect()
        })
    }
}

/// Counting bytes that begin a character works for any slice of the text.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = Source::new(FileId(0), "a.yaml", "a: é\nbß: c\n");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(5), Position { line: 1, column: 5 });
        assert_eq!(source.position(6), Position { line: 2, column: 1 });
        assert_eq!(source.position(9), Position { line: 2, column: 3 });
        assert_eq!(source.line(2), Some("bß: c"));
        assert_eq!(source.line(9), None);
    }

    #[test]
    fn columns_of_long_lines() {
        let text = format!("a\n{}x", "é".repeat(10_000));
        let source = Source::new(FileId(0), "a.yaml", text.as_str());
        let column = |offset: u32| source.position(offset).column;
        assert_eq!([column(2), column(4), column(4_096), column(8_194), column(20_002)], [1, 2, 2_048, 4_097, 10_001]);
        assert_eq!(source.position(u32::MAX), Position { line: 2, column: 10_002 });
        assert_eq!(source.line_start(9_000), 2);
    }
}
