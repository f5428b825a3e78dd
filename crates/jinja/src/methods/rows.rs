//! The methods that read strings, lists and maps, one row each.

use super::strings::{
    Lines, chars_before, is_all, is_cased, joined, justified, replaced, split_back, stripped, swap_case, tabs_expanded,
    title_case, touches, zero_filled,
};
use super::{Called, Calling, Method};
use crate::error::{Result, type_error, value_error};
use crate::filters::{most_parts, text_capitalized, text_split};
use crate::format;
use crate::python;
use crate::val::{Data, Val, ValMap};
use purlin_value::Cost;
use purlin_value::function::{Parameter, many, one, optional};

const CHARS: &[Parameter] = &[optional("chars", "string")];
const SPLIT: &[Parameter] = &[optional("sep", "string"), optional("maxsplit", "integer")];
const PART: &[Parameter] = &[one("part", "string")];
const WIDTH: &[Parameter] = &[one("width", "integer")];
const FILL: &[Parameter] = &[one("width", "integer"), optional("fill", "string")];
const CODEC: &[Parameter] = &[optional("encoding", "string"), optional("errors", "string")];

const fn row<T: ?Sized>(
    name: &'static str,
    parameters: &'static [Parameter],
    cost: Cost,
    summary: &'static str,
    run: fn(&Called<'_, '_>, &T) -> Result<Val>,
) -> Method<T> {
    let row = Method::new(name, parameters, summary, Calling { run, named: false });
    Method { cost, ..row }
}

/// A method whose arguments may be given by name.
const fn by_name<T: ?Sized>(row: Method<T>) -> Method<T> {
    Method { call: Calling { named: true, ..row.call }, ..row }
}

