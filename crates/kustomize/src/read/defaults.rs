//! Kustomize's built-in fields: the locations of names, labels, images and variables in Kubernetes' kinds.
//!
//! Many kinds contain pods. Fields of pods are listed once, with the kinds that contain pods in that list.

use crate::config::{Config, References};
use crate::fieldspec::FieldSpec;
use crate::identity::Gvk;
use std::sync::{Arc, OnceLock};

/// Path of a kind's pod.
const PODS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
];

/// The kinds with pods whose config maps and secrets are known.
const MOUNTING: &[&str] =
    &["Pod", "PodTemplate", "CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"];

/// The kinds with pods whose accounts, claims and priorities are known.
const CLAIMING: &[&str] = &["Pod", "CronJob", "DaemonSet", "Deployment", "Job", "ReplicationController", "StatefulSet"];

/// The kinds with pods whose texts may hold variables.
const TALKING: &[&str] = &["Pod", "CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"];

/// References to a kind: the kind, fields of pods with the kinds that contain them, other fields by kind.
type Referrers =
    (&'static str, &'static [&'static str], &'static [&'static str], &'static [(&'static str, &'static str)]);

/// Names of other resources. Kinds are `group:version:kind`, shortened from the left.
const REFERRERS: &[Referrers] = &[
    ("rbac.authorization.k8s.io::Role", &[], &[], &[("rbac.authorization.k8s.io::RoleBinding", "roleRef/name")]),
    (
        "rbac.authorization.k8s.io::ClusterRole",
        &[],
        &[],
        &[
            ("rbac.authorization.k8s.io::RoleBinding", "roleRef/name"),
            ("rbac.authorization.k8s.io::ClusterRoleBinding", "roleRef/name"),
        ],
    ),
    (
        "storage.k8s.io:v1:StorageClass",
        &[],
        &[],
        &[
            ("PersistentVolume", "spec/storageClassName"),
            ("PersistentVolumeClaim", "spec/storageClassName"),
            ("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
        ],
    ),
    (
        "v1:ServiceAccount",
        &["serviceAccountName"],
        CLAIMING,
        &[
            ("rbac.authorization.k8s.io::RoleBinding", "subjects"),
            ("rbac.authorization.k8s.io::ClusterRoleBinding", "subjects"),
        ],
    ),
    (
        "v1:ConfigMap",
        &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
        MOUNTING,
        &[
            ("Node", "spec/configSource/configMap"),
            ("Role", "rules/resourceNames"),
            ("ClusterRole", "rules/resourceNames"),
            ("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
        ],
    ),
    (
        "v1:Secret",
        &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
        MOUNTING,
        &[
            ("Ingress", "spec/tls/secretName"),
            ("Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
            ("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
            ("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
            ("ServiceAccount", "imagePullSecrets/name"),
            ("StorageClass", "parameters/secretName"),
            ("StorageClass", "parameters/adminSecretName"),
            ("StorageClass", "parameters/userSecretName"),
            ("StorageClass", "parameters/secretRef"),
            ("Role", "rules/resourceNames"),
            ("ClusterRole", "rules/resourceNames"),
            ("serving.knative.dev:v1:Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
            ("PersistentVolume", "spec/azureFile/secretName"),
        ],
    ),
    (
        "v1:Service",
        &[],
        &[],
        &[
            ("apps::StatefulSet", "spec/serviceName"),
            ("Ingress", "spec/rules/http/paths/backend/serviceName"),
            ("Ingress", "spec/backend/serviceName"),
            ("Ingress", "spec/rules/http/paths/backend/service/name"),
            ("Ingress", "spec/defaultBackend/service/name"),
            ("apiregistration.k8s.io::APIService", "spec/service/name"),
            ("admissionregistration.k8s.io::ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
            ("admissionregistration.k8s.io::MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
        ],
    ),
    (
        "admissionregistration.k8s.io::ValidatingAdmissionPolicy",
        &[],
        &[],
        &[("admissionregistration.k8s.io::ValidatingAdmissionPolicyBinding", "spec/policyName")],
    ),
    ("scheduling.k8s.io:v1:PriorityClass", &["priorityClassName"], CLAIMING, &[]),
    (
        "v1:PersistentVolume",
        &[],
        &[],
        &[("PersistentVolumeClaim", "spec/volumeName"), ("ClusterRole", "rules/resourceNames")],
    ),
    ("v1:PersistentVolumeClaim", &["volumes/persistentVolumeClaim/claimName"], CLAIMING, &[]),
    ("Deployment", &[], &[], &[("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]),
    ("StatefulSet", &[], &[], &[("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]),
    ("ReplicaSet", &[], &[], &[("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]),
    ("ReplicationController", &[], &[], &[("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]),
];

/// Fields of pods that may hold variables.
const TALK: &[&str] = &[
    "containers/args",
    "containers/command",
    "containers/env/value",
    "containers/volumeMounts/mountPath",
    "initContainers/args",
    "initContainers/command",
    "initContainers/env/value",
    "initContainers/volumeMounts/mountPath",
    "volumes/nfs/server",
];

/// Other fields that may hold variables.
const VARIABLES: &[(&str, &str)] = &[
    ("Deployment", "spec/template/metadata/annotations"),
    ("Ingress", "spec/rules/host"),
    ("Ingress", "spec/tls/hosts"),
    ("Ingress", "spec/tls/secretName"),
    ("Service", "spec/ports/port"),
    ("Service", "spec/ports/targetPort"),
    ("StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
    ("PersistentVolume", "spec/nfs/server"),
    ("", "metadata/labels"),
    ("", "metadata/annotations"),
];

/// The metadata of pods that are made later.
const TEMPLATES: &[(&str, &str)] = &[
    ("v1:ReplicationController", "spec/template/metadata"),
    ("Deployment", "spec/template/metadata"),
    ("ReplicaSet", "spec/template/metadata"),
    ("DaemonSet", "spec/template/metadata"),
    ("apps::StatefulSet", "spec/template/metadata"),
    ("batch::Job", "spec/template/metadata"),
    ("batch::CronJob", "spec/jobTemplate/metadata"),
    ("batch::CronJob", "spec/jobTemplate/spec/template/metadata"),
];

/// Label selectors, and whether they are created.
const SELECTORS: &[(&str, &str, bool)] = &[
    ("v1:Service", "spec/selector", true),
    ("v1:ReplicationController", "spec/selector", true),
    ("Deployment", "spec/selector/matchLabels", true),
    ("ReplicaSet", "spec/selector/matchLabels", true),
    ("DaemonSet", "spec/selector/matchLabels", true),
    ("apps::StatefulSet", "spec/selector/matchLabels", true),
    ("batch::Job", "spec/selector/matchLabels", false),
    ("batch::CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    ("policy::PodDisruptionBudget", "spec/selector/matchLabels", false),
    ("networking.k8s.io::NetworkPolicy", "spec/podSelector/matchLabels", false),
    ("networking.k8s.io::NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    ("networking.k8s.io::NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
];

/// Label selectors in the pods of deployments and stateful sets.
const NEIGHBOURS: &[&str] = &[
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "topologySpreadConstraints/labelSelector/matchLabels",
];

/// All built-in fields. Created once.
pub fn config() -> &'static Arc<Config> {
    static CONFIG: OnceLock<Arc<Config>> = OnceLock::new();
    CONFIG.get_or_init(|| Arc::new(make()))
}

fn make() -> Config {
    let name = || vec![spec("", "metadata/name", false)];
    let own = |field: &str| spec("", &format!("metadata/{field}"), true);
    let templates = |field: &str| {
        let of = |(kind, path): &(&str, &str)| spec(kind, &format!("{path}/{field}"), true);
        TEMPLATES.iter().map(of).collect::<Vec<_>>()
    };
    let claims = spec("apps::StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true);
    let template_labels: Vec<FieldSpec> =
        [own("labels")].into_iter().chain(templates("labels")).chain([claims]).collect();
    let selectors = SELECTORS.iter().map(|(kind, path, create)| spec(kind, path, *create));
    let neighbours = ["apps::Deployment", "apps::StatefulSet"]
        .into_iter()
        .flat_map(|kind| NEIGHBOURS.iter().map(move |path| spec(kind, &format!("spec/template/spec/{path}"), false)));
    let scaled = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    let images = ["spec", "spec/template/spec"]
        .into_iter()
        .flat_map(|pod| ["containers", "initContainers"].map(|list| spec("", &format!("{pod}/{list}[]/image"), true)));
    Config {
        name_prefix: name(),
        name_suffix: name(),
        namespace: vec![
            spec("Namespace", "metadata/name", true),
            spec("apiregistration.k8s.io::APIService", "spec/service/namespace", true),
            spec(
                "apiextensions.k8s.io::CustomResourceDefinition",
                "spec/conversion/webhook/clientConfig/service/namespace",
                false,
            ),
        ],
        common_labels: selectors.chain(neighbours).chain(template_labels.iter().cloned()).collect(),
        labels: Vec::new(),
        template_labels,
        common_annotations: [own("annotations")].into_iter().chain(annotated(templates("annotations"))).collect(),
        name_reference: REFERRERS.iter().map(references).collect(),
        var_reference: in_pods(TALK, TALKING)
            .chain(VARIABLES.iter().map(|(kind, path)| spec(kind, path, false)))
            .collect(),
        images: images.collect(),
        replicas: scaled.map(|kind| spec(kind, "spec/replicas", true)).to_vec(),
    }
}

/// Pods of stateful sets get annotations for any group.
fn annotated(mut templates: Vec<FieldSpec>) -> Vec<FieldSpec> {
    templates.iter_mut().filter(|spec| spec.of.kind == "StatefulSet").for_each(|spec| spec.of.group = "".into());
    templates
}

fn references((target, fields, kinds, others): &Referrers) -> References {
    let others = others.iter().map(|(kind, path)| spec(kind, path, false));
    References { target: gvk(target), referrers: in_pods(fields, kinds).chain(others).collect() }
}

fn in_pods(fields: &'static [&'static str], kinds: &'static [&'static str]) -> impl Iterator<Item = FieldSpec> {
    let holders = PODS.iter().filter(|(kind, _)| kinds.contains(kind));
    holders.flat_map(|(kind, pod)| fields.iter().map(move |field| spec(kind, &format!("{pod}/{field}"), false)))
}

fn spec(of: &str, path: &str, create: bool) -> FieldSpec {
    FieldSpec::new(gvk(of), path, create)
}

/// A kind as the tables write it: `kind`, `version:kind` or `group:version:kind`.
fn gvk(written: &str) -> Gvk {
    let mut parts = written.rsplit(':');
    let [kind, version, group] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    Gvk { group: group.into(), version: version.into(), kind: kind.into() }
}
