//! The tests of templates: `value is name`.

use super::ast::Comparison;
use super::filters;
use super::render::{Renderer, Values};
use crate::error::{Error, Kind};
use crate::error::{Result, type_error, value_error};
use crate::filters::regexes_matches;
use crate::python::{self, Number};
use crate::val::{Data, Val};
use purlin_syntax::what;
use purlin_value::{Cost, path};
use std::cmp::Ordering;

/// Names of all tests.
pub const TESTS: &[&str] = &[
    "abs",
    "all",
    "any",
    "boolean",
    "callable",
    "change",
    "changed",
    "contains",
    "defined",
    "directory",
    "divisibleby",
    "eq",
    "equalto",
    "escaped",
    "even",
    "exists",
    "failed",
    "failure",
    "false",
    "falsy",
    "file",
    "filter",
    "finished",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "integer",
    "is_abs",
    "is_dir",
    "is_file",
    "is_link",
    "is_same_file",
    "isnan",
    "issubset",
    "issuperset",
    "iterable",
    "le",
    "lessthan",
    "link",
    "lower",
    "lt",
    "mapping",
    "match",
    "nan",
    "ne",
    "none",
    "number",
    "odd",
    "reachable",
    "regex",
    "same_file",
    "sameas",
    "search",
    "sequence",
    "skip",
    "skipped",
    "started",
    "string",
    "subset",
    "succeeded",
    "success",
    "superset",
    "test",
    "true",
    "truthy",
    "undefined",
    "unreachable",
    "upper",
    "uri",
    "url",
    "urn",
    "vault_encrypted",
    "version",
    "version_compare",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
];

/// Tests for the kind of a value: a missing value has none.
const KINDS: &[&str] = &[
    "boolean", "callable", "escaped", "false", "float", "integer", "mapping", "number", "sameas", "sequence", "string",
    "true", "uri", "url", "urn",
];

/// The cost of a test: most check only the kind of value.
fn cost(name: &str) -> Cost {
    match name {
        "lower" | "upper" | "match" | "search" | "regex" => Cost::Slow,
        "eq" | "equalto" | "==" | "ne" | "!=" | "lt" | "lessthan" | "<" | "le" | "<=" | "gt" | "greaterthan" | ">"
        | "ge" | ">=" | "in" | "contains" | "subset" | "issubset" | "superset" | "issuperset" | "sameas" => Cost::Deep,
        "all" | "any" | "iterable" | "vault_encrypted" | "filter" | "test" => Cost::ALL,
        _ => Cost::Constant,
    }
}

