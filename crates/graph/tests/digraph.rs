//! The plain graph algorithms on random graphs, against definitions rather than against another algorithm.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use purlin_graph::Digraph;
use std::collections::BTreeSet;

const NODES: usize = 24;

type Edges = Vec<(usize, usize)>;

fn graph(edges: &Edges) -> Digraph<usize> {
    let mut graph = Digraph::new();
    for node in 0..NODES {
        graph.add(node);
    }
    for &(from, to) in edges {
        graph.connect(from, to);
    }
    graph
}

/// For each node, everything reachable by at least one edge.
fn closure(edges: &Edges) -> Vec<BTreeSet<usize>> {
    let mut reach = vec![BTreeSet::new(); NODES];
    loop {
        let before = reach.clone();
        for &(from, to) in edges {
            reach[from].insert(to);
            let onward = reach[to].clone();
            reach[from].extend(onward);
        }
        if before == reach {
            return reach;
        }
    }
}

fn any_edges() -> impl Strategy<Value = Edges> {
    prop::collection::vec((0..NODES, 0..NODES), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cycles_go_round_once_from_the_smallest(edges in any_edges()) {
        let cycles = graph(&edges).cycles();
        let reach = closure(&edges);
        let members: BTreeSet<usize> = cycles.iter().flat_map(|cycle| cycle.members.iter().copied()).collect();
        let expected: BTreeSet<usize> = (0..NODES).filter(|&node| reach[node].contains(&node)).collect();
        prop_assert_eq!(members, expected);
        for cycle in &cycles {
            prop_assert_eq!(cycle.path[0], cycle.members[0]);
            // Its members are exactly the nodes that reach each other.
            let first = cycle.path[0];
            let mutual = |node: &usize| reach[first].contains(node) && reach[*node].contains(&first);
            prop_assert_eq!(&cycle.members, &(0..NODES).filter(mutual).collect::<Vec<_>>());
            let steps: BTreeSet<_> = cycle.path.iter().collect();
            prop_assert_eq!(steps.len(), cycle.path.len());
            for (&at, &next) in cycle.path.iter().zip(cycle.path.iter().cycle().skip(1)) {
                prop_assert!(edges.contains(&(at, next)));
            }
        }
    }

    #[test]
    fn reaching_is_the_closure(edges in any_edges(), root in 0..NODES) {
        let graph = graph(&edges);
        let mut expected = closure(&edges)[root].clone();
        expected.insert(root);
        prop_assert_eq!(graph.reachable([&root]).into_iter().copied().collect::<Vec<_>>(), Vec::from_iter(expected.clone()));
        let depth_first = graph.depth_first([&root]);
        prop_assert_eq!(depth_first.iter().map(|&&node| node).collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(depth_first.last(), Some(&&root));
        if graph.cycles().is_empty() {
            let place = |node: usize| depth_first.iter().position(|&&at| at == node);
            for &(from, to) in &edges {
                prop_assert!(place(from).is_none() || place(from) > place(to));
            }
        }
    }
}

#[test]
fn a_hundred_thousand_deep() {
    let mut graph = Digraph::new();
    for node in 0..100_000 {
        graph.connect(node, node + 1);
    }
    assert!(graph.cycles().is_empty());
    assert_eq!(graph.reachable([&0]).len(), 100_001);
    assert_eq!(graph.depth_first([&0]).len(), 100_001);
    graph.connect(100_000, 0);
    assert_eq!(graph.cycles()[0].path.len(), 100_001);
}

#[test]
fn of_equally_short_ways_round_the_smallest_is_shown() {
    let mut graph = Digraph::new();
    for (from, to) in [("a", "z"), ("a", "m"), ("z", "a"), ("m", "a")] {
        graph.connect(from, to);
    }
    let cycles = graph.cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].to_string(), "a → m → a");
    assert_eq!(cycles[0].members, ["a", "m", "z"]);
}
