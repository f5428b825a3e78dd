//! Reads JSON out of a text that is a value in a template or function, strictly by RFC 8259.
//!
//! It creates neither a tree nor values: a [`Build`] does. It words no message either: a [`Problem`] has the byte and
//! what was expected, and each language words it as its own reader does. Without recursion, so depth costs no stack.

/// Constructs values from the text.
pub trait Build {
    /// The type of the constructed values.
    type Value;

    /// `null`.
    fn null(&mut self) -> Self::Value;
    /// `true` or `false`.
    fn bool(&mut self, truth: bool) -> Self::Value;
    /// A number as it is written; `None` if the language cannot represent it.
    fn number(&mut self, text: &str) -> Option<Self::Value>;
    /// A string, without its quotes and escapes.
    fn string(&mut self, text: String) -> Self::Value;
    /// A list.
    fn list(&mut self, items: Vec<Self::Value>) -> Self::Value;
    /// An object, in the order of the text; keys may be duplicated.
    fn map(&mut self, entries: Vec<(String, Self::Value)>) -> Self::Value;
    /// A word that JSON does not have but this language does, at the start of `rest`, and its length.
    fn extra_word(&mut self, _rest: &[u8]) -> Option<(Self::Value, usize)> {
        None
    }
}

/// A problem at a byte of the text. At the end of the text, something is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The byte.
    pub at: usize,
    /// The expected token or character.
    pub expected: Expected,
}

/// The expected token or character where reading stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// A value.
    Value,
    /// The end of the text, since its value is complete.
    End,
    /// A key in quotes.
    Key,
    /// The colon after a key.
    Colon,
    /// A comma or the end of a list.
    NextItem,
    /// A comma or the end of an object.
    NextEntry,
    /// Text without control characters, or a closing quote.
    Text,
    /// A character that may follow a backslash.
    Escape,
    /// A hexadecimal digit of `\uHHHH`.
    HexDigit,
    /// This byte of a word.
    Letter(&'static str, u8),
    /// The first digit of a number that starts at this byte.
    Digit(usize),
    /// A digit after the point of a number that starts at this byte.
    Fraction(usize),
    /// A digit of the exponent of a number that starts at this byte.
    Exponent(usize),
    /// A number that the language can represent; it starts at this byte.
    Number(usize),
    /// Fewer levels.
    Shallower,
}

/// Reads the one value of a text, of at most `depth` levels.
pub fn read<B: Build>(text: &[u8], depth: usize, build: &mut B) -> Result<B::Value, Problem> {
    let (value, used) = read_prefix(text, depth, build)?;
    let mut reader = Reader { text, at: used };
    reader.space();
    if reader.at < text.len() { Err(reader.expected(Expected::End)) } else { Ok(value) }
}

/// Reads the value at the start of a text; also returns its length in bytes.
pub fn read_prefix<B: Build>(text: &[u8], depth: usize, build: &mut B) -> Result<(B::Value, usize), Problem> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<Open<B::Value>> = Vec::new();
    loop {
        if open.len() > depth {
            return Err(reader.expected(Expected::Shallower));
        }
        let Some(value) = reader.begin(build, &mut open)? else { continue };
        if let Some(value) = reader.place(value, build, &mut open)? {
            return Ok((value, reader.at));
        }
    }
}

/// An unfinished collection.
enum Open<V> {
    List(Vec<V>),
    /// The entries, and the key whose value comes next.
    Map(Vec<(String, V)>, String),
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Reader<'t> {
    fn expected(&self, expected: Expected) -> Problem {
        Problem { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The next value, or `None` where a collection was opened whose first value comes next.
    fn begin<B: Build>(&mut self, build: &mut B, open: &mut Vec<Open<B::Value>>) -> Result<Option<B::Value>, Problem> {
        self.space();
        match self.peek() {
            Some(b'[') => {
                self.at += 1;
                self.space();
                if self.eat(b']') {
                    return Ok(Some(build.list(Vec::new())));
                }
                open.push(Open::List(Vec::new()));
                Ok(None)
            }
            Some(b'{') => {
                self.at += 1;
                self.space();
                if self.eat(b'}') {
                    return Ok(Some(build.map(Vec::new())));
                }
                let key = self.key()?;
                open.push(Open::Map(Vec::new(), key));
                Ok(None)
            }
            _ => self.scalar(build).map(Some),
        }
    }

    /// Puts a value where it belongs, and closes the collections that end after it. Returns the value of the whole.
    fn place<B: Build>(
        &mut self,
        mut value: B::Value,
        build: &mut B,
        open: &mut Vec<Open<B::Value>>,
    ) -> Result<Option<B::Value>, Problem> {
        while let Some(collection) = open.pop() {
            self.space();
            value = match collection {
                Open::List(mut items) => {
                    items.push(value);
                    if self.eat(b',') {
                        open.push(Open::List(items));
                        return Ok(None);
                    }
                    if !self.eat(b']') {
                        return Err(self.expected(Expected::NextItem));
                    }
                    build.list(items)
                }
                Open::Map(mut entries, key) => {
                    entries.push((key, value));
                    if self.eat(b',') {
                        let key = self.key()?;
                        open.push(Open::Map(entries, key));
                        return Ok(None);
                    }
                    if !self.eat(b'}') {
                        return Err(self.expected(Expected::NextEntry));
                    }
                    build.map(entries)
                }
            };
        }
        Ok(Some(value))
    }

    fn key(&mut self) -> Result<String, Problem> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(self.expected(Expected::Key));
        }
        let key = self.string()?;
        self.space();
        if self.eat(b':') { Ok(key) } else { Err(self.expected(Expected::Colon)) }
    }

