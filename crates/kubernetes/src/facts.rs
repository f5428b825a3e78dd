//! Constraints on fields beyond their type, and fields that schemas call required but clusters do not.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A constraint on the value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// A number of a port.
    Port,
    /// A number of a port, or 0 for none.
    PortOrNone,
    /// A name of a port.
    PortName,
    /// A number or a name of a port.
    PortOrName,
    /// A number or a name of a port, or 0 for none.
    PortNameOrNone,
    /// A DNS label.
    Label,
    /// A DNS label that begins with a letter.
    ServiceName,
    /// DNS labels with dots.
    Subdomain,
    /// A host name, optionally with `*.`.
    Host,
    /// An IP address.
    Ip,
    /// IP ranges in CIDR notation.
    Cidr,
    /// An integer between the two bounds.
    Between(i64, i64),
    /// A count, or a percentage.
    CountOrPercent,
    /// The schedule of a job.
    Schedule,
    /// A non-empty string.
    Filled,
    /// A non-empty list.
    Items,
    /// Labels: keys and values.
    Labels,
    /// Keys in the form of label keys.
    QualifiedKeys,
    /// Keys that become file names.
    ConfigKeys,
    /// Amounts, none of them negative.
    Amounts,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// One of these strings, or a name with a domain.
    OneOfOrOwn(&'static [&'static str]),
    /// A name with at least three DNS labels.
    FullName,
    /// A name in the form of a label key.
    QualifiedName,
    /// IP addresses.
    Ips,
    /// IP ranges.
    Cidrs,
}

const MOST: i64 = i32::MAX as i64;
const COUNT: Fact = Fact::Between(0, MOST);
const FROM_ONE: Fact = Fact::Between(1, MOST);

