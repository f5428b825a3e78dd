//! Reads JSON like Go's `encoding/json`, with its messages. Numbers are floats.

use crate::lex::decode;
use crate::value::{Data, Heap, Str, Val};
use purlin_syntax::json_text::{self, Build, Expected, Problem};

/// Maximum nesting.
pub const MAX_DEPTH: usize = purlin_syntax::limits::COLLECTION_LEVELS as usize;

/// Reads one JSON value; trailing white space is allowed.
pub fn parse(heap: &mut Heap, text: &[u8]) -> Result<Val, String> {
    json_text::read(text, MAX_DEPTH, &mut OnHeap(heap)).map_err(|problem| message(text, problem))
}

/// A number as Go's `float64`, if it is in range.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether a text ends prematurely.
pub fn ends_early(text: &[u8], problem: &Problem) -> bool {
    let is_other = matches!(problem.expected, Expected::Shallower | Expected::Number(_));
    !is_other && decode(text.get(problem.at..).unwrap_or_default()).is_none()
}

/// Go's message for a problem in a text.
pub fn message(text: &[u8], problem: Problem) -> String {
    let at = text.get(problem.at..).unwrap_or_default();
    let context = match problem.expected {
        Expected::Shallower => return "exceeded max depth".to_owned(),
        Expected::Number(start) => {
            let number = String::from_utf8_lossy(text.get(start..problem.at).unwrap_or_default());
            return format!("json: cannot unmarshal number {number} into Go value of type float64");
        }
        Expected::Letter(word, byte) => &format!("in literal {word} (expecting '{}')", char::from(byte)),
        Expected::Value => "looking for beginning of value",
        Expected::End => "after top-level value",
        Expected::Key => "looking for beginning of object key string",
        Expected::Colon => "after object key",
        Expected::NextItem => "after array element",
        Expected::NextEntry => "after object key:value pair",
        Expected::Text => "in string literal",
        Expected::Escape => "in string escape code",
        Expected::HexDigit => "in \\u hexadecimal character escape",
        Expected::Digit(_) => "in numeric literal",
        Expected::Fraction(_) => "after decimal point in numeric literal",
        Expected::Exponent(_) => "in exponent of numeric literal",
    };
    match decode(at) {
        None => "unexpected end of JSON input".to_owned(),
        Some((ch, _)) if problem.expected == Expected::Escape => format!("invalid escape sequence `\\{ch}` in string"),
        Some(('\'', _)) => format!("invalid character '\\'' {context}"),
        Some(('"', _)) => format!("invalid character '\"' {context}"),
        Some((ch, _)) => {
            let shown = crate::quote::quote_with(ch.encode_utf8(&mut [0; 4]).as_bytes(), '\'', false);
            format!("invalid character {shown} {context}")
        }
    }
}

/// Go's word for a JSON value of this kind.
pub fn kind_name(value: &Val) -> &'static str {
    match value.data {
        Data::Str(_) => "string",
        Data::Bool(_) => "bool",
        Data::List(_) => "array",
        Data::Map(_) => "object",
        _ => "number",
    }
}

struct OnHeap<'h>(&'h mut Heap);

impl Build for OnHeap<'_> {
    type Value = Val;

    fn null(&mut self) -> Val {
        Val::NIL
    }

    fn bool(&mut self, truth: bool) -> Val {
        Val::bool(truth)
    }

    fn number(&mut self, text: &str) -> Option<Val> {
        number(text).map(Val::float)
    }

    fn string(&mut self, text: String) -> Val {
        Val::new(Data::Str(Str::new(text.into_bytes())))
    }

    fn list(&mut self, items: Vec<Val>) -> Val {
        self.0.any_list(items)
    }

    fn map(&mut self, entries: Vec<(String, Val)>) -> Val {
        let entries = entries.into_iter().map(|(key, value)| (Str::new(key.into_bytes()), value));
        self.0.any_map(entries.collect())
    }
}
