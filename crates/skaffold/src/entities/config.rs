//! Rows of the schema table: the document itself, what it requires, its profiles and modules.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::Shape::{Any, Bool, Many, Maybe, One, OptBool, Text, TextMap, Texts};
use super::build::BUILD_CONFIG;
use super::deploy::{DEPLOY_CONFIG, RENDER_CONFIG};
use super::run::{ACTION, PORT_FORWARD_RESOURCE, RESOURCE_SELECTOR_CONFIG, TEST_CASE, VERIFY_TEST_CASE};
use super::{Entity, Field, field};
use crate::editions::{
    V1ALPHA2, V1ALPHA4, V1BETA4, V1BETA12, V1BETA13, V2BETA11, V2BETA12, V2BETA28, V3ALPHA1, V4BETA5, V4BETA7, V4BETA10,
};

/// Keys shared by every entity that embeds them.
pub(super) const PIPELINE: &[Field] = &[
    field("build", One(&BUILD_CONFIG), "How images are built."),
    field("test", Many(&TEST_CASE), "What is tested in each image.").since(V1ALPHA4),
    field("manifests", One(&RENDER_CONFIG), "Where Kubernetes manifests come from and how they are finished.")
        .since(V3ALPHA1),
    field("deploy", One(&DEPLOY_CONFIG), "How manifests reach a cluster."),
    field("portForward", Many(&PORT_FORWARD_RESOURCE), "Ports of the cluster that appear on this machine.")
        .since(V1BETA12),
    field(
        "resourceSelector",
        One(&RESOURCE_SELECTOR_CONFIG),
        "Which kinds of resources may be changed when rendering.",
    )
    .since(V2BETA28),
    field("verify", Many(&VERIFY_TEST_CASE), "Containers that check a deployment.").since(V3ALPHA1),
    field("customActions", Many(&ACTION), "Named groups of containers that can be run on demand.").since(V4BETA5),
];

/// Rows of `SkaffoldConfig`.
pub static SKAFFOLD_CONFIG: Entity = Entity {
    name: "SkaffoldConfig",
    groups: &[
        &[
            field("apiVersion", Text, "Version of the format this document is written in.").required().always(),
            field("kind", Text, "Always `Config`.").required().always(),
            field("metadata", One(&METADATA), "Name and labels of the configuration.").since(V1BETA13),
            field("requires", Many(&CONFIG_DEPENDENCY), "Other configurations this one builds on.").since(V2BETA11),
            field("modules", Many(&MODULE), "Modules written here or found in other files (founding design).")
                .founding(),
        ],
        PIPELINE,
        &[field("profiles", Many(&PROFILE), "Named variations of this configuration.").since(V1ALPHA2)],
    ],
};

/// Rows of `Metadata`.
pub static METADATA: Entity = Entity {
    name: "Metadata",
    groups: &[&[
        field("name", Text, "Name by which other configurations and `-m` refer to this one."),
        field("labels", TextMap, "Labels for tools that read the configuration.").since(V3ALPHA1),
        field("annotations", TextMap, "Free notes for tools that read the configuration.").since(V3ALPHA1),
    ]],
};

/// Rows of `ConfigDependency`.
pub(crate) static CONFIG_DEPENDENCY: Entity = Entity {
    name: "ConfigDependency",
    groups: &[&[
        field("configs", Texts, "Names of the configurations wanted; empty means all of the file."),
        field("path", Text, "File or directory of the required configuration.").one_of("paths").path(),
        field("git", Maybe(&GIT_INFO), "Git repository of the required configuration.").one_of("paths").since(V2BETA12),
        field("googleCloudStorage", Maybe(&GOOGLE_CLOUD_STORAGE_INFO), "Storage bucket of the required configuration.")
            .one_of("paths")
            .since(V4BETA7),
        field(
            "googleCloudBuildRepoV2",
            Maybe(&GOOGLE_CLOUD_BUILD_REPO_V2_INFO),
            "Connected repository of the required configuration.",
        )
        .one_of("paths")
        .since(V4BETA10),
        field("activeProfiles", Many(&PROFILE_DEPENDENCY), "Profiles to switch on in the required configurations."),
    ]],
};

/// Rows of `ProfileDependency`.
pub(crate) static PROFILE_DEPENDENCY: Entity = Entity {
    name: "ProfileDependency",
    groups: &[&[
        field("name", Text, "Profile to switch on in the required configuration.").required().always(),
        field("activatedBy", Texts, "Own profiles that switch it on; empty means always."),
    ]],
};

