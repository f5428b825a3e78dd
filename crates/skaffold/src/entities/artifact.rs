//! Rows of the schema table: artifacts and their builders.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{NULLABLE_MAP, TEXT_MAP, TEXTS, kinds};
use crate::editions::{
    FOUNDING, V1, V1ALPHA2, V1ALPHA4, V1BETA1, V1BETA5, V1BETA7, V1BETA9, V1BETA10, V1BETA11, V1BETA13, V1BETA14,
    V1BETA16, V2ALPHA1, V2ALPHA2, V2ALPHA3, V2BETA1, V2BETA5, V2BETA8, V2BETA9, V2BETA10, V2BETA11, V2BETA15, V2BETA17,
    V2BETA20, V2BETA21, V2BETA23, V2BETA24, V2BETA25, V2BETA26, V2BETA27, V2BETA28, V3ALPHA1, V4BETA2, V4BETA5,
    V4BETA10, V4BETA11, V4BETA12, V4BETA14,
};
use purlin_model::schema::Shape::{Bool, Integer, List, One, Scalar};
use purlin_model::schema::{Entity, Field, Literal, entity, field};

/// Keys shared by every entity that embeds them.
pub(super) const BUILDERS: &[Field] = &[
    field("docker", One(kinds::DOCKER_ARTIFACT), "Build with docker.").kept().one_of("artifact").since(V1ALPHA2),
    field("bazel", One(kinds::BAZEL_ARTIFACT), "Build with Bazel.").kept().one_of("artifact").since(V1ALPHA2),
    field("ko", One(kinds::KO_ARTIFACT), "Build with ko.").kept().one_of("artifact").since(V2BETA26),
    field("jib", One(kinds::JIB_ARTIFACT), "Build with Jib.").kept().one_of("artifact").since(V1BETA14),
    field("kaniko", One(kinds::KANIKO_ARTIFACT), "Build with kaniko.").kept().one_of("artifact").since(V1BETA7),
    field("buildpacks", One(kinds::BUILDPACK_ARTIFACT), "Build with Cloud Native Buildpacks.")
        .kept()
        .one_of("artifact")
        .since(V2BETA5),
    field("custom", One(kinds::CUSTOM_ARTIFACT), "Build with a command of your own.")
        .kept()
        .one_of("artifact")
        .since(V1BETA10),
];

/// `Artifact`.
pub static ARTIFACT: Entity = entity(
    kinds::ARTIFACT,
    "Artifact",
    "An image to build.",
    &[
        &[
            field("image", Scalar, "Name of the image.").required().since(V1ALPHA4),
            field("context", Scalar, "Directory with the sources.").path().default(Literal::Text(".")).since(V1ALPHA4),
            field("sync", TEXT_MAP, "Files copied into running containers.").since(V1ALPHA4).until(V1BETA10),
            field("sync", One(kinds::SYNC), "Files copied into running containers.").kept().since(V1BETA10),
        ],
        BUILDERS,
        &[
            field("requires", List(kinds::ARTIFACT_DEPENDENCY), "Artifacts this one is built from.").since(V2BETA9),
            field("hooks", One(kinds::BUILD_HOOKS), "Commands around the build of this artifact.").since(V2BETA20),
            field("platforms", TEXTS, "Platforms to build for.").since(V2BETA27),
            field("runtimeType", Scalar, "Language runtime, for debugging.").since(V4BETA2),
            field("imageName", Scalar, "Name of the image.").until(V1ALPHA4),
            field("workspace", Scalar, "Directory with the sources.").until(V1ALPHA4),
            field("dockerfilePath", Scalar, "Path of the Dockerfile.").until(V1ALPHA2),
            field("buildArgs", NULLABLE_MAP, "Build arguments.").until(V1ALPHA2),
            field("buildpack", One(kinds::BUILDPACK_ARTIFACT), "Build with Cloud Native Buildpacks.")
                .kept()
                .since(V1)
                .until(V2BETA5),
            field("jibMaven", One(kinds::JIB_MAVEN_ARTIFACT), "Build with Jib and Maven.")
                .kept()
                .since(V1ALPHA4)
                .until(V1BETA14),
            field("jibGradle", One(kinds::JIB_GRADLE_ARTIFACT), "Build with Jib and Gradle.")
                .kept()
                .since(V1ALPHA4)
                .until(V1BETA14),
            field("plugin", One(kinds::BUILDER_PLUGIN), "Builder given by name.").kept().since(V1BETA5).until(V1BETA9),
        ],
    ],
);

