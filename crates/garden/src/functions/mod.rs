//! The helper functions of template strings: one list, read by calls, by messages and by the reference page.
//!
//! A function sees its arguments, all evaluated, and answers with a value or a sentence about what is wrong. Taint,
//! pending values and origins are the caller's business.

pub(crate) mod dates;
pub(crate) mod text;
pub(crate) mod words;
pub(crate) mod yaml;

mod arguments;
mod calls;

use crate::rules;
pub use arguments::Arguments;
use purlin_syntax::Message;
use purlin_syntax::Rule;
use purlin_value::function::{Function, Parameter, one, optional};
use purlin_value::{Cost, Value};

/// The shape of a helper function.
pub type Helper = fn(&Arguments<'_>) -> Result<Value, Fault>;

/// Why a helper function has no answer.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The rule it belongs to: a wrong argument, or a limit.
    pub rule: &'static Rule,
    /// The problem.
    pub message: Message,
    /// The argument that is wrong.
    pub argument: Option<usize>,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Fault { rule: &rules::HELPER_FUNCTION, message: message.into(), argument: None }
    }
}

impl Fault {
    /// That an argument is wrong.
    pub fn of(argument: usize, message: impl Into<Message>) -> Self {
        Fault { rule: &rules::HELPER_FUNCTION, message: message.into(), argument: Some(argument) }
    }

    /// A limit that would be passed.
    pub fn limit(rule: &'static Rule, message: impl Into<String>) -> Self {
        Fault { rule, message: message.into().into(), argument: None }
    }
}

const fn helper(
    name: &'static str,
    parameters: &'static [Parameter],
    summary: &'static str,
    example: (&'static str, &'static str),
    cost: Cost,
    call: Helper,
) -> Function<Helper> {
    Function { name, parameters, summary, example, cost, call }
}

