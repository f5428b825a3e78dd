//! Reports requirements that no node meets and capabilities that too few use.

use super::index::Offer;
use super::{Refusals, Resolver, User};
use crate::edition::Standard;
use crate::problem::{Problem, Problems};
use crate::quirks;
use crate::rules;
use crate::topology::{Node, Requirement};
use ecow::{EcoString, eco_format};
use purlin_syntax::What;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Severity};

/// How many candidates a message shows.
const SHOWN: usize = 5;

impl Resolver<'_> {
    pub(super) fn report(
        &mut self,
        user: User,
        node: &Node,
        requirement: &Requirement,
        refusals: Refusals,
        problems: &mut Problems,
    ) {
        if requirement.optional {
            return;
        }
        if self.model.edition().is_2() && self.may_stay_open(requirement) {
            return self.warn_of_lack(user, node, requirement, refusals, problems);
        }
        if requirement.node_template.as_ref().is_some_and(|named| self.has_no_type(&named.text)) {
            return; // said of that template
        }
        let name = &node.template.name;
        let message = match &requirement.node_template {
            Some(named) => format!("`{}` does not meet the requirement `{}` of `{name}`", named.text, requirement.name),
            None if refusals.is_empty() => {
                format!("no node can meet the requirement `{}` of `{name}`", requirement.name)
            }
            None => format!("no node meets the requirement `{}` of `{name}`", requirement.name),
        };
        let named = requirement.node_template.as_ref().map(|named| named.text.clone());
        let message = what::missing_names("requirement", [&requirement.name], false).words(message);
        let message = message.naming(named);
        let mut diagnostic = self.with_refusals(Diagnostic::at(&rules::UNRESOLVED, requirement.at, message), &refusals);
        let needed = self.needed(requirement).filter(|_| refusals.is_empty());
        if self.may_stay_open(requirement) {
            let open = "it stays open for the orchestrator or another service";
            let hint = needed.map_or_else(|| open.to_owned(), |needed| format!("{needed}; {open}"));
            diagnostic = diagnostic.warning().hint(hint);
        } else {
            diagnostic = diagnostic.maybe_hint(needed);
        }
        problems.add(Problem { diagnostic, beyond: beyond(requirement) });
    }

    /// Whether a template did not become a node because its type is missing or unknown.
    fn has_no_type(&self, template: &str) -> bool {
        let is_written =
            self.model.service().is_some_and(|service| service.named("node_templates", template).is_some());
        is_written && !self.topology.multiplied.contains_key(template) && !self.topology.nodes.contains_key(template)
    }

    /// A requirement that stays open only for lack of capacity is hardly intended.
    fn warn_of_lack(
        &mut self,
        user: User,
        node: &Node,
        requirement: &Requirement,
        mut refusals: Refusals,
        problems: &mut Problems,
    ) {
        refusals.retain(|(offer, _)| {
            self.would_suit(user, requirement, *offer).is_ok() && self.shares(user, requirement, *offer).is_ok()
        });
        if refusals.is_empty() {
            return;
        }
        let message = format!(
            "the requirement `{}` of `{}` stays open: nodes that could meet it have too little left",
            requirement.name, node.template.name
        );
        let named = requirement.node_template.as_ref().map(|named| named.text.clone());
        let message = what::missing_names("requirement", [&requirement.name], false).words(message);
        let message = message.naming(named);
        let mut diagnostic = self.with_refusals(Diagnostic::at(&rules::UNRESOLVED, requirement.at, message), &refusals);
        diagnostic.severity = Severity::Warning;
        let diagnostic =
            diagnostic.hint("another service may meet it; with `directives: [internal]`, this is an error");
        problems.add(Problem { diagnostic, beyond: beyond(requirement) });
    }

    /// Adds the candidates and the reasons they were refused.
    fn with_refusals(&self, mut diagnostic: Diagnostic, refusals: &Refusals) -> Diagnostic {
        for (offer, why) in refusals.iter().take(SHOWN) {
            if let Some((name, node)) = self.node(*offer) {
                diagnostic = diagnostic.label(node.template.at, format!("`{name}` was considered, but {why}"));
            }
        }
        match refusals.len().saturating_sub(SHOWN) {
            0 => diagnostic,
            more => diagnostic.hint(format!("{more} further candidates were refused too")),
        }
    }

    pub(super) fn warn(
        &self,
        node: &Node,
        requirement: &Requirement,
        offer: Offer,
        why: &str,
        problems: &mut Problems,
    ) {
        let Some((target, _)) = self.node(offer) else { return };
        let message = format!(
            "`{target}` is taken for the requirement `{}` of `{}`, but {why}",
            requirement.name, node.template.name
        );
        let mut diagnostic = Diagnostic::at(&rules::UNRESOLVED, requirement.at, message);
        diagnostic.severity = Severity::Warning;
        problems.push(diagnostic.hint("TOSCA 2.0 refuses this"));
    }

    /// A filter that refers to something missing decides nothing.
    pub(super) fn warn_of_idle_filters(&self, problems: &mut Problems) {
        for failure in &self.evaluator.idle {
            let message = match failure.message.what() {
                What::Unknown { .. } => failure.message.clone(),
                _ => failure.message.clone().under("the node filter decides nothing: "),
            };
            let mut diagnostic = Diagnostic::at(&rules::FUNCTION, failure.span, message);
            diagnostic.severity = Severity::Warning;
            problems
                .push(diagnostic.hint("in a filter, `SELF` is the relationship, and `SELF, TARGET` the other node"));
        }
    }

    /// A description of what is missing.
    fn needed(&self, requirement: &Requirement) -> Option<String> {
        let written = requirement.assignment.as_ref().and_then(|assignment| assignment.value("node"));
        let has_index = written.is_some_and(|node| !node.items().is_empty());
        if let Some(named) = requirement.node_template.as_ref().filter(|_| has_index) {
            let count = self.topology.places(&named.text).len();
            let those = match count {
                0 => "no node is".to_owned(),
                1 => "one node is".to_owned(),
                _ => format!("{count} nodes are"),
            };
            return Some(format!("{those} made from `{}`, and the first one has the index 0", named.text));
        }
        let capability = requirement.capability_type.map(|id| self.model.name(id))?;
        if let Some(named) = &requirement.node_template {
            return Some(format!("`{}` needs a capability of type `{capability}`", named.text));
        }
        Some(match requirement.node_type.map(|id| self.model.name(id)) {
            Some(node) => format!("a node of type `{node}` with a capability of type `{capability}` is needed"),
            None => format!("a node with a capability of type `{capability}` is needed"),
        })
    }

    /// A requirement that no node meets may be met by another service, unless it names its node.
    fn may_stay_open(&self, requirement: &Requirement) -> bool {
        let allowed = self.model.edition().is_2() || self.model.allows(quirks::REQUIREMENTS_OPEN);
        if !allowed || requirement.node_template.is_some() {
            return false;
        }
        let directives =
            requirement.assignment.as_ref().map(|assignment| assignment.texts("directives")).unwrap_or(&[]);
        !(directives.len() == 1 && directives.iter().any(|directive| directive.text == "internal"))
    }

    pub(super) fn check_minimums(&self, problems: &mut Problems) {
        if self.model.quirks.has(quirks::OCCURRENCES_PERMISSIVE) || !self.index.minimums {
            return;
        }
        for offer in self.index.all() {
            let (Some((node_name, node)), Some((name, capability))) = (self.node(offer), self.capability(offer)) else {
                continue;
            };
            let used = self.used.get(&offer).copied().unwrap_or(0);
            if used < capability.occurrences.lower {
                let message = format!(
                    "the capability `{name}` of `{node_name}` must be used {} times, but it is used {used} times",
                    capability.occurrences
                );
                let at = capability.at.unwrap_or(node.template.at);
                let beyond =
                    if capability.at.is_some() { EcoString::new() } else { eco_format!(".capabilities[\"{name}\"]") };
                let mut diagnostic = Diagnostic::at(&rules::UNRESOLVED, at, message);
                if self.model.allows(quirks::OCCURRENCES_MINIMUM) {
                    diagnostic.severity = Severity::Warning;
                }
                problems.add(Problem { diagnostic, beyond });
            }
        }
    }
}

/// The path suffix of an automatic requirement's problem.
fn beyond(requirement: &Requirement) -> EcoString {
    match requirement.assignment {
        Some(_) => EcoString::new(),
        None => eco_format!(".requirements{{{}}}", requirement.index),
    }
}
