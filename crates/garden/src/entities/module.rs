//! Rows of modules, the older form of a group of actions: the keys of all of them, and those of each type.

use super::container::{CONTAINER_KEYS, IMAGE_KEYS, SERVICE_KEYS, TASK_KEYS};
use super::exec::FILES_OF;
use super::infrastructure::{DEPENDENCIES, JIB_KEYS, PULUMI_KEYS};
use super::kubernetes::{
    APPLY_KEYS, CHART_VALUES, MANIFEST_KEYS, NAMESPACE, POD_KEYS, POD_RUN_KEYS, PORT_FORWARDS, TIMEOUT, WORKLOADS,
};
use super::project::identity;
use super::words::{
    BOOL, COUNT, FILES, LABEL, NAME, NUMBER, OPEN_MAP, PATH, PLAIN_ENVIRONMENT, REPOSITORY, SUB_PATH, TEXT, TEXT_MAP,
    TEXTS,
};
use super::{
    ARTIFACT, BUILD_DEPENDENCY, CONTAINER_MODULE, CONTAINER_MODULE_BUILD, CONTAINER_SERVICE, CONTAINER_TASK,
    CONTAINER_TEST, COPY, EXEC_MODULE, EXEC_MODULE_BUILD, EXEC_SERVICE, EXEC_SYNC_MODE, EXEC_TASK, EXEC_TEST,
    GENERATE_FILE, HELM_MODULE, HELM_RESOURCE, HELM_TASK, HELM_TEST, JIB_MODULE, JIB_MODULE_BUILD,
    KUBERNETES_LOCAL_MODE, KUBERNETES_MODULE, KUBERNETES_TASK, KUBERNETES_TEST, MODULE, MODULE_BUILD, MODULE_RESOURCE,
    MODULE_SYNC, PULUMI_MODULE, SERVICE_RESOURCE, TEMPLATED_MODULE, TERRAFORM_MODULE,
};
use purlin_model::schema::{Entity, Field, Kind, Literal, Shape, entity, field, scalar};

const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);
const IDENTITY: &[Field] = &identity(NAME);

/// Keys of all modules but `build`.
const MODULE_KEYS: &[Field] = &[
    field("type", LABEL, "What does the work (`exec`, `container`, `helm`).").required(),
    field("description", Shape::Text, "What it is for."),
    field("disabled", BOOL, "Whether it is switched off.").default(Literal::Bool(false)),
    field("local", BOOL, "Whether it works on the source itself.").default(Literal::Bool(false)),
    field("include", FILES_OF, "Patterns of files that belong to it."),
    field("exclude", FILES_OF, "Patterns of files that do not belong to it."),
    field("repositoryUrl", REPOSITORY, "The repository its files are in."),
    field("allowPublish", BOOL, "Whether the result may be published.").default(Literal::Bool(true)),
    field("generateFiles", Shape::List(GENERATE_FILE), "Files that are written before anything runs."),
    field("variables", OPEN_MAP, "Variables of this module."),
    field("varfile", PATH, "A file with variables of this module."),
    field("path", Shape::Text, "The folder, for modules of templates."),
];

const BUILD: Field = field("build", Shape::One(MODULE_BUILD), "How it is built.");
const ANY_BUILD: Field = field("build", Shape::One(EXEC_MODULE_BUILD), "How it is built.");

pub(super) const MODULE_ROW: Entity =
    entity(MODULE, "module", "A group of actions that share a folder.", &[IDENTITY, MODULE_KEYS, &[ANY_BUILD]])
        .rest(field("settings", OPEN_MAP, "What its type needs to know."));

/// Keys of all builds.
const BUILD_KEYS: &[Field] = &[
    field("dependencies", Shape::List(BUILD_DEPENDENCY), "Modules that are built before.").default(EMPTY_LIST),
    field("timeout", COUNT, "Seconds after which it is given up.").default(Literal::Int(600)),
];

pub(super) const BUILD_ROW: Entity = entity(MODULE_BUILD, "build", "How a module is built.", &[BUILD_KEYS]);

