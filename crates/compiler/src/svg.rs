//! The graph as a picture.

use crate::graph::is_solid;
use crate::layout;
use purlin_model::{Node, Resolved};
use std::collections::HashMap;
use std::fmt::Write;

const ROW: f64 = 64.0;
const BOX_HEIGHT: f64 = 44.0;
const GAP: f64 = 80.0;
const MARGIN: f64 = 24.0;

struct Box {
    x: f64,
    y: f64,
    width: f64,
}

/// Draws the graph from left to right, what is needed first on the left.
pub(crate) fn draw(resolved: &Resolved) -> String {
    let index: HashMap<&str, usize> =
        resolved.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let mut edges = Vec::new();
    let mut dashed = Vec::new();
    for (from, node) in resolved.nodes.iter().enumerate() {
        for dependency in &node.dependencies {
            if let Some(&to) = index.get(dependency.node.as_str()) {
                edges.push((from, to));
                dashed.push(!is_solid(dependency));
            }
        }
    }
    let routed = layout::route(&layout::layers(resolved.nodes.len(), &edges), &edges);
    let columns = layout::order(&routed.layer, &routed.steps);
    let (boxes, width, height) = place(resolved, &columns, routed.layer.len());
    let mut out = header(width, height, &resolved.project);
    for ((&(from, to), way), &dashed) in edges.iter().zip(&routed.ways).zip(&dashed) {
        if let (Some(from), Some(to)) = (boxes.get(from), boxes.get(to)) {
            let between: Vec<&Box> = way.iter().filter_map(|&at| boxes.get(at)).collect();
            edge(&mut out, from, &between, to, dashed);
        }
    }
    for (node, place) in resolved.nodes.iter().zip(&boxes) {
        draw_node(&mut out, node, place);
    }
    out.push_str("</svg>\n");
    out
}

fn place(resolved: &Resolved, columns: &[Vec<usize>], count: usize) -> (Vec<Box>, f64, f64) {
    let mut boxes: Vec<Box> = (0..count).map(|_| Box { x: 0.0, y: 0.0, width: 0.0 }).collect();
    let tallest = columns.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let mut x = MARGIN;
    for column in columns {
        let width = column.iter().filter_map(|&at| resolved.nodes.get(at)).map(text_width).fold(96.0, f64::max);
        let top = MARGIN + (tallest - column.len() as f64) * ROW / 2.0;
        for (row, &at) in column.iter().enumerate() {
            if let Some(place) = boxes.get_mut(at) {
                *place = Box { x, y: top + row as f64 * ROW, width };
            }
        }
        x += width + GAP;
    }
    (boxes, (x - GAP + MARGIN).max(2.0 * MARGIN), tallest * ROW + 2.0 * MARGIN)
}

/// An estimate: no fonts are at hand here, and a little air does no harm.
fn text_width(node: &Node) -> f64 {
    let id = node.id.chars().count() as f64 * 8.2;
    let kind = subtitle(node).chars().count() as f64 * 6.4;
    id.max(kind) + 28.0
}

fn subtitle(node: &Node) -> String {
    if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} · {}", node.kind, node.type_name) }
}

fn header(width: f64, height: f64, title: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, sans-serif\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escape(title));
    out.push_str("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#64748b\"/></marker></defs>\n");
    let _ = writeln!(out, "<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>");
    out
}

/// An arrow from what is needed to what needs it, in the direction things happen, past what lies between.
fn edge(out: &mut String, from: &Box, between: &[&Box], to: &Box, dashed: bool) {
    let middle = |place: &Box| place.y + BOX_HEIGHT / 2.0;
    let (mut x, mut y) = (to.x + to.width, middle(to));
    let mut path = format!("M{x:.0} {y:.0}");
    let mut curve = |x2: f64, y2: f64, path: &mut String| {
        let bend = ((x2 - x) / 2.0).abs().max(30.0);
        let _ = write!(path, "C{:.0} {y:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}", x + bend, x2 - bend);
        (x, y) = (x2, y2);
    };
    for way in between {
        curve(way.x, middle(way), &mut path);
        curve(way.x + way.width, middle(way), &mut path);
    }
    curve(from.x - 2.0, middle(from), &mut path);
    let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#94a3b8\" stroke-width=\"1.5\"{dash} marker-end=\"url(#tip)\"/>"
    );
}

fn draw_node(out: &mut String, node: &Node, place: &Box) {
    let (fill, stroke) = colours(&node.kind);
    let dash = if node.disabled { " stroke-dasharray=\"4 3\" opacity=\"0.6\"" } else { "" };
    let Box { x, y, width } = place;
    let _ = writeln!(
        out,
        "<g><rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{BOX_HEIGHT}\" rx=\"8\" fill=\"{fill}\" stroke=\"{stroke}\"{dash}/>"
    );
    let left = x + 14.0;
    let _ = writeln!(
        out,
        "<text x=\"{left:.0}\" y=\"{:.0}\" font-size=\"14\" font-weight=\"600\" fill=\"#0f172a\">{}</text>",
        y + 19.0,
        escape(&node.id)
    );
    let _ = writeln!(
        out,
        "<text x=\"{left:.0}\" y=\"{:.0}\" font-size=\"11\" fill=\"#475569\">{}</text></g>",
        y + 35.0,
        escape(&subtitle(node))
    );
}

/// Kinds keep their colour from project to project.
fn colours(kind: &str) -> (&'static str, &'static str) {
    const PALETTE: &[(&str, &str)] = &[
        ("#eff6ff", "#3b82f6"),
        ("#f0fdf4", "#22c55e"),
        ("#fff7ed", "#f97316"),
        ("#faf5ff", "#a855f7"),
        ("#fefce8", "#ca8a04"),
        ("#f0fdfa", "#14b8a6"),
        ("#fdf2f8", "#ec4899"),
    ];
    let sum = kind.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    PALETTE.get(sum % PALETTE.len()).copied().unwrap_or(("#f8fafc", "#64748b"))
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
