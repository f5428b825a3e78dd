//! One level of a picture: boxes in columns, those that need others to the left of what they need, and wires between
//! neighbouring columns. Wires to the same end come together on their way to it.
//!
//! Wires form no cycle here. Cost is linear in boxes and steps, but for the sorting inside a column.

use super::order::order;
use super::{Curve, Place, Point};
use std::collections::HashMap;

/// A box of this level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub width: f64,
    pub height: f64,
    pub side: Side,
}

/// Which column a box must be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Free,
    First,
    Last,
}

/// A line between two boxes of this level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub from: usize,
    pub to: usize,
    /// Its start and end, relative to the middle of each box.
    pub from_off: f64,
    pub to_off: f64,
    /// Wires of one bundle come together.
    pub bundle: usize,
}

/// A piece of wires between neighbouring columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub from: usize,
    pub to: usize,
    pub from_off: f64,
    pub to_off: f64,
}

/// Contents of a level.
#[derive(Debug, Default)]
pub(super) struct Flat {
    pub places: Vec<Place>,
    pub curves: Vec<Curve>,
    /// The pieces of each wire.
    pub ways: Vec<Vec<usize>>,
    pub width: f64,
    pub height: f64,
}

const COLUMN_GAP: f64 = 56.0;
/// Gap between a box and the edge of the box around it, where lines are bundled.
const PORT_GAP: f64 = 26.0;
pub(super) const ROW_GAP: f64 = 18.0;
/// Space for a wire beside boxes.
const WAY_GAP: f64 = 9.0;
/// More waypoints than this would cost more than they help; then wires are drawn straight.
const WAYPOINTS: usize = 40_000;
/// Number of passes of each phase over the whole level.
pub(super) const SWEEPS: usize = 12;

/// Places boxes and wires. `words` is the room for words between columns.
pub(super) fn lay_out(cells: &[Cell], wires: &[Wire], words: f64) -> Flat {
    let net = Net::new(cells, wires, layers(cells, wires));
    let columns = order(&net);
    net.place(cells, &columns, words)
}

/// The column of each box: as far left as its dependencies allow, then nearer to those with more wires to it.
pub(super) fn layers(cells: &[Cell], wires: &[Wire]) -> Vec<usize> {
    let count = cells.len();
    let (mut needs, mut needed_by) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for wire in wires {
        needs[wire.from].push(wire.to);
        needed_by[wire.to].push(wire.from);
    }
    let mut waiting: Vec<usize> = needed_by.iter().map(Vec::len).collect();
    let mut sorted: Vec<usize> = (0..count).filter(|&at| waiting[at] == 0).collect();
    let mut layer = vec![0usize; count];
    let mut next = 0;
    while let Some(&node) = sorted.get(next) {
        next += 1;
        for &to in &needs[node] {
            layer[to] = layer[to].max(layer[node] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                sorted.push(to);
            }
        }
    }
    let is_free = |at: usize| cells.get(at).is_some_and(|cell| cell.side == Side::Free);
    // Boxes without wires stay with each other.
    for sweep in 0..SWEEPS {
        let mut is_changed = false;
        for at in 0..sorted.len() {
            // Both directions in turn, so that chains move as a whole.
            let node = sorted[if sweep % 2 == 0 { sorted.len() - 1 - at } else { at }];
            if !is_free(node) {
                continue;
            }
            let least = needed_by[node].iter().map(|&from| layer[from] + 1).max();
            let most = needs[node].iter().filter(|&&to| is_free(to)).map(|&to| layer[to].saturating_sub(1)).min();
            let best = match (least, most) {
                (_, Some(most)) if needs[node].len() > needed_by[node].len() => most,
                (Some(least), _) => least,
                (None, Some(most)) => most,
                (None, None) => continue,
            };
            let best = best.max(least.unwrap_or(0));
            is_changed |= layer[node] != best;
            layer[node] = best;
        }
        if !is_changed {
            break;
        }
    }
    // A column of its own only if a box needs one: otherwise lines that lead out are beside the last boxes.
    let ends = |at: usize| cells.get(at).is_some_and(|cell| cell.side == Side::Last);
    let last = (0..count).map(|at| layer[at]).max().unwrap_or(0);
    (0..count).filter(|&at| ends(at)).for_each(|at| layer[at] = last);
    layer
}