/// `ArtifactDependency`.
pub(crate) static ARTIFACT_DEPENDENCY: Entity = entity(
    kinds::ARTIFACT_DEPENDENCY,
    "ArtifactDependency",
    "An artifact that another one is built from.",
    &[&[
        field("image", Scalar, "Image that is needed.").required().written(),
        field("alias", Scalar, "Name under which the builder sees the image."),
        field("module", One(kinds::MODULE_REF), "Module that owns the image (founding design).")
            .kept()
            .since(FOUNDING)
            .extension(),
    ]],
);

/// `Sync`.
pub static SYNC: Entity = entity(
    kinds::SYNC,
    "Sync",
    "Which files are copied into running containers.",
    &[&[
        field("manual", List(kinds::SYNC_RULE), "Rules that name source and destination.").one_of("sync"),
        field("infer", TEXTS, "Patterns whose destination comes from the Dockerfile.").one_of("sync").since(V1BETA13),
        field("auto", One(kinds::AUTO), "Let the builder decide what to copy.").kept().since(V2BETA1).until(V2BETA9),
        field("auto", Bool, "Let the builder decide what to copy.").kept().one_of("sync").since(V2BETA9),
        field("hooks", One(kinds::SYNC_HOOKS), "Commands around each copy.").since(V2BETA20),
    ]],
);

/// `SyncRule`.
pub(crate) static SYNC_RULE: Entity = entity(
    kinds::SYNC_RULE,
    "SyncRule",
    "Files to copy and where they go.",
    &[&[
        field("src", Scalar, "Pattern of source files.").required(),
        field("dest", Scalar, "Directory in the container.").required(),
        field("strip", Scalar, "Leading part of the source path to leave out."),
    ]],
);

/// `DockerArtifact`.
pub(crate) static DOCKER_ARTIFACT: Entity = entity(
    kinds::DOCKER_ARTIFACT,
    "DockerArtifact",
    "Settings of a docker build.",
    &[&[
        field("dockerfile", Scalar, "Path of the Dockerfile in the context.")
            .default(Literal::Text("Dockerfile"))
            .since(V1ALPHA4),
        field("target", Scalar, "Stage to build."),
        field("buildArgs", NULLABLE_MAP, "Build arguments.").template(),
        field("network", Scalar, "Network of the build containers.").since(V1BETA10),
        field("addHost", TEXTS, "Further entries of the hosts file.").since(V2BETA15),
        field("cacheFrom", TEXTS, "Images used as a cache."),
        field("cliFlags", TEXTS, "Further flags of `docker build`.").since(V2BETA21),
        field("pullParent", Bool, "Always pull the base image.").since(V2BETA26),
        field("noCache", Bool, "Build without the cache.").since(V1BETA10),
        field("squash", Bool, "Squash the new layers into one.").since(V2BETA11),
        field("secrets", List(kinds::DOCKER_SECRET), "Secrets given to the build.").since(V2BETA23),
        field("ssh", Scalar, "SSH agent or keys given to the build.").since(V2BETA10),
        field("dockerfilePath", Scalar, "Path of the Dockerfile.").until(V1ALPHA4),
        field("secret", One(kinds::DOCKER_SECRET), "Secret given to the build.").kept().since(V2BETA8).until(V2BETA23),
    ]],
);

