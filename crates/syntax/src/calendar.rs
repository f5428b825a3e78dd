//! Days and dates: the calendar arithmetic behind all time functions.
//!
//! The Gregorian calendar, also before it was introduced. Days are counted from 1970-01-01. Knows no clocks, zones or
//! formats; those are the dialects'.

/// The names of the months.
pub const MONTHS: [&str; 12] = [
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

/// The names of the days of the week.
pub const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days of 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;

/// Days from 0000-03-01, where the years counted here begin, to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year; 0 is the one before the year 1.
    pub year: i64,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

impl Date {
    /// A date.
    pub const fn new(year: i64, month: u32, day: u32) -> Self {
        Date { year, month, day }
    }

    /// The date `days` days after 1970-01-01.
    pub fn from_days(days: i64) -> Self {
        let shifted = days + EPOCH;
        let (era, of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        // Years begin in March, so that the leap day is the last.
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * march_month + 2) / 5 + 1) as u32;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u32;
        Date { year: year + era * 400 + i64::from(month <= 2), month, day }
    }

    /// Days since 1970-01-01. A day past the end of its month counts on into the next.
    pub fn days(self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let march_month = i64::from((self.month + 9) % 12);
        let of_year = (153 * march_month + 2) / 5 + i64::from(self.day) - 1;
        era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
    }

    /// The day of the year, from 1.
    pub fn day_of_year(self) -> u32 {
        (self.days() - Date::new(self.year, 1, 1).days()) as u32 + 1
    }
}

/// The day of the week (Sunday is 0) of the date `days` days after 1970-01-01.
pub fn weekday(days: i64) -> u32 {
    (days + 4).rem_euclid(7) as u32
}

/// Whether a year has 366 days.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Number of days in a month, counted from 1.
pub fn month_length(year: i64, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other() {
        let mut date = Date::new(-401, 1, 1);
        for days in date.days()..Date::new(2_105, 1, 1).days() {
            assert_eq!((Date::from_days(days), date.days()), (date, days));
            let last = date.day == month_length(date.year, date.month);
            date = match (last, date.month) {
                (false, _) => Date { day: date.day + 1, ..date },
                (true, 12) => Date::new(date.year + 1, 1, 1),
                (true, month) => Date::new(date.year, month + 1, 1),
            };
        }
    }

    #[test]
    fn known_days_are_right() {
        assert_eq!(Date::new(1970, 1, 1).days(), 0);
        assert_eq!(Date::new(2024, 2, 29).day_of_year(), 60);
        assert_eq!(weekday(Date::new(2024, 2, 29).days()), 4);
        assert!(is_leap(2000) && !is_leap(1900) && is_leap(0) && is_leap(-4));
        assert_eq!(Date::new(2023, 2, 31).days(), Date::new(2023, 3, 3).days());
    }
}
