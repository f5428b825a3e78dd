//! Reads JSON into a [`Tree`], strictly by RFC 8259.
//!
//! Never fails: every departure from the standard is reported at its location, and reading goes on where the intent
//! is clear (a trailing comma, a comment, single quotes). Without recursion, so depth costs no stack.

use crate::build::{Builder, Properties};
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::rules;
use crate::scalar::Flavor;
use crate::source::Source;
use crate::tree::{Style, Tree};
use std::borrow::Cow;
use std::sync::Arc;

/// After this many problems the rest of the file is not read: it is probably not JSON.
const MOST_PROBLEMS: usize = 20;

/// Reads a source; problems are in [`Tree::diagnostics`].
///
/// Numbers keep their text, so integers of any size survive.
pub fn parse(source: Arc<Source>, limits: &Limits) -> Tree {
    let mut builder = Builder::new(source.clone(), Flavor::Core, limits);
    let text = source.text();
    if !builder.check_size() {
        return builder.finish(0);
    }
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    builder.begin_document(at);
    let mut reader = Reader { builder, text, at, open: Vec::new(), problems: 0 };
    reader.read();
    let end = reader.at.min(text.len());
    reader.builder.end_document(end);
    reader.builder.finish(end)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    List,
    Map,
}

impl Bracket {
    fn closing(self) -> u8 {
        match self {
            Bracket::List => b']',
            Bracket::Map => b'}',
        }
    }
}

/// The expected token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value.
    Value,
    /// The first item of a list, or its end.
    FirstItem,
    /// The first key of an object, or its end.
    FirstKey,
    /// A key after a comma.
    Key,
    /// The colon after a key.
    Colon,
    /// A comma, or the end of the collection.
    Next,
    /// The end of the text.
    End,
}

struct Reader<'s, 'l> {
    builder: Builder<'l>,
    text: &'s str,
    at: usize,
    /// Open collections and their start offsets.
    open: Vec<(Bracket, usize)>,
    problems: usize,
}

/// Reading cannot continue; the reason is reported.
struct Stop;