/// `DockerSecret`.
pub(crate) static DOCKER_SECRET: Entity = entity(
    kinds::DOCKER_SECRET,
    "DockerSecret",
    "A secret that a docker build can read.",
    &[&[
        field("id", Scalar, "Name of the secret.").required(),
        field("src", Scalar, "File with the secret.").one_of("secretSource"),
        field("env", Scalar, "Environment variable with the secret.").one_of("secretSource").since(V2BETA24),
        field("dst", Scalar, "Place of the secret in the build.").until(V2BETA17),
    ]],
);

/// `BazelArtifact`.
pub(crate) static BAZEL_ARTIFACT: Entity = entity(
    kinds::BAZEL_ARTIFACT,
    "BazelArtifact",
    "Settings of a Bazel build.",
    &[&[
        field("target", Scalar, "Target to build.").required(),
        field("args", TEXTS, "Further arguments of `bazel build`.").since(V1BETA1),
        field("platforms", List(kinds::BAZEL_PLATFORM_MAPPING), "Bazel platforms for each platform.").since(V4BETA10),
    ]],
);

/// `BazelPlatformMapping`.
pub(crate) static BAZEL_PLATFORM_MAPPING: Entity = entity(
    kinds::BAZEL_PLATFORM_MAPPING,
    "BazelPlatformMapping",
    "The Bazel platform of a platform.",
    &[&[
        field("platform", Scalar, "Platform as Skaffold names it.").required().written(),
        field("target", Scalar, "Platform target as Bazel names it.").required().written(),
    ]],
);

/// `KoArtifact`.
pub(crate) static KO_ARTIFACT: Entity = entity(
    kinds::KO_ARTIFACT,
    "KoArtifact",
    "Settings of a ko build.",
    &[&[
        field("fromImage", Scalar, "Base image."),
        field("dependencies", One(kinds::KO_DEPENDENCIES), "Files that trigger a rebuild.").kept(),
        field("dir", Scalar, "Directory of the Go module."),
        field("env", TEXTS, "Environment variables of the build.").template(),
        field("flags", TEXTS, "Further flags of the Go build.").template().since(V2BETA26),
        field("labels", TEXT_MAP, "Labels of the image.").template(),
        field("ldflags", TEXTS, "Flags of the linker.").template(),
        field("main", Scalar, "Package with the main function."),
        field("args", TEXTS, "Further arguments of the Go build.").until(V2BETA26),
        field("platforms", TEXTS, "Platforms to build for.").until(V2BETA28),
    ]],
);

/// `KoDependencies`.
pub(crate) static KO_DEPENDENCIES: Entity = entity(
    kinds::KO_DEPENDENCIES,
    "KoDependencies",
    "Files that trigger a rebuild with ko.",
    &[&[
        field("paths", TEXTS, "Files the build depends on.").one_of("dependency"),
        field("ignore", TEXTS, "Files to leave out."),
    ]],
);

/// `JibArtifact`.
pub(crate) static JIB_ARTIFACT: Entity = entity(
    kinds::JIB_ARTIFACT,
    "JibArtifact",
    "Settings of a Jib build.",
    &[&[
        field("project", Scalar, "Project or module to build."),
        field("args", TEXTS, "Further arguments of the build tool."),
        field("type", Scalar, "Build tool: `maven` or `gradle`."),
        field("fromImage", Scalar, "Base image.").since(V2BETA9),
    ]],
);

