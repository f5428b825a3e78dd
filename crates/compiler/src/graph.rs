//! The graph as text: an indented list, DOT, Mermaid. SVG is drawn in [`crate::svg`].

use crate::svg;
use purlin_model::{Dependency, Node, Resolved};
use std::fmt::Write;

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// A list a person reads.
    Text,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// A picture.
    Svg,
}

/// Draws the graph.
pub fn draw(resolved: &Resolved, format: GraphFormat) -> String {
    match format {
        GraphFormat::Text => text(resolved),
        GraphFormat::Dot => dot(resolved),
        GraphFormat::Mermaid => mermaid(resolved),
        GraphFormat::Svg => svg::draw(resolved),
    }
}

fn text(resolved: &Resolved) -> String {
    let mut out = String::new();
    for node in &resolved.nodes {
        let kind =
            if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} {}", node.kind, node.type_name) };
        let off = if node.disabled { ", disabled" } else { "" };
        let _ = writeln!(out, "{} ({kind}{off})", plain(&node.id));
        for dependency in &node.dependencies {
            let how = match (dependency.is_explicit, dependency.is_runtime) {
                (true, _) => "",
                (false, true) => " (uses its outputs)",
                (false, false) => " (by reference)",
            };
            let _ = writeln!(out, "  → {}{how}", plain(&dependency.node));
        }
    }
    out
}

/// Written down, or needed at run time; a mere reference is drawn with a broken line.
pub(crate) fn is_solid(dependency: &Dependency) -> bool {
    dependency.is_explicit || dependency.is_runtime
}

/// Names come from input: a control character must not reach a terminal.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", plain(name).replace('\\', "\\\\").replace('"', "\\\""))
}

fn dot(resolved: &Resolved) -> String {
    let mut out =
        String::from("digraph purlin {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    for node in &resolved.nodes {
        let style = if node.disabled { ", style=\"rounded,dashed\"" } else { "" };
        let kind = plain(&node.kind).replace(['\\', '"'], "");
        let label = quoted(&node.id).trim_end_matches('"').to_owned() + "\\n" + &kind + "\"";
        let _ = writeln!(out, "  {} [label={label}{style}];", quoted(&node.id));
    }
    for node in &resolved.nodes {
        for dependency in &node.dependencies {
            let style = if is_solid(dependency) { "" } else { " [style=dashed]" };
            let _ = writeln!(out, "  {} -> {}{style};", quoted(&node.id), quoted(&dependency.node));
        }
    }
    out.push_str("}\n");
    out
}

fn mermaid(resolved: &Resolved) -> String {
    let mut out = String::from("flowchart LR\n");
    let escape = |text: &str| plain(text).replace('"', "#quot;");
    for (at, node) in resolved.nodes.iter().enumerate() {
        let _ = writeln!(out, "  n{at}[\"{}<br/><small>{}</small>\"]", escape(&node.id), escape(&node.kind));
    }
    let index: std::collections::HashMap<&str, usize> =
        resolved.nodes.iter().enumerate().map(|(at, node): (usize, &Node)| (node.id.as_str(), at)).collect();
    for (at, node) in resolved.nodes.iter().enumerate() {
        for dependency in &node.dependencies {
            let arrow = if is_solid(dependency) { "-->" } else { "-.->" };
            if let Some(to) = index.get(dependency.node.as_str()) {
                let _ = writeln!(out, "  n{at} {arrow} n{to}");
            }
        }
    }
    out
}
