//! Rows of the definitions that types are made of.

use super::*;
use crate::edition::{EXTENDED, V1_0, V1_1, V1_2, V1_3, V2_0};
use purlin_model::schema::Merge::{Append, ByName, Fallback, Fixed, Narrow, Replace};

const TYPE: Field = field("type", Shape::Reference(&[DATA_TYPE]), "The data type of the value.").merge(Narrow);
const DESCRIBED: Field = DESCRIPTION.merge(Fallback);
const ENTRY_SCHEMA: Field =
    field("entry_schema", Shape::One(SCHEMA_DEFINITION), "What the entries of a list or map are.").merge(ByName);
const KEY_SCHEMA: Field =
    field("key_schema", Shape::One(SCHEMA_DEFINITION), "What the keys of a map are.").merge(ByName).since(V1_3);
const CONSTRAINTS: Field = field("constraints", shapes::CONSTRAINTS, "What the value must satisfy.")
    .slot("validation")
    .merge(Append)
    .until(V2_0);
const VALIDATION: Field =
    field("validation", shapes::VALIDATION, "What the value must satisfy.").merge(Append).since(V2_0);
const DEFAULT: Field = field("default", Shape::Any, "The value when nothing is assigned.").merge(Fallback);
const REQUIRED: Field =
    field("required", Shape::Bool, "Whether there must be a value; it must unless told otherwise.").merge(Narrow);
const STATUS: Field = field("status", Shape::Text, "How settled the definition is.").merge(Fallback);
const TITLE: Field = extension("title", shapes::ALIASES, "What people call it.");
const SETTABLE: Field = extension("user_settable", shapes::ALIASES, "Whether a user is asked for it.");
const NOTES: Field = METADATA.since(V1_3);
const PROPERTIES: Field =
    field("properties", Shape::Map(PROPERTY_DEFINITION), "Properties added or refined.").merge(ByName);
const ATTRIBUTES: Field =
    field("attributes", Shape::Map(ATTRIBUTE_DEFINITION), "Attributes added or refined.").merge(ByName);
const INTERFACES: Field =
    field("interfaces", Shape::Map(INTERFACE_DEFINITION), "Interfaces added or refined.").merge(ByName);
const OPERATIONS: Field = field("operations", Shape::Map(OPERATION_DEFINITION), "What can be done.").merge(ByName);
const CARRIED_OUT_BY: Field =
    field("implementation", Shape::One(IMPLEMENTATION), "What carries it out.").merge(Fallback);

pub(super) const PROPERTY_DEFINITION_ROW: Entity = entity(
    PROPERTY_DEFINITION,
    "property definition",
    "A value that is fixed when the service is designed.",
    &[&[
        TYPE.required(),
        DESCRIBED,
        REQUIRED,
        DEFAULT,
        field("value", Shape::Any, "The value; it cannot be changed.").merge(Fixed).since(V2_0),
        STATUS,
        CONSTRAINTS,
        VALIDATION,
        KEY_SCHEMA,
        ENTRY_SCHEMA,
        NOTES,
        TITLE,
        SETTABLE,
    ]],
)
.short(&[scalar("value").since(V2_0), list("value").since(V2_0)]);

pub(super) const ATTRIBUTE_DEFINITION_ROW: Entity = entity(
    ATTRIBUTE_DEFINITION,
    "attribute definition",
    "A value that is known when the service runs.",
    &[&[
        TYPE.required(),
        DESCRIBED,
        DEFAULT,
        STATUS,
        VALIDATION,
        KEY_SCHEMA,
        ENTRY_SCHEMA,
        NOTES,
        TITLE,
        extension("required", shapes::ALIASES, "Whether it is there from the start."),
    ]],
);

pub(super) const PARAMETER_DEFINITION_ROW: Entity = entity(
    PARAMETER_DEFINITION,
    "parameter definition",
    "A value that is passed in or out.",
    &[&[
        TYPE,
        DESCRIBED,
        REQUIRED,
        DEFAULT,
        field("value", Shape::Any, "The value.").merge(Fallback),
        field("mapping", Shape::Any, "The attribute that receives the value.").merge(Fallback).since(V2_0),
        STATUS,
        CONSTRAINTS,
        VALIDATION,
        KEY_SCHEMA.since(V1_0),
        ENTRY_SCHEMA,
        METADATA,
    ]],
)
.short(&[scalar("value").since(V2_0), list("mapping").since(V2_0)]);

