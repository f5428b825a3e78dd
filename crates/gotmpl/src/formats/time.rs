//! Instants, Go's layouts for writing and reading them, and durations.

use std::fmt;

use purlin_value::calendar::{Date, MONTHS, WEEKDAYS, month_length, weekday};

/// An instant with its zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    /// Nanoseconds since 1970, UTC.
    pub nanos: i128,
    /// Seconds east of UTC.
    pub offset: i32,
    /// The zone's short name.
    pub zone: String,
}

/// Nanoseconds of a second.
pub const SECOND: i128 = 1_000_000_000;

/// A date and time of day.
#[derive(Clone, Copy, Debug)]
pub struct Civil {
    /// Year.
    pub year: i64,
    /// Month from 1.
    pub month: u32,
    /// Day from 1.
    pub day: u32,
    /// Hour.
    pub hour: u32,
    /// Minute.
    pub minute: u32,
    /// Second.
    pub second: u32,
    /// Nanosecond.
    pub nano: u32,
    /// Day of the week, Sunday being 0.
    pub weekday: u32,
    /// Day of the year from 1.
    pub yearday: u32,
}

impl Time {
    /// An instant in UTC.
    pub fn utc(nanos: i128) -> Self {
        Self { nanos, offset: 0, zone: "UTC".to_owned() }
    }

    /// The instant of a date in UTC.
    pub(crate) fn of_date(year: i64, month: u32, day: u32) -> Self {
        Self::utc(i128::from(Date::new(year, month, day).days()) * 86_400 * SECOND)
    }

    /// The year 1, which represents no time.
    pub fn zero() -> Self {
        Self::of_date(1, 1, 1)
    }

    /// Seconds since 1970.
    pub fn unix(&self) -> i64 {
        self.nanos.div_euclid(SECOND) as i64
    }

    /// Moved by years, months and days of the calendar; a day past the end of its month continues into the next.
    pub(crate) fn add_date(&self, years: i64, months: i64, days: i64) -> Self {
        let civil = self.civil();
        let month = (i64::from(civil.month) - 1).saturating_add(months);
        let year = civil.year.saturating_add(years).saturating_add(month.div_euclid(12)).clamp(-290_000, 290_000);
        let first = Date::new(year, month.rem_euclid(12) as u32 + 1, 1).days();
        let old = Date::new(civil.year, civil.month, 1).days();
        let moved = (first - old).saturating_add(days.clamp(-200_000_000, 200_000_000));
        Self { nanos: self.nanos + i128::from(moved) * 86_400 * SECOND, ..self.clone() }
    }

    /// The date and time of day in its zone.
    pub(crate) fn civil(&self) -> Civil {
        let local = self.nanos + i128::from(self.offset) * SECOND;
        let seconds = local.div_euclid(SECOND) as i64;
        let nano = local.rem_euclid(SECOND) as u32;
        let days = seconds.div_euclid(86_400);
        let rest = seconds.rem_euclid(86_400) as u32;
        let date = Date::from_days(days);
        let Date { year, month, day } = date;
        Civil {
            year,
            month,
            day,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
            nano,
            weekday: weekday(days),
            yearday: date.day_of_year(),
        }
    }

    /// The time in Go's layout.
    pub fn format(&self, layout: &str) -> String {
        let civil = self.civil();
        let mut out = String::new();
        for part in parts(layout) {
            self.write_part(&mut out, &part, &civil);
        }
        out
    }

