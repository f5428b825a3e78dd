//! The schema as one table: every struct of every edition, one row per key.
//!
//! Reading, checking, overlaying, defaults, path rewriting, templates, writing, the JSON Schema and the reference page
//! are all readers of these rows. The table must not know any phase.

pub mod artifact;
pub mod build;
pub mod config;
pub mod deploy;
pub mod hooks;
pub mod legacy;
pub mod run;

use crate::editions::NAMES;
use purlin_model::schema::{Empty, Schema, Shape, Special, entity, field};

pub use purlin_model::schema::{Entity, Field};

/// The numbers of the rows.
pub(crate) mod kinds {
    purlin_model::kinds!(
        SKAFFOLD_CONFIG,
        METADATA,
        CONFIG_DEPENDENCY,
        PROFILE_DEPENDENCY,
        GIT_INFO,
        GOOGLE_CLOUD_STORAGE_INFO,
        GOOGLE_CLOUD_BUILD_REPO_V2_INFO,
        PROFILE,
        ACTIVATION,
        JSON_PATCH,
        MODULE,
        MODULE_REF,
        MODULE_PROFILE,
        BUILD_CONFIG,
        TAG_POLICY,
        GIT_TAGGER,
        ENV_TEMPLATE_TAGGER,
        DATE_TIME_TAGGER,
        CUSTOM_TEMPLATE_TAGGER,
        TAGGER_COMPONENT,
        LOCAL_BUILD,
        GOOGLE_CLOUD_BUILD,
        PLATFORM_EMULATOR_INSTALL_STEP,
        CLUSTER_DETAILS,
        DOCKER_CONFIG,
        RESOURCE_REQUIREMENTS,
        RESOURCE_REQUIREMENT,
        SHA_TAGGER,
        INPUT_DIGEST,
        ARTIFACT,
        ARTIFACT_DEPENDENCY,
        SYNC,
        SYNC_RULE,
        DOCKER_ARTIFACT,
        DOCKER_SECRET,
        BAZEL_ARTIFACT,
        BAZEL_PLATFORM_MAPPING,
        KO_ARTIFACT,
        KO_DEPENDENCIES,
        JIB_ARTIFACT,
        BUILDPACK_ARTIFACT,
        BUILDPACK_DEPENDENCIES,
        BUILDPACK_VOLUME,
        CUSTOM_ARTIFACT,
        CUSTOM_DEPENDENCIES,
        DOCKERFILE_DEPENDENCY,
        KANIKO_ARTIFACT,
        KANIKO_CACHE,
        RENDER_CONFIG,
        REMOTE_MANIFEST,
        KUSTOMIZE,
        HELM,
        TRANSFORMER,
        VALIDATOR,
        DEPLOY_CONFIG,
        KPT_DEPLOY,
        CLOUD_RUN_DEPLOY,
        DOCKER_DEPLOY,
        KUBECTL_DEPLOY,
        KUBECTL_FLAGS,
        LEGACY_HELM_DEPLOY,
        HELM_DEPLOY_FLAGS,
        HELM_RELEASE,
        HELM_PACKAGED,
        LOGS_CONFIG,
        JSON_PARSE_CONFIG,
        BUILD_HOOKS,
        SYNC_HOOKS,
        SYNC_HOOK_ITEM,
        RENDER_HOOKS,
        RENDER_HOOK_ITEM,
        POST_RENDER_HOOK_ITEM,
        POST_RENDER_HOST_HOOK,
        CLOUD_RUN_DEPLOY_HOOKS,
        DEPLOY_HOOKS,
        DEPLOY_HOOK_ITEM,
        HOST_HOOK,
        CONTAINER_HOOK,
        NAMED_CONTAINER_HOOK,
        TEST_CASE,
        CUSTOM_TEST,
        CUSTOM_TEST_DEPENDENCIES,
        VERIFY_TEST_CASE,
        VERIFY_CONTAINER,
        VERIFY_ENV_VAR,
        VERIFY_EXECUTION_MODE_CONFIG,
        LOCAL_VERIFIER,
        KUBERNETES_CLUSTER_VERIFIER,
        ACTION,
        ACTION_EXECUTION_MODE_CONFIG,
        PORT_FORWARD_RESOURCE,
        RESOURCE_SELECTOR_CONFIG,
        RESOURCE_FILTER,
        AZURE_CONTAINER_BUILD,
        BUILDER_PLUGIN,
        EXECUTION_ENVIRONMENT,
        HELM_DEPLOY,
        HELM_CONVENTION_CONFIG,
        HELM_FQNCONFIG,
        HELM_IMAGE_STRATEGY,
        JIB_GRADLE_ARTIFACT,
        JIB_MAVEN_ARTIFACT,
        KANIKO_BUILD,
        KANIKO_BUILD_CONTEXT,
        LOCAL_DIR,
        KPT_APPLY_INVENTORY,
        KPT_APPLY_OPTIONS,
        KPT_FN,
        KPT_LIVE,
        KPT_LIVE_APPLY,
        KUSTOMIZE_DEPLOY,
        MANIFEST,
        AUTO,
        KUBERNETES,
        TOLERATION,
        ENV_VAR,
    );
}

