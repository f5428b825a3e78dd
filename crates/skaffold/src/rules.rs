//! The rules of this dialect.

use purlin_syntax::{About, Loses, Rule};

/// A required file is missing.
pub const FILE: Rule = Rule::error("skaffold-file", "A configuration file cannot be found or read.");
/// A file without a configuration.
pub(crate) const EMPTY: Rule = Rule::error("skaffold-empty", "A file holds no configuration.");
/// An `apiVersion` that is missing or not known.
pub const VERSION: Rule = Rule::error("skaffold-version", "The `apiVersion` is missing or unknown.");
/// A key the edition does not have.
pub const UNKNOWN_KEY: Rule =
    Rule::error("skaffold-unknown-key", "A section has a key that its version does not define.")
        .advice("remove it, or move it to the section that it belongs to")
        .loses(Loses::Entry);
/// A value of the wrong kind.
pub const WRONG_TYPE: Rule = Rule::error("skaffold-type", "A value has the wrong type.");
/// A document that cannot be brought up to date.
pub(crate) const UPGRADE: Rule = Rule::error("skaffold-upgrade", "An older document cannot be upgraded automatically.");
/// A part that an upgrade could not keep.
pub(crate) const UPGRADE_LOSS: Rule = Rule::warning("skaffold-upgrade-loss", "An upgrade cannot keep everything.");
/// Two configurations of one name.
pub const DUPLICATE_NAME: Rule =
    Rule::error("skaffold-duplicate-name", "Two configurations have the same name.").advice("rename one of them");
/// A requirement that leads nowhere.
pub(crate) const REQUIRES: Rule =
    Rule::error("skaffold-requires", "A required configuration cannot be found.").about(About::Name);
/// A name no configuration has.
pub const UNKNOWN_MODULE: Rule = Rule::error("skaffold-unknown-module", "No configuration has this name.")
    .advice("correct the name, or name a configuration so with `metadata.name`")
    .about(About::Name);
/// A cycle of requirements.
pub const CYCLE: Rule = Rule::error("skaffold-cycle", "Configurations require each other in a cycle.");
/// One configuration with two lists of profiles.
pub(crate) const PROFILE_CONFLICT: Rule =
    Rule::error("skaffold-profile-conflict", "A configuration is required twice with different profiles.");
/// An undefined profile.
pub const UNKNOWN_PROFILE: Rule = Rule::error("skaffold-unknown-profile", "No configuration has this profile.")
    .advice("correct the name, or declare the profile under `profiles`")
    .about(About::Name);
/// A profile that cannot be used as written.
pub const PROFILE: Rule = Rule::error("skaffold-profile", "A profile is not valid.");
/// A condition that cannot be read.
pub(crate) const ACTIVATION: Rule = Rule::error("skaffold-activation", "A profile's condition cannot be read.");
/// A patch that does not apply.
pub const PATCH: Rule = Rule::error("skaffold-patch", "A patch of a profile does not apply.")
    .advice("correct the `path` or the `value` of the patch");
/// A release graph that does not work out.
pub(crate) const RELEASES: Rule =
    Rule::error("skaffold-releases", "Helm releases depend on each other in a way that fails.")
        .advice("correct the names under `dependsOn`");
/// An empty item where a value is required.
pub(crate) const EMPTY_ITEM: Rule = Rule::error("skaffold-empty-item", "A list has an empty item.");
/// A template that cannot be expanded.
pub const TEMPLATE: Rule = Rule::error("skaffold-template", "A template cannot be expanded.")
    .advice("close every `{{` with `}}`, and use functions that exist");
/// A value that must be set.
pub const REQUIRED: Rule = Rule::error("skaffold-required", "A required value is not set.").about(About::Missing);
/// Several keys of which only one may be used.
pub(crate) const ONE_OF: Rule = Rule::error("skaffold-one-of", "Only one of several keys may be used.");
/// A wrong image name.
pub const IMAGE: Rule = Rule::error("skaffold-image", "The name of an image is wrong.")
    .advice("write a name such as `registry.example.com/app`");
