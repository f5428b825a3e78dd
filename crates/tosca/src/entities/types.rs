//! Rows of files, imports, repositories, functions and the eight kinds of types.

use super::*;
use crate::edition::{EXTENDED, V1_1, V1_2, V1_3, V2_0};
use purlin_model::schema::Merge::{Append, ByName, Fallback, Narrow, Replace};

const FILE_KEYS: &[Field] = &[
    field("tosca_definitions_version", Shape::Text, "The edition of TOSCA the file is written in.")
        .required()
        .optional_in(EXTENDED),
    field("namespace", Shape::Text, "The namespace of everything the file declares.")
        .slot("profile")
        .since(V1_2)
        .until(V2_0),
    field("profile", Shape::Text, "The profile the file defines, with an optional version.").since(V2_0),
    METADATA,
    DESCRIPTION,
    field("dsl_definitions", shapes::ALIASES, "Pieces of YAML to refer to by alias."),
    field("repositories", Shape::Map(REPOSITORY), "Places that files and artifacts come from."),
    field("imports", Shape::List(IMPORT), "Other files whose names become visible here."),
    field("artifact_types", Shape::Map(ARTIFACT_TYPE), "Kinds of files."),
    field("capability_types", Shape::Map(CAPABILITY_TYPE), "What nodes can offer."),
    field("data_types", Shape::Map(DATA_TYPE), "Kinds of values."),
    field("group_types", Shape::Map(GROUP_TYPE), "Kinds of groups."),
    field("interface_types", Shape::Map(INTERFACE_TYPE), "Sets of operations."),
    field("node_types", Shape::Map(NODE_TYPE), "Kinds of nodes."),
    field("policy_types", Shape::Map(POLICY_TYPE), "Kinds of policies."),
    field("relationship_types", Shape::Map(RELATIONSHIP_TYPE), "Kinds of relationships."),
    field("functions", Shape::Map(FUNCTION_DEFINITION), "Functions of the author's own.").since(V2_0),
    field("topology_template", Shape::One(SERVICE_TEMPLATE), "The service itself.")
        .slot("service_template")
        .until(V2_0),
    field("service_template", Shape::One(SERVICE_TEMPLATE), "The service itself.").since(V2_0),
    extension("types", shapes::TYPES, "Types of any kind; what each derives from tells which."),
    extension("decorators", Shape::Map(DECORATOR), "What is added to templates, by their name or type."),
    extension("deployment_blueprints", shapes::ALIASES, "Ways to deploy the service."),
    extension("template_name", shapes::ALIASES, "The name of the template."),
    extension("template_author", shapes::ALIASES, "Who wrote the template."),
    extension("template_version", shapes::ALIASES, "The version of the template."),
];

/// The common keys of all types. In the extended edition a type may have several parents; the further ones are stored
/// in a slot of their own.
const HEADER: &[Field] = &[
    field("version", shapes::VERSION, "The version of the type itself."),
    METADATA,
    DESCRIPTION,
    field("derived_from", Shape::Parent, "The type this one extends.").except(EXTENDED),
    extension(
        "derived_from",
        Shape::Union(&[Shape::Parent, Shape::ListOf(&Shape::Parent)]),
        "The type, or types, this one extends.",
    ),
];

const PROPERTIES: Field =
    field("properties", Shape::Map(PROPERTY_DEFINITION), "Values fixed when the service is designed.").merge(ByName);
const ATTRIBUTES: Field =
    field("attributes", Shape::Map(ATTRIBUTE_DEFINITION), "Values known when the service runs.").merge(ByName);

const OPERATIONS: Field = field("operations", Shape::Map(OPERATION_DEFINITION), "What can be done.").merge(ByName);

pub(super) const FILE_ROW: Entity =
    entity(FILE, "file", "A file of TOSCA: types, and at most one service made of them.", &[FILE_KEYS]);

