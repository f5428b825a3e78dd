//! SARIF output against the parts of the published 2.1.0 schema that it uses.
//!
//! The schema itself cannot be copied for licence reasons. [`OBJECTS`] and [`SCALARS`] restate it for every member we
//! write, and are closed: a new member fails until it has its row here. The whole output was checked against the
//! published schema when the printer was written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_syntax::print::{Tool, sarif};
use purlin_syntax::{Diagnostic, FileId, Hint, Kind, Limits, Node, Rule, Scalar, Source, Span, Tree, json};
use std::sync::Arc;

/// Objects by path, with the members they must have and those they may have.
const OBJECTS: &[(&str, &[&str], &[&str])] = &[
    ("", &["version", "runs"], &["$schema"]),
    ("runs[]", &["tool"], &["columnKind", "results"]),
    ("runs[].tool", &["driver"], &[]),
    ("runs[].tool.driver", &["name"], &["version", "informationUri", "rules"]),
    ("runs[].tool.driver.rules[]", &["id"], &["shortDescription", "help", "helpUri", "defaultConfiguration"]),
    ("runs[].tool.driver.rules[].shortDescription", &["text"], &[]),
    ("runs[].tool.driver.rules[].help", &["text"], &[]),
    ("runs[].tool.driver.rules[].defaultConfiguration", &[], &["level"]),
    (
        "runs[].results[]",
        &["message"],
        &["ruleId", "ruleIndex", "level", "locations", "relatedLocations", "codeFlows", "fixes", "partialFingerprints"],
    ),
    // The standard leaves the names of fingerprints to the tool.
    ("runs[].results[].partialFingerprints", &[], &["purlin/v1"]),
    ("runs[].results[].fixes[]", &["artifactChanges"], &["description"]),
    ("runs[].results[].fixes[].description", &["text"], &[]),
    ("runs[].results[].fixes[].artifactChanges[]", &["artifactLocation", "replacements"], &[]),
    ("runs[].results[].fixes[].artifactChanges[].artifactLocation", &[], &["uri", "uriBaseId"]),
    ("runs[].results[].fixes[].artifactChanges[].replacements[]", &["deletedRegion"], &["insertedContent"]),
    (
        "runs[].results[].fixes[].artifactChanges[].replacements[].deletedRegion",
        &[],
        &["startLine", "startColumn", "endLine", "endColumn"],
    ),
    ("runs[].results[].fixes[].artifactChanges[].replacements[].insertedContent", &[], &["text"]),
    ("runs[].results[].message", &["text"], &[]),
    ("runs[].results[].codeFlows[]", &["threadFlows"], &[]),
    ("runs[].results[].codeFlows[].threadFlows[]", &["locations"], &[]),
    ("runs[].results[].codeFlows[].threadFlows[].locations[]", &[], &["location"]),
];

/// Paths of the standard's `location` object.
const LOCATIONS: &[&str] = &[
    "runs[].results[].locations[]",
    "runs[].results[].relatedLocations[]",
    "runs[].results[].codeFlows[].threadFlows[].locations[].location",
];

/// Objects inside a location.
const LOCATION_OBJECTS: &[(&str, &[&str], &[&str])] = &[
    ("", &[], &["id", "message", "physicalLocation"]),
    (".message", &["text"], &[]),
    (".physicalLocation", &["artifactLocation"], &["region"]),
    (".physicalLocation.artifactLocation", &["uri"], &[]),
    (".physicalLocation.region", &["startLine"], &["startColumn", "endLine", "endColumn"]),
];

