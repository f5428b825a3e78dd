//! Rows of the service template and its parts.

use super::definitions::ARTIFACT_KEYS;
use super::*;
use crate::edition::{EXTENDED, V1_0, V1_1, V1_2, V1_3, V2_0};

const NOTES: Field = METADATA.since(V1_1);
const PROPERTIES: Field = field("properties", Shape::MapOf(&Shape::Any), "Values of the type's properties.");
const ATTRIBUTES_1: Field =
    field("attributes", shapes::ATTRIBUTE_VALUES, "First values of the type's attributes.").until(V2_0);
const ATTRIBUTES_2: Field =
    field("attributes", shapes::ATTRIBUTE_VALUES, "First values of the type's attributes.").since(V2_0);
const INTERFACES: Field = field("interfaces", Shape::Map(INTERFACE_ASSIGNMENT), "How its operations are carried out.");
const OPERATIONS: Field = field("operations", Shape::Map(OPERATION_ASSIGNMENT), "How each is carried out.");
const CARRIED_OUT_BY: Field = field("implementation", Shape::One(IMPLEMENTATION), "What carries it out.");

pub(super) const SERVICE_TEMPLATE_ROW: Entity = entity(
    SERVICE_TEMPLATE,
    "service template",
    "The service: nodes and how they are tied together.",
    &[&[
        DESCRIPTION,
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        field("inputs", Shape::Map(PARAMETER_DEFINITION), "What the service is given."),
        field("outputs", Shape::Map(PARAMETER_DEFINITION), "What the service gives."),
        field("node_templates", Shape::Map(NODE_TEMPLATE), "The nodes of the service.").until(V2_0),
        field("node_templates", Shape::Map(NODE_TEMPLATE), "The nodes of the service.").required().since(V2_0),
        field("relationship_templates", Shape::Map(RELATIONSHIP_TEMPLATE), "Relationships to be used by name."),
        field("groups", Shape::Map(GROUP), "Groups of nodes."),
        field("policies", Shape::Sequence(POLICY), "Rules for nodes and groups."),
        field("workflows", Shape::Map(WORKFLOW), "Sequences of steps.").since(V1_1),
        field(
            "substitution_mappings",
            Shape::One(SUBSTITUTION_MAPPINGS),
            "The node that the whole service can replace.",
        ),
        extension("root", Shape::One(SUBSTITUTION_MAPPINGS), "Another name of `substitution_mappings`."),
    ]],
);

pub(super) const NODE_TEMPLATE_ROW: Entity = entity(
    NODE_TEMPLATE,
    "node template",
    "A node of the service.",
    &[&[
        field("type", Shape::Reference(&[NODE_TYPE]), "What kind of node.").required(),
        DESCRIPTION,
        NOTES,
        field("directives", Shape::ListOf(&Shape::Text), "What an orchestrator is to do with it."),
        PROPERTIES,
        ATTRIBUTES_1,
        ATTRIBUTES_2,
        field("capabilities", Shape::Map(CAPABILITY_ASSIGNMENT), "Values of its capabilities."),
        field("requirements", Shape::Repeating(REQUIREMENT_ASSIGNMENT), "How its needs are met."),
        INTERFACES,
        field("artifacts", Shape::Map(ARTIFACT), "Files it comes with."),
        field("count", Shape::Any, "How many such nodes there are.").since(V2_0),
        field("node_filter", Shape::One(NODE_FILTER), "What a selected node must satisfy.").until(EXTENDED),
        extension("node_filter", Shape::Any, "What a selected node must satisfy."),
        field("node_filter", shapes::CONDITION, "What a selected node must satisfy.").since(V2_0),
        field("copy", Shape::Reference(&[NODE_TEMPLATE]), "The template this one starts from."),
        extension("title", shapes::ALIASES, "What people call it."),
        extension("name", shapes::ALIASES, "The name of its instance."),
        extension("dependencies", shapes::ALIASES, "How its needs are met, as tools write it down."),
        extension("imported", Shape::Text, "The instance of another ensemble it stands for."),
        extension("instance_keys", shapes::ALIASES, "What tells its instances apart."),
    ]],
);