/// The methods of strings.
pub const STRING: &[Method<str>] = &[
    row("capitalize", &[], Cost::Slow, "The first letter in upper case, the others in lower case.", |_, text| {
        Ok(Val::str(text_capitalized(text)))
    }),
    row("casefold", &[], Cost::Slow, "Letters in lower case.", |_, text| Ok(Val::str(text.to_lowercase()))),
    row("center", FILL, Cost::Slow, "The text with blanks around it, up to a width.", |called, text| {
        Ok(Val::str(justified(text, "center", called.number(0), called.text(1)?.as_deref())?))
    }),
    row("count", PART, Cost::ALL, "How often a part occurs.", |called, text| {
        Ok(Val::len(text.matches(called.part()).count()))
    }),
    by_name(row("decode", CODEC, Cost::ALL, "The text of bytes.", |_, text| Ok(Val::str(text)))),
    by_name(row("encode", CODEC, Cost::ALL, "Its bytes.", |_, text| Ok(Data::Bytes(text.as_bytes().into()).into()))),
    row(
        "endswith",
        &[one("suffix", "string or list")],
        Cost::Constant,
        "Whether it ends with a text.",
        |called, text| Ok(touches(called, |part| text.ends_with(part))),
    ),
    by_name(row(
        "expandtabs",
        &[optional("tabsize", "integer")],
        Cost::Slow,
        "Blanks in place of tabs.",
        |called, text| Ok(Val::str(tabs_expanded(text, called.number(0).unwrap_or(8))?)),
    )),
    row("find", PART, Cost::ALL, "The position of a part, or -1.", |called, text| {
        Ok(text.find(called.part()).map_or(Val::int(-1), |at| chars_before(text, at)))
    }),
    row("format", &[many("value", "any")], Cost::Slow, "Values put in place of `{}` and `{name}`.", |called, text| {
        let mut values = Vec::new();
        for value in &called.args.positional {
            values.push(called.render.whole(value.clone())?);
        }
        Ok(Val::str(format::braces(text, &values, &called.args.named)?))
    }),
    row("index", PART, Cost::ALL, "The position of a part, which must be there.", |called, text| {
        match text.find(called.part()) {
            Some(at) => Ok(chars_before(text, at)),
            None => value_error("substring not found"),
        }
    }),
    row("isalnum", &[], Cost::Slow, "Whether all characters are letters or digits.", |_, text| {
        Ok(is_all(text, char::is_alphanumeric))
    }),
    row("isalpha", &[], Cost::Slow, "Whether all characters are letters.", |_, text| {
        Ok(is_all(text, char::is_alphabetic))
    }),
    row("isdecimal", &[], Cost::Slow, "Whether all characters are digits.", |_, text| {
        Ok(is_all(text, char::is_numeric))
    }),
    row("isdigit", &[], Cost::Slow, "Whether all characters are digits.", |_, text| Ok(is_all(text, char::is_numeric))),
    row("isidentifier", &[], Cost::Slow, "Whether it is a name in Python.", |_, text| {
        let inner = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        Ok(Val::bool(inner && text.starts_with(|c: char| c.is_alphabetic() || c == '_')))
    }),
    row("islower", &[], Cost::Slow, "Whether all letters are in lower case.", |_, text| {
        Ok(is_cased(text, &text.to_lowercase()))
    }),
    row("isnumeric", &[], Cost::Slow, "Whether all characters are digits.", |_, text| {
        Ok(is_all(text, char::is_numeric))
    }),
    row("isprintable", &[], Cost::Slow, "Whether it has no control characters.", |_, text| {
        Ok(Val::bool(!text.chars().any(char::is_control)))
    }),
    row("isspace", &[], Cost::Slow, "Whether all characters are blanks.", |_, text| {
        Ok(is_all(text, char::is_whitespace))
    }),
    row("istitle", &[], Cost::Slow, "Whether each word begins with a letter in upper case.", |_, text| {
        Ok(is_cased(text, &title_case(text)))
    }),
    row("isupper", &[], Cost::Slow, "Whether all letters are in upper case.", |_, text| {
        Ok(is_cased(text, &text.to_uppercase()))
    }),
    row("join", &[one("items", "list of strings")], Cost::Slow, "The items with this text between them.", joined),
    row("ljust", FILL, Cost::Slow, "The text with blanks after it, up to a width.", |called, text| {
        Ok(Val::str(justified(text, "ljust", called.number(0), called.text(1)?.as_deref())?))
    }),
    row("lower", &[], Cost::Slow, "Letters in lower case.", |_, text| Ok(Val::str(text.to_lowercase()))),
    row("lstrip", CHARS, Cost::Slow, "The text without blanks or given characters at its start.", |called, text| {
        Ok(Val::str(stripped(text, called.needle.as_deref(), true, false)))
    }),
    row("partition", PART, Cost::ALL, "What is before a part, the part, and what is after it.", |called, text| {
        let part = called.part();
        Ok(match text.split_once(part) {
            Some((left, right)) => Val::tuple(vec![Val::str(left), Val::str(part), Val::str(right)]),
            None => Val::tuple(vec![Val::str(text), Val::str(""), Val::str("")]),
        })
    }),
    row("removeprefix", &[one("prefix", "string")], Cost::Constant, "The text without a beginning.", |called, text| {
        Ok(Val::str(text.strip_prefix(called.part()).unwrap_or(text)))
    }),
    row("removesuffix", &[one("suffix", "string")], Cost::Constant, "The text without an end.", |called, text| {
        Ok(Val::str(text.strip_suffix(called.part()).unwrap_or(text)))
    }),
    row(
        "replace",
        &[one("old", "string"), one("new", "string"), optional("count", "integer")],
        Cost::Slow,
        "The text with a part replaced.",
        replaced,
    ),
    row("rfind", PART, Cost::ALL, "The last position of a part, or -1.", |called, text| {
        Ok(text.rfind(called.part()).map_or(Val::int(-1), |at| chars_before(text, at)))
    }),
    row("rjust", FILL, Cost::Slow, "The text with blanks before it, up to a width.", |called, text| {
        Ok(Val::str(justified(text, "rjust", called.number(0), called.text(1)?.as_deref())?))
    }),
    row("rpartition", PART, Cost::ALL, "The same for the last part.", |called, text| {
        let part = called.part();
        Ok(match text.rsplit_once(part) {
            Some((left, right)) => Val::tuple(vec![Val::str(left), Val::str(part), Val::str(right)]),
            None => Val::tuple(vec![Val::str(""), Val::str(""), Val::str(text)]),
        })
    }),
    by_name(row("rsplit", SPLIT, Cost::Slow, "The same, counted from the end.", |called, text| {
        called.render.ctx.evaluation.afford_list(most_parts(text, called.needle.as_deref()))?;
        Ok(Val::list(split_back(text, called.needle.as_deref(), called.count(1))))
    })),
    row("rstrip", CHARS, Cost::Slow, "The text without blanks or given characters at its end.", |called, text| {
        Ok(Val::str(stripped(text, called.needle.as_deref(), false, true)))
    }),
    by_name(row("split", SPLIT, Cost::Slow, "The parts between separators, or between blanks.", |called, text| {
        called.render.ctx.evaluation.afford_list(most_parts(text, called.needle.as_deref()))?;
        let parts = text_split(text, called.needle.as_deref(), called.count(1));
        Ok(Val::list(parts.into_iter().map(Val::str).collect()))
    })),
    by_name(row("splitlines", &[optional("keepends", "boolean")], Cost::Slow, "The lines.", |called, text| {
        let keeps_ends = called.args.positional.first().is_some_and(python::truthy);
        let lines = || Lines { rest: text, keeps_ends };
        called.render.ctx.evaluation.afford_list(lines().count())?;
        Ok(Val::list(lines().map(Val::str).collect()))
    })),
    row(
        "startswith",
        &[one("prefix", "string or list")],
        Cost::Constant,
        "Whether it begins with a text.",
        |called, text| Ok(touches(called, |part| text.starts_with(part))),
    ),
    row("strip", CHARS, Cost::Slow, "The text without blanks or given characters at both ends.", |called, text| {
        Ok(Val::str(stripped(text, called.needle.as_deref(), true, true)))
    }),
    row("swapcase", &[], Cost::Slow, "Letters in the other case.", |_, text| {
        Ok(Val::str(text.chars().map(swap_case).collect::<String>()))
    }),
    row("title", &[], Cost::Slow, "The first letter of each word in upper case.", |_, text| {
        Ok(Val::str(title_case(text)))
    }),
    row("upper", &[], Cost::Slow, "Letters in upper case.", |_, text| Ok(Val::str(text.to_uppercase()))),
    row("zfill", WIDTH, Cost::Slow, "A number with zeros before it.", |called, text| {
        Ok(Val::str(zero_filled(text, called.number(0))?))
    }),
];

