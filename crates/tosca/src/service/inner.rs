//! Service templates inside projects of other dialects.

use crate::compile::is_invalid;
use crate::dialect::{answer, compiled, resolved};
use crate::marks;
use crate::render::Inputs;
use crate::val::{Data, Val};
use purlin_model::{Answer, Ask, Question, Resolved};
use purlin_syntax::Span;
use purlin_value::{Session, Value};
use std::sync::Arc;

/// A service with the inputs from another dialect. `None` if it is invalid.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    let compiled = compiled(session, ask.path, &ask.request, inputs(session, ask), ask.span);
    marks::note_service(session, &compiled, &ask.values);
    (!is_invalid(&compiled.problems)).then(|| resolved(session, &compiled, ask.path))
}

/// Evaluates an expression on the service or one of its nodes.
pub fn eval(session: &Session, ask: &Ask<'_>, question: &Question) -> Option<Answer> {
    answer(session, &compiled(session, ask.path, &ask.request, inputs(session, ask), ask.span), question)
}

pub(crate) fn inputs(session: &Session, ask: &Ask<'_>) -> Inputs {
    let nowhere = || session.sources.insert("inputs", "").span(0, 0);
    let place = ask.span.unwrap_or_else(nowhere);
    let given = ask.values.as_map().into_iter().flat_map(|map| map.iter());
    given.map(|(name, value)| (name.clone(), input(session, value, place, 0))).collect()
}

/// Deeper values are cut off, as those of files are.
const MAX_DEPTH: u32 = purlin_syntax::limits::COLLECTION_LEVELS;

/// A value of another dialect as a [`Val`]: data that is not evaluated again, with its origin and taint.
pub(crate) fn input(session: &Session, value: &Value, above: Span, depth: u32) -> Val {
    let place = session.origins.span(value.origin, &session.sources).unwrap_or(above);
    let part = |item: &Value| input(session, item, place, depth + 1);
    let data = match &value.data {
        _ if depth > MAX_DEPTH => Data::Poison,
        purlin_value::Data::Null => Data::Null,
        purlin_value::Data::Bool(value) => Data::Bool(*value),
        purlin_value::Data::Int(value) => Data::Int(*value),
        purlin_value::Data::BigInt(text) => Data::Float(text.parse().unwrap_or(f64::INFINITY)),
        purlin_value::Data::Float(value) => Data::Float(*value),
        purlin_value::Data::Str(text) => Data::Str(text.clone()),
        purlin_value::Data::List(items) => Data::List(Arc::new(items.iter().map(part).collect())),
        purlin_value::Data::Map(entries) => {
            let entry = |(key, item): (&ecow::EcoString, &Value)| (Val::str(key.clone(), place), part(item));
            Data::Map(Arc::new(entries.iter().map(entry).collect()))
        }
        purlin_value::Data::Lazy(lazy) => {
            let known = lazy.known().map(|known| input(session, known, place, depth + 1));
            known.map_or(Data::Poison, |known| known.data)
        }
        purlin_value::Data::Pending(pending) => Data::Pending(pending.what.clone()),
        purlin_value::Data::Bytes(_) | purlin_value::Data::Poison => Data::Poison,
    };
    Val::of(data, place, value.origin, value.taint())
}
