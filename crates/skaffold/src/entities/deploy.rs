//! Rows of the schema table: the `manifests` and `deploy` sections.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::Shape::{Any, Bool, Flat, Int, Many, Maybe, One, OptBool, OptInt, OptMany, OptText, Text, TextMap, Texts};
use super::hooks::{CLOUD_RUN_DEPLOY_HOOKS, DEPLOY_HOOKS, RENDER_HOOKS};
use super::legacy::{HELM_DEPLOY, HELM_IMAGE_STRATEGY, KPT_FN, KPT_LIVE, KUSTOMIZE_DEPLOY, MANIFEST};
use super::{Entity, Field, field};
use crate::editions::{
    V1ALPHA2, V1ALPHA3, V1BETA4, V1BETA7, V1BETA11, V1BETA13, V1BETA15, V1BETA16, V2ALPHA3, V2BETA4, V2BETA5, V2BETA6,
    V2BETA7, V2BETA8, V2BETA13, V2BETA16, V2BETA21, V2BETA23, V2BETA27, V3ALPHA1, V4BETA1, V4BETA2, V4BETA8, V4BETA12,
    V4BETA13,
};

/// Keys shared by every entity that embeds them.
pub(super) const SOURCES: &[Field] = &[
    field("rawYaml", Texts, "Manifest files, as they are.").path(),
    field("remoteManifests", Many(&REMOTE_MANIFEST), "Manifests fetched from a cluster.").since(V4BETA1),
    field("kustomize", Maybe(&KUSTOMIZE), "Kustomize directories."),
    field("helm", Maybe(&HELM), "Helm charts."),
    field("kpt", Texts, "Kpt packages.").path(),
    field("hooks", One(&RENDER_HOOKS), "Commands around rendering."),
];

/// Keys shared by every entity that embeds them.
pub(super) const DEPLOYERS: &[Field] = &[
    field("docker", Maybe(&DOCKER_DEPLOY), "Deploy to the local docker daemon.").since(V2BETA23),
    field("helm", Maybe(&HELM_DEPLOY), "Deploy with helm.").until(V3ALPHA1),
    field("helm", Maybe(&LEGACY_HELM_DEPLOY), "Deploy with helm.").since(V3ALPHA1),
    field("kpt", Maybe(&KPT_DEPLOY), "Deploy with kpt.").since(V2BETA7),
    field("kubectl", Maybe(&KUBECTL_DEPLOY), "Deploy with kubectl."),
    field("cloudrun", Maybe(&CLOUD_RUN_DEPLOY), "Deploy to Cloud Run.").since(V3ALPHA1),
];

/// Rows of `RenderConfig`.
pub(crate) static RENDER_CONFIG: Entity = Entity {
    name: "RenderConfig",
    groups: &[
        SOURCES,
        &[
            field("transform", OptMany(&TRANSFORMER), "Functions that change the manifests."),
            field("validate", OptMany(&VALIDATOR), "Functions that check the manifests."),
            field("output", Text, "File or directory for the rendered manifests."),
        ],
    ],
};

/// Rows of `RemoteManifest`.
pub(crate) static REMOTE_MANIFEST: Entity = Entity {
    name: "RemoteManifest",
    groups: &[&[
        field("manifest", Text, "Resource to fetch, as `namespace:kind/name`."),
        field("kubeContext", Text, "Context of the cluster to fetch from."),
    ]],
};

/// Rows of `Kustomize`.
pub static KUSTOMIZE: Entity = Entity {
    name: "Kustomize",
    groups: &[&[
        field("paths", Texts, "Directories with a kustomization.").path().template(),
        field("buildArgs", Texts, "Further arguments of `kustomize build`."),
    ]],
};

/// Rows of `Helm`.
pub static HELM: Entity = Entity {
    name: "Helm",
    groups: &[&[
        field("flags", One(&HELM_DEPLOY_FLAGS), "Further flags of helm commands."),
        field("releases", Many(&HELM_RELEASE), "Releases to render.").required(),
    ]],
};

/// Rows of `Transformer`.
pub(crate) static TRANSFORMER: Entity = Entity {
    name: "Transformer",
    groups: &[&[
        field("name", Text, "Name of the function.").required().always(),
        field("configMap", Texts, "Arguments of the function, as `key:value`."),
    ]],
};

