//! YAML byte for byte as Go programs print it: go-yaml v2 behind `sigs.k8s.io/yaml` (Helm's `toYaml`), and the v3 encoder
//! with two spaces (`toYamlPretty`).
//!
//! Part of the emit phase. The caller orders the keys ([`super::go_scalar::sort_keys`] has the order Go uses), since
//! the definition of a key differs by dialect.

use super::block::{Block, KeyForm, Kind, ListIndent};
use super::go_scalar::{self, ReadBack};
use super::{Emit, WriteError, push_yaml_escape};

pub use super::go_scalar::{go_float, go_json_float, natural_order, shortest_digits, sort_keys};

/// Lines are broken at the first space after this column.
const WIDTH: usize = 80;

/// Longer keys (in bytes) are written as `? key`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Which of Go's YAML libraries to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoStyle {
    /// `sigs.k8s.io/yaml`: the value goes through JSON and is printed by go-yaml v2. Lists are flush with their key,
    /// long lines are folded.
    Kubernetes,
    /// The go-yaml v3 encoder with an indentation of two: lists are indented, nothing is folded.
    Pretty,
}

/// Writes one value as Go would.
///
/// In [`GoStyle::Kubernetes`] the original reads the value's JSON text with a YAML reader first. Where that reader
/// fails (control characters such as DEL, keys longer than 1,024 characters), so does this writer, with
/// [`WriteError::Unreadable`].
pub struct GoYamlWriter {
    block: Block,
    style: GoStyle,
    unreadable: bool,
}

impl GoYamlWriter {
    /// A writer without a bound on its output.
    pub fn new(style: GoStyle) -> Self {
        Self::with_limit(style, usize::MAX)
    }

    /// A writer that gives up when the text grows past `limit` bytes.
    pub fn with_limit(style: GoStyle, limit: usize) -> Self {
        let lists = match style {
            GoStyle::Kubernetes => ListIndent::Flush,
            GoStyle::Pretty => ListIndent::Inside,
        };
        GoYamlWriter { block: Block::new(lists, limit), style, unreadable: false }
    }

    /// The text, with a line break at the end.
    pub fn finish(mut self) -> Result<String, WriteError> {
        if self.unreadable {
            return Err(WriteError::Unreadable);
        }
        if !self.block.text.at_line_start() {
            self.block.text.push('\n');
        }
        self.block.text.finish()
    }

    /// Number of bytes written so far.
    pub fn len(&self) -> usize {
        self.block.text.written.len()
    }

