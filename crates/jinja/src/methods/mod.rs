//! Methods of values that templates call: those of Python's strings, lists and maps. Each is a row ([`rows`],
//! [`changing`]), which calls, costs, completion and the reference read.
//!
//! A method that changes a list or map (`append`, `update`) changes the collection held by the template's own
//! variable. The change is not visible elsewhere: shared collections are copied first; see [`change`].

mod changing;
mod rows;
mod strings;

use crate::error::{Error, Kind};
use crate::error::{Result, type_error, value_error};
use crate::moment;
use crate::object::Object;
use crate::python;
use crate::render::{Renderer, Values};
use crate::val::{Data, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::what;
use purlin_value::function::{self, Function};
use std::rc::Rc;

pub use changing::{LIST_CHANGES, MAP_CHANGES, change, changes, is_changing};
pub use rows::{LIST, MAP, STRING};

/// A method of a kind of value.
pub type Method<T> = Function<Calling<T>>;

/// How a method is called.
pub struct Calling<T: ?Sized + 'static> {
    run: fn(&Called<'_, '_>, &T) -> Result<Val>,
    /// Whether its arguments may be given by name.
    named: bool,
}

/// A call of a method with evaluated arguments.
struct Called<'a, 'c> {
    render: &'a Renderer<'c>,
    base: &'a Val,
    args: &'a Values,
    /// The first argument as text. Without a separator, text is split or stripped at white space.
    needle: Option<EcoString>,
}

impl Called<'_, '_> {
    /// An argument as text.
    fn text(&self, at: usize) -> Result<Option<EcoString>> {
        self.args.positional.get(at).map(|value| self.render.ctx.text(value)).transpose()
    }

    /// An argument, if it is an integer.
    fn number(&self, at: usize) -> Option<i64> {
        match self.args.positional.get(at).map(|value| &value.data) {
            Some(Data::Int(n)) => Some(*n),
            _ => None,
        }
    }

    /// An argument as a count.
    fn count(&self, at: usize) -> Option<usize> {
        self.number(at).and_then(|count| usize::try_from(count).ok())
    }

    /// The text to look for; empty if none is given.
    fn part(&self) -> &str {
        self.needle.as_deref().unwrap_or("")
    }
}

/// Puts named arguments into their positions. An unknown name is rejected, so that it is not silently ignored.
fn placed(method: &str, names: &[function::Parameter], args: Values) -> Result<Values> {
    if args.named.is_empty() || method == "format" {
        return Ok(args);
    }
    let mut positional = args.positional;
    let given = positional.len();
    for (name, value) in args.named {
        match names.iter().position(|known| *known.name == *name) {
            Some(at) if at >= given => {
                positional.resize(positional.len().max(at + 1), Val::null());
                if let Some(place) = positional.get_mut(at) {
                    *place = value;
                }
            }
            Some(_) => return type_error(format!("`{method}` is given `{name}` twice")),
            None => return type_error(format!("`{method}` takes no argument `{name}`")),
        }
    }
    Ok(Values { positional, named: Vec::new() })
}

/// Whether a value has a method.
pub fn exists(base: &Val, name: &str) -> bool {
    match &base.data {
        Data::Str(_) | Data::Bytes(_) => function::find(STRING, name).is_some(),
        Data::List(_) => function::find(LIST, name).is_some(),
        Data::Lazy(lazy) if lazy.is_list() => function::find(LIST, name).is_some(),
        Data::Map(_) | Data::Lazy(_) | Data::Attributes(_) | Data::AllNodes(_) | Data::AllAttributes(_) => {
            function::find(MAP, name).is_some()
        }
        Data::External(external) => exists(&external.value, name),
        _ => false,
    }
}

fn no_method<T>(name: &str) -> Result<T> {
    let error = Error::new(Kind::Missing, format!("missing attribute or key: \"{name}\""));
    Err(error.plain(what::unknown("attribute or key", name)))
}

/// Whether an object of templates has a method.
pub fn exists_on_object(object: &Object, name: &str) -> bool {
    match object {
        Object::Cycler(..) => matches!(name, "next" | "reset"),
        _ => moment::has_method(object, name),
    }
}

/// Calls a method.
pub fn call(render: &mut Renderer<'_>, base: &Val, name: &str, args: Values) -> Result<Val> {
    if let Data::Object(object) = &base.data {
        return object_method(object, name, &args);
    }
    let base = render.whole(base.clone())?;
    match &base.data {
        Data::Str(text) => of_kind(render, &base, (STRING, text.as_str()), name, args),
        Data::List(items) => of_kind::<[Val]>(render, &base, (LIST, items), name, args),
        Data::Map(entries) => of_kind::<ValMap>(render, &base, (MAP, entries), name, args),
        Data::Bytes(bytes) if name == "decode" => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Val::str(text)),
            Err(_) => value_error("the bytes are not text"),
        },
        _ => no_method(name),
    }
}

/// Calls a method of one kind of value.
fn of_kind<T: ?Sized>(
    render: &Renderer<'_>,
    base: &Val,
    (methods, value): (&'static [Method<T>], &T),
    name: &str,
    args: Values,
) -> Result<Val> {
    let row = function::find(methods, name);
    let names = row.filter(|row| row.call.named).map_or(&[][..], |row| row.parameters);
    let args = placed(name, names, args)?;
    let Some(row) = row else { return no_method(name) };
    let _held = render.ctx.evaluation.charge_call(row.cost, std::iter::once(base).chain(&args.positional))?;
    let needle = match &base.data {
        Data::Str(_) if !cuts_at_blanks(name, &args) => {
            args.positional.first().map(|value| render.ctx.text(value)).transpose()?
        }
        _ => None,
    };
    (row.call.run)(&Called { render, base, args: &args, needle }, value)
}

/// Whether a method cuts at white space, since it is given null in place of a separator.
fn cuts_at_blanks(name: &str, args: &Values) -> bool {
    let is_cutting = matches!(name, "split" | "rsplit" | "strip" | "lstrip" | "rstrip");
    is_cutting && args.positional.first().is_some_and(Val::is_null)
}

fn object_method(object: &Rc<Object>, name: &str, args: &Values) -> Result<Val> {
    match (&**object, name) {
        (Object::Cycler(items, at), "next") => {
            let current = items.get(at.get()).cloned().unwrap_or_else(Val::null);
            at.set((at.get() + 1) % items.len().max(1));
            Ok(current)
        }
        (Object::Cycler(_, at), "reset") => {
            at.set(0);
            Ok(Val::null())
        }
        (Object::Loop(state), "cycle") => match args.positional.len() {
            0 => type_error("`loop.cycle` needs values"),
            count => Ok(args.positional.get(state.index % count).cloned().unwrap_or_else(Val::null)),
        },
        (Object::Loop(state), "changed") => {
            let now = Val::list(args.positional.clone());
            let before = state.index.checked_sub(1).and_then(|at| state.items.get(at)).cloned();
            let same = before.is_some_and(|before| python::equal(&Val::list(vec![before]), &now));
            Ok(Val::bool(!same))
        }
        _ if moment::has_method(object, name) => moment::call(object, name, args),
        _ => no_method(name),
    }
}
