//! Kubernetes objects that no cluster would take, because a well-known name in them is misspelt.
//!
//! Names of the API only, no schema: what a cluster has beside the built-in kinds is not known here, so what is not nearly
//! a built-in name is left alone. It must not know which dialect has made an object.

mod fields;

use purlin_syntax::suggest::{is_slip, nearest};
use purlin_syntax::{Diagnostic, Hint, Rule};
use purlin_value::{Session, Value};

/// A step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(&'static str),
    /// An item of a list.
    Item(usize),
}

/// A name that is most likely misspelt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The keys and items that lead to it.
    pub path: Vec<Step>,
    /// The key that is wrong in the mapping there; without one, the value there is wrong.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Hint,
}

impl Slip {
    /// The value that the path leads to.
    pub fn place<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.path.iter().try_fold(object, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Item(index) => value.as_list()?.get(*index),
        })
    }
}

/// The versions of the API and the kinds that they have.
#[rustfmt::skip]
const KINDS: &[(&str, &[&str])] = &[
    ("v1", &[
        "Pod", "Service", "ConfigMap", "Secret", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim",
        "ServiceAccount", "ReplicationController", "Endpoints", "Event", "LimitRange", "ResourceQuota", "PodTemplate",
        "Binding", "ComponentStatus", "List",
    ]),
    ("apps/v1", &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision"]),
    ("apps/v1beta1", &["Deployment", "StatefulSet", "ControllerRevision"]),
    ("apps/v1beta2", &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision"]),
    ("extensions/v1beta1", &["Deployment", "DaemonSet", "ReplicaSet", "Ingress", "NetworkPolicy", "PodSecurityPolicy"]),
    ("batch/v1", &["Job", "CronJob"]),
    ("batch/v1beta1", &["CronJob"]),
    ("batch/v2alpha1", &["CronJob"]),
    ("networking.k8s.io/v1", &["Ingress", "IngressClass", "NetworkPolicy", "IPAddress", "ServiceCIDR"]),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass", "IPAddress", "ServiceCIDR"]),
    ("rbac.authorization.k8s.io/v1", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
    ("rbac.authorization.k8s.io/v1beta1", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
    ("rbac.authorization.k8s.io/v1alpha1", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
    ("autoscaling/v1", &["HorizontalPodAutoscaler"]),
    ("autoscaling/v2", &["HorizontalPodAutoscaler"]),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"]),
    ("policy/v1", &["PodDisruptionBudget"]),
    ("policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"]),
    ("storage.k8s.io/v1", &["StorageClass", "VolumeAttachment", "CSIDriver", "CSINode", "CSIStorageCapacity"]),
    ("scheduling.k8s.io/v1", &["PriorityClass"]),
    ("apiextensions.k8s.io/v1", &["CustomResourceDefinition"]),
    ("apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"]),
    ("coordination.k8s.io/v1", &["Lease"]),
];

/// So many unknown keys of an object are looked at.
const MOST_KEYS: usize = 100;

/// What objects of the built-in kinds have beside `apiVersion` and `kind`.
const PARTS: &[&str] = &["metadata", "spec", "data", "stringData", "rules", "subjects", "roleRef"];

/// What else they may have at the top.
#[rustfmt::skip]
const OTHER_PARTS: &[&str] = &[
    "apiVersion", "kind", "status", "binaryData", "type", "immutable", "aggregationRule", "items", "secrets",
    "imagePullSecrets", "automountServiceAccountToken", "provisioner", "parameters", "reclaimPolicy", "mountOptions",
    "allowVolumeExpansion", "volumeBindingMode", "allowedTopologies", "value", "globalDefault", "description",
    "preemptionPolicy", "subsets", "template", "revision", "target", "conditions",
];

/// The first name of an object that is most likely misspelt.
pub fn slip(object: &Value) -> Option<Slip> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let (version, kind) = (text("apiVersion")?, text("kind")?);
    let has = |known: &str, kind: &str| KINDS.iter().any(|(name, kinds)| *name == known && kinds.contains(&kind));
    if !has(version, kind) {
        return version_or_kind(version, kind);
    }
    let mut path = Vec::new();
    key_of(object, PARTS, OTHER_PARTS, &path).or_else(|| fields::slip(object, kind, &mut path))
}

/// Warns of the first name of an object that is most likely misspelt, where it is written.
pub fn misspelt(session: &Session, object: &Value, rule: &'static Rule) -> Option<Diagnostic> {
    let slip = slip(object)?;
    let place = slip.place(object)?;
    let value = slip.key.as_deref().and_then(|key| place.get(key)).unwrap_or(place);
    let span = session.origins.span(value.origin, &session.sources);
    let key = slip.key.as_deref().zip(span).and_then(|(key, span)| session.sources.key_before(key, span));
    let mut diagnostic = Diagnostic::nowhere(rule, slip.message).warning().hint(slip.hint);
    diagnostic.span = key.or(span);
    Some(diagnostic)
}

/// A key that is nearly one of those that are missing.
fn key_of(object: &Value, parts: &[&str], others: &[&str], path: &[Step]) -> Option<Slip> {
    let map = object.as_map()?;
    let is_known = |key: &str| parts.contains(&key) || others.contains(&key);
    map.keys().filter(|key| !is_known(key)).take(MOST_KEYS).find_map(|key| {
        let meant = parts.iter().find(|part| is_slip(key, part) && object.get(part).is_none())?;
        Some(Slip {
            path: path.to_vec(),
            key: Some(key.to_string()),
            message: format!("unknown key `{key}` in a Kubernetes object"),
            hint: Hint::meant(key.as_str(), *meant),
        })
    })
}

fn version_or_kind(version: &str, kind: &str) -> Option<Slip> {
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let own = group(version);
    let kinds = || KINDS.iter().filter(|(known, _)| group(known) == own).flat_map(|(_, kinds)| kinds.iter().copied());
    let versions: Vec<&str> =
        KINDS.iter().filter(|(_, kinds)| kinds.contains(&kind)).map(|(version, _)| *version).collect();
    if versions.is_empty() {
        let meant = kinds().find(|known| is_slip(kind, known))?;
        return Some(Slip {
            path: vec![Step::Key("kind")],
            key: None,
            message: format!("`{version}` has no kind `{kind}`"),
            hint: Hint::meant(kind, meant),
        });
    }
    // Groups with a dot belong to whoever defines them, and old versions are gone from most clusters.
    let is_old = version.contains("alpha") || version.contains("beta");
    let near = versions.iter().copied().find(|known| is_slip(version, known));
    let is_own = own.contains('.') && kinds().next().is_none();
    if near.is_none() && (is_own || is_old) {
        return None;
    }
    let meant = near.or_else(|| nearest(version, versions.iter().copied())).or_else(|| versions.first().copied())?;
    Some(Slip {
        path: vec![Step::Key("apiVersion")],
        key: None,
        message: format!("`{version}` has no kind `{kind}`"),
        hint: format!("write `apiVersion: {meant}`").into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::{EcoString, Map};

    fn object(entries: &[(&str, Value)]) -> Value {
        Value::map(entries.iter().map(|(key, value)| (EcoString::from(*key), value.clone())).collect::<Map>())
    }

    fn hint(version: &str, kind: &str) -> Option<String> {
        slip(&object(&[("apiVersion", Value::str(version)), ("kind", Value::str(kind))])).map(|slip| slip.hint.into())
    }

    #[test]
    fn well_known_names_are_corrected() {
        let cases = [
            ("apps/v1", "Deploymnt", Some("did you mean `Deployment`?")),
            ("v1", "service", Some("did you mean `Service`?")),
            ("app/v1", "Deployment", Some("write `apiVersion: apps/v1`")),
            ("v1", "Deployment", Some("write `apiVersion: apps/v1`")),
            ("networking.k8s.io/v11", "Ingress", Some("write `apiVersion: networking.k8s.io/v1`")),
            ("apps/v1", "Deployment", None),
            ("apps/v1alpha1", "Deployment", None),
            ("serving.knative.dev/v1", "Service", None),
            ("v1", "Thing", None),
            ("example.com/v1", "Deploymnt", None),
        ];
        for (version, kind, expected) in cases {
            assert_eq!(hint(version, kind).as_deref(), expected, "{version} {kind}");
        }
    }

    #[test]
    fn keys_are_corrected_where_they_are_missed() {
        let pod = object(&[("container", Value::list(Vec::new()))]);
        let head = [("apiVersion", Value::str("v1")), ("kind", Value::str("Pod"))];
        let found = slip(&object(&[head[0].clone(), head[1].clone(), ("spec", pod.clone())])).map(|slip| slip.path);
        assert_eq!(found, Some(vec![Step::Key("spec")]));
        let found = slip(&object(&[head[0].clone(), head[1].clone(), ("sepc", pod)])).and_then(|slip| slip.key);
        assert_eq!(found.as_deref(), Some("sepc"));
    }

    #[test]
    fn keys_are_corrected_at_every_depth() {
        let nested = |key: &str, value: Value| object(&[(key, value)]);
        let in_list = |key: &str, value: Value| nested(key, Value::list(vec![value]));
        let deployment = |pod: Value| {
            let spec = nested("spec", nested("template", nested("spec", pod)));
            let spec = spec.get("spec").cloned().unwrap_or_default();
            object(&[("apiVersion", Value::str("apps/v1")), ("kind", Value::str("Deployment")), ("spec", spec)])
        };
        let port = nested("containrPort", Value::from(80));
        let found = slip(&deployment(in_list("containers", in_list("ports", port))));
        let steps = |slip: &Slip| slip.path.len();
        assert_eq!(found.as_ref().map(steps), Some(7));
        assert_eq!(found.map(|slip| slip.hint).as_deref(), Some("did you mean `containerPort`?"));
        let sound = in_list("containers", in_list("ports", nested("containerPort", Value::from(80))));
        assert_eq!(slip(&deployment(sound)), None);
    }
}
