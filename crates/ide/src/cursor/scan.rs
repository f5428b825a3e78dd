//! Finds expressions of embedded languages in a text, without parsing them: their positions, and the names they look
//! up.

use std::ops::Range;

/// A dotted lookup: the bytes of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The parts; the first is the top-level key.
    pub parts: Vec<Range<usize>>,
}

/// All lookups in `${…}` of a part of a text.
pub fn lookups(text: &str, whole: Range<usize>) -> Vec<Lookup> {
    let mut found = Vec::new();
    for expression in expressions(text, whole) {
        found.extend(lookups_in(text, expression));
    }
    found
}

/// The bytes between `${` and `}` of all expressions in a part of a text.
pub fn expressions(text: &str, whole: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let end = whole.end.min(text.len());
    let mut at = whole.start;
    while let Some(start) = text.get(at..end).and_then(|rest| rest.find("${")).map(|start| at + start + 2) {
        let close = closing(text, start, end).unwrap_or(end);
        found.push(start..close);
        at = close;
    }
    found
}

/// The brace that closes an expression; strings and inner expressions are skipped.
fn closing(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut depth = 0;
    let mut quote: Option<u8> = None;
    for (offset, byte) in text.get(start..end)?.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 0 => return Some(start + offset),
            (None, b'}') => depth -= 1,
            (None, b'\n') if depth == 0 && offset > 2_000 => return None,
            _ => {}
        }
    }
    None
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn lookups_in(text: &str, range: Range<usize>) -> Vec<Lookup> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let byte = bytes[at];
        if matches!(byte, b'"' | b'\'' | b'`') {
            at += 1;
            while at < range.end && bytes[at] != byte {
                at += 1;
            }
            at += 1;
            continue;
        }
        if !byte.is_ascii_alphabetic() && byte != b'_' {
            at += 1;
            continue;
        }
        let (lookup, next) = lookup_at(bytes, at, range.end);
        at = next.max(at + 1);
        if lookup.parts.len() > 1 {
            found.push(lookup);
        }
    }
    found
}

fn lookup_at(bytes: &[u8], start: usize, end: usize) -> (Lookup, usize) {
    let name_end = |from: usize| (from..end).find(|&at| !is_name(bytes[at])).unwrap_or(end);
    let mut parts = Vec::new();
    let mut at = name_end(start);
    parts.push(start..at);
    loop {
        let next = bytes.get(at).copied().filter(|_| at < end);
        let quoted = bytes.get(at + 1).copied().filter(|byte| matches!(byte, b'"' | b'\''));
        match (next, quoted) {
            (Some(b'.'), _) => {
                let stop = name_end(at + 1);
                if stop == at + 1 {
                    return (Lookup { parts }, stop);
                }
                parts.push(at + 1..stop);
                at = stop;
            }
            (Some(b'['), Some(quote)) => {
                let Some(stop) = (at + 2..end).find(|&at| bytes[at] == quote) else { return (Lookup { parts }, end) };
                parts.push(at + 2..stop);
                at = (stop + 2).min(end);
            }
            _ => return (Lookup { parts }, at),
        }
    }
}

/// The bytes between `{{` and `}}` of all actions of a Go or Jinja template.
pub fn go_actions(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("{{")).map(|start| at + start + 2) {
        let end = text[start..].find("}}").map_or(text.len(), |end| start + end);
        if !text[start..end].trim_start_matches('-').trim_start().starts_with("/*") {
            found.push(start..end);
        }
        at = end;
    }
    found
}

/// Every prefix of every `.Values.a.b` with the bytes of its last part.
pub fn values_paths(text: &str, action: Range<usize>) -> Vec<(String, Range<usize>)> {
    const START: &str = ".Values.";
    let mut found = Vec::new();
    let mut at = action.start;
    while let Some(start) = text.get(at..action.end).and_then(|rest| rest.find(START)).map(|start| at + start) {
        let mut name = String::new();
        let mut from = start + START.len();
        loop {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let stop = (from..action.end).find(|&at| !is_part(text.as_bytes()[at])).unwrap_or(action.end);
            if stop == from {
                break;
            }
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&text[from..stop]);
            found.push((name.clone(), from..stop));
            if text.as_bytes().get(stop) != Some(&b'.') || stop >= action.end {
                break;
            }
            from = stop + 1;
        }
        at = from.max(start + START.len());
    }
    found
}

/// Uses of `define`, `block`, `template` and `include` with a constant name: the word, the name and its bytes.
pub fn named_templates(text: &str, action: Range<usize>) -> Vec<(&'static str, String, Range<usize>)> {
    let mut found = Vec::new();
    let inside = text.get(action.clone()).unwrap_or("");
    for word in ["define", "block", "template", "include"] {
        for (at, _) in inside.match_indices(word) {
            let before = inside.as_bytes().get(at.wrapping_sub(1)).copied();
            if at > 0 && before.is_some_and(is_name) {
                continue;
            }
            let rest = &inside[at + word.len()..];
            let skipped = rest.len() - rest.trim_start().len();
            let Some(quoted) = rest.trim_start().strip_prefix('"') else { continue };
            let Some(end) = quoted.find('"') else { continue };
            let start = action.start + at + word.len() + skipped + 1;
            found.push((word, quoted[..end].to_owned(), start..start + end));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_have_parts() {
        let text = "a: ${var.x || actions.build[\"api\"].outputs.id + 'var.y'} ${join(var.list, ',')}";
        let names: Vec<Vec<&str>> =
            lookups(text, 0..text.len()).iter().map(|l| l.parts.iter().map(|p| &text[p.clone()]).collect()).collect();
        let expected: Vec<Vec<&str>> =
            vec![vec!["var", "x"], vec!["actions", "build", "api", "outputs", "id"], vec!["var", "list"]];
        assert_eq!(names, expected);
        assert!(lookups("${", 0..2).is_empty());
    }

    #[test]
    fn values_and_templates() {
        let text = "{{- include \"web.name\" . }} {{ $.Values.image.tag | quote }} {{ define \"a\" }}{{/* x */}}";
        let actions = go_actions(text);
        let values: Vec<String> =
            actions.iter().flat_map(|a| values_paths(text, a.clone())).map(|(name, _)| name).collect();
        assert_eq!(values, ["image", "image.tag"]);
        let named: Vec<(&str, String)> =
            actions.iter().flat_map(|a| named_templates(text, a.clone())).map(|(word, name, _)| (word, name)).collect();
        assert_eq!(named, [("include", "web.name".to_owned()), ("define", "a".to_owned())]);
    }
}
