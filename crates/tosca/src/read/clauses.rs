//! Clauses, mappings and values by name.

use super::{Reader, noun};
use crate::clause;
use crate::edition::{self, Standard};
use crate::entity::Content;
use crate::quirks;
use crate::rules;
use crate::val::{self, Data, Text, Val, merged_entries};
use purlin_syntax::what;
use purlin_syntax::{Node, Span};
use std::sync::Arc;

impl Reader<'_> {
    pub(super) fn constraints(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_list(key, at, node)?;
        let mut out = Vec::new();
        for item in node.items() {
            let value = self.value(item);
            match clause::check_constraint(&value, self.edition, &self.own.constraints) {
                Ok(()) => out.push(value),
                Err(reason) => self.problems.at(&rules::MALFORMED, item.span(), reason),
            }
        }
        Some(Content::Clauses(Arc::new(out)))
    }

    pub(super) fn validation(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let value = self.value(node);
        match clause::check_validation(&value) {
            Ok(()) => Some(Content::Clauses(Arc::new(vec![value]))),
            Err(reason) => {
                self.problems.at(
                    &rules::MALFORMED,
                    at,
                    what::must_be(format!("`{key}`"), "a call of a function that gives true or false")
                        .and(format!(": {reason}")),
                );
                None
            }
        }
    }

    pub(super) fn condition(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if self.edition.is_2() {
            return self.validation(key, at, node);
        }
        let value = self.value(node);
        if let Err((span, reason)) = clause::check_condition(&value, self.edition, &self.own.constraints) {
            self.problems.at(&rules::MALFORMED, span.unwrap_or(at), reason);
            return None;
        }
        Some(Content::Clauses(Arc::new(vec![value])))
    }

    pub(super) fn property_filters(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let mut out = Vec::new();
        for (name, at, value) in self.one_key_maps(key, at, node)? {
            let mut value = self.value(value);
            if self.allows(quirks::FILTER_VALUES) && is_plain(&value) {
                let equal = Val::str("equal", value.span);
                value = value.with(Data::Map(Arc::new(vec![(equal, value.clone())])));
            }
            let clauses: &[Val] =
                if let Data::List(items) = &value.data { items } else { std::slice::from_ref(&value) };
            for clause in clauses {
                if let Err(reason) = clause::check_constraint(clause, self.edition, &self.own.constraints) {
                    self.problems.at(&rules::MALFORMED, at, reason);
                }
            }
            out.push((Text { text: name, span: at }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    pub(super) fn activities(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_list(key, at, node)?;
        for item in node.items() {
            if let Err(reason) = clause::check_activity(&val::read(item, self.edition), self.edition) {
                self.problems.at(&rules::MALFORMED, item.span(), reason);
            }
        }
        Some(Content::Value(self.value(node)))
    }

    pub(super) fn output_mappings(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        self.expect_map(key, at, node)?;
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            let Some(_) = self.key(entry.key) else { continue };
            let value = self.value(entry.value);
            let fits = value.items().len() >= 2 || self.edition.is_2() || self.edition.is_extended();
            if !fits || (!self.edition.is_2() && !value.items().iter().all(|item| item.as_str().is_some())) {
                let message = format!("`{}` must be mapped to a list such as `[SELF, attribute]`", entry.name());
                self.problems.at(&rules::MALFORMED, entry.key.span(), message);
                continue;
            }
            out.push((Text { text: entry.key.eco_text(), span: entry.key.span() }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    /// Mappings of a substitution; keys may be lists in TOSCA 2.0, so they stay plain values.
    pub(super) fn mappings(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let listed = key == "requirements" && (self.edition.is_2() || self.allows(quirks::SUBSTITUTION_LIST));
        let mut out = Vec::new();
        if node.is_map() {
            for entry in merged_entries(node) {
                let nothing = entry.value.is_list() && entry.value.items().next().is_none();
                if !(nothing && self.allows(quirks::EMPTY_PERMISSIVE)) {
                    out.push((val::read(entry.key, edition::V1_0), self.value(entry.value)));
                }
            }
        } else if node.is_list() && listed {
            for item in node.items() {
                let entries = merged_entries(item);
                let [entry] = entries.as_slice() else {
                    self.problems.at(
                        &rules::MALFORMED,
                        item.span(),
                        "each mapped requirement must be a map with one key",
                    );
                    continue;
                };
                out.push((val::read(entry.key, edition::V1_0), self.value(entry.value)));
            }
        } else {
            self.wrong_key(at, key, noun(node), if listed { "a list" } else { "a mapping" });
            return None;
        }
        Some(Content::Value(Val::new(Data::Map(Arc::new(out)), node.span())))
    }

    pub(super) fn values(&mut self, key: &str, at: Span, node: Node<'_>, long_form: bool) -> Option<Content> {
        if self.edition.is_extended() && node.is_list() {
            return self.named_values(key, at, node);
        }
        self.expect_map(key, at, node)?;
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            if self.key(entry.key).is_none() {
                continue;
            }
            let mut value = self.value(entry.value);
            if long_form {
                value = self.long_attribute(value);
            }
            out.push((Text { text: entry.key.eco_text(), span: entry.key.span() }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    /// The value of an attribute that is written as `{description, value}`.
    pub(super) fn long_attribute(&self, value: Val) -> Val {
        let described = value.get("description").is_some();
        match value.entries() {
            [_, _] if described => value.get("value").cloned().unwrap_or(value),
            [_] if described && self.edition.is_2() => value.with(Data::Null),
            _ => value,
        }
    }
}

/// Whether a value is literal, rather than a condition on another one.
fn is_plain(value: &Val) -> bool {
    matches!(value.data, Data::Str(_) | Data::Int(_) | Data::Float(_) | Data::Bool(_))
}
