//! Rows of the project and its direct keys.

use super::words::{ADDRESS, BOOL, FILE_LIST, FILE_NAME, LABEL, NAME, OPEN_MAP, PATH, REPOSITORY, TEXT, TEXTS};
use super::{ENVIRONMENT, IMPORT_VARIABLES, PROJECT, PROJECT_OUTPUT, PROVIDER, PROXY, SCAN, SCAN_GIT, SOURCE};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

/// Keys that identify any configuration; its name is of a shape of its own.
pub(super) const fn identity(name: Shape) -> [Field; 3] {
    [
        field("apiVersion", Shape::Text, "The version of the configuration format; only the project's matters."),
        field("kind", Shape::Text, "What this configuration is.").required(),
        field("name", name, "What it is called: lower-case letters, digits and dashes.").required(),
    ]
}

const IDENTITY: &[Field] = &identity(LABEL);

pub(super) const PROJECT_ROW: Entity = entity(
    PROJECT,
    "project",
    "A project: what all of its actions share.",
    &[
        IDENTITY,
        &[
            field(
                "environments",
                Shape::List(ENVIRONMENT),
                "The places the project is used in; the first is the default.",
            )
            .required(),
            field("defaultEnvironment", Shape::Text, "The environment that is used unless another is named."),
            field("providers", Shape::List(PROVIDER), "The plugins the project uses."),
            field("variables", OPEN_MAP, "Variables of the whole project."),
            field("varfile", PATH, "A file with variables of the whole project.").default(Literal::Text("garden.env")),
            field(
                "importVariables",
                Shape::List(IMPORT_VARIABLES),
                "Where secrets and other outside values come from.",
            ),
            field("sources", Shape::List(SOURCE), "Repositories with further configuration."),
            field("scan", Shape::One(SCAN), "Where configuration files are looked for."),
            field("dotIgnoreFile", FILE_NAME, "The name of ignore files.").default(Literal::Text(".gardenignore")),
            field("outputs", Shape::List(PROJECT_OUTPUT), "Values the project gives to others."),
            field("excludeValuesFromActionVersions", TEXTS, "Texts that do not count in versions of actions."),
            field("proxy", Shape::One(PROXY), "Where port forwards listen."),
            field("organizationId", Shape::Text, "The organisation in Garden Cloud."),
            field("id", Shape::Text, "The project in Garden Cloud."),
            field("domain", ADDRESS, "The address of Garden Cloud."),
            field("disableCloudLogs", BOOL, "Whether logs stay out of Garden Cloud."),
            field("modules", Shape::Any, "Where modules are looked for.").removed("use `scan`"),
            field("dotIgnoreFiles", Shape::Any, "Names of ignore files.").removed("use `dotIgnoreFile`"),
            field("environmentDefaults", Shape::Any, "Settings of all environments.")
                .removed("use the project's own `variables` and `providers`"),
        ],
    ],
);

pub(super) const ENVIRONMENT_ROW: Entity = entity(
    ENVIRONMENT,
    "environment",
    "One place the project is used in.",
    &[&[
        field("name", NAME, "Its name.").required(),
        field("defaultNamespace", LABEL, "The namespace that is used unless another is named."),
        field("production", BOOL, "Whether care is needed.").default(Literal::Bool(false)),
        field("varfile", PATH, "A file with variables of this environment."),
        field("variables", OPEN_MAP, "Variables of this environment."),
        field("aec", Shape::Any, "When the environment is cleaned up by itself."),
        field("providers", Shape::Any, "Plugins of this environment.")
            .removed("move them to `providers` of the project, with `environments` naming this one"),
    ]],
);

pub(super) const SOURCE_ROW: Entity = entity(
    SOURCE,
    "source",
    "A repository with further configuration.",
    &[&[
        field("name", NAME, "Its name.").required(),
        field("repositoryUrl", REPOSITORY, "Its address, with the revision after `#`.").required(),
    ]],
);

pub(super) const SCAN_ROW: Entity = entity(
    SCAN,
    "scan",
    "Where configuration files are looked for.",
    &[&[
        field("include", FILE_LIST, "Patterns of files that are read."),
        field("exclude", FILE_LIST, "Patterns of files that are not read."),
        field("git", Shape::One(SCAN_GIT), "How the repository is listed."),
    ]],
);

pub(super) const SCAN_GIT_ROW: Entity = entity(
    SCAN_GIT,
    "scan.git",
    "How the repository is listed.",
    &[&[field(
        "mode",
        Shape::Choice(&["repo", "subtree"]),
        "Whether the whole repository is listed at once; both give the same here.",
    )]],
);

pub(super) const OUTPUT_ROW: Entity = entity(
    PROJECT_OUTPUT,
    "output",
    "A value the project gives to others.",
    &[&[field("name", TEXT, "Its name.").required(), field("value", Shape::Any, "Its value.").required()]],
);

pub(super) const PROXY_ROW: Entity = entity(
    PROXY,
    "proxy",
    "Where port forwards listen.",
    &[&[field("hostname", Shape::Text, "The address.").default(Literal::Text("localhost"))]],
);

pub(super) const IMPORT_ROW: Entity = entity(
    IMPORT_VARIABLES,
    "importVariables entry",
    "Where secrets and other outside values come from.",
    &[&[
        field("from", Shape::Choice(&["file", "exec", "garden-cloud"]), "What kind of source it is.").required(),
        field("path", Shape::Text, "The file."),
        field("format", Shape::Choice(&["yaml", "json", "dotenv"]), "How the text is read."),
        field("command", TEXTS, "The command whose output is read."),
        field("list", Shape::Text, "The list in Garden Cloud."),
        field("description", Shape::Text, "What it is for."),
    ]],
);
