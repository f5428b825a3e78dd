//! The reference tables of the tour are the ones of the code; `UPDATE=1` rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_garden::functions::FUNCTIONS;
use purlin_garden::{EvaluateOptions, evaluate, expr, reference};
use purlin_syntax::Flavor;
use purlin_value::{MemoryWorld, Session};
use std::sync::Arc;

const PHASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/garden-template-keys.md");
const TOUR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour/garden.md");

/// The text with the part between a marker and its end replaced.
fn replaced(text: &str, marker: &str, table: &str) -> String {
    let open = format!("<!-- {marker} -->\n");
    let (before, rest) = text.split_once(&open).expect("the marker is there");
    let (_, after) = rest.split_once("<!-- end -->").expect("the marker is closed");
    format!("{before}{open}{table}<!-- end -->{after}")
}

#[test]
fn the_tour_lists_what_there_is() {
    let text = std::fs::read_to_string(TOUR).unwrap();
    let wanted = replaced(&text, "functions", &reference::functions_table());
    let wanted = replaced(&wanted, "keys", &reference::keys_table());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(TOUR, &wanted).unwrap();
    } else {
        assert!(text == wanted, "run with UPDATE=1 to rewrite the tables of docs/tour/garden.md");
    }
}

#[test]
fn the_page_of_phases_is_the_table() {
    let wanted = reference::phases_page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PHASES, &wanted).unwrap();
    } else {
        let text = std::fs::read_to_string(PHASES).unwrap();
        assert!(text == wanted, "run with UPDATE=1 to rewrite docs/reference/garden-template-keys.md");
    }
}

#[test]
fn the_examples_of_functions_hold() {
    for function in FUNCTIONS.iter().filter(|function| !function.example.0.is_empty()) {
        let session = Session::new(Arc::new(MemoryWorld::new()));
        let tree = |name: &str, text: String| session.parse_yaml(session.sources.insert(name, text), Flavor::Core);
        let template = tree("template", format!("{:?}", function.example.0));
        let context = tree("context", "{}".to_owned());
        let value = evaluate(&session, &template, &context, EvaluateOptions::default());
        assert!(session.sink.take().is_empty(), "{}", function.name);
        assert_eq!(expr::text_of(&value), function.example.1, "{}", function.name);
    }
}
