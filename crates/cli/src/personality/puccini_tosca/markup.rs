//! Data as XML and as extended JSON, in Puccini's notation of both.
//!
//! XML has an element for each value, named by its type. Extended JSON distinguishes integers from floats.

use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use purlin_tosca::special::go_g;
use purlin_value::encoding;

/// Writes one value as XML.
pub(super) struct XmlWriter {
    text: String,
    /// Indentation of one level; if empty, everything is on one line.
    indent: &'static str,
    depth: usize,
    /// For each open collection, whether it is a map.
    maps: Vec<bool>,
    /// Whether the innermost element is still empty.
    empty: bool,
}

impl XmlWriter {
    pub(super) fn new(indent: &'static str) -> XmlWriter {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned();
        XmlWriter { text, indent, depth: 0, maps: Vec::new(), empty: false }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }

    fn line(&mut self) {
        if !self.indent.is_empty() {
            self.text.push('\n');
            (0..self.depth).for_each(|_| self.text.push_str(self.indent));
        }
    }

    fn open(&mut self, tag: &str) {
        self.line();
        self.text.push('<');
        self.text.push_str(tag);
        self.text.push('>');
        self.depth += 1;
        self.empty = true;
    }

    fn close(&mut self, tag: &str) {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::take(&mut self.empty) {
            self.line();
        }
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
    }

    fn scalar(&mut self, tag: &str, text: &str) {
        self.open(tag);
        text.chars().for_each(|c| self.escaped(c));
        self.close(tag);
        self.end_value();
    }

    fn escaped(&mut self, c: char) {
        let named = match c {
            '"' => "&#34;",
            '\'' => "&#39;",
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\t' => "&#x9;",
            '\n' => "&#xA;",
            '\r' => "&#xD;",
            // XML has no notation for the other control characters.
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
            _ => return self.text.push(c),
        };
        self.text.push_str(named);
    }

    /// A value within a map ends its entry.
    fn end_value(&mut self) {
        if self.maps.last() == Some(&true) {
            self.close("value");
            self.close("entry");
        }
    }

    fn end(&mut self, tag: &str) {
        self.maps.pop();
        self.close(tag);
        self.end_value();
    }
}

impl Emit for XmlWriter {
    fn null(&mut self) {
        self.scalar("nil", "");
    }

    fn bool(&mut self, value: bool) {
        self.scalar("bool", if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.scalar("int64", &value.to_string());
    }

    fn float(&mut self, value: f64) {
        let text = go_g(value);
        self.scalar("float64", &text);
    }

    fn number(&mut self, text: &str) {
        let tag = match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(_), _) => "int64",
            (_, Ok(_)) => "uint64",
            _ => "float64",
        };
        self.scalar(tag, text);
    }

    fn string(&mut self, text: &str) {
        self.scalar("string", text);
    }

    fn binary(&mut self, base64: &str) {
        self.scalar("bytes", base64);
    }

    fn begin_list(&mut self, _: usize) {
        self.open("list");
        self.maps.push(false);
    }

    fn end_list(&mut self) {
        self.end("list");
    }

    fn begin_map(&mut self, _: usize) {
        self.open("map");
        self.maps.push(true);
    }

    fn key(&mut self, key: &str) {
        self.open("entry");
        self.open("key");
        // The key is a separate value, not one of the map's.
        self.maps.push(false);
        self.scalar("string", key);
        self.maps.pop();
        self.close("key");
        self.open("value");
    }

    fn end_map(&mut self) {
        self.end("map");
    }

    fn stopped(&self) -> bool {
        false
    }
}

const INTEGER: &str = "$ard.integer";
const UNSIGNED: &str = "$ard.uinteger";
const BYTES: &str = "$ard.bytes";
const MAP: &str = "$ard.map";

/// Writes one value as extended JSON.
pub(super) struct ExtendedJsonWriter {
    json: JsonWriter,
    /// Whether the next key is the only one of its map, so that it could be mistaken for a type mark.
    alone: bool,
}

