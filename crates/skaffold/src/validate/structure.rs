//! What the table itself demands: required keys, and one-of sets.

use super::Check;
use crate::editions::LATEST;
use crate::emit::is_set;
use crate::entities::{Entity, Shape};
use crate::item::{Form, View};
use crate::rules;

/// Checks a section and everything below it.
pub fn section<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    if entity.is_open() || view.form() != Form::Map {
        return;
    }
    for row in entity.fields(LATEST).filter(|row| row.required) {
        if !view.raw(row.key).is_some_and(|value| is_set(value, row.shape)) {
            // An empty image has a message of its own.
            if entity.name == "Artifact" {
                continue;
            }
            let name = view.get("name").map(|name| format!(" `{}`", name.text())).unwrap_or_default();
            let message = format!("`{}` is required in `{}`{name}", row.key, entity.name);
            check.report(&rules::REQUIRED, view.span(), message);
        }
    }
    sets(check, view, entity);
    for pair in view.entries() {
        let Some(row) = entity.field(pair.key, LATEST) else { continue };
        match row.shape {
            Shape::One(inner) | Shape::Maybe(inner) => section(check, pair.value, inner),
            Shape::Many(inner) | Shape::OptMany(inner) => {
                pair.value.items().for_each(|item| section(check, item, inner));
            }
            _ => {}
        }
    }
}

/// Of each set at most one key may be used.
fn sets<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    let mut seen: Vec<(&'static str, &'static str)> = Vec::new();
    for row in entity.fields(LATEST).filter(|row| !row.one_of.is_empty()) {
        let Some(value) = view.get(row.key).filter(|value| is_set(*value, row.shape)) else { continue };
        match seen.iter().find(|(set, _)| *set == row.one_of) {
            Some((set, first)) => {
                let message = format!("only one of `{first}` and `{}` can be set (one of set `{set}`)", row.key);
                check.report(&rules::ONE_OF, value.span().or(view.span()), message);
            }
            None => seen.push((row.one_of, row.key)),
        }
    }
}