/// `BuildpackArtifact`.
pub(crate) static BUILDPACK_ARTIFACT: Entity = entity(
    kinds::BUILDPACK_ARTIFACT,
    "BuildpackArtifact",
    "Settings of a build with Cloud Native Buildpacks.",
    &[&[
        field("builder", Scalar, "Builder image."),
        field("runImage", Scalar, "Image the result is based on."),
        field("env", TEXTS, "Environment variables of the build.").since(V2ALPHA1),
        field("buildpacks", TEXTS, "Buildpacks to use, in order.").since(V2ALPHA3),
        field("trustBuilder", Bool, "Run all phases in one container.").since(V2BETA5),
        field("clearCache", Bool, "Start with an empty cache.").since(V3ALPHA1),
        field("projectDescriptor", Scalar, "Project file of the buildpacks.")
            .default(Literal::Text("project.toml"))
            .since(V2BETA5),
        field("dependencies", One(kinds::BUILDPACK_DEPENDENCIES), "Files that trigger a rebuild.").kept(),
        field("volumes", List(kinds::BUILDPACK_VOLUME), "Volumes mounted into the build.").since(V2BETA17),
        field("buildArgs", TEXTS, "Further arguments of the build.").since(V4BETA14),
        field("forcePull", Bool, "Always pull the builder image.").until(V2ALPHA3),
    ]],
);

/// `BuildpackDependencies`.
pub(crate) static BUILDPACK_DEPENDENCIES: Entity = entity(
    kinds::BUILDPACK_DEPENDENCIES,
    "BuildpackDependencies",
    "Files that trigger a rebuild with buildpacks.",
    &[&[
        field("paths", TEXTS, "Files the build depends on.").one_of("dependency"),
        field("ignore", TEXTS, "Files to leave out."),
    ]],
);

/// `BuildpackVolume`.
pub(crate) static BUILDPACK_VOLUME: Entity = entity(
    kinds::BUILDPACK_VOLUME,
    "BuildpackVolume",
    "A directory that is mounted into the build.",
    &[&[
        field("host", Scalar, "Directory of this machine.").required().path().written(),
        field("target", Scalar, "Place in the build container.").required().written(),
        field("options", Scalar, "Mount options."),
    ]],
);

/// `CustomArtifact`.
pub(crate) static CUSTOM_ARTIFACT: Entity = entity(
    kinds::CUSTOM_ARTIFACT,
    "CustomArtifact",
    "A build by a command of your own.",
    &[&[
        field("buildCommand", Scalar, "Command that builds the image."),
        field("dependencies", One(kinds::CUSTOM_DEPENDENCIES), "Files that trigger a rebuild.").kept(),
    ]],
);

/// `CustomDependencies`.
pub(crate) static CUSTOM_DEPENDENCIES: Entity = entity(
    kinds::CUSTOM_DEPENDENCIES,
    "CustomDependencies",
    "Files that trigger a custom build again.",
    &[&[
        field("dockerfile", One(kinds::DOCKERFILE_DEPENDENCY), "Take the files from a Dockerfile.")
            .kept()
            .one_of("dependency"),
        field("command", Scalar, "Take the files from the output of a command.").one_of("dependency"),
        field("paths", TEXTS, "Files the build depends on.").one_of("dependency"),
        field("ignore", TEXTS, "Files to leave out."),
    ]],
);

/// `DockerfileDependency`.
pub(crate) static DOCKERFILE_DEPENDENCY: Entity = entity(
    kinds::DOCKERFILE_DEPENDENCY,
    "DockerfileDependency",
    "A Dockerfile whose sources trigger a custom build.",
    &[&[
        field("path", Scalar, "Path of the Dockerfile."),
        field("buildArgs", NULLABLE_MAP, "Build arguments of the Dockerfile."),
    ]],
);