/// Rows of `GitInfo`.
pub(crate) static GIT_INFO: Entity = Entity {
    name: "GitInfo",
    groups: &[&[
        field("repo", Text, "Address of the repository.").required().always(),
        field("path", Text, "Path of the configuration inside the repository."),
        field("ref", Text, "Branch, tag or commit to use."),
        field("sync", OptBool, "Whether the cached clone is brought up to date."),
    ]],
};

/// Rows of `GoogleCloudStorageInfo`.
pub(crate) static GOOGLE_CLOUD_STORAGE_INFO: Entity = Entity {
    name: "GoogleCloudStorageInfo",
    groups: &[&[
        field("source", Text, "Bucket or object that holds the configuration."),
        field("path", Text, "Path of the configuration inside the source."),
        field("sync", OptBool, "Whether the cached copy is brought up to date."),
    ]],
};

/// Rows of `GoogleCloudBuildRepoV2Info`.
pub(crate) static GOOGLE_CLOUD_BUILD_REPO_V2_INFO: Entity = Entity {
    name: "GoogleCloudBuildRepoV2Info",
    groups: &[&[
        field("projectID", Text, "Project that owns the connection.").required().always(),
        field("region", Text, "Region of the connection.").required().always(),
        field("connection", Text, "Name of the connection.").required().always(),
        field("repo", Text, "Name of the repository in the connection.").required().always(),
        field("path", Text, "Path of the configuration inside the repository."),
        field("ref", Text, "Branch, tag or commit to use."),
        field("sync", OptBool, "Whether the cached clone is brought up to date."),
    ]],
};

/// Rows of `Profile`.
pub static PROFILE: Entity = Entity {
    name: "Profile",
    groups: &[
        &[
            field("name", Text, "Name of the profile.").required(),
            field("activation", Many(&ACTIVATION), "Conditions that switch the profile on by themselves.")
                .since(V1BETA4),
            field("requiresAllActivations", Bool, "All conditions must hold instead of one.").since(V3ALPHA1),
            field("patches", Many(&JSON_PATCH), "Single changes made after the profile's sections.").since(V1BETA4),
            field(
                "modules",
                Many(&MODULE_PROFILE),
                "Profiles to switch on in modules when this one is on (founding design).",
            )
            .founding(),
        ],
        PIPELINE,
    ],
};

/// Rows of `Activation`.
pub(crate) static ACTIVATION: Entity = Entity {
    name: "Activation",
    groups: &[&[
        field("env", Text, "Condition on an environment variable, as `NAME=pattern`."),
        field("kubeContext", Text, "Pattern of the current kube-context."),
        field("command", Text, "Pattern of the command being run."),
    ]],
};

/// Rows of `JSONPatch`.
pub(crate) static JSON_PATCH: Entity = Entity {
    name: "JSONPatch",
    groups: &[&[
        field("op", Text, "Operation; `replace` when left out."),
        field("path", Text, "Place in the configuration to change.").required(),
        field("from", Text, "Place to copy or move from."),
        field("value", Any, "New value."),
    ]],
};

/// Keys of a module of the founding design.
pub static MODULE: Entity = Entity {
    name: "Module",
    groups: &[
        &[
            field("name", Text, "Name of the module."),
            field("path", Text, "Path of the file that describes the module."),
        ],
        PIPELINE,
    ],
};

/// How the founding design points at a module.
pub(crate) static MODULE_REF: Entity = Entity {
    name: "ModuleRef",
    groups: &[&[
        field("name", Text, "Name of the module."),
        field("path", Text, "Path of the file that describes the module."),
    ]],
};

/// Profiles a profile switches on in a module.
pub(crate) static MODULE_PROFILE: Entity = Entity {
    name: "ModuleProfile",
    groups: &[&[
        field("name", Text, "Name of the module."),
        field("path", Text, "Path of the file that describes the module."),
        field("activeProfiles", Texts, "Profiles to switch on in that module."),
    ]],
};

/// The sections a profile or module may carry: what is built, tested, rendered, deployed and checked.
pub fn pipeline() -> impl Iterator<Item = &'static Field> {
    PIPELINE.iter().filter(|row| row.is_in(crate::editions::LATEST))
}
