//! Rows of the schema table: the `build` section: environments and tag policies.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{TEXT_MAP, TEXTS, kinds};
use crate::editions::{
    V1ALPHA2, V1ALPHA4, V1ALPHA5, V1BETA1, V1BETA3, V1BETA5, V1BETA7, V1BETA8, V1BETA9, V1BETA13, V1BETA14, V1BETA16,
    V1BETA17, V2ALPHA2, V2ALPHA3, V2BETA3, V2BETA5, V2BETA6, V2BETA8, V2BETA11, V2BETA14, V2BETA18, V2BETA27, V2BETA29,
    V3ALPHA1, V4BETA7, V4BETA12,
};
use purlin_model::schema::Shape::{Bool, Integer, List, One, Scalar};
use purlin_model::schema::{Entity, Field, Literal, entity, field};

/// Keys shared by every entity that embeds them.
pub(super) const BUILD_TYPE: &[Field] = &[
    field("local", One(kinds::LOCAL_BUILD), "Build on this machine.").kept().one_of("build"),
    field("googleCloudBuild", One(kinds::GOOGLE_CLOUD_BUILD), "Build with Google Cloud Build.").kept().one_of("build"),
    field("cluster", One(kinds::CLUSTER_DETAILS), "Build in the cluster.").kept().one_of("build").since(V1BETA7),
];

/// Keys shared by every entity that embeds them.
pub(crate) static TAG_POLICIES: [Field; 6] = [
    field("gitCommit", One(kinds::GIT_TAGGER), "Tag with the git commit or tag.").kept().one_of("tag"),
    field("sha256", One(kinds::SHA_TAGGER), "Tag with the digest of the image.").kept().one_of("tag"),
    field("envTemplate", One(kinds::ENV_TEMPLATE_TAGGER), "Tag with a template over environment variables.")
        .kept()
        .one_of("tag"),
    field("dateTime", One(kinds::DATE_TIME_TAGGER), "Tag with the time of the build.").kept().one_of("tag"),
    field("customTemplate", One(kinds::CUSTOM_TEMPLATE_TAGGER), "Tag with a template over named components.")
        .kept()
        .one_of("tag")
        .since(V2BETA6),
    field("inputDigest", One(kinds::INPUT_DIGEST), "Tag with a digest of the sources.")
        .kept()
        .one_of("tag")
        .since(V2BETA14),
];

/// `BuildConfig`.
pub(crate) static BUILD_CONFIG: Entity = entity(
    kinds::BUILD_CONFIG,
    "BuildConfig",
    "How images are built.",
    &[
        &[
            field("hooks", One(kinds::BUILD_HOOKS), "Commands around the build of all artifacts.").since(V4BETA7),
            field("artifacts", List(kinds::ARTIFACT), "Images to build."),
            field("insecureRegistries", TEXTS, "Registries that are reached without TLS.").since(V1BETA8),
            field("tagPolicy", Scalar, "How tags of images are made.").until(V1ALPHA2),
            field("tagPolicy", One(kinds::TAG_POLICY), "How tags of images are made.").since(V1ALPHA2),
            field("platforms", TEXTS, "Platforms to build for.").since(V2BETA27),
        ],
        BUILD_TYPE,
        &[
            field("acr", One(kinds::AZURE_CONTAINER_BUILD), "Build with Azure Container Registry.")
                .kept()
                .since(V1ALPHA5)
                .until(V1BETA1),
            field("kaniko", One(kinds::KANIKO_BUILD), "Build with kaniko in the cluster.")
                .kept()
                .since(V1ALPHA2)
                .until(V1BETA7),
            field("executionEnvironment", One(kinds::EXECUTION_ENVIRONMENT), "Build environment given by name.")
                .kept()
                .since(V1BETA5)
                .until(V1BETA9),
        ],
    ],
);

/// `TagPolicy`.
pub(crate) static TAG_POLICY: Entity = entity(
    kinds::TAG_POLICY,
    "TagPolicy",
    "How tags of images are made.",
    &[&[
        field("gitCommit", One(kinds::GIT_TAGGER), "Tag with the git commit or tag.").kept().one_of("tag"),
        field("sha256", One(kinds::SHA_TAGGER), "Tag with the digest of the image.").kept().one_of("tag"),
        field("envTemplate", One(kinds::ENV_TEMPLATE_TAGGER), "Tag with a template over environment variables.")
            .kept()
            .one_of("tag"),
        field("dateTime", One(kinds::DATE_TIME_TAGGER), "Tag with the time of the build.").kept().one_of("tag"),
        field("customTemplate", One(kinds::CUSTOM_TEMPLATE_TAGGER), "Tag with a template over named components.")
            .kept()
            .one_of("tag")
            .since(V2BETA6),
        field("inputDigest", One(kinds::INPUT_DIGEST), "Tag with a digest of the sources.")
            .kept()
            .one_of("tag")
            .since(V2BETA14),
    ]],
);

