//! The graph as a picture: what needs others on the left, an arrow to what it needs, a legend below.
//!
//! Colours are rules of the picture's own style, so that it follows the reader's choice of light or dark.

use crate::graph::{Theme, groups, left_out};
use crate::layout::{Item, Layout, Line, Place, Step, lay_out};
use crate::shown::Shown;
use purlin_model::Node;
use std::fmt::Write;

const BOX_HEIGHT: f64 = 42.0;
const MARGIN: f64 = 24.0;
/// The room around the boxes of a group, and for its name above them.
const FRAME: f64 = 12.0;
const FRAME_TITLE: f64 = 20.0;
const LEGEND: f64 = 34.0;
/// A line that the other must have run for.
const RUNTIME: u8 = 1;
/// A line from a node to a node inside it: it affects the layout and is not drawn.
const INSIDE: u8 = 2;

/// Draws a graph.
pub(crate) fn draw(shown: &Shown<'_>, theme: Theme) -> String {
    let groups = groups(shown);
    let mut lane = vec![0; shown.nodes.len()];
    groups.iter().enumerate().for_each(|(at, (_, members))| members.iter().for_each(|&member| lane[member] = at));
    let group = |lane: usize| groups.get(lane).and_then(|(name, _)| *name);
    let item = |(node, &lane): (&&Node, &usize)| Item { width: width(node, group(lane)), height: BOX_HEIGHT, lane };
    let items: Vec<Item> = shown.nodes.iter().zip(&lane).map(item).collect();
    let line = |edge: &crate::shown::Edge<'_>| {
        let is_inside = group(lane[edge.to]) == Some(shown.nodes[edge.from].id.as_str());
        let kind = if is_inside { INSIDE } else { u8::from(edge.how.is_runtime) };
        Line { from: edge.from, to: edge.to, kind }
    };
    let lines: Vec<Line> = shown.edges.iter().map(line).collect();
    let layout = lay_out(&items, &lines, groups.len());
    let kinds = kinds(shown);
    let mut picture = Picture { out: String::new(), kinds };
    let top = MARGIN + if groups.first().is_some_and(|(_, members)| members.is_empty()) { FRAME_TITLE } else { 0.0 };
    let legend = picture.legend(shown, &layout, top);
    let across = layout.width.max(legend.width) + 2.0 * MARGIN;
    let down = top + layout.height + MARGIN + LEGEND;
    picture.open(shown.project, theme, across, down);
    let _ = writeln!(picture.out, "<g transform=\"translate({MARGIN} {top})\">");
    for ((name, members), reach) in groups.iter().zip(&layout.lanes) {
        if let (Some(name), Some(reach)) = (name, reach) {
            picture.frame(name, members, *reach, &layout);
        }
    }
    // A frame has the name of its node, which says enough: lines into it would only cross everything else.
    let drawn = layout.steps.iter().filter(|step| step.kind != INSIDE);
    drawn.for_each(|step| picture.step(step, &layout, shown.nodes.len()));
    for ((node, place), lane) in shown.nodes.iter().zip(&layout.places).zip(&lane) {
        picture.node(node, place, group(*lane));
    }
    picture.out.push_str("</g>\n");
    picture.out.push_str(&legend.text);
    picture.out.push_str("</svg>\n");
    picture.out
}

/// The kinds of node that there are, in order of appearance.
fn kinds<'r>(shown: &Shown<'r>) -> Vec<&'r str> {
    let mut kinds: Vec<&str> = Vec::new();
    for node in &shown.nodes {
        if !kinds.contains(&node.kind.as_str()) {
            kinds.push(&node.kind);
        }
    }
    kinds
}

struct Legend {
    text: String,
    width: f64,
}

struct Picture<'r> {
    out: String,
    kinds: Vec<&'r str>,
}

