//! Calls in a template: filters, functions, macros, methods.

use super::{Renderer, Values, undefined, undefined_error};
use crate::ast::{Args, Expr, FilterCall, Macro};
use crate::error::{Result, limit_of, missing, type_error, value_error};
use crate::limits::MAX_ITEMS;
use crate::object::Object;
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};
use crate::{filters, methods, moment};
use ecow::EcoString;
use purlin_value::rules::LIMIT_LIST;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Renderer<'_> {
    pub(super) fn filter_chain(&mut self, mut value: Val, calls: &[FilterCall]) -> Result<Val> {
        for call in calls {
            value = self.filter(value, call)?;
        }
        Ok(value)
    }

    pub(super) fn filter(&mut self, base: Val, call: &FilterCall) -> Result<Val> {
        let args = self.values(&call.args)?;
        self.apply_filter(&call.name, base, &args).map_err(|error| error.at(call.at.0, call.at.1))
    }

    /// Applies a filter by name.
    pub fn apply_filter(&mut self, name: &str, base: Val, args: &Values) -> Result<Val> {
        self.ctx.evaluation.deeper(|| filters::run(self, name, base, args))
    }

    pub(super) fn values(&mut self, args: &Args) -> Result<Values> {
        let mut values = Values::default();
        for arg in &args.positional {
            values.positional.push(self.inner(arg)?);
        }
        for (name, arg) in &args.named {
            values.named.push((name.clone(), self.inner(arg)?));
        }
        if let Some(spread) = &args.spread {
            let spread = self.inner(spread)?;
            values.positional.extend(self.iterate(&spread)?);
        }
        if let Some(spread) = &args.spread_named {
            let spread = self.operand(spread)?;
            for (key, value) in spread.as_map().into_iter().flatten() {
                values.named.extend(key.as_str().map(|key| (EcoString::from(key), value.clone())));
            }
        }
        Ok(values)
    }

    pub(super) fn call(&mut self, callee: &Expr, args: &Args) -> Result<Val> {
        let callee_value = match callee {
            Expr::Attribute(base, method, at) if methods::is_changing(method) => {
                let value = self.collection(base)?;
                if methods::changes(&value, method) {
                    return self.change(base, value, method, args);
                }
                self.attribute_or_undefined(&value, method, callee, *at)?
            }
            _ => self.expr(callee)?,
        };
        let args = self.values(args)?;
        self.call_value(&callee_value, args)
    }

    /// The object of a method that changes collections, evaluated far enough to know its kind.
    fn collection(&mut self, base: &Expr) -> Result<Val> {
        let value = self.inner(base)?;
        let tainted = value.is_tainted();
        match value.data {
            Data::List(_) | Data::Map(_) | Data::Object(_) | Data::Undefined(_) => Ok(value),
            _ => Ok(self.whole(value)?.taint_if(tainted)),
        }
    }

    /// Calls a method that changes a collection: the template's variable is bound to the changed one.
    fn change(&mut self, base: &Expr, mut value: Val, method: &str, args: &Args) -> Result<Val> {
        let Expr::Name(name, _) = base else {
            let args = self.values(args)?;
            let tainted = value.is_tainted() || args.tainted(self.ctx.evaluation)?;
            return methods::change(self, &mut value, method, args).map(|result| result.taint_if(tainted));
        };
        // The arguments may change it too. Then it is taken out of the variable, so that it is not shared.
        self.rebind(name, value);
        let args = self.values(args)?;
        let mut value = self.slot(name).map(std::mem::take).unwrap_or_default();
        let tainted = value.is_tainted() || args.tainted(self.ctx.evaluation)?;
        let result = methods::change(self, &mut value, method, args);
        self.rebind(name, value.taint_if(tainted));
        result.map(|result| result.taint_if(tainted))
    }

    /// Calls a value with evaluated arguments.
    pub fn call_value(&mut self, callee: &Val, args: Values) -> Result<Val> {
        let object = match &callee.data {
            Data::Object(object) => Rc::clone(object),
            Data::Undefined(undefined) => return Err(undefined_error(undefined)),
            _ => return type_error(format!("'{}' object is not callable", python::type_name(callee))),
        };
        match &*object {
            Object::Function(function) => self.ctx.host.call(function, args),
            Object::Global(name) => self.call_global(name, args),
            Object::Method(base, name) => {
                let tainted = base.is_tainted() || args.tainted(self.ctx.evaluation)?;
                methods::call(self, base, name, args).map(|value| value.taint_if(tainted))
            }
            Object::Macro(macro_, around) => self.call_macro(macro_, around, args),
            Object::Joiner(separator, started) => {
                Ok(Val::str(if started.replace(true) { separator.clone() } else { EcoString::new() }))
            }
            _ => type_error("this object cannot be called"),
        }
    }

    pub(super) fn call_macro(&mut self, macro_: &Rc<Macro>, around: &[(EcoString, Val)], args: Values) -> Result<Val> {
        let mut bound = Vec::new();
        for (at, (name, default)) in macro_.params.iter().enumerate() {
            let value = match (args.get(at, name), default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.inner(default)?,
                (None, None) => undefined(name, false, &format!("{{{{ {name} }}}}")),
            };
            bound.push((name.clone(), value));
        }
        let extra: Vec<Val> = args.positional.into_iter().skip(macro_.params.len()).collect();
        self.scoped(|render| {
            for (name, value) in around.iter().cloned().chain(bound) {
                render.bind(&name, value);
            }
            render.bind("varargs", Val::list(extra));
            render.captured(&macro_.body)
        })
    }

    /// A map, or pairs of keys and values, as a map; and whether that is secret as a whole, as its keys may be.
    fn pairs(&mut self, from: &Val) -> Result<(ValMap, bool)> {
        let from = self.whole(from.clone())?;
        let mut secret = from.is_tainted();
        if let Some(map) = from.as_map() {
            return Ok((map.clone(), secret));
        }
        let mut map = ValMap::default();
        for (at, pair) in self.iterate(&from)?.into_iter().enumerate() {
            let pair = self.whole(pair)?;
            let parts = match pair.data {
                Data::Str(_) | Data::List(_) | Data::Map(_) => self.iterate(&pair)?,
                _ => return type_error(format!("`dict` needs pairs, and item {at} is none")),
            };
            let [key, value] = parts.as_slice() else {
                let count = parts.len();
                return value_error(format!("`dict` needs pairs, and item {at} has length {count}"));
            };
            let key = self.whole(key.clone())?;
            let Some(name) = key.to_key() else {
                return type_error(format!("unhashable type: '{}'", python::type_name(&key)));
            };
            secret |= key.is_tainted() || pair.is_tainted();
            map.insert(name, value.clone());
        }
        Ok((map, secret))
    }

    pub(super) fn call_global(&mut self, name: &str, args: Values) -> Result<Val> {
        match name {
            "range" => self.range(&args),
            "dict" => {
                let (mut map, secret) = match args.positional.as_slice() {
                    [] => (ValMap::default(), false),
                    [first] => self.pairs(first)?,
                    more => {
                        return type_error(format!("`dict` expected at most 1 argument, got {}", more.len()));
                    }
                };
                map.extend(args.named.into_iter().map(|(name, value)| (MapKey::Str(name), value)));
                Ok(Val::map(map).taint_if(secret))
            }
            "namespace" => {
                let map = args.named.into_iter().map(|(name, value)| (MapKey::Str(name), value)).collect();
                Ok(Data::Object(Rc::new(Object::Namespace(RefCell::new(map)))).into())
            }
            "cycler" => Ok(Data::Object(Rc::new(Object::Cycler(args.positional, Cell::new(0)))).into()),
            "joiner" => {
                let separator = args.get(0, "sep").and_then(Val::as_str).unwrap_or(", ").into();
                Ok(Data::Object(Rc::new(Object::Joiner(separator, Cell::new(false)))).into())
            }
            "now" => moment::moment(self.ctx.evaluation.session.world.now().0),
            "undef" => Ok(undefined("undef", false, "")),
            "lookup" | "query" | "q" => {
                let Some((plugin, rest)) = args.positional.split_first() else {
                    return type_error("`lookup` needs the name of a lookup");
                };
                let plugin = self.ctx.text(plugin)?;
                let mut terms = Vec::new();
                for term in rest {
                    terms.push(self.ctx.host.force(term.clone())?);
                }
                let secret = args.tainted(self.ctx.evaluation)?;
                let found = self.ctx.host.lookup(&plugin, terms, &args.named);
                let found = found.map_err(|error| error.hiding(secret))?;
                if name != "lookup" || args.get(usize::MAX, "wantlist").is_some_and(python::truthy) {
                    return Ok(Val::list(found));
                }
                self.joined(found)
            }
            _ => missing(format!("unknown function `{name}`")),
        }
    }

    /// What `lookup` makes of several results: text joined by commas, or the one result.
    fn joined(&self, mut found: Vec<Val>) -> Result<Val> {
        if found.len() == 1 {
            return Ok(found.pop().unwrap_or_else(Val::null));
        }
        if found.is_empty() {
            return Ok(Val::list(found));
        }
        let mut texts = Vec::new();
        let mut tainted = false;
        for value in &found {
            if !matches!(value.data, Data::Str(_)) {
                return Ok(Val::list(found));
            }
            tainted |= value.is_tainted();
            texts.push(self.ctx.text(value)?);
        }
        Ok(Val::str(texts.join(",")).taint_if(tainted))
    }

    pub(super) fn range(&self, args: &Values) -> Result<Val> {
        let mut numbers = Vec::new();
        for arg in &args.positional {
            match &arg.data {
                Data::Int(n) => numbers.push(*n),
                _ => {
                    let found = python::type_name(arg);
                    return type_error(format!("'{found}' object cannot be interpreted as an integer"));
                }
            }
        }
        let (start, stop, step) = match numbers.as_slice() {
            [stop] => (0, *stop, 1),
            [start, stop] => (*start, *stop, 1),
            [start, stop, step] if *step != 0 => (*start, *stop, *step),
            _ => return type_error("`range` expects one to three integers"),
        };
        let count = (stop.saturating_sub(start)) / step;
        if usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) > MAX_ITEMS {
            return limit_of(&LIMIT_LIST, format!("a range has more than {MAX_ITEMS} items"));
        }
        let mut items = Vec::new();
        let mut at = start;
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            items.push(Val::int(at));
            at = at.saturating_add(step);
        }
        self.ctx.evaluation.spend(items.len())?;
        Ok(Val::list(items))
    }
}

/// A function every template sees.
pub struct Global {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there in safe mode.
    pub safe: bool,
}

/// Functions every template sees.
pub const GLOBALS: &[Global] = &[
    Global { name: "range", safe: true },
    Global { name: "dict", safe: true },
    Global { name: "namespace", safe: true },
    Global { name: "cycler", safe: true },
    Global { name: "joiner", safe: true },
    Global { name: "lookup", safe: false },
    Global { name: "query", safe: false },
    Global { name: "q", safe: false },
    Global { name: "now", safe: false },
    Global { name: "undef", safe: false },
];
