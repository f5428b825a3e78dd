//! `purlin.lock`: the record of everything fetched, so that the next run gets the same. One for all dialects.
//!
//! Reads and writes the text; fetching and the handling of mismatches are left to the surface. A file that is not
//! fully understood is rejected: a lock that is only half read protects nothing.

use crate::emit::to_yaml;
use crate::value::Value;
use crate::{EcoString, Map, Secrets};
use purlin_syntax::{FileId, Flavor, Limits, Node, Source, Span, yaml};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the file, in the root of a project.
pub const LOCK_FILE: &str = "purlin.lock";

/// The version that is written, and the only one that can be read.
const VERSION: i64 = 1;

const OPENING: &str =
    "# What was fetched, so that the next run gets the same. Written by purlin; keep it under version control.\n";

/// The content found at an address and a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The exact commit, for repositories.
    pub commit: Option<String>,
    /// `sha256:…` of the content.
    pub hash: String,
}

/// All entries, by address and revision; the revision of a single file is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    entries: BTreeMap<(String, String), Locked>,
}

impl Lock {
    /// Reads a lock file; the error has the problem and its location.
    pub fn read(text: &str) -> Result<Self, String> {
        let source = Arc::new(Source::new(FileId(0), LOCK_FILE, text));
        let tree = yaml::parse(source, Flavor::Core, &Limits::default());
        let place = |span: Option<Span>, message: &str| {
            let line = span.map_or(1, |span| tree.source().position(span.start).line);
            format!("line {line}: {message}")
        };
        if let Some(problem) = tree.diagnostics().first() {
            return Err(place(problem.span, &problem.message));
        }
        let mut roots = tree.roots();
        let (Some(root), None) = (roots.next(), roots.next()) else {
            return Err(place(None, "there should be one document"));
        };
        Self::of_root(root).map_err(|(node, message)| place(Some(node.span()), &message))
    }

    fn of_root(root: Node<'_>) -> Result<Self, (Node<'_>, String)> {
        expect_keys(root, &["version", "entries"])?;
        let version = root.get("version").ok_or((root, "`version` is missing".to_owned()))?;
        if version.as_int() != Some(VERSION) {
            return Err((version, format!("this version of the file is not known, only {VERSION} is")));
        }
        let mut lock = Lock::default();
        let Some(entries) = root.get("entries") else { return Ok(lock) };
        if !entries.is_list() {
            return Err((entries, "`entries` should be a list".to_owned()));
        }
        for entry in entries.items() {
            let (key, locked) = read_entry(entry)?;
            if lock.entries.insert(key, locked).is_some() {
                return Err((entry, "this address and revision are listed twice".to_owned()));
            }
        }
        Ok(lock)
    }

    /// The text of the file: entries sorted by address and revision.
    pub fn write(&self) -> String {
        let entries = self.entries.iter().map(|((address, revision), locked)| {
            let mut map = vec![("address", address.as_str())];
            if !revision.is_empty() {
                map.push(("revision", revision));
            }
            map.extend(locked.commit.as_deref().map(|commit| ("commit", commit)));
            map.push(("hash", &locked.hash));
            mapping(map.into_iter().map(|(key, text)| (key, Value::str(text))))
        });
        let all = mapping([("version", Value::from(VERSION)), ("entries", Value::list(entries.collect()))].into_iter());
        // Without a limit on its length, writing cannot fail.
        let text = to_yaml(&all, Secrets::Hide).unwrap_or_default();
        format!("{OPENING}{text}")
    }

    /// The record for an address and a revision.
    pub fn get(&self, address: &str, revision: &str) -> Option<&Locked> {
        self.entries.get(&(address.to_owned(), revision.to_owned()))
    }

