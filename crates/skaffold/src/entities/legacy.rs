//! Rows of the schema table: entities that only older versions have.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::Shape::{Any, Bool, Many, Maybe, One, OptText, Text, TextMap, Texts};
use super::artifact::KANIKO_CACHE;
use super::build::DOCKER_CONFIG;
use super::deploy::{HELM_DEPLOY_FLAGS, HELM_RELEASE, KUBECTL_FLAGS};
use super::hooks::DEPLOY_HOOKS;
use super::{Entity, field};
use crate::editions::{
    V1ALPHA2, V1ALPHA3, V1ALPHA4, V1BETA1, V1BETA2, V1BETA3, V1BETA5, V1BETA6, V1BETA7, V1BETA9, V1BETA14, V1BETA15,
    V2ALPHA2, V2ALPHA3, V2BETA8, V2BETA22, V3ALPHA1, V4BETA3,
};

/// Rows of `AzureContainerBuild`, which only older versions have.
pub(crate) static AZURE_CONTAINER_BUILD: Entity = Entity {
    name: "AzureContainerBuild",
    groups: &[&[
        field("subscriptionId", Text, "Subscription that runs the build.").until(V1BETA1),
        field("clientId", Text, "Client that runs the build.").until(V1BETA1),
        field("clientSecret", Text, "Password of the client.").until(V1BETA1),
        field("tenantId", Text, "Tenant of the client.").until(V1BETA1),
    ]],
};

/// Rows of `BuilderPlugin`, which only older versions have.
pub(crate) static BUILDER_PLUGIN: Entity = Entity {
    name: "BuilderPlugin",
    groups: &[&[
        field("name", Text, "Name of the builder.").until(V1BETA9),
        field("properties", Any, "Settings of the builder.").until(V1BETA9),
    ]],
};

/// Rows of `ExecutionEnvironment`, which only older versions have.
pub(crate) static EXECUTION_ENVIRONMENT: Entity = Entity {
    name: "ExecutionEnvironment",
    groups: &[&[
        field("name", Text, "Name of the environment.").until(V1BETA9),
        field("properties", Any, "Settings of the environment.").until(V1BETA9),
    ]],
};

