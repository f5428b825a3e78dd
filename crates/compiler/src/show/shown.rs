//! Selects the part of a graph to show: around one node, of some kinds or dialects, without lines implied by others.
//!
//! Does not know formats. Omitted parts are counted, so that a picture can mention them.

use purlin_model::{Dependency, Node, Resolved};
use purlin_value::EcoString;
use std::collections::{HashMap, HashSet, VecDeque};

/// The request.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Only the dependencies and dependents of this node.
    pub focus: Option<String>,
    /// Maximum distance from it; unlimited if not set.
    pub depth: Option<usize>,
    /// Only nodes of these kinds or types; all if empty.
    pub kinds: Vec<String>,
    /// Only nodes of these dialects; all if empty.
    pub dialects: Vec<String>,
    /// Leaves out lines that follow from others.
    pub is_reduced: bool,
}

/// A line: a node needs another.
#[derive(Clone, Debug)]
pub struct Edge<'r> {
    /// The place of the node that needs the other.
    pub from: usize,
    /// The place of the node that is needed.
    pub to: usize,
    /// Kind of dependency.
    pub how: &'r Dependency,
    /// Values passed along it, over all dependencies of the pair.
    pub names: Vec<EcoString>,
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
    /// Number of omitted nodes.
    pub hidden: usize,
    /// Number of lines that lead to omitted nodes, or follow from others.
    pub cut: usize,
    /// Dependencies on nodes that are not in the project, by the place of the dependent node.
    pub missing: Vec<(usize, &'r Dependency)>,
}