/// All rows, each at the place of its kind.
static ENTITIES: &[Entity] = &[
    config::SKAFFOLD_CONFIG,
    config::METADATA,
    config::CONFIG_DEPENDENCY,
    config::PROFILE_DEPENDENCY,
    config::GIT_INFO,
    config::GOOGLE_CLOUD_STORAGE_INFO,
    config::GOOGLE_CLOUD_BUILD_REPO_V2_INFO,
    config::PROFILE,
    config::ACTIVATION,
    config::JSON_PATCH,
    config::MODULE,
    config::MODULE_REF,
    config::MODULE_PROFILE,
    build::BUILD_CONFIG,
    build::TAG_POLICY,
    build::GIT_TAGGER,
    build::ENV_TEMPLATE_TAGGER,
    build::DATE_TIME_TAGGER,
    build::CUSTOM_TEMPLATE_TAGGER,
    build::TAGGER_COMPONENT,
    build::LOCAL_BUILD,
    build::GOOGLE_CLOUD_BUILD,
    build::PLATFORM_EMULATOR_INSTALL_STEP,
    build::CLUSTER_DETAILS,
    build::DOCKER_CONFIG,
    build::RESOURCE_REQUIREMENTS,
    build::RESOURCE_REQUIREMENT,
    build::SHA_TAGGER,
    build::INPUT_DIGEST,
    artifact::ARTIFACT,
    artifact::ARTIFACT_DEPENDENCY,
    artifact::SYNC,
    artifact::SYNC_RULE,
    artifact::DOCKER_ARTIFACT,
    artifact::DOCKER_SECRET,
    artifact::BAZEL_ARTIFACT,
    artifact::BAZEL_PLATFORM_MAPPING,
    artifact::KO_ARTIFACT,
    artifact::KO_DEPENDENCIES,
    artifact::JIB_ARTIFACT,
    artifact::BUILDPACK_ARTIFACT,
    artifact::BUILDPACK_DEPENDENCIES,
    artifact::BUILDPACK_VOLUME,
    artifact::CUSTOM_ARTIFACT,
    artifact::CUSTOM_DEPENDENCIES,
    artifact::DOCKERFILE_DEPENDENCY,
    artifact::KANIKO_ARTIFACT,
    artifact::KANIKO_CACHE,
    deploy::RENDER_CONFIG,
    deploy::REMOTE_MANIFEST,
    deploy::KUSTOMIZE,
    deploy::HELM,
    deploy::TRANSFORMER,
    deploy::VALIDATOR,
    deploy::DEPLOY_CONFIG,
    deploy::KPT_DEPLOY,
    deploy::CLOUD_RUN_DEPLOY,
    deploy::DOCKER_DEPLOY,
    deploy::KUBECTL_DEPLOY,
    deploy::KUBECTL_FLAGS,
    deploy::LEGACY_HELM_DEPLOY,
    deploy::HELM_DEPLOY_FLAGS,
    deploy::HELM_RELEASE,
    deploy::HELM_PACKAGED,
    deploy::LOGS_CONFIG,
    deploy::JSON_PARSE_CONFIG,
    hooks::BUILD_HOOKS,
    hooks::SYNC_HOOKS,
    hooks::SYNC_HOOK_ITEM,
    hooks::RENDER_HOOKS,
    hooks::RENDER_HOOK_ITEM,
    hooks::POST_RENDER_HOOK_ITEM,
    hooks::POST_RENDER_HOST_HOOK,
    hooks::CLOUD_RUN_DEPLOY_HOOKS,
    hooks::DEPLOY_HOOKS,
    hooks::DEPLOY_HOOK_ITEM,
    hooks::HOST_HOOK,
    hooks::CONTAINER_HOOK,
    hooks::NAMED_CONTAINER_HOOK,
    run::TEST_CASE,
    run::CUSTOM_TEST,
    run::CUSTOM_TEST_DEPENDENCIES,
    run::VERIFY_TEST_CASE,
    run::VERIFY_CONTAINER,
    run::VERIFY_ENV_VAR,
    run::VERIFY_EXECUTION_MODE_CONFIG,
    run::LOCAL_VERIFIER,
    run::KUBERNETES_CLUSTER_VERIFIER,
    run::ACTION,
    run::ACTION_EXECUTION_MODE_CONFIG,
    run::PORT_FORWARD_RESOURCE,
    run::RESOURCE_SELECTOR_CONFIG,
    run::RESOURCE_FILTER,
    legacy::AZURE_CONTAINER_BUILD,
    legacy::BUILDER_PLUGIN,
    legacy::EXECUTION_ENVIRONMENT,
    legacy::HELM_DEPLOY,
    legacy::HELM_CONVENTION_CONFIG,
    legacy::HELM_FQNCONFIG,
    legacy::HELM_IMAGE_STRATEGY,
    legacy::JIB_GRADLE_ARTIFACT,
    legacy::JIB_MAVEN_ARTIFACT,
    legacy::KANIKO_BUILD,
    legacy::KANIKO_BUILD_CONTEXT,
    legacy::LOCAL_DIR,
    legacy::KPT_APPLY_INVENTORY,
    legacy::KPT_APPLY_OPTIONS,
    legacy::KPT_FN,
    legacy::KPT_LIVE,
    legacy::KPT_LIVE_APPLY,
    legacy::KUSTOMIZE_DEPLOY,
    legacy::MANIFEST,
    legacy::AUTO,
    KUBERNETES,
    TOLERATION,
    ENV_VAR,
];

