//! Rows of actions: Build, Deploy, Run and Test.

use super::exec::FILES_OF;
use super::project::identity;
use super::words::{BOOL, COUNT, FILES, LABEL, NAME, OPEN_MAP, PATH, REPOSITORY, SUB_PATH, TEXTS};
use super::{
    ACTION_REFERENCE, ACTION_REPOSITORY, ACTION_SOURCE, ACTION_VERSION, BUILD, COPY_FROM, DEPLOY, RUN, TEST, VARFILE,
};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field, scalar};

const IDENTITY: &[Field] = &identity(NAME);

/// Keys of all actions.
const COMMON: &[Field] = &[
    field("type", LABEL, "What does the work (`exec`, `container`, `helm`).").required(),
    field("description", Shape::Text, "What it is for."),
    field("source", Shape::One(ACTION_SOURCE), "Where its files are."),
    field("dependencies", Shape::List(ACTION_REFERENCE), "Actions that must be done before.")
        .default(Literal::List(&[])),
    field("disabled", BOOL, "Whether it is switched off.").default(Literal::Bool(false)),
    field("environments", TEXTS, "The environments it is used in; all if not given."),
    field(
        "logLevel",
        Shape::Choice(&["error", "warn", "info", "verbose", "debug", "silly", "silent"]),
        "How much it says.",
    ),
    field("include", FILES_OF, "Patterns of files that belong to it."),
    field("exclude", FILES_OF, "Patterns of files that do not belong to it."),
    field("variables", OPEN_MAP, "Variables of this action."),
    field("varfiles", Shape::List(VARFILE), "Files with variables of this action; later ones win.")
        .default(Literal::List(&[])),
    field("version", Shape::One(ACTION_VERSION), "What counts in its version."),
    field("spec", Shape::Any, "What its type needs to know.").default(Literal::Map(&[])),
];

const fn timeout(seconds: i64) -> Field {
    field("timeout", COUNT, "Seconds after which it is given up.").default(Literal::Int(seconds))
}

const BUILT: Field = field("build", NAME, "The Build whose files it works on.");

pub(super) const BUILD_ROW: Entity = entity(
    BUILD,
    "Build action",
    "Makes something out of source.",
    &[
        IDENTITY,
        COMMON,
        &[
            timeout(600),
            field("allowPublish", BOOL, "Whether the result may be published.").default(Literal::Bool(true)),
            field("buildAtSource", BOOL, "Whether it works on the source itself.").default(Literal::Bool(false)),
            field("copyFrom", Shape::List(COPY_FROM), "Files it takes from other Builds.").default(Literal::List(&[])),
        ],
    ],
);

pub(super) const DEPLOY_ROW: Entity = entity(
    DEPLOY,
    "Deploy action",
    "Brings something up.",
    &[
        IDENTITY,
        COMMON,
        &[
            timeout(300),
            BUILT,
            field("removeOnCleanup", BOOL, "Whether cleaning up takes it down.").default(Literal::Bool(true)),
        ],
    ],
);

pub(super) const RUN_ROW: Entity =
    entity(RUN, "Run action", "Runs something once.", &[IDENTITY, COMMON, &[timeout(600), BUILT]]);

pub(super) const TEST_ROW: Entity =
    entity(TEST, "Test action", "Checks something.", &[IDENTITY, COMMON, &[timeout(600), BUILT]]);

pub(super) const SOURCE_ROW: Entity = entity(
    ACTION_SOURCE,
    "source",
    "Where the files of an action are.",
    &[&[
        field("path", PATH, "A folder, from the one of the configuration file."),
        field("repository", Shape::One(ACTION_REPOSITORY), "A repository."),
    ]],
);

pub(super) const REPOSITORY_ROW: Entity = entity(
    ACTION_REPOSITORY,
    "source.repository",
    "A repository with an action's files.",
    &[&[field("url", REPOSITORY, "Its address, with the revision after `#`.").required()]],
);

pub(super) const VERSION_ROW: Entity = entity(
    ACTION_VERSION,
    "version",
    "What counts in an action's version.",
    &[&[
        field("excludeDependencies", Shape::ListOf(&Shape::Any), "Dependencies that do not count."),
        field("excludeFields", Shape::ListOf(&Shape::ListOf(&Shape::Text)), "Keys that do not count."),
        field("excludeFiles", TEXTS, "Files that do not count.").default(Literal::List(&[])),
        field("excludeValues", TEXTS, "Texts that do not count.").default(Literal::List(&[])),
    ]],
);

pub(super) const REFERENCE_ROW: Entity = entity(
    ACTION_REFERENCE,
    "dependency",
    "Another action.",
    &[&[
        field("kind", Shape::Text, "Its kind."),
        field("name", Shape::Text, "Its name, with the kind in front: `build.api`.").required(),
    ]],
)
.short(&[scalar("name")]);

pub(super) const COPY_FROM_ROW: Entity = entity(
    COPY_FROM,
    "copyFrom entry",
    "Files taken from another Build.",
    &[&[
        field("build", NAME, "The Build.").required(),
        field("sourcePath", FILES, "What is taken.").required(),
        field("targetPath", SUB_PATH, "Where it is put; the same path if not given."),
    ]],
);

pub(super) const VARFILE_ROW: Entity = entity(
    VARFILE,
    "varfile",
    "A file with variables.",
    &[&[
        field("path", PATH, "The file.").required(),
        field("optional", BOOL, "Whether it may be missing.").default(Literal::Bool(false)),
    ]],
)
.short(&[scalar("path")]);
