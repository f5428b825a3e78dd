//! Rows of the schema table: entities that only older versions have.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{TEXT_MAP, TEXTS, kinds};
use crate::editions::{
    V1ALPHA2, V1ALPHA3, V1ALPHA4, V1BETA1, V1BETA2, V1BETA3, V1BETA5, V1BETA6, V1BETA7, V1BETA9, V1BETA14, V1BETA15,
    V2ALPHA2, V2ALPHA3, V2BETA8, V2BETA22, V3ALPHA1, V4BETA3,
};
use purlin_model::schema::Shape::{Any, Bool, List, One, Scalar};
use purlin_model::schema::{Entity, entity, field};

/// `AzureContainerBuild`, which only older versions have.
pub(crate) static AZURE_CONTAINER_BUILD: Entity = entity(
    kinds::AZURE_CONTAINER_BUILD,
    "AzureContainerBuild",
    "Builds with Azure Container Registry.",
    &[&[
        field("subscriptionId", Scalar, "Subscription that runs the build.").until(V1BETA1),
        field("clientId", Scalar, "Client that runs the build.").until(V1BETA1),
        field("clientSecret", Scalar, "Password of the client.").until(V1BETA1),
        field("tenantId", Scalar, "Tenant of the client.").until(V1BETA1),
    ]],
);

/// `BuilderPlugin`, which only older versions have.
pub(crate) static BUILDER_PLUGIN: Entity = entity(
    kinds::BUILDER_PLUGIN,
    "BuilderPlugin",
    "A builder that is given by name.",
    &[&[
        field("name", Scalar, "Name of the builder.").until(V1BETA9),
        field("properties", Any, "Settings of the builder.").until(V1BETA9),
    ]],
);

/// `ExecutionEnvironment`, which only older versions have.
pub(crate) static EXECUTION_ENVIRONMENT: Entity = entity(
    kinds::EXECUTION_ENVIRONMENT,
    "ExecutionEnvironment",
    "A build environment that is given by name.",
    &[&[
        field("name", Scalar, "Name of the environment.").until(V1BETA9),
        field("properties", Any, "Settings of the environment.").until(V1BETA9),
    ]],
);