pub(super) const IMPORT_ROW: Entity = entity(
    IMPORT,
    "import",
    "Another file whose names become visible.",
    &[&[
        field("file", Shape::Text, "The path or URL of the file.").slot("url").required().until(V2_0),
        field("url", Shape::Text, "The path or URL of the file.").since(V2_0),
        field("profile", Shape::Text, "The profile to import, by name.").since(V2_0),
        field("repository", Shape::Reference(&[REPOSITORY]), "The repository that contains the file.").except(EXTENDED),
        extension("repository", Shape::Reference(&[REPOSITORY]), "The repository that contains the file.").loose(),
        field("namespace_prefix", Shape::Text, "Put before every imported name.").slot("namespace").until(V2_0),
        field("namespace", Shape::Text, "Put before every imported name.").since(V2_0),
        field("namespace_uri", Shape::Text, "The namespace of the imported file; has no effect.").until(V2_0),
        field("description", Shape::Text, "What it is for, in words.").since(V2_0),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
        extension("when", Shape::Any, "When the file is imported."),
    ]],
)
.short(&[text("url")]);

pub(super) const REPOSITORY_ROW: Entity = entity(
    REPOSITORY,
    "repository",
    "A place that files and artifacts come from.",
    &[&[
        DESCRIPTION,
        field("url", Shape::Text, "Its path or URL.").required(),
        field("credential", Shape::Any, "What is presented to get access."),
        extension("revision", shapes::ALIASES, "The branch, tag or commit to use."),
        extension("file", Shape::Text, "The file in it that is meant."),
        extension("metadata", Shape::Any, "Notes for tools."),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
    ]],
)
.short(&[text("url")]);

pub(super) const ARTIFACT_TYPE_ROW: Entity = entity(
    ARTIFACT_TYPE,
    "artifact type",
    "A kind of file that a service is made of.",
    &[
        HEADER,
        &[
            PROPERTIES,
            field("mime_type", Shape::Text, "The media type of such files.").merge(Fallback),
            field("file_ext", Shape::ListOf(&Shape::Text), "The file name extensions of such files.").merge(Append),
            extension("attributes", Shape::Map(ATTRIBUTE_DEFINITION), "Values known when the service runs.")
                .merge(ByName),
            extension(
                "interfaces",
                Shape::Map(INTERFACE_DEFINITION),
                "Operations that install the artifact or run it.",
            )
            .merge(ByName),
        ],
    ],
);

pub(super) const CAPABILITY_TYPE_ROW: Entity = entity(
    CAPABILITY_TYPE,
    "capability type",
    "A kind of thing that a node can offer to others.",
    &[
        HEADER,
        &[
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
        ],
    ],
);

pub(super) const DATA_TYPE_ROW: Entity = entity(
    DATA_TYPE,
    "data type",
    "A kind of value.",
    &[
        HEADER,
        &[
            PROPERTIES,
            extension("type", Shape::Text, "The built-in type whose values it takes."),
            field("constraints", shapes::CONSTRAINTS, "What values must satisfy.")
                .slot("validation")
                .merge(Append)
                .until(V2_0),
            field("validation", shapes::VALIDATION, "What values must satisfy.").merge(Append).since(V2_0),
            field("key_schema", Shape::One(SCHEMA_DEFINITION), "What the keys of a map are.").merge(ByName).since(V1_3),
            field("entry_schema", Shape::One(SCHEMA_DEFINITION), "What the entries of a list or map are.")
                .merge(ByName)
                .since(V1_3),
            field("data_type", Shape::Reference(&[DATA_TYPE]), "The number type of a scalar.")
                .merge(Narrow)
                .since(V2_0),
            field("units", Shape::MapOf(&Shape::Number), "The units of a scalar.").merge(Replace).since(V2_0),
            field("canonical_unit", Shape::Text, "The unit that a scalar is converted to.").merge(Fallback).since(V2_0),
            field("prefixes", Shape::MapOf(&Shape::Number), "Prefixes of a scalar's unit.").merge(Replace).since(V2_0),
        ],
    ],
);

pub(super) const GROUP_TYPE_ROW: Entity = entity(
    GROUP_TYPE,
    "group type",
    "A kind of group.",
    &[
        HEADER,
        &[
            PROPERTIES,
            field("attributes", Shape::Map(ATTRIBUTE_DEFINITION), "Values known when the service runs.")
                .merge(ByName)
                .since(V2_0),
            field("capabilities", Shape::Map(CAPABILITY_DEFINITION), "What the group offers.")
                .merge(ByName)
                .until(V2_0),
            field("requirements", Shape::Sequence(REQUIREMENT_DEFINITION), "What the group needs.")
                .merge(ByName)
                .until(V2_0),
            field("interfaces", Shape::Map(INTERFACE_DEFINITION), "What can be done with the group.")
                .merge(ByName)
                .until(V1_3),
            field("members", Shape::Names(&[NODE_TYPE]), "Node types that may be in it.").merge(Narrow),
        ],
    ],
);

