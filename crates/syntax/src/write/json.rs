//! JSON: compact or pretty, in plain form or as Go's `encoding/json` prints it.
//!
//! Part of the emit phase; it knows nothing of values.

use super::go_yaml::go_json_float;
use super::parts::Parts;
use super::{Emit, Text, WriteError};

/// Where spaces and line breaks go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonLayout {
    /// None at all.
    Compact,
    /// A line for each entry, indented by two spaces.
    Pretty,
}

/// Escaping and the format of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonFlavor {
    /// Only control characters are escaped, including those that only terminals act on; floats keep their point
    /// (`1.0`).
    Plain,
    /// As Go's `json.Marshal`: `<`, `>`, `&` and the line separators are escaped; `1.0` is written `1`.
    Go,
    /// Like [`JsonFlavor::Go`], but `<`, `>` and `&` are not escaped.
    GoRaw,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Map,
}

struct Frame {
    kind: Kind,
    entries: usize,
}

/// Writes one JSON value, or several one after another.
pub struct JsonWriter {
    text: Text,
    frames: Vec<Frame>,
    layout: JsonLayout,
    flavor: JsonFlavor,
    after_key: bool,
    parts: Parts,
}

impl JsonWriter {
    /// A writer without a bound on its output.
    pub fn new(layout: JsonLayout, flavor: JsonFlavor) -> Self {
        Self::with_limit(layout, flavor, usize::MAX)
    }

    /// A writer that gives up when the text grows past `limit` bytes.
    pub fn with_limit(layout: JsonLayout, flavor: JsonFlavor, limit: usize) -> Self {
        JsonWriter {
            text: Text::new(limit),
            frames: Vec::new(),
            layout,
            flavor,
            after_key: false,
            parts: Parts::default(),
        }
    }

    /// The text, without a line break at the end.
    pub fn finish(self) -> Result<String, WriteError> {
        self.text.finish()
    }

    /// Writes the separator between the previous value and the next one.
    fn begin_value(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            if !self.text.written.is_empty() {
                self.text.push('\n');
            }
            return;
        };
        if frame.entries > 0 {
            self.text.push(',');
        }
        frame.entries += 1;
        self.begin_line(depth);
    }

    fn begin_line(&mut self, depth: usize) {
        if self.layout == JsonLayout::Pretty {
            self.text.push('\n');
            self.text.spaces(depth * 2);
        }
    }

    fn scalar(&mut self, text: &str) {
        self.begin_value();
        self.text.push_str(text);
    }

    fn begin(&mut self, kind: Kind) {
        self.scalar(if kind == Kind::List { "[" } else { "{" });
        self.frames.push(Frame { kind, entries: 0 });
    }

    fn end(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if frame.entries > 0 {
            self.begin_line(self.frames.len());
        }
        self.text.push(if frame.kind == Kind::List { ']' } else { '}' });
    }
}

impl Emit for JsonWriter {
    fn null(&mut self) {
        self.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.scalar(&value.to_string());
    }

    /// Writes a float; JSON has no infinities, so they and NaN become `null`.
    fn float(&mut self, value: f64) {
        if !value.is_finite() {
            return self.null();
        }
        let text = go_json_float(value);
        let whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if whole && self.flavor == JsonFlavor::Plain { self.scalar(&(text + ".0")) } else { self.scalar(&text) }
    }

    /// Writes a number verbatim; text that is not a JSON number (`0x1F`) is written as a string.
    fn number(&mut self, text: &str) {
        if is_json_number(text) { self.scalar(text) } else { self.string(text) }
    }

    fn string(&mut self, text: &str) {
        self.begin_value();
        // Nearly all strings are plain; they go straight into the text.
        if text.bytes().all(is_plain) {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
            return;
        }
        let quoted = quote(text, self.flavor);
        self.text.push_str(&quoted);
    }

    fn begin_list(&mut self, _len: usize) {
        self.begin(Kind::List);
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self, _len: usize) {
        self.begin(Kind::Map);
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.text.push_str(if self.layout == JsonLayout::Pretty { ": " } else { ":" });
        self.after_key = true;
    }

    fn end_map(&mut self) {
        self.end();
    }

