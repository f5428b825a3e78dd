//! Rows of modules, the older form of a group of actions.

use super::project::IDENTITY;
use super::{BUILD_DEPENDENCY, COPY, GENERATE_FILE, MODULE, MODULE_BUILD};
use purlin_model::schema::{Entity, Literal, Shape, entity, field, scalar};

const TEXTS: Shape = Shape::ListOf(&Shape::Text);

pub(super) const MODULE_ROW: Entity = entity(
    MODULE,
    "module",
    "A group of actions that share a folder.",
    &[
        IDENTITY,
        &[
            field("type", Shape::Text, "What does the work (`exec`, `container`, `helm`).").required(),
            field("description", Shape::Text, "What it is for."),
            field("disabled", Shape::Bool, "Whether it is switched off.").default(Literal::Bool(false)),
            field("local", Shape::Bool, "Whether it works on the source itself.").default(Literal::Bool(false)),
            field("include", TEXTS, "Patterns of files that belong to it."),
            field("exclude", TEXTS, "Patterns of files that do not belong to it."),
            field("repositoryUrl", Shape::Text, "The repository its files are in."),
            field("allowPublish", Shape::Bool, "Whether the result may be published.").default(Literal::Bool(true)),
            field("generateFiles", Shape::List(GENERATE_FILE), "Files that are written before anything runs."),
            field("variables", Shape::MapOf(&Shape::Any), "Variables of this module."),
            field("varfile", Shape::Text, "A file with variables of this module."),
            field("build", Shape::One(MODULE_BUILD), "How it is built."),
            field("path", Shape::Text, "The folder, for modules of templates."),
        ],
    ],
)
.rest(field("settings", Shape::MapOf(&Shape::Any), "What its type needs to know."));

pub(super) const BUILD_ROW: Entity = entity(
    MODULE_BUILD,
    "build",
    "How a module is built.",
    &[&[
        field("dependencies", Shape::List(BUILD_DEPENDENCY), "Modules that are built before."),
        field("timeout", Shape::Integer, "Seconds after which it is given up.").default(Literal::Int(600)),
    ]],
)
.rest(field("settings", Shape::MapOf(&Shape::Any), "What its type needs to know."));

pub(super) const DEPENDENCY_ROW: Entity = entity(
    BUILD_DEPENDENCY,
    "build dependency",
    "A module that is built before.",
    &[&[
        field("name", Shape::Text, "The module.").required(),
        field("plugin", Shape::Text, "The plugin the module belongs to."),
        field("copy", Shape::List(COPY), "Files taken from it.").default(Literal::List(&[])),
    ]],
)
.short(&[scalar("name")]);

pub(super) const COPY_ROW: Entity = entity(
    COPY,
    "copy",
    "Files taken from another module.",
    &[&[
        field("source", Shape::Text, "What is taken.").required(),
        field("target", Shape::Text, "Where it is put; the same path if not given."),
    ]],
);

pub(super) const GENERATE_ROW: Entity = entity(
    GENERATE_FILE,
    "generateFiles entry",
    "A file that is written before anything runs.",
    &[&[
        field("sourcePath", Shape::Text, "The file its text is taken from.").one_of("text"),
        field("value", Shape::Text, "Its text.").one_of("text"),
        field("targetPath", Shape::Text, "Where it is written.").required(),
        field("resolveTemplates", Shape::Bool, "Whether templates in it are evaluated.").default(Literal::Bool(true)),
    ]],
);
