//! Trees of files by their content: what goes to a worker and what comes back. Knows no disk.
//!
//! A tree that comes from a server is not trusted: names must be plain names, links must stay inside of it, and its depth
//! and size are bounded.

use crate::digest::{Digest, Function};
use crate::message::{Directory, DirectoryNode, FileNode, LinkNode};
use crate::wire::{Fields, Message};
use std::collections::{BTreeMap, HashMap};

/// Maximum depth of a tree.
pub const DEEPEST: usize = 256;

/// Maximum number of files, folders and links of a tree from a server: folders that are there often count each time.
pub const MOST: usize = 2_000_000;

/// A file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its content.
    pub digest: Digest,
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// A folder with everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Files by name.
    pub files: BTreeMap<String, File>,
    /// Links by name, with their targets.
    pub links: BTreeMap<String, String>,
    /// Folders by name.
    pub folders: BTreeMap<String, Folder>,
}

/// Why a tree cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A name is not a plain name.
    Name(String),
    /// A link leads outside.
    Link(String),
    /// It is too deep or too large.
    TooLarge,
    /// A folder is missing.
    Missing(Digest),
    /// Its bytes are not a tree.
    Malformed,
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::Name(name) => write!(f, "`{name}` is not a name of a file"),
            Unusable::Link(path) => write!(f, "the link `{path}` leads outside of the folder"),
            Unusable::TooLarge => write!(f, "it has more than {MOST} files or {DEEPEST} levels"),
            Unusable::Malformed => f.write_str("its bytes are not a tree"),
            Unusable::Missing(digest) => write!(f, "the folder {digest} is missing"),
        }
    }
}

/// Whether a name is one of a single file.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File(File),
    /// A link.
    Link(String),
    /// A folder.
    Folder(Folder),
}

