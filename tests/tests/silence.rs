//! No key is dropped without a word: every row of the tables of Garden and Skaffold is read somewhere, deprecated, or
//! listed in `silence.txt` with the reason why nothing reads it.
//!
//! Whether a key is read is judged by its name in the sources outside of the tables. A key that several rows share counts
//! as read if one of them is.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use purlin_model::schema::{Edition, Entity, Schema};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The reasons, by dialect and entity or key.
const LIST: &str = include_str!("silence.txt");

fn sources(folder: &Path, found: &mut String) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("entities") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// The sources that may read a dialect's keys.
fn readers(dialect: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = String::new();
    for name in [dialect, "run", "cli", "cluster"] {
        sources(&crates.join(name).join("src"), &mut found);
    }
    found
}

/// The keys that nothing reads, as `entity.key`, in the words of messages.
fn unread(schema: &Schema, dialect: &str) -> BTreeSet<String> {
    let sources = readers(dialect);
    let newest = Edition(u16::try_from(schema.editions.len() - 1).unwrap());
    let is_read = |key: &str| sources.contains(&format!("\"{key}\""));
    let keys = |entity: &'static Entity| {
        // A deprecated key is a warning by itself.
        let fields = entity.fields(newest).filter(|field| field.deprecated.is_none() && !is_read(field.key));
        fields.map(|field| format!("{}.{}", entity.label, field.key)).collect::<Vec<_>>()
    };
    schema.entities.iter().flat_map(keys).collect()
}

/// The listed keys of a dialect with their reasons. A line is `dialect: ENTITY.KEY, …: reason`; `ENTITY.*` is every key of it.
fn listed(dialect: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, ": ").collect();
        let [of, keys, reason] = parts.as_slice() else { panic!("`{line}` is not `dialect: keys: reason`") };
        assert!(reason.len() > 10, "`{line}` has no reason");
        if *of == dialect {
            found.extend(keys.split(", ").map(|key| (key.to_owned(), (*reason).to_owned())));
        }
    }
    found
}

fn check(schema: &Schema, dialect: &str) {
    let unread = unread(schema, dialect);
    let listed = listed(dialect);
    let of = |key: &str| format!("{}.*", key.rsplit_once('.').map_or(key, |(entity, _)| entity));
    let silent: Vec<&String> =
        unread.iter().filter(|key| !listed.contains_key(*key) && !listed.contains_key(&of(key))).collect();
    assert!(silent.is_empty(), "nothing reads these keys of {dialect}; read, refuse or list them: {silent:#?}");
    let is_used = |key: &String| match key.strip_suffix(".*") {
        Some(_) => unread.iter().any(|one| of(one) == *key),
        None => unread.contains(key),
    };
    let stale: Vec<&String> = listed.keys().filter(|key| !is_used(key)).collect();
    assert!(stale.is_empty(), "these are read now; take them from the list: {stale:#?}");
}

#[test]
fn keys_of_garden() {
    check(&purlin_garden::entities::SCHEMA, "garden");
}

#[test]
fn keys_of_skaffold() {
    check(&purlin_skaffold::entities::SCHEMA, "skaffold");
}
