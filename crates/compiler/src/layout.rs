//! Where the boxes of a picture go: layers by longest path, order within a layer by the barycentre of neighbours.
//!
//! Plain numbers in, plain numbers out; knows nothing of nodes or pictures. Cost is linear in nodes and edges but
//! for the sorting inside a layer.

/// The layer of each node: dependencies lie to the left of what needs them. Edges of a cycle count as far as they
/// can without closing it.
pub(crate) fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in edges {
        if let Some(list) = needs.get_mut(from) {
            list.push(to);
        }
    }
    let mut layer = vec![0; count];
    let mut state = vec![State::New; count];
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            if next == 0 {
                if state[node] != State::New {
                    continue;
                }
                state[node] = State::Open;
            }
            match needs[node].get(next) {
                Some(&to) => {
                    stack.push((node, next + 1));
                    if state[to] == State::New {
                        stack.push((to, 0));
                    }
                }
                None => {
                    let below = needs[node].iter().filter(|&&to| state[to] == State::Done).map(|&to| layer[to] + 1);
                    layer[node] = below.max().unwrap_or(0);
                    state[node] = State::Done;
                }
            }
        }
    }
    layer
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// A graph in which every edge leads to the next layer: long edges get waypoints, so that they find a way between the
/// boxes instead of behind them.
pub(crate) struct Routed {
    /// Layer of each node and, behind them, of each waypoint.
    pub layer: Vec<usize>,
    /// The edges cut into steps.
    pub steps: Vec<(usize, usize)>,
    /// The waypoints of each edge, from the node that is needed to the one that needs it.
    pub ways: Vec<Vec<usize>>,
}

/// More waypoints than this would cost more than they help; then edges are drawn straight.
const WAYPOINTS: usize = 20_000;

/// Cuts long edges into steps.
pub(crate) fn route(layer: &[usize], edges: &[(usize, usize)]) -> Routed {
    let span = |&(from, to): &(usize, usize)| layer[from].saturating_sub(layer[to] + 1);
    let straight = edges.iter().map(span).sum::<usize>() > WAYPOINTS;
    let mut routed = Routed { layer: layer.to_vec(), steps: Vec::new(), ways: Vec::new() };
    for &(from, to) in edges {
        let mut way = Vec::new();
        let mut last = to;
        if !straight {
            for between in layer[to] + 1..layer[from] {
                let waypoint = routed.layer.len();
                routed.layer.push(between);
                routed.steps.push((waypoint, last));
                way.push(waypoint);
                last = waypoint;
            }
        }
        routed.steps.push((from, last));
        routed.ways.push(way);
    }
    routed
}

/// The nodes of each layer from top to bottom, few edges crossing.
pub(crate) fn order(layer: &[usize], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let height = layer.iter().max().map_or(0, |max| max + 1);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); height];
    for (node, &at) in layer.iter().enumerate() {
        columns[at].push(node);
    }
    let mut left: Vec<Vec<usize>> = vec![Vec::new(); layer.len()];
    let mut right: Vec<Vec<usize>> = vec![Vec::new(); layer.len()];
    for &(from, to) in edges {
        left[from].push(to);
        right[to].push(from);
    }
    let mut row = vec![0.0; layer.len()];
    let place = |columns: &[Vec<usize>], row: &mut Vec<f64>| {
        for column in columns {
            for (at, &node) in column.iter().enumerate() {
                row[node] = at as f64;
            }
        }
    };
    place(&columns, &mut row);
    for sweep in 0..4 {
        let neighbours = if sweep % 2 == 0 { &left } else { &right };
        for column in &mut columns {
            let mut keyed: Vec<(f64, usize)> =
                column.iter().map(|&node| (barycentre(&neighbours[node], &row, row[node]), node)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *column = keyed.into_iter().map(|(_, node)| node).collect();
        }
        place(&columns, &mut row);
    }
    columns
}

fn barycentre(neighbours: &[usize], row: &[f64], own: f64) -> f64 {
    if neighbours.is_empty() {
        return own;
    }
    neighbours.iter().map(|&node| row[node]).sum::<f64>() / neighbours.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_come_first_and_cycles_end() {
        assert_eq!(layers(4, &[(1, 0), (2, 1), (3, 0), (2, 0)]), [0, 1, 2, 1]);
        assert_eq!(layers(3, &[(0, 1), (1, 2), (2, 0)]).len(), 3);
        let chain: Vec<_> = (1..50_000).map(|n| (n, n - 1)).collect();
        assert_eq!(layers(50_000, &chain)[49_999], 49_999);
    }

    #[test]
    fn long_edges_pass_every_layer_between() {
        let edges = [(1, 0), (2, 1), (2, 0)];
        let routed = route(&layers(3, &edges), &edges);
        assert_eq!((routed.layer, routed.ways), (vec![0, 1, 2, 1], vec![vec![], vec![], vec![3]]));
    }

    #[test]
    fn every_node_has_a_place() {
        let edges = [(2, 0), (3, 1), (2, 1), (3, 0)];
        let columns = order(&layers(4, &edges), &edges);
        assert_eq!(columns.iter().map(Vec::len).sum::<usize>(), 4);
    }
}
