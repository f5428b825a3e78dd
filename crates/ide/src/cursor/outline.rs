//! Finds the position of a cursor in a YAML text from indentation only, so that it works while the text is incomplete.
//!
//! It sees lines, dashes and keys of block style; values in flow style on one line are left to [`crate::flow`].

use crate::flow::{self, Written};
use std::ops::Range;

/// A step from a mapping or list to its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into an item of a list.
    Item,
}

impl Step {
    /// The key, or `-` for an item.
    pub fn name(&self) -> &str {
        match self {
            Step::Key(key) => key.as_str(),
            Step::Item => "-",
        }
    }
}

/// The keys of one mapping with their scalars as written; empty for a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Key and value; the value is empty where it is a collection.
    pub keys: Vec<(String, String)>,
}

impl Level {
    /// The scalar under a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _)| known == key)
    }
}

/// The kind of text at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A key, or a word that may become one.
    Key,
    /// The value of the last key of the path.
    Value,
    /// A word after a dash: a scalar of the list, or the first key of a mapping.
    Item,
    /// A comment, or text of a block scalar.
    Text,
}

/// A position in a text, in terms of YAML.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// From the root of the document to the mapping that contains the key, or to the value.
    pub path: Vec<Step>,
    /// The mapping at the root and after every step.
    pub levels: Vec<Level>,
    /// The kind of text there.
    pub spot: Spot,
    /// The word at the cursor: its bytes in the text.
    pub word: Range<usize>,
    /// The column of the mapping that the cursor is in.
    pub column: usize,
    /// The content under the key at the cursor.
    pub below: Below,
}

/// The content under a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// The scalar next to the key, without quotes.
    pub scalar: String,
    /// The keys of the mapping, or of the items of the list.
    pub keys: Vec<String>,
    /// The keys one level deeper, under the first of those.
    pub inner: Vec<String>,
    /// Whether it is a list.
    pub is_list: bool,
}

impl Cursor {
    /// The same within a value in flow style.
    fn within(mut self, inside: flow::Inside) -> Self {
        // The value itself is the last step so far.
        self.levels.pop();
        self.levels.extend(inside.levels);
        if inside.spot != Written::Key {
            self.levels.push(Level::default());
        }
        self.path.extend(inside.path);
        self.spot = match inside.spot {
            Written::Key => Spot::Key,
            Written::Value => Spot::Value,
            Written::Item => Spot::Item,
        };
        let is_list = inside.scalar.starts_with('[');
        self.below = Below { scalar: inside.scalar, is_list, ..Below::default() };
        self
    }

    /// The key whose value is at the cursor, or the key itself.
    pub fn last_key(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Item => None,
        })
    }

    /// The mapping at the cursor.
    pub fn level(&self) -> Option<&Level> {
        self.levels.last()
    }

    /// The scalar under a key of the document's root.
    pub fn root(&self, key: &str) -> Option<&str> {
        self.levels.first()?.get(key)
    }
}

#[derive(Clone, Debug)]
enum Mark {
    Dash,
    Key { name: String, value: String },
}

/// A dash or key of the document.
#[derive(Clone, Debug)]
struct Entry {
    column: usize,
    mark: Mark,
    /// Bytes of the dash or key.
    range: Range<usize>,
    /// The start of its value, on the same line.
    value_at: usize,
}

/// The document that contains an offset.
fn document(text: &str, offset: usize) -> Range<usize> {
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_mark = line.trim_end() == "---" || line.starts_with("--- ");
        if is_mark && at > 0 && at <= offset && offset < at + line.len() {
            return start..at;
        }
        if is_mark {
            if at > offset {
                return start..at;
            }
            start = at + line.len();
        }
        at += line.len();
    }
    start.min(text.len())..text.len()
}

