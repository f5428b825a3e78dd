//! Reads `.env` text: `KEY=value` lines with comments, quotes and `export`. Values are always strings.

/// One variable of a `.env` text, with the place of its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable<'a> {
    /// The name.
    pub key: &'a str,
    /// The value, unquoted.
    pub value: String,
    /// Byte range of the value as written, without quotes.
    pub range: std::ops::Range<usize>,
}

/// All variables in order. Other lines are skipped, as in every reader of this format.
pub fn parse(text: &str) -> Vec<Variable<'_>> {
    let mut found = Vec::new();
    let mut pos = 0;
    while pos < text.len() {
        match variable(text, pos) {
            Some((variable, next)) => {
                found.push(variable);
                pos = next;
            }
            None => pos = line_end(text, pos) + 1,
        }
    }
    found
}

fn line_end(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or(&[]);
    memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |n| from + n)
}

fn variable(text: &str, start: usize) -> Option<(Variable<'_>, usize)> {
    let line = text.get(start..line_end(text, start))?;
    let mut at = line.len() - line.trim_start().len();
    if let Some(rest) = line.get(at..)?.strip_prefix("export").filter(|r| r.starts_with([' ', '\t'])) {
        at = line.len() - rest.trim_start().len();
    }
    let name = line.get(at..)?;
    let length = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')).count();
    let key = name.get(..length).filter(|k| !k.is_empty())?;
    let after = name.get(length..)?;
    let assigned = match after.trim_start().strip_prefix('=') {
        Some(value) => value,
        None => after.strip_prefix(':').filter(|v| v.starts_with([' ', '\t']))?,
    };
    let from = start + line.len() - assigned.len();
    let (value, range) = value(text, from);
    let next = line_end(text, range.end) + 1;
    Some((Variable { key, value, range }, next))
}

/// A value: quoted, possibly over several lines, or the rest of the line without its comment.
fn value(text: &str, from: usize) -> (String, std::ops::Range<usize>) {
    let rest = text.get(from..).unwrap_or("");
    let padding = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let body = rest.get(padding..).unwrap_or("");
    let quote = body.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote
        && let Some(length) = quoted_length(body.get(1..).unwrap_or(""), quote)
    {
        let start = from + padding + 1;
        let raw = text.get(start..start + length).unwrap_or("");
        let value = if quote == '"' { raw.replace("\\n", "\n").replace("\\r", "\r") } else { raw.to_string() };
        return (value, start..start + length);
    }
    let line = body.get(..line_end(body, 0)).unwrap_or(body);
    let plain = line.split('#').next().unwrap_or("").trim_end();
    let start = from + padding;
    (plain.to_string(), start..start + plain.len())
}

fn quoted_length(body: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_comments_and_exports() {
        let text =
            "# c\nA=1\nexport B = \"q u\\no\" # x\nC='it''s'\nD: yes\nempty=\nE=a#b\nM=\"two\nlines\"\nnonsense\n";
        let read: Vec<(&str, String)> = parse(text).into_iter().map(|v| (v.key, v.value)).collect();
        let expect =
            [("A", "1"), ("B", "q u\no"), ("C", "it"), ("D", "yes"), ("empty", ""), ("E", "a"), ("M", "two\nlines")];
        assert_eq!(read, expect.map(|(k, v)| (k, v.to_string())));
    }
}