/// The methods of lists.
pub const LIST: &[Method<[Val]>] = &[
    row("copy", &[], Cost::ALL, "A list of the same items.", |_, items| Ok(Val::list(items.to_vec()))),
    row("count", &[one("item", "any")], Cost::Deep, "How often an item occurs.", |called, items| {
        let Some(needle) = called.args.positional.first() else { return Ok(Val::list(items.to_vec())) };
        Ok(Val::len(items.iter().filter(|item| python::equal(item, needle)).count()))
    }),
    row(
        "index",
        &[one("item", "any")],
        Cost::Deep,
        "The position of an item, which must be there.",
        |called, items| {
            let Some(needle) = called.args.positional.first() else { return Ok(Val::list(items.to_vec())) };
            match items.iter().position(|item| python::equal(item, needle)) {
                Some(at) => Ok(Val::len(at)),
                None => value_error("the value is not in the list"),
            }
        },
    ),
];

/// The methods of maps.
pub const MAP: &[Method<ValMap>] = &[
    row("copy", &[], Cost::ALL, "A map with the same entries.", |called, _| Ok(called.base.clone())),
    row(
        "get",
        &[one("key", "any"), optional("default", "any")],
        Cost::Constant,
        "The value of a key.",
        |called, entries| {
            let Some(key) = called.args.positional.first().and_then(Val::to_key) else {
                return type_error("`get` needs a key");
            };
            let default = || called.args.positional.get(1).cloned().unwrap_or_else(Val::null);
            Ok(entries.get(&key).cloned().unwrap_or_else(default))
        },
    ),
    row("items", &[], Cost::ALL, "Pairs of keys and values.", |called, entries| {
        let key = |key, value| called.render.ctx.evaluation.key(key, value);
        let pair = |(name, value)| Val::tuple(vec![key(name, value), Val::clone(value)]);
        Ok(Val::list(entries.iter().map(pair).collect()))
    }),
    row("keys", &[], Cost::ALL, "The keys.", |called, entries| {
        Ok(Val::list(entries.iter().map(|(key, value)| called.render.ctx.evaluation.key(key, value)).collect()))
    }),
    row("values", &[], Cost::ALL, "The values.", |_, entries| Ok(Val::list(entries.values().cloned().collect()))),
];