/// The position of the cursor.
pub fn cursor(text: &str, offset: usize) -> Cursor {
    let offset = floor(text, offset.min(text.len()));
    let whole = document(text, offset);
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1).max(whole.start.min(offset));
    let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let scanned = scan(text, whole, line_start);
    let line = &text[line_start..line_end];
    let here: Vec<&Entry> =
        scanned.entries.iter().filter(|entry| (line_start..=line_end).contains(&entry.range.start)).collect();
    let index = scanned.entries.iter().filter(|entry| entry.range.start < line_start).count();
    if scanned.in_block || line[..offset - line_start].trim_start().starts_with('#') {
        let indent = line.len() - line.trim_start().len();
        let word = word_at(text, offset, line_start, line_end);
        return placed(&scanned.entries, index, indent, Spot::Text, word, None);
    }
    // The last dash or key that begins before the cursor decides.
    let Some(entry) = here.iter().rev().find(|entry| entry.range.start <= offset) else {
        let word = word_at(text, offset, line_start, line_end);
        let column = word.start - line_start;
        return placed(&scanned.entries, index, column, Spot::Key, word, None);
    };
    let in_flow = |from: usize| flow::inside(text.get(from..line_end)?, offset.checked_sub(from)?);
    let at = index + here.iter().filter(|other| other.range.start < entry.range.start).count();
    match &entry.mark {
        Mark::Key { value, .. } if offset <= entry.range.end => {
            let found = placed(&scanned.entries, at, entry.column, Spot::Key, entry.range.clone(), None);
            Cursor { below: below(&scanned.entries, at, entry.column, value), ..found }
        }
        Mark::Key { name, .. } => {
            let into = Some(Step::Key(name.clone()));
            if let Some(inside) = in_flow(entry.value_at) {
                let word = word_at(text, offset, line_start, line_end);
                return placed(&scanned.entries, at, entry.column, Spot::Value, word, into).within(inside);
            }
            let word = value_word(text, entry.value_at, line_end, offset);
            placed(&scanned.entries, at, entry.column, Spot::Value, word, into)
        }
        Mark::Dash => {
            if let Some(inside) = in_flow(entry.value_at) {
                let word = word_at(text, offset, line_start, line_end);
                let column = entry.range.end + 1 - line_start;
                return placed(&scanned.entries, at + 1, column, Spot::Item, word, None).within(inside);
            }
            let word = value_word(text, entry.value_at, line_end, offset);
            let column = word.start.max(entry.range.end + 1) - line_start;
            placed(&scanned.entries, at + 1, column, Spot::Item, word, None)
        }
    }
}

/// The content under the key at an index.
fn below(entries: &[Entry], index: usize, column: usize, scalar: &str) -> Below {
    let mut inside = entries.get(index + 1..).unwrap_or_default().iter();
    // Dashes may be in the key's own column.
    let is_inside =
        |entry: &&Entry| entry.column > column || (entry.column == column && matches!(entry.mark, Mark::Dash));
    let inside: Vec<&Entry> = inside.by_ref().take_while(is_inside).collect();
    let is_list = inside.first().is_some_and(|entry| matches!(entry.mark, Mark::Dash));
    let first = inside.iter().find(|entry| matches!(entry.mark, Mark::Key { .. })).map(|entry| entry.column);
    let keys = inside.iter().filter_map(|entry| match &entry.mark {
        Mark::Key { name, .. } if Some(entry.column) == first => Some(name.clone()),
        _ => None,
    });
    let deeper = inside.iter().skip_while(|entry| Some(entry.column) != first).skip(1);
    let deeper: Vec<&&Entry> = deeper.take_while(|entry| Some(entry.column) > first).collect();
    let second = deeper.first().map(|entry| entry.column);
    let inner = deeper.iter().filter_map(|entry| match &entry.mark {
        Mark::Key { name, .. } if Some(entry.column) == second => Some(name.clone()),
        _ => None,
    });
    let is_list = is_list || scalar.starts_with('[');
    Below { scalar: scalar.to_owned(), inner: inner.collect(), keys: keys.collect(), is_list }
}

