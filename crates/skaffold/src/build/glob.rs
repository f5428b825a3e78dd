//! Finds the files that match a pattern: `*`, `?`, `[…]` within a name, `**` across folders, braces anywhere.
//!
//! Lists folders, but only those that the pattern needs.

use purlin_syntax::Span;
use purlin_value::glob::{Glob, Notation, alternatives};
use purlin_value::world::FileKind;
use purlin_value::{Listing, Session, World, path};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Folders that are entered at most for one pattern, so that `**` ends.
const FOLDERS: usize = 20_000;

/// Steps that looking at a name in a folder counts for, and at the folder itself.
const NAME_STEPS: u64 = 2;

/// Folders that were listed.
pub type Seen = RefCell<HashMap<String, Arc<Listing>>>;

/// The world that patterns are matched against.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    world: &'a dyn World,
    /// The session charged for listing folders, and the location of the pattern.
    payer: Option<(&'a Session, Span)>,
    seen: Option<&'a Seen>,
    /// Folders that are entered at most for one pattern.
    folders: usize,
}

impl<'a> Finder<'a> {
    /// Folders as they are, at no cost.
    pub fn free(world: &'a dyn World) -> Self {
        Finder { world, payer: None, seen: None, folders: FOLDERS }
    }

    /// The same without a bound, where a file that is left out would be a mistake.
    pub fn whole(world: &'a dyn World) -> Self {
        Finder { folders: usize::MAX, ..Self::free(world) }
    }

    /// Folders as first listed in this run.
    pub fn kept(session: &'a Session, span: Span) -> Self {
        Finder { world: session.world.as_ref(), payer: Some((session, span)), seen: None, folders: FOLDERS }
    }

    /// Folders as they are now, for some patterns one after the other: builds may have made files.
    pub fn now(session: &'a Session, span: Span, seen: &'a Seen) -> Self {
        Finder { seen: Some(seen), ..Self::kept(session, span) }
    }

    fn list(&self, folder: &str) -> Arc<Listing> {
        let fresh = || Arc::new(Listing::of(self.world, folder));
        let Some((session, span)) = self.payer else { return fresh() };
        let listing = match self.seen {
            Some(seen) => seen.borrow_mut().entry(folder.to_owned()).or_insert_with(fresh).clone(),
            None => session.listed(folder),
        };
        match session.meter.charge((1 + listing.entries().len() as u64).saturating_mul(NAME_STEPS), 0) {
            Ok(()) => listing,
            Err(exceeded) => {
                session.report_exceeded(exceeded, Some(span));
                Arc::default()
            }
        }
    }
}

/// One part of a pattern.
enum Part {
    /// `**`
    Folders,
    /// A pattern for a name; one that cannot be parsed matches nothing.
    Name(Option<Glob>),
}

