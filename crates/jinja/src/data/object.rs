//! Values that only templates have: functions, macros, loops, namespaces, moments.

use crate::ast::Macro;
use crate::val::{Val, ValMap};
use ecow::EcoString;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A template's own object.
#[derive(Debug)]
pub enum Object {
    /// `$break` of a `foreach`.
    Break,
    /// `$continue` of a `foreach`.
    Continue,
    /// Its attributes are the functions that the host offers.
    Functions,
    /// A function of the host, by name.
    Function(&'static str),
    /// A function of templates, by name.
    Global(&'static str),
    /// A method bound to a value.
    Method(Val, EcoString),
    /// A macro and the variables around it.
    Macro(Rc<Macro>, Vec<(EcoString, Val)>),
    /// `namespace()`
    Namespace(RefCell<ValMap>),
    /// `loop`
    Loop(Loop),
    /// `cycler()`
    Cycler(Vec<Val>, Cell<usize>),
    /// `joiner()`
    Joiner(EcoString, Cell<bool>),
    /// A moment, in nanoseconds since 1970.
    Moment(i128),
    /// The time between two moments, in nanoseconds.
    Duration(i128),
}

/// Where a loop is.
#[derive(Debug)]
pub struct Loop {
    /// All items.
    pub items: Rc<Vec<Val>>,
    /// The present one.
    pub index: usize,
    /// How deep in recursive loops.
    pub depth: usize,
}
