//! Python literals: a template whose text is one evaluates to its value.

use crate::limits::MAX_DEPTH;
use crate::val::{Val, ValMap};

/// The value of a Python literal; none for other text.
pub fn parse(text: &str) -> Option<Val> {
    // Cheap refusals first: most text is no literal.
    let first = text.trim_start_matches('\n').chars().next()?;
    let starts = first.is_ascii_digit() || "'\"[({+-.TFNbBuUrR#".contains(first);
    if !starts || text.len() > crate::limits::MAX_EXPRESSION {
        return None;
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.blank_lines();
    if reader.rest().starts_with([' ', '\t']) {
        return None;
    }
    let value = reader.items_until_end()?;
    Some(value)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Blanks within a line, and a comment.
    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if self.peek() == Some('#') {
            let rest = self.rest();
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Blanks, line breaks and comments, within brackets.
    fn space(&mut self) {
        loop {
            let before = self.at;
            self.blanks();
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(['\n', '\r']).len();
            if self.at == before {
                return;
            }
        }
    }

    fn blank_lines(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches('\n').len();
    }

    /// The whole text: one value, or several with commas.
    fn items_until_end(&mut self) -> Option<Val> {
        let first = self.value()?;
        self.blanks();
        let mut items = vec![first];
        let mut several = false;
        while self.take(',') {
            several = true;
            self.blanks();
            if self.at_end() {
                break;
            }
            items.push(self.value()?);
            self.blanks();
        }
        if !self.at_end() {
            return None;
        }
        if several { Some(Val::list(items)) } else { items.pop() }
    }

    /// The end, after whole blank lines: a last line of blanks alone is an indentation error in Python.
    fn at_end(&self) -> bool {
        let mut rest = self.rest();
        while let Some(after) = rest.strip_prefix('\n') {
            rest = after;
            if rest.starts_with('#') {
                rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or("");
            }
        }
        rest.is_empty()
    }

    fn value(&mut self) -> Option<Val> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.value_here();
        self.depth -= 1;
        value
    }

    fn value_here(&mut self) -> Option<Val> {
        match self.peek()? {
            '[' => self.collection('[', ']').map(|(items, _)| Val::list(items)),
            '(' => {
                let (mut items, comma) = self.collection('(', ')')?;
                if items.len() == 1 && !comma { items.pop() } else { Some(Val::list(items)) }
            }
            '{' => self.dict(),
            '\'' | '"' => self.strings(),
            '+' | '-' => self.signed(),
            c if c.is_ascii_digit() || c == '.' => self.number(),
            _ => self.word(),
        }
    }

    fn collection(&mut self, open: char, close: char) -> Option<(Vec<Val>, bool)> {
        self.take(open);
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.space();
            if self.take(close) {
                return Some((items, comma));
            }
            items.push(self.value()?);
            self.space();
            comma = self.take(',');
            if !comma {
                self.space();
                return self.take(close).then_some((items, comma));
            }
        }
    }

    fn dict(&mut self) -> Option<Val> {
        self.take('{');
        let mut entries = ValMap::default();
        loop {
            self.space();
            if self.take('}') {
                return Some(Val::map(entries));
            }
            let key = self.value()?.to_key()?;
            self.space();
            if !self.take(':') {
                return None;
            }
            self.space();
            let value = self.value()?;
            entries.insert(key, value);
            self.space();
            if !self.take(',') {
                self.space();
                return self.take('}').then(|| Val::map(entries));
            }
        }
    }

    /// Adjacent strings are one.
    fn strings(&mut self) -> Option<Val> {
        let mut text = self.string(false)?;
        loop {
            let before = self.at;
            self.blanks();
            if !matches!(self.peek(), Some('\'' | '"')) {
                self.at = before;
                return Some(Val::str(text));
            }
            text.push_str(&self.string(false)?);
        }
    }

    fn string(&mut self, raw: bool) -> Option<String> {
        let mark = self.peek()?;
        let triple: String = std::iter::repeat_n(mark, 3).collect();
        let end: String = if self.rest().starts_with(&triple) { triple } else { mark.to_string() };
        self.at += end.len();
        let mut out = String::new();
        loop {
            if self.rest().starts_with(&end) {
                self.at += end.len();
                return Some(out);
            }
            let c = self.peek()?;
            self.at += c.len_utf8();
            match c {
                '\n' if end.len() == 1 => return None,
                '\\' => {
                    let escaped = self.peek()?;
                    self.at += escaped.len_utf8();
                    if raw {
                        out.push('\\');
                        out.push(escaped);
                    } else {
                        self.escape(escaped, &mut out)?;
                    }
                }
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, escaped: char, out: &mut String) -> Option<()> {
        let digits = match escaped {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if digits > 0 {
            let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
            self.at += digits;
            out.push(char::from_u32(code)?);
            return Some(());
        }
        match escaped {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '0' => out.push('\0'),
            '\n' => {}
            '\\' | '\'' | '"' => out.push(escaped),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
        Some(())
    }

    fn signed(&mut self) -> Option<Val> {
        let negative = self.peek() == Some('-');
        self.at += 1;
        self.blanks();
        let value = self.number()?;
        if !negative {
            return Some(value);
        }
        match crate::python::number(&value)? {
            crate::python::Number::Int(n) => Some(Val::int(n.checked_neg()?)),
            crate::python::Number::Float(x) => Some(Val::float(-x)),
        }
    }

    fn number(&mut self) -> Option<Val> {
        let rest = self.rest();
        let mut end = 0;
        let bytes = rest.as_bytes();
        while let Some(b) = bytes.get(end) {
            let sign = matches!(b, b'+' | b'-') && end > 0 && matches!(bytes.get(end - 1), Some(b'e' | b'E'));
            let hex = rest.starts_with("0x") || rest.starts_with("0X");
            if !(b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.' || (sign && !hex)) {
                break;
            }
            end += 1;
        }
        let word = rest.get(..end)?;
        let value = number_of(word)?;
        self.at += end;
        Some(value)
    }

    fn word(&mut self) -> Option<Val> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest.get(..end)?.to_owned();
        self.at += end;
        match word.as_str() {
            "True" => Some(Val::bool(true)),
            "False" => Some(Val::bool(false)),
            "None" => Some(Val::null()),
            "u" | "U" if matches!(self.peek(), Some('\'' | '"')) => self.string(false).map(Val::str),
            "r" | "R" if matches!(self.peek(), Some('\'' | '"')) => self.string(true).map(Val::str),
            _ => None,
        }
    }
}

fn number_of(word: &str) -> Option<Val> {
    let lower = word.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let digits = crate::python::strip_underscores(digits)?;
            return i64::from_str_radix(&digits, radix).ok().map(Val::int);
        }
    }
    let digits = crate::python::strip_underscores(&lower)?;
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        // A leading zero is refused unless all are zeros.
        if digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|b| b != b'0') {
            return None;
        }
        return digits.parse().ok().map(Val::int);
    }
    let float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-'))
        && digits.bytes().any(|b| b.is_ascii_digit());
    if float { digits.parse().ok().map(Val::float) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::NoInstances;
    use crate::python::repr;

    #[test]
    fn literals_as_python_reads_them() {
        let cases = [
            ("5 # c", "5"),
            ("1,", "[1]"),
            ("[1,\n2]", "[1, 2]"),
            ("{'a': [1, (2, 3)]}", "{'a': [1, [2, 3]]}"),
            ("'a' 'b'", "'ab'"),
            ("1e3", "1000.0"),
            ("0x10", "16"),
            ("- 5", "-5"),
            ("\n1", "1"),
            ("1\n\n", "1"),
            ("{}\n", "{}"),
            (".5", "0.5"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(|v| repr(&v, &NoInstances)).as_deref(), Some(expected), "{text:?}");
        }
        for text in ["007", "{}\n ", "  1", "2020-01-01", "--5", "true", "abc", "{{ 1 }}", "1 2", "", "1+2", "1;"] {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }
}
