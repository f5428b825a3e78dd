//! Default files of an action: each type of Garden has a rule of its own.
//!
//! The choice counts in versions, so it is Garden's, and it is made from values known before the graph.

use crate::bind::{Binder, Env};
use crate::config::ActionKind;
use crate::ground::Ground;
use crate::project::Project;
use crate::providers::uses_any;
use crate::render::Config;
use crate::scan::texts;
use purlin_value::{Eval, Map, Value, path};
use std::sync::Arc;

/// Files of a chart, from its folder.
const CHART_FILES: [&str; 3] = ["*", "charts/**/*", "templates/**/*"];

/// Adds the `include` that an action's type implies.
pub(crate) fn imply(
    ground: &Ground<'_>,
    project: &Project,
    kind: ActionKind,
    config: &Config,
    fields: &mut Map,
    env: &Arc<Env>,
) {
    // A disabled action may lack its provider, and without one no files are chosen.
    let may_lack = fields.get("disabled").and_then(Value::as_bool) == Some(true) || fields.contains_key("environments");
    let is_of_cluster = matches!(config.type_name.as_str(), "kubernetes" | "helm");
    if may_lack && is_of_cluster && !uses_any(ground, project, &["kubernetes", "local-kubernetes"]) {
        return;
    }
    let is_chosen = fields.contains_key("include") || fields.contains_key("exclude");
    let implied = match (kind, config.type_name.as_str()) {
        (ActionKind::Deploy, "kubernetes") => manifests(ground, config, fields, env),
        (ActionKind::Deploy, "helm") if !is_chosen => chart(ground, config, env),
        // A container is described by its image alone.
        (ActionKind::Deploy | ActionKind::Run | ActionKind::Test, "container") if !is_chosen => Some(Vec::new()),
        _ => None,
    };
    // An action that works on a Build's files has no files of its own.
    let works_on_build = kind != ActionKind::Build && fields.contains_key("build") && !is_chosen;
    if let Some(files) = implied.or_else(|| works_on_build.then(Vec::new)) {
        fields.insert("include".into(), Value::list(files));
    }
}

/// The manifests, besides those listed; a kustomization may refer to any file, so it implies none.
fn manifests(ground: &Ground<'_>, config: &Config, fields: &Map, env: &Arc<Env>) -> Option<Vec<Value>> {
    let spec = config.field("spec");
    if spec.as_ref().and_then(|spec| spec.get("kustomize")).is_some_and(|draft| !draft.is_null()) {
        return None;
    }
    let mut files = fields.get("include").and_then(Value::as_list).map(<[Value]>::to_vec).unwrap_or_default();
    for key in ["manifestTemplates", "manifestFiles"] {
        for file in listed(ground, config, env, &["spec", key]) {
            if !files.iter().any(|known| known.as_str() == Some(&file)) {
                files.push(Value::str(file));
            }
        }
    }
    Some(files)
}

/// The files of a chart inside the project.
fn chart(ground: &Ground<'_>, config: &Config, env: &Arc<Env>) -> Option<Vec<Value>> {
    let folder = listed(ground, config, env, &["spec", "chart", "path"]).pop()?;
    let values = listed(ground, config, env, &["spec", "valueFiles"]);
    let files = CHART_FILES.iter().copied().chain(values.iter().map(String::as_str));
    Some(files.map(|file| Value::str(path::join(&folder, file))).collect())
}

/// The strings at a path of the configuration, evaluated with the values known so far.
fn listed(ground: &Ground<'_>, config: &Config, env: &Arc<Env>, place: &[&str]) -> Vec<String> {
    let draft = place.iter().skip(1).try_fold(config.field(place[0]), |draft, key| Some(draft?.get(key)));
    let Some(draft) = draft.flatten() else { return Vec::new() };
    let bound = draft.bind(&mut Binder::new(env));
    let mut eval = Eval::new(ground.session);
    let value = eval.force_deep(&bound);
    ground.note(&eval);
    value.as_str().map_or_else(|| texts(&value), |text| vec![text.to_owned()])
}
