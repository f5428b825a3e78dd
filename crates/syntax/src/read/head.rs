//! The root keys of a file, as far as its text shows them: enough to recognise the kind of configuration.
//!
//! Understands block and flow style, JSON, comments, several documents, an indented root, byte order marks and all
//! line endings. It parses nothing and reports nothing; a broken or cut-off text yields what precedes the break.

use std::borrow::Cow;

/// The root keys of a file's documents, with the scalars beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    documents: Vec<DocumentHead>,
}

/// The root keys of one document; empty if it is not a mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentHead {
    entries: Vec<(String, String)>,
}

impl DocumentHead {
    /// The scalar beside a root key; empty if there is a collection or nothing.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The root keys, in the order they are written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }
}

impl Head {
    /// Scans a file's bytes, or a prefix of them.
    pub fn scan(bytes: &[u8]) -> Self {
        let text = readable(bytes);
        let mut scan = Scan { text: &text, head: Head::default(), root: Root::Unseen, waiting: Waiting::Nothing };
        scan.run();
        scan.head
    }

    /// The documents, in order, without empty ones.
    pub fn documents(&self) -> &[DocumentHead] {
        &self.documents
    }

    /// The scalar beside a root key, in the first document that has the key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.documents.iter().find_map(|document| document.get(key))
    }

    /// Whether a document has one of these root keys.
    pub fn has_any(&self, keys: &[&str]) -> bool {
        self.documents.iter().flat_map(DocumentHead::keys).any(|key| keys.contains(&key))
    }

    /// Whether the file holds nothing but comments.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

/// The bytes as text. No reader accepts UTF-16, but such a file can still be recognised and reported: keys are ASCII.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    let is_wide = matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..]);
    if is_wide {
        let ascii: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0 && byte.is_ascii()).collect();
        return Cow::Owned(String::from_utf8_lossy(&ascii).into_owned());
    }
    String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
}

/// State of the current document's root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    /// Nothing written yet.
    Unseen,
    /// A block mapping whose keys start in this column.
    Block(usize),
    /// Something whose further lines are irrelevant: a list, a scalar, a flow collection that is read.
    Done,
}

/// The possible effect of the next line.
#[derive(PartialEq, Eq)]
enum Waiting {
    Nothing,
    /// The last key had nothing beside it; its scalar may be on the next line.
    Value,
    /// A key after `?`, whose value follows after `:`.
    Explicit,
}

struct Scan<'t> {
    text: &'t str,
    head: Head,
    root: Root,
    waiting: Waiting,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            let rest = self.text.get(at..).unwrap_or("");
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or("");
            at = match self.line(line, at) {
                Some(after) => after,
                None => at + length + 1,
            };
        }
    }

    /// Processes a line that starts at an offset; returns the offset to continue at, if that is not the next line.
    fn line(&mut self, line: &str, at: usize) -> Option<usize> {
        let content = line.trim_start_matches([' ', '\t']);
        if content.is_empty() || content.starts_with('#') {
            return None;
        }
        let mut column = line.len() - content.len();
        let mut content = content;
        if let Some(rest) = marker(line, "---") {
            self.root = Root::Unseen;
            self.waiting = Waiting::Nothing;
            content = rest.trim_start();
            column = line.len() - content.len();
            // A block mapping cannot start here: only a complete collection or scalar can.
            if !content.starts_with(['{', '[', '!', '&', '"', '\'']) {
                return None;
            }
        } else if marker(line, "...").is_some() {
            (self.root, self.waiting) = (Root::Unseen, Waiting::Nothing);
            return None;
        } else if self.root == Root::Unseen && line.starts_with('%') {
            return None;
        }
        match self.root {
            Root::Unseen => self.first(content, column, at),
            Root::Block(indent) if indent == column => {
                self.entry(content);
                None
            }
            Root::Block(indent) if column > indent && self.waiting == Waiting::Value => {
                self.late_value(content);
                None
            }
            Root::Block(_) | Root::Done => None,
        }
    }

    /// The first line of a document with content.
    fn first(&mut self, content: &str, column: usize, at: usize) -> Option<usize> {
        let bare = without_properties(content);
        let column = column + (content.len() - bare.len());
        if bare.is_empty() || bare.starts_with('#') {
            return None;
        }
        self.head.documents.push(DocumentHead::default());
        if bare.starts_with('{') {
            self.root = Root::Done;
            let mut flow = Flow { text: self.text, at: at + column + 1 };
            if let Some(document) = self.head.documents.last_mut() {
                flow.mapping(&mut document.entries);
            }
            // The rest of the line belongs to the collection.
            let rest = self.text.get(flow.at..).unwrap_or("");
            return Some(flow.at + rest.find(['\n', '\r']).unwrap_or(rest.len()));
        }
        if bare.starts_with('[') || is_item(bare) {
            self.root = Root::Done;
            return None;
        }
        self.root = Root::Block(column);
        self.entry(bare);
        None
    }

    /// A line of the root mapping.
    fn entry(&mut self, content: &str) {
        if self.waiting == Waiting::Explicit
            && let Some(value) = content.strip_prefix(':')
        {
            self.waiting = Waiting::Nothing;
            self.set_value(value);
            return;
        }
        self.waiting = Waiting::Nothing;
        if is_item(content) {
            return;
        }
        if let Some(key) = content.strip_prefix("? ") {
            self.push(unquoted(key));
            self.waiting = Waiting::Explicit;
            return;
        }
        if let Some((key, value)) = split_entry(content) {
            self.push(key);
            self.set_value(value);
        }
    }

    fn push(&mut self, key: &str) {
        if let Some(document) = self.head.documents.last_mut() {
            document.entries.push((key.to_owned(), String::new()));
        }
    }

    fn set_value(&mut self, written: &str) {
        let value = unquoted(without_properties(written.trim_start()));
        if value.is_empty() {
            self.waiting = Waiting::Value;
        } else if let Some((_, known)) = self.head.documents.last_mut().and_then(|page| page.entries.last_mut()) {
            value.clone_into(known);
        }
    }

    /// A line below a key that had nothing beside it.
    fn late_value(&mut self, content: &str) {
        self.waiting = Waiting::Nothing;
        let bare = without_properties(content);
        if !is_item(bare) && !bare.starts_with(['{', '[']) && split_entry(bare).is_none() {
            self.set_value(bare);
            self.waiting = Waiting::Nothing;
        }
    }
}

