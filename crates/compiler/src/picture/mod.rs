//! A graph as boxes and lines with text: the common basis of all picture formats.
//!
//! Does not know formats: [`svg`] writes one, the explorer and its PNG others. Boxes are nodes, or groups of nodes; an
//! open box shows its contents, a closed one their number, and lines to its contents lead to the box.

mod boxes;
pub mod colours;
mod marks;
mod svg;
pub mod words;

pub use marks::{Marks, folders, with_removed};
pub use svg::{line_words, svg, tip_points};

use crate::layout::{self, Curve, Direction, Item, Line, Place};
use crate::shown::Shown;
use boxes::{Draft, boxes};
use purlin_model::Node;
use purlin_value::EcoString;
use std::collections::{BTreeSet, HashMap};

/// Criterion for groups of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The folder that they are declared in.
    Folder,
    /// Their dialect.
    Dialect,
    /// Their kind.
    Kind,
}

/// The boxes that show their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Open {
    /// All.
    #[default]
    All,
    /// These, by id, as far as those around them are open.
    Only(BTreeSet<String>),
}

/// Difference of a node from the state it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is only here.
    Added,
    /// It is only there.
    Removed,
    /// It is on both sides, and not the same.
    Changed,
}

/// Result of a node's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is up to date.
    Done,
    /// It has run, and not as it is now.
    Outdated,
    /// Its last run failed.
    Failed,
    /// It runs.
    Running,
    /// It has never run.
    New,
}

/// Properties of a node besides its configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Whether it has an error.
    pub is_broken: bool,
    /// Its difference from the state it is compared with.
    pub change: Option<Change>,
    /// Result of its run.
    pub standing: Option<Standing>,
}

impl Mark {
    /// The words that a box shows for it.
    pub fn words(&self) -> String {
        let broken = self.is_broken.then_some("× error");
        let change = self.change.map(|change| match change {
            Change::Added => "+ added",
            Change::Removed => "− removed",
            Change::Changed => "≠ changed",
        });
        let standing = self.standing.map(|standing| match standing {
            Standing::Done => "done",
            Standing::Outdated => "outdated",
            Standing::Failed => "× failed",
            Standing::Running => "running",
            Standing::New => "not run",
        });
        let words: Vec<&str> = [broken, change, standing].into_iter().flatten().collect();
        words.join(", ")
    }
}

/// Options of a picture.
pub struct Manners<'a> {
    /// Direction of arrows.
    pub direction: Direction,
    /// Criterion for groups of nodes.
    pub group_by: Option<GroupBy>,
    /// Which boxes are open.
    pub open: Open,
    /// Text above the picture: the project, the environment, a date; empty for no text.
    pub title: Vec<String>,
    /// The folder of a node, for groups by folder.
    pub folder: &'a dyn Fn(&Node) -> String,
    /// Properties of a node, by its id.
    pub mark: &'a dyn Fn(&str) -> Mark,
    /// Whether lines have labels.
    pub has_words: bool,
}

impl Default for Manners<'_> {
    fn default() -> Self {
        Manners {
            direction: Direction::default(),
            group_by: None,
            open: Open::All,
            title: Vec::new(),
            folder: &|_| String::new(),
            mark: &|_| Mark::default(),
            has_words: true,
        }
    }
}

/// A box of a picture.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The node's id; that of a group begins with its criterion: `folder:web`.
    pub id: String,
    /// Its name in the picture.
    pub label: String,
    /// Its kind, in the second line.
    pub subtitle: String,
    /// The dialect of the node; `None` for a group of several.
    pub dialect: Option<&'static str>,
    /// Which of its dialect's colours its kind has.
    pub shade: usize,
    /// Its position.
    pub place: Place,
    /// The enclosing box.
    pub parent: Option<usize>,
    /// Whether it shows its contents.
    pub is_open: bool,
    /// Whether it is a group and not a node.
    pub is_group: bool,
    /// Number of nodes in it.
    pub contents: usize,
    /// Whether it is disabled.
    pub is_disabled: bool,
    /// Its properties; for a closed box, the worst of its contents.
    pub mark: Mark,
}

/// A line of a picture: one for all dependencies between two boxes of the same kind.
#[derive(Clone, Debug)]
pub struct Link {
    /// The box that needs the other.
    pub from: usize,
    /// The box that is needed.
    pub to: usize,
    /// Whether the other must have run.
    pub is_runtime: bool,
    /// Values passed along it.
    pub names: Vec<EcoString>,
    /// The type of the relationship, if it is one.
    pub relationship: EcoString,
    /// Number of dependencies combined in it.
    pub count: usize,
    /// Its pieces among the steps.
    pub way: Vec<usize>,
}

impl Link {
    /// Its label: the names of the values, short enough for a line.
    pub fn words(&self) -> String {
        const MOST: usize = 2;
        let mut words: Vec<String> = self.names.iter().take(MOST).map(|name| short(name)).collect();
        if self.names.len() > MOST {
            words.push(format!("+{}", self.names.len() - MOST));
        }
        words.join(", ")
    }
}