    /// Whether nothing is written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn plain(&mut self, text: &str) {
        self.block.begin_scalar();
        self.block.text.push_str(text);
    }

    fn write_string(&mut self, text: &str) {
        let traits = Traits::of(text, self.style);
        let quoting = choose(text, &traits);
        let indent = self.block.begin_scalar();
        match quoting {
            Quoting::Literal => self.write_literal(text, indent),
            Quoting::Double => self.write_folded(&double_quoted(text), indent, Quoting::Double),
            Quoting::Single => self.write_single(text, indent),
            Quoting::Plain => self.write_folded(text, indent, Quoting::Plain),
        }
    }

    /// Single-quoted text may contain the rare line separators, each of which starts an indented line.
    fn write_single(&mut self, text: &str, indent: usize) {
        let quoted = single_quoted(text, indent);
        self.write_folded(&quoted, indent, Quoting::Single);
    }

    /// Writes a spelled scalar, breaking long lines where the original does.
    fn write_folded(&mut self, spelled: &str, indent: usize, quoting: Quoting) {
        let mut column = self.block.text.column();
        let folds = self.style == GoStyle::Kubernetes;
        // A byte is at least as wide as a character, so this never misses a long line.
        if !folds || column + spelled.len() <= WIDTH {
            return self.block.text.push_str(spelled);
        }
        let mut kept = 0;
        let mut after_space = false;
        for (at, c) in spelled.char_indices() {
            if c == ' ' && !after_space && column > WIDTH && may_break(spelled, at, quoting) {
                self.block.text.push_str(&spelled[kept..at]);
                self.block.text.push('\n');
                self.block.text.spaces(indent);
                column = indent;
                // A second space would be lost at a line's start, so it is escaped.
                if quoting == Quoting::Double && spelled[at + 1..].starts_with(' ') {
                    self.block.text.push('\\');
                    column += 1;
                }
                kept = at + 1;
            } else {
                column = if go_scalar::is_separator(c) { 0 } else { column + 1 };
            }
            after_space = c == ' ';
        }
        self.block.text.push_str(&spelled[kept..]);
    }

    fn write_literal(&mut self, text: &str, indent: usize) {
        self.block.text.push('|');
        if text.starts_with(|c| c == ' ' || go_scalar::is_break(c)) {
            self.block.text.push('2');
        }
        self.block.text.push_str(chomping(text));
        self.block.text.push('\n');
        let mut at_line_start = true;
        for piece in text.split_inclusive(go_scalar::is_break) {
            let is_empty_line = piece.chars().next().is_some_and(go_scalar::is_break);
            if at_line_start && !is_empty_line {
                self.block.text.spaces(indent);
            }
            self.block.text.push_str(piece);
            at_line_start = piece.chars().next_back().is_some_and(go_scalar::is_break);
        }
    }

    fn write_key(&mut self, key: &str) {
        let traits = Traits::of(key, self.style);
        let form =
            if traits.several_lines || key.len() > LONGEST_SIMPLE_KEY { KeyForm::Explicit } else { KeyForm::Simple };
        let indent = self.block.begin_key(form);
        match choose(key, &traits) {
            Quoting::Literal => self.write_literal(key, indent),
            quoting if form == KeyForm::Explicit => self.write_explicit_key(key, indent, quoting),
            Quoting::Double => self.block.text.push_str(&double_quoted(key)),
            Quoting::Single => self.block.text.push_str(&single_quoted(key, indent)),
            Quoting::Plain => self.block.text.push_str(key),
        }
        self.block.end_key();
    }

    fn write_explicit_key(&mut self, key: &str, indent: usize, quoting: Quoting) {
        match quoting {
            Quoting::Double | Quoting::Literal => self.write_folded(&double_quoted(key), indent, Quoting::Double),
            Quoting::Single => self.write_single(key, indent),
            Quoting::Plain => self.write_folded(key, indent, Quoting::Plain),
        }
    }
}

impl Emit for GoYamlWriter {
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
        match self.style {
            GoStyle::Kubernetes => self.number(&go_json_float(value)),
            GoStyle::Pretty => self.plain(&go_float(value)),
        }
    }

    fn number(&mut self, text: &str) {
        match self.style {
            GoStyle::Kubernetes => self.plain(&go_scalar::number_read_back(text)),
            GoStyle::Pretty => self.plain(text),
        }
    }

    fn string(&mut self, text: &str) {
        if self.style == GoStyle::Pretty {
            return self.write_string(text);
        }
        match go_scalar::string_read_back(text) {
            ReadBack::Same => self.write_string(text),
            ReadBack::Changed(other) => self.write_string(&other),
            ReadBack::Fails => self.unreadable = true,
        }
    }

    fn begin_list(&mut self, len: usize) {
        self.block.begin(Kind::List, len);
    }

    fn end_list(&mut self) {
        self.block.end();
    }

    fn begin_map(&mut self, len: usize) {
        self.block.begin(Kind::Map, len);
    }

    fn key(&mut self, key: &str) {
        if self.style == GoStyle::Kubernetes && !go_scalar::key_reads_back(key) {
            self.unreadable = true;
        } else {
            self.write_key(key);
        }
    }

    fn end_map(&mut self) {
        self.block.end();
    }

    fn stopped(&self) -> bool {
        self.unreadable || self.block.text.too_long
    }
}

/// The ways to write a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quoting {
    Plain,
    Single,
    Double,
    Literal,
}

