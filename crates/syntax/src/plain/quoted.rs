//! Quoted texts that end on their line.

use super::Plain;
use crate::tree::Style;
use std::borrow::Cow;

/// A scalar of one line; for keys, where its colon is.
pub(super) struct Token<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) style: Style,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) colon: usize,
}

impl<'s> Plain<'s, '_> {
    /// A quoted text that ends on its line.
    pub(super) fn quoted(&self, start: usize, end: usize) -> Option<Token<'s>> {
        match self.text.as_bytes().get(start)? {
            b'"' => self.double_quoted(start, end),
            _ => self.single_quoted(start, end),
        }
    }

    pub(super) fn double_quoted(&self, start: usize, end: usize) -> Option<Token<'s>> {
        let line = self.text.get(start + 1..end)?;
        let mut decoded = String::new();
        let mut from = 0;
        for at in memchr::memchr2_iter(b'"', b'\\', line.as_bytes()) {
            if at < from {
                continue;
            }
            if line.as_bytes().get(at) == Some(&b'"') {
                let rest = line.get(from..at)?;
                let text = if from == 0 { Cow::Borrowed(rest) } else { Cow::Owned(decoded + rest) };
                return Some(Token { text, style: Style::Double, start, end: start + at + 2, colon: 0 });
            }
            decoded.push_str(line.get(from..at)?);
            decoded.push(escape(*line.as_bytes().get(at + 1)?)?);
            from = at + 2;
        }
        None
    }

    pub(super) fn single_quoted(&self, start: usize, end: usize) -> Option<Token<'s>> {
        let line = self.text.get(start + 1..end)?;
        let mut skip = None;
        let mut doubled = false;
        for at in memchr::memchr_iter(b'\'', line.as_bytes()) {
            if skip == Some(at) {
                continue;
            }
            if line.as_bytes().get(at + 1) == Some(&b'\'') {
                skip = Some(at + 1);
                doubled = true;
                continue;
            }
            let rest = line.get(..at)?;
            let text = if doubled { Cow::Owned(rest.replace("''", "'")) } else { Cow::Borrowed(rest) };
            return Some(Token { text, style: Style::Single, start, end: start + at + 2, colon: 0 });
        }
        None
    }
}

/// The character of an escape by the byte after its backslash; `None` for other escapes.
pub(super) fn escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'0' => '\0',
        b'e' => '\u{1b}',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        _ => return None,
    })
}