/// All helper functions, by name.
pub const FUNCTIONS: &[Function<Helper>] = &[
    helper(
        "base64Decode",
        &[one("string", "string")],
        "Decodes Base64 text.",
        ("${base64Decode('YQ==')}", "a"),
        Cost::Slow,
        calls::base64_decode,
    ),
    helper(
        "base64Encode",
        &[one("string", "string")],
        "Encodes text as Base64.",
        ("${base64Encode('a')}", "YQ=="),
        Cost::ALL,
        calls::base64_encode,
    ),
    helper(
        "camelCase",
        &[one("string", "string")],
        "Joins words like thisOne.",
        ("${camelCase('Foo bar')}", "fooBar"),
        Cost::Slow,
        calls::camel_case,
    ),
    helper(
        "concat",
        &[one("arg1", "list or string"), one("arg2", "list or string")],
        "Joins two lists or two strings.",
        ("${concat('a', 'b')}", "ab"),
        Cost::Own,
        calls::concat,
    ),
    helper(
        "formatDateUtc",
        &[one("date", "date"), one("format", "pattern")],
        "Writes a date by a pattern, in UTC.",
        ("${formatDateUtc('2021-01-31', 'dd.MM.yyyy')}", "31.01.2021"),
        Cost::Slow,
        calls::format_date,
    ),
    helper(
        "indent",
        &[one("string", "string"), one("spaces", "integer")],
        "Puts spaces before every line that is not empty.",
        ("${indent('a', 2)}", "  a"),
        Cost::Own,
        calls::indent,
    ),
    helper(
        "isEmpty",
        &[optional("value", "map, list, string or null")],
        "Whether there is nothing in a value.",
        ("${isEmpty('')}", "true"),
        Cost::Constant,
        calls::is_empty,
    ),
    helper(
        "join",
        &[one("input", "list"), one("separator", "string")],
        "Joins the items of a list with a separator.",
        ("${join(['a', 'b'], '-')}", "a-b"),
        Cost::Own,
        calls::join,
    ),
    helper(
        "jsonDecode",
        &[one("string", "string")],
        "Reads JSON text.",
        ("${jsonDecode('[1]')[0]}", "1"),
        Cost::Own,
        calls::json_decode,
    ),
    helper(
        "jsonEncode",
        &[one("value", "any")],
        "Writes a value as JSON.",
        ("${jsonEncode([1])}", "[1]"),
        Cost::Deep,
        calls::json_encode,
    ),
    helper(
        "kebabCase",
        &[one("string", "string")],
        "Joins words like this-one.",
        ("${kebabCase('Foo bar')}", "foo-bar"),
        Cost::Slow,
        calls::kebab_case,
    ),
    helper(
        "lower",
        &[one("string", "string")],
        "Converts letters to lower case.",
        ("${lower('ABC')}", "abc"),
        Cost::Slow,
        calls::lower,
    ),
    helper(
        "modifyDateUtc",
        &[one("date", "date"), one("amount", "number"), one("unit", "unit of time")],
        "Sets one field of a date, in UTC.",
        ("${modifyDateUtc('2021-01-01', 5, 'days')}", "2021-01-05T00:00:00.000Z"),
        Cost::Constant,
        calls::modify_date,
    ),
    helper(
        "range",
        &[one("first", "number"), one("last", "number")],
        "The numbers from first to last.",
        ("${join(range(1, 3), ' ')}", "1 2 3"),
        Cost::Own,
        calls::range,
    ),
    helper(
        "replace",
        &[one("string", "string"), one("substring", "string"), one("replacement", "string")],
        "Replaces every occurrence of a text.",
        ("${replace('a.b', '.', '-')}", "a-b"),
        Cost::Own,
        calls::replace,
    ),
    helper(
        "sha256",
        &[one("string", "string")],
        "The SHA-256 hash of a text, in hexadecimal digits.",
        ("${slice(sha256('a'), 0, 8)}", "ca978112"),
        Cost::ALL,
        calls::sha256,
    ),
    helper(
        "shiftDateUtc",
        &[one("date", "date"), one("amount", "number"), one("unit", "unit of time")],
        "Moves a date by an amount of time, in UTC.",
        ("${shiftDateUtc('2021-01-31', 1, 'months')}", "2021-02-28T00:00:00.000Z"),
        Cost::Constant,
        calls::shift_date,
    ),
    helper(
        "slice",
        &[one("input", "list or string"), one("start", "integer"), optional("end", "integer")],
        "A part of a list or string; negative counts from the end.",
        ("${slice('abc', 1)}", "bc"),
        Cost::Slow,
        calls::slice,
    ),
    helper(
        "split",
        &[one("string", "string"), one("separator", "string")],
        "Splits a text at every separator.",
        ("${split('a,b', ',')[1]}", "b"),
        Cost::Own,
        calls::split,
    ),
    helper("string", &[one("value", "any")], "The text of a value.", ("${string(1)}", "1"), Cost::Deep, calls::string),
    helper(
        "trim",
        &[one("string", "string"), optional("characters", "string")],
        "Removes white space, or the given characters, from both ends.",
        ("${trim(' a ')}", "a"),
        Cost::Slow,
        calls::trim,
    ),
    helper(
        "upper",
        &[one("string", "string")],
        "Converts letters to upper case.",
        ("${upper('abc')}", "ABC"),
        Cost::Slow,
        calls::upper,
    ),
    helper(
        "uuidv4",
        &[],
        "A random identifier, the same in every run with the same seed.",
        ("", ""),
        Cost::Constant,
        calls::uuid,
    ),
    helper(
        "yamlDecode",
        &[one("string", "string"), optional("multiDocument", "boolean")],
        "Reads YAML text.",
        ("${yamlDecode('a: 1').a}", "1"),
        Cost::Own,
        calls::yaml_decode,
    ),
    helper(
        "yamlEncode",
        &[one("value", "any"), optional("multiDocument", "boolean")],
        "Writes a value as YAML.",
        ("${yamlEncode([1])}", "- 1\n"),
        Cost::Deep,
        calls::yaml_encode,
    ),
];

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function<Helper>> {
    FUNCTIONS.binary_search_by(|function| function.name.cmp(name)).ok().and_then(|at| FUNCTIONS.get(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