/// The text after a document marker at the start of a line.
fn marker<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    line.strip_prefix(mark).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether a line is an item of a list.
fn is_item(content: &str) -> bool {
    content.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The content without tags and anchors before it.
fn without_properties(mut content: &str) -> &str {
    while content.starts_with(['!', '&']) {
        let end = content.find([' ', '\t']).unwrap_or(content.len());
        content = content.get(end..).unwrap_or("").trim_start();
    }
    content
}

/// Key and value text of a line in block style.
fn split_entry(content: &str) -> Option<(&str, &str)> {
    let after_key = |rest: &'_ str| rest.is_empty() || rest.starts_with([' ', '\t']);
    if content.starts_with(['"', '\'']) {
        let (key, rest) = quoted(content)?;
        let rest = rest.trim_start().strip_prefix(':')?;
        return after_key(rest).then_some((key, rest));
    }
    let mut colons = content.match_indices(':');
    let (at, _) = colons.find(|(at, _)| content.get(at + 1..).is_some_and(after_key))?;
    let key = content.get(..at)?;
    (!key.contains(" #")).then(|| (key.trim_end(), content.get(at + 1..).unwrap_or("")))
}

/// The text between quotes, as written, and what follows.
fn quoted(content: &str) -> Option<(&str, &str)> {
    let quote = content.chars().next()?;
    let mut escaped = false;
    for (at, c) in content.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some((content.get(1..at)?, content.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// A scalar without quotes and without the comment after it. Block scalars and collections count as empty.
fn unquoted(content: &str) -> &str {
    let content = content.trim();
    if content.starts_with(['"', '\'']) {
        return quoted(content).map_or("", |(text, _)| text);
    }
    if content.starts_with(['{', '[', '|', '>', '#', '*']) {
        // A key with a collection beside it has no scalar on the next line either.
        return if content.starts_with('#') { "" } else { content.get(..1).unwrap_or("") };
    }
    content.find(" #").and_then(|at| content.get(..at)).unwrap_or(content).trim_end()
}

/// Reads the entries of a flow mapping from after its bracket.
struct Flow<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Flow<'t> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '#' => self.skip_line(),
                _ => break,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }

    fn mapping(&mut self, entries: &mut Vec<(String, String)>) {
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return,
                Some('}') => {
                    self.at += 1;
                    return;
                }
                Some(',') => self.at += 1,
                // A collection as a key, or the braces of a template language: no configuration begins so.
                Some('{' | '[') => {
                    entries.clear();
                    self.at = self.text.len();
                    return;
                }
                Some(_) => {
                    let key = self.scalar(&[':', ',', '}']);
                    self.skip_blanks();
                    let mut value = "";
                    if self.peek() == Some(':') {
                        self.at += 1;
                        value = self.value();
                    }
                    entries.push((key.to_owned(), value.to_owned()));
                }
            }
        }
    }

    /// A scalar; empty for a collection, which is skipped.
    fn value(&mut self) -> &'t str {
        self.skip_blanks();
        while let Some('!' | '&') = self.peek() {
            let rest = self.text.get(self.at..).unwrap_or("");
            self.at += rest.find([' ', '\t', '\n', '\r', ',', '}']).unwrap_or(rest.len());
            self.skip_blanks();
        }
        match self.peek() {
            Some('{' | '[') => {
                self.skip_collection();
                ""
            }
            _ => self.scalar(&[',', '}']),
        }
    }

    fn scalar(&mut self, ends: &[char]) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or("");
        if rest.starts_with(['"', '\'']) {
            let Some((inside, after)) = quoted(rest) else {
                self.at = self.text.len();
                return "";
            };
            self.at = self.text.len() - after.len();
            return inside;
        }
        let length = rest.find(|c| ends.contains(&c) || c == '\n' || c == '\r').unwrap_or(rest.len());
        self.at += length.max(rest.chars().next().map_or(1, char::len_utf8));
        let text = rest.get(..length).unwrap_or("");
        text.find(" #").and_then(|at| text.get(..at)).unwrap_or(text).trim()
    }

    fn skip_collection(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.scalar(&[]);
                    continue;
                }
                // A quote inside a plain scalar is an apostrophe.
                '\'' if !self.text.get(..self.at).is_some_and(|before| before.ends_with(char::is_alphanumeric)) => {
                    self.scalar(&[]);
                    continue;
                }
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += c.len_utf8();
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Vec<(String, String)>> {
        Head::scan(text.as_bytes()).documents.into_iter().map(|document| document.entries).collect()
    }

    fn one(text: &str) -> Vec<(String, String)> {
        all(text).into_iter().next().unwrap_or_default()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn styles_of_one_root_say_the_same() {
        let same = [
            "kind: Project\nname: shop\n",
            "\u{feff}kind: Project\r\nname: shop\r\n",
            "kind: Project\rname: shop\r",
            "# kind: No\n%YAML 1.2\n---\nkind: Project # yes\nname: 'shop'\n",
            "  kind: Project\n  name: shop\n",
            "---   # a comment\n   \"kind\": \"Project\"\n   'name': shop\n",
            "{kind: Project, name: shop}",
            "{\"kind\":\"Project\",\"name\":\"shop\"}",
            "{\n  \"kind\": \"Project\", # c\n  \"name\" : \"shop\"\n}\n",
            "--- {kind: Project,\n name: shop}\n",
            "--- !x &y\nkind: !s Project\nname: &n shop\n",
            "kind:\n  Project\nname:\n  # c\n  'shop'\n",
            "? kind\n: Project\n? name\n: shop\n",
        ];
        for text in same {
            assert_eq!(one(text), pairs(&[("kind", "Project"), ("name", "shop")]), "{text:?}");
        }
    }

    #[test]
    fn what_is_nested_is_not_the_root() {
        let block = "a:\n  kind: No\nb:\n- kind: No\n- x\nc: |\n  kind: No\nd: {kind: No}\nkind: Yes\n";
        let expected = pairs(&[("a", ""), ("b", ""), ("c", "|"), ("d", "{"), ("kind", "Yes")]);
        assert_eq!(one(block), expected);
        let flow = "{a: {kind: No, x: [1, {b: \"}\"}]}, 'it''s': it's, kind: Yes}";
        assert_eq!(Head::scan(flow.as_bytes()).get("kind"), Some("Yes"));
        assert_eq!(all("- kind: No\n  x: y\n"), vec![vec![]]);
        assert_eq!(all("just text\n"), vec![vec![]]);
    }

    #[test]
    fn every_document_counts() {
        let text = "# only a comment\n---\n---\na: 1\n...\n---\nb: 2\n--- {c: 3}\n---\nd: 4\n";
        let keys: Vec<String> =
            all(text).iter().map(|page| page.iter().map(|(key, _)| key.as_str()).collect()).collect();
        assert_eq!(keys, ["a", "b", "c", "d"]);
        assert!(Head::scan(b"# nothing\n\n---\n").is_empty());
    }

    #[test]
    fn broken_and_foreign_texts_end() {
        for text in ["{", "{\"", "{a", "{a:", "{{ .Values }}\nkind: X\n", "{[a]: b}", "\"", "? ", ":", "- ", "'a: b"] {
            let head = Head::scan(text.as_bytes());
            assert_eq!(head.get("kind"), None, "{text:?}");
        }
        assert_eq!(Head::scan(b"kind: Project\n\xFF\xFE\nname: x").get("name"), Some("x"));
        assert_eq!(Head::scan(b"\xFF\xFEk\0i\0n\0d\0:\0 \0P\0").get("kind"), Some("P"));
    }
}
