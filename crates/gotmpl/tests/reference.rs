//! The reference of template functions, generated from the function list with an example of each, and compared with
//! the page. `UPDATE=1` rewrites the page.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_gotmpl::funcs::LISTS;
use purlin_gotmpl::{Limits, Machine, Outside, Set, Val};
use std::sync::Arc;

/// Examples, one for each function; their output is computed. Those with a random result show a property of it.
const EXAMPLES: &str = include_str!("examples.txt");

/// Functions that always fail.
const WITHOUT_EXAMPLE: &[&str] = &["fail", "call"];

/// The example of a function: lines are `name TAB expression`.
fn example(name: &str) -> Option<&'static str> {
    EXAMPLES.lines().find_map(|line| line.split_once('\t').filter(|(known, _)| *known == name).map(|(_, text)| text))
}

fn evaluate(expression: &str) -> String {
    let mut set = Set::new();
    set.add("help", "{{ define \"greet\" }}Hello, {{ . }}{{ end }}").unwrap();
    let template = format!("{{{{ {expression} }}}}");
    set.add("example", template.as_str()).unwrap_or_else(|error| panic!("{expression}: {}", error.message));
    let set = Arc::new(set);
    let outside = Outside { now: 1_600_000_000_000_000_000, seed: 1.into(), track: false, ..Outside::default() };
    let limits = Limits::default();
    let mut machine = Machine::new(set.namespace(), &outside, &limits);
    let done = machine.execute(&"example".into(), Val::NIL);
    let rope = done.unwrap_or_else(|error| panic!("{expression}: {}", error.go_text()));
    String::from_utf8_lossy(&rope.bytes).into_owned()
}

fn page() -> String {
    let mut out = String::from(
        "# Template functions\n\nAll functions of templates: Go's own, Sprig's and Helm's. Made from the function list; each example is run.\n",
    );
    for (theme, rows) in LISTS {
        out.push_str(&format!("\n## {theme}\n\n| function | example | prints |\n|---|---|---|\n"));
        for row in *rows {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', "⏎");
            let (shown, printed) = match example(row.name) {
                Some(expression) => {
                    let shown = cell(&format!("{{{{ {expression} }}}}"));
                    (format!("`` {shown} ``"), format!("`` {} ``", cell(&evaluate(expression))))
                }
                None => (String::new(), String::new()),
            };
            out.push_str(&format!("| {} | {shown} | {printed} |\n", cell(row.about)));
        }
    }
    out
}

#[test]
fn every_function_has_an_example_and_a_sentence() {
    for (_, rows) in LISTS {
        for row in *rows {
            let has = example(row.name).is_some() || WITHOUT_EXAMPLE.contains(&row.name);
            assert!(has, "`{}` has no example", row.name);
            let sentence = row.about.starts_with(&format!("`{}", row.name)) && row.about.ends_with('.');
            assert!(sentence, "`{}` needs a sentence", row.name);
        }
    }
}

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/template-functions.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &page).unwrap();
        return;
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(known == page, "the reference of template functions is stale; run with UPDATE=1 and read the difference");
}
