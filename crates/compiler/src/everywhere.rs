//! A project in all its variants at once: problems are said once with the variants that have them, and what no variant
//! uses is found.
//!
//! Files are read and parsed once, since all variants share them. Everything is told from what resolution noted: the
//! table of origins, and what dialects say they declare.

use crate::survey::Claim;
use crate::unused::Usage;
use purlin_model::{Declared, Request, Resolved, Variant};
use purlin_syntax::{Diagnostic, Severity};
use purlin_value::{EcoString, Session, Value};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Resolves every variant of a project. Problems and findings go to the session's sink.
pub(crate) fn everywhere(session: &Session, request: &Request, claim: &Claim) -> Vec<Option<Side>> {
    // Each values file is a variant here, so none is checked on the side.
    let mut request = Request { manifests: true, ..request.clone() };
    request.chart.ci_values = false;
    let mut variants = claim.variants(session, &request);
    if variants.is_empty() {
        variants.push(Variant { name: "".into(), request });
    }
    let mut problems = Problems::new(session, claim.dialect().variants.noun, &variants);
    let mut all = Vec::with_capacity(variants.len());
    let requests: Vec<&Request> = variants.iter().map(|variant| &variant.request).collect();
    claim.resolve_each(session, &requests, &mut |resolved, found| {
        problems.add(all.len(), found);
        all.push(resolved.map(Side::of));
    });
    let found = problems.told();
    let is_sound = !found.iter().any(|problem| problem.severity == Severity::Error);
    session.sink.extend(found);
    // What is broken uses nothing, so that only sound projects can be judged.
    if is_sound && all.iter().all(Option::is_some) {
        let sides: Vec<(&Variant, &Side)> = variants.iter().zip(all.iter().flatten()).collect();
        session.sink.extend(Usage::of(session, claim, &sides).findings());
    }
    all
}

/// What is kept of a variant that is resolved: nothing that could be looked up in the table of origins.
pub(crate) struct Side {
    /// The project's name.
    pub project: EcoString,
    /// How many nodes it has.
    pub nodes: usize,
    /// The variables of the project, and those of each node that has some.
    pub variables: Vec<Value>,
    /// What the dialect declares.
    pub declared: Vec<Declared>,
    /// Projects that it takes in.
    pub inner: Vec<String>,
    /// Folders of charts whose dependencies it fetches when it is deployed.
    pub fetched_later: Vec<String>,
}

impl Side {
    fn of(resolved: Resolved) -> Self {
        let of_nodes = resolved.nodes.iter().filter_map(|node| node.resolved.get("variables").cloned());
        Side {
            nodes: resolved.nodes.len(),
            variables: std::iter::once(resolved.variables.clone()).chain(of_nodes).collect(),
            project: resolved.project,
            declared: resolved.declared,
            inner: resolved.inner,
            fetched_later: resolved.fetched_later,
        }
    }
}

/// Problems of all variants, each once.
struct Problems<'v> {
    session: &'v Session,
    noun: &'static str,
    variants: &'v [Variant],
    /// In the order in which they were found.
    list: Vec<Problem>,
    known: HashMap<Identity, usize>,
}

/// A problem and the variants that have it.
struct Problem {
    said: Diagnostic,
    variants: Vec<usize>,
    /// Whether they do not find the same value.
    differs: bool,
}

/// The words before the value that a message quotes; the value may differ between variants.
const FOUND: &str = ", found ";

/// What tells one problem from another, whichever variant has it: rule, file and place, message.
type Identity = (&'static str, Option<(String, u32, u32)>, String);

impl<'v> Problems<'v> {
    fn new(session: &'v Session, noun: &'static str, variants: &'v [Variant]) -> Self {
        Problems { session, noun, variants, list: Vec::new(), known: HashMap::new() }
    }

    fn add(&mut self, variant: usize, found: Vec<Diagnostic>) {
        // Several problems of one variant at one place stay separate: they are about several values.
        let mut times: HashMap<Identity, Vec<String>> = HashMap::new();
        for problem in found {
            // Some dialects register a file anew in every run.
            let path = |file| self.session.sources.get(file).map(|source| source.path().to_owned());
            let place = problem.span.map(|span| (path(span.file).unwrap_or_default(), span.start, span.end));
            let message = problem.message.split(FOUND).next().unwrap_or_default().to_owned();
            let mut key = (problem.rule.name, place, message);
            let said = times.entry(key.clone()).or_default();
            let nth = said.iter().position(|known| *known == problem.message).unwrap_or(said.len());
            if nth == said.len() {
                said.push(problem.message.clone());
            }
            if nth > 0 {
                key.2.push_str(&format!("{FOUND}{nth}"));
            }
            let at = *self.known.entry(key).or_insert_with(|| {
                self.list.push(Problem { said: problem.clone(), variants: Vec::new(), differs: false });
                self.list.len() - 1
            });
            let Some(known) = self.list.get_mut(at) else { continue };
            match problem.severity.cmp(&known.said.severity) {
                // The warning of one variant only predicts the error of another, so the error is kept.
                Ordering::Greater => *known = Problem { said: problem, variants: vec![variant], differs: false },
                Ordering::Less => {}
                Ordering::Equal if known.variants.last() == Some(&variant) => {}
                Ordering::Equal => {
                    known.differs |= known.said.message != problem.message;
                    known.variants.push(variant);
                }
            }
        }
    }

    /// All problems; those of some variants only name them.
    fn told(self) -> Vec<Diagnostic> {
        let (noun, all) = (self.noun, self.variants);
        let told = |Problem { mut said, variants, differs }: Problem| {
            let names: Vec<&str> = variants.iter().map(|&at| all[at].name.as_str()).collect();
            match names.as_slice() {
                [first, others @ ..] if differs => said.message.push_str(&first_of(noun, first, others.len())),
                names if names.len() < all.len() => said.message.push_str(&only_in(noun, names)),
                _ => {}
            }
            said
        };
        self.list.into_iter().map(told).collect()
    }
}

/// ` (in the environment `a`, and similar in 2 others)`: what a problem says is that of its first variant.
fn first_of(noun: &str, first: &str, others: usize) -> String {
    let preposition = preposition(noun);
    let first =
        if first.is_empty() { format!("without a {noun}") } else { format!("{preposition} the {noun} `{first}`") };
    let others = if others == 1 { "one other".to_owned() } else { format!("{others} others") };
    format!(" ({first}, and similar {preposition} {others})")
}

fn preposition(noun: &str) -> &'static str {
    if noun == "environment" { "in" } else { "with" }
}

/// ` (only in the environments `a` and `b`)`; a variant without a name is the project as it is.
fn only_in(noun: &str, names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
    let plain = format!("without a {noun}");
    let list = match shown.as_slice() {
        [] => return format!(" (only {plain})"),
        [one] => format!("{noun} {one}"),
        [first @ .., last] => format!("{noun}s {} and {last}", first.join(", ")),
    };
    let also = if names.iter().any(|name| name.is_empty()) { format!(" and {plain}") } else { String::new() };
    let preposition = preposition(noun);
    format!(" (only {preposition} the {list}{also})")
}