/// The files a pattern names, sorted; those of a folder if it names one.
pub fn expand(finder: Finder<'_>, pattern: &str) -> Vec<String> {
    let mut found = Vec::new();
    for pattern in alternatives(pattern) {
        find(finder, &pattern, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// The files of a path of raw manifests, as in Skaffold: a file itself, or the matches of a pattern with one level per
/// part, where `**` equals `*`, braces are literal, and matching folders are included recursively. A folder named
/// without a pattern yields nothing.
pub fn manifests(finder: Finder<'_>, pattern: &str) -> Vec<String> {
    if let Ok(stat) = finder.world.stat(pattern) {
        return if stat.kind == FileKind::Folder { Vec::new() } else { vec![pattern.to_owned()] };
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    let is_fixed = |part: &&&str| !part.contains(['*', '?', '[', '\\']);
    let (base, rest) = parts.split_at(parts.iter().take_while(is_fixed).count());
    let base = match base.join("/") {
        empty if empty.is_empty() => (if pattern.starts_with('/') { "/" } else { "." }).to_owned(),
        base => base,
    };
    let rest: Vec<Option<Glob>> = rest.iter().map(|part| Glob::read(part, Notation::GO)).collect();
    let mut found = Vec::new();
    level(finder, &base, &rest, &mut found, &mut { FOLDERS });
    found
}

/// One level of a pattern. Depth is bounded by the parts of the pattern.
fn level(finder: Finder<'_>, folder: &str, parts: &[Option<Glob>], found: &mut Vec<String>, budget: &mut usize) {
    let Some((part, rest)) = parts.split_first() else { return };
    for entry in finder.list(folder).entries() {
        if *budget == 0 || !part.as_ref().is_some_and(|glob| glob.matches(&entry.name)) {
            continue;
        }
        *budget -= 1;
        let place = path::join(folder, &entry.name);
        match (entry.kind == FileKind::Folder, rest.is_empty()) {
            (true, true) => found.extend(expand(finder, &place)),
            (true, false) => level(finder, &place, rest, found, budget),
            (false, true) => found.push(place),
            (false, false) => {}
        }
    }
}

fn find(finder: Finder<'_>, pattern: &str, found: &mut Vec<String>) {
    let is_fixed = |part: &str| !part.contains(['*', '?', '[']);
    if is_fixed(pattern) {
        match finder.world.stat(pattern) {
            Ok(stat) if stat.kind == FileKind::Folder => find(finder, &path::join(pattern, "**/*"), found),
            Ok(_) => found.push(pattern.to_owned()),
            Err(_) => {}
        }
        return;
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    let fixed = parts.iter().take_while(|part| is_fixed(part)).count();
    let (base, rest) = parts.split_at(fixed);
    let base = match base.join("/") {
        empty if empty.is_empty() => (if pattern.starts_with('/') { "/" } else { "." }).to_owned(),
        base => base,
    };
    let part = |text: &&str| match *text {
        "**" => Part::Folders,
        name => Part::Name(Glob::read(name, Notation::GIT)),
    };
    let rest: Vec<Part> = rest.iter().map(part).collect();
    walk(finder, &base, &rest, found, &mut { finder.folders });
}

/// Depth is bounded by the parts of the pattern, and for `**` by the budget of folders.
fn walk(finder: Finder<'_>, folder: &str, parts: &[Part], found: &mut Vec<String>, budget: &mut usize) {
    let Some((part, rest)) = parts.split_first() else { return };
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    if matches!(part, Part::Folders) {
        walk(finder, folder, rest, found, budget);
    }
    for entry in finder.list(folder).entries() {
        let place = path::join(folder, &entry.name);
        let is_folder = match entry.kind {
            FileKind::Folder => true,
            FileKind::Link => finder.world.stat(&place).is_ok_and(|stat| stat.kind == FileKind::Folder),
            FileKind::File => false,
        };
        let (fits, inside) = match part {
            Part::Folders => (true, (entry.kind == FileKind::Folder).then_some(parts)),
            Part::Name(glob) => (glob.as_ref().is_some_and(|glob| glob.matches(&entry.name)), Some(rest)),
        };
        match inside.filter(|_| fits && is_folder) {
            Some(inside) => walk(finder, &place, inside, found, budget),
            None if fits && rest.is_empty() && !is_folder => found.push(place),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::MemoryWorld;

    #[test]
    fn folders() {
        let world = MemoryWorld::new().file("k/a.yaml", "").file("k/b/c.yaml", "").file("k/b/d.txt", "");
        assert_eq!(expand(Finder::free(&world), "k/*.yaml"), ["k/a.yaml"]);
        assert_eq!(expand(Finder::free(&world), "k/**/*.yaml"), ["k/a.yaml", "k/b/c.yaml"]);
        assert_eq!(expand(Finder::free(&world), "k/**"), ["k/a.yaml", "k/b/c.yaml", "k/b/d.txt"]);
        assert_eq!(expand(Finder::free(&world), "k/b"), ["k/b/c.yaml", "k/b/d.txt"]);
        assert_eq!(expand(Finder::free(&world), "k/a.yaml"), ["k/a.yaml"]);
        assert_eq!(expand(Finder::free(&world), "k/{a,b/c}.y*ml"), ["k/a.yaml", "k/b/c.yaml"]);
        assert!(expand(Finder::free(&world), "no/*").is_empty());
    }

    #[test]
    fn raw_manifests() {
        let world = MemoryWorld::new()
            .file("k/a.yaml", "")
            .file("k/b/c.yaml", "")
            .file("k/b/e/f.yaml", "")
            .file("k/b-1.yaml", "");
        assert_eq!(manifests(Finder::free(&world), "k/a.yaml"), ["k/a.yaml"]);
        assert_eq!(manifests(Finder::free(&world), "k/*"), ["k/a.yaml", "k/b/c.yaml", "k/b/e/f.yaml", "k/b-1.yaml"]);
        assert_eq!(manifests(Finder::free(&world), "k/*"), manifests(Finder::free(&world), "k/**"));
        assert_eq!(manifests(Finder::free(&world), "k/**/*.yaml"), ["k/b/c.yaml"]);
        assert_eq!(manifests(Finder::free(&world), "*/*/*"), ["k/b/c.yaml", "k/b/e/f.yaml"]);
        assert!(manifests(Finder::free(&world), "k/{a,b-1}.yaml").is_empty());
        assert!(manifests(Finder::free(&world), "k").is_empty());
    }
}