/// Additions to a node template or to one of its requirements.
pub(super) const DECORATOR_ROW: Entity = entity(
    DECORATOR,
    "decorator",
    "What is added to node templates, or to one of their requirements.",
    &[&[
        DESCRIPTION,
        METADATA,
        PROPERTIES,
        ATTRIBUTES_1,
        field("directives", Shape::ListOf(&Shape::Text), "What an orchestrator is to do with the node."),
        field("capabilities", Shape::Map(CAPABILITY_ASSIGNMENT), "Values of the node's capabilities."),
        field("requirements", Shape::Repeating(REQUIREMENT_ASSIGNMENT), "How needs of the node are met."),
        INTERFACES,
        field("artifacts", Shape::Map(ARTIFACT), "Files the node comes with."),
        field("type", Shape::Reference(&[NODE_TYPE]), "Another type of the node."),
        field("node", Shape::Reference(&[NODE_TEMPLATE, NODE_TYPE]), "The node that the requirement leads to.").loose(),
        field("capability", Shape::Reference(&[CAPABILITY_TYPE]), "The capability that the requirement uses.").loose(),
        field("relationship", Shape::One(RELATIONSHIP_ASSIGNMENT), "How the requirement ties two nodes together."),
        field("occurrences", Shape::Range, "How often the requirement is assigned."),
        field("node_filter", Shape::Any, "What the other node must satisfy, or is given."),
        field("title", shapes::ALIASES, "What people call it."),
    ]],
);

pub(super) const RELATIONSHIP_TEMPLATE_ROW: Entity = entity(
    RELATIONSHIP_TEMPLATE,
    "relationship template",
    "A relationship that requirements can use by name.",
    &[&[
        field("type", Shape::Reference(&[RELATIONSHIP_TYPE]), "What kind of relationship.").required(),
        DESCRIPTION,
        NOTES,
        PROPERTIES,
        ATTRIBUTES_1,
        ATTRIBUTES_2,
        INTERFACES,
        extension("default_for", Shape::Any, "The requirements it is used for without being named."),
        extension("title", shapes::ALIASES, "What people call it."),
        extension("name", shapes::ALIASES, "The name of its instance."),
        extension("directives", shapes::ALIASES, "What an orchestrator is to do with it."),
        field("copy", Shape::Reference(&[RELATIONSHIP_TEMPLATE]), "The template this one starts from."),
    ]],
);

pub(super) const CAPABILITY_ASSIGNMENT_ROW: Entity = entity(
    CAPABILITY_ASSIGNMENT,
    "capability assignment",
    "Values of a capability of a node.",
    &[&[
        PROPERTIES,
        ATTRIBUTES_1,
        ATTRIBUTES_2,
        field("occurrences", Shape::Range, "How many relationships may lead to it.").since(V1_3).until(V2_0),
        field("directives", Shape::ListOf(&Shape::Text), "Whether it serves this service, others, or both.")
            .since(V2_0),
        extension("type", Shape::Reference(&[CAPABILITY_TYPE]), "What kind of capability."),
        extension("metadata", shapes::METADATA, "Notes for tools."),
        extension("title", shapes::ALIASES, "What people call it."),
    ]],
);

pub(super) const REQUIREMENT_ASSIGNMENT_ROW: Entity = entity(
    REQUIREMENT_ASSIGNMENT,
    "requirement assignment",
    "How a need of a node is met.",
    &[&[
        field("capability", Shape::Reference(&[CAPABILITY_TYPE]), "The capability to use, by name or by type.").loose(),
        field("node", Shape::Reference(&[NODE_TEMPLATE, NODE_TYPE]), "The node, by name or by type.").until(V2_0),
        field("node", Shape::Any, "The node, by name or by type, or `[name, index]`.").since(V2_0),
        field("relationship", Shape::One(RELATIONSHIP_ASSIGNMENT), "How the two are tied together."),
        field("node_filter", Shape::One(NODE_FILTER), "What the other node must satisfy.").until(EXTENDED),
        extension("node_filter", Shape::Any, "What the other node must satisfy, or is given."),
        field("node_filter", shapes::CONDITION, "What the other node must satisfy.").since(V2_0),
        field("occurrences", Shape::Range, "How often it is assigned.").since(V1_3).until(V2_0),
        field("count", Shape::Any, "How many such requirements there are.").since(V2_0),
        field("allocation", Shape::MapOf(&Shape::Any), "How much of the capability is taken.").since(V2_0),
        field("directives", Shape::ListOf(&Shape::Text), "Where to look for the other node.").since(V2_0),
        field("optional", Shape::Any, "Whether it may stay unmet.").since(V2_0),
        extension("description", shapes::ALIASES, "What it is for, in words."),
        extension("metadata", shapes::METADATA, "Notes for tools."),
        extension("title", shapes::ALIASES, "What people call it."),
    ]],
)
.short(&[text("node"), list("node").since(V2_0)]);

pub(super) const RELATIONSHIP_ASSIGNMENT_ROW: Entity = entity(
    RELATIONSHIP_ASSIGNMENT,
    "relationship assignment",
    "The relationship that meets a need.",
    &[&[
        field(
            "type",
            Shape::Reference(&[RELATIONSHIP_TEMPLATE, RELATIONSHIP_TYPE]),
            "What kind of relationship, or a template's name.",
        ),
        PROPERTIES,
        ATTRIBUTES_1,
        ATTRIBUTES_2,
        INTERFACES,
        extension("default_for", Shape::Any, "The requirements it is used for without being named."),
        extension("metadata", shapes::METADATA, "Notes for tools."),
    ]],
)
.short(&[text("type")]);

