//! Finds references of templates, without evaluating more than is needed to know which branches can be taken.
//!
//! A branch whose condition is already known to exclude it does not count. While a condition is not known, all branches
//! count.

use crate::bind::{Env, entries};
use crate::draft::Draft;
use crate::expr::ast::{BinaryOp, Expr, Key, Node, Part, Segment, Template};
use crate::expr::{Evaluator, Stop, is_truthy};
use crate::ground::Ground;
use crate::place::{NodeRef, Place};
use crate::structure;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::{Data, Eval, Value};
use std::sync::Arc;

/// One step of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key that is known.
    Name(EcoString),
    /// A key that is computed from something not known yet.
    Unknown,
    /// A key that comes from a secret.
    Secret,
    /// A key that cannot be computed; the reason is reported by evaluation.
    Broken,
}

/// A reference of a template.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The whole path, the head included.
    pub path: Vec<Step>,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Reference {
    /// The key at a step, if it is known.
    pub fn name(&self, index: usize) -> Option<&EcoString> {
        match self.path.get(index)? {
            Step::Name(name) => Some(name),
            Step::Unknown | Step::Secret | Step::Broken => None,
        }
    }
}

/// References under some heads in a draft.
pub fn references(ground: &Ground<'_>, env: &Arc<Env>, heads: &[&str], drafts: &[&Draft]) -> Vec<Reference> {
    let mut walker = Walker { eval: Eval::new(ground.session), env, heads, in_each: false, found: Vec::new() };
    for draft in drafts {
        walker.draft(draft);
    }
    ground.note(&walker.eval);
    walker.found
}

struct Walker<'a, 's> {
    eval: Eval<'s>,
    env: &'a Arc<Env>,
    heads: &'a [&'a str],
    /// Whether it is in a `$forEach`, whose `item` is not known here.
    in_each: bool,
    found: Vec<Reference>,
}

/// Result of a condition, as far as known.
enum Verdict {
    True,
    False,
    Unknown,
}

impl Walker<'_, '_> {
    fn draft(&mut self, draft: &Draft) {
        match draft {
            Draft::Value(_) => {}
            Draft::Template(text) => {
                if let Ok(template) = crate::expr::parse(text) {
                    self.template(&template, &Place::Nowhere);
                }
            }
            Draft::Choice(_, then, otherwise) => {
                self.draft(then);
                otherwise.iter().for_each(|draft| self.draft(draft));
            }
            Draft::Node(node) => self.node(node),
            Draft::Map(entries) => entries.iter().for_each(|(_, item)| self.draft(item)),
            Draft::List(items) => items.iter().for_each(|item| self.draft(item)),
        }
    }

    /// Most strings mention none of the heads, which is quickly checked without parsing expressions. A name may also be
    /// written with escapes.
    fn may_mention(&self, text: &str) -> bool {
        self.heads.iter().any(|head| text.contains(head)) || text.contains("\\u")
    }

    /// Depth is bounded by the tree's own limit.
    fn node(&mut self, node: &NodeRef) {
        let Some(view) = node.get() else { return };
        if view.is_scalar() {
            if !self.may_mention(view.text()) {
                return;
            }
            if let Ok(Some(template)) = self.env.templates.get(view) {
                self.template(&template, &Place::Node(node.clone()));
            }
            return;
        }
        if view.is_list() {
            view.items().for_each(|item| self.node(&node.other(item)));
            return;
        }
        if !self.in_each && view.get(structure::FOR_EACH).is_some() {
            self.in_each = true;
            view.entries().for_each(|entry| self.node(&node.other(entry.value)));
            self.in_each = false;
            return;
        }
        let skipped = structure::condition_of(view).map(|condition| {
            let bound = crate::bind::Binder::new(self.env).bind(&node.other(condition));
            match self.eval.force(&bound).data {
                Data::Bool(true) => "$else",
                Data::Bool(false) => "$then",
                _ => "",
            }
        });
        if view.entries().all(|entry| !entry.key.is_merge_key()) {
            let kept = view.entries().filter(|entry| skipped != Some(entry.name()));
            return kept.for_each(|entry| self.node(&node.other(entry.value)));
        }
        for (key, item) in entries(view) {
            if skipped != Some(key.as_str()) {
                self.node(&node.other(item));
            }
        }
    }

