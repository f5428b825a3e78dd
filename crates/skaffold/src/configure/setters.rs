//! Values for fields with a template in their comment: `image: nginx:1.0 # from-param: ${image}:${tag}`.
//!
//! Implements `render --set` and `--set-value-file`. Works on one document of a file and does not know the source of
//! its values.

use crate::rules;
use purlin_syntax::tree::Comment;
use purlin_syntax::{Diagnostic, Node, Span, Style, Tree};
use purlin_value::{MergeKeys, Session, Value, value_of};
use regex::RegexBuilder;
use std::collections::BTreeMap;

/// Start of a comment with the template of a field.
const MARK: &str = "# from-param: ";

/// The largest pattern that is compiled to take a field apart.
const PATTERN_BYTES: usize = 1 << 20;

/// Values by name.
pub type Setters = BTreeMap<String, String>;

/// A document with the values inserted. Values that cannot be inserted are reported.
pub fn apply(session: &Session, root: Node<'_>, setters: &Setters) -> Value {
    let value = value_of(root, MergeKeys::Apply);
    if setters.is_empty() {
        return value;
    }
    Fields { session, tree: root.tree(), setters }.filled(root, None, value)
}

struct Fields<'a> {
    session: &'a Session,
    tree: &'a Tree,
    setters: &'a Setters,
}

impl Fields<'_> {
    /// A value with insertions below it. `key` is the end of its key.
    fn filled(&self, node: Node<'_>, key: Option<Span>, value: Value) -> Value {
        if node.is_alias() {
            return value;
        }
        if let Some(map) = value.as_map().filter(|_| node.is_map()) {
            let mut map = map.clone();
            for entry in node.entries().filter(|entry| !entry.key.is_merge_key()) {
                if let Some(old) = map.get(entry.key.text()).cloned() {
                    map.insert(entry.key.eco_text(), self.filled(entry.value, Some(entry.key.span()), old));
                }
            }
            return value.clone().with(map.into());
        }
        if let Some(list) = value.as_list().filter(|_| node.is_list()) {
            let behind_key = if node.style() == Style::Flow { Some(node.span()) } else { key };
            if let Some(pattern) = behind_key.and_then(|span| self.pattern(span)) {
                return self.list(node, pattern).unwrap_or(value);
            }
            let items = node.items().zip(list.iter().cloned());
            let items: Vec<Value> = items.map(|(item, old)| self.filled(item, None, old)).collect();
            return value.clone().with(Value::list(items).data.clone());
        }
        match self.pattern(node.span()).filter(|_| node.is_scalar() && node.span().end > node.span().start) {
            Some(pattern) => self.scalar(node, pattern).unwrap_or(value),
            None => value,
        }
    }

    /// The template in the comment behind a location, if one of its names has a value.
    fn pattern(&self, behind: Span) -> Option<&str> {
        let comments: &[Comment] = self.tree.comments();
        let first = comments.partition_point(|comment| comment.span.start < behind.end);
        let comment = comments.get(first).filter(|comment| comment.trailing)?;
        let between = self.tree.source().slice(Span::new(behind.file, behind.end, comment.span.start));
        if !between.chars().all(|c| matches!(c, ' ' | '\t' | ':')) {
            return None;
        }
        let pattern = self.tree.source().slice(comment.span).strip_prefix(MARK)?.trim();
        names(pattern).any(|name| self.setters.contains_key(name)).then_some(pattern)
    }

    fn scalar(&self, node: Node<'_>, pattern: &str) -> Option<Value> {
        let kept = current(pattern, node.text());
        let mut text = pattern.to_owned();
        for name in names(pattern) {
            let value = self.setters.get(name).or_else(|| kept.get(name));
            let Some(value) = value else {
                let message = format!("`{name}` of `{pattern}` has no value");
                let hint = format!("add `--set {name}=VALUE`");
                self.refuse(node, message, hint);
                return None;
            };
            text = text.replace(&format!("${{{name}}}"), value);
        }
        let origin = self.origin(pattern);
        if node.style() != Style::Plain || text.is_empty() {
            return Some(Value::str(text).with_origin(origin));
        }
        Some(
            self.parsed(&text)
                .filter(|value| value.as_map().is_none())
                .unwrap_or_else(|| Value::str(text))
                .with_origin(origin),
        )
    }

    fn list(&self, node: Node<'_>, pattern: &str) -> Option<Value> {
        let name =
            pattern.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|name| !name.contains('}'));
        let Some(name) = name else {
            let message = format!("`{pattern}` cannot be the value of a list");
            self.refuse(node, message, "name one setter, such as `${names}`".to_owned());
            return None;
        };
        let text = self.setters.get(name)?;
        let origin = self.origin(pattern);
        if text.is_empty() {
            return Some(Value::list(Vec::new()).with_origin(origin));
        }
        let value = self.parsed(text).filter(|value| value.as_list().is_some());
        if value.is_none() {
            let message = format!("`{name}`: expected a list, found `{text}`");
            self.refuse(node, message, format!("write `--set '\"{name}=[a, b]\"'`"));
        }
        value.map(|value| value.with_origin(origin))
    }

    fn parsed(&self, text: &str) -> Option<Value> {
        let source = self.session.sources.insert("--set", text);
        let tree = self.session.load_tree(&source, self.tree.flavor());
        tree.root().filter(|_| tree.is_sound()).map(|root| value_of(root, MergeKeys::Apply))
    }

    fn origin(&self, pattern: &str) -> purlin_value::Origin {
        let given = names(pattern).find(|name| self.setters.contains_key(*name)).unwrap_or_default();
        self.session.origins.flag(format!("--set {given}"))
    }

    fn refuse(&self, node: Node<'_>, message: String, hint: String) {
        self.session.sink.push(Diagnostic::at(&rules::MANIFEST, node.span(), message).hint(hint));
    }
}

/// The names in a pattern such as `${image}:${tag}`.
fn names(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split("${").skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

/// Current values of a pattern's names in the field; empty if one of them is empty or the field does not match.
fn current<'t>(pattern: &'t str, text: &str) -> BTreeMap<&'t str, String> {
    let mut expression = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((_, behind)) = behind.split_once('}') else { break };
        expression.push_str(&regex::escape(before));
        expression.push_str("(.*)");
        rest = behind;
    }
    expression.push_str(&regex::escape(rest));
    let Ok(compiled) = RegexBuilder::new(&expression).size_limit(PATTERN_BYTES).build() else { return BTreeMap::new() };
    let Some(found) = compiled.captures(text) else { return BTreeMap::new() };
    let values = found.iter().skip(1).map(|group| group.map(|group| group.as_str().to_owned()).unwrap_or_default());
    let pairs: Vec<(&str, String)> = names(pattern).zip(values).collect();
    if pairs.iter().any(|(_, value)| value.is_empty()) { BTreeMap::new() } else { pairs.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        let found = current("app.${stage}.${domain}", "app.dev.example.com");
        assert_eq!(found, BTreeMap::from([("stage", "dev.example".to_owned()), ("domain", "com".to_owned())]));
        assert!(current("${a}:${b}", "x:").is_empty());
        assert!(current("${a}:${b}", "x").is_empty());
    }
}
