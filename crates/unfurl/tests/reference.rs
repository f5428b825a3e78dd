//! The reference of functions and filters is made from their rows; this keeps it in step. `UPDATE=1` rewrites it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_unfurl::functions::{FUNCTIONS, takes};
use purlin_unfurl::jinja::methods::{LIST, LIST_CHANGES, MAP, MAP_CHANGES, STRING};
use purlin_unfurl::jinja::{TESTS, all_filters};
use purlin_unfurl::special::SPECIAL_KEYS;
use purlin_value::function::{Function, table};
use std::collections::HashSet;

/// A filter or test as it is written: without parentheses if it has no parameters.
fn call<C>(row: &Function<C>) -> String {
    match row.parameters {
        [] => row.name.to_owned(),
        _ => row.signature(),
    }
}

/// The rows of a table, to continue another one.
fn rows(table: &str) -> String {
    table.lines().skip(2).map(|line| format!("{line}\n")).collect()
}

fn page() -> String {
    let functions = table(FUNCTIONS, |function| format!("{}: {}", function.name, takes(function)));
    let filters = table(all_filters(), call);
    let tests = table(TESTS, call);
    let strings = table(STRING, Function::signature);
    let lists = table(LIST, Function::signature);
    let list_changes = rows(&table(LIST_CHANGES, Function::signature));
    let maps = table(MAP, Function::signature);
    let map_changes = rows(&table(MAP_CHANGES, Function::signature));
    let keys: String = SPECIAL_KEYS.iter().map(|row| format!("| `{}` | {} |\n", row.text, row.summary)).collect();
    format!(
        "# Functions and filters of ensembles\n\nMade from the lists that evaluation reads. `?` marks what may be left \
         out, `…` what may be repeated.\n\n## Functions\n\nWritten in YAML; [the language of \
         expressions](unfurl-expressions.md) has an example of each.\n\n{functions}\n## Filters of \
         templates\n\nWritten `{{{{ value | filter(…) }}}}`; parameters may be given by name.\n\n{filters}\n## \
         Tests of templates\n\nWritten `{{{{ value is name(…) }}}}`.\n\n{tests}\n## Methods of \
         strings\n\nWritten `{{{{ value.name(…) }}}}`.\n\n{strings}\n## Methods of lists\n\nThose that change a list \
         change the one of the template's own variable.\n\n{lists}{list_changes}\n## Methods of \
         mappings\n\n{maps}{map_changes}\n## \
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
    let tests: Vec<_> = TESTS.iter().map(|row| (row.name, row.summary)).collect();
    let methods: Vec<_> = STRING.iter().map(|row| (row.name, row.summary)).collect();
    for list in [functions, filters, tests, methods] {
        let names: HashSet<&str> = list.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), list.len());
        for (name, summary) in list {
            assert!(summary.ends_with('.') && summary.starts_with(char::is_uppercase), "{name}: {summary}");
        }
    }
}
