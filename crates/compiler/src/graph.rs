//! The graph as text: a tree, DOT, Mermaid. SVG is drawn in [`crate::svg`].
//!
//! An arrow leads from a node to what it needs, in every format. It is broken if the other must have run before.

use crate::shown::Shown;
use crate::svg;
use purlin_model::{Dependency, Node};
use std::fmt::Write;

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// A tree a person reads.
    Text,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// A picture.
    Svg(Theme),
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// As the reader's system says.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Draws a graph, or the part of it that is shown.
pub fn draw(shown: &Shown<'_>, format: GraphFormat) -> String {
    match format {
        GraphFormat::Text => text(shown),
        GraphFormat::Dot => dot(shown),
        GraphFormat::Mermaid => mermaid(shown),
        GraphFormat::Svg(theme) => svg::draw(shown, theme),
    }
}

/// What is not in the picture, in a sentence; nothing if everything is.
pub(crate) fn left_out(shown: &Shown<'_>) -> Option<String> {
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    match (shown.hidden, shown.cut) {
        (0, 0) => None,
        (0, 1) => Some("1 line that follows from others is left out".to_owned()),
        (0, cut) => Some(format!("{cut} lines that follow from others are left out")),
        (1, 0) => Some("1 node is left out".to_owned()),
        (hidden, 0) => Some(format!("{hidden} nodes are left out")),
        (hidden, cut) => Some(format!("{} and {} are left out", count(hidden, "node"), count(cut, "line"))),
    }
}

/// What a node is, in words.
pub(crate) fn description(node: &Node) -> String {
    let kind =
        if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} {}", node.kind, node.type_name) };
    if node.disabled { format!("{kind}, disabled") } else { kind }
}

/// A tree from each node that nobody needs. What was written out above is only named.
fn text(shown: &Shown<'_>) -> String {
    let mut needs: Vec<Vec<Branch<'_>>> = shown.nodes.iter().map(|_| Vec::new()).collect();
    let mut is_needed = vec![false; shown.nodes.len()];
    for edge in &shown.edges {
        needs[edge.from].push(Branch { to: Some(edge.to), how: edge.how });
        is_needed[edge.to] |= edge.from != edge.to;
    }
    for (from, how) in &shown.missing {
        needs[*from].push(Branch { to: None, how });
    }
    let mut tree = Tree { shown, needs, is_written: vec![false; shown.nodes.len()], out: String::new() };
    // Nodes that no root reaches are part of a cycle.
    let roots = (0..shown.nodes.len()).filter(|&at| !is_needed[at]);
    for root in roots.chain(0..shown.nodes.len()) {
        if !tree.is_written[root] {
            tree.write(root);
        }
    }
    if let Some(left_out) = left_out(shown) {
        let _ = writeln!(tree.out, "({left_out})");
    }
    tree.out
}

#[derive(Clone, Copy)]
struct Branch<'r> {
    /// The place of the other node; none if it is not in the project.
    to: Option<usize>,
    how: &'r Dependency,
}

struct Tree<'s> {
    shown: &'s Shown<'s>,
    needs: Vec<Vec<Branch<'s>>>,
    is_written: Vec<bool>,
    out: String,
}

/// How far the indentation of a tree goes; what is deeper is named and written out by itself.
const DEEPEST: usize = 40;

impl Tree<'_> {
    fn write(&mut self, root: usize) {
        self.name(root);
        self.out.push('\n');
        self.is_written[root] = true;
        // The node, the next of its branches, and what stands before a line below it.
        let mut open = vec![(root, 0, String::new())];
        while let Some((at, next, before)) = open.pop() {
            let Some(branch) = self.needs[at].get(next).copied() else { continue };
            let is_last = next + 1 == self.needs[at].len();
            let _ = write!(self.out, "{before}{}", if is_last { "└─ " } else { "├─ " });
            let below = format!("{before}{}", if is_last { "   " } else { "│  " });
            open.push((at, next + 1, before));
            let Some(to) = branch.to else {
                let _ = writeln!(self.out, "{} (not in the project)", plain(&branch.how.node));
                continue;
            };
            self.name(to);
            self.out.push_str(match (branch.how.is_explicit, branch.how.is_runtime) {
                (true, _) => "",
                (false, true) => ", uses its outputs",
                (false, false) => ", by reference",
            });
            let has_more = !self.needs[to].is_empty();
            if has_more && self.is_written[to] {
                self.out.push_str(" ↑");
            } else if open.len() > DEEPEST {
                self.out.push_str(if has_more { " ↓" } else { "" });
            } else {
                self.is_written[to] = true;
                open.push((to, 0, below));
            }
            self.out.push('\n');
        }
    }

    fn name(&mut self, at: usize) {
        let node = self.shown.nodes[at];
        let _ = write!(self.out, "{} ({})", plain(&node.id), plain(&description(node)));
    }
}