pub(super) const SCHEMA_DEFINITION_ROW: Entity = entity(
    SCHEMA_DEFINITION,
    "schema",
    "What the entries or keys of a list or map are.",
    &[&[
        TYPE.required(),
        DESCRIBED,
        CONSTRAINTS,
        VALIDATION,
        field("key_schema", Shape::One(SCHEMA_DEFINITION), "What the keys of a map are.").merge(ByName),
        ENTRY_SCHEMA,
        METADATA,
    ]],
)
.short(&[text("type")]);

pub(super) const CAPABILITY_DEFINITION_ROW: Entity = entity(
    CAPABILITY_DEFINITION,
    "capability definition",
    "Something that nodes of a type offer.",
    &[&[
        field("type", Shape::Reference(&[CAPABILITY_TYPE]), "What kind of capability.").merge(Narrow).required().base(),
        DESCRIBED,
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        PROPERTIES,
        ATTRIBUTES,
        field("valid_source_types", Shape::Names(&[NODE_TYPE]), "Node types that may use it.")
            .slot("valid_source_node_types")
            .merge(Narrow)
            .until(V2_0),
        field("valid_source_node_types", Shape::Names(&[NODE_TYPE]), "Node types that may use it.")
            .merge(Narrow)
            .since(V2_0),
        field(
            "valid_relationship_types",
            Shape::Names(&[RELATIONSHIP_TYPE]),
            "Relationship types that may lead to it.",
        )
        .merge(Narrow)
        .since(V2_0),
        field("occurrences", Shape::Range, "How many relationships may lead to it.").merge(Narrow).until(V2_0),
    ]],
)
.short(&[text("type")]);

pub(super) const REQUIREMENT_DEFINITION_ROW: Entity = entity(
    REQUIREMENT_DEFINITION,
    "requirement definition",
    "Something that nodes of a type need from others.",
    &[&[
        field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(EXTENDED),
        field("metadata", shapes::METADATA, "Notes for tools.").since(EXTENDED),
        extension("title", shapes::ALIASES, "What people call it."),
        field("capability", Shape::Reference(&[CAPABILITY_TYPE]), "The capability that is needed.")
            .merge(Narrow)
            .required()
            .optional_in(EXTENDED),
        field("node", Shape::Reference(&[NODE_TYPE]), "The type of node that is needed.")
            .merge(Narrow)
            .except(EXTENDED),
        extension(
            "node",
            Shape::Reference(&[NODE_TYPE, NODE_TEMPLATE, CAPABILITY_TYPE]),
            "The type of node that is needed, or the node.",
        )
        .merge(Narrow),
        extension("node_filter", Shape::Any, "What the other node must satisfy, or is given."),
        field("relationship", Shape::One(RELATIONSHIP_DEFINITION), "How the two are tied together.").merge(ByName),
        field("node_filter", shapes::CONDITION, "What the other node must satisfy.").merge(Append).since(V2_0),
        field("occurrences", Shape::Range, "How often it may be assigned.")
            .slot("count_range")
            .merge(Narrow)
            .until(V2_0),
        field("count_range", Shape::Range, "How often it may be assigned.").merge(Narrow).since(V2_0),
    ]],
)
.short(&[text("capability").until(EXTENDED), text("node").since(EXTENDED).until(V2_0), text("capability").since(V2_0)]);

pub(super) const RELATIONSHIP_DEFINITION_ROW: Entity = entity(
    RELATIONSHIP_DEFINITION,
    "relationship definition",
    "How a need ties two nodes together.",
    &[&[
        field("type", Shape::Reference(&[RELATIONSHIP_TYPE]), "What kind of relationship.")
            .merge(Narrow)
            .required()
            .base(),
        field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V2_0),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        field("properties", Shape::Map(PROPERTY_DEFINITION), "Properties added or refined.").merge(ByName).since(V2_0),
        field("attributes", Shape::Map(ATTRIBUTE_DEFINITION), "Attributes added or refined.").merge(ByName).since(V2_0),
        INTERFACES,
    ]],
)
.short(&[text("type")]);

