//! The tests of templates: `value is name`.

use super::ast::Comparison;
use super::filters;
use super::render::{Renderer, Values};
use crate::error::{Result, missing, type_error};
use crate::functions::files;
use crate::jinja::filters::regexes_matches;
use crate::python;
use crate::val::{Data, Val};
use purlin_value::path;

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

/// Whether a value passes a test.
pub fn run(render: &mut Renderer<'_, '_, '_>, name: &str, value: &Val, args: &Values) -> Result<bool> {
    match name {
        "defined" => return Ok(!matches!(value.data, Data::Undefined(_))),
        "undefined" => return Ok(matches!(value.data, Data::Undefined(_))),
        "none" => return Ok(value.is_null()),
        _ => {}
    }
    // Other tests look at the value itself.
    let value = &match value.data {
        Data::Undefined(_) if !render.ctx.strict() => value.clone(),
        _ => render.whole(value.clone())?,
    };
    let text = || value.as_str().unwrap_or("");
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
        "lower" => text().chars().any(char::is_alphabetic) && text() == text().to_lowercase(),
        "upper" => text().chars().any(char::is_alphabetic) && text() == text().to_uppercase(),
        "escaped" => false,
        "filter" => filters::find(text()).is_some(),
        "test" => TESTS.contains(&text()),
        "isnan" | "nan" => matches!(value.data, Data::Float(x) if x.is_nan()),
        "vault_encrypted" => crate::vault::is_vault(text().as_bytes()),
        "all" => render.iterate(value)?.iter().all(python::truthy),
        "any" => render.iterate(value)?.iter().any(python::truthy),
        "odd" | "even" | "divisibleby" => divides(name, value, args)?,
        "sameas" | "eq" | "equalto" | "==" => compare(render, Comparison::Eq, value, args)?,
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
            regexes_matches(&render.ctx.text(&pattern)?, &subject, args, name == "match")?
        }
        "version" | "version_compare" => version(render, value, args)?,
        "url" | "uri" => is_url(text(), args),
        "urn" => text().to_ascii_lowercase().starts_with("urn:"),
        "abs" | "is_abs" => path::is_absolute(text()),
        "exists" | "file" | "is_file" | "directory" | "is_dir" | "link" | "is_link" | "link_exists" => {
            files::is(render.ctx, name, text())?
        }
        "same_file" | "is_same_file" => {
            let other = operand(render, args)?;
            path::normalize(text()) == path::normalize(&render.ctx.text(&other)?)
        }
        "change" | "changed" => field(value, "changed"),
        "failed" | "failure" => field(value, "failed"),
        "success" | "succeeded" => !field(value, "failed"),
        "skip" | "skipped" => field(value, "skipped"),
        "started" => field(value, "started"),
        "finished" => field(value, "finished"),
        "unreachable" => field(value, "unreachable"),
        "reachable" => !field(value, "unreachable"),
        _ => return missing(format!("No test named '{name}'.")),
    })
}

fn truth(value: &Val, args: &Values) -> bool {
    if args.get(0, "convert_bool").is_some_and(python::truthy)
        && let Some(text) = value.as_str()
    {
        return matches!(text.to_ascii_lowercase().as_str(), "yes" | "on" | "1" | "true");
    }
    python::truthy(value)
}

fn field(value: &Val, name: &str) -> bool {
    value.get(name).is_some_and(python::truthy)
}

fn operand(render: &Renderer<'_, '_, '_>, args: &Values) -> Result<Val> {
    match args.positional.first() {
        Some(value) => render.whole(value.clone()),
        None => type_error("the test needs an argument"),
    }
}

fn compare(render: &Renderer<'_, '_, '_>, comparison: Comparison, value: &Val, args: &Values) -> Result<bool> {
    let other = operand(render, args)?;
    render.compare(comparison, value, &other)
}

fn divides(name: &str, value: &Val, args: &Values) -> Result<bool> {
    let Data::Int(n) = value.data else {
        return type_error(format!("`{name}` needs a whole number"));
    };
    match (name, args.positional.first().map(|by| &by.data)) {
        ("odd", _) => Ok(n.rem_euclid(2) == 1),
        ("even", _) => Ok(n.rem_euclid(2) == 0),
        (_, Some(Data::Int(by))) if *by != 0 => Ok(n.checked_rem(*by) == Some(0)),
        _ => type_error("`divisibleby` needs a whole number that is not zero"),
    }
}

fn within(render: &Renderer<'_, '_, '_>, part: &Val, whole: &Val) -> Result<bool> {
    let whole = render.iterate(whole)?;
    let part = render.iterate(part)?;
    Ok(part.iter().all(|item| whole.iter().any(|other| python::equal(item, other))))
}

fn is_url(text: &str, args: &Values) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let known = match args.get(0, "schemes").and_then(Val::as_list) {
        Some(schemes) => schemes.iter().any(|known| known.as_str() == Some(scheme)),
        None => true,
    };
    known && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.starts_with("//") && rest.len() > 2
}

/// Compares versions part by part; letters sort before nothing, numbers by value.
fn version(render: &Renderer<'_, '_, '_>, value: &Val, args: &Values) -> Result<bool> {
    let other = operand(render, args)?;
    let (left, right) = (render.ctx.text(value)?, render.ctx.text(&other)?);
    let order = version_parts(&left).cmp(&version_parts(&right));
    let operator = args.get(1, "operator").and_then(Val::as_str).unwrap_or("eq");
    Ok(match operator {
        "==" | "=" | "eq" => order.is_eq(),
        "!=" | "<>" | "ne" => order.is_ne(),
        "<" | "lt" => order.is_lt(),
        "<=" | "le" => order.is_le(),
        ">" | "gt" => order.is_gt(),
        ">=" | "ge" => order.is_ge(),
        _ => return type_error(format!("`{operator}` is no comparison of versions")),
    })
}

/// Numbers and words of a version; a number sorts after a word, so that `1.0rc1` comes before `1.0.1`.
fn version_parts(text: &str) -> Vec<(u8, u64, String)> {
    let mut parts = Vec::new();
    let mut rest = text.trim().trim_start_matches('v');
    while let Some(first) = rest.chars().next() {
        let end = if first.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
        } else if first.is_alphabetic() {
            rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())
        } else {
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        match part.parse::<u64>() {
            Ok(number) => parts.push((1, number, String::new())),
            Err(_) => parts.push((0, 0, part.to_owned())),
        }
    }
    while parts.last().is_some_and(|(kind, number, _)| *kind == 1 && *number == 0) {
        parts.pop();
    }
    parts
}
