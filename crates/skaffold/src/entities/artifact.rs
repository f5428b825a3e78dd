//! Rows of the schema table: artifacts and their builders.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::KUBERNETES;
use super::Shape::{Bool, Many, Maybe, One, OptBool, OptInt, OptTextMap, Text, TextMap, Texts};
use super::config::MODULE_REF;
use super::hooks::{BUILD_HOOKS, SYNC_HOOKS};
use super::legacy::{AUTO, BUILDER_PLUGIN, JIB_GRADLE_ARTIFACT, JIB_MAVEN_ARTIFACT, KANIKO_BUILD_CONTEXT};
use super::{Entity, Field, field};
use crate::editions::{
    V1, V1ALPHA2, V1ALPHA4, V1BETA1, V1BETA5, V1BETA7, V1BETA9, V1BETA10, V1BETA11, V1BETA13, V1BETA14, V1BETA16,
    V2ALPHA1, V2ALPHA2, V2ALPHA3, V2BETA1, V2BETA5, V2BETA8, V2BETA9, V2BETA10, V2BETA11, V2BETA15, V2BETA17, V2BETA20,
    V2BETA21, V2BETA23, V2BETA24, V2BETA25, V2BETA26, V2BETA27, V2BETA28, V3ALPHA1, V4BETA2, V4BETA5, V4BETA10,
    V4BETA11, V4BETA12, V4BETA14,
};

/// Keys shared by every entity that embeds them.
pub(super) const BUILDERS: &[Field] = &[
    field("docker", Maybe(&DOCKER_ARTIFACT), "Build with docker.").one_of("artifact").since(V1ALPHA2),
    field("bazel", Maybe(&BAZEL_ARTIFACT), "Build with Bazel.").one_of("artifact").since(V1ALPHA2),
    field("ko", Maybe(&KO_ARTIFACT), "Build with ko.").one_of("artifact").since(V2BETA26),
    field("jib", Maybe(&JIB_ARTIFACT), "Build with Jib.").one_of("artifact").since(V1BETA14),
    field("kaniko", Maybe(&KANIKO_ARTIFACT), "Build with kaniko.").one_of("artifact").since(V1BETA7),
    field("buildpacks", Maybe(&BUILDPACK_ARTIFACT), "Build with Cloud Native Buildpacks.")
        .one_of("artifact")
        .since(V2BETA5),
    field("custom", Maybe(&CUSTOM_ARTIFACT), "Build with a command of your own.").one_of("artifact").since(V1BETA10),
];

/// Rows of `Artifact`.
pub static ARTIFACT: Entity = Entity {
    name: "Artifact",
    groups: &[
        &[
            field("image", Text, "Name of the image.").required().since(V1ALPHA4),
            field("context", Text, "Directory with the sources.").path().default(".").since(V1ALPHA4),
            field("sync", TextMap, "Files copied into running containers.").since(V1ALPHA4).until(V1BETA10),
            field("sync", Maybe(&SYNC), "Files copied into running containers.").since(V1BETA10),
        ],
        BUILDERS,
        &[
            field("requires", Many(&ARTIFACT_DEPENDENCY), "Artifacts this one is built from.").since(V2BETA9),
            field("hooks", One(&BUILD_HOOKS), "Commands around the build of this artifact.").since(V2BETA20),
            field("platforms", Texts, "Platforms to build for.").since(V2BETA27),
            field("runtimeType", Text, "Language runtime, for debugging.").since(V4BETA2),
            field("imageName", Text, "Name of the image.").until(V1ALPHA4),
            field("workspace", Text, "Directory with the sources.").until(V1ALPHA4),
            field("dockerfilePath", Text, "Path of the Dockerfile.").until(V1ALPHA2),
            field("buildArgs", OptTextMap, "Build arguments.").until(V1ALPHA2),
            field("buildpack", Maybe(&BUILDPACK_ARTIFACT), "Build with Cloud Native Buildpacks.")
                .since(V1)
                .until(V2BETA5),
            field("jibMaven", Maybe(&JIB_MAVEN_ARTIFACT), "Build with Jib and Maven.").since(V1ALPHA4).until(V1BETA14),
            field("jibGradle", Maybe(&JIB_GRADLE_ARTIFACT), "Build with Jib and Gradle.")
                .since(V1ALPHA4)
                .until(V1BETA14),
            field("plugin", Maybe(&BUILDER_PLUGIN), "Builder given by name.").since(V1BETA5).until(V1BETA9),
        ],
    ],
};