pub(super) const INTERFACE_ASSIGNMENT_ROW: Entity = entity(
    INTERFACE_ASSIGNMENT,
    "interface assignment",
    "How the operations of an interface are carried out.",
    &[&[
        field("inputs", Shape::MapOf(&Shape::Any), "Inputs of all its operations."),
        OPERATIONS.since(V1_3),
        field("notifications", Shape::Map(NOTIFICATION_ASSIGNMENT), "How each is told.").since(V1_3),
        extension("type", Shape::Reference(&[INTERFACE_TYPE]), "What kind of interface."),
        extension("description", shapes::ALIASES, "What it is for, in words."),
        extension("metadata", shapes::METADATA, "Notes for tools."),
        extension("outputs", shapes::ALIASES, "Outputs of all its operations."),
        extension("implementation", Shape::Any, "What carries out its operations."),
        extension("requirements", Shape::ListOf(&Shape::Text), "Types of connections that its operations need."),
    ]],
)
.rest(OPERATIONS.until(V2_0).except(V1_3));

pub(super) const OPERATION_ASSIGNMENT_ROW: Entity = entity(
    OPERATION_ASSIGNMENT,
    "operation assignment",
    "How an operation is carried out.",
    &[&[
        DESCRIPTION,
        extension("metadata", shapes::METADATA, "Notes for tools."),
        CARRIED_OUT_BY,
        extension("entry_state", Shape::Any, "The state the node must be in."),
        extension("exit_state", Shape::Any, "The state the node is in afterwards."),
        extension("invoke", Shape::Any, "Another operation that is called."),
        field("inputs", Shape::MapOf(&Shape::Any), "What it is given."),
        field("outputs", shapes::OUTPUT_MAPPINGS, "Where its results go.").since(V1_3),
    ]],
)
.short(&[text("implementation")]);

pub(super) const NOTIFICATION_ASSIGNMENT_ROW: Entity = entity(
    NOTIFICATION_ASSIGNMENT,
    "notification assignment",
    "How a notification is received.",
    &[&[
        field("description", Shape::Text, "What it is for, in words.").since(V1_3).until(V2_0),
        CARRIED_OUT_BY.since(V1_3),
        field("inputs", Shape::MapOf(&Shape::Any), "What it is given.").since(V2_0),
        field("outputs", shapes::OUTPUT_MAPPINGS, "Where its results go.").since(V1_3),
    ]],
)
.short(&[text("implementation").since(V1_3)]);

pub(super) const ARTIFACT_ROW: Entity =
    entity(ARTIFACT, "artifact", "A file that a node comes with.", &[ARTIFACT_KEYS]).short(&[text("file")]);

pub(super) const GROUP_ROW: Entity = entity(
    GROUP,
    "group",
    "Nodes that belong together.",
    &[&[
        field("type", Shape::Reference(&[GROUP_TYPE]), "What kind of group.").required(),
        DESCRIPTION,
        NOTES,
        PROPERTIES,
        ATTRIBUTES_2,
        field("interfaces", Shape::Map(INTERFACE_ASSIGNMENT), "How its operations are carried out.")
            .until(V2_0)
            .except(V1_3),
        extension("title", shapes::ALIASES, "What people call it."),
        field("members", Shape::Names(&[NODE_TEMPLATE]), "The nodes in it.").except(EXTENDED),
        extension("members", Shape::Names(&[NODE_TEMPLATE, GROUP]), "The nodes and groups in it."),
    ]],
);

pub(super) const POLICY_ROW: Entity = entity(
    POLICY,
    "policy",
    "A rule for nodes and groups.",
    &[&[
        field("type", Shape::Reference(&[POLICY_TYPE]), "What kind of policy.").required(),
        DESCRIPTION,
        NOTES,
        PROPERTIES,
        field("targets", Shape::Names(&[NODE_TEMPLATE, GROUP]), "The nodes and groups it applies to."),
        field("triggers", Shape::Map(TRIGGER_DEFINITION), "When it acts.").since(V1_1),
    ]],
);

pub(super) const NODE_FILTER_ROW: Entity = entity(
    NODE_FILTER,
    "node filter",
    "What a node must satisfy to be chosen.",
    &[&[
        field("properties", shapes::PROPERTY_FILTERS, "What properties must satisfy.").until(V2_0),
        field("capabilities", Shape::Repeating(CAPABILITY_FILTER), "What capabilities must satisfy.").until(V2_0),
        extension("match", Shape::Any, "Expressions, one of which must give the node."),
        extension("requirements", shapes::ALIASES, "What requirements of the node must satisfy."),
    ]],
);

