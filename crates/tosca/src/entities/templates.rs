//! Rows of the service template and what it is made of.

use super::definitions::ARTIFACT;
use super::{DESCRIPTION, METADATA};
use crate::schema::Edition::{V1_0, V1_1, V1_2, V1_3, V2_0};
use crate::schema::Kind::*;
use crate::schema::{Field, Row, Shape, Short, extension, field};

const NOTES: Field = METADATA.since(V1_1);
const PROPERTIES: Field = field("properties", Shape::Values, "Values of the type's properties.");
const ATTRIBUTES_1: Field =
    field("attributes", Shape::AttributeValues, "First values of the type's attributes.").until(V1_3);
const ATTRIBUTES_2: Field =
    field("attributes", Shape::AttributeValues, "First values of the type's attributes.").since(V2_0);
const INTERFACES: Field = field("interfaces", Shape::Map(InterfaceAssignment), "How its operations are carried out.");
const IMPLEMENTATION: Field = field("implementation", Shape::One(Implementation), "What carries it out.");

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: ServiceTemplate,
        label: "service template",
        groups: &[&[
            DESCRIPTION,
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            field("inputs", Shape::Map(ParameterDefinition), "What the service is given."),
            field("outputs", Shape::Map(ParameterDefinition), "What the service gives."),
            field("node_templates", Shape::Map(NodeTemplate), "The nodes of the service.").until(V1_3),
            field("node_templates", Shape::Map(NodeTemplate), "The nodes of the service.").written().since(V2_0),
            field("relationship_templates", Shape::Map(RelationshipTemplate), "Relationships to be used by name."),
            field("groups", Shape::Map(Group), "Groups of nodes."),
            field("policies", Shape::UniqueSequence(Policy), "Rules for nodes and groups."),
            field("workflows", Shape::Map(Workflow), "Sequences of steps.").since(V1_1),
            field(
                "substitution_mappings",
                Shape::One(SubstitutionMappings),
                "The node that the whole service can stand for.",
            ),
            extension("root", Shape::Aliases, "The node that the whole service is about."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: NodeTemplate,
        label: "node template",
        groups: &[&[
            field("type", Shape::Name(&[NodeType]), "What kind of node.").written(),
            DESCRIPTION,
            NOTES,
            field("directives", Shape::Texts, "What an orchestrator is to do with it."),
            PROPERTIES,
            ATTRIBUTES_1,
            ATTRIBUTES_2,
            field("capabilities", Shape::Map(CapabilityAssignment), "Values of its capabilities."),
            field("requirements", Shape::Sequence(RequirementAssignment), "How its needs are met."),
            INTERFACES,
            field("artifacts", Shape::Map(Artifact), "Files it comes with."),
            field("count", Shape::Value, "How many such nodes there are.").since(V2_0),
            field("node_filter", Shape::One(NodeFilter), "What a selected node must satisfy.").until(V1_3),
            field("node_filter", Shape::Condition, "What a selected node must satisfy.").since(V2_0),
            field("copy", Shape::Name(&[NodeTemplate]), "The template this one starts from."),
            extension("title", Shape::Aliases, "What people call it."),
            extension("name", Shape::Aliases, "The name of its instance."),
            extension("dependencies", Shape::Aliases, "How its needs are met, as tools write it down."),
            extension("imported", Shape::Aliases, "The instance of another ensemble it stands for."),
            extension("instance_keys", Shape::Aliases, "What tells its instances apart."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: RelationshipTemplate,
        label: "relationship template",
        groups: &[&[
            field("type", Shape::Name(&[RelationshipType]), "What kind of relationship.").written(),
            DESCRIPTION,
            NOTES,
            PROPERTIES,
            ATTRIBUTES_1,
            ATTRIBUTES_2,
            INTERFACES,
            extension("default_for", Shape::Aliases, "The requirements it is used for without being named."),
            extension("title", Shape::Aliases, "What people call it."),
            extension("name", Shape::Aliases, "The name of its instance."),
            extension("directives", Shape::Aliases, "What an orchestrator is to do with it."),
            field("copy", Shape::Name(&[RelationshipTemplate]), "The template this one starts from."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: CapabilityAssignment,
        label: "capability assignment",
        groups: &[&[
            PROPERTIES,
            ATTRIBUTES_1,
            ATTRIBUTES_2,
            field("occurrences", Shape::Range, "How many relationships may lead to it.").since(V1_3).until(V1_3),
            field("directives", Shape::Texts, "Whether it serves this service, others, or both.").since(V2_0),
            extension("type", Shape::Name(&[CapabilityType]), "What kind of capability."),
            extension("metadata", Shape::Metadata, "Notes for tools."),
            extension("title", Shape::Aliases, "What people call it."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: RequirementAssignment,
        label: "requirement assignment",
        groups: &[&[
            field("capability", Shape::MaybeName(&[CapabilityType]), "The capability to use, by name or by type."),
            field("node", Shape::Name(&[NodeTemplate, NodeType]), "The node, by name or by type.").until(V1_3),
            field("node", Shape::Value, "The node, by name or by type, or `[name, index]`.").since(V2_0),
            field("relationship", Shape::One(RelationshipAssignment), "How the two are tied together."),
            field("node_filter", Shape::One(NodeFilter), "What the other node must satisfy.").until(V1_3).replaced(),
            extension("node_filter", Shape::Aliases, "What the other node must satisfy, or is given."),
            field("node_filter", Shape::Condition, "What the other node must satisfy.").since(V2_0),
            field("occurrences", Shape::Range, "How often it is assigned.").since(V1_3).until(V1_3),
            field("count", Shape::Value, "How many such requirements there are.").since(V2_0),
            field("allocation", Shape::Values, "How much of the capability is taken.").since(V2_0),
            field("directives", Shape::Texts, "Where to look for the other node.").since(V2_0),
            field("optional", Shape::Value, "Whether it may stay unmet.").since(V2_0),
            extension("description", Shape::Aliases, "What it is for, in words."),
            extension("metadata", Shape::Metadata, "Notes for tools."),
            extension("title", Shape::Aliases, "What people call it."),
        ]],
        short: Short::Text("node"),
        open: None,
    },
    Row {
        kind: RelationshipAssignment,
        label: "relationship assignment",
        groups: &[&[
            field(
                "type",
                Shape::Name(&[RelationshipTemplate, RelationshipType]),
                "What kind of relationship, or a template's name.",
            ),
            PROPERTIES,
            ATTRIBUTES_1,
            ATTRIBUTES_2,
            INTERFACES,
        ]],
        short: Short::Text("type"),
        open: None,
    },
    Row {
        kind: InterfaceAssignment,
        label: "interface assignment",
        groups: &[&[
            field("inputs", Shape::Values, "Inputs of all its operations."),
            field("operations", Shape::Map(OperationAssignment), "How each is carried out.").since(V1_3),
            field("notifications", Shape::Map(NotificationAssignment), "How each is told.").since(V1_3),
            extension("type", Shape::Name(&[InterfaceType]), "What kind of interface."),
            extension("description", Shape::Aliases, "What it is for, in words."),
            extension("metadata", Shape::Metadata, "Notes for tools."),
            extension("outputs", Shape::Aliases, "Outputs of all its operations."),
            extension("implementation", Shape::Aliases, "What carries out its operations."),
            extension("requirements", Shape::Aliases, "What must be there for its operations to run."),
        ]],
        short: Short::None,
        open: Some("operations"),
    },
    Row {
        kind: OperationAssignment,
        label: "operation assignment",
        groups: &[&[
            DESCRIPTION,
            IMPLEMENTATION,
            extension("entry_state", Shape::Aliases, "The state the node must be in."),
            extension("invoke", Shape::Aliases, "Another operation that is called."),
            field("inputs", Shape::Values, "What it is given."),
            field("outputs", Shape::OutputMappings, "Where its results go.").since(V1_3),
        ]],
        short: Short::Primary,
        open: None,
    },
    Row {
        kind: NotificationAssignment,
        label: "notification assignment",
        groups: &[&[
            field("description", Shape::Text, "What it is for, in words.").since(V1_3).until(V1_3),
            IMPLEMENTATION.since(V1_3),
            field("inputs", Shape::Values, "What it is given.").since(V2_0),
            field("outputs", Shape::OutputMappings, "Where its results go.").since(V1_3),
        ]],
        short: Short::Primary,
        open: None,
    },
    Row { kind: Artifact, label: "artifact", groups: &[ARTIFACT], short: Short::Text("file"), open: None },
    Row {
        kind: Group,
        label: "group",
        groups: &[&[
            field("type", Shape::Name(&[GroupType]), "What kind of group.").written(),
            DESCRIPTION,
            NOTES,
            PROPERTIES,
            ATTRIBUTES_2,
            field("interfaces", Shape::Map(InterfaceAssignment), "How its operations are carried out.")
                .until(V1_2)
                .extended(),
            extension("title", Shape::Aliases, "What people call it."),
            field("members", Shape::Names(&[NodeTemplate]), "The nodes in it.").replaced(),
            extension("members", Shape::Names(&[NodeTemplate, Group]), "The nodes and groups in it."),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: Policy,
        label: "policy",
        groups: &[&[
            field("type", Shape::Name(&[PolicyType]), "What kind of policy.").written(),
            DESCRIPTION,
            NOTES,
            PROPERTIES,
            field("targets", Shape::Names(&[NodeTemplate, Group]), "The nodes and groups it applies to."),
            field("triggers", Shape::Map(TriggerDefinition), "When it acts.").since(V1_1),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: NodeFilter,
        label: "node filter",
        groups: &[&[
            field("properties", Shape::PropertyFilters, "What properties must satisfy.").until(V1_3),
            field("capabilities", Shape::Sequence(CapabilityFilter), "What capabilities must satisfy.").until(V1_3),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: CapabilityFilter,
        label: "capability filter",
        groups: &[&[field("properties", Shape::PropertyFilters, "What properties must satisfy.").until(V1_3)]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: SubstitutionMappings,
        label: "substitution mappings",
        groups: &[&[
            field("node_type", Shape::Name(&[NodeType]), "The type of node that the service can stand for.")
                .written()
                .lax(),
            extension("node", Shape::Name(&[NodeTemplate]), "The node that the service is about."),
            field("substitution_filter", Shape::One(NodeFilter), "When it can.").since(V1_3).until(V1_3),
            field("substitution_filter", Shape::Condition, "When it can.").since(V2_0),
            field("properties", Shape::Mappings, "Where that node's properties go.").since(V1_2),
            field("attributes", Shape::Mappings, "Where that node's attributes come from.").since(V1_3),
            field("capabilities", Shape::Mappings, "Which capabilities stand for that node's."),
            field("requirements", Shape::Mappings, "Which requirements stand for that node's."),
            field("interfaces", Shape::Mappings, "What stands for that node's interfaces.").since(V1_2),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: Workflow,
        label: "workflow",
        groups: &[&[
            field("description", Shape::Text, "What it is for, in words.").since(V1_1),
            NOTES,
            field("inputs", Shape::Map(ParameterDefinition), "What it is given.").since(V1_1),
            field("preconditions", Shape::List(WorkflowPrecondition), "What must hold before it starts.").since(V1_1),
            field("steps", Shape::Map(WorkflowStep), "What it does.").since(V1_1),
            field("implementation", Shape::One(Implementation), "What carries it out as a whole.").since(V2_0),
            field("outputs", Shape::OutputMappings, "Where its results go.").since(V2_0),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: WorkflowPrecondition,
        label: "workflow precondition",
        groups: &[&[
            field("target", Shape::Name(&[NodeTemplate, Group]), "The node or group that is looked at.")
                .written()
                .since(V1_1)
                .replaced(),
            extension("target", Shape::MaybeName(&[NodeTemplate, Group, NodeType]), "What is looked at."),
            field("target_relationship", Shape::Text, "A requirement of it.").since(V1_1),
            field("condition", Shape::Condition, "What must hold.").since(V1_1),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: WorkflowStep,
        label: "workflow step",
        groups: &[&[
            field("target", Shape::Name(&[NodeTemplate, Group]), "The node or group it works on.")
                .written()
                .since(V1_1)
                .replaced(),
            extension("target", Shape::MaybeName(&[NodeTemplate, Group, NodeType]), "What it works on, or what kind.")
                .written(),
            field("target_relationship", Shape::Text, "A requirement of it.").since(V1_1),
            field("operation_host", Shape::Text, "Where it runs.").since(V1_1).until(V1_3),
            field("filter", Shape::Condition, "What must hold.").since(V1_1),
            field("activities", Shape::Activities, "What it does.").written().since(V1_1),
            field("on_success", Shape::Texts, "Steps that follow when it works.").since(V1_1),
            field("on_failure", Shape::Texts, "Steps that follow when it fails.").since(V1_1),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: CallOperation,
        label: "operation call",
        groups: &[&[
            field("operation", Shape::Text, "The operation, as `interface.operation`.").written().since(V1_0),
            field("inputs", Shape::Values, "What it is given.").since(V1_1),
        ]],
        short: Short::Text("operation"),
        open: None,
    },
];