/// `GitTagger`.
pub(crate) static GIT_TAGGER: Entity = entity(
    kinds::GIT_TAGGER,
    "GitTagger",
    "Tags from the git state.",
    &[&[
        field("variant", Scalar, "Which part of the git state becomes the tag."),
        field("prefix", Scalar, "Text in front of the tag.").since(V2BETA3),
        field("ignoreChanges", Bool, "Leave out the suffix that marks uncommitted changes.").since(V2BETA11),
    ]],
);

/// `EnvTemplateTagger`.
pub(crate) static ENV_TEMPLATE_TAGGER: Entity = entity(
    kinds::ENV_TEMPLATE_TAGGER,
    "EnvTemplateTagger",
    "Tags from a template over environment variables.",
    &[&[field("template", Scalar, "Template that gives the tag.").required().template()]],
);

/// `DateTimeTagger`.
pub(crate) static DATE_TIME_TAGGER: Entity = entity(
    kinds::DATE_TIME_TAGGER,
    "DateTimeTagger",
    "Tags from the time of the build.",
    &[&[field("format", Scalar, "Layout of the time."), field("timezone", Scalar, "Time zone of the time.")]],
);

/// `CustomTemplateTagger`.
pub(crate) static CUSTOM_TEMPLATE_TAGGER: Entity = entity(
    kinds::CUSTOM_TEMPLATE_TAGGER,
    "CustomTemplateTagger",
    "Tags from a template over named components.",
    &[&[
        field("template", Scalar, "Template that gives the tag from its components.").required(),
        field("components", List(kinds::TAGGER_COMPONENT), "Components the template may use."),
    ]],
);

/// `TaggerComponent`.
pub(crate) static TAGGER_COMPONENT: Entity = entity(
    kinds::TAGGER_COMPONENT,
    "TaggerComponent",
    "A named component of a tag.",
    &[&[field("name", Scalar, "Name of the component in the template.")], &TAG_POLICIES],
);

/// `LocalBuild`.
pub(crate) static LOCAL_BUILD: Entity = entity(
    kinds::LOCAL_BUILD,
    "LocalBuild",
    "Builds on this machine.",
    &[&[
        field("push", Bool, "Whether built images are pushed.").kept().since(V1ALPHA4),
        field("tryImportMissing", Bool, "Look for missing images in the registry before building.").since(V2BETA8),
        field("useDockerCLI", Bool, "Build with the docker command instead of its API.").since(V1ALPHA2),
        field("useBuildkit", Bool, "Whether docker builds use BuildKit.").kept().since(V1ALPHA2),
        field("concurrency", Integer, "How many artifacts are built at once; 0 means all.").kept().since(V2ALPHA2),
        field("skipPush", Bool, "Do not push built images.").kept().until(V1ALPHA4),
    ]],
);

/// `GoogleCloudBuild`.
pub(crate) static GOOGLE_CLOUD_BUILD: Entity = entity(
    kinds::GOOGLE_CLOUD_BUILD,
    "GoogleCloudBuild",
    "Builds with Google Cloud Build.",
    &[&[
        field("projectId", Scalar, "Project that runs the build."),
        field("diskSizeGb", Integer, "Disk size of the build machine.").since(V1ALPHA2),
        field("machineType", Scalar, "Type of the build machine.").since(V1ALPHA2),
        field("timeout", Scalar, "How long a build may take.").since(V1ALPHA2),
        field("logging", Scalar, "Where build logs go.").since(V2BETA3),
        field("logStreamingOption", Scalar, "Whether logs are streamed to storage.").since(V2BETA3),
        field("dockerImage", Scalar, "Image that runs docker builds.")
            .default(Literal::Text("gcr.io/cloud-builders/docker"))
            .since(V1ALPHA2),
        field("kanikoImage", Scalar, "Image that runs kaniko builds.")
            .default(Literal::Text("gcr.io/kaniko-project/executor:latest"))
            .since(V1BETA14),
        field("mavenImage", Scalar, "Image that runs Maven builds.")
            .default(Literal::Text("gcr.io/cloud-builders/mvn"))
            .since(V1BETA3),
        field("gradleImage", Scalar, "Image that runs Gradle builds.")
            .default(Literal::Text("gcr.io/cloud-builders/gradle"))
            .since(V1BETA3),
        field("packImage", Scalar, "Image that runs buildpacks builds.")
            .default(Literal::Text("gcr.io/k8s-skaffold/pack"))
            .since(V2ALPHA2),
        field("koImage", Scalar, "Image that runs ko builds.")
            .default(Literal::Text("gcr.io/k8s-skaffold/skaffold"))
            .since(V3ALPHA1),
        field("bucket", Scalar, "Bucket that receives the sources.").since(V4BETA12),
        field("concurrency", Integer, "How many artifacts are built at once; 0 means all.").since(V1BETA14),
        field("workerPool", Scalar, "Pool of workers that runs the build.").since(V2BETA6),
        field("region", Scalar, "Region that runs the build.").since(V2BETA29),
        field(
            "platformEmulatorInstallStep",
            One(kinds::PLATFORM_EMULATOR_INSTALL_STEP),
            "Step that prepares emulation of other platforms.",
        )
        .kept()
        .since(V3ALPHA1),
        field("serviceAccount", Scalar, "Account under which the build runs.").since(V3ALPHA1),
    ]],
);