/// The properties of a text that decide which of them are allowed.
#[derive(Default, Debug)]
struct Traits {
    several_lines: bool,
    /// Characters that only double quotes can carry.
    special: bool,
    tab: bool,
    /// Text that is significant in block style (`- `, `: `, ` #`, …).
    indicator: bool,
    blank_start: bool,
    blank_end: bool,
    /// Ends in a space; a line break at the end does not count.
    space_end: bool,
    /// A space right before a line break.
    space_before_break: bool,
    /// A space right after a line break.
    space_after_break: bool,
}

impl Traits {
    fn of(text: &str, style: GoStyle) -> Self {
        const RESERVED_FIRST: &[char] =
            &['#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'];
        let blank = |c: char| c == ' ' || go_scalar::is_break(c);
        let mut traits = Traits {
            indicator: text.starts_with("---") || text.starts_with("...") || text.starts_with(RESERVED_FIRST),
            blank_start: text.starts_with(blank),
            blank_end: text.ends_with(blank),
            space_end: text.ends_with(' '),
            ..Traits::default()
        };
        let mut previous: Option<char> = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let before_blank = chars.peek().is_none_or(|&next| go_scalar::is_blank(next));
            let after_blank = previous.is_none_or(go_scalar::is_blank);
            let is_break = go_scalar::is_break(c);
            traits.indicator |= match c {
                ':' => before_blank,
                '?' | '-' => previous.is_none() && before_blank,
                '#' => after_blank,
                _ => false,
            };
            traits.several_lines |= is_break;
            traits.tab |= c == '\t';
            let tab_allowed = c == '\t' && style == GoStyle::Pretty;
            traits.special |= !(tab_allowed || go_scalar::is_printable(c));
            traits.space_before_break |= is_break && previous == Some(' ');
            traits.space_after_break |= c == ' ' && previous.is_some_and(go_scalar::is_break);
            previous = Some(c);
        }
        traits
    }

    fn plain_allowed(&self) -> bool {
        self.single_allowed() && !(self.several_lines || self.indicator || self.blank_start || self.blank_end)
    }

    fn single_allowed(&self) -> bool {
        !(self.special || self.tab || self.space_before_break || self.space_after_break)
    }

    fn literal_allowed(&self) -> bool {
        !(self.special || self.space_before_break || self.space_end)
    }
}

fn choose(text: &str, traits: &Traits) -> Quoting {
    if text.contains('\n') {
        return if traits.literal_allowed() { Quoting::Literal } else { Quoting::Double };
    }
    if go_scalar::means_something_else(text) {
        Quoting::Double
    } else if traits.plain_allowed() {
        Quoting::Plain
    } else if traits.single_allowed() {
        Quoting::Single
    } else {
        Quoting::Double
    }
}

