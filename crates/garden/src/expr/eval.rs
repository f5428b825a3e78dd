//! Evaluates template strings against a scope.
//!
//! A missing key travels outwards as [`Stop::Missing`] until an operator that allows for it (`||`, `&&`, `!`, `typeof`,
//! a condition) catches it; the caller that evaluates a whole string turns it into a diagnostic. Pending values are
//! values, poison stops silently, taint and origins are passed on by every operator.

use super::ast::{At, BinaryOp, Branch, Call, Expr, Node, Segment, Template, UnaryOp};
use super::find::Own;
use super::operate::{binary, is_truthy, text_of, unary};
use crate::bind::Env;
use crate::functions::{self, Arguments};
use crate::place::Place;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Rule, Span};
use purlin_value::lazy::ITEM_BYTES;
use purlin_value::meter::steps_for;
use purlin_value::weight::weight;
use purlin_value::{Data, Eval, Origin, Pending, Piece, Value};
use std::sync::OnceLock;

/// Why an expression has no value.
#[derive(Debug)]
pub enum Stop {
    /// A key is missing; operators with a fallback catch this.
    Missing(Box<Missing>),
    /// Evaluation failed with this problem.
    Failed(Box<Diagnostic>),
    /// An operand is broken, which was reported already.
    Poison,
}

/// A key that was not found.
#[derive(Debug)]
pub struct Missing {
    pub(super) key: EcoString,
    pub(super) under: EcoString,
    pub(super) at: At,
    pub(super) available: Vec<EcoString>,
    /// The collections that do not have it; their keys are looked at when a message is made.
    pub(super) without: Vec<Value>,
    pub(super) phase: Option<&'static str>,
    /// The name of a variable that refers to itself.
    pub(super) itself: Option<String>,
}

/// Where the parts of a template string are written, found when it is first evaluated: they are the same in every
/// scope.
#[derive(Default)]
pub struct Places {
    /// Its only expression.
    whole: OnceLock<Option<Span>>,
    /// The origin of each literal part.
    literals: OnceLock<Vec<Origin>>,
}

/// One evaluation of one template string.
pub struct Evaluator<'a, 's> {
    /// The chain of forcing this belongs to.
    pub eval: &'a mut Eval<'s>,
    /// Scope and options.
    pub env: &'a Env,
    /// Where the string is written.
    pub place: &'a Place,
    /// Its name among variables, if it is one.
    pub own: Option<&'a Own>,
    /// Origins of the collections on the path being looked up.
    pub(super) around: Vec<Origin>,
}

impl<'a, 's> Evaluator<'a, 's> {
    /// An evaluator of a string.
    pub fn new(eval: &'a mut Eval<'s>, env: &'a Env, place: &'a Place, own: Option<&'a Own>) -> Self {
        Evaluator { eval, env, place, own, around: Vec::new() }
    }
}

impl Evaluator<'_, '_> {
    /// Evaluates a string; problems go to the session's sink and the result is poison. Where its parts are written is
    /// kept in `places`, if there are any.
    pub fn run(&mut self, template: &Template, places: Option<&Places>) -> Value {
        let value = match (places, template.segments.as_slice()) {
            (Some(places), [Segment::Expr(node) | Segment::LoneIf(node)]) => self.node(node).map(|value| {
                let part = *places.whole.get_or_init(|| self.place.part(node.at));
                self.derived_at(value, part)
            }),
            (Some(_), [_, _, ..]) => self.concatenate(&template.segments, places),
            _ => self.template(template),
        };
        match value {
            Ok(value) => value,
            Err(stop) => {
                self.report_all(template, stop);
                Value::poison()
            }
        }
    }

    /// The diagnostic of a stop, if it needs one.
    pub fn diagnose(&self, stop: Stop) -> Option<Diagnostic> {
        match stop {
            Stop::Poison => None,
            Stop::Failed(diagnostic) => Some(*diagnostic),
            Stop::Missing(missing) => {
                let has_hint = self.eval.session.sink.pushed() < super::find::HINTS;
                let mut diagnostic = missing.diagnostic(has_hint);
                diagnostic.span = self.place.part(missing.at);
                Some(diagnostic)
            }
        }
    }

    pub(super) fn failed(&self, rule: &'static Rule, at: At, message: impl Into<Message>) -> Stop {
        let mut diagnostic = Diagnostic::nowhere(rule, message);
        diagnostic.span = self.place.part(at);
        Stop::Failed(Box::new(diagnostic))
    }