pub(super) const EXEC_BUILD_ROW: Entity = entity(
    EXEC_MODULE_BUILD,
    "build",
    "How an exec module is built.",
    &[
        BUILD_KEYS,
        &[
            field("command", TEXTS, "The command that builds.").default(EMPTY_LIST),
            field("statusCommand", TEXTS, "A command that tells whether there is nothing to do.").default(EMPTY_LIST),
        ],
    ],
);

pub(super) const CONTAINER_BUILD_ROW: Entity = entity(
    CONTAINER_MODULE_BUILD,
    "build",
    "How a container module is built.",
    &[BUILD_KEYS, &[field("targetImage", TEXT, "The stage to stop at.")]],
);

pub(super) const JIB_BUILD_ROW: Entity = entity(
    JIB_MODULE_BUILD,
    "build",
    "How a jib-container module is built.",
    &[BUILD_KEYS, JIB_KEYS, &[field("extraFlags", TEXTS, "Flags of the build command.")]],
);

pub(super) const DEPENDENCY_ROW: Entity = entity(
    BUILD_DEPENDENCY,
    "build dependency",
    "A module that is built before.",
    &[&[
        field("name", Shape::Text, "The module.").required(),
        field("plugin", Shape::Text, "The plugin the module belongs to."),
        field("copy", Shape::List(COPY), "Files taken from it.").default(EMPTY_LIST),
    ]],
)
.short(&[scalar("name")]);

pub(super) const COPY_ROW: Entity = entity(
    COPY,
    "copy",
    "Files taken from another module.",
    &[&[
        field("source", FILES, "What is taken.").required(),
        field("target", SUB_PATH, "Where it is put; the same path if not given."),
    ]],
);

pub(super) const GENERATE_ROW: Entity = entity(
    GENERATE_FILE,
    "generateFiles entry",
    "A file that is written before anything runs.",
    &[&[
        field("sourcePath", PATH, "The file its text is taken from.").one_of("text"),
        field("value", TEXT, "Its text.").one_of("text"),
        field("targetPath", SUB_PATH, "Where it is written.").required(),
        field("resolveTemplates", BOOL, "Whether templates in it are evaluated.").default(Literal::Bool(true)),
    ]],
)
.exactly_one(&["text"]);

/// Keys of every service, task and test.
const ITEM_KEYS: &[Field] = &[
    field("name", NAME, "Its name.").required(),
    DEPENDENCIES,
    field("disabled", BOOL, "Whether it is switched off.").default(Literal::Bool(false)),
];

/// Keys of every task.
const TASK_ITEM_KEYS: &[Field] = &[
    field("description", Shape::Text, "What it is for."),
    field("timeout", COUNT, "Seconds after which it is given up.").default(Literal::Int(600)),
];

const TEST_ITEM_KEYS: &[Field] =
    &[field("timeout", COUNT, "Seconds after which it is given up.").default(Literal::Int(600))];

const STATUS_COMMAND: Field = field("statusCommand", TEXTS, "A command that tells whether there is nothing to do.");
const EXEC_ENV: Field = field("env", PLAIN_ENVIRONMENT, "Environment variables.").default(EMPTY_MAP);
const EXEC_ARTIFACTS: Field = field("artifacts", Shape::List(ARTIFACT), "Files that are kept.").default(EMPTY_LIST);
const EXEC_COMMAND: Field = field("command", TEXTS, "The command.").required();

const fn listed(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    field(key, Shape::List(kind), doc).default(EMPTY_LIST)
}

pub(super) const EXEC_MODULE_ROW: Entity = entity(
    EXEC_MODULE,
    "exec module",
    "Commands that run on this machine.",
    &[
        IDENTITY,
        MODULE_KEYS,
        &[
            field("build", Shape::One(EXEC_MODULE_BUILD), "How it is built."),
            EXEC_ENV,
            listed("services", EXEC_SERVICE, "What it brings up."),
            listed("tasks", EXEC_TASK, "What it runs once."),
            listed("tests", EXEC_TEST, "What it checks."),
        ],
    ],
);

