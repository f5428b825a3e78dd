//! Variables of environments that are probably misspelt: they are there once, are not used in the project's file, and are
//! nearly called like a variable that the environment should have. Garden takes them for others in silence.

use crate::config::Document;
use crate::ground::Ground;
use crate::place::NodeRef;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Node};

/// Shorter names differ by a letter and mean something else.
const SHORTEST: usize = 5;
/// So many names of an environment are compared; nobody writes more of them by hand.
const MOST_NAMES: usize = 200;

pub(crate) fn report(ground: &Ground<'_>, document: &Document, environments: &[(EcoString, NodeRef)]) {
    let project = document.field("variables");
    let of_project: Vec<&str> = project.as_ref().and_then(NodeRef::get).map(names).unwrap_or_default();
    let of_each: Vec<Vec<(&str, Node<'_>)>> = environments.iter().map(|(_, node)| variables(node)).collect();
    for (at, own) in of_each.iter().enumerate() {
        let others: Vec<&Vec<(&str, Node<'_>)>> =
            of_each.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, list)| list).collect();
        let has = |list: &[(&str, Node<'_>)], name: &str| list.iter().any(|(known, _)| *known == name);
        for (name, key) in own.iter().take(MOST_NAMES) {
            if of_project.contains(name) || others.iter().any(|list| has(list, name)) || is_used(*key, name) {
                continue;
            }
            let expected = |wanted: &str| {
                of_project.contains(&wanted) || (!others.is_empty() && others.iter().all(|list| has(list, wanted)))
            };
            let candidates = of_project.iter().copied().chain(others.iter().flat_map(|list| list.iter().map(|v| v.0)));
            let near =
                candidates.take(MOST_NAMES).find(|other| is_slip(name, other) && expected(other) && !has(own, other));
            let Some(near) = near else { continue };
            // Of two that are each other's slip, the later one is shown.
            if environments.len() == 2 && at == 0 && !of_project.contains(&near) && !is_used(*key, near) {
                continue;
            }
            let environment = environments.get(at).map_or("", |(name, _)| name.as_str());
            let message =
                format!("only the environment `{environment}` has a variable `{name}`, and it has no `{near}`");
            let diagnostic = Diagnostic::at(&rules::NEAR_VARIABLE, key.span(), message);
            ground.session.sink.push(diagnostic.hint(format!("did you mean `{near}`?")));
        }
    }
}

fn names(node: Node<'_>) -> Vec<&str> {
    node.entries().map(|entry| entry.key.text()).collect()
}

fn variables(node: &NodeRef) -> Vec<(&str, Node<'_>)> {
    let variables = node.get().and_then(|node| node.get("variables"));
    variables.map(|list| list.entries().map(|entry| (entry.key.text(), entry.key)).collect()).unwrap_or_default()
}

/// Whether the file of a variable mentions it anywhere else.
fn is_used(key: Node<'_>, name: &str) -> bool {
    key.tree().source().text().matches(name).count() > 1
}

/// Whether a name is another with letters in the wrong order, or with one letter wrong, missing or too much inside it.
fn is_slip(name: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    if a == b || a.len().min(b.len()) < SHORTEST || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count().min(most);
    let (left, right) = (a.get(start..a.len() - end), b.get(start..b.len() - end));
    let inside = start > 0 && end > 0;
    match (left.unwrap_or_default(), right.unwrap_or_default()) {
        ([one], []) | ([], [one]) => inside && one.is_alphabetic(),
        ([one], [other]) => inside && one.is_alphabetic() && other.is_alphabetic(),
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips_are_letters_inside_a_name() {
        let slips =
            [("hostnme", "hostname"), ("replcas", "replicas"), ("repilcas", "replicas"), ("hosttname", "hostname")];
        assert!(slips.iter().all(|(a, b)| is_slip(a, b)));
        let others =
            [("host", "hots"), ("hosts", "host"), ("port1", "port2"), ("domain", "domains"), ("a-host", "b-host")];
        assert!(!others.iter().any(|(a, b)| is_slip(a, b)));
    }
}
