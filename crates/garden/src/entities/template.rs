//! Rows of templates and their uses.

use super::project::identity;
use super::words::{BOOL, LABEL, NAME, SUB_PATH};
use super::{CONFIG_TEMPLATE, RENDER_TEMPLATE, TEMPLATE_INPUT};
use purlin_model::check::describe_node;
use purlin_model::rules;
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};
use purlin_model::walk::{Instance, Place};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Scalar};

const IDENTITY: &[Field] = &identity(NAME);

pub(super) const CONFIG_TEMPLATE_ROW: Entity = entity(
    CONFIG_TEMPLATE,
    "template",
    "A template of configurations.",
    &[
        IDENTITY,
        &[
            field("inputs", Shape::Map(TEMPLATE_INPUT), "What a use must or may give.").one_of("inputs"),
            field("inputsSchemaPath", SUB_PATH, "A JSON Schema of what a use must or may give.").one_of("inputs"),
            field("configs", Shape::ListOf(&Shape::Any), "Configurations it makes."),
            field("modules", Shape::ListOf(&Shape::Any), "Modules it makes."),
        ],
    ],
);

pub(super) const INPUT_ROW: Entity = entity(
    TEMPLATE_INPUT,
    "input",
    "Something a use of a template gives.",
    &[&[
        field("type", Shape::Choice(&["string", "number", "boolean"]), "What it takes.").required(),
        field("default", Shape::Any, "What holds if it is not given."),
        field("description", Shape::Text, "What it is for."),
    ]],
)
.check(default_of_type);

/// A default is of the input's own type.
fn default_of_type(input: &Instance<'_>, place: &Place<'_>) {
    let node = |key: &str| input.slot(key).and_then(|slot| slot.value);
    let (Some(wanted), Some(default)) = (node("type"), node("default")) else { return };
    let fits = match wanted.text() {
        "string" => default.as_str().is_some(),
        "number" => {
            default.is_scalar() && matches!(default.scalar(), Scalar::Int(_) | Scalar::Float(_) | Scalar::BigInt)
        }
        "boolean" => default.as_bool().is_some(),
        _ => true,
    };
    if !fits && !default.is_null() {
        let message = what::expected(format!("a default of type {}", wanted.text()), describe_node(default));
        place.sink.push(Diagnostic::at(&rules::WRONG_SHAPE, default.span(), message));
    }
}

pub(super) const RENDER_ROW: Entity = entity(
    RENDER_TEMPLATE,
    "use of a template",
    "A use of a template.",
    &[
        IDENTITY,
        &[
            field("template", LABEL, "The template.").required(),
            field("disabled", BOOL, "Whether it is switched off.").default(Literal::Bool(false)),
            field("inputs", Shape::Any, "What it gives to the template."),
            field(
                "matrix",
                Shape::MapOf(&Shape::ListOf(&Shape::Any)),
                "Inputs with several values; one use for each combination.",
            ),
        ],
    ],
);