/// Rows of `ArtifactDependency`.
pub(crate) static ARTIFACT_DEPENDENCY: Entity = Entity {
    name: "ArtifactDependency",
    groups: &[&[
        field("image", Text, "Image that is needed.").required().always(),
        field("alias", Text, "Name under which the builder sees the image."),
        field("module", Maybe(&MODULE_REF), "Module that owns the image (founding design).").founding(),
    ]],
};

/// Rows of `Sync`.
pub static SYNC: Entity = Entity {
    name: "Sync",
    groups: &[&[
        field("manual", Many(&SYNC_RULE), "Rules that name source and destination.").one_of("sync"),
        field("infer", Texts, "Patterns whose destination comes from the Dockerfile.").one_of("sync").since(V1BETA13),
        field("auto", Maybe(&AUTO), "Let the builder decide what to copy.").since(V2BETA1).until(V2BETA9),
        field("auto", OptBool, "Let the builder decide what to copy.").one_of("sync").since(V2BETA9),
        field("hooks", One(&SYNC_HOOKS), "Commands around each copy.").since(V2BETA20),
    ]],
};

/// Rows of `SyncRule`.
pub(crate) static SYNC_RULE: Entity = Entity {
    name: "SyncRule",
    groups: &[&[
        field("src", Text, "Pattern of source files.").required(),
        field("dest", Text, "Directory in the container.").required(),
        field("strip", Text, "Leading part of the source path to leave out."),
    ]],
};

/// Rows of `DockerArtifact`.
pub(crate) static DOCKER_ARTIFACT: Entity = Entity {
    name: "DockerArtifact",
    groups: &[&[
        field("dockerfile", Text, "Path of the Dockerfile in the context.").default("Dockerfile").since(V1ALPHA4),
        field("target", Text, "Stage to build."),
        field("buildArgs", OptTextMap, "Build arguments.").template(),
        field("network", Text, "Network of the build containers.").since(V1BETA10),
        field("addHost", Texts, "Further entries of the hosts file.").since(V2BETA15),
        field("cacheFrom", Texts, "Images used as a cache."),
        field("cliFlags", Texts, "Further flags of `docker build`.").since(V2BETA21),
        field("pullParent", Bool, "Always pull the base image.").since(V2BETA26),
        field("noCache", Bool, "Build without the cache.").since(V1BETA10),
        field("squash", Bool, "Squash the new layers into one.").since(V2BETA11),
        field("secrets", Many(&DOCKER_SECRET), "Secrets given to the build.").since(V2BETA23),
        field("ssh", Text, "SSH agent or keys given to the build.").since(V2BETA10),
        field("dockerfilePath", Text, "Path of the Dockerfile.").until(V1ALPHA4),
        field("secret", Maybe(&DOCKER_SECRET), "Secret given to the build.").since(V2BETA8).until(V2BETA23),
    ]],
};

/// Rows of `DockerSecret`.
pub(crate) static DOCKER_SECRET: Entity = Entity {
    name: "DockerSecret",
    groups: &[&[
        field("id", Text, "Name of the secret.").required(),
        field("src", Text, "File with the secret.").one_of("secretSource"),
        field("env", Text, "Environment variable with the secret.").one_of("secretSource").since(V2BETA24),
        field("dst", Text, "Place of the secret in the build.").until(V2BETA17),
    ]],
};

/// Rows of `BazelArtifact`.
pub(crate) static BAZEL_ARTIFACT: Entity = Entity {
    name: "BazelArtifact",
    groups: &[&[
        field("target", Text, "Target to build.").required(),
        field("args", Texts, "Further arguments of `bazel build`.").since(V1BETA1),
        field("platforms", Many(&BAZEL_PLATFORM_MAPPING), "Bazel platforms for each platform.").since(V4BETA10),
    ]],
};

/// Rows of `BazelPlatformMapping`.
pub(crate) static BAZEL_PLATFORM_MAPPING: Entity = Entity {
    name: "BazelPlatformMapping",
    groups: &[&[
        field("platform", Text, "Platform as Skaffold names it.").required().always(),
        field("target", Text, "Platform target as Bazel names it.").required().always(),
    ]],
};

/// Rows of `KoArtifact`.
pub(crate) static KO_ARTIFACT: Entity = Entity {
    name: "KoArtifact",
    groups: &[&[
        field("fromImage", Text, "Base image."),
        field("dependencies", Maybe(&KO_DEPENDENCIES), "Files that trigger a rebuild."),
        field("dir", Text, "Directory of the Go module."),
        field("env", Texts, "Environment variables of the build.").template(),
        field("flags", Texts, "Further flags of the Go build.").template().since(V2BETA26),
        field("labels", TextMap, "Labels of the image.").template(),
        field("ldflags", Texts, "Flags of the linker.").template(),
        field("main", Text, "Package with the main function."),
        field("args", Texts, "Further arguments of the Go build.").until(V2BETA26),
        field("platforms", Texts, "Platforms to build for.").until(V2BETA28),
    ]],
};

