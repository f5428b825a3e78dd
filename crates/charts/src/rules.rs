//! The rules of this dialect.

use purlin_syntax::{About, Rule};

/// A chart that cannot be loaded.
pub const LOAD: Rule = Rule::error("chart-load", "A chart cannot be loaded.")
    .advice("create `Chart.yaml` with `apiVersion`, `name` and `version`");
/// Metadata that is not valid.
pub const METADATA: Rule = Rule::error("chart-metadata", "`Chart.yaml` is not valid.");
/// A dependency that is declared and not there.
pub const DEPENDENCY: Rule =
    Rule::error("chart-dependency", "A chart that is declared as a dependency cannot be used.");
/// Values that cannot be read.
pub const VALUES: Rule = Rule::error("chart-values", "A values file or `--set` flag cannot be read.")
    .advice("write the values as `key: value` lines");
/// Values the chart's schema does not allow.
pub const SCHEMA: Rule = Rule::error("chart-schema", "The values do not match the chart's schema.")
    .advice("give a value that the schema allows");
/// A template that cannot be parsed.
pub const SYNTAX: Rule = Rule::error("chart-template-syntax", "A template cannot be parsed.")
    .advice("look at the quotes, parentheses and names between `{{` and `}}`");
/// A template that fails.
pub const TEMPLATE: Rule = Rule::error("chart-template", "A template fails while it is rendered.")
    .advice("check the values that this part of the template uses");
/// A template that stops on purpose.
pub const FAILED: Rule = Rule::error("chart-failed", "A chart stops with `fail` or `required`.")
    .advice("change the values as the message says");
/// A rendered document that is no manifest.
pub const MANIFEST: Rule = Rule::error("chart-manifest", "A rendered document is not a Kubernetes manifest.")
    .advice("change the template so that it prints one Kubernetes object per document");
/// Two documents for one object.
pub const DUPLICATE: Rule = Rule::error("chart-duplicate-object", "Two documents describe the same object.");
/// A manifest Kubernetes would refuse.
pub const KUBERNETES: Rule = Rule::error("chart-kubernetes-schema", "A manifest does not match the Kubernetes schema.")
    .advice("change the value, or the template that makes it");
/// An unknown key of the values.
pub const UNKNOWN_KEY: Rule = Rule::error("chart-unknown-key", "The values have a key that the chart does not define.");
/// A warning of Helm.
pub const WARNING: Rule = Rule::warning("chart-warning", "Values or dependencies have no effect as written.");

/// A value that is read and not set, beside a similar one that is set and not read.
pub const UNSET: Rule =
    Rule::warning("chart-unset-value", "A template reads a value that no values file sets.").about(About::Name);
/// A value that is given and not known, beside a similar one that is.
pub const UNREAD: Rule =
    Rule::warning("chart-unread-value", "A value is given that the chart does not know, and a similar one is known.");
/// A value that no template reads.
pub const UNUSED_VALUE: Rule =
    Rule::warning("chart-unused-value", "No template reads this value, whatever the other values are.").of_text();
/// A named template that is never included.
pub const UNUSED_TEMPLATE: Rule =
    Rule::warning("chart-unused-template", "No template includes this named template.").of_text();
/// A given value that equals the chart's own.
pub const REPEATED: Rule = Rule::warning("chart-repeated-value", "A value is the same as the chart's own.").of_text();
/// A value that the values files of all environments override.
pub const OVERRIDDEN: Rule =
    Rule::warning("chart-overridden-value", "The values file of every environment overrides this value.").of_text();
/// A field of a built-in object that Helm does not have.
pub const UNKNOWN_FIELD: Rule =
    Rule::warning("chart-unknown-field", "A template reads a field that a built-in object does not have.");
/// A password or a key that is drawn from a known seed.
pub const GUESSABLE: Rule = Rule::warning(
    "chart-guessable-value",
    "Rendered passwords or keys are drawn from a seed that is known to everyone.",
);
/// Files that `metachart gen` would write differently now.
pub const OUTDATED: Rule =
    Rule::warning("chart-outdated", "A generated file of a Metachart chart does not match its configuration.");

/// All rules.
pub const RULES: &[&Rule] = &[
    &LOAD,
    &METADATA,
    &DEPENDENCY,
    &VALUES,
    &SCHEMA,
    &SYNTAX,
    &TEMPLATE,
    &FAILED,
    &MANIFEST,
    &DUPLICATE,
    &KUBERNETES,
    &UNKNOWN_KEY,
    &WARNING,
    &GUESSABLE,
    &OUTDATED,
    &UNSET,
    &UNREAD,
    &UNUSED_VALUE,
    &UNUSED_TEMPLATE,
    &REPEATED,
    &OVERRIDDEN,
    &UNKNOWN_FIELD,
];