/// Names come from input: a control character must not reach a terminal.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", plain(name).replace('\\', "\\\\").replace('"', "\\\""))
}

/// The nodes of each group, by the node that they lie in; those of none first.
pub(crate) fn groups<'r>(shown: &Shown<'r>) -> Vec<(Option<&'r str>, Vec<usize>)> {
    let mut groups: Vec<(Option<&str>, Vec<usize>)> = vec![(None, Vec::new())];
    let mut places = std::collections::HashMap::from([(None, 0)]);
    let outer = |node: &'r Node| node.id.split_once('/').map(|(outer, _)| outer);
    let known: std::collections::HashSet<&str> = shown.nodes.iter().map(|node| node.id.as_str()).collect();
    for (at, node) in shown.nodes.iter().enumerate() {
        let group = outer(node).filter(|outer| known.contains(outer));
        let place = *places.entry(group).or_insert_with(|| {
            groups.push((group, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(at);
    }
    groups
}

fn dot(shown: &Shown<'_>) -> String {
    let mut out =
        String::from("digraph purlin {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    for (number, (group, members)) in groups(shown).into_iter().enumerate() {
        let indent = if group.is_some() { "    " } else { "  " };
        if let Some(name) = group {
            let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(name));
        }
        for node in members.into_iter().map(|at| shown.nodes[at]) {
            let style = if node.disabled { ", style=\"rounded,dashed\"" } else { "" };
            let kind = plain(&node.kind).replace(['\\', '"'], "");
            let label = quoted(&node.id).trim_end_matches('"').to_owned() + "\\n" + &kind + "\"";
            let _ = writeln!(out, "{indent}{} [label={label}{style}];", quoted(&node.id));
        }
        if group.is_some() {
            out.push_str("  }\n");
        }
    }
    for edge in &shown.edges {
        let style = if edge.how.is_runtime { " [style=dashed]" } else { "" };
        let (from, to) = (shown.nodes[edge.from], shown.nodes[edge.to]);
        let _ = writeln!(out, "  {} -> {}{style};", quoted(&from.id), quoted(&to.id));
    }
    for (from, how) in &shown.missing {
        let from = quoted(&shown.nodes[*from].id);
        let _ = writeln!(out, "  {from} -> {} [style=dotted];", quoted(&how.node));
    }
    if let Some(left_out) = left_out(shown) {
        let _ = writeln!(out, "  label={};", quoted(&left_out));
    }
    out.push_str("}\n");
    out
}

fn mermaid(shown: &Shown<'_>) -> String {
    let mut out = String::from("flowchart LR\n");
    let escape = |text: &str| plain(text).replace('"', "#quot;");
    for (number, (group, members)) in groups(shown).into_iter().enumerate() {
        let indent = if group.is_some() { "    " } else { "  " };
        if let Some(name) = group {
            let _ = writeln!(out, "  subgraph g{number}[\"{}\"]", escape(name));
        }
        for at in members {
            let node = shown.nodes[at];
            let _ = writeln!(out, "{indent}n{at}[\"{}<br/><small>{}</small>\"]", escape(&node.id), escape(&node.kind));
        }
        if group.is_some() {
            out.push_str("  end\n");
        }
    }
    for edge in &shown.edges {
        let arrow = if edge.how.is_runtime { "-.->" } else { "-->" };
        let _ = writeln!(out, "  n{} {arrow} n{}", edge.from, edge.to);
    }
    for (at, (from, how)) in shown.missing.iter().enumerate() {
        let _ = writeln!(out, "  n{from} -.-x m{at}[\"{}\"]", escape(&how.node));
    }
    if let Some(left_out) = left_out(shown) {
        let _ = writeln!(out, "  %% {left_out}");
    }
    out
}
