//! Collections whose items are evaluated on first access, each once.

use crate::frame::Frame;
use crate::val::{Data, MapKey, Val};
use std::cell::RefCell;
use std::rc::Rc;

/// A cell that is filled once.
#[derive(Debug, Default, Clone)]
pub enum Memo {
    /// Not evaluated yet.
    #[default]
    Empty,
    /// Being evaluated; asking again is a cycle.
    Busy,
    /// Evaluated.
    Done(Val),
}

/// A list or map as written, with the context to evaluate its items.
#[derive(Debug)]
pub struct Lazy {
    /// As written: a list or a map.
    pub raw: Val,
    /// The surroundings its items are evaluated in.
    pub frame: Rc<Frame>,
    /// One cell for each item or entry.
    pub cells: RefCell<Vec<Memo>>,
}

impl Lazy {
    /// A lazy view of a list or map.
    pub fn new(raw: Val, frame: Rc<Frame>) -> Self {
        let len = match &raw.data {
            Data::List(items) => items.len(),
            Data::Map(entries) => entries.len(),
            _ => 0,
        };
        Lazy { raw, frame, cells: RefCell::new(vec![Memo::Empty; len]) }
    }

    /// How many items or entries it has.
    pub fn len(&self) -> usize {
        match &self.raw.data {
            Data::List(items) => items.len(),
            Data::Map(entries) => entries.len(),
            _ => 0,
        }
    }

    /// Whether it has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.raw.data, Data::List(_))
    }

    /// Its kind, in words.
    pub fn kind(&self) -> &'static str {
        if self.is_list() { "a list" } else { "a map" }
    }

    /// The place of a key.
    pub fn index_of(&self, key: &MapKey) -> Option<usize> {
        match &self.raw.data {
            Data::Map(entries) => entries.get_index_of(key),
            _ => None,
        }
    }

    /// The key at a place.
    pub fn key_at(&self, index: usize) -> Option<&MapKey> {
        match &self.raw.data {
            Data::Map(entries) => entries.get_index(index).map(|(key, _)| key),
            _ => None,
        }
    }

    /// The item or entry at a place, as written.
    pub fn raw_at(&self, index: usize) -> Option<&Val> {
        match &self.raw.data {
            Data::List(items) => items.get(index),
            Data::Map(entries) => entries.get_index(index).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Calls `go_on` with each evaluated item while it returns true; returns whether it always did.
    pub fn each_evaluated(&self, go_on: &mut dyn FnMut(&Val) -> bool) -> bool {
        self.cells.borrow().iter().all(|cell| match cell {
            Memo::Done(value) => go_on(value),
            Memo::Empty | Memo::Busy => true,
        })
    }
}