pub(super) const INTERFACE_TYPE_ROW: Entity = entity(
    INTERFACE_TYPE,
    "interface type",
    "A set of operations.",
    &[
        HEADER,
        &[
            field("inputs", Shape::Map(PARAMETER_DEFINITION), "Inputs of all its operations.").merge(ByName),
            OPERATIONS.since(V1_3),
            field("notifications", Shape::Map(NOTIFICATION_DEFINITION), "What it tells.").merge(ByName).since(V1_3),
        ],
    ],
)
.rest(OPERATIONS.until(V2_0).except(V1_3));

pub(super) const NODE_TYPE_ROW: Entity = entity(
    NODE_TYPE,
    "node type",
    "A kind of node.",
    &[
        HEADER,
        &[
            PROPERTIES,
            ATTRIBUTES,
            field("capabilities", Shape::Map(CAPABILITY_DEFINITION), "What the node offers.").merge(ByName),
            field("requirements", Shape::Sequence(REQUIREMENT_DEFINITION), "What the node needs.").merge(ByName),
            field("interfaces", Shape::Map(INTERFACE_DEFINITION), "What can be done with the node.").merge(ByName),
            field("artifacts", Shape::Map(ARTIFACT_DEFINITION), "Files the node comes with.").merge(ByName),
        ],
    ],
);

pub(super) const POLICY_TYPE_ROW: Entity = entity(
    POLICY_TYPE,
    "policy type",
    "A kind of policy.",
    &[
        HEADER,
        &[
            PROPERTIES,
            field("targets", Shape::Names(&[NODE_TYPE, GROUP_TYPE]), "Node and group types it may apply to.")
                .merge(Narrow),
            field("triggers", Shape::Map(TRIGGER_DEFINITION), "When it acts.").merge(Replace).since(V1_1),
        ],
    ],
);

pub(super) const RELATIONSHIP_TYPE_ROW: Entity = entity(
    RELATIONSHIP_TYPE,
    "relationship type",
    "A kind of tie between two nodes.",
    &[
        HEADER,
        &[
            PROPERTIES,
            ATTRIBUTES,
            field("interfaces", Shape::Map(INTERFACE_DEFINITION), "What can be done with the relationship.")
                .merge(ByName),
            field("valid_target_types", Shape::Names(&[CAPABILITY_TYPE]), "Capability types it may lead to.")
                .slot("valid_capability_types")
                .merge(Narrow)
                .until(V2_0),
            field("valid_capability_types", Shape::Names(&[CAPABILITY_TYPE]), "Capability types it may lead to.")
                .merge(Narrow)
                .since(V2_0),
            field("valid_target_node_types", Shape::Names(&[NODE_TYPE]), "Node types it may lead to.")
                .merge(Narrow)
                .since(V2_0),
            field("valid_source_node_types", Shape::Names(&[NODE_TYPE]), "Node types it may start from.")
                .merge(Narrow)
                .since(V2_0),
        ],
    ],
);

pub(super) const FUNCTION_DEFINITION_ROW: Entity = entity(
    FUNCTION_DEFINITION,
    "function definition",
    "A function of the author's own.",
    &[&[
        field("signatures", Shape::List(FUNCTION_SIGNATURE), "What it takes and gives.").required().since(V2_0),
        field("description", Shape::Text, "What it is for, in words.").since(V2_0),
        field("metadata", shapes::METADATA, "Notes for tools.").since(V2_0),
    ]],
);

pub(super) const FUNCTION_SIGNATURE_ROW: Entity = entity(
    FUNCTION_SIGNATURE,
    "function signature",
    "One way to call a function.",
    &[&[
        field("arguments", Shape::List(SCHEMA_DEFINITION), "Its arguments, in order.").since(V2_0),
        field("optional_arguments", Shape::List(SCHEMA_DEFINITION), "Arguments that may be left out.").since(V2_0),
        field("variadic", Shape::Bool, "Whether the last argument may be repeated.").since(V2_0),
        field("result", Shape::One(SCHEMA_DEFINITION), "What it gives.").since(V2_0),
        field("implementation", Shape::One(IMPLEMENTATION), "What computes it.").since(V2_0),
    ]],
);
