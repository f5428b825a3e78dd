//! Flow collections, on one line or several.

use super::{LONGEST_KEY, Plain, can_begin_plain};
use crate::tree::Style;

impl Plain<'_, '_> {
    /// Reads a flow collection whose lines are indented by at least `limit`; returns its end.
    pub(super) fn flow(&mut self, start: usize, limit: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut at = start;
        loop {
            if self.builder.is_full() {
                return None;
            }
            // A value is expected here.
            match *bytes.get(at)? {
                bracket @ (b'[' | b'{') => {
                    let opened = match bracket {
                        b'[' => self.begin_list(Style::Flow, at),
                        _ => self.begin_map(Style::Flow, at),
                    };
                    if !opened {
                        return None;
                    }
                    open.push(bracket);
                    at = self.skip_blanks(at + 1, limit)?;
                    if !self.closes(at, &open) {
                        if bracket == b'{' {
                            at = self.flow_key(at, limit)?;
                        }
                        continue;
                    }
                }
                _ => at = self.flow_scalar(at)?,
            }
            // A value ended: collections close, which a comma may precede, or a comma leads to the next.
            at = self.skip_blanks_after(at, &open, limit)?;
            loop {
                while self.closes(at, &open) {
                    self.builder.end_collection(at + 1);
                    open.pop();
                    at += 1;
                    if open.is_empty() {
                        return Some(at);
                    }
                    at = self.skip_blanks(at, limit)?;
                }
                if bytes.get(at) != Some(&b',') {
                    return None;
                }
                at = self.skip_blanks(at + 1, limit)?;
                if !self.closes(at, &open) {
                    break;
                }
            }
            if open.last() == Some(&b'{') {
                at = self.flow_key(at, limit)?;
            }
        }
    }

    fn skip_blanks_after(&mut self, at: usize, open: &[u8], limit: usize) -> Option<usize> {
        if self.closes(at, open) { Some(at) } else { self.skip_blanks(at, limit) }
    }

    /// Skips spaces, line breaks and comments; `None` if a line is indented too little.
    fn skip_blanks(&mut self, from: usize, limit: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        loop {
            match *bytes.get(at)? {
                b' ' => at += 1,
                b'\n' => {
                    let line = at + 1;
                    at = self.skip_spaces(line, bytes.len());
                    let is_blank = bytes.get(at).is_none_or(|&b| b == b'\n');
                    // A line at the margin may be a marker, and families differ in what they allow there.
                    if !is_blank && (at - line < limit || at == line) {
                        return None;
                    }
                }
                b'#' => {
                    let before = *bytes.get(at.checked_sub(1)?)?;
                    if before != b' ' && before != b'\n' {
                        return None;
                    }
                    let line = self.text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
                    let is_alone = self.skip_spaces(line, at) == at;
                    let end = self.line_end(at);
                    self.builder.comment(at, end, !is_alone);
                    at = end;
                }
                _ => return Some(at),
            }
        }
    }

    fn closes(&self, at: usize, open: &[u8]) -> bool {
        matches!((self.text.as_bytes().get(at), open.last()), (Some(b']'), Some(b'[')) | (Some(b'}'), Some(b'{')))
    }

    /// `key: ` inside braces; returns the start of the value.
    fn flow_key(&mut self, start: usize, limit: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_quoted = matches!(bytes.get(start), Some(b'"' | b'\''));
        let after = self.flow_scalar(start)?;
        // After a key in quotes the value may follow at once.
        let goes_on = is_quoted || matches!(bytes.get(after + 1), Some(b' ' | b'\n'));
        if bytes.get(after) != Some(&b':') || !goes_on || after - start > LONGEST_KEY {
            return None;
        }
        self.skip_blanks(after + 1, limit)
    }

    /// A scalar of one line; returns its end.
    fn flow_scalar(&mut self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let end = self.line_end(start);
        if matches!(bytes.get(start), Some(b'"' | b'\'')) {
            let token = self.quoted(start, end)?;
            self.scalar_token(&token);
            return Some(token.end);
        }
        if !can_begin_plain(bytes, start, end)
            || matches!(bytes.get(start), Some(b'?' | b':'))
            || self.is_dash(start, end)
        {
            return None;
        }
        let line = bytes.get(start..end)?;
        let mut length = 0;
        loop {
            match line.get(length) {
                // The next line decides whether the scalar continues there.
                None if self.is_closed_after(end) => break,
                None => return None,
                Some(b',' | b']' | b'}') => break,
                Some(b'[' | b'{') => return None,
                Some(b':') => match line.get(length + 1) {
                    Some(b' ') | None => break,
                    Some(b',' | b'[' | b']' | b'{' | b'}') => return None,
                    Some(_) => length += 1,
                },
                Some(b'#') if line.get(length.checked_sub(1)?) == Some(&b' ') => return None,
                Some(_) => length += 1,
            }
        }
        let text = self.text.get(start..start + length)?.trim_end_matches(' ');
        if text.is_empty() || text.len() > LONGEST_KEY {
            return None;
        }
        self.scalar(text, Style::Plain, start, start + text.len());
        // Spaces before the colon of a key are left to the full reader.
        let is_key = line.get(length) == Some(&b':');
        if is_key && text.len() != length { None } else { Some(start + length) }
    }

    /// Whether the first token on the lines from here ends a value.
    fn is_closed_after(&self, from: usize) -> bool {
        let rest = self.text.as_bytes().get(from..).unwrap_or(&[]);
        let next = rest.iter().find(|&&b| b != b' ' && b != b'\n');
        matches!(next, Some(b',' | b']' | b'}'))
    }
}
