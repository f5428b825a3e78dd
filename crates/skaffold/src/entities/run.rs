//! Rows of the schema table: tests, checks, custom actions, port forwarding and the resource selector.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::KUBERNETES;
use super::Shape::{Bool, Int, Many, Maybe, One, OptBool, OptInt, Port, Text, Texts};
use super::{Entity, Field, field};
use crate::editions::{V2ALPHA1, V2BETA13, V2BETA14, V2BETA18, V2BETA28, V3ALPHA1, V4BETA4, V4BETA6};

/// Keys shared by every entity that embeds them.
pub(super) const EXECUTION_MODES: &[Field] = &[
    field("local", Maybe(&LOCAL_VERIFIER), "Run on this machine."),
    field("kubernetesCluster", Maybe(&KUBERNETES_CLUSTER_VERIFIER), "Run as a job in the cluster."),
];

/// Rows of `TestCase`.
pub(crate) static TEST_CASE: Entity = Entity {
    name: "TestCase",
    groups: &[&[
        field("image", Text, "Image to test.").required().always(),
        field("context", Text, "Directory the tests start in.").path().default(".").since(V2BETA14),
        field("custom", Many(&CUSTOM_TEST), "Commands that test the image.").since(V2BETA13),
        field("structureTests", Texts, "Files with container structure tests.").path(),
        field("structureTestsArgs", Texts, "Further arguments of the structure test tool.").since(V2BETA18),
    ]],
};

/// Rows of `CustomTest`.
pub(crate) static CUSTOM_TEST: Entity = Entity {
    name: "CustomTest",
    groups: &[&[
        field("command", Text, "Command that runs the test.").required().always(),
        field("timeoutSeconds", Int, "Seconds the test may take."),
        field("dependencies", Maybe(&CUSTOM_TEST_DEPENDENCIES), "Files that trigger the test again."),
    ]],
};

/// Rows of `CustomTestDependencies`.
pub(crate) static CUSTOM_TEST_DEPENDENCIES: Entity = Entity {
    name: "CustomTestDependencies",
    groups: &[&[
        field("command", Text, "Take the files from the output of a command.").one_of("dependency"),
        field("paths", Texts, "Files the test depends on.").one_of("dependency"),
        field("ignore", Texts, "Files to leave out."),
    ]],
};

/// Rows of `VerifyTestCase`.
pub(crate) static VERIFY_TEST_CASE: Entity = Entity {
    name: "VerifyTestCase",
    groups: &[&[
        field("name", Text, "Name of the check.").required().always(),
        field("timeout", OptInt, "Seconds the check may take.").since(V4BETA6),
        field("container", One(&KUBERNETES), "Container that does the check.").until(V4BETA4),
        field("container", One(&VERIFY_CONTAINER), "Container that does the check.").required().always().since(V4BETA4),
        field("executionMode", One(&VERIFY_EXECUTION_MODE_CONFIG), "Where the container runs.").since(V4BETA4),
    ]],
};

/// Rows of `VerifyContainer`.
pub(crate) static VERIFY_CONTAINER: Entity = Entity {
    name: "VerifyContainer",
    groups: &[&[
        field("name", Text, "Name of the container.").required().always(),
        field("image", Text, "Image of the container.").required().always(),
        field("command", Texts, "Command instead of the image's own."),
        field("args", Texts, "Arguments of the command."),
        field("env", Many(&VERIFY_ENV_VAR), "Environment variables of the container."),
    ]],
};

/// Rows of `VerifyEnvVar`.
pub(crate) static VERIFY_ENV_VAR: Entity = Entity {
    name: "VerifyEnvVar",
    groups: &[&[
        field("name", Text, "Name of the variable.").required().always(),
        field("value", Text, "Value of the variable.").always(),
    ]],
};

/// Rows of `VerifyExecutionModeConfig`.
pub(crate) static VERIFY_EXECUTION_MODE_CONFIG: Entity =
    Entity { name: "VerifyExecutionModeConfig", groups: &[EXECUTION_MODES] };

/// Rows of `LocalVerifier`.
pub(crate) static LOCAL_VERIFIER: Entity = Entity {
    name: "LocalVerifier",
    groups: &[&[field("useLocalImages", Bool, "Take images from this machine before pulling.")]],
};

/// Rows of `KubernetesClusterVerifier`.
pub(crate) static KUBERNETES_CLUSTER_VERIFIER: Entity = Entity {
    name: "KubernetesClusterVerifier",
    groups: &[&[
        field("overrides", Text, "JSON laid over the job."),
        field("jobManifestPath", Text, "File with the job to start from."),
    ]],
};

/// Rows of `Action`.
pub static ACTION: Entity = Entity {
    name: "Action",
    groups: &[&[
        field("name", Text, "Name of the action.").required().always(),
        field("failFast", OptBool, "Stop the other containers when one fails."),
        field("timeout", OptInt, "Seconds the action may take."),
        field("executionMode", One(&ACTION_EXECUTION_MODE_CONFIG), "Where the containers of the action run."),
        field("containers", Many(&VERIFY_CONTAINER), "Containers of the action.").required().always(),
    ]],
};

/// Rows of `ActionExecutionModeConfig`.
pub(crate) static ACTION_EXECUTION_MODE_CONFIG: Entity =
    Entity { name: "ActionExecutionModeConfig", groups: &[EXECUTION_MODES] };

/// Rows of `PortForwardResource`.
pub(crate) static PORT_FORWARD_RESOURCE: Entity = Entity {
    name: "PortForwardResource",
    groups: &[&[
        field("resourceType", Text, "Kind of the resource whose port is forwarded."),
        field("resourceName", Text, "Name of the resource.").template(),
        field("namespace", Text, "Namespace of the resource.").template(),
        field("port", Port, "Port of the resource, by number or name."),
        field("address", Text, "Local address to listen on.").default("127.0.0.1").since(V2ALPHA1),
        field("localPort", Int, "Local port to listen on."),
    ]],
};

/// Rows of `ResourceSelectorConfig`.
pub(crate) static RESOURCE_SELECTOR_CONFIG: Entity = Entity {
    name: "ResourceSelectorConfig",
    groups: &[&[
        field("allow", Many(&RESOURCE_FILTER), "Kinds that may be changed."),
        field("deny", Many(&RESOURCE_FILTER), "Kinds that must not be changed."),
    ]],
};

/// Rows of `ResourceFilter`.
pub(crate) static RESOURCE_FILTER: Entity = Entity {
    name: "ResourceFilter",
    groups: &[&[
        field("groupKind", Text, "Group and kind of the resources.").required().always().since(V2BETA28),
        field("image", Texts, "Paths of image fields."),
        field("labels", Texts, "Paths of label fields."),
        field("podSpec", Texts, "Paths of pod specifications.").since(V3ALPHA1),
        field("type", Text, "Group and kind of the resources.").until(V2BETA28),
    ]],
};
