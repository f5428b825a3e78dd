//! Runs and Tests of type `container`, `kubernetes-pod` and `helm-pod`: a pod of their own.

use super::key::in_cluster;
use super::{GardenProject, collect_secrets, kubernetes, timeout};
use crate::action::{Action, Reuse};
use crate::cluster::objects;
use crate::event::Cause;
use crate::pod::PodRun;
use crate::store::pod_note;
use purlin_cluster::pod::Once;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Version;
use purlin_value::Value;
use std::sync::Arc;

/// The types.
pub(super) const TYPES: &[&str] = &["container", "kubernetes-pod", "helm-pod"];

/// The resolved action of these types.
pub(super) fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    let manifests = project.resolution.manifests(&action.key).ok_or(Cause::Unresolved)?;
    let mut secrets = project.secrets_with(spec);
    for manifest in &manifests {
        collect_secrets(&manifest.value, &mut secrets);
    }
    let target = kubernetes::target(&project.resolution, action, spec)?;
    let parts = in_cluster(&project.clusters, &target, &manifests);
    let (_, made) = objects(&manifests)?;
    let pod = made.into_iter().next().ok_or(Cause::Unresolved)?;
    let timeout = timeout(action);
    let has_artifacts = spec.get("artifacts").and_then(Value::as_list).is_some_and(|list| !list.is_empty());
    let warnings = has_artifacts.then(|| "`artifacts` are not copied from pods yet".to_owned());
    let work = PodRun {
        clusters: project.clusters.clone(),
        place: target.place,
        once: Once {
            pod: pod.body,
            namespace: target.namespace,
            new_namespace: Some(target.metadata),
            secrets: target.secrets,
            container: "main".to_owned(),
            timeout,
        },
        note: pod_note(&project.root(), &project.key, &project.subject(action)),
        warnings: warnings.into_iter().collect(),
    };
    let is_cached = spec.get("cacheResult").and_then(Value::as_bool).unwrap_or(true);
    Ok(Action {
        reuse: if is_cached { Reuse::Version } else { Reuse::Never },
        work: Some(Arc::new(work)),
        timeout,
        secrets,
        ..project.blank(action, version, &parts)
    })
}
