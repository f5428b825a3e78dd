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
        CLUSTER_WIDE.iter().any(|(group, kinds)| *group == self.group && kinds.contains(&self.kind.as_str()))
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

/// Kinds that are in no namespace, by group.
const CLUSTER_WIDE: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("authentication.k8s.io", &["SelfSubjectReview", "TokenReview"]),
    ("authorization.k8s.io", &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["IngressClass"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("storage.k8s.io", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"]),
];
