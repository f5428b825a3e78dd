//! The table: every entity and key of TOSCA 1.0 to 2.0, one line each.
//!
//! `types` holds files and types, `definitions` what types are made of, `templates` what service templates
//! are made of. Reading, inheritance, the reference pages and completion all follow these rows.

mod definitions;
mod templates;
mod types;

use crate::schema::{Edition, Field, Kind, Row, Shape, field};

/// `description` and `metadata`, as nearly every entity of TOSCA 2.0 has them.
const DESCRIPTION: Field = field("description", Shape::Text, "What it is for, in words.");
const METADATA: Field = field("metadata", Shape::Metadata, "Notes for tools.");

/// All blocks of rows.
pub const ENTITIES: &[&[Row]] = &[types::ROWS, definitions::ROWS, templates::ROWS];

/// The rows of one kind.
pub fn row(kind: Kind) -> &'static Row {
    static EMPTY: Row =
        Row { kind: Kind::File, label: "entity", groups: &[], short: crate::schema::Short::None, open: None };
    ENTITIES.iter().flat_map(|rows| rows.iter()).find(|row| row.kind == kind).unwrap_or(&EMPTY)
}

/// What people call an entity of this kind; TOSCA 1.x and 2.0 sometimes differ.
pub fn label(kind: Kind) -> &'static str {
    row(kind).label
}

/// Whether an edition has this kind of entity at all.
pub fn exists(kind: Kind, edition: Edition) -> bool {
    row(kind).fields(edition).next().is_some()
}

/// A name of a kind as it stands in a sentence.
pub fn with_article(label: &str) -> String {
    let article = if label.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {label}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn keys_and_slots_are_unique_in_every_edition() {
        for row in ENTITIES.iter().flat_map(|rows| rows.iter()) {
            for edition in Edition::ALL.into_iter().chain([Edition::Extended]) {
                for pick in [|f: &Field| f.key, |f: &Field| f.slot] {
                    let mut names: Vec<_> = row.fields(edition).map(pick).collect();
                    let count = names.len();
                    names.sort_unstable();
                    names.dedup();
                    assert_eq!(count, names.len(), "{} {}", row.label, edition.number());
                }
            }
        }
    }

    #[test]
    fn every_mentioned_kind_has_rows_and_every_row_a_sentence() {
        for row in ENTITIES.iter().flat_map(|rows| rows.iter()) {
            for field in row.groups.iter().flat_map(|group| group.iter()) {
                assert!(field.doc.ends_with('.'), "{}.{}", row.label, field.key);
                let kinds: &[Kind] = match &field.shape {
                    Shape::Name(kinds) | Shape::MaybeName(kinds) | Shape::Names(kinds) | Shape::Parents(kinds) => kinds,
                    Shape::One(kind)
                    | Shape::Map(kind)
                    | Shape::List(kind)
                    | Shape::Sequence(kind)
                    | Shape::UniqueSequence(kind) => std::slice::from_ref(kind),
                    _ => &[],
                };
                for kind in kinds {
                    assert!(super::row(*kind).kind == *kind, "{kind:?} has no rows");
                }
            }
        }
    }
}