impl Picture<'_> {
    fn open(&mut self, title: &str, theme: Theme, width: f64, height: f64) {
        let _ = writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, sans-serif\">"
        );
        let _ = writeln!(self.out, "<title>{}</title>", escape(title));
        let _ = writeln!(self.out, "<style>{}</style>", style(theme));
        self.out.push_str("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\"><path d=\"M0 0 8 4 0 8z\" class=\"tip\"/></marker></defs>\n");
        let _ = writeln!(self.out, "<rect width=\"{width:.0}\" height=\"{height:.0}\" class=\"paper\"/>");
    }

    /// The frame around what lies in a node.
    fn frame(&mut self, name: &str, members: &[usize], reach: (f64, f64), layout: &Layout) {
        let places = members.iter().filter_map(|&at| layout.places.get(at));
        let left = places.clone().map(|place| place.x).fold(f64::INFINITY, f64::min);
        let right = places.map(|place| place.x + place.width).fold(0.0, f64::max);
        let (x, y) = (left - FRAME, reach.0 - FRAME_TITLE);
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\" class=\"frame\"/><text x=\"{left:.0}\" y=\"{:.0}\" class=\"title\">{}</text>",
            right - left + 2.0 * FRAME,
            reach.1 - reach.0 + FRAME_TITLE + FRAME,
            y + 14.0,
            escape(name)
        );
    }

    /// A piece of a line, with its tip if it ends at a box.
    fn step(&mut self, step: &Step, layout: &Layout, boxes: usize) {
        let (Some(from), Some(to)) = (layout.places.get(step.from), layout.places.get(step.to)) else { return };
        let middle = |place: &Place| place.y + place.height / 2.0;
        let (x1, y1) = (if step.from < boxes { from.x + from.width } else { from.x }, middle(from));
        let (x2, y2) = (to.x, middle(to));
        let mut path = format!("M{x1:.0} {y1:.1}");
        // A line leaves its column straight, so that it does not run behind the wider boxes there.
        let turn = if step.from < boxes { x1 } else { from.x + from.width };
        if turn > x1 {
            let _ = write!(path, "H{turn:.0}");
        }
        let bend = ((x2 - turn) / 2.0).max(12.0);
        let _ = write!(path, "C{:.0} {y1:.1} {:.0} {y2:.1} {x2:.0} {y2:.1}", turn + bend, x2 - bend);
        let kind = if step.kind == RUNTIME { " run" } else { "" };
        let tip = match (step.is_back, step.to < boxes, step.from < boxes) {
            (false, true, _) => " marker-end=\"url(#tip)\"",
            (true, _, true) => " marker-start=\"url(#tip)\"",
            _ => "",
        };
        let _ = writeln!(self.out, "<path d=\"{path}\" class=\"line{kind}\"{tip}/>");
    }

    fn node(&mut self, node: &Node, place: &Place, group: Option<&str>) {
        let colour = self.colour(&node.kind);
        let off = if node.disabled { " off" } else { "" };
        let Place { x, y, width, height } = place;
        let id = name(node, group);
        let _ = writeln!(
            self.out,
            "<g><title>{}</title><rect x=\"{x:.0}\" y=\"{y:.1}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"8\" class=\"box {colour}{off}\"/><text x=\"{:.0}\" y=\"{:.1}\" class=\"id\">{}</text><text x=\"{:.0}\" y=\"{:.1}\" class=\"kind\">{}</text></g>",
            escape(&node.id),
            x + 12.0,
            y + 18.0,
            escape(id),
            x + 12.0,
            y + 33.0,
            escape(&subtitle(node))
        );
    }

    /// The classes of a kind: its colour, and a thicker rim where the colours begin again.
    fn colour(&self, kind: &str) -> String {
        let at = self.kinds.iter().position(|known| *known == kind).unwrap_or(0);
        let again = if at < LIGHT.len() { "" } else { " again" };
        format!("k{}{again}", at % LIGHT.len())
    }

    /// What the colours and lines mean, and what is not in the picture.
    fn legend(&self, shown: &Shown<'_>, layout: &Layout, top: f64) -> Legend {
        let y = top + layout.height + MARGIN + 8.0;
        let (mut text, mut x) = (String::new(), MARGIN);
        let word = |text: &mut String, x: &mut f64, word: &str| {
            let _ = writeln!(text, "<text x=\"{x:.0}\" y=\"{:.0}\" class=\"kind\">{}</text>", y + 4.0, escape(word));
            *x += word.chars().count() as f64 * 6.2 + 18.0;
        };
        for kind in &self.kinds {
            let colour = self.colour(kind);
            let _ = writeln!(
                text,
                "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"14\" height=\"10\" rx=\"3\" class=\"box {colour}\"/>",
                y - 5.0
            );
            x += 20.0;
            word(&mut text, &mut x, kind);
        }
        for (is_runtime, what) in [(false, "depends on"), (true, "depends on, once it has run")] {
            let kind = u8::from(is_runtime);
            if layout.steps.iter().any(|step| step.kind == kind) {
                let class = if is_runtime { "line run" } else { "line" };
                let _ = writeln!(text, "<path d=\"M{x:.0} {y:.0}h26\" class=\"{class}\" marker-end=\"url(#tip)\"/>");
                x += 32.0;
                word(&mut text, &mut x, what);
            }
        }
        if let Some(left_out) = left_out(shown) {
            word(&mut text, &mut x, &left_out);
        }
        Legend { text, width: x - MARGIN }
    }
}

