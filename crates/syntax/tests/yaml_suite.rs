//! The official YAML test suite: 402 cases, each with its expected events or the fact that it is not YAML.
//!
//! Our deviations are listed in [`DEVIATIONS`] with their reasons, and explained in docs/design/yaml.md.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_syntax::{FileId, Flavor, Kind, Limits, Node, Source, Style, Tree, yaml};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cases we do not follow, and why.
const DEVIATIONS: &[(&str, &str)] = &[
    ("26DV", "an alias to a scalar that stands as a key is kept as that scalar, so that keys can be compared"),
    ("2JQS", "two empty keys are the same key twice, which is an error here as in the standard's data model"),
    ("9C9N", "a flow collection may go on at the margin, as go-yaml and PyYAML allow and many files do"),
    ("E76Z", "an alias to a scalar that stands as a key is kept as that scalar, so that keys can be compared"),
    ("QB6E", "lines of a quoted text may be indented less than the block around them, as go-yaml and PyYAML allow"),
];

/// Cases that every family but JavaScript's reads although the suite refuses them, and why.
const BUT_JAVASCRIPT: &[(&str, &str)] = &[(
    "DK95-01",
    "lines of a quoted text may begin with a tab to go-yaml and PyYAML, and not to the parser of Garden",
)];

struct Case {
    id: String,
    name: String,
    yaml: String,
    events: String,
    is_error: bool,
}

/// The cases are in the package `yaml-edit`, which is a development dependency only for them. Cargo is asked only for
/// packages of this platform: it had to fetch those to build this test, whatever else is in its cache.
fn data() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = std::process::Command::new(cargo)
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &host(), "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo metadata runs");
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "cargo metadata fails: {complaint}");
    let metadata: serde_json::Value = serde_json::from_slice(&run.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "yaml-edit").expect("the package is there");
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().join("test-data")
}

/// The platform that this test was built for, as Cargo names it.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let run = std::process::Command::new(rustc).arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

fn cases() -> Vec<Case> {
    let mut found = Vec::new();
    let mut folders = vec![(data(), String::new())];
    while let Some((folder, id)) = folders.pop() {
        if folder.join("in.yaml").is_file() {
            found.push(case(&folder, id));
            continue;
        }
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `name` and `tags` repeat the same cases under other names.
            if entry.path().is_dir() && name != "name" && name != "tags" {
                let id = if id.is_empty() { name } else { format!("{id}-{name}") };
                folders.push((entry.path(), id));
            }
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

fn case(folder: &Path, id: String) -> Case {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let events = text("test.event");
    // Document markers are not kept in the tree.
    let plain = |line: &str| match line {
        "+DOC ---" => "+DOC\n".to_owned(),
        "-DOC ..." => "-DOC\n".to_owned(),
        other => format!("{other}\n"),
    };
    Case {
        id,
        name: text("===").trim().to_owned(),
        yaml: text("in.yaml"),
        events: events.lines().map(plain).collect(),
        is_error: folder.join("error").is_file(),
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

/// The suite's events without those that the tree does not keep.
fn expected(events: &str) -> String {
    events.replace("+DOC ---", "+DOC").replace("-DOC ...", "-DOC")
}

/// Our deviation from the suite, if any.
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
    for (id, reason) in DEVIATIONS.iter().chain(BUT_JAVASCRIPT) {
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
            let differs = flavor != Flavor::Core && BUT_JAVASCRIPT.iter().any(|(id, _)| *id == case.id);
            assert_eq!(tree.is_sound(), differs || read(&case.yaml).is_sound(), "{} {flavor:?}", case.id);
        }
    }
}
