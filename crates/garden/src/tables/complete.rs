//! Completes an evaluated mapping by its row, as deep as the tables reach: adds defaults, converts strings to numbers
//! and booleans, and drops null items of lists.
//!
//! Parts without a fixed shape, such as values of a chart, stay unchanged.

use crate::entities::{COPY, PORT, SCHEMA, words};
use crate::ground::Defaults;
use purlin_model::schema::{Edition, Entity, Kind, Shape, Special};
use purlin_value::{Data, Map, Session, Value};

/// Rows nest a few levels deep; the bound is for a faulty table.
const DEPTH: u32 = purlin_syntax::limits::ROW_LEVELS;

/// Keys that hold for another where that is not set.
const SAME: &[(Kind, &str, &str)] = &[(PORT, "servicePort", "containerPort"), (COPY, "target", "source")];

/// Completes the values of a resolution.
pub(crate) struct Completer<'s> {
    /// The run.
    pub session: &'s Session,
    /// The defaults of rows.
    pub defaults: &'s Defaults,
}

impl Completer<'_> {
    /// A mapping of an entity of a kind, completed.
    pub fn entity(&self, kind: Kind, value: &Value) -> Value {
        self.row(kind, value, 0)
    }

    fn row(&self, kind: Kind, value: &Value, depth: u32) -> Value {
        let Some(entity) = SCHEMA.entity(kind).filter(|_| depth < DEPTH) else { return value.clone() };
        let Some(map) = value.as_map() else { return short(entity, value) };
        let mut completed = Map::with_capacity(map.len() + 4);
        for (key, item) in map.iter() {
            match entity.field_or_alias(key, Edition(0)) {
                Some(field) if item.is_null() && !keeps_null(&field.shape) => {}
                Some(field) => {
                    completed.insert(field.key.into(), self.shaped(&field.shape, item, depth));
                }
                None => {
                    completed.insert(key.clone(), item.clone());
                }
            }
        }
        for (key, default) in self.defaults.of(kind, self.session).iter() {
            if !completed.contains_key(key) {
                completed.insert(key.clone(), default.clone());
            }
        }
        for (_, key, other) in SAME.iter().filter(|(same, _, _)| *same == kind) {
            let other = completed.get(*other).filter(|value| value.as_number().is_some() || kind == COPY);
            if let Some(value) = other.filter(|_| !completed.contains_key(*key)).cloned() {
                completed.insert((*key).into(), value);
            }
        }
        value.clone().with(Data::Map(completed.into()))
    }

    fn shaped(&self, shape: &Shape, value: &Value, depth: u32) -> Value {
        match (shape, &value.data) {
            (Shape::One(kind), _) => self.row(*kind, value, depth + 1),
            (Shape::List(kind), Data::List(list)) => {
                let kept = list.iter().filter(|item| !item.is_null()).map(|item| self.row(*kind, item, depth + 1));
                with_items(value, kept.collect())
            }
            (Shape::ListOf(inner), Data::List(list)) if **inner != Shape::Any => {
                let kept = list.iter().filter(|item| !item.is_null()).map(|item| self.shaped(inner, item, depth + 1));
                with_items(value, kept.collect())
            }
            (Shape::Special(word), Data::Str(text)) => converted(word, text, value),
            _ => value.clone(),
        }
    }
}

fn with_items(list: &Value, items: Vec<Value>) -> Value {
    list.clone().with(Data::List(std::sync::Arc::new(items.into())))
}

fn keeps_null(shape: &Shape) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Special(word) => words::takes_null(word),
        _ => false,
    }
}

/// The short form of a mapping with one key.
fn short(entity: &'static Entity, value: &Value) -> Value {
    match entity.short.first() {
        Some(notation) if !value.is_collection() => Value::map(Map::from_iter([(notation.slot.into(), value.clone())]))
            .with_origin(value.origin)
            .tainted_by(value.taint()),
        _ => value.clone(),
    }
}

/// A number or boolean that is written as text.
fn converted(word: &Special, text: &str, value: &Value) -> Value {
    let data = if words::is_bool(word) {
        words::as_bool(text).map(Data::Bool)
    } else if words::is_number(word) {
        text.trim().parse::<i64>().ok().map(Data::Int).or_else(|| words::as_number(text).map(Data::Float))
    } else {
        None
    };
    data.map_or_else(|| value.clone(), |data| value.clone().with(data))
}
