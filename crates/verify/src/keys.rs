//! Reads mappings of test files: each key once, with its type, and reports unknown keys.

use purlin_compiler::rules::{TEST_KEY, TEST_SUITE};
use purlin_syntax::{Diagnostic, Kind, MergeKeys, Node, Scalar, Span, suggest, what};
use purlin_value::{Value, value_of};

/// Problems found while reading a file.
#[derive(Default, Debug)]
pub(crate) struct Problems(pub(crate) Vec<Diagnostic>);

impl Problems {
    pub(crate) fn wrong(&mut self, node: Node<'_>, expected: &str) {
        let found = found(node);
        self.0.push(Diagnostic::at(&TEST_SUITE, node.span(), what::expected(expected, found)));
    }

    pub(crate) fn say(&mut self, span: Span, message: impl Into<purlin_syntax::Message>, hint: &str) {
        let found = Diagnostic::at(&TEST_SUITE, span, message);
        self.0.push(if hint.is_empty() { found } else { found.hint(hint) });
    }
}

fn found(node: Node<'_>) -> &'static str {
    match (node.kind(), node.scalar()) {
        (Kind::Map, _) => "a mapping",
        (Kind::List, _) => "a list",
        (_, Scalar::Null) => "null",
        (_, Scalar::Bool(_)) => "a boolean",
        (_, Scalar::Int(_) | Scalar::BigInt) => "an integer",
        (_, Scalar::Float(_)) => "a number",
        _ => "a string",
    }
}

/// A mapping that is read key by key.
pub(crate) struct Keys<'t> {
    node: Option<Node<'t>>,
    known: Vec<&'static str>,
    /// Whether the case of letters in keys does not matter.
    any_case: bool,
}

impl<'t> Keys<'t> {
    /// The keys of a node; none if it is null, and a problem for any other kind of value.
    pub(crate) fn of(node: Node<'t>, problems: &mut Problems) -> Self {
        let node = node.target();
        let is_empty = node.is_scalar() && node.is_null();
        if !node.is_map() && !is_empty {
            problems.wrong(node, "a mapping");
        }
        Keys { node: node.is_map().then_some(node), known: Vec::new(), any_case: false }
    }

    /// The same where the case of letters does not matter.
    pub(crate) fn in_any_case(self) -> Self {
        Keys { any_case: true, ..self }
    }

    pub(crate) fn get(&mut self, key: &'static str) -> Option<Node<'t>> {
        self.known.push(key);
        let any_case = self.any_case;
        let is_key = |name: &str| name == key || any_case && name.eq_ignore_ascii_case(key);
        let entry = self.node?.merged_entries(MergeKeys::Apply).find(|entry| is_key(entry.name()))?;
        Some(entry.value.target())
    }

    fn set(&mut self, key: &'static str) -> Option<Node<'t>> {
        self.get(key).filter(|node| !(node.is_scalar() && node.is_null()))
    }

    /// A text; numbers count as written.
    pub(crate) fn text(&mut self, key: &'static str, problems: &mut Problems) -> Option<String> {
        let node = self.set(key)?;
        if !node.is_scalar() {
            problems.wrong(node, "a string");
            return None;
        }
        Some(node.text().to_owned())
    }

    pub(crate) fn truth(&mut self, key: &'static str, problems: &mut Problems) -> Option<bool> {
        let node = self.set(key)?;
        let truth = node.as_bool();
        if truth.is_none() {
            problems.wrong(node, "a boolean");
        }
        truth
    }

    pub(crate) fn number(&mut self, key: &'static str, problems: &mut Problems) -> Option<i64> {
        let node = self.set(key)?;
        let number = node.as_int();
        if number.is_none() {
            problems.wrong(node, "an integer");
        }
        number
    }

    /// The texts of a list, each with its location.
    pub(crate) fn texts(&mut self, key: &'static str, problems: &mut Problems) -> Option<Vec<(String, Span)>> {
        let node = self.set(key)?;
        if !node.is_list() {
            problems.wrong(node, "a list of strings");
            return None;
        }
        let mut texts = Vec::new();
        for item in node.items().map(Node::target) {
            match item.is_scalar() {
                true => texts.push((item.text().to_owned(), item.span())),
                false => problems.wrong(item, "a string"),
            }
        }
        Some(texts)
    }

    /// Any value.
    pub(crate) fn value(&mut self, key: &'static str) -> Option<Value> {
        self.get(key).map(|node| value_of(node, MergeKeys::Apply))
    }

    /// The items of a list.
    pub(crate) fn items(&mut self, key: &'static str, problems: &mut Problems) -> Vec<Node<'t>> {
        let Some(node) = self.set(key) else { return Vec::new() };
        if !node.is_list() {
            problems.wrong(node, "a list");
        }
        node.items().map(Node::target).collect()
    }

    /// The entries of a mapping: key, location of the key, value.
    pub(crate) fn entries(&mut self, key: &'static str, problems: &mut Problems) -> Vec<(String, Span, Node<'t>)> {
        let Some(node) = self.set(key) else { return Vec::new() };
        if !node.is_map() {
            problems.wrong(node, "a mapping");
            return Vec::new();
        }
        let entries = node.merged_entries(MergeKeys::Apply);
        entries.map(|entry| (entry.name().to_owned(), entry.key.span(), entry.value.target())).collect()
    }

    /// A mapping inside.
    pub(crate) fn inner(&mut self, key: &'static str, problems: &mut Problems) -> Option<Keys<'t>> {
        self.set(key).map(|node| Keys::of(node, problems))
    }

    /// Reports keys that were not read as unknown.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for (name, span) in self.unread() {
            let hint = suggest::did_you_mean(&name, self.known.iter().copied());
            let mut found = Diagnostic::at(&TEST_KEY, span, what::unknown("key", name)).maybe_hint(hint);
            if found.hints.is_empty() {
                found = found.hint("remove it");
            }
            problems.0.push(found);
        }
    }

    /// Keys that were not read.
    pub(crate) fn unread(&self) -> Vec<(String, Span)> {
        let Some(node) = self.node else { return Vec::new() };
        let any_case = self.any_case;
        let is_known =
            |name: &str| self.known.iter().any(|known| *known == name || any_case && known.eq_ignore_ascii_case(name));
        let entries = node.merged_entries(MergeKeys::Apply);
        entries.filter(|entry| !is_known(entry.name())).map(|e| (e.name().to_owned(), e.key.span())).collect()
    }
}