pub(super) const EXEC_SERVICE_ROW: Entity = entity(
    EXEC_SERVICE,
    "exec service",
    "Commands that bring something up and down.",
    &[
        ITEM_KEYS,
        &[
            field("deployCommand", TEXTS, "The command that brings it up.").required(),
            field("statusCommand", TEXTS, "A command that tells whether it is up."),
            field("cleanupCommand", TEXTS, "The command that takes it down."),
            field("timeout", COUNT, "Seconds after which it is given up.").default(Literal::Int(600)),
            EXEC_ENV,
            field("syncMode", Shape::One(EXEC_SYNC_MODE), "What is different in sync mode.").aliases(&["devMode"]),
            field("sourceModuleName", LABEL, "The module its files come from."),
        ],
    ],
)
.rest(super::IGNORED);

pub(super) const EXEC_SYNC_MODE_ROW: Entity = entity(
    EXEC_SYNC_MODE,
    "syncMode",
    "What is different in sync mode.",
    &[&[
        field("command", TEXTS, "The command."),
        STATUS_COMMAND,
        field("timeout", NUMBER, "Seconds to wait until it is up.").default(Literal::Int(10)),
    ]],
);

pub(super) const EXEC_TASK_ROW: Entity = entity(
    EXEC_TASK,
    "exec task",
    "A command that runs once.",
    &[ITEM_KEYS, TASK_ITEM_KEYS, &[EXEC_COMMAND, STATUS_COMMAND, EXEC_ENV, EXEC_ARTIFACTS]],
);

pub(super) const EXEC_TEST_ROW: Entity = entity(
    EXEC_TEST,
    "exec test",
    "A command that checks something.",
    &[ITEM_KEYS, TEST_ITEM_KEYS, &[EXEC_COMMAND, STATUS_COMMAND, EXEC_ENV, EXEC_ARTIFACTS]],
);

/// An image, or `false` or null for none.
const OWN_IMAGE: Field = field("image", Shape::Union(&[TEXT, Shape::Bool]), "The image.");

/// Keys of every module that is built into an image.
const CONTAINER_MODULE_KEYS: &[Field] = &[
    OWN_IMAGE,
    field("dockerfile", SUB_PATH, "The Dockerfile."),
    field("hotReload", Shape::Any, "What was reloaded at once.").deprecated("use `sync`"),
    listed("services", CONTAINER_SERVICE, "Containers that keep running."),
    listed("tasks", CONTAINER_TASK, "Containers that run once."),
    listed("tests", CONTAINER_TEST, "Containers that check something."),
];

pub(super) const CONTAINER_MODULE_ROW: Entity = entity(
    CONTAINER_MODULE,
    "container module",
    "An image, and containers that run.",
    &[
        IDENTITY,
        MODULE_KEYS,
        IMAGE_KEYS,
        CONTAINER_MODULE_KEYS,
        &[field("build", Shape::One(CONTAINER_MODULE_BUILD), "How it is built.")],
    ],
);

pub(super) const JIB_MODULE_ROW: Entity = entity(
    JIB_MODULE,
    "jib-container module",
    "An image that Jib builds, and containers that run.",
    &[
        IDENTITY,
        MODULE_KEYS,
        IMAGE_KEYS,
        CONTAINER_MODULE_KEYS,
        &[field("build", Shape::One(JIB_MODULE_BUILD), "How it is built.")],
    ],
);

pub(super) const CONTAINER_SERVICE_ROW: Entity = entity(
    CONTAINER_SERVICE,
    "container service",
    "Containers that keep running.",
    &[
        ITEM_KEYS,
        CONTAINER_KEYS,
        SERVICE_KEYS,
        &[OWN_IMAGE, field("sourceModuleName", LABEL, "The module its files come from.")],
    ],
)
.rest(super::IGNORED);

pub(super) const CONTAINER_TASK_ROW: Entity = entity(
    CONTAINER_TASK,
    "container task",
    "A container that runs once.",
    &[ITEM_KEYS, TASK_ITEM_KEYS, CONTAINER_KEYS, TASK_KEYS, &[OWN_IMAGE]],
);