impl<'s> Reader<'s, '_> {
    fn read(&mut self) {
        let mut expect = Expect::Value;
        loop {
            match self.step(expect) {
                _ if self.builder.is_full() => return,
                Ok(Expect::End) if self.at >= self.text.len() => return,
                Ok(next) => expect = next,
                Err(Stop) => return,
            }
        }
    }

    /// Reads one token and returns what may follow it.
    fn step(&mut self, expect: Expect) -> Result<Expect, Stop> {
        self.skip_blank()?;
        let Some(byte) = self.peek() else { return self.end_of_file(expect) };
        match (expect, byte) {
            (Expect::FirstItem | Expect::FirstKey | Expect::Next, b']' | b'}') => self.close(),
            (Expect::Value | Expect::FirstItem, _) => self.value(byte),
            (Expect::FirstKey | Expect::Key, _) => self.key(byte),
            (Expect::Colon, b':') => {
                self.at += 1;
                Ok(Expect::Value)
            }
            (Expect::Colon, _) => {
                let hint = if byte == b'=' { Some("write `:` instead of `=`") } else { None };
                self.complain(self.at, "there should be a `:` between the key and its value", hint)?;
                self.at += usize::from(byte == b'=');
                Ok(Expect::Value)
            }
            (Expect::Next, b',') => self.comma(),
            (Expect::Next, _) => {
                self.complain(self.at, "there should be a `,` before this", None)?;
                Ok(self.after_comma())
            }
            (Expect::End, _) => {
                self.complain(self.at, "there is more text after the end of the value", None)?;
                Err(Stop)
            }
        }
    }

    fn end_of_file(&mut self, expect: Expect) -> Result<Expect, Stop> {
        if let Some(&(bracket, start)) = self.open.last() {
            let (open, close) = if bracket == Bracket::List { ("[", "]") } else { ("{", "}") };
            self.complain(
                start,
                &format!("this `{open}` is never closed"),
                Some(&format!("add the closing `{close}`")),
            )?;
        } else if expect != Expect::End {
            self.complain(self.at, "the file is empty", Some("write `{}` or `null` if nothing is meant"))?;
        }
        if expect == Expect::End { Ok(Expect::End) } else { Err(Stop) }
    }

    fn value(&mut self, byte: u8) -> Result<Expect, Stop> {
        let start = self.at;
        match byte {
            b'{' => {
                self.open(Bracket::Map)?;
                return Ok(Expect::FirstKey);
            }
            b'[' => {
                self.open(Bracket::List)?;
                return Ok(Expect::FirstItem);
            }
            b'"' | b'\'' => {
                let text = self.string(byte)?;
                self.builder.scalar(&text, Style::Double, start, self.at, Properties::default());
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number()?,
            b',' | b']' | b'}' | b':' => {
                let sign = char::from(byte);
                self.complain(start, &format!("there should be a value before this `{sign}`"), None)?;
                self.builder.error(start, start);
            }
            _ => self.word()?,
        }
        Ok(self.after_value())
    }

    fn key(&mut self, byte: u8) -> Result<Expect, Stop> {
        let start = self.at;
        match byte {
            b'"' | b'\'' => {
                let text = self.string(byte)?;
                self.builder.scalar(&text, Style::Double, start, self.at, Properties::default());
            }
            b'}' | b']' => return self.close(),
            _ => {
                let name = self.take_word();
                if name.is_empty() {
                    self.complain(start, "there should be a key in double quotes here", None)?;
                    return Err(Stop);
                }
                self.complain_until(
                    self.at,
                    start,
                    "keys must be in double quotes in JSON",
                    Some(&format!("write `\"{name}\"`")),
                )?;
                self.builder.scalar(name, Style::Plain, start, self.at, Properties::default());
            }
        }
        Ok(Expect::Colon)
    }

    fn open(&mut self, bracket: Bracket) -> Result<(), Stop> {
        let fits = match bracket {
            Bracket::List => self.builder.begin_list(Style::Flow, self.at, Properties::default()),
            Bracket::Map => self.builder.begin_map(Style::Flow, self.at, Properties::default()),
        };
        self.open.push((bracket, self.at));
        self.at += 1;
        if fits { Ok(()) } else { Err(Stop) }
    }

    fn close(&mut self) -> Result<Expect, Stop> {
        let Some((bracket, start)) = self.open.pop() else {
            self.complain(self.at, "nothing is open that this could close", None)?;
            return Err(Stop);
        };
        if self.peek() != Some(bracket.closing()) {
            let message = format!("there should be a `{}` here", char::from(bracket.closing()));
            let opened = self.builder.span(start, start + 1);
            let diagnostic = self.problem(self.at, self.at + 1, &message, None).label(opened, "opened here");
            self.report(diagnostic)?;
        }
        // A wrong bracket that closes the enclosing collection is left for that one.
        let is_outer = self.open.last().is_some_and(|(outer, _)| self.peek() == Some(outer.closing()));
        if self.peek() == Some(bracket.closing()) || !is_outer {
            self.at += 1;
        }
        self.builder.end_collection(self.at);
        Ok(self.after_value())
    }

    fn comma(&mut self) -> Result<Expect, Stop> {
        let comma = self.at;
        self.at += 1;
        self.skip_blank()?;
        if matches!(self.peek(), Some(b']' | b'}')) {
            self.complain(comma, "JSON has no comma after the last entry", Some("remove the comma"))?;
            return self.close();
        }
        Ok(self.after_comma())
    }

    fn after_value(&self) -> Expect {
        if self.open.is_empty() { Expect::End } else { Expect::Next }
    }

    fn after_comma(&self) -> Expect {
        match self.open.last() {
            Some((Bracket::Map, _)) => Expect::Key,
            _ => Expect::Value,
        }
    }

    fn number(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_');
        let length = self.text.as_bytes().get(start..).unwrap_or(&[]).iter().take_while(|b| is_part(b)).count();
        self.at = start + length;
        let text = self.text.get(start..self.at).unwrap_or("");
        if crate::write::json::is_json_number(text) {
            self.builder.scalar(text, Style::Plain, start, self.at, Properties::default());
            return Ok(());
        }
        let hint = number_hint(text);
        self.complain_until(self.at, start, &format!("`{text}` is not a number in JSON"), hint)?;
        self.builder.error(start, self.at);
        Ok(())
    }

    fn word(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let word = self.take_word();
        if matches!(word, "true" | "false" | "null") {
            self.builder.scalar(word, Style::Plain, start, self.at, Properties::default());
            return Ok(());
        }
        if word.is_empty() {
            let c = self.text.get(start..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
            self.complain(start, &format!("`{}` does not begin a value", c.escape_debug()), None)?;
            return Err(Stop);
        }
        let hint = match word {
            "True" | "TRUE" => "write `true`".to_owned(),
            "False" | "FALSE" => "write `false`".to_owned(),
            "None" | "NULL" | "Null" | "nil" | "undefined" => "write `null`".to_owned(),
            "NaN" | "Infinity" => "JSON has no such number; write `null` or a string".to_owned(),
            _ => format!("put it in double quotes: `\"{word}\"`"),
        };
        self.complain_until(self.at, start, &format!("`{word}` is not a value in JSON"), Some(&hint))?;
        self.builder.error(start, self.at);
        Ok(())
    }

    /// Reads letters, digits and other characters of names.
    fn take_word(&mut self) -> &'s str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    /// Reads a string from its opening to its closing quote.
    fn string(&mut self, quote: u8) -> Result<Cow<'s, str>, Stop> {
        let start = self.at;
        if quote == b'\'' {
            self.complain(start, "strings must be in double quotes in JSON", Some("replace `'` by `\"`"))?;
        }
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let from = self.at;
            let rest = self.text.as_bytes().get(from..).unwrap_or(&[]);
            let length = rest.iter().position(|&b| b == quote || b == b'\\' || b < 0x20).unwrap_or(rest.len());
            self.at = from + length;
            append(&mut text, self.text.get(from..self.at).unwrap_or(""));
            match self.peek() {
                Some(b'\\') => self.escape(text.to_mut())?,
                Some(b'\n' | b'\r') | None => {
                    let hint = "add the closing quote; a line break inside is written `\\n`";
                    self.complain(start, "this string is not closed before the end of its line", Some(hint))?;
                    return Ok(text);
                }
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(byte) => {
                    let hint = format!("write `\\u{byte:04x}`");
                    self.complain(self.at, "a control character must be escaped in a string", Some(&hint))?;
                    append(&mut text, self.text.get(self.at..self.at + 1).unwrap_or(""));
                    self.at += 1;
                }
            }
        }
    }

    /// Reads an escape, the backslash being next.
    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        let start = self.at;
        let next = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        match next {
            Some(b'"') => text.push('"'),
            Some(b'\\') => text.push('\\'),
            Some(b'/') => text.push('/'),
            Some(b'b') => text.push('\u{8}'),
            Some(b'f') => text.push('\u{c}'),
            Some(b'n') => text.push('\n'),
            Some(b'r') => text.push('\r'),
            Some(b't') => text.push('\t'),
            Some(b'u') => return self.unicode_escape(start, text),
            _ => {
                self.at = start + 1;
                self.complain_until(
                    self.at,
                    start,
                    "this escape does not exist in JSON",
                    Some("write `\\\\` for a backslash"),
                )?;
                text.push('\\');
            }
        }
        Ok(())
    }

    /// Reads the digits of `\u…`, and the second half of a pair.
    fn unicode_escape(&mut self, start: usize, text: &mut String) -> Result<(), Stop> {
        let Some(unit) = self.hex_digits() else {
            self.complain_until(self.at, start, "`\\u` needs four hexadecimal digits", None)?;
            return Ok(());
        };
        let mut units = vec![unit];
        let is_first_half = (0xd800..0xdc00).contains(&unit);
        if is_first_half && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u")) {
            let back = self.at;
            self.at += 2;
            match self.hex_digits() {
                Some(second) if (0xdc00..0xe000).contains(&second) => units.push(second),
                _ => self.at = back,
            }
        }
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => text.push(c),
            _ => {
                self.complain_until(
                    self.at,
                    start,
                    "this is half of a character",
                    Some("write both halves, `\\ud83d\\ude00`"),
                )?;
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(())
    }

    fn hex_digits(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }

    /// Skips white space, and reports and skips comments.
    fn skip_blank(&mut self) -> Result<(), Stop> {
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let blank = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
            self.at += blank;
            let rest = rest.get(blank..).unwrap_or("");
            let length = if rest.starts_with("//") || rest.starts_with('#') {
                memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            } else {
                return Ok(());
            };
            self.complain_until(self.at + length, self.at, "JSON has no comments", Some("remove the comment"))?;
            self.at += length;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reports a problem with the character at an offset.
    fn complain(&mut self, start: usize, message: &str, hint: Option<&str>) -> Result<(), Stop> {
        let width = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.complain_until(start + width, start, message, hint)
    }

    fn complain_until(&mut self, end: usize, start: usize, message: &str, hint: Option<&str>) -> Result<(), Stop> {
        let diagnostic = self.problem(start, end, message, hint);
        self.report(diagnostic)
    }

    fn problem(&self, start: usize, end: usize, message: &str, hint: Option<&str>) -> Diagnostic {
        Diagnostic::at(&rules::JSON_SYNTAX, self.builder.span(start, end), message).maybe_hint(hint.map(str::to_owned))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Result<(), Stop> {
        self.builder.report(diagnostic);
        self.problems += 1;
        if self.problems < MOST_PROBLEMS { Ok(()) } else { Err(Stop) }
    }
}

/// Appends without copying as long as there is only one piece.
fn append<'s>(text: &mut Cow<'s, str>, piece: &'s str) {
    if text.is_empty() {
        *text = Cow::Borrowed(piece);
    } else if !piece.is_empty() {
        text.to_mut().push_str(piece);
    }
}

