//! The keys of the built-in kinds that people write most: what runs pods, services, ingresses, claims. Names only; what
//! they hold is not looked at.

use super::{Slip, Step, key_of};
use purlin_value::Value;

/// A mapping of an object: its keys, and what is known of the mappings inside.
struct Part {
    keys: &'static [&'static str],
    inside: &'static [(&'static str, &'static Part)],
}

/// A mapping with nothing inside that is looked at.
const fn flat(keys: &'static [&'static str]) -> Part {
    Part { keys, inside: &[] }
}

/// How many items of a list are checked.
const MOST_ITEMS: usize = 1_000;

/// The specification of each kind.
const SPECS: &[(&str, &Part)] = &[
    ("Pod", &POD),
    ("Deployment", &DEPLOYMENT),
    ("ReplicaSet", &DEPLOYMENT),
    ("StatefulSet", &STATEFUL_SET),
    ("DaemonSet", &DAEMON_SET),
    ("Job", &JOB),
    ("CronJob", &CRON_JOB),
    ("Service", &SERVICE),
    ("Ingress", &INGRESS),
    ("PersistentVolumeClaim", &CLAIM),
];

#[rustfmt::skip]
static METADATA: Part = flat(&[
    "name", "namespace", "labels", "annotations", "generateName", "finalizers", "ownerReferences", "creationTimestamp",
    "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink",
    "uid", "clusterName",
]);

static SELECTOR: Part = flat(&["matchLabels", "matchExpressions"]);

#[rustfmt::skip]
static DEPLOYMENT: Part = Part {
    keys: &[
        "replicas", "selector", "template", "strategy", "minReadySeconds", "paused", "progressDeadlineSeconds",
        "revisionHistoryLimit", "rollbackTo",
    ],
    inside: &[("selector", &SELECTOR), ("template", &TEMPLATE)],
};

#[rustfmt::skip]
static STATEFUL_SET: Part = Part {
    keys: &[
        "replicas", "selector", "serviceName", "template", "updateStrategy", "volumeClaimTemplates", "minReadySeconds",
        "ordinals", "persistentVolumeClaimRetentionPolicy", "podManagementPolicy", "revisionHistoryLimit",
    ],
    inside: &[("selector", &SELECTOR), ("template", &TEMPLATE)],
};

#[rustfmt::skip]
static DAEMON_SET: Part = Part {
    keys: &["selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit", "templateGeneration"],
    inside: &[("selector", &SELECTOR), ("template", &TEMPLATE)],
};

#[rustfmt::skip]
static JOB: Part = Part {
    keys: &[
        "template", "backoffLimit", "completions", "parallelism", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "completionMode", "managedBy", "manualSelector", "maxFailedIndexes", "podFailurePolicy",
        "podReplacementPolicy", "selector", "successPolicy", "suspend",
    ],
    inside: &[("template", &TEMPLATE)],
};

#[rustfmt::skip]
static CRON_JOB: Part = Part {
    keys: &[
        "schedule", "jobTemplate", "concurrencyPolicy", "failedJobsHistoryLimit", "successfulJobsHistoryLimit",
        "startingDeadlineSeconds", "suspend", "timeZone",
    ],
    inside: &[("jobTemplate", &JOB_TEMPLATE)],
};

static JOB_TEMPLATE: Part = Part { keys: &["metadata", "spec"], inside: &[("metadata", &METADATA), ("spec", &JOB)] };

static TEMPLATE: Part = Part { keys: &["metadata", "spec"], inside: &[("metadata", &METADATA), ("spec", &POD)] };