    /// Evaluates a string. A single expression keeps its type; anything else is text.
    pub fn template(&mut self, template: &Template) -> Result<Value, Stop> {
        match template.segments.as_slice() {
            [] => Ok(self.literal("")),
            [Segment::Expr(node) | Segment::LoneIf(node)] => {
                let value = self.node(node)?;
                Ok(self.derive_whole(value, node.at))
            }
            [Segment::If(branch)] => self.branch(branch),
            [Segment::Text(text, _)] => Ok(self.literal(text)),
            segments => self.concatenate(segments, None),
        }
    }

    fn literal(&self, text: &str) -> Value {
        Value::str(text).with_origin(self.place.origin().unwrap_or(Origin::NONE))
    }

    /// A value from an expression remembers its own origin and the expression.
    fn derive_whole(&self, value: Value, at: At) -> Value {
        if value.is_absent() { value } else { self.derived_at(value, self.place.part(at)) }
    }

    fn derived_at(&self, value: Value, part: Option<Span>) -> Value {
        if value.is_absent() {
            return value;
        }
        let end = value.as_str().map_or(0, |text| u32::try_from(text.len()).unwrap_or(u32::MAX));
        let piece = Piece { start: 0, end, origin: value.origin };
        let origin = self.eval.session.origins.derived("template", part, vec![piece]);
        value.with_origin(origin)
    }

    fn branch(&mut self, branch: &Branch) -> Result<Value, Stop> {
        let condition = self.node(&branch.condition)?;
        if condition.is_pending() {
            let texts = std::iter::once(&branch.then).chain(&branch.otherwise);
            let open = texts.filter_map(|text| self.unhurried(|evaluator| evaluator.template(text))).collect();
            return Ok(self.waiting(condition, "condition", branch.condition.at, open));
        }
        let taken = if is_truthy(&condition) { Some(&branch.then) } else { branch.otherwise.as_ref() };
        let value = match taken {
            Some(template) => self.taken_text(template)?,
            None => self.literal(""),
        };
        let value = self.because(value, &branch.condition, Some(&condition));
        Ok(value.tainted_if(condition.is_tainted()))
    }

    /// The text of a branch; if it is purely literal, the branch is its origin.
    fn taken_text(&mut self, template: &Template) -> Result<Value, Stop> {
        let value = self.template(template)?;
        match template.segments.as_slice() {
            [Segment::Text(_, at)] => Ok(self.written_at(value, *at)),
            _ => Ok(value),
        }
    }

    /// A value with its own location in the text.
    fn written_at(&self, value: Value, at: At) -> Value {
        let Some(span) = self.place.part(at) else { return value };
        value.with_origin(self.eval.session.origins.file(span))
    }

    /// A value chosen by the result of a condition; `None` if its operand is missing.
    fn because(&self, value: Value, condition: &Node, decided: Option<&Value>) -> Value {
        if value.is_absent() {
            return value;
        }
        let step = match decided {
            None => "is missing",
            // The result of a condition on a secret is part of the secret.
            Some(decided) if decided.is_tainted() => "depends on a secret",
            Some(decided) if is_truthy(decided) => "is true",
            Some(_) => "is false",
        };
        let inputs = decided.map(|decided| self.inputs_of(decided)).unwrap_or_default();
        let origin = self.eval.session.origins.selected(value.origin, step, self.place.part(condition.at), inputs);
        value.with_origin(origin)
    }

    /// Origins of a deciding value, besides the text being evaluated.
    pub(super) fn inputs_of(&self, decided: &Value) -> Vec<Origin> {
        let inputs = input_origins(decided).into_iter();
        inputs.filter(|origin| origin.is_known() && Some(*origin) != self.place.origin()).collect()
    }

    /// A value that an operator with a fallback decided on, after it passed over others.
    fn after(&self, value: Value, passed: &[(&Node, Option<Value>)]) -> Value {
        passed.iter().fold(value, |value, (node, decided)| self.because(value, node, decided.as_ref()))
    }

