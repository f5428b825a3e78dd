//! Laws of pictures, on many graphs: boxes are apart, contents are inside, no line runs through a box.

#![allow(clippy::unwrap_used)]

use super::*;

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// A graph with a random number of boxes, nested up to four levels deep.
fn generated(seed: u64) -> (Vec<Item>, Vec<Line>) {
    let mut dice = Dice(seed.wrapping_mul(7_919).wrapping_add(13));
    let count = 2 + dice.below(if seed.is_multiple_of(20) { 120 } else { 30 });
    let mut items: Vec<Item> = Vec::new();
    let mut depth: Vec<usize> = Vec::new();
    for at in 0..count {
        let parent = (at > 0 && dice.below(3) > 0).then(|| dice.below(at)).filter(|&parent| depth[parent] < 4);
        depth.push(parent.map_or(0, |parent| depth[parent] + 1));
        items.push(Item { width: 60.0 + dice.below(160) as f64, height: 42.0, parent });
    }
    let edges = dice.below(3 * count);
    let words = if seed.is_multiple_of(5) { 40.0 } else { 0.0 };
    let line =
        |dice: &mut Dice| Line { from: dice.below(count), to: dice.below(count), kind: dice.below(2) as u8, words };
    let lines: Vec<Line> = (0..edges).map(|_| line(&mut dice)).collect();
    // Two graphs of three have no cycle.
    let forward = |line: &Line| Line { from: line.from.max(line.to), to: line.from.min(line.to), ..*line };
    let lines = if seed.is_multiple_of(3) { lines } else { lines.iter().map(forward).collect() };
    (items, lines)
}

const DIRECTIONS: [Direction; 4] = [Direction::Right, Direction::Left, Direction::Down, Direction::Up];

fn is_around(items: &[Item], outer: usize, inner: usize) -> bool {
    let mut at = items[inner].parent;
    while let Some(parent) = at {
        if parent == outer {
            return true;
        }
        at = items[parent].parent;
    }
    false
}

/// Places along a step, and whether each is strictly inside a box.
fn is_through(curve: &Curve, place: &Place) -> bool {
    const IN: f64 = 0.5;
    let ends = [curve.start, curve.turn, curve.end, curve.finish];
    let is_beside = ends.iter().all(|end| end.x <= place.x)
        || ends.iter().all(|end| end.x >= place.x + place.width)
        || ends.iter().all(|end| end.y <= place.y)
        || ends.iter().all(|end| end.y >= place.y + place.height);
    if is_beside {
        return false;
    }
    let inside = |point: Point| {
        point.x > place.x + IN
            && point.x < place.x + place.width - IN
            && point.y > place.y + IN
            && point.y < place.y + place.height - IN
    };
    let between = |a: Point, b: Point, part: f64| Point { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part };
    (0..=40).map(|at| f64::from(at) / 40.0).any(|part| {
        inside(curve.at(part))
            || inside(between(curve.start, curve.turn, part))
            || inside(between(curve.end, curve.finish, part))
    })
}

#[test]
fn boxes_are_apart_and_no_line_runs_through_one() {
    for seed in 0..200 {
        let (items, lines) = generated(seed);
        let direction = DIRECTIONS[seed as usize % 4];
        let layout = lay_out(&items, &lines, direction);
        for (at, one) in layout.places.iter().enumerate() {
            let edge = |place: &Place| (place.x + place.width, place.y + place.height);
            assert!(one.x > -0.01 && one.y > -0.01 && edge(one).0 < layout.width + 0.01, "{seed}: {at} sticks out");
            assert!(edge(one).1 < layout.height + 0.01, "{seed}: {at} sticks out below");
            for (other, two) in layout.places.iter().enumerate().skip(at + 1) {
                let is_apart = one.x >= edge(two).0 - 0.01
                    || two.x >= edge(one).0 - 0.01
                    || one.y >= edge(two).1 - 0.01
                    || two.y >= edge(one).1 - 0.01;
                let is_inside =
                    two.x > one.x && two.y > one.y && edge(two).0 < edge(one).0 && edge(two).1 < edge(one).1;
                match is_around(&items, at, other) {
                    true => assert!(is_inside, "{seed}: {other} is not inside {at}"),
                    false => assert!(is_apart, "{seed}: {at} and {other} overlap"),
                }
            }
        }
        for (number, (line, way)) in lines.iter().zip(&layout.ways).enumerate() {
            let is_nested = is_around(&items, line.from, line.to) || is_around(&items, line.to, line.from);
            assert_eq!(way.is_empty(), line.from == line.to || is_nested, "{seed}: line {number}");
            for step in way.iter().map(|at| &layout.steps[*at]) {
                for (at, place) in layout.places.iter().enumerate() {
                    // A line runs inside the boxes around its ends, of course.
                    let is_near = [line.from, line.to].iter().any(|&end| is_around(&items, at, end));
                    assert!(is_near || !is_through(&step.curve, place), "{seed}: line {number} runs through {at}");
                }
            }
        }
    }
}

#[test]
fn the_pieces_of_a_line_follow_each_other() {
    for seed in 0..200 {
        let (items, lines) = generated(seed);
        let layout = lay_out(&items, &lines, Direction::Right);
        for (line, way) in lines.iter().zip(&layout.ways).filter(|(_, way)| !way.is_empty()) {
            let steps: Vec<&Step> = way.iter().map(|at| &layout.steps[*at]).collect();
            for pair in steps.windows(2) {
                let (end, start) = (pair[0].curve.finish, pair[1].curve.start);
                let is_near = (end.x - start.x).abs() < 0.01 && (end.y - start.y).abs() < 0.01;
                assert!(is_near, "{seed}: {line:?} is broken between {end:?} and {start:?}");
            }
            let tips = steps.iter().filter(|step| step.has_tip || step.has_back_tip).count();
            assert!(tips >= 1, "{seed}: {line:?} has no tip");
            let (first, last) = (steps[0], steps[steps.len() - 1]);
            let is_back = first.has_back_tip && !last.has_tip;
            let (from, to) = if is_back { (line.to, line.from) } else { (line.from, line.to) };
            let touches = |point: Point, x: f64| (point.x - x).abs() < 0.01;
            let (from, to) = (layout.places[from], layout.places[to]);
            assert!(touches(first.curve.start, from.x + from.width), "{seed}: {line:?} does not begin at its box");
            assert!(touches(last.curve.finish, to.x), "{seed}: {line:?} does not end at its box");
        }
    }
}

#[test]
fn cycles_are_drawn_with_one_line_turned_around() {
    let boxes = vec![Item { width: 100.0, height: 40.0, parent: None }; 3];
    let line = |from, to| Line { from, to, kind: 0, words: 0.0 };
    let layout = lay_out(&boxes, &[line(0, 1), line(1, 2), line(2, 0)], Direction::Right);
    assert_eq!(layout.steps.iter().filter(|step| step.has_back_tip).count(), 1);
    assert_eq!(layout.steps.iter().filter(|step| step.has_tip).count(), 2);
    assert_eq!(lay_out(&boxes[..1], &[line(0, 0)], Direction::Right).steps.len(), 0);
}
