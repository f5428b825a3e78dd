//! Rows of the providers: plugins with their settings.

use super::words::{BOOL, INTEGER, LABEL, NAME, NUMBER, OPEN_MAP, SUB_PATH, TEXT, TEXT_MAP, TEXTS};
use super::{
    BUILDKIT, BUILDKIT_CACHE, CONTAINER_BUILDER, CONTAINER_PROVIDER, EXEC_PROVIDER, JIB_PROVIDER, JIB_SETTINGS, KANIKO,
    KANIKO_UTIL, KUBERNETES_PROVIDER, LOCAL_KUBERNETES_PROVIDER, NAMESPACE_SETTINGS, OTEL_EXPORTER, OTEL_PROVIDER,
    PRE_INIT, PROVIDER, PROVIDER_SYNC, PULUMI_PROVIDER, REGISTRY, RESOURCE_AMOUNT, RESOURCE_LIMITS, RESOURCES,
    SECRET_REF, SYNC_DEFAULTS, TERRAFORM_PROVIDER, TLS_CERTIFICATE, TOLERATION,
};
use purlin_model::schema::{Entity, Field, Kind, Literal, Shape, entity, field, scalar};

const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);

/// BuildKit's default layer cache; omitted keys are defaults of its row.
const CACHE: Literal = Literal::List(&[Literal::Map(&[("type", Literal::Text("registry"))])]);

const BUILDER_LIMITS: Literal = Literal::Map(&[("cpu", Literal::Int(4000)), ("memory", Literal::Int(8192))]);
const BUILDER_REQUESTS: Literal = Literal::Map(&[("cpu", Literal::Int(100)), ("memory", Literal::Int(512))]);
const UTIL_AMOUNT: Literal = Literal::Map(&[("cpu", Literal::Int(256)), ("memory", Literal::Int(512))]);

/// Keys of all providers.
const PROVIDER_KEYS: &[Field] = &[
    field("name", LABEL, "The plugin.").required(),
    field("dependencies", Shape::ListOf(&LABEL), "Providers that are initialized first.").default(EMPTY_LIST),
    field("environments", Shape::ListOf(&NAME), "The environments it is used in; all if not given."),
    field("preInit", Shape::One(PRE_INIT), "What runs before the plugin starts."),
];

pub(super) const PROVIDER_ROW: Entity = entity(PROVIDER, "provider", "A plugin with its settings.", &[PROVIDER_KEYS])
    .rest(field("settings", OPEN_MAP, "Settings of the plugin."));

pub(super) const PRE_INIT_ROW: Entity =
    entity(PRE_INIT, "preInit", "What runs before a plugin starts.", &[&[field("runScript", TEXT, "A shell script.")]]);

pub(super) const EXEC_ROW: Entity = entity(
    EXEC_PROVIDER,
    "exec provider",
    "Commands on this machine.",
    &[
        PROVIDER_KEYS,
        &[field("initScript", TEXT, "A shell script that runs first.").deprecated("use `preInit.runScript`")],
    ],
)
.rest(super::IGNORED);

pub(super) const CONTAINER_ROW: Entity = entity(
    CONTAINER_PROVIDER,
    "container provider",
    "Images and containers.",
    &[
        PROVIDER_KEYS,
        &[
            field("dockerBuildExtraFlags", TEXTS, "Flags of every build command."),
            field("gardenContainerBuilder", Shape::One(CONTAINER_BUILDER), "Garden's remote builder."),
        ],
    ],
);

pub(super) const CONTAINER_BUILDER_ROW: Entity = entity(
    CONTAINER_BUILDER,
    "container builder",
    "Garden's remote builder.",
    &[&[field("enabled", BOOL, "Whether it is used.").default(Literal::Bool(false))]],
);

pub(super) const JIB_ROW: Entity = entity(JIB_PROVIDER, "jib provider", "Images that Jib builds.", &[PROVIDER_KEYS]);

pub(super) const TERRAFORM_ROW: Entity = entity(
    TERRAFORM_PROVIDER,
    "terraform provider",
    "Terraform stacks.",
    &[
        PROVIDER_KEYS,
        &[
            field("allowDestroy", BOOL, "Whether stacks may be destroyed.").default(Literal::Bool(false)),
            field("autoApply", BOOL, "Whether changes are applied without asking.").default(Literal::Bool(false)),
            field("initRoot", SUB_PATH, "The folder of a stack that is applied first."),
            field("variables", OPEN_MAP, "Variables of that stack."),
            field("version", Shape::Text, "The version of Terraform.").default(Literal::Text("1.4.6")),
            field("workspace", TEXT, "The workspace of that stack."),
            field("streamLogsToCloud", BOOL, "Whether logs are sent to Garden Cloud.").default(Literal::Bool(false)),
            field("backendConfig", OPEN_MAP, "How the backend is configured."),
        ],
    ],
);

