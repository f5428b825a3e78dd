//! YAML in our own style: readable, in source order, quoted only where some reader would misunderstand.
//!
//! "Some reader" means YAML 1.1 and 1.2 alike: Go's and Python's libraries still read `yes`, `12:30` or `2021-04-16`
//! as something other than a string.

use super::block::{Block, KeyForm, Kind, ListIndent};
use super::parts::Parts;
use super::{Emit, WriteError, is_yaml_text, push_yaml_escape};
use std::borrow::Cow;

/// Keys longer than this are written as `? key`; readers need not accept more than 1,024 characters otherwise.
const LONGEST_SIMPLE_KEY: usize = 1_000;

/// Writes documents in our style.
pub struct YamlWriter {
    block: Block,
    documents: usize,
    parts: Parts,
}

impl YamlWriter {
    /// A writer without a bound on its output.
    pub fn new() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// A writer that gives up when the text grows past `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        YamlWriter { block: Block::new(ListIndent::Inside, limit), documents: 0, parts: Parts::default() }
    }

    /// The text of all documents written.
    pub fn finish(mut self) -> Result<String, WriteError> {
        self.end_line();
        self.block.text.finish()
    }

    fn end_line(&mut self) {
        if !self.block.text.at_line_start() {
            self.block.text.push('\n');
        }
    }

    /// Separates documents; each value at the top is one.
    fn begin_value(&mut self) {
        if !self.block.at_root() {
            return;
        }
        if self.documents > 0 {
            self.end_line();
            self.block.text.push_str("---\n");
        }
        self.documents += 1;
    }

    fn plain(&mut self, text: &str) {
        self.begin_value();
        self.block.begin_scalar();
        self.block.text.push_str(text);
    }
}

impl Default for YamlWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl Emit for YamlWriter {
    fn null(&mut self) {
        self.plain("null");
    }

    fn bool(&mut self, value: bool) {
        self.plain(if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.plain(&value.to_string());
    }

    fn float(&mut self, value: f64) {
        self.plain(&float_text(value));
    }

    fn number(&mut self, text: &str) {
        if is_plain_token(text) { self.plain(text) } else { self.string(text) }
    }

    fn string(&mut self, text: &str) {
        self.begin_value();
        let at_root = self.block.at_root();
        let indent = self.block.begin_scalar();
        match spell(text) {
            Spelling::Literal if !(at_root && needs_indicator(text)) => write_literal(&mut self.block, text, indent),
            spelling => self.block.text.push_str(&one_line(text, spelling)),
        }
    }

    fn binary(&mut self, base64: &str) {
        let is_digit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        match base64 {
            "" => self.plain("!!binary \"\""),
            _ if base64.bytes().all(is_digit) => self.plain(&format!("!!binary {base64}")),
            _ => self.string(base64),
        }
    }

    fn begin_list(&mut self, len: usize) {
        self.begin_value();
        self.block.begin(Kind::List, len);
    }

    fn end_list(&mut self) {
        self.block.end();
    }

    fn begin_map(&mut self, len: usize) {
        self.begin_value();
        self.block.begin(Kind::Map, len);
    }

    fn key(&mut self, key: &str) {
        let text = one_line(key, spell(key));
        let form = if text.len() > LONGEST_SIMPLE_KEY { KeyForm::Explicit } else { KeyForm::Simple };
        self.block.begin_key(form);
        self.block.text.push_str(&text);
        self.block.end_key();
    }

    fn end_map(&mut self) {
        self.block.end();
    }

    fn begin_part(&mut self, part: u64) -> bool {
        match self.block.under_key() {
            Some(indent) => self.parts.begin(part, indent, &mut self.block.text),
            None => {
                self.parts.pass();
                false
            }
        }
    }

    fn end_part(&mut self) {
        self.parts.end(&self.block.text);
    }

    fn stopped(&self) -> bool {
        self.block.text.too_long
    }
}

/// The ways to write a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spelling {
    Plain,
    Single,
    Double,
    Literal,
}

/// Chooses how to write a string.
fn spell(text: &str) -> Spelling {
    if is_words(text) {
        let short = text.len() <= LONGEST_MEANING;
        return if short && LETTERS_WITH_MEANING.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            Spelling::Double
        } else {
            Spelling::Plain
        };
    }
    if text.contains('\n') {
        return if fits_literal(text) { Spelling::Literal } else { Spelling::Double };
    }
    if !text.chars().all(is_yaml_text) {
        Spelling::Double
    } else if is_plain_string(text) {
        Spelling::Plain
    } else if text.contains(['"', '\\']) {
        Spelling::Single
    } else {
        Spelling::Double
    }
}

