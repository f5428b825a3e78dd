//! Dates in UTC: reading them, shifting, setting fields and writing them by a pattern.
//!
//! A date is a count of milliseconds since 1970. Patterns are the Unicode ones (`yyyy-MM-dd`).

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instant(i64);

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// As far as JavaScript dates go.
const MAX: i64 = 8_640_000_000_000_000;

/// The fields of a date; months count from 0 as in the functions' arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fields {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub milli: i64,
}

/// What `shiftDateUtc` and `modifyDateUtc` count in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

impl Unit {
    /// A unit by its name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "years" => Unit::Years,
            "months" => Unit::Months,
            "weeks" => Unit::Weeks,
            "days" => Unit::Days,
            "hours" => Unit::Hours,
            "minutes" => Unit::Minutes,
            "seconds" => Unit::Seconds,
            "milliseconds" => Unit::Milliseconds,
            _ => return None,
        })
    }
}

impl Instant {
    /// From milliseconds since 1970, within the range of dates.
    pub fn from_millis(millis: i64) -> Option<Self> {
        (millis.abs() <= MAX).then_some(Instant(millis))
    }

    /// From fields; those out of range roll over into the next.
    pub fn from_fields(f: Fields) -> Option<Self> {
        let months = f.year.checked_mul(12)?.checked_add(f.month)?;
        if months.abs() > 12 * 300_000 {
            return None;
        }
        let days = days_before_year_month(months.div_euclid(12), months.rem_euclid(12)).checked_add(f.day - 1)?;
        let clock = [(f.hour, HOUR), (f.minute, MINUTE), (f.second, SECOND), (f.milli, 1)];
        let mut millis = days.checked_mul(DAY)?;
        for (amount, size) in clock {
            millis = millis.checked_add(amount.checked_mul(size)?)?;
        }
        Self::from_millis(millis)
    }

    /// The fields in UTC.
    pub fn fields(self) -> Fields {
        let (days, clock) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        Fields {
            year,
            month,
            day,
            hour: clock / HOUR,
            minute: clock / MINUTE % 60,
            second: clock / SECOND % 60,
            milli: clock % SECOND,
        }
    }

    /// Days since Sunday.
    fn weekday(self) -> usize {
        usize::try_from((self.0.div_euclid(DAY) + 4).rem_euclid(7)).unwrap_or(0)
    }

    fn day_of_year(self) -> i64 {
        let f = self.fields();
        self.0.div_euclid(DAY) - days_before_year_month(f.year, 0) + 1
    }

    /// ISO week-numbering year and week.
    fn iso_week(self) -> (i64, i64) {
        let days = self.0.div_euclid(DAY);
        let monday = days - (days + 3).rem_euclid(7);
        let (year, _, _) = civil(monday + 3);
        (year, (monday + 3 - days_before_year_month(year, 0)) / 7 + 1)
    }

    /// The week in which January 1st lies is the first; weeks start on Sunday.
    fn local_week(self) -> (i64, i64) {
        let days = self.0.div_euclid(DAY);
        let sunday = days - (days + 4).rem_euclid(7);
        let (year, _, _) = civil(sunday + 6);
        let first = days_before_year_month(year, 0);
        let first_sunday = first - (first + 4).rem_euclid(7);
        (year, (sunday - first_sunday) / 7 + 1)
    }