/// The requested part of a graph; `None` if the node in focus does not exist.
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
        let mut seen: HashMap<usize, usize> = HashMap::new();
        for how in &all[at].dependencies {
            match index.get(how.node.as_str()).map(|to| place.get(to)) {
                Some(Some(&to)) => match seen.get(&to).and_then(|&known| shown.edges.get_mut(known)) {
                    Some(known) => {
                        let new: Vec<_> =
                            how.names.iter().filter(|name| !known.names.contains(name)).cloned().collect();
                        known.names.extend(new);
                    }
                    None => {
                        seen.insert(to, shown.edges.len());
                        shown.edges.push(Edge { from, to, how, names: how.names.clone() });
                    }
                },
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

/// Whether a node has a kind or a type, ignoring case.
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
    /// Drops lines to nodes that are reached through another line as well.
    fn reduce(&mut self) {
        let mut needs = vec![Vec::new(); self.nodes.len()];
        self.edges.iter().for_each(|edge| needs[edge.from].push(edge.to));
        let implied = implied(&needs);
        let before = self.edges.len();
        self.edges.retain(|edge| !implied.contains(&(edge.from, edge.to)));
        self.cut += before - self.edges.len();
    }
}

/// Number of nodes processed together; the memory is this many bits for each node.
const TOGETHER: usize = 4_096;
/// The bits of a word.
const BITS: usize = u64::BITS as usize;

/// The lines that follow from others: some other line of the same node leads there too. What leads back to the node is
/// in a cycle with it, in which every line counts. Costs a bit for each line and node, one block of nodes after the
/// other.
fn implied(needs: &[Vec<usize>]) -> HashSet<(usize, usize)> {
    let groups = groups(needs);
    let mut found = HashSet::new();
    for start in (0..needs.len()).step_by(TOGETHER) {
        let size = TOGETHER.min(needs.len() - start);
        let words = size.div_ceil(BITS);
        let bit = |at: usize| at.checked_sub(start).filter(|at| *at < size).map(|at| (at / BITS, 1u64 << (at % BITS)));
        let mut reached = vec![0u64; words * groups.members.len()];
        // Groups are sorted with dependencies first.
        for (group, members) in groups.members.iter().enumerate() {
            let (known, rest) = reached.split_at_mut(group * words);
            let own = &mut rest[..words];
            for &member in members {
                if let Some((word, mask)) = bit(member) {
                    own[word] |= mask;
                }
                for to in needs[member].iter().map(|to| groups.of[*to]).filter(|to| *to != group) {
                    own.iter_mut().zip(&known[to * words..]).for_each(|(own, more)| *own |= more);
                }
            }
        }
        let mut further = vec![0u64; words];
        for (from, own) in needs.iter().enumerate() {
            further.fill(0);
            for &to in own.iter().filter(|to| groups.of[**to] != groups.of[from]) {
                let itself = bit(to);
                for (word, more) in reached[groups.of[to] * words..][..words].iter().enumerate() {
                    let hidden = itself.filter(|(at, _)| *at == word).map_or(0, |(_, mask)| mask);
                    further[word] |= more & !hidden;
                }
            }
            let is_implied = |to: &&usize| bit(**to).is_some_and(|(word, mask)| further[word] & mask != 0);
            found.extend(own.iter().filter(is_implied).map(|to| (from, *to)));
        }
    }
    found
}

/// Nodes that lead to each other, group by group; the dependencies of a group are in groups before it.
struct Groups {
    members: Vec<Vec<usize>>,
    /// The group of each node.
    of: Vec<usize>,
}

/// Tarjan's algorithm, without recursion.
fn groups(needs: &[Vec<usize>]) -> Groups {
    const NONE: usize = usize::MAX;
    let count = needs.len();
    let (mut number, mut lowest, mut of) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut members, mut open, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        let mut path = if number[root] == NONE { vec![(root, 0)] } else { continue };
        while let Some((at, tried)) = path.last_mut() {
            let at = *at;
            if *tried == 0 {
                (number[at], lowest[at]) = (next, next);
                next += 1;
                open.push(at);
            }
            match needs[at].get(*tried) {
                Some(&to) => {
                    *tried += 1;
                    if number[to] == NONE {
                        path.push((to, 0));
                    } else if of[to] == NONE {
                        lowest[at] = lowest[at].min(number[to]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((above, _)) = path.last() {
                        lowest[*above] = lowest[*above].min(lowest[at]);
                    }
                    if lowest[at] == number[at] {
                        let start = open.iter().rposition(|node| *node == at).unwrap_or(0);
                        let group = open.split_off(start);
                        group.iter().for_each(|node| of[*node] = members.len());
                        members.push(group);
                    }
                }
            }
        }
    }
    Groups { members, of }
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
                names: Vec::new(),
                relationship: "".into(),
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

    /// Line by line, straight from the definition.
    fn implied_slowly(needs: &[Vec<usize>]) -> HashSet<(usize, usize)> {
        let reached = |start: usize| {
            let (mut seen, mut open) = (HashSet::from([start]), vec![start]);
            while let Some(at) = open.pop() {
                open.extend(needs[at].iter().filter(|to| seen.insert(**to)));
            }
            seen
        };
        let mut found = HashSet::new();
        for (from, own) in needs.iter().enumerate() {
            for to in own {
                let others = own.iter().filter(|other| *other != to).map(|other| reached(*other));
                if others.filter(|reached| !reached.contains(&from)).any(|reached| reached.contains(to)) {
                    found.insert((from, *to));
                }
            }
        }
        found
    }

    #[test]
    fn lines_of_any_graph_follow_from_the_same_others() {
        let mut state = 7u64;
        let mut next = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        for round in 0..400 {
            let count = 1 + next(if round % 40 == 0 { 150 } else { 12 });
            let mut needs = vec![Vec::new(); count];
            for _ in 0..next(3 * count + 1) {
                let (from, to) = (next(count), next(count));
                // Every third graph has cycles.
                let (from, to) = if round % 3 == 0 { (from, to) } else { (from.max(to), from.min(to)) };
                if !needs[from].contains(&to) {
                    needs[from].push(to);
                }
            }
            assert_eq!(implied(&needs), implied_slowly(&needs), "{needs:?}");
        }
    }

    #[test]
    fn many_dense_lines_are_quickly_told() {
        let needs: Vec<Vec<usize>> = (0..1_500).map(|from| (0..from).collect()).collect();
        assert_eq!(implied(&needs).len(), 1_500 * 1_499 / 2 - 1_499);
    }
}
