//! Rows of the schema table: commands that run around a phase.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{TEXTS, kinds};
use crate::editions::{V2BETA27, V4BETA9};
use purlin_model::schema::Shape::{Bool, List, One, Scalar};
use purlin_model::schema::{Entity, entity, field};

/// `BuildHooks`.
pub(crate) static BUILD_HOOKS: Entity = entity(
    kinds::BUILD_HOOKS,
    "BuildHooks",
    "Commands before and after a build.",
    &[&[
        field("before", List(kinds::HOST_HOOK), "Commands before the build."),
        field("after", List(kinds::HOST_HOOK), "Commands after the build."),
    ]],
);

/// `SyncHooks`.
pub(crate) static SYNC_HOOKS: Entity = entity(
    kinds::SYNC_HOOKS,
    "SyncHooks",
    "Commands before and after files are copied.",
    &[&[
        field("before", List(kinds::SYNC_HOOK_ITEM), "Commands before each copy."),
        field("after", List(kinds::SYNC_HOOK_ITEM), "Commands after each copy."),
    ]],
);

/// `SyncHookItem`.
pub(crate) static SYNC_HOOK_ITEM: Entity = entity(
    kinds::SYNC_HOOK_ITEM,
    "SyncHookItem",
    "A command around copying files.",
    &[&[
        field("host", One(kinds::HOST_HOOK), "Command on this machine.").kept().one_of("sync_hook"),
        field("container", One(kinds::CONTAINER_HOOK), "Command in the container.").kept().one_of("sync_hook"),
    ]],
);

/// `RenderHooks`.
pub(crate) static RENDER_HOOKS: Entity = entity(
    kinds::RENDER_HOOKS,
    "RenderHooks",
    "Commands before and after rendering.",
    &[&[
        field("before", List(kinds::RENDER_HOOK_ITEM), "Commands before rendering."),
        field("after", List(kinds::RENDER_HOOK_ITEM), "Commands after rendering.").until(V4BETA9),
        field("after", List(kinds::POST_RENDER_HOOK_ITEM), "Commands after rendering.").since(V4BETA9),
    ]],
);

/// `RenderHookItem`.
pub(crate) static RENDER_HOOK_ITEM: Entity = entity(
    kinds::RENDER_HOOK_ITEM,
    "RenderHookItem",
    "A command before rendering.",
    &[&[field("host", One(kinds::HOST_HOOK), "Command on this machine.").kept().one_of("render_hook")]],
);

/// `PostRenderHookItem`.
pub(crate) static POST_RENDER_HOOK_ITEM: Entity = entity(
    kinds::POST_RENDER_HOOK_ITEM,
    "PostRenderHookItem",
    "A command after rendering.",
    &[&[field("host", One(kinds::POST_RENDER_HOST_HOOK), "Command on this machine that may change the manifests.")
        .kept()
        .one_of("render_hook")]],
);

/// `PostRenderHostHook`.
pub(crate) static POST_RENDER_HOST_HOOK: Entity = entity(
    kinds::POST_RENDER_HOST_HOOK,
    "PostRenderHostHook",
    "A command on this machine that may change what was rendered.",
    &[&[
        field("command", TEXTS, "Command and arguments.").required().written(),
        field("os", TEXTS, "Operating systems the command is for."),
        field("dir", Scalar, "Directory the command runs in.").path(),
        field("withChange", Bool, "Replace the manifests by the output of the command."),
    ]],
);

/// `CloudRunDeployHooks`.
pub(crate) static CLOUD_RUN_DEPLOY_HOOKS: Entity = entity(
    kinds::CLOUD_RUN_DEPLOY_HOOKS,
    "CloudRunDeployHooks",
    "Commands before and after a deployment to Cloud Run.",
    &[&[
        field("before", List(kinds::HOST_HOOK), "Commands before the deployment."),
        field("after", List(kinds::HOST_HOOK), "Commands after the deployment."),
    ]],
);

/// `DeployHooks`.
pub(crate) static DEPLOY_HOOKS: Entity = entity(
    kinds::DEPLOY_HOOKS,
    "DeployHooks",
    "Commands before and after a deployment.",
    &[&[
        field("before", List(kinds::DEPLOY_HOOK_ITEM), "Commands before the deployment."),
        field("after", List(kinds::DEPLOY_HOOK_ITEM), "Commands after the deployment."),
    ]],
);

/// `DeployHookItem`.
pub(crate) static DEPLOY_HOOK_ITEM: Entity = entity(
    kinds::DEPLOY_HOOK_ITEM,
    "DeployHookItem",
    "A command around a deployment.",
    &[&[
        field("host", One(kinds::HOST_HOOK), "Command on this machine.").kept().one_of("deploy_hook"),
        field("container", One(kinds::NAMED_CONTAINER_HOOK), "Command in a container of the cluster.")
            .kept()
            .one_of("deploy_hook"),
    ]],
);

/// `HostHook`.
pub(crate) static HOST_HOOK: Entity = entity(
    kinds::HOST_HOOK,
    "HostHook",
    "A command on this machine.",
    &[&[
        field("command", TEXTS, "Command and arguments.").required().written(),
        field("os", TEXTS, "Operating systems the command is for."),
        field("dir", Scalar, "Directory the command runs in.").path().since(V2BETA27),
    ]],
);

/// `ContainerHook`.
pub(crate) static CONTAINER_HOOK: Entity = entity(
    kinds::CONTAINER_HOOK,
    "ContainerHook",
    "A command in the container that is worked on.",
    &[&[field("command", TEXTS, "Command and arguments.").required().written()]],
);

/// `NamedContainerHook`.
pub(crate) static NAMED_CONTAINER_HOOK: Entity = entity(
    kinds::NAMED_CONTAINER_HOOK,
    "NamedContainerHook",
    "A command in a container that is named.",
    &[&[
        field("command", TEXTS, "Command and arguments.").required().written(),
        field("podName", Scalar, "Pattern of the pod's name.").required().written(),
        field("containerName", Scalar, "Pattern of the container's name."),
    ]],
);
