//! Finds the files a pattern names: `*`, `?`, `[…]` within a name, `**` across folders.
//!
//! Asks the world for folders, and for no more of them than the pattern needs.

use purlin_value::World;
use purlin_value::path;
use purlin_value::world::FileKind;

/// Folders that are entered at most for one pattern, so that `**` ends.
const FOLDERS: usize = 20_000;

/// The files a pattern names, sorted; those of a folder if it names one.
pub fn expand(world: &dyn World, pattern: &str) -> Vec<String> {
    if !pattern.contains(['*', '?', '[']) {
        return match world.stat(pattern) {
            Ok(stat) if stat.kind == FileKind::Folder => expand(world, &path::join(pattern, "**/*")),
            Ok(_) => vec![pattern.to_owned()],
            Err(_) => Vec::new(),
        };
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    let fixed = parts.iter().take_while(|part| !part.contains(['*', '?', '['])).count();
    let (base, rest) = parts.split_at(fixed);
    let base = match base.join("/") {
        empty if empty.is_empty() => (if pattern.starts_with('/') { "/" } else { "." }).to_owned(),
        base => base,
    };
    let mut found = Vec::new();
    let mut budget = FOLDERS;
    walk(world, &base, rest, &mut found, &mut budget);
    found.sort();
    found.dedup();
    found
}

/// Depth is bounded by the parts of the pattern, and for `**` by the budget of folders.
fn walk(world: &dyn World, folder: &str, parts: &[&str], found: &mut Vec<String>, budget: &mut usize) {
    let Some((part, rest)) = parts.split_first() else { return };
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    if *part == "**" {
        walk(world, folder, rest, found, budget);
    }
    let Ok(entries) = world.list(folder) else { return };
    for entry in entries {
        let place = path::join(folder, &entry.name);
        let is_folder = match entry.kind {
            FileKind::Folder => true,
            FileKind::Link => world.stat(&place).is_ok_and(|stat| stat.kind == FileKind::Folder),
            FileKind::File => false,
        };
        if *part == "**" {
            if is_folder && entry.kind == FileKind::Folder {
                walk(world, &place, parts, found, budget);
            }
            if rest.is_empty() && !is_folder {
                found.push(place);
            }
        } else if matches(part, &entry.name) {
            if rest.is_empty() {
                if !is_folder {
                    found.push(place);
                }
            } else if is_folder {
                walk(world, &place, rest, found, budget);
            }
        }
    }
}

/// Whether a name fits a pattern without slashes.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go back to when a later character does not fit: the last star and what it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => class(&pattern, p, name.get(n).copied().unwrap_or_default()),
            Some('\\') => (pattern.get(p + 1) == name.get(n)).then_some(p + 2),
            Some(c) => (Some(c) == name.get(n)).then_some(p + 1),
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((at, taken))) => {
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
            (None, None) => return false,
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Where the pattern goes on after a `[…]` that fits, if it does.
fn class(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let close = pattern.iter().enumerate().skip(at + 2).find(|(_, c)| **c == ']').map(|(close, _)| close)?;
    let inside = pattern.get(at + 1..close)?;
    let (negated, inside) = match inside.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        _ => (false, inside),
    };
    let mut fits = false;
    let mut index = 0;
    while let Some(low) = inside.get(index) {
        match (inside.get(index + 1), inside.get(index + 2)) {
            (Some('-'), Some(high)) => {
                fits |= (*low..=*high).contains(&c);
                index += 3;
            }
            _ => {
                fits |= *low == c;
                index += 1;
            }
        }
    }
    (fits != negated).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::MemoryWorld;

    #[test]
    fn names() {
        for (pattern, name, fits) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a.yml", false),
            ("a*b*c", "aXbYc", true),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("k8s-*", "k8s-", true),
            ("\\*", "*", true),
            ("[", "[", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn folders() {
        let world = MemoryWorld::new().file("k/a.yaml", "").file("k/b/c.yaml", "").file("k/b/d.txt", "");
        assert_eq!(expand(&world, "k/*.yaml"), ["k/a.yaml"]);
        assert_eq!(expand(&world, "k/**/*.yaml"), ["k/a.yaml", "k/b/c.yaml"]);
        assert_eq!(expand(&world, "k/**"), ["k/a.yaml", "k/b/c.yaml", "k/b/d.txt"]);
        assert_eq!(expand(&world, "k/b"), ["k/b/c.yaml", "k/b/d.txt"]);
        assert_eq!(expand(&world, "k/a.yaml"), ["k/a.yaml"]);
        assert!(expand(&world, "no/*").is_empty());
    }
}
