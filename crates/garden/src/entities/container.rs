//! Rows of the `container` types: images, and containers that run.

use super::words::{
    ABSOLUTE, ABSOLUTE_FILES, ADDRESS, ARGUMENTS, BOOL, CPU_LIMIT, CPU_MAXIMUM, ENVIRONMENT, FILE_LIST, FULL_TEXTS,
    HOST, INTEGER, MEMORY_LIMIT, MEMORY_MAXIMUM, MODE, NAME, NUMBER, PATH, RELATIVE_ADDRESS, SECONDS, SUB_PATH, TEXT,
    TEXT_MAP, TEXTS,
};
use super::{
    CONTAINER_ARTIFACT, CONTAINER_BUILD, CONTAINER_DEPLOY, CONTAINER_LIMITS, CONTAINER_RUN, CONTAINER_SYNC,
    CONTAINER_SYNC_PATH, CPU, HEALTH_CHECK, HTTP_CHECK, INGRESS, LOCAL_MODE, LOCAL_MODE_PORT, LOCAL_MODE_RESTART,
    MEMORY, PORT, VOLUME,
};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);

/// The name of an image, or `false` for none.
pub(super) const IMAGE_NAME: Shape = Shape::Union(&[TEXT, Shape::Bool]);

/// Keys of everything that builds an image.
pub(super) const IMAGE_KEYS: &[Field] = &[
    field("buildArgs", ARGUMENTS, "Arguments of the build.").default(EMPTY_MAP),
    field("extraFlags", FULL_TEXTS, "Flags of the build command."),
    field("platforms", FULL_TEXTS, "The platforms it is built for."),
    field("secrets", TEXT_MAP, "Secrets the build may read."),
];

pub(super) const CONTAINER_BUILD_ROW: Entity = entity(
    CONTAINER_BUILD,
    "container Build spec",
    "An image.",
    &[
        IMAGE_KEYS,
        &[
            field("dockerfile", SUB_PATH, "The Dockerfile.").default(Literal::Text("Dockerfile")),
            field("localId", IMAGE_NAME, "The name of the image on this machine."),
            field("publishId", IMAGE_NAME, "The name under which it is published."),
            field("targetStage", TEXT, "The stage to stop at."),
            field("hotReload", Shape::Any, "What was reloaded at once.").deprecated("use `sync`"),
        ],
    ],
);

/// Keys of every container that runs, but its image.
pub(super) const CONTAINER_KEYS: &[Field] = &[
    field("command", TEXTS, "What runs instead of the image's own entrypoint."),
    field("args", TEXTS, "Arguments of what runs."),
    field("env", ENVIRONMENT, "Environment variables.").default(EMPTY_MAP),
    field("cpu", Shape::One(CPU), "Processor time, in thousandths.")
        .default(Literal::Map(&[("min", Literal::Int(10)), ("max", Literal::Int(1000))])),
    field("memory", Shape::One(MEMORY), "Memory, in megabytes.")
        .default(Literal::Map(&[("min", Literal::Int(90)), ("max", Literal::Int(1024))])),
    field("volumes", Shape::List(VOLUME), "Volumes.").default(EMPTY_LIST),
    field("privileged", BOOL, "Whether it runs with the rights of the host."),
    field("addCapabilities", FULL_TEXTS, "Capabilities it gets."),
    field("dropCapabilities", FULL_TEXTS, "Capabilities it loses."),
    field("tty", BOOL, "Whether it gets a terminal.").default(Literal::Bool(false)),
    field("deploymentStrategy", Shape::Choice(&["RollingUpdate", "Recreate"]), "How it is replaced.")
        .default(Literal::Text("RollingUpdate")),
];

const IMAGE: Field =
    field("image", TEXT, "The image, for example `${actions.build.web.outputs.deploymentImageId}`.").required();

/// Keys of a container that keeps running.
pub(super) const SERVICE_KEYS: &[Field] = &[
    field("annotations", TEXT_MAP, "Annotations.").default(EMPTY_MAP),
    field("daemon", BOOL, "Whether it runs on every node.").default(Literal::Bool(false)),
    field("ingresses", Shape::List(INGRESS), "How it is reached from outside.").default(EMPTY_LIST),
    field("timeout", INTEGER, "Seconds to wait until it is up.").default(Literal::Int(300)),
    field("ports", Shape::List(PORT), "Ports it listens on.").default(EMPTY_LIST),
    field("replicas", INTEGER, "How many there are."),
    field("healthCheck", Shape::One(HEALTH_CHECK), "How to tell that it is well."),
    field("limits", Shape::One(CONTAINER_LIMITS), "What it may use at most.").deprecated("use `cpu` and `memory`"),
    field("sync", Shape::One(CONTAINER_SYNC), "Files that are kept in step in sync mode.").aliases(&["devMode"]),
    field("localMode", Shape::One(LOCAL_MODE), "What runs here instead in local mode.")
        .deprecated("Garden no longer has a local mode"),
    field("hotReload", Shape::Any, "What was reloaded at once.").deprecated("use `sync`"),
];