pub(super) const PULUMI_ROW: Entity = entity(
    PULUMI_PROVIDER,
    "pulumi provider",
    "Pulumi stacks.",
    &[
        PROVIDER_KEYS,
        &[
            field("version", Shape::Text, "The version of Pulumi.").default(Literal::Text("3.122.0")),
            field("previewDir", SUB_PATH, "The folder of plans."),
            field("orgName", TEXT, "The organisation."),
            field("backendURL", TEXT, "The backend.").default(Literal::Text("https://api.pulumi.com")),
            field("pluginTaskConcurrencyLimit", NUMBER, "How many stacks are worked on at the same time.")
                .default(Literal::Int(5)),
            field("useNewPulumiVarfileSchema", BOOL, "Whether varfiles have the newer form.")
                .default(Literal::Bool(false)),
        ],
    ],
);

pub(super) const OTEL_ROW: Entity = entity(
    OTEL_PROVIDER,
    "otel-collector provider",
    "A collector of traces.",
    &[PROVIDER_KEYS, &[field("exporters", Shape::List(OTEL_EXPORTER), "Where traces are sent.").required()]],
);

pub(super) const OTEL_EXPORTER_ROW: Entity = entity(
    OTEL_EXPORTER,
    "exporter",
    "A place that traces are sent to.",
    &[&[field("name", TEXT, "What kind of place it is.").required(), field("enabled", BOOL, "Whether it is used.")]],
)
.rest(field("settings", OPEN_MAP, "Settings of the exporter."));

/// Keys of both providers that deploy to Kubernetes.
const CLUSTER_KEYS: &[Field] = &[
    field("utilImageRegistryDomain", TEXT, "The registry of Garden's own images.").default(Literal::Text("docker.io")),
    field("buildMode", Shape::Choice(&["local-docker", "kaniko", "cluster-buildkit"]), "How images are built.")
        .default(Literal::Text("local-docker")),
    field("clusterBuildkit", Shape::One(BUILDKIT), "How BuildKit builds in the cluster.").default(EMPTY_MAP),
    field("jib", Shape::One(JIB_SETTINGS), "How Jib's images reach the cluster."),
    field("kaniko", Shape::One(KANIKO), "How Kaniko builds in the cluster."),
    field("defaultHostname", TEXT, "The host name of ingresses."),
    field("sync", Shape::One(PROVIDER_SYNC), "What holds for all files that are kept in step.").aliases(&["devMode"]),
    field("forceSsl", BOOL, "Whether ingresses need encryption.").default(Literal::Bool(false)),
    field("imagePullSecrets", Shape::List(SECRET_REF), "Secrets for pulling images.").default(EMPTY_LIST),
    field("copySecrets", Shape::List(SECRET_REF), "Secrets that are copied to the namespace.").default(EMPTY_LIST),
    field("resources", Shape::One(RESOURCES), "What Garden's own services use.").default(EMPTY_MAP),
    field("tlsCertificates", Shape::List(TLS_CERTIFICATE), "Certificates of ingresses.").default(EMPTY_LIST),
    field("systemNodeSelector", TEXT_MAP, "Nodes for Garden's own services.").default(EMPTY_MAP),
    field("namespace", Shape::One(NAMESPACE_SETTINGS), "The namespace of everything."),
    field("gardenSystemNamespace", TEXT, "The namespace of Garden's own services.")
        .default(Literal::Text("garden-system")),
    field("deploymentRegistry", Shape::One(REGISTRY), "The registry of built images."),
    field("ingressClass", TEXT, "The class of ingresses."),
    field("ingressHttpPort", NUMBER, "The port for HTTP.").default(Literal::Int(80)),
    field("ingressHttpsPort", NUMBER, "The port for HTTPS.").default(Literal::Int(443)),
];

const CONTROLLER: Shape = Shape::Union(&[Shape::Bool, Shape::Text]);

