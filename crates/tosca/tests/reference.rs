//! The reference of all entities and functions is generated from the tables; this keeps it in step.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_tosca::entities::ENTITIES;
use purlin_tosca::functions::FUNCTIONS;
use purlin_tosca::schema::{Edition, Extension, Field, Merge, Need, Shape, Short};
use std::fmt::Write;
use std::path::Path;

fn editions(since: Edition, until: Edition) -> String {
    match (since, until) {
        (Edition::V1_0, Edition::V2_0) => String::new(),
        (since, until) if since == until => since.number().to_owned(),
        (Edition::V1_0, until) => format!("up to {}", until.number()),
        (since, Edition::V2_0) => format!("since {}", since.number()),
        (since, until) => format!("{} to {}", since.number(), until.number()),
    }
}

fn shape(shape: Shape) -> String {
    let label = |kind| purlin_tosca::entities::label(kind);
    let labels =
        |kinds: &[purlin_tosca::schema::Kind]| kinds.iter().map(|kind| label(*kind)).collect::<Vec<_>>().join(" or ");
    match shape {
        Shape::Text => "string".into(),
        Shape::Bool => "boolean".into(),
        Shape::Int => "integer".into(),
        Shape::Texts => "list of strings".into(),
        Shape::Metadata => "map".into(),
        Shape::Value => "any value".into(),
        Shape::Aliases => "anything".into(),
        Shape::Version => "version".into(),
        Shape::Range => "range".into(),
        Shape::Multipliers => "map of numbers".into(),
        Shape::Constraints => "list of constraints".into(),
        Shape::Validation => "validation clause".into(),
        Shape::Condition => "condition".into(),
        Shape::PropertyFilters => "list of property filters".into(),
        Shape::Activities => "list of activities".into(),
        Shape::OutputMappings => "map of output mappings".into(),
        Shape::Mappings => "mappings".into(),
        Shape::Name(kinds) | Shape::MaybeName(kinds) => format!("name of a {}", labels(kinds)),
        Shape::Parents(kinds) => format!("name or names of a {}", labels(kinds)),
        Shape::Names(kinds) => format!("names of {}s", labels(kinds)),
        Shape::One(kind) => format!("a {}", label(kind)),
        Shape::Map(kind) => format!("map of {}s", label(kind)),
        Shape::List(kind) => format!("list of {}s", label(kind)),
        Shape::Sequence(kind) => format!("list of named {}s", label(kind)),
        Shape::UniqueSequence(kind) => format!("list of uniquely named {}s", label(kind)),
        Shape::Parameters => "map of parameter definitions or values".into(),
        Shape::Types => "map of types of any kind".into(),
        Shape::Values | Shape::AttributeValues => "map of values".into(),
    }
}

fn merge(field: &Field) -> &'static str {
    match field.merge {
        Merge::Own => "",
        Merge::Fallback => "the child's, otherwise the parent's",
        Merge::ByName => "by name; the same name refines",
        Merge::Replace => "by name; the same name replaces",
        Merge::Both => "both must hold",
        Merge::Narrow => "only types the parent allows",
        Merge::Append => "the child's, then the parent's",
        Merge::Derived => "the same or derived",
        Merge::Tighten => "may only become required",
        Merge::Within => "within the parent's",
        Merge::Fixed => "cannot be changed",
        Merge::Refine => "refines the parent's",
    }
}

fn reference() -> String {
    let mut out =
        "# Reference: TOSCA entities and functions\n\nGenerated from the tables; `!` marks keys that must be there. Keys of `Unfurl` are those that ensembles have beside TOSCA 1.3.\n"
            .to_owned();
    for row in ENTITIES.iter().flat_map(|rows| rows.iter()) {
        let _ = write!(out, "\n## {}\n\n", row.label);
        match row.short {
            Short::Text(slot) => {
                let _ = write!(out, "A string alone stands for `{slot}`.\n\n");
            }
            Short::Primary => out.push_str("A string alone stands for the implementation.\n\n"),
            Short::List(slot) => {
                let _ = write!(out, "In TOSCA 2.0 a list alone stands for `{slot}`, a scalar for `value`.\n\n");
            }
            Short::Value => out.push_str("In TOSCA 2.0 anything but a map stands for `value`.\n\n"),
            Short::None => {}
        }
        if let Some(slot) = row.open {
            let _ = write!(out, "Up to TOSCA 1.2 every other key is one of its `{slot}`.\n\n");
        }
        out.push_str("| key | is | editions | when inherited | |\n|---|---|---|---|---|\n");
        for field in row.groups.iter().flat_map(|group| group.iter()).filter(|field| !field.key.is_empty()) {
            let need = if field.need == Need::Optional { "" } else { " !" };
            let editions = match field.extension {
                _ if field.is_extension() => "Unfurl".to_owned(),
                Extension::Has => format!("{}, Unfurl", editions(field.since, field.until)),
                _ => editions(field.since, field.until),
            };
            let _ = writeln!(
                out,
                "| `{}`{need} | {} | {editions} | {} | {} |",
                field.key,
                shape(field.shape),
                merge(field),
                field.doc
            );
        }
    }
    out.push_str("\n## Functions\n\n| function | editions | |\n|---|---|---|\n");
    for function in FUNCTIONS {
        let _ =
            writeln!(out, "| `{}` | {} | {} |", function.name, editions(function.since, function.until), function.doc);
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
