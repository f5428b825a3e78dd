//! Rows of the schema table: tests, checks, custom actions, port forwarding and the resource selector.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{PORT, TEXTS, kinds};
use crate::editions::{V2ALPHA1, V2BETA13, V2BETA14, V2BETA18, V2BETA28, V3ALPHA1, V4BETA4, V4BETA6};
use purlin_model::schema::Shape::{Bool, Integer, List, One, Scalar};
use purlin_model::schema::{Entity, Field, Literal, entity, field};

/// Keys shared by every entity that embeds them.
pub(super) const EXECUTION_MODES: &[Field] = &[
    field("local", One(kinds::LOCAL_VERIFIER), "Run on this machine.").kept(),
    field("kubernetesCluster", One(kinds::KUBERNETES_CLUSTER_VERIFIER), "Run as a job in the cluster.").kept(),
];

/// `TestCase`.
pub(crate) static TEST_CASE: Entity = entity(
    kinds::TEST_CASE,
    "TestCase",
    "What is tested in an image.",
    &[&[
        field("image", Scalar, "Image to test.").required().written(),
        field("context", Scalar, "Directory the tests start in.").path().default(Literal::Text(".")).since(V2BETA14),
        field("custom", List(kinds::CUSTOM_TEST), "Commands that test the image.").since(V2BETA13),
        field("structureTests", TEXTS, "Files with container structure tests.").path(),
        field("structureTestsArgs", TEXTS, "Further arguments of the structure test tool.").since(V2BETA18),
    ]],
);

/// `CustomTest`.
pub(crate) static CUSTOM_TEST: Entity = entity(
    kinds::CUSTOM_TEST,
    "CustomTest",
    "A test that is a command.",
    &[&[
        field("command", Scalar, "Command that runs the test.").required().written(),
        field("timeoutSeconds", Integer, "Seconds the test may take."),
        field("dependencies", One(kinds::CUSTOM_TEST_DEPENDENCIES), "Files that trigger the test again.").kept(),
    ]],
);

/// `CustomTestDependencies`.
pub(crate) static CUSTOM_TEST_DEPENDENCIES: Entity = entity(
    kinds::CUSTOM_TEST_DEPENDENCIES,
    "CustomTestDependencies",
    "Files that trigger a custom test again.",
    &[&[
        field("command", Scalar, "Take the files from the output of a command.").one_of("dependency"),
        field("paths", TEXTS, "Files the test depends on.").one_of("dependency"),
        field("ignore", TEXTS, "Files to leave out."),
    ]],
);

/// `VerifyTestCase`.
pub(crate) static VERIFY_TEST_CASE: Entity = entity(
    kinds::VERIFY_TEST_CASE,
    "VerifyTestCase",
    "A container that checks a deployment.",
    &[&[
        field("name", Scalar, "Name of the check.").required().written(),
        field("timeout", Integer, "Seconds the check may take.").kept().since(V4BETA6),
        field("container", One(kinds::KUBERNETES), "Container that does the check.").until(V4BETA4),
        field("container", One(kinds::VERIFY_CONTAINER), "Container that does the check.")
            .required()
            .written()
            .since(V4BETA4),
        field("executionMode", One(kinds::VERIFY_EXECUTION_MODE_CONFIG), "Where the container runs.").since(V4BETA4),
    ]],
);

/// `VerifyContainer`.
pub(crate) static VERIFY_CONTAINER: Entity = entity(
    kinds::VERIFY_CONTAINER,
    "VerifyContainer",
    "A container and what it runs.",
    &[&[
        field("name", Scalar, "Name of the container.").required().written(),
        field("image", Scalar, "Image of the container.").required().written(),
        field("command", TEXTS, "Command instead of the image's own."),
        field("args", TEXTS, "Arguments of the command."),
        field("env", List(kinds::VERIFY_ENV_VAR), "Environment variables of the container."),
    ]],
);

/// `VerifyEnvVar`.
pub(crate) static VERIFY_ENV_VAR: Entity = entity(
    kinds::VERIFY_ENV_VAR,
    "VerifyEnvVar",
    "An environment variable of a container.",
    &[&[
        field("name", Scalar, "Name of the variable.").required().written(),
        field("value", Scalar, "Value of the variable.").written(),
    ]],
);

