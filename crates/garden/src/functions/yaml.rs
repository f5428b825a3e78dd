//! Writes YAML the way `yamlEncode` does: block style, single quotes where needed, long lines folded.

use crate::number;
use purlin_syntax::Flavor;
use purlin_syntax::scalar::{Scalar, resolve_plain};
use purlin_value::{Data, Value};

/// Lines longer than this are folded.
const LINE_WIDTH: usize = 80;

/// A value as a YAML document with a final line break.
pub fn encode(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out, true);
    out.push('\n');
    out
}

/// Values come out of evaluation, which bounds their depth.
fn write(value: &Value, level: usize, out: &mut String, compact: bool) {
    match &value.data {
        Data::List(list) if !list.is_empty() => {
            for (index, item) in list.iter().enumerate() {
                if index > 0 || !compact {
                    line(level, out);
                }
                out.push_str("- ");
                write(item, level + 1, out, true);
            }
        }
        Data::Map(map) if !map.is_empty() => {
            for (index, (key, item)) in map.iter().filter(|(_, v)| !v.is_absent()).enumerate() {
                if index > 0 || !compact {
                    line(level, out);
                }
                out.push_str(&text(key, level + 1, Position::Key));
                out.push(':');
                let nested = matches!(&item.data, Data::List(l) if !l.is_empty())
                    || matches!(&item.data, Data::Map(m) if !m.is_empty());
                if !nested {
                    out.push(' ');
                }
                write(item, level + 1, out, !nested);
            }
        }
        Data::List(_) => out.push_str("[]"),
        Data::Map(_) => out.push_str("{}"),
        Data::Str(content) => out.push_str(&text(content, level, Position::Value)),
        Data::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Data::Int(n) => out.push_str(&n.to_string()),
        Data::BigInt(digits) => out.push_str(digits),
        Data::Float(n) if n.is_nan() => out.push_str(".nan"),
        Data::Float(n) if n.is_infinite() => out.push_str(if *n > 0.0 { ".inf" } else { "-.inf" }),
        Data::Float(n) => out.push_str(&fraction(*n)),
        _ => out.push_str("null"),
    }
}

fn line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', level * 2));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Key,
    Value,
}

/// A number; a fraction with an exponent has a dot before it.
fn fraction(number: f64) -> String {
    let text = number::to_text(number);
    match text.split_once('e') {
        Some((digits, exponent)) if number.fract() != 0.0 && !digits.contains('.') => format!("{digits}.e{exponent}"),
        _ => text.to_string(),
    }
}

/// A string in the plainest style that reads back as the same string, also by readers of YAML 1.1.
fn text(content: &str, level: usize, position: Position) -> String {
    if content.is_empty() {
        return "''".into();
    }
    if WORDS_OF_1_1.contains(&content) || is_base_60(content) {
        return format!("'{content}'");
    }
    let is_open = |c: char| is_printable(c) || (c == '\n' && position == Position::Value);
    if !content.chars().all(is_open) {
        return double_quoted(content);
    }
    let indent = 2 * level.max(1);
    let width = LINE_WIDTH.saturating_sub(indent).max(LINE_WIDTH.min(40));
    let is_long = |line: &str| line.encode_utf16().count() > width && !line.starts_with(' ');
    let foldable = position == Position::Value && content.split('\n').any(is_long);
    if content.contains('\n') || foldable {
        return block(content, indent, foldable.then_some(width));
    }
    match is_plain(content) && !is_ambiguous(content) {
        true => content.to_owned(),
        false => format!("'{}'", content.replace('\'', "''")),
    }
}

/// Booleans of YAML 1.1 that YAML 1.2 reads as strings.
const WORDS_OF_1_1: &[&str] =
    &["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"];

/// A number of YAML 1.1 with colons: `12:30`.
fn is_base_60(content: &str) -> bool {
    let content = content.strip_prefix(['-', '+']).unwrap_or(content);
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let (whole, last) = match content.rsplit_once(':') {
        Some((whole, last)) => (whole, last),
        None => return false,
    };
    let (seconds, rest) = last.split_once('.').unwrap_or((last, ""));
    whole.split(':').all(is_part) && is_part(seconds) && (rest.is_empty() || is_part(rest))
}

fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{A1}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
        && !matches!(c, '\u{FEFF}' | '\u{2028}' | '\u{2029}')
}

/// Whether printable text on one line needs no quotes, apart from what it may be mistaken for.
fn is_plain(content: &str) -> bool {
    const OPENING: &str = "-?:,[]{}#&*!|=>'\"%@` ";
    if content.starts_with(|c| OPENING.contains(c)) || content.ends_with([' ', ':']) {
        return false;
    }
    !content.contains(": ") && !content.contains(" #")
}

/// Whether readers would take a plain string for something else.
fn is_ambiguous(content: &str) -> bool {
    resolve_plain(content, Flavor::Core) != Scalar::Str
        || content == "<<"
        || looks_like_date(content)
        || is_integer(content)
        || is_float(content)
}

/// An integer, with underscores and in base 2, 8, 10 or 16.
fn is_integer(content: &str) -> bool {
    let content = content.strip_prefix(['-', '+']).unwrap_or(content);
    let (digits, base) = match content.get(..2) {
        Some("0b") => (content.get(2..).unwrap_or_default(), 2),
        Some("0o") => (content.get(2..).unwrap_or_default(), 8),
        Some("0x") => (content.get(2..).unwrap_or_default(), 16),
        _ if content.starts_with('_') => return false,
        _ => (content, 10),
    };
    let has_digit = digits.contains(|c: char| c.is_digit(base));
    has_digit && !digits.ends_with('_') && digits.chars().all(|c| c == '_' || c.is_digit(base))
}

