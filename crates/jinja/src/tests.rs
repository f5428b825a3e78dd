//! The tests of templates, `value is name`: a row each, which checks, completion and the reference read.

use crate::ast::Comparison;
use crate::error::{Error, Kind};
use crate::error::{Result, type_error, value_error};
use crate::filters::{self, regexes_matches};
use crate::python::{self, Number};
use crate::render::{Renderer, Values};
use crate::val::{Data, Val};
use purlin_syntax::what;
use purlin_value::function::{self, Function, Parameter, one, optional};
use purlin_value::{Cost, path};
use std::cmp::Ordering;

/// A test; its parameters follow the value.
pub type Test = Function<Calling>;

/// How a test is applied.
#[derive(Clone, Copy)]
pub struct Calling {
    run: fn(&Renderer<'_>, &Asked<'_>) -> Result<bool>,
    absent: Absent,
}

/// What a test does with a missing value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// It looks at the value as it is.
    Seen,
    /// A missing value has no kind: it fails the test.
    Fails,
    /// It looks at the evaluated value, so a missing one is an error where rules are strict.
    Evaluated,
}

/// A test that is applied to a value.
struct Asked<'a> {
    name: &'static str,
    value: &'a Val,
    args: &'a Values,
}

impl Asked<'_> {
    fn text(&self) -> &str {
        self.value.as_str().unwrap_or("")
    }
}

type Run = fn(&Renderer<'_>, &Asked<'_>) -> Result<bool>;

/// A test that looks at the value itself.
const fn test(
    name: &'static str,
    parameters: &'static [Parameter],
    cost: Cost,
    summary: &'static str,
    run: Run,
) -> Test {
    let row = Test::new(name, parameters, summary, Calling { run, absent: Absent::Evaluated });
    Test { cost, ..row }
}

/// A test of the kind of a value.
const fn kind(name: &'static str, summary: &'static str, run: Run) -> Test {
    let row = test(name, &[], Cost::Constant, summary, run);
    Test { call: Calling { absent: Absent::Fails, ..row.call }, ..row }
}

/// A test that also takes missing values.
const fn any(name: &'static str, summary: &'static str, run: Run) -> Test {
    let row = test(name, &[], Cost::Constant, summary, run);
    Test { call: Calling { absent: Absent::Seen, ..row.call }, ..row }
}

/// The same test for missing values, which fail it.
const fn of_kind(row: Test) -> Test {
    Test { call: Calling { absent: Absent::Fails, ..row.call }, ..row }
}

const OTHER: &[Parameter] = &[one("other", "any")];
const PATTERN: &[Parameter] =
    &[one("pattern", "string"), optional("ignorecase", "boolean"), optional("multiline", "boolean")];
const SCHEMES: &[Parameter] = &[optional("schemes", "list of strings")];
const VERSION: &[Parameter] = &[one("version", "string"), optional("operator", "string")];
const CONVERT: &[Parameter] = &[optional("convert_bool", "boolean")];

