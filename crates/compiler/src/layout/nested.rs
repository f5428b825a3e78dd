//! Nesting of levels: the contents of a box are laid out on their own, then the box as an item of its level.
//!
//! A line between boxes of different levels is cut where it leaves or enters a box: there is a port at the box's edge,
//! which is a place of the inner level and an end of a wire of the outer one.

use super::flat::{self, Cell, Flat, ROW_GAP, Side, Wire};
use super::{Curve, Direction, Item, Layout, Line, Place, Point, Step};
use std::collections::{HashMap, HashSet};

/// Room around the contents of a box.
const PADDING: f64 = 14.0;
/// The shape that boxes without lines are put into: so much wider than high.
const ASPECT: f64 = 1.7;

/// Places boxes and lines.
pub(crate) fn lay_out(items: &[Item], lines: &[Line], direction: Direction) -> Layout {
    let mut nest = Nest::new(items, lines, direction);
    // Contents come before the box around them.
    for at in nest.outermost_last() {
        nest.level(at);
    }
    nest.finish()
}

/// A line as it is laid out: from left to right.
#[derive(Clone, Copy)]
struct Course {
    from: usize,
    to: usize,
    kind: u8,
    /// Whether the line itself points the other way, because it closes a cycle.
    is_back: bool,
    /// The innermost box around both ends; `None` for the picture as a whole.
    around: Option<usize>,
    /// Number of levels below that of each end.
    depths: (usize, usize),
    /// The room for its words.
    words: f64,
}

/// Crossing of a line and the edge of a box: the side, and the bundle.
type Port = (Side, usize);

/// A port of a box that has been laid out.
#[derive(Clone, Copy)]
struct Opening {
    /// From the upper edge of the box.
    y: f64,
}

/// A level that has been laid out.
struct Done {
    flat: Flat,
    /// Kind of each of its cells.
    cells: Vec<Inner>,
    /// Each wire with its lines.
    wires: Vec<(Wire, Vec<usize>)>,
    /// Offset of its contents from the box's corner.
    x: f64,
    y: f64,
}

#[derive(Clone, Copy)]
enum Inner {
    Box(usize),
    Port(Side),
}

struct Nest<'i> {
    items: &'i [Item],
    direction: Direction,
    courses: Vec<Option<Course>>,
    /// The lines with a part in each level; the picture as a whole is the last.
    lines_of: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    sizes: Vec<(f64, f64)>,
    openings: Vec<HashMap<Port, Opening>>,
    done: Vec<Option<Done>>,
}

impl<'i> Nest<'i> {
    fn new(items: &'i [Item], lines: &[Line], direction: Direction) -> Self {
        let whole = items.len();
        let mut children = vec![Vec::new(); whole + 1];
        for (at, item) in items.iter().enumerate() {
            children[item.parent.unwrap_or(whole)].push(at);
        }
        let size = |item: &Item| match direction.is_vertical() {
            true => (item.height, item.width),
            false => (item.width, item.height),
        };
        let mut nest = Nest {
            items,
            direction,
            courses: lines.iter().map(|line| course(items, line)).collect(),
            lines_of: vec![Vec::new(); whole + 1],
            children,
            sizes: items.iter().map(size).collect(),
            openings: vec![HashMap::new(); whole],
            done: (0..=whole).map(|_| None).collect(),
        };
        nest.turn_around();
        nest.share_out();
        nest
    }

    /// Turns lines around that close a cycle among the boxes of their level.
    fn turn_around(&mut self) {
        let mut levels: HashMap<Option<usize>, Vec<(usize, usize, usize)>> = HashMap::new();
        for (at, course) in self.courses.iter().enumerate() {
            if let Some(course) = course {
                let ends = self.ends(course);
                levels.entry(course.around).or_default().push((ends.0, ends.1, at));
            }
        }
        for lines in levels.into_values() {
            let mut turned = Vec::new();
            closing(&lines, &mut turned);
            for at in turned {
                if let Some(course) = self.courses.get_mut(at).and_then(Option::as_mut) {
                    *course = Course {
                        from: course.to,
                        to: course.from,
                        is_back: true,
                        depths: (course.depths.1, course.depths.0),
                        ..*course
                    };
                }
            }
        }
    }