pub(super) const KUBERNETES_ROW: Entity = entity(
    KUBERNETES_PROVIDER,
    "kubernetes provider",
    "A Kubernetes cluster.",
    &[
        PROVIDER_KEYS,
        CLUSTER_KEYS,
        &[
            field("context", TEXT, "The context of the cluster.").required(),
            field("setupIngressController", CONTROLLER, "Which ingress controller is set up.")
                .default(Literal::Bool(false)),
            field("kubeconfig", Shape::Text, "The file with the cluster's access data."),
            field("kubectlPath", Shape::Text, "Where kubectl is."),
        ],
    ],
);

pub(super) const LOCAL_KUBERNETES_ROW: Entity = entity(
    LOCAL_KUBERNETES_PROVIDER,
    "local-kubernetes provider",
    "A Kubernetes cluster on this machine.",
    &[
        PROVIDER_KEYS,
        CLUSTER_KEYS,
        &[
            field("context", TEXT, "The context of the cluster; found if not set."),
            field("setupIngressController", CONTROLLER, "Which ingress controller is set up.")
                .default(Literal::Text("nginx")),
        ],
    ],
)
.rest(super::IGNORED);

pub(super) const BUILDKIT_ROW: Entity = entity(
    BUILDKIT,
    "clusterBuildkit",
    "How BuildKit builds in the cluster.",
    &[&[
        field("cache", Shape::List(BUILDKIT_CACHE), "Where layers are kept.").default(CACHE),
        field("rootless", BOOL, "Whether it runs without the rights of the host.").default(Literal::Bool(false)),
        field("nodeSelector", TEXT_MAP, "The nodes it runs on.").default(EMPTY_MAP),
        field("tolerations", Shape::List(TOLERATION), "Taints it tolerates.").default(EMPTY_LIST),
        field("annotations", TEXT_MAP, "Annotations of its pods."),
        field("serviceAccountAnnotations", TEXT_MAP, "Annotations of its service account."),
    ]],
);

pub(super) const BUILDKIT_CACHE_ROW: Entity = entity(
    BUILDKIT_CACHE,
    "cache",
    "Where layers are kept.",
    &[&[
        field("type", Shape::Choice(&["registry"]), "What kind of cache it is.").required(),
        field("registry", Shape::One(REGISTRY), "The registry."),
        field("mode", Shape::Choice(&["auto", "min", "max", "inline"]), "How much is kept.")
            .default(Literal::Text("auto")),
        field("tag", TEXT, "The tag.").default(Literal::Text("_buildcache")),
        field("export", BOOL, "Whether layers are written.").default(Literal::Bool(true)),
    ]],
);

pub(super) const REGISTRY_ROW: Entity = entity(
    REGISTRY,
    "registry",
    "A registry of images.",
    &[&[
        field("hostname", TEXT, "Its host name.").required(),
        field("port", INTEGER, "Its port."),
        field("namespace", TEXT, "The namespace in it."),
        field("insecure", BOOL, "Whether it is used without encryption.").default(Literal::Bool(false)),
    ]],
);

pub(super) const TOLERATION_ROW: Entity = entity(
    TOLERATION,
    "toleration",
    "A taint that is tolerated.",
    &[&[
        field("effect", TEXT, "Its effect."),
        field("key", TEXT, "Its key."),
        field("operator", TEXT, "How values are compared.").default(Literal::Text("Equal")),
        field("tolerationSeconds", Shape::Scalar, "For how long."),
        field("value", TEXT, "Its value."),
    ]],
);

pub(super) const JIB_SETTINGS_ROW: Entity = entity(
    JIB_SETTINGS,
    "jib settings",
    "How Jib's images reach the cluster.",
    &[&[field("pushViaCluster", BOOL, "Whether they go through the cluster.").default(Literal::Bool(false))]],
);

pub(super) const KANIKO_ROW: Entity = entity(
    KANIKO,
    "kaniko",
    "How Kaniko builds in the cluster.",
    &[&[
        field("extraFlags", TEXTS, "Flags of the build command."),
        field("image", TEXT, "The image of Kaniko."),
        field("namespace", Shape::Text, "The namespace it runs in."),
        field("nodeSelector", TEXT_MAP, "The nodes it runs on."),
        field("tolerations", Shape::List(TOLERATION), "Taints it tolerates.").default(EMPTY_LIST),
        field("annotations", TEXT_MAP, "Annotations of its pods."),
        field("serviceAccountAnnotations", TEXT_MAP, "Annotations of its service account."),
        field("util", Shape::One(KANIKO_UTIL), "Its helper."),
    ]],
);