/// Keys of a container that runs once.
pub(super) const TASK_KEYS: &[Field] = &[
    field("artifacts", Shape::List(CONTAINER_ARTIFACT), "Files that are kept."),
    field("cacheResult", BOOL, "Whether it is left out when nothing changed.").default(Literal::Bool(true)),
];

pub(super) const CONTAINER_DEPLOY_ROW: Entity = entity(
    CONTAINER_DEPLOY,
    "container Deploy spec",
    "Containers that keep running.",
    &[CONTAINER_KEYS, SERVICE_KEYS, &[IMAGE]],
);

pub(super) const CONTAINER_RUN_ROW: Entity =
    entity(CONTAINER_RUN, "container spec", "A container that runs once.", &[CONTAINER_KEYS, TASK_KEYS, &[IMAGE]]);

pub(super) const CPU_ROW: Entity = entity(
    CPU,
    "cpu range",
    "How much processor time is used.",
    &[&[
        field("min", NUMBER, "At least, in thousandths.").default(Literal::Int(10)),
        field("max", CPU_LIMIT, "At most, in thousandths; null for no limit.").default(Literal::Int(1000)),
    ]],
);

pub(super) const MEMORY_ROW: Entity = entity(
    MEMORY,
    "memory range",
    "How much memory is used.",
    &[&[
        field("min", NUMBER, "At least, in megabytes.").default(Literal::Int(90)),
        field("max", MEMORY_LIMIT, "At most, in megabytes; null for no limit.").default(Literal::Int(1024)),
    ]],
);

pub(super) const VOLUME_ROW: Entity = entity(
    VOLUME,
    "volume",
    "A folder that a container sees.",
    &[&[
        field("name", NAME, "Its name.").required(),
        field("containerPath", PATH, "The path in the container.").required(),
        field("hostPath", PATH, "The path on the host."),
    ]],
);

pub(super) const PORT_ROW: Entity = entity(
    PORT,
    "port",
    "A port that a container listens on.",
    &[&[
        field("name", NAME, "Its name.").required(),
        field("protocol", TEXT, "`TCP` or `UDP`.").default(Literal::Text("TCP")),
        field("containerPort", NUMBER, "The port in the container.").required(),
        field("localPort", NUMBER, "The port on this machine when it is forwarded."),
        field("servicePort", NUMBER, "The port of the service; the container's if not set."),
        field("hostPort", NUMBER, "The port of the node.").deprecated("use `nodePort` or an ingress"),
        field(
            "nodePort",
            Shape::Union(&[Shape::Bool, NUMBER]),
            "The port of every node, or `true` for one that is chosen.",
        ),
    ]],
);

pub(super) const INGRESS_ROW: Entity = entity(
    INGRESS,
    "ingress",
    "How a service is reached from outside.",
    &[&[
        field("annotations", TEXT_MAP, "Annotations.").default(EMPTY_MAP),
        field("hostname", HOST, "The host name."),
        field("linkUrl", ADDRESS, "The address that is shown."),
        field("path", TEXT, "The path.").default(Literal::Text("/")),
        field("port", TEXT, "The name of the port.").required(),
    ]],
);

pub(super) const HEALTH_CHECK_ROW: Entity = entity(
    HEALTH_CHECK,
    "healthCheck",
    "How to tell that a service is well.",
    &[&[
        field("httpGet", Shape::One(HTTP_CHECK), "A request that must succeed.").one_of("check"),
        field("command", TEXTS, "A command that must succeed.").one_of("check"),
        field("tcpPort", TEXT, "The name of a port that must be open.").one_of("check"),
        field("readinessTimeoutSeconds", SECONDS, "Seconds to wait for readiness.").default(Literal::Int(3)),
        field("livenessTimeoutSeconds", SECONDS, "Seconds to wait for liveness.").default(Literal::Int(3)),
    ]],
)
.exactly_one(&["check"]);