pub(super) const CAPABILITY_FILTER_ROW: Entity = entity(
    CAPABILITY_FILTER,
    "capability filter",
    "What a capability must satisfy for its node to be chosen.",
    &[&[field("properties", shapes::PROPERTY_FILTERS, "What properties must satisfy.").until(V2_0)]],
);

pub(super) const SUBSTITUTION_MAPPINGS_ROW: Entity = entity(
    SUBSTITUTION_MAPPINGS,
    "substitution mappings",
    "How the service replaces a node of another service.",
    &[&[
        field("node_type", Shape::Reference(&[NODE_TYPE]), "The type of node that the service can replace.")
            .required()
            .optional_in(EXTENDED),
        extension("node", Shape::Reference(&[NODE_TEMPLATE]), "The node that the service is about."),
        field("substitution_filter", Shape::One(NODE_FILTER), "When it can.").since(V1_3).until(V2_0),
        field("substitution_filter", shapes::CONDITION, "When it can.").since(V2_0),
        field("properties", shapes::MAPPINGS, "Where that node's properties go.").since(V1_2),
        field("attributes", shapes::MAPPINGS, "Where that node's attributes come from.").since(V1_3),
        field("capabilities", shapes::MAPPINGS, "Which capabilities are used for that node's."),
        field("requirements", shapes::MAPPINGS, "Which requirements are used for that node's."),
        field("interfaces", shapes::MAPPINGS, "What is used for that node's interfaces.").since(V1_2),
    ]],
);

pub(super) const WORKFLOW_ROW: Entity = entity(
    WORKFLOW,
    "workflow",
    "A sequence of steps.",
    &[&[
        field("description", Shape::Text, "What it is for, in words.").since(V1_1),
        NOTES,
        field("inputs", Shape::Map(PARAMETER_DEFINITION), "What it is given.").since(V1_1),
        field("preconditions", Shape::List(WORKFLOW_PRECONDITION), "What must hold before it starts.").since(V1_1),
        field("steps", Shape::Map(WORKFLOW_STEP), "What it does.").since(V1_1).except(EXTENDED),
        extension("steps", Shape::Map(WORKFLOW_STEP), "What it does.").required(),
        field("implementation", Shape::One(IMPLEMENTATION), "What carries it out as a whole.").since(V2_0),
        field("outputs", shapes::OUTPUT_MAPPINGS, "Where its results go.").since(V2_0),
    ]],
);

pub(super) const WORKFLOW_PRECONDITION_ROW: Entity = entity(
    WORKFLOW_PRECONDITION,
    "workflow precondition",
    "What must hold before a workflow starts.",
    &[&[
        field("target", Shape::Reference(&[NODE_TEMPLATE, GROUP]), "The node or group that is looked at.")
            .required()
            .since(V1_1)
            .except(EXTENDED),
        extension("target", Shape::Reference(&[NODE_TEMPLATE, GROUP, NODE_TYPE]), "What is looked at.").loose(),
        field("target_relationship", Shape::Text, "A requirement of it.").since(V1_1),
        field("condition", shapes::CONDITION, "What must hold.").since(V1_1),
    ]],
);

pub(super) const WORKFLOW_STEP_ROW: Entity = entity(
    WORKFLOW_STEP,
    "workflow step",
    "One step of a workflow.",
    &[&[
        field("target", Shape::Reference(&[NODE_TEMPLATE, GROUP]), "The node or group it works on.")
            .required()
            .since(V1_1)
            .except(EXTENDED),
        extension("target", Shape::Reference(&[NODE_TEMPLATE, GROUP, NODE_TYPE]), "What it works on, or what kind.")
            .loose()
            .required(),
        field("target_relationship", Shape::Text, "A requirement of it.").since(V1_1),
        field("operation_host", Shape::Text, "Where it runs.").since(V1_1).until(V2_0),
        field("filter", shapes::CONDITION, "What must hold.").since(V1_1),
        field("activities", shapes::ACTIVITIES, "What it does.").required().optional_in(EXTENDED).since(V1_1),
        field("on_success", Shape::ListOf(&Shape::Text), "Steps that follow when it works.").since(V1_1),
        field("on_failure", Shape::ListOf(&Shape::Text), "Steps that follow when it fails.").since(V1_1),
    ]],
);

pub(super) const CALL_OPERATION_ROW: Entity = entity(
    CALL_OPERATION,
    "operation call",
    "An operation that an activity calls.",
    &[&[
        field("operation", Shape::Text, "The operation, as `interface.operation`.").required().since(V1_0),
        field("inputs", Shape::MapOf(&Shape::Any), "What it is given.").since(V1_1),
    ]],
)
.short(&[text("operation")]);
