//! Conditional imports: `when: .primary_provider[type=NAME]`. Knows the provider of the environment, and must not know
//! how files are read.

use crate::ensemble::manifest::Manifest;
use crate::ensemble::places::Places;
use crate::rules;
use crate::val::Val;
use purlin_syntax::Diagnostic;
use purlin_tosca::load::Condition;
use purlin_tosca::model::Model;
use purlin_tosca::val as tosca;
use purlin_value::Session;

/// The connection used by conditions, and the path that leads to it.
const PROVIDER: &str = "primary_provider";
const PATH: &str = ".primary_provider";

/// The condition for imports of an ensemble's service template.
pub(in crate::ensemble) fn condition(manifest: &Manifest) -> Condition {
    Condition { about: provider(manifest).unwrap_or_default(), holds }
}

/// The type of the provider: a connection of the environment, which may be the name of another one, or a template of the
/// service.
fn provider(manifest: &Manifest) -> Option<String> {
    let path = ["spec", "service_template", "topology_template", "relationship_templates"];
    let own = path.iter().try_fold(&manifest.document, |value, key| value.get(key));
    let connections = manifest.environment.get("connections");
    let named = |name: &str| connections.and_then(|all| all.get(name)).or_else(|| own?.get(name));
    let found = named(PROVIDER)?;
    let found = found.as_str().and_then(named).unwrap_or(found);
    found.get("type").and_then(Val::as_str).map(str::to_owned)
}

/// A supported condition: the provider, and its required type.
fn wanted(when: &str) -> Option<Option<&str>> {
    let rest = when.trim().trim_start_matches("::").strip_prefix(PATH)?.trim();
    if rest.is_empty() {
        return Some(None);
    }
    let test = rest.strip_prefix('[')?.strip_suffix(']')?;
    let (key, name) = test.split_once('=')?;
    matches!(key.trim(), "type" | ".type").then(|| Some(name.trim()))
}

/// Whether a condition holds. An unknown one does, so that no import is missing.
fn holds(when: &str, provider: &str) -> bool {
    match wanted(when) {
        Some(Some(name)) => provider == name,
        Some(None) => !provider.is_empty(),
        None => true,
    }
}

/// Warns about unsupported conditions.
pub(in crate::ensemble) fn report(session: &Session, model: &Model, places: &Places) {
    for import in model.files.list.iter().flat_map(|file| file.entity.list("imports")) {
        let Some(when) = import.value("when") else { continue };
        if when.as_str().is_some_and(|when| wanted(when).is_some()) || matches!(when.data, tosca::Data::Null) {
            continue;
        }
        let mut diagnostic =
            Diagnostic::nowhere(&rules::SUSPICIOUS, "this condition is not evaluated: the file is imported anyway");
        diagnostic.span = Some(places.span(when.span));
        session.sink.push(diagnostic.hint("write `.primary_provider[type=NAME]`"));
    }
}
