//! Which part of a graph is shown: around one node, of some kinds or dialects, without lines that others imply.
//!
//! Knows nothing of formats. What is left out is counted, so that a picture can say so.

use purlin_model::{Dependency, Node, Resolved};
use std::collections::{HashMap, HashSet, VecDeque};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Only what this node needs and what needs it.
    pub focus: Option<String>,
    /// How far from it; all the way if left out.
    pub depth: Option<usize>,
    /// Only nodes of these kinds or types; all if empty.
    pub kinds: Vec<String>,
    /// Only nodes of these dialects; all if empty.
    pub dialects: Vec<String>,
    /// Leaves out lines that follow from others.
    pub is_reduced: bool,
}

/// A line: a node needs another.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'r> {
    /// The place of the node that needs the other.
    pub from: usize,
    /// The place of the node that is needed.
    pub to: usize,
    /// How it is needed.
    pub how: &'r Dependency,
}

/// A part of a graph.
#[derive(Debug)]
pub struct Shown<'r> {
    /// The project's name.
    pub project: &'r str,
    /// Its nodes, in source order.
    pub nodes: Vec<&'r Node>,
    /// Its lines, in source order; one for each pair.
    pub edges: Vec<Edge<'r>>,
    /// How many nodes are left out.
    pub hidden: usize,
    /// How many lines lead to what is left out, or follow from others.
    pub cut: usize,
    /// Dependencies on what is not in the project, by the place of the node that has them.
    pub missing: Vec<(usize, &'r Dependency)>,
}

/// The part of a graph that is asked for; nothing if there is no node of the name in focus.
pub fn show<'r>(resolved: &'r Resolved, view: &View) -> Option<Shown<'r>> {
    let all: Vec<&Node> = resolved.nodes.iter().collect();
    let index: HashMap<&str, usize> = all.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let near = match &view.focus {
        Some(focus) => Some(around(&all, &index, *index.get(focus.as_str())?, view.depth)),
        None => None,
    };
    let is_shown = |at: usize, node: &Node| {
        near.as_ref().is_none_or(|near| near.contains(&at))
            && (view.kinds.is_empty() || view.kinds.iter().any(|kind| is_of(node, kind)))
            && (view.dialects.is_empty() || view.dialects.iter().any(|name| name == node.dialect))
    };
    let kept: Vec<usize> = all.iter().enumerate().filter(|(at, node)| is_shown(*at, node)).map(|(at, _)| at).collect();
    let place: HashMap<usize, usize> = kept.iter().enumerate().map(|(place, &at)| (at, place)).collect();
    let mut shown = Shown {
        project: &resolved.project,
        hidden: all.len() - kept.len(),
        nodes: kept.iter().map(|&at| all[at]).collect(),
        edges: Vec::new(),
        cut: 0,
        missing: Vec::new(),
    };
    for (from, &at) in kept.iter().enumerate() {
        let mut seen = HashSet::new();
        for how in &all[at].dependencies {
            match index.get(how.node.as_str()).map(|to| place.get(to)) {
                Some(Some(&to)) if seen.insert(to) => shown.edges.push(Edge { from, to, how }),
                Some(Some(_)) => {}
                Some(None) => shown.cut += 1,
                None => shown.missing.push((from, how)),
            }
        }
    }
    if view.is_reduced {
        shown.reduce();
    }
    Some(shown)
}

/// Whether a node is of a kind or a type, whichever case it is written in.
fn is_of(node: &Node, kind: &str) -> bool {
    node.kind.eq_ignore_ascii_case(kind) || node.type_name.eq_ignore_ascii_case(kind)
}