impl Folder {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.links.is_empty() && self.folders.is_empty()
    }

    /// What is at a path.
    pub fn get(&self, path: &str) -> Option<Entry> {
        let mut at = self;
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                at = at.folders.get(part)?;
                continue;
            }
            let file = || at.files.get(part).map(|file| Entry::File(*file));
            let link = || at.links.get(part).map(|target| Entry::Link(target.clone()));
            return file().or_else(link).or_else(|| at.folders.get(part).map(|folder| Entry::Folder(folder.clone())));
        }
        Some(Entry::Folder(at.clone()))
    }

    /// The folder at a path, made if it is not there. Files and links in its way are replaced.
    pub fn folder(&mut self, path: &str) -> &mut Folder {
        let mut at = self;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at.files.remove(part);
            at.links.remove(part);
            at = at.folders.entry(part.to_owned()).or_default();
        }
        at
    }

    /// Puts something at a path; a folder is merged into one that is there.
    pub fn put(&mut self, path: &str, entry: Entry) {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        match entry {
            Entry::Folder(folder) => self.folder(path).merge(folder),
            Entry::File(file) => {
                let at = self.folder(parent);
                at.clear(name);
                at.files.insert(name.to_owned(), file);
            }
            Entry::Link(target) => {
                let at = self.folder(parent);
                at.clear(name);
                at.links.insert(name.to_owned(), target);
            }
        }
    }

    fn clear(&mut self, name: &str) {
        self.files.remove(name);
        self.links.remove(name);
        self.folders.remove(name);
    }

    fn merge(&mut self, other: Folder) {
        let mut open = vec![(String::new(), other)];
        while let Some((path, next)) = open.pop() {
            let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            self.folder(&path);
            next.files.into_iter().for_each(|(name, file)| self.put(&join(&name), Entry::File(file)));
            next.links.into_iter().for_each(|(name, target)| self.put(&join(&name), Entry::Link(target)));
            open.extend(next.folders.into_iter().map(|(name, folder)| (join(&name), folder)));
        }
    }

    /// Everything below it with its path, folders before their contents.
    pub fn walk(&self) -> Vec<(String, Seen<'_>)> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), self)];
        while let Some((path, next)) = open.pop() {
            let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            found.extend(next.files.iter().map(|(name, file)| (join(name), Seen::File(file))));
            found.extend(next.links.iter().map(|(name, target)| (join(name), Seen::Link(target))));
            for (name, folder) in &next.folders {
                found.push((join(name), Seen::Folder));
                open.push((join(name), folder));
            }
        }
        found
    }

    /// The digest of the folder; `each` gets the message of every folder below it, and its own.
    pub fn encode(&self, function: Function, each: &mut dyn FnMut(Digest, Vec<u8>)) -> Digest {
        // Children first, on a stack of its own; depth is bounded by what a disk or a checked tree has.
        struct Open<'f> {
            folder: &'f Folder,
            left: std::collections::btree_map::Iter<'f, String, Folder>,
            done: Vec<DirectoryNode>,
            name: &'f str,
        }
        let mut stack = vec![Open { folder: self, left: self.folders.iter(), done: Vec::new(), name: "" }];
        loop {
            let Some(top) = stack.last_mut() else { return function.digest(b"") };
            if let Some((name, folder)) = top.left.next() {
                stack.push(Open { folder, left: folder.folders.iter(), done: Vec::new(), name });
                continue;
            }
            let Some(done) = stack.pop() else { return function.digest(b"") };
            let bytes = done.folder.message(done.done).to_bytes();
            let digest = function.digest(&bytes);
            each(digest, bytes);
            match stack.last_mut() {
                Some(parent) => {
                    parent.done.push(DirectoryNode { name: done.name.to_owned(), digest: Some(digest) });
                }
                None => return digest,
            }
        }
    }

    /// Its own message, given those of the folders in it.
    fn message(&self, directories: Vec<DirectoryNode>) -> Directory {
        let file = |(name, file): (&String, &File)| FileNode {
            name: name.clone(),
            digest: Some(file.digest),
            is_executable: file.is_executable,
        };
        let link = |(name, target): (&String, &String)| LinkNode { name: name.clone(), target: target.clone() };
        Directory {
            files: self.files.iter().map(file).collect(),
            directories,
            links: self.links.iter().map(link).collect(),
        }
    }

    /// Reads a folder whose messages are known.
    pub fn decode(root: &Directory, known: &HashMap<Digest, Directory>) -> Result<Folder, Unusable> {
        let mut top = Folder::default();
        let mut open = vec![(String::new(), root, 0_usize)];
        let mut count = 0;
        while let Some((path, message, depth)) = open.pop() {
            count += 1 + message.files.len() + message.links.len();
            if depth > DEEPEST || count > MOST {
                return Err(Unusable::TooLarge);
            }
            let at = top.folder(&path);
            for node in &message.files {
                let digest = node.digest.ok_or_else(|| Unusable::Name(node.name.clone()))?;
                at.files.insert(plain(&node.name)?, File { digest, is_executable: node.is_executable });
            }
            for node in &message.links {
                let name = plain(&node.name)?;
                if at.files.contains_key(&name) || !stays_inside(&path, &node.target) {
                    let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                    return Err(Unusable::Link(path));
                }
                at.links.insert(name, node.target.clone());
            }
            for node in &message.directories {
                let name = plain(&node.name)?;
                let digest = node.digest.ok_or_else(|| Unusable::Name(name.clone()))?;
                if at.files.contains_key(&name) || at.links.contains_key(&name) {
                    return Err(Unusable::Name(name));
                }
                let message = known.get(&digest).ok_or(Unusable::Missing(digest))?;
                let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
                open.push((inside, message, depth + 1));
            }
        }
        Ok(top)
    }

    /// Reads the bytes of a tree message. Folders are found by the digest of their bytes as they came, whatever else
    /// is in them.
    pub fn of_tree(bytes: &[u8], function: Function) -> Result<Folder, Unusable> {
        let malformed = |_| Unusable::Malformed;
        let mut root = Directory::default();
        let mut known = HashMap::new();
        for field in Fields::of(bytes) {
            match field.map_err(malformed)? {
                (1, field) => root = field.message().map_err(malformed)?,
                (2, field) => {
                    let bytes = field.bytes().map_err(malformed)?;
                    known.insert(function.digest(bytes), Directory::decode(bytes).map_err(malformed)?);
                }
                _ => {}
            }
        }
        known.insert(function.digest(b""), Directory::default());
        Folder::decode(&root, &known)
    }
}