    /// The boxes of a line's level that contain its ends.
    fn ends(&self, course: &Course) -> (usize, usize) {
        (self.above(course.from, course.depths.0), self.above(course.to, course.depths.1))
    }

    /// The enclosing box, `levels` levels above another.
    fn above(&self, mut at: usize, levels: usize) -> usize {
        for _ in 0..levels {
            at = self.items[at].parent.unwrap_or(at);
        }
        at
    }

    /// Assigns each line to the levels it passes through.
    fn share_out(&mut self) {
        let whole = self.items.len();
        for at in 0..self.courses.len() {
            let Some(course) = self.courses[at] else { continue };
            self.lines_of[course.around.unwrap_or(whole)].push(at);
            for (end, depth) in [(course.from, course.depths.0), (course.to, course.depths.1)] {
                for level in 1..=depth {
                    let around = self.above(end, level);
                    self.lines_of[around].push(at);
                }
            }
        }
    }

    /// All boxes that hold others, those inside first, and at last the picture as a whole.
    fn outermost_last(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut stack = vec![self.items.len()];
        while let Some(at) = stack.pop() {
            found.push(at);
            stack.extend(self.children[at].iter().filter(|child| !self.children[**child].is_empty()));
        }
        found.reverse();
        found
    }

    /// The bundle of a line: lines of one kind whose arrows are at the same end. The arrow of a reversed line is where
    /// its layout begins.
    fn bundle(&self, course: &Course) -> usize {
        let end = if course.is_back { course.from } else { course.to };
        end * 4 + usize::from(course.kind) * 2 + usize::from(course.is_back)
    }

    /// Lays out the contents of a box, or the whole picture.
    fn level(&mut self, level: usize) {
        let whole = self.items.len();
        let mut cells: Vec<Cell> = Vec::new();
        let mut inner: Vec<Inner> = Vec::new();
        let mut place_of: HashMap<usize, usize> = HashMap::new();
        for &child in &self.children[level] {
            place_of.insert(child, cells.len());
            let (width, height) = self.sizes[child];
            cells.push(Cell { width, height, side: Side::Free });
            inner.push(Inner::Box(child));
        }
        let mut ports: HashMap<Port, usize> = HashMap::new();
        let mut wires: Vec<Wire> = Vec::new();
        let mut lines: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<(usize, usize, u64, u64, usize), usize> = HashMap::new();
        let mut words = 0.0f64;
        for &line in &self.lines_of[level] {
            let Some(course) = self.courses[line] else { continue };
            let bundle = self.bundle(&course);
            let is_own = course.around.unwrap_or(whole) == level;
            words = if is_own { words.max(course.words) } else { words };
            let leaves = !is_own && self.child_towards(course.from, course.depths.0, level).is_some();
            let from = self
                .child_towards(course.from, course.depths.0, level)
                .map(|(child, depth)| (child, self.offset(child, depth, (Side::Last, bundle))));
            let to = self
                .child_towards(course.to, course.depths.1, level)
                .map(|(child, depth)| (child, self.offset(child, depth, (Side::First, bundle))));
            let mut port = |side: Side, cells: &mut Vec<Cell>, inner: &mut Vec<Inner>| {
                *ports.entry((side, bundle)).or_insert_with(|| {
                    cells.push(Cell { width: 0.0, height: 0.0, side });
                    inner.push(Inner::Port(side));
                    cells.len() - 1
                })
            };
            let ends = match (from, to) {
                (Some((from, off)), Some((to, to_off))) if is_own => {
                    Some((place_of[&from], off, place_of[&to], to_off))
                }
                (Some((from, off)), _) if leaves => {
                    Some((place_of[&from], off, port(Side::Last, &mut cells, &mut inner), 0.0))
                }
                (_, Some((to, to_off))) => {
                    Some((port(Side::First, &mut cells, &mut inner), 0.0, place_of[&to], to_off))
                }
                _ => None,
            };
            let Some((from, from_off, to, to_off)) = ends else { continue };
            let key = (from, to, from_off.to_bits(), to_off.to_bits(), bundle);
            let at = *known.entry(key).or_insert_with(|| {
                wires.push(Wire { from, to, from_off, to_off, bundle });
                lines.push(Vec::new());
                wires.len() - 1
            });
            lines[at].push(line);
        }
        let flat = with_the_rest(&cells, &wires, words);
        self.enclose(level, flat, &ports);
        let (x, y) = if level == whole { (0.0, 0.0) } else { self.corner(level) };
        if let Some(done) = self.done[level].as_mut() {
            (done.cells, done.x, done.y) = (inner, x, y);
            done.wires = wires.into_iter().zip(lines).collect();
        }
    }

