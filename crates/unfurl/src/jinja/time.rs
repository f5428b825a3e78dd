//! Moments: calendar fields, `strftime`, reading. All in UTC.

use crate::val::Val;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const NANOS: i128 = 1_000_000_000;

struct Calendar {
    year: i64,
    month: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    weekday: usize,
    day_of_year: i64,
    seconds: i64,
}

fn days_before_year(year: i64) -> i64 {
    let y = year - 1;
    y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_days(year: i64, month: usize) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn calendar(nanos: i128) -> Calendar {
    let total = nanos.div_euclid(NANOS);
    let seconds = i64::try_from(total).unwrap_or(0);
    let days = seconds.div_euclid(86_400);
    let in_day = seconds.rem_euclid(86_400);
    // Days since 0001-01-01, which was a Monday.
    let mut left = days + days_before_year(1970);
    let weekday = usize::try_from(left.rem_euclid(7)).unwrap_or(0);
    let mut year = left.div_euclid(366).max(1);
    while days_before_year(year + 1) <= left {
        year += 1;
    }
    left -= days_before_year(year);
    let day_of_year = left + 1;
    let mut month = 1;
    while left >= month_days(year, month) && month < 12 {
        left -= month_days(year, month);
        month += 1;
    }
    Calendar {
        year,
        month,
        day: left + 1,
        hour: in_day / 3600,
        minute: in_day / 60 % 60,
        second: in_day % 60,
        nanos: i64::try_from(nanos.rem_euclid(NANOS)).unwrap_or(0),
        weekday,
        day_of_year,
        seconds,
    }
}

/// A field of a moment.
pub fn field(nanos: i128, name: &str) -> Option<Val> {
    let when = calendar(nanos);
    Some(Val::int(match name {
        "year" => when.year,
        "month" => i64::try_from(when.month).unwrap_or(0),
        "day" => when.day,
        "hour" => when.hour,
        "minute" => when.minute,
        "second" => when.second,
        "microsecond" => when.nanos / 1000,
        _ => return None,
    }))
}

/// The moment as `YYYY-MM-DDTHH:MM:SS`.
pub fn iso(nanos: i128) -> String {
    format(nanos, "%Y-%m-%dT%H:%M:%S")
}

/// `strftime`
pub fn format(nanos: i128, pattern: &str) -> String {
    let when = calendar(nanos);
    let month = MONTHS.get(when.month - 1).copied().unwrap_or("");
    let day = DAYS.get(when.weekday).copied().unwrap_or("");
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('Y') => out.push_str(&format!("{:04}", when.year)),
            Some('y') => out.push_str(&format!("{:02}", when.year % 100)),
            Some('m') => out.push_str(&format!("{:02}", when.month)),
            Some('d') => out.push_str(&format!("{:02}", when.day)),
            Some('e') => out.push_str(&format!("{:2}", when.day)),
            Some('H') => out.push_str(&format!("{:02}", when.hour)),
            Some('I') => out.push_str(&format!("{:02}", (when.hour + 11) % 12 + 1)),
            Some('M') => out.push_str(&format!("{:02}", when.minute)),
            Some('S') => out.push_str(&format!("{:02}", when.second)),
            Some('f') => out.push_str(&format!("{:06}", when.nanos / 1000)),
            Some('j') => out.push_str(&format!("{:03}", when.day_of_year)),
            Some('p') => out.push_str(if when.hour < 12 { "AM" } else { "PM" }),
            Some('B') => out.push_str(month),
            Some('b' | 'h') => out.push_str(month.get(..3).unwrap_or("")),
            Some('A') => out.push_str(day),
            Some('a') => out.push_str(day.get(..3).unwrap_or("")),
            Some('s') => out.push_str(&when.seconds.to_string()),
            Some('u') => out.push_str(&(when.weekday + 1).to_string()),
            Some('w') => out.push_str(&((when.weekday + 1) % 7).to_string()),
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
    let (mut hour, mut minute, mut second, mut nanos) = (0, 0, 0, 0);
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
            'f' => nanos = number * 10i64.pow(9 - u32::try_from(length).ok()?),
            _ => return None,
        }
    }
    let month = usize::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let valid = (1..=month_days(year, month)).contains(&day) && hour < 24 && minute < 60 && second < 62;
    if !rest.is_empty() || !valid || year < 1 {
        return None;
    }
    let before: i64 = (1..month).map(|month| month_days(year, month)).sum();
    let days = days_before_year(year) - days_before_year(1970) + before + day - 1;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some(i128::from(seconds) * NANOS + i128::from(nanos))
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