/// `HelmDeploy`, which only older versions have.
pub static HELM_DEPLOY: Entity = entity(
    kinds::HELM_DEPLOY,
    "HelmDeploy",
    "Deploying with helm.",
    &[&[
        field("releases", List(kinds::HELM_RELEASE), "Releases to install.").until(V3ALPHA1),
        field("flags", One(kinds::HELM_DEPLOY_FLAGS), "Further flags of helm commands.").since(V1BETA6).until(V3ALPHA1),
        field("hooks", One(kinds::DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA22).until(V3ALPHA1),
    ]],
);

/// `HelmConventionConfig`, which only older versions have.
pub(crate) static HELM_CONVENTION_CONFIG: Entity = entity(
    kinds::HELM_CONVENTION_CONFIG,
    "HelmConventionConfig",
    "Images as values for repository and tag.",
    &[&[field("explicitRegistry", Bool, "Give the registry as a value of its own.").until(V4BETA3)]],
);

/// `HelmFQNConfig`, which only older versions have.
pub(crate) static HELM_FQNCONFIG: Entity = entity(
    kinds::HELM_FQNCONFIG,
    "HelmFQNConfig",
    "Images as one value.",
    &[&[field("property", Scalar, "Value that receives the image.").until(V4BETA3)]],
);

/// `HelmImageStrategy`, which only older versions have.
pub(crate) static HELM_IMAGE_STRATEGY: Entity = entity(
    kinds::HELM_IMAGE_STRATEGY,
    "HelmImageStrategy",
    "How images reach the values of a chart.",
    &[&[
        field("fqn", One(kinds::HELM_FQNCONFIG), "Give the image as one value.").kept().until(V3ALPHA1),
        field("helm", One(kinds::HELM_CONVENTION_CONFIG), "Give repository and tag as two values.")
            .kept()
            .until(V3ALPHA1),
    ]],
);

/// `JibGradleArtifact`, which only older versions have.
pub(crate) static JIB_GRADLE_ARTIFACT: Entity = entity(
    kinds::JIB_GRADLE_ARTIFACT,
    "JibGradleArtifact",
    "A Jib build with Gradle.",
    &[&[
        field("project", Scalar, "Project to build.").until(V1BETA14),
        field("args", TEXTS, "Further arguments of the build tool.").since(V1BETA5).until(V1BETA14),
    ]],
);

/// `JibMavenArtifact`, which only older versions have.
pub(crate) static JIB_MAVEN_ARTIFACT: Entity = entity(
    kinds::JIB_MAVEN_ARTIFACT,
    "JibMavenArtifact",
    "A Jib build with Maven.",
    &[&[
        field("module", Scalar, "Module to build.").until(V1BETA14),
        field("profile", Scalar, "Maven profile to use.").until(V1BETA14),
        field("args", TEXTS, "Further arguments of the build tool.").since(V1BETA5).until(V1BETA14),
    ]],
);

/// `KanikoBuild`, which only older versions have.
pub(crate) static KANIKO_BUILD: Entity = entity(
    kinds::KANIKO_BUILD,
    "KanikoBuild",
    "Builds with kaniko in the cluster.",
    &[&[
        field("buildContext", One(kinds::KANIKO_BUILD_CONTEXT), "How the context reaches kaniko.")
            .kept()
            .since(V1ALPHA3)
            .until(V1BETA7),
        field("cache", One(kinds::KANIKO_CACHE), "Layer cache.").kept().since(V1BETA1).until(V1BETA7),
        field("dockerConfig", One(kinds::DOCKER_CONFIG), "Docker configuration handed to the builder.")
            .kept()
            .since(V1BETA3)
            .until(V1BETA7),
        field("flags", TEXTS, "Further flags of kaniko.").since(V1BETA2).until(V1BETA7),
        field("gcsBucket", Scalar, "Bucket that receives the context.").until(V1ALPHA3),
        field("image", Scalar, "Image of kaniko itself.").since(V1ALPHA4).until(V1BETA7),
        field("namespace", Scalar, "Namespace of the build pods.").until(V1BETA7),
        field("pullSecret", Scalar, "File with the account key.").until(V1BETA7),
        field("pullSecretName", Scalar, "Name of the secret that holds the key.").until(V1BETA7),
        field("timeout", Scalar, "How long a build may take.").until(V1BETA7),
    ]],
);

/// `KanikoBuildContext`, which only older versions have.
pub(crate) static KANIKO_BUILD_CONTEXT: Entity = entity(
    kinds::KANIKO_BUILD_CONTEXT,
    "KanikoBuildContext",
    "How the context reaches kaniko.",
    &[&[
        field("gcsBucket", Scalar, "Bucket that receives the context.").until(V2ALPHA2),
        field("localDir", One(kinds::LOCAL_DIR), "Copy the context from this machine.")
            .kept()
            .since(V1ALPHA4)
            .until(V2ALPHA2),
    ]],
);

/// `LocalDir`, which only older versions have.
pub(crate) static LOCAL_DIR: Entity = entity(
    kinds::LOCAL_DIR,
    "LocalDir",
    "A context that is copied from this machine.",
    &[&[field("initImage", Scalar, "Image of the init container that receives the context.").until(V2ALPHA2)]],
);

/// `KptApplyInventory`, which only older versions have.
pub(crate) static KPT_APPLY_INVENTORY: Entity = entity(
    kinds::KPT_APPLY_INVENTORY,
    "KptApplyInventory",
    "The inventory that kpt applies with.",
    &[&[
        field("dir", Scalar, "Directory of the inventory.").until(V3ALPHA1),
        field("inventoryID", Scalar, "Identity of the inventory.").until(V3ALPHA1),
        field("inventoryNamespace", Scalar, "Namespace of the inventory.").until(V3ALPHA1),
    ]],
);

/// `KptApplyOptions`, which only older versions have.
pub(crate) static KPT_APPLY_OPTIONS: Entity = entity(
    kinds::KPT_APPLY_OPTIONS,
    "KptApplyOptions",
    "Options of applying with kpt.",
    &[&[
        field("pollPeriod", Scalar, "How often the status is asked for.").until(V3ALPHA1),
        field("prunePropagationPolicy", Scalar, "How pruning reaches dependants.").until(V3ALPHA1),
        field("pruneTimeout", Scalar, "How long pruning may take.").until(V3ALPHA1),
        field("reconcileTimeout", Scalar, "How long reconciling may take.").until(V3ALPHA1),
    ]],
);

/// `KptFn`, which only older versions have.
pub(crate) static KPT_FN: Entity = entity(
    kinds::KPT_FN,
    "KptFn",
    "Functions that kpt runs.",
    &[&[
        field("fnPath", Scalar, "Directory with function configurations.").until(V3ALPHA1),
        field("image", Scalar, "Image of a function.").until(V3ALPHA1),
        field("networkName", Scalar, "Docker network of functions.").until(V3ALPHA1),
        field("globalScope", Bool, "Run functions over all resources.").until(V3ALPHA1),
        field("network", Bool, "Allow functions to use the network.").until(V3ALPHA1),
        field("mount", TEXTS, "Directories mounted into functions.").until(V3ALPHA1),
        field("sinkDir", Scalar, "Directory that receives the result.").since(V2BETA8).until(V3ALPHA1),
    ]],
);

/// `KptLive`, which only older versions have.
pub(crate) static KPT_LIVE: Entity = entity(
    kinds::KPT_LIVE,
    "KptLive",
    "How kpt applies manifests.",
    &[&[
        field("inventoryID", Scalar, "Identity of the inventory.").until(V2BETA8),
        field("inventoryNamespace", Scalar, "Namespace of the inventory.").until(V2BETA8),
        field("options", One(kinds::KPT_APPLY_OPTIONS), "Options of applying.").since(V2BETA8).until(V3ALPHA1),
        field("apply", One(kinds::KPT_LIVE_APPLY), "Inventory of the resources.").until(V2BETA8),
        field("apply", One(kinds::KPT_APPLY_INVENTORY), "Inventory of the resources.").since(V2BETA8).until(V3ALPHA1),
    ]],
);

/// `KptLiveApply`, which only older versions have.
pub(crate) static KPT_LIVE_APPLY: Entity = entity(
    kinds::KPT_LIVE_APPLY,
    "KptLiveApply",
    "How kpt applies manifests and waits.",
    &[&[
        field("pollPeriod", Scalar, "How often the status is asked for.").until(V2BETA8),
        field("prunePropagationPolicy", Scalar, "How pruning reaches dependants.").until(V2BETA8),
        field("pruneTimeout", Scalar, "How long pruning may take.").until(V2BETA8),
        field("reconcileTimeout", Scalar, "How long reconciling may take.").until(V2BETA8),
    ]],
);

/// `KustomizeDeploy`, which only older versions have.
pub(crate) static KUSTOMIZE_DEPLOY: Entity = entity(
    kinds::KUSTOMIZE_DEPLOY,
    "KustomizeDeploy",
    "Deploying kustomizations.",
    &[&[
        field("paths", TEXTS, "Directories with a kustomization.").since(V2ALPHA3).until(V3ALPHA1),
        field("path", Scalar, "Directory with a kustomization.").since(V1ALPHA4).until(V2ALPHA3),
        field("kustomizePath", Scalar, "Directory with a kustomization.").until(V1ALPHA4),
        field("flags", One(kinds::KUBECTL_FLAGS), "Further flags of kubectl.").until(V3ALPHA1),
        field("buildArgs", TEXTS, "Further arguments of `kustomize build`.").since(V1BETA15).until(V3ALPHA1),
        field("defaultNamespace", Scalar, "Namespace for manifests without one.").kept().since(V2BETA8).until(V3ALPHA1),
        field("hooks", One(kinds::DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA22).until(V3ALPHA1),
    ]],
);

/// `Manifest`, which only older versions have.
pub static MANIFEST: Entity = entity(
    kinds::MANIFEST,
    "Manifest",
    "Manifest files and their parameters.",
    &[&[
        field("paths", TEXTS, "Manifest files.").until(V1ALPHA2),
        field("parameters", TEXT_MAP, "Parameters of the manifests.").until(V1ALPHA2),
    ]],
);

/// `sync.auto` before it became a switch.
pub(crate) static AUTO: Entity = entity(kinds::AUTO, "Auto", "Let the builder decide what to copy.", &[]);
