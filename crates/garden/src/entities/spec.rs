//! Rows of the specs of known action types, and which type has which.
//!
//! They are complete enough to check and resolve real projects. A key that a type has and this table lacks is worth
//! a warning at most, so types that change often take further keys.

use super::{
    ARTIFACT, CONTAINER_BUILD, CONTAINER_DEPLOY, CONTAINER_RUN, EXEC_BUILD, EXEC_DEPLOY, EXEC_RUN, GENERIC, HELM_CHART,
    HELM_DEPLOY, KUBERNETES_DEPLOY, KUBERNETES_RUN, RESOURCE_RANGE,
};
use crate::config::ActionKind;
use purlin_model::schema::{Entity, Field, Kind, Literal, Shape, entity, field};

const TEXTS: Shape = Shape::ListOf(&Shape::Scalar);
const ENVIRONMENT: Shape = Shape::MapOf(&Shape::Any);
const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);

const SHELL: &[Field] = &[
    field("shell", Shape::Bool, "Whether the command is run by a shell."),
    field("env", ENVIRONMENT, "Environment variables of the command.").default(EMPTY_MAP),
];

pub(super) const EXEC_BUILD_ROW: Entity = entity(
    EXEC_BUILD,
    "exec Build spec",
    "A command that builds.",
    &[
        SHELL,
        &[
            field("command", TEXTS, "The command.").default(EMPTY_LIST),
            field("statusCommand", TEXTS, "A command that tells whether there is nothing to do."),
        ],
    ],
);

pub(super) const EXEC_DEPLOY_ROW: Entity = entity(
    EXEC_DEPLOY,
    "exec Deploy spec",
    "Commands that bring something up and down.",
    &[
        SHELL,
        &[
            field("deployCommand", TEXTS, "The command that brings it up."),
            field("statusCommand", TEXTS, "A command that tells whether it is up."),
            field("cleanupCommand", TEXTS, "The command that takes it down."),
            field("persistent", Shape::Bool, "Whether the command keeps running.").default(Literal::Bool(false)),
            field("statusTimeout", Shape::Integer, "Seconds to wait until it is up.").default(Literal::Int(10)),
            field("syncMode", Shape::Any, "What is different in sync mode."),
        ],
    ],
);

pub(super) const EXEC_RUN_ROW: Entity = entity(
    EXEC_RUN,
    "exec spec",
    "A command.",
    &[
        SHELL,
        &[
            field("command", TEXTS, "The command.").required(),
            field("statusCommand", TEXTS, "A command that tells whether there is nothing to do."),
            field("artifacts", Shape::List(ARTIFACT), "Files that are kept."),
        ],
    ],
);

pub(super) const ARTIFACT_ROW: Entity = entity(
    ARTIFACT,
    "artifact",
    "Files that are kept.",
    &[&[
        field("source", Shape::Text, "A pattern of files.").required(),
        field("target", Shape::Text, "Where they are put.").default(Literal::Text(".")),
    ]],
);

pub(super) const CONTAINER_BUILD_ROW: Entity = entity(
    CONTAINER_BUILD,
    "container Build spec",
    "An image.",
    &[&[
        field("buildArgs", ENVIRONMENT, "Arguments of the build.").default(EMPTY_MAP),
        field("dockerfile", Shape::Text, "The Dockerfile.").default(Literal::Text("Dockerfile")),
        field("extraFlags", TEXTS, "Flags of the build command."),
        field("localId", Shape::Text, "The name of the image here."),
        field("publishId", Shape::Text, "The name under which it is published."),
        field("targetStage", Shape::Text, "The stage to stop at."),
        field("platforms", TEXTS, "The platforms it is built for."),
        field("secrets", ENVIRONMENT, "Secrets the build may read."),
    ]],
);

