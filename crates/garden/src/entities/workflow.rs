//! Rows of workflows and of commands of the user's own.

use super::project::identity;
use super::words::{BOOL, LABEL, NAME, NUMBER, OPEN_MAP, PATH, PLAIN_ENVIRONMENT, TEXT, TEXTS};
use super::{
    COMMAND, COMMAND_ARGUMENT, COMMAND_DESCRIPTION, COMMAND_EXEC, COMMAND_STEP, STEP, TRIGGER, WORKFLOW,
    WORKFLOW_AMOUNT, WORKFLOW_FILE, WORKFLOW_RESOURCES,
};
use purlin_model::rules;
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};
use purlin_model::walk::{Instance, Place};
use purlin_syntax::Diagnostic;

const IDENTITY: &[Field] = &identity(NAME);
const EMPTY_MAP: Literal = Literal::Map(&[]);

pub(super) const WORKFLOW_ROW: Entity = entity(
    WORKFLOW,
    "workflow",
    "Steps that run one after the other.",
    &[
        IDENTITY,
        &[
            field("description", Shape::Text, "What it is for."),
            field("envVars", PLAIN_ENVIRONMENT, "Environment variables of all steps.").default(EMPTY_MAP),
            field("files", Shape::List(WORKFLOW_FILE), "Files that are written before the first step.")
                .default(Literal::List(&[])),
            field("steps", Shape::List(STEP), "The steps.").required(),
            field("keepAliveHours", NUMBER, "How long it is kept.").default(Literal::Int(48)),
            field("limits", Shape::One(WORKFLOW_AMOUNT), "What it may use at most.")
                .deprecated("use `resources.limits`"),
            field("resources", Shape::One(WORKFLOW_RESOURCES), "What it uses."),
            field("triggers", Shape::List(TRIGGER), "When it runs by itself."),
        ],
    ],
);

pub(super) const RESOURCES_ROW: Entity = entity(
    WORKFLOW_RESOURCES,
    "workflow resources",
    "What a workflow uses.",
    &[&[
        field("requests", Shape::One(WORKFLOW_AMOUNT), "At least."),
        field("limits", Shape::One(WORKFLOW_AMOUNT), "At most."),
    ]],
);

pub(super) const AMOUNT_ROW: Entity = entity(
    WORKFLOW_AMOUNT,
    "workflow resource amount",
    "An amount of resources.",
    &[&[field("cpu", NUMBER, "Processor time, in thousandths."), field("memory", NUMBER, "Memory, in megabytes.")]],
);

pub(super) const TRIGGER_ROW: Entity = entity(
    TRIGGER,
    "trigger",
    "When a workflow runs by itself.",
    &[&[
        field("environment", TEXT, "The environment it runs in.").required(),
        field("namespace", TEXT, "The namespace it runs in."),
        field("events", TEXTS, "What starts it."),
        field("branches", TEXTS, "Branches it runs for."),
        field("baseBranches", TEXTS, "Branches that pull requests go to."),
        field("ignoreBranches", TEXTS, "Branches it does not run for."),
        field("ignoreBaseBranches", TEXTS, "Branches that pull requests go to, for which it does not run."),
    ]],
);

const STEP_KEYS: &[Field] = &[
    field("name", LABEL, "Its name."),
    field("description", Shape::Text, "What it is for."),
    field("envVars", PLAIN_ENVIRONMENT, "Environment variables of this step.").default(EMPTY_MAP),
    field("skip", BOOL, "Whether it is left out.").default(Literal::Bool(false)),
    field("when", Shape::Choice(&["onSuccess", "onError", "always", "never"]), "When it runs.")
        .default(Literal::Text("onSuccess")),
    field("continueOnError", BOOL, "Whether the next step runs all the same.").default(Literal::Bool(false)),
];

pub(super) const STEP_ROW: Entity = entity(
    STEP,
    "step",
    "A step of a workflow.",
    &[
        STEP_KEYS,
        &[
            field("command", TEXTS, "A command of this tool.").one_of("work"),
            field("script", TEXT, "A shell script.").one_of("work"),
        ],
    ],
)
.exactly_one(&["work"]);

pub(super) const FILE_ROW: Entity = entity(
    WORKFLOW_FILE,
    "file",
    "A file that is written before the first step.",
    &[&[
        field("path", PATH, "Where it is written.").required(),
        field("data", Shape::Text, "Its text.").one_of("text"),
        field("secretName", Shape::Text, "The secret its text is.").one_of("text"),
    ]],
)
.exactly_one(&["text"])
.rest(super::IGNORED);

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
            field("variables", OPEN_MAP, "Variables of this command."),
            field("exec", Shape::One(COMMAND_EXEC), "A program that runs first."),
            field("gardenCommand", TEXTS, "A command of this tool that runs then."),
            field("steps", Shape::List(COMMAND_STEP), "Steps that run one after the other, instead of the two above."),
        ],
    ],
)
.check(command_work);

/// A command must do something: run a program, a command of the tool, or steps.
fn command_work(command: &Instance<'_>, place: &Place<'_>) {
    let single = command.slot("exec").or_else(|| command.slot("gardenCommand"));
    match (single, command.slot("steps")) {
        (Some(single), Some(steps)) => {
            let message = format!("`steps` and `{}` of a command exclude each other", single.field.key);
            let mut diagnostic = Diagnostic::nowhere(&rules::EXCLUSIVE_KEYS, message).hint("keep one of them");
            diagnostic.span = steps.span();
            place.sink.push(diagnostic);
        }
        (None, None) => {
            let message = "a command needs `exec`, `gardenCommand` or `steps`";
            let hint = "add what it does, for example `exec: { command: [echo, hello] }`";
            place.sink.push(Diagnostic::at(&rules::MISSING_KEY, command.node.span(), message).hint(hint));
        }
        _ => {}
    }
}

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
        field("name", LABEL, "Its name.").required(),
        field("description", TEXT, "What it is for."),
        field("type", Shape::Choice(&["string", "integer", "boolean"]), "What it takes.")
            .default(Literal::Text("string")),
        field("required", BOOL, "Whether it must be given.").default(Literal::Bool(false)),
    ]],
);

pub(super) const EXEC_ROW: Entity = entity(
    COMMAND_EXEC,
    "exec",
    "A program of a command.",
    &[&[
        field("command", TEXTS, "The program with its arguments.").required(),
        field("env", PLAIN_ENVIRONMENT, "Its environment variables."),
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
            field("script", TEXT, "A shell script.").one_of("work"),
        ],
    ],
)
.exactly_one(&["work"]);