/// Words of letters that some YAML version reads as a boolean or null.
const LETTERS_WITH_MEANING: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// The length of the longest of them.
const LONGEST_MEANING: usize = 5;

const WORD: u8 = 1;
const BLANK: u8 = 2;
const COLON: u8 = 4;

/// The class of each byte in a text that needs no quotes; zero for those that need a closer look.
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut out = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        out[byte] = match c {
            b' ' => BLANK,
            b':' => COLON,
            b'#' => 0,
            _ if c.is_ascii_graphic() => WORD,
            _ => 0,
        };
        byte += 1;
    }
    out
}

/// Whether the text consists of words, the first of which starts with a letter. Most keys and names do, and the only
/// ambiguous ones among them are [`LETTERS_WITH_MEANING`]: numbers, dates and marks do not start with a letter, and
/// brackets and quotes are insignificant after one.
fn is_words(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let class = |byte: u8| CLASSES[usize::from(byte)];
    if !(first.is_ascii_alphabetic() || *first == b'$') || class(*last) != WORD {
        return false;
    }
    let mut seen = 0;
    for byte in bytes {
        let class = class(*byte);
        if class == 0 {
            return false;
        }
        seen |= class;
    }
    seen & (BLANK | COLON) != BLANK | COLON
}

/// The text of a string that must stay on one line.
fn one_line(text: &str, spelling: Spelling) -> Cow<'_, str> {
    match spelling {
        Spelling::Plain => Cow::Borrowed(text),
        _ if text.is_empty() => Cow::Borrowed("\"\""),
        Spelling::Single => Cow::Owned(format!("'{}'", text.replace('\'', "''"))),
        Spelling::Double | Spelling::Literal => Cow::Owned(double_quoted(text)),
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => push_yaml_escape(&mut out, c),
            _ if is_yaml_text(c) => out.push(c),
            _ => push_yaml_escape(&mut out, c),
        }
    }
    out.push('"');
    out
}

/// Whether a text of several lines can be a `|` block.
///
/// Trailing blanks are invisible there and get lost in editors, so such text is quoted.
fn fits_literal(text: &str) -> bool {
    let has_content = text.chars().any(|c| c != '\n');
    has_content
        && text.chars().all(|c| c == '\n' || c == '\t' || is_yaml_text(c))
        && !text.split('\n').any(|line| line.ends_with([' ', '\t']))
}

/// Whether readers could not detect the indentation of a `|` block by themselves.
fn needs_indicator(text: &str) -> bool {
    text.starts_with([' ', '\t', '\n'])
}

fn write_literal(block: &mut Block, text: &str, indent: usize) {
    block.text.push('|');
    if needs_indicator(text) {
        block.text.push('2');
    }
    let (lines, chomping) = match text.strip_suffix('\n') {
        None => (text, "-"),
        Some(lines) if lines.ends_with('\n') => (lines, "+"),
        Some(lines) => (lines, ""),
    };
    block.text.push_str(chomping);
    block.text.push('\n');
    for line in lines.split('\n') {
        if !line.is_empty() {
            block.text.spaces(indent);
            block.text.push_str(line);
        }
        block.text.push('\n');
    }
}

/// A float that every YAML reader recognises: with a point, and a sign in the exponent.
fn float_text(value: f64) -> String {
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        return format!("{digits}{point}e{sign}{exponent}");
    }
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

/// Whether the text of a number can be written verbatim.
fn is_plain_token(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_' | b':');
    !text.is_empty() && !text.ends_with(':') && text != "-" && text.bytes().all(token)
}

