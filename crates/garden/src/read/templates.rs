//! All template strings of a project, each parsed once.
//!
//! Files are read in one pass when they are loaded, so that a mistake in any string is reported whether or not the
//! string is ever evaluated.

use crate::expr::{self, Problem, Template};
use crate::place::{NodeRef, Place};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Node, Sink, Tree};
use purlin_value::Session;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The parsed template strings of all trees.
#[derive(Default)]
pub struct Templates {
    /// By the number of the tree's first node.
    trees: RwLock<Vec<Arc<Strings>>>,
    /// Parsed strings by text, since similar actions share many strings.
    texts: Mutex<HashMap<EcoString, Arc<Template>, foldhash::fast::RandomState>>,
}

/// Longer strings are hardly ever the same.
const LONGEST_SHARED: usize = 200;

/// Maximum number of strings kept by text; where all differ, keeping them is useless.
const MOST_SHARED: usize = 1_000;

/// The template strings of one tree, by the number of their node. `None` for a string that cannot be parsed.
pub struct Strings {
    first: u32,
    strings: Vec<(u32, Option<Arc<Template>>)>,
}

impl Templates {
    /// Parses every template string of a tree and reports those that cannot be read.
    pub fn read(&self, tree: &Arc<Tree>, session: &Session) {
        self.add(&Arc::new(self.strings(tree, &session.sink)));
    }

    /// The template strings of a tree; those that cannot be read are reported.
    pub fn strings(&self, tree: &Arc<Tree>, sink: &Sink) -> Strings {
        let first = tree.node(0).map(Node::number).unwrap_or_default();
        let count = u32::try_from(tree.len()).unwrap_or(u32::MAX);
        let nodes = (0..count).filter_map(|index| tree.node(index)).filter(|node| may_hold_template(*node));
        let strings = nodes.map(|node| (node.number(), self.parse(tree, node, sink))).collect();
        Strings { first, strings }
    }

    /// Adds the strings of a tree.
    pub fn add(&self, strings: &Arc<Strings>) {
        if strings.strings.is_empty() {
            return;
        }
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        let at = trees.partition_point(|other| other.first < strings.first);
        trees.insert(at, strings.clone());
    }

    /// Drops the strings of a tree that is no longer used.
    pub fn forget(&self, tree: &Tree) {
        let Some(first) = tree.node(0).map(Node::number) else { return };
        self.trees.write().unwrap_or_else(PoisonError::into_inner).retain(|parsed| parsed.first != first);
    }

    fn parse(&self, tree: &Arc<Tree>, node: Node<'_>, sink: &Sink) -> Option<Arc<Template>> {
        let text = node.text();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.get(text) {
            return Some(known.clone());
        }
        match expr::parse(text) {
            Ok(template) => {
                let template = Arc::new(template);
                if text.len() <= LONGEST_SHARED && texts.len() < MOST_SHARED {
                    texts.insert(text.into(), template.clone());
                }
                Some(template)
            }
            Err(problems) => {
                let place = Place::Node(NodeRef::new(tree, node));
                if !is_cut_off(tree, node) {
                    sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
                }
                None
            }
        }
    }

    /// The template of a scalar of a tree that was read. `Ok(None)` if the scalar is not a template, an error if it
    /// cannot be parsed.
    pub fn get(&self, scalar: Node<'_>) -> Result<Option<Arc<Template>>, Unreadable> {
        let number = scalar.target().number();
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        let tree = trees.partition_point(|tree| tree.first <= number).checked_sub(1).and_then(|at| trees.get(at));
        let Some(tree) = tree else { return Ok(None) };
        match tree.strings.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(at) => tree.strings.get(at).and_then(|(_, template)| template.clone()).map(Some).ok_or(Unreadable),
            Err(_) => Ok(None),
        }
    }
}

/// Whether the file itself is broken where this text ends; then the text is not to blame.
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
    let rule = problem.limit.unwrap_or(&rules::TEMPLATE_SYNTAX);
    let mut diagnostic = Diagnostic::nowhere(rule, problem.message.clone());
    diagnostic.span = place.part(problem.at);
    diagnostic.maybe_hint(problem.hint.map(str::to_owned))
}
