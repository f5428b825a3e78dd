//! Where the boxes and lines of a picture go: layers, waypoints, order within a layer, places.
//!
//! Plain numbers in, plain numbers out; knows nothing of nodes or pictures. Boxes lie in columns, what needs others to
//! the left of what it needs, and in lanes that do not overlap. Lines to the same box come together on their way
//! to it. Cost is linear in boxes and steps, but for the sorting inside a layer.

/// A box: its size, and the lane it lies in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub width: f64,
    pub height: f64,
    pub lane: usize,
}

/// A line from a box to one that it needs. Lines of different kinds do not come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    pub from: usize,
    pub to: usize,
    pub kind: u8,
}

/// A place: the left upper corner, and the width of what lies there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A piece of a line between neighbouring layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub from: usize,
    pub to: usize,
    pub kind: u8,
    /// Whether the line leads the other way: it closes a cycle.
    pub is_back: bool,
}

/// What the picture is made of.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The boxes and, behind them, the waypoints of lines.
    pub places: Vec<Place>,
    /// All pieces of lines, each once.
    pub steps: Vec<Step>,
    /// From where to where each lane reaches, from the top; none for one that is empty.
    pub lanes: Vec<Option<(f64, f64)>>,
    pub width: f64,
    pub height: f64,
}

const COLUMN_GAP: f64 = 56.0;
const ROW_GAP: f64 = 18.0;
/// The room that a line takes where it passes other boxes.
const WAY_GAP: f64 = 9.0;
const LANE_GAP: f64 = 46.0;
/// More waypoints than this would cost more than they help; then lines are drawn straight.
const WAYPOINTS: usize = 20_000;
/// How often each phase goes over the whole picture.
const SWEEPS: usize = 12;

/// Places boxes and lines.
pub(crate) fn lay_out(items: &[Item], lines: &[Line], lanes: usize) -> Layout {
    let (lines, is_back) = without_cycles(items.len(), lines);
    let layer = layers(items.len(), &lines);
    let mut net = Net::new(items, &lines, &is_back, layer);
    let columns = order(&net);
    net.place(items, &columns, lanes)
}

