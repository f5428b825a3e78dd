//! Ensembles inside projects of other dialects.

use crate::dialect::{eval_given, resolve_given};
use purlin_model::{Answer, Ask, Question, Request, Resolved};
use purlin_value::Session;

/// An ensemble with the inputs from another dialect. `None` if there is nothing to evaluate.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    resolve_given(session, &request(ask), &ask.values)
}

/// Evaluates an expression on one of its instances.
pub fn eval(session: &Session, ask: &Ask<'_>, question: &Question) -> Option<Answer> {
    eval_given(session, &request(ask), &ask.values, question)
}

fn request(ask: &Ask<'_>) -> Request {
    Request { path: ask.path.to_owned(), ..ask.request.clone() }
}
