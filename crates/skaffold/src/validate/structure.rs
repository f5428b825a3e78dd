//! Constraints of the table itself: required keys, and one-of sets.

use super::Check;
use crate::editions::LATEST;
use crate::emit::is_set;
use crate::entities::{Entity, Holds, holds, is_open, kinds};
use crate::item::{Form, View};
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;

/// Checks a section and everything below it.
pub fn section<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    if is_open(entity) || view.form() != Form::Map {
        return;
    }
    for row in entity.fields(LATEST).filter(|row| row.is_required(LATEST)) {
        if !view.raw(row.key).is_some_and(|value| is_set(value, row)) {
            // An empty image has a message of its own.
            if entity.kind == kinds::ARTIFACT {
                continue;
            }
            let name = view.get("name").map(|name| format!(" `{}`", name.text())).unwrap_or_default();
            let message =
                what::missing("key", row.key).and(format!(" in {}{name}", crate::check::spoken(entity.label)));
            let span = view.span().unwrap_or(check.config.span);
            check.push(Diagnostic::at(&rules::REQUIRED, span, message).hint(format!("add `{}:`", row.key)));
        }
    }
    sets(check, view, entity);
    for pair in view.entries() {
        let Some(row) = entity.field(pair.key, LATEST) else { continue };
        match holds(row) {
            Holds::One(inner) => section(check, pair.value, inner),
            Holds::Many(inner) => {
                pair.value.items().for_each(|item| section(check, item, inner));
            }
            _ => {}
        }
    }
}

/// Of each set at most one key may be used.
fn sets<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    let mut seen: Vec<(&'static str, &'static str)> = Vec::new();
    for row in entity.fields(LATEST) {
        let Some(group) = row.one_of else { continue };
        let Some(value) = view.get(row.key).filter(|value| is_set(*value, row)) else { continue };
        match seen.iter().find(|(set, _)| *set == group) {
            Some((set, first)) => {
                let message = format!("`{first}` and `{}` cannot be used together: both are its `{set}`", row.key);
                let key = view.entries().find(|pair| pair.key == row.key).and_then(|pair| pair.written);
                let span = key.map(|node| node.span()).or(value.span()).or(view.span());
                let span = span.unwrap_or(check.config.span);
                check.push(Diagnostic::at(&rules::ONE_OF, span, message).hint("keep one of them"));
            }
            None => seen.push((group, row.key)),
        }
    }
}