    /// Moved by an amount; the day is clamped to the length of the month.
    pub fn shifted(self, amount: f64, unit: Unit) -> Option<Self> {
        if !amount.is_finite() || amount.abs() > 1e13 {
            return None;
        }
        let whole = amount.trunc() as i64;
        let months = match unit {
            Unit::Years => whole.checked_mul(12)?,
            Unit::Months => whole,
            Unit::Weeks => return self.plus(whole.checked_mul(7 * DAY)?),
            Unit::Days => return self.plus(whole.checked_mul(DAY)?),
            Unit::Hours => return self.plus((amount * HOUR as f64) as i64),
            Unit::Minutes => return self.plus((amount * MINUTE as f64) as i64),
            Unit::Seconds => return self.plus((amount * SECOND as f64) as i64),
            Unit::Milliseconds => return self.plus(whole),
        };
        let f = self.fields();
        let total = f.year.checked_mul(12)?.checked_add(f.month)?.checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12));
        Self::from_fields(Fields { year, month, day: f.day.min(month_length(year, month)), ..f })
    }

    fn plus(self, millis: i64) -> Option<Self> {
        Self::from_millis(self.0.checked_add(millis)?)
    }

    /// With one field set; what does not fit rolls over.
    pub fn modified(self, amount: f64, unit: Unit) -> Option<Self> {
        if !amount.is_finite() || amount.abs() > 1e13 {
            return None;
        }
        let value = amount.trunc() as i64;
        let mut f = self.fields();
        match unit {
            Unit::Years => f.year = value,
            Unit::Months => f.month = value,
            Unit::Weeks => return None,
            Unit::Days => f.day = value,
            Unit::Hours => f.hour = value,
            Unit::Minutes => f.minute = value,
            Unit::Seconds => f.second = value,
            Unit::Milliseconds => f.milli = value,
        }
        Self::from_fields(f)
    }

    /// `2021-01-01T00:00:00.000Z`.
    pub fn iso(self) -> String {
        let f = self.fields();
        let year = match f.year {
            0..=9999 => format!("{:04}", f.year),
            y if y < 0 => format!("-{:06}", -y),
            y => format!("+{y:06}"),
        };
        format!("{year}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", f.month + 1, f.day, f.hour, f.minute, f.second, f.milli)
    }

    /// Reads ISO dates, with or without time and zone, and the common written-out forms.
    pub fn parse(text: &str) -> Option<Self> {
        parse_iso(text.trim()).or_else(|| parse_written(text.trim()))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        1 => 28 + i64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of a month (0-based), by counting years that begin in March.
fn days_before_year_month(year: i64, month: i64) -> i64 {
    let shifted = if month < 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let march_month = (month + 10) % 12;
    let day_of_year = (153 * march_month + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

/// Year, month (0-based) and day of a count of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    (year_of_era + era * 400 + i64::from(month < 2), month, day)
}

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

fn parse_iso(mut text: &str) -> Option<Instant> {
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
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// `Jan 1, 2021 10:00:00 GMT+0200`, `1 January 2021`, `Fri Jan 01 2021`, `2021/01/31`, `01/31/2021`.
fn parse_written(text: &str) -> Option<Instant> {
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

/// Writes a date by a pattern of letters; text in single quotes stands for itself.
pub fn format(date: Instant, pattern: &str) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = quoted(rest, &mut result);
            continue;
        }
        let length = rest.chars().take_while(|&other| other == c).map(char::len_utf8).sum::<usize>();
        let run = rest.get(..length).unwrap_or(rest);
        rest = rest.get(length..).unwrap_or("");
        if !c.is_ascii_alphabetic() {
            result.push_str(run);
        } else if c == 'd' && run.len() == 1 && rest.starts_with('o') || ordinal_token(c, run.len(), rest) {
            rest = rest.get(1..).unwrap_or("");
            result.push_str(&ordinal(token_number(date, c)));
        } else if matches!(c, 'P' | 'p') {
            let (expanded, after) = long_form(run, rest);
            rest = after;
            result.push_str(&format(date, &expanded)?);
        } else {
            result.push_str(&token(date, c, run.len(), pattern)?);
        }
    }
    Ok(result)
}

fn quoted<'a>(rest: &'a str, result: &mut String) -> &'a str {
    let body = rest.get(1..).unwrap_or("");
    if let Some(after) = body.strip_prefix('\'') {
        result.push('\'');
        return after;
    }
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            result.push(c);
        } else if chars.peek().is_some_and(|&(_, next)| next == '\'') {
            result.push('\'');
            chars.next();
        } else {
            return body.get(at + 1..).unwrap_or("");
        }
    }
    ""
}

fn ordinal_token(c: char, length: usize, rest: &str) -> bool {
    length == 1 && rest.starts_with('o') && "yMLQqwIdDHhKkmsRi".contains(c)
}

