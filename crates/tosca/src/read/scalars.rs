//! Scalars, lists of texts, metadata, ranges and multipliers.

use super::{Reader, noun, parse_range};
use crate::edition::{self, Standard};
use crate::entity::{Content, Range};
use crate::quirks;
use crate::rules;
use crate::val::{self, Data, Text, merged_entries};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span};
use std::sync::Arc;

impl Reader<'_> {
    pub(super) fn text(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Text> {
        if node.is_scalar()
            && let Data::Str(text) = val::scalar_data(node)
        {
            return Some(Text { text, span: node.span() });
        }
        let message = what::expected("a string", noun(node)).under(format!("`{key}`: "));
        let call = node.is_map() && val::read(node, self.edition).is_call();
        let hint = call.then(|| "functions can only be used in values, such as those of properties".to_owned());
        self.problems.push(Diagnostic::at(&rules::WRONG_SHAPE, at, message).maybe_hint(hint));
        None
    }

    pub(super) fn bool(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<bool> {
        if let Some(found) = node.as_bool() {
            return Some(found);
        }
        let meant = old_boolean(node);
        match meant.filter(|_| self.allows(quirks::BOOLEAN_PERMISSIVE)) {
            Some(meant) => {
                let message = format!("`{}` is a text in YAML 1.2; it is read as `{meant}`", node.text());
                let diagnostic = Diagnostic::at(&rules::WRONG_SHAPE, node.span(), message).warning();
                self.problems.push(diagnostic.hint(format!("write `{key}: {meant}`")));
                Some(meant)
            }
            None => {
                let message = what::expected("a boolean", noun(node)).under(format!("`{key}`: "));
                let hint = meant.map(|meant| format!("`{}` is a text in YAML 1.2; write `{meant}`", node.text()));
                self.problems.push(Diagnostic::at(&rules::WRONG_SHAPE, at, message).maybe_hint(hint));
                None
            }
        }
    }

    pub(super) fn int(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<i64> {
        let found = node.as_int();
        if found.is_none() {
            self.wrong_key(at, key, noun(node), "an integer");
        }
        found
    }

    pub(super) fn texts(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_list(key, at, node)?;
        let texts = node.items().filter_map(|item| self.text(key, item.span(), item)).collect();
        Some(Content::Texts(Arc::new(texts)))
    }

    pub(super) fn metadata(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_map(key, at, node)?;
        for entry in merged_entries(node) {
            self.key(entry.key);
            let plain = val::scalar_data(entry.value);
            let is_text = entry.value.is_scalar() && matches!(plain, Data::Str(_));
            let fits = match self.edition.is_2() {
                // TOSCA 2.0 lets metadata be any value, but names and authors are texts where they are scalars.
                true => {
                    let named = matches!(entry.name(), "template_name" | "template_author");
                    !entry.value.is_null() && (is_text || !named || !entry.value.is_scalar())
                }
                // A host may keep expressions there.
                false => {
                    let any = self.allows(quirks::METADATA_PERMISSIVE);
                    is_text || any || self.host.is_some() || self.quirks.has(quirks::STRING_PERMISSIVE)
                }
            };
            if !fits {
                self.wrong_key(entry.key.span(), entry.name(), noun(entry.value), "a string");
            }
        }
        // Calls have no meaning in metadata, so it is read as in TOSCA 1.0, where few names are functions.
        Some(Content::Value(val::read(node, edition::V1_0)))
    }

    pub(super) fn aliases(&mut self, key: &str, at: Span, node: Node<'_>) {
        if self.quirks.allow_any_definitions(self.edition) {
            return;
        }
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a mapping");
        }
        for entry in node.entries() {
            if entry.value.is_scalar() && entry.value.anchor().is_none() {
                let message =
                    format!("`{}` in `dsl_definitions` can never be used, since it has no anchor", entry.name());
                self.problems.push(
                    Diagnostic::at(&rules::WRONG_SHAPE, entry.key.span(), message)
                        .hint("give it an anchor, such as `&name`, and refer to it as `*name`"),
                );
            }
        }
    }

    pub(super) fn range(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Range> {
        let value = val::read(node, self.edition);
        match parse_range(&value) {
            Ok(range) => Some(range),
            Err(reason) => {
                self.problems.at(
                    &rules::MALFORMED,
                    at,
                    what::expected_only("a range such as `[1, 4]` or `[0, UNBOUNDED]`")
                        .under(format!("`{key}`: "))
                        .and(format!(": {reason}")),
                );
                None
            }
        }
    }

    pub(super) fn multipliers(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_map(key, at, node)?;
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            let name = Text { text: entry.key.eco_text(), span: entry.key.span() };
            let value = val::read(entry.value, self.edition);
            if matches!(value.data, Data::Int(_) | Data::Float(_)) {
                out.push((name, value));
            } else {
                self.wrong_key(entry.key.span(), entry.name(), value.noun(), "a number");
            }
        }
        Some(Content::Values(Arc::new(out)))
    }
}

/// The boolean of YAML 1.1 behind a word that YAML 1.2 reads as a string.
fn old_boolean(node: Node<'_>) -> Option<bool> {
    match node.as_str()?.to_ascii_lowercase().as_str() {
        "yes" | "y" | "on" | "true" => Some(true),
        "no" | "n" | "off" | "false" => Some(false),
        _ => None,
    }
}
