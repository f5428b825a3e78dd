//! Charts inside projects of other dialects.

use crate::dialect::{eval_chart, options, resolve_chart};
use crate::template::Options;
use purlin_model::{Answer, Ask, Manifest, Question, Resolved};
use purlin_value::{Session, Value};

/// A chart with the values another dialect has for it.
pub fn resolve(session: &Session, ask: &Ask<'_>) -> Option<Resolved> {
    let (resolved, is_sound) = session.sink.succeeds(|| resolve_chart(session, ask.path, &asked(session, ask)));
    let mut resolved = resolved?;
    if resolved.manifests.is_empty() && !is_sound {
        return None;
    }
    if ask.request.chart.skip_tests {
        resolved.manifests.retain(|manifest| !is_test(manifest));
        let kept: Vec<_> = resolved.manifests.iter().map(|manifest| manifest.node.clone()).collect();
        resolved.nodes.retain(|node| kept.contains(&node.id));
    }
    Some(resolved)
}

/// Evaluates an expression in the chart.
pub fn eval(session: &Session, ask: &Ask<'_>, question: &Question) -> Option<Answer> {
    eval_chart(session, ask.path, &asked(session, ask), question)
}

fn asked(session: &Session, ask: &Ask<'_>) -> Options {
    // The paths are the world's already, independent of the user's folder.
    let values = ask.request.values.iter().map(|file| (file.clone(), file.clone())).collect();
    Options { values, inline: ask.values.clone(), ..options(session, &ask.request) }
}

fn is_test(manifest: &Manifest) -> bool {
    let hook = manifest.value.at("metadata.annotations").and_then(|all| all.get("helm.sh/hook").cloned());
    let kinds = hook.as_ref().and_then(Value::as_str);
    kinds.is_some_and(|hook| hook.split(',').any(|kind| kind.trim().starts_with("test")))
}