fn token_number(date: Instant, c: char) -> i64 {
    let f = date.fields();
    match c {
        'y' => f.year,
        'R' => date.iso_week().0,
        'M' | 'L' => f.month + 1,
        'Q' | 'q' => f.month / 3 + 1,
        'w' => date.local_week().1,
        'I' => date.iso_week().1,
        'D' => date.day_of_year(),
        'i' => {
            if date.weekday() == 0 {
                7
            } else {
                date.weekday() as i64
            }
        }
        'H' => f.hour,
        'h' => (f.hour + 11) % 12 + 1,
        'K' => f.hour % 12,
        'k' => {
            if f.hour == 0 {
                24
            } else {
                f.hour
            }
        }
        'm' => f.minute,
        's' => f.second,
        _ => f.day,
    }
}

fn ordinal(number: i64) -> String {
    let suffix = match (number % 10, number % 100) {
        (1, h) if h != 11 => "st",
        (2, h) if h != 12 => "nd",
        (3, h) if h != 13 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// `P` (date) and `p` (time) in their English forms; together they are joined as a sentence would.
fn long_form<'a>(run: &str, rest: &'a str) -> (String, &'a str) {
    const DATES: [&str; 4] = ["MM/dd/yyyy", "MMM d, yyyy", "MMMM do, yyyy", "EEEE, MMMM do, yyyy"];
    const TIMES: [&str; 4] = ["h:mm a", "h:mm:ss a", "h:mm:ss a z", "h:mm:ss a zzzz"];
    let pick = |forms: &[&'static str; 4], length: usize| forms.get(length.clamp(1, 4) - 1).copied().unwrap_or("");
    if run.starts_with('p') {
        return (pick(&TIMES, run.len()).to_string(), rest);
    }
    let date = pick(&DATES, run.len());
    let times = rest.bytes().take_while(|&b| b == b'p').count();
    if times == 0 {
        return (date.to_string(), rest);
    }
    let joint = if run.len() > 2 { " 'at' " } else { ", " };
    (format!("{date}{joint}{}", pick(&TIMES, times)), rest.get(times..).unwrap_or(""))
}

fn token(date: Instant, c: char, length: usize, pattern: &str) -> Result<String, String> {
    let f = date.fields();
    let month = usize::try_from(f.month).ok().and_then(|m| MONTHS.get(m)).copied().unwrap_or("");
    let weekday = WEEKDAYS.get(date.weekday()).copied().unwrap_or("");
    // Rust's own padding ends at 65,535; a pattern may be longer.
    let padded = |number: i64| {
        let (sign, digits) = (if number < 0 { "-" } else { "" }, number.unsigned_abs().to_string());
        format!("{sign}{}{digits}", "0".repeat(length.saturating_sub(sign.len() + digits.len())))
    };
    Ok(match (c, length) {
        ('y', 2) => format!("{:02}", f.year.rem_euclid(100)),
        ('Y', 2 | 4) | ('D', 1 | 2) => return Err(protected(c, length, pattern, date)),
        ('Y', _) => padded(date.local_week().0),
        ('M' | 'L', 3) | ('b', 3) if c != 'b' => month.get(..3).unwrap_or("").into(),
        ('M' | 'L', 4) => month.into(),
        ('M' | 'L', 5) => month.get(..1).unwrap_or("").into(),
        ('Q' | 'q', 3) => format!("Q{}", f.month / 3 + 1),
        ('Q' | 'q', 4) => format!("{} quarter", ordinal(f.month / 3 + 1)),
        ('E', 1..=3) | ('e' | 'c' | 'i', 3) => weekday.get(..3).unwrap_or("").into(),
        ('E' | 'e' | 'c' | 'i', 4) => weekday.into(),
        ('E' | 'e' | 'c' | 'i', 5) => weekday.get(..1).unwrap_or("").into(),
        ('E' | 'e' | 'c' | 'i', 6) => weekday.get(..2).unwrap_or("").into(),
        ('e' | 'c', _) => padded(date.weekday() as i64 + 1),
        ('a' | 'b', 3) => day_half(f.hour).to_lowercase(),
        ('a' | 'b', 4) => {
            if f.hour < 12 {
                "a.m.".into()
            } else {
                "p.m.".into()
            }
        }
        ('a' | 'b', 5) => {
            if f.hour < 12 {
                "a".into()
            } else {
                "p".into()
            }
        }
        ('a' | 'b', _) => day_half(f.hour).into(),
        ('B', _) => day_part(f.hour).into(),
        ('G', 4) => {
            if f.year > 0 {
                "Anno Domini".into()
            } else {
                "Before Christ".into()
            }
        }
        ('G', 5) => {
            if f.year > 0 {
                "A".into()
            } else {
                "B".into()
            }
        }
        ('G', _) => {
            if f.year > 0 {
                "AD".into()
            } else {
                "BC".into()
            }
        }
        ('S', _) => fraction(f.milli, length),
        ('X', _) => "Z".into(),
        ('x', 1) => "+00".into(),
        ('x', 2 | 4) => "+0000".into(),
        ('x', _) => "+00:00".into(),
        ('O' | 'z', 4) => "GMT+00:00".into(),
        ('O' | 'z', _) => "GMT+0".into(),
        ('t', _) => padded(date.0.div_euclid(SECOND)),
        ('T', _) => padded(date.0),
        ('u', _) => padded(f.year),
        ('y' | 'R' | 'M' | 'L' | 'Q' | 'q' | 'w' | 'I' | 'D' | 'd' | 'i' | 'H' | 'h' | 'K' | 'k' | 'm' | 's', _) => {
            padded(token_number(date, c))
        }
        _ => return Err(format!("RangeError: Format string contains an unescaped latin alphabet character `{c}`")),
    })
}

fn protected(c: char, length: usize, pattern: &str, date: Instant) -> String {
    let written: String = std::iter::repeat_n(c, length).collect();
    let (better, subject) = if c == 'Y' { ("y", "years") } else { ("d", "days of the month") };
    let better = better.repeat(length);
    format!(
        "RangeError: Use `{better}` instead of `{written}` (in `{pattern}`) for formatting {subject} to the input `{}`",
        date.iso()
    )
}

fn day_half(hour: i64) -> &'static str {
    if hour < 12 { "AM" } else { "PM" }
}

fn day_part(hour: i64) -> &'static str {
    match hour {
        17.. => "in the evening",
        12..17 => "in the afternoon",
        4..12 => "in the morning",
        _ => "at night",
    }
}