    fn write_part(&self, out: &mut String, part: &Part<'_>, civil: &Civil) {
        let hour12 = match civil.hour % 12 {
            0 => 12,
            hour => hour,
        };
        let month = MONTHS.get(civil.month as usize - 1).copied().unwrap_or_default();
        let day = WEEKDAYS.get(civil.weekday as usize).copied().unwrap_or_default();
        let text = match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Std(name) => match *name {
                "January" => month.to_owned(),
                "Jan" => month.chars().take(3).collect(),
                "Monday" => day.to_owned(),
                "Mon" => day.chars().take(3).collect(),
                "1" => civil.month.to_string(),
                "01" => format!("{:02}", civil.month),
                "2" => civil.day.to_string(),
                "_2" => format!("{:2}", civil.day),
                "02" => format!("{:02}", civil.day),
                "002" => format!("{:03}", civil.yearday),
                "__2" => format!("{:3}", civil.yearday),
                "15" => format!("{:02}", civil.hour),
                "3" => hour12.to_string(),
                "03" => format!("{hour12:02}"),
                "4" => civil.minute.to_string(),
                "04" => format!("{:02}", civil.minute),
                "5" => civil.second.to_string(),
                "05" => format!("{:02}", civil.second),
                "2006" => format!("{:04}", civil.year),
                "06" => format!("{:02}", civil.year.rem_euclid(100)),
                "PM" => if civil.hour >= 12 { "PM" } else { "AM" }.to_owned(),
                "pm" => if civil.hour >= 12 { "pm" } else { "am" }.to_owned(),
                "MST" => self.zone_name(),
                zone => self.offset_text(zone),
            },
            Part::Fraction { digits, keep_zeros, mark } => fraction(civil.nano, *digits, *keep_zeros, *mark),
        };
        out.push_str(&text);
    }

    fn zone_name(&self) -> String {
        if self.zone.is_empty() { self.offset_text("-0700") } else { self.zone.clone() }
    }

    fn offset_text(&self, form: &str) -> String {
        if form.starts_with('Z') && self.offset == 0 {
            return "Z".to_owned();
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let size = self.offset.unsigned_abs();
        let (hours, minutes, seconds) = (size / 3_600, size / 60 % 60, size % 60);
        match form.trim_start_matches(['Z', '-']) {
            "07:00" => format!("{sign}{hours:02}:{minutes:02}"),
            "07" => format!("{sign}{hours:02}"),
            "07:00:00" => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
            "070000" => format!("{sign}{hours:02}{minutes:02}{seconds:02}"),
            _ => format!("{sign}{hours:02}{minutes:02}"),
        }
    }

    /// Reads a time in Go's layout.
    pub fn parse(layout: &str, text: &str) -> Result<Self, String> {
        Reading { layout, text, rest: text }.read()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

fn fraction(nano: u32, digits: usize, keep_zeros: bool, mark: char) -> String {
    let all = format!("{nano:09}");
    let cut = all.get(..digits.min(9)).unwrap_or(&all);
    if keep_zeros {
        return format!("{mark}{cut}");
    }
    let trimmed = cut.trim_end_matches('0');
    if trimmed.is_empty() { String::new() } else { format!("{mark}{trimmed}") }
}

enum Part<'l> {
    Text(&'l str),
    Std(&'static str),
    Fraction { digits: usize, keep_zeros: bool, mark: char },
}

/// Layout elements, longer ones before their prefixes.
const ELEMENTS: &[&str] = &[
    "January",
    "Jan",
    "Monday",
    "Mon",
    "MST",
    "01",
    "002",
    "02",
    "03",
    "04",
    "05",
    "06",
    "2006",
    "__2",
    "_2006",
    "_2",
    "2",
    "15",
    "1",
    "3",
    "4",
    "5",
    "PM",
    "pm",
    "-07:00:00",
    "-070000",
    "-07:00",
    "-0700",
    "-07",
    "Z07:00:00",
    "Z070000",
    "Z07:00",
    "Z0700",
    "Z07",
];

fn parts(layout: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut text_start = 0;
    let mut at = 0;
    while at < layout.len() {
        let Some(rest) = layout.get(at..) else {
            at += 1;
            continue;
        };
        if let Some((part, len)) = element(rest) {
            if text_start < at {
                found.push(Part::Text(layout.get(text_start..at).unwrap_or_default()));
            }
            found.push(part);
            at += len;
            text_start = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    if text_start < layout.len() {
        found.push(Part::Text(layout.get(text_start..).unwrap_or_default()));
    }
    found
}

fn element(rest: &str) -> Option<(Part<'_>, usize)> {
    let first = rest.chars().next()?;
    if matches!(first, '.' | ',') {
        let body = rest.get(1..)?;
        let digit = body.chars().next()?;
        if matches!(digit, '0' | '9') {
            let digits = body.chars().take_while(|ch| *ch == digit).count();
            let next_digit = body.get(digits..).and_then(|r| r.chars().next()).is_some_and(|c| c.is_ascii_digit());
            if !next_digit {
                return Some((Part::Fraction { digits, keep_zeros: digit == '0', mark: first }, digits + 1));
            }
        }
        return None;
    }
    let name = ELEMENTS.iter().copied().find(|name| rest.starts_with(name))?;
    match name {
        // "Jan" and "Mon" inside longer words are literal text.
        "Jan" if rest.starts_with("Janu") && !rest.starts_with("January") => return None,
        "Mon" if rest.get(3..).and_then(|r| r.chars().next()).is_some_and(char::is_lowercase) => return None,
        "Jan" if rest.get(3..).and_then(|r| r.chars().next()).is_some_and(char::is_lowercase) => return None,
        "_2006" => return Some((Part::Text(rest.get(..1)?), 1)),
        _ => {}
    }
    Some((Part::Std(name), name.len()))
}

struct Reading<'a> {
    layout: &'a str,
    text: &'a str,
    rest: &'a str,
}

#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<u32>,
    day: Option<u32>,
    hour: u32,
    minute: u32,
    second: u32,
    nano: u32,
    afternoon: Option<bool>,
    offset: Option<i32>,
    zone: Option<String>,
    yearday: Option<u32>,
}

impl Reading<'_> {
    fn cannot(&self, element: &str) -> String {
        let quote = |text: &str| crate::quote::quote(text.as_bytes());
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(self.text),
            quote(self.layout),
            quote(self.rest),
            quote(element)
        )
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", crate::quote::quote(self.text.as_bytes()))
    }

    fn read(mut self) -> Result<Time, String> {
        let mut fields = Fields::default();
        let parts = parts(self.layout);
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    self.rest = match self.rest.strip_prefix(text) {
                        Some(rest) => rest,
                        None => return Err(self.cannot(text)),
                    };
                }
                Part::Std(name) => self.read_element(name, &mut fields)?,
                Part::Fraction { digits, keep_zeros, .. } => self.read_fraction(*digits, *keep_zeros, &mut fields)?,
            }
            let fraction_follows = matches!(parts.get(index + 1), Some(Part::Fraction { .. }));
            if matches!(part, Part::Std("05" | "5")) && self.rest.starts_with(['.', ',']) && !fraction_follows {
                self.read_fraction(9, false, &mut fields)?;
            }
        }
        if !self.rest.is_empty() {
            let quote = |text: &str| crate::quote::quote(text.as_bytes());
            return Err(format!("parsing time {}: extra text: {}", quote(self.text), quote(self.rest)));
        }
        self.build(&fields)
    }

    fn build(&self, fields: &Fields) -> Result<Time, String> {
        let year = fields.year.unwrap_or(0);
        let (mut month, mut day) = (fields.month.unwrap_or(1), fields.day.unwrap_or(1));
        if let Some(yearday) = fields.yearday {
            let Date { month: m, day: d, .. } = Date::from_days(Date::new(year, 1, 1).days() + i64::from(yearday) - 1);
            (month, day) = (m, d);
        }
        if day < 1 || day > month_length(year, month) {
            return Err(self.out_of_range("day"));
        }
        let mut hour = fields.hour;
        match fields.afternoon {
            Some(true) if hour < 12 => hour += 12,
            Some(false) if hour == 12 => hour = 0,
            _ => {}
        }
        let seconds = i128::from(Date::new(year, month, day).days()) * 86_400
            + i128::from(hour * 3_600 + fields.minute * 60 + fields.second);
        let offset = fields.offset.unwrap_or(0);
        let nanos = (seconds - i128::from(offset)) * SECOND + i128::from(fields.nano);
        let zone = match (&fields.zone, offset) {
            (Some(zone), _) => zone.clone(),
            (None, 0) => "UTC".to_owned(),
            _ => String::new(),
        };
        Ok(Time { nanos, offset, zone })
    }

    fn number(&mut self, element: &str, min: usize, max: usize) -> Result<u32, String> {
        let digits = self.rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
        if digits < min {
            return Err(self.cannot(element));
        }
        let (number, rest) = self.rest.split_at(digits);
        let parsed = number.parse().map_err(|_| self.cannot(element))?;
        self.rest = rest;
        Ok(parsed)
    }

    fn name(&mut self, element: &str, names: &[&str], short: bool) -> Result<u32, String> {
        for (index, name) in names.iter().enumerate() {
            let name = if short { name.get(..3).unwrap_or(name) } else { name };
            if self.rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)) {
                self.rest = self.rest.get(name.len()..).unwrap_or_default();
                return Ok(index as u32);
            }
        }
        Err(self.cannot(element))
    }

    fn read_element(&mut self, name: &'static str, fields: &mut Fields) -> Result<(), String> {
        let checked = |value: u32, low: u32, high: u32, what: &str, this: &Self| {
            if value < low || value > high { Err(this.out_of_range(what)) } else { Ok(value) }
        };
        match name {
            "2006" => fields.year = Some(i64::from(self.number(name, 4, 4)?)),
            "06" => {
                let year = i64::from(self.number(name, 2, 2)?);
                fields.year = Some(if year >= 69 { year + 1900 } else { year + 2000 });
            }
            "January" => fields.month = Some(self.name(name, &MONTHS, false)? + 1),
            "Jan" => fields.month = Some(self.name(name, &MONTHS, true)? + 1),
            "Monday" => drop(self.name(name, &WEEKDAYS, false)?),
            "Mon" => drop(self.name(name, &WEEKDAYS, true)?),
            "01" | "1" => {
                let month = self.number(name, if name == "01" { 2 } else { 1 }, 2)?;
                fields.month = Some(checked(month, 1, 12, "month", self)?);
            }
            "02" | "2" | "_2" => {
                if name == "_2" {
                    self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                }
                fields.day = Some(self.number(name, if name == "02" { 2 } else { 1 }, 2)?);
            }
            "002" | "__2" => fields.yearday = Some(self.number(name, 3, 3)?),
            "15" => {
                let hour = self.number(name, 1, 2)?;
                fields.hour = checked(hour, 0, 23, "hour", self)?;
            }
            "03" | "3" => {
                let hour = self.number(name, if name == "03" { 2 } else { 1 }, 2)?;
                fields.hour = checked(hour, 0, 12, "hour", self)?;
            }
            "04" | "4" => {
                let minute = self.number(name, if name == "04" { 2 } else { 1 }, 2)?;
                fields.minute = checked(minute, 0, 59, "minute", self)?;
            }
            "05" | "5" => {
                let second = self.number(name, if name == "05" { 2 } else { 1 }, 2)?;
                fields.second = checked(second, 0, 59, "second", self)?;
            }
            "PM" | "pm" => {
                let afternoon = match self.rest.get(..2) {
                    Some(word) if word == name => true,
                    Some(word) if word.eq_ignore_ascii_case("am") && (word == "AM") == (name == "PM") => false,
                    _ => return Err(self.cannot(name)),
                };
                fields.afternoon = Some(afternoon);
                self.rest = self.rest.get(2..).unwrap_or_default();
            }
            "MST" => {
                let len = self.rest.bytes().take_while(u8::is_ascii_uppercase).count();
                if !(3..=5).contains(&len) {
                    return Err(self.cannot(name));
                }
                let (zone, rest) = self.rest.split_at(len);
                fields.zone = Some(zone.to_owned());
                fields.offset.get_or_insert(0);
                self.rest = rest;
            }
            _ => self.read_offset(name, fields)?,
        }
        Ok(())
    }

    fn read_offset(&mut self, name: &'static str, fields: &mut Fields) -> Result<(), String> {
        if name.starts_with('Z') && self.rest.starts_with('Z') {
            self.rest = self.rest.get(1..).unwrap_or_default();
            fields.offset = Some(0);
            return Ok(());
        }
        let sign = match self.rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => return Err(self.cannot(name)),
        };
        self.rest = self.rest.get(1..).unwrap_or_default();
        let hours = self.number(name, 2, 2)?;
        let mut minutes = 0;
        let form = name.trim_start_matches(['Z', '-']);
        if form.contains(':') {
            self.rest = self.rest.strip_prefix(':').ok_or_else(|| self.cannot(name))?;
        }
        if form != "07" {
            minutes = self.number(name, 2, 2)?;
        }
        fields.offset = Some(sign * (hours * 3_600 + minutes * 60) as i32);
        Ok(())
    }

    fn read_fraction(&mut self, digits: usize, exact: bool, fields: &mut Fields) -> Result<(), String> {
        if !self.rest.starts_with(['.', ',']) {
            return if exact { Err(self.cannot(".000")) } else { Ok(()) };
        }
        let body = self.rest.get(1..).unwrap_or_default();
        let count = body.bytes().take_while(u8::is_ascii_digit).count();
        if exact && count < digits {
            return Err(self.cannot(".000"));
        }
        let count = if exact { digits } else { count };
        let (number, rest) = body.split_at(count);
        let padded = format!("{number:0<9}");
        fields.nano = padded.get(..9).and_then(|n| n.parse().ok()).unwrap_or(0);
        self.rest = rest;
        Ok(())
    }
}

