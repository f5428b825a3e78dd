//! Dates in UTC: shifting them and setting fields; `read` and `write` turn them from and into text.
//!
//! A date is a count of milliseconds since 1970.

mod read;
mod write;

pub use write::format;

use purlin_value::calendar::{self, Date};
use read::{parse_iso, parse_written};

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

/// Units of `shiftDateUtc` and `modifyDateUtc`.
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
        let days = first_of(months.div_euclid(12), months.rem_euclid(12)).checked_add(f.day - 1)?;
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
        let date = Date::from_days(days);
        Fields {
            year: date.year,
            month: i64::from(date.month) - 1,
            day: i64::from(date.day),
            hour: clock / HOUR,
            minute: clock / MINUTE % 60,
            second: clock / SECOND % 60,
            milli: clock % SECOND,
        }
    }

    /// Days since Sunday.
    fn weekday(self) -> usize {
        calendar::weekday(self.0.div_euclid(DAY)) as usize
    }

    fn day_of_year(self) -> i64 {
        i64::from(Date::from_days(self.0.div_euclid(DAY)).day_of_year())
    }

    /// ISO week-numbering year and week.
    fn iso_week(self) -> (i64, i64) {
        let days = self.0.div_euclid(DAY);
        let monday = days - (days + 3).rem_euclid(7);
        let year = Date::from_days(monday + 3).year;
        (year, (monday + 3 - first_of(year, 0)) / 7 + 1)
    }

    /// The week in which January 1st lies is the first; weeks start on Sunday.
    fn local_week(self) -> (i64, i64) {
        let days = self.0.div_euclid(DAY);
        let before = |days: i64| days - i64::from(calendar::weekday(days));
        let sunday = before(days);
        let year = Date::from_days(sunday + 6).year;
        let first_sunday = before(first_of(year, 0));
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

    /// With one field set; excess values roll over.
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

/// The month of a calendar, which counts from 1; ours counts from 0, as the functions' arguments do.
fn calendar_month(month: i64) -> u32 {
    u32::try_from(month.rem_euclid(12)).unwrap_or(0) + 1
}

fn month_length(year: i64, month: i64) -> i64 {
    i64::from(calendar::month_length(year, calendar_month(month)))
}

/// Days from 1970-01-01 to the first of a month.
fn first_of(year: i64, month: i64) -> i64 {
    Date::new(year, calendar_month(month), 1).days()
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
}