    fn concatenate(&mut self, segments: &[Segment], places: Option<&Places>) -> Result<Value, Stop> {
        let mut text = EcoString::new();
        let mut ranges: Vec<(At, u32, u32, Option<Origin>)> = Vec::with_capacity(segments.len());
        let mut tainted = false;
        let mut pending: Option<Value> = None;
        for segment in segments {
            let start = text.len();
            let (at, origin) = match segment {
                Segment::Text(content, at) => {
                    text.push_str(content);
                    (*at, None)
                }
                Segment::Escaped(content, at) => {
                    if self.env.keep_escapes {
                        text.push('$');
                    }
                    text.push_str(content);
                    (*at, None)
                }
                Segment::Expr(node) | Segment::LoneIf(node) => {
                    let value = self.node(node)?;
                    let value = self.whole(&value)?;
                    tainted |= value.is_tainted_deep();
                    pending = merge_pending(pending, &value);
                    self.append(&mut text, &value, node.at)?;
                    (node.at, Some(value.origin))
                }
                Segment::If(branch) => {
                    let value = self.branch(branch)?;
                    let value = self.whole(&value)?;
                    tainted |= value.is_tainted_deep();
                    pending = merge_pending(pending, &value);
                    self.append(&mut text, &value, branch.at)?;
                    (branch.at, Some(value.origin))
                }
            };
            ranges.push((at, offset(start), offset(text.len()), origin));
        }
        let origin = self.piece_origin(&ranges, places);
        if let Some(pending) = pending {
            return Ok(pending.with_origin(origin).tainted_if(tainted));
        }
        Ok(Value::str(text).with_origin(origin).tainted_if(tainted))
    }

    /// A pending value with the origins of everything that it is computed from, known or not: all of that is used.
    pub(super) fn waiting(&self, pending: Value, step: &str, at: At, inputs: Vec<Value>) -> Value {
        let inputs = inputs.iter().flat_map(input_origins).filter(|origin| *origin != pending.origin);
        let mut pieces: Vec<Piece> = inputs.filter(|origin| origin.is_known()).map(Piece::whole).collect();
        if pieces.is_empty() {
            return pending;
        }
        pieces.insert(0, Piece::whole(pending.origin));
        let origin = self.eval.session.origins.derived(step, self.place.part(at), pieces);
        pending.with_origin(origin)
    }