/// All tests.
pub const TESTS: &[Test] = &[
    test("!=", OTHER, Cost::Deep, "Different from another value.", |render, asked| {
        compare(render, Comparison::Ne, asked)
    }),
    test("<", OTHER, Cost::Deep, "Less than another value.", |render, asked| compare(render, Comparison::Lt, asked)),
    test("<=", OTHER, Cost::Deep, "Less than or equal to another value.", |render, asked| {
        compare(render, Comparison::Le, asked)
    }),
    test("==", OTHER, Cost::Deep, "Equal to another value.", |render, asked| compare(render, Comparison::Eq, asked)),
    test(">", OTHER, Cost::Deep, "Greater than another value.", |render, asked| compare(render, Comparison::Gt, asked)),
    test(">=", OTHER, Cost::Deep, "Greater than or equal to another value.", |render, asked| {
        compare(render, Comparison::Ge, asked)
    }),
    test("abs", &[], Cost::Constant, "An absolute path.", |_, asked| Ok(path::is_absolute(path_text(asked)?))),
    test("all", &[], Cost::ALL, "A list whose items are all true.", |render, asked| {
        Ok(render.iterate(asked.value)?.iter().all(python::truthy))
    }),
    test("any", &[], Cost::ALL, "A list with an item that is true.", |render, asked| {
        Ok(render.iterate(asked.value)?.iter().any(python::truthy))
    }),
    kind("boolean", "A boolean.", |_, asked| Ok(matches!(asked.value.data, Data::Bool(_)))),
    kind("callable", "A function or macro.", |_, asked| Ok(matches!(asked.value.data, Data::Object(_)))),
    test("change", &[], Cost::Constant, "The result of a task that changed something.", |_, asked| {
        field(asked, "changed")
    }),
    test("changed", &[], Cost::Constant, "The result of a task that changed something.", |_, asked| {
        field(asked, "changed")
    }),
    test("contains", OTHER, Cost::Deep, "A list, mapping or string with this item, key or part.", |render, asked| {
        render.contains(asked.value, &operand(render, asked.args)?)
    }),
    any("defined", "A value that is not missing.", |_, asked| Ok(!matches!(asked.value.data, Data::Undefined(_)))),
    test("directory", &[], Cost::Constant, "The path of a folder that exists.", on_disk),
    test("divisibleby", &[one("number", "number")], Cost::Constant, "A number divisible by another one.", divides),
    test("eq", OTHER, Cost::Deep, "Equal to another value.", |render, asked| compare(render, Comparison::Eq, asked)),
    test("equalto", OTHER, Cost::Deep, "Equal to another value.", |render, asked| {
        compare(render, Comparison::Eq, asked)
    }),
    kind("escaped", "Text marked as escaped; none is.", |_, _| Ok(false)),
    test("even", &[], Cost::Constant, "An even number.", divides),
    test("exists", &[], Cost::Constant, "The path of something that exists.", on_disk),
    test("failed", &[], Cost::Constant, "The result of a task that failed.", |_, asked| field(asked, "failed")),
    test("failure", &[], Cost::Constant, "The result of a task that failed.", |_, asked| field(asked, "failed")),
    kind("false", "The boolean false.", |_, asked| Ok(matches!(asked.value.data, Data::Bool(false)))),
    test("falsy", CONVERT, Cost::Constant, "A value that counts as false.", |_, asked| {
        Ok(!truth(asked.value, asked.args))
    }),
    test("file", &[], Cost::Constant, "The path of a file that exists.", on_disk),
    test("filter", &[], Cost::ALL, "The name of a filter.", |render, asked| {
        Ok(filters::is_known(render, asked.text()))
    }),
    test("finished", &[], Cost::Constant, "The result of a task that has finished.", |_, asked| {
        has_run(asked, "finished")
    }),
    kind("float", "A number with a fraction.", |_, asked| Ok(matches!(asked.value.data, Data::Float(_)))),
    test("ge", OTHER, Cost::Deep, "Greater than or equal to another value.", |render, asked| {
        compare(render, Comparison::Ge, asked)
    }),
    test("greaterthan", OTHER, Cost::Deep, "Greater than another value.", |render, asked| {
        compare(render, Comparison::Gt, asked)
    }),
    test("gt", OTHER, Cost::Deep, "Greater than another value.", |render, asked| {
        compare(render, Comparison::Gt, asked)
    }),
    test("in", OTHER, Cost::Deep, "An item, key or part of another value.", |render, asked| {
        compare(render, Comparison::In, asked)
    }),
    kind("integer", "An integer.", |_, asked| Ok(matches!(asked.value.data, Data::Int(_)))),
    test("is_abs", &[], Cost::Constant, "An absolute path.", |_, asked| Ok(path::is_absolute(path_text(asked)?))),
    test("is_dir", &[], Cost::Constant, "The path of a folder that exists.", on_disk),
    test("is_file", &[], Cost::Constant, "The path of a file that exists.", on_disk),
    test("is_link", &[], Cost::Constant, "The path of a symbolic link that exists.", on_disk),
    test("is_same_file", OTHER, Cost::Constant, "The same path as another one.", same_file),
    test("isnan", &[], Cost::Constant, "The number that is not a number.", |_, asked| {
        Ok(matches!(asked.value.data, Data::Float(x) if x.is_nan()))
    }),
    test("issubset", OTHER, Cost::Deep, "A list whose items are all in another one.", |render, asked| {
        within(render, asked.value, &operand(render, asked.args)?)
    }),
    test("issuperset", OTHER, Cost::Deep, "A list with all items of another one.", |render, asked| {
        within(render, &operand(render, asked.args)?, asked.value)
    }),
    test("iterable", &[], Cost::ALL, "A value with items.", |render, asked| Ok(render.iterate(asked.value).is_ok())),
    test("le", OTHER, Cost::Deep, "Less than or equal to another value.", |render, asked| {
        compare(render, Comparison::Le, asked)
    }),
    test("lessthan", OTHER, Cost::Deep, "Less than another value.", |render, asked| {
        compare(render, Comparison::Lt, asked)
    }),
    test("link", &[], Cost::Constant, "The path of a symbolic link that exists.", on_disk),
    test("link_exists", &[], Cost::Constant, "The path of something that exists.", on_disk),
    test("lower", &[], Cost::Slow, "Text in lower case.", is_cased),
    test("lt", OTHER, Cost::Deep, "Less than another value.", |render, asked| compare(render, Comparison::Lt, asked)),
    kind("mapping", "A mapping.", |_, asked| Ok(matches!(asked.value.data, Data::Map(_)))),
    test("match", PATTERN, Cost::Slow, "Text that begins with a regular expression.", matches_pattern),
    test("nan", &[], Cost::Constant, "The number that is not a number.", |_, asked| {
        Ok(matches!(asked.value.data, Data::Float(x) if x.is_nan()))
    }),
    test("ne", OTHER, Cost::Deep, "Different from another value.", |render, asked| {
        compare(render, Comparison::Ne, asked)
    }),
    any("none", "Null.", |_, asked| Ok(asked.value.is_null())),
    kind("number", "A number or boolean.", |_, asked| {
        Ok(matches!(asked.value.data, Data::Int(_) | Data::Float(_) | Data::Bool(_)))
    }),
    test("odd", &[], Cost::Constant, "An odd number.", divides),
    test("reachable", &[], Cost::Constant, "The result of a task whose host was reachable.", |_, asked| {
        Ok(!field(asked, "unreachable")?)
    }),
    test("regex", PATTERN, Cost::Slow, "Text that a regular expression matches somewhere.", matches_pattern),
    test("same_file", OTHER, Cost::Constant, "The same path as another one.", same_file),
    of_kind(test("sameas", OTHER, Cost::Deep, "The same value of the same kind.", same_as)),
    test("search", PATTERN, Cost::Slow, "Text that a regular expression matches somewhere.", matches_pattern),
    kind("sequence", "A list, mapping or string.", |_, asked| {
        Ok(matches!(asked.value.data, Data::List(_) | Data::Str(_) | Data::Map(_)))
    }),
    test("skip", &[], Cost::Constant, "The result of a task that was skipped.", |_, asked| field(asked, "skipped")),
    test("skipped", &[], Cost::Constant, "The result of a task that was skipped.", |_, asked| field(asked, "skipped")),
    test("started", &[], Cost::Constant, "The result of a task that has started.", |_, asked| {
        has_run(asked, "started")
    }),
    kind("string", "A string.", |_, asked| Ok(matches!(asked.value.data, Data::Str(_)))),
    test("subset", OTHER, Cost::Deep, "A list whose items are all in another one.", |render, asked| {
        within(render, asked.value, &operand(render, asked.args)?)
    }),
    test("succeeded", &[], Cost::Constant, "The result of a task that succeeded.", |_, asked| {
        Ok(!field(asked, "failed")?)
    }),
    test("success", &[], Cost::Constant, "The result of a task that succeeded.", |_, asked| {
        Ok(!field(asked, "failed")?)
    }),
    test("superset", OTHER, Cost::Deep, "A list with all items of another one.", |render, asked| {
        within(render, &operand(render, asked.args)?, asked.value)
    }),
    test("test", &[], Cost::ALL, "The name of a test.", |_, asked| Ok(find(asked.text()).is_some())),
    kind("true", "The boolean true.", |_, asked| Ok(matches!(asked.value.data, Data::Bool(true)))),
    test("truthy", CONVERT, Cost::Constant, "A value that counts as true.", |_, asked| {
        Ok(truth(asked.value, asked.args))
    }),
    any("undefined", "A missing value.", |_, asked| Ok(matches!(asked.value.data, Data::Undefined(_)))),
    test("unreachable", &[], Cost::Constant, "The result of a task whose host was not reachable.", |_, asked| {
        field(asked, "unreachable")
    }),
    test("upper", &[], Cost::Slow, "Text in upper case.", is_cased),
    of_kind(test("uri", SCHEMES, Cost::Constant, "A URI.", |_, asked| {
        Ok(matches!(asked.value.data, Data::Str(_) | Data::Null) && scheme_allowed(asked.text(), asked.args))
    })),
    of_kind(test("url", SCHEMES, Cost::Constant, "A URL.", |_, asked| {
        Ok(scheme_allowed(asked.text(), asked.args) && is_url(asked.text()))
    })),
    of_kind(test("urn", &[], Cost::Constant, "A URN.", |_, asked| {
        Ok(asked.text().to_ascii_lowercase().starts_with("urn:"))
    })),
    test("vault_encrypted", &[], Cost::ALL, "Text encrypted by Ansible vault.", |_, asked| {
        Ok(crate::vault::is_vault(asked.text().as_bytes()))
    }),
    test(
        "version",
        VERSION,
        Cost::Constant,
        "A version that compares with another one as the operator says.",
        |render, asked| version(render, asked.value, asked.args),
    ),
    test(
        "version_compare",
        VERSION,
        Cost::Constant,
        "A version that compares with another one as the operator says.",
        |render, asked| version(render, asked.value, asked.args),
    ),
];

