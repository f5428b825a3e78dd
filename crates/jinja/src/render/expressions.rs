//! Expressions of a template: operators, names, attributes, items.

use super::calls::GLOBALS;
use super::{Output, Renderer, absent, undefined, undefined_error};
use crate::error::{Result, type_error};
use crate::limits::MAX_STRING;
use crate::object::{Loop, Object};
use crate::python;
use crate::val::REDACTED;
use crate::val::place;
use crate::val::{Data, MapKey, Val, ValMap};
use crate::{arithmetic, ast, methods, moment, tests};
use ast::{Comparison, Expr, Place};
use purlin_value::Cost;
use std::cmp::Ordering;
use std::rc::Rc;

impl Renderer<'_> {
    /// Evaluates an element of a collection, which has an origin of its own.
    fn element(&mut self, expr: &Expr) -> Result<Val> {
        let evaluation = self.ctx.evaluation;
        let made = evaluation.part((evaluation.written(), "template"), || self.inner(expr).map(Some));
        Ok(made?.unwrap_or_default())
    }

    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &Expr) -> Result<Val> {
        self.ctx.evaluation.spend(1)?;
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Name(name, at) => self.name(name).map_err(|error| error.at(at.0, at.1)),
            Expr::List(items) => {
                let items: Result<Vec<Val>> = items.iter().map(|item| self.element(item)).collect();
                self.weighed(Val::list(items?))
            }
            Expr::Tuple(items) => {
                let items: Result<Vec<Val>> = items.iter().map(|item| self.inner(item)).collect();
                self.weighed(Val::tuple(items?))
            }
            Expr::Dict(entries) => {
                let mut map = ValMap::default();
                let mut secret_key = false;
                for (key, value) in entries {
                    let key = self.inner(key)?;
                    secret_key |= key.is_tainted();
                    let Some(name) = key.to_key() else {
                        return type_error(format!("unhashable type: '{}'", python::type_name(&key)));
                    };
                    map.insert(name, self.element(value)?);
                }
                self.weighed(Val::map(map).taint_if(secret_key))
            }
            Expr::Attribute(base, name, at) => {
                let base = self.inner(base)?;
                self.attribute_or_undefined(&base, name, expr, *at)
            }
            Expr::Item(base, key, at) => {
                let base = self.inner(base)?;
                let key = self.inner(key)?.plain();
                let tainted = base.is_tainted() || key.is_tainted();
                let found = self.item(&base, &key).map_err(|error| error.hiding(key.is_tainted()).at(at.0, at.1))?;
                match found {
                    Some(found) => Ok(found.taint_if(tainted)),
                    None => {
                        let shown = if key.is_tainted() { REDACTED.into() } else { self.ctx.text(&key)? };
                        Ok(self.not_there(&base, &shown, expr).taint_if(tainted))
                    }
                }
            }
            Expr::Slice(base, parts) => self.slice(base, parts),
            Expr::Call(callee, args, at) => {
                let result = self.ctx.evaluation.deeper(|| self.call(callee, args));
                let made = result.and_then(|value| self.ctx.evaluation.made(&value).map(|()| value));
                made.map_err(|error| error.at(at.0, at.1))
            }
            Expr::Filter(base, call) => {
                let base = self.inner(base)?;
                self.filter(base, call)
            }
            Expr::Test(base, call) => {
                let base = self.inner(base)?;
                let args = self.values(&call.args)?;
                let tainted = base.is_tainted() || args.tainted(self.ctx.evaluation)?;
                let held = tests::run(self, &call.name, &base, &args);
                let held = held.map_err(|error| error.hiding(tainted).at(call.at.0, call.at.1))?;
                Ok(Val::bool(held).taint_if(tainted))
            }
            _ => self.operation(expr),
        }
    }

    /// A collection that was put together, unless it is too large when written out.
    fn weighed(&self, value: Val) -> Result<Val> {
        self.ctx.evaluation.weigh(&value)?;
        self.ctx.evaluation.made(&value)?;
        Ok(value)
    }

    pub(super) fn inner(&mut self, expr: &Expr) -> Result<Val> {
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            _ => self.ctx.evaluation.deeper(|| self.expr(expr)),
        }
    }

    /// An attribute of an evaluated value; `expr` asks for it.
    pub(super) fn attribute_or_undefined(&self, base: &Val, name: &str, expr: &Expr, at: Place) -> Result<Val> {
        let found = self.attribute(base, name).map_err(|error| error.at(at.0, at.1))?;
        Ok(found.unwrap_or_else(|| self.not_there(base, name, expr)).taint_if(base.is_tainted()))
    }

    pub(super) fn operation(&mut self, expr: &Expr) -> Result<Val> {
        match expr {
            Expr::Not(inner) => {
                let value = self.inner(inner)?;
                Ok(Val::bool(!self.truth(&value)?).taint_if(value.is_tainted()))
            }
            Expr::Negative(inner, at) => {
                let value = self.operand(inner)?;
                let zero = Val::int(0);
                let result = arithmetic::apply(ast::Operator::Sub, &zero, &value);
                result.map_err(|error| error.at(at.0, at.1))
            }
            Expr::Positive(inner, at) => {
                let value = self.operand(inner)?;
                arithmetic::apply(ast::Operator::Add, &Val::int(0), &value).map_err(|error| error.at(at.0, at.1))
            }
            Expr::Binary(operator, left, right, at) => {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                let (items, bytes) = arithmetic::foreseen(*operator, &left, &right);
                let room =
                    self.ctx.evaluation.room(items, bytes.min(MAX_STRING)).map_err(|error| error.at(at.0, at.1))?;
                let result = arithmetic::apply(*operator, &left, &right).map_err(|error| error.at(at.0, at.1))?;
                drop(room);
                self.ctx.evaluation.made(&result)?;
                Ok(result)
            }
            Expr::Compare(first, rest, at) => {
                let mut left = self.compared(first)?;
                self.ctx.evaluation.charge_call(Cost::Deep, std::iter::once(&left))?;
                let mut tainted = left.tainted_within();
                for (comparison, right) in rest {
                    let right = self.compared(right)?;
                    self.ctx.evaluation.charge_call(Cost::Deep, std::iter::once(&right))?;
                    tainted |= right.tainted_within();
                    if !self.compare(*comparison, &left, &right).map_err(|error| error.at(at.0, at.1))? {
                        return Ok(Val::bool(false).taint_if(tainted));
                    }
                    left = right;
                }
                Ok(Val::bool(true).taint_if(tainted))
            }
            Expr::And(left, right) => {
                let value = self.inner(left)?;
                if !self.truth(&value)? {
                    return Ok(value);
                }
                self.inner(right).map(|result| result.taint_if(value.is_tainted()))
            }
            Expr::Or(left, right) => {
                let value = self.inner(left)?;
                if self.truth(&value)? {
                    return Ok(value);
                }
                self.inner(right).map(|result| result.taint_if(value.is_tainted()))
            }
            Expr::If(condition, yes, no) => {
                if self.condition(condition)? {
                    return self.inner(yes);
                }
                match no {
                    Some(no) => self.inner(no),
                    None => Ok(absent()),
                }
            }
            Expr::Concat(items) => {
                let mut out = Output::default();
                for item in items {
                    let value = self.inner(item)?;
                    out.push(value, false)?;
                }
                self.concat(out)
            }
            _ => Ok(Val::null()),
        }
    }

    /// An operand, evaluated completely.
    pub(super) fn operand(&mut self, expr: &Expr) -> Result<Val> {
        let value = self.inner(expr)?;
        self.whole(value)
    }

    /// An operand of a comparison. Where undefined values are tolerated they can be compared: they equal nothing.
    fn compared(&mut self, expr: &Expr) -> Result<Val> {
        let value = self.inner(expr)?;
        match &value.data {
            Data::Undefined(undefined) if self.tolerates_undefined() && !undefined.lenient => Ok(value),
            _ => self.whole(value),
        }
    }

    /// A value evaluated completely; undefined is refused.
    pub fn whole(&self, value: Val) -> Result<Val> {
        if let Data::Undefined(undefined) = &value.data {
            return if undefined.lenient { Ok(Val::str("")) } else { Err(undefined_error(undefined)) };
        }
        Ok(self.ctx.host.force(value)?.plain())
    }

    /// Applies a comparison to evaluated values.
    pub fn compare(&self, comparison: Comparison, left: &Val, right: &Val) -> Result<bool> {
        let is_equality = matches!(comparison, Comparison::Eq | Comparison::Ne | Comparison::In | Comparison::NotIn);
        if let (false, Data::Undefined(undefined), _) | (false, _, Data::Undefined(undefined)) =
            (is_equality, &left.data, &right.data)
        {
            return Err(undefined_error(undefined));
        }
        let ordered = |wanted: fn(Ordering) -> bool, symbol: &str| match python::compare(left, right) {
            Some(order) => Ok(wanted(order)),
            None => type_error(format!(
                "'{symbol}' not supported between instances of '{}' and '{}'",
                python::type_name(left),
                python::type_name(right)
            )),
        };
        match comparison {
            Comparison::Eq => Ok(python::equal(left, right)),
            Comparison::Ne => Ok(!python::equal(left, right)),
            Comparison::Lt => ordered(Ordering::is_lt, "<"),
            Comparison::Le => ordered(Ordering::is_le, "<="),
            Comparison::Gt => ordered(Ordering::is_gt, ">"),
            Comparison::Ge => ordered(Ordering::is_ge, ">="),
            Comparison::In => self.contains(right, left),
            Comparison::NotIn => Ok(!self.contains(right, left)?),
        }
    }

    /// Whether a value is among another's items or keys.
    pub fn contains(&self, haystack: &Val, needle: &Val) -> Result<bool> {
        Ok(match &haystack.data {
            Data::Undefined(_) if self.tolerates_undefined() => false,
            Data::Str(text) => match needle.as_str() {
                Some(part) => text.contains(part),
                None => {
                    let found = python::type_name(needle);
                    return type_error(format!("'in <string>' requires string as left operand, not {found}"));
                }
            },
            Data::Map(entries) => needle.to_key().is_some_and(|key| entries.contains_key(&key)),
            Data::Attributes(id) => {
                needle.as_str().is_some_and(|name| self.ctx.host.instances().has_attribute(*id, name))
            }
            _ => self.iterate(haystack)?.iter().any(|item| python::equal(item, needle)),
        })
    }

    pub(super) fn name(&self, name: &str) -> Result<Val> {
        for scope in self.scopes.iter().rev() {
            if let Some((_, value)) = scope.iter().rev().find(|(bound, _)| bound == name) {
                return Ok(value.clone());
            }
        }
        if let Some(value) = self.ctx.host.variable(name)? {
            return Ok(value);
        }
        Ok(match self.injected(name) {
            Some(value) => value,
            None => undefined(name, false, &format!("{{{{ {name} }}}}")),
        })
    }

    /// Names every template sees.
    pub(super) fn injected(&self, name: &str) -> Option<Val> {
        if let Some(value) = self.ctx.host.injected(name) {
            return Some(value);
        }
        match name {
            "__now" => {
                let seconds = self.ctx.evaluation.session.world.now().0 as f64 / 1e9;
                Some(Val::float(seconds))
            }
            "__python_executable" => Some(Val::str("python3")),
            _ => {
                let global = GLOBALS.iter().find(|global| global.name == name)?;
                if self.ctx.mode.safe && !global.safe {
                    return None;
                }
                Some(Data::Object(Rc::new(Object::Global(global.name))).into())
            }
        }
    }

    /// An attribute of a value: a method, or an entry.
    pub fn attribute(&self, base: &Val, name: &str) -> Result<Option<Val>> {
        if let Data::Undefined(_) = &base.data {
            return Ok(Some(base.clone()));
        }
        if let Data::Object(object) = &base.data {
            return Ok(self.object_attribute(object, name));
        }
        if methods::exists(base, name) {
            let method = Object::Method(base.clone(), name.into());
            return Ok(Some(Data::Object(Rc::new(method)).into()));
        }
        if let Some(field) = enum_field(base, name) {
            return Ok(Some(field));
        }
        self.entry(base, name)
    }

    pub(super) fn entry(&self, base: &Val, name: &str) -> Result<Option<Val>> {
        self.ctx.host.field(base, name)
    }

    pub(super) fn object_attribute(&self, object: &Rc<Object>, name: &str) -> Option<Val> {
        match &**object {
            Object::Functions => {
                let function = self.ctx.host.function(name)?;
                Some(Data::Object(Rc::new(Object::Function(function))).into())
            }
            Object::Namespace(entries) => entries.borrow().get(&MapKey::Str(name.into())).cloned(),
            Object::Loop(state) => loop_field(state, name, object),
            Object::Cycler(items, at) if name == "current" => items.get(at.get()).cloned(),
            Object::Macro(macro_, _) if name == "name" => Some(Val::str(macro_.name.clone())),
            _ if methods::exists_on_object(object, name) => {
                let method = Object::Method(Data::Object(Rc::clone(object)).into(), name.into());
                Some(Data::Object(Rc::new(method)).into())
            }
            _ => moment::field(object, name),
        }
    }

    /// The item of a value under a key or index.
    pub fn item(&self, base: &Val, key: &Val) -> Result<Option<Val>> {
        match (&base.data, &key.data) {
            (Data::Undefined(_), _) => Ok(Some(base.clone())),
            (Data::List(_) | Data::Lazy(_) | Data::Str(_), Data::Bool(b)) => self.item(base, &Val::int(i64::from(*b))),
            (Data::List(items), Data::Int(n)) => Ok(place(*n, items.len()).and_then(|at| items.get(at)).cloned()),
            (Data::Lazy(lazy), Data::Int(n)) if lazy.is_list() => match place(*n, lazy.len()) {
                Some(at) => self.ctx.host.item(lazy, at),
                None => Ok(None),
            },
            (Data::Str(text), Data::Int(n)) => {
                let found = place(*n, text.chars().count()).and_then(|at| text.chars().nth(at));
                Ok(found.map(|c| Val::str(c.to_string())))
            }
            (Data::Map(entries), _) => match key.to_key() {
                Some(name) => match entries.get(&name) {
                    Some(value) => Ok(Some(value.clone())),
                    None => self.method_by_key(base, key),
                },
                None => type_error(format!("unhashable type: '{}'", python::type_name(key))),
            },
            (Data::Object(object), Data::Str(name)) => Ok(self.object_attribute(object, name)),
            (_, Data::Str(name)) => match self.entry(base, name)? {
                Some(value) => Ok(Some(value)),
                None => self.method_by_key(base, key),
            },
            (Data::External(external), _) => self.item(&external.value, key),
            (Data::Lazy(lazy), _) => match key.to_key().and_then(|key| lazy.index_of(&key)) {
                Some(at) => self.ctx.host.item(lazy, at),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn method_by_key(&self, base: &Val, key: &Val) -> Result<Option<Val>> {
        let Some(name) = key.as_str().filter(|name| methods::exists(base, name)) else {
            return Ok(None);
        };
        Ok(Some(Data::Object(Rc::new(Object::Method(base.clone(), name.into()))).into()))
    }

    pub(super) fn not_there(&self, base: &Val, name: &str, expr: &Expr) -> Val {
        if matches!(base.data, Data::Undefined(_)) {
            return base.clone();
        }
        undefined(name, true, &format!("{{{{ {} }}}}", source_of(expr, self.text)))
    }

    pub(super) fn slice(&mut self, base: &Expr, parts: &[Option<Box<Expr>>; 3]) -> Result<Val> {
        let base = self.operand(base)?;
        let mut bounds = [None; 3];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            if let Some(part) = part {
                *bound = match self.operand(part)?.data {
                    Data::Int(n) => Some(n),
                    Data::Null => None,
                    _ => return type_error("slice indices must be integers or None"),
                };
            }
        }
        let _held = self.ctx.evaluation.charge_call(Cost::ALL, std::iter::once(&base))?;
        let result = match (base.as_str(), base.as_list()) {
            (Some(text), _) if text.is_ascii() => {
                let bytes = text.as_bytes();
                let picks = slice_places(bounds, bytes.len())?;
                Val::str(picks.filter_map(|at| bytes.get(at)).map(|byte| char::from(*byte)).collect::<String>())
            }
            (Some(text), _) => {
                let _held = self.ctx.evaluation.charge_call(Cost::Slow, std::iter::once(&base))?;
                let chars: Vec<char> = text.chars().collect();
                let picks = slice_places(bounds, chars.len())?;
                Val::str(picks.filter_map(|at| chars.get(at)).collect::<String>())
            }
            (None, Some(items)) => {
                Val::list(slice_places(bounds, items.len())?.filter_map(|at| items.get(at)).cloned().collect())
            }
            (None, None) => return type_error(format!("{} cannot be sliced", base.kind())),
        };
        Ok(result.taint_if(base.is_tainted()))
    }
}

fn enum_field(base: &Val, name: &str) -> Option<Val> {
    let (text, number) = match &base.data {
        Data::Status(status) => (status.name(), *status as i64),
        Data::State(state) => (state.name(), i64::from(state.0)),
        Data::Priority(priority) => (priority.name(), *priority as i64),
        _ => return None,
    };
    match name {
        "name" => Some(Val::str(text)),
        "value" => Some(Val::int(number)),
        _ => None,
    }
}

fn loop_field(state: &Loop, name: &str, object: &Rc<Object>) -> Option<Val> {
    let length = state.items.len();
    Some(match name {
        "index" => Val::len(state.index + 1),
        "index0" => Val::len(state.index),
        "revindex" => Val::len(length - state.index),
        "revindex0" => Val::len(length - state.index - 1),
        "first" => Val::bool(state.index == 0),
        "last" => Val::bool(state.index + 1 == length),
        "length" => Val::len(length),
        "depth" => Val::len(state.depth + 1),
        "depth0" => Val::len(state.depth),
        "previtem" => state.index.checked_sub(1).and_then(|at| state.items.get(at)).cloned()?,
        "nextitem" => state.items.get(state.index + 1).cloned()?,
        "cycle" | "changed" => {
            let method = Object::Method(Data::Object(Rc::clone(object)).into(), name.into());
            Data::Object(Rc::new(method)).into()
        }
        _ => return None,
    })
}

/// The places a slice picks.
fn slice_places(bounds: [Option<i64>; 3], length: usize) -> Result<impl Iterator<Item = usize>> {
    let [start, stop, step] = bounds;
    let step = step.unwrap_or(1);
    if step == 0 {
        return type_error("slice step cannot be zero");
    }
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let clamp = |bound: i64, low: i64, high: i64| {
        let bound = if bound < 0 { bound.saturating_add(length) } else { bound };
        bound.clamp(low, high)
    };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let mut at = start.map_or(if step > 0 { low } else { high }, |bound| clamp(bound, low, high));
    let end = stop.map_or(if step > 0 { high } else { low }, |bound| clamp(bound, low, high));
    let next = move || {
        let here = at;
        let is_in = (step > 0 && here < end) || (step < 0 && here > end);
        at = at.saturating_add(step);
        is_in.then_some(usize::try_from(here).ok())
    };
    Ok(std::iter::from_fn(next).flatten())
}

/// The text of a chain of names, as written.
fn source_of(expr: &Expr, text: &str) -> String {
    match expr {
        Expr::Name(name, _) => name.to_string(),
        Expr::Attribute(base, name, _) => format!("{}.{name}", source_of(base, text)),
        Expr::Item(base, _, at) => {
            let key = text.get(at.0 as usize..at.1 as usize).unwrap_or("");
            format!("{}[{}", source_of(base, text), key)
        }
        _ => String::new(),
    }
}
