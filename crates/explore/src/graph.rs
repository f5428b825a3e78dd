//! The picture as data: boxes, lines and their pieces, as the page draws them.

use crate::data::{map, number, text};
use crate::project::Side;
use purlin_compiler::picture::colours::hue;
use purlin_compiler::picture::{Change, GroupBy, Link, Manners, Marks, Open, Scene, Shape, Stroke, folders, scene};
use purlin_compiler::{Direction, View, show};
use purlin_value::Value;
use std::collections::BTreeSet;

/// From this many nodes on, a picture starts with closed groups.
const MOST_AT_FIRST: usize = 60;

/// The view of the graph that the page requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// `folder`, `dialect`, `kind`, `none`; chosen by size if empty.
    pub group: String,
    /// The open boxes; chosen by size if `None`.
    pub open: Option<BTreeSet<String>>,
    pub direction: String,
    pub focus: Option<String>,
    pub depth: Option<usize>,
    pub kinds: Vec<String>,
    pub dialects: Vec<String>,
}

/// The picture of a side. `before` is the other side of a comparison.
pub(crate) fn picture(side: &Side, before: Option<&Side>, wish: &Wish) -> Option<Value> {
    let view = View {
        focus: wish.focus.clone(),
        depth: wish.depth,
        kinds: wish.kinds.clone(),
        dialects: wish.dialects.clone(),
        is_reduced: false,
    };
    let shown = show(&side.resolved, &view)?;
    let mut marks: Marks = side.marks();
    if let Some(before) = before {
        marks.note_changes((&before.session, &before.resolved), (&side.session, &side.resolved));
    }
    let is_large = shown.nodes.len() > MOST_AT_FIRST;
    let group_by = match wish.group.as_str() {
        "folder" => Some(GroupBy::Folder),
        "dialect" => Some(GroupBy::Dialect),
        "kind" => Some(GroupBy::Kind),
        "none" => None,
        _ => is_large.then_some(GroupBy::Folder),
    };
    let open = match &wish.open {
        Some(ids) if ids.contains("*") => Open::All,
        Some(ids) => Open::Only(ids.clone()),
        None if is_large => Open::Only(BTreeSet::new()),
        None => Open::All,
    };
    let folders = folders(&side.session, &side.resolved);
    let manners = Manners {
        direction: match wish.direction.as_str() {
            "left" => Direction::Left,
            "down" => Direction::Down,
            "up" => Direction::Up,
            _ => Direction::Right,
        },
        group_by,
        open,
        folder: &|node| folders.get(&node.id).cloned().unwrap_or_else(|| ".".to_owned()),
        mark: &|id| marks.of(id),
        ..Manners::default()
    };
    let group = match group_by {
        Some(GroupBy::Folder) => "folder",
        Some(GroupBy::Dialect) => "dialect",
        Some(GroupBy::Kind) => "kind",
        None => "none",
    };
    Some(scene_value(&scene(&shown, &manners), group))
}

fn length(length: f64) -> Value {
    let rounded = (length * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 { Value::from(rounded as i64) } else { Value::from(rounded) }
}

fn scene_value(scene: &Scene, group: &str) -> Value {
    map(vec![
        ("width", length(scene.width)),
        ("height", length(scene.height)),
        ("group", text(group)),
        ("shapes", Value::list(scene.shapes.iter().map(shape_value).collect())),
        ("links", Value::list(scene.links.iter().map(link_value).collect())),
        ("strokes", Value::list(scene.strokes.iter().map(stroke_value).collect())),
        ("leftOut", scene.left_out.as_deref().map_or_else(Value::null, text)),
    ])
}

fn shape_value(shape: &Shape) -> Value {
    let place = shape.place;
    let mut entries = vec![
        ("id", text(&shape.id)),
        ("label", text(&shape.label)),
        ("subtitle", text(&shape.subtitle)),
        ("hue", number(hue(shape.dialect))),
        ("shade", number(shape.shade)),
        ("place", Value::list([place.x, place.y, place.width, place.height].into_iter().map(length).collect())),
    ];
    entries.extend(shape.parent.map(|parent| ("parent", number(parent))));
    let words = shape.mark.words();
    let flags = [
        ("open", shape.is_open),
        ("group", shape.is_group),
        ("disabled", shape.is_disabled),
        ("broken", shape.mark.is_broken),
        ("removed", shape.mark.change == Some(Change::Removed)),
        ("changed", matches!(shape.mark.change, Some(Change::Added | Change::Changed))),
    ];
    entries.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| (flag, Value::from(true))));
    if shape.contents > 0 {
        entries.push(("contents", number(shape.contents)));
    }
    if !words.is_empty() {
        entries.push(("mark", text(&words)));
    }
    map(entries)
}

fn link_value(link: &Link) -> Value {
    let mut entries = vec![
        ("from", number(link.from)),
        ("to", number(link.to)),
        ("runtime", Value::from(link.is_runtime)),
        ("way", Value::list(link.way.iter().map(|at| number(*at)).collect())),
    ];
    if !link.names.is_empty() {
        entries.push(("names", Value::list(link.names.iter().cloned().map(Value::str).collect())));
        entries.push(("words", text(&link.words())));
    }
    if !link.relationship.is_empty() {
        entries.push(("relationship", Value::str(link.relationship.clone())));
    }
    if link.count > 1 {
        entries.push(("count", number(link.count)));
    }
    map(entries)
}

/// Start, turn, end and finish of the curve, then whether it is dashed, and its arrowheads: 1 at the end, 2 at the
/// start.
fn stroke_value(stroke: &Stroke) -> Value {
    let curve = &stroke.curve;
    let points = [curve.start, curve.turn, curve.end, curve.finish].into_iter();
    let lengths = points.flat_map(|point| [length(point.x), length(point.y)]);
    let tips = usize::from(stroke.tips.0) + 2 * usize::from(stroke.tips.1);
    let flags = [number(usize::from(stroke.is_runtime)), number(tips), number(usize::from(curve.is_vertical))];
    Value::list(lengths.chain(flags).collect())
}
