//! A project in all its variants at once: problems are reported once with the variants that have them, and parts unused
//! by all variants are found.
//!
//! Files are read and parsed once, since all variants share them. All results come from the records of resolution: the
//! table of origins, and the declarations of dialects.

use crate::judged::judged_beside;
use crate::rules;
use crate::survey::{Claim, first_line};
use crate::unused::{Unread, Usage};
use purlin_kubernetes::Sound;
use purlin_model::{Declared, Request, Resolved, Variant, Variants};
use purlin_syntax::{Diagnostic, Rule, RuleClass, Severity, What};
use purlin_value::{EcoString, Session, Value};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A project in all its variants.
pub(crate) struct Everywhere {
    /// Their names; a variant without a name is the project as it is.
    pub names: Vec<EcoString>,
    /// Names of those that could not be resolved completely, because of missing permissions.
    pub incomplete: Vec<EcoString>,
    /// Files that no variant reads, beside files of the same kind that are read.
    pub unread: Vec<Unread>,
    /// Data kept of each variant that could be resolved.
    pub sides: Vec<Side>,
}

/// Resolves every variant of a project. Problems and findings go to the session's sink.
pub(crate) fn everywhere(session: &Session, request: &Request, claim: &Claim) -> Everywhere {
    let mut variants = claim.variants(session, request);
    report_too_many(session, claim, &mut variants);
    if variants.is_empty() {
        variants.push(Variant { name: "".into(), request: request.clone() });
    }
    let mut problems = Problems::new(session, &claim.dialect().variants, &variants);
    let mut all: Vec<Option<Side>> = Vec::with_capacity(variants.len());
    let (mut incomplete, mut unread) = (Vec::new(), Vec::new());
    let requests: Vec<&Request> = variants.iter().map(|variant| &variant.request).collect();
    let mut sound = Sound::default();
    claim.resolve_each(session, &requests, &mut |resolved, mut found| {
        if let (Some(resolved), Some(asked)) = (&resolved, requests.get(all.len())) {
            let is_partial = found.iter().any(Diagnostic::is_error);
            found.extend(judged_beside(session, asked, claim, resolved, (is_partial, &mut sound)));
        }
        if found.iter().any(|problem| problem.rule.class == RuleClass::Denied) {
            incomplete.extend(variants.get(all.len()).map(|variant| variant.name.clone()));
        }
        problems.add(all.len(), found);
        all.push(resolved.map(Side::of));
    });
    let found = problems.told();
    let is_sound = !found.iter().any(|problem| problem.severity == Severity::Error);
    session.sink.extend(found);
    // Broken variants use nothing, so that only sound projects can be checked.
    if is_sound && all.iter().all(Option::is_some) {
        let sides: Vec<(&Variant, &Side)> = variants.iter().zip(all.iter().flatten()).collect();
        let usage = Usage::of(session, claim, &sides);
        session.sink.extend(usage.findings());
        unread = usage.files();
    }
    let names = variants.iter().map(|variant| variant.name.clone()).collect();
    Everywhere { names, incomplete, unread, sides: all.into_iter().flatten().collect() }
}

/// Drops variants beyond the limit, with a warning: each reads the project's text again, so that the cost is their
/// number times its size.
fn report_too_many(session: &Session, claim: &Claim, variants: &mut Vec<Variant>) {
    let Ok(stat) = session.world.stat(claim.file()) else { return };
    let most = usize::try_from(session.limits.variants / stat.size.max(1)).unwrap_or(usize::MAX).max(1);
    if variants.len() <= most {
        return;
    }
    let named = |variants: &[Variant]| variants.iter().filter(|variant| !variant.name.is_empty()).count();
    let all = named(variants);
    variants.truncate(most);
    let most = named(variants);
    let noun = claim.dialect().variants.noun;
    let message = format!("only the first {most} of {all} {noun}s were checked");
    let hint = "check the others by name, or raise it with `--limit variants=BYTES`";
    let mut diagnostic = Diagnostic::nowhere(&rules::LIMIT_VARIANTS, message).hint(hint);
    diagnostic.span = first_line(session, claim.file());
    session.sink.push(diagnostic);
}

/// Data kept of a resolved variant: without references to the table of origins.
pub(crate) struct Side {
    /// The project's name.
    pub project: EcoString,
    /// Number of its nodes.
    pub nodes: usize,
    /// Number of projects inside it that were checked with it.
    pub contained: usize,
    /// The variables of the project, and those of each node that has some.
    pub variables: Vec<Value>,
    /// Declarations of the dialect.
    pub declared: Vec<Declared>,
    /// Projects that it takes in.
    pub inner: Vec<String>,
    /// Folders of charts whose dependencies are fetched on deployment.
    pub fetched_later: Vec<String>,
}

