//! Properties of nodes besides their configuration: broken nodes, differences from another state, folders of
//! declarations.

use super::{Change, Mark, Standing};
use crate::diff::{Difference, Side, diff};
use purlin_model::{Node, Resolved};
use purlin_syntax::{FileId, Span};
use purlin_value::{EcoString, Session, path};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Properties of the nodes of a project.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    broken: HashSet<EcoString>,
    changes: HashMap<String, Change>,
    standings: HashMap<String, Standing>,
}

impl Marks {
    /// Marks the nodes in which errors are.
    pub fn note_errors(&mut self, resolved: &Resolved, errors: &[Span]) {
        let mut starts: HashMap<FileId, BTreeMap<u32, &EcoString>> = HashMap::new();
        for node in &resolved.nodes {
            if let Some(span) = node.source {
                // A node inside another one that is declared at the same place does not count.
                starts.entry(span.file).or_default().entry(span.start).or_insert(&node.id);
            }
        }
        for error in errors {
            let in_file = starts.get(&error.file);
            // A node's declaration reaches to the next one in its file.
            let node = in_file.and_then(|starts| starts.range(..=error.end).next_back());
            self.broken.extend(node.map(|(_, id)| (*id).clone()));
        }
    }

    /// Marks changed nodes.
    pub fn note_changes(&mut self, before: Side<'_>, after: Side<'_>) {
        for difference in diff(before, after) {
            let Difference { node, field, before: was, after: is, renamed_from, .. } = difference;
            let change = match (field.is_empty() && renamed_from.is_none(), was, is) {
                (true, None, _) => Change::Added,
                (true, _, None) => Change::Removed,
                _ => Change::Changed,
            };
            self.changes.entry(node).or_insert(change);
        }
    }

    /// Marks a node with the result of its run.
    pub fn note_standing(&mut self, node: &str, standing: Standing) {
        self.standings.insert(node.to_owned(), standing);
    }

    /// Properties of a node.
    pub fn of(&self, node: &str) -> Mark {
        Mark {
            is_broken: self.broken.contains(node),
            change: self.changes.get(node).copied(),
            standing: self.standings.get(node).copied(),
        }
    }
}

/// A project with the nodes that it had before and has no more.
pub fn with_removed(after: &Resolved, before: &Resolved) -> Resolved {
    let mut both = after.clone();
    let gone = before.nodes.iter().filter(|node| after.node(&node.id).is_none());
    let gone: Vec<Node> = gone.cloned().collect();
    both.nodes.extend(gone);
    both
}

/// The folder that each node is declared in, seen from the folder that all are in.
pub fn folders(session: &Session, resolved: &Resolved) -> HashMap<EcoString, String> {
    let of = |node: &Node| {
        let source = session.sources.get(node.source?.file)?;
        Some(path::parent(&path::normalize(source.path())).to_owned())
    };
    // Nodes in others go with those.
    let outer = resolved.nodes.iter().filter(|node| node.inside.is_none());
    let mut found: HashMap<EcoString, String> = outer.filter_map(|node| Some((node.id.clone(), of(node)?))).collect();
    let mut shared: Option<Vec<String>> = None;
    for folder in found.values() {
        let parts: Vec<String> = folder.split('/').map(str::to_owned).collect();
        let common = |known: Vec<String>| {
            let same = known.iter().zip(&parts).take_while(|(one, other)| one == other).count();
            known.into_iter().take(same).collect()
        };
        shared = Some(shared.map_or_else(|| parts.clone(), common));
    }
    let shared = shared.unwrap_or_default().join("/");
    for folder in found.values_mut() {
        let rest = folder.strip_prefix(shared.as_str()).unwrap_or(folder).trim_start_matches('/');
        *folder = if rest.is_empty() { ".".to_owned() } else { rest.to_owned() };
    }
    found
}
