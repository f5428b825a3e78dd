//! How Go's YAML and JSON libraries treat single scalars: the meaning of text, the format of numbers, the order of
//! keys.
//!
//! Facts only; the layout is in [`super::go_yaml`].

use super::go_yaml::GoStyle;
use super::json::{JsonFlavor, is_json_number, quote};
use crate::calendar::month_length;
use std::cmp::Ordering;

/// Keys whose JSON text is longer than this cannot be read back as simple keys.
const LONGEST_READABLE_KEY: usize = 1_024;

/// Line breaks and the separators that YAML 1.1 counts among them.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The breaks that do not end a line in a terminal or editor, but start a new one in YAML 1.1.
pub(super) fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

pub(super) fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t' || is_break(c)
}

/// Characters that Go prints verbatim. Everything outside the basic plane is escaped.
pub(super) fn is_printable(c: char) -> bool {
    match c {
        '\n' | '\u{20}'..='\u{7e}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => ('\u{a0}'..'\u{10000}').contains(&c),
    }
}

/// The result of writing a string as JSON and reading it as YAML.
pub(super) enum ReadBack {
    Same,
    Changed(String),
    Fails,
}

/// JSON leaves NEL unescaped, and YAML folds it like a line break inside quotes.
pub(super) fn string_read_back(text: &str) -> ReadBack {
    if text.chars().any(is_refused) {
        return ReadBack::Fails;
    }
    if !text.contains('\u{85}') {
        return ReadBack::Same;
    }
    let mut lines = text.split('\u{85}');
    let mut out = lines.next().unwrap_or("").to_owned();
    let mut breaks = 0;
    let mut rest = lines.peekable();
    while let Some(line) = rest.next() {
        breaks += 1;
        if is_document_marker(line, rest.peek().is_some()) {
            return ReadBack::Fails;
        }
        let line = line.trim_start_matches(' ');
        if line.is_empty() && rest.peek().is_some() {
            continue;
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push_str(if breaks == 1 { " " } else { "" });
        out.extend(std::iter::repeat_n('\n', breaks - 1));
        out.push_str(line);
        breaks = 0;
    }
    ReadBack::Changed(out)
}

/// Whether a line that begins inside quotes looks like the start or end of a document.
fn is_document_marker(line: &str, more_lines: bool) -> bool {
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.starts_with(' ') || (rest.is_empty() && more_lines))
}

/// Whether a key is unchanged after being written as JSON and read as YAML.
pub(super) fn key_reads_back(key: &str) -> bool {
    !key.contains(|c| is_refused(c) || c == '\u{85}')
        && (key.len() < LONGEST_READABLE_KEY / 6 || quote(key, JsonFlavor::Go).chars().count() <= LONGEST_READABLE_KEY)
}

/// Characters that JSON leaves unescaped and the YAML reader refuses.
fn is_refused(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// A JSON number as go-yaml v2 prints it after reading it.
pub(super) fn number_read_back(text: &str) -> String {
    if !is_json_number(text) {
        return text.to_owned();
    }
    if let Ok(int) = text.parse::<i64>() {
        return int.to_string();
    }
    if let Ok(int) = text.parse::<u64>() {
        return int.to_string();
    }
    text.parse::<f64>().map_or_else(|_| text.to_owned(), go_float)
}

/// A float as Go's `encoding/json` prints it.
pub fn go_json_float(value: f64) -> String {
    let (digits, power) = shortest_digits(value);
    if value == 0.0 || (-6..21).contains(&power) {
        return fixed_point(value, &digits, power);
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{}", with_point(value, &digits), power.abs())
}

/// A float as go-yaml prints it: the shortest text, with an exponent from 1e+06 on.
pub fn go_float(value: f64) -> String {
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let (digits, power) = shortest_digits(value);
    if value == 0.0 || (-4..6).contains(&power) {
        return fixed_point(value, &digits, power);
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_point(value, &digits), power.abs())
}

/// The fewest digits that identify the number, and the power of ten of the first.
///
/// If two texts are equally short and near, Go takes the even digit, as rounding to a given length does here.
pub fn shortest_digits(value: f64) -> (String, i32) {
    let shortest = format!("{:e}", value.abs());
    let length = shortest.find('e').unwrap_or(1).saturating_sub(2);
    let rounded = format!("{:.length$e}", value.abs());
    let text = if rounded.parse() == Ok(value.abs()) { rounded } else { shortest };
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), power.parse().unwrap_or(0))
}

