//! The table of an ensemble's own keys, for schemas, completion and hovers. Its service template is TOSCA's.

use purlin_model::json_schema::{DRAFT, definitions, object, reference};
use purlin_model::schema::{Edition, Entity, Field, Schema, Shape, entity, field};
use purlin_tosca::edition::EXTENDED;
use purlin_tosca::entities as tosca;
use purlin_value::{EcoString, Value};

purlin_model::kinds!(
    ENSEMBLE,
    METADATA,
    SPEC,
    ENVIRONMENT,
    EXTERNAL,
    EXTERNAL_MANIFEST,
    STATUS,
    READY_STATE,
    INSTANCE,
    INSTANCE_TEMPLATE,
    REPOSITORY
);

const OPEN_MAP: Shape = Shape::MapOf(&Shape::Any);
const READY: Shape = Shape::Choice(&["unknown", "ok", "degraded", "error", "pending", "absent"]);
const STATES: Shape = Shape::Choice(&crate::tree::STATES);

/// Keys that Unfurl keeps without reading them.
const KEPT: Field = field("others", OPEN_MAP, "Keys that Unfurl keeps as they are.");

const ENSEMBLE_ROW: Entity = entity(
    ENSEMBLE,
    "ensemble",
    "A service and the state of its instances.",
    &[&[
        field("apiVersion", Shape::Text, "Version of the format, `unfurl/v1.0.0`.").required(),
        field("kind", Shape::Text, "What this file is: `Ensemble`.").required(),
        field("metadata", Shape::One(METADATA), "Names by which others refer to the ensemble."),
        field("environment", Shape::One(ENVIRONMENT), "Settings that hold in every environment."),
        field("spec", Shape::One(SPEC), "The service template and its inputs."),
        field("status", Shape::One(STATUS), "What is there, as the last job left it."),
        field("lastJob", OPEN_MAP, "The last job."),
        field("jobsLog", Shape::Text, "File with the log of all jobs."),
        field("changes", Shape::ListOf(&Shape::Any), "Changes that jobs made."),
        field("lock", OPEN_MAP, "Versions of what the last job used."),
    ]],
)
.rest(KEPT);

const METADATA_ROW: Entity = entity(
    METADATA,
    "ensemble metadata",
    "Names of an ensemble.",
    &[&[
        field("uri", Shape::Text, "Address that identifies the ensemble."),
        field("aliases", Shape::ListOf(&Shape::Text), "Further addresses."),
    ]],
)
.rest(KEPT);

const SPEC_ROW: Entity = entity(
    SPEC,
    "spec",
    "The desired state: the service template and its inputs.",
    &[&[
        field("service_template", OPEN_MAP, "The TOSCA service template."),
        field("inputs", OPEN_MAP, "Values of the service template's inputs."),
        field("instances", Shape::Map(INSTANCE_TEMPLATE), "Instances that are not made from a node template."),
        field("deployment_blueprints", OPEN_MAP, "Variations of the service for different environments."),
        field("resource_templates", OPEN_MAP, "Node templates of blueprints."),
        field("discovered", OPEN_MAP, "Node templates that a job discovered."),
    ]],
)
.rest(KEPT);

const ENVIRONMENT_ROW: Entity = entity(
    ENVIRONMENT,
    "environment",
    "Settings of an environment.",
    &[&[
        field("inputs", OPEN_MAP, "Values of inputs in this environment."),
        field("defaultProject", Shape::Text, "Project that new ensembles belong to."),
        field("name", Shape::Text, "Name of the environment."),
        field("deployment_blueprint", Shape::Text, "Blueprint that is used."),
        field("variables", OPEN_MAP, "Environment variables."),
        field("locals", OPEN_MAP, "Values of this machine."),
        field("secrets", OPEN_MAP, "Values that are hidden."),
        field("connections", OPEN_MAP, "Relationship templates for connections to clouds."),
        field("instances", OPEN_MAP, "Instances that exist outside the ensemble."),
        field("repositories", Shape::Map(REPOSITORY), "Repositories that files are read from."),
        field("cloudmaps", OPEN_MAP, "Lists of repositories and hosts."),
        field("imports", Shape::ListOf(&Shape::Any), "Files with types and templates."),
        field("external", Shape::Map(EXTERNAL), "Instances of other ensembles."),
    ]],
)
.rest(KEPT);

const EXTERNAL_ROW: Entity = entity(
    EXTERNAL,
    "external instance",
    "An instance of another ensemble.",
    &[&[
        field("manifest", Shape::One(EXTERNAL_MANIFEST), "The other ensemble."),
        field("uri", Shape::Text, "Address of the other ensemble."),
        field("instance", Shape::Text, "Name of the instance; the whole ensemble if not set."),
        field("schema", OPEN_MAP, "JSON Schema of its attributes."),
    ]],
)
.rest(KEPT);

const EXTERNAL_MANIFEST_ROW: Entity = entity(
    EXTERNAL_MANIFEST,
    "external manifest",
    "Where another ensemble is.",
    &[&[
        field("file", Shape::Text, "Its file."),
        field("repository", Shape::Text, "Repository that the file is in."),
        field("project", Shape::Text, "Project that it belongs to."),
    ]],
)
.rest(KEPT);