/// The name that stands in the box: inside a frame, without the frame's.
fn name<'n>(node: &'n Node, group: Option<&str>) -> &'n str {
    group.and_then(|group| node.id.strip_prefix(group)?.strip_prefix('/')).unwrap_or(&node.id)
}

/// An estimate: no fonts are at hand here, and a little air does no harm.
fn width(node: &Node, group: Option<&str>) -> f64 {
    let id = name(node, group).chars().count() as f64 * 8.4;
    let kind = subtitle(node).chars().count() as f64 * 5.9;
    (id.max(kind) + 24.0).max(72.0)
}

fn subtitle(node: &Node) -> String {
    if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} · {}", node.kind, node.type_name) }
}

/// Filling and rim for each kind, on light paper and on dark.
const LIGHT: &[(&str, &str)] = &[
    ("#eff6ff", "#3b82f6"),
    ("#f0fdf4", "#22c55e"),
    ("#fff7ed", "#f97316"),
    ("#faf5ff", "#a855f7"),
    ("#fefce8", "#ca8a04"),
    ("#f0fdfa", "#14b8a6"),
    ("#fdf2f8", "#ec4899"),
    ("#f8fafc", "#64748b"),
    ("#cffafe", "#0e7490"),
    ("#ecfccb", "#4d7c0f"),
    ("#fee2e2", "#b91c1c"),
    ("#e0e7ff", "#4338ca"),
    ("#fde68a", "#92400e"),
    ("#d1fae5", "#047857"),
    ("#fae8ff", "#a21caf"),
    ("#e7e5e4", "#57534e"),
];
const DARK: &[(&str, &str)] = &[
    ("#172554", "#60a5fa"),
    ("#052e16", "#4ade80"),
    ("#431407", "#fb923c"),
    ("#3b0764", "#c084fc"),
    ("#422006", "#facc15"),
    ("#042f2e", "#2dd4bf"),
    ("#500724", "#f472b6"),
    ("#1e293b", "#94a3b8"),
    ("#155e75", "#67e8f9"),
    ("#3f6212", "#bef264"),
    ("#7f1d1d", "#fca5a5"),
    ("#3730a3", "#a5b4fc"),
    ("#78350f", "#fde68a"),
    ("#065f46", "#6ee7b7"),
    ("#86198f", "#f0abfc"),
    ("#44403c", "#d6d3d1"),
];

fn style(theme: Theme) -> String {
    let mut out = String::from(
        ".id{font-size:13px;font-weight:600}.kind{font-size:10.5px}.title{font-size:12px;font-weight:600}.line{fill:none;stroke-width:1.4}.run{stroke-dasharray:5 4}.off{stroke-dasharray:4 3;opacity:.55}.again{stroke-width:3}",
    );
    let light = || colours(LIGHT, "#ffffff", "#0f172a", "#475569", "#94a3b8", "#f8fafc");
    let dark = || colours(DARK, "#0b1120", "#f1f5f9", "#a3b1c6", "#64748b", "#111a2e");
    out.push_str(&match theme {
        Theme::Light => light(),
        Theme::Dark => dark(),
        Theme::Auto => format!("{}@media(prefers-color-scheme:dark){{{}}}", light(), dark()),
    });
    out
}

fn colours(kinds: &[(&str, &str)], paper: &str, ink: &str, pale: &str, line: &str, frame: &str) -> String {
    let mut out = format!(
        ".paper{{fill:{paper}}}.id,.title{{fill:{ink}}}.kind{{fill:{pale}}}.line{{stroke:{line}}}.tip{{fill:{line}}}.frame{{fill:{frame};stroke:{line};stroke-opacity:.5}}"
    );
    for (at, (fill, rim)) in kinds.iter().enumerate() {
        let _ = write!(out, ".k{at}{{fill:{fill};stroke:{rim}}}");
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
