//! Rows of files, imports, repositories, functions and the eight kinds of types.

use super::{DESCRIPTION, METADATA};
use crate::schema::Edition::{V1_1, V1_2, V1_3, V2_0};
use crate::schema::Kind::{self, *};
use crate::schema::Merge::{Append, Both, ByName, Derived, Fallback, Narrow, Refine, Replace};
use crate::schema::{Field, Row, Shape, Short, extension, field};

const FILE: &[Field] = &[
    field("tosca_definitions_version", Shape::Text, "The edition of TOSCA the file is written in.").written().lax(),
    field("namespace", Shape::Text, "The namespace of everything the file declares.")
        .slot("profile")
        .since(V1_2)
        .until(V1_3),
    field("profile", Shape::Text, "The profile the file defines, with an optional version.").since(V2_0),
    METADATA,
    DESCRIPTION,
    field("dsl_definitions", Shape::Aliases, "Pieces of YAML to refer to by alias."),
    field("repositories", Shape::Map(Repository), "Places that files and artifacts come from."),
    field("imports", Shape::List(Import), "Other files whose names become visible here."),
    field("artifact_types", Shape::Map(ArtifactType), "Kinds of files."),
    field("capability_types", Shape::Map(CapabilityType), "What nodes can offer."),
    field("data_types", Shape::Map(DataType), "Kinds of values."),
    field("group_types", Shape::Map(GroupType), "Kinds of groups."),
    field("interface_types", Shape::Map(InterfaceType), "Sets of operations."),
    field("node_types", Shape::Map(NodeType), "Kinds of nodes."),
    field("policy_types", Shape::Map(PolicyType), "Kinds of policies."),
    field("relationship_types", Shape::Map(RelationshipType), "Kinds of relationships."),
    field("functions", Shape::Map(FunctionDefinition), "Functions of the author's own.").since(V2_0),
    field("topology_template", Shape::One(ServiceTemplate), "The service itself.").slot("service_template").until(V1_3),
    field("service_template", Shape::One(ServiceTemplate), "The service itself.").since(V2_0),
    extension("types", Shape::Types, "Types of any kind; what each derives from tells which."),
    extension("decorators", Shape::Value, "Properties that are given to templates, by their name or type."),
    extension("deployment_blueprints", Shape::Aliases, "Ways to deploy the service."),
    extension("template_name", Shape::Aliases, "The name of the template."),
    extension("template_author", Shape::Aliases, "Who wrote the template."),
    extension("template_version", Shape::Aliases, "The version of the template."),
];

/// What every type begins with.
const TYPE: [Field; 4] = [
    field("version", Shape::Version, "The version of the type itself."),
    METADATA,
    DESCRIPTION,
    field("derived_from", Shape::Text, "The type this one extends."),
];

const fn parent(kinds: &'static [Kind]) -> Field {
    field("derived_from", Shape::Name(kinds), "The type this one extends.").replaced()
}

/// In the extended edition a type may have several parents; the further ones stand in a slot of their own.
const fn parents(kinds: &'static [Kind]) -> Field {
    extension("derived_from", Shape::Parents(kinds), "The type, or types, this one extends.")
}

const fn mixins(kinds: &'static [Kind]) -> Field {
    extension("", Shape::Names(kinds), "Further types this one extends.").slot("mixins")
}

const PROPERTIES: Field =
    field("properties", Shape::Map(PropertyDefinition), "Values fixed when the service is designed.").merge(ByName);
const ATTRIBUTES: Field =
    field("attributes", Shape::Map(AttributeDefinition), "Values known when the service runs.").merge(ByName);

const HEADER: &[Field] = &[TYPE[0], TYPE[1], TYPE[2]];