type Fits = fn(Node<'_>) -> bool;

/// Required form of members without structure, by name.
const SCALARS: &[(&str, Fits)] = &[
    ("$schema", is_uri),
    ("version", is_text),
    ("name", is_text),
    ("informationUri", is_uri),
    ("helpUri", is_uri),
    ("columnKind", |node| matches!(node.text(), "utf16CodeUnits" | "unicodeCodePoints")),
    ("id", |node| is_text(node) || at_least(node, 0)),
    ("text", is_text),
    ("purlin/v1", is_text),
    ("level", |node| matches!(node.text(), "none" | "note" | "warning" | "error")),
    ("ruleId", is_text),
    ("ruleIndex", |node| at_least(node, 0)),
    ("uri", is_uri),
    ("startLine", |node| at_least(node, 1)),
    ("startColumn", |node| at_least(node, 1)),
    ("endLine", |node| at_least(node, 1)),
    ("endColumn", |node| at_least(node, 1)),
];

fn is_text(node: Node<'_>) -> bool {
    node.scalar() == Scalar::Str && !node.text().is_empty()
}

fn is_uri(node: Node<'_>) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    is_text(node) && node.text().chars().all(allowed)
}

fn at_least(node: Node<'_>, least: i64) -> bool {
    node.as_int().is_some_and(|value| value >= least)
}

fn members(path: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    let plain = OBJECTS.iter().find(|(at, ..)| *at == path);
    let inside = || {
        let rest = LOCATIONS.iter().find_map(|location| path.strip_prefix(location))?;
        LOCATION_OBJECTS.iter().find(|(at, ..)| *at == rest)
    };
    plain.or_else(inside).map(|(_, required, allowed)| (*required, *allowed))
}

fn check(node: Node<'_>, path: &str, name: &str) {
    match node.kind() {
        Kind::Map => {
            let (required, allowed) = members(path).unwrap_or_else(|| panic!("no object is known at `{path}`"));
            for key in required {
                assert!(node.get(key).is_some(), "`{key}` is missing at `{path}`");
            }
            for entry in node.entries() {
                let key = entry.name();
                assert!(required.contains(&key) || allowed.contains(&key), "`{key}` is not known at `{path}`");
                let inner = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                check(entry.value, &inner, key);
            }
        }
        Kind::List => node.items().for_each(|item| check(item, &format!("{path}[]"), name)),
        _ => {
            let (_, fits) = SCALARS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("`{path}`"));
            assert!(fits(node), "`{path}` is `{}`", node.text());
        }
    }
}

const BAD: Rule = Rule::error("unknown-key", "A key is not known.");
const ODD: Rule = Rule::warning("odd-thing", "Something is odd.");

fn read(text: &str) -> Tree {
    let tree = json::parse(Arc::new(Source::new(FileId(0), "out.sarif", text)), &Limits::default());
    assert_eq!(tree.diagnostics(), []);
    tree
}

fn written() -> String {
    let files = [Arc::new(Source::new(FileId(0), "dir/a b.yaml", "kind: x\nimgé: y\n"))];
    let at = |start, end| Span::new(FileId(0), start, end);
    let found = [
        Diagnostic::at(&BAD, at(8, 13), "`imgé` is [no](key)\u{1b}")
            .label(at(0, 4), "of this")
            .hint(Hint::meant("imgé", "image")),
        Diagnostic::at(&ODD, at(14, 14), "odd").through(at(6, 7), "included here").through(at(0, 1), "from here"),
        Diagnostic::nowhere(&ODD, "nowhere"),
    ];
    let tool = Tool { name: "purlin", version: "1.2.3", home: "https://example.com/purlin" };
    sarif(&[(&found, &files[..])], &tool)
}

#[test]
fn every_member_is_one_of_the_schema() {
    let text = written();
    let tree = read(&text);
    let root = tree.root().unwrap();
    assert_eq!(root.get("version").unwrap().text(), "2.1.0");
    check(root, "", "");
}

#[test]
fn results_point_at_rules_and_places() {
    let text = written();
    let tree = read(&text);
    let run = tree.root().unwrap().get("runs").unwrap().items().next().unwrap();
    let rules: Vec<Node<'_>> = run.get("tool").unwrap().get("driver").unwrap().get("rules").unwrap().items().collect();
    let results: Vec<Node<'_>> = run.get("results").unwrap().items().collect();
    for result in &results {
        let index = usize::try_from(result.get("ruleIndex").unwrap().as_int().unwrap()).unwrap();
        assert_eq!(rules[index].get("id").unwrap().text(), result.get("ruleId").unwrap().text());
    }
    let place = results[0].get("locations").unwrap().items().next().unwrap().get("physicalLocation").unwrap();
    assert_eq!(place.get("artifactLocation").unwrap().get("uri").unwrap().text(), "dir/a%20b.yaml");
    let numbers = place.get("region").unwrap().entries().map(|entry| entry.value.as_int().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), [2, 1, 2, 5]);
    let message = results[0].get("message").unwrap().get("text").unwrap().text();
    assert_eq!(message, "`imgé` is \\[no\\](key)\u{1b}\nHint: did you mean `image`?");
    let flow = results[1].get("codeFlows").unwrap().items().next().unwrap().get("threadFlows").unwrap();
    let steps = flow.items().next().unwrap().get("locations").unwrap().items();
    let texts = steps.map(|step| step.get("location").unwrap().get("message").unwrap().get("text").unwrap().text());
    assert_eq!(texts.collect::<Vec<_>>(), ["from here", "included here", "odd"]);
    assert_eq!(results[2].get("locations").unwrap().items().count(), 0);
    let page = rules[0].get("helpUri").unwrap().text();
    assert_eq!(
        page,
        format!("https://example.com/purlin/blob/v1.2.3/docs/rules/{}.md", rules[0].get("id").unwrap().text())
    );
}
