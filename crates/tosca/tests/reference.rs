//! The reference of all entities and functions is generated from the tables; this keeps it in step.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_model::describe;
use purlin_tosca::edition::{Edition, Standard, V1_0, V2_0};
use purlin_tosca::entities::SCHEMA;
use purlin_tosca::functions::FUNCTIONS;
use std::fmt::Write;
use std::path::Path;

fn editions(since: Edition, until: Edition) -> String {
    match (since, until) {
        (V1_0, V2_0) => String::new(),
        (since, until) if since == until => since.number().to_owned(),
        (V1_0, until) => format!("up to {}", until.number()),
        (since, V2_0) => format!("since {}", since.number()),
        (since, until) => format!("{} to {}", since.number(), until.number()),
    }
}

fn reference() -> String {
    let mut out = describe::reference(&SCHEMA, "Reference: TOSCA entities and functions");
    out.push_str("\n## Functions\n\n| function | editions | |\n|---|---|---|\n");
    for function in FUNCTIONS {
        let editions = editions(function.call.since, function.call.until);
        let _ = writeln!(out, "| `{}` | {editions} | {} |", function.signature(), function.summary);
    }
    out
}

#[test]
fn the_reference_is_in_step_with_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tosca.md");
    let made = reference();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "docs/reference/tosca.md is out of step: run this test with UPDATE=1");
}
