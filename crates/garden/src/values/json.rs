//! JSON as templates write and read it: numbers the JavaScript way, keys as they come or sorted.
//!
//! Versions are hashed from sorted text. Reading is strict.

use crate::number;
use purlin_syntax::json_text::{self, Build, Expected, Problem};
use purlin_syntax::write::json::{JsonFlavor, quote as quote_json};
use purlin_value::{Data, Value};

/// The order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyOrder {
    /// As in the value.
    Written,
    /// Alphabetical, so that equal values have equal text.
    Sorted,
}

enum Step<'v> {
    Value(&'v Value),
    Text(&'static str),
    Key(&'v str),
}

/// Compact JSON. Unknown or broken values are null; the caller has checked before.
pub fn write(value: &Value, order: KeyOrder) -> String {
    let mut out = String::with_capacity(256);
    let mut steps = Vec::with_capacity(32);
    steps.push(Step::Value(value));
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(text) => out.push_str(text),
            Step::Key(key) => {
                push_quoted(&mut out, key);
                out.push(':');
            }
            Step::Value(value) => write_one(value, order, &mut out, &mut steps),
        }
    }
    out
}

/// Most texts need no escapes.
fn push_quoted(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\' && byte < 0x7F) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&quote_json(text, JsonFlavor::Plain));
    }
}

fn write_one<'v>(value: &'v Value, order: KeyOrder, out: &mut String, steps: &mut Vec<Step<'v>>) {
    match &value.data {
        Data::Bool(true) => out.push_str("true"),
        Data::Bool(false) => out.push_str("false"),
        Data::Int(n) => out.push_str(&n.to_string()),
        Data::BigInt(text) => out.push_str(&text.parse().map_or("null".into(), number::to_text)),
        Data::Float(n) if n.is_finite() => out.push_str(&number::to_text(*n)),
        Data::Str(text) => push_quoted(out, text),
        Data::List(list) => {
            out.push('[');
            steps.push(Step::Text("]"));
            for (index, item) in list.iter().enumerate().rev() {
                steps.push(Step::Value(item));
                if index > 0 {
                    steps.push(Step::Text(","));
                }
            }
        }
        Data::Map(map) => {
            out.push('{');
            steps.push(Step::Text("}"));
            push_entries(map.iter().map(|(key, item)| (key.as_str(), item)), order, steps);
        }
        _ => out.push_str("null"),
    }
}

fn push_entries<'v>(entries: impl Iterator<Item = (&'v str, &'v Value)>, order: KeyOrder, steps: &mut Vec<Step<'v>>) {
    let mut entries: Vec<(&str, &Value)> = entries.filter(|(_, item)| !item.is_absent()).collect();
    if order == KeyOrder::Sorted {
        entries.sort_by_key(|entry| entry.0);
    }
    for (index, (key, item)) in entries.into_iter().enumerate().rev() {
        steps.push(Step::Value(item));
        steps.push(Step::Key(key));
        if index > 0 {
            steps.push(Step::Text(","));
        }
    }
}

/// How deeply JSON text may nest.
const MAX_DEPTH: usize = purlin_syntax::limits::VALUE_LEVELS as usize;

/// Reads JSON text. The error names the expectation and the character.
pub fn read(text: &str) -> Result<Value, String> {
    json_text::read(text.as_bytes(), MAX_DEPTH, &mut Values).map_err(message)
}

fn message(problem: Problem) -> String {
    let (what, at) = match problem.expected {
        Expected::Shallower => return format!("the JSON text nests deeper than {MAX_DEPTH} levels"),
        Expected::Value | Expected::Letter(..) => ("a value", problem.at),
        Expected::End => ("the end of the text", problem.at),
        Expected::Key => ("a key in quotes", problem.at),
        Expected::Colon => ("`:`", problem.at),
        Expected::NextItem => ("`,` or `]`", problem.at),
        Expected::NextEntry => ("`,` or `}`", problem.at),
        Expected::Text => ("a closing quote, or no control character", problem.at),
        Expected::Escape => ("a known escape", problem.at),
        Expected::HexDigit => ("four hexadecimal digits", problem.at),
        Expected::Digit(start) | Expected::Fraction(start) | Expected::Exponent(start) | Expected::Number(start) => {
            ("a number", start)
        }
    };
    format!("expected {what} in JSON at position {at}")
}

/// Makes values as JavaScript holds them.
struct Values;

impl Build for Values {
    type Value = Value;

    fn null(&mut self) -> Value {
        Value::null()
    }

    fn bool(&mut self, truth: bool) -> Value {
        Value::from(truth)
    }

    fn number(&mut self, text: &str) -> Option<Value> {
        text.parse().ok().map(number::to_value)
    }

    fn string(&mut self, text: String) -> Value {
        Value::str(text)
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::list(items)
    }

    fn map(&mut self, entries: Vec<(String, Value)>) -> Value {
        Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in [r#"{"a":[1,-2.5,"x\n\"y\"",null,true],"b":{}}"#, "[]", "\"é\"", "1e+21"] {
            assert_eq!(write(&read(text).unwrap(), KeyOrder::Written), text);
        }
        assert_eq!(write(&read(r#"{"b":1,"a":2}"#).unwrap(), KeyOrder::Sorted), r#"{"a":2,"b":1}"#);
        for text in ["{]}", "{bad", "01", "[1,]", "\"a", "1 2", "nul", "'a'", ""] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