/// Rows of `HelmDeploy`, which only older versions have.
pub static HELM_DEPLOY: Entity = Entity {
    name: "HelmDeploy",
    groups: &[&[
        field("releases", Many(&HELM_RELEASE), "Releases to install.").until(V3ALPHA1),
        field("flags", One(&HELM_DEPLOY_FLAGS), "Further flags of helm commands.").since(V1BETA6).until(V3ALPHA1),
        field("hooks", One(&DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA22).until(V3ALPHA1),
    ]],
};

/// Rows of `HelmConventionConfig`, which only older versions have.
pub(crate) static HELM_CONVENTION_CONFIG: Entity = Entity {
    name: "HelmConventionConfig",
    groups: &[&[field("explicitRegistry", Bool, "Give the registry as a value of its own.").until(V4BETA3)]],
};

/// Rows of `HelmFQNConfig`, which only older versions have.
pub(crate) static HELM_FQNCONFIG: Entity = Entity {
    name: "HelmFQNConfig",
    groups: &[&[field("property", Text, "Value that receives the image.").until(V4BETA3)]],
};

/// Rows of `HelmImageStrategy`, which only older versions have.
pub(crate) static HELM_IMAGE_STRATEGY: Entity = Entity {
    name: "HelmImageStrategy",
    groups: &[&[
        field("fqn", Maybe(&HELM_FQNCONFIG), "Give the image as one value.").until(V3ALPHA1),
        field("helm", Maybe(&HELM_CONVENTION_CONFIG), "Give repository and tag as two values.").until(V3ALPHA1),
    ]],
};

/// Rows of `JibGradleArtifact`, which only older versions have.
pub(crate) static JIB_GRADLE_ARTIFACT: Entity = Entity {
    name: "JibGradleArtifact",
    groups: &[&[
        field("project", Text, "Project to build.").until(V1BETA14),
        field("args", Texts, "Further arguments of the build tool.").since(V1BETA5).until(V1BETA14),
    ]],
};

/// Rows of `JibMavenArtifact`, which only older versions have.
pub(crate) static JIB_MAVEN_ARTIFACT: Entity = Entity {
    name: "JibMavenArtifact",
    groups: &[&[
        field("module", Text, "Module to build.").until(V1BETA14),
        field("profile", Text, "Maven profile to use.").until(V1BETA14),
        field("args", Texts, "Further arguments of the build tool.").since(V1BETA5).until(V1BETA14),
    ]],
};

/// Rows of `KanikoBuild`, which only older versions have.
pub(crate) static KANIKO_BUILD: Entity = Entity {
    name: "KanikoBuild",
    groups: &[&[
        field("buildContext", Maybe(&KANIKO_BUILD_CONTEXT), "How the context reaches kaniko.")
            .since(V1ALPHA3)
            .until(V1BETA7),
        field("cache", Maybe(&KANIKO_CACHE), "Layer cache.").since(V1BETA1).until(V1BETA7),
        field("dockerConfig", Maybe(&DOCKER_CONFIG), "Docker configuration handed to the builder.")
            .since(V1BETA3)
            .until(V1BETA7),
        field("flags", Texts, "Further flags of kaniko.").since(V1BETA2).until(V1BETA7),
        field("gcsBucket", Text, "Bucket that receives the context.").until(V1ALPHA3),
        field("image", Text, "Image of kaniko itself.").since(V1ALPHA4).until(V1BETA7),
        field("namespace", Text, "Namespace of the build pods.").until(V1BETA7),
        field("pullSecret", Text, "File with the account key.").until(V1BETA7),
        field("pullSecretName", Text, "Name of the secret that holds the key.").until(V1BETA7),
        field("timeout", Text, "How long a build may take.").until(V1BETA7),
    ]],
};

/// Rows of `KanikoBuildContext`, which only older versions have.
pub(crate) static KANIKO_BUILD_CONTEXT: Entity = Entity {
    name: "KanikoBuildContext",
    groups: &[&[
        field("gcsBucket", Text, "Bucket that receives the context.").until(V2ALPHA2),
        field("localDir", Maybe(&LOCAL_DIR), "Copy the context from this machine.").since(V1ALPHA4).until(V2ALPHA2),
    ]],
};

/// Rows of `LocalDir`, which only older versions have.
pub(crate) static LOCAL_DIR: Entity = Entity {
    name: "LocalDir",
    groups: &[&[field("initImage", Text, "Image of the init container that receives the context.").until(V2ALPHA2)]],
};

/// Rows of `KptApplyInventory`, which only older versions have.
pub(crate) static KPT_APPLY_INVENTORY: Entity = Entity {
    name: "KptApplyInventory",
    groups: &[&[
        field("dir", Text, "Directory of the inventory.").until(V3ALPHA1),
        field("inventoryID", Text, "Identity of the inventory.").until(V3ALPHA1),
        field("inventoryNamespace", Text, "Namespace of the inventory.").until(V3ALPHA1),
    ]],
};

/// Rows of `KptApplyOptions`, which only older versions have.
pub(crate) static KPT_APPLY_OPTIONS: Entity = Entity {
    name: "KptApplyOptions",
    groups: &[&[
        field("pollPeriod", Text, "How often the status is asked for.").until(V3ALPHA1),
        field("prunePropagationPolicy", Text, "How pruning reaches dependants.").until(V3ALPHA1),
        field("pruneTimeout", Text, "How long pruning may take.").until(V3ALPHA1),
        field("reconcileTimeout", Text, "How long reconciling may take.").until(V3ALPHA1),
    ]],
};

/// Rows of `KptFn`, which only older versions have.
pub(crate) static KPT_FN: Entity = Entity {
    name: "KptFn",
    groups: &[&[
        field("fnPath", Text, "Directory with function configurations.").until(V3ALPHA1),
        field("image", Text, "Image of a function.").until(V3ALPHA1),
        field("networkName", Text, "Docker network of functions.").until(V3ALPHA1),
        field("globalScope", Bool, "Run functions over all resources.").until(V3ALPHA1),
        field("network", Bool, "Allow functions to use the network.").until(V3ALPHA1),
        field("mount", Texts, "Directories mounted into functions.").until(V3ALPHA1),
        field("sinkDir", Text, "Directory that receives the result.").since(V2BETA8).until(V3ALPHA1),
    ]],
};

/// Rows of `KptLive`, which only older versions have.
pub(crate) static KPT_LIVE: Entity = Entity {
    name: "KptLive",
    groups: &[&[
        field("inventoryID", Text, "Identity of the inventory.").until(V2BETA8),
        field("inventoryNamespace", Text, "Namespace of the inventory.").until(V2BETA8),
        field("options", One(&KPT_APPLY_OPTIONS), "Options of applying.").since(V2BETA8).until(V3ALPHA1),
        field("apply", One(&KPT_LIVE_APPLY), "Inventory of the resources.").until(V2BETA8),
        field("apply", One(&KPT_APPLY_INVENTORY), "Inventory of the resources.").since(V2BETA8).until(V3ALPHA1),
    ]],
};

/// Rows of `KptLiveApply`, which only older versions have.
pub(crate) static KPT_LIVE_APPLY: Entity = Entity {
    name: "KptLiveApply",
    groups: &[&[
        field("pollPeriod", Text, "How often the status is asked for.").until(V2BETA8),
        field("prunePropagationPolicy", Text, "How pruning reaches dependants.").until(V2BETA8),
        field("pruneTimeout", Text, "How long pruning may take.").until(V2BETA8),
        field("reconcileTimeout", Text, "How long reconciling may take.").until(V2BETA8),
    ]],
};

/// Rows of `KustomizeDeploy`, which only older versions have.
pub(crate) static KUSTOMIZE_DEPLOY: Entity = Entity {
    name: "KustomizeDeploy",
    groups: &[&[
        field("paths", Texts, "Directories with a kustomization.").since(V2ALPHA3).until(V3ALPHA1),
        field("path", Text, "Directory with a kustomization.").since(V1ALPHA4).until(V2ALPHA3),
        field("kustomizePath", Text, "Directory with a kustomization.").until(V1ALPHA4),
        field("flags", One(&KUBECTL_FLAGS), "Further flags of kubectl.").until(V3ALPHA1),
        field("buildArgs", Texts, "Further arguments of `kustomize build`.").since(V1BETA15).until(V3ALPHA1),
        field("defaultNamespace", OptText, "Namespace for manifests without one.").since(V2BETA8).until(V3ALPHA1),
        field("hooks", One(&DEPLOY_HOOKS), "Commands around the deployment.").since(V2BETA22).until(V3ALPHA1),
    ]],
};

/// Rows of `Manifest`, which only older versions have.
pub static MANIFEST: Entity = Entity {
    name: "Manifest",
    groups: &[&[
        field("paths", Texts, "Manifest files.").until(V1ALPHA2),
        field("parameters", TextMap, "Parameters of the manifests.").until(V1ALPHA2),
    ]],
};

/// `sync.auto` before it became a switch.
pub(crate) static AUTO: Entity = Entity { name: "Auto", groups: &[] };
