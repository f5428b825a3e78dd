//! The map form: which maps are expressions, and what they evaluate to.

use super::each;
use super::engine::Ctx;
use super::frame::{Frame, Mode, Variable};
use super::path::{as_one, no_match};
use super::show;
use super::trace::Trace;
use crate::error::{Error, Kind, Result, value_error};
use crate::functions::{self, Call, Function};
use crate::jinja;
use crate::python;
use crate::rules;
use crate::val::{Data, MapKey, Val, ValMap};
use purlin_syntax::{Diagnostic, Hint, Severity};

/// Keys allowed beside `eval`.
pub(crate) const EVAL_KEYS: &[(&str, &str)] = &[
    ("vars", "Variables for the expression."),
    ("select", "A query or template applied to each match."),
    ("foreach", "Like `select`, and the result is always a list; with `key` and `value` it builds a map."),
    ("trace", "How much to say while evaluating: 0, 1 or 2."),
    ("strict", "`true`, `false`, `required` or `notnull`."),
    ("base_dir", "Directory relative paths start at."),
];

/// The result in safe mode of an unsafe function, where errors are tolerated.
const SKIPPED: &str = "Error: in safe mode, skipping unsafe eval";

/// A map that is an expression.
pub struct Form<'v> {
    /// The expression: a query, a template, a map with a function, or data.
    pub expr: Expr<'v>,
    /// The map in source form.
    pub entries: &'v ValMap,
}

/// The expression of a form.
pub enum Expr<'v> {
    /// Under `eval` or `ref`.
    Eval(&'v Val),
    /// A function that needs no `eval`.
    Standalone(&'static Function),
}

impl<'v> Form<'v> {
    /// The form a map has, if it is an expression.
    pub fn of(entries: &'v ValMap) -> Option<Form<'v>> {
        if entries.len() == 1
            && let Some((MapKey::Str(name), _)) = entries.first()
            && let Some(function) = functions::find(name).filter(|function| function.call.standalone)
        {
            return Some(Form { expr: Expr::Standalone(function), entries });
        }
        let mut expr = None;
        for (key, value) in entries {
            match key.as_str() {
                Some("eval" | "ref") if expr.is_none() => expr = Some(value),
                Some(key) if EVAL_KEYS.iter().any(|(name, _)| *name == key) => {}
                _ => return None,
            }
        }
        expr.map(|expr| Form { expr: Expr::Eval(expr), entries })
    }

    fn get(&self, key: &str) -> Option<&'v Val> {
        self.entries.get(&MapKey::Str(key.into()))
    }

    /// The body of `foreach`, unless it is empty.
    pub fn foreach(&self) -> Option<&'v Val> {
        self.get("foreach").filter(|body| python::truthy(body))
    }

    /// The body of `select`, unless it is empty.
    pub fn select(&self) -> Option<&'v Val> {
        self.get("select").filter(|body| python::truthy(body))
    }

    /// The variables it defines.
    pub fn vars(&self) -> Option<&'v ValMap> {
        self.get("vars").and_then(Val::as_map)
    }
}

/// The matches as one value, as the form asks for.
pub fn one(ctx: &Ctx<'_, '_>, form: &Form<'_>) -> Result<Val> {
    let matches = many(ctx, form)?;
    if matches!(form.expr, Expr::Eval(_)) && form.foreach().is_some() {
        // A loop always has a result: the list, possibly empty.
        return Ok(Val::list(matches));
    }
    if let Some(strict) = form.get("strict").and_then(Val::as_str) {
        require(strict, form, &matches)?;
    }
    Ok(as_one(matches))
}

fn require(strict: &str, form: &Form<'_>, matches: &[Val]) -> Result<()> {
    let source = match form.expr {
        Expr::Eval(expr) => show::source(expr),
        Expr::Standalone(function) => function.name.to_owned(),
    };
    match (strict, matches) {
        ("required" | "notnull", []) => Err(no_match(&source)),
        ("notnull", [only]) if only.is_null() => value_error(format!("the expression `{source}` must not be null")),
        _ => Ok(()),
    }
}

/// The matches of a form.
pub fn many(ctx: &Ctx<'_, '_>, form: &Form<'_>) -> Result<Vec<Val>> {
    let expr = match form.expr {
        Expr::Standalone(function) => return ctx.engine.deeper(|| call(ctx, function, form.entries)),
        Expr::Eval(expr) => expr,
    };
    let inner = surroundings(ctx, form)?;
    let evaluate = || {
        ctx.engine.deeper(|| {
            let matches = expression(&inner, expr)?;
            match form.foreach().or(form.select()) {
                Some(body) => each::apply(&inner, body, matches),
                None => Ok(matches),
            }
        })
    };
    match form.get("trace").filter(|trace| python::truthy(trace)) {
        Some(_) => traced(ctx, expr, evaluate),
        None => evaluate(),
    }
}

/// Evaluates and traces it, unless an enclosing trace is being recorded.
fn traced(ctx: &Ctx<'_, '_>, expr: &Val, evaluate: impl FnOnce() -> Result<Vec<Val>>) -> Result<Vec<Val>> {
    let engine = ctx.engine;
    if engine.trace.borrow().is_some() {
        return evaluate();
    }
    *engine.trace.borrow_mut() = Some(Trace::new());
    let result = evaluate();
    let steps = engine.trace.take().map(|trace| trace.lines()).unwrap_or_default();
    let mut message = format!("trace of `{}`", engine.without_secrets(show::source(expr)));
    steps.iter().for_each(|step| message.push_str(&format!("\n  {step}")));
    let mut diagnostic = Diagnostic::nowhere(&rules::TRACE, message);
    diagnostic.severity = Severity::Note;
    diagnostic.span = engine.session.origins.span(expr.origin, &engine.session.sources);
    engine.session.sink.push(diagnostic);
    result
}

