//! The boxes of a picture: nodes in nodes, nodes in groups, and closed boxes.

use super::colours::shade;
use super::{GroupBy, Manners, Mark, Open};
use crate::graph::description_parts;
use crate::shown::Shown;
use purlin_model::Node;
use std::collections::HashMap;

/// A box before it has a place.
pub(super) struct Draft {
    pub id: String,
    pub label: String,
    pub subtitle: String,
    pub dialect: Option<&'static str>,
    pub shade: usize,
    pub parent: Option<usize>,
    pub is_open: bool,
    pub is_group: bool,
    pub contents: usize,
    pub is_disabled: bool,
    pub mark: Mark,
}

/// All boxes, outer ones first, and the box in which each node is seen.
pub(super) struct Boxes {
    pub list: Vec<Draft>,
    pub of_node: Vec<usize>,
}

/// An item of a picture: a node, or a group.
struct Entry {
    id: String,
    node: Option<usize>,
    parent: Option<usize>,
    children: Vec<usize>,
}

pub(super) fn boxes(shown: &Shown<'_>, manners: &Manners<'_>) -> Boxes {
    let entries = entries(shown, manners);
    let mut boxes = Boxes { list: Vec::new(), of_node: vec![0; shown.nodes.len()] };
    let roots: Vec<usize> = (0..entries.len()).filter(|&at| entries[at].parent.is_none()).collect();
    let sums = sums(&entries, shown, manners);
    let mut stack: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|at| (at, None)).collect();
    while let Some((at, parent)) = stack.pop() {
        let entry = &entries[at];
        let is_open = !entry.children.is_empty()
            && match &manners.open {
                Open::All => true,
                Open::Only(ids) => ids.contains(&entry.id),
            };
        let own = made(shown, entry, (at, &sums), is_open, parent.map(|parent: usize| boxes.list[parent].id.as_str()));
        let place = boxes.list.len();
        boxes.list.push(Draft { parent, is_open, ..own });
        if let Some(node) = entry.node {
            boxes.of_node[node] = place;
        }
        if is_open {
            stack.extend(entry.children.iter().rev().map(|&child| (child, Some(place))));
        } else {
            within(&entries, at).into_iter().for_each(|node| boxes.of_node[node] = place);
        }
    }
    boxes
}

/// The nodes in an entry, itself included.
fn within(entries: &[Entry], at: usize) -> Vec<usize> {
    let (mut found, mut stack) = (Vec::new(), vec![at]);
    while let Some(at) = stack.pop() {
        found.extend(entries[at].node);
        stack.extend(&entries[at].children);
    }
    found
}

/// Number of nodes in each entry, and the worst of their marks.
fn sums(entries: &[Entry], shown: &Shown<'_>, manners: &Manners<'_>) -> Vec<(usize, Mark)> {
    let own = |entry: &Entry| match entry.node {
        Some(node) => (manners.mark)(&shown.nodes[node].id),
        None => Mark::default(),
    };
    let mut sums: Vec<(usize, Mark)> = entries.iter().map(|entry| (0, own(entry))).collect();
    let mut depth: Vec<(usize, usize)> = Vec::with_capacity(entries.len());
    for at in 0..entries.len() {
        let (mut levels, mut above) = (0, entries[at].parent);
        while let Some(parent) = above {
            (levels, above) = (levels + 1, entries[parent].parent);
        }
        depth.push((levels, at));
    }
    depth.sort_unstable_by(|one, other| other.cmp(one));
    for (_, at) in depth {
        let (count, mark) = sums[at];
        let is_node = usize::from(entries[at].node.is_some());
        if let Some(parent) = entries[at].parent {
            let (above, known) = &mut sums[parent];
            *above += count + is_node;
            known.is_broken |= mark.is_broken;
            if entries[parent].node.is_none() {
                known.change = known.change.or(mark.change.map(|_| super::Change::Changed));
            }
        }
    }
    sums
}

fn made(
    shown: &Shown<'_>,
    entry: &Entry,
    (at, sums): (usize, &[(usize, Mark)]),
    is_open: bool,
    around: Option<&str>,
) -> Draft {
    let (contents, mut mark) = sums[at];
    let many = |count: usize| if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") };
    let Some(node) = entry.node.map(|node| shown.nodes[node]) else {
        let label = entry.id.split_once(':').map_or(entry.id.as_str(), |(_, name)| name);
        let outer = around.and_then(|around| around.split_once(':')).map(|(_, outer)| outer);
        let label = outer.and_then(|outer| label.strip_prefix(outer)?.strip_prefix('/')).unwrap_or(label);
        let label = if label.is_empty() || label == "." { "project folder" } else { label };
        let dialect = entry.id.strip_prefix("dialect:");
        let dialect = shown.nodes.iter().map(|node| node.dialect).find(|known| Some(*known) == dialect);
        if is_open {
            mark = Mark::default();
        }
        return Draft {
            id: entry.id.clone(),
            label: label.to_owned(),
            subtitle: many(contents),
            dialect,
            shade: 0,
            parent: None,
            is_open,
            is_group: true,
            contents,
            is_disabled: false,
            mark,
        };
    };
    let inner = around.and_then(|around| node.id.strip_prefix(around)?.strip_prefix('/'));
    let mut subtitle = description_parts(node);
    if contents > 0 && !is_open {
        subtitle = format!("{subtitle} · {}", many(contents));
    }
    Draft {
        id: node.id.to_string(),
        label: inner.unwrap_or(&node.id).to_owned(),
        subtitle,
        dialect: Some(node.dialect),
        shade: shade(&node.kind),
        parent: None,
        is_open,
        is_group: false,
        contents,
        is_disabled: node.disabled,
        mark,
    }
}