/// Rows of `KoDependencies`.
pub(crate) static KO_DEPENDENCIES: Entity = Entity {
    name: "KoDependencies",
    groups: &[&[
        field("paths", Texts, "Files the build depends on.").one_of("dependency"),
        field("ignore", Texts, "Files to leave out."),
    ]],
};

/// Rows of `JibArtifact`.
pub(crate) static JIB_ARTIFACT: Entity = Entity {
    name: "JibArtifact",
    groups: &[&[
        field("project", Text, "Project or module to build."),
        field("args", Texts, "Further arguments of the build tool."),
        field("type", Text, "Build tool: `maven` or `gradle`."),
        field("fromImage", Text, "Base image.").since(V2BETA9),
    ]],
};

/// Rows of `BuildpackArtifact`.
pub(crate) static BUILDPACK_ARTIFACT: Entity = Entity {
    name: "BuildpackArtifact",
    groups: &[&[
        field("builder", Text, "Builder image."),
        field("runImage", Text, "Image the result is based on."),
        field("env", Texts, "Environment variables of the build.").since(V2ALPHA1),
        field("buildpacks", Texts, "Buildpacks to use, in order.").since(V2ALPHA3),
        field("trustBuilder", Bool, "Run all phases in one container.").since(V2BETA5),
        field("clearCache", Bool, "Start with an empty cache.").since(V3ALPHA1),
        field("projectDescriptor", Text, "Project file of the buildpacks.").default("project.toml").since(V2BETA5),
        field("dependencies", Maybe(&BUILDPACK_DEPENDENCIES), "Files that trigger a rebuild."),
        field("volumes", Many(&BUILDPACK_VOLUME), "Volumes mounted into the build.").since(V2BETA17),
        field("buildArgs", Texts, "Further arguments of the build.").since(V4BETA14),
        field("forcePull", Bool, "Always pull the builder image.").until(V2ALPHA3),
    ]],
};

/// Rows of `BuildpackDependencies`.
pub(crate) static BUILDPACK_DEPENDENCIES: Entity = Entity {
    name: "BuildpackDependencies",
    groups: &[&[
        field("paths", Texts, "Files the build depends on.").one_of("dependency"),
        field("ignore", Texts, "Files to leave out."),
    ]],
};

/// Rows of `BuildpackVolume`.
pub(crate) static BUILDPACK_VOLUME: Entity = Entity {
    name: "BuildpackVolume",
    groups: &[&[
        field("host", Text, "Directory of this machine.").required().path().always(),
        field("target", Text, "Place in the build container.").required().always(),
        field("options", Text, "Mount options."),
    ]],
};

/// Rows of `CustomArtifact`.
pub(crate) static CUSTOM_ARTIFACT: Entity = Entity {
    name: "CustomArtifact",
    groups: &[&[
        field("buildCommand", Text, "Command that builds the image."),
        field("dependencies", Maybe(&CUSTOM_DEPENDENCIES), "Files that trigger a rebuild."),
    ]],
};

/// Rows of `CustomDependencies`.
pub(crate) static CUSTOM_DEPENDENCIES: Entity = Entity {
    name: "CustomDependencies",
    groups: &[&[
        field("dockerfile", Maybe(&DOCKERFILE_DEPENDENCY), "Take the files from a Dockerfile.").one_of("dependency"),
        field("command", Text, "Take the files from the output of a command.").one_of("dependency"),
        field("paths", Texts, "Files the build depends on.").one_of("dependency"),
        field("ignore", Texts, "Files to leave out."),
    ]],
};

/// Rows of `DockerfileDependency`.
pub(crate) static DOCKERFILE_DEPENDENCY: Entity = Entity {
    name: "DockerfileDependency",
    groups: &[&[
        field("path", Text, "Path of the Dockerfile."),
        field("buildArgs", OptTextMap, "Build arguments of the Dockerfile."),
    ]],
};

