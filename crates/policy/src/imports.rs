//! Functions of imported packages under their full names.
//!
//! The engine resolves imports of values but not of functions: `import data.lib.pods` and then `pods.all(input)` is an
//! unknown function to it. So calls are spelt out before the engine reads a module. It must not know rules.

use std::collections::HashMap;

/// A module in which calls name their packages, and where its lines became longer or shorter.
pub(crate) struct Spelt {
    pub(crate) text: String,
    moved: Vec<Moved>,
}

/// A name that was replaced: its line and column as written, both from 1, and the characters that were added.
struct Moved {
    line: u32,
    column: u32,
    added: i64,
}

impl Spelt {
    /// The column as the author wrote it.
    pub(crate) fn column(&self, line: u32, column: u32) -> u32 {
        let mut found = i64::from(column);
        for moved in self.moved.iter().filter(|moved| moved.line == line) {
            if found > i64::from(moved.column) {
                found = (found - moved.added).max(i64::from(moved.column));
            }
        }
        u32::try_from(found).unwrap_or(column)
    }
}

/// A module with all calls of imported functions spelt out.
pub(crate) fn spelt(text: &str) -> Spelt {
    let aliases = aliases(text);
    let mut out = Spelt { text: String::with_capacity(text.len()), moved: Vec::new() };
    if aliases.is_empty() {
        text.clone_into(&mut out.text);
        return out;
    }
    let (mut line, mut column, mut rest, mut before) = (1, 1, text, ' ');
    while let Some(part) = part(rest) {
        let (taken, after) = rest.split_at(part.len());
        let full = aliases.get(taken).filter(|_| before != '.' && is_call(after));
        if let Some(full) = full {
            let length = |text: &str| i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            out.moved.push(Moved { line, column, added: length(full) - length(taken) });
        }
        out.text.push_str(full.copied().unwrap_or(taken));
        for c in taken.chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            before = c;
        }
        rest = after;
    }
    out
}

/// The paths under `data` that a module imports, by the names that it uses for them.
fn aliases(text: &str) -> HashMap<&str, &str> {
    let mut found = HashMap::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        if words.next() != Some("import") {
            continue;
        }
        let Some(path) = words.next().filter(|path| path.starts_with("data.")) else { continue };
        let own = match (words.next(), words.next()) {
            (Some("as"), Some(name)) => name,
            _ => path.rsplit(['.', '[']).next().unwrap_or(path).trim_matches(['"', ']']),
        };
        found.insert(own, path);
    }
    found
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The next part of a module: a name, a string or comment as a whole, or a character.
fn part(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let end = match first {
        '"' => string_end(text),
        '`' => text.get(1..).and_then(|rest| rest.find('`')).map_or(text.len(), |end| end + 2),
        '#' => text.find('\n').unwrap_or(text.len()),
        c if is_name(c) => text.find(|c: char| !is_name(c)).unwrap_or(text.len()),
        c => c.len_utf8(),
    };
    text.get(..end)
}

/// The end of a quoted string, which cannot go over lines.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// Whether names with dots and an opening parenthesis follow.
fn is_call(mut text: &str) -> bool {
    while let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        if end == 0 {
            return false;
        }
        text = rest.get(end..).unwrap_or_default();
    }
    text.starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_spelt_out() {
        let text = r#"package main
import data.lib.pods
import data.lib.core as c # data.no
import data.lib.has
import input.x as y
# pods.all(x)
deny[m] { pods.all(c.name("c.f(\"", `pods.f(`)); has(c.resource, m); x.pods.f(1); y.f(2); pods.one }
"#;
        let expected = r#"deny[m] { data.lib.pods.all(data.lib.core.name("c.f(\"", `pods.f(`)); data.lib.has(c.resource, m); x.pods.f(1); y.f(2); pods.one }"#;
        let spelt = spelt(text);
        assert_eq!(spelt.text.lines().nth(6), Some(expected));
        assert_eq!(spelt.text.lines().take(6).collect::<Vec<_>>(), text.lines().take(6).collect::<Vec<_>>());
        let written = text.lines().nth(6).unwrap_or_default();
        for word in ["all(", "name(", "has(", "resource", "y.f", "pods.one"] {
            let column = |line: &str| line.find(word).and_then(|at| u32::try_from(at + 1).ok()).unwrap_or_default();
            assert_eq!(spelt.column(7, column(expected)), column(written), "{word}");
        }
        assert_eq!(spelt.column(1, 5), 5);
    }
}
