//! Rows of the schema table: the `manifests` and `deploy` sections.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{FLAT, TEXT_MAP, TEXTS, kinds};
use crate::editions::{
    V1ALPHA2, V1ALPHA3, V1BETA4, V1BETA7, V1BETA11, V1BETA13, V1BETA15, V1BETA16, V2ALPHA3, V2BETA4, V2BETA5, V2BETA6,
    V2BETA7, V2BETA8, V2BETA13, V2BETA16, V2BETA21, V2BETA23, V2BETA27, V3ALPHA1, V4BETA1, V4BETA2, V4BETA8, V4BETA12,
    V4BETA13,
};
use purlin_model::schema::Shape::{Any, Bool, Integer, List, One, Scalar};
use purlin_model::schema::{Entity, Field, Literal, entity, field};

/// Keys shared by every entity that embeds them.
pub(super) const SOURCES: &[Field] = &[
    field("rawYaml", TEXTS, "Manifest files, as they are.").path(),
    field("remoteManifests", List(kinds::REMOTE_MANIFEST), "Manifests fetched from a cluster.").since(V4BETA1),
    field("kustomize", One(kinds::KUSTOMIZE), "Kustomize directories.").kept(),
    field("helm", One(kinds::HELM), "Helm charts.").kept(),
    field("kpt", TEXTS, "Kpt packages.").path(),
    field("hooks", One(kinds::RENDER_HOOKS), "Commands around rendering."),
];

/// Keys shared by every entity that embeds them.
pub(super) const DEPLOYERS: &[Field] = &[
    field("docker", One(kinds::DOCKER_DEPLOY), "Deploy to the local docker daemon.").kept().since(V2BETA23),
    field("helm", One(kinds::HELM_DEPLOY), "Deploy with helm.").kept().until(V3ALPHA1),
    field("helm", One(kinds::LEGACY_HELM_DEPLOY), "Deploy with helm.").kept().since(V3ALPHA1),
    field("kpt", One(kinds::KPT_DEPLOY), "Deploy with kpt.").kept().since(V2BETA7),
    field("kubectl", One(kinds::KUBECTL_DEPLOY), "Deploy with kubectl.").kept(),
    field("cloudrun", One(kinds::CLOUD_RUN_DEPLOY), "Deploy to Cloud Run.").kept().since(V3ALPHA1),
];

/// `RenderConfig`.
pub(crate) static RENDER_CONFIG: Entity = entity(
    kinds::RENDER_CONFIG,
    "RenderConfig",
    "Where manifests come from and how they are finished.",
    &[
        SOURCES,
        &[
            field("transform", List(kinds::TRANSFORMER), "Functions that change the manifests.").kept(),
            field("validate", List(kinds::VALIDATOR), "Functions that check the manifests.").kept(),
            field("output", Scalar, "File or directory for the rendered manifests."),
        ],
    ],
);

/// `RemoteManifest`.
pub(crate) static REMOTE_MANIFEST: Entity = entity(
    kinds::REMOTE_MANIFEST,
    "RemoteManifest",
    "A manifest that is fetched from a cluster.",
    &[&[
        field("manifest", Scalar, "Resource to fetch, as `namespace:kind/name`."),
        field("kubeContext", Scalar, "Context of the cluster to fetch from."),
    ]],
);

/// `Kustomize`.
pub static KUSTOMIZE: Entity = entity(
    kinds::KUSTOMIZE,
    "Kustomize",
    "Kustomizations to render.",
    &[&[
        field("paths", TEXTS, "Directories with a kustomization.").path().template(),
        field("buildArgs", TEXTS, "Further arguments of `kustomize build`."),
    ]],
);

/// `Helm`.
pub static HELM: Entity = entity(
    kinds::HELM,
    "Helm",
    "Helm charts to render.",
    &[&[
        field("flags", One(kinds::HELM_DEPLOY_FLAGS), "Further flags of helm commands."),
        field("releases", List(kinds::HELM_RELEASE), "Releases to render.").required(),
    ]],
);

/// `Transformer`.
pub(crate) static TRANSFORMER: Entity = entity(
    kinds::TRANSFORMER,
    "Transformer",
    "A function that changes manifests.",
    &[&[
        field("name", Scalar, "Name of the function.").required().written(),
        field("configMap", TEXTS, "Arguments of the function, as `key:value`."),
    ]],
);

/// `Validator`.
pub(crate) static VALIDATOR: Entity = entity(
    kinds::VALIDATOR,
    "Validator",
    "A function that checks manifests.",
    &[&[
        field("name", Scalar, "Name of the function.").required().written(),
        field("configMap", TEXTS, "Arguments of the function, as `key:value`."),
    ]],
);

