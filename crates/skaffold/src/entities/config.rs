//! Rows of the schema table: the document itself, its requirements, its profiles and modules.
//!
//! Pure data, read by every phase; it must not know any behaviour.

use super::{TEXT_MAP, TEXTS, kinds};
use crate::editions::{
    FOUNDING, V1ALPHA2, V1ALPHA4, V1BETA4, V1BETA12, V1BETA13, V2BETA11, V2BETA12, V2BETA28, V3ALPHA1, V4BETA5,
    V4BETA7, V4BETA10,
};
use purlin_model::schema::Shape::{Any, Bool, List, One, Scalar};
use purlin_model::schema::{Entity, Field, entity, field};

/// Keys shared by every entity that embeds them.
pub(super) const PIPELINE: &[Field] = &[
    field("build", One(kinds::BUILD_CONFIG), "How images are built."),
    field("test", List(kinds::TEST_CASE), "What is tested in each image.").since(V1ALPHA4),
    field("manifests", One(kinds::RENDER_CONFIG), "Where Kubernetes manifests come from and how they are finished.")
        .since(V3ALPHA1),
    field("deploy", One(kinds::DEPLOY_CONFIG), "How manifests reach a cluster."),
    field("portForward", List(kinds::PORT_FORWARD_RESOURCE), "Ports of the cluster that appear on this machine.")
        .since(V1BETA12),
    field(
        "resourceSelector",
        One(kinds::RESOURCE_SELECTOR_CONFIG),
        "Which kinds of resources may be changed when rendering.",
    )
    .since(V2BETA28),
    field("verify", List(kinds::VERIFY_TEST_CASE), "Containers that check a deployment.").since(V3ALPHA1),
    field("customActions", List(kinds::ACTION), "Named groups of containers that can be run on demand.").since(V4BETA5),
];

/// `SkaffoldConfig`.
pub static SKAFFOLD_CONFIG: Entity = entity(
    kinds::SKAFFOLD_CONFIG,
    "SkaffoldConfig",
    "A configuration: what is built, tested, rendered and deployed.",
    &[
        &[
            field("apiVersion", Scalar, "Version of the format this document is written in.").required().written(),
            field("kind", Scalar, "Always `Config`.").required().written(),
            field("metadata", One(kinds::METADATA), "Name and labels of the configuration.").since(V1BETA13),
            field("requires", List(kinds::CONFIG_DEPENDENCY), "Other configurations this one builds on.")
                .since(V2BETA11),
            field("modules", List(kinds::MODULE), "Modules written here or found in other files (founding design).")
                .since(FOUNDING)
                .extension(),
        ],
        PIPELINE,
        &[field("profiles", List(kinds::PROFILE), "Named variations of this configuration.").since(V1ALPHA2)],
    ],
);

/// `Metadata`.
pub static METADATA: Entity = entity(
    kinds::METADATA,
    "Metadata",
    "Name and labels of a configuration.",
    &[&[
        field("name", Scalar, "Name by which other configurations and `-m` refer to this one."),
        field("labels", TEXT_MAP, "Labels for tools that read the configuration.").since(V3ALPHA1),
        field("annotations", TEXT_MAP, "Free notes for tools that read the configuration.").since(V3ALPHA1),
    ]],
);

/// `ConfigDependency`.
pub(crate) static CONFIG_DEPENDENCY: Entity = entity(
    kinds::CONFIG_DEPENDENCY,
    "ConfigDependency",
    "Other configurations that this one builds on.",
    &[&[
        field("configs", TEXTS, "Names of the configurations to use; all of the file if empty."),
        field("path", Scalar, "File or directory of the required configuration.").one_of("paths").path(),
        field("git", One(kinds::GIT_INFO), "Git repository of the required configuration.")
            .kept()
            .one_of("paths")
            .since(V2BETA12),
        field(
            "googleCloudStorage",
            One(kinds::GOOGLE_CLOUD_STORAGE_INFO),
            "Storage bucket of the required configuration.",
        )
        .kept()
        .one_of("paths")
        .since(V4BETA7),
        field(
            "googleCloudBuildRepoV2",
            One(kinds::GOOGLE_CLOUD_BUILD_REPO_V2_INFO),
            "Connected repository of the required configuration.",
        )
        .kept()
        .one_of("paths")
        .since(V4BETA10),
        field(
            "activeProfiles",
            List(kinds::PROFILE_DEPENDENCY),
            "Profiles to switch on in the required configurations.",
        ),
    ]],
);

/// `ProfileDependency`.
pub(crate) static PROFILE_DEPENDENCY: Entity = entity(
    kinds::PROFILE_DEPENDENCY,
    "ProfileDependency",
    "A profile to switch on in required configurations.",
    &[&[
        field("name", Scalar, "Profile to switch on in the required configuration.").required().written(),
        field("activatedBy", TEXTS, "Own profiles that switch it on; empty means always."),
    ]],
);