/// `VerifyExecutionModeConfig`.
pub(crate) static VERIFY_EXECUTION_MODE_CONFIG: Entity = entity(
    kinds::VERIFY_EXECUTION_MODE_CONFIG,
    "VerifyExecutionModeConfig",
    "Where a checking container runs.",
    &[EXECUTION_MODES],
);

/// `LocalVerifier`.
pub(crate) static LOCAL_VERIFIER: Entity = entity(
    kinds::LOCAL_VERIFIER,
    "LocalVerifier",
    "Running a container on this machine.",
    &[&[field("useLocalImages", Bool, "Take images from this machine before pulling.")]],
);

/// `KubernetesClusterVerifier`.
pub(crate) static KUBERNETES_CLUSTER_VERIFIER: Entity = entity(
    kinds::KUBERNETES_CLUSTER_VERIFIER,
    "KubernetesClusterVerifier",
    "Running a container in the cluster.",
    &[&[
        field("overrides", Scalar, "JSON laid over the job."),
        field("jobManifestPath", Scalar, "File with the job to start from."),
    ]],
);

/// `Action`.
pub static ACTION: Entity = entity(
    kinds::ACTION,
    "Action",
    "Containers that can be run on demand.",
    &[&[
        field("name", Scalar, "Name of the action.").required().written(),
        field("failFast", Bool, "Stop the other containers when one fails.").kept(),
        field("timeout", Integer, "Seconds the action may take.").kept(),
        field("executionMode", One(kinds::ACTION_EXECUTION_MODE_CONFIG), "Where the containers of the action run."),
        field("containers", List(kinds::VERIFY_CONTAINER), "Containers of the action.").required().written(),
    ]],
);

/// `ActionExecutionModeConfig`.
pub(crate) static ACTION_EXECUTION_MODE_CONFIG: Entity = entity(
    kinds::ACTION_EXECUTION_MODE_CONFIG,
    "ActionExecutionModeConfig",
    "Where the containers of an action run.",
    &[EXECUTION_MODES],
);

/// `PortForwardResource`.
pub(crate) static PORT_FORWARD_RESOURCE: Entity = entity(
    kinds::PORT_FORWARD_RESOURCE,
    "PortForwardResource",
    "A port of the cluster that appears on this machine.",
    &[&[
        field("resourceType", Scalar, "Kind of the resource whose port is forwarded."),
        field("resourceName", Scalar, "Name of the resource.").template(),
        field("namespace", Scalar, "Namespace of the resource.").template(),
        field("port", PORT, "Port of the resource, by number or name."),
        field("address", Scalar, "Local address to listen on.").default(Literal::Text("127.0.0.1")).since(V2ALPHA1),
        field("localPort", Integer, "Local port to listen on."),
    ]],
);

/// `ResourceSelectorConfig`.
pub(crate) static RESOURCE_SELECTOR_CONFIG: Entity = entity(
    kinds::RESOURCE_SELECTOR_CONFIG,
    "ResourceSelectorConfig",
    "Which kinds of resources may be changed when rendering.",
    &[&[
        field("allow", List(kinds::RESOURCE_FILTER), "Kinds that may be changed."),
        field("deny", List(kinds::RESOURCE_FILTER), "Kinds that must not be changed."),
    ]],
);

/// `ResourceFilter`.
pub(crate) static RESOURCE_FILTER: Entity = entity(
    kinds::RESOURCE_FILTER,
    "ResourceFilter",
    "Kinds of resources, and the fields concerned.",
    &[&[
        field("groupKind", Scalar, "Group and kind of the resources.").required().written().since(V2BETA28),
        field("image", TEXTS, "Paths of image fields."),
        field("labels", TEXTS, "Paths of label fields."),
        field("podSpec", TEXTS, "Paths of pod specifications.").since(V3ALPHA1),
        field("type", Scalar, "Group and kind of the resources.").until(V2BETA28),
    ]],
);
