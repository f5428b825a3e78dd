//! Rows of the definitions that types are made of.

use super::{DESCRIPTION, METADATA};
use crate::schema::Edition::{V1_0, V1_1, V1_2, V1_3, V2_0};
use crate::schema::Kind::*;
use crate::schema::Merge::{Both, ByName, Derived, Fallback, Fixed, Narrow, Refine, Tighten, Within};
use crate::schema::{Field, Row, Shape, Short, extension, field};

const TYPE: Field = field("type", Shape::Name(&[DataType]), "The data type of the value.").merge(Derived);
const DESCRIBED: Field = DESCRIPTION.merge(Fallback);
const ENTRY_SCHEMA: Field =
    field("entry_schema", Shape::One(SchemaDefinition), "What the entries of a list or map are.").merge(Refine);
const KEY_SCHEMA: Field =
    field("key_schema", Shape::One(SchemaDefinition), "What the keys of a map are.").merge(Refine).since(V1_3);
const CONSTRAINTS: Field =
    field("constraints", Shape::Constraints, "What the value must satisfy.").slot("validation").merge(Both).until(V1_3);
const VALIDATION: Field =
    field("validation", Shape::Validation, "What the value must satisfy.").merge(Both).since(V2_0);
const DEFAULT: Field = field("default", Shape::Value, "The value when nothing is assigned.").merge(Fallback);
const REQUIRED: Field =
    field("required", Shape::Bool, "Whether there must be a value; it must unless told otherwise.").merge(Tighten);
const STATUS: Field = field("status", Shape::Text, "How settled the definition is.").merge(Fallback);
const TITLE: Field = extension("title", Shape::Aliases, "What people call it.");
const SETTABLE: Field = extension("user_settable", Shape::Aliases, "Whether a user is asked for it.");
const NOTES: Field = METADATA.since(V1_3);
const PROPERTIES: Field =
    field("properties", Shape::Map(PropertyDefinition), "Properties added or refined.").merge(ByName);
const ATTRIBUTES: Field =
    field("attributes", Shape::Map(AttributeDefinition), "Attributes added or refined.").merge(ByName);
const INTERFACES: Field =
    field("interfaces", Shape::Map(InterfaceDefinition), "Interfaces added or refined.").merge(ByName);