    /// The same with the parts that only a known value chooses between.
    fn waiting_for<'n>(&mut self, pending: Value, step: &str, at: At, parts: impl Iterator<Item = &'n Node>) -> Value {
        let inputs = parts.filter_map(|part| self.unhurried(|evaluator| evaluator.node(part))).collect();
        self.waiting(pending, step, at, inputs)
    }

    /// The value of a part that may not be needed; its problems are none until it is. Before the graph is built nothing
    /// is looked at ahead of time: all of it is evaluated again.
    pub(super) fn unhurried(&mut self, evaluate: impl FnOnce(&mut Self) -> Result<Value, Stop>) -> Option<Value> {
        if self.env.pre_graph {
            return None;
        }
        let session = self.eval.session;
        session.sink.apart(|| evaluate(self)).0.ok()
    }

    /// Adds a value to a longer text. A secret piece is a secret of its own: a script that holds it may print it alone.
    fn append(&mut self, text: &mut EcoString, value: &Value, at: At) -> Result<(), Stop> {
        self.make_text(text.len(), text_size(value), at)?;
        let piece = text_of(value);
        if value.is_tainted_deep() {
            self.eval.session.sink.hide(&piece);
        }
        text.push_str(&piece);
        Ok(())
    }

    /// The origin of a text put together from pieces.
    fn piece_origin(&self, ranges: &[(At, u32, u32, Option<Origin>)], places: Option<&Places>) -> Origin {
        let written;
        let literals = match places {
            Some(places) => places.literals.get_or_init(|| self.literals(ranges)),
            None => {
                written = self.literals(ranges);
                &written
            }
        };
        let piece = |(range, literal): (&(At, u32, u32, Option<Origin>), &Origin)| Piece {
            start: range.1,
            end: range.2,
            origin: range.3.unwrap_or(*literal),
        };
        let pieces = ranges.iter().zip(literals).map(piece).collect();
        self.eval.session.origins.derived("template", self.place.span(), pieces)
    }

    /// The origins of the literal parts of a text.
    fn literals(&self, ranges: &[(At, u32, u32, Option<Origin>)]) -> Vec<Origin> {
        let parts: Vec<At> = ranges.iter().map(|range| range.0).collect();
        let literal = |(range, span): (&(At, u32, u32, Option<Origin>), Option<Span>)| match (range.3, span) {
            (None, Some(span)) => self.eval.session.origins.file(span),
            _ => Origin::NONE,
        };
        ranges.iter().zip(self.place.parts(&parts)).map(literal).collect()
    }

    /// Charges bytes that are about to be appended to a text of the given length.
    fn make_text(&mut self, length: usize, added: usize, at: At) -> Result<(), Stop> {
        let (added, limit) = (added as u64, self.eval.session.limits.string_bytes);
        if added.saturating_add(length as u64) <= limit {
            return if self.eval.charge(steps_for(added), added) { Ok(()) } else { Err(Stop::Poison) };
        }
        let message = format!("this text grows larger than the {limit} bytes allowed");
        Err(self.failed(&purlin_value::rules::LIMIT_STRING, at, message))
    }

    /// A value with everything in it forced; poison anywhere inside stops.
    pub(super) fn whole(&mut self, value: &Value) -> Result<Value, Stop> {
        let value = self.eval.force_deep(value);
        self.go_through(&value)?;
        if value.any(Value::is_poison) { Err(Stop::Poison) } else { Ok(value) }
    }

    /// Charges a walk through a whole collection, for its pending and secret values.
    fn go_through(&mut self, value: &Value) -> Result<(), Stop> {
        let steps = if value.is_collection() { weight(value) / BYTES_PER_WALKED } else { 0 };
        if self.eval.spend(steps) { Ok(()) } else { Err(Stop::Poison) }
    }

    /// Evaluates an expression.
    pub fn node(&mut self, node: &Node) -> Result<Value, Stop> {
        if !self.eval.spend(1) {
            return Err(Stop::Poison);
        }
        match &node.expr {
            Expr::Null => Ok(self.written_at(Value::null(), node.at)),
            Expr::Bool(b) => Ok(self.written_at(Value::from(*b), node.at)),
            Expr::Number(n) => Ok(self.written_at(crate::number::to_value(*n), node.at)),
            Expr::Text(text) => Ok(self.written_at(Value::str(text.clone()), node.at)),
            Expr::Nested(template) => self.template(template),
            Expr::List(items) => {
                let values: Result<Vec<Value>, Stop> = items.iter().map(|item| self.node(item)).collect();
                let values = values?;
                let list = Value::list(values.clone());
                // What a list is made of is used, whatever becomes of the list.
                match items.iter().all(is_literal) {
                    true => Ok(self.constant(list)),
                    false => Ok(self.computed(list, "list", node.at, &values.iter().collect::<Vec<_>>())),
                }
            }
            Expr::Lookup(path) => self.lookup(path),
            Expr::Member(inner, path) => {
                let value = self.node(inner)?;
                self.member(value, path)
            }
            Expr::Call(call) => self.call(call, node.at),
            Expr::Unary(ops, inner) => self.unary_chain(ops, inner),
            Expr::Chain(first, rest) => self.chain(first, rest),
            Expr::Choice(arms, otherwise) => self.choice(arms, otherwise),
        }
    }

    /// The origin of a literal of an expression is the enclosing string.
    fn constant(&self, value: Value) -> Value {
        self.literal_origin(value)
    }

    fn literal_origin(&self, value: Value) -> Value {
        value.with_origin(self.place.origin().unwrap_or(Origin::NONE))
    }

    fn unary_chain(&mut self, ops: &[UnaryOp], inner: &Node) -> Result<Value, Stop> {
        let innermost = ops.last().copied();
        let mut value = match self.node(inner) {
            // `!missing` and `typeof missing` have an answer.
            Err(Stop::Missing(missing)) if matches!(innermost, Some(UnaryOp::Not | UnaryOp::Typeof)) => {
                self.warn_of_near(&missing);
                Value::absent()
            }
            other => other?,
        };
        for &op in ops.iter().rev() {
            if value.is_pending() {
                return Ok(value);
            }
            let result = unary(op, &value).map_err(|why| self.failed(&rules::TEMPLATE_TYPE, inner.at, why))?;
            value = self.computed(result, op_name(op), inner.at, &[&value]);
        }
        Ok(value)
    }

    fn chain(&mut self, first: &Node, rest: &[(BinaryOp, Node)]) -> Result<Value, Stop> {
        match rest.first().map(|(op, _)| op) {
            Some(BinaryOp::Or) => self.alternatives(first, rest),
            Some(BinaryOp::And) => self.conjunction(first, rest),
            _ => {
                let mut left = self.node(first)?;
                let mut at = first.at;
                for (op, node) in rest {
                    let right = self.node(node)?;
                    at = at.to(node.at);
                    left = self.operate(*op, left, right, at)?;
                }
                Ok(left)
            }
        }
    }

    fn operate(&mut self, op: BinaryOp, left: Value, right: Value, at: At) -> Result<Value, Stop> {
        // Text and containment look into collections, so those must be there.
        let deep = matches!(op, BinaryOp::Add | BinaryOp::Contains);
        let (left, right) = if deep { (self.whole(&left)?, self.whole(&right)?) } else { (left, right) };
        self.go_through(&left)?;
        self.go_through(&right)?;
        if let Some(pending) = merge_pending(merge_pending(None, &left), &right) {
            let lists = matches!((&left.data, &right.data), (Data::List(_), Data::List(_)));
            if !lists {
                return Ok(self.waiting(pending, op.symbol(), at, vec![left, right]));
            }
        }
        self.make_sum(op, &left, &right, at)?;
        let result = binary(op, &left, &right).map_err(|why| self.failed(&rules::TEMPLATE_TYPE, at, why))?;
        let sum = self.computed(result, op.symbol(), at, &[&left, &right]);
        Ok(match (op, left.as_str(), sum.as_str()) {
            (BinaryOp::Add, Some(first), Some(whole)) => {
                let (middle, end) = (offset(first.len()), offset(whole.len()));
                let pieces = vec![
                    Piece { start: 0, end: middle, origin: left.origin },
                    Piece { start: middle, end, origin: right.origin },
                ];
                self.put_together(sum, op.symbol(), at, pieces)
            }
            _ => sum,
        })
    }

    /// Charges the result of `+`.
    fn make_sum(&mut self, op: BinaryOp, left: &Value, right: &Value, at: At) -> Result<(), Stop> {
        match (op, &left.data, &right.data) {
            (BinaryOp::Add, Data::Str(left), _) => self.make_text(0, left.len().saturating_add(text_size(right)), at),
            (BinaryOp::Add, Data::List(left), Data::List(right)) => {
                let (items, most) = ((left.len() + right.len()) as u64, self.eval.session.limits.list_items);
                if items > most {
                    let message = format!("this list grows longer than the {most} items allowed");
                    return Err(self.failed(&purlin_value::rules::LIMIT_LIST, at, message));
                }
                if self.eval.charge(items, items * ITEM_BYTES) { Ok(()) } else { Err(Stop::Poison) }
            }
            (BinaryOp::Contains, Data::Str(text), _) => {
                if self.eval.spend(steps_for(text.len() as u64)) {
                    Ok(())
                } else {
                    Err(Stop::Poison)
                }
            }
            _ => Ok(()),
        }
    }

    /// `a || b || c`: the first that exists and is true, or the last.
    fn alternatives(&mut self, first: &Node, rest: &[(BinaryOp, Node)]) -> Result<Value, Stop> {
        let mut node = first;
        let mut tainted = false;
        let mut passed: Vec<(&Node, Option<Value>)> = Vec::new();
        for (_, next) in rest {
            match self.node(node) {
                Err(Stop::Missing(missing)) => {
                    self.warn_of_near(&missing);
                    passed.push((node, None));
                }
                Err(other) => return Err(other),
                Ok(value) if value.is_pending() => {
                    let value = self.waiting_for(value, "||", node.at, rest.iter().map(|(_, node)| node));
                    return Ok(self.after(value, &passed).tainted_if(tainted));
                }
                Ok(value) if is_truthy(&value) => {
                    return Ok(self.after(value, &passed).tainted_if(tainted));
                }
                Ok(value) => {
                    tainted |= value.is_tainted();
                    passed.push((node, Some(value)));
                }
            }
            node = next;
        }
        let last = self.node(node)?;
        Ok(self.after(last, &passed).tainted_if(tainted))
    }

    /// `a && b && c`: the first that is not true, or the last; a missing key counts as false.
    fn conjunction(&mut self, first: &Node, rest: &[(BinaryOp, Node)]) -> Result<Value, Stop> {
        let mut tainted = false;
        let mut value = Value::from(true);
        let mut passed: Vec<(&Node, Option<Value>)> = Vec::new();
        let mut before: Option<&Node> = None;
        for node in std::iter::once(first).chain(rest.iter().map(|(_, node)| node)) {
            passed.extend(before.map(|before| (before, Some(value.clone()))));
            value = match self.node(node) {
                Err(Stop::Missing(missing)) => {
                    self.warn_of_near(&missing);
                    self.constant(Value::from(false))
                }
                other => other?,
            };
            tainted |= value.is_tainted();
            if value.is_pending() {
                value = self.waiting_for(value, "&&", node.at, rest.iter().map(|(_, node)| node));
                break;
            }
            if !is_truthy(&value) {
                break;
            }
            before = Some(node);
        }
        Ok(self.after(value, &passed).tainted_if(tainted))
    }

    fn choice(&mut self, arms: &[(Node, Node)], otherwise: &Node) -> Result<Value, Stop> {
        let mut tainted = false;
        let mut passed: Vec<(&Node, Option<Value>)> = Vec::new();
        for (condition, then) in arms {
            let value = match self.node(condition) {
                Err(Stop::Missing(missing)) => {
                    self.warn_of_near(&missing);
                    None
                }
                other => Some(other?),
            };
            if let Some(value) = value.clone().filter(Value::is_pending) {
                let results = arms.iter().flat_map(|(condition, then)| [condition, then]);
                return Ok(self.waiting_for(value, "condition", condition.at, results.chain([otherwise])));
            }
            tainted |= value.as_ref().is_some_and(Value::is_tainted);
            let is_taken = value.as_ref().is_some_and(is_truthy);
            passed.push((condition, value));
            if is_taken {
                let taken = self.node(then)?;
                return Ok(self.after(taken, &passed).tainted_if(tainted));
            }
        }
        let taken = self.node(otherwise)?;
        Ok(self.after(taken, &passed).tainted_if(tainted))
    }

    fn call(&mut self, call: &Call, at: At) -> Result<Value, Stop> {
        let Some(function) = functions::find(&call.name) else { return Err(self.unknown_function(call)) };
        let mut values = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let value = self.node(arg)?;
            values.push(self.whole(&value)?);
        }
        let known = function.parameters.len().min(values.len());
        let pending = values.iter().take(known).fold(None, merge_pending);
        if let Some(pending) = pending {
            return Ok(self.waiting(pending, &ecow::eco_format!("{}()", function.name), at, values));
        }
        let salt = self.salt(at);
        let args =
            Arguments { function, values: &values, session: self.eval.session, salt, pieces: Default::default() };
        let counted = args.check_count().and_then(|()| args.charge());
        let result = counted.and_then(|()| (function.call)(&args));
        let result = result.and_then(|result| args.made(result));
        let result = result.map_err(|fault| {
            // Messages of a function may quote its arguments.
            let hidden = values.iter().any(Value::is_tainted_deep);
            let message = match hidden {
                true => format!("`{}` cannot work with its arguments, of which one is secret", function.name).into(),
                false => fault.message,
            };
            self.failed(
                fault.rule,
                fault.argument.filter(|_| !hidden).and_then(|index| Some(call.args.get(index)?.at)).unwrap_or(at),
                message,
            )
        })?;
        let pieces = args.pieces.take();
        let step = ecow::eco_format!("{}()", function.name);
        let inputs: Vec<&Value> = values.iter().collect();
        let result = self.computed(result, &step, at, &inputs);
        let result = match pieces.is_empty() {
            true => result,
            false => self.put_together(result, &step, at, pieces),
        };
        let collections = values.iter().filter(|value| value.is_collection()).map(|value| value.origin);
        Ok(self.taken_from(result, collections))
    }

    /// A value that was taken out of collections, or made from them.
    pub(super) fn taken_from(&self, value: Value, collections: impl Iterator<Item = Origin>) -> Value {
        let mut collections = collections.filter(|origin| origin.is_derived()).peekable();
        if collections.peek().is_none() || value.is_absent() {
            return value;
        }
        let origins = &self.eval.session.origins;
        let origin = collections.fold(value.origin, |taken, around| origins.taken_from(taken, around));
        value.with_origin(origin)
    }

    /// A text with a known origin for each part.
    fn put_together(&self, text: Value, step: &str, at: At, pieces: Vec<Piece>) -> Value {
        let origin = self.eval.session.origins.derived(step, self.place.part(at), pieces);
        text.with_origin(origin)
    }

    fn unknown_function(&self, call: &Call) -> Stop {
        let message = what::unknown("function", &call.name);
        let mut diagnostic = Diagnostic::nowhere(&rules::HELPER_FUNCTION, message);
        diagnostic.span = self.place.part(call.name_at);
        let near = purlin_value::function::nearest(functions::FUNCTIONS, &call.name);
        let near = near.map(|near| Hint::meant(call.name.as_str(), near));
        let hint = near.unwrap_or_else(|| "see the reference of functions for all names".into());
        Stop::Failed(Box::new(diagnostic.hint(hint)))
    }

    /// Tells calls at different places apart, for functions that are random.
    fn salt(&self, at: At) -> u64 {
        let span = self.place.part(at);
        let origin = self.eval.depth() as u64;
        span.map_or(u64::from(at.start), |s| u64::from(s.file.0) << 32 | u64::from(s.start)) ^ origin << 56
    }

    /// A result with the origin and taint of its inputs.
    fn computed(&self, result: Value, step: &str, at: At, inputs: &[&Value]) -> Value {
        let tainted = inputs.iter().any(|value| value.is_tainted_deep());
        let origins = inputs.iter().flat_map(|value| input_origins(value)).filter(|origin| origin.is_known());
        let pieces = origins.map(Piece::whole).collect();
        let origin = self.eval.session.origins.derived(step, self.place.part(at), pieces);
        if tainted && let Some(text) = result.as_str() {
            self.eval.session.sink.hide(text);
        }
        result.with_origin(origin).tainted_if(tainted)
    }
}