/// Rows of `Validator`.
pub(crate) static VALIDATOR: Entity = Entity {
    name: "Validator",
    groups: &[&[
        field("name", Text, "Name of the function.").required().always(),
        field("configMap", Texts, "Arguments of the function, as `key:value`."),
    ]],
};

/// Rows of `DeployConfig`.
pub(crate) static DEPLOY_CONFIG: Entity = Entity {
    name: "DeployConfig",
    groups: &[
        DEPLOYERS,
        &[
            field("statusCheck", OptBool, "Whether to wait until the deployment is healthy.").since(V2BETA16),
            field("statusCheckDeadlineSeconds", Int, "How long to wait for health.").since(V1BETA13),
            field("tolerateFailuresUntilDeadline", Bool, "Keep waiting after a failure until the deadline.")
                .since(V4BETA1),
            field("kubeContext", Text, "Context of the cluster to deploy to.").since(V1BETA16),
            field("logs", One(&LOGS_CONFIG), "How container logs are printed.").since(V2BETA6),
            field("kustomize", Maybe(&KUSTOMIZE_DEPLOY), "Deploy with kustomize.").since(V1ALPHA2).until(V3ALPHA1),
            field("name", Text, "Name of the deployment.").until(V1ALPHA2),
        ],
    ],
};

/// Rows of `KptDeploy`.
pub(crate) static KPT_DEPLOY: Entity = Entity {
    name: "KptDeploy",
    groups: &[&[
        field("dir", Text, "Directory that receives the hydrated manifests."),
        field("applyFlags", Texts, "Further flags of `kpt live apply`.").since(V3ALPHA1),
        field("flags", Texts, "Further flags of all kpt commands.").since(V3ALPHA1),
        field("name", Text, "Name of the inventory.").since(V3ALPHA1),
        field("inventoryID", Text, "Identity of the inventory.").since(V3ALPHA1),
        field("namespace", Text, "Namespace of the inventory.").since(V3ALPHA1),
        field("force", Bool, "Initialise the inventory again if it exists.").since(V4BETA8),
        field("defaultNamespace", OptText, "Namespace for manifests without one.").since(V3ALPHA1),
        field("applyDir", Text, "Directory that is applied.").until(V2BETA8),
        field("fn", One(&KPT_FN), "Functions to run.").until(V3ALPHA1),
        field("live", One(&KPT_LIVE), "How manifests are applied.").until(V3ALPHA1),
    ]],
};

/// Rows of `CloudRunDeploy`.
pub(crate) static CLOUD_RUN_DEPLOY: Entity = Entity {
    name: "CloudRunDeploy",
    groups: &[&[
        field("projectid", Text, "Project to deploy to."),
        field("region", Text, "Region to deploy to."),
        field("hooks", One(&CLOUD_RUN_DEPLOY_HOOKS), "Commands around the deployment.").since(V4BETA2),
    ]],
};

/// Rows of `DockerDeploy`.
pub(crate) static DOCKER_DEPLOY: Entity = Entity {
    name: "DockerDeploy",
    groups: &[&[
        field("useCompose", Bool, "Deploy with docker compose."),
        field("images", Texts, "Images to run.").required().always(),
    ]],
};

