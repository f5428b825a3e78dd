//! All template strings of a project, each parsed once.
//!
//! Files are read in one pass when they are loaded, so that a mistake in any string is reported whether or not the
//! string is ever evaluated.

use crate::expr::{self, Problem, Template};
use crate::place::{NodeRef, Place};
use crate::rules;
use purlin_syntax::{Diagnostic, Node, Tree};
use purlin_value::Session;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The parsed template strings, by the number of their node. A string that cannot be read is there as `None`.
#[derive(Default)]
pub struct Templates {
    parsed: Mutex<HashMap<u32, Option<Arc<Template>>, foldhash::fast::RandomState>>,
}

impl Templates {
    /// Parses every template string of a tree and reports those that cannot be read.
    pub fn read(&self, tree: &Arc<Tree>, session: &Session) {
        let count = u32::try_from(tree.len()).unwrap_or(u32::MAX);
        for node in (0..count).filter_map(|index| tree.node(index)) {
            if may_hold_template(node) {
                self.parse(tree, node, session);
            }
        }
    }

    fn parse(&self, tree: &Arc<Tree>, node: Node<'_>, session: &Session) {
        let parsed = match expr::parse(node.text()) {
            Ok(template) => Some(Arc::new(template)),
            Err(problem) => {
                let place = Place::Node(NodeRef::new(tree, node));
                if !is_cut_off(tree, node) {
                    session.sink.push(syntax_problem(&problem, &place));
                }
                None
            }
        };
        self.lock().insert(node.number(), parsed);
    }

    /// The template of a scalar of a tree that was read. `Ok(None)` if the scalar is no template, an error if it cannot
    /// be read.
    pub fn get(&self, scalar: Node<'_>) -> Result<Option<Arc<Template>>, Unreadable> {
        match self.lock().get(&scalar.target().number()) {
            None => Ok(None),
            Some(Some(template)) => Ok(Some(template.clone())),
            Some(None) => Err(Unreadable),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Option<Arc<Template>>, foldhash::fast::RandomState>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the file itself cannot be read where this text ends; then the text is not to blame.
fn is_cut_off(tree: &Tree, node: Node<'_>) -> bool {
    let text = node.span();
    let near = |span: purlin_syntax::Span| span.start >= text.start && span.start <= text.end.saturating_add(2);
    tree.diagnostics().iter().any(|problem| problem.is_error() && problem.span.is_some_and(near))
}

/// A template string that cannot be read; this was reported.
#[derive(Debug)]
pub struct Unreadable;

/// Keys of mappings are never templates; a template is a string in every flavour, since it contains `${`.
fn may_hold_template(node: Node<'_>) -> bool {
    node.is_scalar() && !node.is_alias() && node.key_symbol().is_none() && expr::is_template(node.text())
}

/// The diagnostic for a string that cannot be read.
pub fn syntax_problem(problem: &Problem, place: &Place) -> Diagnostic {
    let rule = if problem.is_limit { &purlin_syntax::rules::LIMIT_DEPTH } else { &rules::TEMPLATE_SYNTAX };
    let mut diagnostic = Diagnostic::nowhere(rule, problem.message.clone());
    diagnostic.span = place.part(problem.at);
    diagnostic.maybe_hint(problem.hint.map(str::to_owned))
}