fn floor(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The value on a line from its start, without a comment.
fn value_word(text: &str, start: usize, line_end: usize, offset: usize) -> Range<usize> {
    let line = text.get(start..line_end).unwrap_or("");
    let skipped = line.len() - line.trim_start().len();
    let start = (start + skipped).min(offset.max(start));
    let line = text.get(start..line_end).unwrap_or("");
    let end = line.find(" #").unwrap_or(line.len());
    let end = start + line.get(..end).unwrap_or(line).trim_end().len();
    start..end.max(offset.min(line_end)).max(start)
}

fn word_at(text: &str, offset: usize, line_start: usize, line_end: usize) -> Range<usize> {
    let is_word = |c: char| !c.is_whitespace() && !matches!(c, ':' | ',' | '[' | ']' | '{' | '}' | '"' | '\'');
    let before = text[line_start..offset].rfind(|c| !is_word(c)).map_or(line_start, |at| {
        let width = text[line_start + at..].chars().next().map_or(1, char::len_utf8);
        line_start + at + width
    });
    let after = text[offset..line_end].find(|c| !is_word(c)).map_or(line_end, |at| offset + at);
    before..after
}

struct Scanned {
    entries: Vec<Entry>,
    /// Whether the line of the cursor is in a block scalar.
    in_block: bool,
}

/// All dashes and keys of a document.
fn scan(text: &str, whole: Range<usize>, cursor_line: usize) -> Scanned {
    let mut scanned = Scanned { entries: Vec::new(), in_block: false };
    // The column that lines of a block scalar are indented beyond.
    let mut block: Option<usize> = None;
    let mut at = whole.start;
    for line in text[whole].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        let indent = content.len() - content.trim_start_matches(' ').len();
        if let Some(parent) = block {
            if content.trim().is_empty() || indent > parent {
                scanned.in_block |= start == cursor_line && !content.trim().is_empty();
                continue;
            }
            block = None;
        }
        if content.trim().is_empty() || content.trim_start().starts_with('#') {
            continue;
        }
        block = line_entries(content, indent, start, &mut scanned.entries);
    }
    scanned
}

/// The entries of one line; the column of its last key if a block scalar begins.
fn line_entries(line: &str, indent: usize, start: usize, entries: &mut Vec<Entry>) -> Option<usize> {
    let mut column = indent;
    loop {
        let rest = line.get(column..)?;
        if rest == "-" || rest.starts_with("- ") {
            entries.push(Entry {
                column,
                mark: Mark::Dash,
                range: start + column..start + column + 1,
                value_at: start + column + 1,
            });
            let after = rest.get(1..)?;
            column += 1 + (after.len() - after.trim_start().len());
            if line.get(column..).is_none_or(str::is_empty) {
                return None;
            }
            continue;
        }
        let (name, length) = key_of(rest)?;
        let colon = rest.get(length..)?;
        let value = colon.trim_start().strip_prefix(':')?;
        let value_at = column + rest.len() - value.len();
        let shown = value.split(" #").next().unwrap_or("").trim();
        let scalar = shown.trim_matches(|c| c == '"' || c == '\'').to_owned();
        entries.push(Entry {
            column,
            mark: Mark::Key { name, value: scalar },
            range: start + column..start + column + length,
            value_at: start + value_at,
        });
        let begins_block = shown.starts_with(['|', '>'])
            || shown.split_once(' ').is_some_and(|(tag, more)| tag.starts_with('!') && more.starts_with(['|', '>']));
        return begins_block.then_some(column);
    }
}

/// The key at the beginning of a line, and its length in bytes; `None` without a colon.
fn key_of(rest: &str) -> Option<(String, usize)> {
    for quote in ['"', '\''] {
        if let Some(inner) = rest.strip_prefix(quote) {
            let end = inner.find(quote)?;
            return inner[end + 1..].trim_start().starts_with(':').then(|| (inner[..end].to_owned(), end + 2));
        }
    }
    if rest.starts_with(['{', '[', '"', '\'', '#', '&', '*', '|', '>', '%']) && !rest.starts_with("{{") {
        return None;
    }
    let mut from = 0;
    while let Some(at) = rest[from..].find(':') {
        let at = from + at;
        let after = rest[at + 1..].chars().next();
        if after.is_none_or(char::is_whitespace) {
            let key = rest[..at].trim_end();
            return Some((key.to_owned(), key.len()));
        }
        from = at + 1;
    }
    None
}

