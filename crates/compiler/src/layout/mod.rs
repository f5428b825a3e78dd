//! Layout of the boxes and lines of a picture. Boxes may be nested to any depth.
//!
//! Plain numbers in, plain numbers out; does not know nodes or pictures. [`flat`] places the boxes of one level in
//! columns, [`order`] sorts each column, [`nested`] combines levels.

mod flat;
mod nested;
mod order;
#[cfg(test)]
mod tests;

pub(crate) use nested::lay_out;

/// A box.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Item {
    /// Its size; for one that holds others, that of its title.
    pub width: f64,
    /// Likewise.
    pub height: f64,
    /// The box around it, which comes before it.
    pub parent: Option<usize>,
}

/// A line from a box to one that it needs. Lines of different kinds do not come together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub from: usize,
    pub to: usize,
    pub kind: u8,
    /// The room that its words need where boxes are side by side.
    pub words: f64,
}

/// Position of a box: the upper left corner, and its size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From above.
    pub y: f64,
}

/// A piece of a line: straight from `start` to `turn`, in a curve to `end`, and straight to `finish`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Its start.
    pub start: Point,
    /// Start of the curve.
    pub turn: Point,
    /// End of the curve.
    pub end: Point,
    /// Its end.
    pub finish: Point,
    /// Whether the line as a whole runs from top to bottom rather than from left to right.
    pub is_vertical: bool,
}

/// The least that a curve leads straight on before it bends.
const LEAST_BEND: f64 = 12.0;

impl Curve {
    /// The points that pull at the curve.
    pub fn controls(&self) -> (Point, Point) {
        let pull = |from: f64, to: f64| ((to - from).abs() / 2.0).max(LEAST_BEND) * (to - from).signum();
        let (a, b) = (self.turn, self.end);
        if self.is_vertical {
            let bend = pull(a.y, b.y);
            (Point { x: a.x, y: a.y + bend }, Point { x: b.x, y: b.y - bend })
        } else {
            let bend = pull(a.x, b.x);
            (Point { x: a.x + bend, y: a.y }, Point { x: b.x - bend, y: b.y })
        }
    }

    /// The point a part of the way along the curve.
    pub fn at(&self, part: f64) -> Point {
        let (first, second) = self.controls();
        let rest = 1.0 - part;
        let weights = [rest.powi(3), 3.0 * rest.powi(2) * part, 3.0 * rest * part.powi(2), part.powi(3)];
        let points = [self.turn, first, second, self.end];
        let sum = |of: fn(&Point) -> f64| points.iter().zip(weights).map(|(point, weight)| of(point) * weight).sum();
        Point { x: sum(|point| point.x), y: sum(|point| point.y) }
    }
}

/// A piece of one or several lines, which come together on their way to the same box.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub curve: Curve,
    pub kind: u8,
    /// Whether an arrow's tip is at its end.
    pub has_tip: bool,
    /// Whether an arrow's tip is at its start: the line closes a cycle and leads back.
    pub has_back_tip: bool,
}

/// Contents of a picture.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The boxes.
    pub places: Vec<Place>,
    /// All pieces of lines, each once.
    pub steps: Vec<Step>,
    /// The pieces of each line; empty for one between a box and a box around it.
    pub ways: Vec<Vec<usize>>,
    pub width: f64,
    pub height: f64,
}

/// Direction of arrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// To the right.
    #[default]
    Right,
    /// To the left.
    Left,
    /// Down.
    Down,
    /// Up.
    Up,
}

impl Direction {
    pub(crate) fn is_vertical(self) -> bool {
        matches!(self, Direction::Down | Direction::Up)
    }
}
