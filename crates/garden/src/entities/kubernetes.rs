//! Rows of the types that deploy to Kubernetes: manifests, charts, and pods.

use super::container::{LOCAL_MODE_KEYS, OWNER, SYNC_KEYS, SYNC_PATH_KEYS};
use super::words::{
    ABSOLUTE, ADDRESS, BOOL, ENVIRONMENT, FILE_LIST, FULL_TEXTS, INTEGER, KUSTOMIZATION, KUSTOMIZE_VERSION, LABEL,
    MODE, OPEN_MAP, PATH, SUB_PATH, TEXT, TEXT_MAP, TEXTS,
};
use super::{
    CONTAINER_ARTIFACT, HELM_CHART, HELM_DEPLOY, HELM_POD, KUBERNETES_DEPLOY, KUBERNETES_EXEC, KUBERNETES_LOCAL_MODE,
    KUBERNETES_POD, KUSTOMIZE, LOCAL_MODE_TARGET, LOCAL_VOLUME, LOCAL_VOLUME_TARGET, LOCAL_VOLUMES, MANIFEST,
    MANIFEST_METADATA, MODULE_SYNC, PATCH_RESOURCE, PORT_FORWARD, SYNC, SYNC_DEFAULTS, SYNC_OVERRIDE, SYNC_PATH,
    TARGET,
};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);

/// The kinds of resources that hold containers.
pub(super) const WORKLOADS: Shape = Shape::Choice(&["Deployment", "DaemonSet", "StatefulSet"]);

pub(super) const NAMESPACE: Field = field("namespace", LABEL, "The namespace.");
pub(super) const PORT_FORWARDS: Field =
    field("portForwards", Shape::List(PORT_FORWARD), "Ports that are forwarded to this machine.");
pub(super) const TIMEOUT: Field =
    field("timeout", INTEGER, "Seconds to wait until everything is up.").default(Literal::Int(300));

/// Keys that select manifests.
pub(super) const MANIFEST_KEYS: &[Field] = &[
    field("kustomize", Shape::One(KUSTOMIZE), "A kustomization to build manifests with."),
    field("manifests", Shape::List(MANIFEST), "Resources, written in place.").default(EMPTY_LIST),
    field("patchResources", Shape::List(PATCH_RESOURCE), "Changes to resources.").default(EMPTY_LIST),
];

const MANIFEST_FILES: &[Field] = &[
    field("manifestFiles", FILE_LIST, "Files with resources, without templates.").default(EMPTY_LIST),
    field("manifestTemplates", FILE_LIST, "Files with resources, with templates.").default(EMPTY_LIST),
];

/// The older name of `manifestTemplates`, which only pods still have.
const OLD_MANIFEST_FILES: &[Field] =
    &[field("files", FILE_LIST, "Files with resources.").deprecated("use `manifestTemplates` or `manifestFiles`")];

/// Keys of how manifests are applied.
pub(super) const APPLY_KEYS: &[Field] = &[
    field("applyArgs", FULL_TEXTS, "Further arguments of `kubectl apply`."),
    field("waitForJobs", BOOL, "Whether to wait for jobs.").default(Literal::Bool(true)),
];

/// Keys of what happens in development.
const DEVELOPMENT_KEYS: &[Field] = &[
    field("defaultTarget", Shape::One(TARGET), "The container that sync, logs and terminals mean."),
    field("sync", Shape::One(SYNC), "Files that are kept in step in sync mode.").aliases(&["devMode"]),
    field("localMode", Shape::One(KUBERNETES_LOCAL_MODE), "What runs here instead in local mode.")
        .deprecated("Garden no longer has a local mode"),
    field("localVolumes", Shape::One(LOCAL_VOLUMES), "Folders of this machine that containers see."),
];

pub(super) const KUBERNETES_DEPLOY_ROW: Entity = entity(
    KUBERNETES_DEPLOY,
    "kubernetes Deploy spec",
    "Kubernetes resources.",
    &[MANIFEST_KEYS, MANIFEST_FILES, APPLY_KEYS, DEVELOPMENT_KEYS, &[NAMESPACE, PORT_FORWARDS, TIMEOUT]],
);

/// Keys of a chart's values.
pub(super) const CHART_VALUES: &[Field] = &[
    field("values", OPEN_MAP, "Its values.").default(EMPTY_MAP),
    field("valueFiles", Shape::ListOf(&PATH), "Files with values.").default(EMPTY_LIST),
    field("releaseName", LABEL, "The name of the release."),
];

const CHART: Field = field("chart", Shape::One(HELM_CHART), "The chart; the one of this folder if not set.");

pub(super) const HELM_DEPLOY_ROW: Entity = entity(
    HELM_DEPLOY,
    "helm Deploy spec",
    "A chart.",
    &[
        CHART_VALUES,
        DEVELOPMENT_KEYS,
        &[
            CHART,
            NAMESPACE,
            PORT_FORWARDS,
            field("timeout", INTEGER, "Seconds to wait until everything is up.").default(Literal::Int(300)),
            field("atomic", BOOL, "Whether a failure is undone.").default(Literal::Bool(false)),
            field("waitForUnhealthyResources", BOOL, "Whether to wait for resources that are not healthy.")
                .default(Literal::Bool(false)),
        ],
    ],
);