    fn template(&mut self, template: &Template, place: &Place) {
        for segment in &template.segments {
            match segment {
                Segment::Text(..) | Segment::Escaped(..) => {}
                Segment::Expr(node) | Segment::LoneIf(node) => self.expr(node, place),
                Segment::If(branch) => {
                    self.expr(&branch.condition, place);
                    let verdict = self.decide(&branch.condition, place);
                    if !matches!(verdict, Verdict::False) {
                        self.template(&branch.then, place);
                    }
                    if let Some(otherwise) = branch.otherwise.as_ref().filter(|_| !matches!(verdict, Verdict::True)) {
                        self.template(otherwise, place);
                    }
                }
            }
        }
    }

    fn expr(&mut self, node: &Node, place: &Place) {
        match &node.expr {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
            Expr::Nested(template) => self.template(template, place),
            Expr::List(items) => items.iter().for_each(|item| self.expr(item, place)),
            Expr::Lookup(path) => self.lookup(path, node, place),
            Expr::Member(inner, path) => {
                self.expr(inner, place);
                self.computed_keys(path, place);
            }
            Expr::Call(call) => call.args.iter().for_each(|arg| self.expr(arg, place)),
            Expr::Unary(_, inner) => self.expr(inner, place),
            Expr::Chain(first, rest) => self.chain(first, rest, place),
            Expr::Choice(arms, otherwise) => {
                for (condition, then) in arms {
                    self.expr(condition, place);
                    match self.decide(condition, place) {
                        Verdict::True => return self.expr(then, place),
                        Verdict::False => {}
                        Verdict::Unknown => self.expr(then, place),
                    }
                }
                self.expr(otherwise, place);
            }
        }
    }

    fn chain(&mut self, first: &Node, rest: &[(BinaryOp, Node)], place: &Place) {
        self.expr(first, place);
        let mut left = first;
        for (op, node) in rest {
            let done = match op {
                BinaryOp::Or => matches!(self.decide(left, place), Verdict::True),
                BinaryOp::And => matches!(self.decide(left, place), Verdict::False),
                _ => false,
            };
            if done {
                return;
            }
            self.expr(node, place);
            left = node;
        }
    }

    fn computed_keys(&mut self, path: &[Part], place: &Place) {
        for part in path {
            if let Key::Computed(node) = &part.key {
                self.expr(node, place);
            }
        }
    }

    fn lookup(&mut self, path: &[Part], node: &Node, place: &Place) {
        self.computed_keys(path, place);
        let Some(Part { key: Key::Name(head), .. }) = path.first() else { return };
        if !self.heads.contains(&head.as_str()) {
            return;
        }
        let step = |part: &Part| match &part.key {
            Key::Name(name) => Step::Name(name.clone()),
            Key::Computed(node) => match self.value(node, place) {
                Ok(value) if value.is_tainted_deep() => Step::Secret,
                Ok(Value { data: Data::Str(text), .. }) => Step::Name(text),
                Ok(Value { data: Data::Int(number), .. }) => Step::Name(ecow::eco_format!("{number}")),
                Ok(_) => Step::Unknown,
                Err(Stop::Missing(_)) if self.in_each => Step::Unknown,
                Err(_) => Step::Broken,
            },
        };
        let path = path.iter().map(step).collect();
        self.found.push(Reference { path, span: place.part(node.at) });
    }

    /// Evaluates without reporting; the final evaluation of the string reports problems.
    fn value(&mut self, node: &Node, place: &Place) -> Result<Value, Stop> {
        Evaluator::new(&mut self.eval, self.env, place, None).node(node)
    }

    fn decide(&mut self, node: &Node, place: &Place) -> Verdict {
        match self.value(node, place) {
            Ok(value) if value.is_pending() => Verdict::Unknown,
            Ok(value) if is_truthy(&value) => Verdict::True,
            Ok(_) | Err(Stop::Missing(_)) => Verdict::False,
            Err(_) => Verdict::Unknown,
        }
    }
}