/// The tables. A static, not a constant, which would be duplicated at every use.
pub static SCHEMA: Schema = Schema::new("skaffold", NAMES, ENTITIES);

/// A list of strings; numbers and booleans are taken as they are written.
pub(crate) const TEXTS: Shape = Shape::ListOf(&Shape::Scalar);
/// A mapping of strings.
pub(crate) const TEXT_MAP: Shape = Shape::MapOf(&Shape::Scalar);
/// A mapping of strings that may be null.
pub(crate) const NULLABLE_MAP: Shape = Shape::Special(&NULLABLE_MAP_SHAPE);
/// Nested values that are kept as one flat mapping of strings.
pub(crate) const FLAT: Shape = Shape::Special(&FLAT_SHAPE);
/// A port: a number or a name.
pub(crate) const PORT: Shape = Shape::Special(&PORT_SHAPE);

static NULLABLE_MAP_SHAPE: Special = Special { number: 0, label: "a mapping of strings", outline: TEXT_MAP };
static FLAT_SHAPE: Special = Special { number: 1, label: "a mapping", outline: Shape::MapOf(&Shape::Any) };
static PORT_SHAPE: Special = Special { number: 2, label: "a number or a name", outline: Shape::Scalar };

/// Objects of Kubernetes' own API.
static KUBERNETES: Entity =
    entity(kinds::KUBERNETES, "Kubernetes", "An object of Kubernetes' own API, passed through as it is.", &[])
        .rest(field("keys", Shape::MapOf(&Shape::Any), "Keys of the object."));

