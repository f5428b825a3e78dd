//! The surroundings of an evaluation: the current item, the variables, the mode.

use crate::lazy::Memo;
use crate::val::Val;
use ecow::EcoString;
use std::cell::RefCell;
use std::rc::Rc;

/// The environment of an expression. Frames are shared by the lazy values made in them.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The current instance or item.
    pub current: Val,
    /// The instance the outermost expression started at.
    pub start: Val,
    /// Variables.
    pub scope: Option<Rc<Scope>>,
    /// The rules that apply.
    pub mode: Mode,
    /// Directory of the file the expression is written in; empty is the ensemble's.
    pub dir: EcoString,
}

/// The rules that apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Whether something undefined in a template is an error.
    pub strict: bool,
    /// Whether only functions without effects are allowed.
    pub safe: bool,
    /// Whether this is the body of a `foreach` or `select`: queries start at the item, without searching ancestors.
    pub body: bool,
    /// Whether an attribute is being evaluated; templates then see all nodes.
    pub attribute: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Mode { strict: true, safe: false, body: false, attribute: false }
    }
}

/// A layer of variables over another.
#[derive(Debug)]
pub struct Scope {
    /// The variables of this layer.
    pub variables: Vec<Variable>,
    /// The layer below.
    pub parent: Option<Rc<Scope>>,
    /// Where the variables were defined.
    pub home: Val,
    /// The rules where they were defined.
    pub mode: Mode,
    /// The directory where they were defined.
    pub dir: EcoString,
}

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: EcoString,
    /// Its value: as written, or evaluated already.
    pub value: Source,
}

/// Where a variable's value comes from.
#[derive(Debug)]
pub enum Source {
    /// Evaluated already.
    Ready(Val),
    /// Evaluated on first use, in the scope it is defined in.
    Written(Val, RefCell<Memo>),
}

impl Variable {
    /// A variable with a value.
    pub fn ready(name: impl Into<EcoString>, value: Val) -> Self {
        Variable { name: name.into(), value: Source::Ready(value) }
    }

    /// A variable with an expression.
    pub fn written(name: impl Into<EcoString>, value: Val) -> Self {
        Variable { name: name.into(), value: Source::Written(value, RefCell::new(Memo::Empty)) }
    }
}

/// Finds a variable and the layer it is in.
pub fn find<'s>(scope: &'s Option<Rc<Scope>>, name: &str) -> Option<(&'s Rc<Scope>, &'s Variable)> {
    let mut layer = scope.as_ref();
    while let Some(scope) = layer {
        if let Some(variable) = scope.variables.iter().find(|variable| variable.name == name) {
            return Some((scope, variable));
        }
        layer = scope.parent.as_ref();
    }
    None
}