/// The test of a name.
pub fn find(name: &str) -> Option<&'static Test> {
    function::find(TESTS, name)
}

/// Whether a value passes a test.
pub fn run(render: &Renderer<'_>, name: &str, value: &Val, args: &Values) -> Result<bool> {
    let row = find(name);
    let is_missing = matches!(value.data, Data::Undefined(_));
    match row {
        Some(row) if row.call.absent == Absent::Seen => {
            return (row.call.run)(render, &Asked { name: row.name, value, args });
        }
        Some(row) if is_missing && row.call.absent == Absent::Fails => return Ok(false),
        _ => {}
    }
    let value = &match value.data {
        Data::Undefined(_) if !render.ctx.strict() => value.clone(),
        _ => render.whole(value.clone())?,
    };
    let Some(row) = row else {
        let error = Error::new(Kind::Missing, format!("No test named '{name}'."));
        return Err(error.plain(what::unknown("test", name)));
    };
    let _held = render.ctx.evaluation.charge_call(row.cost, std::iter::once(value).chain(&args.positional))?;
    (row.call.run)(render, &Asked { name: row.name, value, args })
}

/// The tests of files are the host's.
fn on_disk(render: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    render.ctx.host.is_on_disk(asked.name, path_text(asked)?)
}

fn same_file(render: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    let other = operand(render, asked.args)?;
    Ok(path::normalize(asked.text()) == path::normalize(&render.ctx.text(&other)?))
}

