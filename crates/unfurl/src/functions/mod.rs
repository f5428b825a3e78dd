//! The functions of expressions: a table, one row each.

pub mod environment;
pub mod external;
pub mod files;
pub mod images;
pub mod labels;
pub mod logic;
pub mod paths;
pub mod python;
pub mod random;
mod rows;
pub mod scalars;
pub mod schema;
pub mod text;
pub mod topology;

use crate::error::Result;
use crate::eval::Ctx;
use crate::val::{MapKey, Val, ValMap};
pub use purlin_jinja::codecs;
use purlin_value::function::{self, Parameter};
pub use rows::FUNCTIONS;

/// The implementation of a function.
pub type Run = fn(&Ctx<'_, '_>, &Call<'_>) -> Result<Val>;

/// A function.
pub type Function = purlin_value::function::Function<Calling>;

/// The calling convention of a function.
#[derive(Debug)]
pub struct Calling {
    /// The implementation.
    run: Run,
    /// How its parameters are written.
    form: Form,
    /// Whether it needs no `eval` around it.
    pub standalone: bool,
    /// Whether it has no effects and reads no outside data, so that safe mode allows it.
    pub safe: bool,
    /// Whether its result is one match even if it is a list.
    pub whole: bool,
    /// Whether arguments after the first are its named ones, if it is called from a template.
    pub by_place: bool,
}

/// How the parameters of a function are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The first is the function's value, the others are keys beside it.
    Keys,
    /// A list of all.
    List,
    /// The first alone, or a list of all.
    OneOrList,
    /// A mapping of all.
    Map,
}

/// The parameters of a function, in source form: `[a, b]`, `test, then?, else?`.
pub fn takes(function: &Function) -> String {
    let shown = function.shown_parameters();
    let all = shown.join(", ");
    match (function.call.form, shown.first()) {
        (_, None) => "null".to_owned(),
        (Form::Keys, Some(_)) => all,
        (Form::List, Some(_)) => format!("[{all}]"),
        (Form::OneOrList, Some(first)) => format!("{first} | [{all}]"),
        (Form::Map, Some(_)) => format!("{{{all}}}"),
    }
}

/// Calls a function; its result is charged.
pub fn call(function: &Function, ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let _held = if call.ready {
        Some(ctx.engine.charge_call(function.cost, std::iter::once(call.arg).chain(call.entries.values()))?)
    } else {
        ctx.engine.spend(1)?;
        None
    };
    let result = (function.call.run)(ctx, call)?;
    ctx.engine.made(&result)?;
    if result.is_tainted() {
        ctx.engine.note_secret(&result);
    }
    Ok(result)
}

/// A call of a function.
pub struct Call<'v> {
    /// Which one.
    pub name: &'static str,
    /// Its argument.
    pub arg: &'v Val,
    /// The map it is written in: further arguments by name.
    pub entries: &'v ValMap,
    /// Whether arguments are evaluated already.
    pub ready: bool,
}

impl Call<'_> {
    /// The argument, evaluated.
    pub fn value(&self, ctx: &Ctx<'_, '_>) -> Result<Val> {
        self.evaluated(ctx, self.arg)
    }

    /// A part of the call, evaluated unless it is already.
    pub fn evaluated(&self, ctx: &Ctx<'_, '_>, raw: &Val) -> Result<Val> {
        if self.ready { ctx.engine.force(raw.clone()) } else { ctx.map_value(raw) }
    }

    /// A named argument as written.
    pub fn raw(&self, name: &str) -> Option<&Val> {
        self.entries.get(&MapKey::Str(name.into()))
    }

    /// A named argument, evaluated.
    pub fn named(&self, ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
        self.raw(name).map(|raw| self.evaluated(ctx, raw)).transpose()
    }
}

/// A function that may read or write outside.
const fn full(
    name: &'static str,
    form: Form,
    parameters: &'static [Parameter],
    summary: &'static str,
    run: Run,
) -> Function {
    let call = Calling { run, form, standalone: false, safe: false, whole: false, by_place: false };
    Function::new(name, parameters, summary, call)
}

/// A function under `eval` without effects.
const fn pure(
    name: &'static str,
    form: Form,
    parameters: &'static [Parameter],
    summary: &'static str,
    run: Run,
) -> Function {
    let function = full(name, form, parameters, summary, run);
    Function { call: Calling { safe: true, ..function.call }, ..function }
}

/// A function that needs no `eval` around it.
const fn alone(function: Function) -> Function {
    Function { call: Calling { standalone: true, ..function.call }, ..function }
}

/// A function whose result is one match.
const fn whole(function: Function) -> Function {
    Function { call: Calling { whole: true, ..function.call }, ..function }
}

/// A function whose further arguments may be given by place when it is called from a template.
const fn by_place(function: Function) -> Function {
    Function { call: Calling { by_place: true, ..function.call }, ..function }
}

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    function::find(FUNCTIONS, name)
}

/// The function whose name is written most alike.
pub fn nearest(name: &str) -> Option<&'static str> {
    function::nearest(FUNCTIONS, name)
}