    /// The box of a level that contains an end of a line, and the number of levels from that box to the end.
    fn child_towards(&self, end: usize, depth: usize, level: usize) -> Option<(usize, usize)> {
        let mut at = end;
        for below in 0..=depth {
            let parent = self.items[at].parent;
            if parent.unwrap_or(self.items.len()) == level {
                return Some((at, below));
            }
            at = parent?;
        }
        None
    }

    /// Where a line meets a box, relative to its middle: at a port, or at its title.
    fn offset(&self, at: usize, below: usize, port: Port) -> f64 {
        let height = self.sizes[at].1;
        let y = match self.openings[at].get(&port).filter(|_| below > 0) {
            Some(opening) => opening.y,
            None if self.children[at].is_empty() || self.direction.is_vertical() => height / 2.0,
            None => self.items[at].height / 2.0,
        };
        y - height / 2.0
    }

    /// Upper left corner of a box's contents.
    fn corner(&self, level: usize) -> (f64, f64) {
        let title = self.items.get(level).map_or(0.0, |item| item.height);
        match self.direction {
            Direction::Right | Direction::Left => (PADDING, title),
            Direction::Down => (title, PADDING),
            Direction::Up => (PADDING, PADDING),
        }
    }

    /// Makes a box as large as its contents need, and notes where its ports are.
    fn enclose(&mut self, level: usize, flat: Flat, ports: &HashMap<Port, usize>) {
        if let Some(item) = self.items.get(level) {
            let (_, y) = self.corner(level);
            let (inner_width, inner_height) = (flat.width, flat.height);
            self.sizes[level] = match self.direction {
                Direction::Right | Direction::Left => {
                    ((inner_width + 2.0 * PADDING).max(item.width), y + inner_height + PADDING)
                }
                Direction::Down | Direction::Up => {
                    (item.height + inner_width + PADDING, (inner_height + 2.0 * PADDING).max(item.width))
                }
            };
            for (port, &cell) in ports {
                if let Some(place) = flat.places.get(cell) {
                    self.openings[level].insert(*port, Opening { y: y + place.y });
                }
            }
        }
        self.done[level] = Some(Done { flat, cells: Vec::new(), wires: Vec::new(), x: 0.0, y: 0.0 });
    }

    /// Puts all levels together and turns the whole into its direction.
    fn finish(mut self) -> Layout {
        let whole = self.items.len();
        let mut layout = Layout {
            places: vec![Place::default(); whole],
            ways: vec![Vec::new(); self.courses.len()],
            ..Layout::default()
        };
        let mut stack = vec![(whole, Point::default())];
        while let Some((level, corner)) = stack.pop() {
            let Some(done) = self.done[level].take() else { continue };
            let (x, y) = (corner.x + done.x, corner.y + done.y);
            if level == whole {
                (layout.width, layout.height) = (done.flat.width, done.flat.height);
            }
            let width = if level == whole { 0.0 } else { self.sizes[level].0 };
            for (inner, place) in done.cells.iter().zip(&done.flat.places) {
                if let Inner::Box(at) = *inner {
                    let (own_width, own_height) = self.sizes[at];
                    let own = Place { x: x + place.x, y: y + place.y, width: own_width, height: own_height };
                    layout.places[at] = own;
                    stack.push((at, Point { x: own.x, y: own.y }));
                }
            }
            self.draw(&done, Point { x, y }, (corner.x, corner.x + width), &mut layout);
        }
        for way in &mut layout.ways {
            let steps = &layout.steps;
            way.sort_by(|one, other| steps[*one].curve.start.x.total_cmp(&steps[*other].curve.start.x));
        }
        turn(&mut layout, self.direction);
        layout
    }