/// Rows of `KubectlDeploy`.
pub(crate) static KUBECTL_DEPLOY: Entity = Entity {
    name: "KubectlDeploy",
    groups: &[&[
        field("flags", One(&KUBECTL_FLAGS), "Further flags of kubectl.").since(V1ALPHA2),
        field("remoteManifests", Texts, "Manifests fetched from the cluster.").since(V1ALPHA2),
        field("defaultNamespace", OptText, "Namespace for manifests without one.").template().since(V2BETA8),
        field("hooks", One(&DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA21),
        field("manifests", Many(&MANIFEST), "Manifest files.").until(V1ALPHA2),
        field("manifests", Texts, "Manifest files.").since(V1ALPHA2).until(V3ALPHA1),
    ]],
};

/// Rows of `KubectlFlags`.
pub(crate) static KUBECTL_FLAGS: Entity = Entity {
    name: "KubectlFlags",
    groups: &[&[
        field("global", Texts, "Flags of every command."),
        field("apply", Texts, "Flags of `apply`."),
        field("delete", Texts, "Flags of `delete`."),
        field("disableValidation", Bool, "Pass `--validate=false`.").since(V2ALPHA3),
    ]],
};

/// Rows of `LegacyHelmDeploy`.
pub(crate) static LEGACY_HELM_DEPLOY: Entity = Entity {
    name: "LegacyHelmDeploy",
    groups: &[&[
        field("concurrency", OptInt, "How many releases are installed at once.").default("1").since(V4BETA12),
        field("releases", Many(&HELM_RELEASE), "Releases to install."),
        field("flags", One(&HELM_DEPLOY_FLAGS), "Further flags of helm commands."),
        field("hooks", One(&DEPLOY_HOOKS), "Commands around the deployment."),
    ]],
};

/// Rows of `HelmDeployFlags`.
pub(crate) static HELM_DEPLOY_FLAGS: Entity = Entity {
    name: "HelmDeployFlags",
    groups: &[&[
        field("global", Texts, "Flags of every command."),
        field("install", Texts, "Flags of `install`."),
        field("upgrade", Texts, "Flags of `upgrade`."),
        field("depBuild", Texts, "Flags of `dependency build`.").since(V4BETA13),
        field("template", Texts, "Flags of `template`.").since(V4BETA13),
    ]],
};

/// Rows of `HelmRelease`.
pub(crate) static HELM_RELEASE: Entity = Entity {
    name: "HelmRelease",
    groups: &[&[
        field("name", Text, "Name of the release.").required().template(),
        field("chartPath", Text, "Directory of the chart.").one_of("chartSource").path().template(),
        field("remoteChart", Text, "Chart in a repository or registry.").one_of("chartSource").since(V2BETA13),
        field("valuesFiles", Texts, "Files with values.").path().template().since(V1ALPHA3),
        field("namespace", Text, "Namespace of the release.").template(),
        field("version", Text, "Version of the chart.").template(),
        field("setValues", Flat, "Values, nested or with dotted keys.").template().since(V1ALPHA2),
        field("setValueTemplates", Flat, "Values that are templates.").template().since(V1ALPHA2),
        field("setFiles", TextMap, "Values read from files.").path().since(V1BETA15),
        field("createNamespace", OptBool, "Create the namespace if it is missing.").since(V2BETA8),
        field("wait", Bool, "Wait until resources are ready.").since(V1ALPHA2),
        field("recreatePods", Bool, "Restart pods on upgrade.").since(V1ALPHA2),
        field("skipBuildDependencies", Bool, "Do not build chart dependencies.").since(V1BETA4),
        field("skipTests", Bool, "Leave tests of the chart out when rendering.").since(V4BETA1),
        field("useHelmSecrets", Bool, "Run helm through its secrets plugin.").since(V1BETA7),
        field("repo", Text, "Repository of the chart.").since(V2BETA13),
        field("upgradeOnChange", OptBool, "Upgrade the release when something changed.").since(V2BETA5),
        field("overrides", Any, "Values laid over all others.").since(V1ALPHA2),
        field("packaged", Maybe(&HELM_PACKAGED), "Package the chart before installing it.").since(V1ALPHA2),
        field("dependsOn", Texts, "Releases that must be installed first.").since(V4BETA12),
        field("artifactOverrides", Flat, "Values that receive built images.").since(V2BETA4).until(V3ALPHA1),
        field("imageStrategy", One(&HELM_IMAGE_STRATEGY), "How images are given to the chart.")
            .since(V1ALPHA2)
            .until(V3ALPHA1),
        field("remote", Bool, "The chart is not a local directory.").since(V1BETA11).until(V2BETA13),
        field("values", TextMap, "Values that receive built images.").until(V2BETA4),
        field("valuesFilePath", Text, "File with values.").until(V1ALPHA3),
    ]],
};

/// Rows of `HelmPackaged`.
pub(crate) static HELM_PACKAGED: Entity = Entity {
    name: "HelmPackaged",
    groups: &[&[
        field("version", Text, "Version of the packaged chart."),
        field("appVersion", Text, "Application version of the packaged chart."),
    ]],
};

/// Rows of `LogsConfig`.
pub(crate) static LOGS_CONFIG: Entity = Entity {
    name: "LogsConfig",
    groups: &[&[
        field("prefix", Text, "What stands in front of each log line.").default("container"),
        field("jsonParse", One(&JSON_PARSE_CONFIG), "Which fields of JSON log lines are shown.").since(V2BETA27),
    ]],
};

/// Rows of `JSONParseConfig`.
pub(crate) static JSON_PARSE_CONFIG: Entity =
    Entity { name: "JSONParseConfig", groups: &[&[field("fields", Texts, "Fields to show.")]] };
