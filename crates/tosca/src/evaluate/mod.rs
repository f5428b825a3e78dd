//! Phase 7, evaluation: function calls become values, values are coerced, and constraints are checked.
//!
//! A value that others refer to is evaluated once. What it refers to is evaluated before it with an explicit stack, so
//! that a long chain of references costs memory and not machine stack; a ring is reported with all its members.

mod call;
mod path;

pub(crate) use call::{length as length_of, text as text_of};

use crate::coerce;
use crate::entity::Entity;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::{Problem, Problems};
use crate::resolve::{Edge, Resolution};
use crate::rules;
use crate::topology::{Prop, Topology};
use crate::val::{Data, Val};
use crate::validate::Patterns;
use crate::values::Checker;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::Origins;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Calls may nest this deep.
const MAX_DEPTH: u32 = 200;

/// Who owns a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// The service itself: its inputs.
    Service,
    /// A node, by its place in the topology.
    Node(usize),
    /// A capability of a node.
    Capability(usize, usize),
    /// The relationship that a requirement of a node makes.
    Relationship(usize, usize),
}

/// A value that can be referred to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// Its owner.
    pub owner: Owner,
    /// Whether it is an attribute; otherwise a property or input.
    pub attribute: bool,
    /// Its name.
    pub name: EcoString,
}

/// What words such as `SELF` mean where a value stands.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The node.
    pub node: Option<usize>,
    /// The relationship, by its source and requirement.
    pub relationship: Option<(usize, usize)>,
    /// The value under test in a validation clause, with its type.
    pub value: Option<(Val, Option<DeclId>)>,
}

impl Scope {
    /// In a node.
    pub fn node(node: usize) -> Self {
        Scope { node: Some(node), ..Scope::default() }
    }

    /// In the relationship of a requirement.
    pub fn relationship(source: usize, requirement: usize) -> Self {
        Scope { node: None, relationship: Some((source, requirement)), value: None }
    }
}

/// Per node and capability, the sources and requirements of what leads there.
type Incoming = HashMap<(usize, usize), Vec<(usize, usize)>, foldhash::fast::RandomState>;

#[derive(Clone, Debug)]
enum State {
    Active,
    Done(Val),
}

/// Why a call could not be evaluated.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub message: String,
    /// The call.
    pub span: Span,
}