fn same_as(render: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    let other = operand(render, asked.args)?;
    let same_kind = std::mem::discriminant(&asked.value.data) == std::mem::discriminant(&other.data);
    Ok(same_kind && python::equal(asked.value, &other))
}

/// `lower` and `upper`: text with letters, all of them in one case.
fn is_cased(render: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    let text = render.ctx.text(asked.value)?;
    let cased = if asked.name == "lower" { text.to_lowercase() } else { text.to_uppercase() };
    Ok(text.chars().any(char::is_alphabetic) && *text == cased)
}

fn matches_pattern(render: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    let pattern = operand(render, asked.args)?;
    let subject = render.ctx.text(asked.value)?;
    let pattern = render.ctx.text(&pattern)?;
    regexes_matches(render.ctx.evaluation, &pattern, &subject, asked.args, asked.name == "match")
}

/// A field of a task's result that a result without it passes.
fn has_run(asked: &Asked<'_>, name: &str) -> Result<bool> {
    let is_result = asked.value.as_map().is_some();
    if is_result && asked.value.get(name).is_none() {
        return Ok(true);
    }
    field(asked, name)
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
fn field(asked: &Asked<'_>, name: &str) -> Result<bool> {
    match asked.value.as_map() {
        Some(_) => Ok(asked.value.get(name).is_some_and(python::truthy)),
        None => type_error(format!("the test `{}` needs a map, not {}", asked.name, asked.value.kind())),
    }
}

fn path_text<'v>(asked: &Asked<'v>) -> Result<&'v str> {
    match asked.value.as_str() {
        Some(text) => Ok(text),
        None => type_error(format!("the test `{}` needs a path, not {}", asked.name, asked.value.kind())),
    }
}

fn operand(render: &Renderer<'_>, args: &Values) -> Result<Val> {
    match args.positional.first() {
        Some(value) => render.whole(value.clone()),
        None => type_error("the test needs an argument"),
    }
}

fn compare(render: &Renderer<'_>, comparison: Comparison, asked: &Asked<'_>) -> Result<bool> {
    let other = operand(render, asked.args)?;
    render.compare(comparison, asked.value, &other)
}

fn divides(_: &Renderer<'_>, asked: &Asked<'_>) -> Result<bool> {
    let (name, value) = (asked.name, asked.value);
    let by = match name {
        "divisibleby" => operand_number(asked.args.positional.first())?,
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