#[rustfmt::skip]
static POD: Part = Part {
    keys: &[
        "containers", "initContainers", "volumes", "restartPolicy", "serviceAccountName", "serviceAccount",
        "imagePullSecrets", "nodeSelector", "affinity", "tolerations", "securityContext", "activeDeadlineSeconds",
        "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "ephemeralContainers",
        "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname", "hostnameOverride", "nodeName",
        "os", "overhead", "preemptionPolicy", "priority", "priorityClassName", "readinessGates", "resourceClaims",
        "resources", "runtimeClassName", "schedulerName", "schedulingGates", "setHostnameAsFQDN",
        "shareProcessNamespace", "subdomain", "terminationGracePeriodSeconds", "topologySpreadConstraints",
        "workloadRef",
    ],
    inside: &[
        ("containers", &CONTAINER), ("initContainers", &CONTAINER), ("ephemeralContainers", &CONTAINER),
        ("volumes", &VOLUME), ("securityContext", &POD_SECURITY),
    ],
};

#[rustfmt::skip]
static CONTAINER: Part = Part {
    keys: &[
        "name", "image", "imagePullPolicy", "command", "args", "env", "envFrom", "ports", "resources", "volumeMounts",
        "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "securityContext", "workingDir", "resizePolicy",
        "restartPolicy", "restartPolicyRules", "stdin", "stdinOnce", "terminationMessagePath",
        "terminationMessagePolicy", "tty", "volumeDevices", "targetContainerName",
    ],
    inside: &[
        ("ports", &CONTAINER_PORT), ("env", &ENV), ("envFrom", &ENV_FROM), ("resources", &RESOURCES),
        ("volumeMounts", &MOUNT), ("livenessProbe", &PROBE), ("readinessProbe", &PROBE), ("startupProbe", &PROBE),
        ("securityContext", &SECURITY),
    ],
};

static CONTAINER_PORT: Part = flat(&["containerPort", "name", "protocol", "hostPort", "hostIP"]);

static ENV: Part = Part { keys: &["name", "value", "valueFrom"], inside: &[("valueFrom", &VALUE_FROM)] };

static VALUE_FROM: Part = Part {
    keys: &["configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef"],
    inside: &[("configMapKeyRef", &KEY_REF), ("secretKeyRef", &KEY_REF)],
};

static KEY_REF: Part = flat(&["name", "key", "optional"]);

static ENV_FROM: Part = flat(&["configMapRef", "secretRef", "prefix"]);

static RESOURCES: Part = flat(&["limits", "requests", "claims"]);

#[rustfmt::skip]
static MOUNT: Part = flat(&[
    "name", "mountPath", "subPath", "readOnly", "mountPropagation", "recursiveReadOnly", "subPathExpr",
]);

#[rustfmt::skip]
static PROBE: Part = Part {
    keys: &[
        "httpGet", "exec", "tcpSocket", "grpc", "initialDelaySeconds", "periodSeconds", "timeoutSeconds",
        "failureThreshold", "successThreshold", "terminationGracePeriodSeconds",
    ],
    inside: &[("httpGet", &HTTP_GET)],
};

static HTTP_GET: Part = flat(&["path", "port", "host", "scheme", "httpHeaders"]);

#[rustfmt::skip]
static SECURITY: Part = flat(&[
    "runAsUser", "runAsGroup", "runAsNonRoot", "privileged", "readOnlyRootFilesystem", "allowPrivilegeEscalation",
    "capabilities", "appArmorProfile", "procMount", "seLinuxOptions", "seccompProfile", "windowsOptions",
]);

#[rustfmt::skip]
static POD_SECURITY: Part = flat(&[
    "runAsUser", "runAsGroup", "runAsNonRoot", "fsGroup", "fsGroupChangePolicy", "supplementalGroups",
    "appArmorProfile", "seLinuxChangePolicy", "seLinuxOptions", "seccompProfile", "supplementalGroupsPolicy", "sysctls",
    "windowsOptions",
]);

