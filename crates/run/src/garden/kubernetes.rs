//! Actions that deploy to Kubernetes: `kubernetes`, `helm` and `chart`. What they render is the dialect's business;
//! here is decided where it goes.

use super::{GardenProject, collect_secrets, kind_of};
use crate::action::Action;
use crate::cluster::{ClusterDeploy, Place, objects};
use crate::event::Cause;
use purlin_cluster::Deployment;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Version;
use purlin_value::Value;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The types whose Deploys go to a cluster.
pub(super) const TYPES: &[&str] = &["kubernetes", "helm", "chart"];

/// The providers that say which cluster is meant.
const PROVIDERS: &[&str] = &["kubernetes", "local-kubernetes"];

/// What an action of this type comes to, and the work that it is.
pub(super) fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<(Action, Arc<ClusterDeploy>), Cause> {
    let manifests = project.resolution.manifests(&action.key).ok_or(Cause::Unresolved)?;
    let (mut secrets, provider) = (project.secrets.clone(), provider(project));
    collect_secrets(spec, &mut secrets);
    for manifest in &manifests {
        collect_secrets(&manifest.value, &mut secrets);
    }
    let place = place(project, &provider);
    let flag = |key: &str, default: bool| spec.get(key).and_then(Value::as_bool).unwrap_or(default);
    let seconds = spec.get("timeout").and_then(Value::as_number).filter(|seconds| *seconds > 0.0).unwrap_or(300.0);
    let project_name = &project.resolution.project.name;
    let is_chart = action.type_name != "kubernetes";
    let (once, objects) = objects(&manifests)?;
    let deployment = Deployment {
        name: format!("{project_name}.{}", action.name),
        namespace: namespace(project, action, spec, &provider),
        new_namespace: Some(namespace_metadata(&provider)),
        version: version.full.to_string(),
        objects,
        once,
        hooks: is_chart,
        timeout: Duration::from_secs_f64(seconds.min(1e9)),
        jobs: flag("waitForJobs", true),
        ..Deployment::default()
    };
    let work = Arc::new(ClusterDeploy::new(project.clusters.clone(), place, deployment));
    let action = Action {
        work: Some(work.clone()),
        secrets,
        ..Action::new(action.key.as_str(), kind_of(action.kind), version.full.as_str(), action.span())
    };
    Ok((action, work))
}

/// The cluster and the namespace that an action of another type goes to, and what a new namespace has.
pub(super) fn target(project: &GardenProject<'_>, action: &GardenAction, spec: &Value) -> (Place, String, Json) {
    let provider = provider(project);
    (place(project, &provider), namespace(project, action, spec, &provider), namespace_metadata(&provider))
}

/// The cluster that a provider names.
fn place(project: &GardenProject<'_>, provider: &Value) -> Place {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    Place {
        kubeconfig: text(provider.get("kubeconfig")).map(|file| project.root().join(PathBuf::from(file))),
        context: text(provider.get("context")),
    }
}

/// The configuration of the provider that deploys to a cluster; null if there is none.
fn provider(project: &GardenProject<'_>) -> Value {
    let all = project.resolution.providers();
    let name = |config: &&Value| config.get("name").and_then(Value::as_str).is_some_and(|n| PROVIDERS.contains(&n));
    all.as_list().into_iter().flatten().find(name).cloned().unwrap_or_else(Value::null)
}

/// The namespace of an action: its own, the provider's, or the one that Garden makes up.
fn namespace(project: &GardenProject<'_>, action: &GardenAction, spec: &Value, provider: &Value) -> String {
    let own = spec.get("namespace").and_then(Value::as_str).filter(|name| !name.is_empty());
    let named = provider.get("namespace");
    let given = named.and_then(|value| value.as_str().or_else(|| value.get("name").and_then(Value::as_str)));
    let found = own.or_else(|| given.filter(|name| !name.is_empty()));
    let Some(found) = found else {
        let Project { name, namespace, .. } = &project.resolution.project;
        // A chart of our own needs no provider, and then goes where `helm` would put it.
        return match action.type_name == "chart" || provider.is_null() {
            true => "default".to_owned(),
            false => format!("{name}-{namespace}"),
        };
    };
    found.to_owned()
}

use purlin_garden::project::Project;

/// Labels and annotations that the provider wants the namespace to have.
fn namespace_metadata(provider: &Value) -> Json {
    let texts = |key: &str| {
        let map = provider.get("namespace").and_then(|namespace| namespace.get(key)?.as_map());
        let entries = map.into_iter().flat_map(|map| map.iter());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        entries
            .filter_map(|(name, value)| Some((name.to_string(), Json::from(text(value)?))))
            .collect::<serde_json::Map<_, _>>()
    };
    json!({ "labels": texts("labels"), "annotations": texts("annotations") })
}
