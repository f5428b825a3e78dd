//! Rows of the types that hold a project of another dialect: a TOSCA service, an ensemble, a chart, Skaffold
//! configurations. They are Purlin's own; Garden does not have them.

use super::words::{OPEN_MAP, OWN_PATH, TEXT, TEXTS};
use super::{CHART_DEPLOY, ENSEMBLE_DEPLOY, SKAFFOLD_SPEC, TOSCA_DEPLOY};
use purlin_model::schema::{Entity, Field, Literal, Shape, entity, field};

const EMPTY_LIST: Literal = Literal::List(&[]);
const EMPTY_MAP: Literal = Literal::Map(&[]);

const INPUTS: Field = field("inputs", OPEN_MAP, "Its inputs, by name.").default(EMPTY_MAP);
const NAMESPACE: Field = field("namespace", TEXT, "The Kubernetes namespace.");

pub(super) const TOSCA_ROW: Entity = entity(
    TOSCA_DEPLOY,
    "tosca Deploy spec",
    "A TOSCA service.",
    &[&[
        field("template", OWN_PATH, "The service template or CSAR archive, from the action's folder.").required(),
        INPUTS,
    ]],
);

pub(super) const ENSEMBLE_ROW: Entity = entity(
    ENSEMBLE_DEPLOY,
    "ensemble Deploy spec",
    "An Unfurl ensemble.",
    &[&[
        field("ensemble", OWN_PATH, "The ensemble's file or folder, from the action's folder.")
            .default(Literal::Text(".")),
        INPUTS,
        field("environment", TEXT, "The Unfurl environment."),
    ]],
);

pub(super) const CHART_ROW: Entity = entity(
    CHART_DEPLOY,
    "chart Deploy spec",
    "A Helm or Metachart chart, rendered here.",
    &[&[
        field("chart", OWN_PATH, "The chart's folder or archive, from the action's folder.")
            .default(Literal::Text(".")),
        field("values", OPEN_MAP, "Its values, over those of `valueFiles`.").default(EMPTY_MAP),
        field("valueFiles", Shape::ListOf(&OWN_PATH), "Files with values; later ones win.").default(EMPTY_LIST),
        field("release", TEXT, "The name of the release; the action's name if not set."),
        NAMESPACE,
    ]],
);

pub(super) const SKAFFOLD_ROW: Entity = entity(
    SKAFFOLD_SPEC,
    "skaffold spec",
    "Skaffold configurations.",
    &[&[
        field("config", OWN_PATH, "The configuration file, from the action's folder.")
            .default(Literal::Text("skaffold.yaml")),
        field("modules", TEXTS, "The modules to use; all if empty.").default(EMPTY_LIST),
        field("profiles", TEXTS, "The profiles to activate; `-name` deactivates one.").default(EMPTY_LIST),
        NAMESPACE,
    ]],
);
