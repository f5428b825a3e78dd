//! The tables: every kind of entity and every key of TOSCA 1.0 to 2.0, one line each.
//!
//! `types` holds files and types, `definitions` what types are made of, `templates` what service templates are made
//! of, `shapes` the few shapes that only TOSCA has. Reading, inheritance, the reference pages and completion all follow
//! these rows.

mod definitions;
pub mod shapes;
mod templates;
mod types;

use crate::edition::{EXTENDED, Edition, NAMES};
use purlin_model::schema::{Entity, Field, Kind, Schema, Shape, entity, field, list, scalar, text};

purlin_model::kinds!(
    FILE,
    IMPORT,
    REPOSITORY,
    ARTIFACT_TYPE,
    CAPABILITY_TYPE,
    DATA_TYPE,
    GROUP_TYPE,
    INTERFACE_TYPE,
    NODE_TYPE,
    POLICY_TYPE,
    RELATIONSHIP_TYPE,
    PROPERTY_DEFINITION,
    ATTRIBUTE_DEFINITION,
    PARAMETER_DEFINITION,
    SCHEMA_DEFINITION,
    CAPABILITY_DEFINITION,
    REQUIREMENT_DEFINITION,
    RELATIONSHIP_DEFINITION,
    INTERFACE_DEFINITION,
    OPERATION_DEFINITION,
    NOTIFICATION_DEFINITION,
    IMPLEMENTATION,
    ARTIFACT_DEFINITION,
    TRIGGER_DEFINITION,
    EVENT_FILTER,
    TRIGGER_CONDITION,
    FUNCTION_DEFINITION,
    FUNCTION_SIGNATURE,
    SERVICE_TEMPLATE,
    NODE_TEMPLATE,
    RELATIONSHIP_TEMPLATE,
    CAPABILITY_ASSIGNMENT,
    REQUIREMENT_ASSIGNMENT,
    RELATIONSHIP_ASSIGNMENT,
    INTERFACE_ASSIGNMENT,
    OPERATION_ASSIGNMENT,
    NOTIFICATION_ASSIGNMENT,
    ARTIFACT,
    GROUP,
    POLICY,
    NODE_FILTER,
    CAPABILITY_FILTER,
    SUBSTITUTION_MAPPINGS,
    WORKFLOW,
    WORKFLOW_STEP,
    WORKFLOW_PRECONDITION,
    CALL_OPERATION,
    DECORATOR,
);

/// The eight kinds of types.
pub const TYPES: [Kind; 8] =
    [DATA_TYPE, ARTIFACT_TYPE, INTERFACE_TYPE, CAPABILITY_TYPE, RELATIONSHIP_TYPE, NODE_TYPE, GROUP_TYPE, POLICY_TYPE];

/// `description` and `metadata`, as nearly every entity of TOSCA 2.0 has them.
const DESCRIPTION: Field = field("description", Shape::Text, "What it is for, in words.");
const METADATA: Field = field("metadata", shapes::METADATA, "Notes for tools.");

/// A key that only the extended edition has.
const fn extension(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    field(key, shape, doc).only(EXTENDED)
}

/// All rows, each at the place of its kind.
const ENTITIES: &[Entity] = &[
    types::FILE_ROW,
    types::IMPORT_ROW,
    types::REPOSITORY_ROW,
    types::ARTIFACT_TYPE_ROW,
    types::CAPABILITY_TYPE_ROW,
    types::DATA_TYPE_ROW,
    types::GROUP_TYPE_ROW,
    types::INTERFACE_TYPE_ROW,
    types::NODE_TYPE_ROW,
    types::POLICY_TYPE_ROW,
    types::RELATIONSHIP_TYPE_ROW,
    definitions::PROPERTY_DEFINITION_ROW,
    definitions::ATTRIBUTE_DEFINITION_ROW,
    definitions::PARAMETER_DEFINITION_ROW,
    definitions::SCHEMA_DEFINITION_ROW,
    definitions::CAPABILITY_DEFINITION_ROW,
    definitions::REQUIREMENT_DEFINITION_ROW,
    definitions::RELATIONSHIP_DEFINITION_ROW,
    definitions::INTERFACE_DEFINITION_ROW,
    definitions::OPERATION_DEFINITION_ROW,
    definitions::NOTIFICATION_DEFINITION_ROW,
    definitions::IMPLEMENTATION_ROW,
    definitions::ARTIFACT_DEFINITION_ROW,
    definitions::TRIGGER_DEFINITION_ROW,
    definitions::EVENT_FILTER_ROW,
    definitions::TRIGGER_CONDITION_ROW,
    types::FUNCTION_DEFINITION_ROW,
    types::FUNCTION_SIGNATURE_ROW,
    templates::SERVICE_TEMPLATE_ROW,
    templates::NODE_TEMPLATE_ROW,
    templates::RELATIONSHIP_TEMPLATE_ROW,
    templates::CAPABILITY_ASSIGNMENT_ROW,
    templates::REQUIREMENT_ASSIGNMENT_ROW,
    templates::RELATIONSHIP_ASSIGNMENT_ROW,
    templates::INTERFACE_ASSIGNMENT_ROW,
    templates::OPERATION_ASSIGNMENT_ROW,
    templates::NOTIFICATION_ASSIGNMENT_ROW,
    templates::ARTIFACT_ROW,
    templates::GROUP_ROW,
    templates::POLICY_ROW,
    templates::NODE_FILTER_ROW,
    templates::CAPABILITY_FILTER_ROW,
    templates::SUBSTITUTION_MAPPINGS_ROW,
    templates::WORKFLOW_ROW,
    templates::WORKFLOW_STEP_ROW,
    templates::WORKFLOW_PRECONDITION_ROW,
    templates::CALL_OPERATION_ROW,
    templates::DECORATOR_ROW,
];

/// The tables. A static: a constant would be duplicated wherever it is used.
pub static SCHEMA: Schema = Schema::new("TOSCA", NAMES, ENTITIES).variants(&[EXTENDED]);

/// The rows of one kind.
pub fn row(kind: Kind) -> &'static Entity {
    static UNKNOWN: Entity = entity(FILE, "entity", "Something without rows.", &[]);
    SCHEMA.entities.get(usize::from(kind.0)).unwrap_or(&UNKNOWN)
}

/// The display name of a kind.
pub fn label(kind: Kind) -> &'static str {
    row(kind).label
}

/// Whether entities of a kind are types, which others may derive from.
pub fn is_type(kind: Kind) -> bool {
    TYPES.contains(&kind)
}

/// Whether an edition ignores unknown keys in entities of a kind, with a warning.
pub fn skips_unknown(kind: Kind, edition: Edition) -> bool {
    const SKIPPING: [Kind; 6] =
        [ATTRIBUTE_DEFINITION, CAPABILITY_ASSIGNMENT, DATA_TYPE, IMPORT, PROPERTY_DEFINITION, SCHEMA_DEFINITION];
    edition == EXTENDED && SKIPPING.contains(&kind)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        assert_eq!(purlin_model::guard(&SCHEMA), Vec::<String>::new());
    }

    #[test]
    fn the_reader_reads_every_shape() {
        for row in SCHEMA.entities {
            for field in row.all_fields().chain(row.rest.as_ref()) {
                let unread = matches!(field.shape, Shape::Scalar | Shape::Number | Shape::Choice(_));
                assert!(!unread, "{}.{} has a shape that is not read", row.label, field.key);
            }
        }
    }
}
