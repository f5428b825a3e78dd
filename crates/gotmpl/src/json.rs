//! Reads JSON as Go's `encoding/json` does, with its messages. Numbers are floats.

use std::collections::BTreeMap;

use crate::lex::decode;
use crate::value::{Data, Heap, Str, Val};

const MAX_DEPTH: u32 = 1_000;

/// Reads one JSON value; trailing white space is allowed.
pub fn parse(heap: &mut Heap, text: &[u8]) -> Result<Val, String> {
    let mut reader = Reader { heap, text, at: 0 };
    reader.space();
    let value = reader.value(0, "looking for beginning of value")?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.invalid("after top-level value"));
    }
    Ok(value)
}

/// Reads one JSON value at the start of a text; also gives how many bytes it took.
pub fn parse_prefix(heap: &mut Heap, text: &[u8]) -> Result<(Val, usize), String> {
    let mut reader = Reader { heap, text, at: 0 };
    reader.space();
    let value = reader.value(0, "looking for beginning of value")?;
    Ok((value, reader.at))
}

/// What Go calls a JSON value of this kind.
pub fn kind_name(value: &Val) -> &'static str {
    match value.data {
        Data::Str(_) => "string",
        Data::Bool(_) => "bool",
        Data::List(_) => "array",
        Data::Map(_) => "object",
        _ => "number",
    }
}

struct Reader<'a> {
    heap: &'a mut Heap,
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn invalid(&self, context: &str) -> String {
        match decode(self.text.get(self.at..).unwrap_or_default()) {
            None => "unexpected end of JSON input".to_owned(),
            Some(('\'', _)) => format!("invalid character '\\'' {context}"),
            Some(('"', _)) => format!("invalid character '\"' {context}"),
            Some((ch, _)) => {
                let shown = crate::quote::quote_with(ch.encode_utf8(&mut [0; 4]).as_bytes(), '\'', false);
                format!("invalid character {shown} {context}")
            }
        }
    }

    fn value(&mut self, depth: u32, context: &str) -> Result<Val, String> {
        if depth > MAX_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Val::new(Data::Str(self.string()?))),
            Some(b't') => self.word("true", Val::bool(true)),
            Some(b'f') => self.word("false", Val::bool(false)),
            Some(b'n') => self.word("null", Val::NIL),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.invalid(context)),
        }
    }

    fn word(&mut self, word: &str, value: Val) -> Result<Val, String> {
        for byte in word.bytes() {
            if self.peek() != Some(byte) {
                let expected = char::from(byte);
                return Err(self.invalid(&format!("in literal {word} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Val, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.invalid("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.invalid("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.invalid("in exponent of numeric literal"));
            }
            self.digits();
        }
        let text = String::from_utf8_lossy(self.text.get(start..self.at).unwrap_or_default());
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Val::float(number)),
            _ => Err(format!("json: cannot unmarshal number {text} into Go value of type float64")),
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<Str, String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                None => return Err("unexpected end of JSON input".to_owned()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Str::new(out));
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                Some(byte) if byte < 0x20 => return Err(self.invalid("in string literal")),
                Some(_) => {
                    let (ch, width) = decode(self.text.get(self.at..).unwrap_or_default()).unwrap_or(('\u{FFFD}', 1));
                    out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                    self.at += width;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let byte = match self.peek() {
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => 10,
            Some(b'r') => 13,
            Some(b't') => 9,
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'u') => {
                self.at += 1;
                let first = self.hex()?;
                let ch = self.surrogate(first)?;
                out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            Some(_) => {
                let (ch, _) = decode(self.text.get(self.at..).unwrap_or_default()).unwrap_or_default();
                return Err(format!("invalid escape sequence `\\{ch}` in string"));
            }
            None => return Err(self.invalid("in string escape code")),
        };
        out.push(byte);
        self.at += 1;
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else { return Err(self.invalid("in \\u hexadecimal character escape")) };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn surrogate(&mut self, first: u32) -> Result<char, String> {
        if (0xD800..0xDC00).contains(&first) && self.text.get(self.at..self.at + 2) == Some(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or('\u{FFFD}'))
    }

    fn array(&mut self, depth: u32) -> Result<Val, String> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(self.heap.any_list(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1, "looking for beginning of value")?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(self.heap.any_list(items));
                }
                _ => return Err(self.invalid("after array element")),
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Val, String> {
        self.at += 1;
        let mut entries = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(self.heap.any_map(entries));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.invalid("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.invalid("after object key"));
            }
            self.at += 1;
            self.space();
            let value = self.value(depth + 1, "looking for beginning of value")?;
            entries.insert(key, value);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(self.heap.any_map(entries));
                }
                _ => return Err(self.invalid("after object key:value pair")),
            }
        }
    }
}
