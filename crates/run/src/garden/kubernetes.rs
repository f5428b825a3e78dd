//! Actions that deploy to Kubernetes: `kubernetes`, `helm`, `chart` and `container`. The dialect renders them; their
//! target is decided here.

use super::key::of_target;
use super::{GardenProject, collect_secrets, kind_of, root_of, seconds, timeout};
use crate::action::Action;
use crate::cluster::{ClusterDeploy, Clusters, Place, digest, objects};
use crate::event::Cause;
use crate::forwards::{Port, ports_of};
use crate::past::StateOf;
use crate::stop::Stop;
use crate::work::{Doing, Work};
use purlin_cluster::secrets::Copy;
use purlin_cluster::{Deployment, Object};
use purlin_garden::action::Action as GardenAction;
use purlin_garden::config::ActionKind;
use purlin_garden::resolve::Resolution;
use purlin_garden::versions::Version;
use purlin_model::Manifest;
use purlin_value::Value;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The types whose Deploys go to a cluster.
pub(super) const TYPES: &[&str] = &["kubernetes", "helm", "chart", "container"];

/// Default time limit of a Deploy.
const USUAL_TIMEOUT: Duration = Duration::from_secs(300);

/// The resolved action of this type, and its work.
pub(super) fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<(Action, Arc<ClusterDeploy>), Cause> {
    let manifests = project.resolution.manifests(&action.key).ok_or(Cause::Unresolved)?;
    let mut secrets = project.secrets_with(spec);
    for manifest in &manifests {
        collect_secrets(&manifest.value, &mut secrets);
    }
    let target = target(&project.resolution, action, spec)?;
    let content = content(&target, &manifests);
    let flag = |key: &str, default: bool| spec.get(key).and_then(Value::as_bool).unwrap_or(default);
    // The spec has a time to come up, and the action one for everything; a value other than the default was set by the
    // user.
    let given = [seconds(spec.get("timeout")), timeout(action)].into_iter().flatten();
    let own = given.filter(|time| *time != USUAL_TIMEOUT).min();
    let (once, objects) = objects(&manifests)?;
    let deployment = Deployment {
        name: deploy_name(&project.resolution, action),
        namespace: target.namespace,
        new_namespace: Some(target.metadata),
        secrets: target.secrets,
        version: version.full.to_string(),
        content,
        objects,
        once,
        hooks: matches!(action.type_name.as_str(), "helm" | "chart"),
        timeout: own.unwrap_or(USUAL_TIMEOUT),
        jobs: flag("waitForJobs", true),
        ..Deployment::default()
    };
    let ports = forwarded(spec, &action.name, &deployment.objects);
    let work = Arc::new(ClusterDeploy::new(project.clusters.clone(), target.place, deployment).forwarding(ports));
    let action = Action { work: Some(work.clone()), secrets, ..project.blank(action, version, &[]) };
    Ok((action, work))
}

/// The ports to forward: those that an action names, otherwise those of its objects.
fn forwarded(spec: &Value, name: &str, objects: &[Object]) -> Result<Vec<Port>, Cause> {
    let list = |key: &str| spec.get(key).and_then(Value::as_list).unwrap_or(&[]).iter();
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_int);
    let local = |value: &Value| number(value, "localPort").and_then(|port| u16::try_from(port).ok());
    let mut found = Vec::new();
    for forward in list("portForwards") {
        let resource = forward.get("resource").and_then(Value::as_str).unwrap_or_default();
        let port = number(forward, "targetPort").unwrap_or_default().to_string();
        let (kind, own) = resource.split_once('/').unwrap_or(("", resource));
        let port = Port::of(kind, own, "", &port, local(forward));
        found.push(
            port.ok_or_else(|| Cause::Other(format!("`portForwards`: ports of `{resource}` cannot be forwarded")))?,
        );
    }
    if !found.is_empty() {
        return Ok(found);
    }
    // A `container` Deploy has one Service, whose ports may have another number here.
    let chosen = |port: &Port| {
        let is_own = |own: &&Value| {
            let number = number(own, "servicePort").or_else(|| number(own, "containerPort"));
            port.target.id.name == name && number.is_some_and(|number| number.to_string() == port.target.port)
        };
        list("ports").find(is_own).and_then(local)
    };
    Ok(ports_of(objects).into_iter().map(|port| Port { local: chosen(&port), ..port }).collect())
}