/// Two artifacts with one image.
pub(crate) const DUPLICATE_IMAGE: Rule =
    Rule::error("skaffold-duplicate-image", "Two artifacts build the same image.").advice("rename one of them");
/// An artifact that depends on a missing one, or on itself.
pub const BUILD_DEPENDENCY: Rule =
    Rule::error("skaffold-build-dependency", "Artifacts have an unknown or circular dependency.")
        .advice("remove one of the `requires` entries")
        .about(About::Name);
/// A builder that does not work in its environment.
pub const BUILDER: Rule = Rule::error("skaffold-builder", "An artifact's builder does not fit the build environment.");
/// A value outside the allowed ones.
pub const VALUE: Rule = Rule::error("skaffold-value", "A value is not one of the allowed ones.")
    .advice("use one of the values that the message names");
/// A missing manifest.
pub const MANIFEST: Rule = Rule::error("skaffold-manifest", "A manifest cannot be found or read.")
    .advice("correct the path; it starts at the folder of `skaffold.yaml`");
/// Two tests or actions of one name.
pub(crate) const DUPLICATE_ACTION: Rule =
    Rule::error("skaffold-duplicate-action", "Two checks or actions have the same name.").advice("rename one of them");
/// Modules that cannot be merged.
pub(crate) const MERGE_CONFLICT: Rule =
    Rule::error("skaffold-merge-conflict", "Two modules set one value differently.");
/// A module of the founding design that is written wrongly.
pub const MODULE: Rule = Rule::error("skaffold-module", "A module is not defined anywhere.");
/// An invalid reference to a remote configuration.
pub(crate) const REMOTE: Rule = Rule::error("skaffold-remote", "A reference to a remote configuration is not valid.");
/// A source that is known but not read.
pub const SOURCE: Rule =
    Rule::error("skaffold-source", "A configuration is required from a source Purlin cannot read.");
/// A module that is only a name.
pub(crate) const EMPTY_MODULE: Rule = Rule::warning("skaffold-empty-module", "A module has no sections.");
/// Manifests that need another tool.
pub const NOT_RENDERED: Rule = Rule::warning("skaffold-not-rendered", "Some manifests need another tool.");
/// A function that changes or checks manifests, which is not run.
pub const MANIFEST_FUNCTION: Rule =
    Rule::error("skaffold-manifest-function", "Manifests go through a function that Purlin does not run.");
/// A key without effect here.
pub const NO_EFFECT: Rule = Rule::warning("skaffold-no-effect", "A key has no effect when Purlin builds or deploys.");
/// A file outside the project.
pub(crate) const OUTSIDE: Rule = Rule::denied("skaffold-outside", "A required file is outside the project.");

/// All rules.
pub const RULES: &[&Rule] = &[
    &FILE,
    &EMPTY,
    &VERSION,
    &UNKNOWN_KEY,
    &WRONG_TYPE,
    &UPGRADE,
    &UPGRADE_LOSS,
    &DUPLICATE_NAME,
    &REQUIRES,
    &UNKNOWN_MODULE,
    &CYCLE,
    &PROFILE_CONFLICT,
    &UNKNOWN_PROFILE,
    &PROFILE,
    &ACTIVATION,
    &PATCH,
    &RELEASES,
    &EMPTY_ITEM,
    &TEMPLATE,
    &REQUIRED,
    &ONE_OF,
    &IMAGE,
    &DUPLICATE_IMAGE,
    &BUILD_DEPENDENCY,
    &BUILDER,
    &VALUE,
    &MANIFEST,
    &DUPLICATE_ACTION,
    &MERGE_CONFLICT,
    &MODULE,
    &EMPTY_MODULE,
    &REMOTE,
    &SOURCE,
    &NOT_RENDERED,
    &MANIFEST_FUNCTION,
    &NO_EFFECT,
    &OUTSIDE,
];
