//! Timestamps: a date, or a date and a time with an optional zone. Days that do not exist are refused.

use ecow::{EcoString, eco_format};
use purlin_value::calendar::{Date, month_length};

/// A timestamp that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Timestamp {
    /// Year.
    pub year: u32,
    /// Month, from 1.
    pub month: u32,
    /// Day, from 1.
    pub day: u32,
    /// Hour.
    pub hour: u32,
    /// Minute.
    pub minute: u32,
    /// Second.
    pub second: u32,
    /// Fraction of a second.
    pub fraction: f64,
    /// Whether the zone is west of UTC.
    pub west: bool,
    /// Whether a zone was written.
    pub zoned: bool,
    /// Whether the zone was written as an offset, not as `Z`.
    pub offset: bool,
    /// Hours of the zone.
    pub zone_hour: u32,
    /// Minutes of the zone.
    pub zone_minute: u32,
    /// The original text.
    pub original: EcoString,
}

/// Reads a timestamp.
pub fn parse(text: &str) -> Option<Timestamp> {
    let mut rest = text;
    let year = digits(&mut rest, 4, 4)?;
    take(&mut rest, '-')?;
    let month = digits(&mut rest, 1, 2)?;
    take(&mut rest, '-')?;
    let day = digits(&mut rest, 1, 2)?;
    let mut stamp = Timestamp {
        year,
        month,
        day,
        hour: 0,
        minute: 0,
        second: 0,
        fraction: 0.0,
        west: false,
        zoned: false,
        offset: false,
        zone_hour: 0,
        zone_minute: 0,
        original: text.into(),
    };
    if !(1..=12).contains(&month) || day == 0 || day > month_length(i64::from(year), month) {
        return None;
    }
    if rest.is_empty() {
        // A bare date has two digits for month and day.
        return (text.len() == 10).then_some(stamp);
    }
    if rest.starts_with(['T', 't']) {
        rest = rest.get(1..)?;
    } else if rest.starts_with([' ', '\t']) {
        rest = rest.trim_start_matches([' ', '\t']);
    } else {
        return None;
    }
    stamp.hour = digits(&mut rest, 1, 2)?;
    take(&mut rest, ':')?;
    stamp.minute = digits(&mut rest, 2, 2)?;
    take(&mut rest, ':')?;
    stamp.second = digits(&mut rest, 2, 2)?;
    if let Some(after) = rest.strip_prefix('.') {
        let length = after.bytes().take_while(u8::is_ascii_digit).count();
        stamp.fraction = format!("0.{}", after.get(..length)?).parse().ok().filter(|_| length > 0).unwrap_or(0.0);
        rest = after.get(length..)?;
    }
    if stamp.hour > 23 || stamp.minute > 59 || stamp.second > 60 {
        return None;
    }
    zone(rest.trim_start_matches([' ', '\t']), stamp)
}

fn zone(text: &str, mut stamp: Timestamp) -> Option<Timestamp> {
    let mut rest = text;
    match rest.chars().next() {
        None => return Some(stamp),
        Some('Z') => {
            stamp.zoned = true;
            return (rest.len() == 1).then_some(stamp);
        }
        Some('+') => {}
        Some('-') => stamp.west = true,
        Some(_) => return None,
    }
    stamp.zoned = true;
    stamp.offset = true;
    rest = rest.get(1..)?;
    stamp.zone_hour = digits(&mut rest, 1, 2)?;
    if let Some(after) = rest.strip_prefix(':') {
        rest = after;
        stamp.zone_minute = digits(&mut rest, 2, 2)?;
    } else if rest.len() == 2 {
        stamp.zone_minute = digits(&mut rest, 2, 2)?;
    }
    (rest.is_empty() && stamp.zone_hour <= 23 && stamp.zone_minute <= 59).then_some(stamp)
}

fn digits(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if length < least {
        return None;
    }
    let (number, after) = rest.split_at_checked(length)?;
    *rest = after;
    number.parse().ok()
}

fn take(rest: &mut &str, wanted: char) -> Option<()> {
    *rest = rest.strip_prefix(wanted)?;
    Some(())
}

impl Timestamp {
    /// Nanoseconds since 1970 in UTC.
    pub fn nanoseconds(&self) -> i128 {
        let days = i128::from(Date::new(i64::from(self.year), self.month, self.day).days());
        let zone = i128::from(self.zone_hour) * 3600 + i128::from(self.zone_minute) * 60;
        let local =
            days * 86_400 + i128::from(self.hour) * 3600 + i128::from(self.minute) * 60 + i128::from(self.second);
        let seconds = if self.west { local + zone } else { local - zone };
        seconds * 1_000_000_000 + (self.fraction * 1e9).round() as i128
    }

    /// The canonical notation.
    pub fn canonical(&self) -> EcoString {
        let fraction = if self.fraction == 0.0 {
            String::new()
        } else {
            self.fraction.to_string().trim_start_matches('0').to_owned()
        };
        let zone = match (self.zone_hour, self.zone_minute) {
            (0, 0) => "Z".to_owned(),
            (hour, minute) => format!("{}{hour:02}:{minute:02}", if self.west { '-' } else { '+' }),
        };
        eco_format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}{zone}",
            self.year,
            self.month,
            self.day,
            self.hour,
            self.minute,
            self.second
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn timestamps_are_read() {
        let stamp = parse("1975-09-15 12:34:56.7 +2").unwrap();
        assert_eq!(stamp.nanoseconds(), 180_009_296_700_000_000);
        assert_eq!(stamp.canonical(), "1975-09-15T12:34:56.7+02:00");
        assert_eq!(parse("2024-02-29").unwrap().canonical(), "2024-02-29T00:00:00Z");
        assert_eq!(parse("1970-01-01T00:00:00Z").unwrap().nanoseconds(), 0);
        for text in
            ["yesterday", "2023-02-29", "2024-02-31", "2024-13-01", "2024-1-1", "2024-01-01T25:00:00", "2024-01-01x"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
