//! Rows of the schema table: the `build` section: environments and tag policies.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::KUBERNETES;
use super::Shape::{Bool, Int, Many, Maybe, One, OptBool, OptInt, Text, TextMap, Texts};
use super::artifact::ARTIFACT;
use super::hooks::BUILD_HOOKS;
use super::legacy::{AZURE_CONTAINER_BUILD, EXECUTION_ENVIRONMENT, KANIKO_BUILD};
use super::{Entity, Field, field};
use crate::editions::{
    V1ALPHA2, V1ALPHA4, V1ALPHA5, V1BETA1, V1BETA3, V1BETA5, V1BETA7, V1BETA8, V1BETA9, V1BETA13, V1BETA14, V1BETA16,
    V1BETA17, V2ALPHA2, V2ALPHA3, V2BETA3, V2BETA5, V2BETA6, V2BETA8, V2BETA11, V2BETA14, V2BETA18, V2BETA27, V2BETA29,
    V3ALPHA1, V4BETA7, V4BETA12,
};

/// Keys shared by every entity that embeds them.
pub(super) const BUILD_TYPE: &[Field] = &[
    field("local", Maybe(&LOCAL_BUILD), "Build on this machine.").one_of("build"),
    field("googleCloudBuild", Maybe(&GOOGLE_CLOUD_BUILD), "Build with Google Cloud Build.").one_of("build"),
    field("cluster", Maybe(&CLUSTER_DETAILS), "Build in the cluster.").one_of("build").since(V1BETA7),
];

/// Keys shared by every entity that embeds them.
pub(crate) static TAG_POLICIES: [Field; 6] = [
    field("gitCommit", Maybe(&GIT_TAGGER), "Tag with the git commit or tag.").one_of("tag"),
    field("sha256", Maybe(&SHA_TAGGER), "Tag with the digest of the image.").one_of("tag"),
    field("envTemplate", Maybe(&ENV_TEMPLATE_TAGGER), "Tag with a template over environment variables.").one_of("tag"),
    field("dateTime", Maybe(&DATE_TIME_TAGGER), "Tag with the time of the build.").one_of("tag"),
    field("customTemplate", Maybe(&CUSTOM_TEMPLATE_TAGGER), "Tag with a template over named components.")
        .one_of("tag")
        .since(V2BETA6),
    field("inputDigest", Maybe(&INPUT_DIGEST), "Tag with a digest of the sources.").one_of("tag").since(V2BETA14),
];

/// Rows of `BuildConfig`.
pub(crate) static BUILD_CONFIG: Entity = Entity {
    name: "BuildConfig",
    groups: &[
        &[
            field("hooks", One(&BUILD_HOOKS), "Commands around the build of all artifacts.").since(V4BETA7),
            field("artifacts", Many(&ARTIFACT), "Images to build."),
            field("insecureRegistries", Texts, "Registries that are reached without TLS.").since(V1BETA8),
            field("tagPolicy", Text, "How tags of images are made.").until(V1ALPHA2),
            field("tagPolicy", One(&TAG_POLICY), "How tags of images are made.").since(V1ALPHA2),
            field("platforms", Texts, "Platforms to build for.").since(V2BETA27),
        ],
        BUILD_TYPE,
        &[
            field("acr", Maybe(&AZURE_CONTAINER_BUILD), "Build with Azure Container Registry.")
                .since(V1ALPHA5)
                .until(V1BETA1),
            field("kaniko", Maybe(&KANIKO_BUILD), "Build with kaniko in the cluster.").since(V1ALPHA2).until(V1BETA7),
            field("executionEnvironment", Maybe(&EXECUTION_ENVIRONMENT), "Build environment given by name.")
                .since(V1BETA5)
                .until(V1BETA9),
        ],
    ],
};

/// Rows of `TagPolicy`.
pub(crate) static TAG_POLICY: Entity = Entity {
    name: "TagPolicy",
    groups: &[&[
        field("gitCommit", Maybe(&GIT_TAGGER), "Tag with the git commit or tag.").one_of("tag"),
        field("sha256", Maybe(&SHA_TAGGER), "Tag with the digest of the image.").one_of("tag"),
        field("envTemplate", Maybe(&ENV_TEMPLATE_TAGGER), "Tag with a template over environment variables.")
            .one_of("tag"),
        field("dateTime", Maybe(&DATE_TIME_TAGGER), "Tag with the time of the build.").one_of("tag"),
        field("customTemplate", Maybe(&CUSTOM_TEMPLATE_TAGGER), "Tag with a template over named components.")
            .one_of("tag")
            .since(V2BETA6),
        field("inputDigest", Maybe(&INPUT_DIGEST), "Tag with a digest of the sources.").one_of("tag").since(V2BETA14),
    ]],
};