pub(super) const HELM_CHART_ROW: Entity = entity(
    HELM_CHART,
    "chart",
    "Where a chart is.",
    &[&[
        field("name", TEXT, "Its name in a repository.").one_of("place"),
        field("path", SUB_PATH, "Its folder.").one_of("place"),
        field("url", ADDRESS, "Its address.").one_of("place"),
        field("repo", TEXT, "The repository."),
        field("version", TEXT, "Its version."),
    ]],
)
.exactly_one(&["place"]);

/// Keys of tasks that run once in a pod of their own, except tests of modules.
pub(super) const POD_RUN_KEYS: &[Field] = &[
    field("cacheResult", BOOL, "Whether it is left out when nothing changed.").default(Literal::Bool(true)),
    NAMESPACE,
];

/// Keys of everything that runs once in a pod of its own.
pub(super) const POD_KEYS: &[Field] = &[
    field("command", TEXTS, "What runs instead of the image's own entrypoint."),
    field("args", TEXTS, "Its arguments."),
    field("env", ENVIRONMENT, "Environment variables.").default(EMPTY_MAP),
    field("artifacts", Shape::List(CONTAINER_ARTIFACT), "Files that are kept.").default(EMPTY_LIST),
];

const RESOURCE: Field = field("resource", Shape::One(TARGET), "The resource whose pod is taken.");

pub(super) const HELM_POD_ROW: Entity = entity(
    HELM_POD,
    "helm-pod spec",
    "Something that runs in a pod of a chart.",
    &[
        POD_RUN_KEYS,
        POD_KEYS,
        CHART_VALUES,
        &[
            CHART,
            RESOURCE.required(),
            field("timeout", INTEGER, "Seconds to wait until it is done.").default(Literal::Int(300)),
        ],
    ],
);

pub(super) const KUBERNETES_POD_ROW: Entity = entity(
    KUBERNETES_POD,
    "kubernetes-pod spec",
    "Something that runs in a pod of its own.",
    &[
        POD_RUN_KEYS,
        POD_KEYS,
        MANIFEST_KEYS,
        MANIFEST_FILES,
        OLD_MANIFEST_FILES,
        &[RESOURCE.one_of("pod"), field("podSpec", OPEN_MAP, "The pod, written in place.").one_of("pod")],
    ],
)
.exactly_one(&["pod"]);

pub(super) const KUBERNETES_EXEC_ROW: Entity = entity(
    KUBERNETES_EXEC,
    "kubernetes-exec spec",
    "A command in a container that is running.",
    &[&[field("command", TEXTS, "The command."), RESOURCE.required(), NAMESPACE]],
);

pub(super) const KUSTOMIZE_ROW: Entity = entity(
    KUSTOMIZE,
    "kustomize",
    "A kustomization to build manifests with.",
    &[&[
        field("path", KUSTOMIZATION, "Its folder, or an address.").default(Literal::Text(".")),
        field("version", KUSTOMIZE_VERSION, "The version of kustomize: 4 or 5.").default(Literal::Int(5)),
        field("extraArgs", FULL_TEXTS, "Further arguments.").default(EMPTY_LIST),
    ]],
);

pub(super) const MANIFEST_ROW: Entity = entity(
    MANIFEST,
    "manifest",
    "A Kubernetes resource.",
    &[&[
        field("apiVersion", TEXT, "The version of its kind.").required(),
        field("kind", TEXT, "Its kind.").required(),
        field("metadata", Shape::One(MANIFEST_METADATA), "Its name and labels.").required(),
    ]],
)
.rest(field("fields", OPEN_MAP, "What its kind needs to know."));

pub(super) const MANIFEST_METADATA_ROW: Entity = entity(
    MANIFEST_METADATA,
    "manifest metadata",
    "What a Kubernetes resource is called.",
    &[&[field("name", TEXT, "Its name.").required()]],
)
.rest(field("fields", OPEN_MAP, "Labels, annotations and more."));

pub(super) const PATCH_ROW: Entity = entity(
    PATCH_RESOURCE,
    "patch",
    "A change to a resource.",
    &[&[
        field("kind", TEXT, "The kind of the resource.").required(),
        field("name", TEXT, "The name of the resource.").required(),
        field("strategy", TEXT, "How the patch is applied: `strategic`, `merge` or `json`.")
            .default(Literal::Text("strategic")),
        field("patch", OPEN_MAP, "The change.").required(),
    ]],
);

pub(super) const PORT_FORWARD_ROW: Entity = entity(
    PORT_FORWARD,
    "port forward",
    "A port that is forwarded to this machine.",
    &[&[
        field("name", LABEL, "Its name."),
        field("resource", TEXT, "The resource, for example `Service/web`.").required(),
        field("targetPort", INTEGER, "The port there.").required(),
        field("localPort", INTEGER, "The port here."),
    ]],
);

