//! The rules of this crate.

use purlin_syntax::Rule;

/// What a cluster refuses for its shape.
pub const SCHEMA: Rule = Rule::error("kubernetes-schema", "A Kubernetes object does not match the schema of its kind.");
/// What a cluster refuses for a value.
pub const VALUE: Rule = Rule::error("kubernetes-value", "A value in a Kubernetes object is not valid.");
/// A version or kind that the cluster does not have.
pub const API: Rule = Rule::error("kubernetes-api", "An `apiVersion` or `kind` does not exist in Kubernetes.")
    .advice("write a version that the cluster has, or judge by another one with `--kube-version`");
/// Selectors and labels that do not fit.
pub const SELECTOR: Rule = Rule::error("kubernetes-selector", "A selector does not match the labels it is meant for.");
/// Objects that another one names and that are not there.
pub const REFERENCE: Rule = Rule::warning("kubernetes-reference", "An object refers to something that does not exist.");

/// What the profile `baseline` of the Pod Security Standards does not allow.
pub const POD_BASELINE: Rule =
    Rule::error("pod-security-baseline", "A pod asks for what the profile `baseline` does not allow.")
        .advice("remove it, or leave the policy `baseline` out for this project");
/// What the profile `restricted` does not allow beyond that.
pub const POD_RESTRICTED: Rule =
    Rule::error("pod-security-restricted", "A pod asks for what the profile `restricted` does not allow.")
        .advice("remove it, or leave the policy `restricted` out for this project");
/// A container that does not say what it needs.
pub const MISSING_RESOURCES: Rule =
    Rule::warning("missing-resources", "A container does not say which resources it needs.");
/// A container that cannot be asked whether it works.
pub const MISSING_PROBE: Rule = Rule::warning("missing-probe", "A container has no probe.");
/// An image that is another one tomorrow.
pub const FLOATING_IMAGE: Rule = Rule::warning("floating-image", "An image has no tag that stays the same.")
    .advice("write a tag with a version, or a digest");

/// All of them.
pub const RULES: &[&Rule] = &[
    &SCHEMA,
    &VALUE,
    &API,
    &SELECTOR,
    &REFERENCE,
    &POD_BASELINE,
    &POD_RESTRICTED,
    &MISSING_RESOURCES,
    &MISSING_PROBE,
    &FLOATING_IMAGE,
];
