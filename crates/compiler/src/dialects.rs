//! The list of dialects. A new dialect is a crate and a line here.

use purlin_model::Dialect;
use purlin_syntax::Rule;

/// All dialects, in the order of detection.
#[rustfmt::skip]
pub const DIALECTS: &[&Dialect] = &[
    &purlin_charts::DIALECT,
    &purlin_garden::DIALECT,
    &purlin_skaffold::DIALECT,
    &purlin_tosca::DIALECT,
    &purlin_unfurl::DIALECT,
    &purlin_kustomize::DIALECT,
];

/// All rules of all layers and dialects, sorted by name.
pub fn all_rules() -> Vec<&'static Rule> {
    let own: [&[&'static Rule]; 5] = [
        purlin_syntax::rules::RULES,
        purlin_value::rules::RULES,
        purlin_model::rules::RULES,
        purlin_kubernetes::RULES,
        crate::rules::RULES,
    ];
    let dialects = DIALECTS.iter().map(|dialect| dialect.rules);
    let mut rules: Vec<&'static Rule> = own.into_iter().chain(dialects).flatten().copied().collect();
    rules.sort_by_key(|rule| rule.name);
    rules
}