const CONTAINER_COMMON: &[Field] = &[
    field("image", Shape::Text, "The image."),
    field("command", TEXTS, "What runs instead of the image's own entrypoint."),
    field("args", TEXTS, "Arguments of what runs."),
    field("env", ENVIRONMENT, "Environment variables.").default(EMPTY_MAP),
    field("cpu", Shape::One(RESOURCE_RANGE), "Processor time, in thousandths.")
        .default(Literal::Map(&[("min", Literal::Int(10)), ("max", Literal::Int(1000))])),
    field("memory", Shape::One(RESOURCE_RANGE), "Memory, in megabytes.")
        .default(Literal::Map(&[("min", Literal::Int(90)), ("max", Literal::Int(1024))])),
    field("volumes", Shape::ListOf(&Shape::Any), "Volumes.").default(EMPTY_LIST),
    field("privileged", Shape::Bool, "Whether it runs with the rights of the host."),
    field("addCapabilities", TEXTS, "Capabilities it gets."),
    field("dropCapabilities", TEXTS, "Capabilities it loses."),
];

pub(super) const CONTAINER_DEPLOY_ROW: Entity = entity(
    CONTAINER_DEPLOY,
    "container Deploy spec",
    "Containers that keep running.",
    &[
        CONTAINER_COMMON,
        &[
            field("tty", Shape::Bool, "Whether it gets a terminal.").default(Literal::Bool(false)),
            field("deploymentStrategy", Shape::Choice(&["RollingUpdate", "Recreate"]), "How it is replaced.")
                .default(Literal::Text("RollingUpdate")),
            field("annotations", ENVIRONMENT, "Annotations.").default(EMPTY_MAP),
            field("daemon", Shape::Bool, "Whether it runs on every node.").default(Literal::Bool(false)),
            field("ingresses", Shape::ListOf(&Shape::Any), "Where it is reached from outside.").default(EMPTY_LIST),
            field("timeout", Shape::Integer, "Seconds to wait until it is up.").default(Literal::Int(300)),
            field("ports", Shape::ListOf(&Shape::Any), "Ports it listens on.").default(EMPTY_LIST),
            field("replicas", Shape::Integer, "How many there are."),
            field("healthCheck", Shape::Any, "How to tell that it is well."),
            field("limits", Shape::Any, "What it may use at most.").deprecated("use `cpu` and `memory`"),
            field("sync", Shape::Any, "Files that are kept in step in sync mode."),
            field("localMode", Shape::Any, "What runs here instead in local mode."),
        ],
    ],
);

pub(super) const CONTAINER_RUN_ROW: Entity = entity(
    CONTAINER_RUN,
    "container spec",
    "A container that runs once.",
    &[
        CONTAINER_COMMON,
        &[
            field("artifacts", Shape::List(ARTIFACT), "Files that are kept.").default(EMPTY_LIST),
            field("cacheResult", Shape::Bool, "Whether it is left out when nothing changed.")
                .default(Literal::Bool(true)),
        ],
    ],
);

pub(super) const RESOURCE_ROW: Entity = entity(
    RESOURCE_RANGE,
    "resource range",
    "How much of something is used.",
    &[&[
        field("min", Shape::Number, "At least."),
        field("max", Shape::Union(&[Shape::Number, Shape::Any]), "At most."),
    ]],
);

pub(super) const KUBERNETES_DEPLOY_ROW: Entity = entity(
    KUBERNETES_DEPLOY,
    "kubernetes Deploy spec",
    "Kubernetes resources.",
    &[&[
        field("manifests", Shape::ListOf(&Shape::Any), "Resources, written in place."),
        field("manifestFiles", TEXTS, "Files with resources, without templates."),
        field("manifestTemplates", TEXTS, "Files with resources, with templates."),
        field("files", TEXTS, "Files with resources.").deprecated("use `manifestTemplates` or `manifestFiles`"),
        field("namespace", Shape::Text, "The namespace."),
    ]],
)
.rest(field("settings", Shape::MapOf(&Shape::Any), "Further settings."));

pub(super) const KUBERNETES_RUN_ROW: Entity = entity(
    KUBERNETES_RUN,
    "kubernetes spec",
    "Something that runs in a cluster.",
    &[&[
        field("command", TEXTS, "What runs."),
        field("args", TEXTS, "Its arguments."),
        field("env", ENVIRONMENT, "Environment variables."),
        field("image", Shape::Text, "The image."),
        field("namespace", Shape::Text, "The namespace."),
    ]],
)
.rest(field("settings", Shape::MapOf(&Shape::Any), "Further settings."));