pub(super) const INTERFACE_DEFINITION_ROW: Entity = entity(
    INTERFACE_DEFINITION,
    "interface definition",
    "Operations that something of a type has.",
    &[&[
        field("type", Shape::Reference(&[INTERFACE_TYPE]), "What kind of interface.")
            .merge(Narrow)
            .required()
            .base()
            .optional_in(EXTENDED),
        field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(EXTENDED),
        field("metadata", shapes::METADATA, "Notes for tools.").since(EXTENDED),
        field("inputs", Shape::Map(PARAMETER_DEFINITION), "Inputs of all its operations.")
            .merge(ByName)
            .except(EXTENDED),
        extension("inputs", shapes::PARAMETERS, "Inputs of all its operations, or values for them.").merge(ByName),
        extension("outputs", shapes::ALIASES, "Outputs of all its operations."),
        extension("implementation", Shape::Any, "What carries out its operations.").merge(Fallback),
        extension("requirements", Shape::ListOf(&Shape::Text), "Types of connections that its operations need.")
            .merge(Append),
        OPERATIONS.since(V1_3),
        field("notifications", Shape::Map(NOTIFICATION_DEFINITION), "What it tells.").merge(ByName).since(V1_3),
    ]],
)
.rest(OPERATIONS.until(V2_0).except(V1_3));

pub(super) const OPERATION_DEFINITION_ROW: Entity = entity(
    OPERATION_DEFINITION,
    "operation definition",
    "Something that can be done.",
    &[&[
        DESCRIBED,
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        extension("metadata", shapes::METADATA, "Notes for tools."),
        CARRIED_OUT_BY,
        extension("entry_state", Shape::Any, "The state the node must be in.").merge(Fallback),
        extension("exit_state", Shape::Any, "The state the node is in afterwards.").merge(Fallback),
        extension("invoke", Shape::Any, "Another operation that is called.").merge(Fallback),
        field("inputs", Shape::Map(PARAMETER_DEFINITION), "What it is given.").merge(ByName).except(EXTENDED),
        extension("inputs", shapes::PARAMETERS, "What it is given: definitions or values.").merge(ByName),
        field("outputs", shapes::OUTPUT_MAPPINGS, "Where its results go.").merge(Fallback).since(V1_3).until(V2_0),
        field("outputs", Shape::Map(PARAMETER_DEFINITION), "What it gives.").merge(ByName).since(V2_0),
    ]],
)
.short(&[text("implementation")]);

pub(super) const NOTIFICATION_DEFINITION_ROW: Entity = entity(
    NOTIFICATION_DEFINITION,
    "notification definition",
    "Something that is told from outside.",
    &[&[
        field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V1_3),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        CARRIED_OUT_BY.since(V1_3),
        field("inputs", Shape::Map(PARAMETER_DEFINITION), "What it is given.").merge(ByName).since(V2_0),
        field("outputs", shapes::OUTPUT_MAPPINGS, "Where its results go.").merge(Fallback).since(V1_3).until(V2_0),
        field("outputs", Shape::Map(PARAMETER_DEFINITION), "What it gives.").merge(ByName).since(V2_0),
    ]],
)
.short(&[text("implementation").since(V1_3)]);

pub(super) const IMPLEMENTATION_ROW: Entity = entity(
    IMPLEMENTATION,
    "implementation",
    "What carries out an operation.",
    &[&[
        field("primary", Shape::Any, "The artifact that does the work.").merge(Fallback),
        field("dependencies", Shape::Any, "Artifacts it needs beside it.").merge(Fallback),
        field("timeout", Shape::Integer, "Seconds after which it has failed.").merge(Fallback).since(V1_2),
        field("operation_host", Shape::Text, "Where it runs.").merge(Fallback).since(V1_2),
        extension("className", Shape::Any, "The configurator that carries it out.").merge(Fallback),
        extension("environment", Shape::Any, "Environment variables it is given.").merge(Fallback),
        extension("inputs", shapes::ALIASES, "What the configurator is given."),
        extension("inputSchema", shapes::ALIASES, "What its inputs must look like."),
        extension("outputs", shapes::ALIASES, "What it gives."),
        extension("preConditions", shapes::ALIASES, "What must hold before."),
        extension("postConditions", shapes::ALIASES, "What must hold after."),
    ]],
)
.short(&[text("primary")]);

pub(super) const ARTIFACT_DEFINITION_ROW: Entity =
    entity(ARTIFACT_DEFINITION, "artifact definition", "A file that nodes of a type come with.", &[ARTIFACT_KEYS])
        .short(&[text("file")]);

