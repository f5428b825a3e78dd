//! Versions of Kubernetes' own APIs that are deprecated.

/// Kubernetes' message for a kind that is deprecated in a version of it.
pub(super) fn deprecated(api_version: &str, kind: &str, (major, minor): (&str, &str)) -> Option<String> {
    let row = DEPRECATED.iter().find(|row| row.0 == api_version && row.1 == kind)?;
    let (_, _, since, removed, instead) = *row;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    if (major, minor) < (1, since) {
        return None;
    }
    let mut message = format!("{api_version} {kind} is deprecated in v1.{since}+");
    if removed > 0 {
        message += &format!(", unavailable in v1.{removed}+");
    }
    if !instead.is_empty() {
        message += &format!("; use {instead}");
    }
    Some(message)
}

/// Version, kind, the minor versions of Kubernetes 1 in which it is deprecated and gone (0: not planned), and what
/// replaces it.
#[rustfmt::skip]
const DEPRECATED: &[(&str, &str, u32, u32, &str)] = &[
    ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", 35, 38, ""),
    ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding", 35, 38, ""),
    ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy", 29, 32, ""),
    ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding", 29, 32, ""),
    ("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy", 37, 40, "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding", 37, 40, "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", 31, 34, ""),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding", 31, 34, ""),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration"),
    ("apps/v1beta1", "ControllerRevision", 8, 16, "apps/v1 ControllerRevision"),
    ("apps/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment"),
    ("apps/v1beta1", "DeploymentRollback", 8, 16, "apps/v1 DeploymentRollback"),
    ("apps/v1beta1", "Scale", 8, 16, "autoscaling/v1 Scale"),
    ("apps/v1beta1", "StatefulSet", 8, 16, "apps/v1 StatefulSet"),
    ("apps/v1beta2", "ControllerRevision", 9, 16, "apps/v1 ControllerRevision"),
    ("apps/v1beta2", "DaemonSet", 9, 16, "apps/v1 DaemonSet"),
    ("apps/v1beta2", "Deployment", 9, 16, "apps/v1 Deployment"),
    ("apps/v1beta2", "ReplicaSet", 9, 16, "apps/v1 ReplicaSet"),
    ("apps/v1beta2", "Scale", 9, 16, "autoscaling/v1 Scale"),
    ("apps/v1beta2", "StatefulSet", 9, 16, "apps/v1 StatefulSet"),
    ("authentication.k8s.io/v1alpha1", "SelfSubjectReview", 29, 32, ""),
    ("authentication.k8s.io/v1beta1", "SelfSubjectReview", 30, 33, ""),
    ("authentication.k8s.io/v1beta1", "TokenReview", 19, 22, "authentication.k8s.io/v1 TokenReview"),
    ("authorization.k8s.io/v1beta1", "LocalSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 LocalSubjectAccessReview"),
    ("authorization.k8s.io/v1beta1", "SelfSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectAccessReview"),
    ("authorization.k8s.io/v1beta1", "SelfSubjectRulesReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectRulesReview"),
    ("authorization.k8s.io/v1beta1", "SubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SubjectAccessReview"),
    ("batch/v1beta1", "CronJob", 21, 25, "batch/v1 CronJob"),
    ("certificates.k8s.io/v1alpha1", "ClusterTrustBundle", 34, 37, ""),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest", 19, 22, "certificates.k8s.io/v1 CertificateSigningRequest"),
    ("certificates.k8s.io/v1beta1", "ClusterTrustBundle", 37, 40, ""),
    ("certificates.k8s.io/v1beta1", "PodCertificateRequest", 38, 41, ""),
    ("coordination.k8s.io/v1alpha2", "LeaseCandidate", 35, 38, ""),
    ("coordination.k8s.io/v1beta1", "Lease", 19, 22, "coordination.k8s.io/v1 Lease"),
    ("coordination.k8s.io/v1beta1", "LeaseCandidate", 36, 39, ""),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", 21, 25, "discovery.k8s.io/v1 EndpointSlice"),
    ("events.k8s.io/v1beta1", "Event", 22, 25, ""),
    ("extensions/v1beta1", "DaemonSet", 8, 16, "apps/v1 DaemonSet"),
    ("extensions/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment"),
    ("extensions/v1beta1", "DeploymentRollback", 8, 16, ""),
    ("extensions/v1beta1", "Ingress", 14, 22, "networking.k8s.io/v1 Ingress"),
    ("extensions/v1beta1", "NetworkPolicy", 9, 16, "networking.k8s.io/v1 NetworkPolicy"),
    ("extensions/v1beta1", "ReplicaSet", 8, 16, "apps/v1 ReplicaSet"),
    ("extensions/v1beta1", "Scale", 2, 16, ""),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", 29, 32, "flowcontrol.apiserver.k8s.io/v1 FlowSchema"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration", 29, 32, "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration"),
    ("networking.k8s.io/v1beta1", "IPAddress", 34, 37, ""),
    ("networking.k8s.io/v1beta1", "Ingress", 19, 22, "networking.k8s.io/v1 Ingress"),
    ("networking.k8s.io/v1beta1", "IngressClass", 19, 22, "networking.k8s.io/v1 IngressClassList"),
    ("networking.k8s.io/v1beta1", "ServiceCIDR", 34, 37, ""),
    ("node.k8s.io/v1beta1", "RuntimeClass", 22, 25, ""),
    ("policy/v1beta1", "Eviction", 22, 25, ""),
    ("policy/v1beta1", "PodDisruptionBudget", 21, 25, "policy/v1 PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRole"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1beta1", "Role", 17, 22, "rbac.authorization.k8s.io/v1 Role"),
    ("rbac.authorization.k8s.io/v1beta1", "RoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 RoleBinding"),
    ("resource.k8s.io/v1alpha3", "DeviceTaintRule", 36, 39, ""),
    ("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", 39, 42, ""),
    ("resource.k8s.io/v1beta1", "DeviceClass", 35, 38, ""),
    ("resource.k8s.io/v1beta1", "ResourceClaim", 35, 38, ""),
    ("resource.k8s.io/v1beta1", "ResourceClaimTemplate", 35, 38, ""),
    ("resource.k8s.io/v1beta1", "ResourceSlice", 35, 38, ""),
    ("resource.k8s.io/v1beta2", "DeviceClass", 36, 39, ""),
    ("resource.k8s.io/v1beta2", "DeviceTaintRule", 39, 42, ""),
    ("resource.k8s.io/v1beta2", "ResourceClaim", 36, 39, ""),
    ("resource.k8s.io/v1beta2", "ResourceClaimTemplate", 36, 39, ""),
    ("resource.k8s.io/v1beta2", "ResourceSlice", 36, 39, ""),
    ("scheduling.k8s.io/v1beta1", "PriorityClass", 14, 22, "scheduling.k8s.io/v1 PriorityClass"),
    ("storage.k8s.io/v1alpha1", "CSIStorageCapacity", 21, 24, "storage.k8s.io/v1beta1 CSIStorageCapacity"),
    ("storage.k8s.io/v1alpha1", "VolumeAttachment", 21, 24, "storage.k8s.io/v1 VolumeAttachment"),
    ("storage.k8s.io/v1alpha1", "VolumeAttributesClass", 32, 35, "storage.k8s.io/v1 VolumeAttributesClass"),
    ("storage.k8s.io/v1beta1", "CSIDriver", 19, 22, "storage.k8s.io/v1 CSIDriver"),
    ("storage.k8s.io/v1beta1", "CSINode", 17, 22, "storage.k8s.io/v1 CSINode"),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity", 24, 27, "storage.k8s.io/v1 CSIStorageCapacity"),
    ("storage.k8s.io/v1beta1", "StorageClass", 19, 22, "storage.k8s.io/v1 StorageClass"),
    ("storage.k8s.io/v1beta1", "VolumeAttachment", 19, 22, "storage.k8s.io/v1 VolumeAttachment"),
    ("storage.k8s.io/v1beta1", "VolumeAttributesClass", 34, 37, "storage.k8s.io/v1 VolumeAttributesClass"),
    ("storagemigration.k8s.io/v1beta1", "StorageVersionMigration", 38, 41, ""),
    ("v1", "ComponentStatus", 19, 0, ""),
    ("v1", "Endpoints", 33, 0, "discovery.k8s.io/v1 EndpointSlice"),
];