/// The nodes that can be reached from one against or along the lines, but not back and forth.
fn around(all: &[&Node], index: &HashMap<&str, usize>, focus: usize, depth: Option<usize>) -> HashSet<usize> {
    let (mut needs, mut needed_by) = (vec![Vec::new(); all.len()], vec![Vec::new(); all.len()]);
    for (from, node) in all.iter().enumerate() {
        for &to in node.dependencies.iter().filter_map(|how| index.get(how.node.as_str())) {
            needs[from].push(to);
            needed_by[to].push(from);
        }
    }
    let mut found = HashSet::from([focus]);
    for next in [&needs, &needed_by] {
        let mut seen = HashSet::from([focus]);
        let mut open = VecDeque::from([(focus, 0)]);
        while let Some((at, far)) = open.pop_front() {
            if depth.is_some_and(|depth| far >= depth) {
                continue;
            }
            open.extend(next[at].iter().filter(|to| seen.insert(**to)).map(|&to| (to, far + 1)));
        }
        found.extend(seen);
    }
    found
}

impl Shown<'_> {
    /// Leaves out lines to what another line leads to as well.
    fn reduce(&mut self) {
        let mut needs = vec![Vec::new(); self.nodes.len()];
        self.edges.iter().for_each(|edge| needs[edge.from].push(edge.to));
        let before = self.edges.len();
        let mut kept = Vec::with_capacity(before);
        let mut edges = std::mem::take(&mut self.edges).into_iter().peekable();
        while let Some(first) = edges.peek().copied() {
            let own: Vec<Edge<'_>> = std::iter::from_fn(|| edges.next_if(|edge| edge.from == first.from)).collect();
            let mut implied = HashSet::new();
            for edge in &own {
                // What leads back here is in a cycle, in which every line counts.
                let reached = reached(&needs, edge.to);
                if !reached.contains(&edge.from) {
                    implied.extend(reached.into_iter().filter(|at| *at != edge.to));
                }
            }
            kept.extend(own.into_iter().filter(|edge| !implied.contains(&edge.to)));
        }
        self.cut += before - kept.len();
        self.edges = kept;
    }
}

fn reached(needs: &[Vec<usize>], start: usize) -> HashSet<usize> {
    let mut seen = HashSet::from([start]);
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        open.extend(needs[at].iter().filter(|to| seen.insert(**to)));
    }
    seen
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn project(edges: &[(&str, &[&str])]) -> Resolved {
        let mut resolved = Resolved::new("p");
        for (id, needs) in edges {
            let mut node = Node::new(*id, if id.len() == 1 { "Run" } else { "Build" }, "garden");
            let how = |to: &&str| Dependency {
                node: (*to).into(),
                is_static: false,
                is_runtime: true,
                is_explicit: true,
                span: None,
            };
            node.dependencies = needs.iter().map(how).collect();
            resolved.nodes.push(node);
        }
        resolved
    }

    fn ids<'r>(shown: &Shown<'r>) -> Vec<&'r str> {
        shown.nodes.iter().map(|node| node.id.as_str()).collect()
    }

    #[test]
    fn a_focus_shows_both_directions() {
        let all = project(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &[]), ("e", &["c"])]);
        let view = |depth| View { focus: Some("c".to_owned()), depth, ..View::default() };
        assert_eq!(ids(&show(&all, &view(None)).unwrap()), ["a", "b", "c", "d", "e"]);
        let near = show(&all, &view(Some(1))).unwrap();
        assert_eq!((ids(&near), near.hidden), (vec!["b", "c", "d", "e"], 1));
        assert!(show(&all, &View { focus: Some("x".to_owned()), ..View::default() }).is_none());
    }

    #[test]
    fn kinds_and_missing_nodes() {
        let all = project(&[("a", &["bb", "gone"]), ("bb", &[])]);
        let shown = show(&all, &View { kinds: vec!["run".to_owned()], ..View::default() }).unwrap();
        assert_eq!((ids(&shown), shown.hidden, shown.cut, shown.missing.len()), (vec!["a"], 1, 1, 1));
    }

    #[test]
    fn lines_that_follow_from_others_are_left_out() {
        let all = project(&[("a", &["b", "c", "d"]), ("b", &["c"]), ("c", &["d"]), ("d", &[])]);
        let shown = show(&all, &View { is_reduced: true, ..View::default() }).unwrap();
        assert_eq!(shown.edges.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(shown.cut, 2);
        let ring = project(&[("a", &["b"]), ("b", &["a"])]);
        assert_eq!(show(&ring, &View { is_reduced: true, ..View::default() }).unwrap().edges.len(), 2);
    }
}