/// Whether printable text of one line is a string for every reader when written without quotes.
fn is_plain_string(text: &str) -> bool {
    const RESERVED_FIRST: &[char] =
        &['?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' '];
    !(text.is_empty()
        || text.starts_with(RESERVED_FIRST)
        || text.ends_with([' ', ':'])
        || text == "-"
        || ["- ", "---", "..."].iter().any(|start| text.starts_with(start))
        || text.contains(": ")
        || text.contains(" #")
        || means_something_else(text))
}

/// Whether some YAML version reads the text as a boolean, null, number, date, merge key or default value.
fn means_something_else(text: &str) -> bool {
    const MARKS: &[&str] = &["~", ".nan", ".inf", "+.inf", "-.inf", "<<", "="];
    LETTERS_WITH_MEANING.iter().chain(MARKS).any(|word| text.eq_ignore_ascii_case(word))
        || is_number_like(text)
        || is_date_like(text)
}

/// Whether the text is a number in some YAML version. Underscores are ignored, as in YAML 1.1.
fn is_number_like(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !text.starts_with(|c: char| c == '.' || c.is_ascii_digit()) {
        return false;
    }
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    is_prefixed_integer(&digits) || is_decimal(&digits) || is_sexagesimal(&digits)
}

fn is_prefixed_integer(text: &str) -> bool {
    let bytes = text.as_bytes();
    let radix = match (bytes.first(), bytes.get(1)) {
        (Some(b'0'), Some(b'x' | b'X')) => 16,
        (Some(b'0'), Some(b'o' | b'O')) => 8,
        (Some(b'0'), Some(b'b' | b'B')) => 2,
        _ => return false,
    };
    text.chars().skip(2).all(|c| c.is_digit(radix))
}

fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    all_digits(whole) && all_digits(fraction) && exponent_fits && mantissa != "."
}

