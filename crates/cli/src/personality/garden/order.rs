//! The order of `get graph`: that of Garden, which sorts nodes and edges by a topological order of the edges.

use purlin_garden::action::Action;
use purlin_garden::config::ActionKind;
use purlin_garden::graph::Graph;
use purlin_value::{EcoString, FastIndex, Value};

/// Nodes and edges in order.
pub(super) struct GraphOrder {
    pub nodes: Vec<EcoString>,
    /// Each from the dependent to the dependency.
    pub edges: Vec<(EcoString, EcoString)>,
}

impl GraphOrder {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut nodes: FastIndex<EcoString, Vec<EcoString>> = FastIndex::default();
        for action in as_made(graph) {
            nodes.entry(action.key.clone()).or_default();
            for need in graph.needs(&action.key) {
                nodes.entry(need.key.clone()).or_default();
                nodes.entry(action.key.clone()).or_default().push(need.key.clone());
            }
        }
        let pairs = nodes.iter().flat_map(|(key, needs)| needs.iter().map(move |need| (key.clone(), need.clone())));
        let mut edges: Vec<(EcoString, EcoString)> = pairs.collect();
        let place = places(&edges);
        // Nodes without edges come last.
        let rank = |key: &EcoString| std::cmp::Reverse(place.get(key).map_or(-1, |place| *place));
        let mut nodes: Vec<EcoString> = nodes.into_keys().collect();
        nodes.sort_by_key(rank);
        edges.sort_by_key(|(_, need)| rank(need));
        GraphOrder { nodes, edges }
    }
}

/// The actions in the order in which Garden adds them: those whose files need not be listed come first.
fn as_made(graph: &Graph) -> Vec<&Action> {
    let mut actions: Vec<&Action> = graph.actions.values().map(|action| &**action).collect();
    let has_files = |action: &Action| {
        let include = action.fields.get("include").and_then(Value::as_list);
        include.is_none_or(|include| !include.is_empty())
    };
    let kind = |action: &Action| match action.kind {
        ActionKind::Build => 0,
        ActionKind::Run => 1,
        ActionKind::Test => 2,
        ActionKind::Deploy => 3,
    };
    actions.sort_by_key(|action| (has_files(action), kind(action)));
    actions
}

/// The index of each key in a topological order: dependents come before their dependencies. Keys are visited from the
/// last to the first and placed from the end.
fn places(edges: &[(EcoString, EcoString)]) -> FastIndex<EcoString, i64> {
    let mut needs: FastIndex<&EcoString, Vec<&EcoString>> = FastIndex::default();
    for (from, to) in edges {
        needs.entry(from).or_default().push(to);
        needs.entry(to).or_default();
    }
    // In the order of the first mention of either end.
    let mut names: FastIndex<&EcoString, ()> = FastIndex::default();
    for (from, to) in edges {
        names.insert(from, ());
        names.insert(to, ());
    }
    let mut done: FastIndex<EcoString, i64> = FastIndex::default();
    let mut visited: FastIndex<&EcoString, ()> = FastIndex::default();
    let mut left = i64::try_from(names.len()).unwrap_or(i64::MAX);
    for name in names.keys().rev().copied() {
        // Each open node with the number of its dependencies still to be visited.
        let mut open: Vec<(&EcoString, usize)> = Vec::new();
        if visited.insert(name, ()).is_none() {
            open.push((name, needs.get(name).map_or(0, Vec::len)));
        }
        while let Some((name, rest)) = open.pop() {
            let next = rest.checked_sub(1).and_then(|at| Some((at, *needs.get(name)?.get(at)?)));
            let Some((at, need)) = next else {
                left -= 1;
                done.insert(name.clone(), left);
                continue;
            };
            open.push((name, at));
            if visited.insert(need, ()).is_none() {
                open.push((need, needs.get(need).map_or(0, Vec::len)));
            }
        }
    }
    done
}
