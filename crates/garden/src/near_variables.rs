//! Variables of environments that are probably misspelt: they are there once, are not used in the project's file, and are
//! nearly called like a variable that the environment should have. Garden takes them for others in silence.

use crate::config::Document;
use crate::ground::Ground;
use crate::place::NodeRef;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::is_typo;
use purlin_syntax::{Diagnostic, Hint, Node};

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
                candidates.take(MOST_NAMES).find(|other| is_typo(name, other) && expected(other) && !has(own, other));
            let Some(near) = near else { continue };
            // Of two that are each other's slip, the later one is shown.
            if environments.len() == 2 && at == 0 && !of_project.contains(&near) && !is_used(*key, near) {
                continue;
            }
            let environment = environments.get(at).map_or("", |(name, _)| name.as_str());
            let message =
                format!("only the environment `{environment}` has a variable `{name}`, and it has no `{near}`");
            let diagnostic = Diagnostic::at(&rules::NEAR_VARIABLE, key.span(), message);
            ground.session.sink.push(diagnostic.hint(Hint::meant(*name, near)));
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
