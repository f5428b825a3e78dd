//! Requirements for every file and rule, and the direction of dependencies: lints that no tool provides.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::all_rules;
use purlin_suite::top;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The layer of each crate; a dependency must point to a lower layer, except for the edges named below.
const LAYERS: &[(&str, u8)] = &[
    ("purlin-syntax", 1),
    ("purlin-graph", 2),
    ("purlin-value", 2),
    ("purlin-model", 3),
    ("purlin-gotmpl", 3),
    ("purlin-jinja", 3),
    ("purlin-kubernetes", 3),
    ("purlin-policy", 1),
    ("purlin-script", 1),
    ("purlin-garden", 4),
    ("purlin-skaffold", 4),
    ("purlin-tosca", 4),
    ("purlin-unfurl", 4),
    ("purlin-charts", 4),
    ("purlin-kustomize", 4),
    ("purlin-compiler", 5),
    ("purlin-verify", 6),
    ("purlin-ide", 6),
    ("purlin-host", 6),
    ("purlin-cluster", 7),
    ("purlin-remote", 7),
    ("purlin-explore", 7),
    ("purlin-remote-suite", 8),
    ("purlin-run", 8),
    ("purlin-lsp", 8),
    ("purlin-cli", 9),
    ("purlin-conformance", 10),
    ("purlin-suite", 10),
    ("purlin-bench", 10),
    ("purlin-fuzz", 10),
    ("purlin-dist", 10),
    ("purlin-skipped", 1),
];

/// The one edge between dialects.
const SIDEWAYS: &[(&str, &str)] = &[("purlin-unfurl", "purlin-tosca")];

/// Files that may be longer than the rest, each with the reason.
const LONG: &[(&str, &str)] = &[];

const LONGEST: usize = 1_000;

fn rust_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![top()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(top()).unwrap_or(path).to_string_lossy().into_owned()
}