    /// All entries: address, revision and record.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, &Locked)> {
        self.entries.iter().map(|((address, revision), locked)| (address.as_str(), revision.as_str(), locked))
    }

    /// Records an entry; true if that changes the file.
    pub fn record(&mut self, address: &str, revision: &str, locked: Locked) -> bool {
        let key = (address.to_owned(), revision.to_owned());
        self.entries.insert(key, locked.clone()).as_ref() != Some(&locked)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn mapping<'k>(entries: impl Iterator<Item = (&'k str, Value)>) -> Value {
    Value::map(entries.map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
}

fn read_entry(entry: Node<'_>) -> Result<((String, String), Locked), (Node<'_>, String)> {
    expect_keys(entry, &["address", "revision", "commit", "hash"])?;
    let text = |key: &str| match entry.get(key) {
        None => Ok(None),
        // A commit of digits alone is still a string.
        Some(node) if node.is_scalar() && !node.text().is_empty() => Ok(Some(node.text().to_owned())),
        Some(node) => Err((node, format!("`{key}` should be a text"))),
    };
    let needed = |key: &str| text(key)?.ok_or((entry, format!("`{key}` is missing")));
    let (address, hash) = (needed("address")?, needed("hash")?);
    if !is_hash(&hash) {
        let node = entry.get("hash").unwrap_or(entry);
        return Err((node, "`hash` should be `sha256:` and 64 hexadecimal digits".to_owned()));
    }
    let commit = text("commit")?;
    if commit.as_deref().is_some_and(|commit| !is_commit(commit)) {
        let node = entry.get("commit").unwrap_or(entry);
        return Err((node, "`commit` should be the full id of a commit".to_owned()));
    }
    Ok(((address, text("revision")?.unwrap_or_default()), Locked { commit, hash }))
}

fn expect_keys<'t>(node: Node<'t>, known: &[&str]) -> Result<(), (Node<'t>, String)> {
    if !node.is_map() {
        return Err((node, "there should be a mapping here".to_owned()));
    }
    match node.entries().find(|entry| !known.contains(&entry.name())) {
        Some(entry) => Err((entry.key, format!("`{}` is not a key of this file", entry.name()))),
        None => Ok(()),
    }
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_hash(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| digits.len() == 64 && is_lower_hex(digits))
}

/// Whether a text is the full id of a commit, of either length that git knows.
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_lower_hex(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn hash(digit: char) -> String {
        format!("sha256:{}", String::from(digit).repeat(64))
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut lock = Lock::default();
        let commit = Some("1".repeat(40));
        assert!(lock.record("https://b.example/x.git", "main", Locked { commit: commit.clone(), hash: hash('a') }));
        assert!(lock.record("https://a.example/x.yaml", "", Locked { commit: None, hash: hash('0') }));
        assert!(!lock.record("https://a.example/x.yaml", "", Locked { commit: None, hash: hash('0') }));
        assert!(lock.record("odd: address # here", "1.0", Locked { commit, hash: hash('b') }));
        let text = lock.write();
        assert_eq!(Lock::read(&text).as_ref(), Ok(&lock));
        assert!(text.find("a.example").unwrap() < text.find("b.example").unwrap());
        assert_eq!(Lock::read(&text).unwrap().write(), text);
        assert_eq!(Lock::read(&Lock::default().write()), Ok(Lock::default()));
    }

    #[test]
    fn a_file_that_is_not_understood_is_refused() {
        let entry = |lines: &str| format!("version: 1\nentries:\n  - {lines}\n");
        let cases = [
            (String::new(), "line 1: there should be one document"),
            ("[]\n".to_owned(), "line 1: there should be a mapping here"),
            ("entries: []\n".to_owned(), "line 1: `version` is missing"),
            ("version: 2\n".to_owned(), "line 1: this version of the file is not known, only 1 is"),
            ("version: 1\nextra: x\n".to_owned(), "line 2: `extra` is not a key of this file"),
            ("version: 1\nentries: {}\n".to_owned(), "line 2: `entries` should be a list"),
            (entry("{address: x}"), "line 3: `hash` is missing"),
            (entry("{address: [], hash: x}"), "line 3: `address` should be a text"),
            (entry("{address: x, hash: 'sha256:00'}"), "line 3: `hash` should be `sha256:` and 64 hexadecimal digits"),
            (
                entry(&format!("{{address: x, commit: main, hash: '{}'}}", hash('0'))),
                "line 3: `commit` should be the full id of a commit",
            ),
            (
                entry(&format!("&a {{address: x, hash: '{}'}}\n  - *a", hash('0'))),
                "line 4: this address and revision are listed twice",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(Lock::read(&text), Err(expected.to_owned()), "{text}");
        }
        assert!(Lock::read("version: 1\nentries: [\n").is_err());
    }
}
