//! Positions in files as editors count them.

use purlin_syntax::{Source, Sources, Span};
use std::ops::Range;

/// A line and a column, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Point {
    /// Line, from 0.
    pub line: u32,
    /// Characters before it on its line.
    pub column: u32,
    /// UTF-16 code units before it on its line.
    pub utf16: u32,
}

impl Point {
    /// The point of a byte offset.
    pub fn of(source: &Source, offset: u32) -> Point {
        let position = source.position(offset);
        let start = source.line_start(offset) as usize;
        let before = source.text().get(start..offset as usize).unwrap_or("");
        let utf16 = if before.is_ascii() { before.len() } else { before.encode_utf16().count() };
        Point {
            line: position.line.saturating_sub(1),
            column: position.column.saturating_sub(1),
            utf16: u32::try_from(utf16).unwrap_or(u32::MAX),
        }
    }
}

/// A range in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, from the world's root.
    pub file: String,
    /// First point.
    pub start: Point,
    /// One past the last.
    pub end: Point,
    /// The same in bytes.
    pub bytes: (u32, u32),
}

impl Place {
    /// The location of some bytes of a text.
    pub fn of(source: &Source, bytes: Range<usize>) -> Place {
        let clamp = |at: usize| u32::try_from(at.min(source.text().len())).unwrap_or(u32::MAX);
        let (start, end) = (clamp(bytes.start), clamp(bytes.end));
        Place {
            file: source.path().to_owned(),
            start: Point::of(source, start),
            end: Point::of(source, end),
            bytes: (start, end),
        }
    }

    /// The location of a span, if its file is known.
    pub fn of_span(sources: &Sources, span: Span) -> Option<Place> {
        let source = sources.get(span.file)?;
        Some(Place::of(&source, span.start as usize..span.end as usize))
    }

    /// The beginning of a file.
    pub fn top(file: &str) -> Place {
        Place { file: file.to_owned(), start: Point::default(), end: Point::default(), bytes: (0, 0) }
    }
}

/// The byte offset of a line and a UTF-16 column.
pub fn offset_utf16(text: &str, line: u32, utf16: u32) -> usize {
    let start = line_start(text, line);
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if units >= utf16 || c == '\n' {
            return start + at;
        }
        units += u32::try_from(c.len_utf16()).unwrap_or(1);
    }
    text.len()
}

/// The byte offset of a line and a column in characters.
pub fn offset_chars(text: &str, line: u32, column: u32) -> usize {
    let start = line_start(text, line);
    let line = text[start..].split('\n').next().unwrap_or("");
    line.char_indices().nth(column as usize).map_or(start + line.len(), |(at, _)| start + at)
}

fn line_start(text: &str, line: u32) -> usize {
    if line == 0 {
        return 0;
    }
    text.match_indices('\n').nth(line as usize - 1).map_or(text.len(), |(at, _)| at + 1)
}