/// Other keys of an object of Kubernetes' own API that has rows for some of its keys.
const OTHER_KEYS: Field = field("keys", Shape::Any, "Further keys of the object.");

/// Skaffold writes all fields of these two objects, under its own names.
static TOLERATION: Entity = entity(
    kinds::TOLERATION,
    "Toleration",
    "A toleration of Kubernetes' own API.",
    &[&[
        field("key", Shape::Scalar, "Taint key; empty means all.").written(),
        field("operator", Shape::Scalar, "`Exists` or `Equal`.").written(),
        field("value", Shape::Scalar, "Taint value.").written(),
        field("effect", Shape::Scalar, "Taint effect; empty means all.").written(),
        field("tolerationseconds", Shape::Any, "How long the taint is tolerated.").written(),
    ]],
)
.rest(OTHER_KEYS);

/// `EnvVar` of Kubernetes' own API.
static ENV_VAR: Entity = entity(
    kinds::ENV_VAR,
    "EnvVar",
    "An environment variable of Kubernetes' own API.",
    &[&[
        field("name", Shape::Scalar, "Name of the variable.").written(),
        field("value", Shape::Scalar, "Its value.").written(),
        field("valuefrom", Shape::Any, "Where its value comes from.").written(),
    ]],
)
.rest(OTHER_KEYS);

/// Contents of a row, with the section where it holds one: the shapes of the model that this format has.
#[derive(Clone, Copy)]
pub enum Holds {
    /// A string; numbers and booleans are taken as they are written.
    Text,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A port.
    Port,
    /// A list of strings.
    Texts,
    /// A mapping of strings.
    TextMap,
    /// A mapping of strings that may be null.
    NullableMap,
    /// Nested values that become one flat mapping.
    Flat,
    /// Anything.
    Any,
    /// A section.
    One(&'static Entity),
    /// A list of sections.
    Many(&'static Entity),
}

/// Contents of a row.
pub fn holds(row: &Field) -> Holds {
    match row.shape {
        Shape::Scalar | Shape::Text => Holds::Text,
        Shape::Bool => Holds::Bool,
        Shape::Integer => Holds::Int,
        Shape::ListOf(_) => Holds::Texts,
        Shape::MapOf(_) => Holds::TextMap,
        Shape::Special(special) if *special == NULLABLE_MAP_SHAPE => Holds::NullableMap,
        Shape::Special(special) if *special == FLAT_SHAPE => Holds::Flat,
        Shape::Special(_) => Holds::Port,
        Shape::One(kind) => SCHEMA.entity(kind).map_or(Holds::Any, Holds::One),
        Shape::List(kind) => SCHEMA.entity(kind).map_or(Holds::Any, Holds::Many),
        _ => Holds::Any,
    }
}

/// The section that a row holds, alone or in a list.
pub fn section_of(row: &Field) -> Option<&'static Entity> {
    match holds(row) {
        Holds::One(entity) | Holds::Many(entity) => Some(entity),
        _ => None,
    }
}

/// Whether contents are passed through unchecked.
pub fn is_open(entity: &Entity) -> bool {
    entity.rest.is_some()
}

/// Whether an empty value of a row differs from an absent one.
pub fn keeps_empty(row: &Field) -> bool {
    row.empty == Empty::Kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        assert_eq!(purlin_model::guard(&SCHEMA), Vec::<String>::new());
    }

    #[test]
    fn the_newest_edition_has_every_published_field() {
        let published =
            |entity: &Entity| entity.fields(crate::editions::LATEST).filter(|row| !row.is_extension).count();
        let rows: usize = ENTITIES.iter().map(published).sum();
        // Shared groups are counted once per entity that embeds them, hence more than the 419 distinct fields.
        assert!(rows >= 419, "{rows}");
    }
}
