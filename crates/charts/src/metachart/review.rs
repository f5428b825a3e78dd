//! Checks `config/resources.yaml` and `config/schema.yaml` against their keys. The original ignores unknown keys, so
//! that a misspelt key makes objects without a kind. Does not know definitions and values.

use purlin_model::check::describe_node;
use purlin_model::rules::{MISSING_KEY, UNKNOWN_KEY, WRONG_SHAPE};
use purlin_syntax::{Diagnostic, Flavor, Hint, Node, Tree, suggest};
use purlin_value::{Session, path};

use super::kinds::LIBRARY;
use crate::chart::Chart;
use crate::metadata::duplicates;
use purlin_syntax::what;

/// The key whose value is merged into its mapping.
const MERGE: &str = "<<";

/// Content of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Switch,
    Texts,
    TextMap,
}

impl Holds {
    fn fits(self, value: Node<'_>) -> bool {
        let is_text = |value: Node<'_>| value.is_null() || value.is_scalar();
        match self {
            Holds::Text => value.is_scalar(),
            Holds::Switch => value.as_bool().is_some(),
            Holds::Texts => value.is_list() && value.items().all(|item| is_text(item.target())),
            Holds::TextMap => {
                let mut entries = value.entries().filter(|entry| entry.name() != MERGE);
                value.is_map() && entries.all(|entry| is_text(entry.value.target()))
            }
        }
    }

    fn name(self) -> (&'static str, &'static str) {
        match self {
            Holds::Text => ("a string", "write one value"),
            Holds::Switch => ("a boolean", "write `true` or `false`, without quotes"),
            Holds::Texts => ("a list of strings", "start each item with `- `"),
            Holds::TextMap => ("a mapping from names to strings", "write `name: value` lines below it"),
        }
    }
}

/// A mapping: its name, its keys, and its required keys.
struct Row {
    what: &'static str,
    keys: &'static [(&'static str, Holds)],
    required: &'static [&'static str],
}

const KIND: Row = Row {
    what: "a kind",
    keys: &[
        ("apiVersion", Holds::Text),
        ("kind", Holds::Text),
        ("jsonSchemaRef", Holds::Text),
        ("template", Holds::Switch),
        ("root", Holds::Switch),
        ("defaults", Holds::Switch),
    ],
    required: &["apiVersion", "kind"],
};

/// A kind that is not rendered is no object of Kubernetes.
const ONLY_VALUES: Row = Row { required: &[], ..KIND };

const RULE: Row = Row {
    what: "a rule",
    keys: &[
        ("target", Holds::Text),
        ("source", Holds::Text),
        ("allowed", Holds::Texts),
        ("disallowed", Holds::Texts),
        ("required", Holds::Texts),
        ("properties", Holds::TextMap),
        ("related", Holds::TextMap),
    ],
    required: &["target"],
};

/// Reports mistakes in the configuration of a Metachart chart. Returns whether both files can be read.
pub fn review(session: &Session, chart: &Chart) -> bool {
    if !chart.templates.iter().any(|file| file.name == LIBRARY) {
        return true;
    }
    let resources = reviewed(session, chart, "config/resources.yaml", |root, found| {
        let Some(kinds) = section(root, "resources", &["resources"], found) else { return };
        if let Some(problem) = misfit(kinds, kinds.is_map(), "`resources`", "a mapping", "write `name:` lines below it")
        {
            return found.push(problem);
        }
        for entry in kinds.entries().filter(|entry| entry.name() != MERGE) {
            let is_rendered = get(entry.value.target(), "template").and_then(Node::as_bool) != Some(false);
            let row = if is_rendered { &KIND } else { &ONLY_VALUES };
            row.check(entry.value, entry.key, &format!("`{}`", entry.name()), found);
        }
    });
    let schema = reviewed(session, chart, "config/schema.yaml", |root, found| {
        let top = ["definitions", "rules"];
        for name in top {
            let Some(list) = section(root, name, &top, found) else { continue };
            let hint = "start each item with `- `";
            if let Some(problem) = misfit(list, list.is_list(), &format!("`{name}`"), "a list", hint) {
                found.push(problem);
                continue;
            }
            for item in list.items() {
                let target = item.target();
                if name == "rules" {
                    RULE.check(item, item, "a rule", found);
                } else {
                    let hint = "write the path or address of a file";
                    found.extend(misfit(target, target.is_scalar(), "an item of `definitions`", "a string", hint));
                }
            }
        }
    });
    resources && schema
}