    fn scalar<B: Build>(&mut self, build: &mut B) -> Result<B::Value, Problem> {
        if let Some((value, length)) = build.extra_word(self.rest()) {
            self.at += length;
            return Ok(value);
        }
        match self.peek() {
            Some(b'"') => self.string().map(|text| build.string(text)),
            Some(b't') => self.word("true").map(|()| build.bool(true)),
            Some(b'f') => self.word("false").map(|()| build.bool(false)),
            Some(b'n') => self.word("null").map(|()| build.null()),
            Some(b'-' | b'0'..=b'9') => self.number(build),
            _ => Err(self.expected(Expected::Value)),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Problem> {
        for byte in word.bytes() {
            if !self.eat(byte) {
                return Err(self.expected(Expected::Letter(word, byte)));
            }
        }
        Ok(())
    }

    fn number<B: Build>(&mut self, build: &mut B) -> Result<B::Value, Problem> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits(Expected::Digit(start))?;
        }
        if self.eat(b'.') {
            self.digits(Expected::Fraction(start))?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits(Expected::Exponent(start))?;
        }
        let text = self.text.get(start..self.at).and_then(|text| std::str::from_utf8(text).ok());
        text.and_then(|text| build.number(text)).ok_or(self.expected(Expected::Number(start)))
    }

    fn digits(&mut self, expected: Expected) -> Result<(), Problem> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.expected(expected)) } else { Ok(()) }
    }

    /// A string in its quotes. A byte that is not UTF-8 becomes the replacement character.
    fn string(&mut self) -> Result<String, Problem> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let plain = self.rest().iter().take_while(|&&byte| byte >= b' ' && byte != b'"' && byte != b'\\').count();
            push_utf8(&mut out, self.rest().get(..plain).unwrap_or_default());
            self.at += plain;
            if self.eat(b'"') {
                return Ok(out);
            }
            if !self.eat(b'\\') {
                return Err(self.expected(Expected::Text));
            }
            out.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        let escaped = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.expected(Expected::Escape)),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// The digits of `\uHHHH`, joining surrogate pairs; a lone surrogate becomes the replacement character.
    fn unicode(&mut self) -> Result<char, Problem> {
        let high = self.hex()?;
        if (0xD800..0xDC00).contains(&high) && self.rest().starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex()?;
            if (0xDC00..0xE000).contains(&low) {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Problem> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or(self.expected(Expected::HexDigit))?;
            self.at += 1;
        }
        Ok(code)
    }
}

/// Appends bytes; each byte that is not UTF-8 becomes one replacement character, as in Go.
fn push_utf8(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Writes each event as text.
    struct Echo;

    impl Build for Echo {
        type Value = String;

        fn null(&mut self) -> String {
            "null".to_owned()
        }
        fn bool(&mut self, truth: bool) -> String {
            truth.to_string()
        }
        fn number(&mut self, text: &str) -> Option<String> {
            (text != "666").then(|| text.to_owned())
        }
        fn string(&mut self, text: String) -> String {
            format!("{text:?}")
        }
        fn list(&mut self, items: Vec<String>) -> String {
            format!("[{}]", items.join(","))
        }
        fn map(&mut self, entries: Vec<(String, String)>) -> String {
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
            format!("{{{}}}", entries.join(","))
        }
    }

    #[test]
    fn reads_what_the_standard_allows() {
        for text in [r#"{"a":[1,-2.5e+3,"x\n\"y\"",null,true],"b":{}}"#, "[]", "\"é\"", "0", "-0.0", "[[[]]]"] {
            assert_eq!(read(text.as_bytes(), 9, &mut Echo).unwrap(), text);
        }
        assert_eq!(read(b" \"\\ud83d\\ude00\\ud800x\\u0041\" ", 9, &mut Echo).unwrap(), "\"😀\u{FFFD}xA\"");
        assert_eq!(read(b"\"a\xE2\x82b\xFF\"", 9, &mut Echo).unwrap(), "\"a\u{FFFD}\u{FFFD}b\u{FFFD}\"");
        assert_eq!(read_prefix(b" [1 ] rest", 9, &mut Echo).unwrap(), ("[1]".to_owned(), 5));
    }

    #[test]
    fn says_what_is_wrong_where() {
        let cases = [
            ("", 0, Expected::Value),
            ("nul", 3, Expected::Letter("null", b'l')),
            ("'a'", 0, Expected::Value),
            ("1 2", 2, Expected::End),
            ("01", 1, Expected::End),
            ("-", 1, Expected::Digit(0)),
            ("[1.]", 3, Expected::Fraction(1)),
            ("1e+", 3, Expected::Exponent(0)),
            ("[666]", 4, Expected::Number(1)),
            ("[1,]", 3, Expected::Value),
            ("[1 2]", 3, Expected::NextItem),
            ("{a", 1, Expected::Key),
            ("{\"a\" 1}", 5, Expected::Colon),
            ("{\"a\":1]", 6, Expected::NextEntry),
            ("{\"a\":1,}", 7, Expected::Key),
            ("\"a\nb\"", 2, Expected::Text),
            ("\"a", 2, Expected::Text),
            ("\"\\x\"", 2, Expected::Escape),
            ("\"\\u00g0\"", 5, Expected::HexDigit),
            ("[[[[1]]]]", 4, Expected::Shallower),
        ];
        for (text, at, expected) in cases {
            assert_eq!(read(text.as_bytes(), 3, &mut Echo), Err(Problem { at, expected }), "{text}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(read(deep.as_bytes(), usize::MAX, &mut Echo).unwrap_err().at, 1_000_000);
    }
}