pub(super) const TRIGGER_DEFINITION_ROW: Entity = entity(
    TRIGGER_DEFINITION,
    "trigger",
    "What sets a policy off, and what is then done.",
    &[&[
        field("description", Shape::Text, "What it is for, in words.").since(V1_1),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        field("event_type", Shape::Text, "What sets it off.").slot("event").since(V1_1).until(V1_3),
        field("event", Shape::Text, "What sets it off.").required().since(V1_3),
        field("schedule", Shape::Any, "When it may act.").since(V1_1).until(V2_0),
        field("target_filter", Shape::One(EVENT_FILTER), "Whose events count.").since(V1_1).until(V2_0),
        field("condition", Shape::One(TRIGGER_CONDITION), "What must hold.").since(V1_1).until(V2_0),
        field("condition", shapes::VALIDATION, "What must hold.").since(V2_0),
        field("action", Shape::Any, "An operation, or the name of a workflow.").since(V1_1).until(V1_3),
        field("action", shapes::ACTIVITIES, "What is done.").required().since(V1_3),
    ]],
);

pub(super) const EVENT_FILTER_ROW: Entity = entity(
    EVENT_FILTER,
    "event filter",
    "Whose events count.",
    &[&[
        field("node", Shape::Reference(&[NODE_TEMPLATE, NODE_TYPE]), "The node whose events count.")
            .since(V1_1)
            .until(V2_0),
        field("requirement", Shape::Text, "A requirement of that node.").since(V1_1).until(V2_0),
        field("capability", Shape::Text, "A capability of that node.").since(V1_1).until(V2_0),
    ]],
);

pub(super) const TRIGGER_CONDITION_ROW: Entity = entity(
    TRIGGER_CONDITION,
    "trigger condition",
    "What must hold for a trigger to act, and for how long.",
    &[&[
        field("constraint", shapes::CONDITION, "What must hold.").since(V1_1).until(V2_0),
        field("period", Shape::Any, "For how long.").since(V1_1).until(V2_0),
        field("evaluations", Shape::Integer, "How many times in that period.").since(V1_1).until(V2_0),
        field("method", Shape::Text, "How the evaluations are combined.").since(V1_1).until(V2_0),
    ]],
);

/// Artifacts are written the same way in types and in templates.
pub(super) const ARTIFACT_KEYS: &[Field] = &[
    field("type", Shape::Reference(&[ARTIFACT_TYPE]), "What kind of file.")
        .merge(Narrow)
        .required()
        .optional_in(EXTENDED),
    field("file", Shape::Text, "Its path or URL.").merge(Fallback).required().optional_in(EXTENDED),
    field("repository", Shape::Reference(&[REPOSITORY]), "The repository that contains it.")
        .merge(Fallback)
        .except(EXTENDED),
    extension("repository", Shape::Reference(&[REPOSITORY]), "The repository that contains it.")
        .loose()
        .merge(Fallback),
    extension("name", shapes::ALIASES, "Its name."),
    extension("title", shapes::ALIASES, "What people call it."),
    extension("version", Shape::Any, "Its version.").merge(Fallback),
    extension("permissions", Shape::Any, "Who may do what with the file.").merge(Fallback),
    extension("intent", Shape::Any, "What it is meant for.").merge(Fallback),
    extension("target", Shape::Any, "The platform it is for.").merge(Fallback),
    extension("order", Shape::Any, "When it is installed, among others.").merge(Fallback),
    extension("contents", Shape::Any, "The file itself.").merge(Fallback),
    extension("required", shapes::ALIASES, "Whether it is required."),
    DESCRIBED,
    field("metadata", shapes::METADATA, "Notes for tools.").since(EXTENDED),
    field("deploy_path", Shape::Text, "Where it is put.").merge(Fallback).until(V2_0),
    field("artifact_version", Shape::Text, "Its version.").merge(Fallback).since(V1_3),
    field("checksum", Shape::Text, "Its checksum.").merge(Fallback).since(V1_3),
    field("checksum_algorithm", Shape::Text, "How the checksum is computed.").merge(Fallback).since(V1_3),
    field("properties", Shape::MapOf(&Shape::Any), "Values of the artifact type's properties.").merge(Replace),
];
