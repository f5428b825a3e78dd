//! The graph as text: a tree, DOT, Mermaid. Pictures are made in [`crate::picture`].
//!
//! An arrow leads from a node to what it needs, in every format. It is broken if the other must have run before.

use crate::picture::colours::{HUES, hue, shade};
use crate::shown::Shown;
use purlin_model::{Dependency, Node};
use purlin_value::EcoString;
use std::collections::HashMap;
use std::fmt::Write;

/// Format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// A tree a person reads.
    Text,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// The reader's system setting.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Paper size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Page {
    /// As large as the picture.
    #[default]
    Own,
    /// A4, portrait or landscape, whichever the picture fills better.
    A4,
    /// A slide, 16 to 9.
    Slide,
}

impl Page {
    /// The least size of this shape that a picture fits in.
    pub fn fit(self, width: f64, height: f64) -> (f64, f64) {
        let in_shape = |wide: f64, high: f64| (width.max(height * wide / high), height.max(width * high / wide));
        match self {
            Page::Own => (width, height),
            Page::A4 if width >= height => in_shape(297.0, 210.0),
            Page::A4 => in_shape(210.0, 297.0),
            Page::Slide => in_shape(16.0, 9.0),
        }
    }
}

/// Draws a graph, or the part of it that is shown.
pub fn draw(shown: &Shown<'_>, format: GraphFormat) -> String {
    match format {
        GraphFormat::Text => text(shown),
        GraphFormat::Dot => dot(shown),
        GraphFormat::Mermaid => mermaid(shown),
    }
}

/// The omitted parts, in a sentence; `None` if the picture is complete.
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

/// Kind and type of a node, in words.
fn description(node: &Node) -> String {
    let kind =
        if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} {}", node.kind, node.type_name) };
    if node.disabled { format!("{kind}, disabled") } else { kind }
}

/// The same with kind and type separated by a dot.
pub(crate) fn description_parts(node: &Node) -> String {
    if node.type_name.is_empty() { node.kind.to_string() } else { format!("{} · {}", node.kind, node.type_name) }
}

/// A tree from each node without dependents. Subtrees that are printed above are only named.
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
    /// The position of the other node; `None` if it is not in the project.
    to: Option<usize>,
    how: &'r Dependency,
}

struct Tree<'s> {
    shown: &'s Shown<'s>,
    needs: Vec<Vec<Branch<'s>>>,
    is_written: Vec<bool>,
    out: String,
}

/// Maximum indentation of a tree; deeper nodes are named and printed separately.
const DEEPEST: usize = 40;

impl Tree<'_> {
    fn write(&mut self, root: usize) {
        self.name(root);
        self.out.push('\n');
        self.is_written[root] = true;
        // The node, the next of its branches, and the prefix of lines below it.
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

/// A step through nested nodes.
enum Visit {
    /// A node without contents.
    Node(usize),
    /// A node, before its contents.
    Enter(usize),
    /// The same node, behind it.
    Leave,
}

/// Nodes, each followed by its contents, with the depth of each step.
fn nested(shown: &Shown<'_>) -> Vec<(usize, Visit)> {
    let known: HashMap<&str, usize> = shown.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let outer = |id: &str| id.rmatch_indices('/').find_map(|(at, _)| known.get(id.get(..at)?).copied());
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); shown.nodes.len()];
    let mut stack = Vec::new();
    for (at, node) in shown.nodes.iter().enumerate() {
        match outer(&node.id) {
            Some(outer) => inside[outer].push(at),
            None => stack.push((0, Some(at))),
        }
    }
    stack.reverse();
    let mut found = Vec::new();
    while let Some((depth, at)) = stack.pop() {
        match at {
            None => found.push((depth, Visit::Leave)),
            Some(at) if inside[at].is_empty() => found.push((depth, Visit::Node(at))),
            Some(at) => {
                found.push((depth, Visit::Enter(at)));
                stack.push((depth, None));
                stack.extend(inside[at].iter().rev().map(|&inner| (depth + 1, Some(inner))));
            }
        }
    }
    found
}

/// The label of a line: values passed along it, and the type of the relationship.
fn line_label(names: &[EcoString], relationship: &str) -> String {
    match (names.join(", "), relationship) {
        (names, "") => names,
        (names, relationship) if names.is_empty() => relationship.to_owned(),
        (names, relationship) => format!("{names} ({relationship})"),
    }
}

