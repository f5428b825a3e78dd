//! Vertical order of boxes in each column, to minimise crossings of wires.

use super::flat::{Neighbours, Net, SWEEPS};

/// Number of sections of a box's height that are distinguished for ends of wires.
const PARTS: f64 = 16.0;
/// Columns up to this size are improved by exchanging neighbours.
const EXCHANGED: usize = 400;
/// Maximum number of rounds of exchanging neighbours in one pass.
const ROUNDS: usize = 4;
/// Pictures up to this many steps are gone over most thoroughly.
const SMALL: usize = 3_000;
/// Number of passes from each start.
const THOROUGH: usize = 24;

/// The boxes and waypoints of each column from top to bottom: the best of two starts.
pub(super) fn order(net: &Net) -> Vec<Vec<usize>> {
    let count = net.layer.iter().max().map_or(0, |max| max + 1);
    let (left, right) = net.neighbours();
    let is_small = net.steps.len() <= SMALL;
    let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
    for is_from_left in [true, false] {
        let (from, to) = if is_from_left { (&left, &right) } else { (&right, &left) };
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); count];
        for at in first_order(net, from, to) {
            columns[net.layer[at]].push(at);
        }
        let found = improved(net, columns, (&left, &right), is_small);
        if best.as_ref().is_none_or(|(crossed, _)| found.0 < *crossed) {
            best = Some(found);
        }
        if !is_small || best.as_ref().is_some_and(|(crossed, _)| *crossed == 0) {
            break;
        }
    }
    best.map(|(_, columns)| columns).unwrap_or_default()
}

/// Repeats passes over the columns; returns the best order found, and its number of crossings.
fn improved(
    net: &Net,
    mut columns: Vec<Vec<usize>>,
    (left, right): (&Neighbours, &Neighbours),
    is_small: bool,
) -> (usize, Vec<Vec<usize>>) {
    let mut row = vec![0usize; net.layer.len()];
    number(&columns, &mut row);
    let mut best = (crossings(net, &columns, &row), columns.clone());
    let sweeps = if is_small { THOROUGH } else { SWEEPS };
    for sweep in 0..sweeps {
        if best.0 == 0 {
            break;
        }
        let is_forward = sweep % 2 == 0;
        let neighbours = if is_forward { left } else { right };
        for turn in 0..columns.len() {
            let at = if is_forward { turn } else { columns.len() - 1 - turn };
            let column = &mut columns[at];
            let place = |node: usize| match sweep % 3 {
                0 => median(net, &neighbours[node], &row),
                _ => mean(net, &neighbours[node], &row),
            };
            let mut keyed: Vec<(f64, usize)> =
                column.iter().map(|&node| (place(node).unwrap_or(row[node] as f64), node)).collect();
            // Sorting keeps equals as they are; every other sweep turns them around, to get out of a dead end.
            if sweep % 4 >= 2 {
                keyed.reverse();
            }
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *column = keyed.into_iter().map(|(_, node)| node).collect();
            column.iter().enumerate().for_each(|(at, &node)| row[node] = at);
        }
        if is_small || sweep % 4 == 3 {
            // Now and then, exchanges without effect on crossings are made too.
            exchange(net, &mut columns, &mut row, (left, right), sweep % 4 == 1);
        }
        let now = crossings(net, &columns, &row);
        if now < best.0 {
            best = (now, columns.clone());
        }
    }
    if best.0 > 0 {
        number(&best.1, &mut row);
        exchange(net, &mut best.1, &mut row, (left, right), false);
        best.0 = crossings(net, &best.1, &row);
    }
    best
}

fn number(columns: &[Vec<usize>], row: &mut [usize]) {
    columns.iter().for_each(|column| column.iter().enumerate().for_each(|(at, &node)| row[node] = at));
}

/// A first order that keeps neighbours together: depth first from the left.
fn first_order(net: &Net, left: &Neighbours, right: &Neighbours) -> Vec<usize> {
    let mut is_seen = vec![false; net.layer.len()];
    let mut found = Vec::with_capacity(net.layer.len());
    let starts = (0..net.layer.len()).filter(|&at| left[at].is_empty());
    for start in starts.chain(0..net.layer.len()) {
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut is_seen[at], true) {
                continue;
            }
            found.push(at);
            stack.extend(right[at].iter().rev().map(|(to, _, _)| *to));
        }
    }
    found
}