pub(super) const TARGET_ROW: Entity = entity(
    TARGET,
    "target",
    "A container of a resource.",
    &[&[
        field("kind", WORKLOADS, "The kind of the resource.").one_of("target"),
        field("podSelector", TEXT_MAP, "Labels of the pod.").one_of("target"),
        field("name", TEXT, "The name of the resource."),
        field("containerName", TEXT, "The container, where there are several."),
    ]],
)
.exactly_one(&["target"]);

pub(super) const SYNC_ROW: Entity = entity(
    SYNC,
    "sync",
    "Files that are kept in step in sync mode.",
    &[&[
        field("defaults", Shape::One(SYNC_DEFAULTS), "What holds for all paths."),
        field("paths", Shape::List(SYNC_PATH), "Folders that are kept in step."),
        field("overrides", Shape::List(SYNC_OVERRIDE), "What is different in sync mode."),
    ]],
);

pub(super) const MODULE_SYNC_ROW: Entity = entity(
    MODULE_SYNC,
    "sync",
    "Files that are kept in step in sync mode.",
    &[SYNC_KEYS, &[field("containerName", LABEL, "The container, where there are several.")]],
);

pub(super) const KUBERNETES_LOCAL_MODE_ROW: Entity = entity(
    KUBERNETES_LOCAL_MODE,
    "localMode",
    "What runs here instead of in the cluster.",
    &[LOCAL_MODE_KEYS, &[field("target", Shape::One(LOCAL_MODE_TARGET), "What it stands for.")]],
);

pub(super) const LOCAL_MODE_TARGET_ROW: Entity = entity(
    LOCAL_MODE_TARGET,
    "localMode target",
    "A container of a resource.",
    &[&[
        field("kind", TEXT, "The kind of the resource."),
        field("name", TEXT, "The name of the resource."),
        field("podSelector", TEXT, "A label of the pod."),
        field("containerName", TEXT, "The container, where there are several."),
    ]],
);

pub(super) const SYNC_DEFAULTS_ROW: Entity = entity(
    SYNC_DEFAULTS,
    "sync defaults",
    "What holds for all paths.",
    &[&[
        field("exclude", FILE_LIST, "Patterns of files that are left alone."),
        field("fileMode", MODE, "Permissions of new files.").default(Literal::Int(0o644)),
        field("directoryMode", MODE, "Permissions of new folders.").default(Literal::Int(0o755)),
        field("owner", OWNER, "The owner of new files."),
        field("group", OWNER, "The group of new files."),
    ]],
);

pub(super) const SYNC_PATH_ROW: Entity = entity(
    SYNC_PATH,
    "sync path",
    "A folder that is kept in step.",
    &[
        &[
            field("target", Shape::One(TARGET), "The container; the default target if not set."),
            field("sourcePath", TEXT, "The folder here.").default(Literal::Text(".")),
            field("containerPath", ABSOLUTE, "The folder in the container.").required(),
        ],
        SYNC_PATH_KEYS,
    ],
);

pub(super) const SYNC_OVERRIDE_ROW: Entity = entity(
    SYNC_OVERRIDE,
    "sync override",
    "What is different in sync mode.",
    &[&[
        field("target", Shape::One(TARGET), "The container; the default target if not set."),
        field("command", FULL_TEXTS, "The command."),
        field("args", FULL_TEXTS, "Its arguments."),
        field("image", TEXT, "The image."),
    ]],
);

pub(super) const LOCAL_VOLUMES_ROW: Entity = entity(
    LOCAL_VOLUMES,
    "localVolumes",
    "Folders of this machine that containers see.",
    &[&[
        field("enabled", BOOL, "Whether they are used."),
        field("volumes", Shape::List(LOCAL_VOLUME), "The folders.").default(EMPTY_LIST),
    ]],
);

pub(super) const LOCAL_VOLUME_ROW: Entity = entity(
    LOCAL_VOLUME,
    "local volume",
    "A folder of this machine that a container sees.",
    &[&[
        field("name", LABEL, "Its name.").required(),
        field("target", Shape::One(LOCAL_VOLUME_TARGET), "The container; the default target if not set."),
        field("sourcePath", SUB_PATH, "The folder here.").required(),
        field("containerPath", TEXT, "The folder in the container.").required(),
        field("excludes", FULL_TEXTS, "Paths the container keeps for itself."),
    ]],
);

pub(super) const LOCAL_VOLUME_TARGET_ROW: Entity = entity(
    LOCAL_VOLUME_TARGET,
    "local volume target",
    "A container of a resource.",
    &[&[
        field("kind", TEXT, "The kind of the resource.").required(),
        field("name", TEXT, "The name of the resource.").required(),
        field("containerName", TEXT, "The container, where there are several."),
    ]],
);