/// `KanikoArtifact`.
pub(crate) static KANIKO_ARTIFACT: Entity = entity(
    kinds::KANIKO_ARTIFACT,
    "KanikoArtifact",
    "Settings of a kaniko build.",
    &[&[
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
        field("dockerfile", Scalar, "Path of the Dockerfile in the context.").default(Literal::Text("Dockerfile")),
        field("target", Scalar, "Stage to build."),
        field("initImage", Scalar, "Image of the init container that receives the context.")
            .default(Literal::Text("gcr.io/k8s-skaffold/skaffold-helpers/busybox"))
            .since(V2ALPHA2),
        field("image", Scalar, "Image of kaniko itself.")
            .default(Literal::Text("gcr.io/kaniko-project/executor:latest")),
        field("imagePullSecret", Scalar, "Secret for pulling the kaniko image.").since(V4BETA12),
        field("destination", TEXTS, "Further tags to push.").since(V4BETA11),
        field("digestFile", Scalar, "File that receives the digest.")
            .default(Literal::Text("/dev/termination-log"))
            .since(V2BETA9),
        field("imageFSExtractRetry", Scalar, "How often unpacking the base image is tried again.").since(V2BETA21),
        field("imageNameWithDigestFile", Scalar, "File that receives name and digest.").since(V2BETA9),
        field("logFormat", Scalar, "Format of the log.").since(V2BETA9),
        field("ociLayoutPath", Scalar, "Directory that receives the OCI layout.").since(V2BETA9),
        field("registryMirror", Scalar, "Mirror used for pulling.").since(V2BETA9),
        field("snapshotMode", Scalar, "How changed files are found.").since(V2BETA9),
        field("pushRetry", Scalar, "How often pushing is tried again.").since(V2BETA20),
        field("tarPath", Scalar, "File that receives the image as an archive.").since(V2BETA9),
        field("verbosity", Scalar, "How much is logged.").since(V2BETA9),
        field("insecureRegistry", TEXTS, "Registries reached without TLS.").since(V2BETA9),
        field("skipTLSVerifyRegistry", TEXTS, "Registries whose TLS is not verified.").since(V2BETA9),
        field("env", List(kinds::ENV_VAR), "Environment variables of the kaniko container.").since(V2ALPHA1),
        field("cache", One(kinds::KANIKO_CACHE), "Layer cache.").kept(),
        field("registryCertificate", NULLABLE_MAP, "Certificates of registries.").since(V2BETA9),
        field("label", NULLABLE_MAP, "Labels of the image.").since(V2BETA9),
        field("buildArgs", NULLABLE_MAP, "Build arguments."),
        field("volumeMounts", List(kinds::KUBERNETES), "Volumes mounted into the kaniko container.").since(V2ALPHA3),
        field("contextSubPath", Scalar, "Directory inside the context to build in.").path().since(V3ALPHA1),
        field("ignorePaths", TEXTS, "Paths left out of snapshots.").since(V4BETA2),
        field("copyMaxRetries", Integer, "How often copying the context is tried again.")
            .kept()
            .default(Literal::Int(3))
            .since(V4BETA10),
        field("copyTimeout", Scalar, "How long copying the context may take.")
            .default(Literal::Text("5m"))
            .since(V4BETA10),
        field("buildContextCompressionLevel", Integer, "Compression of the context, 0 to 9.")
            .kept()
            .default(Literal::Int(1))
            .since(V4BETA12),
        field("buildContext", One(kinds::KANIKO_BUILD_CONTEXT), "How the context reaches kaniko.")
            .kept()
            .until(V2ALPHA2),
        field("flags", TEXTS, "Further flags of kaniko.").until(V2BETA9),
        field("noPush", Bool, "Do not push the image.").since(V2BETA9).until(V4BETA5),
    ]],
);

/// `KanikoCache`.
pub(crate) static KANIKO_CACHE: Entity = entity(
    kinds::KANIKO_CACHE,
    "KanikoCache",
    "The layer cache of kaniko.",
    &[&[
        field("repo", Scalar, "Registry path of the layer cache."),
        field("hostPath", Scalar, "Directory of the node with cached base images.").since(V1BETA11),
        field("ttl", Scalar, "How long cached layers live.").since(V2BETA9),
        field("cacheCopyLayers", Bool, "Cache layers of COPY instructions.").since(V2BETA25),
        field("cacheRunLayers", Bool, "Cache layers of RUN instructions.")
            .kept()
            .default(Literal::Bool(true))
            .since(V4BETA12),
    ]],
);

/// The builders an artifact may use, of which one is used.
pub fn builders() -> impl Iterator<Item = &'static Field> {
    BUILDERS.iter().filter(|row| row.window.has(crate::editions::LATEST))
}
