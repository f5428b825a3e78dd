//! Random edits, and the full text of a resolved project, for tests that resolve one project in two ways.

use purlin_compiler::{inputs, origin_text};
use purlin_model::Resolved;
use purlin_syntax::Span;
use purlin_value::{Session, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Deterministic pseudo-random numbers.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }

    /// One of several strings.
    pub fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of.get(self.roll(of.len())).copied().unwrap_or("")
    }

    /// The start of some character of a text, or its end.
    pub fn place(&mut self, text: &str) -> usize {
        boundary(text, self.roll(text.len() + 1))
    }

    /// A text with a snippet inserted, or with a line removed or duplicated.
    pub fn edited(&mut self, text: &str, snippets: &[&str]) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let line = self.roll(lines.len());
        let part = |range: std::ops::Range<usize>| lines.get(range).unwrap_or_default().concat();
        let end = lines.len();
        match self.roll(4) {
            0 => part(0..line) + &part(line + 1..end),
            1 => part(0..line + 1) + &part(line..end),
            2 => part(0..line) + self.one(snippets) + &part(line..end),
            _ => {
                let (before, after) = text.split_at(self.place(text));
                format!("{before}{}{after}", self.one(snippets))
            }
        }
    }

    /// A text without a few of its characters.
    pub fn shortened(&mut self, text: &str) -> String {
        let start = self.place(text);
        let end = boundary(text, (start + self.roll(6)).min(text.len()));
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
        format!("{}{}", part(0..start), part(end.max(start)..text.len()))
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Number of random edits in a test: `PURLIN_EDITS`, or the test's default.
pub fn rounds(usual: usize) -> usize {
    std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A span as text that is the same in all sessions.
pub fn location(session: &Session, span: Option<Span>) -> String {
    let Some(span) = span else { return "-".to_owned() };
    let path = session.sources.get(span.file).map_or_else(|| "?".to_owned(), |source| source.path().to_owned());
    format!("{path}:{}-{}", span.start, span.end)
}

/// Writes a value with the locations of all its parts, and everything they depend on.
fn write_value(session: &Session, value: &Value, out: &mut String) {
    let origin = location(session, session.origins.span(value.origin, &session.sources));
    if let Some(map) = value.as_map() {
        let _ = write!(out, "{{@{origin} ");
        for (key, item) in map.iter() {
            let _ = write!(out, "{key}: ");
            write_value(session, item, out);
        }
        out.push('}');
    } else if let Some(list) = value.as_list() {
        let _ = write!(out, "[@{origin} ");
        list.iter().for_each(|item| write_value(session, item, out));
        out.push(']');
    } else {
        let inputs: BTreeSet<String> = inputs(session, value.origin).iter().map(origin_text).collect();
        let _ = write!(out, "{:?}@{origin} {inputs:?} ", value.data);
    }
}

/// All data of a resolved project by id: its nodes, its manifests, and the project itself.
pub fn everything(session: &Session, resolved: &Resolved) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (at, node) in resolved.nodes.iter().enumerate() {
        let source = location(session, node.source);
        let mut text = format!("{at} {} {} {} {source} ", node.kind, node.type_name, node.disabled);
        for need in &node.dependencies {
            let flags = (need.is_static, need.is_runtime, need.is_explicit);
            let _ = write!(text, "needs {} {flags:?} {} ", need.node, location(session, need.span));
        }
        write_value(session, &node.resolved, &mut text);
        write_value(session, &node.outputs, &mut text);
        all.insert(node.id.to_string(), text);
    }
    for manifest in &resolved.manifests {
        let mut text = String::new();
        write_value(session, &manifest.value, &mut text);
        all.insert(format!("manifest {}", manifest.node), text);
    }
    let mut text = format!("{} ", resolved.environment);
    write_value(session, &resolved.variables, &mut text);
    write_value(session, &resolved.outputs, &mut text);
    let inner: BTreeSet<&String> = resolved.inner.iter().collect();
    let declared: Vec<(&str, bool)> = resolved.declared.iter().map(|d| (d.name.as_str(), d.is_used)).collect();
    let _ = write!(text, "{inner:?} {declared:?}");
    all.insert("(project)".to_owned(), text);
    all
}

/// Panics at the first part of a project that differs from the expected one.
pub fn assert_same(found: &BTreeMap<String, String>, expected: &BTreeMap<String, String>, context: &str) {
    for (id, part) in expected {
        assert_eq!(found.get(id), Some(part), "`{id}` {context}");
    }
    assert_eq!(found.len(), expected.len(), "number of nodes {context}");
}

/// Number of nodes that two resolved projects share in memory.
pub fn shared_nodes(one: &Resolved, other: &Resolved) -> usize {
    let maps: BTreeMap<&str, _> =
        one.nodes.iter().filter_map(|node| Some((node.id.as_str(), node.resolved.as_map()?))).collect();
    let is_shared = |node: &&purlin_model::Node| {
        let before = maps.get(node.id.as_str()).copied();
        before.zip(node.resolved.as_map()).is_some_and(|(one, other)| std::ptr::eq(one, other))
    };
    other.nodes.iter().filter(is_shared).count()
}
