//! Moments: calendar fields, `strftime`, reading. All in UTC.

use crate::val::Val;
use purlin_value::calendar::{Date, MONTHS, WEEKDAYS, month_length, weekday};

const NANOS: i128 = 1_000_000_000;

struct Calendar {
    date: Date,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    /// From Sunday, which is 0.
    weekday: u32,
    seconds: i64,
}

fn calendar(nanos: i128) -> Calendar {
    let total = nanos.div_euclid(NANOS);
    let seconds = i64::try_from(total).unwrap_or(0);
    let days = seconds.div_euclid(86_400);
    let in_day = seconds.rem_euclid(86_400);
    let date = Date::from_days(days);
    Calendar {
        date,
        hour: in_day / 3600,
        minute: in_day / 60 % 60,
        second: in_day % 60,
        nanos: i64::try_from(nanos.rem_euclid(NANOS)).unwrap_or(0),
        weekday: weekday(days),
        seconds,
    }
}

/// A field of a moment.
pub fn field(nanos: i128, name: &str) -> Option<Val> {
    let when = calendar(nanos);
    Some(Val::int(match name {
        "year" => when.date.year,
        "month" => i64::from(when.date.month),
        "day" => i64::from(when.date.day),
        "hour" => when.hour,
        "minute" => when.minute,
        "second" => when.second,
        "microsecond" => when.nanos / 1000,
        _ => return None,
    }))
}

/// The moment as `YYYY-MM-DDTHH:MM:SS`, with microseconds if there are any.
pub fn iso(nanos: i128) -> String {
    let whole = nanos.rem_euclid(NANOS) < 1000;
    format(nanos, if whole { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S.%f" })
}

/// The moment of year, month, day, hour, minute, second and microsecond, if there is one.
pub fn from_fields([year, month, day, hour, minute, second, micros]: [i64; 7]) -> Option<i128> {
    let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let day = u32::try_from(day).ok().filter(|day| (1..=month_length(year, month)).contains(day))?;
    let within = (1..10_000).contains(&year) && (0..24).contains(&hour) && (0..60).contains(&minute);
    if !within || !(0..62).contains(&second) || !(0..1_000_000).contains(&micros) {
        return None;
    }
    let days = Date::new(year, month, day).days();
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some(i128::from(seconds) * NANOS + i128::from(micros) * 1000)
}

/// `strftime`
pub fn format(nanos: i128, pattern: &str) -> String {
    let when = calendar(nanos);
    let month = MONTHS.get(when.date.month as usize - 1).copied().unwrap_or("");
    let day = WEEKDAYS.get(when.weekday as usize).copied().unwrap_or("");
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('Y') => out.push_str(&format!("{:04}", when.date.year)),
            Some('y') => out.push_str(&format!("{:02}", when.date.year % 100)),
            Some('m') => out.push_str(&format!("{:02}", when.date.month)),
            Some('d') => out.push_str(&format!("{:02}", when.date.day)),
            Some('e') => out.push_str(&format!("{:2}", when.date.day)),
            Some('H') => out.push_str(&format!("{:02}", when.hour)),
            Some('I') => out.push_str(&format!("{:02}", (when.hour + 11) % 12 + 1)),
            Some('M') => out.push_str(&format!("{:02}", when.minute)),
            Some('S') => out.push_str(&format!("{:02}", when.second)),
            Some('f') => out.push_str(&format!("{:06}", when.nanos / 1000)),
            Some('j') => out.push_str(&format!("{:03}", when.date.day_of_year())),
            Some('p') => out.push_str(if when.hour < 12 { "AM" } else { "PM" }),
            Some('B') => out.push_str(month),
            Some('b' | 'h') => out.push_str(month.get(..3).unwrap_or("")),
            Some('A') => out.push_str(day),
            Some('a') => out.push_str(day.get(..3).unwrap_or("")),
            Some('s') => out.push_str(&when.seconds.to_string()),
            Some('u') => out.push_str(&((when.weekday + 6) % 7 + 1).to_string()),
            Some('w') => out.push_str(&when.weekday.to_string()),
            Some('F') => out.push_str(&format(nanos, "%Y-%m-%d")),
            Some('T') => out.push_str(&format(nanos, "%H:%M:%S")),
            Some('D') => out.push_str(&format(nanos, "%m/%d/%y")),
            Some('R') => out.push_str(&format(nanos, "%H:%M")),
            Some('z') => out.push_str("+0000"),
            Some('Z') => out.push_str("UTC"),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('%') => out.push('%'),
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
        }
    }
    out
}

/// Reads a moment by a pattern of `%Y %m %d %H %M %S %f`.
pub fn parse(text: &str, pattern: &str) -> Option<i128> {
    let (mut year, mut month, mut day) = (1900, 1, 1);
    let (mut hour, mut minute, mut second, mut micros) = (0, 0, 0, 0);
    let mut rest = text;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            rest = rest.strip_prefix(c)?;
            continue;
        }
        let kind = chars.next()?;
        let most = match kind {
            'Y' => 4,
            'f' => 6,
            _ => 2,
        };
        let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(length);
        let number: i64 = digits.parse().ok()?;
        rest = after;
        match kind {
            'Y' => year = number,
            'm' => month = number,
            'd' => day = number,
            'H' => hour = number,
            'M' => minute = number,
            'S' => second = number,
            'f' => micros = number * 10i64.pow(6 - u32::try_from(length).ok()?),
            _ => return None,
        }
    }
    if !rest.is_empty() {
        return None;
    }
    from_fields([year, month, day, hour, minute, second, micros])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn calendars() {
        for text in ["1970-01-01 00:00:00", "2000-02-29 23:59:59", "2026-11-15 16:03:31", "1969-12-31 12:00:00"] {
            let nanos = parse(text, "%Y-%m-%d %H:%M:%S").unwrap();
            assert_eq!(format(nanos, "%Y-%m-%d %H:%M:%S"), text);
        }
        assert_eq!(format(0, "%A %j %s"), "Thursday 001 0");
        assert!(parse("2001-02-29", "%Y-%m-%d").is_none());
    }
}