/// Facts by the name of a type, without group and version, and a field.
#[rustfmt::skip]
const FACTS: &[(&str, &str, Fact)] = &[
    ("ContainerPort", "containerPort", Fact::Port),
    ("ContainerPort", "hostPort", Fact::PortOrNone),
    ("ContainerPort", "name", Fact::PortName),
    ("ServicePort", "port", Fact::Port),
    ("ServicePort", "nodePort", Fact::PortOrNone),
    ("ServicePort", "name", Fact::Label),
    ("ServicePort", "targetPort", Fact::PortNameOrNone),
    ("HTTPGetAction", "port", Fact::PortOrName),
    ("TCPSocketAction", "port", Fact::PortOrName),
    ("GRPCAction", "port", Fact::Port),
    ("ServiceBackendPort", "number", Fact::PortOrNone),
    ("ServiceBackendPort", "name", Fact::PortName),
    ("NetworkPolicyPort", "port", Fact::PortOrName),
    ("NetworkPolicyPort", "endPort", Fact::Port),
    ("Container", "name", Fact::Label),
    ("EphemeralContainer", "name", Fact::Label),
    ("EnvVar", "name", Fact::Filled),
    ("Volume", "name", Fact::Label),
    ("VolumeMount", "name", Fact::Filled),
    ("VolumeMount", "mountPath", Fact::Filled),
    ("PodSpec", "serviceAccountName", Fact::Subdomain),
    ("PodSpec", "priorityClassName", Fact::Subdomain),
    ("PodSpec", "hostname", Fact::Label),
    ("PodSpec", "subdomain", Fact::Label),
    ("PodSpec", "terminationGracePeriodSeconds", Fact::Between(0, i64::MAX)),
    ("PodSpec", "activeDeadlineSeconds", FROM_ONE),
    ("PodSpec", "nodeSelector", Fact::Labels),
    ("HostAlias", "ip", Fact::Ip),
    ("PodSecurityContext", "runAsUser", COUNT),
    ("PodSecurityContext", "runAsGroup", COUNT),
    ("PodSecurityContext", "fsGroup", COUNT),
    ("SecurityContext", "runAsUser", COUNT),
    ("SecurityContext", "runAsGroup", COUNT),
    ("ResourceRequirements", "limits", Fact::Amounts),
    ("ResourceRequirements", "requests", Fact::Amounts),
    ("VolumeResourceRequirements", "requests", Fact::Amounts),
    ("VolumeResourceRequirements", "limits", Fact::Amounts),
    ("ResourceQuotaSpec", "hard", Fact::Amounts),
    ("Probe", "initialDelaySeconds", COUNT),
    ("Probe", "periodSeconds", COUNT),
    ("Probe", "timeoutSeconds", COUNT),
    ("Probe", "successThreshold", COUNT),
    ("Probe", "failureThreshold", COUNT),
    ("ConfigMapVolumeSource", "defaultMode", Fact::Between(0, 0o777)),
    ("SecretVolumeSource", "defaultMode", Fact::Between(0, 0o777)),
    ("ProjectedVolumeSource", "defaultMode", Fact::Between(0, 0o777)),
    ("KeyToPath", "mode", Fact::Between(0, 0o777)),
    ("KeyToPath", "path", Fact::Filled),
    ("PersistentVolumeClaimVolumeSource", "claimName", Fact::Filled),
    ("HostPathVolumeSource", "path", Fact::Filled),
    ("ConfigMapKeySelector", "key", Fact::Filled),
    ("SecretKeySelector", "key", Fact::Filled),
    ("DeploymentSpec", "replicas", COUNT),
    ("DeploymentSpec", "minReadySeconds", COUNT),
    ("DeploymentSpec", "revisionHistoryLimit", COUNT),
    ("DeploymentSpec", "progressDeadlineSeconds", COUNT),
    ("StatefulSetSpec", "replicas", COUNT),
    ("StatefulSetSpec", "minReadySeconds", COUNT),
    ("ReplicaSetSpec", "replicas", COUNT),
    ("DaemonSetSpec", "minReadySeconds", COUNT),
    ("ReplicationControllerSpec", "replicas", COUNT),
    ("RollingUpdateDeployment", "maxSurge", Fact::CountOrPercent),
    ("RollingUpdateDeployment", "maxUnavailable", Fact::CountOrPercent),
    ("RollingUpdateDaemonSet", "maxSurge", Fact::CountOrPercent),
    ("RollingUpdateDaemonSet", "maxUnavailable", Fact::CountOrPercent),
    ("RollingUpdateStatefulSetStrategy", "partition", COUNT),
    ("PodDisruptionBudgetSpec", "minAvailable", Fact::CountOrPercent),
    ("PodDisruptionBudgetSpec", "maxUnavailable", Fact::CountOrPercent),
    ("JobSpec", "parallelism", COUNT),
    ("JobSpec", "completions", COUNT),
    ("JobSpec", "backoffLimit", COUNT),
    ("JobSpec", "ttlSecondsAfterFinished", COUNT),
    ("JobSpec", "activeDeadlineSeconds", Fact::Between(0, i64::MAX)),
    ("CronJobSpec", "schedule", Fact::Schedule),
    ("CronJobSpec", "successfulJobsHistoryLimit", COUNT),
    ("CronJobSpec", "failedJobsHistoryLimit", COUNT),
    ("CronJobSpec", "startingDeadlineSeconds", Fact::Between(0, i64::MAX)),
    ("HorizontalPodAutoscalerSpec", "minReplicas", COUNT),
    ("HorizontalPodAutoscalerSpec", "maxReplicas", FROM_ONE),
    ("PreferredSchedulingTerm", "weight", Fact::Between(1, 100)),
    ("WeightedPodAffinityTerm", "weight", Fact::Between(1, 100)),
    ("PodAffinityTerm", "topologyKey", Fact::Filled),
    ("TopologySpreadConstraint", "maxSkew", FROM_ONE),
    ("TopologySpreadConstraint", "topologyKey", Fact::Filled),
    ("NodeSelector", "nodeSelectorTerms", Fact::Items),
    ("PodSpec", "containers", Fact::Items),
    ("HTTPIngressRuleValue", "paths", Fact::Items),
    ("PersistentVolumeClaimSpec", "accessModes", Fact::Items),
    ("IngressRule", "host", Fact::Host),
    ("IngressServiceBackend", "name", Fact::ServiceName),
    ("IPBlock", "cidr", Fact::Cidr),
    ("ObjectMeta", "labels", Fact::Labels),
    ("ObjectMeta", "annotations", Fact::QualifiedKeys),
    ("ObjectMeta", "namespace", Fact::Label),
    ("LabelSelector", "matchLabels", Fact::Labels),
    ("ServiceSpec", "selector", Fact::Labels),
    ("ConfigMap", "data", Fact::ConfigKeys),
    ("ConfigMap", "binaryData", Fact::ConfigKeys),
    ("Secret", "data", Fact::ConfigKeys),
    ("Secret", "stringData", Fact::ConfigKeys),
    ("RoleRef", "kind", Fact::OneOf(&["ClusterRole", "Role"])),
    ("Subject", "kind", Fact::OneOf(&["Group", "ServiceAccount", "User"])),
    ("PolicyRule", "verbs", Fact::Items),
    ("MetricTarget", "type", Fact::OneOf(&["AverageValue", "Utilization", "Value"])),
    ("MetricTarget", "averageUtilization", FROM_ONE),
    ("HorizontalPodAutoscalerSpec", "targetCPUUtilizationPercentage", FROM_ONE),
    ("HTTPIngressPath", "pathType", Fact::OneOf(&["Exact", "ImplementationSpecific", "Prefix"])),
    ("PodSpec", "nodeName", Fact::Subdomain),
    ("ServiceSpec", "externalIPs", Fact::Ips),
    ("ServiceSpec", "loadBalancerSourceRanges", Fact::Cidrs),
    ("NFSVolumeSource", "server", Fact::Filled),
    ("NFSVolumeSource", "path", Fact::Filled),
    ("EndpointPort", "name", Fact::Label),
    ("EndpointPort", "port", Fact::Port),
    ("LimitRangeItem", "type", Fact::OneOfOrOwn(&["Container", "PersistentVolumeClaim", "Pod"])),
    ("PriorityClass", "preemptionPolicy", Fact::OneOf(&["Never", "PreemptLowerPriority"])),
    ("ControllerRevision", "revision", Fact::Between(0, i64::MAX)),
    ("LeaseSpec", "leaseDurationSeconds", FROM_ONE),
    ("LeaseSpec", "leaseTransitions", COUNT),
    ("CertificateSigningRequestSpec", "expirationSeconds", Fact::Between(600, MOST)),
    ("DeviceRequest", "name", Fact::Label),
    ("DeviceSubRequest", "name", Fact::Label),
    ("ExactDeviceRequest", "count", FROM_ONE),
    ("ExactDeviceRequest", "deviceClassName", Fact::Subdomain),
    ("FlowSchemaSpec", "matchingPrecedence", Fact::Between(1, 10_000)),
    ("PriorityLevelConfigurationReference", "name", Fact::Subdomain),
    ("PriorityLevelConfigurationSpec", "type", Fact::OneOf(&["Exempt", "Limited"])),
    ("LimitedPriorityLevelConfiguration", "nominalConcurrencyShares", COUNT),
    ("LimitedPriorityLevelConfiguration", "lendablePercent", Fact::Between(0, 100)),
    ("LimitedPriorityLevelConfiguration", "borrowingLimitPercent", COUNT),
    ("LimitResponse", "type", Fact::OneOf(&["Queue", "Reject"])),
    ("MatchCondition", "name", Fact::QualifiedName),
    ("MatchCondition", "expression", Fact::Filled),
    ("MutatingWebhook", "name", Fact::FullName),
    ("ValidatingWebhook", "name", Fact::FullName),
    ("MutatingWebhook", "timeoutSeconds", Fact::Between(1, 30)),
    ("ValidatingWebhook", "timeoutSeconds", Fact::Between(1, 30)),
    ("RuleWithOperations", "scope", Fact::OneOf(&["*", "Cluster", "Namespaced"])),
    ("NamedRuleWithOperations", "scope", Fact::OneOf(&["*", "Cluster", "Namespaced"])),
    ("MutatingAdmissionPolicySpec", "reinvocationPolicy", Fact::OneOf(&["IfNeeded", "Never"])),
    ("APIServiceSpec", "groupPriorityMinimum", Fact::Between(1, 20_000)),
    ("APIServiceSpec", "versionPriority", Fact::Between(1, 1_000)),
];

