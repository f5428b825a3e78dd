//! Skaffold configurations inside projects of other dialects: their images in build order, modules and manifests.

use crate::artifacts;
use crate::dialect::Work;
use crate::value::ValueOut;
use crate::walk::Config;
use purlin_model::{Answer, Ask, Question, Request, Resolved};
use purlin_value::{Map, Session, Value};

/// A configuration with its artifacts and, if requested, its manifests.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    work(session, ask).configs(|work, loaded| {
        let mut resolved = work.resolved(loaded)?;
        if !ask.request.manifests {
            resolved.manifests.clear();
        }
        let mut outputs: Map = resolved.outputs.as_map().cloned().unwrap_or_default();
        outputs.insert("images".into(), images(session, loaded.filled));
        resolved.outputs = Value::map(outputs);
        Some(resolved)
    })
}

/// Answers a question about the configuration.
pub fn eval(session: &Session, ask: &Ask<'_>, question: &Question) -> Option<Answer> {
    work(session, ask).configs(|work, loaded| work.answer(loaded, question))
}

fn work<'r>(session: &'r Session, ask: &'r Ask<'_>) -> Work<'r> {
    let request: &Request = &ask.request;
    Work { session, request, file: ask.path.to_owned() }
}

/// The names of all images, those that others are built from first.
fn images(session: &Session, configs: &[Config<'_>]) -> Value {
    let all = artifacts::collect(configs);
    let order = artifacts::order(&all);
    let name = |at: usize| Some(ValueOut::of(session, all.get(at)?.view.get("image")?));
    Value::list(order.into_iter().filter_map(name).collect())
}