/// Rows of `GitTagger`.
pub(crate) static GIT_TAGGER: Entity = Entity {
    name: "GitTagger",
    groups: &[&[
        field("variant", Text, "Which part of the git state becomes the tag."),
        field("prefix", Text, "Text in front of the tag.").since(V2BETA3),
        field("ignoreChanges", Bool, "Leave out the suffix that marks uncommitted changes.").since(V2BETA11),
    ]],
};

/// Rows of `EnvTemplateTagger`.
pub(crate) static ENV_TEMPLATE_TAGGER: Entity = Entity {
    name: "EnvTemplateTagger",
    groups: &[&[field("template", Text, "Template that gives the tag.").required().template()]],
};

/// Rows of `DateTimeTagger`.
pub(crate) static DATE_TIME_TAGGER: Entity = Entity {
    name: "DateTimeTagger",
    groups: &[&[field("format", Text, "Layout of the time."), field("timezone", Text, "Time zone of the time.")]],
};

/// Rows of `CustomTemplateTagger`.
pub(crate) static CUSTOM_TEMPLATE_TAGGER: Entity = Entity {
    name: "CustomTemplateTagger",
    groups: &[&[
        field("template", Text, "Template that gives the tag from its components.").required(),
        field("components", Many(&TAGGER_COMPONENT), "Components the template may use."),
    ]],
};

/// Rows of `TaggerComponent`.
pub(crate) static TAGGER_COMPONENT: Entity = Entity {
    name: "TaggerComponent",
    groups: &[&[field("name", Text, "Name of the component in the template.")], &TAG_POLICIES],
};

/// Rows of `LocalBuild`.
pub(crate) static LOCAL_BUILD: Entity = Entity {
    name: "LocalBuild",
    groups: &[&[
        field("push", OptBool, "Whether built images are pushed.").since(V1ALPHA4),
        field("tryImportMissing", Bool, "Look for missing images in the registry before building.").since(V2BETA8),
        field("useDockerCLI", Bool, "Build with the docker command instead of its API.").since(V1ALPHA2),
        field("useBuildkit", OptBool, "Whether docker builds use BuildKit.").since(V1ALPHA2),
        field("concurrency", OptInt, "How many artifacts are built at once; 0 means all.").since(V2ALPHA2),
        field("skipPush", OptBool, "Do not push built images.").until(V1ALPHA4),
    ]],
};

/// Rows of `GoogleCloudBuild`.
pub(crate) static GOOGLE_CLOUD_BUILD: Entity = Entity {
    name: "GoogleCloudBuild",
    groups: &[&[
        field("projectId", Text, "Project that runs the build."),
        field("diskSizeGb", Int, "Disk size of the build machine.").since(V1ALPHA2),
        field("machineType", Text, "Type of the build machine.").since(V1ALPHA2),
        field("timeout", Text, "How long a build may take.").since(V1ALPHA2),
        field("logging", Text, "Where build logs go.").since(V2BETA3),
        field("logStreamingOption", Text, "Whether logs are streamed to storage.").since(V2BETA3),
        field("dockerImage", Text, "Image that runs docker builds.")
            .default("gcr.io/cloud-builders/docker")
            .since(V1ALPHA2),
        field("kanikoImage", Text, "Image that runs kaniko builds.")
            .default("gcr.io/kaniko-project/executor:latest")
            .since(V1BETA14),
        field("mavenImage", Text, "Image that runs Maven builds.").default("gcr.io/cloud-builders/mvn").since(V1BETA3),
        field("gradleImage", Text, "Image that runs Gradle builds.")
            .default("gcr.io/cloud-builders/gradle")
            .since(V1BETA3),
        field("packImage", Text, "Image that runs buildpacks builds.")
            .default("gcr.io/k8s-skaffold/pack")
            .since(V2ALPHA2),
        field("koImage", Text, "Image that runs ko builds.").default("gcr.io/k8s-skaffold/skaffold").since(V3ALPHA1),
        field("bucket", Text, "Bucket that receives the sources.").since(V4BETA12),
        field("concurrency", Int, "How many artifacts are built at once; 0 means all.").since(V1BETA14),
        field("workerPool", Text, "Pool of workers that runs the build.").since(V2BETA6),
        field("region", Text, "Region that runs the build.").since(V2BETA29),
        field(
            "platformEmulatorInstallStep",
            Maybe(&PLATFORM_EMULATOR_INSTALL_STEP),
            "Step that prepares emulation of other platforms.",
        )
        .since(V3ALPHA1),
        field("serviceAccount", Text, "Account under which the build runs.").since(V3ALPHA1),
    ]],
};