/// Whether an expression is a plain value.
fn is_literal(node: &Node) -> bool {
    matches!(node.expr, Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_))
}

/// Bytes of a collection's written form that are traversed per step.
const BYTES_PER_WALKED: u64 = 16;

/// Upper bound for the text of a value within a longer text.
fn text_size(value: &Value) -> usize {
    match &value.data {
        Data::Str(text) => text.len(),
        Data::List(_) => usize::try_from(weight(value)).unwrap_or(usize::MAX),
        _ => 32,
    }
}

/// Origins of an operand. The origins of a collection are those of its items: it may have been assembled on the spot.
fn input_origins(value: &Value) -> Vec<Origin> {
    const SHOWN: usize = 100;
    let mut found = Vec::new();
    let mut open = vec![(value, value.origin)];
    while let Some((value, around)) = open.pop().filter(|_| found.len() < SHOWN) {
        let origin = if value.origin.is_known() { value.origin } else { around };
        let room = SHOWN - found.len();
        match &value.data {
            Data::List(list) if !list.is_empty() => {
                let first = list.iter().take(room).map(|item| (item, origin));
                open.extend(first.collect::<Vec<_>>().into_iter().rev());
            }
            Data::Map(map) if !map.is_empty() => {
                let first = map.values().take(room).map(|item| (item, origin));
                open.extend(first.collect::<Vec<_>>().into_iter().rev());
            }
            _ => found.push(origin),
        }
    }
    found
}

