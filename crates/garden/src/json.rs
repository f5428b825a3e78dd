//! JSON as templates write and read it: numbers the JavaScript way, keys as they come or sorted.
//!
//! Sorted text is what versions are hashed from. Reading is strict.

use crate::number;
use purlin_syntax::write::json::{JsonFlavor, quote as quote_json};
use purlin_value::{Data, Map, Value};

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

/// Compact JSON. What is unknown or broken is null; the caller has looked before.
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
const MAX_DEPTH: usize = 200;

/// Reads JSON text. The error says what was expected at which character.
pub fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, pos: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.pos < text.len() {
        return Err(reader.expected("the end of the text"));
    }
    Ok(value)
}

struct Reader<'t> {
    text: &'t str,
    pos: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    fn space(&mut self) {
        self.pos += self.rest().bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    fn expected(&self, what: &str) -> String {
        format!("expected {what} in JSON at position {}", self.pos)
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("the JSON text nests deeper than {MAX_DEPTH} levels"));
        }
        self.space();
        match self.rest().bytes().next() {
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::str(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.eat("true") => Ok(Value::from(true)),
            _ if self.eat("false") => Ok(Value::from(false)),
            _ if self.eat("null") => Ok(Value::null()),
            _ => Err(self.expected("a value")),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, String> {
        let mut map = Map::new();
        self.pos += 1;
        self.space();
        if self.eat("}") {
            return Ok(Value::map(map));
        }
        loop {
            self.space();
            if !self.rest().starts_with('"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            self.space();
            if !self.eat(":") {
                return Err(self.expected("`:`"));
            }
            let value = self.value(depth + 1)?;
            map.insert(key.into(), value);
            self.space();
            if self.eat("}") {
                return Ok(Value::map(map));
            }
            if !self.eat(",") {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        self.pos += 1;
        self.space();
        if self.eat("]") {
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.eat("]") {
                return Ok(Value::list(items));
            }
            if !self.eat(",") {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let length = self.rest().bytes().take_while(|b| b.is_ascii_digit() || b"+-.eE".contains(b)).count();
        let text = self.rest().get(..length).unwrap_or("");
        let digits = text.strip_prefix('-').unwrap_or(text);
        let zero_led =
            digits.len() > 1 && digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let sound = !zero_led && !digits.starts_with('.') && !digits.ends_with('.') && !digits.contains(".e");
        let number: f64 = text.parse().ok().filter(|_| sound).ok_or_else(|| self.expected("a number"))?;
        self.pos += length;
        Ok(number::to_value(number))
    }

    fn string(&mut self) -> Result<String, String> {
        let mut out = String::new();
        self.pos += 1;
        loop {
            let Some(c) = self.rest().chars().next() else { return Err(self.expected("a closing quote")) };
            self.pos += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => self.escape(&mut out)?,
                c if c < ' ' => return Err(self.expected("no control character")),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        let c = self.rest().chars().next().unwrap_or(' ');
        self.pos += c.len_utf8();
        out.push(match c {
            '"' | '\\' | '/' => c,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{C}',
            'u' => self.unicode()?,
            _ => return Err(self.expected("a known escape")),
        });
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, String> {
        let high = self.hex()?;
        if (0xD800..0xDC00).contains(&high) && self.rest().starts_with("\\u") {
            let before = self.pos;
            self.pos += 2;
            let low = self.hex()?;
            if (0xDC00..0xE000).contains(&low) {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.pos = before;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).ok_or_else(|| self.expected("four digits"))?;
        self.pos += 4;
        Ok(code)
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