fn sign_of(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

fn with_point(value: f64, digits: &str) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{}{first}{point}{rest}", sign_of(value))
}

fn fixed_point(value: f64, digits: &str, power: i32) -> String {
    let sign = sign_of(value);
    let Ok(power) = usize::try_from(power) else {
        let zeros = usize::try_from(-1 - power).unwrap_or(0);
        return format!("{sign}0.{}{digits}", "0".repeat(zeros));
    };
    match digits.split_at_checked(power + 1) {
        Some((whole, "")) => format!("{sign}{whole}"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits}{}", "0".repeat(power + 1 - digits.len())),
    }
}

/// Whether Go reads the unquoted text as something other than a string, or assumes that others do.
pub(super) fn means_something_else(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON",
        "off", "Off", "OFF", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN", ".inf", ".Inf",
        ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
    ];
    if WORDS.contains(&text) {
        return true;
    }
    match text.as_bytes().first() {
        Some(b'.') => is_fraction(text),
        Some(b'0'..=b'9' | b'+' | b'-') => is_number(text) || is_sexagesimal(text) || is_timestamp(text),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    let text = text.replace('_', "");
    let (digits, largest) = match text.as_bytes() {
        [b'+', ..] => (&text[1..], i64::MAX as u64),
        [b'-', ..] => (&text[1..], i64::MIN.unsigned_abs()),
        _ => (&text[..], u64::MAX),
    };
    is_integer(digits, largest) || (is_decimal(digits) && digits.parse::<f64>().is_ok_and(f64::is_finite))
}

/// A float that starts with its point; underscores are allowed between digits.
fn is_fraction(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let well_placed = |at: usize| at > 0 && is_digit(at - 1) && is_digit(at + 1);
    bytes.iter().enumerate().all(|(at, &b)| b != b'_' || well_placed(at))
        && text.replace('_', "").parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_integer(digits: &str, largest: u64) -> bool {
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    !digits.starts_with(['+', '-']) && u64::from_str_radix(digits, radix).is_ok_and(|value| value <= largest)
}

/// Digits with an optional point and exponent.
fn is_decimal(digits: &str) -> bool {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent))
}

/// `12:30`, a number to base 60 in YAML 1.1.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (places, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut places = places.split(':');
    let first = places.next().unwrap_or("");
    let rest: Vec<&str> = places.collect();
    let digit_or_gap = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let is_place = |place: &&str| match place.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|c: char| c.is_ascii_digit())
        && digit_or_gap(first)
        && digit_or_gap(fraction)
        && !rest.is_empty()
        && rest.iter().all(is_place)
}

/// Whether go-yaml reads a plain text as a time: it tries four layouts, on days that exist.
pub fn is_timestamp(text: &str) -> bool {
    let mut rest = Cursor(text);
    let Some(year) = rest.number(4, 4) else { return false };
    if !rest.eat('-') {
        return false;
    }
    let Some(month) = rest.number(1, 2) else { return false };
    if !rest.eat('-') {
        return false;
    }
    let Some(day) = rest.number(1, 2) else { return false };
    if !(1..=12).contains(&month) || day < 1 || day > month_length(i64::from(year), month) {
        return false;
    }
    if rest.0.is_empty() {
        return true;
    }
    if rest.eat(' ') {
        return rest.time() && rest.0.is_empty();
    }
    (rest.eat('T') || rest.eat('t')) && rest.time() && rest.zone() && rest.0.is_empty()
}