/// End of a step within its row, from 0 at the top of the box to just below 1 at its bottom.
fn within(net: &Net, node: usize, off: f64) -> f64 {
    let height = net.heights[node];
    if height <= 0.0 { 0.5 } else { (off / height + 0.5).clamp(0.0, 0.999) }
}

fn mean(net: &Net, neighbours: &[(usize, f64, f64)], row: &[usize]) -> Option<f64> {
    let sum: f64 = neighbours.iter().map(|&(at, there, _)| row[at] as f64 + within(net, at, there)).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}

/// The median of the places that steps go to.
fn median(net: &Net, neighbours: &[(usize, f64, f64)], row: &[usize]) -> Option<f64> {
    let mut places: Vec<f64> =
        neighbours.iter().map(|&(at, there, _)| row[at] as f64 + within(net, at, there)).collect();
    places.sort_by(f64::total_cmp);
    let (low, high) = (places.get(places.len().checked_sub(1)? / 2)?, places.get(places.len() / 2)?);
    Some((low + high) / 2.0)
}

/// Exchanges neighbours in a column as long as that leaves fewer crossings; in the first round, if requested, also
/// where the number is equal.
fn exchange(
    net: &Net,
    columns: &mut [Vec<usize>],
    row: &mut [usize],
    (left, right): (&Neighbours, &Neighbours),
    takes_equals: bool,
) {
    for round in 0..ROUNDS {
        let mut is_better = false;
        for column in columns.iter_mut().filter(|column| column.len() <= EXCHANGED) {
            for at in 1..column.len() {
                let (above, below) = (column[at - 1], column[at]);
                let count = |one: usize, other: usize| -> usize {
                    [left, right].iter().map(|side| between(net, &side[one], &side[other], row)).sum()
                };
                let (now, then) = (count(above, below), count(below, above));
                if then < now || (then == now && now > 0 && takes_equals && round == 0) {
                    column.swap(at - 1, at);
                    (row[below], row[above]) = (at - 1, at);
                    is_better |= then < now;
                }
            }
        }
        if !is_better {
            break;
        }
    }
}

/// Number of crossing steps on one side of two neighbours.
fn between(net: &Net, above: &[(usize, f64, f64)], below: &[(usize, f64, f64)], row: &[usize]) -> usize {
    let place = |&(at, there, _): &(usize, f64, f64)| row[at] as f64 + within(net, at, there);
    let mut places: Vec<f64> = below.iter().map(place).collect();
    places.sort_by(f64::total_cmp);
    above.iter().map(|step| places.partition_point(|other| *other < place(step) - 1e-9)).sum()
}

/// Number of crossing steps, between all neighbouring columns.
pub(super) fn crossings(net: &Net, columns: &[Vec<usize>], row: &[usize]) -> usize {
    let key = |node: usize, off: f64| row[node] * PARTS as usize + (within(net, node, off) * PARTS) as usize;
    let mut between: Vec<Vec<(usize, usize)>> = vec![Vec::new(); columns.len()];
    for step in &net.steps {
        between[net.layer[step.from]].push((key(step.from, step.from_off), key(step.to, step.to_off)));
    }
    let mut total = 0;
    for (at, mut pairs) in between.into_iter().enumerate() {
        pairs.sort_unstable();
        // A tree of counts, by where steps end: how many of those before end further down.
        let size = (columns.get(at + 1).map_or(0, Vec::len) + 1) * PARTS as usize;
        let mut counts = vec![0usize; size + 1];
        for (seen, &(_, to)) in pairs.iter().enumerate() {
            let (mut up_to, mut node) = (0, to + 1);
            while node > 0 {
                up_to += counts.get(node).copied().unwrap_or(0);
                node &= node - 1;
            }
            total += seen - up_to;
            let mut node = to + 1;
            while let Some(count) = counts.get_mut(node) {
                *count += 1;
                node += node & node.wrapping_neg();
            }
        }
    }
    total
}