fn fraction(millis: i64, length: usize) -> String {
    let text = format!("{millis:03}");
    text.chars().chain(std::iter::repeat('0')).take(length.min(20)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn dates_shift_clamp_and_roll() {
        let read = |text: &str| Instant::parse(text).unwrap();
        let january = read("2021-01-31T00:00:00Z");
        assert_eq!(january.shifted(1.0, Unit::Months).unwrap().iso(), "2021-02-28T00:00:00.000Z");
        assert_eq!(january.modified(1.0, Unit::Months).unwrap().iso(), "2021-03-03T00:00:00.000Z");
        assert_eq!(read("2020-02-29T00:00:00Z").shifted(1.0, Unit::Years).unwrap().iso(), "2021-02-28T00:00:00.000Z");
        assert_eq!(read("2021-01-01T00:00:00+0200").iso(), "2020-12-31T22:00:00.000Z");
        assert_eq!(read("Jan 2, 2021").iso(), "2021-01-02T00:00:00.000Z");
        assert_eq!(Instant::parse("2021-02-30"), None);
        assert_eq!(Instant::parse("nonsense"), None);
    }

    #[test]
    fn patterns_are_written() {
        let date = Instant::parse("2021-02-03T14:05:06.078Z").unwrap();
        for (pattern, expect) in [
            ("yyyy-MM-dd HH:mm:ss.SSS", "2021-02-03 14:05:06.078"),
            ("EEEE, MMMM do 'at' h a", "Wednesday, February 3rd at 2 PM"),
            ("PPPp", "February 3rd, 2021 at 2:05 PM"),
            ("yyyy''yy", "2021'21"),
            ("II i w QQQ", "05 3 6 Q1"),
        ] {
            assert_eq!(format(date, pattern).unwrap(), expect);
        }
        assert!(format(date, "YYYY").is_err());
        assert!(format(date, "f").is_err());
    }

    #[test]
    fn patterns_of_any_length_are_formatted() {
        let date = Instant::parse("2021-01-02T00:00:00Z").unwrap();
        let text = token(date, 'y', 70_000, "").unwrap();
        assert!(text.len() == 70_000 && text.ends_with("02021"));
    }
}