    fn begin_part(&mut self, part: u64) -> bool {
        if !self.after_key {
            self.parts.pass();
            return false;
        }
        let again = self.parts.begin(part, self.frames.len(), &mut self.text);
        self.after_key &= !again;
        again
    }

    fn end_part(&mut self) {
        self.parts.end(&self.text);
    }

    fn stopped(&self) -> bool {
        self.text.too_long
    }
}

/// Whether a byte is written verbatim in every flavour.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&')
}

/// A string as a JSON literal, quotes included.
pub fn quote(text: &str, flavor: JsonFlavor) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            _ if must_escape(c, flavor) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn must_escape(c: char, flavor: JsonFlavor) -> bool {
    match c {
        '\0'..='\u{1f}' => true,
        '\u{7f}'..='\u{9f}' => flavor == JsonFlavor::Plain,
        '<' | '>' | '&' => flavor == JsonFlavor::Go,
        '\u{2028}' | '\u{2029}' => flavor != JsonFlavor::Plain,
        _ => false,
    }
}

/// Whether the text is a number in JSON's grammar.
pub fn is_json_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::sample::{Sample, drive, map, str};
    use super::*;

    fn written(sample: &Sample, layout: JsonLayout, flavor: JsonFlavor) -> String {
        let mut writer = JsonWriter::new(layout, flavor);
        drive(sample, &mut writer);
        writer.finish().unwrap()
    }

    #[test]
    fn layouts() {
        let sample = map([
            ("a", Sample::List(vec![Sample::Int(1), Sample::Null, map([])])),
            ("b", map([("c", Sample::Bool(false)), ("d", Sample::List(vec![]))])),
        ]);
        let compact = written(&sample, JsonLayout::Compact, JsonFlavor::Plain);
        assert_eq!(compact, r#"{"a":[1,null,{}],"b":{"c":false,"d":[]}}"#);
        let pretty = "{
  \"a\": [
    1,
    null,
    {}
  ],
  \"b\": {
    \"c\": false,
    \"d\": []
  }
}";
        assert_eq!(written(&sample, JsonLayout::Pretty, JsonFlavor::Plain), pretty);
    }

    #[test]
    fn escapes_by_flavor() {
        let text = "<a>&\u{2028}\"\\\n\t\u{8}\u{1}\u{7f}é";
        let cases = [
            (JsonFlavor::Plain, "\"<a>&\u{2028}\\\"\\\\\\n\\t\\b\\u0001\\u007fé\""),
            (JsonFlavor::Go, "\"\\u003ca\\u003e\\u0026\\u2028\\\"\\\\\\n\\t\\b\\u0001\u{7f}é\""),
            (JsonFlavor::GoRaw, "\"<a>&\\u2028\\\"\\\\\\n\\t\\b\\u0001\u{7f}é\""),
        ];
        for (flavor, expected) in cases {
            assert_eq!(written(&str(text), JsonLayout::Compact, flavor), expected);
        }
    }

    #[test]
    fn numbers_by_flavor() {
        let cases = [
            (1.0, "1.0", "1"),
            (-0.0, "-0.0", "-0"),
            (1e20, "100000000000000000000.0", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (1e-7, "1e-7", "1e-7"),
            (0.000001, "0.000001", "0.000001"),
            (123.456, "123.456", "123.456"),
            (f64::NAN, "null", "null"),
        ];
        for (value, plain, go) in cases {
            assert_eq!(written(&Sample::Float(value), JsonLayout::Compact, JsonFlavor::Plain), plain);
            assert_eq!(written(&Sample::Float(value), JsonLayout::Compact, JsonFlavor::Go), go);
        }
        let texts = [("123456789012345678901234567890", false), ("1.0", false), ("010", true), ("0x1F", true)];
        for (text, quoted) in texts {
            let expected = if quoted { format!("\"{text}\"") } else { text.to_owned() };
            assert_eq!(written(&Sample::Number(text.into()), JsonLayout::Compact, JsonFlavor::Plain), expected);
        }
    }

    #[test]
    fn several_values_stand_below_one_another() {
        let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
        drive(&map([("a", Sample::Int(1))]), &mut writer);
        drive(&Sample::Null, &mut writer);
        assert_eq!(writer.finish().unwrap(), "{\"a\":1}\nnull");
    }
}