fn number_hint(text: &str) -> Option<&'static str> {
    let digits = text.trim_start_matches(['+', '-']);
    if text.starts_with('+') {
        Some("leave out the `+`")
    } else if digits.starts_with("0x") || digits.starts_with("0X") {
        Some("write it in decimal")
    } else if digits.starts_with('.') {
        Some("write a `0` before the point")
    } else if digits.ends_with('.') {
        Some("write a digit after the point")
    } else if digits.len() > 1 && digits.starts_with('0') {
        Some("leave out the leading zero, or put it in quotes")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::scalar::Scalar;
    use crate::source::FileId;

    fn read(text: &str) -> Tree {
        parse(Arc::new(Source::new(FileId(0), "t.json", text)), &Limits::default())
    }

    fn messages(text: &str) -> Vec<String> {
        let tree = read(text);
        let line = |d: &Diagnostic| {
            let at = tree.source().position(d.span.unwrap().start);
            format!("{}:{} {}", at.line, at.column, d.message)
        };
        tree.diagnostics().iter().map(line).collect()
    }

    #[test]
    fn values() {
        let tree = read(" {\"a\": [1, -2.5e+3, true, null, \"x\"], \"b\\n\": {\"c\": {}}, \"d\": []} \n");
        assert_eq!(tree.diagnostics(), []);
        let root = tree.root().unwrap();
        let items: Vec<Scalar> = root.get("a").unwrap().items().map(|item| item.scalar()).collect();
        assert_eq!(items, [Scalar::Int(1), Scalar::Float(-2500.0), Scalar::Bool(true), Scalar::Null, Scalar::Str]);
        assert!(root.get("b\n").unwrap().get("c").unwrap().is_map());
        assert!(root.get("d").unwrap().is_list());
        assert_eq!(tree.source().slice(root.span()), tree.source().text().trim());
        assert_eq!(tree.source().slice(root.get("a").unwrap().items().nth(4).unwrap().span()), "\"x\"");
    }

    #[test]
    fn strings_and_numbers_keep_their_text() {
        let tree = read(r#"["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é", 123456789012345678901234567890, 1.0, ""]"#);
        assert_eq!(tree.diagnostics(), []);
        let texts: Vec<&str> = tree.root().unwrap().items().map(|item| item.text()).collect();
        assert_eq!(texts, ["\"\\/\u{8}\u{c}\n\r\té😀é", "123456789012345678901234567890", "1.0", ""]);
    }

    #[test]
    fn problems_have_places() {
        let cases: &[(&str, &[&str])] = &[
            ("", &["1:1 the file is empty"]),
            ("[1,\n 2", &["1:1 this `[` is never closed"]),
            ("{\"a\": 1,\n \"b\": [}", &["2:8 there should be a `]` here"]),
            ("[1, 2}", &["1:6 there should be a `]` here"]),
            ("[1, 2,]", &["1:6 JSON has no comma after the last entry"]),
            ("{\"a\": 1,}", &["1:8 JSON has no comma after the last entry"]),
            ("[1 2]", &["1:4 there should be a `,` before this"]),
            ("{\"a\" 1}", &["1:6 there should be a `:` between the key and its value"]),
            (
                "{a: 'x'}",
                &["1:2 keys must be in double quotes in JSON", "1:5 strings must be in double quotes in JSON"],
            ),
            (
                "[010, +1, .5, 1., 0x1F, --1]",
                &[
                    "1:2 `010` is not a number in JSON",
                    "1:7 `+1` is not a number in JSON",
                    "1:11 `.5` is not a number in JSON",
                    "1:15 `1.` is not a number in JSON",
                    "1:19 `0x1F` is not a number in JSON",
                    "1:25 `--1` is not a number in JSON",
                ],
            ),
            ("[True, yes]", &["1:2 `True` is not a value in JSON", "1:8 `yes` is not a value in JSON"]),
            ("// c\n[1] /* x", &["1:1 JSON has no comments", "2:5 JSON has no comments"]),
            (
                "\"a\nb\"",
                &[
                    "1:1 this string is not closed before the end of its line",
                    "2:1 there is more text after the end of the value",
                ],
            ),
            ("\"a\tb\"", &["1:3 a control character must be escaped in a string"]),
            ("\"\\x\"", &["1:2 this escape does not exist in JSON"]),
            ("\"\\u12\"", &["1:2 `\\u` needs four hexadecimal digits"]),
            ("\"\\ud800x\"", &["1:2 this is half of a character"]),
            ("1 2", &["1:3 there is more text after the end of the value"]),
            (
                "]",
                &["1:1 there should be a value before this `]`", "1:1 there is more text after the end of the value"],
            ),
            ("\u{7}", &["1:1 `\\u{7}` does not begin a value"]),
            ("{\"a\": 1, \"b\": 2, \"a\": 3}", &["1:18 duplicate key `a`"]),
        ];
        for (text, expected) in cases {
            assert_eq!(messages(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn reading_goes_on_after_a_problem() {
        let tree = read("{a: 1, \"b\": [1,], \"c\": 'x',}");
        assert_eq!(tree.diagnostics().len(), 4);
        let root = tree.root().unwrap();
        assert_eq!(root.get("a").unwrap().as_int(), Some(1));
        assert_eq!(root.get("b").unwrap().items().count(), 1);
        assert_eq!(root.get("c").unwrap().text(), "x");
    }

    #[test]
    fn hostile_text_ends_early() {
        let deep = "[".repeat(100_000);
        assert_eq!(read(&deep).diagnostics().last().unwrap().rule.name, "limit-depth");
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(read(&deep).diagnostics().last().unwrap().rule.name, "limit-depth");
        assert_eq!(messages(&"x ".repeat(10_000)).len(), 2);
        assert_eq!(messages(&format!("[{}", "x,".repeat(10_000))).len(), MOST_PROBLEMS);
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(messages("\u{feff}{}").len(), 0);
    }
}
