//! Phase 7, evaluation: function calls become values, values are coerced, and constraints are checked.
//!
//! A value that others refer to is evaluated once. Its references are evaluated before it with an explicit stack, so
//! that a long chain of references costs memory and not machine stack; a cycle is reported with all its members.

mod allocation;
mod budget;
mod call;
mod compute;
mod filter;
mod path;
mod script;
mod typed;
mod walk;

pub use allocation::Taken;
pub(crate) use allocation::{Share, amount_of};
pub use budget::Budget;
pub(crate) use compute::{length as length_of, text as text_of};
pub(crate) use script::Verdict;

use crate::coerce;
use crate::entity::Entity;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::{Problem, Problems};
use crate::resolve::{Edge, Resolution};
use crate::rules;
use crate::topology::{Prop, Topology};
use crate::val::{Data, Val};
use crate::values::Checker;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Rule, Span};
use purlin_value::{Origins, Taint};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Most levels of nested calls.
const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;
/// A value evaluated within another one counts as this many calls: it needs as much of the stack.
const VALUE_DEPTH: u32 = 4;

/// The owner of a value.
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

/// The meaning of words such as `SELF` at the location of a value.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The node.
    pub node: Option<usize>,
    /// The relationship, by its source and requirement.
    pub relationship: Option<(usize, usize)>,
    /// The value under test in a validation clause, with its type.
    pub value: Option<(Val, Option<DeclId>)>,
    /// The type that the value is to have, if it is known.
    pub expected: Option<DeclId>,
    /// Whether it is in a workflow, which may have inputs of its own.
    pub in_workflow: bool,
}

impl Scope {
    /// In a node.
    pub fn node(node: usize) -> Self {
        Scope { node: Some(node), ..Scope::default() }
    }

    /// In the relationship of a requirement.
    pub fn relationship(source: usize, requirement: usize) -> Self {
        Scope { relationship: Some((source, requirement)), ..Scope::default() }
    }
}

/// Per node and capability, the sources and requirements of incoming relationships.
type Incoming = HashMap<(usize, usize), Vec<(usize, usize)>, foldhash::fast::RandomState>;

/// Per relationship template, the sources and requirements that use it.
type ByTemplate = HashMap<EcoString, Vec<(usize, usize)>, foldhash::fast::RandomState>;

#[derive(Clone, Debug)]
enum State {
    Active,
    Done(Val),
    /// Evaluated, but only for the current state, or for the relationship that is being considered.
    Tentative(Val),
}

/// The site of a value that cannot be referred to: its node or relationship, and where it is given.
type Site = (Option<usize>, Option<(usize, usize)>, Span, EcoString);

/// The values of a service, each evaluated once: named ones, and those that cannot be referred to.
#[derive(Debug, Default)]
pub struct Values {
    owned: HashMap<Key, Val, foldhash::fast::RandomState>,
    standing: HashMap<Site, Val, foldhash::fast::RandomState>,
    /// Values that depend on inputs, if that was tracked.
    varying: Varying,
    /// The values of another variant of the project; they hold here where they do not depend on inputs.
    steady: Option<Arc<Values>>,
    /// Texts computed from secrets, including parts of longer ones.
    pub(crate) secrets: HashSet<EcoString>,
}

/// Values that depend on inputs.
#[derive(Debug, Default)]
struct Varying {
    owned: HashSet<Key, foldhash::fast::RandomState>,
    standing: HashSet<Site, foldhash::fast::RandomState>,
}

impl Values {
    /// A value that can be referred to, and whether it depends on inputs.
    fn owned(&self, key: &Key) -> Option<(&Val, bool)> {
        match self.owned.get(key) {
            Some(value) => Some((value, self.varying.owned.contains(key))),
            None => self.steady.as_ref()?.steady(key).map(|value| (value, false)),
        }
    }

    /// A value that does not depend on inputs; inputs themselves differ.
    fn steady(&self, key: &Key) -> Option<&Val> {
        let (value, varies) = self.owned(key).filter(|_| key.owner != Owner::Service)?;
        (!varies).then_some(value)
    }

    /// The same for a value that cannot be referred to.
    fn standing(&self, site: &Site) -> Option<(&Val, bool)> {
        match self.standing.get(site) {
            Some(value) => Some((value, self.varying.standing.contains(site))),
            None => self.steady.as_ref()?.standing(site).filter(|(_, varies)| !varies),
        }
    }
}