/// `12:30:45` and `1:30.5` are numbers to base 60 in YAML 1.1.
fn is_sexagesimal(text: &str) -> bool {
    let (places, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut places = places.split(':');
    let first = places.next().unwrap_or("");
    let rest: Vec<&str> = places.collect();
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    !first.is_empty()
        && all_digits(first)
        && all_digits(fraction)
        && !rest.is_empty()
        && rest.iter().all(|place| matches!(place.len(), 1 | 2) && all_digits(place) && *place < "6")
}

/// Whether the text begins like `2021-4-16` and either ends there or goes on with a time.
fn is_date_like(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or("");
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    digits(year, 4..=4) && digits(month, 1..=2) && digits(day, 1..=2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::sample::{Sample, drive, map, str};
    use super::*;

    fn written(sample: &Sample) -> String {
        let mut writer = YamlWriter::new();
        drive(sample, &mut writer);
        writer.finish().unwrap()
    }

    #[test]
    fn strings_are_quoted_only_where_needed() {
        let cases = [
            ("abc", "abc"),
            ("a b", "a b"),
            ("it's", "it's"),
            ("10.0.0.1", "10.0.0.1"),
            ("1.2.3", "1.2.3"),
            ("100Mi", "100Mi"),
            ("8080:80", "8080:80"),
            ("v1", "v1"),
            ("a::b", "a::b"),
            ("a b:c", "a b:c"),
            ("a: b", "\"a: b\""),
            ("a b:", "\"a b:\""),
            ("a ", "\"a \""),
            ("$meta", "$meta"),
            ("no way", "no way"),
            ("-flag", "-flag"),
            ("http://x:80/y", "http://x:80/y"),
            ("a#b", "a#b"),
            ("a,b", "a,b"),
            ("日本 é 😀", "日本 é 😀"),
            ("0x", "\"0x\""),
            ("", "\"\""),
            ("yes", "\"yes\""),
            ("On", "\"On\""),
            ("y", "\"y\""),
            ("~", "\"~\""),
            ("NULL", "\"NULL\""),
            ("2021-04-16", "\"2021-04-16\""),
            ("2021-4-16 10:00:00", "\"2021-4-16 10:00:00\""),
            ("2021-04-16x", "2021-04-16x"),
            ("1e3", "\"1e3\""),
            ("0x1F", "\"0x1F\""),
            ("0o17", "\"0o17\""),
            ("010", "\"010\""),
            ("1_000", "\"1_000\""),
            ("+1", "\"+1\""),
            (".5", "\".5\""),
            ("1.", "\"1.\""),
            ("12:30", "\"12:30\""),
            ("12:60", "12:60"),
            (".NaN", "\".NaN\""),
            ("-.inf", "\"-.inf\""),
            ("<<", "\"<<\""),
            ("=", "\"=\""),
            (" a", "\" a\""),
            ("a ", "\"a \""),
            ("- a", "\"- a\""),
            ("-", "\"-\""),
            ("---", "\"---\""),
            ("#a", "\"#a\""),
            ("a #b", "\"a #b\""),
            ("a: b", "\"a: b\""),
            ("a:", "\"a:\""),
            ("[a", "\"[a\""),
            ("\"a\"", "'\"a\"'"),
            ("'\\\"", "'''\\\"'"),
            ("a\\b", "a\\b"),
            ("*a\\", "'*a\\'"),
            ("a\tb", "\"a\\tb\""),
            ("a\rb", "\"a\\rb\""),
            ("\u{1b}[31m", "\"\\e[31m\""),
            ("\u{7f}\u{85}\u{2028}\u{feff}\u{ffff}", "\"\\x7F\\N\\L\\uFEFF\\uFFFF\""),
        ];
        for (text, expected) in cases {
            assert_eq!(written(&str(text)), format!("{expected}\n"), "{text:?}");
            let key = Sample::Map(vec![(text.to_owned(), Sample::Int(1))]);
            assert_eq!(written(&key), format!("{expected}: 1\n"), "key {text:?}");
        }
    }

    #[test]
    fn several_lines_become_a_literal_block() {
        let cases = [
            ("a\nb\n", "k: |\n  a\n  b\n"),
            ("a\nb", "k: |-\n  a\n  b\n"),
            ("a\n\n\nb\n\n", "k: |+\n  a\n\n\n  b\n\n"),
            ("  a\nb", "k: |2-\n    a\n  b\n"),
            ("\ta\n", "k: |2\n  \ta\n"),
            ("\n\na", "k: |2-\n\n\n  a\n"),
            ("# a\n- b: c", "k: |-\n  # a\n  - b: c\n"),
            ("\n", "k: \"\\n\"\n"),
            ("a \nb", "k: \"a \\nb\"\n"),
            ("a\n\u{7}", "k: \"a\\n\\a\"\n"),
            ("a\r\nb", "k: \"a\\r\\nb\"\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(written(&map([("k", str(text))])), expected, "{text:?}");
        }
        assert_eq!(written(&str("a\nb")), "|-\n  a\n  b\n");
        assert_eq!(written(&str(" a\nb")), "\" a\\nb\"\n");
    }

    #[test]
    fn collections_nest() {
        let sample = map([
            ("list", Sample::List(vec![Sample::Int(1), Sample::List(vec![str("a"), map([("b", Sample::Null)])])])),
            ("maps", Sample::List(vec![map([("a", str("x\ny")), ("b", map([("c", Sample::Bool(true))]))])])),
            ("none", Sample::List(vec![])),
            ("nothing", map([])),
        ]);
        let expected = "\
list:
  - 1
  - - a
    - b: null
maps:
  - a: |-
      x
      y
    b:
      c: true
none: []
nothing: {}
";
        assert_eq!(written(&sample), expected);
    }

    #[test]
    fn a_long_key_stands_alone() {
        let key = "k".repeat(1_001);
        let sample = Sample::Map(vec![(key.clone(), map([("a", Sample::Int(1)), ("b", Sample::Int(2))]))]);
        assert_eq!(written(&sample), format!("? {key}\n: a: 1\n  b: 2\n"));
    }

    #[test]
    fn numbers() {
        let floats = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e21, "1.0e+21"),
            (1.5e-7, "1.5e-7"),
            (123456789.5, "123456789.5"),
            (f64::INFINITY, ".inf"),
            (f64::NEG_INFINITY, "-.inf"),
            (f64::NAN, ".nan"),
        ];
        for (value, expected) in floats {
            assert_eq!(written(&Sample::Float(value)), format!("{expected}\n"));
        }
        assert_eq!(written(&Sample::Number("010".into())), "010\n");
        assert_eq!(written(&Sample::Number("1.0".into())), "1.0\n");
        assert_eq!(written(&Sample::Number("1: 2".into())), "\"1: 2\"\n");
        assert_eq!(written(&Sample::Int(i64::MIN)), format!("{}\n", i64::MIN));
    }

    #[test]
    fn documents_are_separated() {
        let mut writer = YamlWriter::new();
        drive(&map([("a", str("x\n\n"))]), &mut writer);
        drive(&str("b"), &mut writer);
        drive(&Sample::List(vec![]), &mut writer);
        assert_eq!(writer.finish().unwrap(), "a: |+\n  x\n\n---\nb\n---\n[]\n");
    }

    #[test]
    fn a_limit_stops_the_writer() {
        let mut writer = YamlWriter::with_limit(16);
        writer.begin_list(100);
        while !writer.stopped() {
            writer.int(1);
        }
        writer.end_list();
        assert_eq!(writer.finish(), Err(WriteError::TooLong));
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut writer = YamlWriter::new();
        for _ in 0..100_000 {
            writer.begin_list(1);
        }
        writer.null();
        for _ in 0..100_000 {
            writer.end_list();
        }
        assert!(writer.finish().unwrap().ends_with("- null\n"));
    }
}
