//! Rows of the schema table: commands that run around a phase.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::Shape::{Bool, Many, Maybe, Text, Texts};
use super::{Entity, field};
use crate::editions::{V2BETA27, V4BETA9};

/// Rows of `BuildHooks`.
pub(crate) static BUILD_HOOKS: Entity = Entity {
    name: "BuildHooks",
    groups: &[&[
        field("before", Many(&HOST_HOOK), "Commands before the build."),
        field("after", Many(&HOST_HOOK), "Commands after the build."),
    ]],
};

/// Rows of `SyncHooks`.
pub(crate) static SYNC_HOOKS: Entity = Entity {
    name: "SyncHooks",
    groups: &[&[
        field("before", Many(&SYNC_HOOK_ITEM), "Commands before each copy."),
        field("after", Many(&SYNC_HOOK_ITEM), "Commands after each copy."),
    ]],
};

/// Rows of `SyncHookItem`.
pub(crate) static SYNC_HOOK_ITEM: Entity = Entity {
    name: "SyncHookItem",
    groups: &[&[
        field("host", Maybe(&HOST_HOOK), "Command on this machine.").one_of("sync_hook"),
        field("container", Maybe(&CONTAINER_HOOK), "Command in the container.").one_of("sync_hook"),
    ]],
};

/// Rows of `RenderHooks`.
pub(crate) static RENDER_HOOKS: Entity = Entity {
    name: "RenderHooks",
    groups: &[&[
        field("before", Many(&RENDER_HOOK_ITEM), "Commands before rendering."),
        field("after", Many(&RENDER_HOOK_ITEM), "Commands after rendering.").until(V4BETA9),
        field("after", Many(&POST_RENDER_HOOK_ITEM), "Commands after rendering.").since(V4BETA9),
    ]],
};

/// Rows of `RenderHookItem`.
pub(crate) static RENDER_HOOK_ITEM: Entity = Entity {
    name: "RenderHookItem",
    groups: &[&[field("host", Maybe(&HOST_HOOK), "Command on this machine.").one_of("render_hook")]],
};

/// Rows of `PostRenderHookItem`.
pub(crate) static POST_RENDER_HOOK_ITEM: Entity = Entity {
    name: "PostRenderHookItem",
    groups: &[&[field(
        "host",
        Maybe(&POST_RENDER_HOST_HOOK),
        "Command on this machine that may change the manifests.",
    )
    .one_of("render_hook")]],
};

/// Rows of `PostRenderHostHook`.
pub(crate) static POST_RENDER_HOST_HOOK: Entity = Entity {
    name: "PostRenderHostHook",
    groups: &[&[
        field("command", Texts, "Command and arguments.").required().always(),
        field("os", Texts, "Operating systems the command is for."),
        field("dir", Text, "Directory the command runs in.").path(),
        field("withChange", Bool, "Replace the manifests by the output of the command."),
    ]],
};

/// Rows of `CloudRunDeployHooks`.
pub(crate) static CLOUD_RUN_DEPLOY_HOOKS: Entity = Entity {
    name: "CloudRunDeployHooks",
    groups: &[&[
        field("before", Many(&HOST_HOOK), "Commands before the deployment."),
        field("after", Many(&HOST_HOOK), "Commands after the deployment."),
    ]],
};

/// Rows of `DeployHooks`.
pub(crate) static DEPLOY_HOOKS: Entity = Entity {
    name: "DeployHooks",
    groups: &[&[
        field("before", Many(&DEPLOY_HOOK_ITEM), "Commands before the deployment."),
        field("after", Many(&DEPLOY_HOOK_ITEM), "Commands after the deployment."),
    ]],
};

/// Rows of `DeployHookItem`.
pub(crate) static DEPLOY_HOOK_ITEM: Entity = Entity {
    name: "DeployHookItem",
    groups: &[&[
        field("host", Maybe(&HOST_HOOK), "Command on this machine.").one_of("deploy_hook"),
        field("container", Maybe(&NAMED_CONTAINER_HOOK), "Command in a container of the cluster.")
            .one_of("deploy_hook"),
    ]],
};

/// Rows of `HostHook`.
pub(crate) static HOST_HOOK: Entity = Entity {
    name: "HostHook",
    groups: &[&[
        field("command", Texts, "Command and arguments.").required().always(),
        field("os", Texts, "Operating systems the command is for."),
        field("dir", Text, "Directory the command runs in.").path().since(V2BETA27),
    ]],
};

/// Rows of `ContainerHook`.
pub(crate) static CONTAINER_HOOK: Entity = Entity {
    name: "ContainerHook",
    groups: &[&[field("command", Texts, "Command and arguments.").required().always()]],
};

/// Rows of `NamedContainerHook`.
pub(crate) static NAMED_CONTAINER_HOOK: Entity = Entity {
    name: "NamedContainerHook",
    groups: &[&[
        field("command", Texts, "Command and arguments.").required().always(),
        field("podName", Text, "Pattern of the pod's name.").required().always(),
        field("containerName", Text, "Pattern of the container's name."),
    ]],
};
