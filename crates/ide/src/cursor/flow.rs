//! Finds the position of a cursor in collections in flow style (`{a: 1, b: [x, y]}`), from one line only, so that it
//! works while the line is incomplete.

use crate::outline::{Level, Step};

/// The position of a cursor in a value in flow style.
pub(crate) struct Inside {
    /// The steps from the value to the cursor, with the keys of the mapping after each; the first is the value itself.
    pub levels: Vec<Level>,
    pub path: Vec<Step>,
    /// Whether the cursor is at a key, at its value, or at an item.
    pub spot: Written,
    /// The value of the key at the cursor.
    pub scalar: String,
}

/// The kind of text at a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Key,
    Value,
    Item,
}

#[derive(Default)]
struct Open {
    is_map: bool,
    /// Keys with their values; items of a list under their numbers.
    entries: Vec<(String, String)>,
    /// The key whose value is being read.
    key: Option<String>,
    /// The start of the key or value.
    start: usize,
    /// Whether the current key is at the cursor.
    here: bool,
    /// The value of the key at the cursor.
    scalar: Option<String>,
}

impl Open {
    /// Stores the key, value or item that ends here.
    fn close(&mut self, written: &str) {
        let written = written.trim().trim_matches(['"', '\'']).to_owned();
        match (self.is_map, self.key.take()) {
            (true, Some(key)) => {
                if std::mem::take(&mut self.here) {
                    self.scalar = Some(written.clone());
                }
                self.entries.push((key, written));
            }
            (true, None) if !written.is_empty() => self.entries.push((written, String::new())),
            (false, _) if !written.is_empty() => self.entries.push((self.entries.len().to_string(), written)),
            _ => {}
        }
        self.entries.retain(|(key, _)| !key.is_empty());
    }
}

/// The position of an offset in a value; `None` if the value is not in flow style, or ends before the offset.
pub(crate) fn inside(value: &str, offset: usize) -> Option<Inside> {
    let first = value.len() - value.trim_start().len();
    if !value.get(first..)?.starts_with(['{', '[']) || value.get(first..)?.starts_with("{{") || offset <= first {
        return None;
    }
    let mut all: Vec<Open> = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut seen: Option<Vec<(usize, Option<String>)>> = None;
    let mut quote: Option<char> = None;
    let text = |from: usize, to: usize| value.get(from..to).unwrap_or("");
    for (at, c) in value.char_indices().chain([(value.len(), '\n')]).skip(first) {
        if at >= offset && seen.is_none() {
            seen = Some(stack.iter().map(|open| (*open, all.get(*open).and_then(|open| open.key.clone()))).collect());
            if let Some(open) = stack.last().and_then(|open| all.get_mut(*open)) {
                open.here = open.key.is_none();
            }
        }
        if let Some(mark) = quote {
            quote = Some(mark).filter(|mark| c != *mark && c != '\n');
            continue;
        }
        let top = stack.last().copied();
        match c {
            '"' | '\'' => quote = Some(c),
            '{' | '[' => {
                stack.push(all.len());
                all.push(Open { is_map: c == '{', start: at + 1, ..Open::default() });
            }
            '}' | ']' | ',' | '\n' => {
                let ended: Vec<usize> = if c == '\n' { stack.clone() } else { top.into_iter().collect() };
                for open in ended.into_iter().rev() {
                    if let Some(open) = all.get_mut(open) {
                        open.close(text(open.start, at));
                        open.start = at + c.len_utf8();
                    }
                }
                if matches!(c, '}' | ']') {
                    stack.pop();
                    if stack.is_empty() {
                        break;
                    }
                }
            }
            ':' => {
                let ends = value.get(at + 1..).and_then(|rest| rest.chars().next());
                let is_mark = ends.is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '{' | '[' | '"'));
                let is_key = |open: &&mut Open| open.is_map && open.key.is_none() && is_mark;
                if let Some(open) = top.and_then(|open| all.get_mut(open)).filter(is_key) {
                    open.key = Some(text(open.start, at).trim().trim_matches(['"', '\'']).to_owned());
                    open.start = at + 1;
                }
            }
            _ => {}
        }
    }
    let seen = seen.filter(|seen| !seen.is_empty())?;
    let mut found = Inside { levels: Vec::new(), path: Vec::new(), spot: Written::Item, scalar: String::new() };
    for (open, key) in seen {
        let open = all.get_mut(open)?;
        found.levels.push(Level { keys: std::mem::take(&mut open.entries) });
        match (open.is_map, key) {
            (false, _) => {
                found.path.push(Step::Item);
                found.spot = Written::Item;
            }
            (true, Some(key)) => {
                found.path.push(Step::Key(key));
                found.spot = Written::Value;
            }
            (true, None) => {
                found.spot = Written::Key;
                found.scalar = open.scalar.take().unwrap_or_default();
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn at(text: &str) -> (String, Written, String, String) {
        let offset = text.find('|').unwrap();
        let found = inside(&text.replacen('|', "", 1), offset).unwrap();
        let steps: Vec<&str> = found.path.iter().map(Step::name).collect();
        let level = found.levels.last().unwrap();
        let keys: Vec<String> = level.keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (steps.join("/"), found.spot, keys.join(","), found.scalar)
    }

    #[test]
    fn keys_values_and_items_on_one_line() {
        assert_eq!(at(" {type: |}"), ("type".into(), Written::Value, "type=".into(), String::new()));
        assert_eq!(
            at(" {|: integer, default: 8}"),
            (String::new(), Written::Key, "default=8".into(), "integer".into())
        );
        assert_eq!(at(" {a: x, |}"), (String::new(), Written::Key, "a=x".into(), String::new()));
        assert_eq!(at(" {get: [a, |]}"), ("get/-".into(), Written::Item, "0=a".into(), String::new()));
        assert_eq!(at(" [{host: {node: |, x: 1}}]").0, "-/host/node");
        assert_eq!(at(" {a: {b: c}, d|").1, Written::Key);
        assert!(inside(" {{ x }}", 4).is_none());
        assert!(inside(" plain", 4).is_none());
        assert!(inside(" {a: b} ", 8).is_none());
    }
}