impl Side {
    fn of(resolved: Resolved) -> Self {
        let of_nodes = resolved.nodes.iter().filter_map(|node| node.resolved.get("variables").cloned());
        Side {
            nodes: resolved.nodes.len(),
            contained: resolved.contained,
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
    /// Rules whose problems in a variant count only if the project by itself has them too.
    in_company: &'static [&'static Rule],
    variants: &'v [Variant],
    /// In the order in which they were found.
    list: Vec<Problem>,
    known: HashMap<Identity, usize>,
}

/// A problem and the variants that have it.
struct Problem {
    said: Diagnostic,
    variants: Vec<usize>,
    /// Whether their values differ.
    differs: bool,
}

/// Identity of a problem across variants: rule, file and place, subject, and its number among equal ones.
type Identity = (&'static str, Option<(String, u32, u32)>, Subject, usize);

/// Subject of a problem, independent of the values in a variant.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Subject {
    /// A value of another shape than this one.
    Expected(String),
    /// Anything else, in its words.
    Words(String),
}

impl Subject {
    fn of(problem: &Diagnostic) -> Self {
        match problem.what() {
            What::Expected { wanted, found: Some(_) } => Subject::Expected(wanted.clone()),
            _ => Subject::Words(problem.message.clone()),
        }
    }
}

impl<'v> Problems<'v> {
    fn new(session: &'v Session, kind: &Variants, variants: &'v [Variant]) -> Self {
        let (noun, in_company) = (kind.noun, kind.in_company);
        Problems { session, noun, in_company, variants, list: Vec::new(), known: HashMap::new() }
    }

    fn add(&mut self, variant: usize, found: Vec<Diagnostic>) {
        // Several problems of one variant at one place stay separate: they concern several values.
        let mut times: HashMap<Identity, Vec<String>> = HashMap::new();
        for problem in found {
            // Some dialects register a file anew in every run.
            let path = |file| self.session.sources.get(file).map(|source| source.path().to_owned());
            let place = problem.span.map(|span| (path(span.file).unwrap_or_default(), span.start, span.end));
            let mut key = (problem.rule.name, place, Subject::of(&problem), 0);
            let said = times.entry(key.clone()).or_default();
            let nth = said.iter().position(|known| *known == problem.message).unwrap_or(said.len());
            if nth == said.len() {
                said.push(problem.message.clone());
            }
            key.3 = nth;
            if !self.variants[variant].name.is_empty()
                && self.in_company.contains(&problem.rule)
                && !self.known.contains_key(&key)
            {
                continue;
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
                _ if said.rule.is_of_text => {}
                [first, others @ ..] if differs => said.message.push_str(&first_of(noun, first, others.len())),
                names if names.len() < all.len() => {
                    let limit = only_in(noun, names);
                    said.limited = limit.len();
                    said.message.push_str(&limit);
                }
                _ => {}
            }
            said
        };
        self.list.into_iter().map(told).collect()
    }
}

/// ` (in the environment `a`, and similar in 2 others)`: the text of a problem is that of its first variant.
fn first_of(noun: &str, first: &str, others: usize) -> String {
    let preposition = preposition(noun);
    let first = if first.is_empty() { without(noun) } else { format!("{preposition} the {noun} `{first}`") };
    let others = if others == 1 { "one other".to_owned() } else { format!("{others} others") };
    format!(" ({first}, and similar {preposition} {others})")
}

/// `without an environment`: the project as it is.
fn without(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("without {article} {noun}")
}

fn preposition(noun: &str) -> &'static str {
    if noun == "environment" { "in" } else { "with" }
}

/// ` (only in the environments `a` and `b`)`; a variant without a name is the project as it is.
fn only_in(noun: &str, names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
    let plain = without(noun);
    let list = match shown.as_slice() {
        [] => return format!(" (only {plain})"),
        [one] => format!("{noun} {one}"),
        [first @ .., last] => format!("{noun}s {} and {last}", first.join(", ")),
    };
    let also = if names.iter().any(|name| name.is_empty()) { format!(" and {plain}") } else { String::new() };
    let preposition = preposition(noun);
    format!(" (only {preposition} the {list}{also})")
}