/// The rest of a timestamp.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn eat(&mut self, c: char) -> bool {
        match self.0.strip_prefix(c) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// A number of at least `min` and at most `max` digits.
    fn number(&mut self, min: usize, max: usize) -> Option<u32> {
        let count = self.0.bytes().take(max).take_while(u8::is_ascii_digit).count();
        if count < min {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        digits.parse().ok()
    }

    /// Hours, minutes, seconds and a fraction.
    fn time(&mut self) -> bool {
        let hour = self.number(1, 2).is_some_and(|hour| hour < 24);
        let minute = hour && self.eat(':') && self.number(1, 2).is_some_and(|minute| minute < 60);
        let second = minute && self.eat(':') && self.number(1, 2).is_some_and(|second| second < 60);
        let digits_follow = self.0.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if second && digits_follow && self.0.starts_with(['.', ',']) {
            self.0 = self.0.get(1..).unwrap_or("").trim_start_matches(|c: char| c.is_ascii_digit());
        }
        second
    }

    fn zone(&mut self) -> bool {
        if self.eat('Z') {
            return true;
        }
        (self.eat('+') || self.eat('-'))
            && self.number(2, 2).is_some_and(|hours| hours <= 24)
            && self.eat(':')
            && self.number(2, 2).is_some_and(|minutes| minutes < 60)
    }
}

/// The order in which go-yaml writes the keys of a map: numbers inside keys by value, letters after everything else.
///
/// In the newer library letters come first where they follow a digit.
pub fn natural_order(a: &str, b: &str, style: GoStyle) -> Ordering {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let Some(at) = a.iter().zip(&b).position(|(x, y)| x != y) else {
        return a.len().cmp(&b.len());
    };
    let (x, y) = (a[at], b[at]);
    let after_digit = at > 0 && a[at - 1].is_ascii_digit();
    let letters_first = style == GoStyle::Pretty && after_digit;
    match (is_letter(x), is_letter(y)) {
        (true, true) => x.cmp(&y),
        (false, true) if letters_first => Ordering::Greater,
        (true, false) if letters_first => Ordering::Less,
        (false, true) => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, false) => {
            let inside_number = (x == '0' || y == '0') && follows_nonzero_digit(&a[..at]);
            let (x_value, x_digits) = digit_run(&a[at..], inside_number);
            let (y_value, y_digits) = digit_run(&b[at..], inside_number);
            x_value.cmp(&y_value).then(x_digits.cmp(&y_digits)).then(x.cmp(&y))
        }
    }
}

/// Roman numerals and the like are alphabetic, but not letters.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric()
}

fn follows_nonzero_digit(before: &[char]) -> bool {
    before.iter().rev().take_while(|c| c.is_ascii_digit()).any(|&c| c != '0')
}

/// The value and length of the digits at the start. Values wrap as they do in Go.
fn digit_run(chars: &[char], inside_number: bool) -> (i64, usize) {
    let digits = chars.iter().map_while(|c| c.to_digit(10));
    let start = (i64::from(inside_number), 0);
    digits.fold(start, |(value, count), digit| (value.wrapping_mul(10).wrapping_add(i64::from(digit)), count + 1))
}

/// Sorts entries by key in [`natural_order`].
///
/// That order is not transitive for all keys, which the standard library's sort does not tolerate; merging always
/// ends.
pub fn sort_keys<T: Clone>(entries: &mut [T], style: GoStyle, key: impl Fn(&T) -> &str) {
    let mut width = 1;
    while width < entries.len() {
        for pair in entries.chunks_mut(width * 2) {
            if pair.len() > width {
                merge_halves(pair, width, style, &key);
            }
        }
        width *= 2;
    }
}

fn merge_halves<T: Clone>(pair: &mut [T], middle: usize, style: GoStyle, key: &impl Fn(&T) -> &str) {
    let (left, right) = pair.split_at(middle);
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut merged = Vec::with_capacity(middle * 2);
    loop {
        let take_right = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(l), Some(r)) => natural_order(key(r), key(l), style) == Ordering::Less,
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        merged.extend(if take_right { right.next() } else { left.next() }.cloned());
    }
    pair.clone_from_slice(&merged);
}