/// `outputs.host` is `host` in a picture.
fn short(name: &str) -> String {
    const LONGEST: usize = 20;
    let name = name.strip_prefix("outputs.").unwrap_or(name);
    let count = name.chars().count();
    // The end of a path is more specific than its beginning.
    match count > LONGEST {
        true => std::iter::once('…').chain(name.chars().skip(count + 1 - LONGEST)).collect(),
        false => name.to_owned(),
    }
}

/// A piece of one or several lines.
#[derive(Clone, Debug)]
pub struct Stroke {
    /// Its course.
    pub curve: Curve,
    /// Whether the other must have run.
    pub is_runtime: bool,
    /// Whether it has arrow tips at its end, and at its start.
    pub tips: (bool, bool),
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Text above the picture.
    pub title: Vec<String>,
    /// Boxes, each after its enclosing box.
    pub shapes: Vec<Shape>,
    /// Lines.
    pub links: Vec<Link>,
    /// The pieces of lines, which several may share.
    pub strokes: Vec<Stroke>,
    /// The size of the layout.
    pub width: f64,
    /// Likewise.
    pub height: f64,
    /// The omitted parts, in a sentence.
    pub left_out: Option<String>,
}

/// The height of a box, and of the title of one that is open.
pub const BOX_HEIGHT: f64 = 42.0;
const LEAST_WIDTH: f64 = 72.0;
/// Room beside the words of a box, left and right together.
const BESIDE: f64 = 26.0;
/// The size of the words on lines.
pub const WORDS_SIZE: f64 = 9.5;
/// The most room that is made for words on lines.
const MOST_WORDS: f64 = 70.0;
/// The room for words that is between columns anyway.
const WORDS_FREE: f64 = 36.0;

/// Lays out a graph, or the part of it that is shown.
pub fn scene(shown: &Shown<'_>, manners: &Manners<'_>) -> Scene {
    let boxes = boxes(shown, manners);
    let mut links = links(shown, &boxes);
    let item = |own: &Draft| Item { width: width(own), height: BOX_HEIGHT, parent: own.parent };
    let items: Vec<Item> = boxes.list.iter().map(item).collect();
    let has_words = manners.has_words && !manners.direction.is_vertical();
    let words = |link: &Link| (words::width(&link.words(), WORDS_SIZE, false) - WORDS_FREE).clamp(0.0, MOST_WORDS);
    let line = |link: &Link| Line {
        from: link.from,
        to: link.to,
        kind: u8::from(link.is_runtime),
        words: if has_words { words(link) } else { 0.0 },
    };
    let lines: Vec<Line> = links.iter().map(line).collect();
    let layout = layout::lay_out(&items, &lines, manners.direction);
    for (link, way) in links.iter_mut().zip(layout.ways) {
        link.way = way;
    }
    // A frame has the name of its node, which is sufficient: lines from the node to its contents are not drawn.
    links.retain(|link| !link.way.is_empty());
    let shape = |(own, place): (Draft, Place)| Shape {
        id: own.id,
        label: own.label,
        subtitle: own.subtitle,
        dialect: own.dialect,
        shade: own.shade,
        place,
        parent: own.parent,
        is_open: own.is_open,
        is_group: own.is_group,
        contents: own.contents,
        is_disabled: own.is_disabled,
        mark: own.mark,
    };
    let stroke = |step: layout::Step| Stroke {
        curve: step.curve,
        is_runtime: step.kind != 0,
        tips: (step.has_tip, step.has_back_tip),
    };
    Scene {
        title: manners.title.clone(),
        shapes: boxes.list.into_iter().zip(layout.places).map(shape).collect(),
        links,
        strokes: layout.steps.into_iter().map(stroke).collect(),
        width: layout.width,
        height: layout.height,
        left_out: crate::graph::left_out(shown),
    }
}

/// The width of a box. A title has all its words in one line.
fn width(own: &Draft) -> f64 {
    let label = words::width(&own.label, 13.0, true);
    let mark = words::width(&own.mark.words(), 10.0, true);
    let mark = if mark > 0.0 { mark + 12.0 } else { 0.0 };
    let below = words::width(&own.subtitle, 10.5, false);
    let needed = (label + mark).max(below);
    (needed + BESIDE).max(LEAST_WIDTH)
}

/// The lines between boxes: those of hidden nodes lead to the box around them.
fn links(shown: &Shown<'_>, boxes: &boxes::Boxes) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    let mut known: HashMap<(usize, usize, bool), usize> = HashMap::new();
    for edge in &shown.edges {
        let (Some(&from), Some(&to)) = (boxes.of_node.get(edge.from), boxes.of_node.get(edge.to)) else { continue };
        if from == to {
            continue;
        }
        let at = *known.entry((from, to, edge.how.is_runtime)).or_insert_with(|| {
            let (names, relationship) = (Vec::new(), EcoString::new());
            let is_runtime = edge.how.is_runtime;
            found.push(Link { from, to, is_runtime, names, relationship, count: 0, way: Vec::new() });
            found.len() - 1
        });
        let link = &mut found[at];
        link.count += 1;
        for name in edge.names.iter().filter(|name| !link.names.contains(name)).cloned().collect::<Vec<_>>() {
            link.names.push(name);
        }
        if link.count == 1 {
            link.relationship = edge.how.relationship.clone();
        } else if link.relationship != edge.how.relationship {
            link.relationship = EcoString::new();
        }
    }
    found
}
