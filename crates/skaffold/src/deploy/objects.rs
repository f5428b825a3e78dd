//! Obvious errors in a Kubernetes object of a manifest: a key that every object has is missing or misspelt. Its other
//! keys are checked by the cluster.

use crate::rules;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Node, suggest};

/// Keys at the root of objects. The first two must be there.
const KEYS: &[&str] = &["apiVersion", "kind", "metadata", "spec"];
const NEEDED: usize = 2;

/// Warns of an object that no cluster would take.
pub(crate) fn problems(root: Node<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> =
        KEYS.iter().enumerate().filter_map(|(at, key)| missing(root, key, KEYS, at < NEEDED)).collect();
    let metadata = root.get("metadata").filter(|node| node.is_map());
    found.extend(metadata.and_then(|node| missing(node, "name", &["name", "namespace", "labels"], false)));
    found
}

/// A key that is missing, or not a string. An optional one is reported only if it is misspelt.
fn missing(node: Node<'_>, key: &str, known: &[&str], is_needed: bool) -> Option<Diagnostic> {
    if let Some(value) = node.get(key) {
        let message = what::must_be(format!("`{key}` of a Kubernetes object"), "a string");
        let is_wrong = is_needed && !value.is_scalar() && !value.is_alias();
        return is_wrong.then(|| warning(value, message).hint("write a string"));
    }
    let is_it = |written: &str| !known.contains(&written) && suggest::nearest(written, [key]).is_some();
    let misspelt = node.entries().map(|entry| entry.key).find(|written| is_it(written.text()));
    let place = misspelt.or_else(|| node.entries().next().map(|entry| entry.key).filter(|_| is_needed))?;
    let hint = match misspelt {
        Some(written) => Hint::meant(written.text(), key),
        None => format!("add `{key}:`").into(),
    };
    Some(warning(place, format!("a Kubernetes object has no `{key}`")).hint(hint))
}

fn warning(node: Node<'_>, message: impl Into<Message>) -> Diagnostic {
    Diagnostic::at(&rules::MANIFEST, node.span(), message).warning()
}