fn dot(shown: &Shown<'_>) -> String {
    let mut out = String::from(
        "digraph purlin {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n",
    );
    for (number, (depth, visit)) in nested(shown).into_iter().enumerate() {
        let indent = "  ".repeat(depth + 1);
        match visit {
            Visit::Node(at) => dot_node(&mut out, shown.nodes[at], &indent),
            Visit::Enter(at) => {
                let name = quoted(&shown.nodes[at].id);
                let _ = writeln!(out, "{indent}subgraph cluster_{number} {{\n{indent}  label={name};");
                dot_node(&mut out, shown.nodes[at], &format!("{indent}  "));
            }
            Visit::Leave => {
                let _ = writeln!(out, "{indent}}}");
            }
        }
    }
    for edge in &shown.edges {
        let (from, to) = (shown.nodes[edge.from], shown.nodes[edge.to]);
        let label = line_label(&edge.names, &edge.how.relationship);
        let label = (!label.is_empty()).then(|| format!("label={}", quoted(&label)));
        let style = edge.how.is_runtime.then(|| "style=dashed".to_owned());
        let all: Vec<String> = [style, label].into_iter().flatten().collect();
        let all = if all.is_empty() { String::new() } else { format!(" [{}]", all.join(", ")) };
        let _ = writeln!(out, "  {} -> {}{all};", quoted(&from.id), quoted(&to.id));
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

fn dot_node(out: &mut String, node: &Node, indent: &str) {
    let style = if node.disabled { ", style=\"rounded,filled,dashed\"" } else { "" };
    let kind = plain(&node.kind).replace(['\\', '"'], "");
    let label = quoted(&node.id).trim_end_matches('"').to_owned() + "\\n" + &kind + "\"";
    let [rim, shades @ ..] = HUES[hue(Some(node.dialect))].light;
    let fill = shades[shade(&node.kind)];
    let _ =
        writeln!(out, "{indent}{} [label={label}, color=\"{rim}\", fillcolor=\"{fill}\"{style}];", quoted(&node.id));
}

fn mermaid(shown: &Shown<'_>) -> String {
    let mut out = String::from("flowchart LR\n");
    let escape = |text: &str| plain(text).replace('"', "#quot;");
    let node = |out: &mut String, at: usize, indent: &str| {
        let node = shown.nodes[at];
        let (id, kind) = (escape(&node.id), escape(&node.kind));
        let _ = writeln!(out, "{indent}n{at}[\"{id}<br/><small>{kind}</small>\"]:::{}", mermaid_class(node.dialect));
    };
    for (number, (depth, visit)) in nested(shown).into_iter().enumerate() {
        let indent = "  ".repeat(depth + 1);
        match visit {
            Visit::Node(at) => node(&mut out, at, &indent),
            Visit::Enter(at) => {
                let _ = writeln!(out, "{indent}subgraph g{number}[\"{}\"]", escape(&shown.nodes[at].id));
                node(&mut out, at, &format!("{indent}  "));
            }
            Visit::Leave => {
                let _ = writeln!(out, "{indent}end");
            }
        }
    }
    for edge in &shown.edges {
        let arrow = if edge.how.is_runtime { "-.->" } else { "-->" };
        let label = line_label(&edge.names, &edge.how.relationship);
        let label = if label.is_empty() { label } else { format!("|\"{}\"|", escape(&label)) };
        let _ = writeln!(out, "  n{} {arrow}{label} n{}", edge.from, edge.to);
    }
    for (at, (from, how)) in shown.missing.iter().enumerate() {
        let _ = writeln!(out, "  n{from} -.-x m{at}[\"{}\"]", escape(&how.node));
    }
    for known in HUES.iter().filter(|known| shown.nodes.iter().any(|node| node.dialect == known.dialect)) {
        let [rim, _, fill, ..] = known.light;
        let class = mermaid_class(known.dialect);
        let _ = writeln!(out, "  classDef {class} fill:{fill},stroke:{rim},color:#14202b");
    }
    if let Some(left_out) = left_out(shown) {
        let _ = writeln!(out, "  %% {left_out}");
    }
    out
}

/// The class of a dialect's nodes; objects without one are no word of Mermaid's.
fn mermaid_class(dialect: &str) -> &str {
    if dialect.is_empty() { "plain" } else { dialect }
}