fn op_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Typeof => "typeof",
        UnaryOp::Negate => "-",
    }
}

fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The pending part of a value, if any.
pub fn pending_in(value: &Value) -> Option<Value> {
    merge_pending(None, value)
}

/// The combined pending parts of two values.
pub(crate) fn merge_pending(before: Option<Value>, value: &Value) -> Option<Value> {
    if !value.is_collection() && !value.is_pending() {
        return before;
    }
    let mut found = before;
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match &value.data {
            Data::Pending(pending) => found = Some(join_pending(found, value, pending)),
            Data::List(list) => stack.extend(list.iter().rev()),
            Data::Map(map) => stack.extend(map.values().rev()),
            _ => {}
        }
    }
    found
}

fn join_pending(before: Option<Value>, value: &Value, pending: &Pending) -> Value {
    let Some(before) = before else { return value.clone() };
    let Data::Pending(first) = &before.data else { return value.clone() };
    let mut joined = (**first).clone();
    for task in &pending.tasks {
        if !joined.tasks.contains(task) {
            joined.tasks.push(task.clone());
        }
    }
    if !joined.what.contains(pending.what.as_str()) {
        joined.what = ecow::eco_format!("{}, {}", joined.what, pending.what);
    }
    Value::of(Data::Pending(joined.into()), before.origin, before.taint() | value.taint())
}
