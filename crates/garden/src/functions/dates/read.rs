//! Reads dates: the ISO form, and the common written-out ones.

use super::{Fields, HOUR, Instant, MINUTE, month_length};
use purlin_value::calendar::{MONTHS, WEEKDAYS};

/// Takes `count` digits from the front.
fn digits(text: &mut &str, count: usize) -> Option<i64> {
    let head = text.get(..count).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    *text = text.get(count..)?;
    head.parse().ok()
}

fn eat(text: &mut &str, prefix: &str) -> bool {
    match text.strip_prefix(prefix) {
        Some(rest) => {
            *text = rest;
            true
        }
        None => false,
    }
}

pub(super) fn parse_iso(mut text: &str) -> Option<Instant> {
    let text = &mut text;
    let mut f = Fields { year: digits(text, 4)?, month: 0, day: 1, hour: 0, minute: 0, second: 0, milli: 0 };
    if eat(text, "-") {
        f.month = digits(text, 2)? - 1;
        if eat(text, "-") {
            f.day = digits(text, 2)?;
        }
    }
    if !(0..12).contains(&f.month) || !(1..=month_length(f.year, f.month)).contains(&f.day) {
        return None;
    }
    let mut zone = 0;
    if eat(text, "T") || eat(text, "t") || eat(text, " ") {
        zone = parse_clock(text, &mut f)?;
    }
    if !text.is_empty() {
        return None;
    }
    Instant::from_fields(f)?.plus(-zone)
}

/// Hours, minutes, seconds, fraction and zone; returns the zone's offset.
fn parse_clock(text: &mut &str, f: &mut Fields) -> Option<i64> {
    f.hour = digits(text, 2)?;
    if !eat(text, ":") {
        return None;
    }
    f.minute = digits(text, 2)?;
    if eat(text, ":") {
        f.second = digits(text, 2)?;
        if eat(text, ".") || eat(text, ",") {
            let length = text.bytes().take_while(u8::is_ascii_digit).count();
            let fraction = text.get(..length).filter(|d| !d.is_empty())?;
            *text = text.get(length..)?;
            let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
            f.milli = millis.parse().ok()?;
        }
    }
    let in_range =
        f.hour <= 24 && f.minute < 60 && f.second < 60 && (f.hour < 24 || (f.minute, f.second, f.milli) == (0, 0, 0));
    if !in_range {
        return None;
    }
    parse_zone(text)
}

fn parse_zone(text: &mut &str) -> Option<i64> {
    *text = text.trim_start();
    let universal = text.is_empty() || eat(text, "Z") || eat(text, "z") || eat(text, "GMT") || eat(text, "UTC");
    if universal && !text.starts_with(['+', '-']) {
        return Some(0);
    }
    let sign = if eat(text, "-") {
        -1
    } else if eat(text, "+") {
        1
    } else {
        return None;
    };
    let hours = digits(text, 2)?;
    eat(text, ":");
    let minutes = if text.is_empty() { 0 } else { digits(text, 2)? };
    Some(sign * (hours * HOUR + minutes * MINUTE))
}

/// `Jan 1, 2021 10:00:00 GMT+0200`, `1 January 2021`, `Fri Jan 01 2021`, `2021/01/31`, `01/31/2021`.
pub(super) fn parse_written(text: &str) -> Option<Instant> {
    let mut f = Fields { year: i64::MIN, month: -1, day: -1, hour: 0, minute: 0, second: 0, milli: 0 };
    let mut zone = 0;
    for word in text.split([' ', ',']).filter(|w| !w.is_empty()) {
        if word.contains(':') {
            let mut clock = word;
            zone = parse_clock(&mut clock, &mut f)?;
            if !clock.is_empty() {
                return None;
            }
        } else if let Ok(number) = word.parse::<i64>()
            && !word.starts_with(['+', '-'])
        {
            if word.len() <= 2 && f.day < 0 { f.day = number } else { f.year = number }
        } else if word.contains('/') {
            slashed(word, &mut f)?;
        } else if word.starts_with("GMT") || word.starts_with("UTC") || word.starts_with(['+', '-', 'Z']) {
            zone = parse_zone(&mut { word })?;
        } else if let Some(month) = named_prefix(&MONTHS, word) {
            f.month = month;
        } else if named_prefix(&WEEKDAYS, word).is_none() && !word.starts_with('(') {
            return None;
        }
    }
    if f.month < 0 || f.year == i64::MIN {
        return None;
    }
    f.day = f.day.max(1);
    if !(1..=31).contains(&f.day) || f.month > 11 {
        return None;
    }
    Instant::from_fields(f)?.plus(-zone)
}

fn slashed(word: &str, f: &mut Fields) -> Option<()> {
    let parts: Vec<i64> = word.split('/').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts.as_slice() {
        [year, month, day] if *year > 31 => (f.year, f.month, f.day) = (*year, month - 1, *day),
        [month, day, year] => (f.year, f.month, f.day) = (*year, month - 1, *day),
        _ => return None,
    }
    Some(())
}

fn named_prefix(names: &[&str], word: &str) -> Option<i64> {
    let word = word.trim_end_matches('.');
    if word.len() < 3 {
        return None;
    }
    let found = names.iter().position(|n| n.get(..word.len()).is_some_and(|p| p.eq_ignore_ascii_case(word)))?;
    i64::try_from(found).ok()
}