/// The lines with those turned around that close a cycle, and which these are.
fn without_cycles(count: usize, lines: &[Line]) -> (Vec<Line>, Vec<bool>) {
    let mut needs: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (at, line) in lines.iter().enumerate() {
        needs[line.from].push((line.to, at));
    }
    let mut is_back = vec![false; lines.len()];
    let mut state = vec![State::New; count];
    for start in 0..count {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&(to, line)) = needs[node].get(next) else {
                state[node] = State::Done;
                continue;
            };
            stack.push((node, next + 1));
            match state[to] {
                State::New => {
                    state[to] = State::Open;
                    stack.push((to, 0));
                }
                State::Open => is_back[line] = true,
                State::Done => {}
            }
        }
    }
    let turned =
        |(line, &back): (&Line, &bool)| if back { Line { from: line.to, to: line.from, ..*line } } else { *line };
    (lines.iter().zip(&is_back).map(turned).collect(), is_back)
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// The layer of each box: as far left as what needs it allows, then nearer to what it has more lines to.
fn layers(count: usize, lines: &[Line]) -> Vec<usize> {
    let (mut needs, mut needed_by) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for line in lines.iter().filter(|line| line.from != line.to) {
        needs[line.from].push(line.to);
        needed_by[line.to].push(line.from);
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
    for sweep in 0..SWEEPS {
        let mut is_changed = false;
        for at in 0..sorted.len() {
            // Both directions in turn, so that chains move as a whole.
            let node = sorted[if sweep % 2 == 0 { sorted.len() - 1 - at } else { at }];
            let least = needed_by[node].iter().map(|&from| layer[from] + 1).max();
            let most = needs[node].iter().map(|&to| layer[to] - 1).min();
            let best = match (least, most) {
                (_, Some(most)) if needs[node].len() > needed_by[node].len() => most,
                (Some(least), _) => least,
                (None, Some(most)) => most,
                (None, None) => continue,
            };
            is_changed |= layer[node] != best;
            layer[node] = best;
        }
        if !is_changed {
            break;
        }
    }
    layer
}

/// A graph in which every step leads to the next layer.
struct Net {
    /// The layer of each box and, behind them, of each waypoint.
    layer: Vec<usize>,
    lane: Vec<usize>,
    boxes: usize,
    steps: Vec<Step>,
}

impl Net {
    /// Cuts lines into steps. All lines of one kind to the same box share their waypoints.
    fn new(items: &[Item], lines: &[Line], is_back: &[bool], layer: Vec<usize>) -> Self {
        let lane = items.iter().map(|item| item.lane).collect();
        let mut net = Net { lane, boxes: items.len(), layer, steps: Vec::new() };
        let length = |line: &Line| net.layer[line.to].saturating_sub(net.layer[line.from] + 1);
        let is_straight = lines.iter().map(length).sum::<usize>() > WAYPOINTS;
        let mut ways = std::collections::HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for (line, &is_back) in lines.iter().zip(is_back).filter(|(line, _)| line.from != line.to) {
            let mut last = line.from;
            let between = if is_straight { 0..0 } else { net.layer[line.from] + 1..net.layer[line.to] };
            for at in between {
                // A line that leads back shares nothing: its arrow is at the other end.
                let key = (if is_back { line.from } else { line.to }, line.kind, is_back, at);
                let way = *ways.entry(key).or_insert_with(|| {
                    net.layer.push(at);
                    net.lane.push(items[line.to].lane);
                    net.layer.len() - 1
                });
                let step = Step { from: last, to: way, kind: line.kind, is_back };
                if seen.insert(step) {
                    net.steps.push(step);
                }
                last = way;
            }
            let step = Step { from: last, to: line.to, kind: line.kind, is_back };
            if seen.insert(step) {
                net.steps.push(step);
            }
        }
        net
    }

    fn neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let (mut left, mut right) = (vec![Vec::new(); self.layer.len()], vec![Vec::new(); self.layer.len()]);
        for step in &self.steps {
            right[step.from].push(step.to);
            left[step.to].push(step.from);
        }
        (left, right)
    }

    /// Gives everything its place.
    fn place(&mut self, items: &[Item], columns: &[Vec<usize>], lanes: usize) -> Layout {
        let (left, right) = self.neighbours();
        let height = |at: usize| items.get(at).map_or(0.0, |item| item.height);
        let mut middle = vec![0.0; self.layer.len()];
        let mut reach = Vec::new();
        // How far down each column is used: lanes that share no column are placed side by side.
        let mut taken = vec![0.0f64; columns.len()];
        for lane in 0..lanes {
            let own = |column: &Vec<usize>| column.iter().copied().filter(|&at| self.lane[at] == lane).collect();
            let columns: Vec<Vec<usize>> = columns.iter().map(own).collect();
            self.spread(&columns, &left, &right, &height, &mut middle, lane);
            squeeze(columns.iter().flatten().copied().collect(), &height, &mut middle);
            let members = columns.iter().flatten().copied();
            let highest = members.clone().map(|at| middle[at] - height(at) / 2.0).fold(f64::INFINITY, f64::min);
            let lowest = members.clone().map(|at| middle[at] + height(at) / 2.0).fold(f64::NEG_INFINITY, f64::max);
            let first = columns.iter().position(|column| !column.is_empty());
            let last = columns.iter().rposition(|column| !column.is_empty());
            let (Some(first), Some(last)) = (first, last) else {
                reach.push(None);
                continue;
            };
            let top = taken[first..=last].iter().copied().fold(0.0, f64::max);
            let bottom = top + lowest - highest;
            members.for_each(|at| middle[at] += top - highest);
            reach.push(Some((top, bottom)));
            taken[first..=last].fill(bottom + LANE_GAP);
        }
        let down = taken.into_iter().fold(0.0, f64::max);
        let mut places = vec![Place::default(); self.layer.len()];
        let mut between = vec![0usize; columns.len()];
        self.steps.iter().for_each(|step| between[self.layer[step.from]] += 1);
        let mut x = 0.0;
        for (column, between) in columns.iter().zip(between) {
            let width = column.iter().filter_map(|&at| items.get(at)).map(|item| item.width).fold(0.0, f64::max);
            for &at in column {
                let own = items.get(at).map_or(width, |item| item.width);
                places[at] = Place { x, y: middle[at] - height(at) / 2.0, width: own, height: height(at) };
            }
            x += width + COLUMN_GAP + (between as f64 * 1.5).min(90.0);
        }
        let right_end = |(place, _): (&Place, &Item)| place.x + place.width;
        let width = places.iter().zip(items).map(right_end).fold(0.0, f64::max);
        Layout {
            places,
            steps: std::mem::take(&mut self.steps),
            lanes: reach,
            width,
            height: (down - LANE_GAP).max(0.0),
        }
    }

    /// Spreads a lane's boxes over its height: each as near as may be to its neighbours, none too near to the next.
    fn spread(
        &self,
        columns: &[Vec<usize>],
        left: &[Vec<usize>],
        right: &[Vec<usize>],
        height: &dyn Fn(usize) -> f64,
        middle: &mut [f64],
        lane: usize,
    ) {
        let apart = |above: usize, below: usize| {
            let gap = if above < self.boxes && below < self.boxes { ROW_GAP } else { WAY_GAP };
            (height(above) + height(below)) / 2.0 + gap
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
                    for &other in sides.iter().copied().flatten().filter(|&&other| self.lane[other] == lane) {
                        // A line that passes by should stay straight.
                        let own = if at >= self.boxes && other >= self.boxes { 8.0 } else { 1.0 };
                        sum += own * middle[other];
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

/// Removes rows of a lane that are empty in every column; they would only push unconnected boxes apart.
fn squeeze(mut members: Vec<usize>, height: &dyn Fn(usize) -> f64, middle: &mut [f64]) {
    let top = |at: usize, middle: &[f64]| middle[at] - height(at) / 2.0;
    members.sort_by(|&one, &other| top(one, middle).total_cmp(&top(other, middle)));
    let (mut reached, mut shift) = (None::<f64>, 0.0);
    for at in members {
        let (from, to) = (top(at, middle), middle[at] + height(at) / 2.0);
        shift += reached.map_or(0.0, |reached| (from - reached - ROW_GAP).max(0.0));
        reached = Some(reached.map_or(to, |reached| reached.max(to)));
        middle[at] -= shift;
    }
}

/// The places nearest to what is wanted, by weight and least squares, that keep their order and their gaps: whatever is
/// too near is pushed apart around its common middle.
fn nearest(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    // Sum and weight of the wanted places of those that touch each other, less what lies above them; and how many.
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

/// The boxes and waypoints of each layer from top to bottom, lane by lane, few lines crossing.
fn order(net: &Net) -> Vec<Vec<usize>> {
    let count = net.layer.iter().max().map_or(0, |max| max + 1);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); count];
    for at in first_order(net) {
        columns[net.layer[at]].push(at);
    }
    let (left, right) = net.neighbours();
    let mut row = vec![0usize; net.layer.len()];
    let number = |columns: &[Vec<usize>], row: &mut [usize]| {
        columns.iter().for_each(|column| column.iter().enumerate().for_each(|(at, &node)| row[node] = at));
    };
    columns.iter_mut().for_each(|column| column.sort_by_key(|&at| net.lane[at]));
    number(&columns, &mut row);
    let mut best = (crossings(net, &columns, &row), columns.clone());
    for sweep in 0..SWEEPS {
        let is_forward = sweep % 2 == 0;
        let neighbours = if is_forward { &left } else { &right };
        for turn in 0..count {
            let at = if is_forward { turn } else { count - 1 - turn };
            let column = &mut columns[at];
            let mut keyed: Vec<(usize, f64, usize)> = column
                .iter()
                .map(|&node| (net.lane[node], mean(&neighbours[node], &row).unwrap_or(row[node] as f64), node))
                .collect();
            // Sorting keeps equals as they are; every other sweep turns them around, to get out of a dead end.
            if sweep % 4 >= 2 {
                keyed.reverse();
            }
            keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            *column = keyed.into_iter().map(|(_, _, node)| node).collect();
            column.iter().enumerate().for_each(|(at, &node)| row[node] = at);
        }
        let now = crossings(net, &columns, &row);
        if now < best.0 {
            best = (now, columns.clone());
        }
    }
    best.1
}

/// A first order that keeps what belongs together together: depth first from the left.
fn first_order(net: &Net) -> Vec<usize> {
    let (left, right) = net.neighbours();
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
            stack.extend(right[at].iter().rev());
        }
    }
    found
}

fn mean(neighbours: &[usize], row: &[usize]) -> Option<f64> {
    let sum = neighbours.iter().map(|&at| row[at]).sum::<usize>();
    (!neighbours.is_empty()).then(|| sum as f64 / neighbours.len() as f64)
}

/// How many pairs of steps cross, between all neighbouring layers.
fn crossings(net: &Net, columns: &[Vec<usize>], row: &[usize]) -> usize {
    let mut between: Vec<Vec<(usize, usize)>> = vec![Vec::new(); columns.len()];
    for step in &net.steps {
        between[net.layer[step.from]].push((row[step.from], row[step.to]));
    }
    let mut total = 0;
    for (at, mut pairs) in between.into_iter().enumerate() {
        pairs.sort_unstable();
        // A tree of counts, by the row in which steps end: how many of those before end further down.
        let size = columns.get(at + 1).map_or(0, Vec::len);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn items(count: usize) -> Vec<Item> {
        vec![Item { width: 100.0, height: 40.0, lane: 0 }; count]
    }

    fn lines(pairs: &[(usize, usize)]) -> Vec<Line> {
        pairs.iter().map(|&(from, to)| Line { from, to, kind: 0 }).collect()
    }

    /// A graph that looks random and is always the same.
    fn woven(count: usize, edges: usize) -> Vec<Line> {
        let mut seed = 7usize;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        (0..edges)
            .map(|_| (next(count), next(count)))
            .filter(|(a, b)| a != b)
            .map(|(from, to)| Line { from, to, kind: 0 })
            .collect()
    }

    #[test]
    fn what_is_needed_lies_to_the_right() {
        assert_eq!(layers(4, &lines(&[(1, 0), (2, 1), (3, 0), (2, 0)])), [2, 1, 0, 1]);
        let chain: Vec<(usize, usize)> = (1..50_000).map(|n| (n, n - 1)).collect();
        assert_eq!(layers(50_000, &lines(&chain))[0], 49_999);
    }

    #[test]
    fn cycles_are_drawn_with_one_line_turned_around() {
        let layout = lay_out(&items(3), &lines(&[(0, 1), (1, 2), (2, 0)]), 1);
        assert_eq!(layout.steps.iter().filter(|step| step.is_back).count(), 2, "a long line has two steps");
        assert_eq!(lay_out(&items(1), &lines(&[(0, 0)]), 1).steps, []);
    }

    #[test]
    fn lines_to_one_box_come_together() {
        let layout = lay_out(&items(5), &lines(&[(0, 1), (1, 2), (2, 3), (0, 3), (4, 1), (4, 3)]), 1);
        let into_the_last = layout.steps.iter().filter(|step| step.to == 3).count();
        assert_eq!(into_the_last, 2, "{:?}", layout.steps);
    }

    #[test]
    fn boxes_never_overlap_and_steps_lead_right() {
        for (count, edges) in [(1, 0), (5, 3), (40, 60), (200, 300), (120, 900)] {
            let mut items = items(count);
            items.iter_mut().enumerate().for_each(|(at, item)| item.lane = at % 3);
            let layout = lay_out(&items, &woven(count, edges), 3);
            let boxes = &layout.places[..count];
            for (at, one) in boxes.iter().enumerate() {
                let is_apart = |two: &Place| {
                    one.x >= two.x + two.width
                        || two.x >= one.x + one.width
                        || one.y >= two.y + two.height - 0.01
                        || two.y >= one.y + one.height - 0.01
                };
                assert!(boxes.iter().skip(at + 1).all(is_apart), "{at} of {count}");
                let lane = layout.lanes[items[at].lane].unwrap();
                assert!(one.y >= lane.0 - 0.01 && one.y + one.height <= lane.1 + 0.01);
            }
            assert!(layout.steps.iter().all(|step| layout.places[step.from].x < layout.places[step.to].x));
        }
    }

    #[test]
    fn sweeps_leave_fewer_crossings() {
        let lines = woven(60, 90);
        let (turned, back) = without_cycles(60, &lines);
        let net = Net::new(&items(60), &turned, &back, layers(60, &turned));
        let count = |columns: &[Vec<usize>]| {
            let mut row = vec![0; net.layer.len()];
            columns.iter().for_each(|column| column.iter().enumerate().for_each(|(at, &node)| row[node] = at));
            crossings(&net, columns, &row)
        };
        let mut plain = vec![Vec::new(); net.layer.iter().max().unwrap() + 1];
        (0..net.layer.len()).for_each(|at| plain[net.layer[at]].push(at));
        assert!(count(&order(&net)) * 2 < count(&plain));
    }

    #[test]
    fn rows_with_nothing_in_them_are_taken_out() {
        let mut middle = vec![0.0, 500.0, 20.0, 1_000.0];
        squeeze(vec![0, 1, 2, 3], &|_| 10.0, &mut middle);
        assert_eq!(middle, [0.0, 20.0 + 10.0 + ROW_GAP, 20.0, 20.0 + 20.0 + 2.0 * ROW_GAP]);
    }

    #[test]
    fn nearest_places_keep_their_gaps() {
        let wanted = [(0.0, 1.0), (0.0, 1.0), (30.0, 1.0)];
        assert_eq!(nearest(&wanted, &[10.0, 10.0]), [-5.0, 5.0, 30.0]);
        assert_eq!(nearest(&[(5.0, 1.0), (0.0, 3.0)], &[1.0]), [0.5, 1.5]);
    }
}
