//! Scalars over several lines, plain and quoted: lines are joined by a space, and blank lines are line breaks.

use super::quoted::escape;
use super::{Plain, find_colon, find_comment};
use crate::tree::Style;

/// A line that continues a scalar.
pub(super) struct Line {
    start: usize,
    end: usize,
    /// Blank lines before it.
    blanks: usize,
}

impl<'s> Plain<'s, '_> {
    /// The next line with content, if it is indented by at least `limit` and not a comment.
    pub(super) fn next_line(&self, limit: usize) -> Option<Line> {
        let (mut at, mut blanks) = (self.at, 0);
        while at < self.text.len() {
            let end = self.line_end(at);
            let start = self.skip_spaces(at, end);
            if start == end {
                blanks += 1;
                at = end + 1;
                continue;
            }
            let goes_on = start - at >= limit && self.text.as_bytes().get(start) != Some(&b'#');
            return goes_on.then_some(Line { start, end, blanks });
        }
        None
    }

    /// Reads the rest of a plain scalar after its first line, from `next` on; its lines are indented by at least
    /// `limit`.
    pub(super) fn plain_lines(&mut self, first: &str, start: usize, next: Line, limit: usize) -> Option<()> {
        let mut text = String::from(first);
        let mut next = Some(next);
        let mut stop = start;
        while let Some(line) = next {
            let bytes = self.text.as_bytes().get(line.start..line.end)?;
            // A colon would make it a key, which is an error here.
            if find_colon(bytes).is_some() {
                return None;
            }
            let comment = find_comment(bytes);
            let part = self.text.get(line.start..line.start + comment.unwrap_or(bytes.len()))?.trim_end_matches(' ');
            join(&mut text, line.blanks);
            text.push_str(part);
            stop = line.start + part.len();
            self.at = line.end + 1;
            if let Some(comment) = comment {
                self.scalar(&text, Style::Plain, start, stop);
                self.builder.comment(line.start + comment, line.end, true);
                return Some(());
            }
            next = self.next_line(limit);
        }
        self.scalar(&text, Style::Plain, start, stop);
        Some(())
    }

    /// A quoted text over several lines, and what follows it on its last line.
    pub(super) fn quoted_lines(&mut self, start: usize, end: usize, limit: usize) -> Option<()> {
        let quote = *self.text.as_bytes().get(start)?;
        let mut text = String::new();
        let mut line = Line { start: start + 1, end, blanks: 0 };
        loop {
            let rest = self.text.get(line.start..line.end)?;
            if let Some(length) = quoted_part(rest, quote, &mut text)? {
                let (style, after) = (style_of(quote), line.start + length + 1);
                self.scalar(&text, style, start, after);
                self.at = line.end + 1;
                return self.after_value(after, line.end);
            }
            self.at = line.end + 1;
            line = self.next_quoted_line(limit)?;
            join(&mut text, line.blanks);
        }
    }

    /// Like [`Plain::next_line`], except that `#` starts no comment in quotes.
    fn next_quoted_line(&self, limit: usize) -> Option<Line> {
        let (mut at, mut blanks) = (self.at, 0);
        loop {
            let end = self.line_end(at);
            let start = self.skip_spaces(at, end);
            if start < end {
                return (start - at >= limit).then_some(Line { start, end, blanks });
            }
            blanks += 1;
            at = end + 1;
            if at >= self.text.len() {
                return None;
            }
        }
    }
}

fn join(text: &mut String, blanks: usize) {
    match blanks {
        0 => text.push(' '),
        blanks => text.extend(std::iter::repeat_n('\n', blanks)),
    }
}

fn style_of(quote: u8) -> Style {
    if quote == b'"' { Style::Double } else { Style::Single }
}

/// Adds one line of a quoted text; returns its length up to the closing quote, if that is on the line. Trailing
/// blanks do not count.
fn quoted_part(line: &str, quote: u8, text: &mut String) -> Option<Option<usize>> {
    let bytes = line.as_bytes();
    let mut from = 0;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(quote, b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'\\') {
            if quote == b'\'' {
                at += 1;
                continue;
            }
            text.push_str(line.get(from..at)?);
            // A line break after a backslash has rules of its own, and so do blanks before it.
            text.push(escape(*bytes.get(at + 1)?)?);
            at += 2;
            from = at;
        } else if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') {
            text.push_str(line.get(from..=at)?);
            at += 2;
            from = at;
        } else {
            text.push_str(line.get(from..at)?);
            return Some(Some(at));
        }
    }
    text.push_str(line.get(from..)?.trim_end_matches(' '));
    Some(None)
}
