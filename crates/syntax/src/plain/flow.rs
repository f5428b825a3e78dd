//! Flow collections that end on their line.

use super::{LONGEST_KEY, Plain, can_begin_plain};
use crate::build::Properties;
use crate::tree::Style;

impl Plain<'_, '_> {
    /// A flow collection that ends on its line; where it ends.
    pub(super) fn flow(&mut self, start: usize, end: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut at = start;
        loop {
            if self.builder.is_full() {
                return None;
            }
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
            // A value ended: collections close, which a comma may precede, or a comma leads to the next.
            at = self.skip_spaces(at, end);
            loop {
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
                if !self.closes(at, &open) {
                    break;
                }
            }
            if open.last() == Some(&b'{') {
                at = self.flow_key(at, end)?;
            }
        }
    }

    pub(super) fn closes(&self, at: usize, open: &[u8]) -> bool {
        matches!((self.text.as_bytes().get(at), open.last()), (Some(b']'), Some(b'[')) | (Some(b'}'), Some(b'{')))
    }

    /// `key: ` inside braces; where the value begins.
    pub(super) fn flow_key(&mut self, start: usize, end: usize) -> Option<usize> {
        let after = self.flow_scalar(start, end)?;
        let bytes = self.text.as_bytes();
        let spaced = bytes.get(after) == Some(&b':') && bytes.get(after + 1) == Some(&b' ') && after + 1 < end;
        spaced.then(|| self.skip_spaces(after + 1, end))
    }

    pub(super) fn flow_scalar(&mut self, start: usize, end: usize) -> Option<usize> {
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
}