pub(super) const HTTP_CHECK_ROW: Entity = entity(
    HTTP_CHECK,
    "healthCheck.httpGet",
    "A request that must succeed.",
    &[&[
        field("path", RELATIVE_ADDRESS, "The path.").required(),
        field("port", TEXT, "The name of the port.").required(),
        field("scheme", TEXT, "`HTTP` or `HTTPS`.").default(Literal::Text("HTTP")),
    ]],
);

pub(super) const LIMITS_ROW: Entity = entity(
    CONTAINER_LIMITS,
    "limits",
    "What a service may use at most.",
    &[&[
        field("cpu", CPU_MAXIMUM, "Processor time, in thousandths."),
        field("memory", MEMORY_MAXIMUM, "Memory, in megabytes."),
    ]],
);

/// How files are kept in step.
pub(super) const SYNC_MODES: Shape = Shape::Choice(&[
    "one-way",
    "one-way-safe",
    "one-way-replica",
    "one-way-reverse",
    "one-way-replica-reverse",
    "two-way",
    "two-way-safe",
    "two-way-resolved",
]);

/// A user or group, by number or name.
pub(super) const OWNER: Shape = Shape::Union(&[Shape::Integer, TEXT]);

/// Keys of every pair of folders that is kept in step.
pub(super) const SYNC_PATH_KEYS: &[Field] = &[
    field("exclude", FILE_LIST, "Patterns of files that are left alone."),
    field("mode", SYNC_MODES, "Which side wins.").default(Literal::Text("one-way-safe")),
    field("defaultFileMode", MODE, "Permissions of new files.").default(Literal::Int(0o644)),
    field("defaultDirectoryMode", MODE, "Permissions of new folders.").default(Literal::Int(0o755)),
    field("defaultOwner", OWNER, "The owner of new files."),
    field("defaultGroup", OWNER, "The group of new files."),
];

/// Keys of synced paths, of containers and of modules that are deployed to Kubernetes.
pub(super) const SYNC_KEYS: &[Field] = &[
    field("args", FULL_TEXTS, "Arguments in sync mode."),
    field("command", FULL_TEXTS, "The command in sync mode."),
    field("paths", Shape::List(CONTAINER_SYNC_PATH), "Folders that are kept in step.").aliases(&["sync"]),
];

pub(super) const SYNC_ROW: Entity =
    entity(CONTAINER_SYNC, "sync", "Files that are kept in step in sync mode.", &[SYNC_KEYS]);

pub(super) const SYNC_PATH_ROW: Entity = entity(
    CONTAINER_SYNC_PATH,
    "sync path",
    "A folder that is kept in step.",
    &[
        &[
            field("source", TEXT, "The folder here.").default(Literal::Text(".")),
            field("target", ABSOLUTE, "The folder in the container.").required(),
        ],
        SYNC_PATH_KEYS,
    ],
);

/// Keys of programs that run locally instead, of all types.
pub(super) const LOCAL_MODE_KEYS: &[Field] = &[
    field("ports", Shape::List(LOCAL_MODE_PORT), "Ports that are forwarded."),
    field("command", FULL_TEXTS, "What runs here."),
    field("restart", Shape::One(LOCAL_MODE_RESTART), "When it is started again."),
];

pub(super) const LOCAL_MODE_ROW: Entity =
    entity(LOCAL_MODE, "localMode", "What runs here instead of in the cluster.", &[LOCAL_MODE_KEYS]);

pub(super) const CONTAINER_ARTIFACT_ROW: Entity = entity(
    CONTAINER_ARTIFACT,
    "artifact",
    "Files of a container that are kept.",
    &[&[
        field("source", ABSOLUTE_FILES, "A pattern of files in the container.").required(),
        field("target", SUB_PATH, "The folder they are put in.").default(Literal::Text(".")),
    ]],
);

pub(super) const LOCAL_MODE_PORT_ROW: Entity = entity(
    LOCAL_MODE_PORT,
    "localMode port",
    "A port that is forwarded.",
    &[&[field("local", INTEGER, "The port here."), field("remote", INTEGER, "The port in the cluster.")]],
);

pub(super) const LOCAL_MODE_RESTART_ROW: Entity = entity(
    LOCAL_MODE_RESTART,
    "localMode restart",
    "When something is started again.",
    &[&[field("delayMsec", INTEGER, "Milliseconds to wait."), field("max", INTEGER, "How often at most.")]],
);
