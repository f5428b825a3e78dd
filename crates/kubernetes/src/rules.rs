//! The rules of this crate.

use purlin_syntax::Rule;

/// A shape that a cluster rejects.
pub const SCHEMA: Rule = Rule::error("kubernetes-schema", "A Kubernetes object does not match the schema of its kind.");
/// A value that a cluster rejects.
pub const VALUE: Rule = Rule::error("kubernetes-value", "A value in a Kubernetes object is not valid.");
/// A version or kind that the cluster does not have.
pub const API: Rule = Rule::error("kubernetes-api", "An `apiVersion` or `kind` does not exist in Kubernetes.")
    .advice("write a version that the cluster has, or judge by another one with `--kube-version`");
/// Selectors and labels that do not match.
pub const SELECTOR: Rule = Rule::error("kubernetes-selector", "A selector does not match the labels it is meant for.");
/// A missing object that another one refers to.
pub const REFERENCE: Rule = Rule::warning("kubernetes-reference", "An object refers to something that does not exist.");

/// A setting that the profile `baseline` of the Pod Security Standards forbids.
pub const POD_BASELINE: Rule =
    Rule::error("pod-security-baseline", "A pod asks for what the profile `baseline` does not allow.")
        .advice("remove it, or leave the policy `baseline` out for this project");
/// A setting that the profile `restricted` forbids beyond that.
pub const POD_RESTRICTED: Rule =
    Rule::error("pod-security-restricted", "A pod asks for what the profile `restricted` does not allow.")
        .advice("remove it, or leave the policy `restricted` out for this project");
/// A container without declared resources.
pub const MISSING_RESOURCES: Rule =
    Rule::warning("missing-resources", "A container does not say which resources it needs.");
/// A container without probes.
pub const MISSING_PROBE: Rule = Rule::warning("missing-probe", "A container has no probe.");
/// An image without a tag, or with one that moves by definition.
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
