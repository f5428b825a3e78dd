//! Which kinds of entities a shape mentions: those it holds, and those it refers to by name.

use crate::schema::{Kind, Schema, Shape};

/// The kinds that a name under a shape may refer to; `own` is the entity's own kind, for its parent.
pub fn referred_kinds<'k>(shape: &'k Shape, own: &'k [Kind]) -> Option<&'k [Kind]> {
    match shape {
        Shape::Reference(kinds) | Shape::Names(kinds) if !kinds.is_empty() => Some(kinds),
        Shape::Parent => Some(own),
        Shape::ListOf(inner) => referred_kinds(inner, own),
        Shape::Union(shapes) => shapes.iter().find_map(|shape| referred_kinds(shape, own)),
        _ => None,
    }
}

/// The kinds that inherit from a type they name, or hold something that does.
pub fn base_kinds(schema: &Schema) -> Vec<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    loop {
        let before = found.len();
        for entity in schema.entities.iter().filter(|entity| !found.contains(&entity.kind)).collect::<Vec<_>>() {
            let mut fields = entity.all_fields().chain(entity.rest.as_ref());
            if fields.any(|field| field.is_base || held_kinds(&field.shape).iter().any(|kind| found.contains(kind))) {
                found.push(entity.kind);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The kinds that a shape mentions.
pub(crate) fn kinds(shape: &Shape) -> Vec<Kind> {
    match shape {
        Shape::Reference(kinds) | Shape::Names(kinds) => kinds.to_vec(),
        Shape::Union(shapes) => shapes.iter().flat_map(kinds).collect(),
        shape => held_kinds(shape),
    }
}

/// The kinds of the entities contained in a shape.
pub(crate) fn held_kinds(shape: &Shape) -> Vec<Kind> {
    match shape {
        Shape::One(kind) | Shape::List(kind) | Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) => {
            vec![*kind]
        }
        Shape::Union(shapes) => shapes.iter().flat_map(held_kinds).collect(),
        _ => Vec::new(),
    }
}
