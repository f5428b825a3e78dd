//! Overlays a profile's sections on a configuration, field by field as declared in the table.
//!
//! Lists and optional sections are replaced as a whole, other sections are merged key by key, and of a one-of set
//! only the profile's first member stays. It must not know any particular key.

use crate::editions::LATEST;
use crate::emit::is_set;
use crate::entities::config::pipeline;
use crate::entities::{Entity, Field, Holds, holds, is_open, keeps_empty};
use crate::item::{Active, Data, Form, Item, Step, View};
use purlin_syntax::Span;

/// Whether a profile has sections of a configuration.
pub(crate) fn changes(profile: View<'_, '_>) -> bool {
    pipeline().any(|row| profile.get(row.key).is_some())
}

/// Lays the sections of a profile over a configuration.
pub fn overlay<'f>(config: &mut Item<'f>, profile: View<'_, 'f>, name: &Active) {
    for row in pipeline() {
        if let Some(value) = profile.get(row.key) {
            field(config, row, value, name);
        }
    }
}

/// Merges a section key by key.
fn section<'f>(base: &mut Item<'f>, entity: &'static Entity, over: View<'_, 'f>, name: &Active) {
    let mut sets: Vec<&'static str> = Vec::new();
    for row in entity.fields(LATEST) {
        let Some(value) = over.get(row.key) else { continue };
        match row.one_of {
            None => field(base, row, value, name),
            Some(set) if is_set(value, row) && !sets.contains(&set) => {
                sets.push(set);
                choose(base, entity, row, value, name);
            }
            Some(_) => {}
        }
    }
}

/// Only one member of a set may be used: the profile's replaces any other.
fn choose<'f>(base: &mut Item<'f>, entity: &'static Entity, row: &Field, value: View<'_, 'f>, name: &Active) {
    let mut over = None;
    for member in entity.fields(LATEST).filter(|member| member.one_of == row.one_of) {
        if let Some(old) = base.take(member.key) {
            over = over.or(old.view().span());
        }
    }
    base.set(row.key, chosen(value, name, over));
}

fn field<'f>(base: &mut Item<'f>, row: &Field, value: View<'_, 'f>, name: &Active) {
    match holds(row) {
        Holds::One(entity) if !keeps_empty(row) && !is_open(entity) && value.form() == Form::Map => {
            let slot = base.slot(row.key);
            if slot.view().form() == Form::Null {
                slot.data = Data::map(Vec::new());
            }
            section(slot, entity, value, name);
        }
        Holds::One(entity) if !keeps_empty(row) && !is_open(entity) => {}
        _ if is_set(value, row) => {
            let over = base.view().get(row.key).and_then(View::span);
            base.set(row.key, chosen(value, name, over));
        }
        _ => {}
    }
}

fn chosen<'f>(value: View<'_, 'f>, name: &Active, over: Option<Span>) -> Item<'f> {
    value.to_item().stepped(Step::Profile(name.clone()), over, value.span())
}