/// A graph in which every step goes to the next column.
pub(super) struct Net {
    /// The column of each box and, behind them, of each waypoint.
    pub layer: Vec<usize>,
    pub boxes: usize,
    pub heights: Vec<f64>,
    pub steps: Vec<Step>,
    ways: Vec<Vec<usize>>,
}

/// Neighbours of each place in one direction: their place, the step's end there, and its end here.
pub(super) type Neighbours = Vec<Vec<(usize, f64, f64)>>;

impl Net {
    /// Cuts wires into steps. All wires of a bundle share their waypoints.
    pub fn new(cells: &[Cell], wires: &[Wire], layer: Vec<usize>) -> Self {
        let heights = cells.iter().map(|cell| cell.height).collect();
        let mut net = Net { boxes: cells.len(), layer, heights, steps: Vec::new(), ways: Vec::new() };
        let length = |wire: &Wire| net.layer[wire.to].saturating_sub(net.layer[wire.from] + 1);
        let is_straight = wires.iter().map(length).sum::<usize>() > WAYPOINTS;
        let mut points: HashMap<(usize, usize), usize> = HashMap::new();
        let mut known: HashMap<(usize, usize, u64, u64, usize), usize> = HashMap::new();
        for wire in wires {
            let mut way = Vec::new();
            let (mut last, mut off) = (wire.from, wire.from_off);
            let between = if is_straight {
                0..0
            } else {
                net.layer[wire.from] + 1..net.layer[wire.to].max(net.layer[wire.from] + 1)
            };
            for at in between {
                let point = *points.entry((wire.bundle, at)).or_insert_with(|| {
                    net.layer.push(at);
                    net.heights.push(0.0);
                    net.layer.len() - 1
                });
                way.push(net.step(&mut known, Step { from: last, to: point, from_off: off, to_off: 0.0 }, wire.bundle));
                (last, off) = (point, 0.0);
            }
            let step = Step { from: last, to: wire.to, from_off: off, to_off: wire.to_off };
            way.push(net.step(&mut known, step, wire.bundle));
            net.ways.push(way);
        }
        net
    }

    fn step(
        &mut self,
        known: &mut HashMap<(usize, usize, u64, u64, usize), usize>,
        step: Step,
        bundle: usize,
    ) -> usize {
        let key = (step.from, step.to, step.from_off.to_bits(), step.to_off.to_bits(), bundle);
        *known.entry(key).or_insert_with(|| {
            self.steps.push(step);
            self.steps.len() - 1
        })
    }

    pub fn neighbours(&self) -> (Neighbours, Neighbours) {
        let (mut left, mut right) = (vec![Vec::new(); self.layer.len()], vec![Vec::new(); self.layer.len()]);
        for step in &self.steps {
            right[step.from].push((step.to, step.to_off, step.from_off));
            left[step.to].push((step.from, step.from_off, step.to_off));
        }
        (left, right)
    }

