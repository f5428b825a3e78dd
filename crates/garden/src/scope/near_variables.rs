//! Variables of environments that are probably misspelt: they are there once, are not used in the project's file, and
//! are nearly called like a variable that the environment should have. Garden takes them for others in silence.

use crate::config::Document;
use crate::place::NodeRef;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::is_typo;
use purlin_syntax::{Diagnostic, Hint, Node};
use purlin_value::{FastMap, FastSet};

/// Number of an environment's variables that are compared; more are not written by hand.
const MOST_NAMES: usize = 200;

/// Maximum number of searches of a file's text for a name.
const MOST_SEARCHES: usize = 200;

/// The variables of the environments and of the project.
struct Known<'a> {
    /// Names of the project's variables, as they are written.
    of_project: Vec<&'a str>,
    in_project: FastSet<&'a str>,
    /// Variables of each environment, as they are written.
    of_each: Vec<Vec<(&'a str, Node<'a>)>>,
    /// Number of environments with a variable of this name.
    having: FastMap<&'a str, usize>,
}

impl<'a> Known<'a> {
    fn new(project: Option<Node<'a>>, environments: &'a [(EcoString, NodeRef)]) -> Self {
        let of_project: Vec<&str> = project.map(names).unwrap_or_default();
        let of_each: Vec<Vec<(&str, Node<'_>)>> = environments.iter().map(|(_, node)| variables(node)).collect();
        let mut having = FastMap::default();
        for own in &of_each {
            for name in own.iter().map(|(name, _)| *name).collect::<FastSet<&str>>() {
                *having.entry(name).or_insert(0) += 1;
            }
        }
        Known { in_project: of_project.iter().copied().collect(), of_project, of_each, having }
    }

    /// Whether only one environment has the variable, and the project has none of that name.
    fn is_lonely(&self, name: &str) -> bool {
        !self.in_project.contains(name) && self.having.get(name) == Some(&1)
    }

    /// Whether an environment without the variable should have it: the project has it, or all other environments have
    /// it.
    fn is_expected(&self, name: &str) -> bool {
        let others = self.of_each.len() - 1;
        self.in_project.contains(name) || others > 0 && self.having.get(name) == Some(&others)
    }

    /// A variable that the environment should have and that is called nearly like one of its own.
    fn near(&self, at: usize, own: &FastSet<&str>, name: &str) -> Option<&'a str> {
        let others = self.of_each.iter().enumerate().filter(|(other, _)| *other != at);
        let candidates = self.of_project.iter().copied().chain(others.flat_map(|(_, list)| list.iter().map(|v| v.0)));
        let mut candidates = candidates.take(MOST_NAMES);
        candidates.find(|other| !own.contains(other) && is_typo(name, other) && self.is_expected(other))
    }
}

/// Problems of all environments, whichever is resolved.
pub(crate) fn problems(document: &Document, environments: &[(EcoString, NodeRef)]) -> Vec<Diagnostic> {
    let project = document.field("variables");
    let known = Known::new(project.as_ref().and_then(NodeRef::get), environments);
    let mut problems = Vec::new();
    let mut searches = 0;
    for (at, (own, (environment, _))) in known.of_each.iter().zip(environments).enumerate() {
        let all: FastSet<&str> = own.iter().map(|(name, _)| *name).collect();
        for (name, key) in own.iter().take(MOST_NAMES).filter(|(name, _)| known.is_lonely(name)) {
            let Some(near) = known.near(at, &all, name) else { continue };
            searches += 1;
            if searches > MOST_SEARCHES {
                return problems;
            }
            // Of two that are each other's slip, the later one is shown.
            let is_earlier = environments.len() == 2 && at == 0 && !known.in_project.contains(near);
            if is_used(*key, name) || is_earlier && !is_used(*key, near) {
                continue;
            }
            let message =
                format!("only the environment `{environment}` has a variable `{name}`, and it has no `{near}`");
            let diagnostic = Diagnostic::at(&rules::NEAR_VARIABLE, key.span(), message);
            problems.push(diagnostic.hint(Hint::meant(*name, near)));
        }
    }
    problems
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