/// Evaluates values of a rendered service.
pub struct Evaluator<'a> {
    pub(crate) model: &'a Model,
    pub(crate) topology: &'a Topology,
    pub(crate) resolution: Option<&'a Resolution>,
    /// A relationship that is only being considered.
    considered: Option<Edge>,
    /// The relationships that lead to each capability; made when a path first goes against them.
    incoming: OnceCell<Incoming>,
    memo: HashMap<Key, State, foldhash::fast::RandomState>,
    pub(crate) patterns: Patterns,
    problems: Problems,
    /// Where computed values are noted, if somebody will ask.
    pub origins: Option<&'a Origins>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for a service whose requirements are not resolved.
    pub fn new(model: &'a Model, topology: &'a Topology) -> Self {
        Evaluator {
            model,
            topology,
            resolution: None,
            considered: None,
            incoming: OnceCell::new(),
            memo: HashMap::default(),
            patterns: Patterns::default(),
            problems: Problems::new(),
            origins: None,
        }
    }

    /// An evaluator that can follow relationships.
    pub fn with_resolution(model: &'a Model, topology: &'a Topology, resolution: &'a Resolution) -> Self {
        Evaluator { resolution: Some(resolution), ..Evaluator::new(model, topology) }
    }

    /// What went wrong so far.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The value of something that can be referred to.
    pub fn force(&mut self, key: Key) -> Val {
        let mut stack = vec![key.clone()];
        while let Some(top) = stack.last().cloned() {
            if matches!(self.memo.get(&top), Some(State::Done(_))) {
                stack.pop();
                continue;
            }
            let Some((prop, scope)) = self.find(&top) else {
                self.memo.insert(top, State::Done(Val::new(Data::Poison, self.nowhere())));
                continue;
            };
            self.memo.insert(top.clone(), State::Active);
            let waiting = if prop.value.has_call() { self.first_unknown(&prop.value, &scope) } else { None };
            match waiting {
                Some(next) if matches!(self.memo.get(&next), Some(State::Active)) => self.report_ring(&stack, &next),
                Some(next) => stack.push(next),
                None => {
                    let value = self.prop(&prop, &scope);
                    self.memo.insert(top, State::Done(value));
                }
            }
        }
        match self.memo.get(&key) {
            Some(State::Done(value)) => value.clone(),
            _ => Val::new(Data::Poison, self.nowhere()),
        }
    }

    fn nowhere(&self) -> Span {
        Span::new(purlin_syntax::FileId(u32::MAX), 0, 0)
    }

    /// The first reference in a value that is not evaluated yet.
    fn first_unknown(&self, value: &Val, scope: &Scope) -> Option<Key> {
        match &value.data {
            Data::Call(call) => {
                if let Some((key, _)) = self.reference(call, scope).and_then(Result::ok)
                    && !matches!(self.memo.get(&key), Some(State::Done(_)))
                {
                    return Some(key);
                }
                call.args.iter().find_map(|arg| self.first_unknown(arg, scope))
            }
            Data::List(items) => items.iter().find_map(|item| self.first_unknown(item, scope)),
            Data::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| self.first_unknown(key, scope).or_else(|| self.first_unknown(value, scope))),
            _ => None,
        }
    }

    fn report_ring(&mut self, stack: &[Key], again: &Key) {
        let start = stack.iter().position(|key| key == again).unwrap_or(0);
        let ring: Vec<Key> = stack.get(start..).unwrap_or(&[]).to_vec();
        for key in &ring {
            self.memo.insert(key.clone(), State::Done(Val::new(Data::Poison, self.nowhere())));
        }
        let mut places: Vec<(Key, Span)> =
            ring.iter().filter_map(|key| Some((key.clone(), self.find(key)?.0.at))).collect();
        let Some(first) = places.iter().position(|(_, at)| places.iter().all(|(_, other)| at <= other)) else { return };
        places.rotate_left(first);
        let names: Vec<String> =
            places.iter().chain(places.first()).map(|(key, _)| format!("`{}`", self.title(key))).collect();
        let Some((_, at)) = places.first() else { return };
        let message = format!("these values are computed from each other: {}", names.join(" → "));
        let mut diagnostic = Diagnostic::at(&rules::FUNCTION_LOOP, *at, message);
        for (_, at) in places.iter().skip(1).take(10) {
            diagnostic = diagnostic.label(*at, "through here");
        }
        self.problems.push(diagnostic);
    }

    /// The value of something that nothing can refer to; what it refers to is evaluated first.
    pub fn settle(&mut self, prop: &Prop, scope: &Scope) -> Val {
        while let Some(key) = if prop.value.has_call() { self.first_unknown(&prop.value, scope) } else { None } {
            self.force(key);
        }
        self.prop(prop, scope)
    }

    /// Evaluates, coerces and validates a value that stands somewhere.
    pub fn prop(&mut self, prop: &Prop, scope: &Scope) -> Val {
        let value = if prop.value.has_call() { self.computed(prop, scope) } else { prop.value.clone() };
        if value.is_opaque() {
            return value;
        }
        let definition = prop.definition.as_deref();
        let coerced = match prop.data_type {
            Some(id) if !coerce::is_plain(self.model, id) => coerce::coerce(self.model, &value, Some(id), definition),
            _ => value,
        };
        if let (Some(id), Some(definition)) = (prop.data_type, definition)
            && !matches!(prop.value.data, Data::Null)
        {
            self.validate(&coerced, id, definition, prop.at, scope);
        }
        coerced
    }

    /// Checks a value without calls, for the problems that come up. Most have no clause to meet; nothing is made of
    /// those.
    pub fn check(&mut self, prop: &Prop, scope: &Scope) {
        if !self.is_free(prop) {
            self.prop(prop, scope);
        }
    }

    /// Whether no clause can be put on a value.
    fn is_free(&self, prop: &Prop) -> bool {
        let (Some(id), Some(definition)) = (prop.data_type, &prop.definition) else { return true };
        let primitive = self.model.primitive(id);
        let simple = !matches!(primitive, None | Some(Primitive::List | Primitive::Map | Primitive::Scalar));
        let of_type = self.model.complete(id).map_or(&[][..], |complete| complete.clauses("validation"));
        simple && of_type.is_empty() && definition.clauses("validation").is_empty()
    }

    /// The result of a value's calls, checked against its type.
    fn computed(&mut self, prop: &Prop, scope: &Scope) -> Val {
        match self.eval(&prop.value, scope, 0) {
            Ok(value) if value.is_opaque() => value,
            Ok(value) => match (&prop.definition, prop.data_type) {
                (Some(definition), Some(_)) if !has_opaque(&value) => {
                    let plain = coerce::written(&value);
                    if matches!(plain.data, Data::Null) {
                        return plain; // an attribute that is not known yet
                    }
                    let mut checker = Checker::new(self.model, &mut self.problems);
                    checker.value(&plain, definition, prop.at)
                }
                _ => value,
            },
            Err(failure) => {
                let mut diagnostic = Diagnostic::at(&rules::FUNCTION, prop.at, failure.message);
                if failure.span != prop.at && failure.span.file == prop.at.file {
                    diagnostic = diagnostic.label(failure.span, "this call");
                }
                self.problems.push(diagnostic);
                prop.value.with(Data::Poison)
            }
        }
    }

    /// Evaluates all calls in a value.
    pub fn eval(&mut self, value: &Val, scope: &Scope, depth: u32) -> Result<Val, Failure> {
        if depth > MAX_DEPTH {
            return Err(Failure { message: "functions are nested too deep".to_owned(), span: value.span });
        }
        match &value.data {
            Data::Call(call) => self.call(value, call, scope, depth),
            Data::List(items) if value.has_call() => {
                let items =
                    items.iter().map(|item| self.eval(item, scope, depth + 1)).collect::<Result<Vec<_>, _>>()?;
                Ok(value.with(Data::List(Arc::new(items))))
            }
            Data::Map(entries) if value.has_call() => {
                let mut out = Vec::with_capacity(entries.len());
                for (key, item) in entries.iter() {
                    out.push((self.eval(key, scope, depth + 1)?, self.eval(item, scope, depth + 1)?));
                }
                Ok(value.with(Data::Map(Arc::new(out))))
            }
            _ => Ok(value.clone()),
        }
    }

    /// Notes where a computed value comes from.
    fn noted(&self, mut computed: Val, name: &EcoString, args: &[Val], at: &Val) -> Val {
        let Some(origins) = self.origins else { return computed };
        let mut start = 0;
        let texts: Vec<Option<EcoString>> = args.iter().map(text_of).collect();
        let joined = name == "concat" && texts.iter().all(Option::is_some);
        let mut pieces = Vec::new();
        for (arg, text) in args.iter().zip(&texts) {
            let length = u32::try_from(text.as_ref().map_or(0, |text| text.len())).unwrap_or(u32::MAX);
            let (from, to) = if joined { (start, start + length) } else { (0, 0) };
            pieces.push(purlin_value::Piece { start: from, end: to, origin: arg.origin });
            start = to;
        }
        if name.starts_with("get_") {
            pieces = vec![purlin_value::Piece { start: 0, end: 0, origin: computed.origin }];
        }
        computed.origin = origins.derived(name.clone(), Some(at.span), pieces);
        computed
    }

    /// Reports a problem found while evaluating.
    pub(crate) fn report(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    /// Whether a node's property satisfies the clauses of a filter; a property that is not there does not.
    pub fn node_property_holds(&mut self, node: usize, name: &str, clauses: &[Val]) -> bool {
        self.holds(Key { owner: Owner::Node(node), attribute: false, name: name.into() }, clauses)
    }

    /// The same for a property of a capability, which is named or given by its type.
    pub fn capability_property_holds(&mut self, node: usize, capability: &str, name: &str, clauses: &[Val]) -> bool {
        let Some((_, rendered)) = self.topology.nodes.get_index(node) else { return false };
        let by_name = rendered.capabilities.get_index_of(capability);
        let by_type = || {
            rendered.capabilities.values().position(|found| {
                found.capability_type.is_some_and(|id| {
                    self.model.hierarchy.lineage(id).any(|id| {
                        self.model.names.decl(id).is_some_and(|decl| {
                            decl.name == capability || decl.canonical.ends_with(&format!("::{capability}"))
                        })
                    })
                })
            })
        };
        match by_name.or_else(by_type) {
            Some(index) => {
                self.holds(Key { owner: Owner::Capability(node, index), attribute: false, name: name.into() }, clauses)
            }
            None => false,
        }
    }

    fn holds(&mut self, key: Key, clauses: &[Val]) -> bool {
        let Some((prop, scope)) = self.find(&key) else { return false };
        let value = self.force(key);
        if value.is_opaque() {
            return matches!(value.data, Data::Pending(_));
        }
        clauses.iter().all(|clause| self.clause_holds(clause, &value, prop.data_type, &scope).unwrap_or(false))
    }

    /// A value that stands in a requirement, evaluated; nothing if that fails.
    pub(crate) fn in_relationship(&mut self, source: usize, requirement: usize, value: &Val) -> Option<Val> {
        let scope = Scope { node: Some(source), relationship: Some((source, requirement)), value: None };
        self.eval(value, &scope, 0).ok()
    }

    /// The part of a condition that does not hold if a requirement is met so; nothing if all of it holds, or may hold.
    pub(crate) fn condition_fails(&mut self, edge: Edge, clause: &Val) -> Option<Val> {
        let scope = Scope::relationship(edge.source, edge.requirement);
        // What is evaluated now may depend on where the relationship would lead: it is forgotten afterwards.
        let kept = std::mem::take(&mut self.memo);
        self.considered = Some(edge);
        let failing = self.failing_part(clause, &scope, 0);
        self.considered = None;
        self.memo = kept;
        failing
    }

    /// The part of a condition on a node that does not hold.
    pub(crate) fn node_condition_fails(&mut self, node: usize, clause: &Val) -> Option<Val> {
        self.failing_part(clause, &Scope::node(node), 0)
    }

    fn failing_part(&mut self, clause: &Val, scope: &Scope, depth: u32) -> Option<Val> {
        match &clause.data {
            Data::Call(call) if call.name == "and" && depth < MAX_DEPTH => {
                call.args.iter().find_map(|part| self.failing_part(part, scope, depth + 1))
            }
            _ => match self.eval(clause, scope, depth) {
                Ok(Val { data: Data::Bool(false), .. }) | Err(_) => Some(clause.clone()),
                Ok(_) => None,
            },
        }
    }

    /// Checks the clauses that a definition and its type put on a value, at every level of it.
    fn validate(&mut self, value: &Val, id: DeclId, definition: &Entity, at: Span, scope: &Scope) {
        crate::validate::check(self, value, id, definition, at, scope, 0);
    }
}

/// Whether anything in a value is not known.
fn has_opaque(value: &Val) -> bool {
    match &value.data {
        Data::Poison | Data::Pending(_) => true,
        Data::List(items) => items.iter().any(has_opaque),
        Data::Map(entries) => entries.iter().any(|(key, value)| has_opaque(key) || has_opaque(value)),
        _ => false,
    }
}
