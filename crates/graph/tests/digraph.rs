//! The plain graph algorithms on random graphs, against definitions rather than against another algorithm.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use purlin_graph::Digraph;
use std::collections::{BTreeSet, HashMap};

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

/// For each node, what can be reached by at least one edge.
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
    fn components_are_what_reaches_each_other(edges in any_edges()) {
        let graph = graph(&edges);
        let reach = closure(&edges);
        let components = graph.components();
        let mut number = HashMap::new();
        for (at, component) in components.iter().enumerate() {
            for &&node in component {
                prop_assert!(number.insert(node, at).is_none());
            }
        }
        prop_assert_eq!(number.len(), NODES);
        for a in 0..NODES {
            for b in (0..NODES).filter(|&b| b != a) {
                prop_assert_eq!(number[&a] == number[&b], reach[a].contains(&b) && reach[b].contains(&a));
            }
        }
        // Each after those it needs.
        prop_assert!(edges.iter().all(|(from, to)| number[from] >= number[to]));
    }

    #[test]
    fn cycles_go_round_once_from_the_smallest(edges in any_edges()) {
        let cycles = graph(&edges).cycles();
        let reach = closure(&edges);
        let members: BTreeSet<usize> = cycles.iter().flat_map(|cycle| cycle.members.iter().copied()).collect();
        let expected: BTreeSet<usize> = (0..NODES).filter(|&node| reach[node].contains(&node)).collect();
        prop_assert_eq!(members, expected);
        for cycle in &cycles {
            prop_assert_eq!(cycle.path[0], cycle.members[0]);
            let steps: BTreeSet<_> = cycle.path.iter().collect();
            prop_assert_eq!(steps.len(), cycle.path.len());
            for (&at, &next) in cycle.path.iter().zip(cycle.path.iter().cycle().skip(1)) {
                prop_assert!(edges.contains(&(at, next)));
            }
        }
    }

    #[test]
    fn order_is_the_first_possible_one(edges in any_edges()) {
        let graph = graph(&edges);
        match graph.order() {
            Err(cycles) => prop_assert_eq!(cycles, graph.cycles()),
            Ok(order) => {
                // At every step the smallest node whose needs are all placed.
                let mut placed = BTreeSet::new();
                for &&node in &order {
                    let free = |node: &usize| !placed.contains(node)
                        && edges.iter().all(|(from, to)| from != node || placed.contains(to));
                    prop_assert_eq!(Some(node), (0..NODES).find(free));
                    placed.insert(node);
                }
                prop_assert_eq!(placed.len(), NODES);
                let levels = graph.levels().unwrap();
                let level_of = |node: &usize| levels.iter().position(|level| level.contains(&node)).unwrap();
                for node in 0..NODES {
                    let below = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| level_of(to) + 1).max();
                    prop_assert_eq!(level_of(&node), below.unwrap_or(0));
                }
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
        if graph.order().is_ok() {
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
    assert_eq!(graph.order().unwrap().len(), 100_001);
    assert_eq!(graph.components().len(), 100_001);
    assert_eq!(graph.levels().unwrap().len(), 100_001);
    assert_eq!(graph.depth_first([&0]).len(), 100_001);
    graph.connect(100_000, 0);
    assert_eq!(graph.order().unwrap_err()[0].path.len(), 100_001);
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