/// Whether a value passes a test.
pub fn run(render: &mut Renderer<'_>, name: &str, value: &Val, args: &Values) -> Result<bool> {
    match name {
        "defined" => return Ok(!matches!(value.data, Data::Undefined(_))),
        "undefined" => return Ok(matches!(value.data, Data::Undefined(_))),
        "none" => return Ok(value.is_null()),
        _ => {}
    }
    if matches!(value.data, Data::Undefined(_)) && KINDS.contains(&name) {
        return Ok(false);
    }
    // Other tests look at the value itself.
    let value = &match value.data {
        Data::Undefined(_) if !render.ctx.strict() => value.clone(),
        _ => render.whole(value.clone())?,
    };
    let _held = render.ctx.evaluation.charge_call(cost(name), std::iter::once(value).chain(&args.positional))?;
    let text = || value.as_str().unwrap_or("");
    let shown = || render.ctx.text(value);
    Ok(match name {
        "string" => matches!(value.data, Data::Str(_)),
        "number" => matches!(value.data, Data::Int(_) | Data::Float(_) | Data::Bool(_)),
        "integer" => matches!(value.data, Data::Int(_)),
        "float" => matches!(value.data, Data::Float(_)),
        "boolean" => matches!(value.data, Data::Bool(_)),
        "true" => matches!(value.data, Data::Bool(true)),
        "false" => matches!(value.data, Data::Bool(false)),
        "mapping" => matches!(value.data, Data::Map(_)),
        "sequence" => matches!(value.data, Data::List(_) | Data::Str(_) | Data::Map(_)),
        "iterable" => render.iterate(value).is_ok(),
        "callable" => matches!(value.data, Data::Object(_)),
        "truthy" => truth(value, args),
        "falsy" => !truth(value, args),
        "lower" => {
            let text = shown()?;
            text.chars().any(char::is_alphabetic) && *text == text.to_lowercase()
        }
        "upper" => {
            let text = shown()?;
            text.chars().any(char::is_alphabetic) && *text == text.to_uppercase()
        }
        "escaped" => false,
        "filter" => filters::find(text()).is_some(),
        "test" => TESTS.contains(&text()),
        "isnan" | "nan" => matches!(value.data, Data::Float(x) if x.is_nan()),
        "vault_encrypted" => crate::vault::is_vault(text().as_bytes()),
        "all" => render.iterate(value)?.iter().all(python::truthy),
        "any" => render.iterate(value)?.iter().any(python::truthy),
        "odd" | "even" | "divisibleby" => divides(name, value, args)?,
        "sameas" => {
            let other = operand(render, args)?;
            std::mem::discriminant(&value.data) == std::mem::discriminant(&other.data) && python::equal(value, &other)
        }
        "eq" | "equalto" | "==" => compare(render, Comparison::Eq, value, args)?,
        "ne" | "!=" => compare(render, Comparison::Ne, value, args)?,
        "lt" | "lessthan" | "<" => compare(render, Comparison::Lt, value, args)?,
        "le" | "<=" => compare(render, Comparison::Le, value, args)?,
        "gt" | "greaterthan" | ">" => compare(render, Comparison::Gt, value, args)?,
        "ge" | ">=" => compare(render, Comparison::Ge, value, args)?,
        "in" => compare(render, Comparison::In, value, args)?,
        "contains" => {
            let needle = operand(render, args)?;
            render.contains(value, &needle)?
        }
        "subset" | "issubset" => within(render, value, &operand(render, args)?)?,
        "superset" | "issuperset" => within(render, &operand(render, args)?, value)?,
        "match" | "search" | "regex" => {
            let pattern = operand(render, args)?;
            let subject = render.ctx.text(value)?;
            regexes_matches(render.ctx.evaluation, &render.ctx.text(&pattern)?, &subject, args, name == "match")?
        }
        "version" | "version_compare" => version(render, value, args)?,
        "uri" => matches!(value.data, Data::Str(_) | Data::Null) && scheme_allowed(text(), args),
        "url" => scheme_allowed(text(), args) && is_url(text()),
        "urn" => text().to_ascii_lowercase().starts_with("urn:"),
        "abs" | "is_abs" => path::is_absolute(path_text(name, value)?),
        "exists" | "file" | "is_file" | "directory" | "is_dir" | "link" | "is_link" | "link_exists" => {
            render.ctx.host.is_on_disk(name, path_text(name, value)?)?
        }
        "same_file" | "is_same_file" => {
            let other = operand(render, args)?;
            path::normalize(text()) == path::normalize(&render.ctx.text(&other)?)
        }
        "change" | "changed" => field(name, value, "changed")?,
        "failed" | "failure" => field(name, value, "failed")?,
        "success" | "succeeded" => !field(name, value, "failed")?,
        "skip" | "skipped" => field(name, value, "skipped")?,
        "started" => value.get("started").is_none() && value.as_map().is_some() || field(name, value, "started")?,
        "finished" => value.get("finished").is_none() && value.as_map().is_some() || field(name, value, "finished")?,
        "unreachable" => field(name, value, "unreachable")?,
        "reachable" => !field(name, value, "unreachable")?,
        _ => {
            let error = Error::new(Kind::Missing, format!("No test named '{name}'."));
            return Err(error.plain(what::unknown("test", name)));
        }
    })
}

fn truth(value: &Val, args: &Values) -> bool {
    if args.get(0, "convert_bool").is_some_and(python::truthy)
        && let Some(text) = value.as_str()
    {
        return match text.trim().to_ascii_lowercase().as_str() {
            "no" | "off" | "0" | "false" | "n" | "f" => false,
            _ => !text.is_empty(),
        };
    }
    python::truthy(value)
}

/// A field in the result of a task.
fn field(test: &str, value: &Val, name: &str) -> Result<bool> {
    match value.as_map() {
        Some(_) => Ok(value.get(name).is_some_and(python::truthy)),
        None => type_error(format!("the test `{test}` needs a map, not {}", value.kind())),
    }
}

fn path_text<'v>(test: &str, value: &'v Val) -> Result<&'v str> {
    match value.as_str() {
        Some(text) => Ok(text),
        None => type_error(format!("the test `{test}` needs a path, not {}", value.kind())),
    }
}