pub(super) const KANIKO_UTIL_ROW: Entity = entity(
    KANIKO_UTIL,
    "kaniko util",
    "The helper of Kaniko.",
    &[&[
        field("tolerations", Shape::List(TOLERATION), "Taints it tolerates.").default(EMPTY_LIST),
        field("annotations", TEXT_MAP, "Annotations of its pods."),
        field("nodeSelector", TEXT_MAP, "The nodes it runs on."),
    ]],
);

pub(super) const PROVIDER_SYNC_ROW: Entity = entity(
    PROVIDER_SYNC,
    "sync settings",
    "What holds for all files that are kept in step.",
    &[&[field("defaults", Shape::One(SYNC_DEFAULTS), "What holds for all paths.")]],
);

pub(super) const SECRET_REF_ROW: Entity = entity(
    SECRET_REF,
    "secret reference",
    "A secret of the cluster.",
    &[&[
        field("name", TEXT, "Its name.").required(),
        field("namespace", TEXT, "Its namespace.").default(Literal::Text("default")),
    ]],
);

pub(super) const RESOURCES_ROW: Entity = entity(
    RESOURCES,
    "resources",
    "What Garden's own services use.",
    &[&[
        field("builder", Shape::One(RESOURCE_LIMITS), "What builds use.")
            .default(Literal::Map(&[("limits", BUILDER_LIMITS), ("requests", BUILDER_REQUESTS)])),
        field("util", Shape::One(RESOURCE_LIMITS), "What helpers use.")
            .default(Literal::Map(&[("limits", UTIL_AMOUNT), ("requests", UTIL_AMOUNT)])),
        field("sync", Shape::Any, "What synchronisation uses.").deprecated("Garden no longer reads it"),
    ]],
);

pub(super) const RESOURCE_LIMITS_ROW: Entity = entity(
    RESOURCE_LIMITS,
    "resource limits",
    "What a service uses.",
    &[&[
        field("limits", Shape::One(RESOURCE_AMOUNT), "At most."),
        field("requests", Shape::One(RESOURCE_AMOUNT), "At least."),
    ]],
);

pub(super) const RESOURCE_AMOUNT_ROW: Entity = entity(
    RESOURCE_AMOUNT,
    "resource amount",
    "An amount of resources.",
    &[&[
        field("cpu", NUMBER, "Processor time, in thousandths."),
        field("memory", NUMBER, "Memory, in megabytes."),
        field("ephemeralStorage", NUMBER, "Temporary storage, in megabytes."),
    ]],
);

pub(super) const TLS_ROW: Entity = entity(
    TLS_CERTIFICATE,
    "certificate",
    "A certificate of ingresses.",
    &[&[
        field("name", LABEL, "Its name.").required(),
        field("hostnames", Shape::ListOf(&TEXT), "The host names it is for."),
        field("secretRef", Shape::One(SECRET_REF), "The secret it is in.").required(),
    ]],
);

pub(super) const NAMESPACE_ROW: Entity = entity(
    NAMESPACE_SETTINGS,
    "namespace",
    "A namespace.",
    &[&[
        field("name", TEXT, "Its name."),
        field("annotations", TEXT_MAP, "Annotations."),
        field("labels", TEXT_MAP, "Labels."),
    ]],
)
.short(&[scalar("name")]);

/// The providers with their rows, and those that each depends on.
pub const PROVIDERS: &[(&str, Kind, &[&str])] = &[
    ("exec", EXEC_PROVIDER, &[]),
    ("container", CONTAINER_PROVIDER, &[]),
    ("templated", PROVIDER, &[]),
    ("jib", JIB_PROVIDER, &["container"]),
    ("kubernetes", KUBERNETES_PROVIDER, &["container"]),
    ("local-kubernetes", LOCAL_KUBERNETES_PROVIDER, &["container"]),
    ("openshift", PROVIDER, &["container"]),
    ("otel-collector", OTEL_PROVIDER, &[]),
    ("pulumi", PULUMI_PROVIDER, &[]),
    ("terraform", TERRAFORM_PROVIDER, &[]),
    // The providers of the original's own test projects.
    ("test-plugin", PROVIDER, &[]),
    ("test-plugin-b", PROVIDER, &[]),
    ("test-plugin-c", PROVIDER, &[]),
];

/// Providers and types that older versions of Garden had.
pub const REMOVED: &[&str] = &[
    "conftest",
    "conftest-container",
    "conftest-helm",
    "conftest-kubernetes",
    "configmap",
    "ephemeral-kubernetes",
    "hadolint",
    "maven-container",
    "octant",
    "openfaas",
    "persistentvolumeclaim",
];