/// `GitInfo`.
pub(crate) static GIT_INFO: Entity = entity(
    kinds::GIT_INFO,
    "GitInfo",
    "A git repository that holds required configurations.",
    &[&[
        field("repo", Scalar, "Address of the repository.").required().written(),
        field("path", Scalar, "Path of the configuration inside the repository."),
        field("ref", Scalar, "Branch, tag or commit to use."),
        field("sync", Bool, "Whether the cached clone is brought up to date.").kept(),
    ]],
);

/// `GoogleCloudStorageInfo`.
pub(crate) static GOOGLE_CLOUD_STORAGE_INFO: Entity = entity(
    kinds::GOOGLE_CLOUD_STORAGE_INFO,
    "GoogleCloudStorageInfo",
    "A storage bucket that holds required configurations.",
    &[&[
        field("source", Scalar, "Bucket or object that holds the configuration."),
        field("path", Scalar, "Path of the configuration inside the source."),
        field("sync", Bool, "Whether the cached copy is brought up to date.").kept(),
    ]],
);

/// `GoogleCloudBuildRepoV2Info`.
pub(crate) static GOOGLE_CLOUD_BUILD_REPO_V2_INFO: Entity = entity(
    kinds::GOOGLE_CLOUD_BUILD_REPO_V2_INFO,
    "GoogleCloudBuildRepoV2Info",
    "A connected repository that holds required configurations.",
    &[&[
        field("projectID", Scalar, "Project that owns the connection.").required().written(),
        field("region", Scalar, "Region of the connection.").required().written(),
        field("connection", Scalar, "Name of the connection.").required().written(),
        field("repo", Scalar, "Name of the repository in the connection.").required().written(),
        field("path", Scalar, "Path of the configuration inside the repository."),
        field("ref", Scalar, "Branch, tag or commit to use."),
        field("sync", Bool, "Whether the cached clone is brought up to date.").kept(),
    ]],
);

/// `Profile`.
pub static PROFILE: Entity = entity(
    kinds::PROFILE,
    "Profile",
    "A named variation of a configuration.",
    &[
        &[
            field("name", Scalar, "Name of the profile.").required(),
            field("activation", List(kinds::ACTIVATION), "Conditions that switch the profile on by themselves.")
                .since(V1BETA4),
            field("requiresAllActivations", Bool, "All conditions must hold instead of one.").since(V3ALPHA1),
            field("patches", List(kinds::JSON_PATCH), "Single changes made after the profile's sections.")
                .since(V1BETA4),
            field(
                "modules",
                List(kinds::MODULE_PROFILE),
                "Profiles to switch on in modules when this one is on (founding design).",
            )
            .since(FOUNDING)
            .extension(),
        ],
        PIPELINE,
    ],
);

/// `Activation`.
pub(crate) static ACTIVATION: Entity = entity(
    kinds::ACTIVATION,
    "Activation",
    "A condition that switches a profile on.",
    &[&[
        field("env", Scalar, "Condition on an environment variable, as `NAME=pattern`."),
        field("kubeContext", Scalar, "Pattern of the current kube-context."),
        field("command", Scalar, "Pattern of the command being run."),
    ]],
);

/// `JSONPatch`.
pub(crate) static JSON_PATCH: Entity = entity(
    kinds::JSON_PATCH,
    "JSONPatch",
    "A single change that a profile makes.",
    &[&[
        field("op", Scalar, "Operation; `replace` when left out."),
        field("path", Scalar, "Place in the configuration to change.").required(),
        field("from", Scalar, "Place to copy or move from."),
        field("value", Any, "New value."),
    ]],
);

/// Keys of a module of the founding design.
pub static MODULE: Entity = entity(
    kinds::MODULE,
    "Module",
    "A module of the founding design.",
    &[
        &[
            field("name", Scalar, "Name of the module."),
            field("path", Scalar, "Path of the file that describes the module."),
        ],
        PIPELINE,
    ],
);

/// References of the founding design to a module.
pub(crate) static MODULE_REF: Entity = entity(
    kinds::MODULE_REF,
    "ModuleRef",
    "How the founding design points at a module.",
    &[&[
        field("name", Scalar, "Name of the module."),
        field("path", Scalar, "Path of the file that describes the module."),
    ]],
);

/// Profiles a profile switches on in a module.
pub(crate) static MODULE_PROFILE: Entity = entity(
    kinds::MODULE_PROFILE,
    "ModuleProfile",
    "Profiles that a profile switches on in a module.",
    &[&[
        field("name", Scalar, "Name of the module."),
        field("path", Scalar, "Path of the file that describes the module."),
        field("activeProfiles", TEXTS, "Profiles to switch on in that module."),
    ]],
);

/// The sections a profile or module may have: build, test, render, deploy and verify.
pub fn pipeline() -> impl Iterator<Item = &'static Field> {
    PIPELINE.iter().filter(|row| row.window.has(crate::editions::LATEST))
}