/// Builds a cursor: walks outwards from the entry at an index, at a column.
fn placed(
    entries: &[Entry],
    index: usize,
    column: usize,
    spot: Spot,
    word: Range<usize>,
    into: Option<Step>,
) -> Cursor {
    let mut steps: Vec<Step> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    if into.is_some() {
        levels.push(Level::default());
    }
    steps.extend(into);
    let (mut at, mut column) = (index, column);
    let own_column = column;
    levels.push(siblings(entries, at, column));
    let mut in_list = false;
    loop {
        // The key of a list may be in the dash's own column.
        let parent = entries[..at.min(entries.len())].iter().rposition(|entry| match entry.mark {
            Mark::Dash => entry.column < column,
            Mark::Key { .. } => entry.column < column || (in_list && entry.column == column),
        });
        let Some(parent) = parent else { break };
        let Some(entry) = entries.get(parent) else { break };
        match &entry.mark {
            Mark::Dash => {
                steps.push(Step::Item);
                levels.push(Level::default());
                in_list = true;
            }
            Mark::Key { name, .. } => {
                steps.push(Step::Key(name.clone()));
                levels.push(siblings(entries, parent, entry.column));
                in_list = false;
            }
        }
        (at, column) = (parent, entry.column);
    }
    steps.reverse();
    levels.reverse();
    Cursor { path: steps, levels, spot, word, column: own_column, below: Below::default() }
}

/// The keys of the mapping at a column around an index.
fn siblings(entries: &[Entry], index: usize, column: usize) -> Level {
    let mut keys = Vec::new();
    let mut note = |entry: &Entry| {
        if let Mark::Key { name, value } = &entry.mark
            && entry.column == column
        {
            keys.push((name.clone(), value.clone()));
        }
    };
    let (before, after) = entries.split_at(index.min(entries.len()));
    // A dash ends the mapping it begins, but the key right after it belongs to the mapping.
    let start = before.iter().rposition(|entry| entry.column < column).map_or(0, |at| at + 1);
    before[start..].iter().for_each(&mut note);
    after.iter().take_while(|entry| entry.column >= column).for_each(&mut note);
    Level { keys }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn at(text: &str) -> Cursor {
        let offset = text.find('|').unwrap();
        cursor(&text.replacen('|', "", 1), offset)
    }

    fn path(cursor: &Cursor) -> String {
        let steps: Vec<&str> = cursor.path.iter().map(Step::name).collect();
        steps.join("/")
    }

    #[test]
    fn keys_values_and_items() {
        let text =
            "kind: Deploy\ntype: container\nspec:\n  ports:\n    - name: http\n      container|Port: 80\n  image: a\n";
        let cursor = at(text);
        assert_eq!((path(&cursor).as_str(), cursor.spot), ("spec/ports/-", Spot::Key));
        assert_eq!(cursor.root("kind"), Some("Deploy"));
        assert!(cursor.level().unwrap().has("name"));
        let cursor = at("spec:\n  image: na|me\n  x: 1\n");
        assert_eq!((path(&cursor).as_str(), cursor.spot), ("spec/image", Spot::Value));
        let cursor = at("dependencies:\n- build.|api\n");
        assert_eq!((path(&cursor).as_str(), cursor.spot), ("dependencies/-", Spot::Item));
        let cursor = at("a|:\n- b: 1\n  c: 2\nd: 3\n");
        assert_eq!((cursor.below.keys.join(","), cursor.below.is_list), ("b,c".to_owned(), true));
        let cursor = at("a:\n  b: 1\n  |\nc: 2\n");
        assert_eq!((path(&cursor).as_str(), cursor.spot), ("a", Spot::Key));
        assert!(cursor.level().unwrap().has("b") && !cursor.level().unwrap().has("c"));
        for text in ["a |: {b: 1}\n", "|- {b: 1}\n", "- |{b: 1}\n", "a:| {b: 1}\n", "a: {b: 1}|\n", "a:|"] {
            assert!(at(text).levels.len() > at(text).path.len(), "{text}");
        }
        let cursor = at("a:\n  - {b: {c: |}, d: 1}\n");
        assert_eq!((path(&cursor).as_str(), cursor.spot), ("a/-/b/c", Spot::Value));
        assert_eq!(cursor.levels.get(2).and_then(|level| level.get("d")), Some("1"));
        let cursor = at("list:\n- name: x\n  |\n- name: y\n  z: 1\n");
        assert_eq!(path(&cursor), "list/-");
        assert!(cursor.level().unwrap().has("name") && !cursor.level().unwrap().has("z"));
    }

    #[test]
    fn documents_and_block_scalars() {
        let cursor = at("kind: A\n---\nkind: B\nx: |y\n");
        assert_eq!(cursor.root("kind"), Some("B"));
        let cursor = at("a: !x >\n  text: |here\nb: 1\n");
        assert_eq!(cursor.spot, Spot::Text);
    }
}
