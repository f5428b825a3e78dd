//! Evaluating from a place: the current item, variables and strictness around an expression.

use super::engine::{Ctx, is_static};
use super::frame::{Frame, Scope, Source, Variable, find};
use super::lazy::{Lazy, Memo};
use super::{form, path};
use crate::error::{Error, Kind, Result};
use crate::jinja;
use crate::python;
use crate::tree::NodeId;
use crate::val::{Data, Val};
use ecow::EcoString;
use std::rc::Rc;

impl<'e, 'w> Ctx<'e, 'w> {
    /// The same context with another frame.
    pub fn with(&self, frame: Frame) -> Ctx<'e, 'w> {
        Ctx { engine: self.engine, frame: Rc::new(frame) }
    }

    /// A layer of variables over the current ones.
    pub fn layer(&self, variables: Vec<Variable>) -> Rc<Scope> {
        Rc::new(Scope {
            variables,
            parent: self.frame.scope.clone(),
            home: self.frame.current.clone(),
            mode: self.frame.mode,
            dir: self.frame.dir.clone(),
        })
    }

    /// The same context with further variables.
    pub(crate) fn with_variables(&self, variables: Vec<Variable>) -> Ctx<'e, 'w> {
        if variables.is_empty() {
            return self.clone();
        }
        let scope = Some(self.layer(variables));
        self.with(Frame { scope, ..(*self.frame).clone() })
    }

    /// The same context at another current item.
    pub fn at(&self, current: Val) -> Ctx<'e, 'w> {
        self.with(Frame { current, ..(*self.frame).clone() })
    }

    /// Whether undefined names are errors.
    pub fn strict(&self) -> bool {
        self.frame.mode.strict
    }

    /// The instance the expression belongs to: the current one, or where it started.
    pub fn instance(&self) -> NodeId {
        match (&self.frame.current.data, &self.frame.start.data) {
            (Data::Node(id), _) | (_, Data::Node(id)) => *id,
            _ => self.engine.tree.root(),
        }
    }

    /// A variable's value; none if it does not exist.
    pub fn variable(&self, name: &str) -> Result<Option<Val>> {
        if let Some((scope, variable)) = find(&self.frame.scope, name) {
            let value = self.read_variable(scope, variable)?;
            self.engine.note_read(&value);
            return Ok(Some(value));
        }
        Ok(match name {
            "true" => Some(Val::bool(true)),
            "false" => Some(Val::bool(false)),
            "null" => Some(Val::null()),
            "start" => Some(self.frame.start.clone()),
            _ => None,
        })
    }

    fn read_variable(&self, scope: &Rc<Scope>, variable: &Variable) -> Result<Val> {
        let (raw, memo) = match &variable.value {
            Source::Ready(value) => return Ok(value.clone()),
            Source::Written(raw, memo) => (raw, memo),
        };
        let state = memo.borrow().clone();
        match state {
            Memo::Done(value) => Ok(value),
            Memo::Busy => {
                Err(Error::new(Kind::Cycle, format!("the variable `${}` is defined by itself", variable.name)))
            }
            Memo::Empty => {
                *memo.borrow_mut() = Memo::Busy;
                let ctx = self.with(Frame {
                    current: scope.home.clone(),
                    start: self.frame.start.clone(),
                    scope: Some(Rc::clone(scope)),
                    mode: scope.mode,
                    dir: scope.dir.clone(),
                });
                let result = self.engine.unless_postponed(self.engine.deeper(|| ctx.evaluate(raw)));
                *memo.borrow_mut() = match &result {
                    Ok(value) => Memo::Done(value.clone()),
                    Err(_) => Memo::Empty,
                };
                result
            }
        }
    }

    /// Evaluates a value as written: expressions and templates in it are computed, collections become lazy.
    pub fn evaluate(&self, raw: &Val) -> Result<Val> {
        match &raw.data {
            Data::Str(text) if jinja::is_template(text) => {
                let value = jinja::render(self, text)?;
                let origin = if value.origin.is_known() { value.origin } else { raw.origin };
                Ok(value.taint_if(raw.is_tainted()).from_origin(origin))
            }
            Data::Map(entries) => {
                if let Some(form) = form::Form::of(entries) {
                    let value = form::one(self, &form)?;
                    let origin = if !value.origin.is_known() { raw.origin } else { value.origin };
                    return Ok(value.taint_if(raw.is_tainted()).from_origin(origin));
                }
                Ok(self.lazily(raw))
            }
            Data::List(_) => Ok(self.lazily(raw)),
            Data::Pending(pending) => Err(Error::pending(pending)),
            Data::Broken => Err(Error::new(Kind::Reported, "this value is broken")),
            _ => Ok(raw.clone()),
        }
    }

    /// A collection whose items are evaluated on access; unchanged if it has no expressions.
    fn lazily(&self, raw: &Val) -> Val {
        if is_static(raw, 0) {
            return raw.clone();
        }
        let lazy = Lazy::new(raw.clone(), Rc::clone(&self.frame));
        raw.clone().with(Data::Lazy(Rc::new(lazy)))
    }

    /// Evaluates a value as written, completely.
    pub fn map_value(&self, raw: &Val) -> Result<Val> {
        let value = self.evaluate(raw).and_then(|value| self.engine.force(value));
        value.map_err(|error| self.engine.scrubbed(error))
    }

    /// `str(value)`.
    pub fn text(&self, value: &Val) -> Result<EcoString> {
        if let Data::Str(text) = &value.data {
            return Ok(text.clone());
        }
        let value = self.engine.force(value.clone())?;
        self.engine.note_parts(&value);
        Ok(python::to_text(&value, self.engine.tree))
    }

    /// The matches of a query, evaluated from here.
    pub fn query(&self, text: &str) -> Result<Vec<Val>> {
        let query = self.engine.query(text)?;
        path::run(self, &query, text)
    }
}