pub(super) const CONTAINER_TEST_ROW: Entity = entity(
    CONTAINER_TEST,
    "container test",
    "A container that checks something.",
    &[ITEM_KEYS, TEST_ITEM_KEYS, CONTAINER_KEYS, TASK_KEYS, &[OWN_IMAGE]],
);

/// Keys of every module that is deployed to Kubernetes.
const CLUSTER_KEYS: &[Field] = &[
    DEPENDENCIES,
    NAMESPACE,
    PORT_FORWARDS,
    field("sync", Shape::One(MODULE_SYNC), "Files that are kept in step in sync mode.").aliases(&["devMode"]),
    field("localMode", Shape::One(KUBERNETES_LOCAL_MODE), "What runs here instead in local mode.")
        .deprecated("Garden no longer has a local mode"),
];

pub(super) const KUBERNETES_MODULE_ROW: Entity = entity(
    KUBERNETES_MODULE,
    "kubernetes module",
    "Kubernetes resources.",
    &[
        IDENTITY,
        MODULE_KEYS,
        CLUSTER_KEYS,
        MANIFEST_KEYS,
        APPLY_KEYS,
        &[
            BUILD,
            TIMEOUT,
            field("files", FILES_OF, "Files with resources.").default(EMPTY_LIST),
            field("serviceResource", Shape::One(MODULE_RESOURCE), "The resource that sync, tasks and tests mean."),
            listed("tasks", KUBERNETES_TASK, "What runs once in a pod."),
            listed("tests", KUBERNETES_TEST, "What checks something in a pod."),
        ],
    ],
);

pub(super) const HELM_MODULE_ROW: Entity = entity(
    HELM_MODULE,
    "helm module",
    "A chart.",
    &[
        IDENTITY,
        MODULE_KEYS,
        CLUSTER_KEYS,
        CHART_VALUES,
        &[
            BUILD,
            TIMEOUT,
            field("atomicInstall", BOOL, "Whether a failure is undone.").default(Literal::Bool(false)),
            field("base", NAME, "The module whose chart and values it takes over."),
            field("chart", TEXT, "The name of a chart in a repository."),
            field("chartPath", SUB_PATH, "The folder of the chart.").default(Literal::Text(".")),
            field("repo", TEXT, "The repository of the chart."),
            field("skipDeploy", BOOL, "Whether nothing is deployed.").default(Literal::Bool(false)),
            field("version", TEXT, "The version of the chart."),
            field("serviceResource", Shape::One(HELM_RESOURCE), "The resource that sync, tasks and tests mean."),
            listed("tasks", HELM_TASK, "What runs once in a pod."),
            listed("tests", HELM_TEST, "What checks something in a pod."),
        ],
    ],
);

/// Keys of every resource that a module names.
const RESOURCE_KEYS: &[Field] = &[
    field("kind", WORKLOADS, "Its kind.").default(Literal::Text("Deployment")),
    field("name", TEXT, "Its name.").one_of("resource"),
    field("containerName", TEXT, "The container, where there are several."),
    field("podSelector", TEXT_MAP, "Labels of the pod.").one_of("resource"),
];

const IMAGE_SOURCE: Field = field("containerModule", LABEL, "The module that builds its image.");

pub(super) const SERVICE_RESOURCE_ROW: Entity =
    entity(SERVICE_RESOURCE, "resource", "A resource of a kubernetes module.", &[RESOURCE_KEYS]);

pub(super) const HELM_RESOURCE_ROW: Entity =
    entity(HELM_RESOURCE, "resource", "A resource of a helm module.", &[RESOURCE_KEYS, &[IMAGE_SOURCE]]);

pub(super) const MODULE_RESOURCE_ROW: Entity = entity(
    MODULE_RESOURCE,
    "service resource",
    "The resource that a kubernetes module is about.",
    &[
        RESOURCE_KEYS,
        &[IMAGE_SOURCE, field("hotReloadArgs", Shape::Any, "Arguments when it was reloaded.").deprecated("use `sync`")],
    ],
);

