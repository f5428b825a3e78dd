//! Tests of the tables themselves, for dialects to call in their own tests.

use crate::kinds::{held_kinds, kinds};
use crate::schema::{Edition, Entity, Field, Merge, Schema, Shape};
use std::collections::HashSet;

/// The problems of a dialect's tables, one line each; none if they are sound.
///
/// Keys are unique in every edition, every mentioned kind has a row, rows are at the index of their kind, every row
/// has a description, short notations and exclusive groups refer to existing keys.
pub fn guard(schema: &Schema) -> Vec<String> {
    let mut wrong = Vec::new();
    if schema.editions.is_empty() {
        wrong.push(format!("{} has no edition", schema.name));
    }
    for (place, entity) in schema.entities.iter().enumerate() {
        if usize::from(entity.kind.0) != place {
            wrong.push(format!("{}: kind {} stands at place {place}", entity.label, entity.kind.0));
        }
        if entity.label.is_empty() {
            wrong.push(format!("kind {} has no label", entity.kind.0));
        }
        sentence(entity.label, entity.doc, &mut wrong);
        for field in entity.all_fields().chain(entity.rest.as_ref()) {
            guard_field(schema, entity, field, &mut wrong);
        }
        for edition in schema.all_editions() {
            guard_edition(schema, entity, edition, &mut wrong);
        }
    }
    wrong
}

fn sentence(what: &str, doc: &str, wrong: &mut Vec<String>) {
    if !doc.ends_with('.') || doc.len() < 4 {
        wrong.push(format!("{what} has no sentence"));
    }
}

fn guard_field(schema: &Schema, entity: &Entity, field: &Field, wrong: &mut Vec<String>) {
    let what = format!("{}.{}", entity.label, field.key);
    sentence(&what, field.doc, wrong);
    for kind in kinds(&field.shape) {
        if schema.entity(kind).is_none() {
            wrong.push(format!("{what} mentions kind {}, which has no row", kind.0));
        }
    }
    if !schema.all_editions().any(|edition| field.window.has(edition)) {
        wrong.push(format!("{what} exists in no edition"));
    }
    if !merge_fits(field) {
        wrong.push(format!("{what} has a merge rule that its shape cannot follow"));
    }
    if !inner_is_simple(&field.shape) {
        wrong.push(format!("{what} has entities inside a simple list or mapping"));
    }
    if field.is_base && !matches!(field.shape, Shape::Reference(_)) {
        wrong.push(format!("{what} is inherited from, but names nothing"));
    }
    if field.required.is_some() && field.default.is_some() {
        wrong.push(format!("{what} is required and has a default"));
    }
}

/// Whether the merge rule is meaningful for the shape.
fn merge_fits(field: &Field) -> bool {
    match field.merge {
        Merge::Own | Merge::Fallback | Merge::Append | Merge::Fixed => true,
        Merge::ByName => {
            matches!(field.shape, Shape::Map(_) | Shape::Sequence(_) | Shape::One(_) | Shape::Special(_))
        }
        Merge::Replace => matches!(field.shape, Shape::Map(_) | Shape::Sequence(_) | Shape::MapOf(_)),
        Merge::Narrow => matches!(
            field.shape,
            Shape::Names(_) | Shape::ListOf(_) | Shape::Reference(_) | Shape::Range | Shape::Bool | Shape::Union(_)
        ),
    }
}

/// Whether lists and mappings of simple values hold no entities; those have shapes of their own.
fn inner_is_simple(shape: &Shape) -> bool {
    match shape {
        Shape::ListOf(inner) | Shape::MapOf(inner) => held_kinds(inner).is_empty() && inner_is_simple(inner),
        Shape::Union(shapes) => shapes.iter().all(inner_is_simple),
        _ => true,
    }
}

fn guard_edition(schema: &Schema, entity: &Entity, edition: Edition, wrong: &mut Vec<String>) {
    let name = schema.edition_name(edition);
    let mut keys: HashSet<&str> = HashSet::new();
    let mut slots: HashSet<&str> = HashSet::new();
    for field in entity.fields(edition) {
        if !slots.insert(field.slot) {
            wrong.push(format!("{}: slot `{}` is filled by two keys in {name}", entity.label, field.slot));
        }
        for key in std::iter::once(&field.key).chain(field.aliases) {
            if !keys.insert(key) {
                wrong.push(format!("{}.{key} is there twice in {name}", entity.label));
            }
        }
    }
    for short in entity.short.iter().filter(|short| short.window.has(edition)) {
        if entity.field_of(short.slot, edition).is_none() {
            wrong.push(format!("{} has a short notation for `{}`, which {name} has not", entity.label, short.slot));
        }
    }
    for group in entity.exactly_one {
        if !entity.all_fields().any(|field| field.one_of == Some(group)) {
            wrong.push(format!("{} needs one of group `{group}`, which has no keys", entity.label));
        }
    }
}