const STATUS_KEYS: &[Field] = &[
    field("readyState", Shape::One(READY_STATE), "How well it is."),
    field("priority", Shape::Choice(&["ignore", "optional", "required", "critical"]), "How much it matters."),
    field("lastStateChange", Shape::Text, "The job that last changed its state."),
    field("lastConfigChange", Shape::Text, "The job that last changed its configuration."),
    field("protected", Shape::Bool, "Whether it must not be deleted."),
    field("created", Shape::Any, "The job that created it."),
    field("customized", Shape::Any, "The job after which it was changed by hand."),
];

const STATUS_ROW: Entity = entity(
    STATUS,
    "status",
    "The state of an ensemble.",
    &[
        STATUS_KEYS,
        &[
            field("inputs", OPEN_MAP, "Inputs as they were."),
            field("outputs", OPEN_MAP, "Outputs as they were."),
            field("instances", Shape::Map(INSTANCE), "Instances by name."),
        ],
    ],
)
.rest(KEPT);

const READY_STATE_ROW: Entity = entity(
    READY_STATE,
    "readyState",
    "How well an instance is.",
    &[&[
        field("effective", READY, "How well it is, its dependencies included."),
        field("local", READY, "How well it is by itself."),
        field("state", STATES, "Its node state."),
    ]],
)
.rest(KEPT);

const INSTANCE_ROW: Entity = entity(
    INSTANCE,
    "instance",
    "Something that was made from a template.",
    &[
        STATUS_KEYS,
        &[
            field("template", Shape::Any, "The template it was made from."),
            field("attributes", OPEN_MAP, "Attributes that jobs set."),
            field("properties", OPEN_MAP, "Properties as they were."),
            field("instances", Shape::Map(INSTANCE), "Instances inside it."),
            field("capabilities", Shape::Map(INSTANCE), "Its capabilities."),
            field("requirements", Shape::ListOf(&Shape::Any), "Its requirements."),
            field("imported", Shape::Text, "The external instance that it stands for."),
        ],
    ],
)
.rest(KEPT);

const INSTANCE_TEMPLATE_ROW: Entity = entity(
    INSTANCE_TEMPLATE,
    "declared instance",
    "An instance that is declared in the ensemble.",
    &[&[
        field("template", Shape::Any, "The template it is made from."),
        field("readyState", Shape::Any, "How well it is."),
        field("attributes", OPEN_MAP, "Its attributes."),
    ]],
)
.rest(KEPT);

const REPOSITORY_ROW: Entity = entity(
    REPOSITORY,
    "repository",
    "A repository that files are read from.",
    &[&[
        field("url", Shape::Text, "Its address."),
        field("revision", Shape::Scalar, "Branch or tag."),
        field("description", Shape::Text, "What it is for."),
        field("credential", Shape::Any, "How to sign in."),
        field("metadata", OPEN_MAP, "Notes for tools."),
    ]],
)
.rest(KEPT);

/// Text with Jinja in it.
const TEMPLATE: &str = r"\{[{%#]";
/// Merge directives, and the keys of calls.
const OPERATOR: &str = r"^([+?].*|eval|ref|q|get_[a-z_]+|concat|token|join)$";

/// The table.
pub static SCHEMA: Schema = Schema::new(
    "Unfurl",
    &["ensemble"],
    &[
        ENSEMBLE_ROW,
        METADATA_ROW,
        SPEC_ROW,
        ENVIRONMENT_ROW,
        EXTERNAL_ROW,
        EXTERNAL_MANIFEST_ROW,
        STATUS_ROW,
        READY_STATE_ROW,
        INSTANCE_ROW,
        INSTANCE_TEMPLATE_ROW,
        REPOSITORY_ROW,
    ],
)
.expression_pattern(TEMPLATE)
.operator_pattern(OPERATOR);

/// The schema of an ensemble's file, its service template included.
pub fn json_schema() -> Value {
    let edition = Edition(0);
    let extended = tosca::SCHEMA.expression_pattern(TEMPLATE).operator_pattern(OPERATOR);
    let mut all = definitions(&extended, &[tosca::FILE], EXTENDED);
    for (name, definition) in definitions(&SCHEMA, &[ENSEMBLE], edition).into_entries() {
        // Both tables describe repositories; the ensemble's own takes more.
        all.insert(name, definition);
    }
    let service = service_template(&reference(&extended, tosca::FILE));
    let spec = all.get("Spec").map(|spec| with_service(spec, service));
    all.extend(spec.map(|spec| (EcoString::from("Spec"), spec)));
    all.sort_keys();
    object([
        ("$schema", Value::str(DRAFT)),
        ("title", Value::str(SCHEMA.full_name(edition))),
        ("$ref", reference(&SCHEMA, ENSEMBLE).get("$ref").cloned().unwrap_or_default()),
        ("$defs", Value::map(all)),
    ])
}

/// A service template in an ensemble is a TOSCA file whose version is optional.
fn service_template(file: &Value) -> Value {
    let text = Value::str("The TOSCA service template.");
    object([("description", text), (purlin_model::json_schema::LIKE, file.get("$ref").cloned().unwrap_or_default())])
}

fn with_service(spec: &Value, service: Value) -> Value {
    let inside = object([("properties", object([("service_template", service)]))]);
    let mut map = spec.as_map().cloned().unwrap_or_default();
    map.insert("allOf".into(), Value::list(vec![inside]));
    Value::map(map)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sound() {
        assert_eq!(purlin_model::guard(&super::SCHEMA), Vec::<String>::new());
    }
}
