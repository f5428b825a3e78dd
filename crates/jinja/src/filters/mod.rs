//! The filters of templates and how one is applied; their rows are in `rows`.
//!
//! Taint: by default, a filter's result is a secret if its input or an argument is.

mod encode;
mod lists;
mod maps;
mod numbers;
mod paths;
pub mod regexes;
mod rows;
mod text;
mod urls;
mod wrap;

use crate::error::{Error, Kind, Result, type_error};
use crate::evaluation::Evaluation;
use crate::render::{Renderer, Values};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Hint;
use purlin_syntax::{suggest, what};
use purlin_value::Cost;
use purlin_value::function::{self, Function, Parameter};
pub use rows::FILTERS;

/// The implementation of a filter.
pub type Run = fn(&mut Renderer<'_>, Val, &Values) -> Result<Val>;

/// A filter; its parameters follow the input.
pub type Filter = Function<Calling>;

/// How a filter is called.
pub struct Calling {
    /// The implementation; none if the host applies it.
    run: Option<Run>,
    /// Whether it belongs to Jinja2 itself or has no effects, so that safe mode allows it.
    safe: bool,
    /// The accepted form of input: undefined values and unevaluated collections may be allowed.
    takes: Takes,
}

/// The accepted form of a filter's input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Evaluated values.
    Whole,
    /// Evaluated text only.
    Text,
    /// Any value unchanged.
    Anything,
}

/// Finds a filter.
pub fn find(name: &str) -> Option<&'static Filter> {
    function::find(FILTERS, name)
}

/// Whether a name is that of a filter, of the language or of the host.
pub fn is_known(render: &Renderer<'_>, name: &str) -> bool {
    find(name).or_else(|| render.ctx.host.filter(name)).is_some()
}

/// A filter that the host applies.
pub const fn of_host(
    name: &'static str,
    parameters: &'static [Parameter],
    summary: &'static str,
    takes: Takes,
    safe: bool,
) -> Filter {
    Filter::new(name, parameters, summary, Calling { run: None, safe, takes })
}

/// The filter whose name is written most alike.
fn nearest(render: &Renderer<'_>, name: &str) -> Option<&'static str> {
    let of_host = render.ctx.host.filter_names();
    suggest::nearest(name, FILTERS.iter().map(|filter| filter.name).chain(of_host))
}

fn call(filter: &'static Filter, render: &mut Renderer<'_>, input: Val, args: &Values) -> Result<Val> {
    match filter.call.run {
        Some(run) => run(render, input, args),
        None => render.ctx.host.apply(filter, input, args),
    }
}

/// Applies a filter by name.
pub fn run(render: &mut Renderer<'_>, name: &str, input: Val, args: &Values) -> Result<Val> {
    let safe = render.ctx.mode.safe;
    let Some(filter) = find(name).or_else(|| render.ctx.host.filter(name)).filter(|filter| filter.call.safe || !safe)
    else {
        let plain = what::unknown("filter", name);
        let error = match safe {
            true => Error::new(Kind::Missing, format!("No filter named '{name}'.")).plain(plain),
            false => Error::new(Kind::Missing, plain),
        };
        let near = nearest(render, name);
        return Err(match near {
            Some(near) if !safe => error.hint(Hint::meant(name, near)),
            _ => error,
        });
    };
    let ctx = render.ctx;
    if filter.call.takes == Takes::Anything {
        ctx.evaluation.charge_call(Cost::Deep, std::iter::once(&input))?;
        let secret = input.tainted_within() || args.tainted(ctx.evaluation)?;
        return call(filter, render, input, args).map_err(|error| error.hiding(secret));
    }
    let input = match input.data {
        // Where undefined values are tolerated, loops over them and their lengths are those of empty values.
        Data::Undefined(_) if !render.ctx.strict() => input,
        _ => render.whole(input)?,
    };
    if filter.call.takes == Takes::Text && !matches!(input.data, Data::Str(_) | Data::Bytes(_) | Data::Undefined(_)) {
        return type_error(format!("`{name}` needs text, not {}", input.kind()));
    }
    let named = args.named.iter().map(|(_, value)| value);
    let given = std::iter::once(&input).chain(&args.positional).chain(named);
    let _held = ctx.evaluation.charge_call(filter.cost, given)?;
    let tainted = input.tainted_within() || args.tainted(ctx.evaluation)?;
    let result = call(filter, render, input, args).map_err(|error| error.hiding(tainted))?;
    render.ctx.evaluation.made(&result)?;
    Ok(result.taint_if(tainted))
}

/// A list of items, as most filters want it.
fn items(render: &Renderer<'_>, value: &Val) -> Result<Vec<Val>> {
    render.iterate(value)
}

/// The input as text.
fn text_of(render: &Renderer<'_>, value: &Val) -> Result<EcoString> {
    render.ctx.text(value)
}

/// An argument as text.
fn text_arg(render: &Renderer<'_>, args: &Values, at: usize, name: &str) -> Result<Option<EcoString>> {
    args.get(at, name).map(|value| text_of(render, value)).transpose()
}

/// An argument as an integer.
fn int_arg(args: &Values, at: usize, name: &str) -> Result<Option<i64>> {
    match args.get(at, name).map(|value| &value.data) {
        None | Some(Data::Null) => Ok(None),
        Some(Data::Int(n)) => Ok(Some(*n)),
        Some(Data::Bool(b)) => Ok(Some(i64::from(*b))),
        Some(Data::Str(text)) => match crate::python::parse_int(text) {
            Some(n) => Ok(Some(n)),
            None => type_error(format!("`{name}` must be an integer")),
        },
        Some(_) => type_error(format!("`{name}` must be an integer")),
    }
}

/// An argument as a truth.
fn flag(args: &Values, at: usize, name: &str, default: bool) -> bool {
    args.get(at, name).map_or(default, crate::python::truthy)
}

/// Whether a pattern matches a text, with the options of a test.
pub fn regexes_matches(
    evaluation: &Evaluation<'_>,
    pattern: &str,
    text: &str,
    args: &Values,
    anchored: bool,
) -> Result<bool> {
    let options = regexes::Options {
        ignore_case: flag(args, 1, "ignorecase", false),
        multiline: flag(args, 2, "multiline", false),
    };
    regexes::matches(evaluation, pattern, text, options, anchored)
}

pub use encode::percent_encode;
pub use numbers::{cut_off, round_to};
pub use text::{capitalized as text_capitalized, most_parts, shell_quote, split_text as text_split};