const TAKEN: &str = "The resource whose pod is taken.";

pub(super) const KUBERNETES_TASK_ROW: Entity = entity(
    KUBERNETES_TASK,
    "task",
    "Something that runs once in a pod.",
    &[ITEM_KEYS, TASK_ITEM_KEYS, POD_RUN_KEYS, POD_KEYS, &[field("resource", Shape::One(SERVICE_RESOURCE), TAKEN)]],
);

pub(super) const KUBERNETES_TEST_ROW: Entity = entity(
    KUBERNETES_TEST,
    "test",
    "Something that checks in a pod.",
    &[ITEM_KEYS, TEST_ITEM_KEYS, POD_KEYS, &[field("resource", Shape::One(SERVICE_RESOURCE), TAKEN)]],
);

pub(super) const HELM_TASK_ROW: Entity = entity(
    HELM_TASK,
    "task",
    "Something that runs once in a pod of a chart.",
    &[ITEM_KEYS, TASK_ITEM_KEYS, POD_RUN_KEYS, POD_KEYS, &[field("resource", Shape::One(HELM_RESOURCE), TAKEN)]],
);

pub(super) const HELM_TEST_ROW: Entity = entity(
    HELM_TEST,
    "test",
    "Something that checks in a pod of a chart.",
    &[ITEM_KEYS, TEST_ITEM_KEYS, POD_KEYS, &[field("resource", Shape::One(HELM_RESOURCE), TAKEN)]],
);

pub(super) const PULUMI_MODULE_ROW: Entity = entity(
    PULUMI_MODULE,
    "pulumi module",
    "A Pulumi stack.",
    &[IDENTITY, MODULE_KEYS, PULUMI_KEYS, &[BUILD, DEPENDENCIES]],
);

pub(super) const TERRAFORM_MODULE_ROW: Entity = entity(
    TERRAFORM_MODULE,
    "terraform module",
    "A Terraform stack; `variables` are the module's and the stack's.",
    &[
        IDENTITY,
        MODULE_KEYS,
        &[
            BUILD,
            DEPENDENCIES,
            field("allowDestroy", BOOL, "Whether the stack may be destroyed.").default(Literal::Bool(false)),
            field("autoApply", BOOL, "Whether changes are applied without asking.").default(Literal::Null),
            field("root", SUB_PATH, "The folder of the stack.").default(Literal::Text(".")),
            field("version", Shape::Text, "The version of Terraform."),
            field("workspace", TEXT, "The workspace."),
            field("backendConfig", OPEN_MAP, "How the backend is configured."),
        ],
    ],
);

pub(super) const TEMPLATED_MODULE_ROW: Entity = entity(
    TEMPLATED_MODULE,
    "templated module",
    "The older form of a template's use.",
    &[
        IDENTITY,
        MODULE_KEYS,
        &[
            BUILD,
            field("template", LABEL, "The template.").required(),
            field("inputs", Shape::Any, "What it gives to the template."),
        ],
    ],
);

/// The module types with their rows, and the providers that bring them.
pub const MODULE_TYPES: &[(&str, Kind, &[&str])] = &[
    ("exec", EXEC_MODULE, &[]),
    ("container", CONTAINER_MODULE, &[]),
    ("templated", TEMPLATED_MODULE, &[]),
    ("kubernetes", KUBERNETES_MODULE, &["kubernetes", "local-kubernetes"]),
    ("helm", HELM_MODULE, &["kubernetes", "local-kubernetes"]),
    ("jib-container", JIB_MODULE, &["jib"]),
    ("terraform", TERRAFORM_MODULE, &["terraform"]),
    ("pulumi", PULUMI_MODULE, &["pulumi"]),
    // The type of the original's own test projects.
    ("test", MODULE, &["test-plugin", "test-plugin-b"]),
];

/// The row of a module type; that of all modules if the type is not known.
pub fn module_row(type_name: &str) -> Kind {
    MODULE_TYPES.iter().find(|(name, _, _)| *name == type_name).map_or(MODULE, |(_, kind, _)| *kind)
}
