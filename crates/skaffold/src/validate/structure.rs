//! Constraints of the table itself: required keys, and one-of sets.

use super::Check;
use crate::again::{self, Judgement};
use crate::editions::LATEST;
use crate::emit::is_set;
use crate::entities::{Entity, Holds, holds, is_open, kinds};
use crate::item::{Form, Pair, View};
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;

/// Checks a section and everything below it.
pub fn section<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    if is_open(entity) || view.form() != Form::Map {
        return;
    }
    entity.fields(LATEST).filter(|row| row.is_required(LATEST)).for_each(|row| {
        if !view.raw(row.key).is_some_and(|value| is_set(value, row)) {
            // An empty image has a message of its own.
            if entity.kind == kinds::ARTIFACT {
                return;
            }
            let name = view.get("name").map(|name| format!(" `{}`", name.text())).unwrap_or_default();
            let message =
                what::missing("key", row.key).and(format!(" in {}{name}", crate::check::spoken(entity.label)));
            let span = view.span().unwrap_or(check.config.span);
            check.push(Diagnostic::at(&rules::REQUIRED, span, message).hint(format!("add `{}:`", row.key)));
        }
    });
    sets(check, view, entity);
    for pair in view.entries() {
        let Some(row) = entity.field(pair.key, LATEST) else { continue };
        match holds(row) {
            Holds::One(inner) => section(check, pair.value, inner),
            Holds::Many(inner) => {
                pair.value.items().for_each(|item| {
                    let question = Judgement::Structure(inner.kind);
                    again::judge(check.marks(), question, item, check.sink, || section(check, item, inner));
                });
            }
            _ => {}
        }
    }
}

/// Of each set at most one key may be used.
fn sets<'a, 'f: 'a>(check: &Check<'_, '_>, view: View<'a, 'f>, entity: &'static Entity) {
    // Few keys are written, and fewer of them are members of a set: they are brought into the order of the table.
    let mut members: Vec<(usize, &'static str, Pair<'a, 'f>)> = Vec::new();
    for pair in view.entries() {
        let known = entity.place_of(pair.key, LATEST);
        if let Some((at, row, group)) = known.and_then(|(at, row)| Some((at, row, row.one_of?)))
            && pair.value.form() != Form::Null
            && is_set(pair.value, row)
        {
            members.push((at, group, pair));
        }
    }
    members.sort_unstable_by_key(|(at, ..)| *at);
    let mut seen: Vec<(&'static str, &str)> = Vec::new();
    for (_, group, pair) in members {
        match seen.iter().find(|(set, _)| *set == group) {
            Some((set, first)) => {
                let message = format!("`{first}` and `{}` cannot be used together: both are its `{set}`", pair.key);
                let span = pair.written.map(|node| node.span()).or(pair.value.span()).or(view.span());
                let span = span.unwrap_or(check.config.span);
                check.push(Diagnostic::at(&rules::ONE_OF, span, message).hint("keep one of them"));
            }
            None => seen.push((group, pair.key)),
        }
    }
}
