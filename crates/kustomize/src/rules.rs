//! The rules of kustomizations.

use purlin_syntax::Rule;

/// A kustomization that cannot be built.
pub(crate) const KUSTOMIZATION: Rule = Rule::error("kustomization", "A kustomization cannot be built.");
/// A field that is not built natively.
pub const UNSUPPORTED: Rule =
    Rule::denied("kustomization-unsupported", "A kustomization uses what only an installed tool can build.");

/// An entry without a match.
pub(crate) const NO_EFFECT: Rule =
    Rule::warning("kustomization-no-effect", "An entry of a kustomization concerns no resource.");

/// All rules.
pub const RULES: &[&Rule] = &[&KUSTOMIZATION, &UNSUPPORTED, &NO_EFFECT];
