//! One node as data: its values in every variant, line by line, and the locations that each comes from.

use crate::data::{map, number, text};
use crate::project::{Project, Side};
use purlin_compiler::{Place, made, why_at, why_value};
use purlin_value::value::below;
use purlin_value::{Data, EcoString, Map, Session, Value};
use std::collections::HashMap;

/// Maximum number of lines of one node; the rest is only counted.
const MOST_ROWS: usize = 20_000;

/// The role of a location for a value.
#[derive(Clone, Copy)]
enum Role {
    /// The value is written there.
    Written = 0,
    /// The value passed through it: a template, a function.
    Through = 1,
    /// The value was decided there.
    Decided = 2,
    /// The value overrides what is written there.
    Overridden = 3,
}

/// A node in all variants. `None` if no variant has it.
pub(crate) fn node(project: &Project, id: &str) -> Option<Value> {
    let mut files = Files::default();
    let mut all = Map::new();
    for side in &project.sides {
        if let Some(whole) = side.whole(id) {
            all.insert(side.name.as_str().into(), values(&side.session, &whole, &mut files));
        }
    }
    if all.is_empty() {
        return None;
    }
    let node = project.sides.iter().find_map(|side| side.resolved.node(id).map(|node| (side, node)));
    let mut entries = vec![("id", text(id))];
    if let Some((side, node)) = node {
        entries.extend([
            ("kind", Value::str(node.kind.clone())),
            ("type", Value::str(node.type_name.clone())),
            ("dialect", text(node.dialect)),
        ]);
        entries.extend(
            side.place(node.source)
                .iter()
                .flat_map(|place| [("file", text(&place.file)), ("line", Value::from(i64::from(place.line)))]),
        );
    }
    entries.push(("files", Value::list(files.names.iter().map(|name| text(name)).collect())));
    entries.push(("environments", Value::map(all)));
    Some(map(entries))
}

/// Files by number, since every line names some.
#[derive(Default)]
struct Files {
    names: Vec<String>,
    known: HashMap<String, usize>,
}

impl Files {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&known) = self.known.get(name) {
            return known;
        }
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

/// An entry to visit: its depth, key, path, and value.
type Entry = (usize, EcoString, String, Value);

/// The lines of a value: depth, key, path, kind, the value if it is a scalar, and its locations.
fn values(session: &Session, whole: &Value, files: &mut Files) -> Value {
    let mut rows = Vec::new();
    let mut stack: Vec<Entry> = entries(whole, 0, "");
    let mut left = 0;
    while let Some((depth, key, path, value)) = stack.pop() {
        if rows.len() >= MOST_ROWS {
            left += 1;
            continue;
        }
        let inner = if value.is_tainted() { Vec::new() } else { entries(&value, depth + 1, &path) };
        let is_open = !inner.is_empty();
        let kind = match &value.data {
            _ if value.is_tainted() => "secret",
            _ if value.is_pending() => "pending",
            Data::Map(_) if is_open => "map",
            Data::List(_) if is_open => "list",
            _ => "leaf",
        };
        let places = if is_open { Vec::new() } else { places(session, whole, &path, files) };
        let shown = if is_open { Value::null() } else { value };
        let row = [number(depth), Value::str(key), text(&path), text(kind), shown, Value::list(places)];
        rows.push(Value::list(row.to_vec()));
        stack.extend(inner);
    }
    map(vec![("rows", Value::list(rows)), ("left", number(left))])
}

/// The entries of a collection in reverse order.
fn entries(value: &Value, depth: usize, path: &str) -> Vec<Entry> {
    match &value.data {
        Data::Map(held) => held
            .iter()
            .rev()
            .map(|(key, inner)| (depth, key.clone(), below(path, key), inner.clone().part_of(value)))
            .collect(),
        Data::List(held) => held
            .iter()
            .enumerate()
            .rev()
            .map(|(at, inner)| {
                let key = at.to_string();
                (depth, EcoString::from(key.as_str()), below(path, &key), inner.clone().part_of(value))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The origins of a value: file, line, role.
fn places(session: &Session, whole: &Value, path: &str, files: &mut Files) -> Vec<Value> {
    let Some(found) = why_at(session, whole, path) else { return Vec::new() };
    let mut seen: Vec<(usize, u32, u8)> = Vec::new();
    let mut note = |place: Option<&Place>, role: Role| {
        if let Some(place) = place {
            let one = (files.number(&place.file), place.line, role as u8);
            if !seen.contains(&one) {
                seen.push(one);
            }
        }
    };
    for piece in &found.pieces {
        note(piece.cause.place.as_ref(), Role::Written);
        piece.through.iter().for_each(|step| note(step.place.as_ref(), Role::Through));
        piece.because.iter().for_each(|because| note(because.place.as_ref(), Role::Decided));
        piece.overrode.iter().for_each(|cause| note(cause.place.as_ref(), Role::Overridden));
    }
    found.because.iter().for_each(|because| note(because.place.as_ref(), Role::Decided));
    let one = |(file, line, role): (usize, u32, u8)| {
        Value::list(vec![number(file), Value::from(i64::from(line)), Value::from(i64::from(role))])
    };
    seen.into_iter().map(one).collect()
}

/// The origins of one value, as printed by `purlin why -o json`.
pub(crate) fn why(project: &Project, side: &Side, id: &str, field: &str) -> Option<Value> {
    let whole = side.whole(id)?;
    let found = why_at(&side.session, &whole, field)?;
    let made = made(&side.session, &found.value);
    let all = project.sides.len() + project.missing.len();
    let others = project.sides.iter().filter(|other| all > 1 && other.name != side.name);
    let value = |other: &Side| {
        let is_sound = !other.is_broken;
        (other.name.clone(), other.whole(id).filter(|_| is_sound).and_then(|whole| whole.at(field)))
    };
    let missing = project.missing.iter().filter(|_| all > 1).map(|name| (name.clone(), None));
    let elsewhere: Vec<(String, Option<Value>)> = others.map(value).chain(missing).collect();
    Some(why_value(id, field, &found, (&made, &|_| None), &elsewhere))
}