/// The context a form sets up: its variables, its strictness, its directory.
fn surroundings<'e, 'w>(ctx: &Ctx<'e, 'w>, form: &Form<'_>) -> Result<Ctx<'e, 'w>> {
    let mut inner = ctx.clone();
    let strict = match form.get("strict").map(|strict| &strict.data) {
        Some(Data::Bool(strict)) => *strict,
        _ => ctx.frame.mode.strict,
    };
    let dir = match form.get("base_dir") {
        Some(dir) => ctx.text(&ctx.map_value(dir)?)?,
        None => ctx.frame.dir.clone(),
    };
    let start = ctx.frame.current.clone();
    let mode = Mode { strict, ..ctx.frame.mode };
    if mode != ctx.frame.mode || dir != ctx.frame.dir || !same_item(&start, &ctx.frame.start) {
        inner = inner.with(Frame { mode, dir, start, ..(*ctx.frame).clone() });
    }
    let Some(vars) = form.vars() else {
        return Ok(inner);
    };
    let variables = vars.iter().filter_map(|(name, raw)| Some(Variable::written(name.as_str()?, raw.clone())));
    inner = inner.with_variables(variables.collect());
    if vars.contains_key(&MapKey::Str("start".into()))
        && let Some(start) = inner.variable("start")?
        // A query starts at an instance, whatever else the variable of this name holds.
        && matches!(start.data, Data::Node(_))
    {
        inner = inner.with(Frame { current: start.clone(), start, ..(*inner.frame).clone() });
    }
    Ok(inner)
}

fn same_item(left: &Val, right: &Val) -> bool {
    matches!((&left.data, &right.data), (Data::Node(a), Data::Node(b)) if a == b)
}

/// The matches of an expression: text is a query or a template, a map calls a function, the rest is data.
pub fn expression(ctx: &Ctx<'_, '_>, expr: &Val) -> Result<Vec<Val>> {
    let found = match &expr.data {
        Data::Str(text) if jinja::is_template(text) => Ok(vec![jinja::render(ctx, text)?]),
        Data::Str(text) => ctx.query(text),
        Data::Map(entries) => {
            if let Some(form) = Form::of(entries) {
                return many(ctx, &form);
            }
            let Some((_, function)) = function_of(entries, ctx.frame.mode.safe) else {
                return no_function(ctx, entries);
            };
            call(ctx, function, entries)
        }
        Data::List(_) => Ok(ctx.map_value(expr)?.as_list().map_or_else(Vec::new, <[Val]>::to_vec)),
        _ => Ok(vec![ctx.map_value(expr)?]),
    };
    found.map_err(|mut error| {
        if !error.origin.is_known() {
            error.origin = expr.origin;
        }
        error
    })
}

/// The first key of a map that names a function.
pub(crate) fn function_of(entries: &ValMap, safe: bool) -> Option<(&Val, &'static Function)> {
    entries.iter().find_map(|(key, arg)| {
        let function = functions::find(key.as_str()?)?;
        (!safe || function.call.safe).then_some((arg, function))
    })
}

fn no_function(ctx: &Ctx<'_, '_>, entries: &ValMap) -> Result<Vec<Val>> {
    let mode = ctx.frame.mode;
    if mode.safe && !mode.strict {
        return Ok(vec![Val::str(SKIPPED)]);
    }
    let name = entries.keys().find_map(MapKey::as_str);
    let Some(name) = name else {
        return Err(Error::new(Kind::Missing, "`eval` needs a function and has an empty map"));
    };
    if mode.safe && functions::find(name).is_some() {
        return Err(Error::new(Kind::Refused, format!("the function `{name}` is not allowed in safe mode")));
    }
    let mut error = Error::new(Kind::Missing, format!("unknown function `{name}`"));
    if let Some(near) = functions::nearest(name) {
        error = error.hint(Hint::meant(name, near));
    }
    Err(error)
}

/// Calls a function; its matches are its result, or the items of it.
fn call(ctx: &Ctx<'_, '_>, function: &'static Function, entries: &ValMap) -> Result<Vec<Val>> {
    let mode = ctx.frame.mode;
    if mode.safe && !function.call.safe {
        return no_function(ctx, entries);
    }
    for stray in ["foreach", "var"] {
        if stray != function.name && entries.contains_key(&MapKey::Str(stray.into())) {
            let message = format!("`{stray}` is next to `{}` but belongs next to `eval`", function.name);
            return Err(Error::new(Kind::Syntax, message));
        }
    }
    ctx.engine.spend(1)?;
    let null = Val::null();
    let arg = entries.get(&MapKey::Str(function.name.into())).unwrap_or(&null);
    let value = functions::call(function, ctx, &Call { name: function.name, arg, entries, ready: false })?;
    ctx.engine.say(|| format!("`{}` gives {}", function.name, show::brief(ctx, &value)));
    Ok(spread(function, value))
}

/// A list a function returns becomes its matches; null is no match. A quoted or secret value stays as it is.
fn spread(function: &Function, value: Val) -> Vec<Val> {
    match &value.data {
        _ if function.call.whole || value.is_tainted() => vec![value],
        Data::Null => Vec::new(),
        Data::List(items) => items.to_vec(),
        _ => vec![value],
    }
}