const IMPLEMENTATION: Field =
    field("implementation", Shape::One(Implementation), "What carries it out.").merge(Fallback);

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: PropertyDefinition,
        label: "property definition",
        groups: &[&[
            TYPE.needed(),
            DESCRIBED,
            REQUIRED,
            DEFAULT,
            field("value", Shape::Value, "The value; it cannot be changed.").merge(Fixed).since(V2_0),
            STATUS,
            CONSTRAINTS,
            VALIDATION,
            KEY_SCHEMA,
            ENTRY_SCHEMA,
            NOTES,
            TITLE,
            SETTABLE,
        ]],
        short: Short::Value,
        open: None,
    },
    Row {
        kind: AttributeDefinition,
        label: "attribute definition",
        groups: &[&[
            TYPE.needed(),
            DESCRIBED,
            DEFAULT,
            STATUS,
            VALIDATION,
            KEY_SCHEMA,
            ENTRY_SCHEMA,
            NOTES,
            TITLE,
            extension("required", Shape::Aliases, "Whether it is there from the start."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: ParameterDefinition,
        label: "parameter definition",
        groups: &[&[
            TYPE,
            DESCRIBED,
            REQUIRED,
            DEFAULT,
            field("value", Shape::Value, "The value.").merge(Fallback),
            field("mapping", Shape::Value, "The attribute that receives the value.").merge(Fallback).since(V2_0),
            STATUS,
            CONSTRAINTS,
            VALIDATION,
            KEY_SCHEMA.since(V1_0),
            ENTRY_SCHEMA,
            METADATA,
        ]],
        short: Short::List("mapping"),
        open: None,
    },
    Row {
        kind: SchemaDefinition,
        label: "schema",
        groups: &[&[
            TYPE.needed(),
            DESCRIBED,
            CONSTRAINTS,
            VALIDATION,
            field("key_schema", Shape::One(SchemaDefinition), "What the keys of a map are.").merge(Refine),
            ENTRY_SCHEMA,
            METADATA,
        ]],
        short: Short::Text("type"),
        open: None,
    },
    Row {
        kind: CapabilityDefinition,
        label: "capability definition",
        groups: &[&[
            field("type", Shape::Name(&[CapabilityType]), "What kind of capability.").merge(Derived).needed(),
            DESCRIBED,
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            PROPERTIES,
            ATTRIBUTES,
            field("valid_source_types", Shape::Names(&[NodeType]), "Node types that may use it.")
                .slot("valid_source_node_types")
                .merge(Narrow)
                .until(V1_3),
            field("valid_source_node_types", Shape::Names(&[NodeType]), "Node types that may use it.")
                .merge(Narrow)
                .since(V2_0),
            field(
                "valid_relationship_types",
                Shape::Names(&[RelationshipType]),
                "Relationship types that may lead to it.",
            )
            .merge(Narrow)
            .since(V2_0),
            field("occurrences", Shape::Range, "How many relationships may lead to it.").merge(Within).until(V1_3),
        ]],
        short: Short::Text("type"),
        open: None,
    },
    Row {
        kind: RequirementDefinition,
        label: "requirement definition",
        groups: &[&[
            field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V2_0).extended(),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0).extended(),
            extension("title", Shape::Aliases, "What people call it."),
            field("capability", Shape::Name(&[CapabilityType]), "The capability that is needed.")
                .merge(Derived)
                .needed()
                .lax(),
            field("node", Shape::Name(&[NodeType]), "The type of node that is needed.").merge(Derived).replaced(),
            extension("node", Shape::Name(&[NodeType, NodeTemplate]), "The type of node that is needed, or the node.")
                .merge(Derived),
            extension("node_filter", Shape::Aliases, "What the other node must satisfy, or is given."),
            field("relationship", Shape::One(RelationshipDefinition), "How the two are tied together.").merge(Refine),
            field("node_filter", Shape::Condition, "What the other node must satisfy.").merge(Both).since(V2_0),
            field("occurrences", Shape::Range, "How often it may be assigned.")
                .slot("count_range")
                .merge(Within)
                .until(V1_3),
            field("count_range", Shape::Range, "How often it may be assigned.").merge(Within).since(V2_0),
        ]],
        short: Short::Text("capability"),
        open: None,
    },
    Row {
        kind: RelationshipDefinition,
        label: "relationship definition",
        groups: &[&[
            field("type", Shape::Name(&[RelationshipType]), "What kind of relationship.").merge(Derived).needed(),
            field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V2_0),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            field("properties", Shape::Map(PropertyDefinition), "Properties added or refined.")
                .merge(ByName)
                .since(V2_0),
            field("attributes", Shape::Map(AttributeDefinition), "Attributes added or refined.")
                .merge(ByName)
                .since(V2_0),
            INTERFACES,
        ]],
        short: Short::Text("type"),
        open: None,
    },
    Row {
        kind: InterfaceDefinition,
        label: "interface definition",
        groups: &[&[
            field("type", Shape::Name(&[InterfaceType]), "What kind of interface.").merge(Derived).needed().lax(),
            field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V2_0).extended(),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0).extended(),
            field("inputs", Shape::Map(ParameterDefinition), "Inputs of all its operations.").merge(ByName).replaced(),
            extension("inputs", Shape::Parameters, "Inputs of all its operations, or values for them.").merge(ByName),
            extension("outputs", Shape::Aliases, "Outputs of all its operations."),
            extension("implementation", Shape::Aliases, "What carries out its operations."),
            extension("requirements", Shape::Aliases, "What must be there for its operations to run."),
            field("operations", Shape::Map(OperationDefinition), "What can be done.").merge(ByName).since(V1_3),
            field("notifications", Shape::Map(NotificationDefinition), "What it tells.").merge(ByName).since(V1_3),
        ]],
        short: Short::None,
        open: Some("operations"),
    },
    Row {
        kind: OperationDefinition,
        label: "operation definition",
        groups: &[&[
            DESCRIBED,
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            IMPLEMENTATION,
            extension("entry_state", Shape::Aliases, "The state the node must be in."),
            extension("invoke", Shape::Aliases, "Another operation that is called."),
            field("inputs", Shape::Map(ParameterDefinition), "What it is given.").merge(ByName).replaced(),
            extension("inputs", Shape::Parameters, "What it is given: definitions or values.").merge(ByName),
            field("outputs", Shape::OutputMappings, "Where its results go.").merge(Fallback).since(V1_3).until(V1_3),
            field("outputs", Shape::Map(ParameterDefinition), "What it gives.").merge(ByName).since(V2_0),
        ]],
        short: Short::Primary,
        open: None,
    },
    Row {
        kind: NotificationDefinition,
        label: "notification definition",
        groups: &[&[
            field("description", Shape::Text, "What it is for, in words.").merge(Fallback).since(V1_3),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            IMPLEMENTATION.since(V1_3),
            field("inputs", Shape::Map(ParameterDefinition), "What it is given.").merge(ByName).since(V2_0),
            field("outputs", Shape::OutputMappings, "Where its results go.").merge(Fallback).since(V1_3).until(V1_3),
            field("outputs", Shape::Map(ParameterDefinition), "What it gives.").merge(ByName).since(V2_0),
        ]],
        short: Short::Primary,
        open: None,
    },
    Row {
        kind: Implementation,
        label: "implementation",
        groups: &[&[
            field("primary", Shape::Value, "The artifact that does the work.").merge(Fallback),
            field("dependencies", Shape::Value, "Artifacts it needs beside it.").merge(Fallback),
            field("timeout", Shape::Int, "Seconds after which it has failed.").merge(Fallback).since(V1_2),
            field("operation_host", Shape::Text, "Where it runs.").merge(Fallback).since(V1_2),
            extension("className", Shape::Aliases, "The configurator that carries it out."),
            extension("environment", Shape::Aliases, "Environment variables it is given."),
            extension("inputs", Shape::Aliases, "What the configurator is given."),
            extension("inputSchema", Shape::Aliases, "What its inputs must look like."),
            extension("outputs", Shape::Aliases, "What it gives."),
            extension("preConditions", Shape::Aliases, "What must hold before."),
            extension("postConditions", Shape::Aliases, "What must hold after."),
        ]],
        short: Short::Text("primary"),
        open: None,
    },
    Row {
        kind: ArtifactDefinition,
        label: "artifact definition",
        groups: &[ARTIFACT],
        short: Short::Text("file"),
        open: None,
    },
    Row {
        kind: TriggerDefinition,
        label: "trigger",
        groups: &[&[
            field("description", Shape::Text, "What it is for, in words.").since(V1_1),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            field("event_type", Shape::Text, "What sets it off.").slot("event").since(V1_1).until(V1_2),
            field("event", Shape::Text, "What sets it off.").written().since(V1_3),
            field("schedule", Shape::Value, "When it may act.").since(V1_1).until(V1_3),
            field("target_filter", Shape::One(EventFilter), "Whose events count.").since(V1_1).until(V1_3),
            field("condition", Shape::One(TriggerCondition), "What must hold.").since(V1_1).until(V1_3),
            field("condition", Shape::Validation, "What must hold.").since(V2_0),
            field("action", Shape::Value, "An operation, or the name of a workflow.").since(V1_1).until(V1_2),
            field("action", Shape::Activities, "What is done.").written().since(V1_3),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: EventFilter,
        label: "event filter",
        groups: &[&[
            field("node", Shape::Name(&[NodeTemplate, NodeType]), "The node whose events count.")
                .since(V1_1)
                .until(V1_3),
            field("requirement", Shape::Text, "A requirement of that node.").since(V1_1).until(V1_3),
            field("capability", Shape::Text, "A capability of that node.").since(V1_1).until(V1_3),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: TriggerCondition,
        label: "trigger condition",
        groups: &[&[
            field("constraint", Shape::Condition, "What must hold.").since(V1_1).until(V1_3),
            field("period", Shape::Value, "For how long.").since(V1_1).until(V1_3),
            field("evaluations", Shape::Int, "How many times in that period.").since(V1_1).until(V1_3),
            field("method", Shape::Text, "How the evaluations are combined.").since(V1_1).until(V1_3),
        ]],
        short: Short::None,
        open: None,
    },
];

/// Artifacts are written the same way in types and in templates.
pub(super) const ARTIFACT: &[Field] = &[
    field("type", Shape::Name(&[ArtifactType]), "What kind of file.").merge(Derived).needed().lax(),
    field("file", Shape::Text, "Where it lies.").merge(Fallback).needed().lax(),
    field("repository", Shape::Name(&[Repository]), "The repository it lies in.").merge(Fallback).replaced(),
    extension("repository", Shape::MaybeName(&[Repository]), "The repository it lies in.").merge(Fallback),
    extension("name", Shape::Aliases, "Its name."),
    extension("title", Shape::Aliases, "What people call it."),
    extension("version", Shape::Value, "Its version.").merge(Fallback),
    extension("permissions", Shape::Value, "Who may do what with the file.").merge(Fallback),
    extension("intent", Shape::Value, "What it is meant for.").merge(Fallback),
    extension("target", Shape::Value, "The platform it is for.").merge(Fallback),
    extension("order", Shape::Value, "When it is installed, among others.").merge(Fallback),
    extension("contents", Shape::Value, "The file itself.").merge(Fallback),
    extension("required", Shape::Aliases, "Whether it must be there."),
    DESCRIBED,
    field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0).extended(),
    field("deploy_path", Shape::Text, "Where it is put.").merge(Fallback).until(V1_3),
    field("artifact_version", Shape::Text, "Its version.").merge(Fallback).since(V1_3),
    field("checksum", Shape::Text, "Its checksum.").merge(Fallback).since(V1_3),
    field("checksum_algorithm", Shape::Text, "How the checksum is computed.").merge(Fallback).since(V1_3),
    field("properties", Shape::Values, "Values of the artifact type's properties.").merge(ByName),
];