impl ExtendedJsonWriter {
    pub(super) fn new(layout: JsonLayout) -> ExtendedJsonWriter {
        ExtendedJsonWriter { json: JsonWriter::new(layout, JsonFlavor::Go), alone: false }
    }

    pub(super) fn finish(self) -> JsonWriter {
        self.json
    }

    fn marked(&mut self, mark: &str, text: &str) {
        self.json.begin_map(1);
        self.json.key(mark);
        self.json.string(text);
        self.json.end_map();
    }
}

impl Emit for ExtendedJsonWriter {
    fn null(&mut self) {
        self.json.null();
    }

    fn bool(&mut self, value: bool) {
        self.json.bool(value);
    }

    fn int(&mut self, value: i64) {
        self.marked(INTEGER, &value.to_string());
    }

    fn float(&mut self, value: f64) {
        self.json.float(value);
    }

    fn number(&mut self, text: &str) {
        match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(_), _) => self.marked(INTEGER, text),
            (_, Ok(_)) => self.marked(UNSIGNED, text),
            _ => self.json.number(text),
        }
    }

    fn string(&mut self, text: &str) {
        self.json.string(text);
    }

    fn binary(&mut self, base64: &str) {
        // Encoded again, so that it uses the standard alphabet and padding.
        let bytes = encoding::from_base64(base64.as_bytes()).map(|bytes| encoding::base64(&bytes));
        self.marked(BYTES, &bytes.unwrap_or_else(|_| base64.to_owned()));
    }

    fn begin_list(&mut self, len: usize) {
        self.json.begin_list(len);
    }

    fn end_list(&mut self) {
        self.json.end_list();
    }

    fn begin_map(&mut self, len: usize) {
        self.alone = len == 1;
        self.json.begin_map(len);
    }

    fn key(&mut self, key: &str) {
        let alone = std::mem::take(&mut self.alone);
        if alone && [INTEGER, UNSIGNED, BYTES, MAP].contains(&key) {
            self.json.key(&format!("${key}"));
        } else {
            self.json.key(key);
        }
    }

    fn end_map(&mut self) {
        self.json.end_map();
    }

    fn stopped(&self) -> bool {
        self.json.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtendedJsonWriter, XmlWriter};
    use purlin_syntax::write::{Emit, JsonLayout};

    fn sample(emit: &mut dyn Emit) {
        emit.begin_map(3);
        emit.key("a");
        emit.begin_list(3);
        emit.int(1);
        emit.null();
        emit.string("<&>");
        emit.end_list();
        emit.key("b");
        emit.begin_map(1);
        emit.key("$ard.integer");
        emit.float(1.5);
        emit.end_map();
        emit.key("c");
        emit.begin_map(0);
        emit.end_map();
        emit.end_map();
    }

    #[test]
    fn xml_has_an_element_for_each_value() {
        let mut writer = XmlWriter::new("");
        sample(&mut writer);
        let entry =
            |key: &str, value: &str| format!("<entry><key><string>{key}</string></key><value>{value}</value></entry>");
        let list = "<list><int64>1</int64><nil></nil><string>&lt;&amp;&gt;</string></list>";
        let inner = format!("<map>{}</map>", entry("$ard.integer", "<float64>1.5</float64>"));
        let all = entry("a", list) + &entry("b", &inner) + &entry("c", "<map></map>");
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
        assert_eq!(writer.finish(), format!("{head}<map>{all}</map>\n"));
    }

    #[test]
    fn extended_json_marks_integers() {
        let mut writer = ExtendedJsonWriter::new(JsonLayout::Compact);
        sample(&mut writer);
        let expected = r#"{"a":[{"$ard.integer":"1"},null,"\u003c\u0026\u003e"],"b":{"$$ard.integer":1.5},"c":{}}"#;
        assert_eq!(writer.finish().finish().as_deref(), Ok(expected));
    }
}
