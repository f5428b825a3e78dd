//! Time zones by name, with their history.
//!
//! The rules are part of the program, so that no file of the machine affects the output of a chart. An unknown name
//! means UTC, as in Go templates.

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;

use crate::time::{SECOND, Time};

/// The same instant in a zone; UTC if the zone is unknown.
pub(crate) fn in_zone(time: &Time, name: &str) -> Time {
    known(time, name).unwrap_or_else(|| Time::utc(time.nanos))
}

/// The same instant in a zone; `None` if the zone is unknown.
pub fn known(time: &Time, name: &str) -> Option<Time> {
    // Zone names are case-sensitive; the database would ignore case.
    let zone = TimeZoneDatabase::bundled().get(name).ok().filter(|zone| zone.iana_name() == Some(name));
    let zone = zone?;
    let instant = Timestamp::from_second(covered(time.nanos.div_euclid(SECOND))).ok()?;
    let rule = zone.to_offset_info(instant);
    Some(Time { nanos: time.nanos, offset: rule.offset().seconds(), zone: rule.abbreviation().to_owned() })
}

/// The nearest second that the database covers. Later ones are shifted by whole eras, after which the calendar
/// repeats.
fn covered(seconds: i128) -> i64 {
    const ERA: i128 = 146_097 * 86_400;
    let (first, last) = (i128::from(Timestamp::MIN.as_second()), i128::from(Timestamp::MAX.as_second()));
    let eras = ((seconds - last).max(0) + ERA - 1) / ERA;
    i64::try_from((seconds - eras * ERA).clamp(first, last)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Time, in_zone};
    use crate::time::SECOND;

    #[test]
    fn summer_begins_and_ends() {
        let table = [
            (0, "America/New_York", "1969-12-31 19:00 EST"),
            (1_583_650_799, "America/New_York", "2020-03-08 01:59 EST"),
            (1_583_650_800, "America/New_York", "2020-03-08 03:00 EDT"),
            (1_604_210_399, "America/New_York", "2020-11-01 01:59 EDT"),
            (1_604_210_400, "America/New_York", "2020-11-01 01:00 EST"),
            (1_585_443_600, "Europe/Berlin", "2020-03-29 03:00 CEST"),
            (1_603_587_599, "Europe/London", "2020-10-25 01:59 BST"),
            (1_000_000_000, "Asia/Tokyo", "2001-09-09 10:46 JST"),
            (1_600_000_000, "Australia/Sydney", "2020-09-13 22:26 AEST"),
            (1_577_836_800, "Australia/Sydney", "2020-01-01 11:00 AEDT"),
            (315_532_800, "Europe/Berlin", "1980-01-01 01:00 CET"),
            (331_167_600, "Europe/Berlin", "1980-06-30 01:00 CEST"),
            (300_000_000, "Europe/Berlin", "1979-07-05 06:20 CET"),
            (1_000_000_000, "Europe/Moscow", "2001-09-09 05:46 MSD"),
            (1_000_000_000, "Africa/Casablanca", "2001-09-09 01:46 +00"),
            (400_000_000_000, "America/New_York", "14645-06-30 11:06 EDT"),
            (0, "Nope/Zone", "1970-01-01 00:00 UTC"),
            (0, "europe/berlin", "1970-01-01 00:00 UTC"),
            (0, "", "1970-01-01 00:00 UTC"),
        ];
        for (seconds, zone, expected) in table {
            let time = in_zone(&Time::utc(seconds * SECOND), zone);
            assert_eq!(time.format("2006-01-02 15:04 MST"), expected);
        }
    }
}