/// Rows of `PlatformEmulatorInstallStep`.
pub(crate) static PLATFORM_EMULATOR_INSTALL_STEP: Entity = Entity {
    name: "PlatformEmulatorInstallStep",
    groups: &[&[
        field("image", Text, "Image that installs the emulator.").required().always(),
        field("args", Texts, "Arguments of the installer."),
        field("entrypoint", Text, "Command of the installer."),
    ]],
};

/// Rows of `ClusterDetails`.
pub(crate) static CLUSTER_DETAILS: Entity = Entity {
    name: "ClusterDetails",
    groups: &[&[
        field("HTTP_PROXY", Text, "Proxy for plain connections of the builder.").since(V1BETA13),
        field("HTTPS_PROXY", Text, "Proxy for TLS connections of the builder.").since(V1BETA13),
        field("pullSecretPath", Text, "File with the account key for pulling and pushing.").since(V2BETA5),
        field("pullSecretName", Text, "Name of the secret that holds the key."),
        field("pullSecretMountPath", Text, "Where the secret appears in the builder.")
            .default("/secret")
            .since(V1BETA16),
        field("namespace", Text, "Namespace of the build pods."),
        field("timeout", Text, "How long a build may take.").default("20m"),
        field("dockerConfig", Maybe(&DOCKER_CONFIG), "Docker configuration handed to the builder."),
        field("serviceAccount", Text, "Account under which build pods run.").since(V2BETA3),
        field("tolerations", Many(&KUBERNETES), "Tolerations of build pods.").since(V2BETA5),
        field("nodeSelector", TextMap, "Labels of the nodes that may run build pods.").since(V2BETA18),
        field("annotations", TextMap, "Annotations of build pods.").since(V2BETA5),
        field("labels", TextMap, "Labels of build pods.").since(V4BETA12),
        field("runAsUser", OptInt, "User id inside build pods.").since(V2BETA3),
        field("resources", Maybe(&RESOURCE_REQUIREMENTS), "Resources of build pods.").since(V1BETA8),
        field("concurrency", Int, "How many artifacts are built at once; 0 means all.").since(V1BETA14),
        field("volumes", Many(&KUBERNETES), "Volumes of build pods.").since(V2ALPHA3),
        field("randomPullSecret", Bool, "Give the pull secret a random suffix.").since(V2ALPHA3),
        field("randomDockerConfigSecret", Bool, "Give the docker configuration secret a random suffix.")
            .since(V2ALPHA3),
        field("pullSecret", Text, "File with the account key.").until(V2BETA5),
    ]],
};

/// Rows of `DockerConfig`.
pub(crate) static DOCKER_CONFIG: Entity = Entity {
    name: "DockerConfig",
    groups: &[&[
        field("path", Text, "Path of the docker configuration file."),
        field("secretName", Text, "Secret that holds the docker configuration."),
    ]],
};

/// Rows of `ResourceRequirements`.
pub(crate) static RESOURCE_REQUIREMENTS: Entity = Entity {
    name: "ResourceRequirements",
    groups: &[&[
        field("requests", Maybe(&RESOURCE_REQUIREMENT), "Resources the pod asks for."),
        field("limits", Maybe(&RESOURCE_REQUIREMENT), "Resources the pod may use."),
    ]],
};

/// Rows of `ResourceRequirement`.
pub(crate) static RESOURCE_REQUIREMENT: Entity = Entity {
    name: "ResourceRequirement",
    groups: &[&[
        field("cpu", Text, "Processor share."),
        field("memory", Text, "Memory."),
        field("ephemeralStorage", Text, "Ephemeral storage.").since(V1BETA17),
        field("resourceStorage", Text, "Persistent storage.").since(V1BETA17),
    ]],
};

/// A tag policy without settings.
pub(crate) static SHA_TAGGER: Entity = Entity { name: "ShaTagger", groups: &[] };

/// A tag policy without settings.
pub static INPUT_DIGEST: Entity = Entity { name: "InputDigest", groups: &[] };