    /// Gives everything its place.
    fn place(mut self, cells: &[Cell], columns: &[Vec<usize>], words: f64) -> Flat {
        let mut middle = vec![0.0; self.layer.len()];
        self.spread(columns, &mut middle);
        squeeze(columns.iter().flatten().copied().collect(), &self.heights, &mut middle);
        let edge = |at: usize, side: f64| middle[at] + side * self.heights[at] / 2.0;
        let all = columns.iter().flatten().copied();
        let top = all.clone().map(|at| edge(at, -1.0)).fold(f64::INFINITY, f64::min);
        let bottom = all.map(|at| edge(at, 1.0)).fold(f64::NEG_INFINITY, f64::max);
        let top = if top.is_finite() { top } else { 0.0 };
        let mut places = vec![Place::default(); self.layer.len()];
        let mut between = vec![0usize; columns.len()];
        self.steps.iter().for_each(|step| between[self.layer[step.from]] += 1);
        let (mut x, mut ends) = (0.0, Vec::with_capacity(columns.len()));
        for (number, (column, between)) in columns.iter().zip(between).enumerate() {
            let width = column.iter().filter_map(|&at| cells.get(at)).map(|cell| cell.width).fold(0.0, f64::max);
            for &at in column {
                let own = cells.get(at).map_or(width, |cell| cell.width);
                let y = middle[at] - self.heights[at] / 2.0 - top;
                places[at] = Place { x, y, width: own, height: self.heights[at] };
            }
            ends.push(x + width);
            // Ports at the edge of a box are no boxes that need room.
            let is_of_ports = |column: Option<&Vec<usize>>| {
                column.is_some_and(|column| {
                    column.iter().all(|&at| cells.get(at).is_none_or(|cell| cell.side != Side::Free))
                })
            };
            let gap = match is_of_ports(columns.get(number)) || is_of_ports(columns.get(number + 1)) {
                true => PORT_GAP,
                false => COLUMN_GAP + words,
            };
            x += width + gap + (between as f64 * 1.5).min(90.0);
        }
        let curves = self.steps.iter().map(|step| self.curve(step, &places, &ends)).collect();
        let ways = std::mem::take(&mut self.ways);
        places.truncate(self.boxes);
        Flat { places, curves, ways, width: ends.last().copied().unwrap_or(0.0), height: (bottom - top).max(0.0) }
    }

    fn curve(&self, step: &Step, places: &[Place], ends: &[f64]) -> Curve {
        let (from, to) = (&places[step.from], &places[step.to]);
        let (is_box, y) = (step.from < self.boxes, from.y + from.height / 2.0 + step.from_off);
        let start = Point { x: if is_box { from.x + from.width } else { from.x }, y };
        // A wire leaves its column straight, so that it does not run behind the wider boxes there.
        let turn = Point { x: ends.get(self.layer[step.from]).copied().unwrap_or(start.x).max(start.x), y };
        let end = Point { x: to.x, y: to.y + to.height / 2.0 + step.to_off };
        Curve { start, turn, end, finish: end, is_vertical: false }
    }

    /// Spreads boxes over the height: each as close as possible to its neighbours, with gaps between boxes.
    fn spread(&self, columns: &[Vec<usize>], middle: &mut [f64]) {
        let (left, right) = self.neighbours();
        let apart = |above: usize, below: usize| {
            let gap = if above < self.boxes && below < self.boxes { ROW_GAP } else { WAY_GAP };
            (self.heights[above] + self.heights[below]) / 2.0 + gap
        };
        for column in columns {
            let mut y = 0.0;
            for (row, &at) in column.iter().enumerate() {
                y += row.checked_sub(1).and_then(|above| column.get(above)).map_or(0.0, |&above| apart(above, at));
                middle[at] = y;
            }
        }
        for sweep in 0..SWEEPS {
            let is_forward = sweep % 2 == 0;
            for turn in 0..columns.len() {
                let column = &columns[if is_forward { turn } else { columns.len() - 1 - turn }];
                let wanted = |at: usize| {
                    let both = [&left[at], &right[at]];
                    let sides = if sweep + 2 < SWEEPS { &both[usize::from(!is_forward)..][..1] } else { &both[..] };
                    let (mut sum, mut weight) = (0.0, 0.0);
                    for &(other, there, here) in sides.iter().copied().flatten() {
                        // A wire that passes by should stay straight.
                        let own = if at >= self.boxes && other >= self.boxes { 8.0 } else { 1.0 };
                        sum += own * (middle[other] + there - here);
                        weight += own;
                    }
                    if weight == 0.0 { (middle[at], 0.1) } else { (sum / weight, weight) }
                };
                let targets: Vec<(f64, f64)> = column.iter().map(|&at| wanted(at)).collect();
                let gaps: Vec<f64> = column.windows(2).map(|pair| apart(pair[0], pair[1])).collect();
                for (&at, y) in column.iter().zip(nearest(&targets, &gaps)) {
                    middle[at] = y;
                }
            }
        }
    }
}

