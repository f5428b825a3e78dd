//! Time zones by name: the rules in force today for zones people name in charts.
//!
//! Rules are applied to all years; history is not kept. A name that is not here means UTC, as unknown names do in Go
//! templates.

use purlin_value::calendar::{self, Date};

use crate::time::{SECOND, Time};

/// When summer time begins and ends.
#[derive(Clone, Copy)]
enum Summer {
    /// Last Sundays of March and October, at 01:00 UTC.
    Europe,
    /// Second Sunday of March to first Sunday of November, at 02:00 local time.
    America,
    /// First Sundays of October and April, at 02:00 standard time.
    Australia,
    /// Last Sunday of September to first Sunday of April, at 02:00 standard time.
    Zealand,
}

/// A zone: name, short name, minutes east of UTC, and the short name and rule of summer time.
type Row = (&'static str, &'static str, i32, Option<(&'static str, Summer)>);

const CET: Option<(&str, Summer)> = Some(("CEST", Summer::Europe));
const EET: Option<(&str, Summer)> = Some(("EEST", Summer::Europe));
const WET: Option<(&str, Summer)> = Some(("WEST", Summer::Europe));
const EASTERN: Option<(&str, Summer)> = Some(("EDT", Summer::America));
const CENTRAL: Option<(&str, Summer)> = Some(("CDT", Summer::America));
const MOUNTAIN: Option<(&str, Summer)> = Some(("MDT", Summer::America));
const PACIFIC: Option<(&str, Summer)> = Some(("PDT", Summer::America));
const AUSTRALIA: Option<(&str, Summer)> = Some(("AEDT", Summer::Australia));

const ZONES: &[Row] = &[
    ("Africa/Cairo", "EET", 120, None),
    ("Africa/Johannesburg", "SAST", 120, None),
    ("Africa/Lagos", "WAT", 60, None),
    ("Africa/Nairobi", "EAT", 180, None),
    ("America/Anchorage", "AKST", -540, Some(("AKDT", Summer::America))),
    ("America/Argentina/Buenos_Aires", "-03", -180, None),
    ("America/Bogota", "-05", -300, None),
    ("America/Chicago", "CST", -360, CENTRAL),
    ("America/Denver", "MST", -420, MOUNTAIN),
    ("America/Halifax", "AST", -240, Some(("ADT", Summer::America))),
    ("America/Lima", "-05", -300, None),
    ("America/Los_Angeles", "PST", -480, PACIFIC),
    ("America/Mexico_City", "CST", -360, None),
    ("America/New_York", "EST", -300, EASTERN),
    ("America/Phoenix", "MST", -420, None),
    ("America/Sao_Paulo", "-03", -180, None),
    ("America/Toronto", "EST", -300, EASTERN),
    ("America/Vancouver", "PST", -480, PACIFIC),
    ("Asia/Bangkok", "+07", 420, None),
    ("Asia/Calcutta", "IST", 330, None),
    ("Asia/Dhaka", "+06", 360, None),
    ("Asia/Dubai", "+04", 240, None),
    ("Asia/Ho_Chi_Minh", "+07", 420, None),
    ("Asia/Hong_Kong", "HKT", 480, None),
    ("Asia/Jakarta", "WIB", 420, None),
    ("Asia/Karachi", "PKT", 300, None),
    ("Asia/Kathmandu", "+0545", 345, None),
    ("Asia/Kolkata", "IST", 330, None),
    ("Asia/Manila", "PST", 480, None),
    ("Asia/Riyadh", "+03", 180, None),
    ("Asia/Seoul", "KST", 540, None),
    ("Asia/Shanghai", "CST", 480, None),
    ("Asia/Singapore", "+08", 480, None),
    ("Asia/Taipei", "CST", 480, None),
    ("Asia/Tokyo", "JST", 540, None),
    ("Australia/Brisbane", "AEST", 600, None),
    ("Australia/Melbourne", "AEST", 600, AUSTRALIA),
    ("Australia/Perth", "AWST", 480, None),
    ("Australia/Sydney", "AEST", 600, AUSTRALIA),
    ("CET", "CET", 60, CET),
    ("EET", "EET", 120, EET),
    ("EST", "EST", -300, None),
    ("EST5EDT", "EST", -300, EASTERN),
    ("Europe/Amsterdam", "CET", 60, CET),
    ("Europe/Athens", "EET", 120, EET),
    ("Europe/Berlin", "CET", 60, CET),
    ("Europe/Brussels", "CET", 60, CET),
    ("Europe/Bucharest", "EET", 120, EET),
    ("Europe/Budapest", "CET", 60, CET),
    ("Europe/Copenhagen", "CET", 60, CET),
    ("Europe/Dublin", "GMT", 0, Some(("IST", Summer::Europe))),
    ("Europe/Helsinki", "EET", 120, EET),
    ("Europe/Istanbul", "+03", 180, None),
    ("Europe/Kiev", "EET", 120, EET),
    ("Europe/Kyiv", "EET", 120, EET),
    ("Europe/Lisbon", "WET", 0, WET),
    ("Europe/London", "GMT", 0, Some(("BST", Summer::Europe))),
    ("Europe/Madrid", "CET", 60, CET),
    ("Europe/Moscow", "MSK", 180, None),
    ("Europe/Oslo", "CET", 60, CET),
    ("Europe/Paris", "CET", 60, CET),
    ("Europe/Prague", "CET", 60, CET),
    ("Europe/Rome", "CET", 60, CET),
    ("Europe/Stockholm", "CET", 60, CET),
    ("Europe/Vienna", "CET", 60, CET),
    ("Europe/Warsaw", "CET", 60, CET),
    ("Europe/Zurich", "CET", 60, CET),
    ("GMT", "GMT", 0, None),
    ("HST", "HST", -600, None),
    ("Japan", "JST", 540, None),
    ("MST", "MST", -420, None),
    ("PST8PDT", "PST", -480, PACIFIC),
    ("Pacific/Auckland", "NZST", 720, Some(("NZDT", Summer::Zealand))),
    ("Pacific/Honolulu", "HST", -600, None),
    ("US/Central", "CST", -360, CENTRAL),
    ("US/Eastern", "EST", -300, EASTERN),
    ("US/Mountain", "MST", -420, MOUNTAIN),
    ("US/Pacific", "PST", -480, PACIFIC),
];

/// The same instant in a zone.
pub fn in_zone(time: &Time, name: &str) -> Time {
    let Some((_, short, minutes, summer)) = ZONES.iter().find(|(zone, ..)| *zone == name) else {
        return Time { nanos: time.nanos, offset: 0, zone: "UTC".to_owned() };
    };
    if let Some((summer_name, rule)) = summer
        && is_summer(time, *minutes, *rule)
    {
        return Time { nanos: time.nanos, offset: (minutes + 60) * 60, zone: (*summer_name).to_owned() };
    }
    Time { nanos: time.nanos, offset: minutes * 60, zone: (*short).to_owned() }
}

/// Whether summer time is in force at an instant, in a zone this many minutes east of UTC in winter.
fn is_summer(time: &Time, minutes: i32, rule: Summer) -> bool {
    let standard = Time { nanos: time.nanos, offset: minutes * 60, zone: String::new() };
    let year = standard.civil().year;
    // Instants in minutes since 1970, UTC.
    let now = (time.nanos.div_euclid(SECOND * 60)) as i64;
    let east = i64::from(minutes);
    let at = |month: u32, sunday: Sunday, minute: i64| sunday_of(year, month, sunday) * 1_440 + minute;
    let (begin, end) = match rule {
        Summer::Europe => (at(3, Sunday::Last, 60), at(10, Sunday::Last, 60)),
        Summer::America => (at(3, Sunday::Nth(2), 120) - east, at(11, Sunday::Nth(1), 60) - east),
        Summer::Australia => (at(10, Sunday::Nth(1), 120) - east, at(4, Sunday::Nth(1), 120) - east),
        Summer::Zealand => (at(9, Sunday::Last, 120) - east, at(4, Sunday::Nth(1), 120) - east),
    };
    if begin < end { (begin..end).contains(&now) } else { now >= begin || now < end }
}

/// Which Sunday of a month.
#[derive(Clone, Copy)]
enum Sunday {
    Nth(i64),
    Last,
}

/// Days since 1970 of a Sunday; the first of a month and its weekday decide.
fn sunday_of(year: i64, month: u32, which: Sunday) -> i64 {
    let first = |year: i64, month: u32| Date::new(year, month, 1).days();
    let weekday = |days: i64| i64::from(calendar::weekday(days));
    match which {
        Sunday::Nth(nth) => {
            let start = first(year, month);
            start + (7 - weekday(start)) % 7 + 7 * (nth - 1)
        }
        Sunday::Last => {
            let end = if month == 12 { first(year + 1, 1) } else { first(year, month + 1) } - 1;
            end - weekday(end)
        }
    }
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
            (0, "Nope/Zone", "1970-01-01 00:00 UTC"),
        ];
        for (seconds, zone, expected) in table {
            let time = in_zone(&Time::utc(seconds * SECOND), zone);
            assert_eq!(time.format("2006-01-02 15:04 MST"), expected);
        }
    }
}