    /// Adds the pieces of lines of one level; those at a port reach to the edge of the box.
    fn draw(&self, done: &Done, corner: Point, edges: (f64, f64), layout: &mut Layout) {
        let moved = |point: Point| Point { x: point.x + corner.x, y: point.y + corner.y };
        let is_port = |cell: usize, side: Side| matches!(done.cells.get(cell), Some(Inner::Port(own)) if *own == side);
        let is_box = |cell: usize, at: usize| matches!(done.cells.get(cell), Some(Inner::Box(own)) if *own == at);
        let mut known: HashMap<(usize, u8, bool), usize> = HashMap::new();
        for ((wire, lines), way) in done.wires.iter().zip(&done.flat.ways) {
            for &line in lines {
                let Some(course) = self.courses[line] else { continue };
                for (turn, &step) in way.iter().enumerate() {
                    let Some(curve) = done.flat.curves.get(step) else { continue };
                    let at = *known.entry((step, course.kind, course.is_back)).or_insert_with(|| {
                        let (start, turn) = (moved(curve.start), moved(curve.turn));
                        let (end, finish) = (moved(curve.end), moved(curve.finish));
                        let curve = Curve { start, turn, end, finish, is_vertical: false };
                        layout.steps.push(Step { curve, kind: course.kind, has_tip: false, has_back_tip: false });
                        layout.steps.len() - 1
                    });
                    layout.ways[line].push(at);
                    let step = &mut layout.steps[at];
                    if turn == 0 {
                        if is_port(wire.from, Side::First) {
                            step.curve.start.x = edges.0;
                        }
                        step.has_back_tip |= course.is_back && is_box(wire.from, course.from);
                    }
                    if turn + 1 == way.len() {
                        if is_port(wire.to, Side::Last) {
                            step.curve.finish.x = edges.1;
                        }
                        step.has_tip |= !course.is_back && is_box(wire.to, course.to);
                    }
                }
            }
        }
    }
}

/// The course of a line; `None` if it starts and ends at the same box, or one of its ends is a box around the other.
fn course(items: &[Item], line: &Line) -> Option<Course> {
    let around = |end: usize| {
        let mut found = Vec::new();
        let mut at = items.get(end).and_then(|item| item.parent);
        while let Some(parent) = at {
            found.push(parent);
            at = items.get(parent).and_then(|item| item.parent);
        }
        found
    };
    let (from, to) = (around(line.from), around(line.to));
    if line.from == line.to || from.contains(&line.to) || to.contains(&line.from) {
        return None;
    }
    let shared = from.iter().rev().zip(to.iter().rev()).take_while(|(one, other)| one == other).count();
    let (from_depth, to_depth) = (from.len() - shared, to.len() - shared);
    let around = from.get(from_depth).copied();
    let depths = (from_depth, to_depth);
    Some(Course { from: line.from, to: line.to, kind: line.kind, is_back: false, around, depths, words: line.words })
}

/// Finds the lines that close a cycle: those to a box that is still being followed, depth first.
fn closing(lines: &[(usize, usize, usize)], found: &mut Vec<usize>) {
    #[derive(PartialEq)]
    enum State {
        Open,
        Done,
    }
    let mut needs: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    lines.iter().for_each(|&(from, to, line)| needs.entry(from).or_default().push((to, line)));
    let mut states: HashMap<usize, State> = HashMap::new();
    let mut starts: Vec<usize> = lines.iter().map(|(from, _, _)| *from).collect();
    starts.sort_unstable();
    starts.dedup();
    // Boxes without incoming lines come first, so that a cycle is entered at its natural start.
    let reached: HashSet<usize> = lines.iter().map(|(_, to, _)| *to).collect();
    starts.sort_by_key(|start| reached.contains(start));
    for start in starts {
        if states.contains_key(&start) {
            continue;
        }
        states.insert(start, State::Open);
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&(to, line)) = needs.get(&node).and_then(|needs| needs.get(next)) else {
                states.insert(node, State::Done);
                continue;
            };
            stack.push((node, next + 1));
            match states.get(&to) {
                None => {
                    states.insert(to, State::Open);
                    stack.push((to, 0));
                }
                Some(State::Open) => found.push(line),
                Some(State::Done) => {}
            }
        }
    }
}

