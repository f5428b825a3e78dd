//! Merge directives of a manifest: `+include`, `+&`, `+*anchor`, `+/path`, `+%`. Carried out on values, before
//! anything is made of them.

use crate::limits::MAX_DEPTH;
use crate::val::{MapKey, Val, ValMap};
use std::collections::HashMap;

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A file that is not there.
    NoFile(String),
    /// A file that is written in Python.
    Python(String),
    /// An anchor or path that is not there.
    NoTarget(String),
    /// Directives that lead into each other without an end.
    TooDeep,
}

/// Carries out directives.
pub struct Directives<'l> {
    /// Reads an included file.
    pub load: &'l dyn Fn(&str) -> Option<Val>,
    root: Val,
    anchors: HashMap<String, Val>,
    /// Problems, with where they were found.
    pub problems: Vec<(Problem, purlin_value::Origin)>,
    /// Whether there was any directive.
    pub used: bool,
}

impl<'l> Directives<'l> {
    /// Prepares for a document.
    pub fn new(root: &Val, load: &'l dyn Fn(&str) -> Option<Val>) -> Self {
        let mut anchors = HashMap::new();
        gather(root, &mut anchors, 0);
        Directives { load, root: root.clone(), anchors, problems: Vec::new(), used: false }
    }

    /// The value with its directives carried out.
    pub fn expand(&mut self, value: &Val) -> Val {
        let expanded = self.expand_at(value, 0);
        if self.used { cleaned(&expanded, 0) } else { expanded }
    }

    fn expand_at(&mut self, value: &Val, depth: usize) -> Val {
        if depth > MAX_DEPTH {
            self.problems.push((Problem::TooDeep, value.origin));
            return Val::null();
        }
        if let Some(items) = value.as_list() {
            let items = items.iter().map(|item| self.expand_at(item, depth + 1)).collect();
            return value.clone().with(Val::list(items).data);
        }
        let Some(entries) = value.as_map() else {
            return value.clone();
        };
        let is_directive = |key: &MapKey| key.as_str().is_some_and(|key| key.starts_with('+') && key != STRATEGY);
        let has_directives = entries.keys().any(is_directive);
        self.used |= value.get(STRATEGY).is_some();
        let mut out = ValMap::default();
        if has_directives {
            self.used = true;
            for (key, argument) in entries {
                let Some(directive) = key.as_str().and_then(|key| key.strip_prefix('+')) else { continue };
                if let Some(base) = self.target(directive, argument, depth) {
                    merge_into(&mut out, &base, 0);
                }
            }
        }
        // How a map is to be merged (`+%`) is kept until it meets what it is merged with.
        let own: ValMap = entries
            .iter()
            .filter(|(key, _)| !key.as_str().is_some_and(|key| key.starts_with('+') && key != STRATEGY))
            .map(|(key, item)| (key.clone(), self.expand_at(item, depth + 1)))
            .collect();
        if has_directives {
            merge_into(&mut out, &own, 0);
        } else {
            out = own;
        }
        value.clone().with(Val::map(out).data)
    }

    /// What a directive brings in.
    fn target(&mut self, directive: &str, argument: &Val, depth: usize) -> Option<ValMap> {
        let optional = directive.starts_with('?');
        let name = directive.trim_start_matches('?');
        let found = if name.starts_with("include") {
            let file = argument.as_str().or_else(|| argument.get("file").and_then(Val::as_str)).unwrap_or("");
            if file.ends_with(".py") {
                self.problems.push((Problem::Python(file.to_owned()), argument.origin));
                return None;
            }
            let loaded = (self.load)(file);
            if loaded.is_none() && !optional {
                self.problems.push((Problem::NoFile(file.to_owned()), argument.origin));
            }
            loaded
        } else if let Some(anchor) = name.strip_prefix('*') {
            self.known(self.anchors.get(anchor).cloned(), anchor, argument, optional)
        } else if let Some(path) = name.strip_prefix('/') {
            let here = follow(&self.root, path).cloned();
            self.known(here, path, argument, optional)
        } else {
            None
        };
        let expanded = self.expand_at(&found?, depth + 1);
        expanded.as_map().cloned()
    }

    fn known(&mut self, found: Option<Val>, name: &str, argument: &Val, optional: bool) -> Option<Val> {
        if found.is_none() && !optional {
            self.problems.push((Problem::NoTarget(name.to_owned()), argument.origin));
        }
        found
    }
}

/// What a path of keys with slashes between them leads to.
pub fn follow<'v>(value: &'v Val, path: &str) -> Option<&'v Val> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    parts.try_fold(value, |here, part| here.get(part).or_else(|| here.as_list()?.get(part.parse::<usize>().ok()?)))
}

/// Maps that declare an anchor (`+&: name`).
fn gather(value: &Val, anchors: &mut HashMap<String, Val>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(items) = value.as_list() {
        items.iter().for_each(|item| gather(item, anchors, depth + 1));
    }
    if let Some(entries) = value.as_map() {
        if let Some(name) = value.get("+&").and_then(Val::as_str) {
            anchors.insert(name.to_owned(), value.clone());
        }
        entries.values().for_each(|item| gather(item, anchors, depth + 1));
    }
}

/// The key that says how a map is merged.
const STRATEGY: &str = "+%";

/// A value without what only told how to merge it.
fn cleaned(value: &Val, depth: usize) -> Val {
    if depth > 2 * MAX_DEPTH {
        return value.clone();
    }
    if let Some(items) = value.as_list() {
        let items = items.iter().map(|item| cleaned(item, depth + 1)).collect();
        return value.clone().with(Val::list(items).data);
    }
    let Some(entries) = value.as_map() else {
        return value.clone();
    };
    let gone = |item: &Val| item.get(STRATEGY).and_then(Val::as_str) == Some("whiteout");
    let kept = entries.iter().filter(|(key, item)| key.as_str() != Some(STRATEGY) && !gone(item));
    let kept = kept.map(|(key, item)| (key.clone(), cleaned(item, depth + 1)));
    value.clone().with(Val::map(kept.collect()).data)
}

/// Lays entries over a base: maps are merged, `+%` says otherwise.
fn merge_into(base: &mut ValMap, over: &ValMap, depth: usize) {
    for (key, value) in over {
        let strategy = value.get(STRATEGY).and_then(Val::as_str);
        match (strategy, base.get(key)) {
            (Some("whiteout"), _) => {
                base.shift_remove(key);
            }
            (Some("nullout"), _) => {
                base.insert(key.clone(), Val::null());
            }
            (_, Some(present)) if present.as_map().is_some() && value.as_map().is_some() && depth <= MAX_DEPTH => {
                let mut merged = if strategy == Some("replaceProps") {
                    ValMap::default()
                } else {
                    present.as_map().cloned().unwrap_or_default()
                };
                let own: ValMap = value
                    .as_map()
                    .into_iter()
                    .flatten()
                    .filter(|(key, _)| **key != MapKey::from(STRATEGY))
                    .map(|(key, item)| (key.clone(), item.clone()))
                    .collect();
                merge_into(&mut merged, &own, depth + 1);
                base.insert(key.clone(), value.clone().with(Val::map(merged).data));
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