/// Parses a file and reports its problems. Returns false if it cannot be parsed.
fn reviewed(session: &Session, chart: &Chart, name: &str, check: impl FnOnce(Node<'_>, &mut Vec<Diagnostic>)) -> bool {
    let place = path::join(&chart.folder, name);
    let Ok(text) = session.load_text(&place, &place) else { return true };
    let tree = session.load_tree(&text.source, Flavor::Go);
    if !tree.is_sound() {
        session.sink.extend(tree.diagnostics().iter().cloned());
        return false;
    }
    session.sink.extend(found_in(&tree, check));
    true
}

fn found_in(tree: &Tree, check: impl FnOnce(Node<'_>, &mut Vec<Diagnostic>)) -> Vec<Diagnostic> {
    let mut found = duplicates(tree);
    if let Some(root) = tree.roots().next().filter(|root| root.is_map()) {
        check(root, &mut found);
    }
    found
}

/// The value of a key at the top. Other keys there may hold anchors; one that is nearly called so is misspelt.
fn section<'t>(root: Node<'t>, name: &str, top: &[&str], found: &mut Vec<Diagnostic>) -> Option<Node<'t>> {
    let value = get(root, name).filter(|value| !value.is_null());
    if value.is_none() {
        let is_other = |key: &str| !top.iter().any(|known| known.eq_ignore_ascii_case(key));
        let meant =
            root.entries().find(|entry| is_other(entry.name()) && suggest::nearest(entry.name(), [name]).is_some());
        found.extend(meant.map(|entry| {
            let message = what::unknown("key", entry.name());
            Diagnostic::at(&UNKNOWN_KEY, entry.key.span(), message).hint(Hint::meant(entry.name(), name))
        }));
    }
    value
}

/// The value under a key, ignoring case, as in the original.
fn get<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    node.entries().find(|entry| entry.name().eq_ignore_ascii_case(key)).map(|entry| entry.value.target())
}

fn misfit(value: Node<'_>, fits: bool, what: &str, wanted: &str, hint: &'static str) -> Option<Diagnostic> {
    let message = || what::expected(wanted, describe_node(value)).under(format!("{what}: "));
    (!fits).then(|| Diagnostic::at(&WRONG_SHAPE, value.span(), message()).hint(hint))
}

impl Row {
    fn check(&self, node: Node<'_>, owner: Node<'_>, what: &str, found: &mut Vec<Diagnostic>) {
        let node = node.target();
        if !node.is_map() {
            return found.extend(misfit(node, false, what, "a mapping", "write `key: value` lines below it"));
        }
        for entry in node.entries().filter(|entry| entry.name() != MERGE) {
            let known = self.keys.iter().find(|(key, _)| key.eq_ignore_ascii_case(entry.name()));
            match known {
                Some((key, holds)) => {
                    let value = entry.value.target();
                    let (wanted, hint) = holds.name();
                    let what = format!("`{key}` of {what}");
                    found.extend(misfit(value, value.is_null() || holds.fits(value), &what, wanted, hint));
                }
                None => found.push(self.unknown(node, entry.name(), entry.key)),
            }
        }
        // Merged mappings are not checked here.
        if node.entries().any(|entry| entry.name() == MERGE) {
            return;
        }
        for key in self.required.iter().filter(|key| get(node, key).is_none_or(Node::is_null)) {
            let message = what::missing("key", key).and(format!(" in {what}"));
            found.push(Diagnostic::at(&MISSING_KEY, owner.span(), message).hint(format!("add `{key}:`")));
        }
    }

    /// A misspelling of a missing key breaks the chart; other unknown keys are ignored.
    fn unknown(&self, node: Node<'_>, name: &str, key: Node<'_>) -> Diagnostic {
        let absent = self.keys.iter().map(|(key, _)| *key).filter(|key| get(node, key).is_none());
        let message = what::unknown("key", name).and(format!(" in {}", self.what));
        match suggest::did_you_mean(name, absent) {
            Some(hint) => Diagnostic::at(&UNKNOWN_KEY, key.span(), message).hint(hint),
            None => Diagnostic::at(&UNKNOWN_KEY, key.span(), format!("{message}, which Metachart ignores")).warning(),
        }
    }
}