/// `PlatformEmulatorInstallStep`.
pub(crate) static PLATFORM_EMULATOR_INSTALL_STEP: Entity = entity(
    kinds::PLATFORM_EMULATOR_INSTALL_STEP,
    "PlatformEmulatorInstallStep",
    "The step that installs an emulator of other platforms.",
    &[&[
        field("image", Scalar, "Image that installs the emulator.").required().written(),
        field("args", TEXTS, "Arguments of the installer."),
        field("entrypoint", Scalar, "Command of the installer."),
    ]],
);

/// `ClusterDetails`.
pub(crate) static CLUSTER_DETAILS: Entity = entity(
    kinds::CLUSTER_DETAILS,
    "ClusterDetails",
    "Builds in the cluster.",
    &[&[
        field("HTTP_PROXY", Scalar, "Proxy for plain connections of the builder.").since(V1BETA13),
        field("HTTPS_PROXY", Scalar, "Proxy for TLS connections of the builder.").since(V1BETA13),
        field("pullSecretPath", Scalar, "File with the account key for pulling and pushing.").since(V2BETA5),
        field("pullSecretName", Scalar, "Name of the secret that holds the key."),
        field("pullSecretMountPath", Scalar, "Where the secret appears in the builder.")
            .default(Literal::Text("/secret"))
            .since(V1BETA16),
        field("namespace", Scalar, "Namespace of the build pods."),
        field("timeout", Scalar, "How long a build may take.").default(Literal::Text("20m")),
        field("dockerConfig", One(kinds::DOCKER_CONFIG), "Docker configuration handed to the builder.").kept(),
        field("serviceAccount", Scalar, "Account under which build pods run.").since(V2BETA3),
        field("tolerations", List(kinds::TOLERATION), "Tolerations of build pods.").since(V2BETA5),
        field("nodeSelector", TEXT_MAP, "Labels of the nodes that may run build pods.").since(V2BETA18),
        field("annotations", TEXT_MAP, "Annotations of build pods.").since(V2BETA5),
        field("labels", TEXT_MAP, "Labels of build pods.").since(V4BETA12),
        field("runAsUser", Integer, "User id inside build pods.").kept().since(V2BETA3),
        field("resources", One(kinds::RESOURCE_REQUIREMENTS), "Resources of build pods.").kept().since(V1BETA8),
        field("concurrency", Integer, "How many artifacts are built at once; 0 means all.").since(V1BETA14),
        field("volumes", List(kinds::KUBERNETES), "Volumes of build pods.").since(V2ALPHA3),
        field("randomPullSecret", Bool, "Give the pull secret a random suffix.").since(V2ALPHA3),
        field("randomDockerConfigSecret", Bool, "Give the docker configuration secret a random suffix.")
            .since(V2ALPHA3),
        field("pullSecret", Scalar, "File with the account key.").until(V2BETA5),
    ]],
);

/// `DockerConfig`.
pub(crate) static DOCKER_CONFIG: Entity = entity(
    kinds::DOCKER_CONFIG,
    "DockerConfig",
    "A docker configuration for build pods.",
    &[&[
        field("path", Scalar, "Path of the docker configuration file."),
        field("secretName", Scalar, "Secret that holds the docker configuration."),
    ]],
);

/// `ResourceRequirements`.
pub(crate) static RESOURCE_REQUIREMENTS: Entity = entity(
    kinds::RESOURCE_REQUIREMENTS,
    "ResourceRequirements",
    "Resources of build pods.",
    &[&[
        field("requests", One(kinds::RESOURCE_REQUIREMENT), "Resources the pod asks for.").kept(),
        field("limits", One(kinds::RESOURCE_REQUIREMENT), "Resources the pod may use.").kept(),
    ]],
);

/// `ResourceRequirement`.
pub(crate) static RESOURCE_REQUIREMENT: Entity = entity(
    kinds::RESOURCE_REQUIREMENT,
    "ResourceRequirement",
    "Amounts of resources.",
    &[&[
        field("cpu", Scalar, "Processor share."),
        field("memory", Scalar, "Memory."),
        field("ephemeralStorage", Scalar, "Ephemeral storage.").since(V1BETA17),
        field("resourceStorage", Scalar, "Persistent storage.").since(V1BETA17),
    ]],
);

/// A tag policy without settings.
pub(crate) static SHA_TAGGER: Entity =
    entity(kinds::SHA_TAGGER, "ShaTagger", "Tags from the digest of the image.", &[]);

/// A tag policy without settings.
pub static INPUT_DIGEST: Entity = entity(kinds::INPUT_DIGEST, "InputDigest", "Tags from a digest of the sources.", &[]);