#[test]
fn dependencies_point_down() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(top())
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value = serde_json::from_slice(&run.stdout).expect("cargo metadata prints JSON");
    let layers: BTreeMap<&str, u8> = LAYERS.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(own) = layers.get(name) else {
            wrong.push(format!("{name} has no layer"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            let sideways = SIDEWAYS.contains(&(name, to));
            if let Some(layer) = layers.get(to)
                && layer >= own
                && !sideways
            {
                wrong.push(format!("{name} may not depend on {to}"));
            }
            if to == "clap" && name != "purlin-cli" {
                wrong.push(format!("only the command line knows clap, not {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_say_what_they_do_and_are_not_too_long() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.starts_with("//!") {
            wrong.push(format!("{}: must open with `//!`", shown(&path)));
        }
        let lines = text.lines().count();
        if lines > LONGEST && !LONG.iter().any(|(file, _)| *file == shown(&path)) {
            wrong.push(format!("{}: {lines} lines", shown(&path)));
        }
        for word in ["todo!(", "unimplemented!(", "FIXME", "#[ignore"] {
            if text.contains(word) && !shown(&path).ends_with("tidy.rs") {
                wrong.push(format!("{}: has `{word}`", shown(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The most files side by side in a folder of a crate: more need a folder that says what they have in common.
const SIDE_BY_SIDE: usize = 15;

#[test]
fn folders_hold_few_files() {
    let mut counts = std::collections::BTreeMap::<PathBuf, usize>::new();
    for path in rust_files().into_iter().filter(|path| shown(path).contains("/src/")) {
        *counts.entry(path.parent().unwrap().to_owned()).or_default() += 1;
    }
    let wrong = counts.iter().filter(|(_, count)| **count > SIDE_BY_SIDE);
    let wrong: Vec<String> = wrong.map(|(folder, count)| format!("{}: {count} files", shown(folder))).collect();
    assert!(counts.len() > 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_page_and_a_case() {
    let mut cases = String::new();
    // The rules of entity tables are covered by the test dialect of their own crate, those of large inputs by tests
    // that generate them.
    let shown_in = ["tests/suite", "docs/tour", "crates/model/tests", "tests/tests"];
    let mut folders: Vec<PathBuf> = shown_in.iter().map(|folder| top().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                cases.push_str(&text);
            }
        }
    }
    let mut wrong = Vec::new();
    let mut names: Vec<&str> = all_rules().iter().map(|rule| rule.name).collect();
    for rule in all_rules() {
        let page = top().join("docs/rules").join(format!("{}.md", rule.name));
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        if !text.starts_with(&format!("# {}\n", rule.name)) || text.lines().count() < 5 {
            wrong.push(format!("{}: no page docs/rules/{}.md that opens with its name", rule.name, rule.name));
        }
        let marks = [format!("[{}]", rule.name), format!("\"{}\"", rule.name), format!(" {}: ", rule.name)];
        if !marks.iter().any(|mark| cases.contains(mark)) {
            wrong.push(format!("{}: no case of the suite shows it", rule.name));
        }
    }
    let count = names.len();
    names.dedup();
    assert_eq!(count, names.len(), "two rules have the same name");
    for entry in std::fs::read_dir(top().join("docs/rules")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().trim_end_matches(".md").to_owned();
        if name != "README" && !names.contains(&name.as_str()) {
            wrong.push(format!("docs/rules/{name}.md: there is no such rule"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules whose page has no session, with the reason.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("fetch-failed", "needs a server"),
    ("limit-expression-size", "needs an expression of a quarter of a megabyte"),
    ("text-encoding", "needs bytes that are not text"),
];

#[test]
fn every_rule_page_shows_its_rule() {
    let mut wrong = Vec::new();
    for rule in all_rules() {
        let text = std::fs::read_to_string(top().join(format!("docs/rules/{}.md", rule.name))).unwrap_or_default();
        let sessions = text.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        let is_shown = sessions.into_iter().any(|session| session.contains(&format!("[{}]: ", rule.name)));
        let is_exempt = NOT_SHOWN.iter().any(|(name, _)| *name == rule.name);
        match (is_shown, is_exempt) {
            (false, false) => wrong.push(format!("{}: no session of its page prints it", rule.name)),
            (true, true) => wrong.push(format!("{}: its page shows it, so it needs no exception", rule.name)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Renderers drop a file name after the language of a block, so it is also on a line above the block.
#[test]
fn files_on_pages_have_visible_names() {
    let mut wrong = Vec::new();
    let mut folders = vec![top().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                wrong.extend(nameless(&path));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "put `**NAME**` above these blocks:\n{}", wrong.join("\n"));
}

/// Blocks of a page that are files without their name on a line above them.
fn nameless(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let (mut before, mut is_inside, mut found) = ("", false, Vec::new());
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            let name = fence.split_once(' ').map(|(_, name)| name).filter(|_| !is_inside);
            if let Some(name) = name.filter(|name| before != format!("**{name}**")) {
                found.push(format!("{}: {name}", page.display()));
            }
            is_inside = !is_inside;
        }
        before = line;
    }
    found
}

/// The program embeds the pages; a package contains only files below its crate's folder.
#[cfg(unix)]
#[test]
fn packages_hold_the_pages_of_rules() {
    let linked = std::fs::canonicalize(top().join("crates/cli/rules")).expect("crates/cli/rules links to the pages");
    assert_eq!(linked, std::fs::canonicalize(top().join("docs/rules")).unwrap());
}

#[test]
fn nothing_machine_made_or_local_is_tracked() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        for folder in ["work", "root", "home"] {
            if text.contains(&format!("\"/{folder}/")) {
                wrong.push(format!("{}: has a path of one machine", shown(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pages that list the statements of a founding document: the column of the statement, and the page of its case unless
/// the row names it.
const FOUNDING: &[(&str, usize, &str)] = &[
    ("docs/reference/garden-statements.md", 0, "tests/suite/garden/founding.md"),
    ("docs/reference/skaffold-founding.md", 1, "tests/suite/skaffold/founding.md"),
    ("docs/reference/metachart-founding.md", 1, "tests/suite/charts/metachart-founding.md"),
];

/// A test skipped without counting could hide a whole part of the tests.
#[test]
fn what_is_skipped_is_counted() {
    let own = ["tests/skipped/src/lib.rs", "tests/tests/tidy.rs"];
    let printing = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.contains("ln!(\"skipped: ") && !own.contains(&shown(path).as_str())
    };
    let files = rust_files();
    let wrong: Vec<String> = files.iter().filter(printing).map(|path| shown(path)).collect();
    assert!(wrong.is_empty(), "these print that they skip something; call `purlin_skipped::skipped`: {wrong:?}");
}

#[test]
fn every_founding_statement_has_a_case_of_its_name() {
    let mut missing = Vec::new();
    for (page, column, cases) in FOUNDING {
        let cases = std::fs::read_to_string(top().join(cases)).unwrap();
        let titles: Vec<&str> = cases.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let page = std::fs::read_to_string(top().join(page)).unwrap();
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip(1)
            .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect();
        // Those of Garden name the page of their case; the others are all on one.
        let is_here = |row: &&Vec<&str>| *column > 0 || row.get(1) == Some(&"founding.md");
        let statements: Vec<&str> = rows.iter().filter(is_here).filter_map(|row| row.get(*column).copied()).collect();
        missing.extend(statements.iter().filter(|one| !titles.contains(one)).map(|one| format!("no case: {one}")));
        missing.extend(titles.iter().filter(|one| !statements.contains(one)).map(|one| format!("not listed: {one}")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Modules that inspect foreign texts, each with the source of the texts. All other code must not inspect messages.
const READERS: &[(&str, &str)] = &[
    ("crates/syntax/src/read/yaml_mistake.rs", "the parser of YAML"),
    ("crates/syntax/src/report/diagnostic.rs", "hides secrets and cuts long texts"),
    ("crates/syntax/src/print/human.rs", "indents the lines of a text"),
    ("crates/value/src/text/pattern.rs", "engines of regular expressions"),
    ("crates/cluster/src/connect/error.rs", "Kubernetes' API server"),
    ("crates/host/src/fetch/git.rs", "git"),
    ("crates/policy/src/rego.rs", "policies of users, whose words show which of their rules spoke"),
    ("crates/verify/src/chart.rs", "Helm's words, which tests of charts compare"),
];

/// Names of variables, fields and functions that hold a message of ours.
const MESSAGES: &[&str] = &[
    "message",
    "messages",
    "hint",
    "hints",
    "why",
    "reason",
    "fault",
    "problem",
    "diagnostic",
    "error",
    "go_text",
    "helm_text",
    "helm_message",
];

/// Methods that return the same text.
const SAME: &[&str] = &[
    "as_str",
    "as_ref",
    "as_deref",
    "to_string",
    "to_owned",
    "clone",
    "trim",
    "trim_end",
    "trim_start",
    "iter",
    "first",
    "last",
    "text",
    "to_lowercase",
    "to_ascii_lowercase",
    "into_owned",
    "unwrap_or_default",
    "chars",
    "bytes",
];

/// Functions that inspect a text.
const LOOKS: &[&str] = &[
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "split",
    "splitn",
    "split_once",
    "rsplit",
    "rsplitn",
    "rsplit_once",
    "split_terminator",
    "split_inclusive",
    "find",
    "rfind",
    "matches",
    "match_indices",
    "replace",
    "replacen",
    "trim_start_matches",
    "trim_end_matches",
    "lines",
];

/// The places in a source that inspect a message, or compare one with a text.
fn readings(source: &str) -> Vec<String> {
    let code = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or(line).trim());
    let code = lines.collect::<Vec<_>>().join(" ").replace(" .", ".").replace(" ?.", "?.");
    let mut found = Vec::new();
    for look in LOOKS {
        let call = format!(".{look}(");
        for (at, _) in code.match_indices(&call) {
            let is_literal = code[at + call.len()..].starts_with(['"', '\'']);
            if is_message(&code[..at], is_literal) {
                found.push(excerpt(&code, at));
            }
        }
    }
    for compared in [" == \"", " != \""] {
        for (at, _) in code.match_indices(compared) {
            // A reason may be a word from a fixed list.
            if is_message(&code[..at], true) && !code[..at].ends_with("reason") {
                found.push(excerpt(&code, at));
            }
        }
    }
    found
}

fn excerpt(code: &str, at: usize) -> String {
    let start = (0..=at.saturating_sub(40)).rev().find(|at| code.is_char_boundary(*at)).unwrap_or(0);
    let end = (at..=(at + 40).min(code.len())).rev().find(|at| code.is_char_boundary(*at)).unwrap_or(at);
    code[start..end].to_owned()
}

/// Whether an expression at the end of a text is a message: `problem.message`, `error.to_string()`.
fn is_message(before: &str, is_literal: bool) -> bool {
    let mut rest = before.trim_end();
    let mut is_outermost = true;
    loop {
        rest = rest.trim_end_matches('?');
        let is_call = rest.ends_with("()");
        rest = rest.trim_end_matches("()");
        let start = rest.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let name = &rest[start..];
        // `problem.message` is one; `problem` alone is one if it is converted to a text or searched.
        let is_whole = matches!(name, "problem" | "diagnostic" | "error" | "fault") && !is_call;
        if MESSAGES.contains(&name) && (!is_whole || !is_outermost || is_literal) {
            return true;
        }
        if !SAME.contains(&name) || !rest[..start].ends_with('.') {
            return false;
        }
        rest = &rest[..start - 1];
        is_outermost = false;
    }
}

#[test]
fn nobody_reads_our_messages() {
    let sources =
        rust_files().into_iter().filter(|path| shown(path).starts_with("crates/") && shown(path).contains("/src/"));
    let mut wrong = Vec::new();
    for path in sources.filter(|path| !shown(path).ends_with("tests.rs")) {
        if READERS.iter().any(|(file, _)| *file == shown(&path)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        wrong.extend(readings(&text).into_iter().map(|found| format!("{}: {found}", shown(&path))));
    }
    let advice = "hand on what is known as data (`What`), and make the words last";
    assert!(wrong.is_empty(), "{}\n{advice}", wrong.join("\n"));
    assert!(READERS.iter().all(|(file, _)| top().join(file).is_file()), "READERS names a file that is gone");
}

#[test]
fn readings_of_messages_are_found() {
    let read = [
        "if problem.message.contains(\"unknown\") {",
        "let name = diagnostic\n    .message\n    // why\n    .split('`')\n    .nth(1);",
        "found.hints.iter().any(|hint| hint.starts_with(\"did you mean\"))",
        "match fault.go_text().strip_prefix(\"nil pointer\") {",
        "if error.to_string().contains(\"tab\") {",
        "let at_end = message == \"unexpected end\";",
        "let text = why.trim().lines().last();",
        "Err(error) if error.contains(\"tab\") => {}",
    ];
    for source in read {
        assert_eq!(readings(source).len(), 1, "{source}");
    }
    let other = [
        "if text.contains(\"{{\") {",
        "labels.iter().any(|label| label.ends_with('-'))",
        "errors.iter().find(|error| error.is_new())",
        "#[test]\nfn a() {}\n#[cfg(test)]\nmod tests { fn b() { assert!(message.contains(\"x\")) } }",
        "let said = problem.what() == &What::Unset;",
    ];
    for source in other {
        assert_eq!(readings(source), Vec::<String>::new(), "{source}");
    }
}

/// Crates that may query the sink of a whole run: the surface, which prints it, and the sink itself.
const ASKS_THE_RUN: &[&str] = &["crates/cli/", "crates/syntax/src/report/diagnostic.rs"];

/// Queries about a whole run, which must not decide the result of a part: work of another owner may have failed.
fn asks_the_run(source: &str) -> Vec<String> {
    let code = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let code = code.lines().map(str::trim).collect::<Vec<_>>().join("");
    let asks = ["sink.has_errors()", "sink.take()", "sink().has_errors()", "sink().take()", "sink.count("];
    asks.iter().flat_map(|ask| code.match_indices(ask).map(|(at, _)| excerpt(&code, at)).collect::<Vec<_>>()).collect()
}

#[test]
fn results_have_findings_of_their_own() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let name = shown(&path);
        if !name.starts_with("crates/")
            || !name.contains("/src/")
            || ASKS_THE_RUN.iter().any(|ask| name.starts_with(ask))
        {
            continue;
        }
        let found = asks_the_run(&std::fs::read_to_string(&path).unwrap());
        wrong.extend(found.into_iter().map(|found| format!("{name}: {found}")));
    }
    assert!(wrong.is_empty(), "{}\nuse `Sink::apart` or `Sink::succeeds`", wrong.join("\n"));
    assert_eq!(asks_the_run("if session\n    .sink\n    .has_errors() {").len(), 1);
    assert_eq!(asks_the_run("let (done, findings) = session.sink.apart(work);"), Vec::<String>::new());
}