/// `DeployConfig`.
pub(crate) static DEPLOY_CONFIG: Entity = entity(
    kinds::DEPLOY_CONFIG,
    "DeployConfig",
    "How manifests reach a cluster.",
    &[
        DEPLOYERS,
        &[
            field("statusCheck", Bool, "Whether to wait until the deployment is healthy.").kept().since(V2BETA16),
            field("statusCheckDeadlineSeconds", Integer, "How long to wait for health.").since(V1BETA13),
            field("tolerateFailuresUntilDeadline", Bool, "Keep waiting after a failure until the deadline.")
                .since(V4BETA1),
            field("kubeContext", Scalar, "Context of the cluster to deploy to.").since(V1BETA16),
            field("logs", One(kinds::LOGS_CONFIG), "How container logs are printed.").since(V2BETA6),
            field("kustomize", One(kinds::KUSTOMIZE_DEPLOY), "Deploy with kustomize.")
                .kept()
                .since(V1ALPHA2)
                .until(V3ALPHA1),
            field("name", Scalar, "Name of the deployment.").until(V1ALPHA2),
        ],
    ],
);

/// `KptDeploy`.
pub(crate) static KPT_DEPLOY: Entity = entity(
    kinds::KPT_DEPLOY,
    "KptDeploy",
    "Deploying with kpt.",
    &[&[
        field("dir", Scalar, "Directory that receives the hydrated manifests."),
        field("applyFlags", TEXTS, "Further flags of `kpt live apply`.").since(V3ALPHA1),
        field("flags", TEXTS, "Further flags of all kpt commands.").since(V3ALPHA1),
        field("name", Scalar, "Name of the inventory.").since(V3ALPHA1),
        field("inventoryID", Scalar, "Identity of the inventory.").since(V3ALPHA1),
        field("namespace", Scalar, "Namespace of the inventory.").since(V3ALPHA1),
        field("force", Bool, "Initialise the inventory again if it exists.").since(V4BETA8),
        field("defaultNamespace", Scalar, "Namespace for manifests without one.").kept().since(V3ALPHA1),
        field("applyDir", Scalar, "Directory that is applied.").until(V2BETA8),
        field("fn", One(kinds::KPT_FN), "Functions to run.").until(V3ALPHA1),
        field("live", One(kinds::KPT_LIVE), "How manifests are applied.").until(V3ALPHA1),
    ]],
);

/// `CloudRunDeploy`.
pub(crate) static CLOUD_RUN_DEPLOY: Entity = entity(
    kinds::CLOUD_RUN_DEPLOY,
    "CloudRunDeploy",
    "Deploying to Cloud Run.",
    &[&[
        field("projectid", Scalar, "Project to deploy to."),
        field("region", Scalar, "Region to deploy to."),
        field("hooks", One(kinds::CLOUD_RUN_DEPLOY_HOOKS), "Commands around the deployment.").since(V4BETA2),
    ]],
);

/// `DockerDeploy`.
pub(crate) static DOCKER_DEPLOY: Entity = entity(
    kinds::DOCKER_DEPLOY,
    "DockerDeploy",
    "Deploying to the local docker daemon.",
    &[&[
        field("useCompose", Bool, "Deploy with docker compose."),
        field("images", TEXTS, "Images to run.").required().written(),
    ]],
);

