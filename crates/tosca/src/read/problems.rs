//! Problems of keys that are unknown, missing or misplaced.

use super::{Reader, noun};
use crate::edition::{Edition, Standard};
use crate::entities;
use crate::entity::Entity;
use crate::rules;
use crate::val::{self, Data};
use ecow::eco_format;
use purlin_model::check::{known_elsewhere, with_article};
use purlin_model::schema::{Entity as Row, Field, Merge};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span};

impl Reader<'_> {
    /// The text of a key that must be a string.
    pub(super) fn key<'t>(&mut self, node: Node<'t>) -> Option<&'t str> {
        if let Some(text) = val::as_text(node) {
            return Some(text);
        }
        let message = what::expected("a string", noun(node)).under("this key: ");
        self.problems.push(Diagnostic::at(&rules::WRONG_SHAPE, node.span(), message).hint("put it in quotes"));
        None
    }

    pub(super) fn unknown_key(&mut self, row: &'static Row, key: &str, at: Span) {
        let label = with_article(row.label);
        let skipped = entities::skips_unknown(row.kind, self.edition);
        let mut diagnostic = Diagnostic::at(
            &rules::UNKNOWN_KEY,
            at,
            what::unknown("key", key).and(format!(" in {label} (TOSCA {})", self.edition.number())),
        );
        let elsewhere = known_elsewhere(&entities::SCHEMA, row, self.edition, key);
        let operations =
            || row.rest.as_ref().map(|_| "operations are written under `operations` since TOSCA 1.3".into());
        diagnostic = diagnostic.maybe_hint(elsewhere.or_else(operations));
        if skipped {
            diagnostic = diagnostic.warning();
        }
        self.problems.push(diagnostic);
    }

    pub(super) fn missing_keys(&mut self, row: &'static Row, entity: &Entity, present: &[&str]) {
        if entity.slot("copy").is_some() {
            return; // what is copied is not known yet
        }
        for field in row.all_fields().filter(|field| is_needed(field, self.edition)) {
            // A key that is there but broken was reported already.
            let written = entity.slot(field.slot).is_some() || present.contains(&field.slot);
            if !written {
                let what = if entity.name.is_empty() {
                    eco_format!("this {}", row.label)
                } else {
                    eco_format!("`{}`", entity.name)
                };
                let beyond = if row.kind == entities::FILE {
                    eco_format!("{}", field.key)
                } else {
                    eco_format!(".{}", field.key)
                };
                self.problems.beyond(&rules::MISSING_KEY, entity.at, beyond, what::needed(what, field.key));
            }
        }
    }

    /// The few rules about one entity that no column can express.
    pub(super) fn check(&mut self, entity: &Entity) {
        match entity.kind {
            entities::NODE_TEMPLATE => {
                let reserved: &[&str] = if self.edition.is_2() {
                    &["SELF", "SOURCE", "TARGET"]
                } else {
                    &["SELF", "SOURCE", "TARGET", "HOST"]
                };
                if reserved.contains(&entity.name.as_str()) {
                    let message =
                        format!("a node template cannot be called `{}`; functions use that name", entity.name);
                    self.problems.at(&rules::RESERVED, entity.at, message);
                }
            }
            entities::IMPORT if self.edition.is_2() => self.check_import(entity),
            entities::IMPLEMENTATION => {
                let needed = entity.value("dependencies");
                if let Some(value) = needed.filter(|value| !matches!(value.data, Data::List(_)) && !value.is_call()) {
                    self.wrong_key(entity.place("dependencies"), "dependencies", value.noun(), "a list");
                }
            }
            entities::FILE
                if self.edition.is_2()
                    && entity.slot("profile").is_some()
                    && entity.slot("service_template").is_some() =>
            {
                let message = "a file that defines a profile cannot have a service template";
                self.problems.at(&rules::UNKNOWN_KEY, entity.place("service_template"), message);
            }
            _ => {}
        }
    }

    pub(super) fn check_import(&mut self, entity: &Entity) {
        match (entity.slot("url").is_some(), entity.slot("profile").is_some()) {
            (true, true) => {
                self.problems.at(&rules::MALFORMED, entity.at, "an import has either `url` or `profile`, not both")
            }
            (false, false) => self.problems.beyond(
                &rules::MISSING_KEY,
                entity.at,
                ".url",
                what::missing_names("key", ["url", "profile"], true).words("an import needs `url` or `profile`"),
            ),
            (false, true) if entity.slot("repository").is_some() => {
                self.problems.at(
                    &rules::MALFORMED,
                    entity.place("repository"),
                    "`repository` goes with `url`, not with `profile`",
                );
            }
            _ => {}
        }
    }

    pub(crate) fn wrong_key(&mut self, at: Span, key: &str, found: &str, wanted: &str) {
        self.wrong(at, &eco_format!("`{key}`"), found, wanted);
    }

    /// None if the value of a key is not a list, which is reported.
    pub(super) fn expect_list(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<()> {
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list");
        }
        node.is_list().then_some(())
    }

    /// The same for a mapping.
    pub(super) fn expect_map(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<()> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a mapping");
        }
        node.is_map().then_some(())
    }

    pub(super) fn wrong(&mut self, at: Span, what: &str, found: &str, wanted: &str) {
        self.problems.at(&rules::WRONG_SHAPE, at, what::expected(wanted, found).under(format!("{what}: ")));
    }
}

/// Whether a key is required in the source; inherited keys are checked after inheritance.
fn is_needed(field: &Field, edition: Edition) -> bool {
    field.is_required(edition) && matches!(field.merge, Merge::Own) && field.window.has(edition)
}