/// The deploy of an action, as far as it is known without rendering: its inventory is found by its name. `None` if the
/// action does not go to a cluster, or the cluster is unknown.
fn inventory_of(resolution: &Resolution<'_>, clusters: &Arc<Clusters>, action: &GardenAction) -> Option<ClusterDeploy> {
    if !TYPES.contains(&action.type_name.as_str()) || action.kind != ActionKind::Deploy {
        return None;
    }
    let spec = resolution.spec(&action.key)?;
    if spec.is_pending() || spec.get("namespace").is_some_and(Value::is_pending) {
        return None;
    }
    let target = target(resolution, action, &spec).ok()?;
    let version = resolution.live.resolved_version(resolution.ground.session, &action.key);
    let deployment = Deployment {
        name: deploy_name(resolution, action),
        namespace: target.namespace,
        version: version.map(|version| version.full.to_string()).unwrap_or_default(),
        ..Deployment::default()
    };
    Some(ClusterDeploy::new(clusters.clone(), target.place, deployment))
}

/// Takes down an action that cannot be resolved. Its hooks would have to be rendered, so they do not run.
pub(super) fn remains(project: &GardenProject<'_>, action: &GardenAction) -> Option<Action> {
    let work = inventory_of(&project.resolution, &project.clusters, action)?;
    let blank = Action::new(action.key.as_str(), kind_of(action.kind), "", action.span());
    Some(Action { subject: project.subject(action), work: Some(Arc::new(work)), ..blank })
}

/// The state of an action in its cluster; `None` if it does not go to one.
pub fn cluster_state(resolution: &Resolution<'_>, clusters: &Arc<Clusters>, action: &GardenAction) -> Option<StateOf> {
    let work = inventory_of(resolution, clusters, action)?;
    let stop = Stop::new().ok()?;
    Some(work.state(Doing::looking(&stop)))
}

/// The name of a deploy in the cluster.
pub(super) fn deploy_name(resolution: &Resolution<'_>, action: &GardenAction) -> String {
    format!("{}.{}", resolution.project.name, action.name)
}

/// A digest of the content of a deploy. Its version leaves out inputs other than its own files, such as charts and
/// variables that are the same for Garden.
fn content(target: &Target, manifests: &[Manifest]) -> String {
    let mut hash = Sha256::new();
    for part in of_target(target).chain([digest(manifests)]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    crate::store::hex(&hash.finalize())
}

/// The target of an action.
pub(super) struct Target {
    /// The cluster.
    pub place: Place,
    /// The namespace.
    pub namespace: String,
    /// Metadata for that namespace if it is new.
    pub metadata: Json,
    /// Required secrets.
    pub secrets: Vec<Copy>,
}

/// The target cluster and namespace of an action.
pub(super) fn target(resolution: &Resolution<'_>, action: &GardenAction, spec: &Value) -> Result<Target, Cause> {
    let provider = resolution.cluster(&action.key).ok_or(Cause::Unresolved)?;
    if action.type_name == "container" && !provider.is_there() {
        let why = "containers run in a cluster, but no provider `kubernetes` or `local-kubernetes` is configured";
        return Err(Cause::Other(why.to_owned()));
    }
    let config = provider.config();
    let text = |key: &str| config.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let place = Place {
        kubeconfig: text("kubeconfig").map(|file| root_of(resolution).join(PathBuf::from(file))),
        context: text("context"),
    };
    let namespace = provider.namespace(spec);
    let Some(namespace) = namespace.as_str() else {
        return Err(Cause::Other("its namespace is not known when it runs".to_owned()));
    };
    let copies = provider.copied_secrets(spec).into_iter().map(|(name, from)| Copy { name, from });
    Ok(Target {
        place,
        namespace: namespace.to_owned(),
        metadata: namespace_metadata(config),
        secrets: copies.collect(),
    })
}

/// Labels and annotations of the namespace, from the provider's configuration.
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
