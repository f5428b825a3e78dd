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

/// All of them.
pub const RULES: &[&Rule] = &[&SCHEMA, &VALUE, &API, &SELECTOR, &REFERENCE];