const UNITS: &[(&str, i128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3_600 * SECOND),
];

/// Reads `1h2m3.5s`; the message is Go's.
pub(crate) fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", crate::quote::quote(text.as_bytes()));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let len = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, after) = rest.split_at(len);
        let unit_len = after.find(|ch: char| ch == '.' || ch.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_len);
        if number.is_empty() || number == "." || number.matches('.').count() > 1 {
            return Err(invalid());
        }
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", crate::quote::quote(text.as_bytes())));
        }
        let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            let unit = crate::quote::quote(unit.as_bytes());
            return Err(format!("time: unknown unit {unit} in duration {}", crate::quote::quote(text.as_bytes())));
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        total = total.saturating_add(whole.saturating_mul(*size));
        let mut scale = *size;
        for digit in fraction.bytes().take(18) {
            total += i128::from(digit - b'0') * scale / 10;
            scale /= 10;
        }
        if total > i128::from(i64::MAX) {
            return Err(invalid());
        }
        rest = after;
    }
    Ok(if negative { -(total as i64) } else { total as i64 })
}

/// A duration as Go writes it: `1h2m3.5s`.
pub(crate) fn format_duration(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let size = nanos.unsigned_abs();
    let decimals = |value: u64, unit: u64| {
        let (whole, part) = (value / unit, value % unit);
        let width = unit.to_string().len() - 1;
        let fraction = format!("{part:0width$}");
        let fraction = fraction.trim_end_matches('0');
        if part == 0 { whole.to_string() } else { format!("{whole}.{fraction}") }
    };
    if size < 1_000 {
        return format!("{sign}{size}ns");
    }
    if size < 1_000_000 {
        return format!("{sign}{}µs", decimals(size, 1_000));
    }
    if size < 1_000_000_000 {
        return format!("{sign}{}ms", decimals(size, 1_000_000));
    }
    let minutes = size / 60_000_000_000;
    let seconds = decimals(size % 60_000_000_000, 1_000_000_000);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    if hours > 0 {
        format!("{sign}{hours}h{minutes}m{seconds}s")
    } else if minutes > 0 {
        format!("{sign}{minutes}m{seconds}s")
    } else {
        format!("{sign}{seconds}s")
    }
}
