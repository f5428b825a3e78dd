//! Rows of workflows and of commands of the user's own.

use super::project::IDENTITY;
use super::{
    COMMAND, COMMAND_ARGUMENT, COMMAND_DESCRIPTION, COMMAND_EXEC, COMMAND_STEP, STEP, WORKFLOW, WORKFLOW_FILE,
};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

const TEXTS: Shape = Shape::ListOf(&Shape::Text);

pub(super) const WORKFLOW_ROW: Entity = entity(
    WORKFLOW,
    "workflow",
    "Steps that run one after the other.",
    &[
        IDENTITY,
        &[
            field("description", Shape::Text, "What it is for."),
            field("envVars", Shape::MapOf(&Shape::Any), "Environment variables of all steps."),
            field("files", Shape::List(WORKFLOW_FILE), "Files that are written before the first step."),
            field("steps", Shape::List(STEP), "The steps.").required(),
            field("keepAliveHours", Shape::Number, "How long it is kept."),
            field("limits", Shape::Any, "What it may use at most."),
            field("resources", Shape::Any, "What it needs."),
            field("triggers", Shape::Any, "When it runs by itself."),
        ],
    ],
);

const STEP_KEYS: &[Field] = &[
    field("name", Shape::Text, "Its name."),
    field("description", Shape::Text, "What it is for."),
    field("envVars", Shape::MapOf(&Shape::Any), "Environment variables of this step."),
    field("skip", Shape::Bool, "Whether it is left out.").default(Literal::Bool(false)),
    field("when", Shape::Choice(&["onSuccess", "onError", "always", "never"]), "When it runs.")
        .default(Literal::Text("onSuccess")),
    field("continueOnError", Shape::Bool, "Whether the next step runs all the same.").default(Literal::Bool(false)),
];

pub(super) const STEP_ROW: Entity = entity(
    STEP,
    "step",
    "A step of a workflow.",
    &[
        STEP_KEYS,
        &[
            field("command", TEXTS, "A command of this tool.").one_of("work"),
            field("script", Shape::Text, "A shell script.").one_of("work"),
        ],
    ],
)
.exactly_one(&["work"]);

pub(super) const FILE_ROW: Entity = entity(
    WORKFLOW_FILE,
    "file",
    "A file that is written before the first step.",
    &[&[
        field("path", Shape::Text, "Where it is written.").required(),
        field("data", Shape::Text, "Its text.").one_of("text"),
        field("secretName", Shape::Text, "The secret its text is.").one_of("text"),
    ]],
);

pub(super) const COMMAND_ROW: Entity = entity(
    COMMAND,
    "command",
    "A command of the user's own.",
    &[
        IDENTITY,
        &[
            field("description", Shape::One(COMMAND_DESCRIPTION), "What it is for."),
            field("args", Shape::List(COMMAND_ARGUMENT), "Arguments by position."),
            field("opts", Shape::List(COMMAND_ARGUMENT), "Arguments by name."),
            field("variables", Shape::MapOf(&Shape::Any), "Variables of this command."),
            field("exec", Shape::One(COMMAND_EXEC), "A program that runs first."),
            field("gardenCommand", TEXTS, "A command of this tool that runs then."),
            field("steps", Shape::List(COMMAND_STEP), "Steps that run one after the other."),
        ],
    ],
);

pub(super) const DESCRIPTION_ROW: Entity = entity(
    COMMAND_DESCRIPTION,
    "description",
    "What a command is for.",
    &[&[field("short", Shape::Text, "In one line.").required(), field("long", Shape::Text, "At length.")]],
);

pub(super) const ARGUMENT_ROW: Entity = entity(
    COMMAND_ARGUMENT,
    "argument",
    "An argument of a command.",
    &[&[
        field("name", Shape::Text, "Its name.").required(),
        field("description", Shape::Text, "What it is for."),
        field("type", Shape::Choice(&["string", "integer", "boolean"]), "What it takes.")
            .default(Literal::Text("string")),
        field("required", Shape::Bool, "Whether it must be given.").default(Literal::Bool(false)),
    ]],
);

pub(super) const EXEC_ROW: Entity = entity(
    COMMAND_EXEC,
    "exec",
    "A program of a command.",
    &[&[
        field("command", TEXTS, "The program with its arguments.").required(),
        field("env", Shape::MapOf(&Shape::Any), "Its environment variables."),
    ]],
);

pub(super) const COMMAND_STEP_ROW: Entity = entity(
    COMMAND_STEP,
    "step",
    "A step of a command.",
    &[
        STEP_KEYS,
        &[
            field("exec", Shape::One(COMMAND_EXEC), "A program.").one_of("work"),
            field("gardenCommand", TEXTS, "A command of this tool.").one_of("work"),
            field("script", Shape::Text, "A shell script.").one_of("work"),
        ],
    ],
)
.exactly_one(&["work"]);