/// Removes rows that are empty in every column; they would only push unconnected boxes apart.
fn squeeze(mut members: Vec<usize>, heights: &[f64], middle: &mut [f64]) {
    let top = |at: usize, middle: &[f64]| middle[at] - heights[at] / 2.0;
    members.sort_by(|&one, &other| top(one, middle).total_cmp(&top(other, middle)));
    let (mut reached, mut shift) = (None::<f64>, 0.0);
    for at in members {
        let (from, to) = (top(at, middle), middle[at] + heights[at] / 2.0);
        shift += reached.map_or(0.0, |reached| (from - reached - ROW_GAP).max(0.0));
        reached = Some(reached.map_or(to, |reached| reached.max(to)));
        middle[at] -= shift;
    }
}

/// The positions nearest to the wanted ones, by weighted least squares, that keep order and gaps: positions that are
/// too close are moved apart around their common middle.
fn nearest(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    // Sum and weight of the wanted positions of a contiguous group, less the height above them; and their number.
    let mut groups: Vec<(f64, f64, usize)> = Vec::new();
    let mut offset = 0.0;
    for (at, &(place, weight)) in wanted.iter().enumerate() {
        offset += at.checked_sub(1).and_then(|above| gaps.get(above)).copied().unwrap_or(0.0);
        let mut group = ((place - offset) * weight, weight, 1);
        while let Some(&(sum, heavy, count)) = groups.last() {
            if sum / heavy <= group.0 / group.1 {
                break;
            }
            groups.pop();
            group = (group.0 + sum, group.1 + heavy, group.2 + count);
        }
        groups.push(group);
    }
    let mut out = Vec::with_capacity(wanted.len());
    let mut offset = 0.0;
    for (sum, weight, count) in groups {
        for _ in 0..count {
            offset += out.len().checked_sub(1).and_then(|above| gaps.get(above)).copied().unwrap_or(0.0);
            out.push(sum / weight + offset);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(count: usize) -> Vec<Cell> {
        vec![Cell { width: 100.0, height: 40.0, side: Side::Free }; count]
    }

    fn wires(pairs: &[(usize, usize)]) -> Vec<Wire> {
        pairs.iter().map(|&(from, to)| Wire { from, to, from_off: 0.0, to_off: 0.0, bundle: to }).collect()
    }

    #[test]
    fn what_is_needed_lies_to_the_right() {
        assert_eq!(layers(&cells(4), &wires(&[(1, 0), (2, 1), (3, 0), (2, 0)])), [2, 1, 0, 1]);
        let chain: Vec<(usize, usize)> = (1..50_000).map(|n| (n, n - 1)).collect();
        assert_eq!(layers(&cells(50_000), &wires(&chain))[0], 49_999);
    }

    #[test]
    fn wires_to_one_box_come_together() {
        let layout = lay_out(&cells(5), &wires(&[(0, 1), (1, 2), (2, 3), (0, 3), (4, 1), (4, 3)]), 0.0);
        let into_the_last = layout.curves.iter().filter(|curve| curve.end.x == layout.places[3].x).count();
        assert_eq!(into_the_last, 2, "{:?}", layout.curves);
    }

    #[test]
    fn rows_with_nothing_in_them_are_taken_out() {
        let mut middle = vec![0.0, 500.0, 20.0, 1_000.0];
        squeeze(vec![0, 1, 2, 3], &[10.0; 4], &mut middle);
        assert_eq!(middle, [0.0, 20.0 + 10.0 + ROW_GAP, 20.0, 20.0 + 20.0 + 2.0 * ROW_GAP]);
    }

    #[test]
    fn nearest_places_keep_their_gaps() {
        let wanted = [(0.0, 1.0), (0.0, 1.0), (30.0, 1.0)];
        assert_eq!(nearest(&wanted, &[10.0, 10.0]), [-5.0, 5.0, 30.0]);
        assert_eq!(nearest(&[(5.0, 1.0), (0.0, 3.0)], &[1.0]), [0.5, 1.5]);
    }
}