/// Lays out boxes with wires in columns, and those without in rows below.
fn with_the_rest(cells: &[Cell], wires: &[Wire], words: f64) -> Flat {
    let mut is_wired = vec![false; cells.len()];
    wires.iter().for_each(|wire| (is_wired[wire.from], is_wired[wire.to]) = (true, true));
    let wired: Vec<usize> = (0..cells.len()).filter(|&at| is_wired[at]).collect();
    let rest: Vec<usize> = (0..cells.len()).filter(|&at| !is_wired[at]).collect();
    let mut place_of = vec![0; cells.len()];
    wired.iter().enumerate().for_each(|(place, &at)| place_of[at] = place);
    let own: Vec<Cell> = wired.iter().map(|&at| cells[at]).collect();
    let moved: Vec<Wire> =
        wires.iter().map(|wire| Wire { from: place_of[wire.from], to: place_of[wire.to], ..*wire }).collect();
    let mut flat = flat::lay_out(&own, &moved, words);
    let mut places = vec![Place::default(); cells.len()];
    wired.iter().zip(&flat.places).for_each(|(&at, place)| places[at] = *place);
    let top = if wired.is_empty() { 0.0 } else { flat.height + 2.0 * ROW_GAP };
    if !rest.is_empty() {
        let (width, height) = in_rows(cells, &rest, (flat.width, top), &mut places);
        (flat.width, flat.height) = (flat.width.max(width), height);
    }
    flat.places = places;
    flat
}

/// Puts boxes into a grid below `top`, at least as wide as the part above it; returns its end.
fn in_rows(cells: &[Cell], rest: &[usize], (least, top): (f64, f64), places: &mut [Place]) -> (f64, f64) {
    let gap = 1.5 * ROW_GAP;
    let area: f64 = rest.iter().map(|&at| (cells[at].width + gap) * (cells[at].height + ROW_GAP)).sum();
    let widest = rest.iter().map(|&at| cells[at].width).fold(0.0, f64::max);
    let wanted = (area * ASPECT).sqrt().max(least).max(widest);
    let grid = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|column| rest.iter().skip(column).step_by(count).map(|&at| cells[at].width).fold(0.0, f64::max))
            .collect()
    };
    let across = |widths: &[f64]| widths.iter().sum::<f64>() + gap * (widths.len() as f64 - 1.0);
    // A column more as long as they fit; the width of one column alone always does.
    let most = rest.len().min((wanted / 60.0) as usize + 1);
    let widths = (1..=most).rev().map(grid).find(|widths| across(widths) <= wanted).unwrap_or_else(|| grid(1));
    let mut y = top;
    for row in rest.chunks(widths.len().max(1)) {
        let mut x = 0.0;
        for (&at, width) in row.iter().zip(&widths) {
            places[at] = Place { x, y, width: cells[at].width, height: cells[at].height };
            x += width + gap;
        }
        y += row.iter().map(|&at| cells[at].height).fold(0.0, f64::max) + ROW_GAP;
    }
    (across(&widths), y - ROW_GAP)
}

/// Turns a picture that runs from left to right into another direction.
fn turn(layout: &mut Layout, direction: Direction) {
    let (width, height) = (layout.width, layout.height);
    let place = |place: &Place| match direction {
        Direction::Right => *place,
        Direction::Left => Place { x: width - place.x - place.width, ..*place },
        Direction::Down => Place { x: place.y, y: place.x, width: place.height, height: place.width },
        Direction::Up => {
            Place { x: place.y, y: width - place.x - place.width, width: place.height, height: place.width }
        }
    };
    let point = |point: Point| match direction {
        Direction::Right => point,
        Direction::Left => Point { x: width - point.x, y: point.y },
        Direction::Down => Point { x: point.y, y: point.x },
        Direction::Up => Point { x: point.y, y: width - point.x },
    };
    layout.places.iter_mut().for_each(|own| *own = place(own));
    for step in &mut layout.steps {
        let curve = &step.curve;
        step.curve = Curve {
            start: point(curve.start),
            turn: point(curve.turn),
            end: point(curve.end),
            finish: point(curve.finish),
            is_vertical: direction.is_vertical(),
        };
    }
    if direction.is_vertical() {
        (layout.width, layout.height) = (height, width);
    }
}
