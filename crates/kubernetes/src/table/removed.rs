//! Kinds that were removed from all supported versions, and the version that removed them.

use super::{Minor, table};
use std::cmp::Reverse;

/// A version of a group, its former kinds, and the minor version that removed them.
type Row = (&'static str, &'static [&'static str], Minor);

#[rustfmt::skip]
const REMOVED: &[Row] = &[
    ("extensions/v1beta1", &["DaemonSet", "Deployment", "ReplicaSet", "NetworkPolicy", "PodSecurityPolicy"], 16),
    ("extensions/v1beta1", &["Ingress"], 22),
    ("apps/v1beta1", &["Deployment", "StatefulSet", "ControllerRevision"], 16),
    ("apps/v1beta2", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision"], 16),
    ("settings.k8s.io/v1alpha1", &["PodPreset"], 20),
    ("batch/v2alpha1", &["CronJob"], 21),
    ("admissionregistration.k8s.io/v1beta1", &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"], 22),
    ("apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"], 22),
    ("apiregistration.k8s.io/v1beta1", &["APIService"], 22),
    ("authentication.k8s.io/v1beta1", &["TokenReview"], 22),
    ("authorization.k8s.io/v1beta1", &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"], 22),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest"], 22),
    ("coordination.k8s.io/v1beta1", &["Lease"], 22),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"], 22),
    ("rbac.authorization.k8s.io/v1alpha1", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"], 22),
    ("rbac.authorization.k8s.io/v1beta1", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"], 22),
    ("scheduling.k8s.io/v1alpha1", &["PriorityClass"], 22),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"], 22),
    ("storage.k8s.io/v1beta1", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"], 22),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"], 25),
    ("batch/v1beta1", &["CronJob"], 25),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"], 25),
    ("events.k8s.io/v1beta1", &["Event"], 25),
    ("node.k8s.io/v1beta1", &["RuntimeClass"], 25),
    ("policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"], 25),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"], 26),
    ("flowcontrol.apiserver.k8s.io/v1beta1", &["FlowSchema", "PriorityLevelConfiguration"], 26),
    ("storage.k8s.io/v1beta1", &["CSIStorageCapacity"], 27),
];

/// The version that removed a kind.
pub fn removed(version: &str, kind: &str) -> Option<Minor> {
    let row = REMOVED.iter().find(|(of, kinds, _)| *of == version && kinds.contains(&kind));
    row.map(|(_, _, at)| *at)
}

/// The replacement for a kind of an older or newer version: the same kind in its group, or in the only other one.
pub fn replacement(version: &str, kind: &str, at: Minor) -> Option<&'static str> {
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let mut found: Vec<&'static str> = table()
        .kinds(at)
        .filter(|known| known.name == kind && known.version != version)
        .map(|known| known.version)
        .collect();
    let stage = |known: &str| (known.contains("alpha"), known.contains("beta"));
    found.sort_by_key(|known| (group(known) != group(version), stage(known), Reverse(*known)));
    // A kind of the same name in another group may be unrelated; only the old groups have moved.
    let has_moved = |known: &&&str| {
        group(known) == group(version) || matches!(group(version).as_str(), "extensions" | "settings.k8s.io")
    };
    found.iter().find(has_moved).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_name_the_new_ones() {
        let cases = [
            ("extensions/v1beta1", "Ingress", Some(22), Some("networking.k8s.io/v1")),
            ("apps/v1beta1", "Deployment", Some(16), Some("apps/v1")),
            ("policy/v1beta1", "PodSecurityPolicy", Some(25), None),
            ("autoscaling/v2beta2", "HorizontalPodAutoscaler", Some(26), Some("autoscaling/v2")),
            ("example.com/v1", "Ingress", None, None),
        ];
        for (version, kind, at, instead) in cases {
            assert_eq!(removed(version, kind), at, "{version} {kind}");
            assert_eq!(replacement(version, kind, 36), instead, "{version} {kind}");
        }
    }
}
