//! Dockerfiles that `container` Builds name and that do not exist. Garden finds out when it builds.

use crate::action::Action;
use crate::config::ActionKind;
use crate::ground::Ground;
use crate::rules;
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::world::WorldError;
use purlin_value::{Value, path};

/// Garden's default name. In a folder without one, it may be created by other means.
const USUAL: &str = "Dockerfile";

/// Warns of a Dockerfile that does not exist, unless another Build may bring it.
pub(crate) fn check(ground: &Ground<'_>, action: &Action, spec: &Value) {
    let is_build = action.kind == ActionKind::Build && action.type_name == "container" && action.module.is_none();
    let has_items = |key: &str| action.fields.get(key).and_then(Value::as_list).is_some_and(|list| !list.is_empty());
    let is_fetched = action.fields.get("source").is_some_and(|source| source.get("repository").is_some());
    if !is_build || is_fetched || has_items("copyFrom") || has_items("dependencies") || !is_known(spec) {
        return;
    }
    let Some(written) = spec.get("dockerfile").filter(|value| !value.is_tainted()) else { return };
    let Some(name) = written.as_str().filter(|name| *name != USUAL && !path::is_absolute(name)) else { return };
    let place = path::join(&action.source_folder, name);
    if !matches!(ground.session.world.stat(&place), Err(WorldError::NotFound)) {
        return;
    }
    let message = format!("no Dockerfile is found at `{}`", ground.session.sources.shown(&path::normalize(&place)));
    let beside = ground.session.listed(path::parent(&place));
    let hint = suggest::did_you_mean(path::file_name(&place), beside.names());
    let hint =
        hint.unwrap_or_else(|| format!("correct `dockerfile`; it starts at `{}`", shown_folder(ground, action)).into());
    let span = ground.span_of(written).or_else(|| action.span());
    ground.push(Diagnostic::nowhere(&rules::FILE, message).hint(hint), span);
}

fn is_known(spec: &Value) -> bool {
    let is_open = |value: &Value| value.is_pending() || value.is_poison();
    !is_open(spec) && !spec.get("dockerfile").is_some_and(is_open)
}

/// The folder of a Build as the user sees it.
fn shown_folder(ground: &Ground<'_>, action: &Action) -> String {
    ground.session.sources.shown(&path::normalize(&action.source_folder))
}
