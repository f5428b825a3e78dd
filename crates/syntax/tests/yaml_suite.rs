//! The official YAML test suite: 402 cases, each with the events it means or the fact that it is no YAML.
//!
//! What we do differently is listed in [`DEVIATIONS`] with its reason, and explained in docs/design/yaml.md.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_syntax::{FileId, Flavor, Kind, Limits, Node, Source, Style, Tree, json, yaml};
use std::sync::Arc;

/// Cases we do not follow, and why.
const DEVIATIONS: &[(&str, &str)] = &[
    ("26DV", "an alias to a scalar that stands as a key is kept as that scalar, so that keys can be compared"),
    ("2JQS", "two empty keys are the same key twice, which is an error here as in the standard's data model"),
    ("9C9N", "a flow collection may go on at the margin, as go-yaml and PyYAML allow and many files do"),
    ("E76Z", "an alias to a scalar that stands as a key is kept as that scalar, so that keys can be compared"),
];

struct Case {
    id: String,
    name: String,
    yaml: String,
    events: String,
    is_error: bool,
}

fn cases() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/yaml-test-suite/cases.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(case).collect()
}

fn case(line: &str) -> Case {
    let tree = json::parse(Arc::new(Source::new(FileId(0), "cases.jsonl", line)), &Limits::default());
    assert_eq!(tree.diagnostics(), []);
    let root = tree.root().unwrap();
    let text = |key: &str| root.get(key).unwrap().text().to_owned();
    Case {
        id: text("id"),
        name: text("name"),
        yaml: text("yaml"),
        events: text("events"),
        is_error: root.get("error").unwrap().as_bool().unwrap(),
    }
}

fn read(text: &str) -> Tree {
    yaml::parse(Arc::new(Source::new(FileId(0), "case.yaml", text)), Flavor::Core, &Limits::default())
}

/// The events of a tree in the suite's notation. Document markers are not kept in the tree, so they are left out.
fn events(tree: &Tree) -> String {
    let mut out = String::from("+STR\n");
    for root in tree.roots() {
        out.push_str("+DOC\n");
        push_events(root, &mut out);
        out.push_str("-DOC\n");
    }
    out + "-STR\n"
}

fn push_events(node: Node<'_>, out: &mut String) {
    if node.is_alias() {
        out.push_str(&format!("=ALI *{}\n", node.target().anchor().unwrap_or("")));
        return;
    }
    let flow = node.style() == Style::Flow;
    match node.kind() {
        Kind::Map => {
            out.push_str(&format!("+MAP{}{}\n", if flow { " {}" } else { "" }, properties(node)));
            for entry in node.entries() {
                push_events(entry.key, out);
                push_events(entry.value, out);
            }
            out.push_str("-MAP\n");
        }
        Kind::List => {
            out.push_str(&format!("+SEQ{}{}\n", if flow { " []" } else { "" }, properties(node)));
            node.items().for_each(|item| push_events(item, out));
            out.push_str("-SEQ\n");
        }
        _ => {
            let sign = match node.style() {
                Style::Single => '\'',
                Style::Double => '"',
                Style::Literal => '|',
                Style::Folded => '>',
                _ => ':',
            };
            out.push_str(&format!("=VAL{} {sign}{}\n", properties(node), escaped(node.text())));
        }
    }
}

fn properties(node: Node<'_>) -> String {
    let anchor = node.anchor().map(|name| format!(" &{name}")).unwrap_or_default();
    let tag = node.tag().map(|tag| format!(" <{tag}>")).unwrap_or_default();
    anchor + &tag
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
    text.replace('\r', "\\r").replace('\u{8}', "\\b")
}

/// The suite's events without what the tree does not keep.
fn expected(events: &str) -> String {
    events.replace("+DOC ---", "+DOC").replace("-DOC ...", "-DOC")
}

/// What we do otherwise than the suite says, if anything.
fn difference(case: &Case) -> Option<String> {
    let tree = read(&case.yaml);
    match (case.is_error, tree.is_sound()) {
        (true, true) => Some("read although it is no YAML".into()),
        (true, false) => None,
        (false, false) => Some(format!("refused: {}", tree.diagnostics()[0].message)),
        (false, true) => {
            let (ours, theirs) = (events(&tree), expected(&case.events));
            (ours != theirs).then(|| format!("other events\n--- expected\n{theirs}--- ours\n{ours}"))
        }
    }
}

#[test]
fn we_follow_the_suite_but_for_what_is_listed() {
    let cases = cases();
    assert_eq!(cases.len(), 402);
    let mut wrong = Vec::new();
    for case in &cases {
        let listed = DEVIATIONS.iter().any(|(id, _)| *id == case.id);
        match (difference(case), listed) {
            (Some(difference), false) => wrong.push(format!("{} {}: {difference}", case.id, case.name)),
            (None, true) => wrong.push(format!("{} is listed, but we follow it", case.id)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_listed_case_exists() {
    let cases = cases();
    for (id, reason) in DEVIATIONS {
        assert!(cases.iter().any(|case| case.id == *id), "{id}");
        assert!(!reason.is_empty());
    }
}

#[test]
fn every_family_reads_every_case_without_a_panic() {
    for case in cases() {
        for flavor in [Flavor::Core, Flavor::CoreGo, Flavor::Go, Flavor::Python] {
            let source = Arc::new(Source::new(FileId(0), "case.yaml", case.yaml.as_str()));
            let tree = yaml::parse(source, flavor, &Limits::default());
            assert_eq!(tree.is_sound(), read(&case.yaml).is_sound(), "{} {flavor:?}", case.id);
        }
    }
}