/// Nodes and groups, each in its enclosing entry.
fn entries(shown: &Shown<'_>, manners: &Manners<'_>) -> Vec<Entry> {
    let known: HashMap<&str, usize> = shown.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let entry = |(at, node): (usize, &&Node)| Entry {
        id: node.id.to_string(),
        node: Some(at),
        parent: outer(&node.id, &known),
        children: Vec::new(),
    };
    let mut entries: Vec<Entry> = shown.nodes.iter().enumerate().map(entry).collect();
    if let Some(group_by) = manners.group_by {
        put_together(shown, manners, group_by, &mut entries);
    }
    for at in 0..entries.len() {
        if let Some(parent) = entries[at].parent {
            entries[parent].children.push(at);
        }
    }
    entries
}

/// The node with the longest id that is a prefix of another's.
fn outer(id: &str, known: &HashMap<&str, usize>) -> Option<usize> {
    id.rmatch_indices('/').find_map(|(at, _)| known.get(id.get(..at)?).copied())
}

/// Puts top-level nodes into groups; folders are nested.
fn put_together(shown: &Shown<'_>, manners: &Manners<'_>, group_by: GroupBy, entries: &mut Vec<Entry>) {
    let mut groups: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<(usize, String)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(node) = entry.node.filter(|_| entry.parent.is_none()).map(|node| shown.nodes[node]) else { continue };
        names.push((
            at,
            match group_by {
                GroupBy::Folder => (manners.folder)(node),
                GroupBy::Dialect => node.dialect.to_owned(),
                GroupBy::Kind => node.kind.to_string(),
            },
        ));
    }
    let prefix = match group_by {
        GroupBy::Folder => "folder",
        GroupBy::Dialect => "dialect",
        GroupBy::Kind => "kind",
    };
    let folders: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    let above = if group_by == GroupBy::Folder { folders_above(&folders) } else { HashMap::new() };
    for (at, name) in names.iter().map(|(at, name)| (*at, name.clone())) {
        // The group, and the groups around it, as far as they are new.
        let mut child = at;
        let mut next = Some(name);
        while let Some(name) = next {
            let id = format!("{prefix}:{name}");
            if let Some(&group) = groups.get(&id) {
                entries[child].parent = Some(group);
                break;
            }
            entries.push(Entry { id: id.clone(), node: None, parent: None, children: Vec::new() });
            let group = entries.len() - 1;
            groups.insert(id, group);
            entries[child].parent = Some(group);
            child = group;
            next = above.get(&name).cloned();
        }
    }
}

/// Number of groups of one level from which folders are put into folders.
const MOST_BESIDE: usize = 24;

/// The folder that each folder is shown in: the nearest with several folders below it, unless there are few folders.
fn folders_above(folders: &[&str]) -> HashMap<String, String> {
    let mut all: Vec<&str> = folders.to_vec();
    all.sort_unstable();
    all.dedup();
    let mut found = HashMap::new();
    if all.len() <= MOST_BESIDE {
        return found;
    }
    let mut below: HashMap<&str, std::collections::HashSet<&str>> = HashMap::new();
    for folder in &all {
        let cuts = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        let mut outer = None;
        for cut in cuts {
            let path = folder.get(..cut).unwrap_or(folder);
            if let Some(outer) = outer {
                below.entry(outer).or_default().insert(path);
            }
            outer = Some(path);
        }
    }
    let is_shown =
        |path: &str| all.binary_search(&path).is_ok() || below.get(path).is_some_and(|inner| inner.len() > 1);
    let mut open: Vec<String> = all.iter().map(|folder| (*folder).to_owned()).collect();
    while let Some(folder) = open.pop() {
        let above =
            folder.rmatch_indices('/').map(|(at, _)| folder.get(..at).unwrap_or("")).find(|path| is_shown(path));
        if let Some(above) = above.map(str::to_owned) {
            if !found.contains_key(&folder) {
                open.push(above.clone());
            }
            found.insert(folder, above);
        }
    }
    found
}
