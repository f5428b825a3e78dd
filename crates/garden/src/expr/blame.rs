//! Reports every problem in a string whose evaluation stopped, not only the first.
//!
//! The parts of an expression that are evaluated in any case are tried one by one; what an operator may pass over
//! (`||`, `&&`, the branches of a condition) is not.

use super::ast::{BinaryOp, Branch, Expr, Node, Segment, Template};
use super::eval::{Evaluator, Stop};
use super::operate::is_truthy;

impl Evaluator<'_, '_> {
    /// Reports all problems of a string that stopped.
    pub(super) fn report_all(&mut self, template: &Template, stop: Stop) {
        if !self.blame_template(template) {
            self.report(stop);
        }
    }

    fn report(&mut self, stop: Stop) {
        if let Some(diagnostic) = self.diagnose(stop) {
            self.eval.session.sink.push(diagnostic);
        }
    }

    /// Whether a part of it has no value; that is reported here, or was before.
    fn blame_template(&mut self, template: &Template) -> bool {
        let mut found = false;
        for segment in &template.segments {
            found |= match segment {
                Segment::Text(..) | Segment::Escaped(..) => false,
                Segment::Expr(node) | Segment::LoneIf(node) => self.blame(node),
                Segment::If(branch) => self.blame_branch(branch),
            };
        }
        found
    }

    fn blame_branch(&mut self, branch: &Branch) -> bool {
        let Ok(condition) = self.node(&branch.condition) else { return self.blame(&branch.condition) };
        let taken = match is_truthy(&condition) {
            _ if condition.is_pending() => None,
            true => Some(&branch.then),
            false => branch.otherwise.as_ref(),
        };
        taken.is_some_and(|template| self.blame_template(template))
    }

    fn blame(&mut self, node: &Node) -> bool {
        let Err(stop) = self.node(node) else { return false };
        let deeper = match &node.expr {
            Expr::List(items) => self.blame_each(items.iter()),
            Expr::Call(call) => self.blame_each(call.args.iter()),
            Expr::Chain(first, rest) if !rest.iter().any(|(op, _)| matches!(op, BinaryOp::Or | BinaryOp::And)) => {
                self.blame_each(std::iter::once(&**first).chain(rest.iter().map(|(_, node)| node)))
            }
            Expr::Member(inner, _) => self.blame(inner),
            Expr::Nested(template) => self.blame_template(template),
            _ => false,
        };
        if !deeper {
            self.report(stop);
        }
        true
    }

    fn blame_each<'n>(&mut self, nodes: impl Iterator<Item = &'n Node>) -> bool {
        // Every node is examined, whatever the result of those before it.
        nodes.filter(|node| self.blame(node)).count() > 0
    }
}
