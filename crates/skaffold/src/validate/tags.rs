//! Rules for tags: errors that the original reports when it prepares its taggers.

use super::Check;
use crate::entities::build::TAG_POLICIES;
use crate::item::View;
use crate::{rules, template};
use purlin_syntax::Diagnostic;
use purlin_syntax::what;
use purlin_value::Session;
use std::collections::HashMap;

/// Ways to name a commit.
const VARIANTS: &[&str] = &["", "tags", "commitsha", "abbrevcommitsha", "treesha", "abbrevtreesha", "branches"];

/// Checks the tag policy of one configuration.
pub fn check(check: &Check<'_, '_>, session: &Session) {
    let Some(policy) = check.config.item.view().at(&["build", "tagPolicy"]) else { return };
    if let Some(variant) = policy.at(&["gitCommit", "variant"])
        && !VARIANTS.contains(&variant.text().to_lowercase().as_str())
    {
        let message = what::unknown("variant", variant.text()).and(" of `gitCommit`");
        let span = variant.span().unwrap_or(check.config.span);
        let hint = "use `Tags`, `CommitSha`, `AbbrevCommitSha`, `TreeSha`, `AbbrevTreeSha` or `Branches`";
        check.push(Diagnostic::at(&rules::VALUE, span, message).hint(hint));
    }
    for place in [&["envTemplate", "template"], &["customTemplate", "template"]] {
        let Some(text) = policy.at(place) else { continue };
        template::variables(&text.text()).for_each(|name| drop(session.world.env(name)));
        if let Err(why) = template::parse(&text.text()) {
            check.report(&rules::TEMPLATE, text.span(), why.message);
        }
    }
    if let Some(custom) = policy.get("customTemplate") {
        components(check, custom);
    }
}

/// Components of a template have a name of their own and one way to make their part of the tag.
fn components(check: &Check<'_, '_>, custom: View<'_, '_>) {
    let mut seen: HashMap<String, View<'_, '_>> = HashMap::new();
    for component in custom.get("components").into_iter().flat_map(View::items) {
        let name = component.text_of("name").into_owned();
        if component.get("customTemplate").is_some() {
            let message = format!("component `{name}` is a `customTemplate`, which cannot be nested");
            check.report(&rules::VALUE, component.get("customTemplate").and_then(View::span), message);
        } else if TAG_POLICIES.iter().all(|row| component.get(row.key).is_none()) {
            let message = format!("component `{name}` has no tag policy");
            let span = component.span().unwrap_or(check.config.span);
            check.push(Diagnostic::at(&rules::VALUE, span, message).hint("add one, for example `sha256: {}`"));
        }
        let span = component.get("name").and_then(View::span).or(component.span());
        if let Some(first) = seen.insert(name.clone(), component) {
            let message = what::duplicate("component", name);
            let mut diagnostic = Diagnostic::at(&rules::VALUE, span.unwrap_or(check.config.span), message);
            if let Some(first) = first.get("name").and_then(View::span) {
                diagnostic = diagnostic.label(first, "the first one is here");
            }
            check.push(diagnostic);
        }
    }
}