pub(super) const HELM_DEPLOY_ROW: Entity = entity(
    HELM_DEPLOY,
    "helm Deploy spec",
    "A chart.",
    &[&[
        field("chart", Shape::One(HELM_CHART), "The chart."),
        field("values", ENVIRONMENT, "Its values.").default(EMPTY_MAP),
        field("valueFiles", TEXTS, "Files with values.").default(EMPTY_LIST),
        field("releaseName", Shape::Text, "The name of the release."),
        field("namespace", Shape::Text, "The namespace."),
        field("atomic", Shape::Bool, "Whether a failure is undone.").default(Literal::Bool(false)),
    ]],
)
.rest(field("settings", Shape::MapOf(&Shape::Any), "Further settings."));

pub(super) const HELM_CHART_ROW: Entity = entity(
    HELM_CHART,
    "chart",
    "Where a chart is.",
    &[&[
        field("name", Shape::Text, "Its name in a repository."),
        field("path", Shape::Text, "Its folder."),
        field("repo", Shape::Text, "The repository."),
        field("url", Shape::Text, "Its address."),
        field("version", Shape::Scalar, "Its version."),
    ]],
);

pub(super) const GENERIC_ROW: Entity = entity(GENERIC, "spec", "What a type needs to know.", &[]).rest(field(
    "settings",
    Shape::MapOf(&Shape::Any),
    "Settings of the type.",
));

/// What is known of one kind of action of one type.
#[derive(Clone, Copy, Debug)]
pub struct SpecType {
    /// The type.
    pub type_name: &'static str,
    /// The kind of action.
    pub kind: ActionKind,
    /// The row of its spec.
    pub row: Kind,
    /// Outputs that are known without running anything.
    pub static_outputs: &'static [&'static str],
}

const IMAGE_OUTPUTS: &[&str] = &[
    "localImageName",
    "localImageId",
    "deploymentImageName",
    "deploymentImageId",
    "deploymentImageTag",
    "local-image-name",
    "local-image-id",
    "deployment-image-name",
    "deployment-image-id",
    "deployment-image-tag",
];

const fn spec(
    type_name: &'static str,
    kind: ActionKind,
    row: Kind,
    static_outputs: &'static [&'static str],
) -> SpecType {
    SpecType { type_name, kind, row, static_outputs }
}

/// All known types.
pub const SPEC_TYPES: &[SpecType] = &[
    spec("exec", ActionKind::Build, EXEC_BUILD, &[]),
    spec("exec", ActionKind::Deploy, EXEC_DEPLOY, &[]),
    spec("exec", ActionKind::Run, EXEC_RUN, &[]),
    spec("exec", ActionKind::Test, EXEC_RUN, &[]),
    spec("container", ActionKind::Build, CONTAINER_BUILD, IMAGE_OUTPUTS),
    spec("container", ActionKind::Deploy, CONTAINER_DEPLOY, &["deployedImageId"]),
    spec("container", ActionKind::Run, CONTAINER_RUN, &[]),
    spec("container", ActionKind::Test, CONTAINER_RUN, &[]),
    spec("kubernetes", ActionKind::Deploy, KUBERNETES_DEPLOY, &[]),
    spec("kubernetes-exec", ActionKind::Run, KUBERNETES_RUN, &[]),
    spec("kubernetes-exec", ActionKind::Test, KUBERNETES_RUN, &[]),
    spec("kubernetes-pod", ActionKind::Run, KUBERNETES_RUN, &[]),
    spec("kubernetes-pod", ActionKind::Test, KUBERNETES_RUN, &[]),
    spec("helm", ActionKind::Deploy, HELM_DEPLOY, &["release-name"]),
    spec("helm-pod", ActionKind::Run, KUBERNETES_RUN, &[]),
    spec("helm-pod", ActionKind::Test, KUBERNETES_RUN, &[]),
    // The type of the original's own test projects: like `exec`, with one output that is always there.
    spec("test", ActionKind::Build, EXEC_BUILD, &["foo"]),
    spec("test", ActionKind::Deploy, EXEC_DEPLOY, &[]),
    spec("test", ActionKind::Run, EXEC_RUN, &[]),
    spec("test", ActionKind::Test, EXEC_RUN, &[]),
];

/// What is known of a type, if anything is.
pub fn spec_type(type_name: &str, kind: ActionKind) -> Option<&'static SpecType> {
    SPEC_TYPES.iter().find(|spec| spec.type_name == type_name && spec.kind == kind)
}
