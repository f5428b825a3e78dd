//! Long chains of attributes without a deep machine stack.
//!
//! Attributes refer to each other while they are evaluated, which nests. Where that gets deep, the requested attribute
//! is *postponed*: the evaluation is abandoned up to the outermost request, the attribute is evaluated from there, and
//! its dependents are evaluated again and find it ready. Waiting attributes are kept in a list, so chains are as long
//! as memory allows, and each attribute is evaluated about twice at most. Waiting attributes count as being evaluated:
//! a request for one of them is a cycle, and the whole path is known.

use super::engine::Engine;
use super::lazy::Memo;
use crate::error::{Error, Kind, Result};
use crate::tree::{Attribute, NodeId};
use crate::val::Val;
use ecow::EcoString;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// How deep attributes nest before one is postponed.
const MAX_STRETCH: usize = 120;

/// The state of the solver.
#[derive(Default)]
pub struct Solver {
    /// The depth at which the current run started; none if idle.
    floor: Cell<Option<usize>>,
    /// The attribute that must be evaluated first, and the attributes being evaluated when it was requested.
    postponed: RefCell<Option<Postponed>>,
    /// Attributes that failed in this run, so that they are not tried again.
    failed: RefCell<HashMap<(NodeId, EcoString), Error, foldhash::fast::RandomState>>,
    /// The part of the engine's stack that belongs to waiting attributes.
    waiting: Cell<usize>,
}

struct Postponed {
    id: NodeId,
    name: EcoString,
    path: Vec<(NodeId, EcoString)>,
}

/// An attribute to evaluate, and the start of its part of the engine's stack.
struct Task {
    id: NodeId,
    name: EcoString,
    base: usize,
}

impl Engine<'_> {
    /// Evaluates an attribute, now or after its dependencies.
    pub(super) fn solve(&self, id: NodeId, name: &str, attribute: &Attribute) -> Result<Val> {
        match self.solver.floor.get() {
            None => {
                self.solver.floor.set(Some(self.depth()));
                let result = self.run(id, name);
                self.solver.floor.set(None);
                self.solver.failed.borrow_mut().clear();
                result
            }
            Some(floor) if self.depth() >= floor + MAX_STRETCH => self.postpone(id, name),
            Some(_) => self.compute(id, name, attribute),
        }
    }

    /// Evaluates an attribute and all that are postponed on the way.
    fn run(&self, id: NodeId, name: &str) -> Result<Val> {
        let start = self.stack.borrow().len();
        let outer = self.solver.waiting.replace(start);
        let mut tasks = vec![Task { id, name: name.into(), base: start }];
        let mut last = Ok(Val::null());
        while let Some(task) = tasks.last() {
            last = self.attempt(task);
            let postponed = self.solver.postponed.take();
            if let Some(Postponed { id, name, path }) = postponed {
                for (id, name) in &path {
                    self.set_memo(*id, name, Memo::Busy);
                }
                self.stack.borrow_mut().extend(path);
                let base = self.stack.borrow().len();
                tasks.push(Task { id, name, base });
                self.solver.waiting.set(base);
                continue;
            }
            if let (Err(error), Some(task)) = (&last, tasks.pop()) {
                self.solver.failed.borrow_mut().insert((task.id, task.name), (**error).clone());
            }
            if let Some(next) = tasks.last() {
                self.resume(next.base);
            }
        }
        self.solver.waiting.set(outer);
        last
    }

    fn attempt(&self, task: &Task) -> Result<Val> {
        match self.tree.node(task.id).attributes.get(&task.name) {
            Some(attribute) => self.compute(task.id, &task.name, attribute),
            None => Ok(Val::null()),
        }
    }

    /// Takes waiting attributes above a place off the stack, to be evaluated again.
    fn resume(&self, base: usize) {
        let path = self.stack.borrow_mut().split_off(base);
        for (id, name) in &path {
            self.set_memo(*id, name, Memo::Empty);
        }
        self.solver.waiting.set(base);
    }

    fn set_memo(&self, id: NodeId, name: &str, memo: Memo) {
        if let Some(attribute) = self.tree.node(id).attributes.get(name) {
            *attribute.memo.borrow_mut() = memo;
        }
    }

    /// Abandons the current evaluation until an attribute is ready.
    fn postpone(&self, id: NodeId, name: &str) -> Result<Val> {
        let path = self.stack.borrow().get(self.solver.waiting.get()..).unwrap_or(&[]).to_vec();
        *self.solver.postponed.borrow_mut() = Some(Postponed { id, name: name.into(), path });
        Err(given_up())
    }

    /// A result, unless it was computed without a postponed attribute: even if the interruption was swallowed, such a
    /// result must not be kept.
    pub(super) fn unless_postponed<T>(&self, result: Result<T>) -> Result<T> {
        if self.solver.postponed.borrow().is_some() { Err(given_up()) } else { result }
    }

    /// The error of an attribute that failed in this run.
    pub(super) fn failure(&self, id: NodeId, name: &str) -> Option<Box<Error>> {
        let failed = self.solver.failed.borrow();
        if failed.is_empty() {
            return None;
        }
        failed.get(&(id, EcoString::from(name))).cloned().map(Box::new)
    }
}

/// Never shown: the solver catches it.
fn given_up() -> Box<Error> {
    Error::new(Kind::Limit, "an attribute is evaluated later")
}