fn plain(name: &str) -> Result<String, Unusable> {
    if is_plain(name) { Ok(name.to_owned()) } else { Err(Unusable::Name(name.to_owned())) }
}

/// Whether a link in a folder stays inside of the tree. An absolute one is where it says, on whatever machine: it is
/// kept as a link, and never followed here.
fn stays_inside(folder: &str, target: &str) -> bool {
    if target.is_empty() || target.contains('\0') {
        return false;
    }
    if target.starts_with('/') {
        return true;
    }
    let mut depth = i64::try_from(folder.split('/').filter(|part| !part.is_empty()).count()).unwrap_or(0);
    target.split('/').all(|part| {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        depth >= 0
    })
}

/// Something in a tree that is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'f> {
    /// A file.
    File(&'f File),
    /// A link.
    Link(&'f str),
    /// A folder.
    Folder,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn file(text: &str) -> Entry {
        Entry::File(File { digest: Function::Sha256.digest(text.as_bytes()), is_executable: false })
    }

    fn sample() -> Folder {
        let mut folder = Folder::default();
        folder.put("a/b/c", file("c"));
        folder.put("a/d", file("d"));
        folder.put("a/link", Entry::Link("b/c".to_owned()));
        folder.folder("empty");
        folder
    }

    #[test]
    fn a_tree_comes_back_as_it_went() {
        let mut known = HashMap::new();
        let root = sample().encode(Function::Sha256, &mut |digest, bytes| {
            known.insert(digest, Directory::decode(&bytes).unwrap());
        });
        assert_eq!(known.len(), 4);
        let back = Folder::decode(&known[&root], &known).unwrap();
        assert_eq!(back, sample());
        assert_eq!(back.get("a/link"), Some(Entry::Link("b/c".to_owned())));
        assert!(matches!(back.get("empty"), Some(Entry::Folder(folder)) if folder.is_empty()));
    }

    #[test]
    fn a_file_replaces_a_folder_and_the_other_way_round() {
        let mut folder = sample();
        folder.put("a/b", file("x"));
        assert!(matches!(folder.get("a/b"), Some(Entry::File(_))));
        folder.put("a/b/c", file("y"));
        assert!(matches!(folder.get("a/b"), Some(Entry::Folder(_))));
    }

    #[test]
    fn hostile_trees_are_refused() {
        let digest = Function::Sha256.digest(b"");
        let named = |name: &str| Directory {
            files: vec![FileNode { name: name.to_owned(), digest: Some(digest), is_executable: false }],
            ..Directory::default()
        };
        for name in ["", ".", "..", "a/b", "/etc/passwd", "a\0"] {
            assert!(Folder::decode(&named(name), &HashMap::new()).is_err(), "{name:?}");
        }
        let link = |target: &str| Directory {
            links: vec![LinkNode { name: "l".to_owned(), target: target.to_owned() }],
            ..Directory::default()
        };
        for (target, is_good) in [("a", true), ("../a", false), ("a/../../b", false), ("", false), ("a/../b", true)] {
            assert_eq!(Folder::decode(&link(target), &HashMap::new()).is_ok(), is_good, "{target}");
        }
        // A file with the name of a folder would be written through it.
        let mut both = named("x");
        both.directories = vec![DirectoryNode { name: "x".to_owned(), digest: Some(digest) }];
        assert!(Folder::decode(&both, &[(digest, Directory::default())].into()).is_err());
    }

    #[test]
    fn a_tree_that_multiplies_itself_ends() {
        let mut known = HashMap::new();
        let mut below = Function::Sha256.digest(b"");
        known.insert(below, Directory::default());
        for _ in 0..64 {
            let node = |name: &str| DirectoryNode { name: name.to_owned(), digest: Some(below) };
            let folder = Directory { directories: vec![node("a"), node("b")], ..Directory::default() };
            below = Function::Sha256.digest(&folder.to_bytes());
            known.insert(below, folder);
        }
        assert_eq!(Folder::decode(&known[&below], &known), Err(Unusable::TooLarge));
    }
}