/// `KubectlDeploy`.
pub(crate) static KUBECTL_DEPLOY: Entity = entity(
    kinds::KUBECTL_DEPLOY,
    "KubectlDeploy",
    "Deploying with kubectl.",
    &[&[
        field("flags", One(kinds::KUBECTL_FLAGS), "Further flags of kubectl.").since(V1ALPHA2),
        field("remoteManifests", TEXTS, "Manifests fetched from the cluster.").since(V1ALPHA2),
        field("defaultNamespace", Scalar, "Namespace for manifests without one.").kept().template().since(V2BETA8),
        field("hooks", One(kinds::DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA21),
        field("manifests", List(kinds::MANIFEST), "Manifest files.").until(V1ALPHA2),
        field("manifests", TEXTS, "Manifest files.").since(V1ALPHA2).until(V3ALPHA1),
    ]],
);

/// `KubectlFlags`.
pub(crate) static KUBECTL_FLAGS: Entity = entity(
    kinds::KUBECTL_FLAGS,
    "KubectlFlags",
    "Further flags of kubectl.",
    &[&[
        field("global", TEXTS, "Flags of every command."),
        field("apply", TEXTS, "Flags of `apply`."),
        field("delete", TEXTS, "Flags of `delete`."),
        field("disableValidation", Bool, "Pass `--validate=false`.").since(V2ALPHA3),
    ]],
);

/// `LegacyHelmDeploy`.
pub(crate) static LEGACY_HELM_DEPLOY: Entity = entity(
    kinds::LEGACY_HELM_DEPLOY,
    "LegacyHelmDeploy",
    "Deploying with helm.",
    &[&[
        field("concurrency", Integer, "How many releases are installed at once.")
            .kept()
            .default(Literal::Int(1))
            .since(V4BETA12),
        field("releases", List(kinds::HELM_RELEASE), "Releases to install."),
        field("flags", One(kinds::HELM_DEPLOY_FLAGS), "Further flags of helm commands."),
        field("hooks", One(kinds::DEPLOY_HOOKS), "Commands around the deployment."),
    ]],
);

/// `HelmDeployFlags`.
pub(crate) static HELM_DEPLOY_FLAGS: Entity = entity(
    kinds::HELM_DEPLOY_FLAGS,
    "HelmDeployFlags",
    "Further flags of helm.",
    &[&[
        field("global", TEXTS, "Flags of every command."),
        field("install", TEXTS, "Flags of `install`."),
        field("upgrade", TEXTS, "Flags of `upgrade`."),
        field("depBuild", TEXTS, "Flags of `dependency build`.").since(V4BETA13),
        field("template", TEXTS, "Flags of `template`.").since(V4BETA13),
    ]],
);

/// `HelmRelease`.
pub(crate) static HELM_RELEASE: Entity = entity(
    kinds::HELM_RELEASE,
    "HelmRelease",
    "A release of a chart.",
    &[&[
        field("name", Scalar, "Name of the release.").required().template(),
        field("chartPath", Scalar, "Directory of the chart.").one_of("chartSource").path().template(),
        field("remoteChart", Scalar, "Chart in a repository or registry.").one_of("chartSource").since(V2BETA13),
        field("valuesFiles", TEXTS, "Files with values.").path().template().since(V1ALPHA3),
        field("namespace", Scalar, "Namespace of the release.").template(),
        field("version", Scalar, "Version of the chart.").template(),
        field("setValues", FLAT, "Values, nested or with dotted keys.").template().since(V1ALPHA2),
        field("setValueTemplates", FLAT, "Values that are templates.").template().since(V1ALPHA2),
        field("setFiles", TEXT_MAP, "Values read from files.").path().since(V1BETA15),
        field("createNamespace", Bool, "Create the namespace if it is missing.").kept().since(V2BETA8),
        field("wait", Bool, "Wait until resources are ready.").since(V1ALPHA2),
        field("recreatePods", Bool, "Restart pods on upgrade.").since(V1ALPHA2),
        field("skipBuildDependencies", Bool, "Do not build chart dependencies.").since(V1BETA4),
        field("skipTests", Bool, "Leave tests of the chart out when rendering.").since(V4BETA1),
        field("useHelmSecrets", Bool, "Run helm through its secrets plugin.").since(V1BETA7),
        field("repo", Scalar, "Repository of the chart.").since(V2BETA13),
        field("upgradeOnChange", Bool, "Upgrade the release when something changed.").kept().since(V2BETA5),
        field("overrides", Any, "Values laid over all others.").since(V1ALPHA2),
        field("packaged", One(kinds::HELM_PACKAGED), "Package the chart before installing it.").kept().since(V1ALPHA2),
        field("dependsOn", TEXTS, "Releases that must be installed first.").since(V4BETA12),
        field("artifactOverrides", FLAT, "Values that receive built images.").since(V2BETA4).until(V3ALPHA1),
        field("imageStrategy", One(kinds::HELM_IMAGE_STRATEGY), "How images are given to the chart.")
            .since(V1ALPHA2)
            .until(V3ALPHA1),
        field("remote", Bool, "The chart is not a local directory.").since(V1BETA11).until(V2BETA13),
        field("values", TEXT_MAP, "Values that receive built images.").until(V2BETA4),
        field("valuesFilePath", Scalar, "File with values.").until(V1ALPHA3),
    ]],
);

/// `HelmPackaged`.
pub(crate) static HELM_PACKAGED: Entity = entity(
    kinds::HELM_PACKAGED,
    "HelmPackaged",
    "How a chart is packaged before it is installed.",
    &[&[
        field("version", Scalar, "Version of the packaged chart."),
        field("appVersion", Scalar, "Application version of the packaged chart."),
    ]],
);

/// `LogsConfig`.
pub(crate) static LOGS_CONFIG: Entity = entity(
    kinds::LOGS_CONFIG,
    "LogsConfig",
    "How logs of containers are shown.",
    &[&[
        field("prefix", Scalar, "The prefix of each log line.").default(Literal::Text("container")),
        field("jsonParse", One(kinds::JSON_PARSE_CONFIG), "Which fields of JSON log lines are shown.").since(V2BETA27),
    ]],
);

/// `JSONParseConfig`.
pub(crate) static JSON_PARSE_CONFIG: Entity = entity(
    kinds::JSON_PARSE_CONFIG,
    "JSONParseConfig",
    "How logs that are JSON are shown.",
    &[&[field("fields", TEXTS, "Fields to show.")]],
);
