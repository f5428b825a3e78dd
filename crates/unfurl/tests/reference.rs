//! The reference of functions and filters is made from their rows; this keeps it in step. `UPDATE=1` rewrites it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_unfurl::functions::{FUNCTIONS, takes};
use purlin_unfurl::jinja::all_filters;
use purlin_unfurl::special::SPECIAL_KEYS;
use purlin_value::function::table;
use std::collections::HashSet;

fn page() -> String {
    let functions = table(FUNCTIONS, |function| format!("{}: {}", function.name, takes(function)));
    let filters = table(all_filters(), |filter| match filter.parameters {
        [] => filter.name.to_owned(),
        _ => filter.signature(),
    });
    let keys: String = SPECIAL_KEYS.iter().map(|row| format!("| `{}` | {} |\n", row.text, row.summary)).collect();
    format!(
        "# Functions and filters of ensembles\n\nMade from the lists that evaluation reads. `?` marks what may be left \
         out, `…` what may be repeated.\n\n## Functions\n\nWritten in YAML; [the language of \
         expressions](unfurl-expressions.md) has an example of each.\n\n{functions}\n## Filters of \
         templates\n\nWritten `{{{{ value | filter(…) }}}}`; parameters may be given by name.\n\n{filters}\n## \
         Built-in keys of instances\n\n| Key | Is |\n|---|---|\n{keys}"
    )
}

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/unfurl-functions.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(known == page, "docs/reference/unfurl-functions.md is out of step: run this test with UPDATE=1");
}

#[test]
fn every_row_has_a_sentence_and_a_name_of_its_own() {
    let functions: Vec<_> = FUNCTIONS.iter().map(|row| (row.name, row.summary)).collect();
    let filters: Vec<_> = all_filters().map(|row| (row.name, row.summary)).collect();
    for list in [functions, filters] {
        let names: HashSet<&str> = list.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), list.len());
        for (name, summary) in list {
            assert!(summary.ends_with('.') && summary.starts_with(char::is_uppercase), "{name}: {summary}");
        }
    }
}
