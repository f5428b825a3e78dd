//! Rows of the `exec` types: commands that run on this machine.

use super::words::{FILES, LOCAL_FILES, LOCAL_PATH, REAL_BOOL, REAL_NUMBER, STRING_ENVIRONMENT, TEXTS};
use super::{ARTIFACT, EXEC_BUILD, EXEC_DEPLOY, EXEC_RUN};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

const SHELL: &[Field] = &[
    field("shell", REAL_BOOL, "Whether the command is run by a shell."),
    field("env", STRING_ENVIRONMENT, "Environment variables of the command.").default(Literal::Map(&[])),
];

pub(super) const EXEC_BUILD_ROW: Entity = entity(
    EXEC_BUILD,
    "exec Build spec",
    "A command that builds.",
    &[
        SHELL,
        &[
            field("command", TEXTS, "The command.").default(Literal::List(&[])),
            field("statusCommand", TEXTS, "A command that tells whether there is nothing to do."),
        ],
    ],
)
.rest(super::IGNORED);

pub(super) const EXEC_DEPLOY_ROW: Entity = entity(
    EXEC_DEPLOY,
    "exec Deploy spec",
    "Commands that bring something up and down.",
    &[
        SHELL,
        &[
            field("deployCommand", TEXTS, "The command that brings it up.").required(),
            field("statusCommand", TEXTS, "A command that tells whether it is up."),
            field("cleanupCommand", TEXTS, "The command that takes it down."),
            field("persistent", REAL_BOOL, "Whether the command keeps running.").default(Literal::Bool(false)),
            field("statusTimeout", REAL_NUMBER, "Seconds to wait until it is up.").default(Literal::Int(10)),
        ],
    ],
)
.rest(super::IGNORED);

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
)
.rest(super::IGNORED);

pub(super) const ARTIFACT_ROW: Entity = entity(
    ARTIFACT,
    "artifact",
    "Files that are kept.",
    &[&[
        field("source", LOCAL_FILES, "A pattern of files.").required(),
        field("target", LOCAL_PATH, "The folder they are put in.").default(Literal::Text(".")),
    ]],
)
.rest(super::IGNORED);

/// Patterns of files that a module's or an action's source is made of.
pub(super) const FILES_OF: Shape = Shape::ListOf(&FILES);