/// Whether a long line may be broken at the space at `at`, once it is past the width.
fn may_break(spelled: &str, at: usize, quoting: Quoting) -> bool {
    let before_space = spelled.as_bytes().get(at + 1) == Some(&b' ');
    // The first and the last character inside quotes must stay.
    let inside = at > 1 && at + 2 < spelled.len();
    match quoting {
        Quoting::Plain => !before_space,
        Quoting::Single => inside && !before_space,
        Quoting::Double => inside,
        Quoting::Literal => false,
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    // The original asks whether the *text* starts with a byte order mark, although the character is intended.
    let all = text.starts_with('\u{feff}');
    for c in text.chars() {
        if all || matches!(c, '"' | '\\') || !go_scalar::is_printable(c) || go_scalar::is_break(c) {
            push_yaml_escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out.push('"');
    out
}

fn single_quoted(text: &str, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut after_break = false;
    for c in text.chars() {
        let is_break = go_scalar::is_break(c);
        if after_break && !is_break {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
        after_break = is_break;
    }
    out.push('\'');
    out
}

/// The indicator for the line breaks at the end that belong to the text.
fn chomping(text: &str) -> &'static str {
    let mut ending = text.chars().rev();
    match (ending.next(), ending.next()) {
        (Some(last), _) if !go_scalar::is_break(last) => "-",
        (Some(_), None) => "+",
        (Some(_), Some(before)) if go_scalar::is_break(before) => "+",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::sample::{Sample, drive, map, str};
    use super::*;

    fn written(sample: &Sample, style: GoStyle) -> Result<String, WriteError> {
        let mut writer = GoYamlWriter::new(style);
        drive(sample, &mut writer);
        writer.finish()
    }

    fn kubernetes(sample: &Sample) -> String {
        written(sample, GoStyle::Kubernetes).unwrap()
    }

    #[test]
    fn strings_of_one_line() {
        let cases = [
            ("abc", "abc"),
            ("", "\"\""),
            ("off", "\"off\""),
            ("Y", "\"Y\""),
            ("yEs", "yEs"),
            ("NaN", "NaN"),
            ("<<", "<<"),
            ("=", "="),
            ("0x1F", "\"0x1F\""),
            ("0o8", "0o8"),
            ("08", "\"08\""),
            ("-0xFFFFFFFFFFFFFFFF", "-0xFFFFFFFFFFFFFFFF"),
            ("1e400", "1e400"),
            (".5_0", "\".5_0\""),
            (".5_", ".5_"),
            ("1:59", "\"1:59\""),
            ("1:60", "1:60"),
            ("2024-2-29", "\"2024-2-29\""),
            ("2023-2-29", "2023-2-29"),
            ("2024-02-29T1:2:3.5-07:00", "\"2024-02-29T1:2:3.5-07:00\""),
            ("2024-02-29 1:2:3Z", "2024-02-29 1:2:3Z"),
            ("-", "'-'"),
            ("-x", "-x"),
            ("?x", "?x"),
            ("x:", "'x:'"),
            ("x #y", "'x #y'"),
            ("x: 'y'", "'x: ''y'''"),
            ("...x", "'...x'"),
            ("a\tb", "\"a\\tb\""),
            ("\u{a0}", "\u{a0}"),
            ("😀", "\"\\U0001F600\""),
            ("\u{feff}a", "\"\\uFEFF\\x61\""),
            ("a\u{2028}b", "'a\u{2028}  b'"),
        ];
        for (text, expected) in cases {
            assert_eq!(kubernetes(&str(text)), format!("{expected}\n"), "{text:?}");
        }
    }

    #[test]
    fn strings_of_several_lines() {
        let cases = [
            ("a\nb", "k: |-\n  a\n  b\n"),
            ("a\n", "k: |\n  a\n"),
            ("a\n\n", "k: |+\n  a\n\n"),
            ("\n", "k: |2+\n\n"),
            (" a\n\nb\n", "k: |2\n   a\n\n  b\n"),
            ("a \nb", "k: \"a \\nb\"\n"),
            ("a\nb ", "k: \"a\\nb \"\n"),
            ("a\r\nb", "k: \"a\\r\\nb\"\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(kubernetes(&map([("k", str(text))])), expected, "{text:?}");
        }
        let tabs = map([("k", str("a\n\tb"))]);
        assert_eq!(kubernetes(&tabs), "k: \"a\\n\\tb\"\n");
        assert_eq!(written(&tabs, GoStyle::Pretty).unwrap(), "k: |-\n  a\n  \tb\n");
    }

    #[test]
    fn long_lines_break_at_the_first_space_after_the_width() {
        let words = |count: usize| vec!["word"; count].join(" ");
        let plain = map([("k", str(&words(20)))]);
        assert_eq!(kubernetes(&plain), format!("k: {}\n  {}\n", words(16), words(4)));
        let single = Sample::List(vec![str(&format!("{}: {}", words(16), words(4)))]);
        assert_eq!(kubernetes(&single), format!("- '{}:\n  {}'\n", words(16), words(4)));
        let double = map([("k", str(&format!("{}\t  {}", words(16), words(4))))]);
        assert_eq!(kubernetes(&double), format!("k: \"{}\\t\n  \\ {}\"\n", words(16), words(4)));
        let key = Sample::Map(vec![(words(20), Sample::Int(1))]);
        assert_eq!(kubernetes(&key), format!("{}: 1\n", words(20)));
        assert_eq!(written(&plain, GoStyle::Pretty).unwrap(), format!("k: {}\n", words(20)));
    }

    #[test]
    fn unusual_keys_stand_alone() {
        let long = "k".repeat(129);
        let sample = Sample::Map(vec![
            (long.clone(), Sample::List(vec![Sample::Int(1), Sample::Int(2)])),
            ("a\nb".into(), map([("c", Sample::Null), ("d", Sample::Null)])),
        ]);
        let expected = format!("? {long}\n: - 1\n  - 2\n? |-\n  a\n  b\n: c: null\n  d: null\n");
        assert_eq!(kubernetes(&sample), expected);
    }

    #[test]
    fn lists_stand_flush_or_inside() {
        let inner = Sample::List(vec![Sample::Int(1), Sample::List(vec![Sample::Bool(true), map([])])]);
        let sample = map([("a", map([("b", inner)])), ("c", Sample::List(vec![map([("d", Sample::List(vec![]))])]))]);
        let flush = "a:\n  b:\n  - 1\n  - - true\n    - {}\nc:\n- d: []\n";
        let inside = "a:\n  b:\n    - 1\n    - - true\n      - {}\nc:\n  - d: []\n";
        assert_eq!(kubernetes(&sample), flush);
        assert_eq!(written(&sample, GoStyle::Pretty).unwrap(), inside);
    }

    #[test]
    fn numbers() {
        let cases = [
            (1.0, "1", "1"),
            (-0.0, "0", "-0"),
            (1e6, "1000000", "1e+06"),
            (123456789.5, "1.234567895e+08", "1.234567895e+08"),
            (1e20, "1e+20", "1e+20"),
            (1e-7, "1e-07", "1e-07"),
            (0.0001, "0.0001", "0.0001"),
            (221366190444986.62, "2.2136619044498662e+14", "2.2136619044498662e+14"),
        ];
        for (value, json, direct) in cases {
            assert_eq!(kubernetes(&Sample::Float(value)), format!("{json}\n"));
            assert_eq!(written(&Sample::Float(value), GoStyle::Pretty).unwrap(), format!("{direct}\n"));
        }
        assert_eq!(kubernetes(&Sample::Number("18446744073709551615".into())), "18446744073709551615\n");
        assert_eq!(kubernetes(&Sample::Number("18446744073709551616".into())), "1.8446744073709552e+19\n");
    }

    #[test]
    fn what_the_yaml_reader_does_to_json() {
        assert_eq!(written(&str("a\u{7f}b"), GoStyle::Kubernetes), Err(WriteError::Unreadable));
        assert_eq!(written(&str("a\u{7f}b"), GoStyle::Pretty).unwrap(), "\"a\\x7Fb\"\n");
        assert_eq!(kubernetes(&str("a \u{85} b")), "a b\n");
        assert_eq!(kubernetes(&str("a\u{85}\u{85}b")), "|-\n  a\n  b\n");
        let key = |key: String| Sample::Map(vec![(key, Sample::Null)]);
        assert_eq!(written(&key("\u{85}".into()), GoStyle::Kubernetes), Err(WriteError::Unreadable));
        assert!(written(&key("k".repeat(1_022)), GoStyle::Kubernetes).is_ok());
        assert_eq!(written(&key("k".repeat(1_023)), GoStyle::Kubernetes), Err(WriteError::Unreadable));
    }

    #[test]
    fn keys_are_ordered_naturally() {
        let ordered =
            ["-y", "_x", "1", "2", "10", "A", "B", "a b", "a-b", "a.b", "a1", "a01", "a001", "a9", "a10", "ab", "é"];
        let mut keys = ordered;
        keys.reverse();
        sort_keys(&mut keys, GoStyle::Kubernetes, |key| key);
        assert_eq!(keys, ordered);
        let mut keys = ["1-", "1a"];
        sort_keys(&mut keys, GoStyle::Pretty, |key| key);
        assert_eq!(keys, ["1a", "1-"]);
    }
}