pub(super) const ROWS: &[Row] = &[
    Row { kind: File, label: "file", groups: &[FILE], short: Short::None, open: None },
    Row {
        kind: Import,
        label: "import",
        groups: &[&[
            field("file", Shape::Text, "Where the file lies.").slot("url").written().until(V1_3),
            field("url", Shape::Text, "Where the file lies.").since(V2_0),
            field("profile", Shape::Text, "The profile to import, by name.").since(V2_0),
            field("repository", Shape::Name(&[Repository]), "The repository the file lies in.").replaced(),
            extension("repository", Shape::MaybeName(&[Repository]), "The repository the file lies in."),
            field("namespace_prefix", Shape::Text, "Put before every imported name.").slot("namespace").until(V1_3),
            field("namespace", Shape::Text, "Put before every imported name.").since(V2_0),
            field("namespace_uri", Shape::Text, "The namespace of the imported file; has no effect.").until(V1_3),
            field("description", Shape::Text, "What it is for, in words.").since(V2_0),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
            extension("when", Shape::Aliases, "When the file is imported."),
        ]],
        short: Short::Text("url"),
        open: None,
    },
    Row {
        kind: Repository,
        label: "repository",
        groups: &[&[
            DESCRIPTION,
            field("url", Shape::Text, "Where it lies.").written(),
            field("credential", Shape::Value, "What is presented to get access."),
            extension("revision", Shape::Aliases, "The branch, tag or commit to use."),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
        ]],
        short: Short::Text("url"),
        open: None,
    },
    Row {
        kind: ArtifactType,
        label: "artifact type",
        groups: &[
            HEADER,
            &[
                parent(&[ArtifactType]),
                parents(&[ArtifactType]),
                mixins(&[ArtifactType]),
                PROPERTIES,
                field("mime_type", Shape::Text, "The media type of such files.").merge(Fallback),
                field("file_ext", Shape::Texts, "The file name extensions of such files.").merge(Append),
                extension("attributes", Shape::Map(AttributeDefinition), "Values known when the service runs.")
                    .merge(ByName),
                extension("interfaces", Shape::Aliases, "Operations that install the artifact or run it."),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: CapabilityType,
        label: "capability type",
        groups: &[
            HEADER,
            &[
                parent(&[CapabilityType]),
                parents(&[CapabilityType]),
                mixins(&[CapabilityType]),
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
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: DataType,
        label: "data type",
        groups: &[
            HEADER,
            &[
                parent(&[DataType]),
                parents(&[DataType]),
                mixins(&[DataType]),
                PROPERTIES,
                field("constraints", Shape::Constraints, "What values must satisfy.")
                    .slot("validation")
                    .merge(Both)
                    .until(V1_3),
                field("validation", Shape::Validation, "What values must satisfy.").merge(Both).since(V2_0),
                field("key_schema", Shape::One(SchemaDefinition), "What the keys of a map are.")
                    .merge(Refine)
                    .since(V1_3),
                field("entry_schema", Shape::One(SchemaDefinition), "What the entries of a list or map are.")
                    .merge(Refine)
                    .since(V1_3),
                field("data_type", Shape::Name(&[DataType]), "The number type of a scalar.").merge(Derived).since(V2_0),
                field("units", Shape::Multipliers, "The units of a scalar.").merge(Replace).since(V2_0),
                field("canonical_unit", Shape::Text, "The unit that a scalar is converted to.")
                    .merge(Fallback)
                    .since(V2_0),
                field("prefixes", Shape::Multipliers, "Prefixes of a scalar's unit.").merge(Replace).since(V2_0),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: GroupType,
        label: "group type",
        groups: &[
            HEADER,
            &[
                parent(&[GroupType]),
                parents(&[GroupType]),
                mixins(&[GroupType]),
                PROPERTIES,
                field("attributes", Shape::Map(AttributeDefinition), "Values known when the service runs.")
                    .merge(ByName)
                    .since(V2_0),
                field("capabilities", Shape::Map(CapabilityDefinition), "What the group offers.")
                    .merge(ByName)
                    .until(V1_3),
                field("requirements", Shape::UniqueSequence(RequirementDefinition), "What the group needs.")
                    .merge(ByName)
                    .until(V1_3),
                field("interfaces", Shape::Map(InterfaceDefinition), "What can be done with the group.")
                    .merge(ByName)
                    .until(V1_2),
                field("members", Shape::Names(&[NodeType]), "Node types that may be in it.").merge(Narrow),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: InterfaceType,
        label: "interface type",
        groups: &[
            HEADER,
            &[
                parent(&[InterfaceType]),
                parents(&[InterfaceType]),
                mixins(&[InterfaceType]),
                field("inputs", Shape::Map(ParameterDefinition), "Inputs of all its operations.").merge(ByName),
                field("operations", Shape::Map(OperationDefinition), "What can be done.").merge(ByName).since(V1_3),
                field("notifications", Shape::Map(NotificationDefinition), "What it tells.").merge(ByName).since(V1_3),
            ],
        ],
        short: Short::None,
        open: Some("operations"),
    },
    Row {
        kind: NodeType,
        label: "node type",
        groups: &[
            HEADER,
            &[
                parent(&[NodeType]),
                parents(&[NodeType]),
                mixins(&[NodeType]),
                PROPERTIES,
                ATTRIBUTES,
                field("capabilities", Shape::Map(CapabilityDefinition), "What the node offers.").merge(ByName),
                field("requirements", Shape::UniqueSequence(RequirementDefinition), "What the node needs.")
                    .merge(ByName),
                field("interfaces", Shape::Map(InterfaceDefinition), "What can be done with the node.").merge(ByName),
                field("artifacts", Shape::Map(ArtifactDefinition), "Files the node comes with.").merge(ByName),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: PolicyType,
        label: "policy type",
        groups: &[
            HEADER,
            &[
                parent(&[PolicyType]),
                parents(&[PolicyType]),
                mixins(&[PolicyType]),
                PROPERTIES,
                field("targets", Shape::Names(&[NodeType, GroupType]), "Node and group types it may apply to.")
                    .merge(Narrow),
                field("triggers", Shape::Map(TriggerDefinition), "When it acts.").merge(Replace).since(V1_1),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: RelationshipType,
        label: "relationship type",
        groups: &[
            HEADER,
            &[
                parent(&[RelationshipType]),
                parents(&[RelationshipType]),
                mixins(&[RelationshipType]),
                PROPERTIES,
                ATTRIBUTES,
                field("interfaces", Shape::Map(InterfaceDefinition), "What can be done with the relationship.")
                    .merge(ByName),
                field("valid_target_types", Shape::Names(&[CapabilityType]), "Capability types it may lead to.")
                    .slot("valid_capability_types")
                    .merge(Narrow)
                    .until(V1_3),
                field("valid_capability_types", Shape::Names(&[CapabilityType]), "Capability types it may lead to.")
                    .merge(Narrow)
                    .since(V2_0),
                field("valid_target_node_types", Shape::Names(&[NodeType]), "Node types it may lead to.")
                    .merge(Narrow)
                    .since(V2_0),
                field("valid_source_node_types", Shape::Names(&[NodeType]), "Node types it may start from.")
                    .merge(Narrow)
                    .since(V2_0),
            ],
        ],
        short: Short::None,
        open: None,
    },
    Row {
        kind: FunctionDefinition,
        label: "function definition",
        groups: &[&[
            field("signatures", Shape::List(FunctionSignature), "What it takes and gives.").written().since(V2_0),
            field("description", Shape::Text, "What it is for, in words.").since(V2_0),
            field("metadata", Shape::Metadata, "Notes for tools.").since(V2_0),
        ]],
        short: Short::None,
        open: None,
    },
    Row {
        kind: FunctionSignature,
        label: "function signature",
        groups: &[&[
            field("arguments", Shape::List(SchemaDefinition), "Its arguments, in order.").since(V2_0),
            field("optional_arguments", Shape::List(SchemaDefinition), "Arguments that may be left out.").since(V2_0),
            field("variadic", Shape::Bool, "Whether the last argument may be repeated.").since(V2_0),
            field("result", Shape::One(SchemaDefinition), "What it gives.").since(V2_0),
            field("implementation", Shape::One(Implementation), "What computes it.").since(V2_0),
        ]],
        short: Short::None,
        open: None,
    },
];