fn operand(render: &Renderer<'_>, args: &Values) -> Result<Val> {
    match args.positional.first() {
        Some(value) => render.whole(value.clone()),
        None => type_error("the test needs an argument"),
    }
}

fn compare(render: &Renderer<'_>, comparison: Comparison, value: &Val, args: &Values) -> Result<bool> {
    let other = operand(render, args)?;
    render.compare(comparison, value, &other)
}

fn divides(name: &str, value: &Val, args: &Values) -> Result<bool> {
    let by = match name {
        "divisibleby" => operand_number(args.positional.first())?,
        _ => Number::Int(2),
    };
    let rest = match (python::number(value), by) {
        (_, Number::Int(0)) => return value_error("division by zero"),
        (Some(Number::Int(n)), Number::Int(by)) => n.checked_rem_euclid(by).unwrap_or(0) as f64,
        (Some(n), by) => n.to_f64().rem_euclid(by.to_f64()),
        (None, _) => return type_error(format!("`{name}` needs a number, not {}", value.kind())),
    };
    Ok(if name == "odd" { rest == 1.0 } else { rest == 0.0 })
}

fn operand_number(value: Option<&Val>) -> Result<Number> {
    match value.and_then(python::number) {
        Some(number) => Ok(number),
        None => type_error("`divisibleby` needs a number"),
    }
}

fn within(render: &Renderer<'_>, part: &Val, whole: &Val) -> Result<bool> {
    let whole = render.iterate(whole)?;
    let part = render.iterate(part)?;
    render.ctx.evaluation.spend(part.len().saturating_mul(whole.len()) / 4)?;
    Ok(part.iter().all(|item| whole.iter().any(|other| python::equal(item, other))))
}

fn scheme_allowed(text: &str, args: &Values) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    match args.get(0, "schemes").and_then(Val::as_list) {
        Some(schemes) => schemes.iter().any(|known| known.as_str() == Some(scheme)),
        None => true,
    }
}

fn is_url(text: &str) -> bool {
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    scheme == "file" || rest.strip_prefix("//").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Compares versions part by part: numbers by value, words by letters, and never one with the other.
fn version(render: &Renderer<'_>, value: &Val, args: &Values) -> Result<bool> {
    let other = operand(render, args)?;
    if [value, &other].iter().any(|version| !python::truthy(version)) {
        return value_error("a version to compare is empty");
    }
    let (left, right) = (render.ctx.text(value)?, render.ctx.text(&other)?);
    let Some(order) = version_order(&version_parts(&left), &version_parts(&right)) else {
        return type_error(format!("the versions `{left}` and `{right}` cannot be compared"));
    };
    let operator = args.get(1, "operator").and_then(Val::as_str).unwrap_or("eq");
    Ok(match operator {
        "==" | "=" | "eq" => order.is_eq(),
        "!=" | "<>" | "ne" => order.is_ne(),
        "<" | "lt" => order.is_lt(),
        "<=" | "le" => order.is_le(),
        ">" | "gt" => order.is_gt(),
        ">=" | "ge" => order.is_ge(),
        _ => return type_error(format!("`{operator}` is not an operator to compare versions")),
    })
}

#[derive(PartialEq)]
enum VersionPart<'t> {
    Number(u64),
    Word(&'t str),
}

fn version_order(left: &[VersionPart<'_>], right: &[VersionPart<'_>]) -> Option<Ordering> {
    for pair in left.iter().zip(right) {
        let order = match pair {
            (VersionPart::Number(a), VersionPart::Number(b)) => a.cmp(b),
            (VersionPart::Word(a), VersionPart::Word(b)) => a.cmp(b),
            _ => return None,
        };
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(left.len().cmp(&right.len()))
}

/// Numbers, and the texts between numbers and dots.
fn version_parts(text: &str) -> Vec<VersionPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first == '.' {
            rest = rest.get(1..).unwrap_or("");
            continue;
        } else if first.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
        } else if first.is_ascii_lowercase() {
            rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len())
        } else {
            rest.find(|c: char| c == '.' || c.is_ascii_digit() || c.is_ascii_lowercase()).unwrap_or(rest.len())
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        parts.push(part.parse().map_or(VersionPart::Word(part), VersionPart::Number));
    }
    parts
}