/// A value that is being evaluated, and its unevaluated dependencies.
struct Frame {
    key: Key,
    prop: Prop,
    scope: Scope,
    waiting: Vec<Key>,
}

/// Why a call could not be evaluated.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The error.
    pub message: Message,
    /// The call.
    pub span: Span,
    /// Whether it refers to something missing.
    pub astray: bool,
    /// The rule of the exceeded limit.
    pub limit: Option<&'static Rule>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<Message>, span: Span) -> Self {
        Failure { message: message.into(), span, astray: false, limit: None }
    }

    /// The same without the reason if that may quote a secret.
    fn hiding(self, name: &str, taint: Taint) -> Self {
        if !taint.is_secret() || self.limit.is_some() {
            return self;
        }
        let text = format!("`{name}` cannot be evaluated; one of its arguments is a secret, so the reason is hidden");
        Failure { message: what::about([format!("${name}"), name.to_owned()], text), ..self }
    }
}

/// Evaluates values of a rendered service.
pub struct Evaluator<'a> {
    pub(crate) model: &'a Model,
    pub(crate) topology: &'a Topology,
    pub(crate) resolution: Option<&'a Resolution>,
    /// A relationship that is only being considered.
    considered: Option<Edge>,
    /// The incoming relationships of each capability; built when a path first follows one backwards.
    incoming: OnceCell<Incoming>,
    /// The relationships of each node that a path has passed.
    relationships: RefCell<HashMap<usize, Arc<walk::Relationships>, foldhash::fast::RandomState>>,
    /// The relationships of each relationship template; built when a path first begins with one.
    by_template: OnceCell<ByTemplate>,
    memo: HashMap<Key, State, foldhash::fast::RandomState>,
    /// Values that hold only for the current state, or for the relationship that is being considered.
    passing: Vec<Key>,
    /// Whether the last evaluated value depends on the considered relationship, or on the amounts free at the moment.
    tentative: Cell<bool>,
    /// The nesting of calls around a value that is evaluated for another one.
    level: u32,
    /// The values being evaluated, each for the one before.
    active: Vec<Key>,
    /// Whether clauses are being checked.
    checking: bool,
    /// Values whose clauses are checked once the value that depends on them is known.
    unchecked: VecDeque<(Prop, Val, Scope)>,
    /// Allocations of the relationships made so far.
    pub(crate) taken: Taken,
    /// Whether relationships are being made: not all of them exist, and free amounts change.
    resolving: bool,
    patterns: budget::Patterns,
    problems: Problems,
    /// The budget of evaluation.
    budget: Arc<Budget>,
    /// The limit exceeded by the last failure.
    overrun: Cell<Option<&'static Rule>>,
    /// Filter conditions that fail for every candidate because they refer to something missing, with the reason.
    pub(crate) idle: Vec<Failure>,
    /// The record of computed values' origins, if they are tracked.
    pub origins: Option<&'a Origins>,
    /// Values evaluated and checked before.
    earlier: Option<&'a Values>,
    /// Values evaluated and checked in another variant of the project; they hold here where they do not depend on
    /// inputs.
    steady: Option<Arc<Values>>,
    /// Whether an input was read since this was last reset.
    varies: Cell<bool>,
    /// Whether a clause has read one.
    clauses_vary: bool,
    /// Whether dependence on inputs is recorded.
    watched: bool,
    varying: Varying,
    /// Values that cannot be referred to, by site.
    standing: HashMap<Site, Val, foldhash::fast::RandomState>,
    /// Texts that were computed from secrets.
    pub(crate) secrets: HashSet<EcoString>,
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
            relationships: RefCell::default(),
            by_template: OnceCell::new(),
            memo: HashMap::default(),
            passing: Vec::new(),
            tentative: Cell::new(false),
            level: 0,
            active: Vec::new(),
            checking: false,
            unchecked: VecDeque::new(),
            taken: Taken::default(),
            resolving: false,
            patterns: budget::Patterns::default(),
            problems: Problems::new(),
            budget: model.budget.clone(),
            overrun: Cell::new(None),
            idle: Vec::new(),
            origins: None,
            earlier: None,
            steady: None,
            varies: Cell::new(false),
            clauses_vary: false,
            watched: false,
            varying: Varying::default(),
            standing: HashMap::default(),
            secrets: HashSet::default(),
        }
    }

    /// An evaluator that can follow relationships.
    pub fn with_resolution(model: &'a Model, topology: &'a Topology, resolution: &'a Resolution) -> Self {
        Evaluator { resolution: Some(resolution), ..Evaluator::new(model, topology) }
    }

    /// An evaluator of a service that was evaluated and checked: its values are reused.
    pub fn after(model: &'a Model, topology: &'a Topology, resolution: &'a Resolution, values: &'a Values) -> Self {
        Evaluator { earlier: Some(values), ..Evaluator::with_resolution(model, topology, resolution) }
    }

    /// All values, for printing the service.
    pub fn into_values(self) -> Values {
        let done = self.memo.into_iter().filter_map(|(key, state)| match state {
            State::Done(value) => Some((key, value)),
            State::Active | State::Tentative(_) => None,
        });
        Values {
            owned: done.collect(),
            standing: self.standing,
            secrets: self.secrets,
            varying: self.varying,
            steady: self.steady,
        }
    }

    /// The same evaluator in a project with several variants. `steady` are the values of another variant.
    pub(crate) fn among_variants(self, steady: Option<Arc<Values>>) -> Self {
        Evaluator { watched: true, steady, ..self }
    }

    /// Whether values that do not depend on inputs are the same in every variant: they have no problems and no
    /// secrets.
    pub(crate) fn is_steady(&self) -> bool {
        self.problems.is_empty() && self.secrets.is_empty() && !self.clauses_vary && self.budget.exceeded().is_none()
    }

    /// Whether literal values were checked for another variant.
    pub(crate) fn knows_literals(&self) -> bool {
        self.steady.is_some()
    }

    /// Runs `act` and returns whether it read an input.
    pub(crate) fn watching<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = self.varies.replace(false);
        let done = act(self);
        let varies = self.varies.get();
        self.varies.set(before || varies);
        (done, varies)
    }

    /// Resets the record of read inputs.
    pub(crate) fn forget_reads(&mut self) {
        self.varies.set(false);
    }

    /// Whether an input was read since the last reset.
    pub(crate) fn has_read_inputs(&self) -> bool {
        self.varies.get()
    }

    /// The same evaluator with its full steps again, for walking a service after it was checked.
    pub(crate) fn refuelled(self) -> Self {
        let budget = Arc::new(self.budget.renewed());
        Evaluator { budget, ..self }
    }

    /// An evaluator for a service whose requirements are being resolved.
    pub(crate) fn resolving(model: &'a Model, topology: &'a Topology) -> Self {
        Evaluator { resolving: true, ..Evaluator::new(model, topology) }
    }

    /// The same evaluator, able to follow the relationships made so far. Values it has computed may change.
    pub(crate) fn knowing(self, so_far: &'a Resolution) -> Self {
        Evaluator {
            resolution: Some(so_far),
            memo: HashMap::default(),
            incoming: OnceCell::new(),
            relationships: RefCell::default(),
            ..self
        }
    }

    /// The problems found so far.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The value of something that can be referred to.
    pub fn force(&mut self, key: Key) -> Val {
        if let Some(value) = self.as_written(&key) {
            return value;
        }
        if let Some(value) = self.known(&key) {
            return value;
        }
        // Most values are plain and depend on nothing.
        let is_plain = self.standing(&key).is_some_and(|prop| !prop.value.has_call());
        if is_plain && let Some((prop, scope)) = self.find(&key) {
            let value = self.value(&prop, &scope);
            if self.watched && key.owner == Owner::Service {
                self.varying.owned.insert(key.clone());
            }
            self.memo.insert(key, State::Done(value.clone()));
            self.check_in_turn(prop, &value, scope);
            return value;
        }
        // Only a reference with computed arguments, or one in a clause, can lead back to a value being evaluated: all
        // others are evaluated in order below.
        if matches!(self.memo.get(&key), Some(State::Active)) {
            self.report_ring(&key);
            return Val::new(Data::Poison, self.nowhere());
        }
        let mut stack: Vec<Frame> = self.frame(key.clone()).into_iter().collect();
        while let Some(top) = stack.last_mut() {
            let next = top.waiting.pop();
            match next {
                Some(next) if matches!(self.memo.get(&next), Some(State::Active)) => self.report_ring(&next),
                Some(next) if self.known(&next).is_some() => {}
                Some(next) => stack.extend(self.frame(next)),
                None => {
                    if let Some(frame) = stack.pop() {
                        self.evaluate(frame);
                    }
                }
            }
        }
        self.known(&key).unwrap_or_else(|| Val::new(Data::Poison, self.nowhere()))
    }

    /// A value that is what is written, with nothing to be checked or noted: most are, and they are not kept twice.
    fn as_written(&self, key: &Key) -> Option<Val> {
        if key.owner == Owner::Service {
            return None;
        }
        let prop = self.standing(key)?;
        let is_kept = prop.data_type.is_none_or(|id| coerce::is_plain(self.model, id));
        let is_literal = is_kept && !prop.value.has_call() && self.is_free(prop);
        is_literal.then(|| prop.value.clone())
    }

    /// A value that is evaluated already.
    fn known(&self, key: &Key) -> Option<Val> {
        if key.owner == Owner::Service {
            self.varies.set(true);
        }
        let Some(state) = self.memo.get(key) else {
            if let Some(earlier) = self.earlier {
                let (value, varies) = earlier.owned(key)?;
                self.varies.set(self.varies.get() || varies);
                return Some(value.clone());
            }
            return self.steady.as_ref()?.steady(key).cloned();
        };
        match state {
            State::Active => None,
            State::Done(value) => {
                if self.watched && self.varying.owned.contains(key) {
                    self.varies.set(true);
                }
                Some(value.clone())
            }
            State::Tentative(value) => {
                self.tentative.set(true);
                Some(value.clone())
            }
        }
    }

    /// Begins to evaluate a value; none if it does not exist.
    fn frame(&mut self, key: Key) -> Option<Frame> {
        let Some((prop, scope)) = self.find(&key) else {
            self.memo.insert(key, State::Done(Val::new(Data::Poison, self.nowhere())));
            return None;
        };
        let mut waiting = Vec::new();
        if prop.value.has_call() {
            self.unknown(&prop.value, &scope, &mut waiting);
            waiting.reverse();
        }
        self.memo.insert(key.clone(), State::Active);
        self.active.push(key.clone());
        Some(Frame { key, prop, scope, waiting })
    }

    /// Evaluates the last frame, whose references are all known.
    fn evaluate(&mut self, frame: Frame) {
        if !matches!(self.memo.get(&frame.key), Some(State::Active)) {
            self.active.pop();
            return; // it is part of a ring
        }
        let before = self.tentative.replace(false);
        let (value, varies) = self.watching(|evaluator| evaluator.value(&frame.prop, &frame.scope));
        if self.watched && (varies || frame.key.owner == Owner::Service) {
            self.varying.owned.insert(frame.key.clone());
        }
        self.active.pop();
        let tentative = self.tentative.get();
        self.tentative.set(before || tentative);
        if !matches!(self.memo.get(&frame.key), Some(State::Active)) {
            return;
        }
        if tentative {
            self.passing.push(frame.key.clone());
        }
        let state = if tentative { State::Tentative(value.clone()) } else { State::Done(value.clone()) };
        self.memo.insert(frame.key, state);
        self.check_in_turn(frame.prop, &value, frame.scope);
    }

    /// Clauses may refer to values that refer to this one, so they come after it. Where it is only needed for another
    /// one, they wait until that is known too: a chain of clauses then costs no machine stack.
    fn check_in_turn(&mut self, prop: Prop, value: &Val, scope: Scope) {
        if self.active.is_empty() && !self.checking {
            self.check(&prop, value, &scope);
        } else if !self.resolving && self.earlier.is_none() {
            self.unchecked.push_back((prop, value.clone(), scope));
        }
    }

    fn nowhere(&self) -> Span {
        Span::new(purlin_syntax::FileId(u32::MAX), 0, 0)
    }

    /// The references in a value that are not evaluated yet, in order.
    fn unknown(&self, value: &Val, scope: &Scope, out: &mut Vec<Key>) {
        match &value.data {
            Data::Call(call) => {
                if let Some(Ok(reference)) = self.reference(call, scope) {
                    let mut seen: HashSet<Key, foldhash::fast::RandomState> = HashSet::default();
                    let listed = reference.listed;
                    let unknown = |key: &Key| self.known(key).is_none();
                    let unknown = reference.keys.into_iter().filter(unknown);
                    out.extend(unknown.filter(|key| !listed || seen.insert(key.clone())));
                }
                call.args.iter().for_each(|arg| self.unknown(arg, scope, out));
            }
            Data::List(items) => items.iter().for_each(|item| self.unknown(item, scope, out)),
            Data::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.unknown(key, scope, out);
                self.unknown(value, scope, out);
            }),
            _ => {}
        }
    }

    fn report_ring(&mut self, again: &Key) {
        let start = self.active.iter().position(|key| key == again).unwrap_or(0);
        let ring: Vec<Key> = self.active.get(start..).unwrap_or(&[]).to_vec();
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
        let message = what::cycle(names).under("circular reference: ");
        let mut diagnostic = Diagnostic::at(&rules::FUNCTION_LOOP, *at, message);
        for (_, at) in places.iter().skip(1).take(10) {
            diagnostic = diagnostic.label(*at, "through here");
        }
        self.problems.push(diagnostic);
    }

    /// The result of a value that cannot be referred to; its references are evaluated first.
    pub fn settle(&mut self, prop: &Prop, scope: &Scope) -> Val {
        if prop.value.has_call() {
            let mut waiting = Vec::new();
            self.unknown(&prop.value, scope, &mut waiting);
            for key in waiting {
                self.force(key);
            }
        }
        self.prop(prop, scope)
    }

    /// The same for a named value, whose result is kept for later references.
    pub fn settle_once(&mut self, name: &EcoString, prop: &Prop, scope: &Scope) -> Val {
        let site = (scope.node, scope.relationship, prop.at, name.clone());
        if let Some(value) = self.standing.get(&site) {
            if self.watched && self.varying.standing.contains(&site) {
                self.varies.set(true);
            }
            return value.clone();
        }
        if let Some((value, varies)) = self.earlier.and_then(|earlier| earlier.standing(&site)) {
            self.varies.set(self.varies.get() || varies);
            return value.clone();
        }
        let steady = self.steady.as_ref().and_then(|steady| steady.standing(&site));
        if let Some((value, _)) = steady.filter(|(_, varies)| !varies) {
            return value.clone();
        }
        let (value, varies) = self.watching(|evaluator| evaluator.settle(prop, scope));
        if prop.value.has_call() {
            if self.watched && varies {
                self.varying.standing.insert(site.clone());
            }
            self.standing.insert(site, value.clone());
        }
        value
    }

    /// Evaluates, coerces and validates a value.
    pub fn prop(&mut self, prop: &Prop, scope: &Scope) -> Val {
        let value = self.value(prop, scope);
        self.check(prop, &value, scope);
        value
    }

    /// Evaluates and coerces a value.
    fn value(&mut self, prop: &Prop, scope: &Scope) -> Val {
        let value = if prop.value.has_call() {
            self.computed(prop, scope).tainted_by(prop.value.taint())
        } else {
            prop.value.clone()
        };
        match prop.data_type {
            Some(id) if !value.is_opaque() && !coerce::is_plain(self.model, id) => {
                coerce::coerce(self.model, &value, Some(id), prop.definition.as_deref())
            }
            _ => value,
        }
    }

    /// Checks the clauses of a value, and of values that become known meanwhile. Skipped while requirements are being
    /// resolved.
    fn check(&mut self, prop: &Prop, value: &Val, scope: &Scope) {
        if self.resolving || self.earlier.is_some() {
            return; // nobody asks, or it was done before
        }
        let outermost = !std::mem::replace(&mut self.checking, true);
        let ((), varies) = self.watching(|evaluator| {
            evaluator.check_one(prop, value, scope);
            while outermost && let Some((prop, value, scope)) = evaluator.unchecked.pop_front() {
                evaluator.check_one(&prop, &value, &scope);
            }
        });
        self.clauses_vary |= varies;
        self.checking = !outermost;
    }

    fn check_one(&mut self, prop: &Prop, value: &Val, scope: &Scope) {
        if let (Some(id), Some(definition)) = (prop.data_type, prop.definition.as_deref())
            && !value.is_opaque()
            && !matches!(prop.value.data, Data::Null)
        {
            self.validate(value, id, definition, prop.at, scope);
        }
    }

    /// Checks a value without calls, for its problems. Most have no clauses; nothing is allocated for those.
    pub fn inspect(&mut self, prop: &Prop, scope: &Scope) {
        if !self.is_free(prop) {
            self.prop(prop, scope);
        }
    }

    /// Whether a value cannot have clauses.
    fn is_free(&self, prop: &Prop) -> bool {
        let (Some(id), Some(definition)) = (prop.data_type, &prop.definition) else { return true };
        let primitive = self.model.primitive(id);
        let simple = !matches!(primitive, None | Some(Primitive::List | Primitive::Map | Primitive::Scalar));
        let of_type = self.model.complete(id).map_or(&[][..], |complete| complete.clauses("validation"));
        simple && of_type.is_empty() && definition.clauses("validation").is_empty()
    }

    /// The result of a value's calls, checked against its type.
    fn computed(&mut self, prop: &Prop, scope: &Scope) -> Val {
        let expecting = Scope { expected: prop.data_type, ..scope.clone() };
        let found = self.eval(&prop.value, &expecting, 0).and_then(|value| {
            let known = self.afford(&value).map(|weight| weight.opaque.is_none());
            let known = known.map_err(|message| self.limited(Failure::new(message, prop.value.span)))?;
            Ok((value, known))
        });
        match found {
            Ok((value, _)) if value.is_opaque() => value,
            Ok((value, known)) => match (&prop.definition, prop.data_type) {
                (Some(definition), Some(_)) if known => {
                    let plain = coerce::written(&value);
                    if matches!(plain.data, Data::Null) {
                        return plain; // an attribute that is not known yet
                    }
                    let mut checker = Checker::of_results(self.model, &mut self.problems);
                    checker.value(&plain, definition, prop.at)
                }
                _ => value,
            },
            Err(failure) => {
                if self.is_news(&failure) {
                    self.report_failure(failure, prop.at);
                }
                prop.value.with(Data::Poison)
            }
        }
    }

    fn report_failure(&mut self, failure: Failure, at: Span) {
        let rule = failure.limit.unwrap_or(&rules::FUNCTION);
        let mut diagnostic = Diagnostic::at(rule, at, failure.message);
        if failure.span != at && failure.span.file == at.file {
            diagnostic = diagnostic.around(failure.span, "this call");
        }
        self.problems.push(budget::hinted(rule, diagnostic));
    }

    /// Evaluates all calls in a value.
    pub fn eval(&mut self, value: &Val, scope: &Scope, depth: u32) -> Result<Val, Failure> {
        let depth = depth.max(self.level);
        if depth > MAX_DEPTH {
            return Err(Failure::new("functions are nested too deep".to_owned(), value.span));
        }
        self.spend(1).map_err(|message| self.limited(Failure::new(message, value.span)))?;
        match &value.data {
            Data::Call(call) => self.call(value, call, scope, depth),
            // The parts of a list or map have types of their own.
            Data::List(_) | Data::Map(_) if scope.expected.is_some() && value.has_call() => {
                self.eval(value, &Scope { expected: None, ..scope.clone() }, depth)
            }
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

    /// Records the origin of a computed value.
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
        if let (true, Some(first), Some(span)) = (name == "token", pieces.first_mut(), token_span(args)) {
            first.origin = origins.file(span);
        }
        computed.origin = origins.derived(name.clone(), Some(at.span), pieces);
        computed
    }

    /// Reports a problem found while evaluating.
    pub(crate) fn report(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    /// Checks the clauses of a definition and its type on a value, at every level of it.
    fn validate(&mut self, value: &Val, id: DeclId, definition: &Entity, at: Span, scope: &Scope) {
        crate::validate::check(self, value, id, definition, at, scope, 0);
    }
}

/// The location of `token` in a text, if the text is written literally.
fn token_span(args: &[Val]) -> Option<Span> {
    let [whole, separators, Val { data: Data::Int(index), .. }] = args else { return None };
    let (text, separators) = (text_of(whole)?, text_of(separators)?);
    let separators: std::collections::HashSet<char> = separators.chars().collect();
    let mut ends = text.char_indices().filter(|(_, c)| separators.contains(c)).map(|(at, c)| (at, at + c.len_utf8()));
    let index = usize::try_from(*index).ok()?;
    let start = if index == 0 { 0 } else { ends.by_ref().nth(index - 1)?.1 };
    let end = ends.next().map_or(text.len(), |(at, _)| at);
    // Quotes add two characters; with escapes the length is unknown.
    let quote = match (whole.span.end - whole.span.start).checked_sub(u32::try_from(text.len()).ok()?)? {
        0 => 0,
        2 => 1,
        _ => return None,
    };
    let place = |at: usize| Some(whole.span.start + quote + u32::try_from(at).ok()?);
    (!whole.origin.is_derived()).then_some(Span { start: place(start)?, end: place(end.max(start + 1))?, ..whole.span })
}

/// Whether any part of a value is unknown.
fn has_opaque(value: &Val) -> bool {
    first_opaque(value).is_some()
}

/// The first part of a value that is not known.
fn first_opaque(value: &Val) -> Option<&Data> {
    match &value.data {
        Data::Poison | Data::Pending(_) => Some(&value.data),
        Data::List(items) => items.iter().find_map(first_opaque),
        Data::Map(entries) => entries.iter().find_map(|(key, value)| first_opaque(key).or_else(|| first_opaque(value))),
        _ => None,
    }
}