/// Fields that schemas call required but clusters do not: zero or nothing is valid there.
#[rustfmt::skip]
const NOT_NEEDED: &[(&str, &str)] = &[
    ("StatefulSetSpec", "serviceName"), ("Role", "rules"), ("ClusterRole", "rules"),
    ("LocalObjectReference", "name"), ("DaemonSetSpec", "revisionHistoryLimit"),
    ("ResourceMetricStatus", "current"), ("ClientIPConfig", "timeoutSeconds"), ("EndpointSlice", "endpoints"),
    ("ServiceReference", "path"), ("CustomResourceDefinitionVersion", "served"), ("CustomResourceDefinitionVersion", "storage"),
    ("ControllerRevision", "revision"), ("APIServiceSpec", "service"), ("ResourceQuotaSpec", "hard"), ("PriorityClass", "value"),
    ("JSONSchemaProps", "default"),
    ("CSIStorageCapacity", "storageClassName"), ("LimitResponse", "queuing"), ("Event", "involvedObject"), ("Event", "metadata"),
    ("EndpointSlice", "addressType"), ("OwnerReference", "uid"), ("OwnerReference", "name"), ("CustomResourceDefinitionNames", "kind"),
    ("MatchResources", "resourceRules"), ("NonResourcePolicyRule", "verbs"),
];

/// The constraint on a field.
pub fn fact(of: &str, field: &str) -> Option<Fact> {
    static INDEX: OnceLock<HashMap<(&'static str, &'static str), Fact>> = OnceLock::new();
    let index = INDEX.get_or_init(|| FACTS.iter().map(|(of, field, fact)| ((*of, *field), *fact)).collect());
    index.get(&(of, field)).copied()
}

/// Whether a cluster rejects an object without a field that its schema requires.
pub fn is_needed(of: &str, field: &str) -> bool {
    !of.ends_with("Status")
        && (!of.ends_with("Condition") || of == "MatchCondition")
        && !NOT_NEEDED.contains(&(of, field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::table;

    #[test]
    fn facts_are_about_fields() {
        let table = table();
        let mut known = std::collections::HashSet::new();
        for of in (0..).map_while(|id| table.get(id)) {
            known.extend(of.fields.iter().map(|field| (of.short(), field.name)));
        }
        let rows = FACTS.iter().map(|(of, field, _)| (*of, *field)).chain(NOT_NEEDED.iter().copied());
        let wrong: Vec<_> = rows.filter(|row| !known.contains(row)).collect();
        assert_eq!(wrong, [("", ""); 0]);
    }
}
