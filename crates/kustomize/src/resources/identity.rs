//! Identity of a resource: group, version, kind, name and namespace, and comparison of identities.
//!
//! It must not know the content of resources.

use crate::edit::text;
use ecow::EcoString;
use purlin_value::Value;

/// The namespace that everything outside namespaces counts as being in.
pub const NO_NAMESPACE: &str = "_non_namespaceable_";

/// Group, version and kind. In a selector, empty fields match all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gvk {
    /// The API group; empty for the core.
    pub group: EcoString,
    /// The version without the group.
    pub version: EcoString,
    /// The kind.
    pub kind: EcoString,
}

impl Gvk {
    /// Reads `group`, `version` and `kind` of a selector.
    pub fn read(value: &Value) -> Gvk {
        let [group, version, kind] = ["group", "version", "kind"].map(|key| EcoString::from(text(value, &[key])));
        Gvk { group, version, kind }
    }

    /// Whether this, used as a selector, selects another.
    pub fn selects(&self, other: &Gvk) -> bool {
        let fits = |wanted: &EcoString, found: &EcoString| wanted.is_empty() || wanted == found;
        fits(&self.group, &other.group) && fits(&self.version, &other.version) && fits(&self.kind, &other.kind)
    }

    /// Group and version of an `apiVersion`.
    pub fn of(api_version: &str, kind: &str) -> Gvk {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Whether resources of this kind have no namespace.
    pub fn is_cluster_wide(&self) -> bool {
        let has = |list: &[&str], text: &EcoString| list.contains(&text.as_str());
        let is_so = |(group, versions, kinds): &(&str, &[&str], &[&str])| {
            *group == self.group && has(versions, &self.version) && has(kinds, &self.kind)
        };
        CLUSTER_WIDE.iter().any(is_so)
    }
}

/// Whether objects of a kind have a namespace.
pub fn is_namespaced(api_version: &str, kind: &str) -> bool {
    !Gvk::of(api_version, kind).is_cluster_wide()
}

/// A name that a resource has or had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The kind it had.
    pub kind: EcoString,
    /// The name.
    pub name: EcoString,
    /// The namespace: the default one if not written, [`NO_NAMESPACE`] for kinds without namespaces.
    pub namespace: EcoString,
}

/// Kinds that the original knows to be in no namespace: those of Kubernetes 1.21, by group and version. It takes all
/// others for kinds in a namespace.
const CLUSTER_WIDE: &[(&str, &[&str], &[&str])] = &[
    ("", &["v1"], &["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["v1", "v1beta1"], &["IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("storage.k8s.io", &["v1", "v1beta1"], &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];
