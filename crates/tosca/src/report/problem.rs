//! Collects problems with the locations that people would look at.
//!
//! A problem is a diagnostic plus the name of the missing key, if any: the path notation of reports
//! (`node_types["A"].properties["p"]`) is computed from the location only on demand.

use crate::present::{MOST_PRESENTED, present};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::limits::PROBLEMS;
use purlin_syntax::{Diagnostic, Rule, Span};
use purlin_value::{Origin, Session};
use std::collections::HashMap;

/// A diagnostic and the data for its path.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The suffix of the location's path: a missing key, or an entry that is not written.
    pub beyond: EcoString,
}

/// Most problems kept.
const MOST_KEPT: usize = PROBLEMS as usize;

/// All problems of a run, each once.
#[derive(Clone, Default, Debug)]
pub struct Problems {
    list: Vec<Problem>,
    seen: HashMap<(&'static str, Option<Span>, String), usize>,
    /// Locations of secrets.
    hidden: Vec<Span>,
}

impl Problems {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports a problem at a place.
    pub fn at(&mut self, rule: &'static Rule, span: Span, message: impl Into<Message>) {
        self.push(Diagnostic::at(rule, span, message));
    }

    /// Reports a problem at a location, about a missing key or entry.
    pub fn beyond(
        &mut self,
        rule: &'static Rule,
        span: Span,
        beyond: impl Into<EcoString>,
        message: impl Into<Message>,
    ) {
        self.add(Problem { diagnostic: Diagnostic::at(rule, span, message), beyond: beyond.into() });
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.add(Problem { diagnostic, beyond: EcoString::new() });
    }

    /// Adds a problem unless it is known already.
    pub fn add(&mut self, problem: Problem) {
        let diagnostic = &problem.diagnostic;
        let key = (diagnostic.rule.name, diagnostic.span, diagnostic.message.clone());
        let count = self.list.len();
        match self.seen.get(&key).and_then(|at| self.list.get_mut(*at)) {
            // A warning becomes an error if its subject turns out to be used.
            Some(known) => known.diagnostic.severity = known.diagnostic.severity.max(diagnostic.severity),
            None if count < MOST_KEPT => {
                self.seen.insert(key, count);
                self.list.push(problem);
            }
            None if count == MOST_KEPT => {
                self.list.push(Problem { diagnostic: Diagnostic::too_many(MOST_KEPT), beyond: EcoString::new() });
            }
            None => {}
        }
    }

    /// Whether there are more problems than are kept.
    pub fn is_full(&self) -> bool {
        self.list.len() > MOST_KEPT
    }

    /// Takes all problems of another run, and its known secrets.
    pub fn absorb(&mut self, other: &Problems) {
        other.list.iter().for_each(|problem| self.add(problem.clone()));
        self.hidden.extend(&other.hidden);
    }

    /// Records the location of a secret, so that no problem is shown with it.
    pub fn hide(&mut self, span: Span) {
        self.hidden.push(span);
    }

    /// Reports everything to a session.
    pub fn report(&self, session: &Session) {
        self.hidden.iter().for_each(|span| session.sources.hide(*span));
        let written = |problem: Diagnostic| match problem.value.map(Origin::from_bits) {
            Some(value) => session.written_here(problem, value),
            None => problem,
        };
        let shown = self.list.iter().enumerate().map(|(at, problem)| match at < MOST_PRESENTED {
            true => written(present(problem.diagnostic.clone(), &session.sources)),
            false => problem.diagnostic.clone(),
        });
        session.sink.extend(shown);
    }

    /// Locations of secrets.
    pub fn hidden(&self) -> &[Span] {
        &self.hidden
    }

    /// Takes out the problems that fit.
    pub fn set_aside(&mut self, fits: impl Fn(&Problem) -> bool) -> Vec<Problem> {
        let (aside, kept) = std::mem::take(&mut self.list).into_iter().partition(|problem| fits(problem));
        self.seen.clear();
        let kept: Vec<Problem> = kept;
        kept.into_iter().for_each(|problem| self.add(problem));
        aside
    }

    /// Whether there are problems.
    pub fn any(&self) -> bool {
        self.list.iter().any(|problem| problem.diagnostic.is_error())
    }

    /// Whether a problem was reported inside a location, so that a missing part may be an unreadable one.
    pub fn any_within(&self, place: Span) -> bool {
        let inside = |span: Span| span.file == place.file && place.start <= span.start && span.end <= place.end;
        self.list.iter().any(|problem| problem.diagnostic.span.is_some_and(inside))
    }

    /// How many problems there are so far.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems in the order they were found.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }
}