/// Rows of `KanikoArtifact`.
pub(crate) static KANIKO_ARTIFACT: Entity = Entity {
    name: "KanikoArtifact",
    groups: &[&[
        field("cleanup", Bool, "Clean the file system after the build.").since(V2BETA9),
        field("insecure", Bool, "Push without TLS.").since(V2BETA9),
        field("insecurePull", Bool, "Pull without TLS.").since(V2BETA9),
        field("force", Bool, "Build outside a container too.").since(V2BETA9),
        field("logTimestamp", Bool, "Put times into the log.").since(V2BETA9),
        field("reproducible", Bool, "Leave times out of the image.").since(V1BETA13),
        field("singleSnapshot", Bool, "Take one snapshot at the end.").since(V2BETA9),
        field("skipTLS", Bool, "Do not verify TLS when pushing.").since(V1BETA16),
        field("skipTLSVerifyPull", Bool, "Do not verify TLS when pulling.").since(V2BETA9),
        field("skipUnusedStages", Bool, "Build only the stages that are needed.").since(V2BETA9),
        field("useNewRun", Bool, "Detect changed files by the experimental method.").since(V2BETA9),
        field("whitelistVarRun", Bool, "Leave `/var/run` out of snapshots.").since(V2BETA9),
        field("dockerfile", Text, "Path of the Dockerfile in the context.").default("Dockerfile"),
        field("target", Text, "Stage to build."),
        field("initImage", Text, "Image of the init container that receives the context.")
            .default("gcr.io/k8s-skaffold/skaffold-helpers/busybox")
            .since(V2ALPHA2),
        field("image", Text, "Image of kaniko itself.").default("gcr.io/kaniko-project/executor:latest"),
        field("imagePullSecret", Text, "Secret for pulling the kaniko image.").since(V4BETA12),
        field("destination", Texts, "Further tags to push.").since(V4BETA11),
        field("digestFile", Text, "File that receives the digest.").default("/dev/termination-log").since(V2BETA9),
        field("imageFSExtractRetry", Text, "How often unpacking the base image is tried again.").since(V2BETA21),
        field("imageNameWithDigestFile", Text, "File that receives name and digest.").since(V2BETA9),
        field("logFormat", Text, "Format of the log.").since(V2BETA9),
        field("ociLayoutPath", Text, "Directory that receives the OCI layout.").since(V2BETA9),
        field("registryMirror", Text, "Mirror used for pulling.").since(V2BETA9),
        field("snapshotMode", Text, "How changed files are found.").since(V2BETA9),
        field("pushRetry", Text, "How often pushing is tried again.").since(V2BETA20),
        field("tarPath", Text, "File that receives the image as an archive.").since(V2BETA9),
        field("verbosity", Text, "How much is logged.").since(V2BETA9),
        field("insecureRegistry", Texts, "Registries reached without TLS.").since(V2BETA9),
        field("skipTLSVerifyRegistry", Texts, "Registries whose TLS is not verified.").since(V2BETA9),
        field("env", Many(&KUBERNETES), "Environment variables of the kaniko container.").since(V2ALPHA1),
        field("cache", Maybe(&KANIKO_CACHE), "Layer cache."),
        field("registryCertificate", OptTextMap, "Certificates of registries.").since(V2BETA9),
        field("label", OptTextMap, "Labels of the image.").since(V2BETA9),
        field("buildArgs", OptTextMap, "Build arguments."),
        field("volumeMounts", Many(&KUBERNETES), "Volumes mounted into the kaniko container.").since(V2ALPHA3),
        field("contextSubPath", Text, "Directory inside the context to build in.").path().since(V3ALPHA1),
        field("ignorePaths", Texts, "Paths left out of snapshots.").since(V4BETA2),
        field("copyMaxRetries", OptInt, "How often copying the context is tried again.").default("3").since(V4BETA10),
        field("copyTimeout", Text, "How long copying the context may take.").default("5m").since(V4BETA10),
        field("buildContextCompressionLevel", OptInt, "Compression of the context, 0 to 9.")
            .default("1")
            .since(V4BETA12),
        field("buildContext", Maybe(&KANIKO_BUILD_CONTEXT), "How the context reaches kaniko.").until(V2ALPHA2),
        field("flags", Texts, "Further flags of kaniko.").until(V2BETA9),
        field("noPush", Bool, "Do not push the image.").since(V2BETA9).until(V4BETA5),
    ]],
};

/// Rows of `KanikoCache`.
pub(crate) static KANIKO_CACHE: Entity = Entity {
    name: "KanikoCache",
    groups: &[&[
        field("repo", Text, "Registry path of the layer cache."),
        field("hostPath", Text, "Directory of the node with cached base images.").since(V1BETA11),
        field("ttl", Text, "How long cached layers live.").since(V2BETA9),
        field("cacheCopyLayers", Bool, "Cache layers of COPY instructions.").since(V2BETA25),
        field("cacheRunLayers", OptBool, "Cache layers of RUN instructions.").default("true").since(V4BETA12),
    ]],
};

/// The builders an artifact may use, of which one is used.
pub fn builders() -> impl Iterator<Item = &'static Field> {
    BUILDERS.iter().filter(|row| row.is_in(crate::editions::LATEST))
}
