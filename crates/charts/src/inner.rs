//! Charts inside projects of other dialects.

use crate::dialect::{options, resolve_chart};
use purlin_model::{Ask, Manifest};
use purlin_value::{Session, Value};

/// The manifests of a chart with the values another dialect has for it.
pub fn render(session: &Session, ask: &Ask<'_>) -> Option<Vec<Manifest>> {
    let mut options = options(session, &ask.request);
    options.inline = ask.values.clone();
    let before = session.sink.len();
    let resolved = resolve_chart(session, ask.folder, &options)?;
    let failed = resolved.manifests.is_empty() && session.sink.len() > before && session.sink.has_errors();
    let skips_tests = ask.request.chart.skip_tests;
    let is_test = |manifest: &Manifest| {
        let hook = manifest.value.at("metadata.annotations").and_then(|all| all.get("helm.sh/hook").cloned());
        hook.as_ref()
            .and_then(Value::as_str)
            .is_some_and(|hook| hook.split(',').any(|kind| kind.trim().starts_with("test")))
    };
    let kept = resolved.manifests.into_iter().filter(|manifest| !(skips_tests && is_test(manifest)));
    (!failed).then(|| kept.collect())
}