/// A decimal number, with underscores.
fn is_float(content: &str) -> bool {
    let (number, exponent) = match content.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (content, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if content.ends_with('_')
        || exponent.is_some_and(|digits| digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()))
    {
        return false;
    }
    if let Some(rest) = number.strip_prefix('.') {
        return !rest.is_empty() && is_digits(rest);
    }
    let number = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    whole.starts_with(|c: char| c.is_ascii_digit()) && is_digits(whole) && is_digits(rest)
}

/// Readers that know timestamps would not read it as text.
fn looks_like_date(content: &str) -> bool {
    let is_number =
        |text: &str, sizes: &[usize]| sizes.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |text: &str, sizes: &[usize]| {
        let parts: Vec<&str> = text.split('-').collect();
        matches!(parts.as_slice(), [year, month, day]
            if is_number(year, &[4]) && is_number(month, sizes) && is_number(day, sizes))
    };
    if is_date(content, &[2]) {
        return true;
    }
    let Some((date, time)) = content.split_once(['T', 't', ' ', '\t']) else { return false };
    let time = time.trim_start_matches([' ', '\t']);
    let end = time.find(|c: char| !(c.is_ascii_digit() || c == ':')).unwrap_or(time.len());
    let (clock, rest) = time.split_at(end);
    let parts: Vec<&str> = clock.split(':').collect();
    let is_clock = matches!(parts.as_slice(), [hour, minute, second]
        if is_number(hour, &[1, 2]) && is_number(minute, &[2]) && is_number(second, &[2]));
    let rest = rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let zone = rest.trim_start_matches([' ', '\t']);
    let is_zone = match zone.strip_prefix(['-', '+']) {
        Some(offset) => {
            let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
            is_number(hours, &[1, 2]) && is_number(minutes, &[2])
        }
        None => matches!(zone, "" | "Z"),
    };
    is_date(date, &[1, 2]) && is_clock && is_zone
}

/// Lines below a mark, indented. The last line break is that of the document or of what follows.
fn block(content: &str, indent: usize, fold: Option<usize>) -> String {
    let hint = if content.trim_start_matches('\n').starts_with(' ') { "2" } else { "" };
    let chomp = match (content.ends_with("\n\n") || content == "\n", content.ends_with('\n')) {
        (true, _) => "+",
        (false, true) => "",
        (false, false) => "-",
    };
    let body = fold.map_or_else(|| content.to_owned(), |width| fold_lines(content, width));
    let pad = " ".repeat(indent);
    let indented = |line: &str| if line.is_empty() { String::new() } else { format!("{pad}{line}") };
    let lines: Vec<String> = body.strip_suffix('\n').unwrap_or(&body).split('\n').map(indented).collect();
    let mark = if fold.is_some() { '>' } else { '|' };
    format!("{mark}{hint}{chomp}\n{}", lines.join("\n"))
}

/// Breaks long lines at spaces. A break between two lines that are not indented is doubled, since a single one becomes
/// a space.
fn fold_lines(content: &str, width: usize) -> String {
    let mut lines = content.split('\n');
    let first = lines.next().unwrap_or_default();
    let mut out = fold_line(first, width);
    let mut is_indented = content.starts_with(['\n', ' ']);
    let mut breaks = 0;
    for line in lines {
        breaks += 1;
        if line.is_empty() {
            continue;
        }
        let is_next_indented = line.starts_with(' ');
        out.extend(std::iter::repeat_n('\n', breaks));
        if !is_indented && !is_next_indented {
            out.push('\n');
        }
        out.push_str(&fold_line(line, width));
        (is_indented, breaks) = (is_next_indented, 0);
    }
    out.extend(std::iter::repeat_n('\n', breaks));
    out
}

/// Breaks at single spaces before words that would lead beyond the width, which counts as JavaScript does.
fn fold_line(line: &str, width: usize) -> String {
    if line.is_empty() || line.starts_with(' ') {
        return line.to_owned();
    }
    let units: Vec<u16> = line.encode_utf16().collect();
    let space = u16::from(b' ');
    let is_break = |at: usize| units.get(at) == Some(&space) && units.get(at + 1).is_some_and(|next| *next != space);
    let (mut start, mut last) = (0, 0);
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for at in (0..units.len()).filter(|at| is_break(*at)) {
        if at - start > width {
            let end = if last > start { last } else { at };
            parts.push((start, end));
            start = end + 1;
        }
        last = at;
    }
    if units.len() - start > width && last > start {
        parts.push((start, last));
        start = last + 1;
    }
    parts.push((start, units.len()));
    let text = |(from, to): &(usize, usize)| String::from_utf16_lossy(units.get(*from..*to).unwrap_or_default());
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn double_quoted(content: &str) -> String {
    let mut out = String::from("\"");
    for c in content.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{B}' => out.push_str("\\v"),
            '\u{C}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1B}' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{A0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02X}", c as u32)),
            c => out.push_str(&format!("\\u{:04X}", c as u32)),
        }
    }
    out.push('"');
    out
}