#[rustfmt::skip]
static VOLUME: Part = Part {
    keys: &[
        "name", "configMap", "secret", "emptyDir", "hostPath", "persistentVolumeClaim", "projected", "downwardAPI",
        "csi", "ephemeral", "nfs", "image", "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc",
        "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "photonPersistentDisk",
        "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
    ],
    inside: &[
        ("configMap", &CONFIG_MAP_VOLUME), ("secret", &SECRET_VOLUME), ("persistentVolumeClaim", &CLAIM_VOLUME),
    ],
};

static CONFIG_MAP_VOLUME: Part = flat(&["name", "items", "defaultMode", "optional"]);
static SECRET_VOLUME: Part = flat(&["secretName", "items", "defaultMode", "optional"]);
static CLAIM_VOLUME: Part = flat(&["claimName", "readOnly"]);

#[rustfmt::skip]
static SERVICE: Part = Part {
    keys: &[
        "type", "ports", "selector", "clusterIP", "clusterIPs", "externalIPs", "externalName", "externalTrafficPolicy",
        "internalTrafficPolicy", "loadBalancerIP", "loadBalancerClass", "loadBalancerSourceRanges", "sessionAffinity",
        "sessionAffinityConfig", "allocateLoadBalancerNodePorts", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy",
        "ipFamily", "publishNotReadyAddresses", "topologyKeys", "trafficDistribution",
    ],
    inside: &[("ports", &SERVICE_PORT)],
};

static SERVICE_PORT: Part = flat(&["name", "port", "targetPort", "protocol", "nodePort", "appProtocol"]);

static INGRESS: Part = Part {
    keys: &["rules", "tls", "ingressClassName", "defaultBackend", "backend"],
    inside: &[("rules", &INGRESS_RULE), ("tls", &INGRESS_TLS)],
};

static INGRESS_RULE: Part = Part { keys: &["host", "http"], inside: &[("http", &INGRESS_HTTP)] };
static INGRESS_HTTP: Part = Part { keys: &["paths"], inside: &[("paths", &INGRESS_PATH)] };
static INGRESS_PATH: Part = flat(&["path", "pathType", "backend"]);
static INGRESS_TLS: Part = flat(&["hosts", "secretName"]);

#[rustfmt::skip]
static CLAIM: Part = Part {
    keys: &[
        "accessModes", "resources", "storageClassName", "selector", "dataSource", "dataSourceRef",
        "volumeAttributesClassName", "volumeMode", "volumeName",
    ],
    inside: &[("resources", &RESOURCES), ("selector", &SELECTOR)],
};

/// The first key of an object that is most likely misspelt, below its top.
pub(super) fn slip(object: &Value, kind: &str, path: &mut Vec<Step>) -> Option<Slip> {
    let spec = SPECS.iter().find(|(name, _)| *name == kind).map(|(_, part)| ("spec", *part));
    [Some(("metadata", &METADATA)), spec].into_iter().flatten().find_map(|(key, part)| {
        let value = object.get(key)?;
        within(value, Step::Key(key), part, path)
    })
}

/// What is wrong in a value behind a step: a mapping, or a list of them.
fn within(value: &Value, step: Step, part: &Part, path: &mut Vec<Step>) -> Option<Slip> {
    path.push(step);
    let found = match value.as_list() {
        Some(items) => {
            let mut items = items.iter().take(MOST_ITEMS).enumerate();
            items.find_map(|(index, item)| in_mapping_at(item, Step::Item(index), part, path))
        }
        None => in_mapping(value, part, path),
    };
    path.pop();
    found
}

fn in_mapping_at(value: &Value, step: Step, part: &Part, path: &mut Vec<Step>) -> Option<Slip> {
    path.push(step);
    let found = in_mapping(value, part, path);
    path.pop();
    found
}

fn in_mapping(value: &Value, part: &Part, path: &mut Vec<Step>) -> Option<Slip> {
    key_of(value, part.keys, &[], path).or_else(|| {
        part.inside.iter().find_map(|(key, inner)| {
            let inside = value.get(key)?;
            within(inside, Step::Key(key), inner, path)
        })
    })
}
