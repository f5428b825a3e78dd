//! Writing data as text: YAML in our style, YAML as Go's libraries print it, and JSON.
//!
//! Part of the emit phase. Writers are driven event by event, so that value trees of any depth can be written without
//! recursion, and they know nothing of values, trees or origins.

mod block;
mod go_scalar;
pub mod go_yaml;
pub mod json;
mod parts;
#[cfg(test)]
mod round_trip;
pub mod yaml;

pub use go_scalar::is_timestamp as is_go_timestamp;
pub use go_scalar::sort_keys as sort_go_keys;
pub use go_yaml::{GoStyle, GoYamlWriter};
pub use json::{JsonFlavor, JsonLayout, JsonWriter};
pub use yaml::YamlWriter;

/// Takes a value piece by piece and writes it.
///
/// The caller calls one of the scalar methods or a `begin_…`/`end_…` pair for each value, and `key` before each value
/// inside a map.
pub trait Emit {
    /// Null.
    fn null(&mut self);

    /// True or false.
    fn bool(&mut self, value: bool);

    /// An integer.
    fn int(&mut self, value: i64);

    /// A floating-point number.
    fn float(&mut self, value: f64);

    /// A number by its text, kept verbatim (`010`, `1.0`, integers of any size).
    fn number(&mut self, text: &str);

    /// A string.
    fn string(&mut self, text: &str);

    /// Bytes, by their Base64 text: a string where the format has no notation of its own for them.
    fn binary(&mut self, base64: &str) {
        self.string(base64);
    }

    /// Starts a list of `len` items.
    fn begin_list(&mut self, len: usize);

    /// Ends the innermost list.
    fn end_list(&mut self);

    /// Starts a map of `len` entries.
    fn begin_map(&mut self, len: usize);

    /// The key of the next entry.
    fn key(&mut self, key: &str);

    /// Ends the innermost map.
    fn end_map(&mut self);

    /// Starts a value that occurs several times, always the same under its number. Returns true if the writer could
    /// repeat it by itself; otherwise the value is driven like any other, and [`Emit::end_part`] follows.
    fn begin_part(&mut self, part: u64) -> bool {
        let _ = part;
        false
    }

    /// Ends the innermost part that was driven.
    fn end_part(&mut self) {}

    /// Whether an error is already certain, so that driving on is pointless.
    fn stopped(&self) -> bool;
}

/// Why writing failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteError {
    /// The text would be longer than the limit given to the writer.
    TooLong,
    /// The original library fails on a character or key in the value (see [`GoYamlWriter`]).
    Unreadable,
}

/// Text being written, up to a limit.
///
/// Values that are shared in memory are repeated in text, so output needs a bound of its own.
#[derive(Debug)]
struct Text {
    written: String,
    limit: usize,
    too_long: bool,
}

impl Text {
    fn new(limit: usize) -> Self {
        Text { written: String::new(), limit, too_long: false }
    }

    fn push_str(&mut self, text: &str) {
        if self.written.len().saturating_add(text.len()) > self.limit {
            self.too_long = true;
        } else {
            self.make_room(text.len());
            self.written.push_str(text);
        }
    }

    /// Writes a range of the text again.
    fn repeat(&mut self, place: std::ops::Range<usize>) {
        if self.written.len().saturating_add(place.len()) > self.limit {
            self.too_long = true;
        } else {
            self.make_room(place.len());
            self.written.extend_from_within(place);
        }
    }

    /// A large text gets all the room it may need at once: unused pages cost nothing, while every step of growing
    /// would copy the text into fresh memory.
    fn make_room(&mut self, more: usize) {
        const LARGE: usize = 32 << 10;
        const ROOM: usize = 64 << 20;
        let short = self.written.len() + more > self.written.capacity();
        if short && self.written.capacity() >= LARGE {
            let room = self.limit.min(ROOM).saturating_sub(self.written.len());
            self.written.reserve(more.max(room));
        }
    }

    fn push(&mut self, c: char) {
        if self.written.len().saturating_add(c.len_utf8()) > self.limit {
            self.too_long = true;
        } else {
            self.written.push(c);
        }
    }

    fn spaces(&mut self, count: usize) {
        const BLANK: &str = "                                ";
        let mut left = count;
        while left > 0 && !self.too_long {
            let step = left.min(BLANK.len());
            self.push_str(&BLANK[..step]);
            left -= step;
        }
    }

    fn at_line_start(&self) -> bool {
        // The separators are only written verbatim in Go's style, where they count as line breaks.
        self.written.is_empty() || self.written.ends_with(['\n', '\u{2028}', '\u{2029}'])
    }

    /// Number of characters in the current line so far.
    fn column(&self) -> usize {
        let start = self.written.rfind('\n').map_or(0, |at| at + 1);
        self.written[start..].chars().count()
    }

    fn finish(self) -> Result<String, WriteError> {
        if self.too_long { Err(WriteError::TooLong) } else { Ok(self.written) }
    }
}

/// Whether a character can appear unescaped in YAML text, inside any scalar, for every known reader.
///
/// Line separators and the byte order mark are printable in the standard, but readers differ on them.
fn is_yaml_text(c: char) -> bool {
    match c {
        '\u{20}'..='\u{7e}' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => c >= '\u{a0}',
    }
}

/// Appends a YAML double-quoted escape for a character.
fn push_yaml_escape(out: &mut String, c: char) {
    let short = match c {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{a0}' => "\\_",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        _ => {
            let code = u32::from(c);
            let escape = match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
            out.push_str(&escape);
            return;
        }
    };
    out.push_str(short);
}

#[cfg(test)]
pub(crate) mod sample {
    //! A value tree for the tests of the writers.

    use super::Emit;

    #[derive(Clone, PartialEq, Debug)]
    pub(crate) enum Sample {
        Null,
        Bool(bool),
        Int(i64),
        Float(f64),
        Number(String),
        Str(String),
        List(Vec<Sample>),
        Map(Vec<(String, Sample)>),
    }

    /// Writes a sample; recursion is fine for the small trees of the tests.
    pub(crate) fn drive(sample: &Sample, to: &mut (impl Emit + ?Sized)) {
        match sample {
            Sample::Null => to.null(),
            Sample::Bool(b) => to.bool(*b),
            Sample::Int(n) => to.int(*n),
            Sample::Float(f) => to.float(*f),
            Sample::Number(text) => to.number(text),
            Sample::Str(text) => to.string(text),
            Sample::List(items) => {
                to.begin_list(items.len());
                items.iter().for_each(|item| drive(item, to));
                to.end_list();
            }
            Sample::Map(entries) => {
                to.begin_map(entries.len());
                for (key, value) in entries {
                    to.key(key);
                    drive(value, to);
                }
                to.end_map();
            }
        }
    }

    pub(crate) fn str(text: &str) -> Sample {
        Sample::Str(text.into())
    }

    pub(crate) fn map<const N: usize>(entries: [(&str, Sample); N]) -> Sample {
        Sample::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
